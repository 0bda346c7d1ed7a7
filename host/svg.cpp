// See svg.hpp.
#include "host/svg.hpp"
#include <algorithm>
#include <cmath>
#include "core/data/number.hpp"

namespace locus::host {
namespace {

constexpr double width = 720, height = 420, left = 70, right = 20, top = 40, bottom = 55;

struct Scale {
  double low, high, from, to;
  double at(double v) const { return from + (v - low) / (high - low) * (to - from); }
};

Scale scale_of(const std::vector<double>& a, const std::vector<double>& b, double from, double to) {
  double low = INFINITY, high = -INFINITY;
  for (const auto* list : {&a, &b})
    for (double v : *list)
      if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  if (!(low < high)) low -= 1, high += 1;
  if (!std::isfinite(low)) low = 0, high = 1;
  const double margin = (high - low) * 0.04;
  return {low - margin, high + margin, from, to};
}

/// A step of 1, 2 or 5 times a power of ten that gives about five ticks.
double tick_step(double range) {
  const double raw = range / 5, power = std::pow(10, std::floor(std::log10(raw)));
  return power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
}

std::string fixed(double v) { return number_word(std::round(v * 100) / 100); }

std::string text(double x, double y, const std::string& anchor, const std::string& words, const std::string& more = "") {
  return "<text x=\"" + fixed(x) + "\" y=\"" + fixed(y) + "\" text-anchor=\"" + anchor + "\"" + more + ">" + words + "</text>\n";
}

}  // namespace

std::string svg_text(const Plot& p) {
  const Scale x = scale_of(p.points_x, p.curve_x, left, width - right), y = scale_of(p.points_y, p.curve_y, height - bottom, top);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"420\" viewBox=\"0 0 720 420\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
                    "<rect width=\"720\" height=\"420\" fill=\"#fff\"/>\n";
  out += text(width / 2, 22, "middle", p.title, " font-size=\"15\"");
  for (const bool across : {true, false}) {
    const Scale& s = across ? x : y;
    const double step = tick_step(s.high - s.low);
    for (double v = std::ceil(s.low / step) * step; v <= s.high; v += step) {
      const double at = s.at(v);
      const std::string label = fixed(std::abs(v) < step / 1e6 ? 0 : v);
      if (across) {
        out += "<line x1=\"" + fixed(at) + "\" x2=\"" + fixed(at) + "\" y1=\"40\" y2=\"365\" stroke=\"#e4e4e4\"/>\n" + text(at, 382, "middle", label);
      } else {
        out += "<line x1=\"70\" x2=\"700\" y1=\"" + fixed(at) + "\" y2=\"" + fixed(at) + "\" stroke=\"#e4e4e4\"/>\n" + text(left - 8, at + 4, "end", label);
      }
    }
  }
  out += "<rect x=\"70\" y=\"40\" width=\"630\" height=\"325\" fill=\"none\" stroke=\"#888\"/>\n";
  out += text(width / 2, height - 14, "middle", p.x_label) + text(18, height / 2, "middle", p.y_label, " transform=\"rotate(-90 18 210)\"");
  for (std::size_t k = 0; k < p.points_x.size(); ++k)
    if (std::isfinite(p.points_x[k]) && std::isfinite(p.points_y[k]))
      out += "<circle cx=\"" + fixed(x.at(p.points_x[k])) + "\" cy=\"" + fixed(y.at(p.points_y[k])) + "\" r=\"2.6\" fill=\"#4477aa\" fill-opacity=\"0.55\"/>\n";
  std::string path;
  bool open = false;
  for (std::size_t k = 0; k < p.curve_x.size(); ++k) {
    if (!std::isfinite(p.curve_y[k])) {
      open = false;
      continue;
    }
    path += std::string(open ? "L" : "M") + fixed(x.at(p.curve_x[k])) + " " + fixed(y.at(p.curve_y[k])) + " ";
    open = true;
  }
  out += "<path d=\"" + path + "\" fill=\"none\" stroke=\"#cc3311\" stroke-width=\"2\"/>\n</svg>\n";
  return out;
}

}  // namespace locus::host
