// How passes walk: over every list of nodes (bodies of loops included), over a node's expressions, and through an expression from its leaves up.
// Knows nothing of what any pass is for.
#pragma once
#include <functional>
#include <vector>
#include "core/graph/graph.hpp"

namespace locus::passes {

/// Calls `visit` with each list of nodes: a loop's body before the list that the loop stands in.
void each_list(std::vector<graph::Node>& nodes, const std::function<void(std::vector<graph::Node>&)>& visit);

/// Calls `visit` with each expression that the node names itself; those of a loop's body belong to the body's nodes.
void each_expression(graph::Node& node, const std::function<void(graph::ExprId&)>& visit);

/// Tensors that are named, not read in expressions: operands, lists, carries, outputs of the graph. Bodies of loops included.
std::vector<graph::TensorId> named_tensors(const graph::Graph& g);

/// The expression e with other arguments of the same types.
graph::ExprId rebuild(graph::Expressions& exprs, graph::ExprId e, const graph::ExprId (&args)[3]);

/// e with every part replaced by change(part), from the leaves up: `change` sees a part whose arguments are changed already.
graph::ExprId rewrite(graph::Expressions& exprs, graph::ExprId e, const std::function<graph::ExprId(graph::ExprId)>& change);

/// Is it one of SUM_OVER .. MIN_OVER, or DOT .. MAXDIST?
bool is_over(graph::Op op);
bool is_contraction(graph::Op op);

/// Coordinates that are bound anywhere inside e, sorted.
std::vector<graph::CoordId> bound_inside(const graph::Expressions& exprs, graph::ExprId e);

/// The number of entries of a space; saturates instead of overflowing.
std::int64_t entries_of(const graph::Graph& g, const std::vector<graph::CoordId>& space);

}  // namespace locus::passes
