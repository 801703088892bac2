// Task spaces and their control, diagonalized dynamics, regulators and counts.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "articula/diagonal/diagonalized_dynamics.hpp"
#include "articula/diagonal/operation_counts.hpp"
#include "articula/linearization/regulator.hpp"
#include "articula/linearization/state_space.hpp"
#include "articula/spatial/numbers.hpp"
#include "articula/task_space/control.hpp"
#include "numbers.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

/// A model's TaskSpace; what has the sizes (rows) or (rows x rows) of the tasks.
struct Tasks {
  Tasks(nb::handle model, const std::vector<std::string>& frames, const std::string& kind,
        const std::string& axes)
      : owner(nb::borrow(model)),
        m(checked_model(model)),
        space(m.model, tasks_of(m.model, frames, kind, axes)) {}
  static std::vector<Task> tasks_of(const Model& model, const std::vector<std::string>& frames,
                                    const std::string& kind, const std::string& axes) {
    std::vector<Task> tasks;
    for (const std::string& frame : frames) {
      if (kind == "pose")
        tasks.push_back(pose_task(model, frame, axes));
      else if (kind == "position")
        tasks.push_back(position_task(model, frame, axes));
      else if (kind == "orientation")
        tasks.push_back(orientation_task(model, frame, axes));
      else
        fail(
            fmt::format("TaskSpace: kind is '{}'; expected \"pose\", \"position\" or \"orientation\"", kind));
    }
    return tasks;
  }
  std::size_t rows() const { return static_cast<std::size_t>(space.rows()); }
  void require_state() const {
    if (!updated) fail("TaskSpace: update(q, v) comes first");
  }
  nb::object owner;
  ModelObject& m;
  TaskSpace space;
  bool updated = false;
};

template <class F>
auto square(F f) {
  return [f](Tasks& t) {
    t.require_state();
    const NewNumbers out({t.rows(), t.rows()});
    (t.space.*f)(out.numbers);
    return out.array;
  };
}
template <class F>
auto column(F f) {
  return [f](Tasks& t) {
    t.require_state();
    const NewNumbers out({t.rows()});
    (t.space.*f)(out.numbers);
    return out.array;
  };
}
void add_task_space(nb::module_& m) {
  nb::class_<Tasks>(m, "_TaskSpace")
      .def(nb::init<nb::handle, const std::vector<std::string>&, const std::string&, const std::string&>())
      .def_prop_ro("rows", &Tasks::rows)
      .def("update",
           [](Tasks& t, nb::handle q, nb::handle v) {
             t.space.update(numbers_in(q, "q", static_cast<std::size_t>(t.m.nq)),
                            numbers_in(v, "v", static_cast<std::size_t>(t.m.nv)));
             t.updated = true;
           })
      .def("omega", square(&TaskSpace::omega))
      .def("lambda_", square(&TaskSpace::lambda))
      .def("coriolis", column(&TaskSpace::coriolis))
      .def("gravity", column(&TaskSpace::gravity))
      .def("velocity", column(&TaskSpace::velocity))
      .def("bias_acceleration", column(&TaskSpace::bias_acceleration))
      .def("free_acceleration", column(&TaskSpace::free_acceleration))
      .def("matrix",
           [](Tasks& t, const std::string& what) {
             t.require_state();
             const auto nv = static_cast<std::size_t>(t.m.nv);
             const NewNumbers out(
                 {what == "jacobian" ? t.rows() : nv, what == "jacobian_bar" ? t.rows() : nv});
             if (what == "jacobian")
               t.space.jacobian(out.numbers);
             else if (what == "jacobian_bar")
               t.space.jacobian_bar(out.numbers);
             else
               t.space.null_space(out.numbers);
             return out.array;
           })
      .def("motion_force",
           [](Tasks& t, nb::handle u) {
             t.require_state();
             const NewNumbers out({t.rows()});
             t.space.motion_force(numbers_in(u, "u", t.rows()), out.numbers);
             return out.array;
           })
      .def("joint_forces",
           [](Tasks& t, nb::handle force) {
             t.require_state();
             const NewNumbers out({static_cast<std::size_t>(t.m.nv)});
             t.space.times_jacobian_star(numbers_in(force, "F", t.rows()), out.numbers);
             return out.array;
           })
      .def("rank",
           [](Tasks& t) {
             t.require_state();
             return t.space.rank();
           })
      .def("lost", [](Tasks& t) {
        t.require_state();
        return t.space.rank_report().words;
      });
}

/// Levels of tasks: each (frames, kind, axes), as a TaskSpace has them.
struct TaskControl {
  TaskControl(nb::handle model, nb::list levels)
      : owner(nb::borrow(model)), m(checked_model(model)), control(m.model, levels_of(m.model, levels)) {}
  static std::vector<std::vector<Task>> levels_of(const Model& model, nb::list levels) {
    std::vector<std::vector<Task>> all;
    for (nb::handle level : levels) {
      std::vector<Task> tasks;
      for (nb::handle entry : level) {
        const auto made = Tasks::tasks_of(model, {nb::cast<std::string>(entry[0])},
                                          nb::cast<std::string>(entry[1]), nb::cast<std::string>(entry[2]));
        tasks.insert(tasks.end(), made.begin(), made.end());
      }
      all.push_back(std::move(tasks));
    }
    return all;
  }
  std::size_t nv() const { return static_cast<std::size_t>(m.nv); }
  void check_task(int task) const {
    if (!updated) fail("TaskController: update(q, v) comes first");
    if (task < 0 || task >= control.space().task_count())
      fail(fmt::format("TaskController: task is {}; expected 0 to {}", task,
                       control.space().task_count() - 1));
  }
  nb::object owner;
  ModelObject& m;
  mutable TaskController control;
  bool updated = false;
};
template <class T>
T read_numbers(nb::handle from, const char* name, std::size_t count) {
  T to{};
  std::ranges::copy(numbers_in(from, name, count), numbers_of(to));
  return to;
}
void follow(TaskControl& t, int task, nb::handle rotation, nb::handle position, nb::handle velocity,
            nb::handle acceleration, nb::handle gains) {
  t.check_task(task);
  const auto g = numbers_in(gains, "gains", 4);
  t.control.follow(task,
                   {read_numbers<Mat3<double>>(rotation, "rotation", 9),
                    read_numbers<Vec3<double>>(position, "position", 3),
                    read_numbers<Spatial<double>>(velocity, "velocity", 6),
                    read_numbers<Spatial<double>>(acceleration, "acceleration", 6)},
                   {g[0], g[1], g[2], g[3]});
}
void add_task_control(nb::module_& m) {
  nb::class_<TaskControl>(m, "_TaskController")
      .def(nb::init<nb::handle, nb::list>())
      .def("update",
           [](TaskControl& t, nb::handle q, nb::handle v) {
             t.control.update(numbers_in(q, "q", static_cast<std::size_t>(t.m.nq)),
                              numbers_in(v, "v", t.nv()));
             t.updated = true;
           })
      .def("pose",
           [](TaskControl& t, int task) {
             t.check_task(task);
             const FramePose<double> pose = t.control.space().pose(task);
             return nb::make_tuple(copied(std::span(numbers_of(pose.rotation), 9), {3, 3}),
                                   copied(std::span(numbers_of(pose.position), 3), {3}));
           })
      .def("accelerate",
           [](TaskControl& t, int task, nb::handle a) {
             t.check_task(task);
             t.control.accelerate(task, read_numbers<Spatial<double>>(a, "a", 6));
           })
      .def("follow", follow)
      .def("press",
           [](TaskControl& t, int task, int row, double force, double damping) {
             t.check_task(task);
             t.control.press(task, row, force, damping);
           })
      .def("hold_posture",
           [](TaskControl& t, nb::handle q, double stiffness, double damping) {
             t.check_task(0);
             t.control.hold_posture(numbers_in(q, "q", static_cast<std::size_t>(t.m.nq)), stiffness, damping);
           })
      .def("limit_torques",
           [](TaskControl& t, nb::handle limits) {
             t.control.limit_torques(numbers_in(limits, "limits", t.nv()));
           })
      .def("torques",
           [](TaskControl& t) {
             t.check_task(0);
             const NewNumbers tau({t.nv()});
             t.control.torques(tau.numbers);
             return tau.array;
           })
      .def("rank", [](TaskControl& t, int level) {
        t.check_task(0);
        if (level < 0 || level >= t.control.level_count())
          fail(fmt::format("TaskController: level is {}; expected 0 to {}", level,
                           t.control.level_count() - 1));
        return t.control.rank(level);
      });
}

struct Diagonal {
  explicit Diagonal(nb::handle model)
      : owner(nb::borrow(model)), m(checked_model(model)), dynamics(m.model) {}
  nb::object owner;
  ModelObject& m;
  DiagonalizedDynamics dynamics;
  bool updated = false;
};
void add_diagonal(nb::module_& m) {
  nb::class_<Diagonal>(m, "_Diagonal")
      .def(nb::init<nb::handle>())
      .def("update",
           [](Diagonal& d, nb::handle q) {
             d.dynamics.update(numbers_in(q, "q", static_cast<std::size_t>(d.m.nq)));
             d.updated = true;
           })
      .def("map", [](Diagonal& d, const std::string& what, nb::handle x) {
        if (!d.updated) fail("DiagonalizedDynamics: update(q) comes first");
        using Map = void (DiagonalizedDynamics::*)(In<double>, Out<double>);
        constexpr std::pair<const char*, Map> maps[] = {
            {"rates_to_nu", &DiagonalizedDynamics::rates_to_nu},
            {"nu_to_rates", &DiagonalizedDynamics::nu_to_rates},
            {"rates_to_xi", &DiagonalizedDynamics::rates_to_xi},
            {"xi_to_rates", &DiagonalizedDynamics::xi_to_rates},
            {"forces_to_epsilon", &DiagonalizedDynamics::forces_to_epsilon},
            {"epsilon_to_forces", &DiagonalizedDynamics::epsilon_to_forces},
            {"forces_to_kappa", &DiagonalizedDynamics::forces_to_kappa},
            {"kappa_to_forces", &DiagonalizedDynamics::kappa_to_forces}};
        const auto nv = static_cast<std::size_t>(d.m.nv);
        const NewNumbers out({nv});
        const auto in = numbers_in(x, what.c_str(), nv);
        if (what == "coriolis_nu")
          d.dynamics.coriolis_nu(in, out.numbers);
        else if (what == "coriolis_xi")
          d.dynamics.coriolis_xi(in, out.numbers);
        for (const auto& [name, map] : maps)
          if (what == name) (d.dynamics.*map)(in, out.numbers);
        return out.array;
      });
}

nb::tuple state_space(nb::handle model, nb::handle q, nb::handle v, nb::handle tau) {
  ModelObject& m = checked_model(model);
  const auto nq = static_cast<std::size_t>(m.nq), nv = static_cast<std::size_t>(m.nv);
  const NewNumbers A({2 * nv, 2 * nv}), B({2 * nv, nv});
  StateSpace work(m.model);
  work.continuous(numbers_in(q, "q", nq), numbers_in(v, "v", nv), numbers_in(tau, "tau", nv), A.numbers,
                  B.numbers, {});
  return nb::make_tuple(A.array, B.array);
}
nb::tuple solve_regulator(nb::handle A, nb::handle B, nb::handle Q, nb::handle R, int n, int m,
                          bool discrete) {
  use_numpy();
  if (n < 1 || m < 1) fail("lqr: A and B are empty");
  const auto N = static_cast<std::size_t>(n), M = static_cast<std::size_t>(m);
  const auto solve = discrete ? discrete_regulator : regulator;
  const Regulator r = solve(numbers_in(A, "A", N * N), numbers_in(B, "B", N * M), numbers_in(Q, "Q", N * N),
                            numbers_in(R, "R", M * M), n, m);
  nb::list poles;
  for (const auto& pole : r.poles) poles.append(nb::steal(PyComplex_FromDoubles(pole.real(), pole.imag())));
  return nb::make_tuple(copied(r.K, {M, N}), copied(r.P, {N, N}), poles);
}

}  // namespace

void add_spaces(nb::module_& m) {
  add_task_space(m);
  add_diagonal(m);
  add_task_control(m);
  m.def("_state_space", state_space);
  m.def("_regulator", solve_regulator);
  m.def("_counted", [] {
    std::vector<std::string> names;
    for (const CountedAlgorithm& algorithm : counted_algorithms()) names.push_back(algorithm.name);
    return names;
  });
  m.def("_count", [](nb::handle model, const std::string& algorithm, bool customized) {
    const Tally t = count_operations(checked_model(model).model, algorithm,
                                     customized ? Counting::customized : Counting::executed);
    return nb::make_tuple(t.multiplications, t.additions, t.divisions, t.square_roots, t.sines_cosines);
  });
}

}  // namespace articula::python
