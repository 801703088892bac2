// Names in written SDF files.
#pragma once

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "articula/model/spec.hpp"

namespace articula::sdf {

/// Names as SDF wants them: links, joints and frames differ, "::" and "world" have a meaning.
class WrittenNames {
 public:
  /// A new name for what was called `name` in that list.
  void add(char list, const std::string& name, std::string_view otherwise) {
    std::string out = name;
    for (std::size_t at; (at = out.find("::")) != out.npos;) out.replace(at, 2, "_");
    const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    for (char& c : out)
      if (is_blank(c) && c != ' ') c = '_';
    for (char* c : {&out.front(), &out.back()})
      if (is_blank(*c)) *c = '_';
    if (out.starts_with("__")) out.insert(0, "x");  // those are SDF's own
    if (out == world || taken_.contains(out)) out += otherwise;
    while (!taken_.insert(out).second) out += '_';
    names_[list + name] = out;
  }
  const std::string& operator()(char list, const std::string& name) const { return names_.at(list + name); }
  std::string fresh(std::string name) {
    while (!taken_.insert(name).second) name += '_';
    return name;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::string> names_;
};

}  // namespace articula::sdf
