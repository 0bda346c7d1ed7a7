// See cost.hpp.
#include "host/cost.hpp"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace locus::host {
namespace {

using namespace graph;

double product(const Graph& g, const std::vector<CoordId>& c) {
  double n = 1;
  for (std::int64_t k : g.extents(c)) n *= static_cast<double>(k);
  return n;
}

double cost_of(const Graph& g, ExprId id, std::set<ExprId>& seen) {
  if (id == none || !seen.insert(id).second) return 0;
  const Expr& e = g.exprs.at(id);
  double arguments = 0;
  for (int k = 0; k < e.arity; ++k) arguments += cost_of(g, e.args[k], seen);
  if (e.op <= LOCUS_COORDINATE) return 0;
  if (e.op > LOCUS_MAXDIST) return arguments + 1;
  const double own = e.op == LOCUS_SQDIST || e.op == LOCUS_L1DIST || e.op == LOCUS_MAXDIST ? 3 : e.op == LOCUS_DOT ? 2 : 1;
  return (arguments + own) * (e.index == none ? 1 : static_cast<double>(g.coordinates[e.index].extent));
}
double cost_of(const Graph& g, ExprId id) {
  std::set<ExprId> seen;
  return cost_of(g, id, seen);
}

struct Interval {
  double low = -HUGE_VAL, high = HUGE_VAL;
};
Interval truth(bool never, bool always) { return always ? Interval{1, 1} : never ? Interval{0, 0} : Interval{0, 1}; }

/// What an expression can be while each coordinate stays in its range.
Interval interval_of(const Graph& g, ExprId id, const std::map<CoordId, Interval>& at) {
  const Expr& e = g.exprs.at(id);
  const auto arg = [&](int k) { return interval_of(g, e.args[k], at); };
  switch (static_cast<int>(e.op)) {
    case LOCUS_CONSTANT: return {e.value, e.value};
    case LOCUS_COORDINATE: {
      const auto found = at.find(e.index);
      return found != at.end() ? found->second : Interval{0, static_cast<double>(g.coordinates[e.index].extent - 1)};
    }
    case LOCUS_real: return arg(0);
    case LOCUS_neg: return {-arg(0).high, -arg(0).low};
    case LOCUS_abs: {
      const Interval a = arg(0);
      return a.low >= 0 ? a : a.high <= 0 ? Interval{-a.high, -a.low} : Interval{0, std::max(-a.low, a.high)};
    }
    case LOCUS_add: return {arg(0).low + arg(1).low, arg(0).high + arg(1).high};
    case LOCUS_sub: return {arg(0).low - arg(1).high, arg(0).high - arg(1).low};
    case LOCUS_lt: return truth(arg(0).low >= arg(1).high, arg(0).high < arg(1).low);
    case LOCUS_le: return truth(arg(0).low > arg(1).high, arg(0).high <= arg(1).low);
    case LOCUS_eq: return truth(arg(0).low > arg(1).high || arg(1).low > arg(0).high, arg(0).low == arg(0).high && arg(1).low == arg(1).high && arg(0).low == arg(1).low);
    case LOCUS_and: return truth(arg(0).high == 0 || arg(1).high == 0, arg(0).low > 0 && arg(1).low > 0);
    case LOCUS_or: return truth(arg(0).high == 0 && arg(1).high == 0, arg(0).low > 0 || arg(1).low > 0);
    case LOCUS_not: return truth(arg(0).low > 0, arg(0).high == 0);
    default: return {};
  }
}

}  // namespace

double operations(const Graph& g, const Node& n) {
  if (const auto* m = std::get_if<Map>(&n.kind)) return product(g, m->space) * cost_of(g, m->value);
  if (const auto* l = std::get_if<Linear>(&n.kind)) {
    double all = 2 * product(g, l->batch) * static_cast<double>(g.coordinates[l->inner].extent);
    for (CoordId c : {l->row, l->column})
      if (c != none) all *= static_cast<double>(g.coordinates[c].extent);
    return all;
  }
  if (const auto* loop = std::get_if<Iterate>(&n.kind)) {
    double all = 0;
    for (const Node& inner : loop->body) all += operations(g, inner);
    return all;
  }
  const auto* r = std::get_if<Reduce>(&n.kind);
  if (!r) return 0;
  std::set<ExprId> seen;
  double pair = 0;
  for (ExprId id : {r->weight, r->factor, r->score, r->where}) pair += cost_of(g, id, seen);
  pair += r->score != none ? 2 : 0;  // the exponential and its maximum
  for (const Estimate& e : r->estimates) pair += e.value == none ? 1 : 2 * product(g, e.features) + cost_of(g, e.value, seen);
  const double samples = r->list != none ? static_cast<double>(g.tensors[r->list].shape.back()) : static_cast<double>(g.coordinates[r->sample].extent);
  const auto skipped = skipped_share(g, *r);
  return product(g, r->rows) * samples * pair * (1 - skipped.value_or(0));
}

double bytes_touched(const Graph& g, const Node& n, std::size_t real_bytes) {
  std::set<TensorId> all;
  for (TensorId t : reads(g, n)) all.insert(t);
  for (TensorId t : writes(n)) all.insert(t);
  double bytes = 0;
  for (TensorId t : all) {
    double count = g.tensors[t].type == Type::boolean ? 1 : g.tensors[t].type == Type::real ? static_cast<double>(real_bytes) : 8;
    for (std::int64_t d : g.tensors[t].shape) count *= static_cast<double>(d);
    bytes += count;
  }
  return bytes;
}

std::optional<double> skipped_share(const Graph& g, const Reduce& r) {
  if (r.where == none || r.list != none || r.rows.empty()) return {};
  if (!g.exprs.reads(r.where).empty()) return {};
  constexpr std::int64_t block = 128;
  const std::int64_t n = g.coordinates[r.rows.back()].extent, m = g.coordinates[r.sample].extent;
  const std::int64_t across = (m + block - 1) / block, down = (n + block - 1) / block;
  if (across * down == 0 || across * down > 4'000'000) return {};
  std::int64_t skipped = 0;
  for (std::int64_t i = 0; i < down; ++i)
    for (std::int64_t j = 0; j < across; ++j) {
      const Interval rows{static_cast<double>(i * block), static_cast<double>(std::min(n, (i + 1) * block) - 1)}, columns{static_cast<double>(j * block), static_cast<double>(std::min(m, (j + 1) * block) - 1)};
      skipped += interval_of(g, r.where, {{r.rows.back(), rows}, {r.sample, columns}}).high == 0;
    }
  return static_cast<double>(skipped) / static_cast<double>(across * down);
}

}  // namespace locus::host
