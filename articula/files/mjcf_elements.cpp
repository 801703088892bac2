// Single elements of MJCF: options and assets of a document, joints, geoms and inertias.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "articula/files/mjcf_tree.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/spatial/host_vectors.hpp"

namespace articula::mjcf {

namespace {

using V3 = Vec3<double>;

// --- documents --------------------------------------------------------------------------------------
void read_compiler(Compiler& out, const Attributes& a) {
  if (a.text("coordinate") == "global")
    a.files().give_up(
        a.element(),
        "coordinate=\"global\" has not been read by MuJoCo since 2.3.3; convert the file with it");
  out.degrees = a.choice("angle", {"radian", "degree"}, out.degrees) == 1;
  out.autolimits = a.flag("autolimits", out.autolimits);
  out.balance = a.flag("balanceinertia", out.balance);
  out.fit_box = a.flag("fitaabb", out.fit_box);
  out.strip_path = a.flag("strippath", out.strip_path);
  out.mesh_folder = a.text("meshdir", a.text("assetdir", out.mesh_folder));
  const std::string euler = a.text("eulerseq", out.euler);
  if (euler.size() == 3 && euler.find_first_not_of("xyzXYZ") == euler.npos)
    out.euler = euler;
  else
    a.files().error(a.element(), "eulerseq is {}; expected three of the letters x, y, z, X, Y, Z",
                    in_quotes(euler));
  constexpr int same = -1;
  const int from = a.choice("inertiafromgeom", {"false", "true", "auto"}, same);
  if (from != same) out.inertia_from_geoms = static_cast<decltype(out.inertia_from_geoms)>(from);
  if (const auto range = a.numbers("inertiagrouprange", 2, 2)) {
    out.first_group = int(std::clamp((*range)[0], -1e6, 1e6));
    out.last_group = int(std::clamp((*range)[1], -1e6, 1e6));
  }
  out.least_mass = a.number("boundmass", out.least_mass);
  out.least_inertia = a.number("boundinertia", out.least_inertia);
  out.total_mass = a.number("settotalmass", out.total_mass);
  if (a.flag("alignfree", false))
    a.files().ignore("alignfree of <compiler>", a.element(), "free bodies keep the axes that the file gives");
}

std::string without_folders(const std::string& file) {
  const std::size_t slash = file.find_last_of("/\\");
  return slash == file.npos ? file : file.substr(slash + 1);
}

/// Points, and triangles of them, that stand in the model.
void read_given_points(MeshAsset& out, const Attributes& a) {
  constexpr std::size_t most = 3'000'000;
  const auto points = a.numbers("vertex", 3, most), corners = a.numbers("face", 3, most);
  for (std::size_t i = 0; points && i + 2 < points->size(); i += 3)  // MuJoCo keeps them as floats
    out.given_points.push_back({float((*points)[i]), float((*points)[i + 1]), float((*points)[i + 2])});
  for (std::size_t i = 0; corners && i < corners->size() - corners->size() % 3; ++i) {
    const double at = (*corners)[i];
    if (!(at >= 0 && at < double(out.given_points.size()))) {
      a.files().error(a.element(), "face of <mesh> names point {}, which there is not; there are {}", at,
                      out.given_points.size());
      out.given_corners.clear();
      return;
    }
    out.given_corners.push_back(std::uint32_t(at));
  }
}

void read_mesh_asset(Document& document, const Attributes& a) {
  MeshAsset mesh;
  mesh.element = &a.element();
  mesh.folder = document.folder;
  std::string file = a.text("file");
  if (document.compiler.strip_path) file = without_folders(file);
  const std::string stem = std::filesystem::path(without_folders(file)).stem().string();
  const std::string name = a.name().empty() ? stem : a.name();
  if (!file.empty()) mesh.file = (std::filesystem::path(document.compiler.mesh_folder) / file).string();
  mesh.scale = a.vector("scale", mesh.scale);
  mesh.reference_position = a.vector("refpos", mesh.reference_position);
  if (const auto q = a.numbers("refquat", 4, 4)) {
    const double norm = std::hypot(std::hypot((*q)[0], (*q)[1]), std::hypot((*q)[2], (*q)[3]));
    if (norm > 1e-14 && norm < 1e150)
      mesh.reference_axes = rotation(
          normalized(Quaternion<double>{(*q)[1] / norm, (*q)[2] / norm, (*q)[3] / norm, (*q)[0] / norm}));
  }
  mesh.inertia = static_cast<MeshInertia>(
      a.choice("inertia", {"legacy", "exact", "convex", "shell"}, int(MeshInertia::legacy)));
  read_given_points(mesh, a);
  if (a.has("builtin")) mesh.problem = "it is one of MuJoCo's own making (builtin), which are not read";
  if (name.empty())
    a.files().error(a.element(), "<mesh> has no name and no file; add them");
  else if (!document.meshes.emplace(name, std::move(mesh)).second)
    a.files().error(a.element(), "the mesh {} is stated twice; rename one", in_quotes(name));
}

void read_asset(Document& document, const Element& e, Files& files) {
  const std::string_view tag = e.Name();
  const char* const named = e.Attribute("class");
  const DefaultClass* const of = named ? document.defaults.find(named) : document.defaults.main();
  if (!of)
    files.error(e, "<{}> has the class {}, which does not exist; correct it", e.Name(), in_quotes(named));
  const Attributes a(files, e, tag, of);
  if (tag == "mesh") {
    read_mesh_asset(document, a);
  } else if (tag == "hfield") {
    if (const auto size = a.numbers("size", 4, 4))
      document.height_fields[a.name()] = {(*size)[0], (*size)[1], 0.25 * (*size)[2] + 0.5 * (*size)[3]};
  } else if (tag == "material") {
    if (const auto rgba = a.numbers("rgba", 4, 4))
      document.colors[a.name()] = {(*rgba)[0], (*rgba)[1], (*rgba)[2], (*rgba)[3]};
  } else if (tag == "model") {
    const std::string file = a.text("file");
    const std::string stem = std::filesystem::path(file).stem().string();
    document.models[a.name().empty() ? stem : a.name()] = {&e, file};
  }
}

}  // namespace

void read_document(Document& document, Files& files) {
  const auto sections = files.children(*document.root);
  const auto each = [&](std::string_view tag, const auto& f) {
    for (const Element* section : sections)
      if (tag == section->Name()) f(*section);
  };
  each("compiler", [&](const Element& e) { read_compiler(document.compiler, Attributes(files, e)); });
  each("default", [&](const Element& e) { document.defaults.read(e, files); });
  each("asset", [&](const Element& e) {
    for (const Element* c : files.children(e)) read_asset(document, *c, files);
  });
}

// --- joints -----------------------------------------------------------------------------------------
namespace {

/// Is a range in force, by `limited` and autolimits?
bool in_force(const Attributes& a, const char* limited, const std::vector<double>& range,
              const Compiler& compiler) {
  enum { no, yes, automatic };
  const int said = a.choice(limited, {"false", "true", "auto"}, automatic);
  if (said != automatic) return said == yes;
  if (!compiler.autolimits)
    a.files().warning(a.element(),
                      "<{}> has a range but not {}, and autolimits is off; it is taken as unlimited: add {}",
                      a.element().Name(), limited, limited);
  return compiler.autolimits && range[0] < range[1];
}

void read_limits(JointItem& out, const Attributes& a, const Compiler& compiler) {
  const bool slides = out.spec.kind == JointKind::prismatic;
  if (const auto range = a.numbers("range", 2, 2); range && in_force(a, "limited", *range, compiler)) {
    const double unit = compiler.degrees && !slides ? std::numbers::pi / 180 : 1;
    const double lower = (*range)[0] * unit, upper = (*range)[1] * unit;
    if (out.spec.kind == JointKind::spherical) {
      a.files().ignore("range of ball joints", a.element(), "limits here are of single freedoms");
    } else if (lower >= upper) {
      a.files().warning(a.element(),
                        "the range of joint {} is {} to {}; it is taken as unlimited: swap or correct them",
                        in_quotes(a.name()), (*range)[0], (*range)[1]);
    } else {
      // The largest double stands for "no bound", see write_mjcf.
      if (lower > -largest) out.spec.limits.lower = lower;
      if (upper < largest) out.spec.limits.upper = upper;
    }
  }
  if (out.spec.kind == JointKind::continuous &&
      (std::isfinite(out.spec.limits.lower[0]) || std::isfinite(out.spec.limits.upper[0])))
    out.spec.kind = JointKind::revolute;
  if (const auto force = a.numbers("actuatorfrcrange", 2, 2);
      force && in_force(a, "actuatorfrclimited", *force, compiler) && out.spec.kind != JointKind::spherical)
    out.spec.limits.effort = std::max(std::abs((*force)[0]), std::abs((*force)[1]));
}

/// Damping and stiffness may be polynomials in newer files; their first number is the linear one.
double linear(const Attributes& a, const char* attribute) {
  const auto values = a.numbers(attribute, 1, 8);
  if (!values) return 0;
  for (std::size_t i = 1; i < values->size(); ++i)
    if ((*values)[i] != 0)
      a.files().ignore(std::string(attribute) + " beyond its linear part", a.element(),
                       "joints have linear springs and dampers here");
  return (*values)[0];
}

}  // namespace

JointItem read_joint(const Attributes& a, const Compiler& compiler, const Pose& frame) {
  enum { free, ball, slide, hinge };
  const bool plainly_free = std::string_view(a.element().Name()) == "freejoint";
  const int kind = plainly_free ? int(free) : a.choice("type", {"free", "ball", "slide", "hinge"}, hinge);
  JointItem out;
  out.spec.where = a.files().where(a.element());
  out.spec.kind = kind == free    ? JointKind::free
                  : kind == ball  ? JointKind::spherical
                  : kind == slide ? JointKind::prismatic
                                  : JointKind::continuous;
  if (plainly_free) return out;  // default classes do not concern it
  out.spec.armature = a.number("armature", 0);
  out.spec.damping = linear(a, "damping");
  out.spec.friction = a.number("frictionloss", 0);
  out.spec.stiffness = linear(a, "stiffness");
  if (a.has("springdamper"))
    a.files().ignore("springdamper of joints", a.element(), "give stiffness and damping themselves");
  if (kind == free) return out;
  out.anchor = frame.p + frame.R * a.vector("pos", {0, 0, 0});
  if (kind != ball) {
    V3 axis = frame.R * a.vector("axis", {0, 0, 1});
    if (!(norm(axis) > 1e-14 && norm(axis) < 1e150)) {
      a.files().error(a.element(), "the axis of joint {} has no length; expected a direction, such as 0 0 1",
                      in_quotes(a.name()));
      axis = {0, 0, 1};
    }
    out.spec.axis = axis * (1 / norm(axis));
    const double unit = compiler.degrees && kind == hinge ? std::numbers::pi / 180 : 1;
    out.reference = a.number("ref", 0) * unit;
    out.spec.spring_reference = a.number("springref", 0) * unit;
  }
  read_limits(out, a, compiler);
  return out;
}

// --- geoms and inertias -----------------------------------------------------------------------------
namespace {

/// A segment, in place of size, position and orientation.
void apply_segment(Geom& out, const Attributes& a) {
  const auto n = a.numbers("fromto", 6, 6);
  if (!n) return;
  const V3 from{(*n)[0], (*n)[1], (*n)[2]}, to{(*n)[3], (*n)[4], (*n)[5]};
  const V3 along = from - to;
  const double half = norm(along) / 2;
  if (!(half > 1e-14)) {
    a.files().error(a.element(), "the points of fromto are the same; correct them");
    return;
  }
  if (out.kind == GeomKind::ellipsoid || out.kind == GeomKind::box)
    out.size = {out.size.x, out.size.x, half};
  else
    out.size.y = half;
  out.pose = {rotation_from_z(along * (0.5 / half)), (from + to) * 0.5};
}

}  // namespace

Geom read_geom(const Attributes& a, Document& document, const Pose& frame) {
  Geom out{&a.element(), GeomKind::sphere, {}};
  out.kind = static_cast<GeomKind>(a.choice(
      "type", {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"},
      int(GeomKind::sphere)));
  if (const auto size = a.numbers("size", 1, 3)) {
    out.size.x = (*size)[0];
    if (size->size() > 1) out.size.y = (*size)[1];
    if (size->size() > 2) out.size.z = (*size)[2];
  }
  if (a.has("fromto"))
    apply_segment(out, a);
  else
    out.pose = pose_of(a, document.compiler);
  out.pose = frame * out.pose;
  if (a.has("mesh")) {
    const auto mesh = document.meshes.find(a.text("mesh"));
    if (mesh != document.meshes.end())
      out.mesh = &mesh->second;
    else
      a.files().error(a.element(), "<geom> names the mesh {}, which is no <mesh> of <asset>; add it",
                      in_quotes(a.text("mesh")));
  } else if (out.kind == GeomKind::mesh) {
    a.files().error(a.element(), "<geom> of type mesh has no mesh; add mesh=\"...\"");
  }
  if (out.kind == GeomKind::hfield)
    if (const auto field = document.height_fields.find(a.text("hfield"));
        field != document.height_fields.end())
      out.size = field->second;
  out.fit_scale = a.number("fitscale", 1);
  if (a.has("mass")) out.mass = a.number("mass", 0);
  out.density = a.number("density", out.density);
  out.shell = a.flag("shellinertia", false);
  out.group = int(std::clamp(a.number("group", 0), -1e6, 1e6));
  const auto material = document.colors.find(a.text("material"));
  if (const auto rgba = a.numbers("rgba", 4, 4))
    out.color = {(*rgba)[0], (*rgba)[1], (*rgba)[2], (*rgba)[3]};
  else if (material != document.colors.end())
    out.color = material->second;
  return out;
}

MassProperties read_inertial(const Attributes& a, const Compiler& compiler) {
  MassProperties out;
  for (const char* needed : {"pos", "mass"})
    if (!a.has(needed)) a.files().error(a.element(), "<inertial> has no {}; add {}=\"...\"", needed, needed);
  out.mass = a.number("mass", 0);
  out.center_of_mass = a.vector("pos", {0, 0, 0});
  if (const auto full = a.numbers("fullinertia", 6, 6)) {
    if (a.has("diaginertia"))
      a.files().error(a.element(), "<inertial> has both fullinertia and diaginertia; remove one");
    const auto& n = *full;
    out.inertia = {n[0], n[1], n[2], n[3], n[4], n[5]};
    return out;
  }
  const V3 moments = a.vector("diaginertia", {0, 0, 0});
  const Mat3<double> R = orientation(a, compiler);
  const Sym3<double> J{moments.x, moments.y, moments.z, 0, 0, 0};
  out.inertia = symmetric(R * (J * star(R)));
  return out;
}

}  // namespace articula::mjcf
