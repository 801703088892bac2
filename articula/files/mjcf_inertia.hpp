// Masses and inertias of MJCF bodies: from <inertial>, or from geoms as MuJoCo's compiler computes them.
#pragma once

#include "articula/files/mjcf_tree.hpp"

namespace articula::mjcf {

/// Of a body, in its axes, all of `<compiler>` applied but settotalmass.
MassProperties mass_of_body(const BodyItem& body, Files& files);

/// The mesh's triangles, read once; null and `problem` if they cannot be had.
const TriangleMesh* triangles_of(MeshAsset& mesh, Files& files);
/// Points where the geom's frame sees them: refpos, refquat and scale applied.
std::vector<Vec3<double>> placed_points(const MeshAsset& mesh, const TriangleMesh& triangles);

/// A geom that states a mesh but is a box or the like: its size and pose are made to fit the mesh.
Geom fitted(const Geom& geom, const Compiler& compiler, Files& files);

/// Volume of a solid, or area of its surface, and its moments of inertia at mass one, in its own axes.
double extent_of(const Geom& geom);
Vec3<double> moments_of(const Geom& geom);

}  // namespace articula::mjcf
