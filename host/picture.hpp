// A graph for people: a line for each node, the text after a pass.
// Must not know specs, data and backends.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>
#include "core/graph/graph.hpp"

namespace locus::host {

struct NodeLine {
  Span span;
  std::size_t depth = 0;  ///< 1 in a loop's body, and so on
  std::string text;
  const graph::Node* node = nullptr;
};
std::vector<NodeLine> describe_nodes(const graph::Graph& g);

/// All passes, in their order.
void rewrite_all(graph::Graph& g);
/// The graph's text after the pass of this name, or after each for "all". A pass that runs twice is shown twice.
void dump_after(graph::Graph g, const std::string& pass, std::ostream& out);

}  // namespace locus::host
