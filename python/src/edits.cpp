// Specifications edited, made from tables of parameters, and written.
#include <algorithm>

#include "articula/files/denavit_hartenberg.hpp"
#include "articula/files/screws.hpp"
#include "articula/files/write_model.hpp"
#include "articula/model/edit.hpp"
#include "specs.hpp"

namespace nb = nanobind;

namespace articula::python {

namespace {

/// A function of Python that takes a specification and what the edit takes, and gives the edited one.
template <class... Given, class F>
void def_edit(nb::module_& m, const char* name, F edit) {
  m.def(name, [edit](nb::handle spec, Given... given) {
    ModelSpec edited = read_spec(spec);
    edit(edited, given...);
    return as_tuple(edited);
  });
}

SpecPart part_named(const std::string& name) {
  if (name == "link") return SpecPart::link;
  if (name == "joint") return SpecPart::joint;
  if (name == "frame") return SpecPart::frame;
  fail(fmt::format("rename: part is '{}'; expected \"link\", \"joint\" or \"frame\"", name));
}

void add_edits_of_specs(nb::module_& m) {
  using Name = const std::string&;
  using Numbers = const std::vector<double>&;
  def_edit<Name, Numbers>(m, "_lock_joint",
                          [](ModelSpec& s, Name joint, Numbers q) { lock_joint(s, joint, q); });
  def_edit<Name>(m, "_remove_link", [](ModelSpec& s, Name link) { remove_link(s, link); });
  def_edit<Name, Name, Name>(m, "_rename", [](ModelSpec& s, Name part, Name from, Name to) {
    rename(s, part_named(part), from, to);
  });
  def_edit<Name>(m, "_add_prefix", [](ModelSpec& s, Name prefix) { add_prefix(s, prefix); });
  def_edit<nb::handle, Name, Name, nb::handle>(
      m, "_attach", [](ModelSpec& s, nb::handle other, Name frame, Name prefix, nb::handle placement) {
        attach(s, read_spec(other), frame, prefix, read_pose(placement));
      });
  def_edit<Name>(m, "_set_root", [](ModelSpec& s, Name link) { set_root(s, link); });
  def_edit<Name, Name, nb::handle>(m, "_add_frame",
                                   [](ModelSpec& s, Name name, Name on, nb::handle placement) {
                                     add_frame(s, name, on, read_pose(placement));
                                   });
  def_edit<Name, nb::handle, Name>(m, "_add_payload",
                                   [](ModelSpec& s, Name frame, nb::handle mass, Name name) {
                                     add_payload(s, frame, read_mass(mass), name);
                                   });
  def_edit<Name, double, double>(m, "_add_rotor", [](ModelSpec& s, Name joint, double inertia, double ratio) {
    add_rotor(s, joint, inertia, ratio);
  });
  def_edit<double, double>(m, "_scale",
                           [](ModelSpec& s, double length, double mass) { scale(s, length, mass); });
  def_edit<const std::vector<std::string>&>(
      m, "_split_joints", [](ModelSpec& s, const std::vector<std::string>& names) {
        std::vector<JointKind> kinds;
        std::transform(names.begin(), names.end(), std::back_inserter(kinds), kind_named);
        split_joints(s, kinds.empty() ? kinds_to_split({}) : kinds);
      });
}

/// What rows of both kinds of table end with: armature, damping, friction, limits, joint_name, link_name.
template <class Row>
void read_rest(nb::handle from, int i, Row& row) {
  row.armature = get<double>(from, i);
  row.damping = get<double>(from, i + 1);
  row.friction = get<double>(from, i + 2);
  row.limits = read_limits(from[i + 3]);
  row.joint_name = get<std::string>(from, i + 4);
  row.link_name = get<std::string>(from, i + 5);
}
nb::tuple spec_of_dh(const std::string& name, bool modified, nb::handle rows, nb::handle base,
                     nb::handle tool) {
  DhTable table{.name = name,
                .convention = modified ? DhConvention::modified : DhConvention::standard,
                .rows = {},
                .base = read_pose(base),
                .tool = read_pose(tool)};
  for (nb::handle x : rows) {
    DhRow row{.a = get<double>(x, 0),
              .alpha = get<double>(x, 1),
              .d = get<double>(x, 2),
              .theta = get<double>(x, 3),
              .kind = kind_named(get<std::string>(x, 4)),
              .mass = read_mass(x[5])};
    read_rest(x, 6, row);
    table.rows.push_back(std::move(row));
  }
  return as_tuple(spec_of(table));
}
nb::tuple spec_of_screws(const std::string& name, nb::handle links, nb::handle tool) {
  ScrewChain chain{.name = name, .links = {}, .tool = read_pose(tool)};
  for (nb::handle x : links) {
    ScrewLink link{.home = read_pose(x[1]), .mass = read_mass(x[2])};
    read<6>(x[0], "a screw", link.screw);
    read_rest(x, 3, link);
    chain.links.push_back(std::move(link));
  }
  return as_tuple(spec_of(chain));
}

}  // namespace

void add_edits(nb::module_& m) {
  add_edits_of_specs(m);
  m.def("_spec_of_dh", spec_of_dh);
  m.def("_spec_of_screws", spec_of_screws);
  m.def("_mass_properties", [](const std::vector<double>& G) {
    if (G.size() != 36) fail("mass_properties: G is 6 x 6");
    std::array<std::array<double, 6>, 6> matrix;
    for (std::size_t i = 0; i < 36; ++i) matrix[i / 6][i % 6] = G[i];
    return as_tuple(mass_properties(matrix));
  });
  m.def("_write_model", [](nb::handle spec, const std::string& path) {
    const ModelWriter* const writer = find_writer(path);
    if (writer) return writer->write(read_spec(spec), {});
    std::string known;
    for (const ModelWriter& one : model_writers()) known += fmt::format(", .{}", one.name);
    fail(fmt::format("save: '{}': the ending says which format to write; expected one of {}", path,
                     known.substr(2)));
  });
}

}  // namespace articula::python
