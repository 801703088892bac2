#include "cli/table_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "articula/simulation/recording_arrays.hpp"
#include "cli/spool.hpp"

namespace articula::cli {

using namespace recording_files;

void check_statistics_name(const std::string& out) {
  if (format_of(out) != FileFormat::csv || out.ends_with(".npy"))
    throw InputError(fmt::format("--out {}: statistics are JSON; give a name with another ending", out));
}

struct TableOutput::Arrays {
  struct Group {
    ColumnGroup columns;
    Spool spool;
  };
  std::vector<Column> columns;  // of numbers
  std::vector<Group> groups;
  bool has_errors = false;
  Spool error_runs, errors;  // a line for each error
  std::size_t rows = 0, error_count = 0;
  std::vector<double> row;
  std::string error;

  Arrays(const std::string& folder, std::string_view header) : error_runs(folder), errors(folder) {
    std::vector<std::string> names{read_csv_word(header)};
    while (header.starts_with(',')) header.remove_prefix(1), names.push_back(read_csv_word(header));
    if (names.back() == "error") has_errors = true, names.pop_back();
    for (std::string& name : names) columns.push_back({std::move(name), ""});
    std::set<std::string> seen{"columns", "error", "error_run"};
    for (ColumnGroup& group : groups_of(columns)) {
      const std::string name = group.name;
      for (int i = 2; !seen.insert(group.name).second; ++i) group.name = fmt::format("{}_{}", name, i);
      groups.push_back({std::move(group), Spool(folder)});
    }
    row.resize(columns.size());
  }

  /// A line of the table, without its end.
  void add(std::string_view line) {
    const char *at = line.data(), *const end = at + line.size();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto [next, wrong] = std::from_chars(at, end, row[i]);
      const bool last = i + 1 == row.size() && !has_errors;
      if (wrong != std::errc() || (last ? next != end : next == end || *next != ','))
        throw ComputationError(
            fmt::format("row {}: column '{}' is no number, or the row has not {} of them: a "
                        "damaged file?",
                        rows, columns[i].name, row.size()));
      at = next + !last;
    }
    for (Group& group : groups)
      for (const std::size_t column : group.columns.columns) group.spool.add({&row[column], 1});
    ++rows;
    if (at == end || !has_errors) return;
    std::string_view rest(at, std::size_t(end - at));
    error = read_csv_word(rest);
    std::ranges::replace(error, '\n', ' ');
    errors.add_text(error += '\n');
    error_runs.add({row.data(), 1});
    ++error_count;
  }

  void for_each(const UseArray& use) {
    const auto numbers = [&](Spool& spool) {
      return [&spool](const auto& use_numbers) { spool.for_each_piece(use_numbers); };
    };
    for (Group& group : groups) {
      Array array{.name = group.columns.name, .shape = {rows}, .pieces = numbers(group.spool)};
      if (!group.columns.list) array.shape.push_back(group.columns.columns.size());
      use(array);
    }
    Array names{.name = "columns", .shape = {columns.size()}, .is_words = true};
    for (const Column& column : columns) names.words.push_back(column.name);
    use(names);
    if (!has_errors) return;
    use({.name = "error_run", .shape = {error_count}, .pieces = numbers(error_runs)});
    use({.name = "error",
         .shape = {error_count},
         .is_words = true,
         .word_pieces = [&](const UseBytes& use_word) { errors.for_each_line(use_word); }});
  }
};

TableOutput::TableOutput(const std::string& path, std::string_view header) : path_(path), out_(path) {
  if (path.ends_with(".npy"))
    throw InputError(
        fmt::format("--out {}: a .npy file has one array, this table has many; give .npz", path));
  if (format_of(path) == FileFormat::csv)
    out_.write(header);
  else
    arrays_ = std::make_unique<Arrays>(Spool::folder_for(path), header);
}
TableOutput::~TableOutput() = default;

void TableOutput::write(std::string_view rows) {
  if (!arrays_) return out_.write(rows);
  while (!rows.empty()) {
    const std::size_t end = std::min(rows.find('\n'), rows.size());
    arrays_->add(rows.substr(0, end));
    rows.remove_prefix(std::min(end + 1, rows.size()));
  }
}

void TableOutput::finish() {
  if (arrays_)
    write_arrays(
        path_, format_of(path_), [&](const UseArray& use) { arrays_->for_each(use); }, out_);
  out_.finish();
}

}  // namespace articula::cli
