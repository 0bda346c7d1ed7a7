// UTF-8 and terminal columns.
// Knows nothing of spans and messages.
#include "core/base/glyph.hpp"
#include <algorithm>
#include <array>

namespace locus::glyph {

namespace {

struct Range {
  char32_t low, high;
};

// East Asian wide and full-width blocks, and pictographs: the ranges that common terminals draw two columns wide.
constexpr std::array<Range, 10> wide = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0x33FF},
                                         {0x3400, 0x4DBF},
                                         {0x4E00, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 7> combining = {
    {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x1AB0, 0x1AFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};

template <std::size_t n>
bool within(const std::array<Range, n>& ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return r.low <= point && point <= r.high; });
}

bool control(const Glyph& g) {
  return !g.valid || (g.point < 0x20 && g.point != '\t') || (0x7F <= g.point && g.point < 0xA0) || (0x202A <= g.point && g.point <= 0x202E);
}

template <class Visit>
void each(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const Glyph g = first(text);
    visit(g, text.substr(0, g.bytes));
    text.remove_prefix(g.bytes);
  }
}

std::size_t width_of(const Glyph& g) { return control(g) ? 1 : width(g.point); }

}  // namespace

Glyph first(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead >= 0xF5 || text.size() < length) return {lead, 1, false};
  char32_t point = lead & (0x7F >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return {lead, 1, false};
    point = (point << 6) | (byte(k) & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = 0xD800 <= point && point <= 0xDFFF;
  if (point < least[length] || point > 0x10FFFF || surrogate) return {lead, 1, false};
  return {point, length, true};
}

std::size_t width(char32_t point) { return within(combining, point) ? 0 : within(wide, point) ? 2 : 1; }

std::string shown(std::string_view text) {
  std::string result;
  each(text, [&](const Glyph& g, std::string_view bytes) { result += control(g) ? std::string_view("\xEF\xBF\xBD") : bytes; });
  return result;
}

std::size_t columns(std::string_view text) {
  std::size_t total = 0;
  each(text, [&](const Glyph& g, std::string_view) { total += width_of(g); });
  return total;
}

std::string_view first_columns(std::string_view text, std::size_t most) {
  std::size_t bytes = 0, total = 0;
  while (bytes < text.size()) {
    const Glyph g = first(text.substr(bytes));
    total += width_of(g);
    if (total > most) break;
    bytes += g.bytes;
  }
  return text.substr(0, bytes);
}

std::string_view last_columns(std::string_view text, std::size_t most) {
  std::size_t total = columns(text);
  while (total > most) {
    const Glyph g = first(text);
    total -= width_of(g);
    text.remove_prefix(g.bytes);
  }
  return text;
}

std::string blank(std::string_view text) {
  std::string result;
  each(text, [&](const Glyph& g, std::string_view) {
    if (g.valid && g.point == '\t')
      result += '\t';
    else
      result.append(width_of(g), ' ');
  });
  return result;
}

}  // namespace locus::glyph
