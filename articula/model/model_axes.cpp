// The axes of a model's bodies.
#include <cmath>

#include "articula/model/model_data.hpp"

namespace articula {

namespace {

constexpr double rounding = 1e-15;  // of numbers of size one, made of products of rotations

Mat3<double> turn_about_z(double sine, double cosine) { return {cosine, -sine, 0, sine, cosine, 0, 0, 0, 1}; }

/// A vector whose components that are rounding alone are zero: sweeps skip these.
Vec3<double> without_rounding(const Vec3<double>& a) {
  const double least = rounding * std::sqrt(dot(a, a));
  const auto clean = [least](double x) { return std::abs(x) <= least ? 0 : x; };
  return {clean(a.x), clean(a.y), clean(a.z)};
}

/// E = Rz(a) Rx(t) Rz(b): b goes to the offset. sin(t) is taken positive, and returned.
double take_last_turn(Hinge& h) {
  const double sine = std::hypot(h.E.zx, h.E.zy);
  if (sine > rounding) {
    const Mat3<double> b = turn_about_z(h.E.zx / sine, h.E.zy / sine);
    h.offset = std::atan2(h.E.zx, h.E.zy);
    h.E = h.E * star(b);
    h.E.zx = 0;
    h.E.zy = sine;
  } else if (h.E.zz > 0) {
    h.offset = std::atan2(h.E.yx, h.E.xx);
    h.E = Mat3<double>::identity();
  } else {
    h.offset = std::atan2(-h.E.xy, h.E.xx);
    h.E = {1, 0, 0, 0, -1, 0, 0, 0, -1};
  }
  return sine;
}

/// What E is now, and its numbers without rounding.
void classify(Hinge& h, double sine) {
  h.twist = std::abs(h.E.zz) < rounding      ? Alignment::perpendicular
            : sine <= rounding && h.E.zz > 0 ? Alignment::parallel
                                             : Alignment::twist;
  const bool twist = std::abs(h.E.xy) < rounding && std::abs(h.E.xz) < rounding && h.E.xx > 0;  // a = 0
  if (!twist) return;
  h.alignment = h.twist;
  if (h.twist == Alignment::perpendicular) {
    h.E = {1, 0, 0, 0, 0, -1, 0, 1, 0};
  } else if (h.twist == Alignment::twist) {
    h.E.xx = 1;
    h.E.xy = h.E.xz = h.E.yx = h.E.zx = 0;
  }
}

/// x along the common normal of this joint's axis and the next one's, where there is one: its direction, or
/// zero.
Vec3<double> normal_to(const Hinge& next) {
  if (!visit(next.kind, [](auto j) { return !j.quaternion; })) return {0, 0, 0};
  const Vec3<double> z = column_z(next.E);
  double x = -z.y, y = z.x, length = std::hypot(x, y);
  if (length <= rounding) {  // parallel: from this axis to the next
    x = next.l.x, y = next.l.y, length = std::hypot(x, y);
    if (length <= rounding) return {0, 0, 0};
  }
  return {x / length, y / length, 0};
}

}  // namespace

/// Turns the axes of bodies about their joints' axes, so that as many E as can be are turns about x (the
/// twist of Denavit and Hartenberg); angles are then counted from an offset. Origins stay where they are.
void Model::Data::choose_axes() {
  std::vector<int> first_child(bodies.size(), -1);
  for (std::size_t k = bodies.size(); k-- > 0;)
    if (bodies[k].inboard >= 0) first_child[bodies[k].inboard] = static_cast<int>(k);
  std::vector<Mat3<double>> turned_by(bodies.size(), Mat3<double>::identity());  // old axes in the new ones
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    Hinge& h = hinges[k];
    if (bodies[k].inboard >= 0) {
      h.E = turned_by[bodies[k].inboard] * h.E;
      h.l = without_rounding(turned_by[bodies[k].inboard] * h.l);
    }
    if (!visit(h.kind, [](auto j) { return j.axial; })) continue;
    classify(h, take_last_turn(h));
    if (first_child[k] < 0) continue;
    const Vec3<double> x = normal_to(hinges[first_child[k]]);
    if (x.x == 0 && x.y == 0) continue;
    const Mat3<double> c = turn_about_z(x.y, x.x);
    turned_by[k] = star(c);
    bodies[k].link_axes = star(c) * bodies[k].link_axes;
    h.offset += std::atan2(x.y, x.x);
  }
  for (Hinge& h : hinges) {
    if (!visit(h.kind, [](auto j) { return j.axial && j.angle < 0; })) continue;
    h.E = h.E * turn_about_z(std::sin(h.offset), std::cos(h.offset));  // it has no angle to count from there
    h.offset = 0;
    h.alignment = h.twist = Alignment::any;
  }
}

}  // namespace articula
