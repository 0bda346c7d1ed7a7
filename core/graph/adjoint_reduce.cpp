// The way back through a reduce. With p = w / sum w, a weight w = R exp(u) and T = log sum exp(u): d mean(v) = sum p dv + (v - mean) p d log w, where
// p d log w = exp(u - T) (R du + dR) / sum R exp(u - T), so that neither overflow nor a weight of 0 is divided by. See adjoint.hpp.
#include <limits>
#include "core/graph/adjoint.hpp"
#include "core/graph/weight.hpp"

namespace locus::graph {

void Adjoint::back(const Reduce& given) {
  Reduce r = given;
  r.weight = plain(r.weight), r.factor = plain(r.factor), r.score = plain(r.score);
  split_weight(x_, r);
  const auto times = [&](ExprId a, ExprId b) { return a == none ? b : b == none ? a : x_.apply(LOCUS_mul, a, b); };
  const auto plus = [&](ExprId a, ExprId b) { return a == none ? b : x_.apply(LOCUS_add, a, b); };
  const auto features_of = [&](const Estimate& e) {
    std::vector<CoordId> all = r.rows;
    all.insert(all.end(), e.features.begin(), e.features.end());
    return all;
  };
  const auto over_features = [&](const Estimate& e, ExprId a, ExprId b) {  // sum of a b
    ExprId sum = e.features.empty() ? x_.apply(LOCUS_mul, a, b) : x_.contract(LOCUS_DOT, e.features.back(), a, b);
    for (std::size_t k = 0; k + 1 < e.features.size(); ++k) sum = x_.over(LOCUS_SUM_OVER, e.features[k], sum);
    return sum;
  };
  Pairs plain_pairs{r.rows, r.sample, {}, none, r.where, r.list};
  plain_pairs.weight = r.score == none ? none : x_.apply(LOCUS_exp, r.score);
  Type type = Type::exact;
  for (const Estimate& e : r.estimates)
    if (graph_.tensors[e.out].type == Type::real) type = Type::real;

  // What means are relative to: exp(u - T), and 1 / sum R exp(u - T), 0 where no pair counts.
  Pairs normal = plain_pairs;
  ExprId top = none, total = none, inverse = none;
  const auto normalise = [&] {
    if (inverse != none) return;
    if (r.score != none) {
      const ExprId log = read(reduced(plain_pairs, LOCUS_LOGMASS, none, type), r.rows);
      top = x_.apply(LOCUS_select, x_.apply(LOCUS_lt, x_.apply(LOCUS_abs, log), number(std::numeric_limits<double>::infinity())), log, number(0));
      normal.weight = x_.apply(LOCUS_exp, x_.apply(LOCUS_sub, r.score, top));
    }
    total = read(r.factor == none ? reduced(normal, LOCUS_MASS, none, type) : reduced(normal, LOCUS_WEIGHTED_SUM, r.factor, type), r.rows);
    inverse = x_.apply(LOCUS_select, x_.apply(LOCUS_eq, total, number(0)), number(0), x_.apply(LOCUS_div, number(1), total));
  };
  const auto finite = [&](ExprId e) { return x_.apply(LOCUS_select, x_.apply(LOCUS_eq, total, number(0)), number(0), e); };

  ExprId by_log = none, by_weight = none;  // what a change of log w counts relative to the mean, and a change of w itself
  for (const Estimate& e : r.estimates) {
    if (!found(e.out)) continue;
    auto dims = features_of(e);
    if (e.estimator == LOCUS_GRAM || e.estimator == LOCUS_WEIGHTS) dims.push_back(r.sample);
    const ExprId g = at(e.out, dims);
    switch (e.estimator) {
      case LOCUS_MEAN: {
        normalise();
        const ExprId value = plain(e.value), mean = finite(read(e.out, dims));
        Pairs p = normal;
        p.features = e.features;
        push(value, times(x_.apply(LOCUS_mul, g, inverse), r.factor), p);
        by_log = plus(by_log, x_.apply(LOCUS_mul, over_features(e, g, x_.apply(LOCUS_sub, value, mean)), inverse));
        break;
      }
      case LOCUS_WEIGHTED_SUM: {
        const ExprId value = plain(e.value);
        Pairs p = plain_pairs;
        p.features = e.features;
        push(value, times(g, r.factor), p);
        by_weight = plus(by_weight, over_features(e, g, value));
        break;
      }
      case LOCUS_MASS:
      case LOCUS_GRAM:
        by_weight = plus(by_weight, g);
        break;
      case LOCUS_LOGMASS:
        normalise();
        by_log = plus(by_log, x_.apply(LOCUS_mul, g, inverse));
        break;
      case LOCUS_ENTROPY: {  // d H = -sum (log p + H) p d log w
        normalise();
        ExprId log = x_.apply(LOCUS_neg, x_.apply(LOCUS_log, total));
        if (r.score != none) log = x_.apply(LOCUS_add, log, x_.apply(LOCUS_sub, r.score, top));
        if (r.factor != none) log = x_.apply(LOCUS_add, log, x_.apply(LOCUS_log, x_.apply(LOCUS_abs, r.factor)));
        ExprId a = x_.apply(LOCUS_neg, x_.apply(LOCUS_mul, x_.apply(LOCUS_mul, g, inverse), x_.apply(LOCUS_add, log, finite(read(e.out, dims)))));
        if (r.factor != none) a = x_.apply(LOCUS_select, x_.apply(LOCUS_eq, r.factor, number(0)), number(0), a);
        by_log = plus(by_log, a);
        break;
      }
      case LOCUS_WEIGHTS: {
        normalise();
        const ExprId mean = finite(read(reduced({r.rows, r.sample, {}, times(r.factor, normal.weight), r.where, r.list}, LOCUS_MEAN, g, type), r.rows));
        by_log = plus(by_log, x_.apply(LOCUS_mul, x_.apply(LOCUS_sub, g, mean), inverse));
        break;
      }
      case LOCUS_MAXIMUM:
      case LOCUS_MINIMUM: {  // to the pairs that reach it, in equal shares
        const ExprId value = plain(e.value), here = x_.to(Type::exact, x_.apply(LOCUS_eq, value, read(e.out, dims)));
        Pairs p{r.rows, r.sample, e.features, none, r.where, r.list};
        if (r.factor != none) {
          const ExprId counts = x_.apply(LOCUS_ne, r.factor, number(0));
          p.where = p.where == none ? counts : x_.apply(LOCUS_and, p.where, counts);
        }
        const ExprId ties = read(reduced(p, LOCUS_WEIGHTED_SUM, here, type), dims);
        const ExprId share = x_.apply(LOCUS_select, x_.apply(LOCUS_eq, ties, number(0)), number(0), x_.apply(LOCUS_div, g, ties));
        push(value, x_.apply(LOCUS_mul, share, here), p);
        break;
      }
      case LOCUS_COUNT:
      case LOCUS_NEAREST: break;  // whole numbers do not move
      default: throw NoDerivative{"`" + std::string(name_of(e.estimator)) + "`", span_};
    }
  }
  for (const auto& [cotangent, pairs] : {std::pair{by_log, normal}, std::pair{by_weight, plain_pairs}}) {
    if (cotangent == none) continue;
    if (r.score != none) push(r.score, times(cotangent, r.factor), pairs);
    if (r.factor != none) push(r.factor, cotangent, pairs);
  }
}

}  // namespace locus::graph
