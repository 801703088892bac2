// What writers of XML models share: names and numbers as text.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "articula/files/shapes.hpp"
#include "articula/files/xml_text.hpp"
#include "articula/model/spec.hpp"

namespace articula {

/// As it stands between quotes or tags.
std::string escaped(std::string_view text);
/// Shortest text that reads back as the same numbers. The sign of zero is kept.
std::string say(const Vec3<double>& a);
std::string say(const std::array<double, 4>& a);

/// The roll, pitch and yaw that give R best; if R came from three such angles, R itself.
Vec3<double> angles_of(const Mat3<double>& R);

/// Shapes by link.
using ShapesByLink = std::unordered_map<std::string_view, const LinkShapes*>;
ShapesByLink by_link(const ModelExtras& extras);
/// A mesh's file, as the written one names it; empty: it has none.
std::string file_of(const Shape& mesh, const ModelExtras& extras);

/// ModelError that names the owner ("link 'arm'") and the format that cannot say it.
void require_finite(std::string_view format, const std::string& owner, std::initializer_list<double> numbers);
void require_finite(std::string_view format, const std::string& owner, const Pose& pose);

}  // namespace articula
