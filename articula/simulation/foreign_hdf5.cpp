// Arrays of HDF5 files that other programs wrote.
//
// Another process reads the file and copies the numbers into one without a name; this one sees only that. It says what
// it found in lines: where the numbers begin, the array's shape and its name; "done" ends them.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "articula/simulation/hdf5_library.hpp"
#include "articula/simulation/recording_arrays.hpp"

namespace articula::recording_files {

namespace {

/// Copies a dataset's numbers, some rows at a time. False: it cannot be read.
bool copy_numbers(hid_t set, std::span<const hsize_t> shape, int to, std::size_t& written) {
  const Id5 all(H5Dget_space(set), H5Sclose);
  hsize_t width = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) width *= shape[i];
  const hsize_t rows = shape.empty() ? 1 : shape[0];
  if (width == 0) return true;
  if (width > (hsize_t{1} << 24)) return false;
  const hsize_t some = std::max<hsize_t>(1, (hsize_t{1} << 16) / width);
  std::vector<double> numbers;
  for (hsize_t first = 0; first < rows; first += some) {
    std::vector<hsize_t> start(shape.size(), 0), count(shape.begin(), shape.end());
    const hsize_t now = std::min(some, rows - first);
    if (!shape.empty()) {
      start[0] = first, count[0] = now;
      if (H5Sselect_hyperslab(all, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0)
        return false;
    }
    const hsize_t size = now * width;
    const Id5 memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
    numbers.resize(size);
    if (H5Dread(set, H5T_NATIVE_DOUBLE, memory, all, H5P_DEFAULT, numbers.data()) < 0) return false;
    if (!write_all(to, {reinterpret_cast<const char*>(numbers.data()), size * sizeof(double)})) return false;
    written += size * sizeof(double);
  }
  return true;
}
/// Numbers that are in this file and no other, as floating point or integers.
bool holds_numbers(hid_t set) {
  const Id5 type(H5Dget_type(set), H5Tclose), how(H5Dget_create_plist(set), H5Pclose);
  const H5T_class_t kind = H5Tget_class(type);
  return (kind == H5T_FLOAT || kind == H5T_INTEGER) && H5Pget_layout(how) != H5D_VIRTUAL &&
         H5Pget_external_count(how) == 0;
}

/// What the other process does. Code, links and storage outside the file are left alone.
void copy_datasets(const std::string& path, std::span<const std::string_view> wanted, int to,
                   std::ostream& found) {
  const Quiet quiet;
  H5PLset_loading_state(0);  // no code from files
  const Id5 file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  H5G_info_t root{};
  if (file < 0 || H5Gget_info(file, &root) < 0) return;
  std::size_t written = 0;
  for (hsize_t i = 0; i < std::min<hsize_t>(root.nlinks, 10000); ++i) {
    std::string name(1024, '\0');
    const ssize_t length =
        H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), 1024, H5P_DEFAULT);
    if (length <= 0 || length >= 1024) continue;
    name.resize(static_cast<std::size_t>(length));
    H5L_info_t link{};
    if (name.find('\n') != name.npos || H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) < 0 ||
        link.type != H5L_TYPE_HARD)
      continue;  // soft and external links lead elsewhere
    const Id5 set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (set < 0 || !holds_numbers(set)) continue;
    const Id5 space(H5Dget_space(set), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0 || rank > 2) continue;
    std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    const std::size_t at = written;
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end() &&
        !copy_numbers(set, shape, to, written)) {
      found << "cannot " << name << '\n';
      return;
    }
    found << "array " << at << ' ' << rank;
    for (const hsize_t n : shape) found << ' ' << n;
    found << ' ' << name << '\n';
  }
  found << "done\n";
}

}  // namespace

std::unique_ptr<FileBytes> copy_of_foreign_hdf5(const std::string& path,
                                                std::span<const std::string_view> wanted,
                                                std::map<std::string, ArrayPlace>& arrays) {
  std::error_code none;
  const int copy = open_unnamed(std::filesystem::temp_directory_path(none).string());
  if (copy < 0)
    unreadable(path,
               fmt::format("cannot be read: no temporary file ({})", std::generic_category().message(errno)));
  std::istringstream found(
      in_another_process([&](std::ostream& say) { copy_datasets(path, wanted, copy, say); }));
  auto bytes = std::make_unique<FileBytes>(copy, path);
  std::string word, last;
  while (found >> word && word == "array") {
    ArrayPlace place;
    std::size_t rank = 0;
    found >> place.at >> rank;
    place.shape.resize(std::min<std::size_t>(rank, 2));
    place.count = 1;
    for (auto& n : place.shape) found >> n, place.count *= n;
    std::getline(found.ignore(1), last);
    arrays[last] = place;
  }
  if (word == "cannot")
    unreadable(path, fmt::format("its dataset '{}' cannot be read; is it damaged?", (found >> last, last)));
  if (word != "done") unreadable(path, "is damaged, or no HDF5 file: HDF5's library fails on it");
  return bytes;
}

}  // namespace articula::recording_files
