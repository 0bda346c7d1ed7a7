// Sentences over few of all pairs: their matrices become lists, their sums sums over lists; see pair_list.hpp and lower.hpp.
#include <algorithm>
#include <cmath>
#include "dsl/sema/lower.hpp"

namespace locus::sema {

using graph::none;

// `within r` is `nearest K` with as many as the fullest query has, where that is known before the run goes on and much less than all. What a run so far has
// computed is constant from then on, so not where something is differentiated.
std::optional<Value> Lowering::within_list(const Neighbourhood& at, const Value& metric) {
  if (checking_ || differentiates_ || build.in_loop() || !force || !*force || at.rows.size() != 1 || !has_axis(metric, "@j")) return {};
  graph::Reduce counting;
  counting.where = at.pairs.where;
  graph::Estimate count;
  count.estimator = LOCUS_COUNT;
  const Value counts = build.read(build.reduce(at.rows, at.sample, counting, count, Type::integer), at.rows);
  const auto known_counts = known(counts, build.span);
  if (!known_counts) return {};
  std::int64_t most = 1;
  for (std::int64_t k = 0; k < known_counts->count(); ++k) most = std::max(most, static_cast<std::int64_t>(known_counts->number(k)));
  if (4 * most > at.sample.size) return {};
  graph::Estimate chosen;
  chosen.estimator = LOCUS_NEAREST;
  chosen.value = build.real(metric).expr;
  chosen.parameter = build.integer(most).expr;
  chosen.width = most;
  std::vector<Axis> axes = at.rows;
  axes.push_back({"~near", most, none});
  return build.read(build.reduce(at.rows, at.sample, counting, chosen, Type::integer, {axes.back()}), axes);
}

// A list of neighbours and the weights at it: each entry a reduce over its one sample, so that nothing of the points is gathered.
Value Lowering::near_matrix(const Neighbourhood& at, const Value& near, bool shares, Type type) {
  std::vector<Axis> places = at.rows;
  const Value list = build.renamed(near, [&](int k, const std::string& a) { return k + 1 == static_cast<int>(near.axes.size()) ? "~near" : a; });
  places.push_back(list.axes.back());
  graph::Reduce one, all;
  one.weight = all.weight = at.pairs.weight;
  std::vector<Axis> single = places;
  single.push_back({"~one", 1, none});
  one.list = build.materialise(build.canonical(list.expr, single));
  all.list = build.materialise(list);
  const auto told = [&](const graph::Reduce& of, const std::vector<Axis>& rows, locus_estimator which, Type t) {
    graph::Estimate e;
    e.estimator = which;
    return build.read(build.reduce(rows, at.sample, of, e, t), rows);
  };
  Value w;
  if (!shares) {
    w = one.weight == none ? Value{build.number(1, type).expr, places} : told(one, places, LOCUS_MASS, type);
  } else {
    const Value own = told(one, places, LOCUS_MASS, Type::exact), own_log = told(one, places, LOCUS_LOGMASS, Type::exact);
    const Value total = told(all, at.rows, LOCUS_MASS, Type::exact), total_log = told(all, at.rows, LOCUS_LOGMASS, Type::exact);
    const Value infinity = build.number(HUGE_VAL, Type::exact), zero = build.number(0, Type::exact);
    // Infinite weights share alike; where all underflow, their logarithms still tell them apart.
    const Value infinite = build.materialised(build.to(Type::exact, build.apply(LOCUS_eq, own, infinity)));
    const Value alike = build.apply(LOCUS_div, infinite, plain_over("sum", infinite, {static_cast<int>(places.size()) - 1}, nullptr));
    const Value by_logarithm = build.select(build.apply(LOCUS_lt, build.apply(LOCUS_neg, infinity), total_log), build.apply(LOCUS_exp, build.apply(LOCUS_sub, own_log, total_log)), zero);
    const Value small = build.apply(LOCUS_lt, build.apply(LOCUS_abs, total), build.number(1e-250, Type::exact));
    const Value finite = build.select(small, by_logarithm, build.apply(LOCUS_div, own, total));
    w = build.to(type, build.select(build.apply(LOCUS_eq, total, infinity), alike, finite));
    w = build.canonical(w.expr, places);
  }
  return pairs.matrix(pairs.make({list, w}, at.rows[0].size, at.sample.size), at.rows[0], at.sample);
}

std::optional<Value> Lowering::listed_matrix(const Neighbourhood& at, const std::optional<Value>& near, bool shares, Type type) {
  if (checking_ || at.rows.size() != 1 || at.rows[0].size == unknown || at.sample.size == unknown) return {};
  if (near) return near_matrix(at, *near, shares, type);
  const auto found = listed_weights(at);
  if (!found) return {};
  if (!shares) return pairs.matrix(*found, at.rows[0], at.sample);
  if (raised(at.pairs.weight)) return {};
  // Divided by the sum of its row; rows without weight stay 0.
  PairList list = *found;
  const Axis entry = pairs.pair(list);
  const Value w = build.read(list.values, {entry});
  const Value total = pairs.row_sums(list, w, at.rows[0]), none_left = build.apply(LOCUS_eq, total, build.number(0, Type::exact));
  const Value scale = build.materialised(build.select(none_left, build.number(0, Type::exact), build.apply(LOCUS_div, build.number(1, Type::exact), total)));
  list.values = build.materialise(build.apply(LOCUS_mul, w, {pairs.at(scale.expr, at.rows[0], at.sample, list), {entry}}));
  return pairs.matrix(list, at.rows[0], at.sample);
}

/// Exponentials may underflow together: a reduce takes them in the log domain.
bool Lowering::raised(ExprId e) const {
  if (e == none) return false;
  const graph::Expr& x = build.graph.exprs.at(e);
  if (x.op == LOCUS_exp) return true;
  for (int k = 0; k < x.arity; ++k)
    if (raised(x.args[k])) return true;
  return false;
}

std::optional<PairList> Lowering::listed_weights(const Neighbourhood& at) {
  const Value one = build.number(1, Type::exact), zero = build.number(0, Type::exact);
  const ExprId weight = at.pairs.weight == none ? one.expr : at.pairs.weight;
  return pairs.of(at.pairs.where == none ? weight : build.graph.exprs.apply(LOCUS_select, at.pairs.where, weight, zero.expr), at.rows[0], at.sample);
}

// sum, mean, mass and count over the pairs of a list. What is told of each pair is stored, and the sums of the rows are one sample's estimate, so that queries
// without a pair are counted as ever.
std::optional<Lowering::Listed> Lowering::listed_estimate(const Neighbourhood& at, locus_estimator which, const Value* value, const std::vector<Axis>& tail, Type type) {
  const bool sums = which == LOCUS_MEAN || which == LOCUS_WEIGHTED_SUM || which == LOCUS_MASS || which == LOCUS_COUNT;
  if (checking_ || !sums || at.rows.size() != 1 || at.rows[0].size == unknown || at.sample.size == unknown || wants_status()) return {};
  if (which == LOCUS_MEAN && raised(at.pairs.weight)) return {};
  const auto list = listed_weights(at);
  if (!list) return {};
  const Axis entry = pairs.pair(*list), row = at.rows[0];
  const Value w = build.read(list->values, {entry});
  const Value some = build.apply(LOCUS_ne, w, build.number(0, Type::exact));
  const Value count = pairs.row_sums(*list, build.to(Type::integer, some), row);
  Value total;
  if (value) {
    std::vector<Axis> axes{entry};
    axes.insert(axes.end(), tail.begin(), tail.end());
    // A pair of weight 0 contributes nothing, whatever its value.
    const Value told{build.graph.exprs.apply(LOCUS_mul, w.expr, pairs.at(value->expr, row, at.sample, *list)), axes};
    total = pairs.row_sums(*list, build.select(some, told, build.number(0, Type::exact)), row);
  } else if (which == LOCUS_MASS) {
    total = pairs.row_sums(*list, w, row);
  }
  if (which == LOCUS_MEAN) total = build.apply(LOCUS_div, total, pairs.row_sums(*list, w, row));
  graph::Reduce last;
  last.where = build.apply(LOCUS_lt, build.integer(0), count).expr;
  last.count_empty = at.pairs.count_empty;
  const Axis sample = build.index("~one", 1).axes[0];
  graph::Estimate e, counted;
  counted.estimator = LOCUS_COUNT;
  Listed made;
  made.counted = build.reduce(at.rows, sample, last, counted, Type::integer);
  if (which == LOCUS_COUNT) {
    made.out = build.graph.exprs.at(count.expr).index;
    return made;
  }
  e.estimator = which == LOCUS_MEAN ? LOCUS_MEAN : LOCUS_WEIGHTED_SUM;
  e.value = total.expr;
  for (const Axis& a : tail) e.features.push_back(a.coord);
  made.out = build.reduce(at.rows, sample, last, e, type, tail);
  return made;
}

}  // namespace locus::sema
