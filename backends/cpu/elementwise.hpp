// The scalar operations of locus_ops.def on tiles, for the instruction set that the including file is compiled for. Everything has internal linkage:
// the same names exist once for each instruction set.
#pragma once
#include <math.h>
#include <xsimd/xsimd.hpp>
#include "backends/cpu/table.hpp"

namespace locus::cpu {
namespace {

template <class B> B choose(typename B::batch_bool_type condition, B a, B b) { return xsimd::select(condition, a, b); }
template <class B> B truth(typename B::batch_bool_type condition) { return xsimd::select(condition, B(1), B(0)); }
template <class B> typename B::batch_bool_type holds(B a) { return a != B(0); }

struct op_neg { template <class B> static B of(B a) { return -a; } };
struct op_abs { template <class B> static B of(B a) { return xsimd::abs(a); } };
struct op_sign { template <class B> static B of(B a) { return choose<B>(a > B(0), B(1), choose<B>(a < B(0), B(-1), choose<B>(a == B(0), B(0), a))); } };
struct op_exp { template <class B> static B of(B a) { return xsimd::exp(a); } };
struct op_log { template <class B> static B of(B a) { return xsimd::log(a); } };
struct op_log2 { template <class B> static B of(B a) { return xsimd::log2(a); } };
struct op_sqrt { template <class B> static B of(B a) { return xsimd::sqrt(a); } };
struct op_floor { template <class B> static B of(B a) { return xsimd::floor(a); } };
struct op_round { template <class B> static B of(B a) { return xsimd::nearbyint(a); } };
struct op_sin { template <class B> static B of(B a) { return xsimd::sin(a); } };
struct op_cos { template <class B> static B of(B a) { return xsimd::cos(a); } };
struct op_tanh { template <class B> static B of(B a) { return xsimd::tanh(a); } };
struct op_asin { template <class B> static B of(B a) { return xsimd::asin(a); } };
struct op_acos { template <class B> static B of(B a) { return xsimd::acos(a); } };
struct op_atan { template <class B> static B of(B a) { return xsimd::atan(a); } };
struct op_erf { template <class B> static B of(B a) { return xsimd::erf(a); } };
struct op_sigmoid { template <class B> static B of(B a) { return B(1) / (B(1) + xsimd::exp(-a)); } };
struct op_softplus { template <class B> static B of(B a) { return choose<B>((a > B(0)) || !(a == a), a, B(0)) + xsimd::log1p(xsimd::exp(-xsimd::abs(a))); } };
struct op_relu { template <class B> static B of(B a) { return choose<B>(a < B(0), B(0), a); } };
struct op_elu { template <class B> static B of(B a) { return choose<B>(a > B(0), a, xsimd::expm1(a)); } };
struct op_gelu { template <class B> static B of(B a) { return B(0.5) * a * (B(1) + xsimd::erf(a * B(0.70710678118654752440))); } };
struct op_silu { template <class B> static B of(B a) { return a / (B(1) + xsimd::exp(-a)); } };
struct op_real { template <class B> static B of(B a) { return a; } };
struct op_not { template <class B> static B of(B a) { return truth<B>(a == B(0)); } };
struct op_add { template <class B> static B of(B a, B b) { return a + b; } };
struct op_sub { template <class B> static B of(B a, B b) { return a - b; } };
struct op_mul { template <class B> static B of(B a, B b) { return a * b; } };
struct op_div { template <class B> static B of(B a, B b) { return a / b; } };
struct op_idiv { template <class B> static B of(B a, B b) { return xsimd::floor(a / b); } };
struct op_mod { template <class B> static B of(B a, B b) { return a - b * xsimd::floor(a / b); } };
struct op_maximum { template <class B> static B of(B a, B b) { return choose<B>((a > b) || !(a == a), a, b); } };
struct op_minimum { template <class B> static B of(B a, B b) { return choose<B>((a < b) || !(a == a), a, b); } };
struct op_lt { template <class B> static B of(B a, B b) { return truth<B>(a < b); } };
struct op_le { template <class B> static B of(B a, B b) { return truth<B>(a <= b); } };
struct op_eq { template <class B> static B of(B a, B b) { return truth<B>(a == b); } };
struct op_ne { template <class B> static B of(B a, B b) { return truth<B>(a != b); } };
struct op_and { template <class B> static B of(B a, B b) { return truth<B>(holds(a) && holds(b)); } };
struct op_or { template <class B> static B of(B a, B b) { return truth<B>(holds(a) || holds(b)); } };
struct op_select { template <class B> static B of(B a, B b, B c) { return choose<B>(holds(a), b, c); } };
// Their own loops: see power() and logarithm_of_gamma().
struct op_pow {};
struct op_lgamma {};

template <class T> using Vector = xsimd::batch<T, xsimd::default_arch>;

template <class T, class Op> void apply1(const Operand<T>* a, T* out, std::int64_t ld, std::int64_t rows, std::int64_t columns) {
  using B = Vector<T>;
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* x = a->data + r * a->row;
    T* y = out + r * ld;
    if (a->lane) {
      for (std::int64_t c = 0; c < columns; c += B::size) Op::of(B::load_unaligned(x + c)).store_unaligned(y + c);
    } else {
      const B all = Op::of(B(*x));
      for (std::int64_t c = 0; c < columns; c += B::size) all.store_unaligned(y + c);
    }
  }
}

template <class T, class Op> void apply2(const Operand<T>* a, T* out, std::int64_t ld, std::int64_t rows, std::int64_t columns) {
  using B = Vector<T>;
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* x = a[0].data + r * a[0].row;
    const T* y = a[1].data + r * a[1].row;
    T* z = out + r * ld;
    if (a[0].lane && a[1].lane) {
      for (std::int64_t c = 0; c < columns; c += B::size) Op::of(B::load_unaligned(x + c), B::load_unaligned(y + c)).store_unaligned(z + c);
    } else if (a[0].lane) {
      const B b(*y);
      for (std::int64_t c = 0; c < columns; c += B::size) Op::of(B::load_unaligned(x + c), b).store_unaligned(z + c);
    } else if (a[1].lane) {
      const B b(*x);
      for (std::int64_t c = 0; c < columns; c += B::size) Op::of(b, B::load_unaligned(y + c)).store_unaligned(z + c);
    } else {
      const B all = Op::of(B(*x), B(*y));
      for (std::int64_t c = 0; c < columns; c += B::size) all.store_unaligned(z + c);
    }
  }
}

template <class B, class T> B fetch(const T* row, int lane, std::int64_t c) { return lane ? B::load_unaligned(row + c) : B(*row); }

template <class T, class Op> void apply3(const Operand<T>* a, T* out, std::int64_t ld, std::int64_t rows, std::int64_t columns) {
  using B = Vector<T>;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; c += B::size)
      Op::of(fetch<B>(a[0].data + r * a[0].row, a[0].lane, c), fetch<B>(a[1].data + r * a[1].row, a[1].lane, c), fetch<B>(a[2].data + r * a[2].row, a[2].lane, c))
          .store_unaligned(out + r * ld + c);
}

// -- powers: repeated multiplication for small whole exponents, else e^(b log a), and the C library where a is not positive
template <class T> T scalar_power(T a, T b) {
  if (b != ::floor(b) || ::fabs(b) > 64) return static_cast<T>(::pow(a, b));
  T product = 1;
  for (int k = 0; k < ::fabs(b); ++k) product *= a;
  return b < 0 ? 1 / product : product;
}

template <class B> B whole_power(B a, int n) {
  B product(1);
  for (B square = a; n > 0; n >>= 1, square = square * square)
    if (n & 1) product = product * square;
  return product;
}

template <class T> void power(const Operand<T>* a, T* out, std::int64_t ld, std::int64_t rows, std::int64_t columns) {
  using B = Vector<T>;
  const B huge(static_cast<T>(HUGE_VAL));
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* x = a[0].data + r * a[0].row;
    const T* y = a[1].data + r * a[1].row;
    const bool whole = !a[1].lane && *y == ::floor(*y) && ::fabs(*y) <= 64;
    for (std::int64_t c = 0; c < columns; c += B::size) {
      const B base = fetch<B>(x, a[0].lane, c), exponent = fetch<B>(y, a[1].lane, c);
      T* z = out + r * ld + c;
      if (whole) {
        const B product = whole_power(base, static_cast<int>(::fabs(*y)));
        (*y < 0 ? B(1) / product : product).store_unaligned(z);
        continue;
      }
      if (xsimd::all((base > B(0)) && (base < huge) && (xsimd::abs(exponent) < B(static_cast<T>(1e3))) && (exponent != xsimd::floor(exponent)))) {
        xsimd::pow(base, exponent).store_unaligned(z);
        continue;
      }
      T bases[B::size], exponents[B::size];
      base.store_unaligned(bases);
      exponent.store_unaligned(exponents);
      for (std::size_t k = 0; k < B::size; ++k) z[k] = scalar_power(bases[k], exponents[k]);
    }
  }
}

// The vector function of xsimd 8.1 mixes up its ranges, so the C library's is taken; it is rare in inner loops.
template <class T> void logarithm_of_gamma(const Operand<T>* a, T* out, std::int64_t ld, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      int sign = 0;
      out[r * ld + c] = static_cast<T>(::lgamma_r(a->data[r * a->row + c * a->lane], &sign));
    }
}

template <class T, class Op, int arity> struct Pick;
template <class T, class Op> struct Pick<T, Op, 1> { static constexpr Elementwise<T> function = &apply1<T, Op>; };
template <class T, class Op> struct Pick<T, Op, 2> { static constexpr Elementwise<T> function = &apply2<T, Op>; };
template <class T, class Op> struct Pick<T, Op, 3> { static constexpr Elementwise<T> function = &apply3<T, Op>; };
template <class T> struct Pick<T, op_pow, 2> { static constexpr Elementwise<T> function = &power<T>; };
template <class T> struct Pick<T, op_lgamma, 1> { static constexpr Elementwise<T> function = &logarithm_of_gamma<T>; };

}  // namespace
}  // namespace locus::cpu
