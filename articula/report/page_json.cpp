#include "articula/report/page_json.hpp"

#include <unordered_map>

#include "articula/model/joint_kinds.hpp"

namespace articula {

namespace {

std::string_view name_of(ShapeKind kind) {
  constexpr std::string_view names[] = {"box", "cylinder", "sphere", "capsule", "mesh"};
  return names[static_cast<int>(kind)];
}

void write_vector(JsonText& json, const Vec3<double>& a) {
  json.begin_list().value(a.x).value(a.y).value(a.z).end_list();
}

using MeshNumbers = std::unordered_map<const TriangleMesh*, int>;

void write_shape(JsonText& json, const Shape& shape, const MeshNumbers& meshes) {
  const Quaternion<double> turn = quaternion(shape.placement.R);
  json.begin_object().entry("kind", name_of(shape.kind));
  json.key("position");
  write_vector(json, shape.placement.p);
  json.key("quaternion").begin_list().value(turn.x).value(turn.y).value(turn.z).value(turn.w).end_list();
  json.key("size");
  write_vector(json, shape.size);
  json.entry("radius", shape.radius).entry("length", shape.length);
  if (shape.mesh) json.entry("mesh", meshes.at(shape.mesh.get()));
  if (shape.color) json.key("color").values(*shape.color);
  json.end_object();
}

}  // namespace

void write_mechanism(JsonText& json, std::span<const ReportLink> links, std::span<const ReportJoint> joints) {
  MeshNumbers numbers;
  std::vector<const TriangleMesh*> meshes;
  for (const auto& link : links)
    for (const auto& shape : link.shapes)
      if (shape.mesh && numbers.try_emplace(shape.mesh.get(), static_cast<int>(meshes.size())).second)
        meshes.push_back(shape.mesh.get());

  json.key("links").begin_list();
  for (const auto& link : links) {
    json.begin_object().entry("name", link.name).key("shapes").begin_list();
    for (const auto& shape : link.shapes) write_shape(json, shape, numbers);
    json.end_list().key("poses").packed(std::span(link.poses));
    if (link.twin >= 0) json.entry("twin", link.twin);
    json.end_object();
  }
  json.end_list().key("joints").begin_list();
  for (const auto& joint : joints) {
    json.begin_object().entry("name", joint.name).entry("kind", articula::name_of(joint.kind));
    json.entry("link", joint.link);
    if (has_axis(joint.kind)) {
      json.key("axis");
      write_vector(json, joint.axis);
    }
    json.end_object();
  }
  json.end_list().key("meshes").begin_list();
  for (const TriangleMesh* mesh : meshes)
    json.begin_object()
        .entry("name", mesh->name)
        .key("points")
        .packed(std::span(mesh->points))
        .key("corners")
        .packed(std::span(mesh->corners))
        .end_object();
  json.end_list();
}

void append_pose(const Mat3<double>& R, const Vec3<double>& p, std::vector<float>& out) {
  const Quaternion<double> turn = quaternion(R);
  for (const double x : {p.x, p.y, p.z, turn.x, turn.y, turn.z, turn.w}) out.push_back(static_cast<float>(x));
}

std::string coordinate_name(const Joint& joint, int index) {
  const std::string label = coordinate_label(joint.kind, index);
  return label.empty() ? joint.name : joint.name + " " + label;
}

std::string velocity_name(const Joint& joint, int index) {
  const std::string label = velocity_label(joint.kind, index);
  return label.empty() ? joint.name : joint.name + " " + label;
}

}  // namespace articula
