// What is behind a Model of Python: the model, and working memory that its calls find again.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <vector>

#include "quick_call.hpp"

namespace articula::python {

/// One state at a time runs under the interpreter's lock, so that one working memory per model will do; batches release
/// the lock, and take an Evaluator each.
struct ModelObject {
  ModelObject(Model m, BuildOptions o)
      : model(std::move(m)), options(o), nq(model.nq()), nv(model.nv()), bodies(model.body_count()) {}
  Model model;
  BuildOptions options;
  Py_ssize_t nq, nv, bodies;

  template <class S>
  OneState<S>& one() {
    auto& state = one_of<S>();
    if (!state) state.emplace(model);
    return *state;
  }

  template <class S>
  struct Pooled {
    Threads* threads;
    std::unique_ptr<Evaluator<S>> evaluator;
  };
  template <class S>
  std::vector<Pooled<S>>& pool() {
    if constexpr (std::is_same_v<S, double>)
      return in_double_;
    else
      return in_float_;
  }

  /// In the order of callables(); null: not called yet.
  template <class S>
  std::vector<std::unique_ptr<QuickCall<S>>>& quick() {
    if constexpr (std::is_same_v<S, double>)
      return quick_in_double_;
    else
      return quick_in_float_;
  }

  /// The last frame that was asked for by name.
  nanobind::object frame_name;
  int frame = -1;

  std::shared_ptr<void> on_devices;  // see device.cpp

 private:
  template <class S>
  std::optional<OneState<S>>& one_of() {
    if constexpr (std::is_same_v<S, double>)
      return one_in_double_;
    else
      return one_in_float_;
  }
  std::optional<OneState<double>> one_in_double_;
  std::optional<OneState<float>> one_in_float_;
  std::vector<Pooled<double>> in_double_;
  std::vector<Pooled<float>> in_float_;
  std::vector<std::unique_ptr<QuickCall<double>>> quick_in_double_;
  std::vector<std::unique_ptr<QuickCall<float>>> quick_in_float_;
};

/// Threads for batches: null for one, shared by all that want as many. They are never ended: after a fork the child
/// has none of them, and takes new ones.
Threads* threads_for(int count);

/// Null, with an exception set: not a model, or one whose __init__ has not run.
ModelObject* model_of(PyObject* x);

/// Sets the exception of Python that the one of C++ in flight stands for.
void translate_exception();
/// The class of that name in articula's errors.
PyObject* error_class(const char* name);
/// articula.Error with a message.
[[noreturn]] void fail(const std::string& message);
/// An error of that name with the numbers of states that have no result.
void set_error_of_states(const char* name, const std::string& message, const nanobind::list& states);

void add_algorithms(nanobind::module_& m, nanobind::object model_class);
void add_models(nanobind::module_& m);
void add_scenes(nanobind::module_& m);
void add_simulation(nanobind::module_& m);
void add_many_motions(nanobind::module_& m);
void add_operators(nanobind::module_& m);
void add_spaces(nanobind::module_& m);
void add_edits(nanobind::module_& m);
void add_derivatives(nanobind::module_& m);
void add_devices(nanobind::module_& m);

}  // namespace articula::python
