// Recordings as CSV, and files by their ending.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "articula/simulation/recording_arrays.hpp"

namespace articula {

using namespace recording_files;

std::string recording_files::read_csv_word(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::string word;
  if (text.starts_with('"')) {
    for (text.remove_prefix(1); !text.empty(); text.remove_prefix(1)) {
      if (text[0] == '"' && !text.substr(1).starts_with('"')) break;
      if (text[0] == '"') text.remove_prefix(1);
      word += text[0];
    }
    text.remove_prefix(std::min(text.find_first_of(",\n"), text.size()));
    return word;
  }
  const std::size_t end = std::min(text.find_first_of(",\n"), text.size());
  word = text.substr(0, end);
  text.remove_prefix(end);
  while (word.ends_with(' ') || word.ends_with('\r')) word.pop_back();
  return word;
}

namespace {

constexpr std::string_view units_comment = "# units: ", about_comment = "# about: ";

void read_comment(std::string_view line, std::vector<std::string>& units, Recording& r) {
  if (line.starts_with(units_comment)) {
    std::string_view rest = line.substr(units_comment.size());
    for (units.push_back(read_csv_word(rest)); rest.starts_with(','); units.push_back(read_csv_word(rest)))
      rest.remove_prefix(1);
  }
  if (line.starts_with(about_comment)) {
    const auto pairs = nlohmann::json::parse(line.substr(about_comment.size()), nullptr, false);
    for (const auto& pair : pairs)
      if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string())
        r.about.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  }
}

/// One number for each column.
void read_row(std::string_view row, Recording& r, const std::string& where) {
  const char *p = row.data(), *const last = p + row.size();
  for (std::size_t i = 0; i < r.columns.size(); ++i) {
    double x = 0;
    while (p < last && *p == ' ') ++p;
    auto [next, error] = std::from_chars(p, last, x);
    while (error == std::errc{} && next < last && *next == ' ') ++next;
    if (error != std::errc{} || (i + 1 < r.columns.size() ? next == last || *next != ',' : next != last))
      unreadable(where, fmt::format("column '{}' is no number, or the line has not {} of them",
                                    r.columns[i].name, r.columns.size()));
    r.numbers.push_back(x);
    p = next + 1;
  }
}

Recording read_csv(const std::string& path) {
  const std::string all = read_bytes(path);
  std::string_view text = all;
  text = text.substr(0, text.rfind('\n') + 1);  // an unfinished line is left out
  std::vector<std::string> units;
  Recording r;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string where = fmt::format("{}:{}", path, line);
    if (text[0] != '#' && r.columns.empty() && text[0] != '\n' && text[0] != '\r') {
      const char* const begin = text.data();
      for (r.columns.push_back({read_csv_word(text), ""}); text.starts_with(',');
           r.columns.push_back({read_csv_word(text), ""}))
        text.remove_prefix(1);
      line += std::size_t(std::count(begin, text.data(), '\n'));
      if (text.empty()) unreadable(path, "its header line does not end");
      text.remove_prefix(1);
      if (r.columns[0].name != "time") unreadable(where, "the first column is not 'time'");
      continue;
    }
    const std::size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.starts_with('#'))
      read_comment(row, units, r);
    else if (!row.empty())
      read_row(row, r, where);
  }
  if (r.columns.empty()) unreadable(path, "has no header line");
  for (std::size_t i = 0; i < std::min(units.size(), r.columns.size()); ++i) r.columns[i].unit = units[i];
  return r;
}

}  // namespace

FileFormat format_of(std::string_view path) {
  if (path.ends_with(".npz")) return FileFormat::npz;
  return path.ends_with(".h5") || path.ends_with(".hdf5") ? FileFormat::hdf5 : FileFormat::csv;
}

void append_csv_word(std::string_view word, std::string& out) {
  if (word.find_first_of(",\"\r\n") == word.npos && !word.starts_with(' ') && !word.ends_with(' ')) {
    out += word;
    return;
  }
  out += '"';
  for (const char c : word) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string csv_header(const Recording& header, bool comments) {
  std::string out;
  if (comments) {
    out = units_comment;
    for (std::size_t i = 0; i < header.columns.size(); ++i)
      out.append(i ? "," : "").append(header.columns[i].unit);
    out += '\n';
    const auto about =
        nlohmann::json(header.about).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out.append(about_comment).append(about).append("\n");
  }
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    if (i) out += ',';
    append_csv_word(header.columns[i].name, out);
  }
  out += '\n';
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
  std::string text = csv_header(r);
  for (std::size_t i = 0; i < r.size(); ++i) append_csv_row(r.row(i), text);
  write_bytes(path, text);
}
Recording read_recording(const std::string& path, FileFormat format) {
  return format == FileFormat::npz    ? read_npz(path)
         : format == FileFormat::hdf5 ? read_hdf5(path)
                                      : read_csv(path);
}

}  // namespace articula
