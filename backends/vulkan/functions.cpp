// The table of functions in the order of definition, and the choice among them; see functions.hpp.
#include "backends/vulkan/functions.hpp"
#include <algorithm>
#include <cctype>
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

}  // namespace

std::string functions_for(const std::string& text) {
  static const std::vector<FunctionText> all = [] {
    std::vector<FunctionText> list;
    for (const FunctionText& f : basic_functions) list.push_back(f);
    for (const FunctionText& f : double_functions) list.push_back(f);
    for (const FunctionText& f : float_functions) list.push_back(f);
    return list;
  }();
  std::set<std::string> words;
  collect_words(text, words);
  std::vector<const char*> chosen;
  for (auto f = all.rbegin(); f != all.rend(); ++f) {  // users stand behind what they use: one pass from the back finds all
    if (words.count(f->name) == 0) continue;
    collect_words(f->text, words);
    chosen.push_back(f->text);
  }
  std::string out;
  for (auto f = chosen.rbegin(); f != chosen.rend(); ++f) out += *f, out += '\n';
  return out;
}

}  // namespace locus::vulkan
