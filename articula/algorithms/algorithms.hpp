// The library's list of algorithms: what each is called, what it takes, what it gives, and how it is computed.
//
// The command line (eval, bench), the tests over all algorithms and bindings to other languages go over this list, and
// have a new entry without being told.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/batch/batch.hpp"
#include "articula/batch/one_state.hpp"
#include "articula/kernels/description.hpp"

namespace articula {

std::string_view name_of(Argument argument);
/// nq for q, nv for all others.
std::size_t size_of(const Model& model, Argument argument);

std::size_t length_of(const Model& model, Extent extent, std::size_t frames);
std::size_t size_of(const Model& model, const Part& part, std::size_t frames);

/// What a computation is given beside the model.
template <class S>
struct Call {
  std::array<std::span<const S>, argument_count> in{};
  std::span<const S> wrenches{};  // external forces, (moment, force) per body, world axes at its joint origin
  std::span<const Mat3<S>> levers{};  // LinearizationOptions::levers; one state only
  std::span<const int> frames{};
  Axes axes = Axes::world;
  Method method = Method::automatic;    // for algorithms that have it (Algorithm::has)
  std::span<const std::span<S>> out{};  // one per part
  int listed = -1;                      // Algorithm::listed; Evaluator fills it in

  std::span<const S> operator[](Argument argument) const { return in[static_cast<int>(argument)]; }
};

struct Algorithm {
  const char* name;
  std::vector<Argument> uses;
  FramesNeeded frames;
  std::vector<Part> parts;  // one: the value itself
  const char* meaning;
  bool external_forces;     // whether Call::wrenches act
  bool options_one_by_one;  // external forces: of many states only one after the other
  unsigned methods;         // 1 << Method of those that it has beside automatic: one state after the other
  bool mimics;              // whether models with mimic joints have it
  const char* counted;      // names in operation_counts.hpp, joined by +; empty: not counted
  int listed =
      -1;  // its place among the listed kernels (articula/kernels/listed.hpp); -1: it has functions of its own
  /// What computes it: one state; many (null: one after the other).
  void (*one_in_double)(OneState<double>&, const Call<double>&) = nullptr;
  void (*one_in_float)(OneState<float>&, const Call<float>&) = nullptr;
  void (*many_in_double)(Batch<double>&, const Call<double>&) = nullptr;
  void (*many_in_float)(Batch<float>&, const Call<float>&) = nullptr;

  bool has(Method method) const {
    return method == Method::automatic || (methods >> static_cast<int>(method) & 1) != 0;
  }
  template <class S>
  auto one() const {
    if constexpr (sizeof(S) == sizeof(double))
      return one_in_double;
    else
      return one_in_float;
  }
  template <class S>
  auto many() const {
    if constexpr (sizeof(S) == sizeof(double))
      return many_in_double;
    else
      return many_in_float;
  }
};

/// In the order in which they are explained.
std::span<const Algorithm> algorithms();
/// Null: there is none of that name.
const Algorithm* find_algorithm(std::string_view name);
/// One of method_names; empty: automatic. ArgumentError for others.
Method method_of(std::string_view name);

/// Computes algorithms of the list on one model; what they need is made when first asked for. One call at a time.
template <class S = double>
class Evaluator {
 public:
  explicit Evaluator(const Model& model, const BatchOptions& options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  const Model& model() const;

  /// Throws ArgumentError, naming the argument, the sizes and what was expected; SingularError as Batch does. Arguments
  /// that the algorithm does not use are not looked at.
  void one(const Algorithm& algorithm, const Call<S>& call);
  /// The same for `count` states, arranged as the options say. wrenches: of all states; levers: none.
  void many(const Algorithm& algorithm, std::size_t count, const Call<S>& call);
  /// OneState::remark of the last call for one state.
  const std::string& remark() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

extern template class Evaluator<double>;
extern template class Evaluator<float>;

}  // namespace articula
