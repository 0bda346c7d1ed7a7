// A weight taken apart, compositionally: what is an exponential goes to the score, what is a condition to `where`, the rest stays a factor.
// Sound because a pair of weight 0 contributes as little as a pair that does not exist. Knows nothing of kernels by name.
#pragma once
#include "core/graph/graph.hpp"

namespace locus::graph {

/// `weight` becomes factor * exp(score), each `none` where it is 1 and 0, and conditions join `where`.
void split_weight(Expressions& exprs, Reduce& r);

}  // namespace locus::graph
