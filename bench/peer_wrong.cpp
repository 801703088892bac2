// A plug-in (peer.hpp) whose results are wrong: a run with it must fail.
#include "bench/peer.hpp"

#define PLUGIN extern "C" __attribute__((visibility("default")))

PLUGIN const char* peer_name() { return "wrong"; }
PLUGIN void* peer_load(const articula_peer_model* model) { return const_cast<articula_peer_model*>(model); }
PLUGIN int peer_find(void*, const char* algorithm, int which) {
  return algorithm[0] == 'i' && which == 0 ? 0 : -1;
}
PLUGIN void peer_run(void*, int, long) {}
PLUGIN int peer_result(void* loaded, int, int state, double* out) {
  const auto* model = static_cast<articula_peer_model*>(loaded);
  for (int i = 0; i < model->nv; ++i) out[i] = model->tau[state][i];
  return model->nv;
}
