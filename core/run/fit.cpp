// Small problems of local models, one for each row: the minimum of a quadratic, and the turns of a damped Newton search, with absolute penalties.
// The unknowns of a row stand in blocks k of s_k entries, P in all. A gradient comes as blocks [rows, outcomes, s_k], a Hessian as blocks [rows, outcomes or
// nothing, s_k, s_l] for k <= l in the order (1,1), (1,2), ...; a block that is 0 throughout comes as one number. Kinks are the weights of |entry|.
#include <cmath>
#include <limits>
#include <vector>
#include "core/run/lapack.hpp"
#include "core/run/view.hpp"

namespace locus {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

struct Solution {
  int rank = 0;
  double condition = 0;  // reciprocal, of the matrix with unit diagonal
};

/// One row's problem: minimum over x of g.x + x H x / 2, columns scaled to unit curvature.
class Quadratic {
 public:
  explicit Quadratic(int p) : p_(p), scale(static_cast<std::size_t>(p)), scaled(static_cast<std::size_t>(p) * p), factor(scaled), values(scale) {}

  // `above`: eigenvalues below this share of the largest count as 0, and x has no part along their vectors (least norm); `descending`: curvature counts by
  // its size, and where there is none but a slope, the step is one unit of `reach` long.
  Solution solve(const Numbers& h, const Numbers& g, Numbers& x, double above, bool descending, double reach = 1) {
    Solution r;
    for (int k = 0; k < p_; ++k) {
      const double d = std::sqrt(std::abs(h[static_cast<std::size_t>(k) * p_ + k]));
      scale[k] = d > 0 ? d : 1;
    }
    for (int k = 0; k < p_; ++k)
      for (int l = 0; l < p_; ++l) scaled[static_cast<std::size_t>(k) * p_ + l] = h[static_cast<std::size_t>(k) * p_ + l] / scale[k] / scale[l];
    if (by_cholesky(g, x, above, r)) return r;
    by_eigenvalues(g, x, above, descending, reach, r);
    return r;
  }

 private:
  bool by_cholesky(const Numbers& g, Numbers& x, double above, Solution& r) {
    factor = scaled;
    int info = 0;
    const int one = 1;
    lapack::dpotrf_("L", &p_, factor.data(), &p_, &info);
    if (info != 0) return false;
    double least = 1;
    for (int k = 0; k < p_; ++k) least = std::min(least, factor[static_cast<std::size_t>(k) * p_ + k] * factor[static_cast<std::size_t>(k) * p_ + k]);
    if (!(least > 1e3 * p_ * above)) return false;  // near singular: looked at more closely
    for (int k = 0; k < p_; ++k) x[k] = -g[k] / scale[k];
    lapack::dpotrs_("L", &p_, &one, factor.data(), &p_, x.data(), &p_, &info);
    for (int k = 0; k < p_; ++k) x[k] /= scale[k];
    r = {p_, least};
    return true;
  }

  void by_eigenvalues(const Numbers& g, Numbers& x, double above, bool descending, double reach, Solution& r) {
    factor = scaled;
    double size = 0;
    int isize = 0, info = 0, query = -1;
    lapack::dsyevd_("V", "L", &p_, factor.data(), &p_, values.data(), &size, &query, &isize, &query, &info);
    work.resize(static_cast<std::size_t>(size)), iwork.resize(static_cast<std::size_t>(isize));
    const int lwork = static_cast<int>(size);
    lapack::dsyevd_("V", "L", &p_, factor.data(), &p_, values.data(), work.data(), &lwork, iwork.data(), &isize, &info);
    double top = 0, least = 0, slope = 0;
    for (double v : values) top = std::max(top, std::abs(v));
    for (int k = 0; k < p_; ++k) slope = std::max(slope, std::abs(g[k] / scale[k]));
    std::fill(x.begin(), x.end(), info == 0 ? 0.0 : nan);
    for (int e = 0; e < p_ && info == 0; ++e) {
      const double* const v = factor.data() + static_cast<std::size_t>(e) * p_;
      double along = 0;
      for (int k = 0; k < p_; ++k) along += v[k] * g[k] / scale[k];
      const bool used = std::abs(values[e]) > above * top;
      double inverse = 0;
      if (used) inverse = 1 / (descending ? std::abs(values[e]) : values[e]);
      else if (descending && std::abs(along) > 1e-6 * slope) inverse = reach / std::abs(along);
      if (used) ++r.rank, least = least == 0 ? std::abs(values[e]) : std::min(least, std::abs(values[e]));
      for (int k = 0; k < p_; ++k) x[k] -= v[k] * along * inverse / scale[k];
    }
    r.condition = r.rank == p_ && top > 0 ? least / top : 0;
  }

  int p_;
  Numbers scale, scaled, factor, values, work;
  std::vector<int> iwork;
};

/// Reads the blocks of one row.
class Blocks {
 public:
  // `first`: where the gradient's blocks begin among the inputs.
  Blocks(const ArrayCallArguments& call, std::size_t first, std::size_t sizes_at, std::int64_t rows, std::int64_t outcomes) : rows_(rows), outcomes_(outcomes) {
    const auto count = static_cast<std::size_t>(call.parameters[0]);
    for (std::size_t k = 0; k < count; ++k) sizes.push_back(static_cast<int>(call.parameters[sizes_at + k])), p += sizes.back();
    for (std::size_t k = first; k < call.in.size(); ++k) in_.emplace_back(call.in[k]);
  }
  bool fits() const {
    const std::size_t b = sizes.size();
    if (in_.size() != b + b * (b + 1) / 2 + b + 1 || p > 4096) return false;
    std::size_t at = b;
    for (std::size_t k = 0; k < b; ++k) {
      if (!one_of(in_[k], {rows_ * outcomes_ * sizes[k]}) || !one_of(in_[b + b * (b + 1) / 2 + k], {rows_ * outcomes_ * sizes[k]})) return false;
      for (std::size_t l = k; l < b; ++l, ++at)
        if (const std::int64_t s = std::int64_t{sizes[k]} * sizes[l]; !one_of(in_[at], {rows_ * s, rows_ * outcomes_ * s})) return false;
    }
    return in_.back().count() == rows_;
  }
  /// Of the numbers that came: what an evaluation may be wrong by.
  double epsilon() const {
    return std::any_of(in_.begin(), in_.end(), [](const View& v) { return v.dtype() == LOCUS_FLOAT32; }) ? 6e-8 : 1.2e-16;
  }
  double weighted(std::int64_t row) const { return in_.back().number(row); }  // how many pairs count

  void gradient(std::int64_t row, std::int64_t outcome, Numbers& g) const { vector(0, row, outcome, g); }
  bool kinks(std::int64_t row, std::int64_t outcome, Numbers& g) const {
    vector(in_.size() - 1 - sizes.size(), row, outcome, g);
    return std::any_of(g.begin(), g.end(), [](double v) { return v != 0; });
  }
  void hessian(std::int64_t row, std::int64_t outcome, Numbers& h) const {
    std::size_t input = sizes.size();
    int r0 = 0;
    for (std::size_t k = 0; k < sizes.size(); r0 += sizes[k++]) {
      int c0 = r0;
      for (std::size_t l = k; l < sizes.size(); c0 += sizes[l++], ++input) {
        const View& b = in_[input];
        const std::int64_t s = std::int64_t{sizes[k]} * sizes[l], at = b.count() == rows_ * s ? row * s : (row * outcomes_ + outcome) * s;
        const bool single = b.dims().empty();
        for (int r = 0; r < sizes[k]; ++r)
          for (int c = 0; c < sizes[l]; ++c) {
            const double v = b.number(single ? 0 : at + r * sizes[l] + c);
            h[static_cast<std::size_t>(r0 + r) * p + c0 + c] = v;
            h[static_cast<std::size_t>(c0 + c) * p + r0 + r] = v;
          }
      }
    }
  }

  std::vector<int> sizes;
  int p = 0;

 private:
  static bool one_of(const View& v, std::initializer_list<std::int64_t> counts) {
    return v.dims().empty() || std::find(counts.begin(), counts.end(), v.count()) != counts.end();
  }
  void vector(std::size_t first, std::int64_t row, std::int64_t outcome, Numbers& g) const {
    std::size_t at = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const View& b = in_[first + k];
      for (int e = 0; e < sizes[k]; ++e) g[at++] = b.number(b.dims().empty() ? 0 : (row * outcomes_ + outcome) * sizes[k] + e);
    }
  }
  std::int64_t rows_, outcomes_;
  std::vector<View> in_;
};

bool finite(const Numbers& v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
}

// min over x of g.(x - from) + (x - from) H (x - from) / 2 + sum kinks |x|: coordinate descent, then the system of the entries that are not 0.
// `g` is the smooth part's gradient at `from`.
void with_kinks(const Numbers& h, const Numbers& g, const Numbers& kinks, const Numbers& from, Numbers& x, Quadratic& active_solver) {
  const int p = static_cast<int>(g.size());
  x = from;
  const auto at = [&](int r, int c) { return h[static_cast<std::size_t>(r) * p + c]; };
  for (int sweep = 0; sweep < 100000; ++sweep) {
    double moved = 0, size = 0;
    for (int k = 0; k < p; ++k) {
      if (!(at(k, k) > 0)) continue;
      double slope = g[k];
      for (int l = 0; l < p; ++l) slope += at(k, l) * (x[l] - from[l]);
      slope -= at(k, k) * x[k];
      const double next = std::copysign(std::max(std::abs(slope) - kinks[k], 0.0), -slope) / at(k, k), d = std::sqrt(at(k, k));
      moved = std::max(moved, std::abs(next - x[k]) * d);
      x[k] = next;
      size = std::max(size, std::abs(next) * d);
    }
    if (moved <= 1e-13 * (size + 1e-300)) break;
  }
  // With the signs known the rest is linear; entries at 0 are held there.
  Numbers fixed(static_cast<std::size_t>(p) * p), side(static_cast<std::size_t>(p)), exact(static_cast<std::size_t>(p));
  const auto held = [&](int k) { return x[k] == 0 && kinks[k] != 0; };
  for (int k = 0; k < p; ++k) {
    for (int l = 0; l < p; ++l) fixed[static_cast<std::size_t>(k) * p + l] = held(k) || held(l) ? (k == l ? 1 : 0) : at(k, l);
    double s = g[k] + (x[k] > 0 ? kinks[k] : x[k] < 0 ? -kinks[k] : 0);
    for (int l = 0; l < p; ++l) s -= at(k, l) * from[l];
    side[k] = held(k) ? 0 : s;
  }
  active_solver.solve(fixed, side, exact, 1e-13, false);
  bool same = finite(exact);
  for (int k = 0; k < p && same; ++k) same = held(k) || kinks[k] == 0 || (exact[k] > 0) == (x[k] > 0);
  if (!same) return;
  for (int k = 0; k < p; ++k) x[k] = held(k) ? 0 : exact[k];
}

bool whole(double v, double low, double high) { return v >= low && v <= high && v == std::floor(v); }

}  // namespace

// (g.., H.., kinks.., count [rows]) -> theta [rows, outcomes, P], info [rows, outcomes, 3]: rank, reciprocal condition, 1.
// Parameters: blocks, rows, outcomes, s_1, ... A row of count 0 gets NaN.
int fit(const ArrayCallArguments& call) {
  if (call.parameters.size() < 4 || call.out.size() != 2 || !whole(call.parameters[0], 1, 64) || call.parameters.size() != 3 + static_cast<std::size_t>(call.parameters[0])) return LOCUS_FAILED;
  const auto rows = static_cast<std::int64_t>(call.parameters[1]), outcomes = static_cast<std::int64_t>(call.parameters[2]);
  const Blocks blocks(call, 0, 3, rows, outcomes);
  const View theta(call.out[0]), info(call.out[1]);
  const int p = blocks.p;
  if (!blocks.fits() || theta.count() != rows * outcomes * p || info.count() != rows * outcomes * 3) return LOCUS_FAILED;
  if (p == 0) return LOCUS_OK;
  Quadratic quadratic(p);
  Numbers h(static_cast<std::size_t>(p) * p), g(static_cast<std::size_t>(p)), kinks(g), x(g);
  const Numbers zero(g);
  const double above = 100 * blocks.epsilon();  // the share of the largest eigenvalue below which one is 0
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t q = 0; q < outcomes; ++q) {
      blocks.gradient(row, q, g), blocks.hessian(row, q, h);
      Solution found;
      if (blocks.weighted(row) == 0 || !finite(g) || !finite(h)) {
        x.assign(x.size(), nan);
      } else if (found = quadratic.solve(h, g, x, above, false); blocks.kinks(row, q, kinks)) {
        with_kinks(h, g, kinks, zero, x, quadratic);
      }
      for (int k = 0; k < p; ++k) theta.set((row * outcomes + q) * p + k, x[k]);
      info.set((row * outcomes + q) * 3, found.rank), info.set((row * outcomes + q) * 3 + 1, found.condition), info.set((row * outcomes + q) * 3 + 2, 1);
    }
  return LOCUS_OK;
}

namespace {

/// What a search carries for one row: trial, best and step (P each), value at best, share of the step, phase, turns, rank, condition.
struct Search {
  static constexpr double begins = 0, runs = 1, ends = 2;  // phases
  double* at;
  int p;
  double* trial() const { return at; }
  double* best() const { return at + p; }
  double* step() const { return at + 2 * p; }
  double& value() const { return at[3 * p]; }
  double& share() const { return at[3 * p + 1]; }
  double& phase() const { return at[3 * p + 2]; }
  double& turns() const { return at[3 * p + 3]; }
  double& rank() const { return at[3 * p + 4]; }
  double& condition() const { return at[3 * p + 5]; }
};

void end(const Search& s, bool lost) {
  s.phase() = Search::ends;
  for (int k = 0; k < s.p; ++k) s.trial()[k] = s.best()[k] = lost ? nan : s.best()[k];
}

}  // namespace

// One turn of a damped Newton search for each row. (state [rows, 3 P + 6], f [rows], g.., H.., kinks.., count) at the state's trial
// -> (next state, whether all rows have ended). Parameters: blocks, rows, s_1, ...
int descend(const ArrayCallArguments& call) {
  if (call.parameters.size() < 3 || call.out.size() != 2 || !whole(call.parameters[0], 1, 64) || call.parameters.size() != 2 + static_cast<std::size_t>(call.parameters[0]) || call.in.size() < 2)
    return LOCUS_FAILED;
  const auto rows = static_cast<std::int64_t>(call.parameters[1]);
  const Blocks blocks(call, 2, 2, rows, 1);
  const double epsilon = blocks.epsilon();
  const View state(call.in[0]), f(call.in[1]), next(call.out[0]), stop(call.out[1]);
  const int p = blocks.p;
  const std::int64_t width = 3 * p + 6;
  if (!blocks.fits() || state.count() != rows * width || next.count() != rows * width || stop.count() != 1 || (f.count() != rows && !f.dims().empty())) return LOCUS_FAILED;
  Quadratic quadratic(std::max(p, 1));
  Numbers h(static_cast<std::size_t>(p) * p), g(static_cast<std::size_t>(p)), kinks(g), x(g), smooth(g), from(g), row_state(static_cast<std::size_t>(width));
  bool all = true;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < width; ++k) row_state[k] = state.number(row * width + k);
    const Search s{row_state.data(), p};
    const double now = f.number(f.dims().empty() ? 0 : row);
    if (s.phase() != Search::ends) {
      s.turns() += 1;
      const bool first = s.phase() == Search::begins;
      const bool better = first || now <= s.value() + 64 * epsilon * std::abs(s.value()) + 1e-300;
      blocks.gradient(row, 0, g), blocks.hessian(row, 0, h);
      if (blocks.weighted(row) == 0 || (first && !std::isfinite(now))) {
        end(s, true);
      } else if (!better || !std::isfinite(now) || !finite(g) || !finite(h)) {
        s.share() /= 2;  // too far
        for (int k = 0; k < p; ++k) s.trial()[k] = s.best()[k] + s.share() * s.step()[k];
        if (s.share() < 1e-12) end(s, first);
      } else {
        const bool settled = !first && s.turns() > 2 && s.share() == 1 && std::abs(now - s.value()) <= 4 * epsilon * std::abs(s.value());
        double reach = 1, size = 0, longest = 0;
        for (int k = 0; k < p; ++k) {
          s.best()[k] = from[k] = s.trial()[k];
          size = std::max(size, std::abs(from[k]));
        }
        reach = std::max(reach, size);
        s.value() = now, s.share() = 1, s.phase() = Search::runs;
        Solution found;
        if (blocks.kinks(row, 0, kinks)) {
          for (int k = 0; k < p; ++k) smooth[k] = g[k] - kinks[k] * (from[k] > 0 ? 1 : from[k] < 0 ? -1 : 0);
          found.rank = p;
          with_kinks(h, smooth, kinks, from, x, quadratic);
          for (int k = 0; k < p; ++k) x[k] -= from[k];
        } else {
          found = quadratic.solve(h, g, x, 1e-13, true, reach);
        }
        s.rank() = found.rank, s.condition() = found.condition;
        for (int k = 0; k < p; ++k) s.step()[k] = x[k], s.trial()[k] = from[k] + x[k], longest = std::max(longest, std::abs(x[k]));
        if (!finite(x)) end(s, true);
        else if (settled || longest <= 0.5 * epsilon * size + 1e-300) end(s, false);
      }
    }
    all &= s.phase() == Search::ends;
    for (std::int64_t k = 0; k < width; ++k) next.set(row * width + k, row_state[k]);
  }
  stop.set(0, all);
  return LOCUS_OK;
}

}  // namespace locus
