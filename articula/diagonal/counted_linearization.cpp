// The linearizations' texts with counting numbers (LIN Algorithms 1 to 6).
#include "articula/diagonal/counted_texts.hpp"
#include "articula/linearization/workspace.hpp"

#undef ARTICULA_ISA
#define ARTICULA_ISA counted_text
#include "articula/kernels/body_axes_mass_text.hpp"
#include "articula/kernels/linearized_forward_text.hpp"
#include "articula/kernels/printed_forward_text.hpp"

namespace articula::counting {

namespace {

namespace text = counted_text;
using S = Counted;

/// What the linearization kernels read of a model's structure, as their workspaces make it.
struct Structure : LinearizationWorkspace<double> {
  explicit Structure(const Model& model) : LinearizationWorkspace<double>(model, {}, {}) {}
  const LinearizationMemory<double>& memory() const { return lin_; }
};

struct Lin : Structure {
  explicit Lin(Bench& b) : Structure(b.model) {
    static_cast<LinearizationTables&>(m) = memory();
    const auto each = [&b](S*& array, std::size_t count, bool wanted = true) {
      if (wanted) array = b.give(count);
    };
    m.plan(each, b.tree, LinearizationNeeds{.columns = true, .direct = true});
    m.k = b.m;
    m.mass = memory().mass;
  }
  LinearizationMemory<S> m;
  ExternalForces<S> none;
  std::vector<PrintedColumn<S>> columns = std::vector<PrintedColumn<S>>(tree().nv);
  std::vector<PrintedBody<S, text::HalfMatrix<S>>> bodies =
      std::vector<PrintedBody<S, text::HalfMatrix<S>>>(tree().slots());
};
Lin& lin(Bench& b) {
  if (!b.more) b.more = std::make_shared<Lin>(b);
  return *static_cast<Lin*>(b.more.get());
}

/// Forward dynamics with all that Algorithms 4 to 6 start from.
void at_acceleration(Bench& b) {
  Lin& l = lin(b);
  text::factored_forward<S>(b.tree, b.q, b.v, b.tau, nullptr, l.m, b.a);
}
void nothing(Bench&) {}

/// x = M^-1 x by a Cholesky factor in place of M, as LinearizedForward does it for Algorithm 3.
void dense_solve(int n, S* M, S* x) {
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      S sum = M[i * n + j];
      for (int k = 0; k < j; ++k) sum -= M[i * n + k] * M[j * n + k];
      M[i * n + j] = i == j ? square_root(sum) : sum / M[j * n + j];
    }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= M[i * n + k] * x[k];
    x[i] = x[i] / M[i * n + i];
  }
  for (int i = n; i-- > 0;) {
    for (int k = i + 1; k < n; ++k) x[i] -= M[k * n + i] * x[k];
    x[i] = x[i] / M[i * n + i];
  }
}

}  // namespace

std::vector<Entry> linearization_entries() {
  return {
      {"linearized_1", "LIN 1: delta tau", nothing,
       [](Bench& b) {
         Lin& l = lin(b);
         text::perturbed_inverse<S>(b.tree, b.q, b.v, b.a, b.dq, b.dv, b.da, l.none, l.m, b.out);
       }},
      {"linearized_2", "LIN 2: M, dtau/dq, dtau/dv", nothing,
       [](Bench& b) {
         Lin& l = lin(b);
         text::linearized_inverse<S>(b.tree, b.q, b.v, b.a, l.none, l.m, b.matrix[0], b.matrix[1],
                                     b.matrix[2]);
       }},
      {"linearized_3", "LIN 3: delta a by LIN 1, M and a Cholesky solve", nothing,
       [](Bench& b) {
         Lin& l = lin(b);
         text::perturbed_inverse<S>(b.tree, b.q, b.v, b.a, b.dq, b.dv, nullptr, l.none, l.m, b.out);
         text::mass_matrix<S>(b.tree, b.q, b.m, b.matrix[0]);
         for (int i = 0; i < b.nv(); ++i) b.out[i] = b.tau[i] - b.out[i];
         dense_solve(b.nv(), b.matrix[0], b.out);
       }},
      {"linearized_4", "LIN 4: M^-1 and both products, after forward dynamics", at_acceleration,
       [](Bench& b) {
         Lin& l = lin(b);
         text::conventional_forward<S>(b.tree, b.v, b.a, l.none, l.m, b.matrix[0], b.matrix[1], b.matrix[2],
                                       b.matrix[3], b.matrix[4]);
       }},
      {"linearized_5", "LIN 5: delta a directly, after forward dynamics", at_acceleration,
       [](Bench& b) {
         Lin& l = lin(b);
         text::perturbed_forward<S>(b.tree, b.v, b.a, b.dq, b.dv, b.tau, l.none, l.m, b.d.force, b.out);
       }},
      {"linearized_6", "LIN 6: matrices directly, after forward dynamics", at_acceleration,
       [](Bench& b) {
         Lin& l = lin(b);
         text::direct_forward<S>(b.tree, b.v, b.a, l.none, l.m, b.matrix[0], b.matrix[1], b.matrix[2]);
       }},
      {"linearized_4_numerical", "LIN 4 as printed: LIN 2, a numerical M^-1, both products", nothing,
       [](Bench& b) {
         Lin& l = lin(b);
         text::numerical_forward<S>(b.tree, b.q, b.v, b.a, l.none, l.m, b.matrix[0], b.matrix[1], b.matrix[2],
                                    b.matrix[3], b.matrix[4]);
       }},
      {"linearized_6_printed", "LIN 6 as printed, with its kinematics, P, D and G", nothing,
       [](Bench& b) {
         Lin& l = lin(b);
         text::place_bodies(b.tree, static_cast<const S*>(b.q), b.m.x);
         text::printed_direct_forward<S>(b.tree, b.v, b.a, l.none, l.m, {l.columns.data(), l.bodies.data()},
                                         b.matrix[0], b.matrix[1], b.matrix[2]);
       }},
  };
}

}  // namespace articula::counting
