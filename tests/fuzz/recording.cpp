// libFuzzer target for recordings: CSV or NumPy; what was read can be written and read again.
#include "articula/simulation/recording.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const testing::MemoryFile file(text);
  const FileFormat format = text.starts_with("PK") ? FileFormat::npz : FileFormat::csv;
  const Recording read = read_recording(file.path(), format);
  if (read.columns.empty()) return;
  const testing::MemoryFile again("");
  write_recording(again.path(), FileFormat::npz, read);
  if (read_recording(again.path(), FileFormat::npz).size() != read.size()) std::abort();
}
