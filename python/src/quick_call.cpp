#include "quick_call.hpp"

#include "callables.hpp"

namespace articula::python {

template <class S>
QuickCall<S>::QuickCall(const ModelObject& m, const Callable& callable)
    : callable_(callable),
      inputs_(callable.algorithm->uses.size()),
      parts_(callable.algorithm->parts.size()) {
  const Algorithm& algorithm = *callable.algorithm;
  possible_ = !callable.whole_numbers && (algorithm.mimics || !m.model.has_mimics());
  for (std::size_t i = 0; i < inputs_; ++i) {
    const std::size_t size = size_of(m.model, algorithm.uses[i]);
    slots_[i] = static_cast<int>(algorithm.uses[i]);
    input_shapes_[i] = {1, {static_cast<Py_ssize_t>(size)}};
    call_.in[slots_[i]] = {static_cast<const S*>(nullptr), size};
  }
  for (std::size_t i = 0; i < parts_; ++i) {
    part_shapes_[i].dimensions = shape_of(m, algorithm.parts[i], 1, part_shapes_[i].lengths);
    out_[i] = {static_cast<S*>(nullptr), size_of(m.model, algorithm.parts[i], 1)};
  }
  call_.listed = algorithm.listed;
  call_.out = std::span(out_).first(parts_);
  if (algorithm.frames != FramesNeeded::none) call_.frames = {&frame_, 1};
}
template <class S>
QuickCall<S>::~QuickCall() {
  Py_XDECREF(keywords_);
}

/// Where out= and frame= are among the keywords.
template <class S>
bool QuickCall<S>::read_keywords(PyObject* keywords) {
  if (!keywords) return false;
  Py_INCREF(keywords);
  Py_XDECREF(keywords_);
  keywords_ = keywords;
  out_at_ = frame_at_ = -1;
  const Py_ssize_t count = PyTuple_Size(keywords);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const int slot = slot_of(callable_, PyTuple_GetItem(keywords, i));
    if (slot == out_slot)
      out_at_ = i;
    else if (slot == frame_slot)
      frame_at_ = i;
    else
      return out_at_ = -1, false;
  }
  if ((frame_at_ >= 0) != !call_.frames.empty()) out_at_ = -1;
  return out_at_ >= 0;
}

template <class S>
bool QuickCall<S>::take_results(PyObject* out) {
  if (parts_ > 1 && Py_TYPE(out) != reinterpret_cast<PyTypeObject*>(callable_.result_class)) return false;
  int shared = 0;
  const auto overlap = [](std::span<const S> x,
                          std::span<const S> y) {  // both tests always: no branch to guess
    return int(x.data() < y.data() + y.size()) & int(y.data() < x.data() + x.size());
  };
  for (std::size_t i = 0; i < parts_; ++i) {
    const Array* const x =
        plain_array(parts_ > 1 ? PyTuple_GetItem(out, static_cast<Py_ssize_t>(i)) : out, dtype_of<S>());
    if (!x || !(x->flags & writeable) || !part_shapes_[i].is_of(*x)) return false;
    out_[i] = {x->numbers<S>(), out_[i].size()};
    for (std::size_t j = 0; j < inputs_; ++j) shared |= overlap(out_[i], call_.in[slots_[j]]);
    for (std::size_t j = 0; j < i; ++j) shared |= overlap(out_[i], out_[j]);
  }
  return shared == 0;
}

template <class S>
bool QuickCall<S>::operator()(ModelObject& m, PyObject* const* arguments, Py_ssize_t count,
                              PyObject* keywords, PyObject*& result) {
  if (count != static_cast<Py_ssize_t>(inputs_) || !possible_) return false;
  if (keywords != keywords_ || !keywords ? !read_keywords(keywords) : out_at_ < 0) return false;
  for (std::size_t i = 0; i < inputs_; ++i) {
    const Array* const x = plain_array(arguments[i], dtype_of<S>());
    if (!x || !input_shapes_[i].is_of(*x)) return false;
    std::span<const S>& in = call_.in[slots_[i]];
    in = {x->numbers<S>(), in.size()};
  }
  if (frame_at_ >= 0) {
    if (arguments[count + frame_at_] != m.frame_name.ptr()) return false;  // prepare() keeps it
    frame_ = m.frame;
  }
  result = arguments[count + out_at_];
  if (!take_results(result)) return false;
  try {
    callable_.algorithm->template one<S>()(m.one<S>(), call_);
  } catch (...) {
    translate_exception();
    result = nullptr;
    return true;
  }
  Py_INCREF(result);
  return true;
}

template class QuickCall<double>;
template class QuickCall<float>;

}  // namespace articula::python
