#include "articula/simulation/recording_arrays.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <system_error>

namespace articula::recording_files {

void unwritable(const std::string& path) {
  throw Error(
      fmt::format("{} cannot be written ({})", path, std::generic_category().message(errno ? errno : EIO)));
}
void unreadable(const std::string& path, const std::string& why) {
  throw ArgumentError(fmt::format("{}: {}", path, why));
}

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) unreadable(path, fmt::format("cannot be read ({})", std::generic_category().message(errno)));
  std::string out((std::istreambuf_iterator<char>(in)), {});
  if (in.bad()) unreadable(path, "cannot be read");
  return out;
}
void write_pieces(const std::string& path, const std::function<void(const UseBytes& write)>& give) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  give([&](std::string_view bytes) {
    if (!out.write(bytes.data(), std::streamsize(bytes.size()))) unwritable(path);
  });
  out.close();
  if (!out) unwritable(path);
}
void write_bytes(const std::string& path, std::string_view bytes) {
  write_pieces(path, [&](const UseBytes& write) { write(bytes); });
}
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}
int open_unnamed(const std::string& folder) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;  // not every file system has files without names
  std::error_code none;
  std::string name = std::filesystem::temp_directory_path(none).string() + "/articulaXXXXXX";
  const int other = mkostemp(name.data(), O_CLOEXEC);
  if (other >= 0) unlink(name.c_str());
  return other;
}

FileBytes::FileBytes(const std::string& path) : FileBytes(open(path.c_str(), O_RDONLY | O_CLOEXEC), path) {}
FileBytes::FileBytes(int fd, const std::string& path) : path(path), fd_(fd) {
  struct stat about {};
  if (fd_ < 0 || fstat(fd_, &about) != 0) {
    const std::string why = std::generic_category().message(errno);
    if (fd_ >= 0) close(fd_);
    unreadable(path, fmt::format("cannot be read ({})", why));
  }
  size_ = static_cast<std::size_t>(about.st_size);
}
FileBytes::~FileBytes() { close(fd_); }
void FileBytes::read(std::size_t at, std::span<char> out) const {
  while (!out.empty()) {
    const ssize_t n = pread(fd_, out.data(), out.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) unreadable(path, fmt::format("cannot be read ({})", std::generic_category().message(errno)));
    if (n == 0) unreadable(path, "ends early; is it damaged?");
    at += static_cast<std::size_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
}
std::string FileBytes::read(std::size_t at, std::size_t count) const {
  if (at > size_ || count > size_ - at) unreadable(path, "ends early; is it damaged?");
  std::string out(count, '\0');
  read(at, std::span(out));
  return out;
}
std::uint32_t FileBytes::crc32(std::size_t at, std::size_t count) const {
  std::uint32_t sum = 0;
  for (constexpr std::size_t piece = 1 << 18; count > 0;) {
    const std::size_t n = std::min(piece, count);
    sum = recording_files::crc32(read(at, n), sum);
    at += n, count -= n;
  }
  return sum;
}

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  // Eight bytes at a time: table k is for a byte that k others follow.
  static constexpr auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> out{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      out[0][i] = c;
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t i = 0; i < 256; ++i) out[k][i] = out[0][out[k - 1][i] & 0xff] ^ (out[k - 1][i] >> 8);
    return out;
  }();
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  std::uint32_t c = ~before;
  for (; left >= 8; left -= 8, p += 8) {
    c ^= std::uint32_t(p[0]) | std::uint32_t(p[1]) << 8 | std::uint32_t(p[2]) << 16 |
         std::uint32_t(p[3]) << 24;
    c = tables[7][c & 0xff] ^ tables[6][c >> 8 & 0xff] ^ tables[5][c >> 16 & 0xff] ^ tables[4][c >> 24] ^
        tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^ tables[0][p[7]];
  }
  for (; left > 0; --left, ++p) c = tables[0][(c ^ *p) & 0xff] ^ (c >> 8);
  return ~c;
}

void Array::for_each_word(const UseBytes& use) const {
  if (word_pieces) return word_pieces(use);
  for (const std::string& word : words) use(word);
}
std::size_t Array::width() const {
  std::size_t longest = 1;
  for_each_word([&](std::string_view word) { longest = std::max(longest, word.size()); });
  return longest;
}
std::size_t Array::bytes() const {
  if (is_words) return shape[0] * width();
  return sizeof(double) * std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}
void Array::for_each_piece(const UseBytes& use) const {
  const auto use_numbers = [&](std::span<const double> x) {
    static_assert(sizeof(double) == 8);
    use({reinterpret_cast<const char*>(x.data()), x.size_bytes()});
  };
  if (pieces) return pieces(use_numbers);
  if (!is_words) return use_numbers(numbers);
  const std::size_t longest = width();
  std::string data;
  for_each_word([&](std::string_view word) {
    data.append(word).append(longest - word.size(), '\0');
    if (data.size() > words_at_once) use(data), data.clear();
  });
  use(data);
}

std::vector<ColumnGroup> groups_of(const std::vector<Column>& columns) {
  std::vector<ColumnGroup> out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& full = columns[i].name;
    const auto colon = full.find(':');
    const bool axis =
        full.size() > 2 && full[full.size() - 2] == '.' && full.back() >= 'x' && full.back() <= 'z';
    const std::string name = colon != full.npos ? full.substr(0, colon)
                             : axis             ? full.substr(0, full.size() - 2)
                                                : full;
    const bool list = colon == full.npos && !axis;
    if (!list && !out.empty() && out.back().name == name)
      out.back().columns.push_back(i);
    else
      out.push_back({name, {i}, list});
  }
  return out;
}

void for_each_array(const Recording& r, const UseArray& use) {
  for (const ColumnGroup& g : groups_of(r.columns)) {
    Array array{.name = g.name, .shape = {r.size()}};
    if (!g.list) array.shape.push_back(g.columns.size());
    array.numbers.reserve(r.size() * g.columns.size());
    for (std::size_t i = 0; i < r.size(); ++i)
      for (const std::size_t c : g.columns) array.numbers.push_back(r.row(i)[c]);
    use(array);
  }
  std::vector<std::string> names, units, keys, values;
  for (const Column& c : r.columns) names.push_back(c.name), units.push_back(c.unit);
  for (const auto& [key, value] : r.about) keys.push_back(key), values.push_back(value);
  const auto words = [&](const char* name, const std::vector<std::string>& all) {
    use({.name = name, .words = all, .shape = {all.size()}, .is_words = true});
  };
  words("columns", names), words("units", units), words("about_keys", keys), words("about_values", values);
}

Recording recording_of(const std::string& path,
                       const std::function<std::vector<double>(const std::string& name)>& numbers,
                       const std::function<std::vector<std::string>(const std::string& name)>& words) {
  Recording r;
  const auto names = words("columns"), units = words("units"), keys = words("about_keys"),
             values = words("about_values");
  if (names.empty() || names[0] != "time" || units.size() != names.size() || keys.size() != values.size())
    unreadable(path, "its names and units do not fit");
  for (std::size_t i = 0; i < names.size(); ++i) r.columns.push_back({names[i], units[i]});
  for (std::size_t i = 0; i < keys.size(); ++i) r.about.emplace_back(keys[i], values[i]);
  // All arrays before the room for all of them: what a file claims is bounded by what it has.
  const auto groups = groups_of(r.columns);
  std::vector<std::vector<double>> all;
  std::set<std::string> seen;
  for (const ColumnGroup& g : groups) {
    if (!seen.insert(g.name).second) unreadable(path, fmt::format("array '{}' is there twice", g.name));
    all.push_back(numbers(g.name));
  }
  const std::size_t rows = all[0].size();
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (all[i].size() != rows * groups[i].columns.size())
      unreadable(path, fmt::format("array '{}' has another length", groups[i].name));
  r.numbers.resize(rows * names.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t k = 0; k < all[i].size(); ++k)
      r.numbers[k / groups[i].columns.size() * names.size() +
                groups[i].columns[k % groups[i].columns.size()]] = all[i][k];
  return r;
}

}  // namespace articula::recording_files
