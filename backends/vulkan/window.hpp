// From the mask of a reduce to the range of samples that a row can see: `j <= i`, `abs(i - j) <= reach`, `j < length`. Pairs outside of it are not visited.
// Knows nothing of weights and values.
#pragma once
#include "backends/vulkan/code.hpp"

namespace locus::vulkan {

class Window {
 public:
  Window(const Program& p, const locus_reduce& r);
  bool empty() const { return bounds_.empty(); }
  /// Statements that narrow the int variables `begin` and `end`, where the row's coordinates are bound.
  void narrow(Code& code) const;

 private:
  /// sample * j + the sum of the terms by their signs + constant.
  struct Line {
    int sample = 0;
    std::int64_t constant = 0;
    std::vector<std::pair<int, Id>> terms;
  };
  /// The line is below 0, or at most 0 where `or_equal`; unless one of `unless` holds.
  struct Bound {
    Line line;
    bool or_equal;
    std::vector<Id> unless;
  };

  void collect(Id e, const std::vector<Id>& unless);
  bool add(Id e, int sign, Line& line) const;
  void compare(Id low, Id high, bool or_equal, const std::vector<Id>& unless);
  void keep(const Line& line, bool or_equal, const std::vector<Id>& unless);

  const Program& program_;
  Id sample_;
  std::vector<bool> faulty_;  ///< not computed before a pair is known to exist
  std::vector<Bound> bounds_;
};

}  // namespace locus::vulkan
