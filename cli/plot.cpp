#include "cli/plot.hpp"

#include <cairo.h>
#include <fmt/format.h>
#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/subcommand.hpp"

namespace articula::cli {

namespace {

struct Colour {
  double r, g, b;
};
constexpr Colour colours[] = {{0.11, 0.42, 0.66}, {0.75, 0.22, 0.17}, {0.15, 0.68, 0.38}, {0.56, 0.27, 0.68},
                              {0.84, 0.54, 0.06}, {0.09, 0.63, 0.52}, {0.50, 0.55, 0.55}, {0.17, 0.24, 0.31}};
constexpr Colour grey{0.53, 0.53, 0.53}, pale{0.87, 0.87, 0.87}, black{0.1, 0.1, 0.1};

struct Point {
  double x, y;
};
enum class Align { left, middle, right };

/// The few strokes that a picture is made of.
class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void lines(const std::vector<Point>& points, Colour colour, double width) = 0;
  virtual void text(Point at, const std::string& words, Align align) = 0;
  virtual std::string bytes() = 0;
};

class SvgCanvas : public Canvas {
 public:
  SvgCanvas(int width, int height) {
    s_ = fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
        "font-family='sans-serif' font-size='12'>\n<rect width='{0}' height='{1}' fill='white'/>\n",
        width, height);
  }
  void lines(const std::vector<Point>& points, Colour c, double width) override {
    s_ += fmt::format("<polyline fill='none' stroke='#{:02x}{:02x}{:02x}' stroke-width='{}' points='",
                      int(255 * c.r), int(255 * c.g), int(255 * c.b), width);
    for (const Point& p : points) s_ += fmt::format("{:.1f},{:.1f} ", p.x, p.y);
    s_ += "'/>\n";
  }
  void text(Point at, const std::string& words, Align align) override {
    std::string safe;
    for (const char c : words)
      safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    s_ += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", at.x, at.y,
                      align == Align::left     ? "start"
                      : align == Align::middle ? "middle"
                                               : "end",
                      safe);
  }
  std::string bytes() override { return s_ + "</svg>\n"; }

 private:
  std::string s_;
};

class PngCanvas : public Canvas {
 public:
  PngCanvas(int width, int height)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * 2, height * 2),
                 cairo_surface_destroy),
        context_(cairo_create(surface_.get()), cairo_destroy) {
    cairo_t* const c = context_.get();
    cairo_scale(c, 2, 2);
    cairo_set_source_rgb(c, 1, 1, 1);
    cairo_paint(c);
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, 12);
  }
  void lines(const std::vector<Point>& points, Colour k, double width) override {
    cairo_t* const c = context_.get();
    cairo_set_source_rgb(c, k.r, k.g, k.b);
    cairo_set_line_width(c, width);
    cairo_new_path(c);  // text leaves a point behind
    for (const Point& p : points) cairo_line_to(c, p.x, p.y);
    cairo_stroke(c);
  }
  void text(Point at, const std::string& words, Align align) override {
    cairo_t* const c = context_.get();
    cairo_text_extents_t size;
    cairo_text_extents(c, words.c_str(), &size);
    cairo_set_source_rgb(c, black.r, black.g, black.b);
    cairo_move_to(c,
                  at.x - (align == Align::left     ? 0
                          : align == Align::middle ? size.width / 2
                                                   : size.width),
                  at.y);
    cairo_show_text(c, words.c_str());
  }
  std::string bytes() override {
    std::string out;
    const auto write = [](void* to, const unsigned char* data, unsigned n) {
      static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), n);
      return CAIRO_STATUS_SUCCESS;
    };
    if (cairo_surface_write_to_png_stream(surface_.get(), write, &out) != CAIRO_STATUS_SUCCESS)
      throw ComputationError("--plot: the picture could not be made");
    return out;
  }

 private:
  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface_;
  std::unique_ptr<cairo_t, void (*)(cairo_t*)> context_;
};

/// 1, 2 or 5 times a power of ten.
double round_step(double range, int count) {
  const double raw = range / count, power = std::pow(10, std::floor(std::log10(raw))), x = raw / power;
  return power * (x < 1.5 ? 1 : x < 3.5 ? 2 : x < 7.5 ? 5 : 10);
}

constexpr int width = 900, panel_height = 230, left = 80, right = 640, most_points = 1500, most_names = 11;

void panel(Canvas& canvas, const Recording& r, int index, const std::string& title,
           const std::vector<int>& columns) {
  const double top = 30 + index * panel_height, bottom = top + panel_height - 60;
  const std::vector<double> time = r.values(0);
  double lo = 0, hi = 0, t0 = time.empty() ? 0 : time.front(), t1 = time.empty() ? 1 : time.back();
  bool first = true;
  for (const int c : columns)
    for (const double x : r.values(c)) {
      if (!std::isfinite(x)) continue;
      lo = first ? x : std::min(lo, x), hi = first ? x : std::max(hi, x);
      first = false;
    }
  if (hi - lo < 1e-12 * std::max(1.0, std::abs(hi))) lo -= 1, hi += 1;
  if (!(t1 > t0)) t1 = t0 + 1;
  const auto X = [&](double t) { return left + (right - left) * (t - t0) / (t1 - t0); };
  const auto Y = [&](double y) { return bottom - (bottom - top) * (y - lo) / (hi - lo); };
  const double dy = round_step(hi - lo, 4), dt = round_step(t1 - t0, 6);
  for (int i = 0;; ++i) {
    const double y = (std::ceil(lo / dy) + i) * dy;
    if (!(y <= hi)) break;
    canvas.lines({{left, Y(y)}, {right, Y(y)}}, pale, 1);
    canvas.text({left - 6, Y(y) + 4}, fmt::format("{:.6g}", std::abs(y) < dy * 1e-9 ? 0 : y), Align::right);
  }
  for (int i = 0;; ++i) {
    const double t = (std::ceil(t0 / dt) + i) * dt;
    if (!(t <= t1 * (1 + 1e-12))) break;
    canvas.lines({{X(t), top}, {X(t), bottom}}, pale, 1);
    canvas.text({X(t), bottom + 16}, fmt::format("{:.6g}", t), Align::middle);
  }
  canvas.lines({{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}}, grey, 1);
  canvas.text({left, top - 8}, title, Align::left);
  int entry = 0;
  for (const int c : columns) {
    const Colour colour = colours[entry % 8];
    const std::vector<double> x = r.values(c);
    std::vector<Point> points;
    // Many rows: the least and the largest of each stretch, so that no peak is lost.
    const std::size_t stride = std::max<std::size_t>(1, x.size() / most_points);
    for (std::size_t i = 0; i < x.size(); i += stride) {
      const auto end = x.begin() + long(std::min(i + stride, x.size()));
      const auto [low, high] = std::minmax_element(x.begin() + long(i), end);
      const auto a = std::min(low, high), b = std::max(low, high);
      for (const auto p : {a, b})
        if (std::isfinite(*p) && (p == a || a != b))
          points.push_back({X(time[std::size_t(p - x.begin())]), Y(*p)});
    }
    canvas.lines(points, colour, 1.4);
    if (entry < most_names) {
      const double y = top + 8 + 15 * entry;
      canvas.lines({{right + 12, y}, {right + 36, y}}, colour, 1.6);
      canvas.text({right + 42, y + 4}, r.columns[c].name, Align::left);
    } else if (entry == most_names) {
      canvas.text({right + 42, top + 12 + 15 * entry},
                  fmt::format("and {} more", columns.size() - most_names), Align::left);
    }
    ++entry;
  }
}

}  // namespace

PictureFormat picture_format(const std::string& path) {
  if (path.ends_with(".svg")) return PictureFormat::svg;
  if (path.ends_with(".png")) return PictureFormat::png;
  throw InputError(fmt::format("--plot {}: expected a name that ends with .svg or .png", path));
}

std::string picture(const Recording& r, PictureFormat format) {
  std::vector<int> energies;
  for (const char* name : {"kinetic_energy", "potential_energy", "total_energy"})
    if (const int c = r.find(name); c >= 0) energies.push_back(c);
  std::vector<int> drift;
  if (const int c = r.find("energy_change"); c >= 0) drift.push_back(c);
  const int height = 20 + 4 * panel_height;
  std::unique_ptr<Canvas> canvas;
  if (format == PictureFormat::svg)
    canvas = std::make_unique<SvgCanvas>(width, height);
  else
    canvas = std::make_unique<PngCanvas>(width, height);
  panel(*canvas, r, 0, "joint coordinates (rad, m) over time (s)", r.starting_with("q:"));
  panel(*canvas, r, 1, "joint velocities (rad/s, m/s)", r.starting_with("v:"));
  panel(*canvas, r, 2, "energy (J)", energies);
  panel(*canvas, r, 3, "change of energy since the start (J)", drift);
  std::string bytes = canvas->bytes();
  canvas.reset();
  if (format == PictureFormat::png) {  // fonts that cairo keeps until the end: a leak to sanitizers
    cairo_debug_reset_static_data();
    FcFini();
  }
  return bytes;
}

}  // namespace articula::cli
