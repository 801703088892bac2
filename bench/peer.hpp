/* Another library to measure against in the same run: a shared object with the functions below, given to
   articula_bench as --peer FILE.so. None is part of this repository. C, so that any compiler and any language
   can make one.

   What an algorithm is called, and the order, axes and layout of its result: Entry in bench/contest.hpp.
   Joint vectors are in Articula's order and conventions (docs/conventions.md): to convert them is the
   plug-in's part, and is not timed if it is done in peer_load and peer_result. */
#ifndef ARTICULA_BENCH_PEER_HPP
#define ARTICULA_BENCH_PEER_HPP

#ifdef __cplusplus
extern "C" {
#endif

struct articula_peer_model {
  const char* urdf;
  int free_base; /* joint 0 is then free: q = quaternion x y z w, position; v = angular, linear, along body
                    axes */
  int nq, nv;
  int joint_count; /* those that move */
  const char* const* joint_names;
  const int *joint_q, *joint_v; /* where the numbers of each begin */
  const char* frame;            /* a link: of jacobian and the operational quantities */
  int contact_count;            /* links whose origins constrained_dynamics and impulse hold on the ground */
  const char* const* contacts;
  int state_count; /* calls go round them */
  const double *const *q, *const *v, *const *a, *const *tau;
  double gravity[3];
};

const char* peer_name(void);
/* All that is not to be timed; the model and its arrays live on until peer_free. NULL: cannot take it. */
void* peer_load(const struct articula_peer_model* model);
/* The way number `which` (0, 1, ..) to do an algorithm; the fastest is reported. Negative: there is none (any
   more). Give all there are: Pinocchio's forward dynamics of a small robot, say, are faster by crba,
   nonLinearEffects and a Cholesky factor than by aba. */
int peer_find(void* loaded, const char* algorithm, int which);
/* This is timed: `calls` calls, on states 0, 1, .. and round again. A library that remembers results should
   go on where it stopped. */
void peer_run(void* loaded, int way, long calls);
/* Optional: one call on a state, and its result in Articula's conventions; how many numbers, 0: nothing to
   compare. There is room for 3 nv nv + 36. */
int peer_result(void* loaded, int way, int state, double* out);
/* Optional: as peer_run, but the nv x nv matrices of call n, in the library's own layout, are written to
   to[i] + n nv nv: by the library itself, where it can. 0: not for this way. */
int peer_keep(void* loaded, int way, long calls, double* const* to);
/* Optional. */
void peer_free(void* loaded);

#ifdef __cplusplus
}
#endif

#endif
