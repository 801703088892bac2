#include "cli/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

/// Rows that are there already must be those of this run: the same columns and settings, the same first row, and the
/// last one must follow from the one before. The motion is then at the last row.
class Resumed {
 public:
  Resumed(Motion& motion, const Recording& rows, const std::string& file, const Schedule& when)
      : motion_(motion), rows_(rows), file_(file), when_(when), row_(rows.columns.size()) {}

  void check(const About& about) {
    for (std::size_t i = 0; i < std::max(motion_.columns().size(), rows_.columns.size()); ++i) {
      const auto name = [i](const std::vector<Column>& c) { return i < c.size() ? c[i].name : "nothing"; };
      if (const std::string mine = name(motion_.columns()), theirs = name(rows_.columns); mine != theirs)
        refuse("column {} is '{}', this run has '{}': another model, integrator or controller", i + 1, theirs,
               mine);
    }
    for (const auto& [key, value] : about)
      for (const auto& [its_key, its_value] : rows_.about)
        if (key == its_key && value != its_value) refuse("{} is {} there, {} here", key, its_value, value);
    motion_.row(row_);
    if (const int i = differs(0); i >= 0)
      refuse("{} begins at {} there, at {} here: another {}", rows_.columns[i].name, rows_.row(0)[i], row_[i],
             what_sets(rows_.columns[i].name));
  }
  /// Row `last` from the one before, in steps k.
  void replay(std::size_t last, long k) {
    if (last > 0) {
      const long before = std::lround(rows_.row(last - 1)[0] / when_.grid.step);
      if (k - before != when_.every)
        refuse("its rows are {} s apart, this run's {} s: another --every or --step",
               rows_.row(last)[0] - rows_.row(last - 1)[0], double(when_.every) * when_.grid.step);
      motion_.restore(rows_.row(0), rows_.row(last - 1));
      for (long i = before + 1; i <= k; ++i) motion_.advance(when_.grid.time(i));
      motion_.row(row_);
      if (const int i = differs(last); i >= 0)
        refuse(
            "{} is {} at t = {} s, these options lead to {}: another --integrator, --step, --tolerance, "
            "torque, "
            "force or controller, or another kind of processor",
            rows_.columns[i].name, rows_.row(last)[i], row_[0], row_[i]);
    }
    motion_.restore(rows_.row(0), rows_.row(last));
  }

 private:
  template <class... A>
  [[noreturn]] void refuse(fmt::format_string<A...> text, A&&... a) const {
    throw InputError(fmt::format("--resume: {}: {}; resume with the model and options that it was made with",
                                 file_, fmt::format(text, std::forward<A>(a)...)));
  }
  int differs(std::size_t r) const {
    for (std::size_t i = 0; i < row_.size(); ++i)
      if (const double x = rows_.row(r)[i]; x != row_[i] && !(std::isnan(x) && std::isnan(row_[i])))
        return int(i);
    return -1;
  }
  static const char* what_sets(std::string_view column) {
    return column.starts_with("q:") || column.starts_with("v:") ? "--initial or --base"
           : column == "kinetic_energy"                         ? "mass"
           : column.ends_with("_energy")                        ? "gravity or mass"
           : column.starts_with("tau:") || column == "power"    ? "torque, force or controller"
                                                                : "model";
  }

  Motion& motion_;
  const Recording& rows_;
  const std::string& file_;
  const Schedule& when_;
  std::vector<double> row_;
};

}  // namespace

std::optional<long> resume(Motion& motion, Recording& earlier, const About& about, const std::string& file,
                           const Schedule& when) {
  Resumed resumed(motion, earlier, file, when);
  resumed.check(about);
  // Go on from the last row that a run without a stop would have had too.
  for (; earlier.size() > 0; earlier.numbers.resize(earlier.numbers.size() - earlier.columns.size())) {
    const double t = earlier.row(earlier.size() - 1)[0];
    const long k = std::lround(t / when.grid.step);
    if (t > when.grid.duration * (1 + 1e-12))
      throw InputError(fmt::format("--resume: {} goes to {} s already, beyond --duration {}", file, t,
                                   when.grid.duration));
    if (t == when.grid.duration) return std::nullopt;
    if (double(k) * when.grid.step != t || k % when.every != 0) continue;
    resumed.replay(earlier.size() - 1, k);
    return k;
  }
  throw InputError(fmt::format("--resume: no row of {} is on a step of {} s", file, when.grid.step));
}

}  // namespace articula::cli
