// Writing MJCF: the parts of the writer. Internal to mjcf_writer.cpp and mjcf_writer_references.cpp.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "articula/files/xml_writer.hpp"

namespace articula::mjcf {

inline constexpr std::string_view format = "MJCF";

/// One joint of MJCF: a freedom of ours, or a ball or free joint.
struct Part {
  const char* type;
  std::string suffix;  // of its name
  Vec3<double> axis;   // in joint axes
  int freedom;
};

class Writer {
 public:
  Writer(const ModelSpec& spec, const ModelExtras& extras);
  std::string write();

 private:
  using Chain = std::vector<const JointSpec*>;  // of one body
  struct Step {
    const LinkSpec* link;  // null: the end of a body
    Chain joints;
    int depth;
  };
  void write_bodies();
  void open_body(const Step& step, std::vector<Step>& ahead);
  Chain chain_from(const JointSpec& first) const;
  bool continues(const Chain& chain, const JointSpec& next) const;
  void write_inertial(const LinkSpec& link, int depth);
  void write_joint(const JointSpec& joint, const Pose& in_body, int depth);
  std::string dynamics_of(const JointSpec& joint, const Part& part, bool whole) const;
  void write_sites(const std::string& link, int depth);
  void write_meshes();
  void write_shapes(const std::string& link, int depth);
  void write_tendons();
  void write_equalities();
  void write_loop(const LoopSpec& loop);
  void write_polynomial(const std::string& name, const std::string& joint, const std::string& source,
                        const std::vector<double>& coefficients);
  void write_actuators();
  void push_children(const std::string& link, int depth, std::vector<Step>& ahead) const;
  const LinkSpec& child_of(const JointSpec& joint) const { return *links_.at(joint.child); }
  template <class... A>
  void line(int depth, fmt::format_string<A...> text, A&&... a) {
    out_.append(2 * static_cast<std::size_t>(depth), ' ');
    out_ += fmt::format(text, std::forward<A>(a)...);
    out_ += '\n';
  }

  const ModelSpec& spec_;
  const ModelExtras& extras_;
  const ShapesByLink shapes_;
  std::map<const Shape*, std::string> meshes_;  // by shape: the name of its asset
  std::string out_;
  std::unordered_map<std::string_view, const LinkSpec*> links_;
  std::unordered_map<std::string_view, std::vector<const JointSpec*>> joints_of_;  // by parent
  std::unordered_map<std::string_view, std::vector<FrameSpec>> sites_;             // by link
  std::set<std::string_view> named_, moved_;  // links that something stands on; that a joint moves
};

}  // namespace articula::mjcf
