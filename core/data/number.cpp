// Numbers as text, by from_chars and to_chars, which know no locale.
// Must not know of tables.
#include "core/data/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace locus {
namespace {

/// from_chars takes no plus sign; one is allowed here, but not before another sign.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

/// The power of ten of a decimal number's first digit that is not 0, give or take one: enough to tell 1e400 from 1e-400.
std::int64_t magnitude(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), mark);
  const std::size_t first = std::min(text.find_first_of("123456789"), mark);
  const std::int64_t places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  if (mark == text.size()) return places;
  const std::string_view digits = without_plus(text.substr(mark + 1));
  const bool negative = digits.front() == '-';
  const std::optional<std::int64_t> exponent = parse_integer(digits);
  constexpr std::int64_t huge = std::int64_t{1} << 40;  // an exponent that is itself out of range decides alone
  return places + (exponent && std::abs(*exponent) < huge ? *exponent : negative ? -huge : huge);
}

template <class T>
std::string word(T value) {
  if (std::isnan(value)) return "NaN";
  char text[64];
  const std::to_chars_result result = std::to_chars(text, text + sizeof text, value);
  return std::string(text, result.ptr);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc()) return std::isnan(value) ? std::nullopt : std::optional(value);
  // Out of range is either too large, which is refused, or too small, which rounds to zero.
  if (error != std::errc::result_out_of_range || magnitude(text) > 0) return std::nullopt;
  return text.front() == '-' ? -0.0 : 0.0;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = without_plus(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string number_word(double value) { return word(value); }
std::string number_word(float value) { return word(value); }

}  // namespace locus
