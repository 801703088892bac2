// What is told of a list of findings.
#pragma once

#include <string>
#include <vector>

#include "articula/model/spec.hpp"

namespace articula {

/// The first finding of a severity in words, and how many more of it there are; empty if there is none.
std::string first_and_more(const std::vector<Finding>& findings, Finding::Severity severity);

}  // namespace articula
