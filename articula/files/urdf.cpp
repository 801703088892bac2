#include "articula/files/urdf.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace articula {

namespace {

using tinyxml2::XMLAttribute;
using tinyxml2::XMLElement;
using V3 = Vec3<double>;
using Severity = Finding::Severity;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr int most_attributes = 256;
constexpr double axis_tolerance = 1e-6;  // of the length: axes printed with six digits count as unit vectors

// --- numbers in text ---------------------------------------------------------------------------------
constexpr std::string_view spaces = " \t\r\n\f\v";

std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> words;
  std::size_t at = text.find_first_not_of(spaces);
  while (at != text.npos && words.size() <= most) {
    const std::size_t end = std::min(text.find_first_of(spaces, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(spaces, end);
  }
  return words;
}

/// A finite number that takes the whole word. Independent of the locale.
std::optional<double> number_of(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+') word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Text from a file in a message: shortened, and without control characters.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string out;
  for (const char c : text.substr(0, most)) out += static_cast<unsigned char>(c) < ' ' || c == 127 ? ' ' : c;
  return text.size() > most ? out + "..." : out;
}
std::string in_quotes(std::string_view text) { return "'" + shown(text) + "'"; }

std::string advice_on(std::string_view text) {
  if (text.find("${") != text.npos || text.find("$(") != text.npos)
    return "; expand the file with xacro first";
  if (text.find(',') != text.npos) return "; separate numbers by spaces and write decimals with a point";
  return "; correct it";
}

// --- the reader --------------------------------------------------------------------------------------
class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}
  UrdfResult read(std::string_view text);

 private:
  [[noreturn]] void give_up(int line, const std::string& message) const {
    throw ModelError(fmt::format("{}:{}: {}", name_, line, message));
  }
  std::string where(int line) const { return fmt::format("{}:{}", name_, line); }
  template <class... A>
  void error(int line, fmt::format_string<A...> text, A&&... a) {
    out_.findings.push_back({Severity::error, where(line), fmt::format(text, std::forward<A>(a)...)});
    ++errors_;
  }
  template <class... A>
  void warning(int line, fmt::format_string<A...> text, A&&... a) {
    out_.findings.push_back({Severity::warning, where(line), fmt::format(text, std::forward<A>(a)...)});
  }

  /// What a macro would have added is missing: the rest is not the model that is meant.
  [[noreturn]] void refuse_xacro(const XMLElement& e) const {
    give_up(e.GetLineNum(),
            fmt::format("<{}> is not URDF; expand the file with xacro first", shown(e.Name())));
  }

  void check_text(std::string_view text) const;
  const XMLElement& root_of(const tinyxml2::XMLDocument& document) const;
  void read_robot(const XMLElement& robot);

  // Children and attributes. `owner` ("link 'arm'") says in messages whose they are.
  enum class Twice { error, warning };
  const XMLElement* child(const XMLElement& parent, const char* name, const std::string& owner, Twice twice);
  void check_attributes(const XMLElement& e, std::initializer_list<std::string_view> known);
  void note_unknown_children(const XMLElement& e, std::initializer_list<std::string_view> known);
  std::string name_of_element(const XMLElement& e, const char* what);
  std::optional<std::string> text(const XMLElement& e, const char* attribute, const std::string& owner);
  std::optional<double> optional_number(const XMLElement& e, const char* attribute, const std::string& owner);
  double number(const XMLElement& e, const char* attribute, const std::string& owner);
  V3 vector(const XMLElement& e, const char* attribute, const std::string& owner, const V3& missing);
  Pose origin(const XMLElement& parent, const std::string& owner);

  void read_link(const XMLElement& e);
  MassProperties read_inertial(const XMLElement& e, const std::string& owner);
  Sym3<double> read_inertia(const XMLElement& inertial, const std::string& owner);
  void read_joint(const XMLElement& e);
  JointKind read_kind(const XMLElement& e, const std::string& owner);
  std::string read_link_name(const XMLElement& joint, const char* which, const std::string& owner);
  V3 read_axis(const XMLElement& joint, JointKind kind, const std::string& owner);
  JointLimits read_limits(const XMLElement& joint, JointKind kind, const std::string& owner);
  void read_range(const XMLElement& limit, JointKind kind, const std::string& owner, JointLimits& limits);
  void read_dynamics(const XMLElement& joint, const std::string& owner, JointSpec& out);
  std::optional<Mimic> read_mimic(const XMLElement& joint, JointKind kind, const std::string& owner);

  /// One note for each kind of ignored element or attribute, however often it occurs.
  struct Ignored {
    int line = 0, count = 0;
    std::string advice;
    Severity severity = Severity::warning;
  };
  void ignore(const std::string& what, int line, const char* advice, Severity severity = Severity::warning);
  void note_ignored();

  const std::string& name_;
  UrdfResult out_;
  int errors_ = 0;
  std::map<std::string, Ignored> ignored_;
};

int line_of_offset(std::string_view text, std::size_t offset) {
  return 1 + int(std::count(text.begin(), text.begin() + std::ptrdiff_t(offset), '\n'));
}

/// Where an element with more than most_attributes begins, or npos: the parser compares every attribute with
/// every other one, so that a file of a megabyte could keep it busy for a minute. Follows the parser in what
/// is a tag and a value.
std::size_t find_crowded_element(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> skipped[] = {
      {"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<!", ">"}, {"<?", "?>"}};
  std::size_t at = text.find('<');
  while (at != text.npos) {
    const std::string_view rest = text.substr(at);
    const auto skip = std::find_if(std::begin(skipped), std::end(skipped),
                                   [rest](const auto& pair) { return rest.starts_with(pair.first); });
    if (skip != std::end(skipped)) {
      at = text.find(skip->second, at + skip->first.size());
    } else {
      const std::size_t start = at;
      int attributes = 0;
      for (at = text.find_first_of(">='\"", at); at != text.npos && text[at] != '>';
           at = text.find_first_of(">='\"", at + 1)) {
        if (text[at] != '=')
          at = text.find(text[at], at + 1);  // to the closing quote
        else if (++attributes > most_attributes)
          return start;
        if (at == text.npos) break;
      }
    }
    if (at != text.npos) at = text.find('<', at);
  }
  return text.npos;
}

/// What the XML parser would misread rather than refuse.
void Reader::check_text(std::string_view text) const {
  if (text.empty()) give_up(1, "the file is empty; expected a URDF file, with <robot> at the top");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    give_up(1, "the file is UTF-16; expected UTF-8, save it so");
  const std::size_t zero = text.find('\0');
  if (zero != text.npos)
    give_up(line_of_offset(text, zero), "there is a zero byte; expected text, is this a URDF file?");
  const std::size_t crowded = find_crowded_element(text);
  if (crowded != text.npos)
    give_up(line_of_offset(text, crowded),
            fmt::format("an element has more than {} attributes; expected a URDF file", most_attributes));
}

const XMLElement& Reader::root_of(const tinyxml2::XMLDocument& document) const {
  const XMLElement* root = document.RootElement();
  if (!root) give_up(1, "there is no element; expected <robot> at the top");
  if (std::strcmp(root->Name(), "robot") != 0)
    give_up(root->GetLineNum(), fmt::format("the top element is <{}>; expected <robot>, is this a URDF file?",
                                            shown(root->Name())));
  if (const XMLElement* second = root->NextSiblingElement())
    give_up(second->GetLineNum(),
            fmt::format("there is a second top element, <{}>; expected one <robot> for all",
                        shown(second->Name())));
  return *root;
}

std::string_view say(tinyxml2::XMLError error) {
  switch (error) {
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      return "a closing tag does not match its opening one, or is missing";
    case tinyxml2::XML_ERROR_PARSING_ELEMENT:
      return "an element is malformed";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "an attribute is malformed or given twice";
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
      return "a comment does not end";
    case tinyxml2::XML_ERROR_PARSING_CDATA:
      return "a CDATA section does not end";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
      return "the declaration <?xml ...?> is malformed or not at the top";
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "there is no element, expected <robot>";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      return "elements are nested deeper than any robot needs";
    default:
      return "there is text where no text can be";
  }
}

UrdfResult Reader::read(std::string_view text) {
  check_text(text);
  tinyxml2::XMLDocument document;
  // The parser itself stops at elements nested deeper than TINYXML2_MAX_ELEMENT_DEPTH (100).
  if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS)
    give_up(std::max(1, document.ErrorLineNum()),
            fmt::format("this is not well-formed XML: {}; correct the file here or just above",
                        say(document.ErrorID())));
  read_robot(root_of(document));
  note_ignored();
  return std::move(out_);
}

void Reader::read_robot(const XMLElement& robot) {
  const auto name = text(robot, "name", "the robot");
  if (name && !name->empty())
    out_.spec.name = *name;
  else
    warning(robot.GetLineNum(), "<robot> has no name; URDF asks for one: add name=\"...\"");
  for (const XMLElement* e = robot.FirstChildElement(); e; e = e->NextSiblingElement()) {
    const std::string_view kind = e->Name();
    if (kind == "link")
      read_link(*e);
    else if (kind == "joint")
      read_joint(*e);
    else if (kind == "transmission")
      ignore("element <transmission>", e->GetLineNum(), "give rotor inertia as armature in <dynamics>",
             Severity::note);
    else if (kind == "gazebo")
      ignore("element <gazebo>", e->GetLineNum(), "it does not change the dynamics here", Severity::note);
    else if (kind.starts_with("xacro:"))
      refuse_xacro(*e);
    else if (kind != "material")
      ignore("element <" + shown(kind) + "> in <robot>", e->GetLineNum(), "correct or remove it");
  }
  if (out_.spec.links.empty() && errors_ == 0)
    error(robot.GetLineNum(), "<robot> has no <link>; add at least one");
}

void Reader::ignore(const std::string& what, int line, const char* advice, Severity severity) {
  Ignored& entry = ignored_[what];
  if (entry.count++ == 0) entry.line = line, entry.advice = advice, entry.severity = severity;
}

void Reader::note_ignored() {
  for (const auto& [what, entry] : ignored_)
    out_.findings.push_back(
        {entry.severity, where(entry.line),
         fmt::format("ignored: {}{}; {}", what,
                     entry.count > 1 ? fmt::format(" ({} of them, this is the first)", entry.count) : "",
                     entry.advice)});
}

// --- children and attributes -------------------------------------------------------------------------
const XMLElement* Reader::child(const XMLElement& parent, const char* name, const std::string& owner,
                                Twice twice) {
  const XMLElement* first = parent.FirstChildElement(name);
  const XMLElement* second = first ? first->NextSiblingElement(name) : nullptr;
  if (second && twice == Twice::error)
    error(second->GetLineNum(), "{} has <{}> twice, in lines {} and {}; expected it once: remove one", owner,
          name, first->GetLineNum(), second->GetLineNum());
  else if (second)
    warning(second->GetLineNum(), "{} has <{}> twice; the first one, in line {}, is used: remove the other",
            owner, name, first->GetLineNum());
  return first;
}

void Reader::check_attributes(const XMLElement& e, std::initializer_list<std::string_view> known) {
  std::string unknown;
  int line = 0;
  for (const XMLAttribute* a = e.FirstAttribute(); a; a = a->Next()) {
    const std::string_view name = a->Name();
    const bool foreign = name.find(':') != name.npos;
    if (foreign || std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (unknown.empty()) line = a->GetLineNum();
    if (unknown.size() < 200) unknown += (unknown.empty() ? "" : ", ") + in_quotes(name);
  }
  if (!unknown.empty())
    ignore(fmt::format("{} of <{}>", unknown, e.Name()), line,
           "URDF has no such attribute there: correct or remove it");
}

void Reader::note_unknown_children(const XMLElement& e, std::initializer_list<std::string_view> known) {
  for (const XMLElement* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) {
    const std::string_view name = c->Name();
    if (name.starts_with("xacro:")) refuse_xacro(*c);
    const bool foreign = name.find(':') != name.npos;
    if (!foreign && std::find(known.begin(), known.end(), name) == known.end())
      ignore(fmt::format("element <{}> in <{}>", shown(name), e.Name()), c->GetLineNum(),
             "URDF has no such element there: correct or remove it");
  }
}

std::string Reader::name_of_element(const XMLElement& e, const char* what) {
  const char* name = e.Attribute("name");
  if (name && *name) return name;
  error(e.GetLineNum(), "a <{}> has no name; add name=\"...\"", what);
  return "";
}

std::optional<std::string> Reader::text(const XMLElement& e, const char* attribute, const std::string&) {
  const char* value = e.Attribute(attribute);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<double> Reader::optional_number(const XMLElement& e, const char* attribute,
                                              const std::string& owner) {
  const XMLAttribute* a = e.FindAttribute(attribute);
  if (!a) return std::nullopt;
  const auto words = words_of(a->Value(), 1);
  const auto value = words.size() == 1 ? number_of(words[0]) : std::nullopt;
  if (value) return value;
  error(a->GetLineNum(), "{} of <{}> of {} is {}; expected one finite number{}", attribute, e.Name(), owner,
        in_quotes(a->Value()), advice_on(a->Value()));
  return nan;
}

double Reader::number(const XMLElement& e, const char* attribute, const std::string& owner) {
  if (const auto value = optional_number(e, attribute, owner)) return *value;
  error(e.GetLineNum(), "<{}> of {} has no attribute {}; expected a number: add it", e.Name(), owner,
        attribute);
  return nan;
}

V3 Reader::vector(const XMLElement& e, const char* attribute, const std::string& owner, const V3& missing) {
  const XMLAttribute* a = e.FindAttribute(attribute);
  if (!a) return missing;
  const auto words = words_of(a->Value(), 3);
  std::array<std::optional<double>, 3> values;
  if (words.size() == 3)
    for (std::size_t i = 0; i < 3; ++i) values[i] = number_of(words[i]);
  if (values[0] && values[1] && values[2]) return {*values[0], *values[1], *values[2]};
  error(a->GetLineNum(), "{} of <{}> of {} is {}; expected three finite numbers separated by spaces{}",
        attribute, e.Name(), owner, in_quotes(a->Value()), advice_on(a->Value()));
  return {nan, nan, nan};
}

bool is_zero(const V3& a) { return a.x == 0 && a.y == 0 && a.z == 0; }

Pose Reader::origin(const XMLElement& parent, const std::string& owner) {
  const XMLElement* e = child(parent, "origin", owner, Twice::error);
  if (!e) return {};
  check_attributes(*e, {"xyz", "rpy"});
  const V3 rpy = vector(*e, "rpy", owner, {0, 0, 0});
  Pose pose;
  pose.p = vector(*e, "xyz", owner, {0, 0, 0});
  if (!is_zero(rpy)) pose.R = rotation_from_rpy(rpy.x, rpy.y, rpy.z);
  return pose;
}

// --- links -------------------------------------------------------------------------------------------
void Reader::read_link(const XMLElement& e) {
  const int before = errors_;
  LinkSpec link;
  link.name = name_of_element(e, "link");
  link.where = where(e.GetLineNum());
  const std::string owner = "link " + in_quotes(link.name);
  check_attributes(e, {"name", "type"});
  note_unknown_children(e, {"inertial", "visual", "collision", "contact"});
  if (const XMLElement* inertial = child(e, "inertial", owner, Twice::error))
    link.mass = read_inertial(*inertial, owner);
  if (errors_ > before) link.mass.mass = nan;  // nothing can be built of it
  out_.spec.add_link(std::move(link));
}

/// R J R*
Sym3<double> turned(const Mat3<double>& R, const Sym3<double>& J) { return symmetric(R * (J * star(R))); }

MassProperties Reader::read_inertial(const XMLElement& e, const std::string& owner) {
  note_unknown_children(e, {"origin", "mass", "inertia"});
  const Pose pose = origin(e, "the inertial of " + owner);
  MassProperties out;
  out.center_of_mass = pose.p;
  if (const XMLElement* mass = child(e, "mass", owner, Twice::error)) {
    check_attributes(*mass, {"value"});
    out.mass = number(*mass, "value", owner);
  } else {
    error(e.GetLineNum(), "<inertial> of {} has no <mass>; add <mass value=\"...\"/>, or remove <inertial>",
          owner);
  }
  const Sym3<double> J = read_inertia(e, owner);
  const Mat3<double> Id = Mat3<double>::identity();
  const bool straight = std::memcmp(&pose.R, &Id, sizeof Id) == 0;
  out.inertia = straight ? J : turned(pose.R, J);
  return out;
}

Sym3<double> Reader::read_inertia(const XMLElement& inertial, const std::string& owner) {
  const XMLElement* e = child(inertial, "inertia", owner, Twice::error);
  if (!e) {
    warning(inertial.GetLineNum(),
            "<inertial> of {} has no <inertia>; it is taken as a point mass: add <inertia ixx=... />", owner);
    return {0, 0, 0, 0, 0, 0};
  }
  check_attributes(*e, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
  const auto product = [&](const char* attribute) {
    if (const auto value = optional_number(*e, attribute, owner)) return *value;
    warning(e->GetLineNum(), "<inertia> of {} has no attribute {}; it is taken as 0: add it", owner,
            attribute);
    return 0.0;
  };
  const double xx = number(*e, "ixx", owner), yy = number(*e, "iyy", owner), zz = number(*e, "izz", owner);
  const double xy = product("ixy"), xz = product("ixz"), yz = product("iyz");
  return {xx, yy, zz, xy, xz, yz};
}

// --- joints ------------------------------------------------------------------------------------------
void Reader::read_joint(const XMLElement& e) {
  const int before = errors_;
  JointSpec joint;
  joint.name = name_of_element(e, "joint");
  joint.where = where(e.GetLineNum());
  const std::string owner = "joint " + in_quotes(joint.name);
  check_attributes(e, {"name", "type"});
  note_unknown_children(e, {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic",
                            "safety_controller", "calibration"});
  joint.kind = read_kind(e, owner);
  joint.parent = read_link_name(e, "parent", owner);
  joint.child = read_link_name(e, "child", owner);
  joint.placement = origin(e, owner);
  joint.axis = read_axis(e, joint.kind, owner);
  joint.limits = read_limits(e, joint.kind, owner);
  read_dynamics(e, owner, joint);
  joint.mimic = read_mimic(e, joint.kind, owner);
  if (errors_ > before) joint.placement.p.x = nan;  // nothing can be built of it
  out_.spec.add_joint(std::move(joint));
}

constexpr std::pair<std::string_view, JointKind> urdf_kinds[] = {
    {"revolute", JointKind::revolute},   {"continuous", JointKind::continuous},
    {"prismatic", JointKind::prismatic}, {"fixed", JointKind::fixed},
    {"planar", JointKind::planar},       {"floating", JointKind::free},
};

JointKind Reader::read_kind(const XMLElement& e, const std::string& owner) {
  const auto type = text(e, "type", owner);
  for (const auto& [name, kind] : urdf_kinds)
    if (type && *type == name) return kind;
  error(e.GetLineNum(),
        "{} has {}; expected type=\"revolute\", \"continuous\", \"prismatic\", \"fixed\", \"planar\" or "
        "\"floating\"",
        owner, type ? "the type " + in_quotes(*type) : "no type");
  return JointKind::fixed;
}

std::string Reader::read_link_name(const XMLElement& joint, const char* which, const std::string& owner) {
  const XMLElement* e = child(joint, which, owner, Twice::error);
  if (e) check_attributes(*e, {"link"});
  const auto name = e ? text(*e, "link", owner) : std::nullopt;
  if (name && !name->empty()) return *name;
  error(e ? e->GetLineNum() : joint.GetLineNum(), "{} has no {} link; add <{} link=\"...\"/>", owner, which,
        which);
  return "";
}

V3 Reader::read_axis(const XMLElement& joint, JointKind kind, const std::string& owner) {
  constexpr V3 missing{1, 0, 0};  // by the URDF specification
  const XMLElement* e = child(joint, "axis", owner, Twice::error);
  // Fixed and floating joints often carry an axis, even a zero one, that means nothing.
  if (!e || kind == JointKind::fixed || kind == JointKind::free) return missing;
  check_attributes(*e, {"xyz"});
  const V3 axis = vector(*e, "xyz", owner, missing);
  const double length = std::hypot(axis.x, axis.y, axis.z);
  if (std::isnan(length)) return axis;
  if (!(length > 1e-30 && length < 1e30)) {
    error(e->GetLineNum(),
          "the axis of {} is ({:.6g}, {:.6g}, {:.6g}); expected a direction of unit length, such as 0 0 1",
          owner, axis.x, axis.y, axis.z);
    return axis;
  }
  const double deviation = std::abs(length - 1);
  if (deviation < 2e-15) return axis;  // a unit vector, but for rounding: keep its bits
  const V3 unit = axis * (1 / length);
  if (deviation > axis_tolerance)
    warning(e->GetLineNum(),
            "the axis of {} is ({:.6g}, {:.6g}, {:.6g}) with length {:.9g}; expected unit length: it is "
            "normalised, give "
            "xyz=\"{} {} {}\"",
            owner, axis.x, axis.y, axis.z, length, unit.x, unit.y, unit.z);
  return unit;
}

JointLimits Reader::read_limits(const XMLElement& joint, JointKind kind, const std::string& owner) {
  JointLimits limits;
  const bool ranged = kind == JointKind::revolute || kind == JointKind::prismatic;
  const XMLElement* e = child(joint, "limit", owner, Twice::warning);
  if (!e) {
    if (ranged)
      warning(joint.GetLineNum(),
              "{} has no <limit>, which URDF asks for; it is taken as unlimited: add one, or {}", owner,
              kind == JointKind::revolute ? "make it continuous" : "give a wide range");
    return limits;
  }
  read_range(*e, kind, owner, limits);
  for (const auto& [attribute, value] :
       {std::pair("effort", &limits.effort), std::pair("velocity", &limits.velocity)}) {
    if (const auto given = optional_number(*e, attribute, owner))
      *value = *given == largest ? infinity : *given;
    else if (ranged)
      warning(e->GetLineNum(),
              "<limit> of {} has no {}, which URDF asks for; it is taken as unlimited: add it", owner,
              attribute);
  }
  return limits;
}

/// URDF reads a missing bound as 0; if both are missing, the range that this gives cannot be meant.
void Reader::read_range(const XMLElement& limit, JointKind kind, const std::string& owner,
                        JointLimits& limits) {
  const auto lower = optional_number(limit, "lower", owner), upper = optional_number(limit, "upper", owner);
  const bool ranged = kind == JointKind::revolute || kind == JointKind::prismatic;
  if (!lower && !upper) {
    if (ranged)
      warning(limit.GetLineNum(),
              "<limit> of {} has no lower and no upper bound; it is taken as unlimited: add them", owner);
    return;
  }
  limits.lower = lower.value_or(0);
  limits.upper = upper.value_or(0);
  // The largest double stands for "no bound", see write_urdf.
  if (limits.lower == -largest) limits.lower = -infinity;
  if (limits.upper == largest) limits.upper = infinity;
}

void Reader::read_dynamics(const XMLElement& joint, const std::string& owner, JointSpec& out) {
  const XMLElement* e = child(joint, "dynamics", owner, Twice::error);
  if (!e) return;
  check_attributes(*e, {"damping", "friction", "armature"});
  out.damping = optional_number(*e, "damping", owner).value_or(0);
  out.friction = optional_number(*e, "friction", owner).value_or(0);
  out.armature = optional_number(*e, "armature", owner).value_or(0);
}

std::optional<Mimic> Reader::read_mimic(const XMLElement& joint, JointKind kind, const std::string& owner) {
  const XMLElement* e = child(joint, "mimic", owner, Twice::error);
  if (!e) return std::nullopt;
  if (kind == JointKind::fixed) {
    ignore("<mimic> of a fixed joint", e->GetLineNum(), "remove it, or give the joint a freedom",
           Severity::note);
    return std::nullopt;
  }
  check_attributes(*e, {"joint", "multiplier", "offset"});
  const auto source = text(*e, "joint", owner);
  if (!source || source->empty())
    error(e->GetLineNum(), "<mimic> of {} does not say which joint; add joint=\"...\"", owner);
  return Mimic{source.value_or(""), optional_number(*e, "multiplier", owner).value_or(1),
               optional_number(*e, "offset", owner).value_or(0)};
}

// --- the writer --------------------------------------------------------------------------------------
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
      case '\r':
      case '\t':
        out += fmt::format("&#{};", int(c));
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Shortest text that reads back as the same number. The sign of zero is kept.
std::string say(const V3& a) { return fmt::format("{} {} {}", a.x, a.y, a.z); }

bool same(const Mat3<double>& a, const Mat3<double>& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
double distance(const Mat3<double>& a, const Mat3<double>& b) {
  const Mat3<double> d = a - b;
  double worst = 0;
  for (const double x : {d.xx, d.xy, d.xz, d.yx, d.yy, d.yz, d.zx, d.zy, d.zz})
    worst = std::max(worst, std::abs(x));
  return worst;
}

/// Roll, pitch and yaw of R, exact also near pitch = pi/2: there roll makes up for whatever yaw is chosen.
V3 angles_of(const Mat3<double>& R) {
  const double pitch = std::atan2(-R.zx, std::hypot(R.xx, R.yx)), yaw = std::atan2(R.yx, R.xx);
  const double s = std::sin(yaw), c = std::cos(yaw);
  return {std::atan2(s * R.xz - c * R.yz, c * R.yy - s * R.xy), pitch, yaw};
}

/// The angles within two last places of those above that give R best; if R came from a URDF file, R itself.
V3 best_angles(const Mat3<double>& R) {
  const V3 start = angles_of(R);
  V3 best = start;
  double least = distance(rotation_from_rpy(start.x, start.y, start.z), R);
  const auto around = [](double x) {
    const double up = std::nextafter(x, infinity), down = std::nextafter(x, -infinity);
    return std::array{x, up, down, std::nextafter(up, infinity), std::nextafter(down, -infinity)};
  };
  for (const double roll : around(start.x))
    for (const double pitch : around(start.y))
      for (const double yaw : around(start.z)) {
        if (least == 0) return best;
        const double off = distance(rotation_from_rpy(roll, pitch, yaw), R);
        if (off < least) best = {roll, pitch, yaw}, least = off;
      }
  return best;
}

class Writer {
 public:
  explicit Writer(const ModelSpec& spec) : spec_(spec) {}
  std::string write();

 private:
  void write_link(const LinkSpec& link);
  void write_joint(const JointSpec& joint);
  void write_origin(const Pose& pose);
  void write_limit(const JointSpec& joint);
  void write_frame(const FrameSpec& frame);
  void write_weld(const std::string& child, const std::string& parent, const Pose& placement,
                  std::string name);
  bool needs_world() const;
  void weld_root();
  template <class... A>
  void line(fmt::format_string<A...> text, A&&... a) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<A>(a)...);
    out_ += '\n';
  }

  const ModelSpec& spec_;
  std::string out_;
  std::set<std::string, std::less<>> joint_names_;
};

std::string Writer::write() {
  line("<?xml version=\"1.0\"?>");
  line("<robot name=\"{}\">", escaped(spec_.name));
  for (const auto& joint : spec_.joints) joint_names_.insert(joint.name);
  const bool adds_world = needs_world();
  if (adds_world) line("  <link name=\"{}\"/>", world);
  for (const auto& link : spec_.links) write_link(link);
  for (const auto& joint : spec_.joints) write_joint(joint);
  if (adds_world) weld_root();
  for (const auto& frame : spec_.frames) write_frame(frame);
  line("</robot>");
  return std::move(out_);
}

/// Does something hang from the world by its name, while no link has that name?
bool Writer::needs_world() const {
  const auto is_world = [](const LinkSpec& link) { return link.name == world; };
  const auto hangs = [](const JointSpec& joint) { return joint.parent == world; };
  const auto stays = [](const FrameSpec& frame) { return frame.link == world; };
  return std::none_of(spec_.links.begin(), spec_.links.end(), is_world) &&
         (std::any_of(spec_.joints.begin(), spec_.joints.end(), hangs) ||
          std::any_of(spec_.frames.begin(), spec_.frames.end(), stays));
}

/// The world being a link now, the root that stood on it without a joint needs one: URDF allows one root.
void Writer::weld_root() {
  std::set<std::string_view> children;
  for (const auto& joint : spec_.joints) children.insert(joint.child);
  for (const auto& link : spec_.links)
    if (!children.contains(link.name)) write_weld(link.name, std::string(world), {}, link.name + "_to_world");
}

template <class... D>
void require_finite(const std::string& owner, D... numbers) {
  if ((std::isfinite(numbers) && ...)) return;
  throw ModelError(owner +
                   " has a number that is not finite, which URDF cannot say; correct it before writing");
}
void require_finite(const std::string& owner, const Pose& pose) {
  const Mat3<double>& R = pose.R;
  require_finite(owner, pose.p.x, pose.p.y, pose.p.z, R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz);
}

void Writer::write_link(const LinkSpec& link) {
  const MassProperties& m = link.mass;
  const Sym3<double>& J = m.inertia;
  const V3& c = m.center_of_mass;
  require_finite("link '" + link.name + "'", m.mass, c.x, c.y, c.z, J.xx, J.yy, J.zz, J.xy, J.xz, J.yz);
  const bool empty = m.mass == 0 && is_zero(c) && is_zero({J.xx, J.yy, J.zz}) && is_zero({J.xy, J.xz, J.yz});
  if (empty) {
    line("  <link name=\"{}\"/>", escaped(link.name));
    return;
  }
  line("  <link name=\"{}\">", escaped(link.name));
  line("    <inertial>");
  line("      <origin xyz=\"{}\"/>", say(c));
  line("      <mass value=\"{}\"/>", m.mass);
  line("      <inertia ixx=\"{}\" ixy=\"{}\" ixz=\"{}\" iyy=\"{}\" iyz=\"{}\" izz=\"{}\"/>", J.xx, J.xy, J.xz,
       J.yy, J.yz, J.zz);
  line("    </inertial>");
  line("  </link>");
}

void Writer::write_origin(const Pose& pose) {
  if (same(pose.R, Mat3<double>::identity()))
    line("    <origin xyz=\"{}\"/>", say(pose.p));
  else
    line("    <origin xyz=\"{}\" rpy=\"{}\"/>", say(pose.p), say(best_angles(pose.R)));
}

std::string_view urdf_name(const JointSpec& joint) {
  for (const auto& [name, kind] : urdf_kinds)
    if (kind == joint.kind) return name;
  throw ModelError(
      fmt::format("joint '{}' is {}, which URDF has no name for; replace it by revolute and prismatic joints "
                  "with massless links between them",
                  joint.name, name_of(joint.kind)));
}

void Writer::write_joint(const JointSpec& joint) {
  const std::string owner = "joint '" + joint.name + "'";
  require_finite(owner, joint.placement);
  require_finite(owner, joint.axis.x, joint.axis.y, joint.axis.z, joint.damping, joint.friction,
                 joint.armature);
  line("  <joint name=\"{}\" type=\"{}\">", escaped(joint.name), urdf_name(joint));
  line("    <parent link=\"{}\"/>", escaped(joint.parent));
  line("    <child link=\"{}\"/>", escaped(joint.child));
  write_origin(joint.placement);
  if (joint.kind != JointKind::fixed && joint.kind != JointKind::free)
    line("    <axis xyz=\"{}\"/>", say(joint.axis));
  write_limit(joint);
  if (joint.damping != 0 || joint.friction != 0 || joint.armature != 0) {
    const std::string armature = joint.armature == 0 ? "" : fmt::format(" armature=\"{}\"", joint.armature);
    line("    <dynamics damping=\"{}\" friction=\"{}\"{}/>", joint.damping, joint.friction, armature);
  }
  if (joint.mimic) {
    require_finite(owner, joint.mimic->multiplier, joint.mimic->offset);
    line("    <mimic joint=\"{}\" multiplier=\"{}\" offset=\"{}\"/>", escaped(joint.mimic->joint),
         joint.mimic->multiplier, joint.mimic->offset);
  }
  line("  </joint>");
}

/// A bound that is missing reads as 0, so that half a range needs a number for infinity: the largest one.
void Writer::write_limit(const JointSpec& joint) {
  const JointLimits& l = joint.limits;
  if (std::isnan(l.lower) || std::isnan(l.upper) || std::isnan(l.effort) || std::isnan(l.velocity))
    throw ModelError("joint '" + joint.name + "' has a limit that is NaN; correct it before writing");
  std::string text;
  if (std::isfinite(l.lower) || std::isfinite(l.upper))
    text += fmt::format(" lower=\"{}\" upper=\"{}\"", std::clamp(l.lower, -largest, largest),
                        std::clamp(l.upper, -largest, largest));
  if (std::isfinite(l.effort)) text += fmt::format(" effort=\"{}\"", l.effort);
  if (std::isfinite(l.velocity)) text += fmt::format(" velocity=\"{}\"", l.velocity);
  if (!text.empty()) line("    <limit{}/>", text);
}

void Writer::write_frame(const FrameSpec& frame) {
  require_finite("frame '" + frame.name + "'", frame.placement);
  line("  <link name=\"{}\"/>", escaped(frame.name));
  write_weld(frame.name, frame.link, frame.placement, frame.name + "_joint");
}

void Writer::write_weld(const std::string& child, const std::string& parent, const Pose& placement,
                        std::string name) {
  while (!joint_names_.insert(name).second) name += '_';
  line("  <joint name=\"{}\" type=\"fixed\">", escaped(name));
  line("    <parent link=\"{}\"/>", escaped(parent));
  line("    <child link=\"{}\"/>", escaped(child));
  write_origin(placement);
  line("  </joint>");
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw ModelError(fmt::format("{}: cannot be opened ({}); check the path", path, std::strerror(errno)));
  std::ostringstream content;
  content << file.rdbuf();
  // A folder opens like a file, and fails when it is read.
  if (file.bad() || (content.fail() && std::filesystem::is_directory(path)))
    throw ModelError(fmt::format("{}: cannot be read; expected a URDF file", path));
  return std::move(content).str();
}

}  // namespace

UrdfResult parse_urdf_spec(std::string_view text, const std::string& name) { return Reader(name).read(text); }

UrdfResult read_urdf_spec(const std::string& path) { return parse_urdf_spec(content_of(path), path); }

std::vector<Finding> find_problems(const UrdfResult& urdf, Base base) {
  std::vector<Finding> findings = urdf.findings;
  const auto is_error = [](const Finding& f) { return f.severity == Severity::error; };
  if (std::none_of(findings.begin(), findings.end(), is_error)) {
    auto more = find_problems(urdf.spec, base);
    findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  std::stable_partition(findings.begin(), findings.end(), is_error);
  return findings;
}

Model read_urdf(const std::string& path, const BuildOptions& options) {
  const UrdfResult urdf = read_urdf_spec(path);
  const auto is_error = [](const Finding& f) { return f.severity == Severity::error; };
  const auto first = std::find_if(urdf.findings.begin(), urdf.findings.end(), is_error);
  if (first != urdf.findings.end()) {
    const auto more = std::count_if(first + 1, urdf.findings.end(), is_error);
    throw ModelError(fmt::format("{}: {}{}", first->where, first->message,
                                 more > 0 ? fmt::format(" (and {} more errors)", more) : ""));
  }
  return Model(urdf.spec, options);
}

std::string write_urdf(const ModelSpec& spec) { return Writer(spec).write(); }

}  // namespace articula
