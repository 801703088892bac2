// A callable by reference. Loops that take one are compiled once, not for each algorithm; on a tile of states, a call
// through a pointer is nothing.
#pragma once

#include <memory>
#include <type_traits>

namespace articula::batching {

template <class F>
class Callback;

/// Good while the callable lives: for arguments, as they are written in a call.
template <class... A>
class Callback<void(A...)> {
 public:
  template <class F>
  requires(!std::is_same_v<F, Callback> && std::is_invocable_v<const F&, A...>) Callback(const F& f)
      : callable_(std::addressof(f)),
        call_([](const void* callable, A... a) { (*static_cast<const F*>(callable))(a...); }) {}
  void operator()(A... a) const { call_(callable_, a...); }

 private:
  const void* callable_;
  void (*call_)(const void*, A...);
};

}  // namespace articula::batching
