// Half-built nodes: what the rules for expressions hand to each other, and the few ways to join them.
// Knows nothing of Spirit and of tokens but their text and place.
#pragma once
#include <algorithm>
#include "dsl/syntax/ast.hpp"
#include "dsl/syntax/token.hpp"

namespace locus::syntax {

/// Levels of brackets, prefixes, powers, branches and blocks that may stand in each other: they cost the parser stack.
constexpr int deepest = 256;
/// Height of an expression's tree, in which a long sum counts too: it costs whoever walks the tree.
constexpr int highest = 512;

/// An expression on its way up. `extent` is the place with the parentheses round it; the node's own span is without them.
struct Built {
  std::shared_ptr<ast::Expr> node;
  Span extent;
  int height = 1;
  bool plain_call = false;  ///< name(args) and nothing round it: what may stand before `at`
  bool joined = false;      ///< in parentheses, and a comma was met
  ast::ExprPtr middle;      ///< of a chain of comparisons: its last operand
  Span middle_extent;
  int middle_height = 0;
};

struct Arguments {
  std::vector<ast::Argument> points, settings;
  bool semicolon = false;
  int height = 0;
};

struct Argument {
  ast::Argument argument;
  int height = 0;
};

struct Place {
  ast::Index index;
  Span extent;
  int height = 0;
};

/// What may stand behind a primary: an index, a call or a field.
struct Suffix {
  ast::ExprKind kind = ast::ExprKind::field;
  Span extent;
  Arguments arguments;
  std::vector<ast::Index> places;
  ast::Name name;
  int height = 0;
};

struct Tail {
  ast::Sentence sentence;
  Span extent;
  int height = 0;
};

Built start(ast::ExprKind kind);
Built number(const Token& token);
Built truth(const Token& token);
Built named(const ast::Name& name);

/// Appends a part, and with it the height.
void add(Built& whole, const Built& part);
/// In parentheses: the second part makes the first a tuple's.
void join(Built& whole, Built part);
void fold(Built& left, const Token& op, const Built& right);
/// One more link of a chain of comparisons.
void link(Built& left, const Token& op, const Built& right);
void attach(Built& value, Suffix suffix);
void say(Built& estimate, Tail tail);

}  // namespace locus::syntax
