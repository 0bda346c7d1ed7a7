// Reduces whose pairs end at a radius: a mask such as dist(q, x) <= r, or a kernel that is 0 beyond its width. For tiles, queries and samples are ordered by
// place and blocks farther apart than the radius skipped; rows look at the samples that a sorted line or a kd-tree finds. What is left is more than the pairs
// within, and mask and kernel are told as ever, so the answer is that of all pairs. Knows nothing of how a row or a tile is reduced.
#pragma once
#include <memory>
#include <string>
#include "backends/cpu/tiles.hpp"

namespace locus::cpu {

/// The radius of a row: a number told by `start`, then made a distance by the steps, as T -> T * b undoes a division by b.
struct Reach {
  struct Step {
    enum Kind { times, over, power } kind;
    Id by;             ///< times, over: an expression that is above 0, else there is no radius
    double exponent;   ///< power
  };
  Id start = LOCUS_NONE;
  std::vector<Step> steps;
  Id metric = LOCUS_NONE;       ///< the contraction
  Id query = LOCUS_NONE, sample = LOCUS_NONE;  ///< its arguments by side
};

/// Where the samples are, made anew in each run.
class NearSamples {
 public:
  virtual ~NearSamples() = default;
  /// One thread's search.
  class Search {
   public:
    virtual ~Search() = default;
    /// The samples that row may pair with, in an order of its own; false: any may.
    virtual bool find(std::int64_t row, std::vector<std::int64_t>& found) = 0;
  };
  virtual std::unique_ptr<Search> search() const = 0;
  double share = 1;  ///< of the samples, that a row looks at; of a few rows
};

class NearPlan {
 public:
  /// Null where no radius is seen, or points have too many coordinates for a tree.
  static std::unique_ptr<NearPlan> make(const Program& program, std::uint32_t node);
  /// Null where points are not finite or too few.
  std::unique_ptr<NearSamples> samples(const Driver& tensors) const;
  /// For tiles of height x span: null where points are not finite, or where most blocks would meet.
  std::unique_ptr<TileOrder> order(const Driver& tensors, std::int64_t height, std::int64_t span) const;
  std::string words() const;

 private:
  NearPlan(const Program& program, const locus_reduce& reduce) : program_(program), reduce_(reduce) {}
  const Program& program_;
  const locus_reduce& reduce_;
  Reach reach_;
  /// The points of one side, [count, d]; false if one is not finite.
  bool points(const Driver& tensors, Id side, Id coordinate, std::vector<double>& at) const;
  /// The radius of each row of a reduce with one row coordinate, infinite where there is none.
  std::vector<double> radii(const Driver& tensors) const;

  std::int64_t d_ = 1, rows_ = 1;
  friend class Samples;
};

}  // namespace locus::cpu
