// The algorithms of the list as Python calls them: every name of an argument, and where its value goes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model_object.hpp"

namespace articula::python {

/// What a call can be given: the arguments of the list, then what goes by keyword alone.
enum Slot : int {
  wrenches_slot = argument_count,
  frame_slot,
  axes_slot,
  method_slot,
  threads_slot,
  out_slot,
  slot_count
};
inline constexpr const char* keyword_names[] = {"wrenches", "frame", "axes", "method", "threads", "out"};
/// Borrowed; null: not given.
using Given = std::array<PyObject*, slot_count>;

struct Callable {
  const Algorithm* algorithm;
  struct Name {
    PyObject* text;  // interned
    int slot;
  };
  std::vector<Name> names;  // those that may go by position first, in their order
  Py_ssize_t positional;
  PyObject* make_result = nullptr;  // of several parts: the named tuple's _make
  PyObject* result_class = nullptr;
  bool whole_numbers = false;  // some part is given as integers, which articula/_arrays.py sees to
  std::string documentation;
  PyMethodDef definition{};
};

/// In the order of algorithms().
std::vector<Callable>& callables();
Callable* find_callable(const char* name);

/// A part's key as Python can have it: lambda_ for lambda.
std::string python_name(const char* key);
/// As documentation writes it.
const char* text_of(Extent extent);
bool takes_axes(const Algorithm& algorithm);
/// -1: it has no such argument.
int slot_of(const Callable& callable, PyObject* name);
/// The signature for inspect, what it does, the shape of every argument and result, an example.
std::string documentation_of(const Algorithm& algorithm);
/// Whether the call is written rightly; else an exception is set.
bool parse(const Callable& callable, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords,
           Given& given);

/// A part's shape beside the leading dimensions; how many dimensions it has.
int shape_of(const ModelObject& m, const Part& part, std::size_t frames, Py_ssize_t* shape);

}  // namespace articula::python
