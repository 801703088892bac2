// MJCF files as XML: the main file, those that it includes and those that it attaches; default classes; and
// attributes with their checks. What they mean is read elsewhere (mjcf_tree.hpp).
#pragma once

#include <fmt/format.h>
#include <tinyxml2.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "articula/files/read_model.hpp"

namespace articula::mjcf {

using Element = tinyxml2::XMLElement;

/// A default class. MuJoCo copies the parent's values when the class begins: what the parent is given later, by
/// another `<default>`, does not count.
struct DefaultClass {
  struct Given {
    const Element* element;
    const char* value;
    std::size_t order;  // among all that the class is given
  };
  const DefaultClass* parent = nullptr;
  std::size_t parent_given = 0;
  std::size_t given = 0;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<Given>> values;  // by tag and attribute
};

/// All XML that a model is made of, and what was found in it.
class Files {
 public:
  explicit Files(const ModelText& model) : model_(model) {}
  Files(const Files&) = delete;

  /// Parses the main file, or one that `<model>` names (from folder `folder`, relative to the main file's), and
  /// what it includes. ModelError if it is not XML or not MJCF.
  const Element& open(std::string_view text, const std::string& name, const std::string& folder);
  /// Children, those of included files in place of the <include>.
  std::vector<const Element*> children(const Element& e) const;
  /// A file that a document names, if it is below the folders that may be read.
  struct Found {
    std::string path, name;  // name: for messages, as the model writes it
    std::string folder;      // relative to the main file's
  };
  std::optional<Found> find(const std::string& folder, const std::string& file) const;
  /// Of the file that an element stands in, relative to the main file's.
  const std::string& folder_of(const Element& e) const;

  std::string where(const Element& e) const;
  template <class... A>
  void error(const Element& e, fmt::format_string<A...> text, A&&... a) {
    findings_.push_back({Finding::Severity::error, where(e), fmt::format(text, std::forward<A>(a)...)});
  }
  template <class... A>
  void warning(const Element& e, fmt::format_string<A...> text, A&&... a) {
    findings_.push_back({Finding::Severity::warning, where(e), fmt::format(text, std::forward<A>(a)...)});
  }
  /// One note for each kind of thing, however often it occurs.
  void ignore(const std::string& what, const Element& e, const char* why);
  [[noreturn]] void give_up(const Element& e, const std::string& message) const;
  std::vector<Finding> take_findings();

  /// Bodies, geoms and the like may be copied many times; a million of them is no robot.
  void count(const Element& e);

 private:
  struct Loading {
    std::string folder;  // of the document, relative to the main file's
    std::set<std::string> included;
  };
  const Element& parse(std::string_view text, const std::string& name, const std::string& folder);
  void include_below(const Element& e, const std::string& folder, Loading& loading, int depth);
  void include(const Element& e, const std::string& folder, Loading& loading, int depth);

  const ModelText& model_;
  std::deque<tinyxml2::XMLDocument> documents_;
  struct File {
    std::string name, folder;
  };
  std::unordered_map<const tinyxml2::XMLDocument*, File> named_;
  std::unordered_map<const Element*, const Element*> included_;  // <include>: the root of its file
  std::vector<Finding> findings_;
  struct Ignored {
    std::string where, why;
    int count = 0;
  };
  std::map<std::string, Ignored> ignored_;
  int counted_ = 0;
};

/// The default classes of one document.
class Defaults {
 public:
  Defaults();
  /// Reads a top `<default>`.
  void read(const Element& section, Files& files);
  const DefaultClass* find(std::string_view name) const;
  const DefaultClass* main() const { return classes_.find("main")->second; }

 private:
  void read_into(DefaultClass& into, const Element& section, Files& files);
  std::deque<DefaultClass> all_;
  std::map<std::string, DefaultClass*, std::less<>> classes_;
};

/// An element's attributes, and its class' where it has none itself.
class Attributes {
 public:
  Attributes(Files& files, const Element& e, std::string_view tag = "", const DefaultClass* of = nullptr)
      : files_(files), e_(e), tag_(tag), class_(of) {}

  const Element& element() const { return e_; }
  Files& files() const { return files_; }
  bool has(const char* attribute) const { return find(attribute).has_value(); }
  std::string text(const char* attribute, std::string_view missing = "") const;
  /// The name that is given to the element itself.
  std::string name() const;

  double number(const char* attribute, double missing) const;
  /// Between `least` and `most` numbers; nothing, and an error, if it is something else.
  std::optional<std::vector<double>> numbers(const char* attribute, std::size_t least,
                                             std::size_t most) const;
  Vec3<double> vector(const char* attribute, const Vec3<double>& missing) const;
  bool flag(const char* attribute, bool missing) const;
  /// The number of one of `words`; an error, and `missing`, if it is none of them.
  int choice(const char* attribute, std::initializer_list<std::string_view> words, int missing) const;

  /// The one of these attributes that is given nearest to the element: in itself, its class, that class' parent.
  const char* nearest(std::initializer_list<const char*> attributes) const;

 private:
  struct Value {
    const Element* element;
    const char* text;
    int level;          // 0: the element itself
    std::size_t order;  // within a class
  };
  /// Numbers that are left blank count as not given.
  std::optional<Value> find(std::string_view attribute, bool blank_counts = true) const;

  Files& files_;
  const Element& e_;
  std::string_view tag_;
  const DefaultClass* class_;
};

/// What `<compiler>` says, as far as it matters here.
struct Compiler {
  bool degrees = true, autolimits = true, balance = false, fit_box = false, strip_path = false;
  std::string euler = "xyz", mesh_folder;
  enum : int { never, always, automatic } inertia_from_geoms = automatic;
  int first_group = 0, last_group = 5;
  double least_mass = 0, least_inertia = 0, total_mass = -1;
};

/// The rotation that quat, axisangle, euler, xyaxes or zaxis gives.
Mat3<double> orientation(const Attributes& a, const Compiler& compiler);
Mat3<double> rotation_from_euler(const Vec3<double>& angles, const Compiler& compiler);
inline Pose pose_of(const Attributes& a, const Compiler& compiler) {
  return {orientation(a, compiler), a.vector("pos", {0, 0, 0})};
}

}  // namespace articula::mjcf
