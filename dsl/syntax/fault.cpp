// Messages for what begins no token, and the repairs: other languages' operators, typographic signs, numbers gone wrong.
// Knows nothing of the grammar.
#include "dsl/syntax/fault.hpp"
#include <array>
#include <charconv>
#include <cstdio>
#include "core/base/glyph.hpp"

namespace locus::syntax {

namespace {

struct Repair {
  const char32_t point;
  const char* write;
};

// Signs that text editors, papers and other languages use for what locus writes in ASCII.
constexpr std::array<Repair, 58> repairs = {{
    {U'\u201C', "\""},    {U'\u201D', "\""},      {U'\u201E', "\""},   {U'\u2018', "\""},    {U'\u2019', "\""},    {U'\u2212', "-"},     {U'\u2013', "-"},
    {U'\u2014', "-"},     {U'\u00D7', "*"},       {U'\u00B7', "*"},    {U'\u22C5', "*"},     {U'\u2217', "*"},     {U'\u00F7', "/"},     {U'\u2264', "<="},
    {U'\u2265', ">="},    {U'\u2260', "!="},      {U'\u00B2', "^2"},   {U'\u00B3', "^3"},    {U'\u221E', "inf"},   {U'\u03C0', "pi"},    {U'\u221A', "sqrt"},
    {U'\u2211', "sum"},   {U'\u2208', "in"},      {U'\u2192', "->"},   {U'\u2190', "<-"},    {U'\u2227', "and"},   {U'\u2228', "or"},    {U'\u00AC', "not"},
    {U'\u00A0', " "},     {U'\u202F', " "},       {U'\u2009', " "},    {U'\u2026', ".."},    {U'\u03B1', "alpha"}, {U'\u03B2', "beta"},  {U'\u03B3', "gamma"},
    {U'\u03B4', "delta"}, {U'\u03B5', "epsilon"}, {U'\u03B6', "zeta"}, {U'\u03B7', "eta"},   {U'\u03B8', "theta"}, {U'\u03BA', "kappa"}, {U'\u03BB', "lambda"},
    {U'\u03BC', "mu"},    {U'\u00B5', "mu"},      {U'\u03BD', "nu"},   {U'\u03BE', "xi"},    {U'\u03C1', "rho"},   {U'\u03C3', "sigma"}, {U'\u03C4', "tau"},
    {U'\u03C6', "phi"},   {U'\u03C7', "chi"},     {U'\u03C8', "psi"},  {U'\u03C9', "omega"}, {U'\u0394', "delta"}, {U'\u03A3', "sigma"}, {U'\u03A6', "phi"},
    {U'\u03A9', "omega"}, {U'\u2032', "_prime"},
}};

struct Foreign {
  std::string_view sign, write;
};
constexpr std::array<Foreign, 6> operators = {{{"&&", "and"}, {"||", "or"}, {"&", "and"}, {"|", "or"}, {"!", "not"}, {"~", "not"}}};

bool begins_number(std::string_view rest) { return (rest[0] >= '0' && rest[0] <= '9') || rest[0] == '.'; }

bool continues_number(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.'; }

std::size_t number_length(std::string_view rest) {
  std::size_t k = 1;
  while (k < rest.size() && continues_number(rest[k]) && rest.substr(k, 2) != "..") {
    const bool exponent = rest[k] == 'e' || rest[k] == 'E';
    const bool sign = exponent && k + 2 < rest.size() && (rest[k + 1] == '-' || rest[k + 1] == '+') && rest[k + 2] >= '0' && rest[k + 2] <= '9';
    k += sign ? 3 : 1;
  }
  return k;
}

std::string cut(std::string_view text) {
  constexpr std::size_t longest = 32;
  return text.size() <= longest ? std::string(text) : std::string(text.substr(0, longest)) + "...";
}

Diagnostic number_message(std::string_view fault, Span span) {
  Diagnostic d{Code::E003, span, "`" + cut(fault) + "` is not a number", "", {}, "", ""};
  const std::size_t digits = std::min(fault.find_first_not_of("0123456789"), fault.size());
  const std::string head(fault.substr(0, digits));
  const std::string_view rest = fault.substr(digits);
  double value = 0;
  const auto read = std::from_chars(fault.data(), fault.data() + fault.size(), value);
  if (read.ec == std::errc::result_out_of_range && read.ptr == fault.data() + fault.size()) {
    d.message = "the number `" + cut(fault) + "` is out of the range of a 64-bit float";
    d.help = "write `inf` for infinity, `0` for what is too small to tell from it";
  } else if (head.empty()) {
    d.help = "a number begins with a digit: write `0" + cut(fault) + "`";
  } else if (rest == ".") {
    d.help = "digits follow the point: write `" + cut(head) + ".0`";
  } else if (head == "0" && (rest[0] == 'x' || rest[0] == 'X' || rest[0] == 'b')) {
    d.help = "numbers are decimal: write the value in digits";
  } else if (rest[0] == '_') {
    d.help = "digits stand without separators: write `" + cut(head) + "`";
    std::string plain;
    for (const char c : fault)
      if (c != '_') plain += c;
    if (plain.find_first_not_of("0123456789") == std::string::npos) d.help = "digits stand without separators: write `" + cut(plain) + "`";
  } else if (rest[0] == '.') {
    d.help = "a number has one point and no suffix, as in `0.5` or `1e-3`";
  } else if (rest == "e" || rest == "E") {
    d.help = "an exponent has digits: write `" + cut(head) + "e0`";
  } else {
    d.help = "a product needs its sign: write `" + cut(head) + " * " + cut(rest) + "`";
  }
  return d;
}

Diagnostic character_message(std::string_view fault, Span span) {
  Diagnostic d{Code::E001, span, "", "", {}, "", ""};
  const glyph::Glyph found = glyph::first(fault);
  char number[16];
  if (!found.valid) {
    std::snprintf(number, sizeof number, "0x%02X", static_cast<unsigned>(found.point));
    d.message = std::string("the byte ") + number + " is not UTF-8 text";
    d.help = "save the file in UTF-8";
    return d;
  }
  if (found.point < 0x20 || found.point == 0x7F) {
    std::snprintf(number, sizeof number, "0x%02X", static_cast<unsigned>(found.point));
    d.message = std::string("the control character ") + number + " stands in the text";
    d.help = "remove it";
    return d;
  }
  const bool visible = glyph::width(found.point) > 0 && found.point != 0xA0 && found.point != 0x202F && found.point != 0x2009;
  std::snprintf(number, sizeof number, "U+%04X", static_cast<unsigned>(found.point));
  d.message = visible ? "`" + std::string(fault) + "` is not a character of the language"
                      : std::string("the invisible character ") + number + " is not one of the language";
  d.help = "names are made of letters a-z, A-Z, digits and `_`";
  if (fault == "'") d.help = "strings stand in double quotes: write `\"`";
  if (fault == "`") d.help = "remove it; names stand without quotes";
  if (fault == "$" || fault == "\\" || fault == "?") d.help = "remove it";
  for (const Repair& each : repairs)
    if (each.point == found.point) d.help = *each.write == ' ' ? "write an ordinary blank" : std::string("write `") + each.write + "`";
  return d;
}

}  // namespace

std::size_t fault_length(std::string_view rest) {
  if (rest[0] == '"') return std::min(rest.find_first_of("\r\n"), rest.size());
  if (begins_number(rest)) return number_length(rest);
  if (rest.substr(0, 2) == "&&" || rest.substr(0, 2) == "||") return 2;
  return glyph::first(rest).bytes;
}

Diagnostic explain_fault(std::string_view fault, Span span) {
  if (fault[0] == '"')
    return {
        Code::E002, span, "the string is not closed", "`\"` is missing at its end", {}, "write `\"` behind the last character of the string, on the same line",
        ""};
  if (begins_number(fault)) return number_message(fault, span);
  if (fault == "?") return {Code::E004, span, "`?` is not an operator of the language", "", {}, "write `if CONDITION then ONE else OTHER`", ""};
  for (const Foreign& each : operators)
    if (each.sign == fault)
      return {Code::E004, span, "`" + std::string(fault) + "` is not an operator of the language", "", {}, "write `" + std::string(each.write) + "`", ""};
  return character_message(fault, span);
}

}  // namespace locus::syntax
