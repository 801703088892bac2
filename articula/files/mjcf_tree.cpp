#include "articula/files/mjcf_tree.hpp"

#include <algorithm>

#include "articula/files/xml_text.hpp"

namespace articula::mjcf {

namespace {

constexpr int deepest_frame = 200;     // frames and copies in each other, in one body
constexpr int deepest_attached = 400;  // bodies, frames and files around an attached one

/// Where an element stands: what it inherits from the elements around it.
struct Scope {
  Instance* instance;
  const DefaultClass* inherited;
  Pose frame{};
  std::string suffix;  // of the copies that it is in
  int depth = 0;
  int frames = 0;  // and copies, in its body
};

class TreeReader {
 public:
  TreeReader(const ModelText& model, Files& files) : model_(model), files_(files) {}
  Tree read();

 private:
  /// An element of a body, with the frames and copies between them resolved.
  struct Item {
    const Element* element;
    Scope scope;
  };
  Document& open_document(const Element* named, std::string_view text, const std::string& name,
                          const std::string& folder);
  void flatten(const Element& parent, const Scope& scope, std::vector<Item>& out);
  void flatten_frame(const Element& e, const Scope& scope, std::vector<Item>& out);
  void flatten_copies(const Element& e, const Scope& scope, std::vector<Item>& out);
  void flatten_attached(const Element& e, const Scope& scope, std::vector<Item>& out);
  const Element* find_named(const Element& e, std::string_view tag, const std::string& name, int depth) const;
  const DefaultClass* class_of(const Element& e, const char* attribute, const Scope& scope);
  std::string full_name(const Element& e, const Scope& scope) const;

  std::vector<Item> read_body(const Item& item, int parent);
  void read_contents(const std::vector<Item>& top);
  void read_item(const Item& item, int body);

  const ModelText& model_;
  Files& files_;
  Tree out_;
  std::map<std::string, Document*> opened_;  // by path
};

Document& TreeReader::open_document(const Element* named, std::string_view text, const std::string& name,
                                    const std::string& folder) {
  if (out_.documents.size() >= 100 && named) files_.give_up(*named, "more than 100 files are attached");
  Document& document = out_.documents.emplace_back();
  document.folder = folder;
  document.root = &files_.open(text, name, folder);
  read_document(document, files_);
  return document;
}

Tree TreeReader::read() {
  Document& main = open_document(nullptr, model_.text, model_.name, "");
  Instance& instance = out_.instances.emplace_back(Instance{&main, "", ""});
  std::vector<Item> items;
  for (const Element* section : files_.children(*main.root))
    if (std::string_view(section->Name()) == "worldbody")
      flatten(*section, {&instance, main.defaults.main(), {}, "", 0}, items);
  read_contents(items);
  return std::move(out_);
}

const DefaultClass* TreeReader::class_of(const Element& e, const char* attribute, const Scope& scope) {
  const char* const name = e.Attribute(attribute);
  if (!name) return scope.inherited;
  if (const DefaultClass* known = scope.instance->document->defaults.find(name)) return known;
  files_.error(e, "<{}> has the {} {}, which does not exist; correct it, or add a <default> of that class",
               shown(e.Name()), attribute, in_quotes(name));
  return scope.inherited;
}

std::string TreeReader::full_name(const Element& e, const Scope& scope) const {
  const char* const name = e.Attribute("name");
  return name && *name ? scope.instance->prefix + name + scope.suffix : "";
}

// --- frames, copies, attached files -----------------------------------------------------------------
void TreeReader::flatten(const Element& parent, const Scope& scope, std::vector<Item>& out) {
  if (scope.depth > deepest_element) files_.give_up(parent, "bodies are nested deeper than any robot needs");
  if (scope.frames > deepest_frame)
    files_.give_up(parent, fmt::format("frames are nested more than {} deep; take some out", deepest_frame));
  for (const Element* e : files_.children(parent)) {
    const std::string_view tag = e->Name();
    if (tag == "frame")
      flatten_frame(*e, scope, out);
    else if (tag == "replicate")
      flatten_copies(*e, scope, out);
    else if (tag == "attach")
      flatten_attached(*e, scope, out);
    else {
      files_.count(*e);
      out.push_back({e, scope});
    }
  }
}

void TreeReader::flatten_frame(const Element& e, const Scope& scope, std::vector<Item>& out) {
  Scope inside = scope;
  inside.inherited = class_of(e, "childclass", scope);
  inside.frame = scope.frame * pose_of(Attributes(files_, e), scope.instance->document->compiler);
  ++inside.depth, ++inside.frames;
  flatten(e, inside, out);
}

void TreeReader::flatten_copies(const Element& e, const Scope& scope, std::vector<Item>& out) {
  const Attributes a(files_, e);
  const Compiler& compiler = scope.instance->document->compiler;
  const double count = a.number("count", 0);
  if (!(count >= 0 && count <= 1e6))
    files_.give_up(e, "<replicate> has no usable count; expected a whole number from 0");
  const Vec3<double> euler = a.vector("euler", {0, 0, 0});
  const Pose step{rotation_from_euler(euler, compiler), a.vector("offset", {0, 0, 0})};
  const int copies = int(count);
  const std::size_t digits = std::to_string(copies).size();
  Pose at;
  for (int i = 0; i < copies; ++i) {
    files_.count(e);
    at.R = rotation_from_euler(euler * double(i), compiler);
    Scope inside = scope;
    inside.inherited = class_of(e, "childclass", scope);
    inside.frame = scope.frame * at;
    std::string number = std::to_string(i);
    number.insert(0, digits - number.size(), '0');
    inside.suffix = a.text("sep") + number + scope.suffix;
    scope.instance->suffixes.insert(inside.suffix);
    ++inside.depth, ++inside.frames;
    flatten(e, inside, out);
    at = at * step;
  }
}

/// A body or frame of that name below e.
const Element* TreeReader::find_named(const Element& e, std::string_view tag, const std::string& name,
                                      int depth) const {
  for (const Element* c : files_.children(e)) {
    if (tag == c->Name() && c->Attribute("name") && name == c->Attribute("name")) return c;
    if (const Element* inside = find_named(*c, tag, name, depth + 1)) return inside;
  }
  return nullptr;
}

void TreeReader::flatten_attached(const Element& e, const Scope& scope, std::vector<Item>& out) {
  const Attributes a(files_, e);
  const std::string prefix = a.text("prefix");
  Document* document = scope.instance->document;
  if (a.has("model")) {
    const auto named = document->models.find(a.text("model"));
    if (named == document->models.end())
      files_.give_up(e, fmt::format("<attach> names the model {}, which is no <model> of <asset>; add it",
                                    in_quotes(a.text("model"))));
    const auto found = files_.find(document->folder, named->second.file);
    if (!found)
      files_.give_up(*named->second.element,
                     fmt::format("the file {} was not found below the model's folder; correct its name",
                                 in_quotes(named->second.file)));
    Document*& known = opened_[found->path];
    if (!known) known = &open_document(&e, content_of(found->path), found->name, found->folder);
    document = known;
  }
  if (scope.depth > deepest_attached || out_.instances.size() > 10000)
    files_.give_up(e, "files are attached to each other without end; remove an <attach>");
  Instance& instance = out_.instances.emplace_back(
      Instance{document, scope.instance->prefix + prefix, scope.suffix, {}, true});
  Scope inside{&instance, document->defaults.main(), scope.frame, scope.suffix, scope.depth + 1};
  const char* const tag = a.has("body") ? "body" : a.has("frame") ? "frame" : nullptr;
  bool any = false;
  for (const Element* section : files_.children(*document->root)) {
    if (std::string_view(section->Name()) != "worldbody") continue;
    const Element* const what = tag ? find_named(*section, tag, a.text(tag), 0) : section;
    if (!what) continue;
    any = true;
    if (!tag)
      flatten(*section, inside, out);
    else if (std::string_view(tag) == "frame")
      flatten_frame(*what, inside, out);
    else
      out.push_back({what, inside});
    break;
  }
  if (!any)
    files_.give_up(e, fmt::format("<attach> found no {} {}; correct the name", tag ? tag : "worldbody",
                                  tag ? in_quotes(a.text(tag)) : ""));
}

// --- bodies -----------------------------------------------------------------------------------------
/// Adds it; returns what is in it.
std::vector<TreeReader::Item> TreeReader::read_body(const Item& item, int parent) {
  const Compiler& compiler = item.scope.instance->document->compiler;
  const Attributes a(files_, *item.element);
  BodyItem body{item.element, item.scope.instance->document, full_name(*item.element, item.scope), parent};
  body.stated_pose = pose_of(a, compiler);
  body.pose = item.scope.frame * body.stated_pose;
  if (a.flag("mocap", false))
    files_.ignore("mocap of bodies", *item.element, "they stand where the file puts them");
  if (a.number("gravcomp", 0) != 0)
    files_.ignore("gravcomp of bodies", *item.element, "it is a force, which no algorithm applies by itself");
  out_.bodies.push_back(std::move(body));
  Scope inside = item.scope;
  inside.inherited = class_of(*item.element, "childclass", item.scope);
  inside.frame = {};
  inside.frames = 0;
  ++inside.depth;
  std::vector<Item> items;
  flatten(*item.element, inside, items);
  return items;
}

/// Depth first, with a stack of our own. Joints, geoms and sites may stand after the bodies in them.
void TreeReader::read_contents(const std::vector<Item>& top) {
  std::vector<std::pair<Item, int>> ahead;  // bodies, and those that they are in
  const auto read = [&](const std::vector<Item>& items, int body) {
    const auto is_body = [](const Item& item) { return std::string_view(item.element->Name()) == "body"; };
    for (const Item& item : items)
      if (!is_body(item)) read_item(item, body);
    for (auto item = items.rbegin(); item != items.rend(); ++item)
      if (is_body(*item)) ahead.emplace_back(*item, body);
  };
  read(top, -1);
  while (!ahead.empty()) {
    const auto [item, parent] = std::move(ahead.back());
    ahead.pop_back();
    const std::vector<Item> inside = read_body(item, parent);
    read(inside, int(out_.bodies.size()) - 1);
  }
}

void TreeReader::read_item(const Item& item, int body) {
  const Element& e = *item.element;
  const std::string_view tag = e.Name();
  Document& document = *item.scope.instance->document;
  const Attributes a(files_, e, tag, class_of(e, "class", item.scope));
  BodyItem* const in = body < 0 ? nullptr : &out_.bodies[std::size_t(body)];
  if (tag == "geom") {
    (in ? in->geoms : out_.world_geoms).push_back(read_geom(a, document, item.scope.frame));
  } else if (tag == "site") {
    (in ? in->sites : out_.world_sites)
        .push_back({full_name(e, item.scope), item.scope.frame * pose_of(a, document.compiler), &e});
  } else if (tag == "joint" || tag == "freejoint" || tag == "inertial") {
    if (!in) {
      files_.error(e, "<{}> stands in <worldbody>, which does not move; put it into a <body>", e.Name());
    } else if (tag == "inertial") {
      in->inertial = read_inertial(Attributes(files_, e), document.compiler);
    } else {
      in->joints.push_back(read_joint(a, document.compiler, item.scope.frame));
      in->joints.back().spec.name = full_name(e, item.scope);
    }
  } else if (tag == "composite" || tag == "flexcomp") {
    files_.error(e, "<{}> makes bodies by rules of its own, which are not read; state the bodies", e.Name());
  } else if (tag == "camera" || tag == "light" || tag == "plugin") {
    files_.ignore("<" + std::string(tag) + ">", e, "it does not change the dynamics here");
  } else {
    files_.error(e, "<{}> is no element of a body; correct or remove it", shown(e.Name()));
  }
}

}  // namespace

Tree read_tree(const ModelText& model, Files& files) { return TreeReader(model, files).read(); }

}  // namespace articula::mjcf
