// A recorded motion: named columns with units, a row for each time; and how it is kept in files.
//
// Everything that looks at a motion afterwards takes a Recording: the writers here, plots, reports.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "articula/simulation/simulator.hpp"

namespace articula {

struct Column {
  std::string name, unit;
};

struct Recording {
  std::vector<Column> columns;  // the first is "time"
  std::vector<double> numbers;  // row by row
  std::vector<std::pair<std::string, std::string>>
      about;  // model, integrator, ..: kept in .npz and HDF5 files, and in CSV's comments

  std::size_t size() const { return columns.empty() ? 0 : numbers.size() / columns.size(); }
  std::span<const double> row(std::size_t i) const {
    return {numbers.data() + i * columns.size(), columns.size()};
  }
  /// -1: there is none.
  int find(std::string_view name) const;
  std::vector<double> values(int column) const;
  /// Columns whose name begins so, "q:" say.
  std::vector<int> starting_with(std::string_view prefix) const;
};

/// "q:JOINT" for each coordinate, "q:JOINT.0", .. for joints with several; likewise v: and tau:.
std::vector<Column> coordinate_columns(const Model& model);
std::vector<Column> velocity_columns(const Model& model, std::string_view prefix = "v", bool forces = false);

/// Turns a simulator's state into rows, and back: time, q, v, kinetic_energy, potential_energy, total_energy,
/// energy_change (since the first row), stored_energy, power, constraint_drift, momentum, mass centre, joint
/// forces, and what the integrator remembers. Of closed chains, also how far constraints were off before projection,
/// their forces ("force:NAME.ROW"), and whether one-sided contacts hold ("holds:NAME").
class Recorder {
 public:
  explicit Recorder(Simulator& simulator);
  const std::vector<Column>& columns() const { return columns_; }
  /// The simulator's state as a row. The first one sets the energy that energy_change counts from.
  void row(std::span<double> out);
  /// Puts a simulator where a row says, to the last bit; `first` is the recording's first row.
  void restore(std::span<const double> first, std::span<const double> row);

 private:
  void put_constraints(double*& next);
  Simulator& simulator_;
  std::vector<Column> columns_;
  std::vector<double> a_;
  double first_energy_ = 0;
  bool started_ = false;
};

// --- files -------------------------------------------------------------------------------------------
enum class FileFormat { csv, npz, hdf5 };
/// By the ending: .npz; .h5, .hdf5; anything else is CSV.
FileFormat format_of(std::string_view path);

/// A line with its end. `comments`: before the names, lines with the units and with what the recording is about. Names
/// with commas, quotes or line ends are quoted as RFC 4180 says.
std::string csv_header(const Recording& header, bool comments = false);
void append_csv_word(std::string_view word, std::string& text);
/// Every number to the last bit.
void append_csv_row(std::span<const double> row, std::string& text);

/// Writes the whole file; throws Error if that fails (the disk is full, say), naming the file.
void write_recording(const std::string& path, FileFormat format, const Recording& recording);
/// Reads what write_recording wrote. A CSV file's unfinished last line is left out. Throws ArgumentError,
/// naming file and line.
Recording read_recording(const std::string& path, FileFormat format);

}  // namespace articula
