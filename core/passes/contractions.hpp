// Sums over an axis that are contractions of two points are written as such, so that a backend can use its matrix kernel.
// Knows nothing of where the two points come from.
#pragma once
#include "core/graph/graph.hpp"

namespace locus::passes {

/// A product of factors and divisors.
struct Product {
  std::vector<graph::ExprId> factors, divisors;
};
/// e as a product: products, quotients and negations are opened.
Product product_of(graph::Expressions& exprs, graph::ExprId e);
/// The product as an expression; none if it is empty.
graph::ExprId multiplied(graph::Expressions& exprs, const Product& p);

/// In all maps and reduces: SUM_OVER of a product, of a squared or absolute difference, MAX_OVER of an absolute difference become DOT, SQDIST, L1DIST, MAXDIST
/// where the two sides depend on different coordinates. In a reduce the argument of the sample's side stands second.
void show_contractions(graph::Graph& g);

}  // namespace locus::passes
