// A few threads that wait for work, made once: batches and simulations share them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace articula {

class Threads {
 public:
  /// `count` workers in all, the calling thread being one of them; 0: as many as the machine has cores.
  /// Throws std::system_error if the system has not that many.
  explicit Threads(int count = 0);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return static_cast<int>(threads_.size()) + 1; }
  /// work(worker) once on each worker, at the same time; returns when all have. The first exception is thrown
  /// again here. Calls from several threads take turns. A worker without work looks out for more for some
  /// 50 microseconds, so that calls one after the other find it awake, then sleeps; not if there are more
  /// workers than cores.
  void run(const std::function<void(int worker)>& work);

 private:
  void stop();
  void wait_for_work(int worker);
  void work_on(int worker);
  template <class F>
  bool look_out_for(const F& event) const;

  std::mutex calls_, mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<unsigned> generation_{0};  // counts calls; changed under mutex_, for those asleep
  std::atomic<int> busy_{0};             // workers, beside the caller, that have not finished
  std::atomic<bool> stopping_{false};
  int sleeping_ = 0;  // under mutex_
  bool patient_;      // looks out before sleeping
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace articula
