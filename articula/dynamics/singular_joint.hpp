// The joint that is to blame where a result does not exist.
#pragma once

#include <string>

#include "articula/error.hpp"

namespace articula {

struct SingularJointError : SingularError {
  SingularJointError(const std::string& message, std::string name)
      : SingularError(message), joint(std::move(name)) {}
  std::string joint;
};

}  // namespace articula
