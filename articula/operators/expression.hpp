// The spatial operators as C++ values: multiply, add, transpose (star) and invert (inv) them; the compiler
// checks that they fit. An expression is bound to a state, and run, by a Program (program.hpp).
//
//   using namespace articula::operators;
//   const auto mass = H * phi * M * star(phi) * star(H);        // joint <- joint
//   const auto body_velocities = star(phi) * star(H);           // body <- joint
//   H * H;          // does not compile; one error: "... the left one takes body vectors ..."
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "articula/operators/node.hpp"

namespace articula::operators {

// --- the spaces --------------------------------------------------------------------------------------
struct JointSpace {};  // velocity order
struct BodySpace {};   // six numbers per body, base to tip
struct FrameSpace {};  // six numbers per frame
struct BaseSpace {};   // six numbers
struct One {};         // domain of a vector
struct Any {};         // of Id

template <class To, class From>
class Expression {
 public:
  explicit Expression(NodePtr node) : node_(std::move(node)) {}
  const NodePtr& node() const { return node_; }

 private:
  NodePtr node_;
};

/// A name, at compile time.
template <Symbol symbol, class To, class From>
struct Name {};
template <Known known, class To>
struct KnownName {};
struct Identity {};

template <class To, class From>
const NodePtr& node_of(const Expression<To, From>& x) {
  return x.node();
}
template <Symbol symbol, class To, class From>
NodePtr node_of(Name<symbol, To, From>) {
  return make_symbol(symbol);
}
template <Known known, class To>
NodePtr node_of(KnownName<known, To>) {
  return make_known(known);
}
inline NodePtr node_of(Identity) { return make_identity(); }

template <class X>
struct Spaces {
  static constexpr bool is_operator = false;
};
template <class T, class F>
struct Spaces<Expression<T, F>> {
  static constexpr bool is_operator = true;
  using To = T;
  using From = F;
};
template <Symbol symbol, class T, class F>
struct Spaces<Name<symbol, T, F>> : Spaces<Expression<T, F>> {};
template <Known known, class T>
struct Spaces<KnownName<known, T>> : Spaces<Expression<T, One>> {};
template <>
struct Spaces<Identity> : Spaces<Expression<Any, Any>> {};

template <class X>
concept Operator = Spaces<X>::is_operator;
template <class X>
using To = typename Spaces<X>::To;
template <class X>
using From = typename Spaces<X>::From;

template <class A, class B>
inline constexpr bool same = std::same_as<A, B> || std::same_as<A, Any> || std::same_as<B, Any>;
template <class A, class B>
using known_space = std::conditional_t<std::same_as<A, Any>, B, A>;

// --- the algebra -------------------------------------------------------------------------------------
template <Operator A, Operator B>
auto operator*(const A& a, const B& b) {
  using Takes = From<A>;
  using Gives = To<B>;
  constexpr bool fit = same<Takes, Gives>;
  constexpr bool other = !fit && std::same_as<Takes, One>;
  static_assert(!other, "operators do not fit: a vector can only stand on the right of a product");
  constexpr bool j = !fit && std::same_as<Takes, JointSpace>, b_ = !fit && std::same_as<Takes, BodySpace>,
                 f = !fit && std::same_as<Takes, FrameSpace>, e = !fit && std::same_as<Takes, BaseSpace>;
  static_assert(!(j && std::same_as<Gives, BodySpace>),
                "operators do not fit: the left one takes joint vectors, the right one gives body vectors");
  static_assert(!(j && !std::same_as<Gives, BodySpace>),
                "operators do not fit: the left one takes joint vectors, the right one gives others");
  static_assert(!(b_ && std::same_as<Gives, JointSpace>),
                "operators do not fit: the left one takes body vectors, the right one gives joint vectors");
  static_assert(!(b_ && !std::same_as<Gives, JointSpace>),
                "operators do not fit: the left one takes body vectors, the right one gives others");
  static_assert(!f, "operators do not fit: the left one takes frame vectors, the right one gives others");
  static_assert(!e, "operators do not fit: the left one takes base vectors, the right one gives others");
  using R = Expression<known_space<To<A>, To<B>>, known_space<From<B>, From<A>>>;
  if constexpr (fit)
    return R(product(node_of(a), node_of(b)));
  else
    return R(nullptr);
}
template <Operator A, Operator B>
auto add(const A& a, const B& b, double factor) {
  using ToB = To<B>;
  using FromB = From<B>;
  constexpr bool fit = same<To<A>, ToB> && same<From<A>, FromB>;
  static_assert(fit, "operators do not fit: a sum needs two operators between the same spaces");
  using R = Expression<known_space<To<A>, ToB>, known_space<From<A>, FromB>>;
  constexpr bool with_id = std::same_as<To<A>, Any> || std::same_as<ToB, Any>;
  constexpr bool square = !fit || !with_id || same<To<R>, From<R>>;
  static_assert(square, "operators do not fit: a sum with Id needs an operator from a space to itself");
  if constexpr (fit && square)
    return R(sum(node_of(a), node_of(b), factor));
  else
    return R(nullptr);
}
template <Operator A, Operator B>
auto operator+(const A& a, const B& b) {
  return add(a, b, 1);
}
template <Operator A, Operator B>
auto operator-(const A& a, const B& b) {
  return add(a, b, -1);
}
// The number's type is a parameter too: clang 14 rejects these for operands that are an integer and an
// enumerator.
template <class Number, Operator A>
requires std::is_arithmetic_v<Number>
auto operator*(Number factor, const A& a) {
  return Expression<To<A>, From<A>>(scale(static_cast<double>(factor), node_of(a)));
}
template <Operator A, class Number>
requires std::is_arithmetic_v<Number>
auto operator*(const A& a, Number factor) { return factor * a; }
template <Operator A>
auto operator-(const A& a) {
  return -1 * a;
}
/// The adjoint.
template <Operator A>
auto star(const A& a) {
  constexpr bool fit = !std::same_as<From<A>, One>;
  static_assert(fit, "star() is for operators, not for vectors");
  if constexpr (fit)
    return Expression<From<A>, To<A>>(star(node_of(a)));
  else
    return Expression<From<A>, To<A>>(nullptr);
}
/// The inverse, where the algebra gives one in O(n): phi, psi, D, Id + H phi K, Id - H psi K, the mass
/// operator H phi M phi* H* (plus `rotor`), products of these and their adjoints. Anything else:
/// ArgumentError from Program.
template <Operator A>
auto inv(const A& a) {
  constexpr bool fit = same<From<A>, To<A>>;
  static_assert(fit, "inv() needs an operator from a space to itself");
  if constexpr (fit)
    return Expression<From<A>, To<A>>(inverse(node_of(a)));
  else
    return Expression<From<A>, To<A>>(nullptr);
}

// --- the names ---------------------------------------------------------------------------------------
inline constexpr Identity Id;
inline constexpr Name<Symbol::H, JointSpace, BodySpace> H;
inline constexpr Name<Symbol::H_full, JointSpace, BodySpace> H_full;
inline constexpr Name<Symbol::Gamma, JointSpace, JointSpace> Gamma;
inline constexpr Name<Symbol::phi, BodySpace, BodySpace> phi;
inline constexpr Name<Symbol::psi, BodySpace, BodySpace> psi;
inline constexpr Name<Symbol::M, BodySpace, BodySpace> M;
inline constexpr Name<Symbol::P, BodySpace, BodySpace> P;
inline constexpr Name<Symbol::D, JointSpace, JointSpace> D;
inline constexpr Name<Symbol::G, BodySpace, JointSpace> G;
inline constexpr Name<Symbol::K, BodySpace, JointSpace> K;
inline constexpr Name<Symbol::L, BodySpace, JointSpace> L;
inline constexpr Name<Symbol::tau, BodySpace, BodySpace> tau;
inline constexpr Name<Symbol::tau_bar, BodySpace, BodySpace> tau_bar;
inline constexpr Name<Symbol::E_phi, BodySpace, BodySpace> E_phi;
inline constexpr Name<Symbol::E_psi, BodySpace, BodySpace> E_psi;
inline constexpr Name<Symbol::S, BodySpace, BodySpace> S;
inline constexpr Name<Symbol::R, BodySpace, BodySpace> R;
inline constexpr Name<Symbol::Omega, BodySpace, BodySpace> Omega;
inline constexpr Name<Symbol::E, BaseSpace, BodySpace> E;
inline constexpr Name<Symbol::rotor, JointSpace, JointSpace> rotor;
inline constexpr Name<Symbol::root_D, JointSpace, JointSpace> root_D;
inline constexpr Name<Symbol::H_dot, JointSpace, BodySpace> H_dot;
inline constexpr Name<Symbol::M_ring, BodySpace, BodySpace> M_ring;
inline constexpr Name<Symbol::P_ring, BodySpace, BodySpace> P_ring;
inline constexpr Name<Symbol::G_ring, BodySpace, JointSpace> G_ring;
inline constexpr Name<Symbol::K_ring, BodySpace, JointSpace> K_ring;
inline constexpr Name<Symbol::R_ring, BodySpace, BodySpace> R_ring;
inline constexpr Name<Symbol::J_ring, BodySpace, BodySpace> J_ring;
inline constexpr Name<Symbol::H_ddot, JointSpace, BodySpace> H_ddot;
inline constexpr Name<Symbol::H_f, BodySpace, JointSpace> H_f;
/// The pick-off of a set of frames, by name: star(B) * V is their velocities, B * f their forces on the
/// bodies.
inline Expression<BodySpace, FrameSpace> B(std::vector<std::string> frames) {
  return Expression<BodySpace, FrameSpace>(make_B(std::move(frames)));
}
inline Expression<BodySpace, FrameSpace> B(std::string frame) {
  return B(std::vector<std::string>{std::move(frame)});
}

/// Vectors of the state: a (without gravity) and b of the papers, and the acceleration (0, -g) of the base.
inline constexpr KnownName<Known::bias_acceleration, BodySpace> a_bias;
inline constexpr KnownName<Known::bias_force, BodySpace> b_bias;
inline constexpr KnownName<Known::base_acceleration, BaseSpace> a_g;
/// The i-th vector given when the program runs.
template <class Space>
Expression<Space, One> input(int index) {
  constexpr operators::Space space = std::same_as<Space, JointSpace>   ? operators::Space::joint
                                     : std::same_as<Space, BodySpace>  ? operators::Space::body
                                     : std::same_as<Space, FrameSpace> ? operators::Space::frame
                                                                       : operators::Space::base;
  return Expression<Space, One>(make_input(space, index, "input" + std::to_string(index)));
}

}  // namespace articula::operators
