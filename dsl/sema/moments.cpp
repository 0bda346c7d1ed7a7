// What a fit accumulates over the pairs of a query: means of values, one pass over the pairs each, taken apart by sides where that is much cheaper; see fit.hpp.
#include <algorithm>
#include "dsl/sema/fit.hpp"

namespace locus::sema {

using graph::none;

ExprId Fit::averaged(ExprId e, std::vector<CoordId> features) {
  if (!build_.graph.exprs.depends(e, at_.sample.coord)) return e;  // the same for all pairs
  std::erase_if(features, [&](CoordId c) { return !build_.graph.exprs.depends(e, c); });
  if (const auto sum = averaged_apart(e, features)) return *sum;
  return mean_of(e, std::move(features), type_);
}

ExprId Fit::mean_of(ExprId e, std::vector<CoordId> features, Type type) {
  graph::Reduce r = at_.pairs;
  graph::Estimate mean;
  mean.estimator = LOCUS_MEAN;
  mean.value = e;
  mean.features = features;
  graph::Tensor made;
  made.name = build_.name, made.type = type;
  std::vector<CoordId> at;
  for (const Axis& a : at_.rows) at.push_back(a.coord);
  r.rows = at, r.sample = at_.sample.coord;
  at.insert(at.end(), features.begin(), features.end());
  made.shape = build_.graph.extents(at);
  for (CoordId c : at) made.axes.push_back(build_.graph.coordinates[c].name);
  mean.out = build_.graph.add_tensor(std::move(made));
  const TensorId out = mean.out;
  r.estimates = {std::move(mean)};
  build_.emit({{}, "", std::move(r)});
  return build_.graph.read(out, at);
}

// Many pairs: moments about the samples' own mean, which do not depend on the query and are summed by a matrix kernel, then moved to the query. All in double:
// what the move cancels is the square of (spread of the data / width), far below its digits.
std::optional<ExprId> Fit::averaged_apart(ExprId e, const std::vector<CoordId>& features) {
  constexpr std::int64_t least_pairs = 1 << 22, most_prepared = 1 << 21;
  graph::Expressions& x = build_.graph.exprs;
  if (at_.rows.empty() || build_.in_loop() || at_.pairs.list != none || !x.depends(e, at_.rows.back().coord) || at_.rows.back().size * at_.sample.size < least_pairs) return {};
  const auto products = apart(exact(e));
  if (!products || products->size() > 12) return {};
  std::int64_t columns = 0;  // of prepared values, which a backend may hold for all samples at once
  for (const Product& p : *products)
    if (p.sample != none) {
      std::int64_t width = 1;
      for (CoordId c : features)
        if (x.depends(p.sample, c)) width *= build_.graph.coordinates[c].extent;
      columns += width;
    }
  if (columns * at_.sample.size > most_prepared) return {};
  std::optional<ExprId> sum;
  for (const Product& p : *products) {
    ExprId value = p.query == none ? x.constant(1, Type::exact) : p.query;
    if (p.sample != none) {
      std::vector<CoordId> own = features;
      std::erase_if(own, [&](CoordId c) { return !x.depends(p.sample, c); });
      value = x.apply(LOCUS_mul, value, mean_of(p.sample, own, Type::exact));
    }
    sum = plus(sum, value);
  }
  return sum;
}

// The same expression in double: arrays of the run's own precision are copied, once.
ExprId Fit::exact(ExprId root) {
  graph::Expressions& x = build_.graph.exprs;
  std::map<ExprId, ExprId> done;
  const std::function<ExprId(ExprId)> go = [&](ExprId id) -> ExprId {
    if (const auto found = done.find(id); found != done.end()) return found->second;
    const graph::Expr e = x.at(id);
    ExprId r = id, a[3] = {none, none, none};
    for (int k = 0; k < e.arity; ++k) a[k] = go(e.args[k]);
    if (e.op == LOCUS_READ && e.type == Type::real) {
      auto copy = exact_copies_.find(e.index);
      if (copy == exact_copies_.end()) {
        graph::Tensor made = build_.graph.tensors[e.index];
        made.type = Type::exact;
        graph::ArrayCall call;
        call.function = LOCUS_ARRAY_COPY, call.inputs = {e.index}, call.outputs = {build_.graph.add_tensor(std::move(made))};
        copy = exact_copies_.emplace(e.index, call.outputs[0]).first;
        build_.emit({{}, "", std::move(call)});
      }
      r = x.read(copy->second, Type::exact, e.offset, e.strides);
    } else if (e.op == LOCUS_CONSTANT && e.type == Type::real) {
      r = x.constant(e.value, Type::exact);
    } else if (e.op == LOCUS_real) {
      r = x.to(Type::exact, a[0]);
    } else if (e.op >= LOCUS_SUM_OVER && e.op <= LOCUS_MIN_OVER) {
      r = x.over(e.op, e.index, a[0]);
    } else if (e.op >= LOCUS_DOT && e.op <= LOCUS_MAXDIST) {
      r = x.contract(e.op, e.index, a[0], a[1]);
    } else if (e.op > LOCUS_BEFORE_OPS) {
      r = x.apply(e.op, a[0], a[1], a[2]);
    }
    return done.emplace(id, r).first->second;
  };
  return go(root);
}

std::optional<std::vector<Fit::Product>> Fit::apart(ExprId id) {
  graph::Expressions& x = build_.graph.exprs;
  const auto on_query = [&](ExprId e) { return std::any_of(at_.rows.begin(), at_.rows.end(), [&](const Axis& a) { return x.depends(e, a.coord); }); };
  const auto on_sample = [&](ExprId e) { return x.depends(e, at_.sample.coord); };
  if (!on_sample(id)) return std::vector<Product>{{id, none}};
  if (!on_query(id)) return std::vector<Product>{{none, id}};
  const graph::Expr e = x.at(id);
  const auto times = [&](ExprId a, ExprId b) { return a == none ? b : b == none ? a : x.apply(LOCUS_mul, a, b); };
  const auto product = [&](const std::vector<Product>& a, const std::vector<Product>& b) {
    std::vector<Product> all;
    for (const Product& p : a)
      for (const Product& q : b) all.push_back({times(p.query, q.query), times(p.sample, q.sample)});
    return all;
  };
  const auto negated = [&](std::vector<Product> all) {
    for (Product& p : all) p.query = p.query == none ? x.constant(-1, Type::exact) : x.apply(LOCUS_neg, p.query);
    return all;
  };
  if (e.op == LOCUS_sub && !on_query(e.args[0]) && !on_sample(e.args[1])) return difference_apart(e.args[0], e.args[1], false);
  if (e.op == LOCUS_sub && !on_query(e.args[1]) && !on_sample(e.args[0])) return difference_apart(e.args[1], e.args[0], true);
  if (e.op == LOCUS_neg) {
    auto a = apart(e.args[0]);
    return a ? std::optional(negated(*a)) : std::nullopt;
  }
  if (e.op == LOCUS_add || e.op == LOCUS_sub || e.op == LOCUS_mul) {
    auto a = apart(e.args[0]), b = apart(e.args[1]);
    if (!a || !b) return {};
    if (e.op == LOCUS_mul) return product(*a, *b);
    if (e.op == LOCUS_sub) b = negated(*b);
    a->insert(a->end(), b->begin(), b->end());
    return a;
  }
  if (e.op == LOCUS_pow && (x.at(e.args[1]).op == LOCUS_CONSTANT) && (x.at(e.args[1]).value == 2 || x.at(e.args[1]).value == 3 || x.at(e.args[1]).value == 4)) {
    const auto a = apart(e.args[0]);
    if (!a) return {};
    auto all = *a;
    for (int k = 1; k < static_cast<int>(x.at(e.args[1]).value); ++k) all = product(all, *a);
    return all;
  }
  return {};
}

// a - b, a the samples' and b the query's, about the mean c of a: (a - c) - (b - c).
std::optional<std::vector<Fit::Product>> Fit::difference_apart(ExprId a, ExprId b, bool turned) {
  graph::Expressions& x = build_.graph.exprs;
  auto centre = centres_.find(a);
  if (centre == centres_.end()) {
    std::vector<CoordId> own = x.free(a);
    std::erase(own, at_.sample.coord);
    graph::Reduce r;
    r.sample = at_.sample.coord;
    graph::Estimate mean;
    mean.estimator = LOCUS_MEAN, mean.value = a, mean.features = own;
    graph::Tensor made;
    made.name = build_.name, made.type = Type::exact, made.shape = build_.graph.extents(own);
    for (CoordId c : own) made.axes.push_back(build_.graph.coordinates[c].name);
    mean.out = build_.graph.add_tensor(std::move(made));
    const TensorId out = mean.out;
    r.estimates = {std::move(mean)};
    build_.emit({{}, "", std::move(r)});
    centre = centres_.emplace(a, build_.graph.read(out, own)).first;
  }
  const ExprId sample = x.apply(LOCUS_sub, a, centre->second), query = x.apply(LOCUS_sub, b, centre->second);
  if (turned) return std::vector<Product>{{query, none}, {x.constant(-1, Type::exact), sample}};
  return std::vector<Product>{{none, sample}, {x.apply(LOCUS_neg, query), none}};
}

}  // namespace locus::sema
