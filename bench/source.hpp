// What the benchmarks run on: models as their arguments name them, and what else they are told.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "articula/files/urdf.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "bench/peer.hpp"

namespace articula::bench {

struct Source {
  std::string name, urdf;
  bool free_base;
  Model model;
};

/// MODEL.urdf, free:MODEL.urdf or chain:N.
inline Source load(const std::string& argument) {
  if (argument.starts_with("chain:"))
    return {argument, "", false, Model(make_chain(std::stoi(argument.substr(6))))};
  const bool free_base = argument.starts_with("free:");
  const std::string path = free_base ? argument.substr(5) : argument;
  const std::string file = path.substr(path.find_last_of('/') + 1);
  return {file.substr(0, file.rfind('.')) + (free_base ? " (free base)" : ""), path, free_base,
          read_urdf(path, {.base = free_base ? Base::free : Base::fixed})};
}

/// The shipped arm, quadruped and humanoid.
inline std::vector<std::string> shipped_robots() {
  const std::string folder = ARTICULA_MODELS_DIR "/";
  return {folder + "arm7.urdf", "free:" + folder + "quadruped.urdf", "free:" + folder + "humanoid.urdf"};
}

/// Numbers from -1 to 1.
class Draw {
 public:
  std::vector<double> operator()(int n) {
    std::vector<double> x(n);
    for (double& number : x) number = uniform_(engine_);
    return x;
  }
  /// A unit of time away from the neutral configuration.
  std::vector<double> configuration(const Model& model) {
    std::vector<double> q(model.nq());
    integrate(model, neutral(model), (*this)(model.nv()), q);
    return q;
  }

 private:
  std::mt19937_64 engine_{1};
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

/// [--peer FILE.so] [--quick] MODEL...; without models: the shipped robots and chains of these lengths.
struct Arguments {
  std::vector<std::string> models;
  std::optional<Peer> peer;
  bool quick = false;

  Arguments(int argc, char** argv, std::initializer_list<const char*> chains) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      if (argument == "--peer" && i + 1 < argc)
        peer.emplace(argv[++i]);
      else if (argument == "--quick")
        quick = true;
      else
        models.push_back(argument);
    }
    if (!models.empty()) return;
    models = shipped_robots();
    for (const char* n : chains) models.push_back(std::string("chain:") + n);
  }
};

}  // namespace articula::bench
