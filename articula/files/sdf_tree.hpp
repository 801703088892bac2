// An SDF file as it is written: what its elements say, before frames are resolved. Names are as in the file.
#pragma once

#include <tinyxml2.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "articula/files/read_model.hpp"

namespace articula::sdf {

struct Placement {
  Pose pose{};
  std::string relative_to{};  // "": what the kind of element has by default
  std::string where{};
};

struct Axis {
  Vec3<double> xyz{0, 0, 1};
  std::string expressed_in{};  // "": the joint's frame
  double lower, upper, effort, velocity;
  double damping = 0, friction = 0, stiffness = 0, spring_reference = 0;
  std::optional<Mimic> mimic{};
  std::string where{};
};

struct Link {
  std::string name;
  Placement placement;
  MassProperties mass;
  bool has_inertial = false;
  std::string where;
  const tinyxml2::XMLElement* element = nullptr;
  const ModelText* file = nullptr;  // that it is in
};

struct Joint {
  std::string name, type, parent, child;
  Placement placement;
  Axis axes[2];
  double pitch = 0;  // metres per radian
  double gearbox_ratio = 1;
  std::string gearbox_reference;
  PerFreedom armature = 0;
  std::string where;
};

struct Frame {
  std::string name, attached_to;
  Placement placement;
};

/// What a name stands for in a model.
struct Named {
  enum Kind : unsigned char { itself, link, joint, frame, model } kind = itself;
  std::size_t index = 0;
  bool operator<(const Named& other) const {
    return kind != other.kind ? kind < other.kind : index < other.index;
  }
};

/// A model, or the world: a model that stands still, with models in it.
struct Model {
  std::string name, where;
  bool is_world = false, is_static = false;
  std::string canonical_link, placement_frame;
  Placement placement;
  std::vector<Link> links;
  std::vector<Joint> joints;
  std::vector<Frame> frames;
  std::vector<Model> models;
  std::map<std::string, Named, std::less<>> names{};
};

/// One or more files.
struct Document {
  Model world;
  bool is_assembly = false;  // several models, or a <world>
  std::vector<Finding> findings;
  std::vector<std::unique_ptr<tinyxml2::XMLDocument>> texts{};
  std::vector<std::unique_ptr<const ModelText>> files{};
};

/// Throws ModelError if it is not XML, or not SDF.
Document parse(const ModelText& text);

}  // namespace articula::sdf
