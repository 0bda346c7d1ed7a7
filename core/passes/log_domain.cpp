// Reduce::weight becomes factor and score, so that a running maximum keeps sums of exponentials in range. Knows nothing of softmax.
#include "core/graph/weight.hpp"
#include "core/passes/passes.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

void log_domain(Graph& g) {
  each_list(g.nodes, [&g](std::vector<Node>& nodes) {
    for (Node& n : nodes)
      if (auto* r = std::get_if<Reduce>(&n.kind)) split_weight(g.exprs, *r);
  });
}

}  // namespace locus::passes
