// Names, and whether the links form trees.
#include <algorithm>

#include "articula/model/audit.hpp"

namespace articula {

std::string list_of_names(const std::vector<std::string_view>& names, std::size_t total) {
  const std::size_t shown = std::min<std::size_t>(names.size(), 5);
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += fmt::format("{}'{}'", i ? ", " : "", names[i]);
  if (total > shown) out += fmt::format(" and {} more", total - shown);
  return out;
}

template <class T>
void Examination::check_unique(const std::vector<T>& things, std::string_view what, NameIndex& index) {
  for (std::size_t i = 0; i < things.size(); ++i) {
    const std::string& name = things[i].name;
    if (name.empty()) error(things[i].where, "a {} has an empty name; give it a name of its own", what);
    const int other = index.find(name);
    if (other >= 0 && !name.empty()) {
      const std::string& first = things[std::size_t(other)].where;
      error(things[i].where,
            "{} '{}' has the same name as another{}{}; names must be unique, rename one of them", what, name,
            first.empty() ? "" : " at ", first);
    }
    index.add(name, int(i));
  }
}

void Examination::check_names() {
  if (spec_.links.empty()) error("", "the model '{}' has no links; add at least one link", spec_.name);
  check_unique(spec_.links, "link", links_);
  check_unique(spec_.joints, "joint", joints_);
  check_unique(spec_.frames, "frame", frames_);
  for (const auto& frame : spec_.frames) {
    if (!frame.name.empty() && links_.find(frame.name) >= 0)
      error(frame.where,
            "frame '{}' has the name of a link, and every link is a frame already; rename the frame",
            frame.name);
    if (links_.find(frame.link) < 0 && frame.link != world)
      error(frame.where, "frame '{}' is on link '{}', which does not exist{}; name an existing link or '{}'",
            frame.name, frame.link, links_.suggestion(frame.link), world);
  }
}

void Examination::check_connections() {
  tree_.parent_link.assign(spec_.links.size(), -1);
  tree_.parent_joint.assign(spec_.links.size(), -1);
  for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
    check_parent(j);
    check_child(j);
  }
}

void Examination::check_parent(std::size_t j) {
  const JointSpec& joint = spec_.joints[j];
  if (links_.find(joint.parent) >= 0 || joint.parent == world) return;
  error(joint.where,
        "joint '{}' has the parent link '{}', which does not exist{}; name an existing link or '{}'",
        joint.name, joint.parent, links_.suggestion(joint.parent), world);
}

void Examination::check_child(std::size_t j) {
  const JointSpec& joint = spec_.joints[j];
  const int child = links_.find(joint.child);
  if (child < 0) {
    error(joint.where, "joint '{}' has the child link '{}', which does not exist{}; name an existing link",
          joint.name, joint.child, links_.suggestion(joint.child));
    return;
  }
  int& held_by = tree_.parent_joint[std::size_t(child)];
  if (held_by >= 0) {
    const JointSpec& other = spec_.joints[std::size_t(held_by)];
    error(joint.where,
          "link '{}' is the child of two joints, '{}' and '{}'; a link has one parent: for a closed loop cut "
          "one of them",
          joint.child, other.name, joint.name);
    return;
  }
  held_by = int(j);
  tree_.parent_link[std::size_t(child)] = links_.find(joint.parent);
}

void Examination::check_tree() {
  order_links();
  check_roots();
  if (tree_.order.size() < spec_.links.size()) check_cycles();
}

std::vector<int> Examination::roots() const {
  std::vector<int> out;
  for (std::size_t k = 0; k < spec_.links.size(); ++k)
    if (tree_.parent_joint[k] < 0) out.push_back(int(k));
  return out;
}

/// Links base to tip, without recursion: from every link that has no parent link.
void Examination::order_links() {
  const std::size_t n = spec_.links.size();
  first_child_.assign(n + 1, 0);
  for (const int parent : tree_.parent_link)
    if (parent >= 0) ++first_child_[std::size_t(parent) + 1];
  for (std::size_t k = 0; k < n; ++k) first_child_[k + 1] += first_child_[k];
  children_.resize(std::size_t(first_child_[n]));
  std::vector<int> next(first_child_.begin(), first_child_.end() - 1);
  for (std::size_t k = 0; k < n; ++k) {
    const int parent = tree_.parent_link[k];
    if (parent >= 0) children_[std::size_t(next[std::size_t(parent)]++)] = int(k);
  }
  for (std::size_t k = 0; k < n; ++k)
    if (tree_.parent_link[k] < 0) tree_.order.push_back(int(k));
  for (std::size_t i = 0; i < tree_.order.size(); ++i) {
    const std::size_t k = std::size_t(tree_.order[i]);
    for (int c = first_child_[k]; c < first_child_[k + 1]; ++c)
      tree_.order.push_back(children_[std::size_t(c)]);
  }
}

void Examination::check_roots() {
  const std::vector<int> found = roots();
  if (found.size() > 1) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < found.size() && i < 8; ++i)
      names.push_back(spec_.links[std::size_t(found[i])].name);
    error(spec_.links[std::size_t(found[1])].where,
          "{} links have no parent: {}; a model has one root: join the others to it, or to '{}', by joints",
          found.size(), list_of_names(names, found.size()), world);
  }
}

/// Links that no root reaches hang from a cycle; each has one parent, so that walking inboard ends in it.
void Examination::check_cycles() {
  enum : char { unseen, on_path, done };
  std::vector<char> state(spec_.links.size(), unseen);
  for (const int k : tree_.order) state[std::size_t(k)] = done;
  std::vector<int> path;
  for (std::size_t start = 0; start < spec_.links.size(); ++start) {
    path.clear();
    int k = int(start);
    while (k >= 0 && state[std::size_t(k)] == unseen) {
      state[std::size_t(k)] = on_path;
      path.push_back(k);
      k = tree_.parent_link[std::size_t(k)];
    }
    if (k >= 0 && state[std::size_t(k)] == on_path)
      report_cycle({std::find(path.begin(), path.end(), k), path.end()});
    for (const int seen : path) state[std::size_t(seen)] = done;
  }
}

void Examination::report_cycle(const std::vector<int>& cycle) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < cycle.size() && i < 8; ++i)
    names.push_back(spec_.links[std::size_t(cycle[i])].name);
  const JointSpec& joint = spec_.joints[std::size_t(tree_.parent_joint[std::size_t(cycle.front())])];
  error(joint.where,
        "{} a cycle of parents (joint '{}' is one of it); a model is a tree: remove one of its joints",
        cycle.size() == 1 ? fmt::format("link {} forms", list_of_names(names, 1))
                          : fmt::format("links {} form", list_of_names(names, cycle.size())),
        joint.name);
}

/// What stands beside the tree names links and joints of it.
void Examination::check_extras() {
  const auto need_link = [&](const std::string& where, std::string_view what, const std::string& name,
                             const std::string& link) {
    if (links_.find(link) < 0 && link != world)
      error(where, "{} '{}' is on link '{}', which does not exist{}; name an existing link or '{}'", what,
            name, link, links_.suggestion(link), world);
  };
  const auto need_joint = [&](const std::string& where, std::string_view what, const std::string& name,
                              const std::string& joint) {
    if (joints_.find(joint) < 0)
      error(where, "{} '{}' is of joint '{}', which does not exist{}; name an existing joint", what, name,
            joint, joints_.suggestion(joint));
  };
  for (const auto& a : spec_.actuators) need_joint(a.where, "actuator", a.name, a.joint);
  for (const auto& l : spec_.loops)
    for (const auto* link : {&l.first, &l.second}) need_link(l.where, "loop", l.name, *link);
  for (const auto& c : spec_.couplings) {
    for (const auto* joint : {&c.joint, &c.source}) need_joint(c.where, "coupling", c.name, *joint);
    for (const auto& term : c.further) need_joint(c.where, "coupling", c.name, term.joint);
  }
}

}  // namespace articula
