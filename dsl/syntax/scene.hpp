// What surrounds the place where the grammar stopped: the declaration, the brackets that are open, the rule being read.
// Knows nothing of messages.
#pragma once
#include <string>
#include <vector>
#include "dsl/syntax/token.hpp"

namespace locus::syntax {

struct Open {
  const Token* token = nullptr;
  std::string inside;           ///< "the arguments of `exp`"
  const Token* word = nullptr;  ///< what Scene::word was before it
};

struct Scene {
  const Token* begin = nullptr;  ///< first token of the file
  const Token* start = nullptr;  ///< first token of the declaration
  const Token* at = nullptr;     ///< where the grammar stopped
  std::string declaration;       ///< "kernel `gaussian`"
  std::vector<Open> open;        ///< brackets open at the place, outermost first
  const Token* word = nullptr;   ///< the last step or clause word before the place inside the innermost brace; null if none
  std::string rule;              ///< what is being read

  const Token* before() const { return at == begin ? nullptr : at - 1; }
  bool inside(std::string_view bracket) const { return !open.empty() && open.back().token->text == bracket; }
  /// In the parentheses that list the points, inputs and settings of the declaration.
  bool head() const { return open.size() == 1 && open.back().token == start + 2; }
};

Scene look(const Token* begin, const Token* start, const Token* at);

/// "`x`", "the word `limit`", "the end of the file".
std::string describe(const Token& token);
/// The text of a token in backquotes, cut if it is long.
std::string quoted(const Token& token);

bool begins_declaration(const Token& token);

}  // namespace locus::syntax
