#include "articula/files/xml_reader.hpp"

#include <algorithm>
#include <array>

#include "articula/error.hpp"
#include "articula/files/xml_text.hpp"

namespace articula {

namespace {

using V3 = Vec3<double>;

std::string advice_on(std::string_view text) {
  if (text.find("${") != text.npos || text.find("$(") != text.npos)
    return "; expand the file with xacro first";
  if (text.find(',') != text.npos) return "; separate numbers by spaces and write decimals with a point";
  return "; correct it";
}

int line_of(const tinyxml2::XMLAttribute& a, const tinyxml2::XMLElement& e) {
  return a.GetLineNum() > 0 ? a.GetLineNum() : e.GetLineNum();
}

}  // namespace

void XmlReader::give_up(int line, const std::string& message) const {
  throw ModelError(fmt::format("{}: {}", where(line), message));
}

const tinyxml2::XMLElement* XmlReader::child(const tinyxml2::XMLElement& parent, const char* name,
                                             const std::string& owner) {
  const tinyxml2::XMLElement* first = parent.FirstChildElement(name);
  const tinyxml2::XMLElement* second = first ? first->NextSiblingElement(name) : nullptr;
  if (second)
    warning(second->GetLineNum(), "{} has <{}> twice; the first one, in line {}, is used: remove the other",
            owner, name, first->GetLineNum());
  return first;
}

void XmlReader::check_attributes(const tinyxml2::XMLElement& e,
                                 std::initializer_list<std::string_view> known) {
  std::string unknown;
  int line = 0;
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a; a = a->Next()) {
    const std::string_view name = a->Name();
    const bool foreign = name.find(':') != name.npos;
    if (foreign || std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (unknown.empty()) line = line_of(*a, e);
    if (unknown.size() < 200) unknown += (unknown.empty() ? "" : ", ") + in_quotes(name);
  }
  if (!unknown.empty())
    ignore(fmt::format("{} of <{}>", unknown, e.Name()), line,
           "URDF has no such attribute there: correct or remove it");
}

void XmlReader::note_unknown_children(const tinyxml2::XMLElement& e,
                                      std::initializer_list<std::string_view> known) {
  for (const tinyxml2::XMLElement* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) {
    const std::string_view name = c->Name();
    if (name.starts_with("xacro:")) leftover(*c);
    const bool foreign = name.find(':') != name.npos;
    if (!foreign && std::find(known.begin(), known.end(), name) == known.end())
      ignore(fmt::format("element <{}> in <{}>", shown(name), e.Name()), c->GetLineNum(),
             "URDF has no such element there: correct or remove it");
  }
}

std::string XmlReader::name_of_element(const tinyxml2::XMLElement& e, const char* what) {
  const char* name = e.Attribute("name");
  if (name && *name) return name;
  error(e.GetLineNum(), "a <{}> has no name; add name=\"...\"", what);
  return "";
}

std::optional<std::string> XmlReader::text(const tinyxml2::XMLElement& e, const char* attribute) const {
  const char* value = e.Attribute(attribute);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<double> XmlReader::optional_number(const tinyxml2::XMLElement& e, const char* attribute,
                                                 const std::string& owner) {
  const tinyxml2::XMLAttribute* a = e.FindAttribute(attribute);
  if (!a) return std::nullopt;
  const auto words = words_of(a->Value(), 1);
  const auto value = words.size() == 1 ? number_of(words[0]) : std::nullopt;
  if (value) return value;
  error(line_of(*a, e), "{} of <{}> of {} is {}; expected one finite number{}", attribute, e.Name(), owner,
        in_quotes(a->Value()), advice_on(a->Value()));
  return nan;
}

double XmlReader::number(const tinyxml2::XMLElement& e, const char* attribute, const std::string& owner) {
  if (const auto value = optional_number(e, attribute, owner)) return *value;
  error(e.GetLineNum(), "<{}> of {} has no attribute {}; expected a number: add it", e.Name(), owner,
        attribute);
  return nan;
}

V3 XmlReader::vector(const tinyxml2::XMLElement& e, const char* attribute, const std::string& owner,
                     const V3& missing) {
  const tinyxml2::XMLAttribute* a = e.FindAttribute(attribute);
  if (!a) return missing;
  const auto words = words_of(a->Value(), 3);
  std::array<std::optional<double>, 3> values;
  if (words.size() == 3)
    for (std::size_t i = 0; i < 3; ++i) values[i] = number_of(words[i]);
  if (values[0] && values[1] && values[2]) return {*values[0], *values[1], *values[2]};
  error(line_of(*a, e), "{} of <{}> of {} is {}; expected three finite numbers separated by spaces{}",
        attribute, e.Name(), owner, in_quotes(a->Value()), advice_on(a->Value()));
  return {nan, nan, nan};
}

void XmlReader::ignore(const std::string& what, int line, const char* advice, Severity severity) {
  Ignored& entry = ignored_[what];
  if (entry.count++ == 0) entry.line = line, entry.advice = advice, entry.severity = severity;
}

void XmlReader::leftover(const tinyxml2::XMLElement& e) {
  if (leftovers_.count++ == 0) leftovers_.line = e.GetLineNum(), leftovers_.name = e.Name();
}

void XmlReader::note_ignored() {
  if (leftovers_.count > 0)  // the first to be read: the rest is not the model that is meant
    out_.findings.insert(
        out_.findings.begin(),
        {Severity::warning, where(leftovers_.line),
         fmt::format("THIS MODEL IS INCOMPLETE: <{}>{} was not expanded, and what it would add is missing; "
                     "run the file through xacro first",
                     shown(leftovers_.name),
                     leftovers_.count > 1 ? fmt::format(" and {} more", leftovers_.count - 1) : "")});
  for (const auto& [what, entry] : ignored_)
    out_.findings.push_back(
        {entry.severity, where(entry.line),
         fmt::format("ignored: {}{}; {}", what,
                     entry.count > 1 ? fmt::format(" ({} of them, this is the first)", entry.count) : "",
                     entry.advice)});
}

}  // namespace articula
