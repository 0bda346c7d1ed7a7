// Words that the printer and the parser of graph texts share. Knows nothing else of either.
#pragma once
#include <string>
#include "core/graph/expression.hpp"

namespace locus::graph {

/// A name in double quotes; quotes, backslashes and control characters escaped.
std::string quoted(const std::string& name);
/// "+" and the like for the ops that stand between their arguments, else null.
const char* sign_of(Op op);
/// "concat", "sort", ...
const char* name_of(locus_array_function f);

}  // namespace locus::graph
