// Names and what they stand for, with suggestions for those that stand for nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace articula {

class NameIndex {
 public:
  void add(std::string_view name, int index) { index_.try_emplace(name, index); }
  int find(std::string_view name) const {
    const auto at = index_.find(name);
    return at == index_.end() ? -1 : at->second;
  }
  /// ", did you mean 'elbow'?" if a name within two edits exists.
  std::string suggestion(std::string_view name) const;

 private:
  std::map<std::string_view, int> index_;
};

/// Edits (a character changed, added or removed) between two names, if there are at most two; else three.
int edits_up_to_two(std::string_view a, std::string_view b);

}  // namespace articula
