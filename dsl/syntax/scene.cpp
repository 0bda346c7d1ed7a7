// Finds the rule that was being read from the tokens alone: brackets and the words that open steps and clauses.
// Knows nothing of messages.
#include "dsl/syntax/scene.hpp"
#include <algorithm>
#include <array>

namespace locus::syntax {

namespace {

constexpr std::array<std::string_view, 21> ruling = {"let",     "param",  "iterate", "calibrate", "learn", "minimize", "penalize",
                                                     "over",    "return", "until",   "limit",     "among", "by",       "where",
                                                     "nearest", "within", "under",   "otherwise", "if",    "then",     "else"};

bool rules(const Token& token) { return token.kind == TokenKind::word && std::find(ruling.begin(), ruling.end(), token.text) != ruling.end(); }

std::string inside_round(const Scene& scene, const Token* open) {
  if (open == scene.start + 2) return "the head of " + scene.declaration;
  if (is(open[-1], "->")) return "the results of " + scene.declaration;
  if (open[-1].kind == TokenKind::name) return "the arguments of " + quoted(open[-1]);
  return is(open[-1], ")") || is(open[-1], "]") ? "the arguments of a call" : "the parentheses";
}

std::string inside_square(const Token* open) {
  const Token& before = open[-1];
  if (is(before, ":") || is(before, "->") || is(before, "real") || is(before, "int") || is(before, "bool")) return "a shape";
  if (before.kind == TokenKind::name) return "the index of " + quoted(before);
  return is(before, ")") || is(before, "]") ? "an index" : "the brackets";
}

std::string inside_curly(const Scene& scene, const Token* open) {
  const auto outer = std::find_if(scene.open.begin(), scene.open.end(), [](const Open& each) { return is(*each.token, "{"); });
  if (outer == scene.open.end()) return "the body of " + scene.declaration;
  const Token* word = open;
  while (word != scene.start && !is(*word, "iterate") && !is(*word, "calibrate") && !is(*word, "learn")) --word;
  return "the block of " + quoted(*word);
}

std::string inside(const Scene& scene, const Token* open) {
  return is(*open, "(") ? inside_round(scene, open) : is(*open, "[") ? inside_square(open) : inside_curly(scene, open);
}

void step_over(Scene& scene, const Token* token) {
  if (token->kind == TokenKind::word) {
    if (rules(*token) && !scene.inside("(") && !scene.inside("[")) scene.word = token;
    return;
  }
  if (token->kind != TokenKind::sign || token == scene.start) return;
  if (token->text == "(" || token->text == "[" || token->text == "{") {
    scene.open.push_back({token, inside(scene, token), scene.word});
    if (token->text == "{") scene.word = nullptr;
  } else if ((token->text == ")" || token->text == "]" || token->text == "}") && !scene.open.empty()) {
    scene.word = scene.open.back().word;
    scene.open.pop_back();
  }
}

std::string rule_of(const Scene& scene) {
  if (scene.inside("(") || scene.inside("[")) return scene.open.back().inside;
  if (scene.word) {
    const bool names = is(*scene.word, "let") || is(*scene.word, "calibrate");
    if (names && scene.word + 1 < scene.at && scene.word[1].kind == TokenKind::name)
      return "`" + std::string(scene.word->text) + ' ' + quoted(scene.word[1]).substr(1);
    return quoted(*scene.word);
  }
  return scene.open.empty() ? scene.declaration : scene.open.back().inside;
}

}  // namespace

Scene look(const Token* begin, const Token* start, const Token* at) {
  Scene scene;
  scene.begin = begin;
  scene.start = start;
  scene.at = at;
  const bool named = at > start && !is(*start, "import") && start[1].kind == TokenKind::name;
  scene.declaration = std::string(start->text) + (named ? ' ' + quoted(start[1]) : "");
  for (const Token* token = start; token < at; ++token) step_over(scene, token);
  scene.rule = rule_of(scene);
  return scene;
}

std::string quoted(const Token& token) {
  constexpr std::size_t longest = 40;
  const std::string text(token.text.substr(0, longest));
  return '`' + text + (token.text.size() > longest ? "..." : "") + '`';
}

std::string describe(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the file";
  if (token.kind == TokenKind::word) return "the word " + quoted(token);
  return quoted(token);
}

bool begins_declaration(const Token& token) { return is(token, "kernel") || is(token, "local") || is(token, "hierarchy") || is(token, "import"); }

}  // namespace locus::syntax
