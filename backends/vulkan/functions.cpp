// The table of functions in the order of definition, and the choice among them; see functions.hpp.
#include "backends/vulkan/functions.hpp"
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>
#include "backends/vulkan/function_texts.hpp"

namespace locus::vulkan {
namespace {

void collect_words(const std::string& text, std::set<std::string>& words) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t k = 0; k < text.size();) {
    std::size_t end = k;
    while (end < text.size() && part(text[end])) ++end;
    if (end > k) words.insert(text.substr(k, end - k));
    k = end + 1;
  }
}

// Long decimals of a text become bits.
std::string exact(const std::string& text) {
  constexpr std::size_t long_decimal = 6;
  std::string out;
  for (std::size_t k = 0; k < text.size();) {
    const bool begins = std::isdigit(static_cast<unsigned char>(text[k])) != 0 && (k == 0 || (std::isalnum(static_cast<unsigned char>(text[k - 1])) == 0 && text[k - 1] != '_'));
    const char* from = text.c_str() + k;
    char* end = nullptr;
    const double v = begins ? std::strtod(from, &end) : 0;
    const std::size_t size = begins ? static_cast<std::size_t>(end - from) : 0;
    if (size < long_decimal || text.substr(k, size).find('.') == std::string::npos) {
      out += text.substr(k, std::max<std::size_t>(size, 1));
      k += std::max<std::size_t>(size, 1);
      continue;
    }
    const bool wide = text.compare(k + size, 2, "lf") == 0;
    out += wide ? double_text(v) : float_text(std::strtof(from, nullptr));
    k += size + (wide ? 2 : 0);
  }
  return out;
}

struct Function {
  std::string name, text;
};

}  // namespace

std::string float_text(float v) {
  char text[40];
  std::snprintf(text, sizeof text, "uintBitsToFloat(0x%08xu)", std::bit_cast<std::uint32_t>(v));
  return text;
}

std::string double_text(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v);
  char text[60];
  std::snprintf(text, sizeof text, "packDouble2x32(uvec2(0x%08xu, 0x%08xu))", static_cast<unsigned>(bits), static_cast<unsigned>(bits >> 32));
  return text;
}

std::string functions_for(const std::string& text) {
  static const std::vector<Function> all = [] {
    std::vector<Function> list;
    for (const FunctionText& f : basic_functions) list.push_back({f.name, f.text});
    for (const FunctionText& f : double_functions) list.push_back({f.name, exact(f.text)});
    for (const FunctionText& f : float_functions) list.push_back({f.name, exact(f.text)});
    return list;
  }();
  std::set<std::string> words;
  collect_words(text, words);
  std::vector<const std::string*> chosen;
  for (auto f = all.rbegin(); f != all.rend(); ++f) {  // users stand behind what they use: one pass from the back finds all
    if (words.count(f->name) == 0) continue;
    collect_words(f->text, words);
    chosen.push_back(&f->text);
  }
  std::string out;
  for (auto f = chosen.rbegin(); f != chosen.rend(); ++f) out += **f + '\n';
  return out;
}

}  // namespace locus::vulkan
