// Another format, and edits: a hand with one joint held and a load in its palm, as URDF and as SDF.
#include <cstdio>

#include "articula/dynamics/mass_matrix.hpp"
#include "articula/files/read_model.hpp"
#include "articula/files/sdf.hpp"
#include "articula/model/edit.hpp"

int main() {
  const articula::ModelSpec hand = articula::read_model("models/hand.urdf").spec;
  articula::ModelSpec held = hand;
  articula::lock_joint(held, "index_abduction", 0.3);
  articula::add_frame(held, "grip", "palm", {.p = {0, 0, 0.05}});
  articula::add_payload(held, "grip", {.mass = 0.2});

  const articula::Model before(hand), after(held);
  std::printf("%d freedoms, now %d; %zu links, now %zu\n", before.nv(), after.nv(), hand.links.size(),
              held.links.size());

  const articula::LoadedModel again =
      articula::read_model(articula::ModelText{articula::write_sdf(held), "held.sdf", ""});
  const std::vector<double> q(std::size_t(after.nq()), 0.2);
  const double there = articula::mass_matrix(after, q)[0], back = articula::mass_matrix(again.build(), q)[0];
  std::printf("through SDF and back: %.15g, %.15g\n", there, back);
  return there - back < 1e-15 && back - there < 1e-15 ? 0 : 1;
}
