// Cyclic Jacobi: slow, but each eigenvalue is exact to a few roundings of the matrix's norm, which a verdict on its sign needs.
#include "plugins/host/spectrum.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

namespace locus {
namespace {

void rotate(std::vector<double>& a, std::size_t n, std::size_t p, std::size_t q) {
  const double apq = a[p * n + q];
  const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
  const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (std::size_t k = 0; k < n; ++k) {
    const double akp = a[k * n + p], akq = a[k * n + q];
    a[k * n + p] = c * akp - s * akq;
    a[k * n + q] = s * akp + c * akq;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double apk = a[p * n + k], aqk = a[q * n + k];
    a[p * n + k] = c * apk - s * aqk;
    a[q * n + k] = s * apk + c * aqk;
  }
}

}  // namespace

double smallest_eigenvalue(std::vector<double> a, std::size_t n) {
  double norm = 0;
  for (const double entry : a) norm += entry * entry;
  norm = std::sqrt(norm);
  constexpr int sweeps = 30;  // convergence is quadratic: about eight are needed
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    double largest = 0;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        largest = std::max(largest, std::abs(a[p * n + q]));
        if (std::abs(a[p * n + q]) > 1e-17 * norm) rotate(a, n, p, q);
      }
    if (largest <= 1e-15 * norm) break;
  }
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < n; ++k) smallest = std::min(smallest, a[k * n + k]);
  return smallest;
}

}  // namespace locus
