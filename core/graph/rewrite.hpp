// An expression made anew from its leaves up. Knows nothing of nodes and of what is rewritten.
#pragma once
#include <functional>
#include "core/graph/expression.hpp"

namespace locus::graph {

/// The expression e with other arguments of the same types.
ExprId rebuild(Expressions& exprs, ExprId e, const ExprId (&args)[3]);

/// e with every part replaced by change(part), from the leaves up: `change` sees a part whose arguments are changed already.
ExprId rewrite(Expressions& exprs, ExprId e, const std::function<ExprId(ExprId)>& change);

/// Is it one of SUM_OVER .. MIN_OVER, or DOT .. MAXDIST?
bool is_over(Op op);
bool is_contraction(Op op);

}  // namespace locus::graph
