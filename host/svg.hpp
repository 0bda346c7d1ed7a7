// One picture: points and a curve in a frame with ticks, as SVG text. Must not know where the numbers come from.
#pragma once
#include <string>
#include <vector>

namespace locus::host {

struct Plot {
  std::string title, x_label, y_label;
  std::vector<double> points_x, points_y;
  std::vector<double> curve_x, curve_y;  ///< in order; a NaN breaks the curve
};
std::string svg_text(const Plot& plot);

}  // namespace locus::host
