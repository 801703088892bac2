// The Coriolis matrix, the rate of the mass matrix, and Christoffel symbols of the first kind.
#pragma once

#include "articula/dynamics/workspace.hpp"

namespace articula {

/// Memory for coriolis_matrix and its kin of one model; one per thread.
class Coriolis : public Workspace<double> {
 public:
  explicit Coriolis(const Model& model);
  void compute(In<double> q, In<double> v, Out<double> C);
  void compute_mass_matrix_rate(In<double> q, In<double> v, Out<double> dM_dt);
  void compute_christoffel(In<double> q, Out<double> gamma);

 private:
  void run(const double* full_q, const double* full_v, double* C);
  CoriolisMemory<double> n_;
  AlignedArray<double> extra_, full_, unit_;
};

/// C(q, v), nv x nv, row by row: C v + g = bias_forces, and dM/dt - 2 C is skew-symmetric, for every joint
/// kind. With one freedom per joint it is the matrix of MR9 (9.87), made of Christoffel symbols. O(n d), d
/// the depth.
inline void coriolis_matrix(Coriolis& work, In<double> q, In<double> v, Out<double> C) {
  work.compute(q, v, C);
}
/// dM/dt along v: C + C*.
inline void mass_matrix_rate(Coriolis& work, In<double> q, In<double> v, Out<double> dM_dt) {
  work.compute_mass_matrix_rate(q, v, dM_dt);
}
/// gamma[k][i][j] (one nv x nv matrix for each k): c_i = sum gamma v_j v_k. With one freedom per joint these
/// are the Gamma_ijk of MR9 (9.13), symmetric in j and k. Joints with several freedoms have velocities that
/// are no rates of coordinates; gamma is then the factor of v(k) in C(i,j): not symmetric in j and k, but
/// with the same skew-symmetry.
inline void christoffel_symbols(Coriolis& work, In<double> q, Out<double> gamma) {
  work.compute_christoffel(q, gamma);
}

/// These make their workspace in the call: for use outside loops.
std::vector<double> coriolis_matrix(const Model& model, In<double> q, In<double> v);
std::vector<double> mass_matrix_rate(const Model& model, In<double> q, In<double> v);
std::vector<double> christoffel_symbols(const Model& model, In<double> q);

}  // namespace articula
