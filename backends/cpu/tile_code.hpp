// Pair expressions as code for tiles: what depends on one side becomes a vector, what depends on both a short list of loops over the tile.
// Knows nothing of estimates.
#pragma once
#include <cmath>
#include <optional>
#include "backends/cpu/strip.hpp"

namespace locus::cpu {

/// Where an operand of a tile loop lies.
struct Ref {
  enum Kind : std::uint8_t { none, tile, row, column, constant } kind = none;
  int index = 0;
};

struct TileStep {
  enum Kind : std::uint8_t { element, contraction, matrix, call } kind = element;
  std::uint16_t op = 0;
  Ref args[3];
  int out = 0;
  int index = 0;  ///< contraction or matrix
};

/// sum over k of f(query side at k, sample side at k).
struct ContractionCode {
  std::uint16_t op;
  Id coordinate, query, sample;
};
/// A matrix of pairs that is read at (i, j).
struct MatrixCode {
  Id read;
};

class TileCode {
 public:
  TileCode(const Program& program, Id query, Id sample, bool single) : program_(program), query_(query), sample_(sample), single_(single) {}
  /// Compiles an expression; nothing if tiles cannot hold it.
  std::optional<Ref> add(Id expr);
  /// The steps that were added since `from`.
  std::vector<TileStep> steps;
  std::vector<Id> rows, columns;  ///< one-sided parts, by Ref::index
  std::vector<double> constants;
  std::vector<ContractionCode> contractions;
  std::vector<MatrixCode> matrices;
  int tiles = 0;
  bool whole_parts = false;  ///< integers are among the parts: their size is checked when they are known

 private:
  std::optional<Ref> emit(Id expr);
  std::optional<Ref> contraction(Id expr);
  Ref element(std::uint16_t op, std::initializer_list<Ref> args);
  bool on_query(Id e) const { return query_ != LOCUS_NONE && program_.depends(e, query_); }
  bool on_sample(Id e) const { return program_.depends(e, sample_); }
  static int place(std::vector<Id>& list, Id e);

  const Program& program_;
  Id query_, sample_;
  bool single_;
  std::map<Id, Ref> memo_;
};

/// [low, high] of a tile's entries, from those of its parts: what can be said of a mask over a block without computing it.
struct Interval {
  double low, high;
};
/// `part` gives the interval of a row or column part over the block.
template <class Part>
Interval interval_of(const TileCode& code, std::size_t begin, std::size_t end, Ref root, Part&& part) {
  std::vector<Interval> tiles(static_cast<std::size_t>(code.tiles), {-HUGE_VAL, HUGE_VAL});
  const auto get = [&](Ref r) -> Interval {
    if (r.kind == Ref::tile) return tiles[static_cast<std::size_t>(r.index)];
    if (r.kind == Ref::constant) return {code.constants[static_cast<std::size_t>(r.index)], code.constants[static_cast<std::size_t>(r.index)]};
    return part(r);
  };
  for (std::size_t s = begin; s < end; ++s) {
    const TileStep& step = code.steps[s];
    Interval& out = tiles[static_cast<std::size_t>(step.out)];
    out = {-HUGE_VAL, HUGE_VAL};
    if (step.kind == TileStep::contraction) out = {0, HUGE_VAL};
    if (step.kind == TileStep::contraction && step.op == LOCUS_DOT) out = {-HUGE_VAL, HUGE_VAL};
    if (step.kind != TileStep::element) continue;
    const Interval a = get(step.args[0]), b = step.args[1].kind != Ref::none ? get(step.args[1]) : Interval{0, 0};
    const auto truth = [](bool never, bool always) { return always ? Interval{1, 1} : never ? Interval{0, 0} : Interval{0, 1}; };
    switch (step.op) {
      case LOCUS_real: out = a; break;
      case LOCUS_neg: out = {-a.high, -a.low}; break;
      case LOCUS_abs: out = a.low >= 0 ? a : a.high <= 0 ? Interval{-a.high, -a.low} : Interval{0, std::max(-a.low, a.high)}; break;
      case LOCUS_add: out = {a.low + b.low, a.high + b.high}; break;
      case LOCUS_sub: out = {a.low - b.high, a.high - b.low}; break;
      case LOCUS_maximum: out = {std::max(a.low, b.low), std::max(a.high, b.high)}; break;
      case LOCUS_minimum: out = {std::min(a.low, b.low), std::min(a.high, b.high)}; break;
      case LOCUS_lt: out = truth(a.low >= b.high, a.high < b.low); break;
      case LOCUS_le: out = truth(a.low > b.high, a.high <= b.low); break;
      case LOCUS_eq: out = truth(a.low > b.high || b.low > a.high, a.low == a.high && b.low == b.high && a.low == b.low); break;
      case LOCUS_ne: out = truth(a.low == a.high && b.low == b.high && a.low == b.low, a.low > b.high || b.low > a.high); break;
      case LOCUS_and: out = truth(a.high == 0 || b.high == 0, a.low > 0 && b.low > 0); break;
      case LOCUS_or: out = truth(a.high == 0 && b.high == 0, a.low > 0 || b.low > 0); break;
      case LOCUS_not: out = truth(a.low > 0, a.high == 0); break;
      default: break;
    }
    if (std::isnan(out.low) || std::isnan(out.high)) out = {-HUGE_VAL, HUGE_VAL};
  }
  return get(root);
}

}  // namespace locus::cpu
