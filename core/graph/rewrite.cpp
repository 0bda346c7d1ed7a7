// Expressions made anew; see rewrite.hpp.
#include "core/graph/rewrite.hpp"
#include <algorithm>
#include <unordered_map>

namespace locus::graph {

bool is_over(Op op) { return op >= LOCUS_SUM_OVER && op <= LOCUS_MIN_OVER; }
bool is_contraction(Op op) { return op >= LOCUS_DOT && op <= LOCUS_MAXDIST; }

ExprId rebuild(Expressions& exprs, ExprId id, const ExprId (&args)[3]) {
  const Expr& e = exprs.at(id);
  if (std::equal(args, args + 3, e.args)) return id;
  if (e.op == LOCUS_real) return exprs.to(e.type, args[0]);
  if (e.op > LOCUS_BEFORE_OPS) return exprs.apply(e.op, args[0], args[1], args[2]);
  Expr changed = e;
  std::copy(args, args + 3, changed.args);
  return exprs.add(std::move(changed));
}

namespace {

ExprId rewrite(Expressions& exprs, ExprId id, const std::function<ExprId(ExprId)>& change, std::unordered_map<ExprId, ExprId>& done) {
  if (const auto found = done.find(id); found != done.end()) return found->second;
  const Expr& e = exprs.at(id);
  ExprId args[3] = {none, none, none};
  for (int k = 0; k < e.arity; ++k) args[k] = rewrite(exprs, e.args[k], change, done);
  const ExprId result = change(rebuild(exprs, id, args));
  done.emplace(id, result);
  return result;
}

}  // namespace

ExprId rewrite(Expressions& exprs, ExprId e, const std::function<ExprId(ExprId)>& change) {
  std::unordered_map<ExprId, ExprId> done;
  return rewrite(exprs, e, change, done);
}

}  // namespace locus::graph
