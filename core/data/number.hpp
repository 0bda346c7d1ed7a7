// Numbers as text, the same under every locale: read exactly, written as the shortest text that reads back to the same number.
// Knows nothing of tables.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace locus {

/// The whole text as a number: 3, -0.5, +1e-3, .5, inf. Nothing for text, NaN, or a number beyond float64.
std::optional<double> parse_number(std::string_view text);

/// The whole text as an int64; nothing if it is not an integer or does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// `NaN`, `inf`, `-inf`, else shortest digits.
std::string number_word(double value);
std::string number_word(float value);

}  // namespace locus
