// Nearest neighbours in few dimensions by a kd-tree (nanoflann), exact and with ties to the lower index, as the sum over all pairs has them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <nanoflann.hpp>
#include <vector>
#include "core/run/view.hpp"

namespace locus {
namespace {

struct Points {
  std::vector<double> at;
  std::size_t count, d;
  std::size_t kdtree_get_point_count() const { return count; }
  double kdtree_get_pt(std::size_t k, std::size_t c) const { return at[k * d + c]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Points>, Points, -1, std::uint32_t>;

/// The k nearest so far by distance, then index. Distances are compared as the metric gives them, after the root: two squares may have one root.
class Nearest {
 public:
  using DistanceType = double;
  Nearest(std::size_t k, std::int64_t without) : k_(k), without_(without) {}
  bool addPoint(double square, std::uint32_t index) {
    if (index == without_ || k_ == 0) return true;
    const std::pair<double, std::uint32_t> one{std::sqrt(square), index};
    if (found_.size() == k_ && !(one < found_.back())) return true;
    found_.insert(std::upper_bound(found_.begin(), found_.end(), one), one);
    if (found_.size() > k_) found_.pop_back();
    return true;
  }
  // Beyond the worst by a little: the tree takes what is strictly below, and a tie of lower index must be seen.
  double worstDist() const {
    if (found_.size() < k_ || k_ == 0) return std::numeric_limits<double>::max();
    return std::nextafter(found_.back().first * found_.back().first * (1 + 8e-16), std::numeric_limits<double>::max());
  }
  bool full() const { return found_.size() == k_; }
  std::size_t size() const { return found_.size(); }
  const std::vector<std::pair<double, std::uint32_t>>& found() const { return found_; }

 private:
  std::size_t k_;
  std::int64_t without_;
  std::vector<std::pair<double, std::uint32_t>> found_;
};

bool read(const View& v, Points& p) {
  p.d = v.dims().size() == 2 ? static_cast<std::size_t>(v.last()) : 1;
  p.count = static_cast<std::size_t>(v.dims()[0]);
  p.at.resize(static_cast<std::size_t>(v.count()));
  for (std::int64_t k = 0; k < v.count(); ++k)
    if (std::isnan(p.at[static_cast<std::size_t>(k)] = v.number(k))) return false;
  return true;
}

}  // namespace

int neighbours(const ArrayCallArguments& call) {
  if (call.in.size() != 2 || call.out.size() != 1 || call.parameters.size() != 1) return LOCUS_FAILED;
  const View q(call.in[0]), x(call.in[1]), out(call.out[0]);
  const std::size_t rank = q.dims().size();
  if (rank < 1 || rank > 2 || x.dims().size() != rank || out.dims().size() != 2 || out.dims()[0] != q.dims()[0] || out.dtype() != LOCUS_INT64 || (rank == 2 && q.last() != x.last())) return LOCUS_FAILED;
  if (x.dims()[0] > std::numeric_limits<std::uint32_t>::max() / 2) return LOCUS_FAILED;
  Points queries, points;
  if (!read(q, queries) || !read(x, points)) return LOCUS_FAULT;
  const std::int64_t k = out.last();
  const Tree tree(static_cast<int>(points.d), points, nanoflann::KDTreeSingleIndexAdaptorParams(16));
  for (std::size_t i = 0; i < queries.count; ++i) {
    Nearest nearest(static_cast<std::size_t>(k), call.parameters[0] != 0 ? static_cast<std::int64_t>(i) : -1);
    if (points.count > 0 && k > 0) tree.findNeighbors(nearest, queries.at.data() + i * queries.d, nanoflann::SearchParams());
    for (std::int64_t t = 0; t < k; ++t)
      out.set_whole(static_cast<std::int64_t>(i) * k + t, t < static_cast<std::int64_t>(nearest.size()) ? nearest.found()[static_cast<std::size_t>(t)].second : -1);
  }
  return LOCUS_OK;
}

}  // namespace locus
