// SUM_OVER and MAX_OVER as contractions. Two sides of a contraction must each have a coordinate that the other lacks: else there is no matrix in it.
// Knows nothing of nodes but which coordinates they range over.
#include "core/passes/contractions.hpp"
#include <algorithm>
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

void collect(Expressions& exprs, ExprId id, bool divides, Product& all) {
  const Expr& e = exprs.at(id);
  if (e.op == LOCUS_mul || e.op == LOCUS_div) {
    collect(exprs, e.args[0], divides, all);
    collect(exprs, e.args[1], divides != (e.op == LOCUS_div), all);
  } else if (e.op == LOCUS_neg) {
    all.factors.push_back(exprs.constant(-1, Type::exact));
    collect(exprs, e.args[0], divides, all);
  } else {
    (divides ? all.divisors : all.factors).push_back(id);
  }
}

class Shower {
 public:
  Shower(Graph& g, std::vector<CoordId> space, CoordId sample) : graph_(g), exprs_(g.exprs), space_(std::move(space)), sample_(sample) {}

  ExprId show(ExprId id) {
    const Expr& e = exprs_.at(id);
    ExprId shown = none;
    if (is_contraction(e.op)) return ordered(e.op, e.index, e.args[0], e.args[1]);
    if (e.op == LOCUS_SUM_OVER && e.type >= Type::exact) {
      shown = distance(LOCUS_SQDIST, e.index, squared(e.args[0]));
      if (shown == none) shown = distance(LOCUS_L1DIST, e.index, absolute(e.args[0]));
      if (shown == none) shown = dot(e.index, e.args[0]);
    } else if (e.op == LOCUS_MAX_OVER && e.type >= Type::exact && graph_.coordinates[e.index].extent > 0) {  // an empty distance is 0, an empty maximum -inf
      shown = distance(LOCUS_MAXDIST, e.index, absolute(e.args[0]));
    }
    return shown != none && exprs_.at(shown).type == e.type ? shown : id;
  }

 private:
  // The difference whose square e is, or none.
  ExprId squared(ExprId id) const {
    const Expr& e = exprs_.at(id);
    if (e.op == LOCUS_mul) return e.args[0] == e.args[1] ? e.args[0] : none;
    if (e.op != LOCUS_pow) return none;
    const Expr& p = exprs_.at(e.args[1]);
    return p.op == LOCUS_CONSTANT && p.value == 2 ? e.args[0] : none;
  }
  ExprId absolute(ExprId id) const { return exprs_.at(id).op == LOCUS_abs ? exprs_.at(id).args[0] : none; }

  ExprId distance(Op op, CoordId c, ExprId difference) {
    if (difference == none) return none;
    const Expr& e = exprs_.at(difference);
    if (e.op != LOCUS_sub || !apart(e.args[0], e.args[1])) return none;
    return ordered(op, c, e.args[0], e.args[1]);
  }

  ExprId dot(CoordId c, ExprId body) {
    const Product all = product_of(exprs_, body);
    const std::vector<CoordId> candidates = sample_ == none ? space_ : std::vector<CoordId>{sample_};
    for (CoordId side : candidates) {
      Product without, with, outside;
      const auto deal = [&](ExprId part, std::vector<ExprId> Product::*list) {
        if (!exprs_.depends(part, c))
          (outside.*list).push_back(part);
        else
          ((exprs_.depends(part, side) ? with : without).*list).push_back(part);
      };
      for (ExprId f : all.factors) deal(f, &Product::factors);
      for (ExprId d : all.divisors) deal(d, &Product::divisors);
      const ExprId a = multiplied(exprs_, without), b = multiplied(exprs_, with);
      if (a == none || b == none || !apart(a, b)) continue;
      outside.factors.push_back(ordered(LOCUS_DOT, c, a, b));
      return multiplied(exprs_, outside);
    }
    return none;
  }

  bool apart(ExprId a, ExprId b) const {
    const auto lacks = [&](ExprId one, ExprId other) {
      return std::any_of(space_.begin(), space_.end(), [&](CoordId c) { return exprs_.depends(other, c) && !exprs_.depends(one, c); });
    };
    return lacks(a, b) && lacks(b, a);
  }

  ExprId ordered(Op op, CoordId c, ExprId a, ExprId b) {
    const bool swapped = sample_ != none && exprs_.depends(a, sample_) && !exprs_.depends(b, sample_);
    return swapped ? exprs_.contract(op, c, b, a) : exprs_.contract(op, c, a, b);
  }

  const Graph& graph_;
  Expressions& exprs_;
  std::vector<CoordId> space_;
  CoordId sample_;
};

}  // namespace

Product product_of(Expressions& exprs, ExprId e) {
  Product all;
  collect(exprs, e, false, all);
  return all;
}

ExprId multiplied(Expressions& exprs, const Product& p) {
  const auto joined = [&exprs](const std::vector<ExprId>& all) {
    ExprId product = none;
    for (ExprId e : all) product = product == none ? e : exprs.apply(LOCUS_mul, product, e);
    return product;
  };
  const ExprId above = joined(p.factors), below = joined(p.divisors);
  if (below == none) return above;
  return exprs.apply(LOCUS_div, above == none ? exprs.constant(1, Type::exact) : above, below);
}

void show_contractions(Graph& g) {
  each_list(g.nodes, [&g](std::vector<Node>& nodes) {
    for (Node& n : nodes) {
      std::vector<CoordId> space;
      CoordId sample = none;
      if (const auto* map = std::get_if<Map>(&n.kind)) {
        space = map->space;
      } else if (const auto* r = std::get_if<Reduce>(&n.kind)) {
        space = r->rows, sample = r->sample;
        space.push_back(sample);
      } else {
        continue;
      }
      Shower shower(g, space, sample);
      each_expression(n, [&](ExprId& e) { e = rewrite(g.exprs, e, [&](ExprId part) { return shower.show(part); }); });
    }
  });
}

}  // namespace locus::passes
