// What readers of XML models share: findings with lines, and children and attributes with their checks.
#pragma once

#include <fmt/format.h>
#include <tinyxml2.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "articula/files/read_model.hpp"

namespace articula {

class XmlReader {
 public:
  explicit XmlReader(const std::string& name) : name_(name) {}

 protected:
  using Element = tinyxml2::XMLElement;
  using Severity = Finding::Severity;

  std::string where(int line) const { return fmt::format("{}:{}", name_, line); }
  [[noreturn]] void give_up(int line, const std::string& message) const;
  template <class... A>
  void error(int line, fmt::format_string<A...> text, A&&... a) {
    out_.findings.push_back({Severity::error, where(line), fmt::format(text, std::forward<A>(a)...)});
    ++errors_;
  }
  template <class... A>
  void warning(int line, fmt::format_string<A...> text, A&&... a) {
    out_.findings.push_back({Severity::warning, where(line), fmt::format(text, std::forward<A>(a)...)});
  }

  // `owner` ("link 'arm'") says in messages whose they are.
  /// The first of that name; a second one is a warning.
  const Element* child(const Element& parent, const char* name, const std::string& owner);
  void check_attributes(const Element& e, std::initializer_list<std::string_view> known);
  void note_unknown_children(const Element& e, std::initializer_list<std::string_view> known);
  std::string name_of_element(const Element& e, const char* what);
  std::optional<std::string> text(const Element& e, const char* attribute) const;
  /// NaN, and an error, if it is there but no number.
  std::optional<double> optional_number(const Element& e, const char* attribute, const std::string& owner);
  double number(const Element& e, const char* attribute, const std::string& owner);
  Vec3<double> vector(const Element& e, const char* attribute, const std::string& owner,
                      const Vec3<double>& missing);

  /// One finding for each kind of ignored element or attribute, however often it occurs: see note_ignored.
  void ignore(const std::string& what, int line, const char* advice, Severity severity = Severity::warning);
  /// An element of a macro language that was not expanded.
  void leftover(const Element& e);
  void note_ignored();

  std::string name_;  // of the file that is being read
  LoadedModel out_;
  int errors_ = 0;

 private:
  struct Ignored {
    int line = 0, count = 0;
    std::string advice;
    Severity severity = Severity::warning;
  };
  std::map<std::string, Ignored> ignored_;
  struct {
    int line = 0, count = 0;
    std::string name;
  } leftovers_;
};

}  // namespace articula
