// What the kernels read of a model: plain arrays, nothing else. Slot 0 is the world, slot k + 1 is body k.
#pragma once

#include "articula/model/hinges.hpp"
#include "articula/spatial/slots.hpp"

namespace articula {

/// Components of a slot's constants (Tree::constants), in blocks like the kernels' own numbers.
namespace constant {
enum : int {
  E = 0,        // Mat3: joint axes in the inboard body's axes; angles are counted from Tree::offset
  l = 9,        // Vec3: joint origin in the inboard body's axes, from the inboard origin
  mp = 12,      // Vec3: mass times mass centre, body axes, from O_k
  u = 15,       // Vec3 u, Vec3 w: J = lambda Id + u w* + w u*, the inertia about O_k (see Tree)
  w = 18,       //
  m = 21,       // mass
  lambda = 22,  // see u
  sigma = 23,   // of the second moment of mass: Sigma = sigma Id - (u w* + w u*)
  J = 24,       // Sym3: the inertia about O_k, body axes
  count = 30,
};
}

/// How body k hands its articulated inertia and force to its inboard body in a tip-to-base sweep. Bodies are
/// numbered depth first, so the first child of k is k + 1: what it hands over can stay in registers.
enum class Handover : unsigned char {
  none,   // inboard is the world
  carry,  // inboard is k - 1
  first,  // another child, and the first one in sweep order: writes the inboard body's side sum
  add,    // another child: adds to it
};

/// What is known of E when a model is built. Each body's axes are turned about its joint's axis so that the
/// axis of its first outboard joint has no x component, and E Rz(q + offset) is then one turn about x and one
/// about z.
enum class Alignment : unsigned char {
  any,
  twist,          // E = Rx(angle)
  perpendicular,  // E = Rx(90 degrees)
  parallel,       // E = Id
};

struct BodyIndex {
  int inboard;  // slot of the inboard body: 0 is the world
  int q, v;     // first coordinate and velocity (in full coordinates, mimic joints apart)
  HingeKind kind;
  Handover handover;
  Alignment alignment;
  // Of a revolute joint whose E is Rz(a) Rx(t): what Rx(t) is, whatever a (not 0: `alignment` is any). Else any.
  Alignment twist;
  unsigned char has_l;  // bits 1, 2, 4: the joint's origin l has an x, y, z component
  bool has_carry;       // body k + 1 is a child
  bool has_sides;       // there are further children
  int v_end;            // one past the last velocity outboard of this joint: v .. v_end - 1 are its subtree's
};

inline constexpr int scattered = -2;  // no velocity: the least is -1, of the world's lane

/// A rigid inertia needs 45 products to be turned into world axes as R J R*. Any J is lambda Id + u w* + w u*
/// with lambda its middle eigenvalue (its circular sections), which needs 27: R u, R w and their symmetric
/// product.
template <class R>
struct Tree {
  int bodies = 0;
  int nq = 0, nv = 0;                // full coordinates: every hinge its own, mimic joints included
  const BodyIndex* index = nullptr;  // by slot; entry 0 is the world
  const R* constants = nullptr;      // blocks of constant::count components
  const R* pitch = nullptr;          // by slot
  const R* armature = nullptr;       // by velocity
  const R* link_axes = nullptr;      // by slot, 9 each: a link's axes, as files state it, in its body's own
  bool has_armature = false;
  bool suits_body_axes = false;  // forward dynamics takes less in body axes than in world axes
  bool turns_little = false;     // and for one state, whose sweeps in world axes are the faster ones
  long steps_inboard = 0;        // joints inboard of a joint, over all joints
  const int* v_end = nullptr;    // by velocity: BodyIndex::v_end of its joint
  const int* angle = nullptr;    // by slot, padded to a block: which q turns it about z, -1: none
  const R* offset = nullptr;     // by slot, padded: added to that angle
  // The mass matrix' columns: by block, the velocity of its first lane where those of its revolute joints
  // follow lane by lane, else `scattered`; and the slots that such a block does not serve.
  const int* first_column = nullptr;
  const int* alone = nullptr;
  int alone_count = 0;
  // Mimic joints: v = multiplier v_own[source], by velocity; source is null where there are none.
  int own_nv = 0;
  const int* source = nullptr;
  const R* multiplier = nullptr;
  Vec3<R> gravity{0, 0, 0};

  int slots() const { return bodies + 1; }
  ARTICULA_INLINE const R* constants_of(int k) const {
    return constants + long(unsigned(k) / block) * (block * constant::count) + unsigned(k) % block;
  }
};

}  // namespace articula
