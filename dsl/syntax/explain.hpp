// From the place where the grammar stopped to one short message: what was found, what was being read, one likely repair.
// Knows nothing of Spirit; it reads the tokens round the place.
#pragma once
#include <string>
#include "core/base/diagnostic.hpp"
#include "dsl/syntax/token.hpp"

namespace locus::syntax {

/// `start`: the first token of the declaration; `at`: where the grammar stopped; `wanted`: what it wanted there.
Diagnostic explain(const Token* begin, const Token* start, const Token* at, const std::string& wanted);

}  // namespace locus::syntax
