// Nearest neighbours by Euclidean distance, exact and with ties to the lower index, as a look at every pair has them: in few dimensions by a kd-tree (nanoflann),
// in many by matrix products in float, whose rounding is bounded, so that only samples that may be near are measured exactly.
#include <algorithm>
#include <cmath>
#include <limits>
#include <nanoflann.hpp>
#include <vector>
#include "core/run/view.hpp"
#include "plugins/host/host_services.hpp"

extern "C" void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

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

/// Which samples may be neighbours: all, those but the query itself, or those at a distance above 0.
enum class Among { all, others, apart };

/// The k nearest so far by distance, then index. Distances are compared as the metric gives them, after the root: two squares may have one root.
class Nearest {
 public:
  using DistanceType = double;
  Nearest(std::size_t k, std::int64_t without, bool apart = false) : k_(k), without_(without), apart_(apart) {}
  bool addPoint(double square, std::uint32_t index) {
    if (index == without_ || k_ == 0 || (apart_ && square == 0)) return true;
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
  bool apart_;  ///< samples at distance 0 are none
  std::vector<std::pair<double, std::uint32_t>> found_;
};

/// False if a number is NaN; `finite` becomes false at an infinite one.
bool read(const View& v, Points& p, bool& finite) {
  p.d = v.dims().size() == 2 ? static_cast<std::size_t>(v.last()) : 1;
  p.count = static_cast<std::size_t>(v.dims()[0]);
  p.at.resize(static_cast<std::size_t>(v.count()));
  for (std::int64_t k = 0; k < v.count(); ++k)
    if (std::isnan(p.at[static_cast<std::size_t>(k)] = v.number(k))) return false;
    else finite &= std::isfinite(p.at[static_cast<std::size_t>(k)]);
  return true;
}

constexpr std::size_t most_for_tree = 8;

/// Calls body(begin, end) over [0, count) on the host's threads. Chunks do not depend on their number.
template <class Body>
void parallel(std::int64_t count, std::int64_t grain, Body&& body) {
  const locus_host* host = host_services().table();
  host->parallel_for(host->context, count, grain, [](void* argument, std::int64_t begin, std::int64_t end) { (*static_cast<Body*>(argument))(begin, end); }, &body);
}

void write(const Nearest& nearest, std::int64_t i, const View& out) {
  const std::int64_t k = out.last();
  for (std::int64_t t = 0; t < k; ++t) out.set_whole(i * k + t, t < static_cast<std::int64_t>(nearest.size()) ? nearest.found()[static_cast<std::size_t>(t)].second : -1);
}

void by_tree(const Points& queries, const Points& points, std::int64_t k, Among among, const View& out) {
  const Tree tree(static_cast<int>(points.d), points, nanoflann::KDTreeSingleIndexAdaptorParams(16));
  parallel(static_cast<std::int64_t>(queries.count), 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Nearest nearest(static_cast<std::size_t>(k), among == Among::others ? i : -1, among == Among::apart);
      if (points.count > 0 && k > 0) tree.findNeighbors(nearest, queries.at.data() + static_cast<std::size_t>(i) * queries.d, nanoflann::SearchParams());
      write(nearest, i, out);
    }
  });
}

/// Points less the mean of the samples, in float, and their square lengths.
struct Rounded {
  std::vector<float> at, square;
  Rounded(const Points& p, const std::vector<double>& centre) : at(p.at.size()), square(p.count) {
    for (std::size_t k = 0; k < p.count; ++k) {
      double sum = 0;
      for (std::size_t c = 0; c < p.d; ++c) {
        const double v = p.at[k * p.d + c] - centre[c];
        at[k * p.d + c] = static_cast<float>(v), sum += v * v;
      }
      square[k] = static_cast<float>(sum);
    }
  }
};

double exact_square(const double* a, const double* b, std::size_t d) {
  double sum = 0;
  for (std::size_t c = 0; c < d; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
  return sum;
}

// Infinite coordinates, whose boxes and products are not numbers.
void by_all_pairs(const Points& queries, const Points& points, std::int64_t k, Among among, const View& out) {
  for (std::size_t i = 0; i < queries.count; ++i) {
    Nearest nearest(static_cast<std::size_t>(k), among == Among::others ? static_cast<std::int64_t>(i) : -1, among == Among::apart);
    for (std::size_t j = 0; j < points.count; ++j) nearest.addPoint(exact_square(queries.at.data() + i * points.d, points.at.data() + j * points.d, points.d), static_cast<std::uint32_t>(j));
    write(nearest, static_cast<std::int64_t>(i), out);
  }
}

void by_products(const Points& queries, const Points& points, std::int64_t k, Among among, const View& out) {
  constexpr std::int64_t high = 64, wide = 2048;
  std::vector<double> centre(points.d);
  for (std::size_t j = 0; j < points.count; ++j)
    for (std::size_t c = 0; c < points.d; ++c) centre[c] += points.at[j * points.d + c] / static_cast<double>(points.count);
  const Rounded q(queries, centre), x(points, centre);
  const int d = static_cast<int>(points.d);
  // What |q|^2 + |x|^2 - 2 q.x in float may be off: the dot product by d roundings, the rest by a few.
  const float unit = static_cast<float>(1.2e-7 * (static_cast<double>(d) + 8));
  parallel(static_cast<std::int64_t>(queries.count), high, [&](std::int64_t begin, std::int64_t end) {
    const int rows = static_cast<int>(end - begin);
    std::vector<Nearest> nearest;
    std::vector<float> limit(static_cast<std::size_t>(rows), std::numeric_limits<float>::infinity()), dots(static_cast<std::size_t>(high * wide));
    for (std::int64_t i = begin; i < end; ++i) nearest.emplace_back(static_cast<std::size_t>(k), among == Among::others ? i : -1, among == Among::apart);
    for (std::int64_t j0 = 0; j0 < static_cast<std::int64_t>(points.count); j0 += wide) {
      const int columns = static_cast<int>(std::min<std::int64_t>(wide, static_cast<std::int64_t>(points.count) - j0));
      cblas_sgemm(101, 111, 112, rows, columns, d, 1, q.at.data() + begin * d, d, x.at.data() + j0 * d, d, 0, dots.data(), columns);
      for (int r = 0; r < rows; ++r) {
        Nearest& own = nearest[static_cast<std::size_t>(r)];
        const float* row = dots.data() + static_cast<std::int64_t>(r) * columns;
        const float* square = x.square.data() + j0;
        const float mine = q.square[static_cast<std::size_t>(begin + r)] * (1 - unit);
        constexpr int group = 64;
        for (int c0 = 0; c0 < columns; c0 += group) {
          const int c1 = std::min(columns, c0 + group);
          float least = std::numeric_limits<float>::infinity();
          for (int c = c0; c < c1; ++c) {
            const float v = square[c] * (1 - unit) - 2 * row[c];
            least = v < least ? v : least;
          }
          if (!(least + mine <= limit[static_cast<std::size_t>(r)])) continue;
          for (int c = c0; c < c1; ++c)
            if (square[c] * (1 - unit) - 2 * row[c] + mine <= limit[static_cast<std::size_t>(r)]) {
              own.addPoint(exact_square(queries.at.data() + static_cast<std::size_t>(begin + r) * points.d, points.at.data() + static_cast<std::size_t>(j0 + c) * points.d, points.d), static_cast<std::uint32_t>(j0 + c));
              if (own.full()) limit[static_cast<std::size_t>(r)] = static_cast<float>(std::min(own.worstDist() * (1 + 1e-6), 3e38)) + 2 * unit * q.square[static_cast<std::size_t>(begin + r)];
            }
        }
      }
    }
    for (std::int64_t i = begin; i < end; ++i) write(nearest[static_cast<std::size_t>(i - begin)], i, out);
  });
}

}  // namespace

int neighbours(const ArrayCallArguments& call) {
  if (call.in.size() != 2 || call.out.size() != 1 || call.parameters.size() != 1) return LOCUS_FAILED;
  const View q(call.in[0]), x(call.in[1]), out(call.out[0]);
  const std::size_t rank = q.dims().size();
  if (rank < 1 || rank > 2 || x.dims().size() != rank || out.dims().size() != 2 || out.dims()[0] != q.dims()[0] || out.dtype() != LOCUS_INT64 || (rank == 2 && q.last() != x.last())) return LOCUS_FAILED;
  if (x.dims()[0] > std::numeric_limits<std::uint32_t>::max() / 2) return LOCUS_FAILED;
  Points queries, points;
  bool finite = true;
  if (!read(q, queries, finite) || !read(x, points, finite)) return LOCUS_FAULT;
  const Among among = call.parameters[0] == 1 ? Among::others : call.parameters[0] == 2 ? Among::apart : Among::all;
  if (!finite) by_all_pairs(queries, points, out.last(), among, out);
  else if (points.d <= most_for_tree || points.count == 0) by_tree(queries, points, out.last(), among, out);
  else by_products(queries, points, out.last(), among, out);
  return LOCUS_OK;
}

// The distance to the k-th nearest alone, which needs no list: on a line the k nearest are a window of the sorted points.
int reach(const ArrayCallArguments& call) {
  if (call.in.size() != 2 || call.out.size() != 1 || call.parameters.size() != 2) return LOCUS_FAILED;
  const View q(call.in[0]), x(call.in[1]), out(call.out[0]);
  if (q.dims().size() != 1 || x.dims().size() != 1 || out.dims().size() != 1 || out.count() != q.count() || !(call.parameters[0] >= 1)) return LOCUS_FAILED;
  Points queries, points;
  bool finite = true;
  if (!read(q, queries, finite) || !read(x, points, finite)) return LOCUS_FAULT;
  const bool others = call.parameters[1] != 0;
  if (others && queries.count > points.count) return LOCUS_FAILED;
  std::vector<double> sorted = points.at;
  std::sort(sorted.begin(), sorted.end());
  const auto m = static_cast<std::int64_t>(sorted.size());
  // A point that is not its own neighbour is one of those at distance 0, so one more is looked at.
  const std::int64_t wanted = static_cast<std::int64_t>(std::min(call.parameters[0], 0x1p40)) + (others ? 1 : 0), width = std::min(wanted, m);
  if (!finite && width > 0) {  // infinity less itself is no distance: as a look at every pair has it
    std::vector<double> all(sorted.size());
    for (std::int64_t i = 0; i < q.count(); ++i) {
      for (std::size_t j = 0; j < all.size(); ++j) all[j] = others && j == static_cast<std::size_t>(i) ? 0 : std::abs(points.at[j] - queries.at[static_cast<std::size_t>(i)]);
      if (std::any_of(all.begin(), all.end(), [](double d) { return std::isnan(d); })) return LOCUS_FAULT;
      std::nth_element(all.begin(), all.begin() + (width - 1), all.end());
      out.set(i, all[static_cast<std::size_t>(width - 1)]);
    }
    return LOCUS_OK;
  }
  parallel(static_cast<std::int64_t>(queries.count), 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double at = queries.at[static_cast<std::size_t>(i)];
      const auto apart = [&](std::int64_t k) { return std::abs(sorted[static_cast<std::size_t>(k)] - at); };
      // The first window whose left end is no farther than what would come in on the right.
      std::int64_t low = 0, high = m - width;
      while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (at - sorted[static_cast<std::size_t>(middle)] > sorted[static_cast<std::size_t>(middle + width)] - at) low = middle + 1;
        else high = middle;
      }
      out.set(i, width == 0 ? std::numeric_limits<double>::quiet_NaN() : std::max(apart(low), apart(low + width - 1)));
    }
  });
  return LOCUS_OK;
}

}  // namespace locus
