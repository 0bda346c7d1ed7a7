// The vocabulary of the X3 grammar: parsers for single tokens, the depth guard, actions, and the rules that both halves share.
// Only expression.cpp and declaration.cpp include this; nothing of Spirit leaves them.
#pragma once
#include <boost/spirit/home/x3.hpp>
#include "dsl/syntax/build.hpp"

namespace locus::syntax {

namespace x3 = boost::spirit::x3;

using Iterator = const Token*;
using Failure = x3::expectation_failure<Iterator>;

struct State {
  int depth = 0;
};
struct state_tag;
using Context = x3::context<state_tag, std::reference_wrapper<State>, x3::unused_type>;

/// A reserved word or a sign. `called` is what a message says was expected.
struct Fixed : x3::parser<Fixed> {
  using attribute_type = x3::unused_type;
  static bool const has_attribute = false;
  std::string_view text;
  std::string called;

  Fixed(std::string_view wanted, std::string name) : text(wanted), called(std::move(name)) {}

  template <class Any, class Rule, class Attribute>
  bool parse(Iterator& first, Iterator const& last, Any const&, Rule&, Attribute&) const {
    if (first == last || !is(*first, text)) return false;
    ++first;
    return true;
  }
};

/// One of several words or signs, or any token of a kind; gives the token.
struct Taken : x3::parser<Taken> {
  using attribute_type = Token;
  static bool const has_attribute = true;
  TokenKind kind;
  std::vector<std::string_view> texts;  ///< empty: any
  std::string called;

  Taken(TokenKind k, std::vector<std::string_view> wanted, std::string name) : kind(k), texts(std::move(wanted)), called(std::move(name)) {}

  template <class Any, class Rule, class Attribute>
  bool parse(Iterator& first, Iterator const& last, Any const&, Rule&, Attribute& attribute) const {
    if (first == last || first->kind != kind) return false;
    if (!texts.empty() && std::find(texts.begin(), texts.end(), first->text) == texts.end()) return false;
    x3::traits::move_to(Token(*first), attribute);
    ++first;
    return true;
  }
};

/// A name; a fresh one may be declared, so it is none of the predefined.
struct Named : x3::parser<Named> {
  using attribute_type = ast::Name;
  static bool const has_attribute = true;
  bool fresh;

  explicit Named(bool declared) : fresh(declared) {}

  template <class Any, class Rule, class Attribute>
  bool parse(Iterator& first, Iterator const& last, Any const&, Rule&, Attribute& attribute) const {
    if (first == last || first->kind != TokenKind::name || (fresh && predefined(first->text))) return false;
    x3::traits::move_to(ast::Name{std::string(first->text), first->span}, attribute);
    ++first;
    return true;
  }
};

inline Fixed token(std::string_view text) { return {text, '`' + std::string(text) + '`'}; }
inline Fixed token(std::string_view text, std::string called) { return {text, std::move(called)}; }
inline Taken one_of(TokenKind kind, std::vector<std::string_view> texts) { return {kind, std::move(texts), "an operator"}; }
const Named name{false}, fresh{true};

/// Reads its subject one level deeper, and refuses beyond the deepest: the stack is never at risk.
template <class Subject>
struct Nested : x3::unary_parser<Subject, Nested<Subject>> {
  using base_type = x3::unary_parser<Subject, Nested<Subject>>;
  static bool const is_pass_through_unary = true;
  static bool const handles_container = Subject::handles_container;
  using base_type::base_type;

  struct Level {
    State& state;
    explicit Level(State& s) : state(s) { ++state.depth; }
    ~Level() { --state.depth; }
  };

  template <class Any, class Rule, class Attribute>
  bool parse(Iterator& first, Iterator const& last, Any const& context, Rule& rule, Attribute& attribute) const {
    State& state = x3::get<state_tag>(context).get();
    const Level level(state);
    if (state.depth > deepest) throw Failure(first, "less nesting");
    return this->subject.parse(first, last, context, rule, attribute);
  }
};

template <class Value>
void settle(Value& value, Span span) {
  if constexpr (requires { value.extent; })
    value.extent = span;
  else
    value.span = span;
}
/// A node without a place gets this one; in grouping parentheses it keeps its own.
inline void settle(Built& built, Span span) {
  built.extent = span;
  if (!built.node->span.set()) built.node->span = span;
}

/// Tells the rule's value where its subject stood. (A handler of success would not do: beside actions X3 hands it no value.)
template <class Subject>
struct Placed : x3::unary_parser<Subject, Placed<Subject>> {
  using base_type = x3::unary_parser<Subject, Placed<Subject>>;
  static bool const is_pass_through_unary = true;
  static bool const handles_container = Subject::handles_container;
  using base_type::base_type;

  template <class Any, class Rule, class Attribute>
  bool parse(Iterator& first, Iterator const& last, Any const& context, Rule& value, Attribute& attribute) const {
    const Iterator before = first;
    if (!this->subject.parse(first, last, context, value, attribute)) return false;
    settle(value, cover(before->span, (first - 1)->span));
    return true;
  }
};

template <template <class> class Parser>
struct Directive {
  template <class Subject>
  Parser<typename x3::extension::as_parser<Subject>::value_type> operator[](Subject const& subject) const {
    return {x3::as_parser(subject)};
  }
};
constexpr Directive<Nested> nested{};
constexpr Directive<Placed> placed{};

// -- actions ------------------------------------------------------------------------------------------------------------

/// Stores what was read in a member of what is being built.
template <auto member>
constexpr auto put = [](auto& context) { x3::_val(context).*member = std::move(x3::_attr(context)); };
template <auto member>
constexpr auto push = [](auto& context) { (x3::_val(context).*member).push_back(std::move(x3::_attr(context))); };
/// The same for an expression: only its node is kept.
template <auto member>
constexpr auto put_node = [](auto& context) { x3::_val(context).*member = std::move(x3::_attr(context).node); };
template <auto member, auto value>
constexpr auto set = [](auto& context) { x3::_val(context).*member = value; };

/// One or more, separated by commas. After a comma there must be one more.
template <class Rule, class Action>
auto list(Rule const& rule, Action action) {
  return rule[action] >> *(token(",") > rule[action]);
}

// -- rules that both halves use -----------------------------------------------------------------------------------------

template <class Tag, class Attribute>
using RuleOf = x3::rule<Tag, Attribute>;

struct expression_class {};
struct choice_class {};
struct sum_class {};
struct arguments_class {};
struct call_class {};
using Expression = RuleOf<expression_class, Built>;
using Choice = RuleOf<choice_class, Built>;
using Sum = RuleOf<sum_class, Built>;
using ArgumentList = RuleOf<arguments_class, Arguments>;
using Call = RuleOf<call_class, Built>;
const Expression expression{"an expression"};
const Choice choice{"an expression"};
const Sum sum{"an expression"};
const ArgumentList arguments{"arguments"};
const Call call{"a call"};
BOOST_SPIRIT_DECLARE(Expression, Choice, Sum, ArgumentList, Call)

}  // namespace locus::syntax

namespace boost::spirit::x3 {

template <>
struct get_info<locus::syntax::Fixed> {
  using result_type = std::string;
  std::string operator()(locus::syntax::Fixed const& parser) const { return parser.called; }
};
template <>
struct get_info<locus::syntax::Taken> {
  using result_type = std::string;
  std::string operator()(locus::syntax::Taken const& parser) const { return parser.called; }
};
template <>
struct get_info<locus::syntax::Named> {
  using result_type = std::string;
  std::string operator()(locus::syntax::Named const&) const { return "a name"; }
};
/// A row is called what its first part is called: that is what is missing where the row cannot begin.
template <class Left, class Right>
struct get_info<sequence<Left, Right>> {
  using result_type = std::string;
  std::string operator()(sequence<Left, Right> const& parser) const { return what(parser.left); }
};
/// A choice is called what its last branch is called: the plain one.
template <class Left, class Right>
struct get_info<alternative<Left, Right>> {
  using result_type = std::string;
  std::string operator()(alternative<Left, Right> const& parser) const { return what(parser.right); }
};
template <class Subject, class Action>
struct get_info<action<Subject, Action>> {
  using result_type = std::string;
  std::string operator()(action<Subject, Action> const& parser) const { return what(parser.subject); }
};
template <class Subject>
struct get_info<locus::syntax::Placed<Subject>> {
  using result_type = std::string;
  std::string operator()(locus::syntax::Placed<Subject> const& parser) const { return what(parser.subject); }
};
template <class Subject>
struct get_info<locus::syntax::Nested<Subject>> {
  using result_type = std::string;
  std::string operator()(locus::syntax::Nested<Subject> const& parser) const { return what(parser.subject); }
};

}  // namespace boost::spirit::x3
