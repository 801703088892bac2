// articula info: the tree of a model, its joints, freedoms, mass and frames.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <unordered_map>

#include "articula/model/joint_kinds.hpp"
#include "cli/model_source.hpp"
#include "cli/output.hpp"

namespace articula::cli {

namespace {

struct InfoOptions {
  ModelOptions model;
  std::string out = "-", state;
  bool json = false;
};

// --- the tree as a table -----------------------------------------------------------------------------
enum TreeColumn {
  link_,
  joint_,
  type_,
  q_,
  v_,
  axis_,
  lower_,
  upper_,
  velocity_,
  effort_,
  damping_,
  friction_,
  armature_,
  mass_,
  follows_,
  columns
};
constexpr const char* headings[columns] = {"link",    "joint",    "type",     "q",        "v",
                                           "axis",    "lower",    "upper",    "velocity", "effort",
                                           "damping", "friction", "armature", "mass",     "follows"};
using Row = std::array<std::string, columns>;

bool is_text(int column) { return column <= type_ || column == axis_ || column == follows_; }
std::string number(double x) { return fmt::format("{:.6g}", x); }
std::string span_of(int first, int count) {
  return count == 0   ? ""
         : count == 1 ? fmt::format("{}", first)
                      : fmt::format("{}-{}", first, first + count - 1);
}
/// Of each freedom, but once if they are the same; empty if they are all `none`.
std::string numbers_unless(const PerFreedom& x, double none, JointKind kind) {
  if (x == none) return "";
  std::string out = number(x[0]);
  for (int i = 1; !x.is_one_number(nv_of(kind)) && i < nv_of(kind); ++i) out += " " + number(x[i]);
  return out;
}

void fill_joint(Row& row, const Joint& joint, const Model& model) {
  row[joint_] = joint.name;
  row[type_] = name_of(joint.kind);
  row[q_] = span_of(joint.q_index, joint.nq);
  row[v_] = span_of(joint.v_index, joint.nv);
  if (has_axis(joint.kind))
    row[axis_] = fmt::format("{:.4g} {:.4g} {:.4g}", joint.axis.x, joint.axis.y, joint.axis.z);
  if (joint.kind == JointKind::helical) row[axis_] += fmt::format(" pitch {:.6g}", joint.pitch);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  row[lower_] = numbers_unless(joint.limits.lower, -infinity, joint.kind);
  row[upper_] = numbers_unless(joint.limits.upper, infinity, joint.kind);
  row[velocity_] = numbers_unless(joint.limits.velocity, infinity, joint.kind);
  row[effort_] = numbers_unless(joint.limits.effort, infinity, joint.kind);
  row[damping_] = numbers_unless(joint.damping, 0, joint.kind);
  row[friction_] = numbers_unless(joint.friction, 0, joint.kind);
  row[armature_] = numbers_unless(joint.armature, 0, joint.kind);
  if (joint.mimics >= 0)
    row[follows_] = fmt::format("{:.6g} * {} {} {:.6g}", joint.multiplier, model.joints()[joint.mimics].name,
                                joint.offset < 0 ? '-' : '+', std::abs(joint.offset));
}

/// One row per link, depth first. A branch is indented only where the tree forks, so that long chains stay
/// narrow.
class Tree {
 public:
  explicit Tree(const Model& model) : model_(model), spec_(model.spec()) {
    for (std::size_t i = 0; i < spec_.links.size(); ++i) link_index_.emplace(spec_.links[i].name, i);
    for (std::size_t j = 0; j < model.joints().size(); ++j) moving_.emplace(model.joints()[j].name, j);
    children_.resize(spec_.links.size());
    std::vector<bool> has_parent(spec_.links.size());
    for (const auto& joint : spec_.joints) {
      const auto parent = link_index_.find(joint.parent);
      (parent == link_index_.end() ? on_world_ : children_[parent->second]).push_back(&joint);
      has_parent[link_index_.at(joint.child)] = true;
    }
    for (std::size_t i = 0; i < spec_.links.size(); ++i)
      if (!has_parent[i]) roots_.push_back(i);
  }

  std::vector<Row> rows() {
    std::size_t free_joint = 0;
    for (const std::size_t root : roots_) {
      Row row;
      row[link_] = spec_.links[root].name;
      row[mass_] = number(spec_.links[root].mass.mass);
      if (model_.base() == Base::free)
        fill_joint(row, model_.joints()[free_joint++], model_);
      else
        row[type_] = "world";
      rows_.push_back(std::move(row));
      grow(children_[root], "");
    }
    grow(on_world_, "");
    return std::move(rows_);
  }

 private:
  struct Pending {
    const JointSpec* joint;
    std::string at, below;
  };
  void push(std::vector<Pending>& stack, const std::vector<const JointSpec*>& joints,
            const std::string& below) {
    constexpr std::size_t deepest = 60;
    if (joints.size() == 1) return stack.push_back({joints[0], below, below});
    for (std::size_t i = joints.size(); i-- > 0;) {
      const bool last = i + 1 == joints.size();
      stack.push_back(
          {joints[i], below + "+- ", below.size() > deepest ? below : below + (last ? "   " : "|  ")});
    }
  }
  void grow(const std::vector<const JointSpec*>& joints, const std::string& below) {
    std::vector<Pending> stack;
    push(stack, joints, below);
    while (!stack.empty()) {
      const Pending next = std::move(stack.back());
      stack.pop_back();
      const std::size_t link = link_index_.at(next.joint->child);
      Row row;
      if (const auto moving = moving_.find(next.joint->name); moving != moving_.end()) {
        fill_joint(row, model_.joints()[moving->second], model_);
      } else {
        row[joint_] = next.joint->name;
        row[type_] = name_of(next.joint->kind);
      }
      row[link_] = next.at + next.joint->child;
      row[mass_] = number(spec_.links[link].mass.mass);
      rows_.push_back(std::move(row));
      push(stack, children_[link], next.below);
    }
  }

  const Model& model_;
  const ModelSpec& spec_;
  std::unordered_map<std::string_view, std::size_t> link_index_, moving_;
  std::vector<std::vector<const JointSpec*>> children_;
  std::vector<const JointSpec*> on_world_;
  std::vector<std::size_t> roots_;
  std::vector<Row> rows_;
};

/// Columns in which nothing stands are left out.
std::string table(std::vector<Row> rows) {
  std::array<std::size_t, columns> width{};
  for (auto& row : rows)
    for (const int c : {link_, joint_, follows_}) row[c] = printable(row[c]);
  for (const auto& row : rows)
    for (int c = 0; c < columns; ++c) width[c] = std::max(width[c], row[c].size());
  for (int c = 0; c < columns; ++c)
    if (width[c]) width[c] = std::max(width[c], std::string_view(headings[c]).size());
  std::string text;
  const auto put = [&](const auto& row) {
    std::string line;
    for (int c = 0; c < columns; ++c) {
      if (width[c] == 0) continue;
      line +=
          is_text(c) ? fmt::format("{:<{}}  ", row[c], width[c]) : fmt::format("{:>{}}  ", row[c], width[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  put(headings);
  for (const auto& row : rows) put(row);
  return text;
}

std::string as_text(const Model& model, std::size_t suspicions) {
  const ModelSpec& spec = model.spec();
  const auto g = model.gravity();
  std::string text =
      fmt::format("model {}: {}, {}, {}\n", printable(model.name()), count_of(spec.links.size(), "link"),
                  count_of(model.joints().size(), "moving joint"), count_of(model.frames().size(), "frame"));
  text += fmt::format(
      "nq {}, nv {}, mass that moves {:.6g} kg, {} base, gravity {:.6g} {:.6g} {:.6g} m/s^2\n", model.nq(),
      model.nv(), model.mass(), model.base() == Base::free ? "free" : "fixed", g.x, g.y, g.z);
  if (suspicions > 0) text += fmt::format("articula check finds {}\n", count_of(suspicions, "warning"));
  text += "\n" + table(Tree(model).rows());
  if (!spec.frames.empty()) {
    text += "\nframes beside those of the links\n";
    for (const auto& f : spec.frames)
      text += fmt::format("{} on {} at {:.6g} {:.6g} {:.6g}\n", printable(f.name), printable(f.link),
                          f.placement.p.x, f.placement.p.y, f.placement.p.z);
  }
  if (!spec.loops.empty()) text += "\nloops, closed by\n";
  for (const auto& l : spec.loops)
    text += fmt::format("{}: {} between {} and {}\n", printable(l.name), name_of(l.kind), printable(l.first),
                        printable(l.second));
  if (!spec.couplings.empty()) text += "\ncouplings\n";
  for (const auto& c : spec.couplings) {
    text += fmt::format("{}: {} = polynomial({}) of {}", printable(c.name), printable(c.joint),
                        fmt::join(c.coefficients, ", "), printable(c.source));
    for (const auto& term : c.further)
      text += fmt::format(" + {} * {}", term.coefficient, printable(term.joint));
    text += "\n";
  }
  return text;
}

// --- the same as JSON --------------------------------------------------------------------------------
Json finite(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
Json list(const Vec3<double>& a) { return Json::array({a.x, a.y, a.z}); }
Json list(const Mat3<double>& m) {
  return Json::array({{m.xx, m.xy, m.xz}, {m.yx, m.yy, m.yz}, {m.zx, m.zy, m.zz}});
}

Json as_json(const Model& model) {
  const ModelSpec& spec = model.spec();
  Json out{{"model", describe_model(model)}};
  std::unordered_map<std::string_view, const JointSpec*> specs;
  for (const auto& joint : spec.joints) specs.emplace(joint.name, &joint);
  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    const Joint& joint = model.joints()[j];
    Json& entry = out["model"]["joints"][j];
    const auto from = specs.find(joint.name);
    entry["parent"] = from == specs.end() ? std::string(world) : from->second->parent;
    entry["child"] = model.bodies()[joint.body].name;
    if (has_axis(joint.kind)) entry["axis"] = list(joint.axis);
    if (joint.kind == JointKind::helical) entry["pitch"] = joint.pitch;
    const auto each = [&](const PerFreedom& x) {  // one number if the freedoms have the same
      if (x.is_one_number(nv_of(joint.kind))) return finite(x[0]);
      Json list = Json::array();
      for (int i = 0; i < nv_of(joint.kind); ++i) list.push_back(finite(x[i]));
      return list;
    };
    entry["limits"] = {{"lower", each(joint.limits.lower)},
                       {"upper", each(joint.limits.upper)},
                       {"velocity", each(joint.limits.velocity)},
                       {"effort", each(joint.limits.effort)}};
    entry["damping"] = each(joint.damping);
    entry["friction"] = each(joint.friction);
    entry["armature"] = each(joint.armature);
  }
  out["base"] = model.base() == Base::free ? "free" : "fixed";
  out["gravity"] = list(model.gravity());
  out["links"] = Json::array();
  for (const auto& link : spec.links)
    out["links"].push_back({{"name", link.name},
                            {"mass", link.mass.mass},
                            {"center_of_mass", list(link.mass.center_of_mass)},
                            {"inertia", list(full(link.mass.inertia))}});
  out["frames"] = Json::array();
  for (const auto& frame : model.frames())
    out["frames"].push_back({{"name", frame.name},
                             {"body", frame.body < 0 ? std::string(world) : model.bodies()[frame.body].name},
                             {"rotation", list(frame.placement.R)},
                             {"position", list(frame.placement.p)}});
  for (const auto& l : spec.loops)
    out["loops"].push_back({{"name", l.name},
                            {"type", std::string(name_of(l.kind))},
                            {"links", Json::array({l.first, l.second})}});
  for (const auto& c : spec.couplings) {
    Json entry{{"name", c.name}, {"joint", c.joint}, {"source", c.source}, {"coefficients", c.coefficients}};
    for (const auto& term : c.further)
      entry["further"].push_back({{"joint", term.joint}, {"coefficient", term.coefficient}});
    out["couplings"].push_back(std::move(entry));
  }
  return out;
}

/// States that the file names, as eval and simulate read them. They are of a fixed base.
Json as_json(const std::vector<NamedState>& states) {
  Json out = Json::array();
  for (const NamedState& state : states)
    out.push_back({{"name", state.name}, {"q", state.q}, {"v", state.v}});
  return out;
}

Json state_of(const LoadedModel& read, const std::string& name) {
  std::string known;
  for (const NamedState& state : read.states) {
    if (state.name == name) return {{"q", state.q}, {"v", state.v}};
    known += (known.empty() ? "" : ", ") + printable(state.name);
  }
  throw InputError(fmt::format("--state {}: the model's file {}", name,
                               known.empty() ? "names no states" : "has the states " + known));
}

ExitCode run(const InfoOptions& options) {
  std::size_t suspicions = 0;
  const LoadedModel read = read_source(options.model.source, options.model.read_options());
  const Model model = build_and_warn(read, options.model, &suspicions);
  Output out(options.out);
  std::string text;
  if (options.json || !options.state.empty()) {
    Json all = options.state.empty() ? as_json(model) : state_of(read, options.state);
    if (options.state.empty() && !read.states.empty()) all["states"] = as_json(read.states);
    append(all, 0, text);
    text += "\n";
  } else {
    text = as_text(model, suspicions);
    for (std::size_t i = 0; i < read.states.size(); ++i)
      text += (i == 0 ? "\nstates (--state NAME prints one): " : ", ") + printable(read.states[i].name);
    if (!read.states.empty()) text += "\n";
  }
  out.write(text);
  out.finish();
  return done;
}

}  // namespace

Subcommand add_info(CLI::App& program) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App& app = *program.add_subcommand("info", "Tree, joints, freedoms, mass and frames of a model");
  options->model.add_to(app);
  app.add_flag("--json", options->json, "Print JSON");
  app.add_option("--state", options->state,
                 "Print a state that the file names (MJCF: qpos0, keyframes), as JSON")
      ->type_name("NAME");
  add_out_option(app, options->out);
  app.footer(
      "Columns q and v give the joint's places in the vectors; limits, damping, friction and armature are in "
      "SI\n"
      "units and shown where the model has them.\n\nExample:\n  articula info hand\n");
  return {&app, [options] { return run(*options); }};
}

}  // namespace articula::cli
