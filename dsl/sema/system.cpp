// Matrices of a kernel over many points without storing them: a product with vectors is one reduce, and a symmetric system is solved by conjugate gradients, whose
// every turn is that reduce; see lower.hpp.
#include <algorithm>
#include "dsl/sema/lower.hpp"

namespace locus::sema {

using graph::Expr;
using graph::none;

namespace {

/// Is b the expression a with query and sample exchanged?
struct Mirror {
  const graph::Expressions& exprs;
  CoordId i, j;

  CoordId turned(CoordId c) const { return c == i ? j : c == j ? i : c; }
  bool of(ExprId a, ExprId b) const {
    const Expr &x = exprs.at(a), &y = exprs.at(b);
    if (x.op != y.op || x.type != y.type || x.arity != y.arity) return false;
    if (x.op == LOCUS_COORDINATE) return turned(x.index) == y.index;
    if (x.index != y.index || x.offset != y.offset || x.value != y.value || x.strides.size() != y.strides.size()) return false;
    for (const graph::Stride& s : x.strides)
      if (std::find(y.strides.begin(), y.strides.end(), graph::Stride{turned(s.coordinate), s.stride}) == y.strides.end()) return false;
    const bool either = x.op == LOCUS_add || x.op == LOCUS_mul || x.op == LOCUS_maximum || x.op == LOCUS_minimum || x.op == LOCUS_eq || x.op == LOCUS_ne || x.op == LOCUS_and || x.op == LOCUS_or ||
                        (x.op >= LOCUS_DOT && x.op <= LOCUS_MAXDIST);
    if (either && of(x.args[0], y.args[1]) && of(x.args[1], y.args[0])) return true;
    for (int k = 0; k < x.arity; ++k)
      if (!of(x.args[k], y.args[k])) return false;
    return true;
  }
};

}  // namespace

void Lowering::remember_kernel(TensorId whole, const Neighbourhood& at) {
  if (!checking_ && at.rows.size() == 1 && at.pairs.list == none) kernels_[whole] = at;
}

const Neighbourhood* Lowering::kernel_at(ExprId e, const Axis& row, const Axis& column) {
  const Expr& x = build.graph.exprs.at(e);
  const auto found = x.op == LOCUS_READ ? kernels_.find(x.index) : kernels_.end();
  return found != kernels_.end() && found->second.rows[0].size == row.size && found->second.sample.size == column.size && build.graph.read(x.index, {row.coord, column.coord}) == e ? &found->second : nullptr;
}

Value Lowering::kernel_product(const Neighbourhood& kernel, const Value& v, const Axis& row, Type type) {
  const Value at_samples = build.renamed(v, [](int k, const std::string& a) { return k == 0 ? "@j" : a; });
  graph::Reduce pairs_of;
  pairs_of.weight = kernel.pairs.weight, pairs_of.where = kernel.pairs.where;
  graph::Estimate sum;
  sum.estimator = LOCUS_WEIGHTED_SUM;
  sum.value = at_samples.expr;
  const std::vector<Axis> tail(at_samples.axes.begin() + 1, at_samples.axes.end());
  for (const Axis& a : tail) sum.features.push_back(a.coord);
  std::vector<Axis> axes = kernel.rows;
  axes.insert(axes.end(), tail.begin(), tail.end());
  const Value out = build.read(build.reduce(kernel.rows, kernel.sample, pairs_of, sum, type, tail), axes);
  return build.renamed(out, [&](int k, const std::string& a) { return k == 0 ? row.name : a; });
}

std::optional<Value> Lowering::fused_product(const Value& a, const Value& b) {
  if (checking_ || a.axes.size() != 2 || visible(a).size() != 2 || b.axes.empty() || b.axes.size() > 2 || visible(b).size() != b.axes.size()) return {};
  if (a.axes[0].size < least_rows_unstored || a.axes[1].size < least_rows_unstored) return {};
  const Neighbourhood* const kernel = kernel_at(a.expr, a.axes[0], a.axes[1]);
  if (!kernel) return {};
  return kernel_product(*kernel, build.materialised(b), a.axes[0], std::max(build.type(a), build.type(b)));
}

// A sum of kernels and of a diagonal, each scaled: what the matrix does to vectors is told by reduces alone.
bool Lowering::kernel_sum(ExprId e, const Value& scale, const Axis& row, const Axis& column, KernelSum& sum) {
  const Expr x = build.graph.exprs.at(e);
  const auto free = [&](ExprId part) { return !build.graph.exprs.depends(part, row.coord) && !build.graph.exprs.depends(part, column.coord); };
  const auto part = [&](ExprId p, const Value& s) { return kernel_sum(p, s, row, column, sum); };
  if (const Neighbourhood* kernel = kernel_at(e, row, column)) {
    const Mirror mirror{build.graph.exprs, kernel->rows[0].coord, kernel->sample.coord};
    const auto turns = [&](ExprId p) { return p == none || mirror.of(p, p); };
    if (!turns(kernel->pairs.weight) || !turns(kernel->pairs.where)) return false;
    sum.kernels.emplace_back(*kernel, scale);
    return true;
  }
  if (pairs.diagonal(e, row, column)) {
    const Value own{build.graph.exprs.rename(e, [&](CoordId c) { return c == column.coord ? row.coord : c; }), {row}};
    const Value scaled = build.apply(LOCUS_mul, scale, own);
    sum.diagonal = sum.diagonal ? build.apply(LOCUS_add, *sum.diagonal, scaled) : scaled;
    return true;
  }
  switch (x.op) {
    case LOCUS_add: return part(x.args[0], scale) && part(x.args[1], scale);
    case LOCUS_sub: return part(x.args[0], scale) && part(x.args[1], build.apply(LOCUS_neg, scale));
    case LOCUS_neg: return part(x.args[0], build.apply(LOCUS_neg, scale));
    case LOCUS_div: return free(x.args[1]) && part(x.args[0], build.apply(LOCUS_div, scale, {x.args[1], {}}));
    case LOCUS_mul:
      for (int k = 0; k < 2; ++k)
        if (free(x.args[k])) return part(x.args[1 - k], build.apply(LOCUS_mul, scale, {x.args[k], {}}));
      return false;
    case LOCUS_real: return part(x.args[0], scale);
    case LOCUS_READ:  // the sum was stored by a `let`
      for (const graph::Node& n : *build.block())
        if (const auto* map = std::get_if<graph::Map>(&n.kind); map && map->out == x.index && map->space == std::vector<CoordId>{row.coord, column.coord} && build.graph.read(x.index, map->space) == e)
          return part(map->value, scale);
      return false;
    default: return false;
  }
}

Value Lowering::times_kernels(const KernelSum& sum, const Value& v, const Axis& row) {
  std::optional<Value> total;
  const auto add = [&](const Value& term) { total = total ? build.apply(LOCUS_add, *total, term) : term; };
  for (const auto& [kernel, scale] : sum.kernels) add(build.apply(LOCUS_mul, scale, kernel_product(kernel, v, row, Type::exact)));
  if (sum.diagonal) add(build.apply(LOCUS_mul, *sum.diagonal, v));
  return build.canonical(total->expr, v.axes);
}

std::optional<Value> Lowering::conjugate_gradients(const Value& a, const Value& right) {
  constexpr std::int64_t limit = 2000;
  constexpr double tolerance = 1e-10;
  if (checking_ || a.axes.size() != 2 || visible(a).size() != 2 || right.axes.empty() || right.axes.size() > 2 || visible(right).size() != right.axes.size() || a.axes[0].size < least_rows_unstored) return {};
  KernelSum matrix;
  if (!kernel_sum(a.expr, build.number(1, Type::exact), a.axes[0], a.axes[1], matrix) || matrix.kernels.empty()) return {};
  build.name = "solve";
  // In double, whatever the run: the turns magnify what rounding leaves.
  const auto stored_exact = [&](const Value& v, const std::vector<Axis>& shape) {
    graph::Map m;
    m.out = build.tensor(shape, Type::exact), m.value = v.expr;
    for (const Axis& a_axis : shape) m.space.push_back(a_axis.coord);
    const TensorId out = m.out;
    build.emit({{}, "", std::move(m)});
    return build.read(out, shape);
  };
  const std::vector<Axis> axes = right.axes, columns(axes.begin() + 1, axes.end());
  const Axis row = axes[0];
  const Value b = stored_exact(right, axes), zero = build.number(0, Type::exact);
  const auto dot = [&](const Value& u, const Value& v) { return build.materialised(plain_over("sum", build.apply(LOCUS_mul, u, v), {0}, nullptr)); };
  const auto whole = [&](const Value& v) { return stored_exact(v, axes); };
  const auto every = [&](const std::string& which, const Value& v) { return columns.empty() ? v : plain_over(which, v, {0}, nullptr); };
  const Value size = dot(b, b), enough = build.materialised(build.apply(LOCUS_mul, size, build.number(tolerance * tolerance, Type::exact)));

  graph::Iterate loop;
  loop.limit = limit;
  loop.turn = build.tensor({}, Type::integer);
  const auto state = [&](const std::vector<Axis>& shape, Type t) { return build.tensor(shape, t); };
  const TensorId x_state = state(axes, Type::exact), r_state = state(axes, Type::exact), p_state = state(axes, Type::exact), s_state = state(columns, Type::exact), turns = state({}, Type::integer);
  const Value x = build.read(x_state, axes), r = build.read(r_state, axes), p = build.read(p_state, axes), s = build.read(s_state, columns), turn = build.read(turns, {});
  std::vector<graph::Node> body;
  build.push_block(&body);
  const Value ap = whole(times_kernels(matrix, p, row)), curvature = dot(p, ap);
  const Value goes_on = build.materialised(build.apply(LOCUS_and, build.apply(LOCUS_lt, enough, s), build.apply(LOCUS_lt, zero, curvature)));
  const Value step = build.materialised(build.select(goes_on, build.apply(LOCUS_div, s, curvature), zero));
  const Value x_next = whole(build.apply(LOCUS_add, x, build.apply(LOCUS_mul, step, p))), r_next = whole(build.apply(LOCUS_sub, r, build.apply(LOCUS_mul, step, ap)));
  const Value s_next = dot(r_next, r_next), keep = build.materialised(build.select(goes_on, build.apply(LOCUS_div, s_next, s), zero));
  const Value p_next = whole(build.apply(LOCUS_add, r_next, build.apply(LOCUS_mul, keep, p))), turn_next = build.materialised(build.apply(LOCUS_add, turn, build.integer(1)));
  const Value open = build.apply(LOCUS_and, goes_on, build.apply(LOCUS_lt, enough, s_next));
  loop.stop = build.materialise(build.apply(LOCUS_eq, every("max", build.to(Type::exact, open)), zero));
  build.pop_block();
  const auto id = [&](const Value& v) { return build.materialise(v); };
  loop.carries = {{id(build.canonical(zero.expr, axes)), x_state, id(x_next)}, {id(b), r_state, id(r_next)}, {id(b), p_state, id(p_next)}, {id(size), s_state, id(s_next)}, {id(build.integer(0)), turns, id(turn_next)}};
  loop.body = std::move(body);
  build.emit({{}, "", std::move(loop)});

  // What is left of the right side, told anew: the residual that the turns carry along may have drifted.
  const Value left = whole(build.apply(LOCUS_sub, b, times_kernels(matrix, x, row)));
  const Value share = build.apply(LOCUS_sqrt, build.select(build.apply(LOCUS_lt, zero, size), build.apply(LOCUS_div, dot(left, left), size), size));
  const Value residual = build.materialised(every("max", share)), place = build.index("~report", 2);
  watch(Watch::system, id(build.select(build.apply(LOCUS_eq, place, build.integer(0)), build.to(Type::exact, turn), residual)), "solve", build.span, limit);
  // Where the right side or the kernel holds NaN, so does the residual, and the answer with it.
  return build.canonical(build.apply(LOCUS_add, x, build.apply(LOCUS_mul, residual, zero)).expr, axes);
}

}  // namespace locus::sema
