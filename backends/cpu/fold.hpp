// From a tile of scores to sums: extremes of rows, weights with their sums and moments, and weights times a matrix of values. For the instruction set
// of the including file.
#pragma once
#include <math.h>
#include <xsimd/xsimd.hpp>
#include "backends/cpu/table.hpp"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace locus::cpu {
namespace {

// 2^x for x <= 0 or little above, relative error 2.1e-7, below -126.5 maybe 0. A NaN stays.
template <class A> xsimd::batch<float, A> power_of_two(xsimd::batch<float, A> x) {
  using B = xsimd::batch<float, A>;
#if defined(__AVX512F__)
  const B n(_mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
  x = xsimd::max(B(-127.0f), x);
  const B n = xsimd::nearbyint(x);
#endif
  const B f = x - n;
  B p(1.327647178e-3f);
  p = xsimd::fma(p, f, B(9.675541333e-3f));
  p = xsimd::fma(p, f, B(5.550713274e-2f));
  p = xsimd::fma(p, f, B(0.2402211972f));
  p = xsimd::fma(p, f, B(0.6931469671f));
  p = xsimd::fma(p, f, B(1.000000072f));
#if defined(__AVX512F__)
  return B(_mm512_scalef_ps(p, n));
#else
  return p * xsimd::bitwise_cast<B>((xsimd::to_int(n) + 127) << 23);
#endif
}

template <class A> xsimd::batch<float, A> weight_of(xsimd::batch<float, A> x) { return power_of_two(x); }
template <class A> xsimd::batch<double, A> weight_of(xsimd::batch<double, A> x) { return xsimd::exp(x); }

template <class T> T worst_of(Extreme which) { return which == Extreme::maximum ? static_cast<T>(-HUGE_VAL) : static_cast<T>(HUGE_VAL); }

template <class B> B more_extreme(B value, B kept, Extreme which) {
  const auto better = which == Extreme::maximum ? value > kept : value < kept;
  return xsimd::select(better || (value != value), value, kept);
}

template <class T> void keep_scalar(T value, T& kept, Extreme which) {
  if (value != value || (which == Extreme::maximum ? value > kept : value < kept)) kept = value;
}

template <class T> void extreme_of_rows(const T* x, std::int64_t ld, std::int64_t rows, std::int64_t columns, Extreme which, T* out) {
  using B = xsimd::batch<T, xsimd::default_arch>;
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * ld;
    B kept(worst_of<T>(which));
    for (std::int64_t c = 0; c < columns; c += B::size) kept = more_extreme(B::load_aligned(row + c), kept, which);
    T lanes[B::size];
    kept.store_unaligned(lanes);
    for (std::size_t k = 0; k < B::size; ++k) keep_scalar(lanes[k], out[r], which);
  }
}

template <class T> void extreme_of_lanes(const T* lanes, std::int64_t rows, Extreme which, T* out) {
  using B = xsimd::batch<T, xsimd::default_arch>;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::size_t k = 0; k < B::size; ++k) keep_scalar(lanes[r * padding + static_cast<std::int64_t>(k)], out[r], which);
}

template <class T, int values, bool write, bool exponential, bool more> void weigh_rows(const Weighing<T>& p) {
  using B = xsimd::batch<T, xsimd::default_arch>;
  const B scale(p.scale);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    T* x = p.x + r * p.ld;
    B shift(0);
    if constexpr (exponential) shift = B(p.shift[r]);
    B sum(0), square(0), surprise(0), largest(0), moment[values ? values : 1];
#pragma GCC unroll 4
    for (int v = 0; v < values; ++v) moment[v] = B(0);
    for (std::int64_t c = 0; c < p.columns; c += B::size) {
      const B score = B::load_aligned(x + c);
      B w = score, exponent(0);
      if constexpr (exponential) w = weight_of(exponent = (score - shift) * scale);
      if constexpr (write) w.store_aligned(x + c);
      sum = sum + w;
#pragma GCC unroll 4
      for (int v = 0; v < values; ++v) moment[v] = xsimd::fma(w, B::load_aligned(p.values[v] + c), moment[v]);
      if constexpr (more) {
        square = xsimd::fma(w, w, square);
        surprise = surprise + xsimd::select(w == B(0), B(0), w * exponent);
        largest = xsimd::max(largest, xsimd::abs(w));
      }
    }
    p.sum[r] += static_cast<double>(xsimd::hadd(sum));
#pragma GCC unroll 4
    for (int v = 0; v < values; ++v) p.moments[v][r] += static_cast<double>(xsimd::hadd(moment[v]));
    if constexpr (more) {
      if (p.square) p.square[r] += static_cast<double>(xsimd::hadd(square));
      if (p.surprise) p.surprise[r] += static_cast<double>(xsimd::hadd(surprise));
      if (p.largest) {
        T lanes[B::size];
        largest.store_unaligned(lanes);
        for (std::size_t k = 0; k < B::size; ++k) keep_scalar(lanes[k], p.largest[r], Extreme::maximum);
      }
    }
  }
}

template <class T, int values> void weigh_values(const Weighing<T>& p) {
  const bool more = p.square || p.surprise || p.largest;
  if (p.shift) {
    if (more) p.write ? weigh_rows<T, values, true, true, true>(p) : weigh_rows<T, values, false, true, true>(p);
    else p.write ? weigh_rows<T, values, true, true, false>(p) : weigh_rows<T, values, false, true, false>(p);
  } else {
    if (more) weigh_rows<T, values, false, false, true>(p);
    else weigh_rows<T, values, false, false, false>(p);
  }
}

template <class T> void weigh(const Weighing<T>& p) {
  switch (p.value_count) {
    case 0: return weigh_values<T, 0>(p);
    case 1: return weigh_values<T, 1>(p);
    case 2: return weigh_values<T, 2>(p);
    case 3: return weigh_values<T, 3>(p);
    default: return weigh_values<T, 4>(p);
  }
}

template <class T, int rows, int vectors> void fold_block(const Folding<T>& p, std::int64_t r, std::int64_t column) {
  using B = xsimd::batch<T, xsimd::default_arch>;
  constexpr int size = static_cast<int>(B::size);
  B sum[rows][vectors];
#pragma GCC unroll 32
  for (int i = 0; i < rows; ++i) {
    const B rescale(p.rescale[r + i]);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[i][v] = rescale * B::load_aligned(p.out + (r + i) * p.width + column + v * size);
  }
  const T* weight = p.weight + r * p.ld;
  const T* value = p.value + column;
  for (std::int64_t k = 0; k < p.inner; ++k, value += p.width) {
    B row[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) row[v] = B::load_aligned(value + v * size);
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i) {
      const B w(weight[i * p.ld + k]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[i][v] = xsimd::fma(w, row[v], sum[i][v]);
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[i][v].store_aligned(p.out + (r + i) * p.width + column + v * size);
}

template <class T, int rows, int vectors> void fold_columns(const Folding<T>& p, std::int64_t column) {
  std::int64_t r = 0;
  for (; r + rows <= p.rows; r += rows) fold_block<T, rows, vectors>(p, r, column);
  for (; r < p.rows; ++r) fold_block<T, 1, vectors>(p, r, column);
}

template <class T> void fold(const Folding<T>& p) {
  using B = xsimd::batch<T, xsimd::default_arch>;
  constexpr std::int64_t size = static_cast<std::int64_t>(B::size);
  constexpr bool many = sizeof(B) == 64;
  std::int64_t column = 0;
  if constexpr (many) {
    for (; column + 4 * size <= p.width; column += 4 * size) fold_columns<T, 6, 4>(p, column);
    if (column + 3 * size <= p.width) fold_columns<T, 8, 3>(p, column), column += 3 * size;
    if (column + 2 * size <= p.width) fold_columns<T, 12, 2>(p, column), column += 2 * size;
    if (column + size <= p.width) fold_columns<T, 24, 1>(p, column);
  } else {
    for (; column + 2 * size <= p.width; column += 2 * size) fold_columns<T, 6, 2>(p, column);
    if (column + size <= p.width) fold_columns<T, 12, 1>(p, column);
  }
}

}  // namespace
}  // namespace locus::cpu
