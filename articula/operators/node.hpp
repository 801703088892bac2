// An operator expression as a tree, made at run time: by the typed layer (expression.hpp) or by the parser
// (parse.hpp). It names operators; nothing is evaluated until a Program binds it to an OperatorState.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "articula/error.hpp"

namespace articula::operators {

/// What an operator takes and gives. `hinge` is joint space with a coordinate for every hinge: the same as
/// `joint` unless the model has mimic joints. `one` is the domain of a vector. `any` fits where it stands.
enum class Space : unsigned char { joint, hinge, body, frame, base, one, any };
const char* name_of(Space space);
bool fits(Space a, Space b);

enum class Symbol : unsigned char {
  H,           // joint <- body: the hinge maps (with mimic joints: star(Gamma) * H_full)
  H_full,      // hinge <- body
  Gamma,       // hinge <- joint: the mimic ratios
  phi,         // body <- body: (Id - E_phi)^-1
  psi,         // body <- body: (Id - E_psi)^-1
  M,           // body inertias
  P,           // articulated inertias
  D,           // hinge <- hinge: H P H*, plus rotor inertias
  G,           // body <- hinge: P H* D^-1
  K,           // body <- hinge: E_phi G
  L,           // body <- hinge: JPL88's own, block diagonal; K = S L
  tau,         // G H
  tau_bar,     // Id - G H
  E_phi,       // phi(k+1,k) at (inboard body, body)
  E_psi,       // E_phi tau_bar
  S,           // Id at (inboard body, body)
  R,           // composite inertias
  Omega,       // OSC 57
  B,           // body <- frame: phi(O_k, frame)
  E,           // base <- body: phi(world, O_k) of the bodies on the world
  rotor,       // hinge <- hinge: rotor inertias
  H_dot,       // hinge <- body: star(H_dot) is H*' = V x H* (LIN 2.12)
  M_ring,      // LIN (2.8): M_ring V = M' V, not symmetric
  P_ring,      // E_psi P_ring E_phi* + M_ring (LIN 4.12)
  G_ring,      // body <- hinge: P_ring* H* D^-1
  K_ring,      // body <- hinge: E_phi G_ring
  R_ring,      // composite: E_phi R_ring E_phi* + M_ring (LIN 3.7)
  J_ring,      // LIN's J (4.22): psi*(k+1,k) J(k+1) phi*(k+1,k)^-1 + H* G_ring*
  H_ddot,      // hinge <- body: star(H_ddot) is H*'' = alpha x H* + V x H*' (LIN 2.13)
  H_f,         // body <- hinge: S[H*] f, column by column (LIN 3.1)
  root_D,      // hinge <- hinge: lower triangular, root_D root_D* = D
  inv_D,       // not spelled by users: inv(D)
  inv_root_D,  // not spelled by users: inv(root_D)
  inv_mass,    // not spelled by users: the inverse of the mass operator with rotor inertias, for mimic joints
  inv_bare_mass  // not spelled by users: inv_mass without rotor inertias
};
const char* name_of(Symbol symbol);
Space to_of(Symbol symbol);
Space from_of(Symbol symbol);

/// Vectors that a state has: a and b of JPL88 (2.19), (2.23), and a_g = (0, -g) of the base (3.21).
enum class Known : unsigned char { bias_acceleration, bias_force, base_acceleration };
const char* name_of(Known known);

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Node {
  enum class Kind : unsigned char { symbol, known, input, identity, product, sum, scale, star, inverse };
  Kind kind = Kind::identity;
  Space to = Space::any, from = Space::any;
  Symbol symbol = Symbol::H;
  Known known = Known::bias_acceleration;
  int input = 0;                      // which of the vectors given to the program
  std::string name{};                 // of an input
  std::vector<std::string> frames{};  // of B
  double factor = 1;                  // of scale
  NodePtr left{}, right{};
};

NodePtr make_symbol(Symbol symbol);
NodePtr make_B(std::vector<std::string> frames);
NodePtr make_known(Known known);
NodePtr make_input(Space space, int index, std::string name);
NodePtr make_identity();
/// These throw ArgumentError, in one line, where the spaces do not fit.
NodePtr product(const NodePtr& left, const NodePtr& right);
NodePtr sum(const NodePtr& left, const NodePtr& right, double right_factor = 1);
NodePtr scale(double factor, const NodePtr& x);
NodePtr star(const NodePtr& x);
NodePtr inverse(const NodePtr& x);

/// As the parser reads it.
std::string to_string(const Node& node);

}  // namespace articula::operators
