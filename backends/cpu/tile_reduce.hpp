// What a dense reduce is compiled to for tiles: code over pairs, strips for what depends on one side, the shape of a tile. Immutable, shared by threads.
// Knows nothing of data.
#pragma once
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "backends/cpu/tile_code.hpp"

namespace locus::cpu {

constexpr int few_values = 4;  // value columns that are summed beside the weights

template <class T>
struct TileReduce {
  struct Output {
    const locus_estimate* estimate;
    std::int64_t first, width;  ///< value columns
    int pair = -1;              ///< or a value that depends on both sides
  };

  /// A value of a pair, one tile for each of its features; its parts on one side are told anew for each feature.
  struct PairValue {
    const locus_estimate* estimate;
    std::unique_ptr<TileCode> code;
    Ref value;
    std::int64_t first, width;  ///< its sums
    std::vector<Strip> row_strips, column_strips;
    std::vector<T> constants;
  };

  const Program& program;
  const locus_reduce& reduce;
  const std::uint32_t node;
  TileCode code;
  Id query = LOCUS_NONE;
  std::vector<Id> batch;
  Ref score, factor, where;
  double scale = 1;
  std::size_t weight_end = 0;
  std::vector<Output> outputs;
  std::int64_t width = 0, height = 0, span = 0;
  bool square = false, count = false, shared = false;
  std::vector<PairValue> pairs;
  std::int64_t pair_width = 0;
  int pair_tiles = 0;
  std::vector<Strip> row_strips, column_strips, query_strips, sample_strips, value_strips;
  std::vector<T> constants;

  TileReduce(const Program& p, std::uint32_t n)
      : program(p), reduce(p.reduces[p.nodes[n].detail]), node(n), code(p, query_of(reduce), reduce.sample, sizeof(T) == 4) {}

  /// False if it is none for tiles.
  bool compile();

 private:
  Id query_of(const locus_reduce& r) const {
    const auto rows = program.list(r.rows);
    return rows.empty() ? LOCUS_NONE : rows.back();
  }
  bool add_pair_value(const locus_estimate& e);
  void compile_strips();
};

}  // namespace locus::cpu
