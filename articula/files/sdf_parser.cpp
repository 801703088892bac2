// SDF files, worlds and models: what is in which.
#include "articula/files/sdf_parser.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "articula/error.hpp"
#include "articula/files/mesh_paths.hpp"
#include "articula/files/sdf_frames.hpp"
#include "articula/files/xml_text.hpp"

namespace articula::sdf {

namespace {

namespace fs = std::filesystem;
constexpr int deepest_model = 200;  // of models in models and files in files
constexpr int most_files = 1000;    // that one file may include, in all
constexpr int oldest_minor = 2, newest_minor = 12;

/// Puts a value back at the end of a block.
template <class T>
class Restored {
 public:
  Restored(T& value, T now) : value_(value), before_(std::exchange(value, std::move(now))) {}
  ~Restored() { value_ = std::move(before_); }
  Restored(const Restored&) = delete;

 private:
  T& value_;
  T before_;
};

}  // namespace

Document parse(const ModelText& text) { return Parser(text).parse(); }

Document Parser::parse() {
  auto own = std::make_unique<const ModelText>(text_);
  file_ = own.get();
  out_document_.files.push_back(std::move(own));
  out_document_.world.is_world = true;
  std::error_code ignored;
  open_.push_back(fs::canonical(text_.name, ignored));
  read_top(open(*file_));
  index(out_document_.world);
  note_ignored();
  out_document_.findings = std::move(out_.findings);
  return std::move(out_document_);
}

/// The <sdf> of a file; what it points into is kept.
const Parser::Element& Parser::open(const ModelText& text) {
  auto& document = *out_document_.texts.emplace_back(std::make_unique<tinyxml2::XMLDocument>());
  parse_xml(text.text, text.name, document, out_.findings);
  const Element* root = document.FirstChildElement("sdf");
  if (!root) root = document.FirstChildElement("gazebo");  // its name until 1.2
  if (!root)
    give_up(document.RootElement()->GetLineNum(),
            fmt::format("the top element is <{}>; expected <sdf>, is this an SDF file?",
                        shown(document.RootElement()->Name())));
  return *root;
}

void Parser::set_version(const Element& root) {
  const std::string version = attribute(root, "version");
  const auto number = version.starts_with("1.") ? number_of(version.substr(2)) : std::nullopt;
  minor_ = number && *number >= 0 && *number < 1000 ? int(*number) : -1;
  if (minor_ >= oldest_minor && minor_ <= newest_minor) return;
  warning(root.GetLineNum(), "the version is {}; expected 1.{} to 1.{}: it is read as 1.{}",
          version.empty() ? "missing" : in_quotes(version), oldest_minor, newest_minor,
          minor_ >= 0 && minor_ < oldest_minor ? oldest_minor : newest_minor);
  minor_ = minor_ >= 0 && minor_ < oldest_minor ? oldest_minor : newest_minor;
}

void Parser::read_top(const Element& root) {
  set_version(root);
  Model& world = out_document_.world;
  int models = 0, worlds = 0;
  for (const Element* e = root.FirstChildElement(); e; e = e->NextSiblingElement()) {
    const std::string_view kind = e->Name();
    if (kind == "world") {
      if (worlds++ == 0)
        read_world(*e, world);
      else
        warning(e->GetLineNum(), "there is a second <world>; it is passed over: the first one is used");
    } else if (kind == "model" || kind == "include") {
      ++models;
      read_entry(*e, world);
    } else if (kind != "light" && kind != "actor") {
      ignore(fmt::format("element <{}> in <sdf>", shown(kind)), e->GetLineNum(), "correct or remove it");
    }
  }
  out_document_.is_assembly = worlds > 0 || models > 1;
  if (world.models.empty() && errors_ == 0)
    error(root.GetLineNum(), "there is no <model> in it; expected one, or a <world> of them");
}

void Parser::read_world(const Element& e, Model& world) {
  world.name = attribute(e, "name");
  if (const Element* gravity = e.FirstChildElement("gravity")) {
    const auto g = numbers_in(*gravity, 3, "the world");
    out_document_.gravity = Vec3<double>{g[0], g[1], g[2]};
  }
  for (const Element* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) {
    const std::string_view kind = c->Name();
    if (kind == "model" || kind == "include" || kind == "joint" || kind == "frame") read_entry(*c, world);
  }
}

Model Parser::read_model(const Element& e) {
  Model model;
  model.name = name_of_element(e, "model");
  model.where = where(e.GetLineNum());
  const std::string owner = "model " + in_quotes(model.name);
  model.canonical_link = attribute(e, "canonical_link");
  model.placement_frame = attribute(e, "placement_frame");
  model.placement = placement_of(e, owner);
  model.is_static = flag_in(e, "static");
  if (++depth_ > deepest_model) {
    error(e.GetLineNum(), "there are more than {} models in each other here", deepest_model);
  } else {
    for (const Element* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) read_entry(*c, model);
  }
  --depth_;
  index(model);
  return model;
}

void Parser::read_entry(const Element& e, Model& into) {
  const std::string_view kind = e.Name();
  if (kind == "link")
    read_link(e, into);
  else if (kind == "joint")
    read_joint(e, into);
  else if (kind == "drake:joint")
    read_drake_joint(e, into);
  else if (kind == "frame")
    read_frame(e, into);
  else if (kind == "model")
    into.models.push_back(read_model(e));
  else if (kind == "include")
    read_include(e, into);
  else if (kind == "drake:linear_bushing_rpy" || kind == "drake:ball_constraint" || kind == "gripper")
    ignore(fmt::format("element <{}>", kind), e.GetLineNum(), "nothing here is made of it");
  else if (kind == "plugin")
    ignore("element <plugin>", e.GetLineNum(), "it does not change the dynamics here", Severity::note);
}

void Parser::read_frame(const Element& e, Model& model) {
  if (minor_ < 7) return;  // it had no settled meaning before
  Frame frame;
  frame.name = name_of_element(e, "frame");
  frame.attached_to = attribute(e, "attached_to");
  frame.placement = placement_of(e, "frame " + in_quotes(frame.name));
  model.frames.push_back(std::move(frame));
}

// --- <include> --------------------------------------------------------------------------------------
void Parser::read_include(const Element& e, Model& into) {
  const std::string uri = text_of(e.FirstChildElement("uri"));
  if (uri.empty()) {
    error(e.GetLineNum(), "<include> has no <uri>; add one, such as <uri>model://NAME</uri>");
    return;
  }
  std::optional<Model> model = included(e, uri);
  if (!model) return;
  const std::string owner = "the include of " + in_quotes(uri);
  if (const std::string name = text_of(e.FirstChildElement("name")); !name.empty()) model->name = name;
  if (e.FirstChildElement("pose")) model->placement = placement_of(e, owner);
  if (e.FirstChildElement("static")) model->is_static = flag_in(e, "static");
  if (const Element* frame = e.FirstChildElement("placement_frame")) model->placement_frame = text_of(frame);
  if (const char* merged = e.Attribute("merge"); merged && std::string_view(merged) == "true")
    merge(std::move(*model), into);
  else
    into.models.push_back(std::move(*model));
}

std::optional<Model> Parser::included(const Element& e, const std::string& uri) {
  const auto found = find_included(uri);
  if (!found) {
    error(e.GetLineNum(),
          "the included {} is not below the model's folder, its packages or GZ_SIM_RESOURCE_PATH; give the "
          "folder by --package NAME=FOLDER",
          in_quotes(uri));
    return {};
  }
  if (++opened_ > most_files || depth_ >= deepest_model) {
    error(e.GetLineNum(), "files include each other more than {} deep, or more than {} times in all",
          deepest_model, most_files);
    return {};
  }
  ModelText text = *found;
  try {
    text.text = content_of(text.name);
    const auto* const file =
        out_document_.files.emplace_back(std::make_unique<const ModelText>(std::move(text))).get();
    return model_in(*file, e.GetLineNum());
  } catch (const ModelError& cause) {
    error(e.GetLineNum(), "{} cannot be included: {}", in_quotes(uri), cause.what());
  }
  return {};
}

/// The one model of a file; an error, told where it is included, if there is none.
std::optional<Model> Parser::model_in(const ModelText& file, int line) {
  const Element* first = nullptr;
  {
    const Restored name(name_, file.name);
    const Restored at(file_, &file);
    const Restored minor(minor_, 0);
    const Restored deeper(depth_, depth_ + 1);
    auto files = open_;
    files.emplace_back(file.name);
    const Restored chain(open_, std::move(files));
    const Element& root = open(file);
    set_version(root);
    first = root.FirstChildElement("model");
    if (first) return read_model(*first);
  }
  error(line, "the included '{}' has no <model>", file.name);
  return {};
}

/// What model.config names: the newest version.
std::string Parser::newest_of(const ModelText& config) const {
  tinyxml2::XMLDocument document;
  std::vector<Finding> ignored;
  parse_xml(content_of(config.name), config.name, document, ignored);
  std::string out = "model.sdf";
  double newest = -1;
  const Element* const model = document.FirstChildElement("model");
  for (const Element* e = model ? model->FirstChildElement("sdf") : nullptr; e;
       e = e->NextSiblingElement("sdf")) {
    const std::string version = attribute(*e, "version");
    const double minor = version.starts_with("1.") ? number_of(version.substr(2)).value_or(0) : 0;
    if (minor > newest) newest = minor, out = text_of(e);
  }
  return out;
}

/// A file, or the one that the model.config of a folder names. A file that includes itself is none.
std::optional<ModelText> Parser::find_included(const std::string& uri) const {
  const auto at = [&](const std::string& name) -> std::optional<ModelText> {
    const auto path = find_file(name, *file_);
    if (!path || std::find(open_.begin(), open_.end(), *path) != open_.end()) return {};
    return ModelText{"", path->string(), path->parent_path().string(), text_.options};
  };
  if (uri.find("://") != uri.npos && !uri.starts_with("model://") && !uri.starts_with("package://") &&
      !uri.starts_with("file://"))
    return {};
  if (auto file = at(uri)) return file;
  const std::string folder = uri.ends_with('/') ? uri : uri + "/";
  if (const auto config = at(folder + "model.config")) return at(folder + newest_of(*config));
  return at(folder + "model.sdf");
}

/// merge="true": what is in the child is in the parent, and a frame stands for the child's own.
void Parser::merge(Model child, Model& into) {
  Frame proxy;
  proxy.name = "_merged__" + child.name + "__model__";
  proxy.attached_to = child.canonical_link;
  if (proxy.attached_to.empty() && !child.links.empty()) proxy.attached_to = child.links[0].name;
  proxy.placement = child.placement;
  if (proxy.placement.relative_to.empty()) proxy.placement.relative_to = "__model__";
  if (!child.placement_frame.empty())
    proxy.placement.pose =
        proxy.placement.pose * inverse(pose_in(child, child.placement_frame, out_.findings));
  const auto own = [&](std::string& name, bool by_default) {
    if (name == "__model__" || (by_default && name.empty())) name = proxy.name;
  };
  for (Link& l : child.links) own(l.placement.relative_to, true);
  for (Model& m : child.models) own(m.placement.relative_to, true);
  for (Frame& f : child.frames) {
    own(f.attached_to, true);
    own(f.placement.relative_to, false);
  }
  for (Joint& j : child.joints) {
    own(j.parent, false), own(j.child, false), own(j.placement.relative_to, false);
    for (Axis& axis : j.axes) own(axis.expressed_in, false);
  }
  const auto move = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move(child.links, into.links), move(child.joints, into.joints), move(child.models, into.models);
  into.frames.push_back(std::move(proxy));
  move(child.frames, into.frames);
}

/// Links, joints, frames and models share one set of names.
void Parser::index(Model& model) {
  model.names.clear();
  const auto add = [&](const auto& things, Named::Kind kind) {
    for (std::size_t i = 0; i < things.size(); ++i) model.names.try_emplace(things[i].name, Named{kind, i});
  };
  add(model.links, Named::link);
  add(model.joints, Named::joint);
  add(model.frames, Named::frame);
  add(model.models, Named::model);
}

}  // namespace articula::sdf
