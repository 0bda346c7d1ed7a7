// Weights taken apart; see weight.hpp.
#include "core/graph/weight.hpp"
#include "core/graph/rewrite.hpp"

namespace locus::graph {
namespace {

// A weight as factor * exp(score); none stands for 1 and for 0.
struct Split {
  ExprId factor = none, score = none;
};

// A factor as rest * [condition]; none stands for 1 and for "always".
struct Stripped {
  ExprId rest = none, condition = none;
};

class Splitter {
 public:
  explicit Splitter(Expressions& exprs) : exprs_(exprs) {}

  Split split(ExprId w) {
    const Expr& e = exprs_.at(w);
    switch (e.op) {
      case LOCUS_exp:
        return {none, e.args[0]};
      case LOCUS_mul: {
        const Split a = split(e.args[0]), b = split(e.args[1]);
        if (a.score == none && b.score == none) break;
        return {join(LOCUS_mul, a.factor, b.factor), join(LOCUS_add, a.score, b.score)};
      }
      case LOCUS_div: {
        const Split a = split(e.args[0]), b = split(e.args[1]);
        if (a.score == none && b.score == none) break;
        const ExprId score = b.score == none ? a.score : a.score == none ? exprs_.apply(LOCUS_neg, b.score) : exprs_.apply(LOCUS_sub, a.score, b.score);
        return {b.factor == none ? a.factor : exprs_.apply(LOCUS_div, or_one(a.factor), b.factor), score};
      }
      case LOCUS_neg: {
        const Split a = split(e.args[0]);
        if (a.score == none) break;
        return {exprs_.apply(LOCUS_neg, or_one(a.factor)), a.score};
      }
      case LOCUS_pow: {
        const Split a = split(e.args[0]);
        if (a.score == none) break;
        return {a.factor == none ? none : exprs_.apply(LOCUS_pow, a.factor, e.args[1]), exprs_.apply(LOCUS_mul, a.score, e.args[1])};
      }
      case LOCUS_select: {
        const Split a = split(e.args[1]), b = split(e.args[2]);
        if (a.score == none && b.score == none) break;
        const ExprId factor = a.factor == none && b.factor == none ? none : exprs_.apply(LOCUS_select, e.args[0], or_one(a.factor), or_one(b.factor));
        return {factor, exprs_.apply(LOCUS_select, e.args[0], or_zero(a.score), or_zero(b.score))};
      }
      case LOCUS_real: {
        const Split a = split(e.args[0]);
        if (a.score == none) break;
        return {a.factor == none ? none : exprs_.to(e.type, a.factor), exprs_.to(e.type, a.score)};
      }
      default:
        break;
    }
    return {w, none};
  }

  // Takes the conditions out of a product. What is not one of its cases is its own rest.
  Stripped strip(ExprId f) {
    const Expr& e = exprs_.at(f);
    switch (e.op) {
      case LOCUS_CONSTANT:
        if (e.value == 1) return {};
        break;
      case LOCUS_real: {
        const ExprId a = e.args[0];
        if (exprs_.at(a).type == Type::boolean) return {none, a};
        const Stripped s = strip(a);
        if (s.condition == none) break;
        return {s.rest == none ? none : exprs_.to(e.type, s.rest), s.condition};
      }
      case LOCUS_mul: {
        const Stripped a = strip(e.args[0]), b = strip(e.args[1]);
        if (a.condition == none && b.condition == none) break;
        return {join(LOCUS_mul, a.rest, b.rest), join(LOCUS_and, a.condition, b.condition)};
      }
      case LOCUS_div: {
        const Stripped a = strip(e.args[0]);
        if (a.condition == none) break;
        return {exprs_.apply(LOCUS_div, or_one(a.rest), e.args[1]), a.condition};
      }
      case LOCUS_neg: {
        const Stripped a = strip(e.args[0]);
        if (a.condition == none) break;
        return {exprs_.apply(LOCUS_neg, or_one(a.rest)), a.condition};
      }
      case LOCUS_pow: {  // 0^p is 0 for p > 0 only
        const Expr& p = exprs_.at(e.args[1]);
        if (p.op != LOCUS_CONSTANT || !(p.value > 0)) break;
        const Stripped a = strip(e.args[0]);
        if (a.condition == none) break;
        return {a.rest == none ? none : exprs_.apply(LOCUS_pow, a.rest, e.args[1]), a.condition};
      }
      case LOCUS_select:
        if (is_zero(e.args[2])) return under(e.args[0], e.args[1]);
        if (is_zero(e.args[1])) return under(exprs_.apply(LOCUS_not, e.args[0]), e.args[2]);
        break;
      default:
        break;
    }
    return {f, none};
  }

  // e where the condition is known to hold: selects by it have taken their side.
  ExprId assuming(ExprId condition, ExprId e) {
    if (e == none || condition == none) return e;
    const Expr& c = exprs_.at(condition);
    if (c.op == LOCUS_and) return assuming(c.args[1], assuming(c.args[0], e));
    return rewrite(exprs_, e, [&](ExprId part) {
      const Expr& p = exprs_.at(part);
      if (p.op != LOCUS_select) return part;
      if (p.args[0] == condition) return exprs_.to(p.type, p.args[1]);
      return c.op == LOCUS_not && p.args[0] == c.args[0] ? exprs_.to(p.type, p.args[2]) : part;
    });
  }

  ExprId join(Op op, ExprId a, ExprId b) { return a == none ? b : b == none ? a : exprs_.apply(op, a, b); }

 private:
  Stripped under(ExprId condition, ExprId factor) {
    const Stripped inner = strip(factor);
    return {inner.rest, join(LOCUS_and, condition, inner.condition)};
  }
  ExprId or_one(ExprId e) { return e == none ? exprs_.constant(1, Type::exact) : e; }
  ExprId or_zero(ExprId e) { return e == none ? exprs_.constant(0, Type::exact) : e; }
  bool is_zero(ExprId e) const { return exprs_.at(e).op == LOCUS_CONSTANT && exprs_.at(e).value == 0; }

  Expressions& exprs_;
};

// `nearest` chooses among all pairs that exist, whatever their weight: there a condition in the weight is not a condition on the pairs.
bool weight_decides(const Reduce& r) {
  for (const Estimate& e : r.estimates)
    if (e.estimator == LOCUS_NEAREST) return false;
  return true;
}

}  // namespace

void split_weight(Expressions& exprs, Reduce& r) {
  if (r.weight == none) return;
  Splitter splitter(exprs);
  const Split weight = splitter.split(r.weight);
  Stripped factor{weight.factor, none};
  if (factor.rest != none && weight_decides(r)) factor = splitter.strip(factor.rest);
  if (factor.rest != none && exprs.at(factor.rest).op == LOCUS_CONSTANT && exprs.at(factor.rest).value == 1) factor.rest = none;
  // An int factor is a number of the pair like any other.
  if (factor.rest != none && exprs.at(factor.rest).type < Type::exact) factor.rest = exprs.to(Type::exact, factor.rest);
  r.where = splitter.join(LOCUS_and, r.where, factor.condition);
  r.factor = splitter.assuming(factor.condition, factor.rest);
  r.score = splitter.assuming(factor.condition, weight.score);
  r.weight = none;
  if (r.where != none && exprs.at(r.where).op == LOCUS_CONSTANT && exprs.at(r.where).value != 0) r.where = none;
}

}  // namespace locus::graph
