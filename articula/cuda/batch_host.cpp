// Calls of cuda::Batch on the host's memory: piece by piece through pinned memory, copies of some beside the computation of
// others.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "articula/cuda/batch_data.hpp"

namespace articula::cuda {

template <class S>
void Batch<S>::Data::make_room(Lane& lane, std::size_t size) {
  const Driver& d = driver();
  if (!lane.stream) {
    constexpr unsigned apart_from_the_default_stream = 1, without_timing = 2;
    d.check(d.StreamCreate(&lane.stream, apart_from_the_default_stream), "make a stream");
    d.check(d.EventCreate(&lane.done, without_timing), "make an event");
  }
  if (lane.size >= size) return;
  lane.size = 0;
  lane.device = {};
  if (lane.pinned) d.MemFreeHost(std::exchange(lane.pinned, nullptr));
  lane.device = Array<S>(context, size);
  void* pinned = nullptr;
  d.check(d.MemHostAlloc(&pinned, size * sizeof(S), 0),
          fmt::format("make room for {} bytes to copy from", size * sizeof(S)));
  lane.pinned = static_cast<S*>(pinned);
  lane.size = size;
}

template <class S>
void Batch<S>::Data::copy() {
  std::size_t all = 0;
  for (const Copy& c : copies) all += c.size;
  const int count = copiers->count();
  const auto part = [&](int worker) {
    const std::size_t begin = all * worker / count, end = all * (worker + 1) / count;
    std::size_t at = 0;
    for (const Copy& c : copies) {
      const std::size_t from = std::max(begin, at), to = std::min(end, at + c.size);
      if (from < to) std::memcpy(c.to + (from - at), c.from + (from - at), (to - from) * sizeof(S));
      at += c.size;
    }
  };
  if (all * sizeof(S) < 1 << 20)
    for (int worker = 0; worker < count; ++worker) part(worker);
  else
    copiers->run(part);
  copies.clear();
}

template <class S>
void Batch<S>::Data::run_on_host(const Kernel& k, Arguments<S>& args, Traffic& t, std::size_t count) {
  const Driver& d = driver();
  const Use use(*context);
  std::size_t taken = 0, given = 0;
  for (int i = 0; i < t.inputs; ++i) taken += t.in[i].n;
  for (int i = 0; i < t.outputs; ++i) given += t.out[i].n;
  // Pieces of about 8 MB: long enough for the bus, short enough that copies of one hide behind others.
  const std::size_t most = (std::size_t(8) << 20) / sizeof(S) / (taken + given);
  const std::size_t piece =
      std::min((count + warp - 1) / warp * warp, std::max<std::size_t>(most / warp, 1) * warp);
  for (Lane& lane : lanes) make_room(lane, piece * (taken + given));
  if (!copiers)
    copiers =
        std::make_unique<Threads>(std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 8));
  const bool columns = options.layout == Layout::columns;
  /// f(host's numbers, piece's numbers, how many) for the runs of neighbours that both have.
  const auto runs = [&](auto* x, std::size_t n, const Lane& lane, S* at, auto&& f) {
    if (!columns) return f(x + lane.first * n, at, lane.count * n);
    for (std::size_t i = 0; i < n; ++i) f(x + i * count + lane.first, at + i * lane.count, lane.count);
  };
  const auto finish = [&](Lane& lane) {
    if (lane.count == 0) return;
    d.check(d.EventSynchronize(lane.done), "compute on the GPU");
    S* at = lane.pinned + taken * lane.count;
    for (int i = 0; i < t.outputs; at += t.out[i++].n * lane.count)
      runs(t.out[i].x, t.out[i].n, lane, at, [&](S* to, const S* from, std::size_t size) {
        copies.push_back({to, from, size});
      });
    copy();
    lane.count = 0;
  };
  try {
    for (std::size_t first = 0, number = 0; first < count; first += piece, ++number) {
      Lane& lane = lanes[number % std::size(lanes)];
      finish(lane);
      lane.first = first, lane.count = std::min(piece, count - first);
      S* at = lane.pinned;
      for (int i = 0; i < t.inputs; at += t.in[i++].n * lane.count) {
        runs(t.in[i].x, t.in[i].n, lane, at, [&](const S* from, S* to, std::size_t size) {
          copies.push_back({to, from, size});
        });
        *t.in_place[i] = lane.device.data() + (at - lane.pinned);
      }
      copy();
      S* const results = at;
      for (int i = 0; i < t.outputs; at += t.out[i++].n * lane.count)
        *t.out_place[i] = lane.device.data() + (at - lane.pinned);
      args.first = static_cast<long>(first), args.count = static_cast<long>(lane.count);
      const auto device = reinterpret_cast<Address>(lane.device.data());
      d.check(d.MemcpyHtoDAsync(device, lane.pinned, taken * lane.count * sizeof(S), lane.stream),
              "copy to the GPU");
      launch(k, args, lane.stream);
      d.check(d.MemcpyDtoHAsync(results, device + (results - lane.pinned) * sizeof(S),
                                given * lane.count * sizeof(S), lane.stream),
              "copy from the GPU");
      d.check(d.EventRecord(lane.done, lane.stream), "compute on the GPU");
    }
    for (Lane& lane : lanes) finish(lane);
  } catch (...) {
    for (Lane& lane : lanes) lane.count = 0;
    copies.clear();
    throw;
  }
  report(&t, count);
}

template void Batch<double>::Data::run_on_host(const Kernel&, Arguments<double>&, Traffic&, std::size_t);
template void Batch<float>::Data::run_on_host(const Kernel&, Arguments<float>&, Traffic&, std::size_t);

}  // namespace articula::cuda
