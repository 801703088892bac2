// What is measured on: a model as an argument names it, its states, and the same for peers.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "articula/model/model.hpp"
#include "bench/contest.hpp"

namespace articula::bench {

struct Robot {
  std::string name, argument, urdf;  // urdf: its file, empty for a chain
  Model model;                       // without rotor inertia, which not every peer has
  std::vector<PeerState> states;
  int frame;                  // the last one on the last body
  std::vector<int> contacts;  // frames: the feet of a floating robot that has four

  bool is_chain() const { return urdf.empty(); }
};

/// MODEL.urdf, free:MODEL.urdf or chain:N.
Robot load(const std::string& argument);
/// The shipped arms, quadruped and humanoid.
std::vector<std::string> shipped_robots();

/// Nothing if the model has joints that peers do not have. A chain's links are turned so that every joint is about z:
/// libraries have faster joints for that.
std::optional<PeerModel> peer_model(const Robot& robot);

/// Numbers from -1 to 1.
class Draw {
 public:
  std::vector<double> operator()(int n);
  /// Up to three radians (metres) from the neutral configuration.
  std::vector<double> configuration(const Model& model);

 private:
  std::mt19937_64 engine_{1};
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

/// Articula's own (ours.cpp, ours_linearization.cpp). Those that take matrices only where `matrices` says so. A model
/// that some cannot take is named in left_out.
std::vector<Entry> our_entries(const Robot& robot, bool matrices, std::vector<std::string>& left_out);
void add_linearizations(const Robot& robot, bool matrices, std::vector<Entry>& all);

/// Bytes of heap memory in use; what a workspace takes is the difference.
std::size_t heap_in_use();
template <class Work, class... Arguments>
std::pair<std::shared_ptr<Work>, std::size_t> make_workspace(Arguments&&... arguments) {
  const std::size_t before = heap_in_use();
  auto work = std::make_shared<Work>(std::forward<Arguments>(arguments)...);
  return {work, heap_in_use() - before};
}

}  // namespace articula::bench
