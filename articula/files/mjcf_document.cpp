#include "articula/files/mjcf_document.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "articula/error.hpp"
#include "articula/files/mesh_paths.hpp"
#include "articula/files/xml_text.hpp"

namespace articula::mjcf {

namespace {

namespace fs = std::filesystem;
constexpr int deepest_include = 50;
constexpr int most_things = 200000;

/// All actuators share one set of values, as in MuJoCo.
std::string_view tag_of_default(std::string_view name) {
  constexpr std::string_view actuators[] = {"general", "motor",       "position", "velocity",
                                            "damper",  "intvelocity", "cylinder", "muscle",
                                            "pid",     "orientation", "adhesion", "dcmotor"};
  return std::find(std::begin(actuators), std::end(actuators), name) != std::end(actuators) ? "actuator"
                                                                                            : name;
}

}  // namespace

// --- files ------------------------------------------------------------------------------------------
const Element& Files::parse(std::string_view text, const std::string& name, const std::string& folder) {
  tinyxml2::XMLDocument& document = documents_.emplace_back();
  parse_xml(text, name, document, findings_);
  named_[&document] = {name, folder};
  return *document.RootElement();
}

const Element& Files::open(std::string_view text, const std::string& name, const std::string& folder) {
  const Element& root = parse(text, name, folder);
  if (std::string_view(root.Name()) != "mujoco")
    give_up(root, fmt::format("the top element is <{}>; expected <mujoco>, is this an MJCF file?",
                              shown(root.Name())));
  Loading loading{folder, {}};
  include_below(root, folder, loading, 0);
  return root;
}

void Files::include_below(const Element& e, const std::string& folder, Loading& loading, int depth) {
  for (const Element* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) {
    if (std::string_view(c->Name()) == "include")
      include(*c, folder, loading, depth);
    else
      include_below(*c, folder, loading, depth);
  }
}

/// Names are looked for in the folder of the document, then in that of the file which includes.
void Files::include(const Element& e, const std::string& folder, Loading& loading, int depth) {
  const char* const file = e.Attribute("file");
  if (!file || !*file) give_up(e, "<include> has no file; add file=\"...\"");
  if (depth >= deepest_include) give_up(e, "files include each other too deeply; remove an <include>");
  auto found = find(loading.folder, file);
  if (!found) found = find(folder, file);
  if (!found)
    give_up(e, fmt::format("the included file {} was not found below the model's folder; correct its name",
                           in_quotes(file)));
  if (!loading.included.insert(found->path).second)
    give_up(e, fmt::format("the file {} is included twice; remove one <include>", in_quotes(file)));
  const Element& root = parse(content_of(found->path), found->name, found->folder);
  included_[&e] = &root;
  include_below(root, found->folder, loading, depth + 1);
}

std::vector<const Element*> Files::children(const Element& e) const {
  std::vector<const Element*> out;
  for (const Element* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) {
    const auto file = included_.find(c);
    if (file == included_.end()) {
      out.push_back(c);
      continue;
    }
    const auto inside = children(*file->second);
    out.insert(out.end(), inside.begin(), inside.end());
  }
  return out;
}

std::optional<Files::Found> Files::find(const std::string& folder, const std::string& file) const {
  const std::string name = (fs::path(folder) / file).lexically_normal().string();
  const auto path = find_file(name, model_);
  if (!path) return {};
  return Found{path->string(), (fs::path(model_.folder) / name).string(),
               fs::path(name).parent_path().string()};
}

std::string Files::where(const Element& e) const {
  return fmt::format("{}:{}", named_.at(e.GetDocument()).name, e.GetLineNum());
}

const std::string& Files::folder_of(const Element& e) const { return named_.at(e.GetDocument()).folder; }

void Files::give_up(const Element& e, const std::string& message) const {
  throw ModelError(fmt::format("{}: {}", where(e), message));
}

void Files::count(const Element& e) {
  if (++counted_ > most_things)
    give_up(e,
            fmt::format("there are more than {} bodies, joints, geoms and sites; copy fewer", most_things));
}

void Files::ignore(const std::string& what, const Element& e, const char* why) {
  Ignored& entry = ignored_[what];
  if (entry.count++ == 0) entry.where = where(e), entry.why = why;
}

std::vector<Finding> Files::take_findings() {
  for (const auto& [what, entry] : ignored_)
    findings_.push_back(
        {Finding::Severity::note, entry.where,
         fmt::format("ignored: {}{}; {}", what,
                     entry.count > 1 ? fmt::format(" ({} of them, this is the first)", entry.count) : "",
                     entry.why)});
  ignored_.clear();
  return std::move(findings_);
}

// --- default classes --------------------------------------------------------------------------------
Defaults::Defaults() { classes_["main"] = &all_.emplace_back(); }

const DefaultClass* Defaults::find(std::string_view name) const {
  const auto known = classes_.find(name);
  return known == classes_.end() ? nullptr : known->second;
}

void Defaults::read(const Element& section, Files& files) {
  const char* const name = section.Attribute("class");
  if (name && *name && std::string_view(name) != "main")
    files.warning(section, "the top <default> has the class {}; its name is 'main' in MuJoCo: rename it",
                  in_quotes(name));
  if (name && *name) classes_.emplace(name, classes_["main"]);
  read_into(*classes_["main"], section, files);
}

void Defaults::read_into(DefaultClass& into, const Element& section, Files& files) {
  const auto children = files.children(section);
  for (const Element* c : children)
    if (std::string_view(c->Name()) != "default")
      for (const tinyxml2::XMLAttribute* a = c->FirstAttribute(); a; a = a->Next())
        into.values[{tag_of_default(c->Name()), a->Name()}].push_back({c, a->Value(), into.given++});
  for (const Element* c : children) {
    if (std::string_view(c->Name()) != "default") continue;
    const char* const name = c->Attribute("class");
    if (!name || !*name) {
      files.error(*c, "a <default> in another has no class; add class=\"...\"");
      continue;
    }
    if (classes_.contains(name)) {
      files.error(*c, "the default class {} is stated twice; rename one", in_quotes(name));
      continue;
    }
    DefaultClass& next = all_.emplace_back();
    next.parent = &into;
    next.parent_given = into.given;
    classes_[name] = &next;
    read_into(next, *c, files);
  }
}

// --- attributes -------------------------------------------------------------------------------------
std::optional<Attributes::Value> Attributes::find(std::string_view attribute, bool blank_counts) const {
  const auto counts = [&](const char* value) { return blank_counts || !words_of(value, 0).empty(); };
  for (const tinyxml2::XMLAttribute* a = e_.FirstAttribute(); a; a = a->Next())
    if (attribute == a->Name() && counts(a->Value())) return Value{&e_, a->Value(), 0, 0};
  std::size_t known = class_ ? class_->given : 0;
  int level = 1;
  for (const DefaultClass* at = class_; at; known = at->parent_given, at = at->parent, ++level) {
    const auto values = at->values.find({tag_, attribute});
    if (values == at->values.end()) continue;
    for (auto v = values->second.rbegin(); v != values->second.rend(); ++v)
      if (v->order < known && counts(v->value)) return Value{v->element, v->value, level, v->order};
  }
  return {};
}

const char* Attributes::nearest(std::initializer_list<const char*> attributes) const {
  const char* best = nullptr;
  std::optional<Value> value;
  for (const char* attribute : attributes) {
    const auto other = find(attribute, false);
    const bool nearer =
        other && (!value || other->level < value->level ||
                  (other->level == value->level && other->level > 0 && other->order > value->order));
    if (nearer) best = attribute, value = other;
  }
  return best;
}

std::string Attributes::text(const char* attribute, std::string_view missing) const {
  const auto value = find(attribute);
  return value ? value->text : std::string(missing);
}

std::string Attributes::name() const {
  const char* const name = e_.Attribute("name");
  return name ? name : "";
}

std::optional<std::vector<double>> Attributes::numbers(const char* attribute, std::size_t least,
                                                       std::size_t most) const {
  const auto value = find(attribute, false);
  if (!value) return {};
  const auto words = words_of(value->text, most);
  std::vector<double> out;
  for (const std::string_view word : words)
    if (const auto number = number_of(word)) out.push_back(*number);
  if (out.size() == words.size() && words.size() >= least && words.size() <= most) return out;
  files_.error(*value->element, "{} of <{}> is {}; expected {} finite numbers separated by spaces", attribute,
               e_.Name(), in_quotes(value->text),
               least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most));
  return {};
}

double Attributes::number(const char* attribute, double missing) const {
  const auto values = numbers(attribute, 1, 1);
  return values ? (*values)[0] : missing;
}

Vec3<double> Attributes::vector(const char* attribute, const Vec3<double>& missing) const {
  const auto v = numbers(attribute, 3, 3);
  return v ? Vec3<double>{(*v)[0], (*v)[1], (*v)[2]} : missing;
}

bool Attributes::flag(const char* attribute, bool missing) const {
  return choice(attribute, {"false", "true"}, missing) == 1;
}

int Attributes::choice(const char* attribute, std::initializer_list<std::string_view> words,
                       int missing) const {
  const auto value = find(attribute);
  if (!value) return missing;
  const auto at = std::find(words.begin(), words.end(), value->text);
  if (at != words.end()) return int(at - words.begin());
  files_.error(*value->element, "{} of <{}> is {}; expected one of: {}", attribute, e_.Name(),
               in_quotes(value->text), fmt::join(words, ", "));
  return missing;
}

}  // namespace articula::mjcf
