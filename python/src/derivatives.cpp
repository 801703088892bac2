// Derivatives that are not on the list of algorithms: of a whole step of an integrator, and second ones.
#include <nanobind/stl/string.h>

#include "articula/linearization/second_order.hpp"
#include "articula/simulation/linearized_step.hpp"
#include "numbers.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

std::size_t size(Py_ssize_t n) { return static_cast<std::size_t>(n); }

/// External forces where they are given, and damping.
LinearizationOptions<double> options_of(const ModelObject& m, nb::handle wrenches, bool damping) {
  LinearizationOptions<double> options{.damping = damping};
  if (!wrenches.is_none()) {
    const auto forces = numbers_in(wrenches, "wrenches", 6 * size(m.bodies));
    options.wrenches = {reinterpret_cast<const Spatial<double>*>(forces.data()), size(m.bodies)};
  }
  return options;
}

struct Step {
  Step(nb::handle model, const std::string& integrator)
      : owner(nb::borrow(model)), m(checked_model(model)), step(m.model, integrator_named(integrator)) {}
  nb::tuple compute(nb::handle q, nb::handle v, nb::handle tau, double h, nb::handle wrenches, bool damping) {
    const std::size_t nq = size(m.nq), nv = size(m.nv);
    const NewNumbers A({2 * nv, 2 * nv}), B({2 * nv, nv}), q_next({nq}), v_next({nv});
    step.compute(numbers_in(q, "q", nq), numbers_in(v, "v", nv), numbers_in(tau, "tau", nv), h, A.numbers,
                 B.numbers, q_next.numbers, v_next.numbers, options_of(m, wrenches, damping));
    return nb::make_tuple(A.array, B.array, q_next.array, v_next.array);
  }
  nb::object owner;
  ModelObject& m;
  LinearizedStep step;
};

struct Second {
  explicit Second(nb::handle model) : owner(nb::borrow(model)), m(checked_model(model)), work(m.model) {}
  Direction direction(nb::handle given) const {
    const std::size_t nv = size(m.nv);
    return {numbers_in(given[0], "dq", nv), numbers_in(given[1], "dv", nv),
            numbers_in(given[2], "da or dtau", nv)};
  }
  nb::object compute(bool forward, nb::handle q, nb::handle v, nb::handle last, nb::handle first,
                     nb::handle second, nb::handle wrenches, bool damping) {
    const std::size_t nv = size(m.nv);
    const NewNumbers out({nv});
    (work.*(forward ? &SecondOrder::forward : &SecondOrder::inverse))(
        numbers_in(q, "q", size(m.nq)), numbers_in(v, "v", nv), numbers_in(last, "a or tau", nv),
        direction(first), direction(second), out.numbers, options_of(m, wrenches, damping));
    return out.array;
  }
  nb::object owner;
  ModelObject& m;
  SecondOrder work;
};

}  // namespace

void add_derivatives(nb::module_& m) {
  nb::class_<Step>(m, "_LinearizedStep")
      .def(nb::init<nb::handle, const std::string&>())
      .def("compute", &Step::compute, nb::arg("q"), nb::arg("v"), nb::arg("tau"), nb::arg("h"),
           nb::arg("wrenches").none(), nb::arg("damping"));
  nb::class_<Second>(m, "_SecondOrder")
      .def(nb::init<nb::handle>())
      .def("compute", &Second::compute, nb::arg("forward"), nb::arg("q"), nb::arg("v"), nb::arg("last"),
           nb::arg("first"), nb::arg("second"), nb::arg("wrenches").none(), nb::arg("damping"));
}

}  // namespace articula::python
