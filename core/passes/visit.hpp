// How passes walk: over every list of nodes (bodies of loops included) and over a node's expressions.
// Knows nothing of what any pass is for.
#pragma once
#include <functional>
#include <vector>
#include "core/graph/graph.hpp"
#include "core/graph/rewrite.hpp"

namespace locus::passes {

/// Calls `visit` with each list of nodes: a loop's body before the list that the loop stands in.
void each_list(std::vector<graph::Node>& nodes, const std::function<void(std::vector<graph::Node>&)>& visit);

/// Calls `visit` with each expression that the node names itself; those of a loop's body belong to the body's nodes.
void each_expression(graph::Node& node, const std::function<void(graph::ExprId&)>& visit);

/// Tensors that are named, not read in expressions: operands, lists, carries, outputs of the graph. Bodies of loops included.
std::vector<graph::TensorId> named_tensors(const graph::Graph& g);

/// Coordinates that are bound anywhere inside e, sorted.
std::vector<graph::CoordId> bound_inside(const graph::Expressions& exprs, graph::ExprId e);

/// The number of entries of a space; saturates instead of overflowing.
std::int64_t entries_of(const graph::Graph& g, const std::vector<graph::CoordId>& space);

}  // namespace locus::passes
