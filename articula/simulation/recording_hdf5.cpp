// Recordings as HDF5 files: a dataset for each array.
//
// libhdf5 crashes where its file cannot be written to the end, and on files that are damaged. So it makes the file in
// memory and never sees it again: the bytes are written here, and read here. A user block before HDF5's own first byte,
// which HDF5 leaves to its users, has the size and checksum of the whole and where each dataset's bytes are.
#include <fmt/format.h>
#include <hdf5.h>

#include <charconv>
#include <cstring>
#include <map>

#include "articula/simulation/recording_arrays.hpp"

namespace articula::recording_files {

namespace {

/// Closes an identifier; negative ones are errors.
class Id5 {
 public:
  Id5(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id5() {
    if (id_ >= 0) close_(id_);
  }
  Id5(const Id5&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};
/// HDF5 prints its own error stack unless told otherwise.
struct Quiet {
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function, data); }
  H5E_auto2_t function = nullptr;
  void* data = nullptr;
};

// The user block: this line, then one for each dataset (where its bytes begin, how many they are, how many a word has,
// its name), then zeros. The checksum is of all that comes after the first line.
constexpr std::string_view magic = "articula recording 1";
std::string first_line(std::size_t size, std::uint32_t checksum) {
  return fmt::format("{} {:016x} {:08x}\n", magic, size, checksum);
}
std::string entry(std::size_t at, std::size_t bytes, std::size_t width, const std::string& name) {
  return fmt::format("{} {} {} {}\n", at, bytes, width, name);
}

struct Dataset {
  std::size_t at, bytes, width;
};

/// Where the dataset's bytes are, or nothing if that fails.
bool put(hid_t file, const Array& array, Dataset& out) {
  const std::size_t width = array.is_words ? array.width() : 0;
  std::string letters(array.words.size() * width, '\0');
  for (std::size_t i = 0; i < array.words.size(); ++i)
    letters.replace(i * width, array.words[i].size(), array.words[i]);
  const Id5 type(H5Tcopy(array.is_words ? H5T_C_S1 : H5T_IEEE_F64LE), H5Tclose);
  if (array.is_words)
    H5Tset_size(type, width), H5Tset_cset(type, H5T_CSET_UTF8), H5Tset_strpad(type, H5T_STR_NULLPAD);
  const std::vector<hsize_t> size(array.shape.begin(), array.shape.end());
  const Id5 space(H5Screate_simple(int(size.size()), size.data(), nullptr), H5Sclose);
  const Id5 how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(how, H5D_CONTIGUOUS), H5Pset_obj_track_times(how, false);  // equal recordings, equal files
  const Id5 set(H5Dcreate2(file, array.name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
  const void* const data = array.is_words ? static_cast<const void*>(letters.data()) : array.numbers.data();
  out = {0, array.is_words ? letters.size() : array.numbers.size() * sizeof(double), width};
  if (set < 0) return false;
  if (out.bytes == 0) return true;
  if (H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) return false;
  const haddr_t at = H5Dget_offset(set);
  out.at = std::size_t(at);
  return at != HADDR_UNDEF;
}

/// A number and the space behind it; no text is left where there is none.
std::size_t next_number(std::string_view& text) {
  std::size_t x = 0;
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc{} || next == text.data() + text.size() || *next != ' ') return text = {}, 0;
  text.remove_prefix(std::size_t(next - text.data()) + 1);
  return x;
}

}  // namespace

void with_hdf5_image(const std::string& path, const std::vector<std::string>& names,
                     const std::function<void(const std::function<void(const Array&)>& use)>& for_each,
                     const std::function<void(std::string_view bytes)>& write) {
  const Quiet quiet;
  std::size_t block = 512;  // HDF5 wants a power of two
  for (std::size_t need = first_line(0, 0).size(); const std::string& name : names) {
    need += entry(SIZE_MAX, SIZE_MAX, SIZE_MAX, name).size();
    while (block < need) block *= 2;
  }
  const Id5 access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  constexpr std::size_t growth = 1 << 22;
  const auto fail = [&] {
    throw Error(fmt::format("{} cannot be made: HDF5 fails, maybe for want of memory", path));
  };
  if (H5Pset_fapl_core(access, growth, false) < 0 || H5Pset_userblock(creation, block) < 0) fail();
  const Id5 file(H5Fcreate("articula", H5F_ACC_TRUNC, creation, access), H5Fclose);
  bool good = file >= 0;
  std::string directory;
  for_each([&](const Array& array) {
    Dataset set{};
    good = good && put(file, array, set);
    directory += entry(set.at, set.bytes, set.width, array.name);
  });
  void* handle = nullptr;
  good = good && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 && H5Fget_vfd_handle(file, access, &handle) >= 0;
  const ssize_t image = good ? H5Fget_file_image(file, nullptr, 0) : 0;  // without the user block
  if (image <= 0) fail();
  const std::size_t size = block + std::size_t(image);
  char* const bytes = *static_cast<char**>(handle);  // the memory of the core driver
  const std::size_t begin = first_line(0, 0).size();
  std::memset(bytes, 0, block);
  directory.copy(bytes + begin, directory.size());
  const std::uint32_t checksum = crc32({bytes + begin, size - begin});
  first_line(size, checksum).copy(bytes, begin);
  write({bytes, size});
}
void write_hdf5(const std::string& path, const Recording& r) {
  with_hdf5_image(
      path, array_names(r), [&](const auto& use) { for_each_array(r, use); },
      [&](std::string_view bytes) { write_bytes(path, bytes); });
}

namespace {
std::map<std::string, Dataset> datasets_of(const FileBytes& file) {
  const std::size_t begin = std::min(first_line(0, 0).size(), file.size());
  const std::string line = file.read(0, begin);
  if (!line.starts_with(magic)) unreadable(file.path, "is no HDF5 file that articula wrote, or is damaged");
  if (line != first_line(file.size(), file.crc32(begin, file.size() - begin)))
    unreadable(file.path, "is damaged (size or checksum)");
  std::string directory;  // up to the zeros
  for (std::size_t at = begin; at < file.size() && directory.find('\0') == directory.npos; at += 4096)
    directory += file.read(at, std::min<std::size_t>(4096, file.size() - at));
  std::map<std::string, Dataset> sets;
  std::string_view text = directory;
  while (!text.empty() && text[0] != '\0') {
    Dataset set{};
    set.at = next_number(text), set.bytes = next_number(text), set.width = next_number(text);
    const std::size_t end = text.find('\n');
    if (end == text.npos || set.at > file.size() || set.bytes > file.size() - set.at)
      unreadable(file.path, "is damaged (directory)");
    sets.emplace(text.substr(0, end), set);
    text.remove_prefix(end + 1);
  }
  return sets;
}
}  // namespace

bool holds_arrays(std::string_view begin) {
  return begin.starts_with("PK\x03\x04") || begin.starts_with("\x93NUMPY") || begin.starts_with("\x89HDF") ||
         begin.starts_with(magic);
}
std::map<std::string, ArrayPlace> arrays_of(const FileBytes& file) {
  const std::string begin = file.read(0, std::min<std::size_t>(4, file.size()));
  if (begin.starts_with("PK") || begin.starts_with("\x93")) return npz_arrays(file);
  std::map<std::string, ArrayPlace> out;
  for (const auto& [name, set] : datasets_of(file))
    if (set.width == 0) out[name] = {set.at, set.bytes / sizeof(double), {}};
  return out;
}

Recording read_hdf5(const std::string& path) {
  const FileBytes file(path);
  const auto sets = datasets_of(file);
  const auto find = [&](const std::string& name, bool words) {
    const auto found = sets.find(name);
    if (found == sets.end() || (found->second.width > 0) != words)
      unreadable(path, fmt::format("has no dataset '{}', or one of another kind", name));
    return found->second;
  };
  const auto numbers = [&](const std::string& name) {
    const Dataset set = find(name, false);
    std::vector<double> out(set.bytes / sizeof(double));
    file.read(set.at, {reinterpret_cast<char*>(out.data()), out.size() * sizeof(double)});
    return out;
  };
  const auto words = [&](const std::string& name) {
    const Dataset set = find(name, true);
    std::vector<std::string> out;
    for (std::size_t i = 0; i + set.width <= set.bytes; i += set.width) {
      std::string word = file.read(set.at + i, set.width);
      word.resize(std::min(word.find_last_not_of('\0') + 1, word.size()));
      out.push_back(std::move(word));
    }
    return out;
  };
  return recording_of(path, numbers, words);
}

}  // namespace articula::recording_files
