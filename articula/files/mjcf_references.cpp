// What refers to bodies, joints and sites of an MJCF model by name: equalities, tendons, actuators.
#include <algorithm>
#include <cmath>

#include "articula/files/mjcf.hpp"
#include "articula/files/mjcf_names.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/joint_kinds.hpp"

namespace articula::mjcf {

namespace {

using V3 = Vec3<double>;

class ReferenceReader {
 public:
  ReferenceReader(const Tree& tree, Names& names, Files& files, LoadedModel& out)
      : tree_(tree), names_(names), files_(files), out_(out) {}
  void read();

 private:
  using Index = std::map<std::string, int, std::less<>>;
  /// A name that an element refers to; an empty one is none.
  struct Reference {
    const Index* among;
    std::string_view what;
    std::string name;
  };
  /// An element with its references found: a copy of it for each copy of what it refers to.
  struct Meant {
    std::string name;
    std::vector<int> found;  // -1: none
  };
  std::vector<Meant> resolve(const Attributes& a, const Instance& instance,
                             const std::vector<Reference>& references);
  bool find_all(const Instance& instance, const std::string& suffix, const std::vector<Reference>& references,
                Meant& out) const;

  void read_tendon(const Attributes& a, const Instance& instance);
  void read_equality(const Attributes& a, const Instance& instance);
  void read_loop(const Attributes& a, const Instance& instance, bool weld);
  void read_joint_coupling(const Attributes& a, const Instance& instance);
  void read_tendon_coupling(const Attributes& a, const Instance& instance);
  void add_coupling(const Attributes& a, const std::string& name, int joint, int source,
                    std::vector<double> coefficients,
                    const std::vector<std::pair<int, double>>& further = {});
  bool is_mimic(const std::string& name, int joint, int source, const std::vector<double>& coefficients);
  std::vector<double> polynomial(const Attributes& a);
  void read_actuator(const Attributes& a, const Instance& instance);
  void add_actuator(const Attributes& a, const std::string& name, int joint, double factor);

  const Tree& tree_;
  Names& names_;
  Files& files_;
  LoadedModel& out_;
  int unnamed_ = 0;
};

// --- names ------------------------------------------------------------------------------------------
/// With the suffix of a copy where there is such a name, else without.
bool ReferenceReader::find_all(const Instance& instance, const std::string& suffix,
                               const std::vector<Reference>& references, Meant& out) const {
  out.found.clear();
  bool in_copy = suffix == instance.suffix;
  for (const Reference& r : references) {
    if (r.name.empty() || (r.what == "body" && r.name == world)) {
      out.found.push_back(-1);
      continue;
    }
    auto known = r.among->find(instance.prefix + r.name + suffix);
    if (known != r.among->end())
      in_copy = true;
    else
      known = r.among->find(instance.prefix + r.name + instance.suffix);
    if (known == r.among->end()) return false;
    out.found.push_back(known->second);
  }
  return in_copy;
}

std::vector<ReferenceReader::Meant> ReferenceReader::resolve(const Attributes& a, const Instance& instance,
                                                             const std::vector<Reference>& references) {
  std::vector<Meant> out;
  const auto named = [&](const std::string& suffix) {
    return a.name().empty() ? fmt::format("{}{}", a.element().Name(), ++unnamed_)
                            : instance.prefix + a.name() + suffix;
  };
  Meant one{named(instance.suffix), {}};
  if (find_all(instance, instance.suffix, references, one)) return {one};
  for (const std::string& suffix : instance.suffixes) {
    files_.count(a.element());
    one.name = named(suffix);
    if (find_all(instance, suffix, references, one)) out.push_back(one);
  }
  if (!out.empty() || instance.attached) return out;  // of attached files only a part may be there
  for (const Reference& r : references)
    if (!r.name.empty() && !r.among->contains(r.name) && r.name != world)
      files_.error(a.element(), "<{}> names the {} {}, which does not exist; correct it", a.element().Name(),
                   r.what, in_quotes(r.name));
  return out;
}

void ReferenceReader::read() {
  for (const Instance& instance : tree_.instances)
    for (const Attributes& a : elements_of(instance, "tendon", "tendon", files_)) read_tendon(a, instance);
  for (const Instance& instance : tree_.instances) {
    for (const Attributes& a : elements_of(instance, "equality", "equality", files_))
      read_equality(a, instance);
    for (const Attributes& a : elements_of(instance, "actuator", "actuator", files_))
      read_actuator(a, instance);
  }
}

// --- tendons and equalities -------------------------------------------------------------------------
void ReferenceReader::read_tendon(const Attributes& a, const Instance& instance) {
  if (std::string_view(a.element().Name()) != "fixed") {
    files_.ignore("<spatial> of <tendon>", a.element(), "only fixed tendons couple joints here");
    return;
  }
  if (a.number("armature", 0) != 0)
    files_.warning(a.element(), "the armature of tendon {} is left out: no joint has it alone",
                   in_quotes(a.name()));
  for (const char* force : {"stiffness", "damping", "frictionloss", "range"})
    if (a.has(force))
      files_.ignore(std::string(force) + " of <fixed> tendons", a.element(), "springs are of joints here");
  std::vector<Reference> references;
  std::vector<double> coefficients;
  for (const Element* e : files_.children(a.element())) {
    const Attributes joint(files_, *e);
    references.push_back({&names_.joints, "joint", joint.text("joint")});
    coefficients.push_back(joint.number("coef", 1));
  }
  for (const Meant& meant : resolve(a, instance, references)) {
    FixedTendon tendon;
    for (std::size_t i = 0; i < coefficients.size(); ++i)
      if (meant.found[i] >= 0) tendon.terms.push_back({meant.found[i], coefficients[i]});
    names_.tendons.emplace(meant.name, int(names_.fixed_tendons.size()));
    names_.fixed_tendons.push_back(std::move(tendon));
  }
}

void ReferenceReader::read_equality(const Attributes& a, const Instance& instance) {
  const std::string_view tag = a.element().Name();
  if (!a.flag("active", true)) {
    files_.ignore("<" + shown(tag) + "> that is not active", a.element(), "it does not hold when it starts");
    return;
  }
  if (tag == "connect" || tag == "weld")
    read_loop(a, instance, tag == "weld");
  else if (tag == "joint")
    read_joint_coupling(a, instance);
  else if (tag == "tendon")
    read_tendon_coupling(a, instance);
  else
    files_.ignore("<" + shown(tag) + "> of <equality>", a.element(), "there is no such constraint here");
}

/// connect: the anchor of body 1 stays where it is on body 2; weld: body 2 stays as it is on body 1. Or two sites
/// meet.
void ReferenceReader::read_loop(const Attributes& a, const Instance& instance, bool weld) {
  LoopSpec loop;
  loop.kind = weld ? JointKind::fixed : JointKind::spherical;
  loop.where = files_.where(a.element());
  if (a.has("site1")) {
    const auto meant = resolve(
        a, instance, {{&names_.sites, "site", a.text("site1")}, {&names_.sites, "site", a.text("site2")}});
    for (const Meant& m : meant) {
      if (m.found[0] < 0 || m.found[1] < 0) continue;
      const PlacedSite& one = names_.placed_sites[std::size_t(m.found[0])];
      const PlacedSite& other = names_.placed_sites[std::size_t(m.found[1])];
      loop.name = m.name;
      loop.first = names_.link_of(one.body), loop.second = names_.link_of(other.body);
      loop.first_placement = one.pose, loop.second_placement = other.pose;
      out_.spec.loops.push_back(loop);
    }
    return;
  }
  const V3 anchor = a.vector("anchor", {0, 0, 0});
  const auto given = a.numbers("relpose", 7, 7);
  const auto meant = resolve(
      a, instance, {{&names_.bodies, "body", a.text("body1")}, {&names_.bodies, "body", a.text("body2")}});
  for (const Meant& m : meant) {
    const Pose first_to_second = inverse(names_.pose_of_body(m.found[0])) * names_.pose_of_body(m.found[1]);
    loop.name = m.name;
    loop.first = names_.link_of(m.found[0]), loop.second = names_.link_of(m.found[1]);
    const Pose at_anchor{Mat3<double>::identity(), anchor};
    const bool stated =
        weld && given && ((*given)[3] != 0 || (*given)[4] != 0 || (*given)[5] != 0 || (*given)[6] != 0);
    if (stated) {
      const auto& n = *given;
      loop.first_placement = {rotation(normalized(Quaternion<double>{n[4], n[5], n[6], n[3]})),
                              {n[0], n[1], n[2]}};
      loop.second_placement = at_anchor;
    } else if (weld) {
      loop.first_placement = first_to_second * at_anchor;
      loop.second_placement = at_anchor;
    } else {
      loop.first_placement = at_anchor;
      loop.second_placement = inverse(first_to_second) * at_anchor;
    }
    out_.spec.loops.push_back(loop);
  }
}

std::vector<double> ReferenceReader::polynomial(const Attributes& a) {
  std::vector<double> out = a.numbers("polycoef", 1, 5).value_or(std::vector<double>{0, 1});
  while (out.size() > 1 && out.back() == 0) out.pop_back();
  return out;
}

/// The polynomial in x of the one in (x - x0), plus y0.
std::vector<double> moved(const std::vector<double>& c, double x0, double y0) {
  std::vector<double> out{0};
  for (auto k = c.rbegin(); k != c.rend(); ++k) {  // Horner: out = out (x - x0) + k
    std::vector<double> next(out.size() + 1, 0.0);
    for (std::size_t i = 0; i < out.size(); ++i) next[i + 1] += out[i], next[i] -= x0 * out[i];
    next[0] += *k;
    while (next.size() > 1 && next.back() == 0) next.pop_back();
    out = std::move(next);
  }
  out[0] += y0;
  return out;
}

void ReferenceReader::add_coupling(const Attributes& a, const std::string& name, int joint, int source,
                                   std::vector<double> coefficients,
                                   const std::vector<std::pair<int, double>>& further) {
  const auto at = [&](int i) -> const NumberedJoint& { return names_.numbered[std::size_t(i)]; };
  CouplingSpec out{name, at(joint).name, at(source).name, std::move(coefficients), files_.where(a.element())};
  std::vector<int> all{joint, source};
  for (const auto& [of, coefficient] : further) {
    all.push_back(of);
    out.further.push_back({at(of).name, coefficient});
  }
  for (const int i : all)
    if (nv_of(at(i).kind) != 1) {
      files_.error(a.element(),
                   "<{}> couples joint {}; expected joints that turn about or slide along one axis",
                   a.element().Name(), in_quotes(at(i).name));
      return;
    }
  out_.spec.couplings.push_back(std::move(out));
}

/// See mimic_mark.
bool ReferenceReader::is_mimic(const std::string& name, int joint, int source,
                               const std::vector<double>& coefficients) {
  if (!name.starts_with(mimic_mark) || coefficients.size() > 2) return false;
  const std::string& follower = names_.numbered[std::size_t(joint)].name;
  for (JointSpec& spec : out_.spec.joints)
    if (spec.name == follower)
      spec.mimic = Mimic{names_.numbered[std::size_t(source)].name,
                         coefficients.size() > 1 ? coefficients[1] : 0, coefficients[0]};
  return true;
}

void ReferenceReader::read_joint_coupling(const Attributes& a, const Instance& instance) {
  const auto meant =
      resolve(a, instance,
              {{&names_.joints, "joint", a.text("joint1")}, {&names_.joints, "joint", a.text("joint2")}});
  for (const Meant& m : meant) {
    if (m.found[0] < 0) continue;
    const double y0 = names_.numbered[std::size_t(m.found[0])].reference;
    if (m.found[1] < 0)  // it stands still
      add_coupling(a, m.name, m.found[0], m.found[0], {polynomial(a)[0] + y0});
    else if (const auto c = moved(polynomial(a), names_.numbered[std::size_t(m.found[1])].reference, y0);
             !is_mimic(m.name, m.found[0], m.found[1], c))
      add_coupling(a, m.name, m.found[0], m.found[1], c);
  }
}

/// L1 - L1(0) = polynomial of L2 - L2(0), where that is a straight line: solved for the first joint.
void ReferenceReader::read_tendon_coupling(const Attributes& a, const Instance& instance) {
  const std::vector<double> c = polynomial(a);
  const auto meant = resolve(
      a, instance,
      {{&names_.tendons, "tendon", a.text("tendon1")}, {&names_.tendons, "tendon", a.text("tendon2")}});
  for (const Meant& m : meant) {
    std::map<int, double> terms;  // by joint: the sum of coefficient (q - reference) is c[0]
    const auto add = [&](int tendon, double by) {
      if (tendon < 0) return;
      for (const auto& t : names_.fixed_tendons[std::size_t(tendon)].terms)
        terms[t.joint] += by * t.coefficient;
    };
    const bool two = m.found[1] >= 0;
    add(m.found[0], 1);
    if (two) add(m.found[1], c.size() > 1 ? -c[1] : 0);
    std::erase_if(terms, [](const auto& t) { return t.second == 0; });
    if (terms.empty() || (two && c.size() > 2)) {
      files_.ignore("<tendon> of <equality> that is not linear, or of no joint", a.element(),
                    "tendons are coupled by straight lines here");
      continue;
    }
    const auto [joint, by] = *terms.begin();
    const auto [source, other] = *terms.rbegin();
    const double reference = names_.numbered[std::size_t(joint)].reference;
    const double x0 = names_.numbered[std::size_t(source)].reference;
    if (terms.size() == 1) {
      add_coupling(a, m.name, joint, joint, {reference + c[0] / by});
      continue;
    }
    std::vector<double> line = moved({c[0] / by, -other / by}, x0, reference);
    std::vector<std::pair<int, double>> further;
    for (auto t = std::next(terms.begin()); t != std::prev(terms.end()); ++t) {
      further.emplace_back(t->first, -t->second / by);
      line[0] += t->second / by * names_.numbered[std::size_t(t->first)].reference;
    }
    add_coupling(a, m.name, joint, source, std::move(line), further);
  }
}

// --- actuators --------------------------------------------------------------------------------------
void ReferenceReader::read_actuator(const Attributes& a, const Instance& instance) {
  const char* const joint = a.has("joint") ? "joint" : a.has("jointinparent") ? "jointinparent" : nullptr;
  if (joint) {
    for (const Meant& m : resolve(a, instance, {{&names_.joints, "joint", a.text(joint)}}))
      if (m.found[0] >= 0) add_actuator(a, m.name, m.found[0], 1);
    return;
  }
  const std::string tendon = instance.prefix + a.text("tendon") + instance.suffix;
  if (const auto known = names_.tendons.find(tendon); a.has("tendon") && known != names_.tendons.end()) {
    const auto& terms = names_.fixed_tendons[std::size_t(known->second)].terms;
    if (terms.size() == 1) {
      const Reference none{&names_.tendons, "tendon", ""};  // for its name alone
      return add_actuator(a, resolve(a, instance, {none})[0].name, terms[0].joint, terms[0].coefficient);
    }
  }
  files_.ignore("actuators of tendons, sites and bodies", a.element(), "actuators are of single joints here");
}

/// A pair of bounds, if it is in force.
std::optional<std::pair<double, double>> bounds(const Attributes& a, const char* range, const char* limited) {
  const auto n = a.numbers(range, 2, 2);
  const int said = a.choice(limited, {"false", "true", "auto"}, 2);
  if (!n || said == 0 || (*n)[0] > (*n)[1]) return {};
  return std::pair((*n)[0], (*n)[1]);
}

void ReferenceReader::add_actuator(const Attributes& a, const std::string& name, int joint, double factor) {
  const NumberedJoint& on = names_.numbered[std::size_t(joint)];
  const int freedoms = nv_of(on.kind);
  ActuatorSpec out;
  out.name = name, out.joint = on.name, out.where = files_.where(a.element());
  std::vector<double> gear = a.numbers("gear", 1, 6).value_or(std::vector<double>{1});
  gear.resize(6, 0.0);
  if (on.kind == JointKind::free)
    std::rotate(gear.begin(), gear.begin() + 3, gear.end());  // turning first here
  if (freedoms == 1)
    out.gear = gear[0] * factor;
  else
    for (int i = 0; i < freedoms; ++i) out.gear[i] = gear[std::size_t(i)] * factor;
  const auto narrow = [&](const auto& range) {
    if (!range) return;
    out.lower = std::max(out.lower, range->first), out.upper = std::min(out.upper, range->second);
  };
  narrow(bounds(a, "forcerange", "forcelimited"));
  if (std::string_view(a.element().Name()) == "motor") narrow(bounds(a, "ctrlrange", "ctrllimited"));
  if (const double rotor = a.number("armature", 0); rotor != 0)
    for (JointSpec& spec : out_.spec.joints)
      if (spec.name == on.name)
        for (int i = 0; i < freedoms; ++i) spec.armature[i] += rotor * out.gear[i] * out.gear[i];
  out_.spec.actuators.push_back(std::move(out));
}

}  // namespace

std::vector<Attributes> elements_of(const Instance& instance, std::string_view section, std::string_view tag,
                                    Files& files) {
  const Defaults& defaults = instance.document->defaults;
  std::vector<Attributes> out;
  for (const Element* s : files.children(*instance.document->root)) {
    if (section != s->Name()) continue;
    for (const Element* e : files.children(*s)) {
      const char* const named = e->Attribute("class");
      const DefaultClass* const of = named ? defaults.find(named) : defaults.main();
      if (!of)
        files.error(*e, "<{}> has the class {}, which does not exist; correct it", e->Name(),
                    in_quotes(named));
      out.emplace_back(files, *e, tag, of);
    }
  }
  return out;
}

void read_references(const Tree& tree, Names& names, Files& files, LoadedModel& out) {
  ReferenceReader(tree, names, files, out).read();
}

}  // namespace articula::mjcf
