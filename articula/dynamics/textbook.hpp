// The textbook's forms (MR9, chapter 9 of "Modern Robotics"): Newton-Euler with link frames at the mass
// centres and screw axes, the closed form in stacked matrices, and forward dynamics by solving with the mass
// matrix. For study and for checks: they allocate, and the closed form costs O(n^3). The library's own
// algorithms give the same numbers.
//
// Link frame {i} lies at body i's mass centre with the body's internal axes; A_i = Ad(M_i^-1) S_i (9.40) is
// constant there. Trees: {i-1} is the inboard body. A joint with one freedom moves by exp([A_i] th_i) (9.50);
// one with several by its own displacement, with a column of A_i for each freedom.
#pragma once

#include "articula/dynamics/workspace.hpp"

namespace articula {

/// A base that moves, and a force that the tip exerts on the world.
struct BaseAndTip {
  Spatial<double> V_0{{0, 0, 0}, {0, 0, 0}};      // twist of the base, world axes at the world's origin
  Spatial<double> V_0_dot{{0, 0, 0}, {0, 0, 0}};  // its rate; gravity comes on top
  int tip = -1;                                   // a frame; -1: no force
  Spatial<double> F_tip{{0, 0, 0}, {0, 0, 0}};    // (moment, force), the tip's axes and origin
};

/// tau = M th'' + c + g + J^T F_tip by (9.53)-(9.57).
std::vector<double> inverse_dynamics_screws(const Model& model, In<double> q, In<double> v, In<double> a,
                                            const BaseAndTip& ends = {});

/// The sum over all links of J_ib^T G_i J_ib (9.61), and rotor inertias: nv x nv, row by row.
std::vector<double> mass_matrix_of_link_jacobians(const Model& model, In<double> q);

struct TextbookMatrix {
  int rows = 0, columns = 0;
  std::vector<double> numbers{};  // row by row
};

/// The matrices of (9.64)-(9.76) and what they give, (9.82)-(9.84). A column for every hinge freedom in A; M,
/// c and g are in the model's own velocities (mimic joints follow their source) and include rotor inertias.
struct ClosedForm {
  TextbookMatrix A;                       // 6n x nv
  TextbookMatrix G;                       // 6n x 6n
  TextbookMatrix Gamma;                   // 6n x 6n: Ad(T_i,i-1)
  TextbookMatrix L;                       // (Id - Gamma)^-1
  TextbookMatrix ad_A_v;                  // [ad_(A th')]
  TextbookMatrix ad_V;                    // [ad_V]
  std::vector<double> V;                  // 6n: (9.77)
  std::vector<double> V_base;             // 6n: (9.69)
  std::vector<double> base_acceleration;  // 6n: (9.70)
  std::vector<double> F_tip;              // 6n: (9.71)
  TextbookMatrix mass_matrix;             // (9.82)
  std::vector<double> c, g;               // (9.83), (9.84); a moving base is in both
  std::vector<double> tip_forces;         // J^T F_tip of (9.81)
};
ClosedForm closed_form(const Model& model, In<double> q, In<double> v, const BaseAndTip& ends = {});

/// GetJointAccel: inverse dynamics with th'' = 0, the mass matrix, and a linear solve. tau_external = J^T
/// F_tip.
std::vector<double> get_joint_accel(const Model& model, In<double> q, In<double> v, In<double> tau,
                                    In<double> tau_external = {});

}  // namespace articula
