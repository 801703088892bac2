#include "articula/model/model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "articula/model/audit.hpp"
#include "articula/model/model_data.hpp"

namespace articula {

namespace {
template <class T>
int lookup(const std::unordered_map<std::string_view, int>& names, const std::vector<T>& all,
           std::string_view name, const char* what, const std::string& model) {
  if (const auto it = names.find(name); it != names.end()) return it->second;
  std::string known;
  for (std::size_t i = 0; i < all.size() && i < 12; ++i) known += (i ? ", " : "") + all[i].name;
  if (all.size() > 12) known += fmt::format(", ... ({} in all)", all.size());
  throw ArgumentError(fmt::format("model '{}' has no {} '{}'; it has: {}", model, what, name, known));
}

}  // namespace

void Model::Data::name_things() {
  for (std::size_t i = 0; i < frames.size(); ++i) frame_names.emplace(frames[i].name, static_cast<int>(i));
  for (std::size_t i = 0; i < joints.size(); ++i) joint_names.emplace(joints[i].name, static_cast<int>(i));
}

void Model::Data::connect() {
  in_double.connect();
  in_float.connect();
  const Vec3<double>& g = options.gravity;
  in_double.tree.gravity = g;
  in_float.tree.gravity = {static_cast<float>(g.x), static_cast<float>(g.y), static_cast<float>(g.z)};
}

void Model::Data::build() {
  walk();
  if (options.turn_axes) choose_axes();
  name_things();
  number_coordinates();
  note_massless();
  fill(in_double);
  fill(in_float);
  connect();
  for (const auto& body : bodies) mass += body.mass.mass;
}

namespace {
void check_gravity(const Vec3<double>& g) {
  if (!std::isfinite(g.x + g.y + g.z))
    throw ArgumentError(fmt::format("gravity ({}, {}, {}) is not finite", g.x, g.y, g.z));
}
}  // namespace

Model::Model(const ModelSpec& spec, const BuildOptions& options) {
  Audit audit = examine(spec, options.base);
  throw_first_error(audit.findings);
  check_gravity(options.gravity);
  auto data = std::make_shared<Data>();
  data->warnings = std::move(audit.findings);
  data->massless = std::move(audit.massless);
  data->spec = spec;
  data->options = options;
  data->build();
  data_ = std::move(data);
}

Model Model::with_gravity(const Vec3<double>& gravity) const {
  check_gravity(gravity);
  auto data = std::make_shared<Data>(*data_);
  data->options.gravity = gravity;
  data->frame_names.clear();  // they point into the strings of the copied-from model
  data->joint_names.clear();
  data->name_things();
  data->connect();
  return Model(std::shared_ptr<const Data>(std::move(data)));
}

const std::string& Model::name() const { return data_->spec.name; }
int Model::nq() const { return data_->nq; }
int Model::nv() const { return data_->nv; }
int Model::body_count() const { return static_cast<int>(data_->bodies.size()); }
double Model::mass() const { return data_->mass; }
Vec3<double> Model::gravity() const { return data_->options.gravity; }
Base Model::base() const { return data_->options.base; }
const std::vector<Joint>& Model::joints() const { return data_->joints; }
const std::vector<Body>& Model::bodies() const { return data_->bodies; }
const std::vector<Frame>& Model::frames() const { return data_->frames; }
const ModelSpec& Model::spec() const { return data_->spec; }
const std::vector<Finding>& Model::warnings() const { return data_->warnings; }
int Model::frame(std::string_view name) const {
  return lookup(data_->frame_names, data_->frames, name, "frame", data_->spec.name);
}
int Model::joint(std::string_view name) const {
  return lookup(data_->joint_names, data_->joints, name, "joint", data_->spec.name);
}
const std::vector<int>& Model::massless_velocities() const { return data_->massless_velocities; }
bool Model::has_mimics() const { return static_cast<int>(data_->full_velocities.size()) != data_->nv; }
std::span<const Model::FullVelocity> Model::full_velocities() const { return data_->full_velocities; }
std::span<const Model::FullVelocity> Model::full_coordinates() const { return data_->full_coordinates; }
int Model::full_velocity_of(const Joint& joint) const {
  return data_->in_double.index[data_->first_body(joint) + 1].v;
}
template <>
const Tree<double>& Model::tree<double>() const {
  return data_->in_double.tree;
}
template <>
const Tree<float>& Model::tree<float>() const {
  return data_->in_float.tree;
}

}  // namespace articula
