// C++ sugar for backends, part four: what each scalar op computes, once, in double. Backends of other precision are checked against it.
// Knows the C header only.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include "plugins/abi/locus_plugin.h"

namespace locus::plugin {

// Whole powers by repeated squaring, as everywhere in locus: exact for small whole bases, and (-2)^3 exists.
inline double power(double a, double b) {
  if (b != std::floor(b) || std::abs(b) > 64) return std::pow(a, b);
  double product = 1, square = a;
  for (unsigned n = static_cast<unsigned>(std::abs(b)); n != 0; n >>= 1, square *= square)
    if (n & 1u) product *= square;
  return b < 0 ? 1 / product : product;
}

inline double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
inline double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

/// An op of locus_ops.def on numbers, in double; conditions give 0 or 1. NaN for select and for conversions, which are the caller's.
inline double value_of(std::uint32_t op, double a, double b) {
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

}  // namespace locus::plugin
