// A reduce on its way to dispatches. Knows the fold for its sums, and nothing of other nodes.
#pragma once
#include <memory>
#include "backends/vulkan/fold.hpp"

namespace locus::vulkan {

class Reduce {
 public:
  Reduce(const Program& p, const locus_reduce& r);
  NodeSteps steps() { return std::move(made_); }

 private:
  void finish(Code& code, bool first, const std::vector<Slot>& slots) const;
  std::string of_weights(std::uint32_t estimator) const;
  /// Stores entry `entry` of the `width` entries of `row`.
  void store(Code& code, Id tensor, std::int64_t width, const std::string& entry, const std::string& value) const;
  std::string place(Code& code, Id tensor, std::int64_t width, const std::string& entry) const;

  // -- passes of their own, for `count` rows from `first`
  void add_pass(const locus_estimate& e, const std::vector<Column>& columns, std::int64_t first, std::int64_t count);
  void matrix(const locus_estimate& e, std::int64_t first, std::int64_t count);
  void covariance(const locus_estimate& e, const Column& means, std::int64_t first, std::int64_t count);
  void quantile(const locus_estimate& e, std::int64_t first, std::int64_t count);
  void nearest(const locus_estimate& e, std::int64_t first, std::int64_t count);
  /// Head of a shader with an invocation for each of `width` entries of each row from P.a: int64_t k, local, row and entry; coordinates of the row are bound.
  void entry_rows(Code& code, std::int64_t width) const;
  /// Declares top, total, counted and infinite as the first pass left them.
  void recall(Code& code) const;

  const Program& program_;
  const locus_reduce& reduce_;
  std::unique_ptr<Fold> fold_;
  bool keeps_ = false;         ///< later passes need the rows' sums of weights
  std::uint64_t kept_ = 0;     ///< where they lie in the scratch memory: doubles top, total, counted
  std::uint64_t scratch_ = 0;  ///< what all passes hold
  NodeSteps made_;
};

}  // namespace locus::vulkan
