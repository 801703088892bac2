// The errors of the library: what was given, what was expected, where, and what to do, in one line.
#pragma once

#include <stdexcept>
#include <string>

namespace articula {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A model (file, table or builder call) that cannot be used.
struct ModelError : Error {
  using Error::Error;
};
/// A call with wrong sizes, names or numbers that are not finite.
struct ArgumentError : Error {
  using Error::Error;
};
/// The arguments are right, but the result does not exist: a joint without inertia, say.
struct SingularError : Error {
  using Error::Error;
};

}  // namespace articula
