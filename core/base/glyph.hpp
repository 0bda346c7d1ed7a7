// How text stands in a terminal: what is shown of a line, how many columns it takes, and a blank of the same width.
// Knows nothing of spans and messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace locus::glyph {

/// One character of UTF-8 at the front of `text`. A byte that begins none is a character of its own, and not valid.
struct Glyph {
  char32_t point = 0;
  std::size_t bytes = 0;
  bool valid = false;
};
Glyph first(std::string_view text);

/// 0 for a combining mark, 2 for a wide character, else 1.
std::size_t width(char32_t point);

/// The text with control characters (all but tabs) and bytes that are no UTF-8 replaced by U+FFFD: a message cannot steer the terminal.
std::string shown(std::string_view text);
std::size_t columns(std::string_view text);
/// The longest beginning and the longest end of the text that take no more columns than given.
std::string_view first_columns(std::string_view text, std::size_t most);
std::string_view last_columns(std::string_view text, std::size_t most);
/// Blanks as wide as the text; tabs stay tabs, so that what follows lines up whatever a tab's width.
std::string blank(std::string_view text);

}  // namespace locus::glyph
