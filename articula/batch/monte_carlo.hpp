// Monte Carlo: many runs of one simulation with drawn starts, masses and forces, on all cores. What a run gives depends
// on the seed and its number alone, not on threads.
#pragma once

#include <any>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "articula/batch/batch.hpp"
#include "articula/loops/constraint.hpp"
#include "articula/simulation/grid.hpp"
#include "articula/simulation/recording.hpp"

namespace articula {

/// One number that is drawn for each run: q, v and torque are added to the start, a mass multiplies that of its link,
/// with the inertia; a joint's armature, damping and friction, and gravity's x, y and z, are set. `other`: what is
/// drawn concerns only the maker of the motion, who finds it in MonteCarloStart::draws.
struct Drawn {
  enum class What { q, v, torque, mass, armature, damping, friction, gravity, other } what;
  int index;  // velocity, link, joint, or axis
  bool normal;
  double a, b;  // mean and deviation, or least and largest
  std::string name;
};
/// "q", "v", "mass", "torque", "armature", "damping", "friction" or "gravity"; throws ArgumentError.
Drawn::What drawn_named(const std::string& section);
/// Adds what a name stands for: a link; an axis of gravity; or a joint with all its freedoms, JOINT.i for one of them; * for all. Throws
/// ArgumentError where there is none, or for numbers that are not finite or in the wrong order.
void add_drawn(const Model& model, const std::string& section, const std::string& name, bool normal, double a,
               double b, std::vector<Drawn>& to);

/// Where a run begins, and what was drawn for it.
struct MonteCarloStart {
  Model model;
  std::vector<double> q, v, tau, draws;
};
/// A simulator, what acts on it, and how its state is told.
class MonteCarloMotion {
 public:
  virtual ~MonteCarloMotion() = default;
  virtual Simulator& simulator() = 0;
  virtual Recorder& recorder() = 0;
};

struct MonteCarlo {
  std::int64_t first = 0;  // the number of the first run: a multiple of monte_carlo_group()
  std::int64_t runs = 0;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores
  std::vector<Drawn> drawn;
  /// Gives the numbers of a run where they are not drawn but chosen (design.hpp), one for each of `drawn`.
  std::function<void(std::int64_t run, std::span<double> numbers)> chosen;
  std::vector<double> q, v, tau;  // to which draws are added
  /// Gives a start of its own to a run, to which draws are added, in place of these. Called on any thread.
  std::function<void(std::int64_t run, std::span<double> q, std::span<double> v, std::span<double> tau)>
      begin;
  /// Of closed chains: starts are moved onto them, to the nearest state in the metric of the mass matrix.
  std::vector<Constraint> constraints;
  Grid grid{1e-3, 1};
  /// Steps between rows of MonteCarloRun::path; 0: there are none.
  long keep = 0;
  /// Steps after which torques that are drawn are drawn anew; 0: they are held.
  long hold = 0;
  /// The motion of a run; called on any thread. What it borrows of the start stays until the motion is gone.
  std::function<std::unique_ptr<MonteCarloMotion>(const MonteCarloStart&)> make;
  /// Set where the chain is open, nothing acts but tau, and the joints' damping if `damping`, and steps are explicit ones: such runs go
  /// many at once.
  bool together = false, damping = false;
  Integrator integrator = Integrator::rk4;
  /// Where many go at once in place of the processor's batch: a GPU's has these calls. What they throw ends all runs.
  struct Engine {
    std::function<void(In<double> inertias)> vary;
    std::function<void(In<double> q, In<double> v, In<double> tau, const RolloutOptions& options,
                       Out<double> q_path, Out<double> v_path, Out<double> fastest)>
        rollout;
  };
  /// Makes one for each thread that makes runs, called by it.
  std::function<Engine()> engine;
  int at_once = 4096;  // runs of one call of an engine
  /// Runs of a piece (see below), made by one thread; a multiple of monte_carlo_group(), or 0: one or a few of those.
  int piece = 0;
  /// Ends all runs; those that were not finished are not done.
  const std::atomic<bool>* stop = nullptr;
  /// Told by the calling thread, now and then, how many runs are finished.
  std::function<void(std::size_t)> told;
};

struct MonteCarloRun {
  bool done = false;
  std::string error;               // of a run that failed
  std::vector<double> draws, end;  // end: a row of the recorder
  std::vector<double> path;        // rows of time, q, v and tau, from the start on, where they are kept
  double fastest = 0;              // the largest |velocity| at any step
};

/// Runs with numbers from one multiple of this to the next are computed together, wherever that is, so that what a run
/// gives is the same bits whether it is asked for with all others or with those of its group.
int monte_carlo_group(const Model& model, const MonteCarlo& what);

/// Some runs, one after the other, and what the caller makes of them.
struct MonteCarloPiece {
  std::int64_t first = 0;
  std::vector<MonteCarloRun> runs;
  std::any made;
};
/// Gives all runs in their order, by the calling thread, and keeps few: memory does not grow with their number. `finish`,
/// if there is one, has each piece first, on the thread that made it. Errors of the library are a run's own; anything
/// else that is thrown ends all runs, and is thrown again. After a stop, runs may be missing among the last ones.
void monte_carlo(const Model& model, const MonteCarlo& what,
                 const std::function<void(MonteCarloPiece&)>& finish,
                 const std::function<void(MonteCarloPiece&)>& give);
/// One result for each run, in their order.
std::vector<MonteCarloRun> monte_carlo(const Model& model, const MonteCarlo& what);

}  // namespace articula
