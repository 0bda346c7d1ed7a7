// Ends of the spectrum of a large symmetric matrix that is a list of pairs, or a product of two: Lanczos (Spectra) on products with vectors; where that is slow,
// with the inverse by a sparse factor (Eigen). Small matrices go to LAPACK. An eigenvalue's copies, which one Lanczos space may miss, are looked for with the
// vectors found so far taken out.
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <Spectra/SymEigsSolver.h>
#include <cmath>
#include <functional>
#include <limits>
#include "core/run/pair_list.hpp"
#include "core/run/symmetric.hpp"
#include "plugins/host/host_services.hpp"

namespace locus {
namespace {

constexpr std::int64_t least_for_lanczos = 2000;
constexpr double tolerance = 1e-11;
using Vector = Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>;
using Apply = std::function<Vector(const Vector&)>;

Vector product(const Sparse& a, const Vector& x) {
  Vector y(a.rows());
  auto rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double sum = 0;
      for (Sparse::InnerIterator e(a, i); e; ++e) sum += e.value() * x[e.col()];
      y[i] = sum;
    }
  };
  using Rows = decltype(rows);
  const locus_host* host = host_services().table();
  host->parallel_for(host->context, a.rows(), 4096, [](void* f, std::int64_t begin, std::int64_t end) { (*static_cast<Rows*>(f))(begin, end); }, &rows);
  return y;
}

/// The largest absolute row sum: no eigenvalue lies beyond it.
double bound(const Sparse& a) {
  double most = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (Sparse::InnerIterator e(a, i); e; ++e) sum += std::abs(e.value());
    most = std::max(most, sum);
  }
  return most;
}

/// A matrix whose largest eigenvalues are wanted, without the vectors found so far: those have the eigenvalue 0 in it.
class Deflated {
 public:
  using Scalar = double;
  Deflated(std::int64_t n, Apply apply) : n_(n), apply_(std::move(apply)) {}
  Eigen::Index rows() const { return n_; }
  Eigen::Index cols() const { return n_; }
  void perform_op(const double* in, double* out) const {
    Vector y = apply_(Eigen::Map<const Vector>(in, n_));
    for (std::size_t k = 0; k < values.size(); ++k) y -= vectors[k] * (values[k] * vectors[k].dot(Eigen::Map<const Vector>(in, n_)));
    Eigen::Map<Vector>(out, n_) = y;
  }

  std::vector<double> values;
  std::vector<Vector> vectors;
  std::uint64_t starts = 0;

 private:
  std::int64_t n_;
  Apply apply_;
};

/// Adds the `count` largest that are left; false if they did not settle.
bool add_largest(Deflated& op, int count, int turns) {
  const auto n = static_cast<int>(op.rows());
  Spectra::SymEigsSolver<Deflated> solver(op, count, std::min(n, std::max(3 * count, 48)));
  Vector start(n);
  // Each time another start: what is taken out of the matrix is taken out of an old one too.
  std::uint64_t state = ++op.starts;
  for (int k = 0; k < 8; ++k) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  for (int k = 0; k < n; ++k) start[k] = static_cast<double>((state = state * 6364136223846793005ULL + 1442695040888963407ULL) >> 33) / 2147483648.0 - 0.5;
  solver.init(start.data());
  if (solver.compute(Spectra::SortRule::LargestAlge, turns, tolerance, Spectra::SortRule::LargestAlge) < count) return false;
  for (int k = 0; k < count; ++k) {
    Vector v = solver.eigenvectors().col(k);
    for (const Vector& u : op.vectors) v -= u * u.dot(v);
    op.values.push_back(solver.eigenvalues()[k]), op.vectors.push_back(v.normalized());
  }
  return true;
}

/// The k largest, copies included. False if they did not settle.
bool largest(Deflated& op, int k, int turns) {
  if (!add_largest(op, k, turns)) return false;
  for (int more = 0; more <= k; ++more) {
    if (!add_largest(op, 1, turns)) return false;
    const double least = *std::min_element(op.values.begin(), op.values.end() - 1);
    const bool missed = op.values.back() > least + 1e-8 * std::abs(op.values.front());
    const auto out = (missed ? std::min_element(op.values.begin(), op.values.end()) : op.values.end() - 1) - op.values.begin();
    op.values.erase(op.values.begin() + out), op.vectors.erase(op.vectors.begin() + out);
    if (!missed) return true;
  }
  return true;
}

struct Ends {
  std::vector<double> values;
  std::vector<Vector> vectors;
};

bool iterate(const Sparse& a, const Sparse* b, bool top, int k, Ends& ends) {
  const std::int64_t n = a.rows();
  const Apply matrix = [&](const Vector& x) { return b ? product(a, product(*b, x)) : product(a, x); };
  const double reach = bound(a) * (b ? bound(*b) : 1);
  bool settled = false;
  const auto take = [&](Deflated& op) {
    for (std::size_t t = 0; t < op.vectors.size(); ++t) ends.values.push_back(op.vectors[t].dot(matrix(op.vectors[t])));
    ends.vectors = std::move(op.vectors);
    settled = true;
  };
  const auto by_products = [&](int turns) {  // the spectrum is moved, so that what is wanted is the largest and above 0
    Deflated op(n, [&](const Vector& x) { return Vector(reach * x + (top ? 1 : -1) * matrix(x)); });
    if (!settled && largest(op, k, turns)) take(op);
  };
  const auto by_inverse = [&] {
    if (settled || top) return;
    Eigen::SparseMatrix<double> shifted = b ? Sparse(a * *b) : a, unit(n, n);
    unit.setIdentity();
    shifted += 1e-9 * reach * unit;
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(shifted);
    if (factor.info() != Eigen::Success || !(factor.vectorD().minCoeff() > 0)) return;
    Deflated op(n, [&](const Vector& x) { return Vector(factor.solve(x)); });
    if (largest(op, k, 1000)) take(op);
  };
  if (b) by_inverse();  // a product squares the spread of the spectrum: the lowest lie too close together for products with vectors
  by_products(300);
  by_inverse();
  if (!settled) by_products(10000);
  return settled;
}

std::optional<Sparse> matrix_of(const PairList& list, const View& values, std::int64_t width) {
  if (values.count() < list.used || list.width > width) return {};
  Sparse a(list.rows, width);
  a.reserve(list.used);
  for (std::int64_t i = 0; i < list.rows; ++i) {
    a.startVec(i);
    for (std::int64_t e = list.starts[i]; e < list.starts[i + 1]; ++e) a.insertBack(i, list.columns[e]) = values.number(e);
  }
  a.finalize();
  return a;
}

bool symmetric(const Sparse& a, double allowed) {
  const Sparse turned = a.transpose(), apart = a - turned;
  double most = 0, gap = 0;
  for (std::int64_t e = 0; e < a.nonZeros(); ++e) most = std::max(most, std::abs(a.valuePtr()[e]));
  for (std::int64_t e = 0; e < apart.nonZeros(); ++e) gap = std::max(gap, std::abs(apart.valuePtr()[e]));
  return gap <= most * allowed;
}

}  // namespace

int list_spectrum(const ArrayCallArguments& call) {
  if ((call.in.size() != 3 && call.in.size() != 6) || call.out.size() != 3 || call.parameters.size() != 1) return LOCUS_FAILED;
  const View values(call.out[0]), vectors(call.out[1]), report(call.out[2]);
  const auto first = PairList::read(call.in[0], call.in[1]);
  const auto second = call.in.size() == 6 ? PairList::read(call.in[3], call.in[4]) : std::nullopt;
  if (!first || (call.in.size() == 6 && !second) || values.dims().size() != 1 || vectors.dims().size() != 2 || vectors.last() != values.last() || report.count() != 3) return LOCUS_FAILED;
  const std::int64_t n = first->rows, k = values.last(), inner = second ? second->rows : n;
  if (vectors.dims()[0] != n || k > n || n > 1 << 30) return LOCUS_FAILED;
  if (k == 0) return LOCUS_OK;
  const View entries(call.in[2]);
  const auto a = matrix_of(*first, entries, inner);
  const auto b = second ? matrix_of(*second, View(call.in[5]), n) : std::optional<Sparse>();
  if (!a || (second && !b)) return LOCUS_FAILED;
  bool finite = true;
  for (const Sparse* m : {&*a, b ? &*b : &*a})
    for (std::int64_t e = 0; e < m->nonZeros(); ++e) finite &= std::isfinite(m->valuePtr()[e]);
  const double allowed = entries.dtype() == LOCUS_FLOAT32 ? 1e-4 : 1e-9;
  if (finite && !symmetric(b ? Sparse(*a * *b) : *a, allowed)) return LOCUS_FAULT;
  const bool top = call.parameters[0] != 0;
  Ends ends;
  bool settled = false;
  if (finite && (n < least_for_lanczos || 3 * k > n)) {
    const Eigen::MatrixXd dense = b ? Eigen::MatrixXd(*a * *b) : Eigen::MatrixXd(*a);
    std::vector<double> matrix(static_cast<std::size_t>(n * n)), w(static_cast<std::size_t>(n)), z(static_cast<std::size_t>(n * k));
    for (std::int64_t c = 0; c < n; ++c)
      for (std::int64_t r = 0; r < n; ++r) matrix[static_cast<std::size_t>(c * n + r)] = (dense(r, c) + dense(c, r)) / 2;
    settled = symmetric_ends(static_cast<int>(n), static_cast<int>(k), top, matrix, w, z);
    for (std::int64_t t = 0; settled && t < k; ++t) ends.values.push_back(w[static_cast<std::size_t>(t)]), ends.vectors.push_back(Eigen::Map<Vector>(z.data() + t * n, n));
  } else if (finite) {
    settled = iterate(*a, b ? &*b : nullptr, top, static_cast<int>(k), ends);
  }
  std::vector<std::size_t> order(ends.values.size());
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return top ? ends.values[x] > ends.values[y] : ends.values[x] < ends.values[y]; });
  for (std::int64_t t = 0; t < k; ++t) {
    Vector* const v = settled ? &ends.vectors[order[static_cast<std::size_t>(t)]] : nullptr;
    if (v) fix_sign(v->data(), static_cast<int>(n));
    values.set(t, v ? ends.values[order[static_cast<std::size_t>(t)]] : std::numeric_limits<double>::quiet_NaN());
    for (std::int64_t r = 0; r < n; ++r) vectors.set(r * k + t, v ? (*v)[r] : std::numeric_limits<double>::quiet_NaN());
  }
  report_spectrum(report, 0, values, settled, bound(*a) * (b ? bound(*b) : 1) * (entries.dtype() == LOCUS_FLOAT32 ? 1e-6 : 1e-10));
  return LOCUS_OK;
}

}  // namespace locus
