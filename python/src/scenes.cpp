// Closed chains: scenes of arms and objects.
#include "scene_object.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "articula/files/read_model.hpp"
#include "articula/loops/constrained_operational_space.hpp"
#include "articula/loops/scene_of_model.hpp"
#include "articula/spatial/numbers.hpp"
#include "numbers.hpp"

namespace nb = nanobind;

namespace articula::python {

std::string arm_file(const std::string& source, const std::string& folder, const std::string& models) {
  std::error_code ignored;
  for (const std::string& file : {folder + "/" + source, source, models + "/" + source + ".urdf"})
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  throw ModelError(fmt::format("'{}': there is no such file or shipped model", source));
}

SceneAt::SceneAt(const std::string& path, const std::string& models, bool project)
    : scene(read_scene(path,
                       [&models](const std::string& source, const std::string& folder) {
                         LoadedModel read = read_model(arm_file(source, folder, models));
                         throw_first_error(read.findings);
                         return std::move(read.spec);
                       }),
            {.project = project}),
      models(models) {
  use_numpy();
}

namespace {
SceneSpec scene_spec(const ModelObject& m, const std::string& file) {
  SceneSpec spec = scene_of(m.model.spec(), m.options);
  spec.where = spec.arms[0].source = file;
  return spec;
}
}  // namespace
SceneAt::SceneAt(const ModelObject& m, const std::string& file, bool project)
    : scene(scene_spec(m, file), {.project = project}) {}

std::vector<Constraint> constraints_of(const ModelObject& m, nb::handle scene) {
  return scene.is_none() ? articula::constraints_of(m.model) : nb::cast<SceneAt&>(scene).scene.constraints();
}

namespace {

nb::object frames_of(const std::vector<Constraint>& constraints) {
  nb::list names;
  for (const Constraint& constraint : constraints) names.append(constraint.name);
  return names;
}

nb::tuple forward_dynamics(SceneAt& s, nb::handle q, nb::handle v, nb::handle tau) {
  const NewNumbers a({s.nv()});
  ConstrainedDynamics& dynamics = s.scene.dynamics();
  dynamics.acceleration(numbers_in(q, "q", s.nq()), numbers_in(v, "v", s.nv()),
                        numbers_in(tau, "tau", s.nv()), a.numbers);
  const std::size_t count = dynamics.constraints().size();
  const NewNumbers forces({count, 6});
  for (std::size_t i = 0; i < count; ++i) {
    const Spatial<double> force = dynamics.force(static_cast<int>(i));
    std::copy_n(numbers_of(force), 6, forces.numbers.begin() + static_cast<std::ptrdiff_t>(6 * i));
  }
  return nb::make_tuple(a.array, forces.array, dynamics.rank());
}

nb::object inverse_dynamics(SceneAt& s, nb::handle q, nb::handle v, nb::handle wanted,
                            const std::vector<int>& frames, bool least_torques) {
  if (!s.inverse || s.inverse_frames != frames) {
    s.inverse = std::make_unique<ClosedChainInverse>(s.scene.model(), s.scene.constraints(), frames);
    s.inverse_frames = frames;
  }
  const auto numbers = numbers_in(wanted, "wanted", 6 * frames.size());
  std::vector<Spatial<double>> accelerations(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i)
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(6 * i), 6, numbers_of(accelerations[i]));
  InverseOptions options;
  if (least_torques) options.share = InverseOptions::Share::least_torques;
  const NewNumbers tau({s.nv()});
  s.inverse->compute(numbers_in(q, "q", s.nq()), numbers_in(v, "v", s.nv()), accelerations, tau.numbers,
                     options);
  return tau.array;
}

nb::tuple operational_space(SceneAt& s, nb::handle q, nb::handle v, const std::vector<int>& frames) {
  const ConstrainedTaskTerms t = constrained_operational_space(s.scene.dynamics(), numbers_in(q, "q", s.nq()),
                                                               numbers_in(v, "v", s.nv()), frames);
  const auto rows = static_cast<std::size_t>(t.rows);
  return nb::make_tuple(copied(t.omega, {rows, rows}), copied(t.lambda, {rows, rows}),
                        copied(t.coriolis, {rows}), copied(t.gravity, {rows}),
                        copied(t.jacobian_bar, {s.nv(), rows}), t.rank);
}

nb::tuple project(SceneAt& s, nb::handle q, nb::handle v) {
  const nb::object at = copied(numbers_in(q, "q", s.nq()), {s.nq()}),
                   rate = copied(numbers_in(v, "v", s.nv()), {s.nv()});
  const Projection done =
      s.scene.dynamics().project(numbers_in(at, "q", s.nq()), numbers_in(rate, "v", s.nv()));
  if (!done.converged)
    fail(fmt::format(
        "project: no state that fits the constraints was found in {} steps; the worst row is off by {}",
        done.steps, done.after.position));
  return nb::make_tuple(at, rate);
}

}  // namespace

void add_scenes(nb::module_& m) {
  nb::class_<SceneAt>(m, "_Scene")
      .def(nb::init<const std::string&, const std::string&, bool>())
      .def("initial",
           [](SceneAt& s) {
             return nb::make_tuple(copied(s.scene.q, {s.nq()}), copied(s.scene.v, {s.nv()}),
                                   copied(s.scene.tau, {s.nv()}));
           })
      .def_static("of_model",
                  [](nb::handle model, const std::string& file, bool project) {
                    return std::make_unique<SceneAt>(checked_model(model), file, project);
                  })
      .def("constraints", [](SceneAt& s) { return frames_of(s.scene.constraints()); })
      .def("objects",
           [](SceneAt& s) {
             nb::list names;
             for (std::size_t i = 0; i < s.scene.spec().objects.size(); ++i)
               names.append(s.scene.model().frames()[s.scene.object_frame(static_cast<int>(i))].name);
             return names;
           })
      .def("fill_model",  // an articula.Model that is not initialised yet
           [](SceneAt& s, nb::handle model) {
             if (!nb::isinstance<ModelObject>(model) || nb::inst_ready(model))
               fail("fill_model: no empty model");
             BuildOptions options;
             options.base = s.scene.model().base();
             options.gravity = s.scene.model().gravity();
             new (nb::inst_ptr<ModelObject>(model)) ModelObject(s.scene.model(), options);
             nb::inst_mark_ready(model);
           })
      .def("forward_dynamics", forward_dynamics)
      .def("inverse_dynamics", inverse_dynamics)
      .def("operational_space", operational_space)
      .def("project", project)
      .def("drift", [](SceneAt& s, nb::handle q, nb::handle v) {
        const ConstraintDrift drift =
            s.scene.dynamics().drift(numbers_in(q, "q", s.nq()), numbers_in(v, "v", s.nv()));
        return nb::make_tuple(drift.position, drift.velocity);
      });
}

}  // namespace articula::python
