// One declaration from tokens: the face of the X3 grammar, without X3.
// Knows nothing of messages: it only says where it stopped and what it wanted there.
#pragma once
#include <optional>
#include <string>
#include "dsl/syntax/ast.hpp"
#include "dsl/syntax/token.hpp"

namespace locus::syntax {

struct Stop {
  const Token* at = nullptr;
  std::string wanted;  ///< "a name", "`)`", ...
};

/// Reads one declaration and moves `first` behind it; on failure `first` stays and the stop is given.
std::optional<Stop> read_declaration(const Token*& first, const Token* last, ast::Declaration& declaration);

}  // namespace locus::syntax
