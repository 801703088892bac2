// A recording as named arrays, which is how .npz and HDF5 files hold it; and what all file formats need. Internal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "articula/simulation/recording.hpp"

namespace articula::recording_files {

[[noreturn]] void unwritable(const std::string& path);
[[noreturn]] void unreadable(const std::string& path, const std::string& why);
std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::string_view bytes);
/// As zip archives have it. `before`: of bytes that come before these.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

/// Numbers (rows x columns, or a list) or words.
struct Array {
  std::string name;
  std::vector<double> numbers;
  std::vector<std::string> words;
  std::size_t rows = 0, columns = 1;
  bool list = true, is_words = false;
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

}  // namespace articula::recording_files
