// Models: how they are read, what they are made of, and the configuration space.
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>

#include <random>

#include "arrays.hpp"
#include "articula/files/read_model.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "specs.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

nb::list as_list(const std::vector<Finding>& findings) {
  constexpr const char* severities[] = {"note", "warning", "error"};
  nb::list list;
  for (const Finding& f : findings)
    list.append(nb::make_tuple(severities[static_cast<int>(f.severity)], f.where, f.message));
  return list;
}
Base base_named(const std::string& base) {
  if (base != "fixed" && base != "free")
    fail(fmt::format("base is '{}'; expected \"fixed\" or \"free\"", base));
  return base == "free" ? Base::free : Base::fixed;
}
/// The specification, what is wrong with it, the gravity that the file states (or None), and the states that it names.
nb::tuple read_file(const std::string& path, const std::string& base,
                    const std::map<std::string, std::string>& packages) {
  const LoadedModel read = read_model(path, {packages});
  nb::list states;
  for (const NamedState& state : read.states) states.append(nb::make_tuple(state.name, state.q, state.v));
  return nb::make_tuple(as_tuple(read.spec), as_list(find_problems(read, base_named(base))),
                        read.gravity ? nb::object(numbers<3>(*read.gravity)) : nb::none(), states);
}

// --- what a model is made of
nb::list joints_of(const ModelObject& m) {
  nb::list list;
  for (const Joint& j : m.model.joints()) {
    const int n = std::max(1, nv_of(j.kind));
    list.append(nb::make_tuple(j.name, std::string(name_of(j.kind)), j.q_index, j.nq, j.v_index, j.nv, j.body,
                               j.mimics, j.multiplier, j.offset, numbers<3>(j.axis), j.pitch,
                               as_tuple(j.limits, n), as_object(j.damping, n), as_object(j.friction, n),
                               as_object(j.armature, n), as_object(j.stiffness, n),
                               as_object(j.spring_reference, n)));
  }
  return list;
}
nb::list bodies_of(const ModelObject& m) {
  nb::list list;
  for (const Body& b : m.model.bodies())
    list.append(nb::make_tuple(b.name, b.inboard, b.joint, b.mass.mass, numbers<3>(b.mass.center_of_mass),
                               numbers<6>(b.mass.inertia)));
  return list;
}
nb::list frames_of(const ModelObject& m) {
  nb::list list;
  for (const Frame& f : m.model.frames())
    list.append(nb::make_tuple(f.name, f.body, numbers<9>(f.placement.R), numbers<3>(f.placement.p)));
  return list;
}

// --- the configuration space; arguments are plain arrays of `count` rows, as articula/_model.py makes them
template <class S>
std::span<S> rows(nb::handle x, const char* name, std::size_t count, Py_ssize_t n) {
  const Array* const array = plain_array(x.ptr(), dtype_of<S>());
  if (!array || array->dimensions != 2 || static_cast<std::size_t>(array->shape[0]) != count ||
      array->shape[1] != n)
    fail(fmt::format("{} is no plain array of {} x {}", name, count, n));
  return {array->numbers<S>(), count * static_cast<std::size_t>(n)};
}
template <class S>
void move_in(ModelObject& m, const std::string& what, std::size_t count, nb::handle x, nb::handle y,
             nb::handle t, nb::handle out) {
  const bool to_velocity = what == "difference";
  const auto first = rows<S>(x, "q", count, m.nq);
  const auto second = rows<S>(y, "the second argument", count, what == "integrate" ? m.nv : m.nq);
  const auto result = rows<S>(out, "out", count, to_velocity ? m.nv : m.nq);
  const auto times = what == "interpolate" ? rows<S>(t, "t", count, 1) : std::span<S>{};
  const auto of = [](std::span<S> all, std::size_t i, Py_ssize_t n) {
    return all.subspan(i * static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  };
  const nb::gil_scoped_release free_the_lock;
  constexpr std::size_t piece = 1 << 14;  // between which Ctrl-C is heard
  for (std::size_t i = 0; i < count; ++i) {
    if (i % piece == piece - 1) {
      const nb::gil_scoped_acquire lock;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    const std::span<const S> q = of(first, i, m.nq);
    if (what == "integrate")
      integrate(m.model, q, of(second, i, m.nv), of(result, i, m.nq));
    else if (to_velocity)
      difference(m.model, q, of(second, i, m.nq), of(result, i, m.nv));
    else
      interpolate(m.model, q, of(second, i, m.nq), static_cast<double>(times[i]), of(result, i, m.nq));
  }
}
void move(nb::handle self, const std::string& what, std::size_t count, nb::handle x, nb::handle y,
          nb::handle t, nb::handle out) {
  ModelObject* const m = model_of(self.ptr());
  if (!m) throw nb::python_error();
  if (plain_array(out.ptr(), numpy.float32))
    move_in<float>(*m, what, count, x, y, t, out);
  else
    move_in<double>(*m, what, count, x, y, t, out);
}
void fill_random(nb::handle self, std::uint64_t seed, std::size_t count, nb::handle out) {
  ModelObject* const m = model_of(self.ptr());
  if (!m) throw nb::python_error();
  std::mt19937_64 engine(seed);
  const auto result = rows<double>(out, "out", count, m->nq);
  for (std::size_t i = 0; i < count; ++i)
    random(m->model, engine,
           result.subspan(i * static_cast<std::size_t>(m->nq), static_cast<std::size_t>(m->nq)));
}

}  // namespace

void add_models(nb::module_& m) {
  const auto checked = [](nb::handle self) -> ModelObject& {
    ModelObject* const object = model_of(self.ptr());
    if (!object) throw nb::python_error();
    return *object;
  };
  nb::class_<ModelObject> model(m, "Model", nb::is_weak_referenceable());
  model.def(
      "__init__",
      [](ModelObject* self, nb::handle spec, const std::string& base, std::array<double, 3> gravity) {
        use_numpy();
        BuildOptions options;
        options.base = base_named(base);
        options.gravity = {gravity[0], gravity[1], gravity[2]};
        new (self) ModelObject(Model(read_spec(spec), options), options);
      },
      nb::arg("spec"), nb::arg("base"), nb::arg("gravity"));
  model.def_prop_ro(
      "nq", [checked](nb::handle self) { return checked(self).nq; },
      "How many numbers a configuration q has.");
  model.def_prop_ro(
      "nv", [checked](nb::handle self) { return checked(self).nv; }, "How many velocities there are.");
  model.def_prop_ro(
      "name", [checked](nb::handle self) { return checked(self).model.name(); }, "The model's name.");
  model.def_prop_ro(
      "mass", [checked](nb::handle self) { return checked(self).model.mass(); },
      "The mass of the moving bodies, kg.");
  model.def_prop_ro(
      "base",
      [checked](nb::handle self) { return checked(self).options.base == Base::free ? "free" : "fixed"; },
      "How the root link meets the world: \"fixed\" or \"free\".");
  model.def_prop_ro(
      "gravity", [checked](nb::handle self) { return numbers<3>(checked(self).options.gravity); },
      "Gravity in m/s^2, world axes.");
  model.def("_joints", [checked](nb::handle self) { return joints_of(checked(self)); });
  model.def("_bodies", [checked](nb::handle self) { return bodies_of(checked(self)); });
  model.def("_frames", [checked](nb::handle self) { return frames_of(checked(self)); });
  model.def("_spec", [checked](nb::handle self) { return as_tuple(checked(self).model.spec()); });
  model.def("_warnings", [checked](nb::handle self) { return as_list(checked(self).model.warnings()); });
  model.def("_neutral", [checked](nb::handle self) { return neutral(checked(self).model); });
  model.def("_move", move, nb::arg("what"), nb::arg("count"), nb::arg("x"), nb::arg("y"), nb::arg("t").none(),
            nb::arg("out"));
  model.def("_random", fill_random, nb::arg("seed"), nb::arg("count"), nb::arg("out"));
  add_algorithms(m, model);
  m.def("_read_model", read_file);
  m.def("_chain", [](int joints, std::uint64_t seed) { return as_tuple(make_chain(joints, seed)); });
  m.def("_problems", [](nb::handle spec, const std::string& base) {
    return as_list(find_problems(read_spec(spec), base_named(base)));
  });
}

}  // namespace articula::python
