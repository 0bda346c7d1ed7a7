// Text to syntax tree. The only face of the grammar; shows nothing of Spirit.
#pragma once
#include <string>
#include "core/base/diagnostic.hpp"
#include "dsl/syntax/ast.hpp"

namespace locus {

/// Parses the whole text. After a syntax error it goes on at the next line that begins a declaration, so that one run shows several mistakes;
/// declarations that failed are left out of the tree. Nesting deeper than 256 is an error, never a crash.
ast::File parse(const Sources& sources, std::uint32_t source, Diagnostics& diagnostics);

/// The tree as text again: parse(print(parse(text))) is the same tree. For golden tests.
std::string print(const ast::File& file);
std::string print(const ast::Expr& expr);

}  // namespace locus
