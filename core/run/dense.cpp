// Dense linear algebra on whole arrays, in double: linear systems and symmetric eigenproblems, by LAPACK.
#include <cmath>
#include <limits>
#include <vector>
#include "core/run/lapack.hpp"
#include "core/run/symmetric.hpp"
#include "core/run/view.hpp"

namespace locus {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The solution of least norm of a system that is singular or nearly so.
void least_norm(int n, int right, std::vector<double>& a, std::vector<double>& b) {
  std::vector<double> s(static_cast<std::size_t>(n)), work(1);
  std::vector<int> iwork(1);
  const double rcond = 1e-14 * n;
  int rank = 0, info = 0, query = -1;
  lapack::dgelsd_(&n, &n, &right, a.data(), &n, b.data(), &n, s.data(), &rcond, &rank, work.data(), &query, iwork.data(), &info);
  work.resize(static_cast<std::size_t>(work[0])), iwork.resize(static_cast<std::size_t>(iwork[0]));
  const int size = static_cast<int>(work.size());
  lapack::dgelsd_(&n, &n, &right, a.data(), &n, b.data(), &n, s.data(), &rcond, &rank, work.data(), &size, iwork.data(), &info);
  if (info != 0) b.assign(b.size(), nan);
}

void solve_one(int n, int right, std::vector<double>& a, std::vector<double>& b) {
  const std::vector<double> whole = a, sides = b;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = 0;
  double norm = 0, rcond = 0;
  for (int c = 0; c < n; ++c) {
    double sum = 0;
    for (int r = 0; r < n; ++r) sum += std::abs(whole[static_cast<std::size_t>(c) * n + r]);
    norm = std::max(norm, sum);
  }
  if (!std::isfinite(norm)) return b.assign(b.size(), nan);
  lapack::dgesv_(&n, &right, a.data(), &n, pivots.data(), b.data(), &n, &info);
  if (info == 0) {
    std::vector<double> work(4 * static_cast<std::size_t>(n));
    std::vector<int> iwork(static_cast<std::size_t>(n));
    lapack::dgecon_("1", &n, a.data(), &n, &norm, &rcond, work.data(), iwork.data(), &info);
  }
  if (info == 0 && rcond > 1e-15) return;
  a = whole, b = sides;
  least_norm(n, right, a, b);
}

int linear_system(const ArrayCallArguments& call) {
  if (call.in.size() != 2 || call.out.size() != 1) return LOCUS_FAILED;
  const View a(call.in[0]), b(call.in[1]), out(call.out[0]);
  if (a.dims().size() < 2 || b.dims().size() != a.dims().size() || !std::ranges::equal(b.dims(), out.dims())) return LOCUS_FAILED;
  const std::int64_t n = a.last(), right = b.last(), count = b.before_last_two();
  if (a.dims()[a.dims().size() - 2] != n || b.dims()[b.dims().size() - 2] != n || a.before_last_two() != count || n > 1 << 15) return LOCUS_FAILED;
  if (n == 0 || right == 0) return LOCUS_OK;
  std::vector<double> matrix(static_cast<std::size_t>(n * n)), side(static_cast<std::size_t>(n * right));
  for (std::int64_t k = 0; k < count; ++k) {
    for (std::int64_t r = 0; r < n; ++r) {
      for (std::int64_t c = 0; c < n; ++c) matrix[c * n + r] = a.number((k * n + r) * n + c);
      for (std::int64_t c = 0; c < right; ++c) side[c * n + r] = b.number((k * n + r) * right + c);
    }
    solve_one(static_cast<int>(n), static_cast<int>(right), matrix, side);
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t c = 0; c < right; ++c) out.set((k * n + r) * right + c, side[c * n + r]);
  }
  return LOCUS_OK;
}

int eigen(const ArrayCallArguments& call) {
  if (call.in.size() != 1 || call.out.size() < 2 || call.out.size() > 3 || call.parameters.size() != 1) return LOCUS_FAILED;
  const View a(call.in[0]), values(call.out[0]), vectors(call.out[1]);
  const std::size_t rank = a.dims().size();
  if (rank < 2 || values.dims().size() != rank - 1 || vectors.dims().size() != rank || a.last() > 1 << 15) return LOCUS_FAILED;
  const int n = static_cast<int>(a.last()), k = static_cast<int>(values.last());
  if (a.dims()[rank - 2] != n || vectors.last() != k || vectors.dims()[rank - 2] != n || k > n) return LOCUS_FAILED;
  if (call.out.size() == 3 && View(call.out[2]).count() != 3 * a.before_last_two()) return LOCUS_FAILED;
  if (n == 0 || k == 0) return LOCUS_OK;
  const bool largest = call.parameters[0] != 0;
  std::vector<double> matrix(static_cast<std::size_t>(n) * n), w(static_cast<std::size_t>(n)), z(static_cast<std::size_t>(n) * k);
  for (std::int64_t b = 0; b < a.before_last_two(); ++b) {
    bool finite = true;
    double most = 0, apart = 0;
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t c = 0; c < n; ++c) {  // the symmetric part; what rounding leaves besides
        const double one = a.number((b * n + r) * n + c), other = a.number((b * n + c) * n + r), v = (one + other) / 2;
        finite &= std::isfinite(v);
        most = std::max(most, std::abs(one)), apart = std::max(apart, std::abs(one - other));
        matrix[static_cast<std::size_t>(c) * n + r] = v;
      }
    if (finite && apart > most * (a.dtype() == LOCUS_FLOAT32 ? 1e-4 : 1e-9)) return LOCUS_FAULT;
    const bool settled = finite && symmetric_ends(n, k, largest, matrix, w, z);
    for (int t = 0; t < k; ++t) {
      double* const vector = z.data() + static_cast<std::size_t>(t) * n;
      if (settled) fix_sign(vector, n);
      values.set(b * k + t, settled ? w[static_cast<std::size_t>(t)] : nan);
      for (std::int64_t r = 0; r < n; ++r) vectors.set((b * n + r) * k + t, settled ? vector[r] : nan);
    }
    if (call.out.size() == 3) report_spectrum(View(call.out[2]), b, values, settled, most * (a.dtype() == LOCUS_FLOAT32 ? 1e-6 : 1e-12));
  }
  return LOCUS_OK;
}

}  // namespace

bool symmetric_ends(int n, int k, bool largest, std::vector<double>& matrix, std::vector<double>& values, std::vector<double>& vectors) {
  const int first = largest ? n - k + 1 : 1, last = largest ? n : k, query = -1;
  const double none = 0;
  double size = 0;
  int found = 0, info = 0, isize = 0;
  std::vector<int> support(2 * static_cast<std::size_t>(k));
  lapack::dsyevr_("V", "I", "L", &n, matrix.data(), &n, &none, &none, &first, &last, &none, &found, values.data(), vectors.data(), &n, support.data(), &size, &query, &isize, &query, &info);
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> iwork(static_cast<std::size_t>(isize));
  const int lwork = static_cast<int>(size);
  lapack::dsyevr_("V", "I", "L", &n, matrix.data(), &n, &none, &none, &first, &last, &none, &found, values.data(), vectors.data(), &n, support.data(), work.data(), &lwork, iwork.data(), &isize, &info);
  if (info != 0) return false;
  for (int t = 0; largest && t < k / 2; ++t) {
    std::swap(values[static_cast<std::size_t>(t)], values[static_cast<std::size_t>(k - 1 - t)]);
    std::swap_ranges(vectors.begin() + static_cast<std::ptrdiff_t>(t) * n, vectors.begin() + static_cast<std::ptrdiff_t>(t + 1) * n, vectors.begin() + static_cast<std::ptrdiff_t>(k - 1 - t) * n);
  }
  return true;
}

void report_spectrum(const View& report, std::int64_t which, const View& values, bool settled, double tolerance) {
  const std::int64_t k = values.last();
  std::int64_t equal = 0, zero = 0;
  for (std::int64_t t = 0; settled && t < k; ++t) {
    const double own = values.number(which * k + t);
    const bool before = t > 0 && std::abs(values.number(which * k + t - 1) - own) <= tolerance, behind = t + 1 < k && std::abs(values.number(which * k + t + 1) - own) <= tolerance;
    if (before || behind) ++equal, zero += std::abs(own) <= tolerance;
  }
  report.set(3 * which, settled ? 1 : 0), report.set(3 * which + 1, static_cast<double>(equal)), report.set(3 * which + 2, static_cast<double>(zero));
}

void fix_sign(double* vector, int n) {
  int top = 0;
  for (int r = 1; r < n; ++r)
    if (std::abs(vector[r]) > std::abs(vector[top]) * (1 + 1e-12)) top = r;
  if (vector[top] < 0)
    for (int r = 0; r < n; ++r) vector[r] = -vector[r];
}

int solve(std::uint32_t function, const ArrayCallArguments& call) {
  switch (function) {
    case LOCUS_ARRAY_SOLVE: return linear_system(call);
    case LOCUS_ARRAY_EIGEN: return eigen(call);
    case LOCUS_ARRAY_FIT: return fit(call);
    case LOCUS_ARRAY_DESCEND: return descend(call);
    case LOCUS_ARRAY_ROOT: return root(call);
    case LOCUS_ARRAY_NEIGHBOURS: return neighbours(call);
    case LOCUS_ARRAY_REACH: return reach(call);
    default: return LOCUS_UNSUPPORTED;
  }
}

}  // namespace locus
