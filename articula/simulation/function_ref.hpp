// FunctionRef: a callable that is borrowed, not copied. Two pointers, no allocation, no exceptions of its
// own.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace articula {

template <class>
class FunctionRef;

/// Refers to something that can be called; the caller keeps it alive, so temporaries are refused. Empty by
/// default.
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  FunctionRef() = default;
  template <class F>
  requires(std::is_invocable_r_v<R, F&, A...> && !std::is_same_v<std::remove_const_t<F>, FunctionRef>)
      FunctionRef(F& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, A... a) -> R { return (*static_cast<F*>(object))(std::forward<A>(a)...); }) {}

  R operator()(A... a) const { return call_(object_, std::forward<A>(a)...); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  void* object_ = nullptr;
  R (*call_)(void*, A...) = nullptr;
};

}  // namespace articula
