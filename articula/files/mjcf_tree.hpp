// An MJCF model before it becomes a specification: bodies with what is in them, every copy of <replicate> and
// <attach> made, frames resolved, default classes applied.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <set>

#include "articula/files/mesh_mass.hpp"
#include "articula/files/mjcf_document.hpp"

namespace articula::mjcf {

struct MeshAsset {
  const Element* element = nullptr;
  std::string file;  // as the model writes it, with meshdir; empty: points and corners stand in the model
  std::string folder;
  std::vector<Vec3<double>> given_points;
  std::vector<std::uint32_t> given_corners;
  Vec3<double> scale{1, 1, 1}, reference_position{0, 0, 0};
  Mat3<double> reference_axes = Mat3<double>::identity();
  MeshInertia inertia = MeshInertia::legacy;

  // Read when it is needed: mjcf_inertia.cpp.
  bool is_read = false;
  std::shared_ptr<const TriangleMesh> triangles{};  // null: could not be read, see `problem`
  std::string problem{};
  std::optional<MassProperties> mass{};
};

/// One MJCF file, with what it includes.
struct Document {
  const Element* root = nullptr;
  std::string folder;  // relative to the main file's
  Compiler compiler{};
  Defaults defaults{};
  std::map<std::string, MeshAsset, std::less<>> meshes{};
  std::map<std::string, Vec3<double>, std::less<>> height_fields{};    // half sizes of a box as heavy
  std::map<std::string, std::array<double, 4>, std::less<>> colors{};  // of materials
  struct Named {
    const Element* element;
    std::string file;
  };
  std::map<std::string, Named, std::less<>> models{};
};

enum class GeomKind : int { plane, hfield, sphere, capsule, ellipsoid, cylinder, box, mesh, sdf };

struct Geom {
  const Element* element;
  GeomKind kind;
  Pose pose;
  Vec3<double> size{0, 0, 0};
  MeshAsset* mesh = nullptr;  // of a geom of another kind: what it is fitted to
  double fit_scale = 1;
  std::optional<double> mass{};
  double density = 1000;
  bool shell = false;
  int group = 0;
  std::optional<std::array<double, 4>> color{};
};

struct JointItem {
  JointSpec spec;                // kind, axis, limits and the like; parent, child and placement come later
  Vec3<double> anchor{0, 0, 0};  // in the body's axes
  double reference = 0;          // the coordinate at the pose that the file states
};

struct Site {
  std::string name;
  Pose pose;
  const Element* element;
};

struct BodyItem {
  const Element* element;
  const Document* document;
  std::string name;
  int parent = -1;  // -1: the world
  Pose pose{};
  Pose stated_pose{};  // without the frames around it
  std::vector<JointItem> joints{};
  std::vector<Geom> geoms{};
  std::vector<Site> sites{};
  std::optional<MassProperties> inertial{};
};

/// A document in the model: the main one, or a copy that was attached. What refers to bodies and joints by name
/// (actuators and so on) is read once for each, and once more for every suffix that `<replicate>` gave.
struct Instance {
  Document* document;
  std::string prefix, suffix;
  std::set<std::string> suffixes{};
  bool attached = false;
};

struct Tree {
  std::vector<BodyItem> bodies;  // depth first
  std::vector<Site> world_sites;
  std::vector<Geom> world_geoms;
  std::list<Document> documents;  // the main one first
  std::list<Instance> instances;
};

/// Reads what is in the files; ModelError where nothing can be made of it, findings in `files` for the rest.
Tree read_tree(const ModelText& model, Files& files);

/// The document's own sections: `<compiler>`, `<default>`, `<asset>`.
void read_document(Document& document, Files& files);

/// A joint or a free joint. `frame`: that it is in.
JointItem read_joint(const Attributes& a, const Compiler& compiler, const Pose& frame);
Geom read_geom(const Attributes& a, Document& document, const Pose& frame);
MassProperties read_inertial(const Attributes& a, const Compiler& compiler);

}  // namespace articula::mjcf
