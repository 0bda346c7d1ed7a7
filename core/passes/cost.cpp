// Costs by op: transcendental functions as ten additions, divisions as four. Shared parts are counted at each use: an upper bound is good enough.
// Knows nothing of backends' real costs.
#include "core/passes/cost.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

double own_cost(Op op) {
  switch (op) {
    case LOCUS_CONSTANT:
    case LOCUS_READ:
    case LOCUS_COORDINATE:
    case LOCUS_real:
      return 0;
    case LOCUS_div:
    case LOCUS_sqrt:
    case LOCUS_idiv:
    case LOCUS_mod:
    case LOCUS_pow:
      return 4;
    case LOCUS_CALL:
      return 20;
    default:
      break;
  }
  const bool transcendental = op >= LOCUS_exp && op <= LOCUS_silu && op != LOCUS_floor && op != LOCUS_round && op != LOCUS_relu;
  return transcendental ? 10 : 1;
}

}  // namespace

double Costs::of(ExprId id) {
  if (const auto found = costs_.find(id); found != costs_.end()) return found->second;
  const Expr& e = graph_.exprs.at(id);
  double cost = own_cost(e.op);
  for (int k = 0; k < e.arity; ++k) cost += of(e.args[k]);
  if (is_over(e.op) || is_contraction(e.op)) cost = (cost + 1) * (e.index == none ? 1.0 : static_cast<double>(graph_.coordinates[e.index].extent));
  costs_.emplace(id, cost);
  return cost;
}

bool Costs::safe(ExprId id) {
  if (const auto found = safe_.find(id); found != safe_.end()) return found->second;
  const Expr& e = graph_.exprs.at(id);
  bool good = e.op != LOCUS_CALL;
  if (e.op == LOCUS_idiv || e.op == LOCUS_mod) {
    const Expr& divisor = graph_.exprs.at(e.args[1]);
    good = divisor.op == LOCUS_CONSTANT && divisor.value != 0;
  }
  for (int k = 0; k < e.arity && good; ++k) good = safe(e.args[k]);
  safe_.emplace(id, good);
  return good;
}

}  // namespace locus::passes
