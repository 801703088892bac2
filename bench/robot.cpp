#include "bench/robot.hpp"

#include <malloc.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "articula/files/urdf.hpp"
#include "articula/model/chain.hpp"
#include "articula/model/configuration.hpp"

namespace articula::bench {

std::vector<double> Draw::operator()(int n) {
  std::vector<double> x(n);
  for (double& number : x) number = uniform_(engine_);
  return x;
}
std::vector<double> Draw::configuration(const Model& model) {
  std::vector<double> q(model.nq()), way = (*this)(model.nv());
  for (double& x : way) x *= 3;
  integrate(model, neutral(model), way, q);
  return q;
}

namespace {

Model read(const std::string& argument, std::string& name, std::string& urdf) {
  if (argument.starts_with("chain:")) {
    name = argument;
    return Model(make_chain(std::stoi(argument.substr(6))));
  }
  const bool free_base = argument.starts_with("free:");
  urdf = free_base ? argument.substr(5) : argument;
  const std::string file = urdf.substr(urdf.find_last_of('/') + 1);
  name = file.substr(0, file.rfind('.')) + (free_base ? ", free base" : "");
  ModelSpec spec = read_urdf_spec(urdf).spec;
  for (JointSpec& joint : spec.joints) joint.armature = 0;
  return Model(spec, {.base = free_base ? Base::free : Base::fixed});
}

/// turned: the axes that peers have for a body's link, in the model's.
PeerModel::Point point(const Model& model, int frame, const Mat3<double>& turned) {
  const Frame& f = model.frames()[frame];
  const Mat3<double> R = star(turned) * f.placement.R;
  const Vec3<double> p = star_times(turned, f.placement.p);
  return {f.name, f.body, {R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz}, {p.x, p.y, p.z}};
}
/// Axes with this z.
Mat3<double> axes_about(const Vec3<double>& z) {
  const Vec3<double> other = std::abs(z.x) < 0.6 ? Vec3<double>{1, 0, 0} : Vec3<double>{0, 1, 0};
  const Vec3<double> y = cross(z, other), unit_y = y * (1 / std::sqrt(dot(y, y)));
  return from_columns(cross(unit_y, z), unit_y, z);
}

}  // namespace

Robot load(const std::string& argument) {
  std::string name, urdf;
  const Model model = read(argument, name, urdf);
  Robot robot{name, argument, urdf, model, {}, 0, {}};
  for (std::size_t i = 0; i < model.frames().size(); ++i)
    if (model.frames()[i].body == model.body_count() - 1) robot.frame = static_cast<int>(i);
  Draw draw;
  for (int i = 0; i < state_count; ++i)
    robot.states.push_back({draw.configuration(model), draw(model.nv()), draw(model.nv()), draw(model.nv())});
  if (model.base() == Base::free)
    for (std::size_t i = 0; i < model.frames().size(); ++i) {
      std::string word = model.frames()[i].name;
      std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
      if (word.ends_with("foot")) robot.contacts.push_back(static_cast<int>(i));
    }
  if (robot.contacts.size() != 4) robot.contacts.clear();
  return robot;
}

std::vector<std::string> shipped_robots() {
  const std::string folder = ARTICULA_MODELS_DIR "/";
  return {folder + "arm7.urdf", folder + "puma560.urdf", "free:" + folder + "quadruped.urdf",
          "free:" + folder + "humanoid.urdf"};
}

std::optional<PeerModel> peer_model(const Robot& robot) {
  const Model& model = robot.model;
  const Vec3<double> g = model.gravity();
  PeerModel out{robot.urdf,
                model.base() == Base::free,
                model.nq(),
                model.nv(),
                {},
                {},
                {g.x, g.y, g.z},
                robot.states,
                {},
                {}};
  const int last = model.frames()[robot.frame].body;
  if (model.has_mimics() || last < 0) return {};
  std::vector<Mat3<double>> turned(model.body_count(), Mat3<double>::identity());
  if (robot.is_chain())
    for (int k = 0; k < model.body_count(); ++k)
      turned[k] = axes_about(model.joints()[model.bodies()[k].joint].axis);
  out.frame = point(model, robot.frame, turned[last]);
  for (const int frame : robot.contacts)
    out.contacts.push_back(point(model, frame, turned[model.frames()[frame].body]));
  std::map<std::string_view, const JointSpec*> specs;
  for (const JointSpec& spec : model.spec().joints) specs[spec.name] = &spec;
  for (const Body& body : model.bodies()) {
    const Joint& joint = model.joints()[body.joint];
    using Kind = PeerBody::Kind;
    const JointKind k = joint.kind;
    if (k != JointKind::free && k != JointKind::prismatic && k != JointKind::revolute &&
        k != JointKind::continuous)
      return {};
    Pose at;
    if (const auto found = specs.find(joint.name); found != specs.end())
      at = model.frames()[model.frame(found->second->parent)].placement * found->second->placement;
    const Mat3<double>& Q = turned[out.bodies.size()];
    const Mat3<double> Q_in = body.inboard < 0 ? Mat3<double>::identity() : turned[body.inboard];
    const Mat3<double> R = star(Q_in) * at.R * Q;
    const auto& J = body.mass.inertia;
    const Mat3<double> I = star(Q) * (Mat3<double>{J.xx, J.xy, J.xz, J.xy, J.yy, J.yz, J.xz, J.yz, J.zz} * Q);
    const Vec3<double> p = star_times(Q_in, at.p), c = star_times(Q, body.mass.center_of_mass),
                       axis = robot.is_chain() ? Vec3<double>{0, 0, 1} : joint.axis;
    out.joints.push_back(joint.name);
    out.bodies.push_back({k == JointKind::free        ? Kind::free
                          : k == JointKind::prismatic ? Kind::prismatic
                                                      : Kind::revolute,
                          body.name,
                          body.inboard,
                          {R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz},
                          {p.x, p.y, p.z},
                          {axis.x, axis.y, axis.z},
                          body.mass.mass,
                          {c.x, c.y, c.z},
                          {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz},
                          joint.q_index,
                          joint.v_index});
  }
  return out;
}

std::size_t heap_in_use() {
  const auto all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

}  // namespace articula::bench
