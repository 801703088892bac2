// Recordings as .npz files: a zip archive, stored without compression, of .npy arrays.
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "articula/simulation/recording_arrays.hpp"

namespace articula::recording_files {

namespace {

void put16(std::string& s, unsigned x) { s += char(x & 0xff), s += char(x >> 8 & 0xff); }
void put32(std::string& s, std::uint64_t x) {
  put16(s, unsigned(x & 0xffff)), put16(s, unsigned(x >> 16 & 0xffff));
}
std::uint32_t get32(const std::string& s, std::size_t at) {
  std::uint32_t x = 0;
  for (int i = 3; i >= 0; --i) x = x << 8 | static_cast<unsigned char>(s[at + std::size_t(i)]);
  return x;
}
unsigned get16(const std::string& s, std::size_t at) {
  return static_cast<unsigned char>(s[at]) | unsigned(static_cast<unsigned char>(s[at + 1])) << 8;
}

std::string header_of(const std::string& dtype, const std::vector<std::size_t>& shape) {
  const std::string sizes =
      shape.size() == 1 ? fmt::format("{},", shape[0]) : fmt::format("{}", fmt::join(shape, ", "));
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, sizes);
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  put16(out, unsigned(header.size()));
  return out + header;
}
/// Names are taken as UTF-8.
std::u32string wide(std::string_view w) {
  std::u32string out;
  for (std::size_t i = 0; i < w.size();) {
    const auto b = static_cast<unsigned char>(w[i]);
    const int more = b >= 0xf0 ? 3 : b >= 0xe0 ? 2 : b >= 0xc0 ? 1 : 0;
    char32_t c = more == 3 ? b & 7u : more == 2 ? b & 15u : more == 1 ? b & 31u : b;
    ++i;
    for (int k = 0; k < more && i < w.size(); ++k, ++i) c = c << 6 | (static_cast<unsigned char>(w[i]) & 63u);
    out += c <= 0x10ffff ? c : U'?';
  }
  return out;
}
/// A .npy file, piece by piece. Words are Unicode strings of one length, four bytes a character.
void for_each_piece_of_npy(const Array& array, const UseBytes& use) {
  if (!array.is_words) {
    use(header_of("<f8", array.shape));
    return array.for_each_piece(use);
  }
  std::size_t longest = 1;
  array.for_each_word([&](std::string_view word) { longest = std::max(longest, wide(word).size()); });
  use(header_of(fmt::format("<U{}", longest), array.shape));
  std::string data;
  array.for_each_word([&](std::string_view word) {
    std::u32string letters = wide(word);
    letters.resize(longest);
    for (const char32_t c : letters) put32(data, c);
    if (data.size() > words_at_once) use(data), data.clear();
  });
  use(data);
}

std::string utf8(char32_t c) {
  if (c < 0x80) return {char(c)};
  if (c < 0x800) return {char(0xc0 | c >> 6), char(0x80 | (c & 63))};
  if (c < 0x10000) return {char(0xe0 | c >> 12), char(0x80 | (c >> 6 & 63)), char(0x80 | (c & 63))};
  return {char(0xf0 | c >> 18), char(0x80 | (c >> 12 & 63)), char(0x80 | (c >> 6 & 63)),
          char(0x80 | (c & 63))};
}

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
std::string ZipArchive::begin(const std::string& file, std::uint32_t checksum, std::size_t bytes) {
  if (at_ + bytes > 0xf0000000u)
    throw Error(fmt::format("{}: more than 4 GB do not fit into .npz; write .h5", path_));
  std::string common;
  put16(common, 20), put16(common, 0x800), put16(common, 0);  // version 2.0, names in UTF-8, stored
  put16(common, 0), put16(common, 0x21);                      // 1 January 1980: equal recordings, equal files
  put32(common, checksum), put32(common, bytes), put32(common, bytes);
  put16(common, unsigned(file.size())), put16(common, 0);
  put32(directory_, 0x02014b50u);
  put16(directory_, 20);
  directory_ += common;
  put16(directory_, 0), put16(directory_, 0), put16(directory_, 0), put32(directory_, 0),
      put32(directory_, at_);
  directory_ += file;
  ++entries_;
  std::string out;
  put32(out, 0x04034b50u);
  out += common + file;
  at_ += out.size() + bytes;
  return out;
}
std::string ZipArchive::end() const {
  std::string out = directory_;
  put32(out, 0x06054b50u);
  put16(out, 0), put16(out, 0), put16(out, entries_), put16(out, entries_);
  put32(out, directory_.size()), put32(out, at_), put16(out, 0);
  return out;
}

}  // namespace

void write_npz_arrays(const std::string& path, const ForEachArray& for_each, const UseBytes& write) {
  ZipArchive zip(path);
  for_each([&](const Array& array) {
    std::uint32_t checksum = 0;
    std::size_t size = 0;
    for_each_piece_of_npy(array, [&](std::string_view bytes) {
      checksum = crc32(bytes, checksum);
      size += bytes.size();
    });
    write(zip.begin(array.name + ".npy", checksum, size));
    for_each_piece_of_npy(array, write);
  });
  write(zip.end());
}
void write_npz(const std::string& path, const Recording& r) {
  write_pieces(path, [&](const UseBytes& write) {
    write_npz_arrays(
        path, [&](const UseArray& use) { for_each_array(r, use); }, write);
  });
}

namespace {

/// The files of an archive that are stored as they are, by name: where they begin, how many bytes.
std::map<std::string, std::pair<std::size_t, std::size_t>> stored_files(const FileBytes& file) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> out;
  for (std::size_t at = 0; at + 30 <= file.size();) {
    const std::string head = file.read(at, 30);
    if (get32(head, 0) != 0x04034b50u) break;
    std::size_t size = get32(head, 18);
    const std::size_t name = get16(head, 26), extra = get16(head, 28);
    if (get16(head, 8) != 0)
      unreadable(file.path, "is compressed; write it with numpy.savez, not savez_compressed");
    const std::string words = file.read(at + 30, name + extra);
    if (size == 0xffffffffu && extra >= 20 && get16(words, name) == 1)  // NumPy writes sizes of 64 bits here
      size = get32(words, name + 4) | std::size_t(get32(words, name + 8)) << 32;
    at += 30 + name + extra;
    if ((get16(head, 6) & 8) || at > file.size() || size > file.size() - at)
      unreadable(file.path, "is not an archive that articula or NumPy wrote to a file, or is damaged");
    if (file.crc32(at, size) != get32(head, 14)) unreadable(file.path, "is damaged (checksum)");
    out[words.substr(0, name)] = {at, size};
    at += size;
  }
  return out;
}

struct NpyHeader {
  std::string text;
  std::size_t size;  // of all that comes before the numbers
};
NpyHeader npy_header_at(const FileBytes& file, std::size_t at, std::size_t size, const std::string& name) {
  const std::string begin = size < 12 ? std::string(12, '\0') : file.read(at, 12);
  const bool wide = begin[6] > 1;  // version 2: a length of 32 bits
  const std::size_t before = wide ? 12 : 10, length = wide ? get32(begin, 8) : get16(begin, 8);
  if (size < 12 || !begin.starts_with("\x93NUMPY") || length > size - before)
    unreadable(file.path, fmt::format("array '{}' is damaged", name));
  return {file.read(at + before, length), before + length};
}

ArrayPlace doubles_at(const FileBytes& file, std::size_t at, std::size_t size, const std::string& name) {
  const auto [header, before] = npy_header_at(file, at, size, name);
  ArrayPlace out{at + before, (size - before) / 8, {}};
  if (header.find("'<f8'") == header.npos || header.find("'fortran_order': False") == header.npos)
    unreadable(file.path, fmt::format("array '{}' is not of float64 in C order", name));
  std::size_t count = 1;
  const std::size_t open = header.find('('), close = header.find(')');
  for (std::size_t i = open; open < close && close != header.npos && i < close; ++i) {
    if (header[i] < '0' || header[i] > '9') continue;
    std::size_t x = 0;
    for (; header[i] >= '0' && header[i] <= '9' && x <= size; ++i) x = 10 * x + std::size_t(header[i] - '0');
    out.shape.push_back(x);
    count = x && count > size / x ? size + 1 : count * x;
  }
  if (out.shape.empty() || count != out.count)
    unreadable(file.path, fmt::format("array '{}' has another size than its shape says", name));
  return out;
}

}  // namespace

std::map<std::string, ArrayPlace> npz_arrays(const FileBytes& file) {
  std::map<std::string, ArrayPlace> out;
  if (file.read(0, std::min<std::size_t>(6, file.size())) == "\x93NUMPY") {
    out["q"] = doubles_at(file, 0, file.size(), "q");
    return out;
  }
  for (const auto& [name, place] : stored_files(file))
    if (name.ends_with(".npy")) {
      const std::string array = name.substr(0, name.size() - 4);
      if (npy_header_at(file, place.first, place.second, array).text.find("'<U") == std::string::npos)
        out[array] = doubles_at(file, place.first, place.second, array);
    }
  return out;
}

Recording read_npz(const std::string& path) {
  const FileBytes file(path);
  const auto files = stored_files(file);
  const auto array = [&](const std::string& name, const char* type) -> std::pair<std::string, std::size_t> {
    const auto found = files.find(name + ".npy");
    if (found == files.end()) unreadable(path, fmt::format("has no array '{}'", name));
    const auto [at, size] = found->second;
    const auto [header, before] = npy_header_at(file, at, size, name);
    const auto descr = header.find(fmt::format("'{}", type));
    if (descr == header.npos)
      unreadable(path, fmt::format("array '{}' has another type than {}", name, type));
    std::size_t width = 0;
    for (std::size_t i = descr + 1 + std::strlen(type);
         i < header.size() && header[i] >= '0' && header[i] <= '9' && width < size; ++i)
      width = 10 * width + std::size_t(header[i] - '0');
    return {file.read(at + before, size - before), width};
  };
  const auto words = [&](const std::string& name) {
    const auto [data, width] = array(name, "<U");
    std::vector<std::string> out;
    for (std::size_t i = 0; width > 0 && i + 4 * width <= data.size(); i += 4 * width) {
      std::string word;
      for (std::size_t k = 0; k < width; ++k)
        if (const char32_t c = get32(data, i + 4 * k)) word += utf8(c);
      out.push_back(word);
    }
    return out;
  };
  const auto numbers = [&](const std::string& name) {
    const std::string data = array(name, "<f").first;
    std::vector<double> x(data.size() / 8);
    if (!x.empty()) std::memcpy(x.data(), data.data(), x.size() * 8);
    return x;
  };
  return recording_of(path, numbers, words);
}

}  // namespace articula::recording_files
