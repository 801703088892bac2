// Everything wrong or suspicious in a specification: what find_problems lists, and what a Model needs of it.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/massless_joints.hpp"
#include "articula/model/model.hpp"
#include "articula/model/name_index.hpp"

namespace articula {

struct Audit {
  std::vector<Finding> findings;  // errors first
  std::vector<MasslessFreedom> massless;
};
Audit examine(const ModelSpec& spec, Base base);

/// "a, b, c and 7 more"
std::string list_of_names(const std::vector<std::string_view>& names, std::size_t total);

inline constexpr double largest_usable_number = 1e30;  // beyond it, squares and cubes overflow

/// One examination; its steps are in the files named below.
class Examination {
 public:
  Examination(const ModelSpec& spec, Base base) : spec_(spec), base_(base) {}

  Audit run();

 private:
  template <class... A>
  void error(const std::string& where, fmt::format_string<A...> text, A&&... a) {
    findings_.push_back({Finding::Severity::error, where, fmt::format(text, std::forward<A>(a)...)});
    ++errors_;
  }
  template <class... A>
  void warning(const std::string& where, fmt::format_string<A...> text, A&&... a) {
    findings_.push_back({Finding::Severity::warning, where, fmt::format(text, std::forward<A>(a)...)});
  }

  // check_tree.cpp
  template <class T>
  void check_unique(const std::vector<T>& things, std::string_view what, NameIndex& index);
  void check_names();
  void check_connections();
  void check_parent(std::size_t joint);
  void check_child(std::size_t joint);
  void check_tree();
  std::vector<int> roots() const;
  void order_links();
  void check_roots();
  void check_extras();
  void check_cycles();
  void report_cycle(const std::vector<int>& cycle);

  // check_numbers.cpp
  template <class... A>
  bool usable(const std::string& where, double value, fmt::format_string<A...> what, A&&... a);
  bool usable_pose(const std::string& where, const Pose& pose, const std::string& owner);
  void check_link(const LinkSpec& link);
  void check_moments(const LinkSpec& link);
  std::string merged_moments(const LinkSpec& link) const;
  void check_triangle(const LinkSpec& link, const std::array<double, 3>& moments);
  void check_joint(const JointSpec& joint);
  void check_axis(const JointSpec& joint, const Vec3<double>& axis, std::string_view which);
  void check_axes(const JointSpec& joint);
  void check_limits(const JointSpec& joint, int freedom);
  void check_degrees(const JointSpec& joint);
  void check_freedoms(const JointSpec& joint);
  void check_coefficient(const JointSpec& joint, double value, std::string_view name, std::string_view unit);
  void check_frame(const FrameSpec& frame);

  // find_problems.cpp
  void check_mimics();
  bool check_mimic(const JointSpec& joint, int source);
  void resolve_mimic_chains(const std::vector<int>& direct);
  void check_joint_inertias();
  std::string outboard_of(int link) const;
  std::string why_massless(const MasslessFreedom& freedom) const;
  // check_units.cpp
  void check_units();
  void check_densities();
  void check_lengths();

  const ModelSpec& spec_;
  Base base_;
  std::vector<Finding> findings_;
  int errors_ = 0;
  NameIndex links_, joints_, frames_;
  ResolvedTree tree_;
  // Children of each link, as one array: those of k are children_[first_child_[k] .. first_child_[k + 1]).
  std::vector<int> children_, first_child_;
  std::vector<MasslessFreedom> massless_;
  std::vector<double> largest_moment_;  // by link, 0 where the inertia is unusable
};

/// Finite and small enough to compute with; says so otherwise.
template <class... A>
bool Examination::usable(const std::string& where, double value, fmt::format_string<A...> what, A&&... a) {
  if (std::abs(value) <= largest_usable_number) return true;  // false for NaN
  error(where, "{} is {}; expected a finite number of a size to compute with (below {:g}), correct it",
        fmt::format(what, std::forward<A>(a)...), value, largest_usable_number);
  return false;
}

}  // namespace articula
