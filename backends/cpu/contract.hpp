// Tiles of dots and distances, with a block of rows times a few vectors of samples held in registers. For the instruction set of the including file.
#pragma once
#include <xsimd/xsimd.hpp>
#include "backends/cpu/table.hpp"

namespace locus::cpu {
namespace {

struct Dot { template <class B> static B step(B sum, B a, B b) { return xsimd::fma(a, b, sum); } };
struct SquaredDistance { template <class B> static B step(B sum, B a, B b) { const B t = a - b; return xsimd::fma(t, t, sum); } };
struct AbsoluteDistance { template <class B> static B step(B sum, B a, B b) { return sum + xsimd::abs(a - b); } };
struct LargestDistance {  // a NaN stays
  template <class B> static B step(B sum, B a, B b) { const B t = xsimd::abs(a - b); return xsimd::select((t > sum) || (t != t), t, sum); }
};

// 32 registers hold 6 x 4 vectors of sums, 4 of samples and 2 more; 16 registers hold 6 x 2 or 4 x 2.
template <class B> struct Shape {
  static constexpr bool many = sizeof(B) == 64;
  static constexpr int vectors = many ? 4 : 2;
  template <class Kind> static constexpr int rows() { return many || __is_same(Kind, Dot) ? 6 : 4; }
};

template <Extreme which, class B> void keep(B value, B& kept) {
  if constexpr (which == Extreme::maximum) kept = xsimd::max(kept, value);
  if constexpr (which == Extreme::minimum) kept = xsimd::min(kept, value);
}

template <class T, class Kind, Extreme which, bool normed, int rows, int vectors>
void contract_block(const Contraction<T>& p, std::int64_t r, const T* panel, std::int64_t c) {
  using B = xsimd::batch<T, xsimd::default_arch>;
  B sum[rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[i][v] = B(0);
  const T* q = p.q + r;
  for (std::int64_t k = 0; k < p.d; ++k, q += p.q_ld, panel += padding) {
    B sample[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sample[v] = B::load_aligned(panel + v * static_cast<int>(B::size));
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const B query(q[i]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[i][v] = Kind::step(sum[i][v], query, sample[v]);
    }
  }
  B norm[vectors];
  if constexpr (normed) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) norm[v] = B::load_unaligned(p.k_norm + c + v * static_cast<int>(B::size));
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    T* out = p.out + (r + i) * p.ld + c;
    B kept(0);
    if constexpr (which != Extreme::none) kept = B::load_aligned(p.lanes + (r + i) * padding);
    B query(0);
    if constexpr (normed) query = B(p.q_norm[r + i]);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      B value = sum[i][v];
      // maximum with the value second: a NaN stays
      if constexpr (normed) value = xsimd::max(B(0), xsimd::fma(B(-2), value, query + norm[v]));
      keep<which>(value, kept);
      value.store_aligned(out + v * static_cast<int>(B::size));
    }
    if constexpr (which != Extreme::none) kept.store_aligned(p.lanes + (r + i) * padding);
  }
}

template <class T, class Kind, Extreme which, bool normed> void contract_tile(const Contraction<T>& p) {
  using B = xsimd::batch<T, xsimd::default_arch>;
  constexpr int rows = Shape<B>::template rows<Kind>(), vectors = Shape<B>::vectors;
  constexpr std::int64_t group = vectors * static_cast<std::int64_t>(B::size);
  for (std::int64_t c = 0; c < p.columns; c += group) {
    const T* panel = p.panel + c / padding * padding * p.d + c % padding;
    std::int64_t r = 0;
    for (; r + rows <= p.rows; r += rows) contract_block<T, Kind, which, normed, rows, vectors>(p, r, panel, c);
    for (; r < p.rows; ++r) contract_block<T, Kind, which, normed, 1, vectors>(p, r, panel, c);
  }
}

template <class T, class Kind, bool normed> void contract_extreme(const Contraction<T>& p) {
  if (p.extreme == Extreme::maximum) contract_tile<T, Kind, Extreme::maximum, normed>(p);
  else if (p.extreme == Extreme::minimum) contract_tile<T, Kind, Extreme::minimum, normed>(p);
  else contract_tile<T, Kind, Extreme::none, normed>(p);
}

template <class T, class Kind> void contract(const Contraction<T>& p) {
  if constexpr (__is_same(Kind, Dot)) {
    if (p.k_norm) return contract_extreme<T, Kind, true>(p);
  }
  contract_extreme<T, Kind, false>(p);
}

}  // namespace
}  // namespace locus::cpu
