// The parts of the page's data that a report and a view share; web/src/data.ts reads them.
#pragma once

#include <span>

#include "articula/report/json_text.hpp"
#include "articula/report/report.hpp"

namespace articula {

/// "links" (with shapes and packed poses), "joints" and "meshes", each mesh once.
void write_mechanism(JsonText& json, std::span<const ReportLink> links, std::span<const ReportJoint> joints);
/// Links and joints of a model, without poses.
void append_mechanism(const Model& model, std::span<const LinkShapes> shapes, const std::string& prefix,
                      std::vector<ReportLink>& links, std::vector<ReportJoint>& joints);
/// x y z qx qy qz qw
void append_pose(const Mat3<double>& R, const Vec3<double>& p, std::vector<float>& out);

/// "elbow", or "hip wx" where a joint has several coordinates or velocities.
std::string coordinate_name(const Joint& joint, int index);
std::string velocity_name(const Joint& joint, int index);

}  // namespace articula
