// Lowering of the sentence: ESTIMATE at QUERIES among SAMPLES and its clauses become a reduce; see lower.hpp.
#include <algorithm>
#include "dsl/sema/lower.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

using graph::none;

namespace {
const std::map<std::string, locus_estimator> estimators = {
    {"mean", LOCUS_MEAN},       {"sum", LOCUS_WEIGHTED_SUM}, {"max", LOCUS_MAXIMUM}, {"min", LOCUS_MINIMUM}, {"median", LOCUS_QUANTILE}, {"quantile", LOCUS_QUANTILE},  {"cov", LOCUS_COV},
    {"mass", LOCUS_MASS},       {"logmass", LOCUS_LOGMASS},  {"count", LOCUS_COUNT}, {"entropy", LOCUS_ENTROPY}, {"gram", LOCUS_GRAM},     {"weights", LOCUS_WEIGHTS},    {"neighbours", LOCUS_NEAREST}};

std::vector<Value> points_of(const Any& a, Span span) {
  if (a.kind == Any::Kind::tuple) return a.parts;
  if (a.kind == Any::Kind::value) return {a.value};
  if (a.kind == Any::Kind::poison) throw Poisoned{};
  fail(Code::E213, span, "queries and samples are arrays of points, or tuples of them");
}
}  // namespace

Value Lowering::weight(const ast::Expr& e, Scope& s) {
  const Value v = number(e, s);
  if (build.type(v) == Type::boolean) fail(Code::E205, e.span, "a kernel is a number, not a condition", "put it in brackets, `[" + print(e) + "]`, or write it as `where " + print(e) + "`");
  return build.real(v);
}

void Lowering::add_status(const std::string& what, TensorId tensor, const std::vector<Axis>& rows, const Pair* pair, const std::string& kind) {
  const std::string label = (build.name.empty() ? "result" : build.name) + "." + what;
  if (std::any_of(status.begin(), status.end(), [&](const ResultInfo& i) { return i.name == label; })) return;
  std::vector<std::string> names;
  for (const Axis& a : rows) names.push_back(a.name == "@i" && pair ? pair->i_axis : a.name);
  build.graph.outputs.push_back({"status." + label, tensor});
  status.push_back({label, "status." + label, names, kind});
}

void Lowering::watch(Watch::Kind kind, TensorId tensor, const std::string& name, Span span, std::int64_t unknowns) {
  if (build.in_loop()) return;
  Watch w{kind, "watch." + std::to_string(watches.size()), span, name, unknowns};
  build.graph.outputs.push_back({w.output, tensor});
  watches.push_back(std::move(w));
}

// Many pairs: a tree, or products of matrices, find the same neighbours without measuring every pair. Only where the metric is the distance, every query asks for one
// number of neighbours that exists, and nothing but the point itself is masked.
std::optional<TensorId> Lowering::neighbours_of(const ast::Sentence& c, const Pair& pair, const std::vector<Axis>& rows, ExprId where, std::int64_t width, bool farthest) {
  constexpr std::int64_t most_coordinates = 4096, least_pairs = 1 << 22;
  if (checking_ || c.under || rows.size() != 1 || pair.queries.size() != 1 || pair.samples.size() != 1 || width <= 0 || (width > 256 && !farthest)) return {};
  const auto q = pair.point('i'), x = pair.point('j');
  if (q[0].axes.size() != x[0].axes.size() || q[0].axes.size() > 2 || !has_axis(q[0], "@i") || !has_axis(x[0], "@j")) return {};
  if (q[0].axes.size() == 2 && (q[0].axes[1].name != x[0].axes[1].name || q[0].axes[1].size > most_coordinates)) return {};
  if (pair.n * pair.m < least_pairs) return {};
  const ExprId own = build.graph.exprs.apply(LOCUS_ne, pair.index('i').expr, pair.index('j').expr), turned = build.graph.exprs.apply(LOCUS_ne, pair.index('j').expr, pair.index('i').expr);
  const bool self = where == own || where == turned;
  const ExprId measured = build.graph.exprs.apply(LOCUS_sqrt, build.contract(LOCUS_SQDIST, build.real(q[0]), build.real(x[0])).expr);
  const bool apart = where != none && where == build.graph.exprs.apply(LOCUS_lt, build.integer(0).expr, measured);
  if ((where != none && !self && !apart) || (self && !pair.self) || width > pair.m - (self ? 1 : 0)) return {};
  std::vector<Axis> axes = rows;
  if (farthest) {
    if (q[0].axes.size() != 1 || apart) return {};
    const Value reach = build.array_call(LOCUS_ARRAY_REACH, {build.real(q[0]), build.real(x[0])}, axes, Type::real, {static_cast<double>(width), self ? 1.0 : 0.0});
    return build.graph.exprs.at(reach.expr).index;
  }
  axes.push_back({"~near", width, none});
  const Value list = build.array_call(LOCUS_ARRAY_NEIGHBOURS, {build.real(q[0]), build.real(x[0])}, axes, Type::integer, {self ? 1.0 : apart ? 2.0 : 0.0});
  return build.graph.exprs.at(list.expr).index;
}

Any Lowering::sentence(const ast::Expr& e, Scope& s) {
  if (s.pair) throw Poisoned{};  // a sentence inside another: said by resolve
  const ast::Sentence& c = *e.sentence;
  const Any q = eval(*c.queries, s), x = eval(*c.samples, s);
  build.span = e.span;
  Pair pair(build, points_of(q, c.queries->span), points_of(x, c.samples->span), e.span);
  Scope inside = s;
  inside.pair = &pair;
  inside.updates = nullptr;
  const std::string& name = c.estimate->parts[0]->name.text;
  const Declaration* declared = declaration(name);
  const auto estimator = estimators.find(name);
  if (declared ? !declared->local : estimator == estimators.end()) throw Poisoned{};  // said by resolve

  // The parts, each read in its own way.
  pair.settings_only = true;
  std::optional<Value> by;
  if (c.by) by = weight(*c.by, inside);
  pair.settings_only = false;
  std::optional<Value> where;
  if (c.where) where = condition(*c.where, inside);
  std::optional<Value> metric, reach;
  if (c.nearest || c.within) {
    pair.settings_only = true;
    const auto qp = pair.point('i'), xp = pair.point('j');
    if (c.under) metric = weight(*c.under, inside);
    else if (qp.size() > 1 || xp.size() > 1)
      fail(Code::E217, e.span, std::string(c.nearest ? "`nearest`" : "`within`") + " for points of several parts needs a metric", "declare one, `kernel apart((s, u), (t, v)) = maxdist(s, t)`, and add `under apart`");
    else metric = pair_function("dist", qp[0], xp[0], inside, e.span);
    pair.settings_only = false;
    pair.side = 'i';
    reach = number(c.nearest ? *c.nearest : *c.within, inside);
  }
  pair.side = 'j';
  std::vector<Value> values;
  std::optional<Value> t;
  if (!declared) {
    for (const auto& a : c.estimate->points) {
      Value v = number(*a.value, inside);
      if (build.type(v) == Type::boolean) fail(Code::E205, a.value->span, "a condition is not a number", "put it in brackets: `" + name + "([" + print(*a.value) + "])`");
      values.push_back(build.real(v));
    }
    if (name == "quantile") {
      if (c.estimate->settings.size() != 1) fail(Code::E218, c.estimate->span, "quantile takes its level behind ';'", "write `quantile(y; 0.5)`");
      Scope level = s;
      t = build.real(number(*c.estimate->settings[0].value, level));
      if (t->axes.size() > 1) fail(Code::E218, c.estimate->span, "quantile's level must be a number or a vector");
    }
    if (name == "median") t = build.number(0.5, Type::exact);
  }
  build.span = e.span;
  pair.side = 0;

  const auto one_number = [&](const std::optional<Value>& v, const char* what, const ast::ExprPtr& at) {
    if (!v || visible(*v).empty()) return;
    fail(Code::E209, at ? at->span : e.span, std::string("the ") + what + " is not one number for a pair: " + shown(*v) + " is left", "sum over the axis, or read it at one side");
  };
  one_number(by, "kernel", c.by);
  one_number(where, "mask", c.where);
  one_number(metric, "metric", c.under);
  one_number(reach, c.nearest ? "number of neighbours" : "radius", c.nearest ? c.nearest : c.within);

  // Rows: every hidden axis of a part, the queries last.
  std::vector<Axis> axes;
  std::vector<const Value*> parts;
  const auto qp = pair.point('i'), xp = pair.point('j');
  for (const auto& v : qp) parts.push_back(&v);
  for (const auto& v : xp) parts.push_back(&v);
  for (const auto* v : {&by, &where, &metric, &reach})
    if (*v) parts.push_back(&**v);
  for (const Value& v : values) parts.push_back(&v);
  if (declared)
    for (const auto& a : c.estimate->points) {
      pair.side = 'j';
      values.push_back(number(*a.value, inside));
      pair.side = 0;
    }
  for (std::size_t k = 0; declared && k < values.size(); ++k) parts.push_back(&values[k]);
  for (const Value* v : parts) {
    std::vector<Axis> hidden_axes;
    for (const Axis& a : v->axes)
      if (hidden(a.name)) hidden_axes.push_back(a);
    axes = build.join(axes, hidden_axes);
  }
  std::vector<Axis> rows;
  for (const Axis& a : axes)
    if (a.name != "@i" && a.name != "@j") rows.push_back(a);
  const Axis query = pair.index('i').axes[0], sample = pair.index('j').axes[0];
  rows.push_back(query);

  graph::Reduce r;
  if (by && !(build.constant(*by) && build.value(*by) == 1)) r.weight = by->expr;
  if (where && !(build.constant(*where) && build.value(*where) != 0)) r.where = where->expr;
  bool real = false;
  for (const Value* v : parts)
    for (TensorId read : build.graph.exprs.reads(v->expr)) real |= build.graph.tensors[read].type == Type::real;
  // A value that a solve left in double stays so: its sum may cancel.
  const bool exact_value = !values.empty() && build.type(values[0]) == Type::exact && !build.graph.exprs.reads(values[0].expr).empty();
  const Type number_type = real && !exact_value ? Type::real : Type::exact;
  if (c.within) {
    build.span = c.within->span;
    const ExprId near = build.graph.exprs.apply(LOCUS_le, metric->expr, reach->expr);
    r.where = r.where == none ? near : build.graph.exprs.apply(LOCUS_and, r.where, near);
    build.span = e.span;
  }
  std::optional<Value> near;
  if (c.nearest) {
    if (build.type(*reach) != Type::integer && !(build.constant(*reach) && build.value(*reach) == static_cast<double>(static_cast<std::int64_t>(build.value(*reach)))))
      need_integers(*c.nearest, *reach, "the number of neighbours must be an integer");
    std::int64_t width = unknown;
    if (build.constant(*reach)) width = static_cast<std::int64_t>(build.value(*reach));
    else if (const auto array = known(pair.outside(*reach), c.nearest->span)) {
      width = 0;
      for (std::int64_t k = 0; k < array->count(); ++k) width = std::max(width, static_cast<std::int64_t>(array->number(k)));
    }
    if (width != unknown && width < 0) fail(Code::E207, c.nearest->span, "the number of neighbours must be at least 0, not " + std::to_string(width));
    const bool all = name == "neighbours" && !declared;
    std::string axis = axis_name(*c.nearest, s).value_or("1");
    graph::Estimate chosen;
    chosen.estimator = LOCUS_NEAREST;
    chosen.value = build.real(*metric).expr;
    chosen.parameter = build.type(*reach) == Type::integer ? reach->expr : build.graph.exprs.constant(build.value(*reach), Type::integer);
    chosen.width = width;
    chosen.need_all = all;
    graph::Reduce search;
    search.where = r.where;
    const Axis tail{axis, width, none};
    // How far the farthest of the nearest is needs no list of them.
    if (name == "max" && !declared && !c.by && values.size() == 1 && values[0].expr == metric->expr && build.constant(*reach) && !c.otherwise && !wants_status() && !(request && request->why))
      if (const auto found = neighbours_of(c, pair, rows, r.where, width, true)) return Any::of(pair.outside(build.read(*found, rows)));
    const auto found_list = neighbours_of(c, pair, rows, r.where, width, false);
    const TensorId list = found_list ? *found_list : build.reduce(rows, sample, search, chosen, Type::integer, {tail});
    std::vector<Axis> list_axes = rows;
    list_axes.push_back(tail);
    near = build.read(list, list_axes);
    r.list = list;
    r.where = none;
  }
  if (request && request->why && !build.in_loop() && active_.size() == 1 && !checking_) explain_query(pair, rows, sample, r, metric);
  if (request && request->look && !checking_) look_at(pair, rows, sample, r, s.path);
  if (declared) return local_fit(*declared, *c.estimate, inside, {rows, sample, r}, &values, &pair);
  if (name == "neighbours") {
    if (!near) fail(Code::E222, e.span, "neighbours() needs `nearest`", "add `nearest 5`");
    return Any::of(pair.outside(*near));
  }
  if (by && !has_axis(*by, "@j") && (name == "mean" || name == "median" || name == "quantile" || name == "cov" || name == "weights" || name == "entropy"))
    diagnostics_.add({Code::W101, c.by->span, "this kernel is the same for every sample, so it cannot change the " + name, "", {}, "read an array at the sample's side, `x[j]`, or leave the clause out", ""});

  const bool matrix = name == "gram" || name == "weights";
  if (matrix && c.within && !near) {
    if ((near = within_list({rows, sample, r}, *metric))) r.list = build.materialise(*near), r.where = none;
    build.span = e.span;
  }
  if (matrix && !wants_status())
    if (const auto listed = listed_matrix({rows, sample, r}, near, name == "weights", number_type)) return Any::of(pair.outside(*listed));

  graph::Estimate est;
  est.estimator = estimator->second;
  std::vector<Axis> tail;
  Type out_type = number_type;
  if (!values.empty()) {
    est.value = values[0].expr;
    for (int k : visible(values[0])) {
      tail.push_back(values[0].axes[static_cast<std::size_t>(k)]);
      est.features.push_back(tail.back().coord);
    }
  }
  if (t) {
    est.parameter = t->expr;
    for (const Axis& a : t->axes) {
      const CoordId own = build.coordinate(a.name, static_cast<int>(std::count_if(tail.begin(), tail.end(), [&](const Axis& b) { return b.name == a.name; })), a.size);
      est.parameter = build.graph.exprs.rename(est.parameter, [&](CoordId k) { return k == a.coord ? own : k; });
      tail.push_back({a.name, a.size, own});
      est.features.push_back(own);
    }
  }
  if (name == "cov" && !tail.empty()) {
    Axis twin = tail.back();
    twin.coord = build.coordinate(twin.name, static_cast<int>(std::count_if(tail.begin(), tail.end(), [&](const Axis& b) { return b.name == twin.name; })), twin.size);
    est.twin = twin.coord;
    tail.push_back(twin);
  }
  if (name == "gram" || name == "weights") tail.push_back(sample);
  if (name == "count") out_type = Type::integer;
  r.count_empty = !matrix && name != "count" && !c.otherwise;
  std::optional<Listed> listed;
  if (!near && !matrix && !t && name != "cov") listed = listed_estimate({rows, sample, r}, est.estimator, values.empty() ? nullptr : &values[0], tail, out_type);
  const auto sibling = [&](locus_estimator which, Type type) {
    graph::Estimate extra;
    extra.estimator = which;
    extra.out = build.tensor(rows, type);
    r.estimates.push_back(extra);
    return extra.out;
  };
  TensorId counted = listed ? listed->counted : none;
  if (c.otherwise && !matrix && !listed) counted = sibling(LOCUS_COUNT, Type::integer);
  std::vector<std::pair<std::string, TensorId>> wanted;
  if (wants_status())
    wanted = {{"mass", sibling(LOCUS_MASS, number_type)}, {"effective", sibling(LOCUS_EFFECTIVE, number_type)}, {"count", sibling(LOCUS_COUNT, Type::integer)}};
  const TensorId out = listed ? listed->out : build.reduce(rows, sample, r, est, out_type, tail);
  if (name == "gram") remember_kernel(out, {rows, sample, r});
  for (const auto& [what, tensor] : wanted) add_status(what, tensor, rows, &pair, what == "count" ? "int" : "real");
  std::vector<Axis> out_axes = rows;
  out_axes.insert(out_axes.end(), tail.begin(), tail.end());
  Value result = build.read(out, out_axes);
  if (c.otherwise && !matrix) {
    pair.side = 'i';
    const Value other = build.real(number(*c.otherwise, inside));
    build.span = e.span;
    const Value empty = build.apply(LOCUS_eq, build.read(counted, rows), build.integer(0));
    result = build.select(empty, other, name == "count" ? build.real(result) : result);
    result = build.materialised(result);
  }
  result = pair.outside(result);
  if (outline) outline->sentence(result, print(e));
  return Any::of(result);
}

}  // namespace locus::sema
