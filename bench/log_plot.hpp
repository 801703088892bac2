// Curves on logarithmic axes, and ratios as dots on one, as SVG.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace articula::bench {

inline constexpr const char* plot_colours[] = {"#1b6ca8", "#c0392b", "#27ae60", "#8e44ad", "#d68910",
                                               "#16a085", "#7f8c8d", "#2c3e50", "#e84393", "#6c5ce7"};

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // both positive
};

inline std::string log_plot(const std::string& x_label, const std::string& y_label,
                            const std::vector<Curve>& curves) {
  double x0 = 1e300, x1 = 0, y0 = 1e300, y1 = 0;
  for (const Curve& c : curves)
    for (const auto& [x, y] : c.points)
      x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
  y0 = std::pow(10, std::floor(std::log10(y0))), y1 = std::pow(10, std::ceil(std::log10(y1)));
  constexpr double left = 70, top = 20, width = 470, height = 340;
  const auto X = [&](double x) { return left + width * std::log(x / x0) / std::log(x1 / x0); };
  const auto Y = [&](double y) { return top + height * (1 - std::log(y / y0) / std::log(y1 / y0)); };
  std::string s = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 820 420' font-family='sans-serif' "
      "font-size='12'>\n"
      "<rect width='820' height='420' fill='white'/>\n<rect x='{}' y='{}' width='{}' height='{}' fill='none' "
      "stroke='#888'/>\n",
      left, top, width, height);
  for (double power = std::pow(10, std::ceil(std::log10(x0) - 1e-9)); power <= x1 * 1.0001; power *= 10)
    s += fmt::format(
        "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#ddd'/><text x='{0:.1f}' y='{3}' "
        "text-anchor='middle'>{4}</text>\n",
        X(power), top, top + height, top + height + 18, power);
  for (double power = y0; power <= y1 * 1.0001; power *= 10)
    s += fmt::format(
        "<line x1='{0}' y1='{1:.1f}' x2='{2}' y2='{1:.1f}' stroke='#ddd'/><text x='{3}' y='{1:.1f}' "
        "text-anchor='end'>1e{4:.0f}</text>\n",
        left, Y(power), left + width, left - 6, std::log10(power));
  s += fmt::format(
      "<text x='{}' y='{}' text-anchor='middle'>{}</text><text x='16' y='{}' text-anchor='middle' "
      "transform='rotate(-90 16 {})'>{}</text>\n",
      left + width / 2, top + height + 38, x_label, top + height / 2, top + height / 2, y_label);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const char* colour = plot_colours[i % 10];
    s += fmt::format("<polyline fill='none' stroke='{}' stroke-width='1.8' points='", colour);
    for (const auto& [x, y] : curves[i].points) s += fmt::format("{:.1f},{:.1f} ", X(x), Y(y));
    const double at = top + 12 + 18 * static_cast<double>(i);
    s += fmt::format(
        "'/>\n<line x1='555' y1='{0}' x2='580' y2='{0}' stroke='{1}' stroke-width='1.8'/><text x='586' "
        "y='{2}'>{3}</text>\n",
        at, colour, at + 4, curves[i].name);
  }
  return s + "</svg>\n";
}

struct Ratio {
  std::string group, name, peer;
  double ratio;  // positive
};

/// A line for each name within a group, a dot for each peer.
inline std::string ratio_plot(const std::string& label, const std::vector<Ratio>& ratios) {
  std::vector<std::string> peers;
  double least = 1, most = 10;
  for (const Ratio& r : ratios) {
    if (std::find(peers.begin(), peers.end(), r.peer) == peers.end()) peers.push_back(r.peer);
    least = std::min(least, r.ratio), most = std::max(most, r.ratio);
  }
  least = std::min(0.8, 0.9 * least), most *= 1.1;
  constexpr double left = 200, width = 560, line = 16;
  const auto X = [&](double x) { return left + width * std::log(x / least) / std::log(most / least); };
  std::string s, group, name;
  double y = 46;
  for (const Ratio& r : ratios) {
    if (r.group != group) {
      y += 1.6 * line;
      s += fmt::format("<text x='10' y='{:.1f}' font-weight='bold'>{}</text>\n", y, r.group);
      name.clear();
    }
    if (r.name != name) {
      y += line;
      s += fmt::format(
          "<text x='{0}' y='{1:.1f}' text-anchor='end'>{2}</text><line x1='{3}' x2='{4}' y1='{5:.1f}' "
          "y2='{5:.1f}' stroke='#eee'/>\n",
          left - 8, y + 4, r.name, left, left + width, y);
    }
    group = r.group, name = r.name;
    const auto peer = std::find(peers.begin(), peers.end(), r.peer) - peers.begin();
    s += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' fill='{}'/>\n", X(r.ratio), y,
                     plot_colours[peer % 10]);
  }
  std::string head;
  for (std::size_t i = 0; i < peers.size(); ++i)
    head += fmt::format("<circle cx='{0}' cy='14' r='4' fill='{1}'/><text x='{2}' y='18'>{3}</text>\n",
                        20 + 155 * i, plot_colours[i % 10], 28 + 155 * i, peers[i]);
  for (double base = 0.1; base < most; base *= 10)
    for (const int digit : {1, 2, 5})
      if (const double x = digit * base; x >= least && x <= most)
        head += fmt::format(
            "<line x1='{0:.1f}' x2='{0:.1f}' y1='52' y2='{1:.1f}' stroke='{2}'/><text x='{0:.1f}' y='46' "
            "text-anchor='middle'>{3}</text>\n",
            X(x), y + line, std::abs(x - 1) < 1e-9 ? "#333" : "#ddd", x);
  return fmt::format(
             "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 820 {0:.0f}' font-family='sans-serif' "
             "font-size='12'>\n<rect width='820' height='{0:.0f}' fill='white'/>\n<text x='{1}' y='46' "
             "text-anchor='end'>{2}</text>\n",
             y + 2 * line, left - 30, label) +
         head + s + "</svg>\n";
}

}  // namespace articula::bench
