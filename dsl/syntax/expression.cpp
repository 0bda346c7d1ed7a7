// The grammar of expressions and sentences, one rule for each of the language page, loosest first.
// Built bottom up: what a rule read is joined to nodes by the functions of build.hpp.
#include "dsl/syntax/grammar.hpp"

namespace locus::syntax {

namespace {

using ast::ExprKind;

/// Refuses a tree that nobody could walk; the place is behind what was just read.
template <class Context>
void check_height(Context& context, int height) {
  if (height > highest) throw Failure(x3::_where(context).begin() - 1, "a shorter expression");
}

const auto take = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };
template <ExprKind kind>
constexpr auto begin = [](auto& context) { x3::_val(context) = start(kind); };
const auto add_part = [](auto& context) {
  add(x3::_val(context), x3::_attr(context));
  check_height(context, x3::_val(context).height);
};
const auto join_part = [](auto& context) {
  join(x3::_val(context), std::move(x3::_attr(context)));
  check_height(context, x3::_val(context).height);
};
const auto fold_pair = [](auto& context) {
  auto& pair = x3::_attr(context);
  fold(x3::_val(context), boost::fusion::at_c<0>(pair), boost::fusion::at_c<1>(pair));
  check_height(context, x3::_val(context).height);
};
const auto link_pair = [](auto& context) {
  auto& pair = x3::_attr(context);
  link(x3::_val(context), boost::fusion::at_c<0>(pair), boost::fusion::at_c<1>(pair));
  check_height(context, x3::_val(context).height);
};
const auto attach_suffix = [](auto& context) {
  attach(x3::_val(context), std::move(x3::_attr(context)));
  check_height(context, x3::_val(context).height);
};

/// The part of an attribute that is a Built goes to a member; the height goes along.
template <class Value, class Part>
void raise(Value& value, const Part& part) {
  value.height = std::max(value.height, part.height);
}

// -- sentences ------------------------------------------------------------------------------------------------------------

using Clause = ast::ExprPtr ast::Sentence::*;

template <Clause member>
constexpr auto put_clause = [](auto& context) {
  Tail& tail = x3::_val(context);
  tail.sentence.*member = x3::_attr(context).node;
  raise(tail, x3::_attr(context));
};

/// Each clause once; `nearest` and `within` exclude each other.
template <Clause member>
constexpr auto check_once = [](auto& context) {
  const ast::Sentence& sentence = x3::_val(context).sentence;
  const bool chooses = member == &ast::Sentence::nearest || member == &ast::Sentence::within;
  if (sentence.*member || (chooses && (sentence.nearest || sentence.within))) throw Failure(x3::_where(context).begin() - 1, "each clause once");
};

template <Clause member, class Rule>
auto clause(std::string_view word, Rule const& rule) {
  return token(word)[check_once<member>] > rule[put_clause<member>];
}

const auto check_call = [](auto& context) {
  if (!x3::_val(context).plain_call) throw Failure(x3::_where(context).begin() - 1, "a call before `at`");
};
const auto say_tail = [](auto& context) {
  say(x3::_val(context), std::move(x3::_attr(context)));
  check_height(context, x3::_val(context).height);
};

struct tail_class {};
const x3::rule<tail_class, Tail> tail{"an expression"};
const auto tail_def = placed[choice[put_clause<&ast::Sentence::queries>] > token("among") > choice[put_clause<&ast::Sentence::samples>] >>
                             *(clause<&ast::Sentence::nearest>("nearest", sum) | clause<&ast::Sentence::within>("within", sum) |
                               clause<&ast::Sentence::under>("under", sum) | clause<&ast::Sentence::by>("by", choice) |
                               clause<&ast::Sentence::where>("where", choice) | clause<&ast::Sentence::otherwise>("otherwise", choice))];

struct conditional_class {};
const x3::rule<conditional_class, Built> conditional{"an expression"};
const auto conditional_def = placed[token("if")[begin<ExprKind::choose>] > choice[add_part] > token("then") > nested[expression[add_part]] > token("else") >
                                    nested[expression[add_part]]];

const auto expression_def = placed[conditional[take] | (choice[take] >> -(token("at")[check_call] > tail[say_tail]))];

// -- operators, loosest first -----------------------------------------------------------------------------------------------

struct both_class {};
struct test_class {};
struct negation_class {};
struct comparison_class {};
struct product_class {};
struct unary_class {};
struct negate_class {};
struct power_class {};
const x3::rule<both_class, Built> both{"an expression"};
const x3::rule<test_class, Built> test{"an expression"};
const x3::rule<negation_class, Built> negation{"an expression"};
const x3::rule<comparison_class, Built> comparison{"an expression"};
const x3::rule<product_class, Built> product{"an expression"};
const x3::rule<unary_class, Built> unary{"an expression"};
const x3::rule<negate_class, Built> negate{"an expression"};
const x3::rule<power_class, Built> power{"an expression"};

const auto choice_def = placed[both[take] >> *((one_of(TokenKind::word, {"or"}) > both)[fold_pair])];
const auto both_def = placed[test[take] >> *((one_of(TokenKind::word, {"and"}) > test)[fold_pair])];
const auto test_def = placed[negation[take] | comparison[take]];
const auto negation_def = placed[token("not")[begin<ExprKind::negation>] > nested[test[add_part]]];
const auto comparison_def = placed[sum[take] >> *((one_of(TokenKind::sign, {"<", "<=", ">", ">=", "==", "!="}) > sum)[link_pair])];
const auto sum_def = placed[product[take] >> *((one_of(TokenKind::sign, {"+", "-"}) > product)[fold_pair])];
const auto product_def = placed[unary[take] >> *((one_of(TokenKind::sign, {"*", "/", "//", "%", "@"}) > unary)[fold_pair])];
const auto unary_def = placed[negate[take] | power[take]];
const auto negate_def = placed[token("-")[begin<ExprKind::negate>] > nested[unary[add_part]]];

struct postfix_class {};
const x3::rule<postfix_class, Built> postfix{"an expression"};
const auto power_def = placed[postfix[take] >> -((one_of(TokenKind::sign, {"^"}) > nested[unary])[fold_pair])];

BOOST_SPIRIT_DEFINE(tail, conditional, both, test, negation, comparison, product, unary, negate, power)

// -- what stands behind a primary ---------------------------------------------------------------------------------------------

struct argument_class {};
const x3::rule<argument_class, Argument> argument{"an expression"};
const auto put_keyword = [](auto& context) { x3::_val(context).argument.name = std::move(x3::_attr(context)); };
const auto put_value = [](auto& context) {
  x3::_val(context).argument.value = x3::_attr(context).node;
  raise(x3::_val(context), x3::_attr(context));
};
const auto argument_def = (&(name >> token("=")) >> name[put_keyword] >> token("=") > nested[expression[put_value]]) | nested[expression[put_value]];

template <auto member>
constexpr auto push_argument = [](auto& context) {
  (x3::_val(context).*member).push_back(std::move(x3::_attr(context).argument));
  raise(x3::_val(context), x3::_attr(context));
};
const auto arguments_def = -list(argument, push_argument<&Arguments::points>) >>
                           -(token(";")[set<&Arguments::semicolon, true>] > argument[push_argument<&Arguments::settings>] >>
                             *(token(",") > argument[push_argument<&Arguments::settings>]));

struct place_class {};
const x3::rule<place_class, Place> place{"an index"};
template <ast::Index::Kind kind>
constexpr auto be = [](auto& context) { x3::_val(context).index.kind = kind; };
template <ast::ExprPtr ast::Index::*member>
constexpr auto put_bound = [](auto& context) {
  x3::_val(context).index.*member = x3::_attr(context).node;
  raise(x3::_val(context), x3::_attr(context));
};
const auto upper = token(":")[be<ast::Index::Kind::cut>] >> -nested[sum[put_bound<&ast::Index::high>]];
const auto place_def = placed[token("..")[be<ast::Index::Kind::skip>] | upper | (nested[expression[put_bound<&ast::Index::low>]] >> -upper)];

struct suffix_class {};
const x3::rule<suffix_class, Suffix> suffix{"an index, a call or a field"};
template <ExprKind kind>
constexpr auto become = [](auto& context) { x3::_val(context).kind = kind; };
const auto push_place = [](auto& context) {
  x3::_attr(context).index.span = x3::_attr(context).extent;
  x3::_val(context).places.push_back(std::move(x3::_attr(context).index));
  raise(x3::_val(context), x3::_attr(context));
};
const auto put_arguments = [](auto& context) {
  raise(x3::_val(context), x3::_attr(context));
  x3::_val(context).arguments = std::move(x3::_attr(context));
};
const auto indexing = token("[")[become<ExprKind::index>] > place[push_place] > *(token(",") > place[push_place]) > token("]", "`,` or `]`");
const auto calling = token("(")[become<ExprKind::call>] > arguments[put_arguments] > token(")", "`,` or `)`");
const auto field = token(".")[become<ExprKind::field>] > name[put<&Suffix::name>];
const auto suffix_def = placed[indexing | calling | field];

// -- primaries ------------------------------------------------------------------------------------------------------------------

struct primary_class {};
const x3::rule<primary_class, Built> primary{"an expression"};
const auto postfix_def = placed[primary[take] >> *(suffix[attach_suffix])];

const auto take_number = [](auto& context) { x3::_val(context) = number(x3::_attr(context)); };
const auto take_truth = [](auto& context) { x3::_val(context) = truth(x3::_attr(context)); };
const auto take_name = [](auto& context) { x3::_val(context) = named(x3::_attr(context)); };

struct entry_class {};
const x3::rule<entry_class, Argument> entry{"a name and `:`"};
const auto entry_def = name[put_keyword] > token(":") > nested[expression[put_value]];
const auto push_entry = [](auto& context) {
  Built& record = x3::_val(context);
  record.node->points.push_back(std::move(x3::_attr(context).argument));
  record.height = std::max(record.height, x3::_attr(context).height + 1);
  check_height(context, record.height);
};

struct group_class {};
const x3::rule<group_class, Built> group{"an expression"};
const auto open_record = token("(") >> &(name >> token(":"));
const auto record = open_record[begin<ExprKind::record>] > entry[push_entry] > *(token(",") > entry[push_entry]) > token(")", "`,` or `)`");
const auto group_def = token("(") > nested[expression[join_part]] > *(token(",") > nested[expression[join_part]]) > token(")", "`,` or `)`");
const auto bracket = token("[")[begin<ExprKind::bracket>] > nested[expression[add_part]] > *(token(",") > nested[expression[add_part]]) >
                     token("]", "`,` or `]`");

const auto primary_def = placed[Taken(TokenKind::number, {}, "a number")[take_number] | one_of(TokenKind::word, {"true", "false"})[take_truth] |
                                name[take_name] | record | group[take] | bracket];

const auto take_call = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };
const auto call_def = placed[&(name >> token("(")) >> primary[take_call] >> suffix[attach_suffix]];

BOOST_SPIRIT_DEFINE(argument, place, suffix, primary, postfix, entry, group)

}  // namespace

BOOST_SPIRIT_DEFINE(expression, choice, sum, arguments, call)

BOOST_SPIRIT_INSTANTIATE(Expression, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(Choice, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(Sum, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(ArgumentList, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(Call, Iterator, Context)

}  // namespace locus::syntax
