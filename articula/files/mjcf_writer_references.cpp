// Writing MJCF: what refers to joints and bodies by name.
#include <algorithm>
#include <cmath>

#include "articula/error.hpp"
#include "articula/files/mjcf.hpp"
#include "articula/files/mjcf_writer.hpp"
#include "articula/model/joint_kinds.hpp"

namespace articula::mjcf {

void Writer::write_polynomial(const std::string& name, const std::string& joint, const std::string& source,
                              const std::vector<double>& coefficients) {
  if (coefficients.size() > 5)
    throw ModelError(
        fmt::format("coupling '{}' has {} coefficients; MJCF has 5 at most", name, coefficients.size()));
  std::string text;
  for (std::size_t i = 0; i < 5; ++i) {
    const double c = i < coefficients.size() ? coefficients[i] : 0;
    require_finite(format, "coupling '" + name + "'", {c});
    text += fmt::format("{}{}", i ? " " : "", c);
  }
  const std::string second = source == joint ? "" : fmt::format(" joint2=\"{}\"", escaped(source));
  line(2, "<joint name=\"{}\" joint1=\"{}\"{} polycoef=\"{}\"/>", escaped(name), escaped(joint), second,
       text);
}

void Writer::write_loop(const LoopSpec& loop) {
  const std::string owner = "loop '" + loop.name + "'";
  require_finite(format, owner, loop.first_placement);
  require_finite(format, owner, loop.second_placement);
  if (loop.kind == JointKind::spherical) {
    line(2, "<connect name=\"{0}\" site1=\"{0}.first\" site2=\"{0}.second\"/>", escaped(loop.name));
  } else if (loop.kind == JointKind::fixed) {
    const Quaternion<double> q = quaternion(loop.first_placement.R * star(loop.second_placement.R));
    line(2, "<weld name=\"{}\" body1=\"{}\" body2=\"{}\" relpose=\"{} {} {} {} {}\" anchor=\"{}\"/>",
         escaped(loop.name), escaped(loop.first), escaped(loop.second), say(loop.first_placement.p), q.w, q.x,
         q.y, q.z, say(loop.second_placement.p));
  } else {
    throw ModelError(fmt::format("{} is {}, which MJCF cannot say; it has fixed and spherical ones", owner,
                                 name_of(loop.kind)));
  }
}

/// Of couplings over more than two joints: the tendon q(joint) - .. stays as long as it is.
void Writer::write_tendons() {
  const auto is_tendon = [](const CouplingSpec& c) { return !c.further.empty(); };
  if (std::none_of(spec_.couplings.begin(), spec_.couplings.end(), is_tendon)) return;
  line(1, "<tendon>");
  for (const CouplingSpec& c : spec_.couplings) {
    if (!is_tendon(c)) continue;
    if (c.coefficients.size() > 2)
      throw ModelError(
          fmt::format("coupling '{}' is of several joints and not linear, which MJCF cannot say", c.name));
    line(2, "<fixed name=\"{}\">", escaped(c.name));
    const auto term = [&](const std::string& joint, double coefficient) {
      require_finite(format, "coupling '" + c.name + "'", {coefficient});
      line(3, "<joint joint=\"{}\" coef=\"{}\"/>", escaped(joint), coefficient);
    };
    term(c.joint, 1);
    if (c.coefficients.size() > 1) term(c.source, -c.coefficients[1]);
    for (const CouplingSpec::Term& t : c.further) term(t.joint, -t.coefficient);
    line(2, "</fixed>");
  }
  line(1, "</tendon>");
}

void Writer::write_equalities() {
  const auto mimics = [](const JointSpec& joint) { return joint.mimic.has_value(); };
  const bool any = std::any_of(spec_.joints.begin(), spec_.joints.end(), mimics);
  if (spec_.loops.empty() && spec_.couplings.empty() && !any) return;
  line(1, "<equality>");
  for (const LoopSpec& loop : spec_.loops) write_loop(loop);
  for (const CouplingSpec& c : spec_.couplings)
    if (c.further.empty())
      write_polynomial(c.name, c.joint, c.source, c.coefficients);
    else
      line(2, "<tendon name=\"{0}\" tendon1=\"{0}\" polycoef=\"{1} 0 0 0 0\"/>", escaped(c.name),
           c.coefficients.empty() ? 0 : c.coefficients[0]);
  for (const JointSpec& joint : spec_.joints)
    if (joint.mimic)
      write_polynomial(std::string(mimic_mark) + joint.name, joint.name, joint.mimic->joint,
                       {joint.mimic->offset, joint.mimic->multiplier});
  line(1, "</equality>");
}

void Writer::write_actuators() {
  if (spec_.actuators.empty()) return;
  line(1, "<actuator>");
  for (const ActuatorSpec& a : spec_.actuators) {
    const auto joint = std::find_if(spec_.joints.begin(), spec_.joints.end(),
                                    [&](const JointSpec& j) { return j.name == a.joint; });
    const int freedoms = joint == spec_.joints.end() ? 1 : nv_of(joint->kind);
    const bool free = freedoms == 6;
    std::string gear;
    for (int i = 0; i < freedoms; ++i)
      gear += fmt::format("{}{}", i ? " " : "", a.gear[free ? (i + 3) % 6 : i]);  // sliding first there
    std::string range;
    if (std::isfinite(a.lower) || std::isfinite(a.upper))
      range = fmt::format(" forcerange=\"{} {}\"", std::clamp(a.lower, -largest, largest),
                          std::clamp(a.upper, -largest, largest));
    line(2, "<motor name=\"{}\" joint=\"{}\" gear=\"{}\"{}/>", escaped(a.name), escaped(a.joint), gear,
         range);
  }
  line(1, "</actuator>");
}

}  // namespace articula::mjcf
