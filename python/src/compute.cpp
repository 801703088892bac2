// One state under the interpreter's lock; many without it, on threads, in pieces between which Ctrl-C is heard.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "articula/dynamics/singular_joint.hpp"
#include "prepared.hpp"

namespace articula::python {

Threads* threads_for(int count) {
  struct Known {
    pid_t process = 0;
    std::map<int, Threads*> by_count;
  };
  static auto& known = *new Known;  // under the interpreter's lock
  if (count == 0) count = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (count == 1) return nullptr;
  if (known.process != getpid()) known = {getpid(), {}};
  Threads*& threads = known.by_count[count];
  if (!threads) threads = new Threads(count);
  return threads;
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t first_piece = 8192, smallest_piece = 256;
constexpr double piece_seconds = 0.03;

template <class S>
Call<S> piece_of(const Prepared<S>& p, std::size_t begin, std::size_t count,
                 std::array<std::span<S>, most_parts>& out) {
  Call<S> call = p.call;
  const auto part = [&](auto x) {
    const std::size_t n = x.size() / p.count;
    return x.subspan(begin * n, count * n);
  };
  for (const Argument argument : p.algorithm->uses)
    call.in[static_cast<int>(argument)] = part(p.call[argument]);
  if (!call.wrenches.empty()) call.wrenches = part(p.call.wrenches);
  for (std::size_t i = 0; i < p.call.out.size(); ++i) out[i] = part(p.call.out[i]);
  call.out = std::span(out).first(p.call.out.size());
  return call;
}

/// States of which some result is NaN.
template <class S>
std::vector<std::size_t> failed_states(const Prepared<S>& p) {
  std::vector<std::size_t> states;
  for (std::size_t state = 0; state < p.count; ++state)
    for (const std::span<S> x : p.call.out) {
      const auto mine = x.subspan(state * (x.size() / p.count), x.size() / p.count);
      if (std::none_of(mine.begin(), mine.end(), [](S number) { return std::isnan(number); })) continue;
      states.push_back(state);
      break;
    }
  return states;
}

/// The batch's own message, and the joint that the first such state names when asked alone.
template <class S>
void set_failed(ModelObject& m, const Prepared<S>& p, const std::string& message, bool finite) {
  const std::vector<std::size_t> states = failed_states(p);
  nanobind::list list;
  for (const std::size_t state : states) list.append(state);
  if (!finite) return set_error_of_states("Error", message, list);
  std::string reason;
  nanobind::object joint = nanobind::none();
  if (!states.empty()) {
    std::array<std::span<S>, most_parts> out;
    try {
      p.algorithm->template one<S>()(m.one<S>(), piece_of(p, states.front(), 1, out));
    } catch (const SingularJointError& error) {
      reason = error.what();
      joint = nanobind::cast(error.joint);
    } catch (const Error& error) {  // singular, or numbers that are not finite
      reason = error.what();
    }
  }
  const nanobind::object error = nanobind::borrow(error_class("SingularError"))(message, reason, list, joint);
  PyErr_SetObject(error_class("SingularError"), error.ptr());
}

/// What a batch met outside the interpreter's lock.
struct Met {
  std::string failed;  // of some states, with others done
  bool finite = true;  // the arguments of the first
  std::exception_ptr error;
  bool interrupted = false;
};

template <class S>
Met compute_pieces(Evaluator<S>& evaluator, const Prepared<S>& p) {
  Met met;
  PyThreadState* thread = PyEval_SaveThread();
  std::array<std::span<S>, most_parts> out;
  std::size_t piece = first_piece;
  for (std::size_t begin = 0; begin < p.count && !met.error && !met.interrupted;) {
    const std::size_t count = std::min(piece, p.count - begin);
    const auto start = Clock::now();
    try {
      evaluator.many(*p.algorithm, count, piece_of(p, begin, count, out));
    } catch (const SingularError& error) {
      if (met.failed.empty()) met.failed = error.what();
    } catch (const NotFiniteError& error) {
      if (met.failed.empty()) met.failed = error.what(), met.finite = false;
    } catch (...) {
      met.error = std::current_exception();
    }
    begin += count;
    if (begin >= p.count) break;
    const double seconds = std::max(1e-6, std::chrono::duration<double>(Clock::now() - start).count());
    piece = std::max(smallest_piece,
                     static_cast<std::size_t>(static_cast<double>(count) * piece_seconds / seconds) /
                         smallest_piece * smallest_piece);
    PyEval_RestoreThread(thread);
    met.interrupted = PyErr_CheckSignals() != 0;
    thread = PyEval_SaveThread();
  }
  PyEval_RestoreThread(thread);
  return met;
}

/// Out of the pool, or new; to be put back by the caller.
template <class S>
std::unique_ptr<Evaluator<S>> take_evaluator(ModelObject& m, Threads* threads) {
  auto& pool = m.pool<S>();
  const auto found =
      std::find_if(pool.begin(), pool.end(), [&](const auto& pooled) { return pooled.threads == threads; });
  if (found == pool.end()) return std::make_unique<Evaluator<S>>(m.model, BatchOptions{.threads = threads});
  std::unique_ptr<Evaluator<S>> evaluator = std::move(found->evaluator);
  pool.erase(found);
  return evaluator;
}

template <class S>
bool compute_many(ModelObject& m, Prepared<S>& p) {
  Threads* const threads = threads_for(p.threads);
  auto& pool = m.pool<S>();
  std::unique_ptr<Evaluator<S>> evaluator = take_evaluator<S>(m, threads);
  const Met met = compute_pieces(*evaluator, p);
  pool.push_back({threads, std::move(evaluator)});
  if (met.interrupted) return false;
  if (met.error) std::rethrow_exception(met.error);
  if (met.failed.empty()) return true;
  set_failed(m, p, met.failed, met.finite);
  return false;
}

}  // namespace

template <class S>
bool compute(ModelObject& m, Prepared<S>& p) {
  try {
    if (p.many) return p.count == 0 || compute_many(m, p);
    p.algorithm->template one<S>()(m.one<S>(), p.call);
    return true;
  } catch (...) {
    translate_exception();
    return false;
  }
}
template <class S>
double seconds_in_cpp(ModelObject& m, Prepared<S>& p, std::size_t calls) {
  if (!p.many) {
    OneState<S>& work = m.one<S>();
    const auto function = p.algorithm->template one<S>();
    const auto start = Clock::now();
    for (std::size_t i = 0; i < calls; ++i) function(work, p.call);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  Threads* const threads = threads_for(p.threads);
  std::unique_ptr<Evaluator<S>> evaluator = take_evaluator<S>(m, threads);
  const auto start = Clock::now();
  for (std::size_t i = 0; i < calls; ++i) evaluator->many(*p.algorithm, p.count, p.call);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  m.pool<S>().push_back({threads, std::move(evaluator)});
  return seconds;
}
template double seconds_in_cpp(ModelObject&, Prepared<double>&, std::size_t);
template double seconds_in_cpp(ModelObject&, Prepared<float>&, std::size_t);
template bool compute(ModelObject&, Prepared<double>&);
template bool compute(ModelObject&, Prepared<float>&);

}  // namespace articula::python
