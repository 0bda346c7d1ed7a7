// What an expression costs, roughly, in additions, and whether it may be computed where the spec does not.
// Knows nothing of backends' real costs.
#pragma once
#include <unordered_map>
#include "core/graph/graph.hpp"

namespace locus::passes {

class Costs {
 public:
  explicit Costs(const graph::Graph& g) : graph_(g) {}
  /// 0 for constants, reads, coordinates and conversions of them; sums cost their extent times their body.
  double of(graph::ExprId e);
  /// Cannot fault: calls no plugin and divides no ints by what may be 0. Only such may move to where more of it is computed.
  bool safe(graph::ExprId e);

 private:
  const graph::Graph& graph_;
  std::unordered_map<graph::ExprId, double> costs_;
  std::unordered_map<graph::ExprId, bool> safe_;
};

}  // namespace locus::passes
