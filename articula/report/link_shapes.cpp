#include "articula/report/link_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "articula/spatial/dense.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;
double length_of(const V3& a) { return std::sqrt(dot(a, a)); }

Shape sphere(const V3& centre, double radius) {
  Shape shape;
  shape.kind = ShapeKind::sphere;
  shape.placement.p = centre;
  shape.radius = radius;
  return shape;
}

Shape capsule(const V3& from, const V3& to, double radius) {
  const V3 along = to - from;
  const double length = length_of(along);
  Shape shape = sphere((from + to) * 0.5, radius);
  shape.kind = ShapeKind::capsule;
  shape.length = length;
  shape.placement.R = rotation_from_z(along * (1 / length));
  return shape;
}

/// The box that has a body's mass and inertia: what an object that moves freely is drawn as. Nothing for
/// point masses and impossible inertias.
std::optional<Shape> equivalent_box(const MassProperties& body) {
  if (!(body.mass > 0)) return {};
  const Sym3<double>& I = body.inertia;
  if (!finite(dense::matrix(full(I)))) return {};
  const dense::PrincipalAxes principal(I);
  const auto& J = principal.values;
  // J_x = m/12 (b^2 + c^2) and so on, solved for the sides.
  const double sum = J[0] + J[1] + J[2], largest = 6 / body.mass * (sum - 2 * J[0]);
  if (!(largest > 0)) return {};
  const auto side = [&](int i) {
    return std::sqrt(std::max(4e-4 * largest, 6 / body.mass * (sum - 2 * J[i])));
  };
  Shape shape;
  shape.size = {side(0), side(1), side(2)};
  shape.placement = {principal.rotation(), body.center_of_mass};
  return shape;
}

/// The middle one of the distances between joints: what is thick and what is thin in this mechanism.
double usual_length(const ModelSpec& spec) {
  std::vector<double> lengths;
  for (const auto& joint : spec.joints)
    if (const double l = length_of(joint.placement.p); l > 1e-6 && std::isfinite(l)) lengths.push_back(l);
  if (lengths.empty()) return 0.5;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

}  // namespace

std::vector<LinkShapes> link_shapes(const ModelSpec& spec, std::span<const LinkShapes> given) {
  std::unordered_map<std::string_view, const LinkShapes*> known;
  for (const auto& link : given)
    if (!link.shapes.empty()) known.emplace(link.link, &link);
  std::unordered_map<std::string_view, std::vector<const JointSpec*>> children;
  std::unordered_set<std::string_view> floating;
  for (const auto& joint : spec.joints) {
    children[joint.parent].push_back(&joint);
    if (joint.kind == JointKind::free) floating.insert(joint.child);
  }

  const double usual = usual_length(spec);
  std::vector<LinkShapes> out;
  out.reserve(spec.links.size());
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    const LinkSpec& link = spec.links[i];
    if (const auto found = known.find(link.name); found != known.end()) {
      out.push_back(*found->second);
      continue;
    }
    const double part = i % 2 == 0 ? 0.11 : 0.095;  // ends that meet do not coincide
    const double radius = part * usual;
    LinkShapes shapes{link.name, {}};
    for (const JointSpec* joint : children[link.name])
      if (const V3& to = joint->placement.p; length_of(to) > 0.5 * radius)
        shapes.shapes.push_back(capsule({0, 0, 0}, to, part * std::sqrt(usual * length_of(to))));
    if (shapes.shapes.empty() && floating.contains(link.name))
      if (const auto box = equivalent_box(link.mass)) shapes.shapes.push_back(*box);
    const V3& centre = link.mass.center_of_mass;
    if (shapes.shapes.empty() && link.mass.mass > 0) {
      if (length_of(centre) > 0.5 * radius)
        shapes.shapes.push_back(capsule({0, 0, 0}, centre * 2, radius));
      else
        shapes.shapes.push_back(sphere(centre, 1.3 * radius));
    }
    out.push_back(std::move(shapes));
  }
  return out;
}

std::vector<LinkShapes> with_prefix(std::vector<LinkShapes> links, std::string_view prefix) {
  for (auto& link : links) link.link.insert(0, prefix);
  return links;
}

}  // namespace articula
