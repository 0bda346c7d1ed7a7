// Constant folding: one line for each op, the same mathematics as every backend's. Knows no expressions.
#include "core/graph/fold.hpp"
#include <cmath>
#include <limits>

namespace locus::graph {
namespace {

// Whole powers by repeated squaring, as everywhere in locus: exact for small whole bases, and (-2)^3 exists.
double power(double a, double b) {
  if (b != std::floor(b) || std::abs(b) > 64) return std::pow(a, b);
  double product = 1, square = a;
  for (unsigned n = static_cast<unsigned>(std::abs(b)); n != 0; n >>= 1, square *= square)
    if (n & 1u) product *= square;
  return b < 0 ? 1 / product : product;
}

double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

double value_of(locus_op op, double a, double b) {
  switch (op) {
    case LOCUS_neg: return -a;
    case LOCUS_abs: return std::abs(a);
    case LOCUS_sign: return std::isnan(a) ? a : (a > 0) - (a < 0);
    case LOCUS_exp: return std::exp(a);
    case LOCUS_log: return std::log(a);
    case LOCUS_log2: return std::log2(a);
    case LOCUS_sqrt: return std::sqrt(a);
    case LOCUS_floor: return std::floor(a);
    case LOCUS_round: return std::nearbyint(a);
    case LOCUS_sin: return std::sin(a);
    case LOCUS_cos: return std::cos(a);
    case LOCUS_tanh: return std::tanh(a);
    case LOCUS_asin: return std::asin(a);
    case LOCUS_acos: return std::acos(a);
    case LOCUS_atan: return std::atan(a);
    case LOCUS_erf: return std::erf(a);
    case LOCUS_lgamma: return std::lgamma(a);
    case LOCUS_sigmoid: return 1 / (1 + std::exp(-a));
    case LOCUS_softplus: return larger(a, 0) + std::log1p(std::exp(-std::abs(a)));
    case LOCUS_relu: return larger(a, 0);
    case LOCUS_elu: return a > 0 ? a : std::expm1(a);
    case LOCUS_gelu: return a / 2 * (1 + std::erf(a / std::sqrt(2.0)));
    case LOCUS_silu: return a / (1 + std::exp(-a));
    case LOCUS_not: return a == 0;
    case LOCUS_add: return a + b;
    case LOCUS_sub: return a - b;
    case LOCUS_mul: return a * b;
    case LOCUS_div: return a / b;
    case LOCUS_pow: return power(a, b);
    case LOCUS_idiv: return std::floor(a / b);
    case LOCUS_mod: return a - b * std::floor(a / b);
    case LOCUS_maximum: return larger(a, b);
    case LOCUS_minimum: return smaller(a, b);
    case LOCUS_lt: return a < b;
    case LOCUS_le: return a <= b;
    case LOCUS_eq: return a == b;
    case LOCUS_ne: return a != b;
    case LOCUS_and: return a != 0 && b != 0;
    case LOCUS_or: return a != 0 || b != 0;
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

bool fold(locus_op op, bool integer, double a, double b, double* value) {
  if (op < LOCUS_neg || op == LOCUS_select || op == LOCUS_real) return false;
  if ((op == LOCUS_idiv || op == LOCUS_mod) && b == 0) return false;
  *value = value_of(op, a, b);
  return !integer || std::abs(*value) <= 0x1p53;
}

}  // namespace locus::graph
