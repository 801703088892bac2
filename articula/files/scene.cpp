#include "articula/files/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "articula/files/json_input.hpp"
#include "articula/files/read_model.hpp"

namespace articula {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// A place in the document, for messages.
struct At {
  const std::string& file;
  const Json& json;
  std::string path;

  [[noreturn]] void fail(const std::string& why) const {
    throw ModelError(fmt::format("{}: {}: {}", file, path.empty() ? "/" : path, why));
  }
  At operator[](const char* key) const {
    require_object();
    const auto it = json.find(key);
    if (it == json.end()) fail(fmt::format("\"{}\" is missing", key));
    return {file, *it, path + "/" + key};
  }
  At operator[](std::size_t i) const { return {file, json[i], fmt::format("{}/{}", path, i)}; }
  bool has(const char* key) const {
    require_object();
    return json.contains(key);
  }
  void require_object() const {
    if (!json.is_object()) fail("expected an object {..}");
  }
  void only(std::initializer_list<const char*> keys) const {
    require_object();
    for (const auto& [key, value] : json.items())
      if (std::none_of(keys.begin(), keys.end(), [&, &k = key](const char* known) { return k == known; })) {
        std::string known;
        for (const char* k : keys) known += (known.empty() ? "" : ", ") + std::string(k);
        fail(fmt::format("unknown key \"{}\"; known: {}", key, known));
      }
  }
  std::size_t list() const {
    if (!json.is_array()) fail("expected a list [..]");
    return json.size();
  }
  double number() const {
    if (!json.is_number() || !std::isfinite(json.get<double>()))
      fail(fmt::format("expected a number, got {}", json.dump()));
    return json.get<double>();
  }
  std::string text() const {
    if (!json.is_string() || json.get_ref<const std::string&>().empty())
      fail(fmt::format("expected a name, got {}", json.dump()));
    return json.get<std::string>();
  }
  bool yes() const {
    if (!json.is_boolean()) fail(fmt::format("expected true or false, got {}", json.dump()));
    return json.get<bool>();
  }
  std::vector<double> numbers(std::size_t count = 0) const {
    const std::size_t size = list();
    if (count && size != count) fail(fmt::format("{} numbers, expected {}", size, count));
    std::vector<double> out;
    for (std::size_t i = 0; i < size; ++i) out.push_back((*this)[i].number());
    return out;
  }
  Vec3<double> vector() const {
    const auto x = numbers(3);
    return {x[0], x[1], x[2]};
  }
  Vec3<double> direction() const {
    const Vec3<double> x = vector();
    const double length = std::sqrt(dot(x, x));
    if (!(length > 0)) fail("this vector has no direction");
    return x * (1 / length);
  }
  Mat3<double> turn() const {
    const auto x = numbers(4);
    const double length = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    if (!(std::abs(length - 1) <= 1e-6))
      fail(fmt::format("a quaternion (x, y, z, w) of length {}, expected 1", length));
    return rotation(normalized(Quaternion<double>{x[0], x[1], x[2], x[3]}));
  }
  Pose pose() const {
    Pose p;
    if (has("position")) p.p = (*this)["position"].vector();
    if (has("quaternion")) p.R = (*this)["quaternion"].turn();
    return p;
  }
};

ModelSpec read_model_beside(const std::string& source, const std::string& folder) {
  const fs::path beside = fs::path(folder) / source;
  std::error_code ignored;
  const std::string path = fs::exists(beside, ignored) ? beside.string() : source;
  LoadedModel read = read_model(path);
  throw_first_error(read.findings);
  return std::move(read.spec);
}

SceneArm read_arm(const At& at, const std::string& folder, const SceneModelReader& models) {
  at.only({"name", "model", "base", "tip", "q", "v", "tau"});
  SceneArm arm;
  arm.name = at["name"].text();
  if (arm.name == "world") at["name"].fail("an arm cannot be called 'world'");
  arm.source = at["model"].text();
  arm.spec = models ? models(arm.source, folder) : read_model_beside(arm.source, folder);
  if (at.has("base")) {
    const At base = at["base"];
    base.only({"position", "quaternion", "free"});
    arm.base = base.pose();
    if (base.has("free") && base["free"].yes()) arm.kind = Base::free;
  }
  if (at.has("tip")) arm.tip = at["tip"].text();
  if (at.has("q")) arm.q = at["q"].numbers();
  if (at.has("v")) arm.v = at["v"].numbers();
  if (at.has("tau")) arm.tau = at["tau"].numbers();
  return arm;
}

SceneObject read_object(const At& at, const std::string& name) {
  at.only({"name", "mass", "center_of_mass", "inertia", "position", "quaternion", "velocity"});
  SceneObject object;
  object.name = at.has("name") ? at["name"].text() : name;
  object.mass.mass = at["mass"].number();
  if (!(object.mass.mass > 0))
    at["mass"].fail(fmt::format("{}, expected a positive number: a loose body without mass has no dynamics",
                                object.mass.mass));
  if (at.has("center_of_mass")) object.mass.center_of_mass = at["center_of_mass"].vector();
  const At inertia = at["inertia"];
  if (inertia.list() != 3) inertia.fail(fmt::format("{} rows, expected 3", inertia.json.size()));
  double I[3][3];
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = inertia[i].numbers(3);
    std::copy(row.begin(), row.end(), I[i]);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j)
      if (std::abs(I[i][j] - I[j][i]) > 1e-9 * (std::abs(I[i][i]) + std::abs(I[j][j])))
        inertia.fail("it is not symmetric");
  const double minor = I[0][0] * I[1][1] - I[0][1] * I[0][1];
  const double det = I[0][0] * (I[1][1] * I[2][2] - I[1][2] * I[1][2]) -
                     I[0][1] * (I[0][1] * I[2][2] - I[1][2] * I[0][2]) +
                     I[0][2] * (I[0][1] * I[1][2] - I[1][1] * I[0][2]);
  if (!(I[0][0] > 0 && minor > 0 && det > 0)) inertia.fail("it is not positive definite");
  object.mass.inertia = {I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]};
  object.pose = at.pose();
  if (at.has("velocity")) {
    const auto v = at["velocity"].numbers(6);
    object.velocity = Spatial<double>{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
  }
  return object;
}

template <class List>
const typename List::value_type* find(const List& list, const std::string& name) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const auto& x) { return x.name == name; });
  return it == list.end() ? nullptr : &*it;
}
template <class List>
std::string names_of(const List& list) {
  std::string out;
  for (const auto& x : list) out += (out.empty() ? "" : ", ") + x.name;
  return out.empty() ? "none" : out;
}

void require_link(const At& at, const SceneArm& arm, const std::string& link) {
  if (!find(arm.spec.links, link) && !find(arm.spec.frames, link))
    at.fail(fmt::format("arm '{}' ({}) has no link or frame '{}'; it has: {}", arm.name, arm.source, link,
                        names_of(arm.spec.links)));
}

SceneLimits read_limits(const At& at) {
  at.only({"friction", "torsional_radius", "normal"});
  SceneLimits limits;
  limits.friction = at["friction"].number();
  if (at.has("torsional_radius")) limits.torsional_radius = at["torsional_radius"].number();
  if (at.has("normal")) limits.normal = at["normal"].direction();
  if (limits.friction < 0 || limits.torsional_radius < 0) at.fail("negative friction");
  return limits;
}

SceneGrasp read_grasp(const At& at, const SceneSpec& scene) {
  at.only({"name", "arm", "object", "kind", "axis", "normal", "position", "limits"});
  SceneGrasp g;
  g.arm = at["arm"].text();
  if (g.arm != "world") {
    const SceneArm* const arm = find(scene.arms, g.arm);
    if (!arm) at["arm"].fail(fmt::format("there is no arm '{}'; there are: {}", g.arm, names_of(scene.arms)));
    if (arm->tip.empty()) at["arm"].fail(fmt::format("arm '{}' has no \"tip\" to hold with", g.arm));
  }
  if (scene.objects.empty()) at.fail("the scene has no \"object\" to hold");
  g.object = scene.objects[0].name;
  if (at.has("object")) {
    g.object = at["object"].text();
    if (!find(scene.objects, g.object))
      at["object"].fail(
          fmt::format("there is no object '{}'; there are: {}", g.object, names_of(scene.objects)));
  }
  const std::string kind = at["kind"].text();
  if (kind == "rigid")
    g.kind = SceneGrasp::Kind::rigid;
  else if (kind == "hinge")
    g.kind = SceneGrasp::Kind::hinge;
  else if (kind == "soft_finger")
    g.kind = SceneGrasp::Kind::soft_finger;
  else if (kind == "point")
    g.kind = SceneGrasp::Kind::point;
  else
    at["kind"].fail(fmt::format("unknown kind '{}'; known: rigid, hinge, soft_finger, point", kind));
  if (g.kind == SceneGrasp::Kind::hinge) g.axis = at["axis"].direction();
  if (g.kind == SceneGrasp::Kind::soft_finger) g.axis = at["normal"].direction();
  if (at.has("position")) g.position = at["position"].vector();
  if (g.arm == "world" && !g.position) at.fail("a contact with the world needs its \"position\"");
  if (at.has("limits")) g.limits = read_limits(at["limits"]);
  g.name = at.has("name") ? at["name"].text() : g.arm;
  return g;
}

SceneLoop::End read_end(const At& at, const SceneSpec& scene) {
  at.only({"part", "link", "position", "quaternion"});
  SceneLoop::End end;
  end.part = at["part"].text();
  end.placement = at.pose();
  if (const SceneArm* const arm = find(scene.arms, end.part)) {
    end.link = at["link"].text();
    require_link(at["link"], *arm, end.link);
  } else if (find(scene.objects, end.part)) {
    end.link = "body";
  } else if (end.part != "world") {
    at["part"].fail(fmt::format("there is no part '{}'; there are: world, {}, {}", end.part,
                                names_of(scene.arms), names_of(scene.objects)));
  }
  return end;
}

SceneLoop read_loop(const At& at, const SceneSpec& scene) {
  at.only({"name", "kind", "a", "b", "length", "radius", "fixed", "terms", "offset"});
  SceneLoop loop;
  loop.name = at["name"].text();
  loop.kind = at["kind"].text();
  static constexpr const char* kinds[] = {"weld", "hinge",   "slider",       "cylinder",     "ball",
                                          "rod",  "coupler", "rolling_ball", "rolling_disc", "fixed"};
  if (std::none_of(std::begin(kinds), std::end(kinds), [&](const char* k) { return loop.kind == k; }))
    at["kind"].fail(fmt::format("unknown kind '{}'; known: {}", loop.kind, fmt::join(kinds, ", ")));
  if (loop.kind == "coupler") {
    const At terms = at["terms"];
    for (std::size_t i = 0; i < terms.list(); ++i) {
      terms[i].only({"part", "joint", "coefficient"});
      SceneLoop::Term term{terms[i]["part"].text(), terms[i]["joint"].text(),
                           terms[i]["coefficient"].number()};
      const SceneArm* const arm = find(scene.arms, term.part);
      if (!arm)
        terms[i]["part"].fail(
            fmt::format("there is no arm '{}'; there are: {}", term.part, names_of(scene.arms)));
      if (!find(arm->spec.joints, term.joint))
        terms[i]["joint"].fail(fmt::format("arm '{}' has no joint '{}'", term.part, term.joint));
      loop.terms.push_back(term);
    }
    if (at.has("offset")) loop.length = at["offset"].number();
    return loop;
  }
  loop.a = read_end(at["a"], scene);
  loop.b = read_end(at["b"], scene);
  if (loop.kind == "rod") loop.length = at["length"].number();
  if (loop.kind.starts_with("rolling")) loop.length = at["radius"].number();
  if (loop.kind == "fixed") {
    const At fixed = at["fixed"];
    if (fixed.list() != 6)
      fixed.fail(fmt::format("{} entries, expected 6: rotation about x, y, z, translation along x, y, z",
                             fixed.json.size()));
    for (std::size_t i = 0; i < 6; ++i) loop.fixed.push_back(fixed[i].yes());
  }
  return loop;
}

template <class List>
void require_unique(const At& at, const List& list, const char* what) {
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (list[i].name == list[j].name) at.fail(fmt::format("two {} are called '{}'", what, list[i].name));
}

}  // namespace

bool looks_like_scene(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

SceneSpec parse_scene(std::string_view text, const std::string& name, const std::string& folder,
                      const SceneModelReader& models) {
  const Json json = parse_json(text, name, "expected {\"arms\": [..], \"object\": {..}, \"grasps\": [..]}");
  const At at{name, json, ""};
  at.only({"gravity", "arms", "object", "objects", "grasps", "loops", "name"});
  SceneSpec scene;
  scene.where = name;
  if (at.has("gravity")) scene.gravity = at["gravity"].vector();
  if (at.has("arms"))
    for (std::size_t i = 0; i < at["arms"].list(); ++i)
      scene.arms.push_back(read_arm(at["arms"][i], folder, models));
  if (at.has("object")) scene.objects.push_back(read_object(at["object"], "object"));
  if (at.has("objects"))
    for (std::size_t i = 0; i < at["objects"].list(); ++i)
      scene.objects.push_back(read_object(at["objects"][i], fmt::format("object{}", i + 1)));
  require_unique(at, scene.arms, "arms");
  require_unique(at, scene.objects, "objects");
  for (std::size_t i = 0; i < scene.arms.size(); ++i) {
    if (!scene.arms[i].tip.empty()) require_link(at["arms"][i]["tip"], scene.arms[i], scene.arms[i].tip);
    if (find(scene.objects, scene.arms[i].name)) at["arms"][i]["name"].fail("an object has this name too");
  }
  if (at.has("grasps"))
    for (std::size_t i = 0; i < at["grasps"].list(); ++i)
      scene.grasps.push_back(read_grasp(at["grasps"][i], scene));
  if (at.has("loops"))
    for (std::size_t i = 0; i < at["loops"].list(); ++i)
      scene.loops.push_back(read_loop(at["loops"][i], scene));
  if (scene.arms.empty() && scene.objects.empty())
    at.fail("neither \"arms\" nor an \"object\": nothing moves");
  return scene;
}

SceneSpec read_scene(const std::string& path, const SceneModelReader& models) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ModelError(fmt::format("{}: cannot be read", path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_scene(text, path, fs::path(path).parent_path().string(), models);
}

}  // namespace articula
