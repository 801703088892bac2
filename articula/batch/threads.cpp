#include "articula/batch/threads.hpp"

#include <algorithm>
#include <chrono>

namespace articula {

namespace {
void pause_a_moment() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}
}  // namespace

Threads::Threads(int count) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (count <= 0) count = cores;
  patient_ = count <= cores;
  try {
    for (int worker = 1; worker < count; ++worker)
      threads_.emplace_back([this, worker] { wait_for_work(worker); });
  } catch (...) {  // the system has no more: those that were made wait for work
    stop();
    throw;
  }
}

Threads::~Threads() { stop(); }

void Threads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ++generation_;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// Waking a thread takes tens of microseconds, as long as some hundred states of an arm.
template <class F>
bool Threads::look_out_for(const F& event) const {
  using Clock = std::chrono::steady_clock;
  if (event()) return true;
  if (!patient_) return false;
  const auto until = Clock::now() + std::chrono::microseconds(50);
  do {
    for (int i = 0; i < 32; ++i) {
      if (event()) return true;
      pause_a_moment();
    }
  } while (Clock::now() < until);
  return event();
}

void Threads::work_on(int worker) {
  try {
    (*work_)(worker);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void Threads::wait_for_work(int worker) {
  unsigned seen = 0;
  for (;;) {
    const auto called = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!look_out_for(called)) {
      std::unique_lock lock(mutex_);
      ++sleeping_;
      begin_.wait(lock, called);
      --sleeping_;
    }
    if (stopping_) return;
    ++seen;  // run() waits for all: no call is missed
    work_on(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
    { const std::lock_guard lock(mutex_); }  // the caller is awake, or asleep for good
    end_.notify_one();
  }
}

void Threads::run(const std::function<void(int)>& work) {
  const std::lock_guard one_call_at_a_time(calls_);
  bool anyone_asleep = false;
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    failure_ = nullptr;
    busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    anyone_asleep = sleeping_ > 0;
  }
  if (anyone_asleep) begin_.notify_all();
  work_on(0);
  const auto finished = [&] { return busy_.load(std::memory_order_acquire) == 0; };
  if (!look_out_for(finished)) {
    std::unique_lock lock(mutex_);
    end_.wait(lock, finished);
  }
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace articula
