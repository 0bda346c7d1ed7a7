// Joins parts of expressions to nodes of the tree and keeps their places and heights.
// Knows nothing of Spirit.
#include "dsl/syntax/build.hpp"
#include <charconv>
#include <map>

namespace locus::syntax {

namespace {

using ast::Operator;

Operator operator_of(std::string_view text) {
  static const std::map<std::string_view, Operator> table = {
      {"+", Operator::add},           {"-", Operator::subtract},    {"*", Operator::multiply},      {"/", Operator::divide},
      {"//", Operator::floor_divide}, {"%", Operator::modulo},      {"@", Operator::matmul},        {"^", Operator::power},
      {"<", Operator::less},          {"<=", Operator::less_equal}, {">", Operator::greater},       {">=", Operator::greater_equal},
      {"==", Operator::equal},        {"!=", Operator::not_equal},  {"and", Operator::logical_and}, {"or", Operator::logical_or}};
  return table.at(text);
}

std::shared_ptr<ast::Expr> binary(Operator op, Span op_span, ast::ExprPtr left, ast::ExprPtr right, Span span) {
  auto node = std::make_shared<ast::Expr>();
  node->kind = ast::ExprKind::binary;
  node->span = span;
  node->op = op;
  node->op_span = op_span;
  node->parts = {std::move(left), std::move(right)};
  return node;
}

}  // namespace

Built start(ast::ExprKind kind) {
  Built built;
  built.node = std::make_shared<ast::Expr>();
  built.node->kind = kind;
  return built;
}

Built number(const Token& token) {
  Built built = start(ast::ExprKind::number);
  const char* low = token.text.data();
  const char* high = low + token.text.size();
  std::from_chars(low, high, built.node->number);
  const bool digits = token.text.find_first_of(".eE") == std::string_view::npos;
  built.node->whole = digits && std::from_chars(low, high, built.node->integer).ec == std::errc();
  if (!built.node->whole) built.node->integer = 0;
  return built;
}

Built truth(const Token& token) {
  Built built = start(ast::ExprKind::truth);
  built.node->truth = token.text == "true";
  return built;
}

Built named(const ast::Name& name) {
  Built built = start(ast::ExprKind::name);
  built.node->name = name;
  return built;
}

void add(Built& whole, const Built& part) {
  whole.node->parts.push_back(part.node);
  whole.height = std::max(whole.height, part.height + 1);
}

void join(Built& whole, Built part) {
  if (!whole.node) {
    whole = std::move(part);
    whole.plain_call = false;
    whole.middle = nullptr;
    return;
  }
  if (!whole.joined) {
    const Built first = whole;
    whole = start(ast::ExprKind::tuple);
    whole.joined = true;
    add(whole, first);
  }
  add(whole, part);
}

void fold(Built& left, const Token& op, const Built& right) {
  Built result;
  result.extent = cover(left.extent, right.extent);
  result.node = binary(operator_of(op.text), op.span, left.node, right.node, result.extent);
  result.height = std::max(left.height, right.height) + 1;
  left = std::move(result);
}

void link(Built& left, const Token& op, const Built& right) {
  if (!left.middle) {
    fold(left, op, right);
  } else {
    const Span span = cover(left.extent, right.extent);
    auto next = binary(operator_of(op.text), op.span, left.middle, right.node, cover(left.middle_extent, right.extent));
    const int height = std::max(left.height, std::max(left.middle_height, right.height) + 1) + 1;
    left.node = binary(Operator::logical_and, op.span, left.node, std::move(next), span);
    left.extent = span;
    left.height = height;
  }
  left.middle = right.node;
  left.middle_extent = right.extent;
  left.middle_height = right.height;
}

void attach(Built& value, Suffix suffix) {
  Built result = start(suffix.kind);
  result.plain_call = suffix.kind == ast::ExprKind::call && value.node->kind == ast::ExprKind::name && value.extent == value.node->span;
  result.extent = cover(value.extent, suffix.extent);
  result.height = suffix.height + 1;
  add(result, value);
  ast::Expr& node = *result.node;
  node.span = result.extent;
  node.points = std::move(suffix.arguments.points);
  node.settings = std::move(suffix.arguments.settings);
  node.semicolon = suffix.arguments.semicolon;
  node.places = std::move(suffix.places);
  node.name = std::move(suffix.name);
  value = std::move(result);
}

void say(Built& estimate, Tail tail) {
  Built result = start(ast::ExprKind::sentence);
  result.extent = cover(estimate.extent, tail.extent);
  result.height = std::max(estimate.height, tail.height) + 1;
  result.node->span = result.extent;
  tail.sentence.estimate = estimate.node;
  result.node->sentence = std::make_unique<ast::Sentence>(std::move(tail.sentence));
  estimate = std::move(result);
}

}  // namespace locus::syntax
