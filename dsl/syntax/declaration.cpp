// The grammar of declarations, types and steps, one rule for each of the language page.
// Every rule fills the members of its node as it reads.
#include "dsl/syntax/declaration.hpp"
#include "dsl/syntax/grammar.hpp"

namespace locus::syntax {

namespace {

using ast::Declared;
using ast::Step;
using ast::StepKind;
using ast::Type;

// -- types and declared names ---------------------------------------------------------------------------------------------

struct type_class {};
const x3::rule<type_class, Type> type{"a type"};
const auto put_base = [](auto& context) {
  const Token& token = x3::_attr(context);
  x3::_val(context).base = {std::string(token.text), token.span};
};
const auto put_settings = [](auto& context) {
  x3::_val(context).points = std::move(x3::_attr(context).points);
  x3::_val(context).settings = std::move(x3::_attr(context).settings);
};
const auto push_size = [](auto& context) { x3::_val(context).shape.push_back(std::move(x3::_attr(context).node)); };
const auto shape = token("[") > list(sum, push_size) > token("]", "`,` or `]`");
const auto base =
    one_of(TokenKind::word, {"real", "int", "bool"})[put_base] | (name[put<&Type::base>] >> -(token("(") > arguments[put_settings] > token(")", "`,` or `)`")));
const auto type_def = placed[((base >> -shape) | shape) >> x3::eps[set<&Type::present, true>]];

struct input_class {};
struct setting_class {};
struct group_class {};
struct carried_class {};
struct learnt_class {};
using Group = std::vector<Declared>;
const x3::rule<input_class, Declared> input{"an input"};
const x3::rule<setting_class, Declared> setting{"a setting"};
const x3::rule<group_class, Group> group{"a name"};
const x3::rule<carried_class, Declared> carried{"a name"};
const x3::rule<learnt_class, Declared> learnt{"a name"};
const auto value = expression[put_node<&Declared::value>];
const auto input_def = fresh[put<&Declared::name>] > token(":") > type[put<&Declared::type>];
const auto setting_def = fresh[put<&Declared::name>] >> -(token(":") > type[put<&Declared::type>]) >> -(token("=") > value);
const auto carried_def = fresh[put<&Declared::name>] > token("from") > value;
const auto learnt_def = fresh[put<&Declared::name>] >> -(token("from") > value);

/// `a, b: type = value` is one entry for each name.
const auto push_name = [](auto& context) { x3::_val(context).push_back({std::move(x3::_attr(context)), {}, nullptr}); };
const auto give_type = [](auto& context) {
  for (Declared& each : x3::_val(context)) each.type = x3::_attr(context);
};
const auto give_value = [](auto& context) {
  for (Declared& each : x3::_val(context)) each.value = x3::_attr(context).node;
};
const auto group_def = list(fresh, push_name) > token(":") > type[give_type] >> -(token("=") > expression[give_value]);
template <auto member>
constexpr auto append = [](auto& context) {
  for (Declared& each : x3::_attr(context)) (x3::_val(context).*member).push_back(std::move(each));
};

struct point_class {};
const x3::rule<point_class, ast::Point> point{"a point"};
const auto point_def = placed[fresh[push<&ast::Point::names>] | (token("(")[set<&ast::Point::tuple, true>] > fresh[push<&ast::Point::names>] > token(",") >
                                                                 list(fresh, push<&ast::Point::names>) > token(")", "`,` or `)`"))];

BOOST_SPIRIT_DEFINE(type, input, setting, group, carried, learnt, point)

// -- steps ------------------------------------------------------------------------------------------------------------------

struct step_class {};
struct let_class {};
const x3::rule<step_class, Step> step{"a step"};
const x3::rule<let_class, Step> let{"`let`"};

template <StepKind kind>
constexpr auto be = set<&Step::kind, kind>;
const auto let_def = placed[token("let")[be<StepKind::let>] > fresh[put<&Step::name>] >> -(token(":") > type[put<&Step::type>]) > token("=") >
                            expression[put_node<&Step::value>]];
const auto block = token("{") > *nested[step[push<&Step::block>]] > token("}", "a step or `}`");
const auto limit = token("limit") > sum[put_node<&Step::limit>];

const auto take = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };
const auto param = token("param")[be<StepKind::param>] > list(group, append<&Step::declared>);
const auto update = name[put<&Step::name>] >> token("<") >> token("-")[be<StepKind::update>] > expression[put_node<&Step::value>];
const auto minimize = token("minimize")[be<StepKind::minimize>] > expression[put_node<&Step::value>];
const auto iterate = token("iterate")[be<StepKind::iterate>] > list(carried, push<&Step::declared>) > block >>
                     -(token("until") > choice[put_node<&Step::until>]) > limit;
const auto calibrate = token("calibrate")[be<StepKind::calibrate>] > fresh[put<&Step::name>] > token(":") > type[put<&Step::type>] > token("in") >
                       token("(") > expression[put_node<&Step::low>] > token(",") > expression[put_node<&Step::high>] > token(")") > block >
                       token("until") > sum[put_node<&Step::until>] > token("==") > sum[put_node<&Step::until_right>];
const auto learn = token("learn")[be<StepKind::learn>] > list(learnt, push<&Step::declared>) > block > token("by") > call[put_node<&Step::by>] > limit;
const auto step_def = placed[let[take] | param | minimize | iterate | calibrate | learn | update];

BOOST_SPIRIT_DEFINE(step, let)

// -- declarations -------------------------------------------------------------------------------------------------------------

struct kernel_class {};
struct local_class {};
struct hierarchy_class {};
struct import_class {};
struct declaration_class {};
const x3::rule<kernel_class, ast::Kernel> kernel{"a kernel"};
const x3::rule<local_class, ast::Local> local{"a local"};
const x3::rule<hierarchy_class, ast::Hierarchy> hierarchy{"a hierarchy"};
const x3::rule<import_class, ast::Import> import{"an import"};
const x3::rule<declaration_class, ast::Declaration> declaration{"a declaration"};

const auto kernel_def =
    placed[token("kernel") > fresh[put<&ast::Kernel::name>] > token("(") > point[put<&ast::Kernel::query>] > token(",") > point[put<&ast::Kernel::sample>] >
           -(token(";") > list(setting, push<&ast::Kernel::settings>)) > token(")", "`;` or `)`") > token("=") > expression[put_node<&ast::Kernel::body>]];

const auto local_head = token("local") > fresh[put<&ast::Local::name>] > token("(") > list(input, push<&ast::Local::inputs>) >
                        -(token(";") > list(setting, push<&ast::Local::settings>)) > token(")", "`,`, `;` or `)`") >
                        -(token("at")[set<&ast::Local::has_query, true>] > point[put<&ast::Local::query>]);
const auto local_body = token("{", "`at` or `{`") > token("over") > list(group, append<&ast::Local::over>) > *let[push<&ast::Local::before>] >
                        token("minimize", "`let` or `minimize`") > expression[put_node<&ast::Local::loss>] >
                        -(token("penalize") > expression[put_node<&ast::Local::penalty>]) > *let[push<&ast::Local::after>] >
                        token("return") > expression[put_node<&ast::Local::result>] > token("}");
const auto local_def = placed[local_head > local_body];

const auto results = token("(")[set<&ast::Hierarchy::named_results, true>] > list(input, push<&ast::Hierarchy::results>) > token(")", "`,` or `)`");
const auto hierarchy_head = token("hierarchy") > fresh[put<&ast::Hierarchy::name>] > token("(") > -list(input, push<&ast::Hierarchy::inputs>) >
                            -(token(";") > list(setting, push<&ast::Hierarchy::settings>)) > token(")", "`,`, `;` or `)`") > token("->") >
                            (results | type[put<&ast::Hierarchy::output>]);
const auto hierarchy_body = token("{") > *step[push<&ast::Hierarchy::steps>] >
                            token("return", "a step or `return`") > expression[put_node<&ast::Hierarchy::result>] > token("}");
const auto hierarchy_def = placed[hierarchy_head > hierarchy_body];

const auto put_path = [](auto& context) {
  const std::string_view quoted = x3::_attr(context).text;
  x3::_val(context).path = std::string(quoted.substr(1, quoted.size() - 2));
};
const auto import_def = placed[token("import") > Taken(TokenKind::string, {}, "a file name in quotes")[put_path]];

template <ast::Declaration::Kind kind, auto member>
constexpr auto hold = [](auto& context) {
  using Node = std::decay_t<decltype(x3::_attr(context))>;
  x3::_val(context).kind = kind;
  x3::_val(context).*member = std::make_shared<Node>(std::move(x3::_attr(context)));
};
using Kind = ast::Declaration::Kind;
const auto declaration_def = placed[kernel[hold<Kind::kernel, &ast::Declaration::kernel>] | local[hold<Kind::local, &ast::Declaration::local>] |
                                    hierarchy[hold<Kind::hierarchy, &ast::Declaration::hierarchy>] | import[hold<Kind::import, &ast::Declaration::import>]];

BOOST_SPIRIT_DEFINE(kernel, local, hierarchy, import, declaration)

}  // namespace

std::optional<Stop> read_declaration(const Token*& first, const Token* last, ast::Declaration& found) {
  State state;
  try {
    if (x3::parse(first, last, x3::with<state_tag>(std::ref(state))[declaration], found)) return std::nullopt;
    return Stop{first, "a declaration"};
  } catch (const Failure& failure) {
    return Stop{failure.where(), failure.which()};
  }
}

}  // namespace locus::syntax
