// Mimic joints of files that nothing can be made of.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "articula/model/spec.hpp"

namespace articula {

/// Drops mimics of joints that do not exist, have several freedoms, or follow each other in a circle: the joint then
/// moves by itself, as for readers that know no mimic joints. `places` has the file:line of each, by "joint 'name'".
void settle_mimics(ModelSpec& spec, const std::map<std::string, std::string>& places,
                   std::vector<Finding>& findings);

}  // namespace articula
