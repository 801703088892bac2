// articula eval MODEL inverse_dynamics_screws: MR9's inverse dynamics with a base that moves and a force at the tip.
#pragma once

#include <string>
#include <vector>

#include "articula/model/model.hpp"
#include "cli/subcommand.hpp"

namespace articula::cli {

inline constexpr const char* textbook_quantity = "inverse_dynamics_screws";

/// At the states of a file: q, v, a and, where they are given, V_0, V_0_dot and F_tip, which acts at the frame `tip`.
ExitCode evaluate_textbook(const Model& model, const std::string& states, const std::string& tip,
                           const std::string& out);

}  // namespace articula::cli
