// Matrices of pairs as lists; see pair_list.hpp.
#include "dsl/sema/pair_list.hpp"
#include <algorithm>
#include "core/graph/fold.hpp"

namespace locus::sema {

using graph::Expr;
using graph::none;

Value PairLists::read(TensorId t, std::int64_t size) { return build_.read(t, {{"~pair", size, none}}); }

PairList PairLists::make(const std::vector<Value>& parts, std::int64_t n, std::int64_t m) {
  PairList made;
  made.n = n, made.m = m, made.capacity = 1;
  for (const Axis& a : parts.back().axes) made.capacity *= a.size;
  graph::ArrayCall call;
  call.function = LOCUS_ARRAY_PAIRS;
  for (const Value& v : parts) call.inputs.push_back(build_.materialise(v));
  const Axis entry{"~pair", made.capacity, none};
  made.starts = build_.tensor({{"~start", n + 1, none}}, Type::integer), made.rows = build_.tensor({entry}, Type::integer);
  made.columns = build_.tensor({entry}, Type::integer), made.values = build_.tensor({entry}, build_.type(parts.back()));
  call.outputs = {made.starts, made.rows, made.columns, made.values};
  call.parameters = {static_cast<double>(m)};
  build_.emit({{}, "", std::move(call)});
  return made;
}

Value PairLists::matrix(const PairList& list, const Axis& row, const Axis& column) {
  graph::ArrayCall call;
  call.function = LOCUS_ARRAY_PAIRS_WHOLE;
  call.inputs = {list.starts, list.rows, list.columns, list.values};
  const std::vector<Axis> axes{row, column};
  const TensorId out = build_.tensor(axes, build_.graph.tensors[list.values].type);
  call.outputs = {out};
  build_.emit({{}, "", std::move(call)});
  lists_[out] = list;
  return build_.read(out, axes);
}

PairList PairLists::turned(const PairList& given) {
  if (const auto found = turned_.find(given.values); found != turned_.end()) return found->second;
  PairList made = given;
  std::swap(made.n, made.m);
  graph::ArrayCall call;
  call.function = LOCUS_ARRAY_PAIRS_TURN;
  call.inputs = {given.starts, given.columns, given.values};
  const Axis entry{"~pair", made.capacity, none};
  made.starts = build_.tensor({{"~start", made.n + 1, none}}, Type::integer), made.rows = build_.tensor({entry}, Type::integer);
  made.columns = build_.tensor({entry}, Type::integer), made.values = build_.tensor({entry}, build_.graph.tensors[given.values].type);
  call.outputs = {made.starts, made.rows, made.columns, made.values};
  build_.emit({{}, "", std::move(call)});
  if (!build_.in_loop()) turned_[given.values] = made;
  return made;
}

PairList PairLists::list(const std::pair<TensorId, bool>& which) { return which.second ? turned(lists_.at(which.first)) : lists_.at(which.first); }

std::optional<std::pair<PairList, PairList>> PairLists::product(const Value& v) const {
  const Expr& e = build_.graph.exprs.at(v.expr);
  const auto found = e.op == LOCUS_READ ? products_.find(e.index) : products_.end();
  if (found == products_.end() || v.axes.size() != 2 || build_.graph.read(e.index, {v.axes[0].coord, v.axes[1].coord}) != v.expr) return {};
  return found->second;
}

// -- where a value has pairs
PairLists::Pairs PairLists::both(Pairs a, const Pairs& b) {
  for (const auto& one : b.lists)
    if (std::find(a.lists.begin(), a.lists.end(), one) == a.lists.end()) a.lists.push_back(one);
  a.diagonal |= b.diagonal;
  return a;
}

std::int64_t PairLists::size(const Pairs& p, const Sides& sides) const {
  std::int64_t all = p.diagonal ? sides.row.size : 0;
  for (const auto& [t, turn] : p.lists) all += lists_.at(t).capacity;
  return all;
}

std::optional<std::pair<TensorId, bool>> PairLists::listed(ExprId e, const Sides& sides) {
  const Expr& x = build_.graph.exprs.at(e);
  const auto found = x.op == LOCUS_READ ? lists_.find(x.index) : lists_.end();
  if (found == lists_.end()) return {};
  const PairList& l = found->second;
  if (l.n == sides.row.size && l.m == sides.column.size && build_.graph.read(x.index, {sides.row.coord, sides.column.coord}) == e) return std::pair(x.index, false);
  if (l.n == sides.column.size && l.m == sides.row.size && build_.graph.read(x.index, {sides.column.coord, sides.row.coord}) == e) return std::pair(x.index, true);
  return {};
}

std::optional<PairLists::Outside> PairLists::outside(ExprId e, Sides& sides) {
  if (const auto found = sides.seen.find(e); found != sides.seen.end()) return found->second;
  return sides.seen[e] = outside_now(e, sides);
}

std::optional<PairLists::Outside> PairLists::outside_now(ExprId e, Sides& sides) {
  const Expr x = build_.graph.exprs.at(e);
  if (x.op == LOCUS_CONSTANT) return Outside{x.value, {}};
  if (const auto which = listed(e, sides)) return Outside{0, {{*which}, false}};
  if (x.op < LOCUS_neg) return {};
  if (x.op == LOCUS_eq && sides.row.size == sides.column.size) {
    const auto is = [&](ExprId a, CoordId c) { return build_.graph.exprs.at(a).op == LOCUS_COORDINATE && build_.graph.exprs.at(a).index == c; };
    for (int k = 0; k < 2; ++k)
      if (is(x.args[k], sides.row.coord) && is(x.args[1 - k], sides.column.coord)) return Outside{0, {{}, true}};
  }
  std::optional<Outside> part[3];
  for (int k = 0; k < x.arity; ++k) part[k] = outside(x.args[k], sides);
  const auto smaller = [&](const std::optional<Outside>& a, const std::optional<Outside>& b) { return !b || (a && size(a->pairs, sides) <= size(b->pairs, sides)) ? a : b; };
  // A pair that one factor lacks does not exist, whatever the other is there.
  if (x.op == LOCUS_mul || x.op == LOCUS_and || x.op == LOCUS_div || x.op == LOCUS_or) {
    const double absorbing = x.op == LOCUS_or ? 1 : 0;
    std::optional<Outside> found;
    for (int k = 0; k < (x.op == LOCUS_div ? 1 : 2); ++k)
      if (part[k] && part[k]->value == absorbing) found = smaller(found, part[k]);
    if (found) return found;
  }
  if (x.op == LOCUS_select) {
    if (!part[0]) return part[1] && part[2] && part[1]->value == part[2]->value ? std::optional(Outside{part[1]->value, both(part[1]->pairs, part[2]->pairs)}) : std::nullopt;
    const auto& taken = part[part[0]->value != 0 ? 1 : 2];
    return taken ? std::optional(Outside{taken->value, both(part[0]->pairs, taken->pairs)}) : std::nullopt;
  }
  Outside all;
  for (int k = 0; k < x.arity; ++k) {
    if (!part[k]) return {};
    all.pairs = both(all.pairs, part[k]->pairs);
  }
  if (x.op == LOCUS_real) return Outside{part[0]->value, all.pairs};
  const bool whole = build_.graph.exprs.at(x.args[0]).type <= Type::integer && x.type <= Type::integer;
  if (!graph::fold(x.op, whole, part[0]->value, x.arity > 1 ? part[1]->value : 0, &all.value)) return {};
  return all;
}

// -- lists of values
PairList PairLists::joined(const Pairs& pairs, const Sides& sides) {
  if (pairs.lists.size() == 1 && !pairs.diagonal) return list(pairs.lists[0]);
  PairList made;
  made.n = sides.row.size, made.m = sides.column.size, made.capacity = size(pairs, sides);
  graph::ArrayCall call;
  call.function = LOCUS_ARRAY_PAIRS_JOIN;
  for (const auto& which : pairs.lists) {
    const PairList l = list(which);
    call.inputs.push_back(l.starts), call.inputs.push_back(l.columns);
  }
  const Axis entry{"~pair", made.capacity, none};
  made.starts = build_.tensor({{"~start", made.n + 1, none}}, Type::integer), made.rows = build_.tensor({entry}, Type::integer), made.columns = build_.tensor({entry}, Type::integer);
  call.outputs = {made.starts, made.rows, made.columns};
  call.parameters = {pairs.diagonal ? 1.0 : 0.0};
  build_.emit({{}, "", std::move(call)});
  return made;
}

bool PairLists::diagonal(ExprId value, const Axis& row, const Axis& column) {
  Sides sides{row, column, {}};
  const auto where = outside(value, sides);
  return where && where->value == 0 && where->pairs.lists.empty() && where->pairs.diagonal;
}

std::optional<PairList> PairLists::pattern(ExprId value, const Axis& row, const Axis& column) {
  if (lists_.empty() || row.size == unknown || column.size == unknown) return {};
  Sides sides{row, column, {}};
  const auto where = outside(value, sides);
  if (!where || where->value != 0 || where->pairs.lists.empty()) return {};
  return joined(where->pairs, sides);
}

std::optional<PairList> PairLists::of(ExprId value, const Axis& row, const Axis& column) {
  if (row.size == unknown || column.size == unknown) return {};
  if (const auto which = listed(value, {row, column, {}})) return list(*which);
  auto made = pattern(value, row, column);
  if (!made) return {};
  const Axis entry = pair(*made);
  made->values = build_.materialise({at(value, row, column, *made), {entry}});
  return made;
}

std::optional<PairList> PairLists::of(const Value& v) {
  if (v.axes.size() != 2 || lists_.empty() || build_.type(v) < Type::exact) return {};
  return of(v.expr, v.axes[0], v.axes[1]);
}

// -- a value at the pairs
struct PairLists::Entries {
  Sides sides;
  const PairList& pattern;
  ExprId row, column;  ///< of an entry
  Axis pair;
  std::unordered_map<ExprId, ExprId> done;
};

ExprId PairLists::at(ExprId value, const Axis& row, const Axis& column, const PairList& pattern) {
  Entries entries{{row, column, {}}, pattern, read(pattern.rows, pattern.capacity).expr, read(pattern.columns, pattern.capacity).expr, pair(pattern), {}};
  return entry(value, entries);
}

ExprId PairLists::gathered(const Expr& table, Entries& entries) {
  graph::Gather g;
  g.table = {table.index, table.offset, {}};
  g.space = {entries.pair.coord};
  std::vector<Axis> axes{entries.pair};
  for (const graph::Stride& s : table.strides) {
    if (s.coordinate == entries.sides.row.coord || s.coordinate == entries.sides.column.coord) {
      const bool is_row = s.coordinate == entries.sides.row.coord;
      g.indices.push_back({is_row ? entries.row : entries.column, is_row ? entries.sides.row.size : entries.sides.column.size, s.stride});
      continue;
    }
    const graph::Coordinate& c = build_.graph.coordinates[s.coordinate];
    axes.push_back({c.name, c.extent, s.coordinate});
    g.space.push_back(s.coordinate);
    g.table.strides.push_back(s);
  }
  g.out = build_.tensor(axes, table.type);
  const TensorId out = g.out;
  const std::vector<CoordId> space = g.space;
  build_.emit({{}, "", std::move(g)});
  return build_.graph.read(out, space);
}

ExprId PairLists::entry(ExprId e, Entries& entries) {
  graph::Expressions& exprs = build_.graph.exprs;
  const CoordId row = entries.sides.row.coord, column = entries.sides.column.coord;
  if (!exprs.depends(e, row) && !exprs.depends(e, column)) return e;
  if (const auto found = entries.done.find(e); found != entries.done.end()) return found->second;
  const Expr x = exprs.at(e);
  ExprId made = none;
  if (x.op == LOCUS_COORDINATE) {
    made = x.index == row ? entries.row : entries.column;
  } else if (const auto which = listed(e, entries.sides)) {
    const PairList own = list(*which);
    if (own.starts == entries.pattern.starts) {
      made = read(own.values, own.capacity).expr;
    } else {
      graph::ArrayCall call;
      call.function = LOCUS_ARRAY_PAIRS_AT;
      call.inputs = {own.starts, own.columns, own.values, entries.pattern.starts, entries.pattern.columns};
      const TensorId out = build_.tensor({entries.pair}, build_.graph.tensors[own.values].type);
      call.outputs = {out};
      build_.emit({{}, "", std::move(call)});
      made = read(out, entries.pattern.capacity).expr;
    }
  } else if (x.op == LOCUS_READ) {
    made = gathered(x, entries);
  } else {
    ExprId args[3] = {none, none, none};
    for (int k = 0; k < x.arity; ++k) args[k] = entry(x.args[k], entries);
    if (x.op == LOCUS_real) {
      made = exprs.to(x.type, args[0]);
    } else if (x.op >= LOCUS_neg) {
      made = exprs.apply(x.op, args[0], args[1], args[2]);
    } else {
      Expr copy = x;
      std::copy(args, args + 3, copy.args);
      made = exprs.add(std::move(copy));
    }
  }
  return entries.done[e] = made;
}

// -- sums and products
Value PairLists::row_sums(const PairList& list, const Value& entries, const Axis& row) {
  graph::ArrayCall call;
  call.function = LOCUS_ARRAY_PAIRS_SUM;
  call.inputs = {list.starts, list.rows, build_.materialise(entries)};
  std::vector<Axis> axes = entries.axes;
  axes.front() = row;
  const TensorId out = build_.tensor(axes, build_.type(entries));
  call.outputs = {out};
  build_.emit({{}, "", std::move(call)});
  return build_.read(out, axes);
}

Value PairLists::times(const PairList& list, const Value& x, const Axis& row) {
  graph::ArrayCall call;
  call.function = LOCUS_ARRAY_PAIRS_TIMES;
  call.inputs = {list.starts, list.rows, list.columns, list.values, build_.materialise(x)};
  std::vector<Axis> axes = x.axes;
  axes.front() = row;
  const TensorId out = build_.tensor(axes, std::max(build_.type(x), build_.graph.tensors[list.values].type));
  call.outputs = {out};
  build_.emit({{}, "", std::move(call)});
  return build_.read(out, axes);
}

}  // namespace locus::sema
