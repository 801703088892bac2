#include "bench/contest.hpp"

namespace articula::bench {

Peers found_peers() {
  Peers all;
#ifdef ARTICULA_BENCH_MUJOCO
  all.push_back(mujoco_peer());
#endif
#ifdef ARTICULA_BENCH_SIMBODY
  all.push_back(simbody_peer());
#endif
#ifdef ARTICULA_BENCH_DART
  all.push_back(dart_peer());
#endif
#ifdef ARTICULA_BENCH_KDL
  all.push_back(kdl_peer());
#endif
  return all;
}

}  // namespace articula::bench
