// libFuzzer target for files of blocks: what is read is whole, and a writer goes on behind it.
#include "articula/batch/block_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace articula;

ARTICULA_FUZZ(text) {
  const testing::MemoryFile file(text);
  std::string block_text;
  std::size_t sound = 0;
  {
    BlockReader reader(file.path());
    for (const Block& block : reader.more())
      if (reader.read(block, block_text)) {
        ++sound;
        if (block_text.size() != block.bytes) std::abort();
      }
  }
  BlockWriter writer(file.path());
  if (writer.blocks().size() != sound) std::abort();
  writer.append(7, 1, "row\n");
  BlockReader again(file.path());
  if (!again.read(writer.blocks().back(), block_text) || block_text != "row\n") std::abort();
}
