// Models: specifications as plain Python data and back, and the configuration space.
#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <random>

#include "arrays.hpp"
#include "articula/files/urdf.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"
#include "articula/spatial/numbers.hpp"
#include "model_object.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

// --- specifications: nested tuples, every number as it is
template <std::size_t n, class T>
nb::tuple numbers(const T& x) {
  nb::list list;
  for (std::size_t i = 0; i < n; ++i) list.append(numbers_of(x)[i]);
  return nb::tuple(list);
}
template <std::size_t n, class T>
void read(nb::handle from, const char* what, T& to) {
  const auto list = nb::cast<std::vector<double>>(from);
  if (list.size() != n) fail(fmt::format("{} has {} numbers, expected {}", what, list.size(), n));
  std::copy_n(list.begin(), n, numbers_of(to));
}
nb::tuple as_tuple(const Pose& pose) { return nb::make_tuple(numbers<9>(pose.R), numbers<3>(pose.p)); }
void read_pose(nb::handle from, Pose& pose) {
  read<9>(from[0], "a rotation", pose.R);
  read<3>(from[1], "a position", pose.p);
}
nb::tuple as_tuple(const MassProperties& mass) {
  return nb::make_tuple(mass.mass, numbers<3>(mass.center_of_mass), numbers<6>(mass.inertia));
}
/// One number, or one for each of the freedoms where they differ.
nb::object as_object(const PerFreedom& x, int freedoms) {
  if (x.is_one_number(freedoms)) return nb::float_(x[0]);
  nb::list list;
  for (int i = 0; i < freedoms; ++i) list.append(x[i]);
  return nb::tuple(list);
}
PerFreedom read_per_freedom(nb::handle from) {
  if (PyFloat_Check(from.ptr())) return nb::cast<double>(from);
  const auto list = nb::cast<std::vector<double>>(from);
  if (list.empty() || list.size() > PerFreedom::most)
    fail(fmt::format("{} numbers for the freedoms of a joint, expected 1 to {}", list.size(),
                     PerFreedom::most));
  PerFreedom x = list[0];
  for (std::size_t i = 0; i < list.size(); ++i) x[static_cast<int>(i)] = list[i];
  return x;
}
nb::tuple as_tuple(const JointLimits& limits, int freedoms) {
  return nb::make_tuple(as_object(limits.lower, freedoms), as_object(limits.upper, freedoms),
                        as_object(limits.velocity, freedoms), as_object(limits.effort, freedoms));
}
nb::object as_tuple(const std::optional<Mimic>& mimic) {
  if (!mimic) return nb::none();
  return nb::make_tuple(mimic->joint, mimic->multiplier, mimic->offset);
}

nb::tuple as_tuple(const ModelSpec& spec) {
  nb::list links, joints, frames;
  for (const LinkSpec& link : spec.links)
    links.append(nb::make_tuple(link.name, as_tuple(link.mass), link.where));
  for (const JointSpec& j : spec.joints) {
    const int n = std::max(1, nv_of(j.kind));
    joints.append(nb::make_tuple(
        j.name, std::string(name_of(j.kind)), j.parent, j.child, as_tuple(j.placement), numbers<3>(j.axis),
        numbers<3>(j.second_axis), j.pitch, as_tuple(j.limits, n), as_object(j.damping, n),
        as_object(j.friction, n), as_object(j.armature, n), as_object(j.stiffness, n),
        as_object(j.spring_reference, n), as_tuple(j.mimic), j.where));
  }
  for (const FrameSpec& frame : spec.frames)
    frames.append(nb::make_tuple(frame.name, frame.link, as_tuple(frame.placement), frame.where));
  nb::list actuators, loops, couplings;
  for (const ActuatorSpec& a : spec.actuators)
    actuators.append(
        nb::make_tuple(a.name, a.joint, as_object(a.gear, PerFreedom::most), a.lower, a.upper, a.where));
  for (const LoopSpec& l : spec.loops)
    loops.append(nb::make_tuple(l.name, std::string(name_of(l.kind)), l.first, l.second,
                                as_tuple(l.first_placement), as_tuple(l.second_placement), numbers<3>(l.axis),
                                l.where));
  for (const CouplingSpec& c : spec.couplings)
    couplings.append(nb::make_tuple(c.name, c.joint, c.source, nb::tuple(nb::cast(c.coefficients)), c.where));
  return nb::make_tuple(spec.name, nb::tuple(links), nb::tuple(joints), nb::tuple(frames),
                        nb::tuple(actuators), nb::tuple(loops), nb::tuple(couplings));
}

JointKind kind_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(JointKind::free); ++i)
    if (name == name_of(static_cast<JointKind>(i))) return static_cast<JointKind>(i);
  fail(fmt::format("'{}' is no kind of joint", name));
}
template <class T>
T get(nb::handle from, int i) {
  return nb::cast<T>(from[i]);
}
JointSpec read_joint(nb::handle from) {
  JointSpec j;
  j.name = get<std::string>(from, 0);
  j.kind = kind_named(get<std::string>(from, 1));
  j.parent = get<std::string>(from, 2);
  j.child = get<std::string>(from, 3);
  read_pose(from[4], j.placement);
  read<3>(from[5], "an axis", j.axis);
  read<3>(from[6], "a second axis", j.second_axis);
  j.pitch = get<double>(from, 7);
  const nb::object limits = from[8];
  j.limits = {read_per_freedom(limits[0]), read_per_freedom(limits[1]), read_per_freedom(limits[2]),
              read_per_freedom(limits[3])};
  j.damping = read_per_freedom(from[9]);
  j.friction = read_per_freedom(from[10]);
  j.armature = read_per_freedom(from[11]);
  j.stiffness = read_per_freedom(from[12]);
  j.spring_reference = read_per_freedom(from[13]);
  const nb::object mimic = from[14];
  if (!mimic.is_none())
    j.mimic = Mimic{get<std::string>(mimic, 0), get<double>(mimic, 1), get<double>(mimic, 2)};
  j.where = get<std::string>(from, 15);
  return j;
}
ModelSpec read_spec(nb::handle from) {
  ModelSpec spec;
  spec.name = get<std::string>(from, 0);
  for (nb::handle x : from[1]) {
    LinkSpec link{.name = get<std::string>(x, 0)};
    const nb::object mass = x[1];
    link.mass.mass = get<double>(mass, 0);
    read<3>(mass[1], "a mass centre", link.mass.center_of_mass);
    read<6>(mass[2], "an inertia", link.mass.inertia);
    link.where = get<std::string>(x, 2);
    spec.links.push_back(std::move(link));
  }
  for (nb::handle x : from[2]) spec.joints.push_back(read_joint(x));
  for (nb::handle x : from[3]) {
    FrameSpec frame{.name = get<std::string>(x, 0), .link = get<std::string>(x, 1)};
    read_pose(x[2], frame.placement);
    frame.where = get<std::string>(x, 3);
    spec.frames.push_back(std::move(frame));
  }
  for (nb::handle x : from[4])
    spec.actuators.push_back({get<std::string>(x, 0), get<std::string>(x, 1), read_per_freedom(x[2]),
                              get<double>(x, 3), get<double>(x, 4), get<std::string>(x, 5)});
  for (nb::handle x : from[5]) {
    LoopSpec loop{.name = get<std::string>(x, 0),
                  .kind = kind_named(get<std::string>(x, 1)),
                  .first = get<std::string>(x, 2),
                  .second = get<std::string>(x, 3),
                  .where = get<std::string>(x, 7)};
    read_pose(x[4], loop.first_placement);
    read_pose(x[5], loop.second_placement);
    read<3>(x[6], "an axis", loop.axis);
    spec.loops.push_back(std::move(loop));
  }
  for (nb::handle x : from[6])
    spec.couplings.push_back({get<std::string>(x, 0), get<std::string>(x, 1), get<std::string>(x, 2),
                              get<std::vector<double>>(x, 3), get<std::string>(x, 4)});
  return spec;
}

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
/// The specification and what is wrong with it.
nb::tuple read_result(const LoadedModel& read, const std::string& base) {
  return nb::make_tuple(as_tuple(read.spec), as_list(find_problems(read, base_named(base))));
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
  m.def("_read_model",
        [](const std::string& path, const std::string& base) { return read_result(read_model(path), base); });
  m.def("_chain", [](int joints, std::uint64_t seed) { return as_tuple(make_chain(joints, seed)); });
  m.def("_problems", [](nb::handle spec, const std::string& base) {
    return as_list(find_problems(read_spec(spec), base_named(base)));
  });
  m.def("_write_urdf", [](nb::handle spec) { return write_urdf(read_spec(spec)); });
}

}  // namespace articula::python
