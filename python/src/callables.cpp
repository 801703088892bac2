#include "callables.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

namespace articula::python {

bool takes_axes(const Algorithm& algorithm) {
  if (algorithm.frames != FramesNeeded::one) return false;
  for (const Part& part : algorithm.parts)
    if (part.rows == Extent::six) return true;  // a motion; a pose is in the world always
  return false;
}

std::vector<Callable>& callables() {
  static auto& all = *[] {
    auto* const list = new std::vector<Callable>;
    for (const Algorithm& algorithm : algorithms()) {
      Callable callable{.algorithm = &algorithm,
                        .positional = static_cast<Py_ssize_t>(algorithm.uses.size())};
      const auto add = [&](std::string_view name, int slot) {
        callable.names.push_back({PyUnicode_InternFromString(std::string(name).c_str()), slot});
      };
      for (const Argument argument : algorithm.uses) add(name_of(argument), static_cast<int>(argument));
      for (int slot = argument_count; slot < slot_count; ++slot) {
        if (slot == wrenches_slot && !algorithm.external_forces) continue;
        if (slot == frame_slot && algorithm.frames == FramesNeeded::none) continue;
        if (slot == axes_slot && !takes_axes(algorithm)) continue;
        if (slot == method_slot && !algorithm.options_one_by_one && !algorithm.methods) continue;
        add(keyword_names[slot - argument_count], slot);
      }
      for (const Part& part : algorithm.parts) callable.whole_numbers |= part.whole_number;
      callable.documentation = documentation_of(algorithm);
      list->push_back(std::move(callable));
    }
    return list;
  }();
  return all;
}
Callable* find_callable(const char* name) {
  for (Callable& callable : callables())
    if (std::string_view(name) == callable.algorithm->name) return &callable;
  return nullptr;
}

std::string python_name(const char* key) {
  const nanobind::object is_keyword = nanobind::module_::import_("keyword").attr("iskeyword");
  return nanobind::cast<bool>(is_keyword(key)) ? std::string(key) + "_" : key;
}

const char* text_of(Extent extent) {
  switch (extent) {
    case Extent::one:
      return "1";
    case Extent::three:
      return "3";
    case Extent::six:
      return "6";
    case Extent::nv:
      return "nv";
    case Extent::task:
      return "6 * frames";
    case Extent::bodies:
      return "bodies";
    case Extent::parameters:
      return "10 * bodies";
  }
  return "?";
}

int slot_of(const Callable& callable, PyObject* name) {
  for (const auto& known : callable.names)
    if (known.text == name) return known.slot;
  for (const auto& known : callable.names)
    if (PyUnicode_Compare(known.text, name) == 0) return known.slot;
  return -1;
}

bool parse(const Callable& callable, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords,
           Given& given) {
  const char* const function = callable.algorithm->name;
  if (count > callable.positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments by position, %zd were given", function,
                 callable.positional, count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) given[callable.names[i].slot] = arguments[i];
  if (!keywords && count == callable.positional && callable.algorithm->frames == FramesNeeded::none)
    return true;  // most calls: nothing else to look at
  const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GetItem(keywords, i);
    const int slot = slot_of(callable, name);
    if (slot < 0 || given[slot]) {
      PyErr_Format(PyExc_TypeError,
                   slot < 0 ? "%s() has no argument '%U'" : "%s() got two values for its argument '%U'",
                   function, name);
      return false;
    }
    given[slot] = arguments[count + i];
  }
  for (int slot = argument_count; slot < slot_count; ++slot)
    if (given[slot] == Py_None) given[slot] = nullptr;
  for (Py_ssize_t i = 0; i < callable.positional; ++i)
    if (!given[callable.names[i].slot]) {
      PyErr_Format(PyExc_TypeError, "%s() needs its argument '%U'", function, callable.names[i].text);
      return false;
    }
  if (callable.algorithm->frames != FramesNeeded::none && !given[frame_slot]) {
    PyErr_Format(PyExc_TypeError, "%s() needs its argument 'frame': a frame's name or index", function);
    return false;
  }
  return true;
}

int shape_of(const ModelObject& m, const Part& part, std::size_t frames, Py_ssize_t* shape) {
  int dimensions = 0;
  for (const Extent extent : {part.planes, part.rows, part.columns})
    if (extent != Extent::one)
      shape[dimensions++] =
          extent == Extent::nv ? m.nv : static_cast<Py_ssize_t>(length_of(m.model, extent, frames));
  return dimensions;
}

namespace {

std::string shape_text(const Part& part) {
  std::string text = "(...";
  for (const Extent extent : {part.planes, part.rows, part.columns})
    if (extent != Extent::one) text += fmt::format(", {}", text_of(extent));
  return text + ")";
}
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}
/// What the state's vectors are, for the list of arguments.
constexpr const char* explanations[argument_count] = {"coordinates",
                                                      "velocities",
                                                      "accelerations",
                                                      "joint forces",
                                                      "change of q, as a velocity",
                                                      "change of v",
                                                      "change of a",
                                                      "change of tau",
                                                      "weights of the sum of which the gradients are"};

std::string example_of(const Algorithm& algorithm) {
  std::string text = "Example:\n    >>> arm = articula.load(\"arm7\")\n", call;
  for (const Argument argument : algorithm.uses) {
    const std::string_view name = name_of(argument);
    text +=
        fmt::format("    >>> {} = {}\n", name, argument == Argument::q ? "arm.neutral()" : "np.ones(arm.nv)");
    call += fmt::format("{}{}", call.empty() ? "" : ", ", name);
  }
  if (algorithm.frames != FramesNeeded::none) call += ", frame=arm.frames[-1].name";
  text += fmt::format("    >>> result = arm.{}({})\n", algorithm.name, call);
  for (const Part& part : algorithm.parts) {
    std::string shape;
    int dimensions = 0;
    for (const Extent extent : {part.planes, part.rows, part.columns})
      if (extent != Extent::one)
        shape += fmt::format("{}{}", dimensions++ ? ", " : "",
                             extent == Extent::nv || extent == Extent::bodies ? 7
                             : extent == Extent::three                        ? 3
                             : extent == Extent::parameters                   ? 70
                                                                              : 6);
    text += fmt::format("    >>> np.shape(result{}{})\n    ({}{})\n", algorithm.parts.size() > 1 ? "." : "",
                        algorithm.parts.size() > 1 ? python_name(part.key) : "", shape,
                        dimensions == 1 ? "," : "");
  }
  return text;
}

}  // namespace

std::string documentation_of(const Algorithm& algorithm) {
  std::string signature = fmt::format("{}($self", algorithm.name), arguments;
  for (const Argument argument : algorithm.uses) {
    signature += fmt::format(", {}", name_of(argument));
    arguments += fmt::format("    {}: {}, shape (..., {})\n", name_of(argument),
                             explanations[static_cast<int>(argument)], argument == Argument::q ? "nq" : "nv");
  }
  signature += ", *";
  if (algorithm.external_forces) {
    signature += ", wrenches=None";
    arguments +=
        "    wrenches: external forces, (moment, force) per body in world axes at its joint origin, shape "
        "(..., bodies, "
        "6)\n";
  }
  if (algorithm.frames != FramesNeeded::none) {
    signature += ", frame";
    arguments +=
        fmt::format("    frame: a frame's name or index{}\n",
                    algorithm.frames == FramesNeeded::several ? ", or a sequence of them, stacked" : "");
  }
  if (takes_axes(algorithm)) {
    signature += ", axes=None";
    arguments += "    axes: \"world\" (the default), \"local\" or \"spatial\"\n";
  }
  if (algorithm.options_one_by_one || algorithm.methods) {
    signature += ", method=None";
    arguments +=
        "    method: \"automatic\" (the default), \"direct\", \"conventional\", \"numerical\" or "
        "\"printed\"\n";
  }
  signature += ", threads=None, out=None)\n--\n\n";
  arguments +=
      "    threads: for many states; None: as many as there are cores\n"
      "    out: arrays that get the results; None: new ones\n";
  const std::string meaning =
      replaced(replaced(replaced(algorithm.meaning, "--method conventional", "method=\"conventional\""),
                        "--frame", "frames"),
               "{\"", "(\"");
  std::string results;
  for (const Part& part : algorithm.parts) {
    const std::string key = algorithm.parts.size() > 1 ? fmt::format("{}: ", python_name(part.key)) : "";
    results +=
        fmt::format("    {}shape {}{}\n", key, shape_text(part), part.whole_number ? ", integers" : "");
  }
  return fmt::format("{}{}.\n\nArguments:\n{}\nReturns{}:\n{}\n{}", signature, replaced(meaning, "}", ")"),
                     arguments, algorithm.parts.size() > 1 ? " a named tuple" : "", results,
                     example_of(algorithm));
}

}  // namespace articula::python
