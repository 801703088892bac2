// Changes to a specification: joints locked, links removed, other models attached, another root, and so on.
// Each keeps every link's frame where it is, and every other name and number as it was. Wrong names throw
// ArgumentError, which suggests the right one; the specification is then as it was.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/spec.hpp"

namespace articula {

/// Holds a joint at coordinates (as many as its kind has): it becomes fixed, and so do the joints that follow
/// it, by mimic or coupling, where that puts them. What remains is the reduced model: its mass matrix is the
/// block of the whole one's that belongs to the freedoms that are left.
void lock_joint(ModelSpec& spec, std::string_view joint, std::span<const double> q);
void lock_joint(ModelSpec& spec, std::string_view joint, double q);

/// Takes a link away with all that hangs from it, and what is said of either: frames, loops, couplings,
/// actuators. A joint that mimicked one of them moves by itself then.
void remove_link(ModelSpec& spec, std::string_view link);

enum class SpecPart { link, joint, frame };
/// Everywhere that the name occurs.
void rename(ModelSpec& spec, SpecPart part, std::string_view from, std::string_view to);
/// Before the names of all links, joints, frames, actuators, loops and couplings.
void add_prefix(ModelSpec& spec, std::string_view prefix);

/// Puts another model on a link or frame: its root link, and what hangs from the world in it, is then welded
/// to it or hangs from it, at `placement` in the frame's axes. Its names get the prefix.
void attach(ModelSpec& spec, const ModelSpec& other, std::string_view frame, std::string_view prefix = "",
            const Pose& placement = {});

/// Makes a link the root: joints on the way are turned around, with the same coordinates (those of spherical,
/// planar and free joints are then the inverse motion's; a universal joint's change places). Where a link's
/// frame does not lie on its new joint, a massless link (JOINT_carrier) does.
void set_root(ModelSpec& spec, std::string_view link);

/// A frame at `placement` on a link or on another frame.
void add_frame(ModelSpec& spec, std::string_view name, std::string_view on, const Pose& placement = {});
/// A link of this mass, welded to a link or frame; called `name`, or by default "payload" (or "payload2", ..).
void add_payload(ModelSpec& spec, std::string_view frame, const MassProperties& mass, std::string name = "");
/// What a rotor of that inertia about its own axis, which turns `gear_ratio` times as fast as the joint, adds
/// to the joint's armature (to each freedom's).
void add_rotor(ModelSpec& spec, std::string_view joint, double inertia, double gear_ratio = 1);

/// Every length times `length`, every mass times `mass`, inertias and armatures as these ask. What motors,
/// springs, dampers and friction give stays.
void scale(ModelSpec& spec, double length, double mass);
/// The same stuff in another size: mass goes with length^3.
inline void scale(ModelSpec& spec, double length) { scale(spec, length, length * length * length); }

/// Joints of several hinges (universal, ..), cylindrical and helical ones, those of them that are among `kinds`, as
/// joints of one freedom with massless links NAME_cross between: NAME, NAME_2, .. The coordinates stay, in their order; a
/// screw's slide mimics its turn.
void split_joints(ModelSpec& spec, std::span<const JointKind> kinds);
/// What a format that knows only these of them has to split.
std::vector<JointKind> kinds_to_split(std::span<const JointKind> known);

// --- for readers ---------------------------------------------------------------------------------------
/// A joint whose frame is not the child link's: `placement` and axes are the joint frame's, `in_child` is where that
/// lies in the child link's axes. The same joint at the child's own origin, where that is the same motion; otherwise two:
/// the joint carries a link called `link_name`, which is to be added without mass, and `weld_name` welds the child to it.
std::vector<JointSpec> joint_apart(JointSpec joint, const Pose& in_child, const std::string& link_name,
                                   const std::string& weld_name);
/// The joint seen from its child: parent and child change places, and `placement` is the joint frame in the
/// new child (see joint_apart). Throws ArgumentError if its freedoms differ in what cannot be carried over.
JointSpec turned_around(const JointSpec& joint);

}  // namespace articula
