// The words of a .locus text: names, reserved words, numbers, strings and signs, each with its place.
// The grammar reads tokens, not characters: blanks and comments never reach it. Knows nothing of rules.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>
#include "core/base/source.hpp"

namespace locus::syntax {

enum class TokenKind : std::uint8_t { word, name, number, string, sign, fault, end };

struct Token {
  TokenKind kind = TokenKind::end;
  bool opens_line = false;  ///< nothing but blanks before it in its line
  Span span;
  std::string_view text;  ///< of a string: with its quotes; of the end: empty
};

using Tokens = std::vector<Token>;

/// All tokens of a text. What begins no token is a fault; the last token is always the end, so that a place behind the last word has a token too.
/// The views point into the text held by `sources`.
Tokens scan(const Sources& sources, std::uint32_t source);

/// A word of the grammar: never a name.
bool reserved(std::string_view text);
/// `i`, `j`, `pi`, `inf`: names in an expression, but nobody may declare them.
bool predefined(std::string_view text);

inline bool is(const Token& token, std::string_view text) { return (token.kind == TokenKind::word || token.kind == TokenKind::sign) && token.text == text; }

}  // namespace locus::syntax
