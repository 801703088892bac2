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

std::string npy(const std::string& dtype, const std::string& shape, std::string_view data) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, shape);
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  put16(out, unsigned(header.size()));
  return out + header + std::string(data);
}
/// Unicode strings of one length, four bytes a character; names are taken as UTF-8.
std::string npy(const std::vector<std::string>& words) {
  std::vector<std::u32string> wide;
  std::size_t longest = 1;
  for (const std::string& w : words) {
    std::u32string out;
    for (std::size_t i = 0; i < w.size();) {
      const auto b = static_cast<unsigned char>(w[i]);
      const int more = b >= 0xf0 ? 3 : b >= 0xe0 ? 2 : b >= 0xc0 ? 1 : 0;
      char32_t c = more == 3 ? b & 7u : more == 2 ? b & 15u : more == 1 ? b & 31u : b;
      ++i;
      for (int k = 0; k < more && i < w.size(); ++k, ++i)
        c = c << 6 | (static_cast<unsigned char>(w[i]) & 63u);
      out += c <= 0x10ffff ? c : U'?';
    }
    longest = std::max(longest, out.size());
    wide.push_back(std::move(out));
  }
  std::string data;
  for (auto& w : wide) {
    w.resize(longest);
    for (const char32_t c : w) put32(data, c);
  }
  return npy(fmt::format("<U{}", longest), fmt::format("{},", words.size()), data);
}
std::string npy(const Array& array) {
  static_assert(sizeof(double) == 8);
  if (array.is_words) return npy(array.words);
  return npy("<f8",
             array.list ? fmt::format("{},", array.rows) : fmt::format("{}, {}", array.rows, array.columns),
             {reinterpret_cast<const char*>(array.numbers.data()), array.numbers.size() * 8});
}

std::string utf8(char32_t c) {
  if (c < 0x80) return {char(c)};
  if (c < 0x800) return {char(0xc0 | c >> 6), char(0x80 | (c & 63))};
  if (c < 0x10000) return {char(0xe0 | c >> 12), char(0x80 | (c >> 6 & 63)), char(0x80 | (c & 63))};
  return {char(0xf0 | c >> 18), char(0x80 | (c >> 12 & 63)), char(0x80 | (c >> 6 & 63)),
          char(0x80 | (c & 63))};
}

}  // namespace

void write_npz(const std::string& path, const Recording& r) {
  std::string archive, directory;
  int entries = 0;
  const auto add = [&](const std::string& name, const std::string& data) {
    const std::string file = name + ".npy";
    if (archive.size() + data.size() > 0xf0000000u)
      throw Error(fmt::format("{}: more than 4 GB do not fit into .npz; write .h5", path));
    std::string common;
    put16(common, 20), put16(common, 0x800), put16(common, 0);  // version 2.0, names in UTF-8, stored
    put16(common, 0), put16(common, 0x21);  // 1 January 1980: equal recordings, equal files
    put32(common, crc32(data)), put32(common, data.size()), put32(common, data.size());
    put16(common, unsigned(file.size())), put16(common, 0);
    const std::size_t offset = archive.size();
    put32(archive, 0x04034b50u);
    archive += common + file + data;
    put32(directory, 0x02014b50u);
    put16(directory, 20);
    directory += common;
    put16(directory, 0), put16(directory, 0), put16(directory, 0), put32(directory, 0),
        put32(directory, offset);
    directory += file;
    ++entries;
  };
  for_each_array(r, [&](const Array& array) { add(array.name, npy(array)); });
  const std::size_t at = archive.size();
  archive += directory;
  put32(archive, 0x06054b50u);
  put16(archive, 0), put16(archive, 0), put16(archive, unsigned(entries)), put16(archive, unsigned(entries));
  put32(archive, directory.size()), put32(archive, at), put16(archive, 0);
  write_bytes(path, archive);
}

Recording read_npz(const std::string& path) {
  const std::string bytes = read_bytes(path);
  std::map<std::string, std::string> files;
  std::size_t at = 0;
  while (at + 30 <= bytes.size() && get32(bytes, at) == 0x04034b50u) {
    const std::size_t size = get32(bytes, at + 18), name = get16(bytes, at + 26),
                      extra = get16(bytes, at + 28);
    if (get16(bytes, at + 8) != 0 || (get16(bytes, at + 6) & 8) ||
        at + 30 + name + extra + size > bytes.size())
      unreadable(path, "is not an archive that articula wrote, or is damaged");
    const std::string data = bytes.substr(at + 30 + name + extra, size);
    if (crc32(data) != get32(bytes, at + 14)) unreadable(path, "is damaged (checksum)");
    files[bytes.substr(at + 30, name)] = data;
    at += 30 + name + extra + size;
  }
  const auto array = [&](const std::string& name, const char* type) -> std::pair<std::string, std::size_t> {
    const auto found = files.find(name + ".npy");
    if (found == files.end()) unreadable(path, fmt::format("has no array '{}'", name));
    const std::string& f = found->second;
    if (f.size() < 10 || 10u + get16(f, 8) > f.size())
      unreadable(path, fmt::format("array '{}' is damaged", name));
    const std::string header = f.substr(10, get16(f, 8));
    const auto descr = header.find(fmt::format("'{}", type));
    if (descr == header.npos)
      unreadable(path, fmt::format("array '{}' has another type than {}", name, type));
    std::size_t width = 0;
    for (std::size_t i = descr + 1 + std::strlen(type);
         i < header.size() && header[i] >= '0' && header[i] <= '9' && width < f.size(); ++i)
      width = 10 * width + std::size_t(header[i] - '0');
    return {f.substr(10 + header.size()), width};
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
