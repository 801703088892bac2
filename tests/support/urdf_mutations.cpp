#include "tests/support/urdf_mutations.hpp"

#include <tinyxml2.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "articula/files/urdf.hpp"

namespace articula::testing {

namespace {

[[noreturn]] void fail(const char* what, const std::string& detail, const std::string& text) {
  std::fprintf(stderr, "urdf fuzz: %s: %s\n---- input ----\n%s\n---- end ----\n", what, detail.c_str(),
               text.c_str());
  std::abort();
}

bool has_errors(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Finding::Severity::error; });
}

void check_findings(const std::vector<Finding>& findings, const std::string& text) {
  for (const auto& f : findings) {
    if (f.message.empty()) fail("a finding says nothing", describe(f), text);
    if (!f.where.empty() && !f.where.starts_with("fuzz:")) fail("a finding is nowhere", describe(f), text);
  }
}

void check_rewriting(const LoadedModel& read, const std::string& text) {
  const std::string written = write_urdf(read.spec);
  const LoadedModel again = parse_urdf_spec(written, "fuzz");
  if (has_errors(again.findings))
    fail("what was written cannot be read", describe(again.findings.front()), text);
  if (again.spec.joints.size() < read.spec.joints.size()) fail("joints were lost in writing", written, text);
  if (has_errors(find_problems(again.spec, Base::fixed)))
    fail("what was written is not sound", written, text);
}

}  // namespace

Outcome exercise_urdf(const std::string& text) {
  LoadedModel read;
  try {
    read = parse_urdf_spec(text, "fuzz");
  } catch (const ModelError& e) {
    if (!std::string_view(e.what()).starts_with("fuzz:")) fail("an error is nowhere", e.what(), text);
    return Outcome::refused;
  }
  check_findings(read.findings, text);
  Outcome outcome = has_errors(read.findings) ? Outcome::unreadable : Outcome::unsound;
  for (const Base base : {Base::fixed, Base::free}) {
    const auto findings = find_problems(read.spec, base);
    check_findings(findings, text);
    if (has_errors(findings)) continue;
    if (has_errors(read.findings)) fail("a model can be built of what could not be read", "", text);
    try {
      const Model model(read.spec, {.base = base});
      if (model.nv() > model.nq()) fail("more velocities than coordinates", "", text);
      if (base == Base::fixed) check_rewriting(read, text);
      outcome = Outcome::sound;
    } catch (const Error& e) {
      fail("no model of a sound specification", e.what(), text);
    }
  }
  return outcome;
}

// --- inputs ------------------------------------------------------------------------------------------
std::vector<std::string> urdf_seeds() {
  const std::string inertial =
      "<inertial><origin xyz=\"0.1 0 0.2\" rpy=\"0.1 0.2 0.3\"/><mass value=\"2\"/>"
      "<inertia ixx=\"0.02\" ixy=\"0.001\" ixz=\"0\" iyy=\"0.03\" iyz=\"-1e-3\" izz=\"2.5e-2\"/></inertial>";
  const std::string limit = "<limit lower=\"-1\" upper=\"1.5\" effort=\"10\" velocity=\"3\"/>";
  const auto link = [&](const char* name) {
    return std::string("<link name=\"") + name + "\">" + inertial + "</link>\n";
  };
  const auto joint = [&](const char* name, const char* type, const char* parent, const char* child,
                         const std::string& more) {
    return std::string("<joint name=\"") + name + "\" type=\"" + type + "\"><parent link=\"" + parent +
           "\"/><child link=\"" + child + "\"/><origin xyz=\"0.3 0 0.1\" rpy=\"0 1.57 0\"/>" + more +
           "</joint>\n";
  };
  std::vector<std::string> seeds;
  seeds.push_back("<robot name=\"one\"><link name=\"a\"/></robot>");
  seeds.push_back("<robot name=\"two\">\n<link name=\"a\"/>" + link("b") +
                  joint("j", "revolute", "a", "b", "<axis xyz=\"0 0 1\"/>" + limit) + "</robot>");
  seeds.push_back("<?xml version=\"1.0\"?><!-- all types -->\n<robot name=\"types\">" + link("a") +
                  link("b") + link("c") + link("d") + link("e") + link("f") + "<link name=\"g\"/>" +
                  joint("r", "revolute", "a", "b",
                        "<axis xyz=\"0 1 0\"/><dynamics damping=\"0.1\" friction=\"0.2\"/>" + limit) +
                  joint("c", "continuous", "b", "c", "<dynamics armature=\"0.01\"/>") +
                  joint("p", "prismatic", "c", "d", "<axis xyz=\"0.6 0 0.8\"/>" + limit) +
                  joint("n", "planar", "d", "e", "<axis xyz=\"0 0 1\"/>") +
                  joint("f", "floating", "a", "f", "") + joint("x", "fixed", "e", "g", "") + "</robot>");
  seeds.push_back(
      "<robot name=\"mimic\">" + link("a") + link("b") + link("c") + link("d") +
      joint("j", "continuous", "a", "b", "<axis xyz=\"0 0 1\"/>") +
      joint("k", "continuous", "b", "c",
            "<axis xyz=\"0 1 0\"/><mimic joint=\"j\" multiplier=\"-2\" offset=\"0.5\"/>") +
      joint("l", "prismatic", "b", "d", limit + "<mimic joint=\"k\"/><safety_controller k_velocity=\"1\"/>") +
      "<transmission name=\"t\"><type>x</type></transmission><gazebo/><material name=\"m\"/></robot>");
  seeds.push_back("<robot name=\"world\"><link name=\"world\"/>" + link("a") + "<link name=\"b\"/>" +
                  joint("w", "fixed", "world", "a", "") +
                  joint("j", "continuous", "a", "b", "<dynamics armature=\"1\"/>") + "</robot>");
  return seeds;
}

namespace {

using tinyxml2::XMLElement;

const char* const numbers[] = {"0",
                               "-0",
                               "1",
                               "-1",
                               "1e-300",
                               "1e300",
                               "1e999",
                               "-1e308",
                               "nan",
                               "inf",
                               "",
                               " ",
                               "1 2",
                               "1 2 3",
                               "0 0 0",
                               "1,2",
                               "0x1p3",
                               "1e",
                               "1e-20",
                               "+1",
                               "--1",
                               "3.14159265",
                               "1e20",
                               "1e-9",
                               "12345678901234567890",
                               "0 0 1",
                               "1 0 0",
                               "${pi}",
                               "1e5 0 0",
                               "nan nan nan",
                               "1.7976931348623157e308"};
const char* const names[] = {
    "robot", "link",     "joint",  "inertial", "mass",       "inertia",     "origin", "axis",  "limit",
    "mimic", "parent",   "child",  "dynamics", "visual",     "gazebo",      "name",   "type",  "xyz",
    "rpy",   "value",    "ixx",    "izz",      "lower",      "upper",       "effort", "world", "",
    "fixed", "floating", "planar", "revolute", "multiplier", "xacro:macro", "a",      "b",     "j"};

template <class T, std::size_t n>
const T& pick(const T (&things)[n], Dice& dice) {
  return things[dice.below(n)];
}

std::vector<XMLElement*> elements_of(tinyxml2::XMLDocument& document) {
  std::vector<XMLElement*> out;
  if (XMLElement* root = document.RootElement()) out.push_back(root);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (XMLElement* e = out[i]->FirstChildElement(); e; e = e->NextSiblingElement()) out.push_back(e);
  return out;
}

std::vector<const tinyxml2::XMLAttribute*> attributes_of(const XMLElement& e) {
  std::vector<const tinyxml2::XMLAttribute*> out;
  for (auto a = e.FirstAttribute(); a; a = a->Next()) out.push_back(a);
  return out;
}

/// A number changed a little, or a lot, or into something else.
std::string mangled(const std::string& value, Dice& dice) {
  if (value.empty() || dice.chance(50)) return pick(numbers, dice);
  std::string out = value;
  const std::size_t at = dice.below(out.size());
  switch (dice.below(4)) {
    case 0:
      out[at] = "0123456789.-+eE ,x"[dice.below(18)];
      break;
    case 1:
      out.erase(at, 1);
      break;
    case 2:
      out.insert(at, pick(numbers, dice));
      break;
    default:
      out.insert(at, std::string(1 + dice.below(400), "019"[dice.below(3)]));
  }
  return out;
}

bool is_inside(const tinyxml2::XMLNode* node, const tinyxml2::XMLNode* outer) {
  for (; node; node = node->Parent())
    if (node == outer) return true;
  return false;
}

void change_attribute(std::vector<XMLElement*>& elements, XMLElement& e, Dice& dice) {
  const auto attributes = attributes_of(e);
  if (attributes.empty()) {
    e.SetAttribute(dice.chance(90) ? "name" : "value", pick(numbers, dice));
    return;
  }
  const std::string name = attributes[dice.below(attributes.size())]->Name();
  const std::string value = e.Attribute(name.c_str());
  switch (dice.below(6)) {
    case 0:
      e.DeleteAttribute(name.c_str());
      break;
    case 1: {  // a value from elsewhere: other links' names, above all
      const auto others = attributes_of(*elements[dice.below(elements.size())]);
      if (!others.empty()) {
        const std::string other = others[dice.below(others.size())]->Value();
        e.SetAttribute(name.c_str(), other.c_str());
      }
      break;
    }
    case 2:
      e.SetAttribute(name.c_str(), pick(names, dice));
      break;
    case 3:
      e.DeleteAttribute(name.c_str());
      e.SetAttribute(pick(names, dice)[0] ? pick(names, dice) : "x", value.c_str());
      break;
    default:
      e.SetAttribute(name.c_str(), mangled(value, dice).c_str());
  }
}

void nest(tinyxml2::XMLDocument& document, XMLElement& e, Dice& dice) {
  const std::size_t depth = dice.chance(80) ? dice.below(5) : dice.below(150);
  tinyxml2::XMLNode* at = &e;
  for (std::size_t i = 0; i < depth; ++i)
    at = at->InsertEndChild(document.NewElement(dice.chance(50) ? "link" : "joint"));
}

void change_element(tinyxml2::XMLDocument& document, std::vector<XMLElement*>& elements, Dice& dice) {
  XMLElement& e = *elements[dice.below(elements.size())];
  XMLElement& other = *elements[dice.below(elements.size())];
  switch (dice.below(8)) {
    case 0:
      if (&e != document.RootElement()) e.Parent()->DeleteChild(&e);
      break;
    case 1:  // doubled, here or elsewhere
      (dice.chance(50) && e.Parent() ? e.Parent() : &other)->InsertEndChild(e.DeepClone(&document));
      break;
    case 2:  // moved
      if (!is_inside(&other, &e) && &e != document.RootElement()) other.InsertEndChild(&e);
      break;
    case 3: {  // names exchanged
      const std::string name = e.Name(), second = other.Name();
      e.SetName(second.c_str());
      other.SetName(name.c_str());
      break;
    }
    case 4:
      e.SetName(pick(names, dice)[0] ? pick(names, dice) : "x");
      break;
    case 5:
      nest(document, e, dice);
      break;
    case 6:
      e.InsertFirstChild(dice.chance(50)
                             ? static_cast<tinyxml2::XMLNode*>(document.NewComment(" <link name='c'/> "))
                             : document.NewText("text & <text>"));
      break;
    default:
      e.DeleteChildren();
  }
}

}  // namespace

std::string mutate_elements(const std::string& text, Dice& dice) {
  tinyxml2::XMLDocument document;
  if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS || !document.RootElement())
    return mutate_bytes(text, dice);
  for (std::size_t changes = 1 + dice.below(4); changes > 0; --changes) {
    auto elements = elements_of(document);
    if (dice.chance(60))
      change_attribute(elements, *elements[dice.below(elements.size())], dice);
    else
      change_element(document, elements, dice);
  }
  tinyxml2::XMLPrinter printer(nullptr, dice.chance(50));
  document.Print(&printer);
  return printer.CStr();
}

std::string mutate_bytes(const std::string& text, Dice& dice) {
  std::string out = text;
  for (std::size_t changes = 1 + dice.below(6); changes > 0; --changes) {
    const std::size_t at = dice.below(out.size() + 1), length = dice.below(dice.chance(80) ? 8 : 200);
    switch (dice.below(7)) {
      case 0:
        if (at < out.size()) out[at] = char(dice.next());
        break;
      case 1:
        out.erase(at, length);
        break;
      case 2:
        out.insert(at, out.substr(dice.below(out.size() + 1), length));
        break;
      case 3: {
        static const char* const tokens[] = {
            "<",  ">",  "/>", "</",   "\"",         "'",     "<!--", "-->",  "<![CDATA[",    "]]>",
            "<?", "?>", "&",  "&#0;", "&#x110000;", "&amp;", "=",    "\r\n", "\xef\xbb\xbf", "\xff"};
        out.insert(at, pick(tokens, dice));
        break;
      }
      case 4:
        out.insert(at, dice.chance(50) ? pick(names, dice) : pick(numbers, dice));
        break;
      case 5:
        if (dice.chance(20)) out.resize(at);
        break;
      default:
        for (std::size_t i = at; i < std::min(out.size(), at + length); ++i) out[i] = char(dice.next());
    }
  }
  return out;
}

}  // namespace articula::testing
