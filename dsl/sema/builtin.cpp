// Lowering of built-in functions: pair functions, entries, plain statistics, functions along the last axis; see lower.hpp. Shapes and makers: shape.cpp.
#include <algorithm>
#include <cmath>
#include "dsl/sema/lower.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

using graph::none;

namespace {
const std::map<std::string, graph::Op> entries = {
    {"exp", LOCUS_exp},   {"log", LOCUS_log},   {"log2", LOCUS_log2},     {"sqrt", LOCUS_sqrt},       {"abs", LOCUS_abs},           {"sign", LOCUS_sign}, {"floor", LOCUS_floor}, {"round", LOCUS_round},
    {"sin", LOCUS_sin},   {"cos", LOCUS_cos},   {"tanh", LOCUS_tanh},     {"asin", LOCUS_asin},       {"acos", LOCUS_acos},         {"atan", LOCUS_atan}, {"erf", LOCUS_erf},     {"lgamma", LOCUS_lgamma},
    {"relu", LOCUS_relu}, {"elu", LOCUS_elu},   {"sigmoid", LOCUS_sigmoid}, {"softplus", LOCUS_softplus}, {"gelu", LOCUS_gelu},     {"silu", LOCUS_silu}};
const std::set<std::string> statistics = {"mean", "sum", "max", "min", "median", "quantile", "cov"};
const std::set<std::string> along = {"softmax", "logsumexp", "layernorm", "rmsnorm"};
}  // namespace

bool Lowering::known_function(const std::string& name) const {
  const auto& names = builtin_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

Value Lowering::pair_function(const std::string& name, const Value& a0, const Value& b0, Scope& s, Span span) {
  build.span = span;
  for (const Value* v : {&a0, &b0})
    if (build.type(*v) == Type::boolean) fail(Code::E205, span, "`" + name + "` takes numbers, not conditions");
  const Value a = build.real(a0), b = build.real(b0);
  const int ka = last_axis(a), kb = last_axis(b);
  if (ka >= 0 && kb >= 0 && a.axes[static_cast<std::size_t>(ka)].name != b.axes[static_cast<std::size_t>(kb)].name)
    fail(Code::E212, span, "points with different coordinates: " + shown(a) + " and " + shown(b), "both must end with one axis name, such as [n, d] and [m, d]");
  if (s.scalar_points && name != "dot" && (ka >= 0 || kb >= 0)) {
    const Value& v = ka >= 0 ? a : b;
    fail(Code::E209, span, "the points are single numbers, but a setting brings axis '" + v.axes[static_cast<std::size_t>(last_axis(v))].name + "': the kernel is not one number for a pair", "give one number as the setting");
  }
  if (name == "dist") return build.apply(LOCUS_sqrt, build.contract(LOCUS_SQDIST, a, b));
  return build.contract(name == "dot" ? LOCUS_DOT : name == "sqdist" ? LOCUS_SQDIST : name == "l1dist" ? LOCUS_L1DIST : LOCUS_MAXDIST, a, b);
}

std::vector<int> Lowering::reduced(const Value& v, const ast::Expr* axis, Scope& s) {
  if (!axis) return visible(v);
  const auto name = axis_name(*axis, s);
  if (!name) return {};
  std::vector<int> found;
  for (std::size_t k = 0; k < v.axes.size(); ++k)
    if (v.axes[k].name == *name) found.push_back(static_cast<int>(k));
  if (found.size() != 1)
    fail(Code::E202, axis->span, "axis '" + *name + "' is found " + std::to_string(found.size()) + " times in " + shown(v), found.empty() ? "name one of its axes" : "name one of the two anew with `let`");
  return found;
}

Value Lowering::plain_over(const std::string& name, const Value& given, const std::vector<int>& positions, const Value* t) {
  Value v = build.real(given);
  if (positions.empty() && name != "cov" && !t) return v;
  std::vector<Axis> rows, merged;
  std::vector<int> order;
  for (std::size_t k = 0; k < v.axes.size(); ++k)
    if (std::find(positions.begin(), positions.end(), static_cast<int>(k)) == positions.end()) order.push_back(static_cast<int>(k));
  const std::size_t kept = order.size();
  order.insert(order.end(), positions.begin(), positions.end());
  // The axes that go become one sample axis; the rest are the rows.
  v = build.permuted(v, order);
  std::int64_t count = 1;
  for (std::size_t k = kept; k < v.axes.size(); ++k) count = count == unknown || v.axes[k].size == unknown ? unknown : count * v.axes[k].size;
  Axis sample{"~sample", count, none};
  std::vector<Axis> axes(v.axes.begin(), v.axes.begin() + static_cast<std::ptrdiff_t>(kept));
  if (positions.size() == 1) {
    v = build.renamed(v, [&](int k, const std::string& a) { return k == static_cast<int>(kept) ? sample.name : a; });
  } else {
    std::vector<Axis> back;
    for (const Axis& a : axes) back.push_back(a);
    std::vector<Axis> shape_axes;
    for (const Axis& a : axes)
      if (!hidden(a.name)) shape_axes.push_back(a);
    shape_axes.push_back(sample);
    v = build.reshaped(v, shape_axes);
  }
  rows.assign(v.axes.begin(), v.axes.end() - 1);
  sample = v.axes.back();
  graph::Reduce r;
  graph::Estimate e;
  static const std::map<std::string, locus_estimator> kinds = {{"mean", LOCUS_MEAN}, {"sum", LOCUS_WEIGHTED_SUM}, {"max", LOCUS_MAXIMUM}, {"min", LOCUS_MINIMUM}, {"median", LOCUS_QUANTILE}, {"quantile", LOCUS_QUANTILE}, {"cov", LOCUS_COV}};
  e.estimator = kinds.at(name);
  e.value = v.expr;
  std::vector<Axis> tail;
  Value level = t ? *t : build.number(0.5, Type::exact);
  if (e.estimator == LOCUS_QUANTILE) {
    e.parameter = level.expr;
    for (const Axis& a : level.axes) {
      tail.push_back(a);
      e.features.push_back(a.coord);
    }
  }
  bool real = false;
  for (TensorId read : build.graph.exprs.reads(v.expr)) real |= build.graph.tensors[read].type == Type::real;
  const TensorId out = build.reduce(rows, sample, r, e, real ? Type::real : Type::exact, tail);
  rows.insert(rows.end(), tail.begin(), tail.end());
  return build.read(out, rows);
}

Value Lowering::plain(const std::string& name, const ast::Expr& e, Scope& s) {
  const ast::Expr* array = nullptr;
  const ast::Expr* axis = nullptr;
  for (const auto* list : {&e.points, &e.settings})
    for (const auto& a : *list) {
      if (a.name.text == "axis") axis = a.value.get();
      else if (a.name.text.empty() && !array) array = a.value.get();
    }
  if (!array) fail(Code::E218, e.span, "`" + name + "` takes one array, and maybe `axis = …`", "write `" + name + "(x)` or `" + name + "(x, axis = n)`");
  const Value v = number(*array, s);
  build.span = e.span;
  if (build.type(v) == Type::boolean) fail(Code::E205, array->span, "a condition is not a number", "put it in brackets: `" + name + "([" + print(*array) + "])`");
  if (s.pairwise()) {
    if (visible(v).empty() && s.inlined) return build.real(v);  // an absent axis has one entry
    if (visible(v).empty())
      fail(Code::E215, e.span, "`" + name + "(…)` has nothing to reduce here: one pair leaves one number", mentions(*array, {"i", "j"}) ? "leave out `" + name + "`, or reduce an axis that the pair leaves, such as a coordinate axis"
                                                                            : "take the statistic of the whole array first: `let t = " + print(e) + "`, and use t here");
    const auto at = reduced(v, axis, s);
    const Value r = build.real(v);
    if (name == "sum") return build.over(LOCUS_SUM_OVER, r, at);
    if (name == "max") return build.over(LOCUS_MAX_OVER, r, at);
    if (name == "min") return build.over(LOCUS_MIN_OVER, r, at);
    if (name == "mean") {
      std::int64_t n = 1;
      for (int k : at) n *= std::max<std::int64_t>(r.axes[static_cast<std::size_t>(k)].size, 0);
      return build.apply(LOCUS_div, build.over(LOCUS_SUM_OVER, r, at), build.number(static_cast<double>(n), Type::exact));
    }
    fail(Code::E215, e.span, "inside a pair expression sum, mean, max and min reduce an axis; `" + name + "` does not", "compute it once per point with `let` first");
  }
  if (name == "cov") fail(Code::E218, e.span, "cov needs `at … among …`", "for a whole array: `cov(x) at zeros(1) among x`");
  std::optional<Value> t;
  if (name == "quantile") {
    for (const auto& a : e.settings)
      if (a.name.text != "axis") t = build.real(number(*a.value, s));
    if (!t) fail(Code::E218, e.span, "quantile takes its level behind ';'", "write `quantile(" + print(*array) + "; 0.5)`");
  }
  const std::vector<int> positions = reduced(v, axis, s);
  const auto list = name == "sum" && !checking_ && !positions.empty() ? pairs.of(build.real(v)) : std::nullopt;
  if (!list) return plain_over(name, v, positions, t ? &*t : nullptr);
  const bool by_columns = positions.size() == 1 && positions[0] == 0;
  const PairList summed = by_columns ? pairs.turned(*list) : *list;
  const Value sums = pairs.row_sums(summed, build.read(summed.values, {pairs.pair(summed)}), v.axes[by_columns ? 1 : 0]);
  return positions.size() == 1 ? sums : plain_over("sum", sums, {0}, nullptr);
}

Value Lowering::stored(const Value& v, Scope& s) {
  if (s.pairwise() || build.simple(v)) return v;
  if (!checking_)
    if (const auto list = pairs.of(v)) return pairs.matrix(*list, v.axes[0], v.axes[1]);
  return build.materialised(v);
}

Value Lowering::along_last(const std::string& name, const Value& given, double epsilon, Scope& s) {
  const int at = last_axis(given);
  if (at < 0) fail(Code::E218, build.span, "`" + name + "` works along the last axis, and a number has none");
  const Value v = stored(build.real(given), s);
  const auto statistic = [&](const std::string& what, const Value& x) {
    if (!s.pairwise()) return plain_over(what, x, {last_axis(x)}, nullptr);
    const Value r = build.over(what == "max" ? LOCUS_MAX_OVER : LOCUS_SUM_OVER, x, {last_axis(x)});
    return what == "mean" ? build.apply(LOCUS_div, r, build.number(static_cast<double>(x.axes[static_cast<std::size_t>(last_axis(x))].size), Type::exact)) : r;
  };
  const auto keep = [&](const Value& r) { return Value{r.expr, v.axes}; };
  if (name == "softmax" || name == "logsumexp") {
    const Value top = statistic("max", v);
    // A row of -inf alone has no finite shift.
    const Value finite = build.apply(LOCUS_lt, build.apply(LOCUS_abs, top), build.number(HUGE_VAL, Type::exact));
    const Value shift = stored(build.select(finite, top, build.number(0, Type::exact)), s);
    const Value raised = build.apply(LOCUS_exp, keep(build.apply(LOCUS_sub, v, shift)));
    const Value total = statistic("sum", raised);
    if (name == "softmax") return keep(build.apply(LOCUS_div, raised, total));
    return build.apply(LOCUS_add, shift, build.apply(LOCUS_log, total));
  }
  const Value eps = build.number(epsilon, Type::exact);
  if (name == "rmsnorm") return keep(build.apply(LOCUS_div, v, build.apply(LOCUS_sqrt, build.apply(LOCUS_add, statistic("mean", build.apply(LOCUS_mul, v, v)), eps))));
  const Value centred = keep(build.apply(LOCUS_sub, v, statistic("mean", v)));
  const Value variance = statistic("mean", build.apply(LOCUS_mul, centred, centred));
  return keep(build.apply(LOCUS_div, centred, build.apply(LOCUS_sqrt, build.apply(LOCUS_add, variance, eps))));
}

Any Lowering::builtin(const std::string& name, const ast::Expr& e, Scope& s) {
  build.span = e.span;
  const auto positional = std::count_if(e.points.begin(), e.points.end(), [](const auto& a) { return a.name.text.empty(); });
  const auto argument = [&](std::size_t k) { return number(*e.points[k].value, s); };
  const auto need = [&](std::size_t n) {
    if (e.points.size() != n || !e.settings.empty() || positional != static_cast<std::ptrdiff_t>(n))
      fail(Code::E218, e.span, "`" + name + "` takes " + std::to_string(n) + (n == 1 ? " argument" : " arguments") + ", not " + std::to_string(e.points.size() + e.settings.size()), "write `" + name + (n == 1 ? "(x)`" : "(a, b)`"));
  };
  if (is_pair_function(name)) {
    const bool implicit = s.pair && s.pair->settings_only && e.points.empty();
    if (implicit) {
      const auto q = s.pair->point('i'), x = s.pair->point('j');
      if (q.size() != 1 || x.size() != 1) fail(Code::E213, e.span, "`" + name + "` takes points of one part");
      return Any::of(pair_function(name, q[0], x[0], s, e.span));
    }
    need(2);
    const Value a = argument(0), b = argument(1);
    return Any::of(pair_function(name, a, b, s, e.span));
  }
  if (statistics.count(name) && !((name == "max" || name == "min") && positional == 2)) return Any::of(plain(name, e, s));
  if (name == "max" || name == "min") {
    const Value a = argument(0), b = argument(1);
    build.span = e.span;
    for (const Value* v : {&a, &b})
      if (build.type(*v) == Type::boolean) fail(Code::E205, e.span, "`" + name + "` takes numbers, not conditions", "use `and` or `or`");
    return Any::of(build.apply(name == "max" ? LOCUS_maximum : LOCUS_minimum, a, b));
  }
  if (is_estimator(name)) throw Poisoned{};  // needs `at`: said by resolve
  if (const auto op = entries.find(name); op != entries.end()) {
    need(1);
    const Value v = argument(0);
    build.span = e.span;
    if (build.type(v) == Type::boolean) fail(Code::E205, e.span, "a condition is not a number", "put it in brackets: `" + name + "([" + print(*e.points[0].value) + "])`");
    const bool keeps_int = name == "abs" || name == "sign";
    return Any::of(build.apply(op->second, keeps_int ? v : build.real(v)));
  }
  if (name == "norm" || name == "sqnorm" || name == "l1norm") {
    need(1);
    const Value v = build.real(argument(0));
    build.span = e.span;
    const int at = last_axis(v);
    if (at < 0) return Any::of(name == "sqnorm" ? build.apply(LOCUS_mul, v, v) : build.apply(LOCUS_abs, v));
    if (name == "l1norm") return Any::of(build.over(LOCUS_SUM_OVER, build.apply(LOCUS_abs, v), {at}));
    const Value square = build.over(LOCUS_SUM_OVER, build.apply(LOCUS_mul, v, v), {at});
    return Any::of(name == "norm" ? build.apply(LOCUS_sqrt, square) : square);
  }
  if (along.count(name)) {
    if (e.points.size() != 1) fail(Code::E218, e.span, "`" + name + "` takes one array");
    double epsilon = 1e-5;
    if (!e.settings.empty()) {
      const auto c = constant_of(number(*e.settings[0].value, s));
      if (!c && !checking_) fail(Code::E218, e.settings[0].value->span, "the epsilon of `" + name + "` must be known before the run");
      epsilon = c.value_or(epsilon);
    }
    const Value v = argument(0);
    build.span = e.span;
    return Any::of(along_last(name, v, epsilon, s));
  }
  return shape_function(name, e, s);
}

}  // namespace locus::sema
