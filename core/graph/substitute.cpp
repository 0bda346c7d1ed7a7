// Coordinates of expressions: renamed, fixed, shifted; and what an expression depends on. Knows nothing of nodes.
#include <algorithm>
#include <stdexcept>
#include "core/graph/expression.hpp"

namespace locus::graph {
namespace {

bool binds(const Expr& e) { return ((e.op >= LOCUS_SUM_OVER && e.op <= LOCUS_MIN_OVER) || (e.op >= LOCUS_DOT && e.op <= LOCUS_MAXDIST)) && e.index != none; }

}  // namespace

// A substitution says what becomes of coordinate c: as an expression (both pointers null), or in a read, where the stride's coordinate may change
// (to none: it goes away) and the offset, in units of the stride, may grow.
ExprId Expressions::substitute_read(const Expr& e, const Substitution& with) {
  std::int64_t offset = e.offset;
  std::vector<Stride> strides;
  for (Stride s : e.strides) {
    std::int64_t steps = 0;
    with(s.coordinate, &s, &steps);
    offset += steps * s.stride;
    if (s.coordinate != none) strides.push_back(s);
  }
  return read(e.index, e.type, offset, std::move(strides));
}

ExprId Expressions::substitute(ExprId id, const Substitution& with, std::unordered_map<ExprId, ExprId>& done) {
  if (free_[id].empty()) return id;
  if (const auto found = done.find(id); found != done.end()) return found->second;
  const Expr& e = at(id);
  ExprId result = none;
  if (e.op == LOCUS_COORDINATE) {
    result = with(e.index, nullptr, nullptr);
  } else if (e.op == LOCUS_READ) {
    result = substitute_read(e, with);
  } else if (binds(e)) {
    const CoordId bound = e.index;
    const Substitution inside = [&](CoordId c, Stride* stride, std::int64_t* steps) {
      if (c == bound) return stride ? none : coordinate(c);
      const ExprId to = with(c, stride, steps);
      if (stride ? stride->coordinate == bound : depends(to, bound)) throw std::logic_error("a renamed coordinate is captured by a sum over its new name");
      return to;
    };
    std::unordered_map<ExprId, ExprId> fresh;
    Expr r = e;
    for (int k = 0; k < e.arity; ++k) r.args[k] = substitute(e.args[k], inside, fresh);
    result = add(std::move(r));
  } else {
    ExprId args[3] = {none, none, none};
    for (int k = 0; k < e.arity; ++k) args[k] = substitute(e.args[k], with, done);
    if (std::equal(args, args + 3, e.args)) {
      result = id;
    } else if (e.op == LOCUS_CALL || e.op < LOCUS_neg) {
      Expr r = e;
      std::copy(args, args + 3, r.args);
      result = add(std::move(r));
    } else {
      result = e.op == LOCUS_real ? to(e.type, args[0]) : apply(e.op, args[0], args[1], args[2]);
    }
  }
  done.emplace(id, result);
  return result;
}

ExprId Expressions::rename(ExprId e, const std::function<CoordId(CoordId)>& map) {
  std::unordered_map<ExprId, ExprId> done;
  return substitute(
      e,
      [&](CoordId c, Stride* stride, std::int64_t*) {
        const CoordId to = map(c);
        if (stride) return stride->coordinate = to, none;
        return coordinate(to);
      },
      done);
}

ExprId Expressions::fix(ExprId e, CoordId fixed, std::int64_t index) {
  std::unordered_map<ExprId, ExprId> done;
  return substitute(
      e,
      [&](CoordId c, Stride* stride, std::int64_t* steps) {
        if (!stride) return c == fixed ? constant(static_cast<double>(index), Type::integer) : coordinate(c);
        if (c == fixed) stride->coordinate = none, *steps = index;
        return none;
      },
      done);
}

ExprId Expressions::shift(ExprId e, CoordId shifted, std::int64_t by) {
  std::unordered_map<ExprId, ExprId> done;
  return substitute(
      e,
      [&](CoordId c, Stride* stride, std::int64_t* steps) {
        if (!stride) return c == shifted ? apply(LOCUS_add, coordinate(c), constant(static_cast<double>(by), Type::integer)) : coordinate(c);
        if (c == shifted) *steps = by;
        return none;
      },
      done);
}

bool Expressions::depends(ExprId e, CoordId c) const { return std::binary_search(free_[e].begin(), free_[e].end(), c); }

std::vector<CoordId> Expressions::free(ExprId e) const { return free_[e]; }

std::vector<TensorId> Expressions::reads(ExprId e) const {
  std::vector<TensorId> tensors;
  std::vector<bool> seen(e + 1, false);
  std::vector<ExprId> open{e};
  seen[e] = true;
  while (!open.empty()) {
    const Expr& x = at(open.back());
    open.pop_back();
    if (x.op == LOCUS_READ) tensors.push_back(x.index);
    for (int k = 0; k < x.arity; ++k)
      if (!seen[x.args[k]]) seen[x.args[k]] = true, open.push_back(x.args[k]);
  }
  std::sort(tensors.begin(), tensors.end());
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  return tensors;
}

}  // namespace locus::graph
