// Dense reduces in tiles: a block of queries times a block of samples at a time, a contraction, a few vector loops over the tile, a fold into sums.
// The N x M weights never exist as a whole. Knows nothing of neighbour lists and rare estimates.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include "backends/cpu/strip.hpp"

namespace locus::cpu {

struct TileOutcome {
  std::atomic<bool> unfit = false;   ///< the data do not suit tiles (integers too large for the tile's type): nothing was computed
  std::vector<std::int64_t> redo;    ///< rows that need the careful way, ascending
};

/// Queries and samples by place, so that a block holds points that lie together and most blocks of queries meet few blocks of samples.
class TileOrder {
 public:
  virtual ~TileOrder() = default;
  std::vector<std::int64_t> queries, samples;  ///< the one that stands at each position
  /// Do no query of a block and no sample of a block make a pair?
  virtual bool apart(std::int64_t query_block, std::int64_t sample_block) const = 0;
};

class TilePlan {
 public:
  virtual ~TilePlan() = default;
  /// Null if the reduce is not one for tiles.
  static std::unique_ptr<TilePlan> make(const Program& program, std::uint32_t node);
  /// With `order` (of a reduce with one row coordinate) as that has it.
  virtual int run(const Driver& tensors, const locus_host* host, locus_report* report, TileOutcome& outcome, const TileOrder* order) const = 0;
  virtual std::int64_t height() const = 0;  ///< queries of a block
  virtual std::int64_t span() const = 0;    ///< samples of a block
  virtual std::string words() const = 0;
};

}  // namespace locus::cpu
