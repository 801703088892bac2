// Many runs of one simulation with drawn starts, masses and torques: one summary row per run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "articula/batch/monte_carlo.hpp"
#include "articula/batch/run_statistics.hpp"
#include "articula/cuda/batch.hpp"
#include "articula/model/model.hpp"
#include "articula/simulation/recording_arrays.hpp"
#include "cli/mechanism_motion.hpp"
#include "cli/resume.hpp"
#include "cli/schedule.hpp"
#include "cli/sharding.hpp"
#include "cli/sweep.hpp"

namespace articula::cli {

struct MonteCarloOptions {
  std::uint64_t runs = 0;
  std::uint64_t seed = 1;
  int threads = 0;            // 0: all cores
  std::string distributions;  // file; empty: nothing is drawn
  std::string sweep;          // file: what is chosen in place of that
  std::string device = "cpu";
  int device_number = 0;
  bool statistics = false;  // of all runs, in place of rows
  // Of rollouts: states along the way in place of a row for each run.
  bool trajectories = false;
  std::optional<double> hold;  // seconds after which torques are drawn anew
  std::string states;          // file of starts
  ShardingOptions sharding;

  void add_to(CLI::App& app);
};

/// The table of all runs; its text is the same for any number of threads and parts. Failed runs are rows too, with their
/// error.
class MonteCarloTable {
 public:
  /// `constraints`: of closed chains, onto which drawn starts are moved.
  MonteCarloTable(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                  const Schedule& when, const MonteCarloOptions& options);
  MonteCarloTable(const MonteCarloTable&) = delete;
  /// The first line.
  const std::string& header() const { return header_; }
  /// Parts begin at multiples of it; of statistics, it is the leaf of their tree.
  int group() const { return what_.piece > 0 ? what_.piece : monte_carlo_group(model_, what_); }
  const std::vector<Drawn>& drawn() const { return what_.drawn; }
  /// As many as were asked for, or as a sweep has points.
  std::uint64_t runs() const { return runs_; }
  std::vector<std::string> columns() const;  // of numbers
  /// What some runs, from a multiple of the group on, say together (--statistics).
  RunStatistics statistics(std::uint64_t first, std::uint64_t count,
                           const std::function<void(std::uint64_t)>& told);
  /// Gives the rows of some runs, in their order; returns how many failed.
  std::uint64_t rows(std::uint64_t first, std::uint64_t count,
                     const std::function<void(std::string_view)>& give,
                     const std::function<void(std::uint64_t)>& told);

 private:
  void read_starts(const std::string& path);
  MonteCarlo::Engine engine(int device);
  std::string rows_of(const MonteCarloPiece& piece) const;
  std::string trajectories_of(const MonteCarloPiece& piece) const;
  RunStatistics statistics_of(const MonteCarloPiece& piece) const;

  const Model& model_;
  const MotionSetup& setup_;
  MonteCarlo what_;
  std::optional<Sweep> sweep_;
  std::optional<recording_files::ArrayFile> starts_;
  std::uint64_t runs_;
  std::vector<Column> columns_;
  std::string header_;
  std::mutex guard_;
  std::vector<std::unique_ptr<cuda::Batch<double>>> idle_;  // on a GPU: each is one thread's at a time
};

/// Makes them: all into a file, or a part into a folder, durably (articula/batch/sharded.hpp). `about`: the settings that
/// all parts must share, beside those of the options.
ExitCode run_many(const Model& model, const MotionSetup& setup, const std::vector<Constraint>& constraints,
                  const Schedule& when, const MonteCarloOptions& options, const std::string& out,
                  const About& about);

}  // namespace articula::cli
