// A recording as named arrays, which is how .npz and HDF5 files hold it; and what all file formats need. Internal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/simulation/recording.hpp"

namespace articula::recording_files {

[[noreturn]] void unwritable(const std::string& path);
[[noreturn]] void unreadable(const std::string& path, const std::string& why);
std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::string_view bytes);

/// A file that is read here and there.
class FileBytes {
 public:
  explicit FileBytes(const std::string& path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  std::size_t size() const { return size_; }
  /// ArgumentError if it has not so many.
  void read(std::size_t at, std::span<char> out) const;
  std::string read(std::size_t at, std::size_t count) const;
  std::uint32_t crc32(std::size_t at, std::size_t count) const;

  const std::string path;

 private:
  int fd_;
  std::size_t size_ = 0;
};
/// As zip archives have it. `before`: of bytes that come before these.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

/// Numbers, the last index running fastest, or a list of words.
struct Array {
  std::string name;
  std::vector<double> numbers;
  std::vector<std::string> words;
  std::vector<std::size_t> shape;
  bool is_words = false;
  /// Of the longest word, at least one.
  std::size_t width() const;
};

/// Columns that belong together are one array: "q", "v", "tau", a vector's axes; others are arrays alone. Then "columns"
/// and "units", names and units of all columns in their order, "about_keys" and "about_values". One is made at a time.
void for_each_array(const Recording& recording, const std::function<void(const Array&)>& use);
std::vector<std::string> array_names(const Recording& recording);

/// The way back, from what a file has under these names. ArgumentError if it does not fit together.
Recording recording_of(const std::string& path,
                       const std::function<std::vector<double>(const std::string& name)>& numbers,
                       const std::function<std::vector<std::string>(const std::string& name)>& words);

void write_npz(const std::string& path, const Recording& recording);
Recording read_npz(const std::string& path);
void write_hdf5(const std::string& path, const Recording& recording);
Recording read_hdf5(const std::string& path);

// --- what these are made of, for arrays that are no recording ---------------------------------------------------------
/// The beginning of a .npy file of doubles, up to the numbers.
std::string npy_header(const std::vector<std::size_t>& shape);
/// A zip archive of files that are stored as they are; what it returns is to be written in this order.
class ZipArchive {
 public:
  explicit ZipArchive(std::string path) : path_(std::move(path)) {}
  /// What comes before a file's bytes.
  std::string begin(const std::string& file, std::uint32_t checksum, std::size_t bytes);
  std::string end() const;

 private:
  std::string path_, directory_;
  std::size_t at_ = 0;
  unsigned entries_ = 0;
};
/// The bytes of an HDF5 file that has these arrays.
void with_hdf5_image(const std::string& path, const std::vector<std::string>& names,
                     const std::function<void(const std::function<void(const Array&)>& use)>& for_each,
                     const std::function<void(std::string_view bytes)>& write);

/// Where the numbers of an array are in its file: doubles, little-endian.
struct ArrayPlace {
  std::size_t at = 0, count = 0;
  std::vector<std::size_t> shape;  // empty: HDF5, where it is not known
};
/// The arrays of doubles of a .npz file (stored, from here or from NumPy), a .npy file (one, "q"), or an HDF5 file from
/// here; told apart by content. Checksums are checked. ArgumentError.
std::map<std::string, ArrayPlace> arrays_of(const FileBytes& file);
std::map<std::string, ArrayPlace> npz_arrays(const FileBytes& file);
/// Whether a file that begins so is one of these.
bool holds_arrays(std::string_view begin);

}  // namespace articula::recording_files
