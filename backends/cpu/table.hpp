// The functions that exist once for each instruction set, as a table of plain pointers. What stands here is included by files compiled with wider
// instruction sets than the rest, so it holds no std container and no inline function that the linker could merge across them.
#pragma once
#include <cstdint>
#include "plugins/abi/locus_plugin.h"

namespace locus::cpu {

/// Buffers that tile functions read or write begin at a multiple of 64 bytes and are padded to whole groups of `padding` entries.
constexpr std::int64_t padding = 64;

/// One operand of a tile operation: entry (r, c) lies at data[r * row + c * lane]; lane is 0 or 1.
template <class T> struct Operand {
  const T* data;
  std::int64_t row;
  int lane;
};

template <class T> using Elementwise = void (*)(const Operand<T>* arguments, T* out, std::int64_t ld, std::int64_t rows, std::int64_t columns);

enum class Extreme { none, maximum, minimum };

/// out[r][c] = sum over k of q[k * q_ld + r] with sample c, whose panels of `padding` samples are [d][padding].
template <class T> struct Contraction {
  const T* q;
  std::int64_t q_ld;
  const T* panel;
  std::int64_t d, rows, columns;
  T* out;
  std::int64_t ld;
  const T* q_norm;  ///< with both norms a dot becomes q_norm[r] + k_norm[c] - 2 dot, at least 0
  const T* k_norm;
  Extreme extreme;  ///< which extreme of each row is kept, in lanes: lanes[r * padding + ...]; columns beyond `columns` must not count: they are whole groups here
  T* lanes;
};

/// Weights of a tile: w = base^(scale * (x - shift[r])), base 2 for float and e for double; or, without shift, w = x. The difference comes first: no digit of a
/// large score is lost, with or without fused multiplication.
template <class T> struct Weighing {
  T* x;
  std::int64_t ld, rows, columns;
  T scale;
  const T* shift;
  const T* const* values;  ///< value_count vectors over the columns
  int value_count;         ///< 0 to 4
  bool write;              ///< x becomes w
  double* sum;             ///< [rows] += sum of w
  double* const* moments;  ///< [value_count][rows] += sum of w v
  double* square;          ///< [rows] += sum of w^2, or null
  double* surprise;        ///< [rows] += sum of w times its exponent, or null
  T* largest;              ///< [rows] = max(., |w|), or null
};

/// out[r][c] = rescale[r] * out[r][c] + sum over k of weight[r * ld + k] * value[k * width + c]; width is a multiple of the vector.
template <class T> struct Folding {
  const T* weight;
  std::int64_t ld;
  const T* value;
  std::int64_t rows, inner, width;
  const T* rescale;
  T* out;
};

template <class T> struct Functions {
  Elementwise<T> elementwise[LOCUS_OP_END];
  void (*contract[4])(const Contraction<T>&);  ///< dot, sqdist, l1dist, maxdist
  void (*extreme)(const T* x, std::int64_t ld, std::int64_t rows, std::int64_t columns, Extreme which, T* out);  ///< out[r] becomes the extreme of it and the row; NaN wins
  void (*reduce_lanes)(const T* lanes, std::int64_t rows, Extreme which, T* out);  ///< the same from a contraction's lanes
  void (*weigh)(const Weighing<T>&);
  void (*fold)(const Folding<T>&);
  std::int64_t vector;  ///< lanes of a vector
};

struct Table {
  const char* name;
  Functions<float> single;
  Functions<double> wide;
};

const Table* baseline_table();
const Table* avx2_table();    ///< null where not compiled in
const Table* avx512_table();

/// The table of this machine, chosen once; the environment variable LOCUS_CPU_ISA (baseline, avx2, avx512) may ask for a lower one.
const Table& table();

template <class T> const Functions<T>& functions();
template <> inline const Functions<float>& functions<float>() { return table().single; }
template <> inline const Functions<double>& functions<double>() { return table().wide; }

}  // namespace locus::cpu
