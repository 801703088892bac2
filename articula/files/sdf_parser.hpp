// Reading the elements of SDF files into sdf_tree.hpp's structs.
#pragma once

#include <filesystem>

#include "articula/files/sdf_tree.hpp"
#include "articula/files/xml_reader.hpp"

namespace articula::sdf {

class Parser : XmlReader {
 public:
  explicit Parser(const ModelText& text) : XmlReader(text.name), text_(text) {}
  Document parse();

 private:
  // sdf_parser.cpp: files, worlds and models.
  const Element& open(const ModelText& text);
  void set_version(const Element& root);
  void read_top(const Element& root);
  void read_world(const Element& e, Model& world);
  Model read_model(const Element& e);
  void read_entry(const Element& e, Model& into);
  void read_include(const Element& e, Model& into);
  std::optional<Model> included(const Element& e, const std::string& uri);
  std::optional<Model> model_in(const ModelText& file, int line);
  std::optional<ModelText> find_included(const std::string& uri) const;
  std::string newest_of(const ModelText& config) const;
  void merge(Model child, Model& into);
  void index(Model& model);
  void read_frame(const Element& e, Model& model);

  // sdf_elements.cpp: what links and joints say.
  static std::string attribute(const Element& e, const char* name);  // empty if it is not there
  std::string text_of(const Element* e) const;
  double number_in(const Element& parent, const char* name, const std::string& owner, double missing);
  bool flag_in(const Element& parent, const char* name) const;
  std::vector<double> numbers_in(const Element& e, std::size_t count, const std::string& owner);
  Placement placement_of(const Element& parent, const std::string& owner);
  void read_link(const Element& e, Model& model);
  MassProperties read_inertial(const Element& e, const std::string& owner);
  MassProperties automatic(const Element& link, const Element& inertial, const std::string& owner);
  void read_joint(const Element& e, Model& model);
  void read_drake_joint(const Element& e, Model& model);
  void read_axis(const Element& joint, const char* name, const std::string& owner, Axis& axis);
  void read_expression(const Element& axis, const Element* xyz, Axis& out);
  void read_limit(const Element& axis, const std::string& owner, Axis& out);
  void read_mimic(const Element& axis, const std::string& owner, Axis& out);
  void read_armature(const Element& e, const std::string& owner, Joint& out);
  double read_pitch(const Element& e, const std::string& owner);

  const ModelText& text_;
  Document out_document_;
  const ModelText* file_ = nullptr;          // that is being read
  int minor_ = 0;                            // of its version, 1.x
  std::vector<std::filesystem::path> open_;  // the files that are being read, each included by the one before
  int depth_ = 0, opened_ = 0;
};

}  // namespace articula::sdf
