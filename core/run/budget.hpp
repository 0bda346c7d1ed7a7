// What a planned run needs, and the message when that is beyond the budget. Decides before anything is allocated.
#pragma once
#include "core/base/diagnostic.hpp"
#include "core/graph/graph.hpp"
#include "core/passes/passes.hpp"

namespace locus {

struct Budget {
  std::uint64_t bytes = 0;                ///< slab, inputs, constants and outputs; saturates
  graph::TensorId largest = graph::none;  ///< the largest single tensor
  std::uint64_t largest_bytes = 0;
};
Budget budget_of(const graph::Graph& graph, const passes::Plan& plan, Dtype real);
Diagnostic over_budget(const graph::Graph& graph, const Budget& budget, std::uint64_t allowed);

/// "1.5 GB", "640 bytes": decimal units, two digits or more, never rounded down.
std::string size_text(std::uint64_t bytes);

}  // namespace locus
