// No call after set-up allocates: measured by standing in for malloc itself, since counting operator new
// would miss what Eigen and C libraries take.
#include <gtest/gtest.h>

#include <cstdlib>

#include "articula/dynamics/forward_dynamics.hpp"
#include "articula/dynamics/inverse_dynamics.hpp"
#include "articula/dynamics/kinematics.hpp"
#include "articula/dynamics/mass_factor.hpp"
#include "articula/dynamics/mass_matrix.hpp"
#include "tests/support/cases.hpp"

// Sanitizers bring their own malloc, and only glibc has the names below.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ARTICULA_OTHER_MALLOC
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define ARTICULA_OTHER_MALLOC
#endif

#ifndef ARTICULA_OTHER_MALLOC

namespace {
// Of this thread; no constructor, so that malloc may use them at any time.
thread_local long allocations = 0;
}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : 12;  // ENOMEM
}
void free(void* p) {
  if (p) ++allocations;  // what is freed was allocated: neither belongs into a control loop
  __libc_free(p);
}
}

namespace articula::testing {
namespace {

template <class F>
long allocations_in(F&& call) {
  const long before = allocations;
  call();
  return allocations - before;
}

TEST(Allocation, TheCounterCounts) {
  EXPECT_GE(allocations_in([] { delete new volatile int; }), 1);
  EXPECT_GE(allocations_in([] { std::free(std::aligned_alloc(64, 64)); }), 1);
  EXPECT_GE(allocations_in([] { Eigen::MatrixXd::Zero(20, 20).eval(); }), 1);
  EXPECT_EQ(allocations_in([] {}), 0);
}

template <class S>
void check(const Case& c) {
  const Model& model = c.model;
  const std::size_t nv = model.nv();
  const auto cast = [](const std::vector<double>& x) { return std::vector<S>(x.begin(), x.end()); };
  const auto q = cast(c.state.q), v = cast(c.state.v), a = cast(c.state.a), tau = cast(c.state.tau);
  std::vector<Spatial<S>> wrenches;
  for (const auto& f : c.state.wrenches)
    wrenches.push_back({{S(f.w.x), S(f.w.y), S(f.w.z)}, {S(f.v.x), S(f.v.y), S(f.v.z)}});
  InverseDynamics<S> inverse(model);
  ForwardDynamics<S> forward(model);
  MassMatrix<S> mass(model);
  MassFactor<S> factor(model);
  Kinematics<S> motion(model);
  std::vector<S> x(nv), matrix(nv * nv), J(6 * nv);
  const int tool = model.frame("tool");
  EXPECT_EQ(allocations_in([&] { inverse_dynamics(inverse, q, v, a, x, wrenches); }), 0);
  EXPECT_EQ(allocations_in([&] { bias_forces(inverse, q, v, x, wrenches); }), 0);
  EXPECT_EQ(allocations_in([&] { gravity_forces(inverse, q, x); }), 0);
  EXPECT_EQ(allocations_in([&] { forward_dynamics(forward, q, v, tau, x, wrenches); }), 0);
  EXPECT_EQ(allocations_in([&] { mass_matrix(mass, q, matrix); }), 0);
  EXPECT_EQ(allocations_in([&] { centroidal_map(mass, q, J); }), 0);
  EXPECT_EQ(allocations_in([&] { inverse_mass_matrix(factor, q, matrix); }), 0);
  EXPECT_EQ(allocations_in([&] { factor.factor(q); }), 0);
  EXPECT_EQ(allocations_in([&] { factor.solve(tau, x); }), 0);
  EXPECT_EQ(allocations_in([&] { motion.update(q); }), 0);
  EXPECT_EQ(allocations_in([&] { motion.update(q, v); }), 0);
  EXPECT_EQ(allocations_in([&] { motion.update(q, v, a); }), 0);
  EXPECT_EQ(allocations_in([&] { (void)motion.pose(tool); }), 0);
  for (const Axes axes : {Axes::world, Axes::local, Axes::spatial}) {
    EXPECT_EQ(allocations_in([&] { (void)motion.velocity(tool, axes); }), 0);
    EXPECT_EQ(allocations_in([&] { (void)motion.acceleration(tool, axes); }), 0);
    EXPECT_EQ(allocations_in([&] { motion.jacobian(tool, J, axes); }), 0);
  }
  EXPECT_EQ(allocations_in([&] { (void)motion.totals(); }), 0);
  EXPECT_EQ(allocations_in([&] { (void)model.frame("tool"); }), 0);
}

TEST(Allocation, NoneAfterSetUp) {
  for_each_case([](const Case& c) {
    check<double>(c);
    check<float>(c);
  });
}

}  // namespace
}  // namespace articula::testing

#endif
