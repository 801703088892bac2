// A recording as named arrays, which is how .npz and HDF5 files hold it; and what all file formats need. Internal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/simulation/recording.hpp"

namespace articula::recording_files {

[[noreturn]] void unwritable(const std::string& path);
[[noreturn]] void unreadable(const std::string& path, const std::string& why);
std::string read_bytes(const std::string& path);
using UseBytes = std::function<void(std::string_view bytes)>;
/// What `give` gives, piece by piece.
void write_pieces(const std::string& path, const std::function<void(const UseBytes& write)>& give);
void write_bytes(const std::string& path, std::string_view bytes);
/// False: errno says why not.
bool write_all(int fd, std::string_view bytes);
/// A file without a name, in this folder or where temporary files are; negative: errno says why not.
int open_unnamed(const std::string& folder);

/// A file that is read here and there.
class FileBytes {
 public:
  explicit FileBytes(const std::string& path);
  /// Takes the descriptor; the path is for messages.
  FileBytes(int fd, const std::string& path);
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

inline constexpr std::size_t words_at_once = 1 << 16;  // bytes
/// Numbers, the last index running fastest, or a list of words.
struct Array {
  std::string name;
  std::vector<double> numbers;
  std::vector<std::string> words;
  std::vector<std::size_t> shape;
  bool is_words = false;
  /// Gives the numbers, or the words, where they are too many to be held in `numbers`, or `words`.
  std::function<void(const std::function<void(std::span<const double>)>& use)> pieces{};
  std::function<void(const UseBytes& use)> word_pieces{};
  void for_each_word(const UseBytes& use) const;
  /// Of the longest word, at least one.
  std::size_t width() const;
  /// As files hold it: words of this width, filled up with zeros.
  std::size_t bytes() const;
  void for_each_piece(const UseBytes& use) const;
};
using UseArray = std::function<void(const Array&)>;
/// A word of CSV up to the comma or line end that follows, which stays; quoted words may have both in them.
std::string read_csv_word(std::string_view& text);
/// Always the same arrays in the same order.
using ForEachArray = std::function<void(const UseArray& use)>;

/// Columns that one array holds.
struct ColumnGroup {
  std::string name;
  std::vector<std::size_t> columns;
  bool list;  // of one number for each row
};
std::vector<ColumnGroup> groups_of(const std::vector<Column>& columns);

/// Columns that belong together are one array: "q", "v", "tau", a vector's axes; others are arrays alone. Then "columns"
/// and "units", names and units of all columns in their order, "about_keys" and "about_values". One is made at a time.
void for_each_array(const Recording& recording, const UseArray& use);

/// The way back, from what a file has under these names. ArgumentError if it does not fit together.
Recording recording_of(const std::string& path,
                       const std::function<std::vector<double>(const std::string& name)>& numbers,
                       const std::function<std::vector<std::string>(const std::string& name)>& words);

void write_npz(const std::string& path, const Recording& recording);
Recording read_npz(const std::string& path);
void write_hdf5(const std::string& path, const Recording& recording);
Recording read_hdf5(const std::string& path);

// --- what these are made of, for arrays that are no recording ---------------------------------------------------------
/// A .npz or HDF5 file that has these arrays, piece by piece.
void write_npz_arrays(const std::string& path, const ForEachArray& for_each, const UseBytes& write);
void write_hdf5_arrays(const std::string& path, const ForEachArray& for_each, const UseBytes& write);

/// Where the numbers of an array are in its file: doubles, little-endian.
struct ArrayPlace {
  std::size_t at = 0, count = 0;
  std::vector<std::size_t> shape;  // empty: HDF5 from here, where it is not known
};
/// The arrays of numbers of a .npz file (stored, from here or from NumPy), a .npy file (one, "q"), or an HDF5 file; told
/// apart by content. Checksums are checked. ArgumentError.
struct ArrayFile {
  /// Arrays of HDF5 files from elsewhere that are not wanted have only a name.
  ArrayFile(const std::string& path, std::span<const std::string_view> wanted);
  std::unique_ptr<FileBytes> bytes;
  std::map<std::string, ArrayPlace> arrays;
};
std::map<std::string, ArrayPlace> npz_arrays(const FileBytes& file);
std::unique_ptr<FileBytes> copy_of_foreign_hdf5(const std::string& path,
                                                std::span<const std::string_view> wanted,
                                                std::map<std::string, ArrayPlace>& arrays);
/// Whether a file that begins so is one of these.
bool holds_arrays(std::string_view begin);

}  // namespace articula::recording_files
