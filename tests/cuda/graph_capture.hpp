// A call of cuda::Batch captured in a CUDA graph, which then computes other states: calls after the first allocate nothing
// and wait for nothing, or the driver would refuse to capture them.
#pragma once

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>

#include "articula/batch/batch.hpp"
#include "articula/cuda/batch.hpp"

namespace articula::testing {

/// The driver's functions for graphs, which the library itself has no use for.
struct Graphs {
  cuda::Result (*begin)(cuda::Handle stream, int mode) = nullptr;
  cuda::Result (*end)(cuda::Handle stream, cuda::Handle* graph) = nullptr;
  cuda::Result (*instantiate)(cuda::Handle* executable, cuda::Handle graph,
                              unsigned long long flags) = nullptr;
  cuda::Result (*launch)(cuda::Handle executable, cuda::Handle stream) = nullptr;
  Graphs() {
    const char* const other = std::getenv("ARTICULA_CUDA_DRIVER");
    void* const library = dlopen(other ? other : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const auto find = [&](auto& f, const char* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(library ? dlsym(library, name) : nullptr);
    };
    find(begin, "cuStreamBeginCapture_v2"), find(end, "cuStreamEndCapture");
    find(instantiate, "cuGraphInstantiateWithFlags"), find(launch, "cuGraphLaunch");
  }
  bool there() const { return begin && end && instantiate && launch; }
};

/// The largest difference from the CPU's accelerations and linearization at states that the graph was not captured with;
/// negative: this driver has no graphs.
inline double difference_through_a_graph(const Model& model, std::size_t count) {
  const Graphs graphs;
  if (!graphs.there()) return -1;
  const cuda::Context context(0);
  const cuda::Use use(context);
  const cuda::Driver& d = cuda::driver();
  cuda::Handle stream = nullptr, graph = nullptr, executable = nullptr;
  d.check(d.StreamCreate(&stream, 1), "make a stream");
  const std::size_t nv = model.nv(), n = count * nv, matrix = count * nv * nv;
  std::vector<double> q(count * model.nq()), v(n), tau(n), a(n), dq(matrix), expected(n), expected_dq(matrix),
      dv(matrix), dtau(matrix);
  cuda::Array<double> Q(0, q.size()), V(0, n), Tau(0, n), A(0, n), Dq(0, matrix), Dv(0, matrix),
      Dtau(0, matrix);
  const auto fill = [&](double phase) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = std::sin(phase + 0.7 * static_cast<double>(i));
    for (std::size_t i = 0; i < n; ++i)
      v[i] = std::cos(phase + static_cast<double>(i)), tau[i] = std::sin(2 * phase + static_cast<double>(i));
    Q.upload(q, stream), V.upload(v, stream), Tau.upload(tau, stream);
  };
  {
    cuda::Batch<double> batch(model, {.layout = Layout::columns, .stream = stream});
    const auto calls = [&] {
      batch.forward_dynamics(Q, V, Tau, A);
      batch.linearized_forward(Q, V, Tau, Dq, Dv, Dtau);
    };
    fill(0);
    calls();  // compiles and loads
    constexpr int of_this_thread = 1;
    d.check(graphs.begin(stream, of_this_thread), "begin to capture");
    calls();
    d.check(graphs.end(stream, &graph), "capture");
    d.check(graphs.instantiate(&executable, graph, 0), "make a graph");
    fill(1);
    d.check(graphs.launch(executable, stream), "start a graph");
    A.download(a, stream), Dq.download(dq, stream);
    batch.check();
  }
  Batch<double> host(model, {.layout = Layout::columns});
  host.forward_dynamics(q, v, tau, expected);
  host.linearized_forward(q, v, tau, expected_dq, dv, dtau);
  double worst = 0, size = 0;
  const auto compare = [&](const std::vector<double>& x, const std::vector<double>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      worst = x[i] == x[i] ? std::max(worst, std::abs(x[i] - y[i])) : INFINITY;
      size = std::max(size, std::abs(y[i]));
    }
  };
  compare(a, expected), compare(dq, expected_dq);
  d.StreamDestroy(stream);
  return worst / size;
}

}  // namespace articula::testing
