// Recordings as HDF5 files: a dataset for each array.
//
// Another process lets libhdf5 make the file's structure, with holes where the numbers go. The bytes are written here,
// and read here: libhdf5 does not see the file again. A user block before HDF5's own first byte, which HDF5 leaves to its users, has the size and checksum of the
// whole and where each dataset's bytes are.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <ostream>

#include "articula/simulation/hdf5_library.hpp"
#include "articula/simulation/recording_arrays.hpp"

namespace articula::recording_files {

namespace {

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

/// Makes the dataset, and says where its bytes go.
bool put(hid_t file, const Array& array, Dataset& out) {
  const std::size_t width = array.is_words ? array.width() : 0;
  const Id5 type(H5Tcopy(array.is_words ? H5T_C_S1 : H5T_IEEE_F64LE), H5Tclose);
  if (array.is_words)
    H5Tset_size(type, width), H5Tset_cset(type, H5T_CSET_UTF8), H5Tset_strpad(type, H5T_STR_NULLPAD);
  const std::vector<hsize_t> size(array.shape.begin(), array.shape.end());
  const Id5 space(H5Screate_simple(int(size.size()), size.data(), nullptr), H5Sclose);
  const Id5 how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(how, H5D_CONTIGUOUS), H5Pset_obj_track_times(how, false);  // equal recordings, equal files
  H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY), H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
  const Id5 set(H5Dcreate2(file, array.name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
  if (set < 0) return false;
  out = {0, array.bytes(), width};
  if (out.bytes == 0) return true;
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
/// The directory's entries, up to its end or the zeros behind it. False: it is damaged.
template <class F>
bool for_each_entry(std::string_view text, F&& use) {
  while (!text.empty() && text[0] != '\0') {
    Dataset set{};
    set.at = next_number(text), set.bytes = next_number(text), set.width = next_number(text);
    const std::size_t end = text.find('\n');
    if (end == text.npos || !use(text.substr(0, end), set)) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

/// The structure of a file that has these arrays, made under this name; says the directory, and "done".
void make_structure(const std::string& path, std::size_t block, const ForEachArray& for_each,
                    std::ostream& say) {
  const Quiet quiet;
  const Id5 access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(creation, block);
  H5Pset_small_data_block_size(access, 0);  // each dataset after the one before
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  bool good = file >= 0;
  for_each([&](const Array& array) {
    Dataset set{};
    good = good && put(file, array, set);
    say << entry(set.at, set.bytes, set.width, array.name);
  });
  if (good && H5Fclose(file) >= 0) say << "done\n";
}

}  // namespace

void write_hdf5_arrays(const std::string& path, const ForEachArray& for_each, const UseBytes& write) {
  std::size_t need = first_line(0, 0).size(), block = 512;  // HDF5 wants a power of two
  for_each([&](const Array& array) { need += entry(SIZE_MAX, SIZE_MAX, SIZE_MAX, array.name).size(); });
  while (block < need) block *= 2;
  // In memory where there is /dev/shm: files take only the pages that are written to.
  std::error_code none;
  std::string structure;
  int fd = -1;
  for (const auto& folder : {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path(none)})
    if (fd < 0) structure = folder / "articulaXXXXXX", fd = mkostemp(structure.data(), O_CLOEXEC);
  if (fd < 0) unwritable(path);
  std::string directory =
      in_another_process([&](std::ostream& say) { make_structure(structure, block, for_each, say); });
  unlink(structure.c_str());
  const FileBytes file(fd, path);
  if (!directory.ends_with("done\n"))
    throw Error(fmt::format("{} cannot be written: HDF5 fails, for want of memory or room", path));
  directory.resize(directory.size() - std::strlen("done\n"));
  std::vector<Dataset> sets;
  for_each_entry(directory, [&](std::string_view, const Dataset& set) { return sets.push_back(set), true; });
  const auto all_but_the_first_line = [&](const UseBytes& use) {
    std::size_t at = block, next = 0;
    const auto structure_to = [&](std::size_t to) {
      if (at > to) throw Error(fmt::format("{} cannot be made: HDF5 orders its datasets otherwise", path));
      for (std::size_t n; at < to; at += n) use(file.read(at, n = std::min<std::size_t>(1 << 16, to - at)));
    };
    use(directory + std::string(block - first_line(0, 0).size() - directory.size(), '\0'));
    for_each([&](const Array& array) {
      const Dataset& set = sets[next++];
      if (set.bytes == 0) return;
      structure_to(set.at);
      array.for_each_piece(use);
      at += set.bytes;
    });
    structure_to(file.size());
  };
  std::uint32_t checksum = 0;
  all_but_the_first_line([&](std::string_view bytes) { checksum = crc32(bytes, checksum); });
  write(first_line(file.size(), checksum));
  all_but_the_first_line(write);
}
void write_hdf5(const std::string& path, const Recording& r) {
  write_pieces(path, [&](const UseBytes& write) {
    write_hdf5_arrays(
        path, [&](const UseArray& use) { for_each_array(r, use); }, write);
  });
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
  const bool whole = for_each_entry(directory, [&](std::string_view name, const Dataset& set) {
    sets.emplace(name, set);
    return set.at <= file.size() && set.bytes <= file.size() - set.at;
  });
  if (!whole) unreadable(file.path, "is damaged (directory)");
  return sets;
}
}  // namespace

bool holds_arrays(std::string_view begin) {
  return begin.starts_with("PK\x03\x04") || begin.starts_with("\x93NUMPY") || begin.starts_with("\x89HDF") ||
         begin.starts_with(magic);
}
ArrayFile::ArrayFile(const std::string& path, std::span<const std::string_view> wanted)
    : bytes(std::make_unique<FileBytes>(path)) {
  const std::string begin = bytes->read(0, std::min(magic.size(), bytes->size()));
  if (begin.starts_with("PK") || begin.starts_with("\x93")) {
    arrays = npz_arrays(*bytes);
  } else if (begin == magic) {
    for (const auto& [name, set] : datasets_of(*bytes))
      if (set.width == 0) arrays[name] = {set.at, set.bytes / sizeof(double), {}};
  } else {
    bytes = copy_of_foreign_hdf5(path, wanted, arrays);
  }
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
