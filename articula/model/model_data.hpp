// What a Model is made of, and the steps of building it: model_tree.cpp (bodies), model_axes.cpp, model_arrays.cpp.
#pragma once

#include <unordered_map>

#include "articula/model/massless_joints.hpp"
#include "articula/model/model.hpp"
#include "articula/spatial/aligned.hpp"

namespace articula {

/// The kernels' arrays for one number type.
template <class R>
struct TreeData {
  std::vector<BodyIndex> index;
  AlignedArray<R> constants;
  std::vector<R> pitch, armature, link_axes, multiplier;
  AlignedArray<R> offset;
  std::vector<int> v_end, angle, first_column, alone, source;
  Tree<R> tree;

  void connect() {
    tree.bodies = static_cast<int>(index.size()) - 1;
    tree.index = index.data();
    tree.constants = constants.data();
    tree.pitch = pitch.data();
    tree.armature = armature.data();
    tree.link_axes = link_axes.data();
    tree.source = source.empty() ? nullptr : source.data();
    tree.multiplier = multiplier.data();
    tree.v_end = v_end.data();
    tree.angle = angle.data();
    tree.offset = offset.data();
    tree.first_column = first_column.data();
    tree.alone = alone.data();
    tree.alone_count = static_cast<int>(alone.size());
  }
};

/// A hinge with the body that it moves, before numbering of coordinates.
struct Hinge {
  HingeKind kind;
  Mat3<double> E;  // joint axes at zero in the inboard body's internal axes
  Vec3<double> l;
  double pitch = 0;
  PerFreedom armature;
  double offset = 0;  // see Tree
  Alignment alignment = Alignment::any;
  Alignment twist = Alignment::any;  // see BodyIndex
  PerFreedom rounding = -1;          // where nothing resists: MasslessFreedom::scale
};

struct Model::Data {
  ModelSpec spec;
  BuildOptions options;
  std::vector<Finding> warnings;
  std::vector<MasslessFreedom> massless;
  std::vector<Joint> joints;
  std::vector<Body> bodies;
  std::vector<Frame> frames;
  std::unordered_map<std::string_view, int> frame_names, joint_names;
  std::vector<FullVelocity> full_velocities, full_coordinates;
  std::vector<int> massless_velocities;
  int nq = 0, nv = 0;
  double mass = 0;
  std::vector<Hinge> hinges;
  TreeData<double> in_double;
  TreeData<float> in_float;

  void build();
  void connect();
  void name_things();

  // model_tree.cpp
  struct Links;
  void walk();
  void put_link(int link, int body, const Pose& pose);
  int add_root(int link);
  int add_joint(const JointSpec& joint, int inboard, const Pose& placement);
  int add_body(std::string name, int joint, int inboard, const Pose& placement, const Vec3<double>& axis,
               HingeKind kind);
  void add_frames(const Links& links);
  void number_coordinates();
  void resolve_mimics();
  void note_massless();
  int first_body(const Joint& joint) const;

  // model_axes.cpp
  void choose_axes();

  // model_arrays.cpp
  template <class R>
  void fill(TreeData<R>& out) const;
};

}  // namespace articula
