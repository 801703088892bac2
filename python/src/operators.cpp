// Operator expressions, their identities and derivations.
#include <nanobind/stl/string.h>

#include "articula/diagonal/diagonal_identities.hpp"
#include "articula/operators/acceleration_covariance.hpp"
#include "articula/operators/derive.hpp"
#include "articula/operators/identities.hpp"
#include "articula/operators/parse.hpp"
#include "numbers.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

/// Operators at a state of a model, without what is None.
struct OperatorsAt {
  OperatorsAt(nb::handle model, nb::handle q, nb::handle v, nb::handle a)
      : m(checked_model(model)), state(m.model) {
    const auto nv = static_cast<std::size_t>(m.nv);
    const auto at = numbers_in(q, "q", static_cast<std::size_t>(m.nq));
    if (v.is_none())
      state.update(at);
    else if (a.is_none())
      state.update(at, numbers_in(v, "v", nv));
    else
      state.update(at, numbers_in(v, "v", nv), numbers_in(a, "a", nv));
  }
  const ModelObject& m;
  operators::OperatorState state;
};
/// An expression there.
struct OperatorAt : OperatorsAt {
  OperatorAt(nb::handle model, const std::string& text, nb::handle q, nb::object v, nb::object a)
      : OperatorsAt(model, q, v, a), owner(nb::borrow(model)), program(state, parsed(text)) {}
  static operators::NodePtr parsed(const std::string& text) {
    const operators::Parsed result = operators::parse(text);
    if (!result.vectors.empty()) fail(fmt::format("operators: '{}' is no operator", result.vectors[0]));
    return result.node;
  }
  nb::object owner;
  operators::Program program;
};

nb::object matrix_of(const operators::Dense& dense) {
  return copied(dense.numbers,
                {static_cast<std::size_t>(dense.rows), static_cast<std::size_t>(dense.columns)});
}

}  // namespace

void add_operators(nb::module_& m) {
  nb::class_<OperatorAt>(m, "_OperatorAt")
      .def(nb::init<nb::handle, const std::string&, nb::handle, nb::object, nb::object>(), nb::arg("model"),
           nb::arg("text"), nb::arg("q"), nb::arg("v").none(), nb::arg("a").none())
      .def("shape", [](OperatorAt& x) { return nb::make_tuple(x.program.rows(), x.program.columns()); })
      .def("apply",
           [](OperatorAt& x, nb::handle vector) {
             const NewNumbers out({static_cast<std::size_t>(x.program.rows())});
             x.program.apply(numbers_in(vector, "x", static_cast<std::size_t>(x.program.columns())),
                             out.numbers);
             return out.array;
           })
      .def("dense", [](OperatorAt& x) { return matrix_of(x.program.dense()); })
      .def("explain", [](OperatorAt& x) { return x.program.explain(); });
  m.def(
      "_derive",
      [](nb::handle model, const std::string& text, nb::handle q, nb::handle v, nb::handle a, bool matrix) {
        OperatorsAt at(model, q, v, a);
        const operators::Derivation found = operators::derive(at.state, OperatorAt::parsed(text), matrix);
        nb::list steps;
        for (const auto& s : found.steps)
          steps.append(nb::make_tuple(s.text, s.expression, s.identity, s.source, s.residual));
        return nb::make_tuple(steps, operators::to_string(*found.result));
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  m.def("_acceleration_covariance", [](nb::handle model, nb::handle q, nb::handle v, nb::handle tau,
                                       nb::handle of_tau, nb::handle of_wrenches, nb::handle of_masses) {
    const ModelObject& o = checked_model(model);
    const auto nv = static_cast<std::size_t>(o.nv), bodies = static_cast<std::size_t>(o.model.body_count());
    operators::AccelerationCovariance work(o.model);
    work.compute(
        numbers_in(q, "q", static_cast<std::size_t>(o.nq)), numbers_in(v, "v", nv),
        numbers_in(tau, "tau", nv),
        {numbers_in(of_tau, "tau_deviation", nv), numbers_in(of_wrenches, "wrench_deviation", 6 * bodies),
         numbers_in(of_masses, "mass_deviation", bodies)});
    const NewNumbers joints({nv}), each({bodies, 6, 6});
    work.joints(joints.numbers);
    for (std::size_t k = 0; k < bodies; ++k)
      std::copy_n(work.body(static_cast<int>(k)).begin(), 36,
                  each.numbers.begin() + static_cast<long>(36 * k));
    return nb::make_tuple(joints.array, each.array);
  });
  m.def(
      "_identities",
      [](nb::handle model, nb::handle q, nb::handle v, nb::handle a, std::uint64_t seed) {
        OperatorsAt at(model, q, v, a);
        nb::list list;
        const auto put = [&](const auto& residuals) {
          for (const auto& r : residuals) list.append(nb::make_tuple(r.name, r.source, r.residual));
        };
        put(operators::check_identities(at.state, seed));
        if (at.state.bodies() <= 40)  // they are checked on whole matrices
          put(diagonal_identities(at.m.model, numbers_in(q, "q", at.m.nq), numbers_in(v, "v", at.m.nv)));
        return list;
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
}

}  // namespace articula::python
