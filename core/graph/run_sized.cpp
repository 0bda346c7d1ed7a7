// The two array functions whose results are as long as the data make them.
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>
#include "core/graph/run_sized.hpp"

namespace locus {
namespace {

using Point = std::vector<double>;

double distance(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

std::vector<Point> points_of(const Array& z) {
  const auto n = static_cast<std::size_t>(z.shape()[0]), d = static_cast<std::size_t>(z.shape().size() == 2 ? z.shape()[1] : 1);
  std::vector<Point> all(n, Point(d));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < d; ++c) all[i][c] = z.number(static_cast<std::int64_t>(i * d + c));
  return all;
}

void set(Array& a, std::int64_t k, double value) {
  if (a.dtype() == Dtype::float32)
    a.as<float>()[k] = static_cast<float>(value);
  else if (a.dtype() == Dtype::float64)
    a.as<double>()[k] = value;
  else if (a.dtype() == Dtype::int64)
    a.as<std::int64_t>()[k] = static_cast<std::int64_t>(value);
  else
    a.as<std::uint8_t>()[k] = value != 0;
}

// Distinct points, those of the largest size first; of equal size the larger point first.
std::vector<Point> by_size(const std::vector<Point>& points, const Array& size) {
  std::map<Point, double> distinct;
  for (std::size_t i = 0; i < points.size(); ++i) distinct[points[i]] = size.number(static_cast<std::int64_t>(i));
  std::vector<std::pair<double, Point>> order;
  for (const auto& [point, count] : distinct) order.emplace_back(count, point);
  std::sort(order.begin(), order.end(), std::greater<>());
  std::vector<Point> sorted;
  for (auto& [count, point] : order) sorted.push_back(std::move(point));
  return sorted;
}

}  // namespace

Groups group_points(const Array& z, const Array& size, double radius) {
  if (z.shape().empty() || z.shape().size() > 2 || size.shape().size() != 1 || size.shape()[0] != z.shape()[0])
    throw std::logic_error("group takes points [n, d] or [n] and sizes [n]");
  const std::vector<Point> points = points_of(z);
  std::vector<Point> centres;
  for (Point& p : by_size(points, size))
    if (std::all_of(centres.begin(), centres.end(), [&](const Point& c) { return distance(p, c) > radius; })) centres.push_back(std::move(p));

  std::vector<std::int64_t> shape = z.shape();
  shape[0] = static_cast<std::int64_t>(centres.size());
  Groups groups{Array(z.dtype(), shape), Array(Dtype::int64, {z.shape()[0]})};
  std::int64_t at = 0;
  for (const Point& c : centres)
    for (double v : c) set(groups.centres, at++, v);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < centres.size(); ++c)
      if (distance(points[i], centres[c]) < distance(points[i], centres[best])) best = c;
    groups.labels.as<std::int64_t>()[i] = static_cast<std::int64_t>(best);
  }
  return groups;
}

Triplets triplets(const Array& matrix) {
  if (matrix.shape().size() != 2) throw std::logic_error("triplets take a matrix");
  std::vector<std::int64_t> kept;
  for (std::int64_t k = 0; k < matrix.count(); ++k)
    if (matrix.number(k) != 0) kept.push_back(k);
  const auto count = static_cast<std::int64_t>(kept.size()), columns = matrix.shape()[1];
  Triplets t{Array(Dtype::int64, {count}), Array(Dtype::int64, {count}), Array(matrix.dtype(), {count})};
  for (std::int64_t e = 0; e < count; ++e) {
    t.rows.as<std::int64_t>()[e] = kept[e] / columns, t.cols.as<std::int64_t>()[e] = kept[e] % columns;
    set(t.vals, e, matrix.number(kept[e]));
  }
  return t;
}

Triplets triplets(const Array& values, const Array& starts, const Array& columns) {
  const std::int64_t rows = starts.count() - 1, *first = starts.as<std::int64_t>();
  std::int64_t count = 0;
  for (std::int64_t e = 0; e < first[rows]; ++e) count += values.number(e) != 0;
  Triplets t{Array(Dtype::int64, {count}), Array(Dtype::int64, {count}), Array(values.dtype(), {count})};
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t e = first[i]; e < first[i + 1]; ++e) {
      if (values.number(e) == 0) continue;
      t.rows.as<std::int64_t>()[at] = i, t.cols.as<std::int64_t>()[at] = columns.as<std::int64_t>()[e];
      set(t.vals, at++, values.number(e));
    }
  return t;
}

}  // namespace locus
