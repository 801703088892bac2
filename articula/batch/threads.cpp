#include "articula/batch/threads.hpp"

#include <algorithm>

namespace articula {

Threads::Threads(int count) {
  if (count <= 0) count = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int worker = 1; worker < count; ++worker)
    threads_.emplace_back([this, worker] { wait_for_work(worker); });
}

Threads::~Threads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
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
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    work_on(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) end_.notify_one();
  }
}

void Threads::run(const std::function<void(int)>& work) {
  const std::lock_guard one_call_at_a_time(calls_);
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    failure_ = nullptr;
    busy_ = static_cast<int>(threads_.size());
    ++generation_;
  }
  begin_.notify_all();
  work_on(0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace articula
