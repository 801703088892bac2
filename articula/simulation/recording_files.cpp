// Recordings as CSV, .npz and HDF5 files.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>

#include "articula/simulation/recording.hpp"

namespace articula {

namespace {

[[noreturn]] void unwritable(const std::string& path) {
  throw Error(fmt::format("{} cannot be written ({})", path, std::strerror(errno ? errno : EIO)));
}
[[noreturn]] void unreadable(const std::string& path, const std::string& why) {
  throw ArgumentError(fmt::format("{}: {}", path, why));
}

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) unreadable(path, fmt::format("cannot be read ({})", std::strerror(errno)));
  std::string out((std::istreambuf_iterator<char>(in)), {});
  if (in.bad()) unreadable(path, "cannot be read");
  return out;
}
void write_bytes(const std::string& path, const std::string& bytes) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), std::streamsize(bytes.size()));
  out.close();
  if (!out) unwritable(path);
}

// --- groups: what one dataset or array of a file holds -----------------------------------------------
/// Columns that belong together: all of q, of v, of a vector; or one alone.
struct Group {
  std::string name;
  std::vector<int> columns;
  bool matrix;  // n x columns, even if there is one
};
std::vector<Group> groups_of(const std::vector<Column>& columns) {
  std::vector<Group> out;
  for (int i = 0; i < int(columns.size()); ++i) {
    const std::string& full = columns[i].name;
    const auto colon = full.find(':');
    const bool axis =
        full.size() > 2 && full[full.size() - 2] == '.' && full.back() >= 'x' && full.back() <= 'z';
    const std::string name = colon != full.npos ? full.substr(0, colon)
                             : axis             ? full.substr(0, full.size() - 2)
                                                : full;
    const bool matrix = colon != full.npos || axis;
    if (matrix && !out.empty() && out.back().name == name)
      out.back().columns.push_back(i);
    else
      out.push_back({name, {i}, matrix});
  }
  return out;
}
std::vector<double> values_of(const Recording& r, const Group& g) {
  std::vector<double> out;
  out.reserve(r.size() * g.columns.size());
  for (std::size_t i = 0; i < r.size(); ++i)
    for (const int c : g.columns) out.push_back(r.row(i)[std::size_t(c)]);
  return out;
}
void put_values(const std::vector<double>& x, const Group& g, Recording& r) {
  const std::size_t n = x.size() / g.columns.size(), width = r.columns.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < g.columns.size(); ++k)
      r.numbers[i * width + std::size_t(g.columns[k])] = x[i * g.columns.size() + k];
}

// --- CSV ---------------------------------------------------------------------------------------------
/// Names with commas, quotes or line ends are quoted as RFC 4180 says.
void append_csv_word(const std::string& word, std::string& out) {
  if (word.find_first_of(",\"\r\n") == word.npos) {
    out += word;
    return;
  }
  out.push_back('"');
  for (const char c : word) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

constexpr std::string_view units_comment = "# units: ";

Recording read_csv(const std::string& path) {
  const std::string text = read_bytes(path);
  std::vector<std::string> units;
  Recording r;
  std::size_t at = 0, line = 0;
  const auto fail = [&](const std::string& why) { unreadable(fmt::format("{}:{}", path, line), why); };
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) break;  // unfinished
    std::string_view row(text.data() + at, end - at);
    at = end + 1;
    ++line;
    if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
    if (row.starts_with(units_comment) && r.columns.empty()) {
      std::string_view rest = row.substr(units_comment.size());
      for (std::size_t comma = 0; comma != rest.npos;) {
        comma = rest.find(',');
        units.emplace_back(rest.substr(0, comma));
        if (comma != rest.npos) rest.remove_prefix(comma + 1);
      }
    }
    if (row.starts_with("#") || row.empty()) continue;
    if (r.columns.empty()) {
      std::string word;
      bool quoted = false;
      for (std::size_t i = 0; i <= row.size(); ++i) {
        if (i < row.size() && row[i] == '"') {
          if (quoted && i + 1 < row.size() && row[i + 1] == '"')
            word += '"', ++i;
          else
            quoted = !quoted;
        } else if (i == row.size() || (row[i] == ',' && !quoted)) {
          while (word.ends_with(' ')) word.pop_back();
          word.erase(0, std::min(word.find_first_not_of(' '), word.size()));
          r.columns.push_back({word, ""});
          word.clear();
        } else {
          word += row[i];
        }
      }
      if (r.columns[0].name != "time") fail("the first column is not 'time'");
      continue;
    }
    const char *p = row.data(), *const last = p + row.size();
    for (std::size_t i = 0; i < r.columns.size(); ++i) {
      double x = 0;
      while (p < last && *p == ' ') ++p;
      auto [next, error] = std::from_chars(p, last, x);
      while (error == std::errc{} && next < last && *next == ' ') ++next;
      if (error != std::errc{} || (i + 1 < r.columns.size() ? next == last || *next != ',' : next != last))
        fail(fmt::format("column '{}' is no number, or the line has not {} of them", r.columns[i].name,
                         r.columns.size()));
      r.numbers.push_back(x);
      p = next + 1;
    }
  }
  if (r.columns.empty()) unreadable(path, "has no header line");
  for (std::size_t i = 0; i < std::min(units.size(), r.columns.size()); ++i) r.columns[i].unit = units[i];
  return r;
}

// --- .npz: a zip archive, stored without compression, of .npy arrays ---------------------------------
constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> out{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    out[i] = c;
  }
  return out;
}();
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t c = 0xffffffffu;
  for (const char b : bytes) c = crc_table[(c ^ static_cast<unsigned char>(b)) & 0xff] ^ (c >> 8);
  return c ^ 0xffffffffu;
}
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
std::string npy(const std::vector<double>& x, const std::string& shape) {
  static_assert(sizeof(double) == 8);
  return npy("<f8", shape, {reinterpret_cast<const char*>(x.data()), x.size() * 8});
}
/// Unicode strings of one length, four bytes per character; names are taken as UTF-8.
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
  for (const Group& g : groups_of(r.columns))
    add(g.name, npy(values_of(r, g), g.matrix ? fmt::format("{}, {}", r.size(), g.columns.size())
                                              : fmt::format("{},", r.size())));
  std::vector<std::string> names, units, keys, values;
  for (const Column& c : r.columns) names.push_back(c.name), units.push_back(c.unit);
  for (const auto& [key, value] : r.about) keys.push_back(key), values.push_back(value);
  add("columns", npy(names));
  add("units", npy(units));
  add("about_keys", npy(keys));
  add("about_values", npy(values));
  const std::size_t at = archive.size();
  archive += directory;
  put32(archive, 0x06054b50u);
  put16(archive, 0), put16(archive, 0), put16(archive, unsigned(entries)), put16(archive, unsigned(entries));
  put32(archive, directory.size()), put32(archive, at), put16(archive, 0);
  write_bytes(path, archive);
}

std::string utf8(char32_t c) {
  if (c < 0x80) return {char(c)};
  if (c < 0x800) return {char(0xc0 | c >> 6), char(0x80 | (c & 63))};
  if (c < 0x10000) return {char(0xe0 | c >> 12), char(0x80 | (c >> 6 & 63)), char(0x80 | (c & 63))};
  return {char(0xf0 | c >> 18), char(0x80 | (c >> 12 & 63)), char(0x80 | (c >> 6 & 63)),
          char(0x80 | (c & 63))};
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
         i < header.size() && header[i] >= '0' && header[i] <= '9'; ++i)
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
  Recording r;
  const auto names = words("columns"), units = words("units"), keys = words("about_keys"),
             values = words("about_values");
  if (names.empty() || units.size() != names.size() || keys.size() != values.size())
    unreadable(path, "its names and units do not fit");
  for (std::size_t i = 0; i < names.size(); ++i) r.columns.push_back({names[i], units[i]});
  for (std::size_t i = 0; i < keys.size(); ++i) r.about.emplace_back(keys[i], values[i]);
  std::size_t rows = 0;
  for (const Group& g : groups_of(r.columns)) {
    const std::string data = array(g.name, "<f").first;
    std::vector<double> x(data.size() / 8);
    if (!x.empty()) std::memcpy(x.data(), data.data(), x.size() * 8);
    if (r.numbers.empty()) {
      rows = x.size() / g.columns.size();
      r.numbers.resize(rows * r.columns.size());
    }
    if (x.size() != rows * g.columns.size())
      unreadable(path, fmt::format("array '{}' has another length", g.name));
    put_values(x, g, r);
  }
  return r;
}

// --- HDF5 --------------------------------------------------------------------------------------------
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

bool put_words(hid_t at, const char* name, const std::vector<std::string>& words) {
  const Id5 type(H5Tcopy(H5T_C_S1), H5Tclose);
  std::size_t longest = 1;
  for (const auto& w : words) longest = std::max(longest, w.size());
  H5Tset_size(type, longest), H5Tset_cset(type, H5T_CSET_UTF8), H5Tset_strpad(type, H5T_STR_NULLPAD);
  const hsize_t n = words.size();
  const Id5 space(words.size() == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, nullptr), H5Sclose);
  const Id5 attribute(H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  std::string data(longest * words.size(), '\0');
  for (std::size_t i = 0; i < words.size(); ++i)
    std::copy(words[i].begin(), words[i].end(), data.begin() + long(i * longest));
  return attribute >= 0 && H5Awrite(attribute, type, data.data()) >= 0;
}
std::vector<std::string> get_words(hid_t at, const char* name) {
  const Id5 attribute(H5Aopen(at, name, H5P_DEFAULT), H5Aclose);
  if (attribute < 0) return {};
  const Id5 type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  const std::size_t width = H5Tget_size(type);
  const auto n = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || n < 0) return {};
  std::string data(width * std::size_t(n), '\0');
  if (H5Aread(attribute, type, data.data()) < 0) return {};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::size_t(n); ++i) out.emplace_back(data.substr(i * width, width).c_str());
  return out;
}

void write_hdf5(const std::string& path, const Recording& r) {
  const Quiet quiet;
  errno = 0;
  bool good = true;
  {
    const Id5 file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    if (file < 0) unwritable(path);
    for (const Group& g : groups_of(r.columns)) {
      const std::vector<double> x = values_of(r, g);
      const hsize_t size[2] = {r.size(), g.columns.size()};
      const Id5 space(H5Screate_simple(g.matrix ? 2 : 1, size, nullptr), H5Sclose);
      const Id5 set(
          H5Dcreate2(file, g.name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
          H5Dclose);
      good = good && set >= 0 &&
             (x.empty() || H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data()) >= 0);
      std::vector<std::string> names, units;
      for (const int c : g.columns)
        names.push_back(r.columns[std::size_t(c)].name), units.push_back(r.columns[std::size_t(c)].unit);
      good = good && put_words(set, "columns", names) && put_words(set, "unit", units);
    }
    // The columns in their order, dataset by dataset; and what the recording is about.
    std::vector<std::string> order;
    for (const Group& g : groups_of(r.columns)) order.push_back(g.name);
    good = good && put_words(file, "datasets", order);
    for (const auto& [key, value] : r.about) good = good && put_words(file, key.c_str(), {value});
    good = good && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  }
  if (!good) unwritable(path);
}

Recording read_hdf5(const std::string& path) {
  const Quiet quiet;
  const Id5 file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file < 0) unreadable(path, "is no HDF5 file, or cannot be read");
  Recording r;
  std::vector<std::pair<Group, std::vector<double>>> parts;
  std::size_t rows = 0;
  for (const std::string& name : get_words(file, "datasets")) {
    const Id5 set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (set < 0) unreadable(path, fmt::format("has no dataset '{}'", name));
    const auto names = get_words(set, "columns"), units = get_words(set, "unit");
    if (names.empty() || names.size() != units.size())
      unreadable(path, fmt::format("dataset '{}' has no names", name));
    Group g{name, {}, true};
    for (std::size_t i = 0; i < names.size(); ++i) {
      g.columns.push_back(int(r.columns.size()));
      r.columns.push_back({names[i], units[i]});
    }
    const Id5 space(H5Dget_space(set), H5Sclose);
    const auto n = H5Sget_simple_extent_npoints(space);
    std::vector<double> x(n > 0 ? std::size_t(n) : 0);
    if (!x.empty() && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data()) < 0)
      unreadable(path, fmt::format("dataset '{}' cannot be read", name));
    if (parts.empty()) rows = x.size() / names.size();
    if (x.size() != rows * names.size())
      unreadable(path, fmt::format("dataset '{}' has another length", name));
    parts.emplace_back(std::move(g), std::move(x));
  }
  if (parts.empty()) unreadable(path, "holds no recording");
  r.numbers.resize(rows * r.columns.size());
  for (const auto& [g, x] : parts) put_values(x, g, r);
  return r;
}

}  // namespace

FileFormat format_of(std::string_view path) {
  if (path.ends_with(".npz")) return FileFormat::npz;
  return path.ends_with(".h5") || path.ends_with(".hdf5") ? FileFormat::hdf5 : FileFormat::csv;
}

std::string csv_header(const std::vector<Column>& columns, bool units) {
  std::string out;
  if (units) {
    out = units_comment;
    for (std::size_t i = 0; i < columns.size(); ++i) out.append(i ? "," : "").append(columns[i].unit);
    out.push_back('\n');
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i) out.push_back(',');
    append_csv_word(columns[i].name, out);
  }
  out.push_back('\n');
  return out;
}
void append_csv_row(std::span<const double> row, std::string& text) {
  char number[32];
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i) text += ',';
    const auto end = std::to_chars(number, number + sizeof number, row[i]).ptr;  // shortest that round-trips
    text.append(number, end);
  }
  text += '\n';
}

void write_recording(const std::string& path, FileFormat format, const Recording& r) {
  if (format == FileFormat::npz) return write_npz(path, r);
  if (format == FileFormat::hdf5) return write_hdf5(path, r);
  std::string text = csv_header(r.columns);
  for (std::size_t i = 0; i < r.size(); ++i) append_csv_row(r.row(i), text);
  write_bytes(path, text);
}
Recording read_recording(const std::string& path, FileFormat format) {
  return format == FileFormat::npz    ? read_npz(path)
         : format == FileFormat::hdf5 ? read_hdf5(path)
                                      : read_csv(path);
}

}  // namespace articula
