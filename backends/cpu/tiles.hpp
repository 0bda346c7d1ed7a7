// Dense reduces in tiles: a block of queries times a block of samples at a time, a contraction, a few vector loops over the tile, a fold into sums.
// The N x M weights never exist as a whole. Knows nothing of neighbour lists and rare estimates.
#pragma once
#include <memory>
#include <string>
#include "backends/cpu/strip.hpp"

namespace locus::cpu {

struct TileOutcome {
  bool unfit = false;                ///< the data do not suit tiles (integers too large for the tile's type): nothing was computed
  std::vector<std::int64_t> redo;    ///< rows that need the careful way, ascending
};

class TilePlan {
 public:
  virtual ~TilePlan() = default;
  /// Null if the reduce is not one for tiles.
  static std::unique_ptr<TilePlan> make(const Program& program, std::uint32_t node);
  virtual int run(const Driver& tensors, const locus_host* host, locus_report* report, TileOutcome& outcome) const = 0;
  virtual std::string words() const = 0;
};

}  // namespace locus::cpu
