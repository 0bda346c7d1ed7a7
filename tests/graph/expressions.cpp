// Folding, typing and renaming of expressions.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include "core/graph/fold.hpp"
#include "core/graph/graph.hpp"

using namespace locus::graph;

namespace {
struct Pair {
  Graph g;
  CoordId i, j, d;
  TensorId x, y, k;
  ExprId xi, yj, ki;
  Pair() {
    i = g.add_coordinate("n", 4), j = g.add_coordinate("m", 5), d = g.add_coordinate("d", 3);
    x = g.add_tensor({"x", Type::real, {4, 3}, {"n", "d"}});
    y = g.add_tensor({"y", Type::real, {5, 3}, {"m", "d"}});
    k = g.add_tensor({"k", Type::integer, {4}, {"n"}});
    xi = g.read(x, {i, d}), yj = g.read(y, {j, d}), ki = g.read(k, {i});
  }
  Expressions& e() { return g.exprs; }
  ExprId whole(double v) { return e().constant(v, Type::integer); }
  ExprId exact(double v) { return e().constant(v, Type::exact); }
  Type type(ExprId id) { return e().at(id).type; }
  double value(ExprId id) {
    REQUIRE(e().at(id).op == LOCUS_CONSTANT);
    return e().at(id).value;
  }
};
}  // namespace

TEST_CASE("equal expressions are one, and constants are their bits") {
  Pair p;
  CHECK(p.e().apply(LOCUS_add, p.xi, p.yj) == p.e().apply(LOCUS_add, p.xi, p.yj));
  CHECK(p.exact(0.0) != p.exact(-0.0));
  CHECK(p.exact(std::nan("")) == p.exact(std::nan("")));
  CHECK(p.exact(1) != p.whole(1));
  const Expr& first = p.e().at(p.xi);
  for (int n = 0; n < 1000; ++n) p.exact(n);
  CHECK(&first == &p.e().at(p.xi));  // references stay
}

TEST_CASE("types follow the rules of locus_ops.def") {
  Pair p;
  CHECK(p.type(p.e().apply(LOCUS_add, p.ki, p.whole(2))) == Type::integer);
  CHECK(p.type(p.e().apply(LOCUS_div, p.ki, p.whole(2))) == Type::exact);
  CHECK(p.type(p.e().apply(LOCUS_exp, p.ki)) == Type::exact);
  CHECK(p.type(p.e().apply(LOCUS_mul, p.xi, p.exact(0.5))) == Type::real);
  CHECK(p.type(p.e().apply(LOCUS_mul, p.ki, p.exact(0.5))) == Type::exact);
  CHECK(p.type(p.e().apply(LOCUS_lt, p.xi, p.ki)) == Type::boolean);
  CHECK(p.type(p.e().apply(LOCUS_pow, p.ki, p.whole(3))) == Type::integer);
  CHECK(p.type(p.e().apply(LOCUS_pow, p.ki, p.whole(-3))) == Type::exact);
  CHECK(p.type(p.e().apply(LOCUS_select, p.e().apply(LOCUS_lt, p.ki, p.whole(2)), p.ki, p.xi)) == Type::real);
  CHECK(p.type(p.e().contract(LOCUS_DOT, p.d, p.xi, p.yj)) == Type::real);

  const Expr& sum = p.e().at(p.e().apply(LOCUS_add, p.xi, p.ki));  // the int meets a real: it is converted
  CHECK(p.e().at(sum.args[1]).op == LOCUS_real);
  CHECK(p.type(sum.args[1]) == Type::real);
  const Expr& scaled = p.e().at(p.e().apply(LOCUS_mul, p.xi, p.whole(3)));  // a constant stays exact
  CHECK(p.type(scaled.args[1]) == Type::exact);
  CHECK_THROWS(p.e().apply(LOCUS_and, p.xi, p.yj));
  CHECK_THROWS(p.e().apply(LOCUS_idiv, p.xi, p.whole(2)));
  CHECK_THROWS(p.e().apply(LOCUS_add, p.xi));
}

TEST_CASE("constants fold in double") {
  Pair p;
  CHECK(p.value(p.e().apply(LOCUS_sqrt, p.e().apply(LOCUS_mul, p.whole(2), p.exact(std::acos(-1.0))))) == std::sqrt(2 * std::acos(-1.0)));
  CHECK(p.value(p.e().apply(LOCUS_idiv, p.whole(-7), p.whole(2))) == -4);
  CHECK(p.value(p.e().apply(LOCUS_mod, p.whole(-7), p.whole(2))) == 1);
  CHECK(p.value(p.e().apply(LOCUS_pow, p.exact(-2), p.whole(3))) == -8);
  CHECK(p.value(p.e().apply(LOCUS_round, p.exact(2.5))) == 2);
  CHECK(p.value(p.e().apply(LOCUS_softplus, p.exact(1000))) == 1000);
  CHECK(std::isnan(p.value(p.e().apply(LOCUS_maximum, p.exact(1), p.exact(std::nan(""))))));
  CHECK(std::isnan(p.value(p.e().apply(LOCUS_minimum, p.exact(std::nan("")), p.exact(1)))));
  CHECK(p.e().at(p.e().apply(LOCUS_idiv, p.whole(1), p.whole(0))).op == LOCUS_idiv);  // a fault belongs to the run
  CHECK(p.e().at(p.e().apply(LOCUS_mul, p.whole(0x1p40), p.whole(0x1p40))).op == LOCUS_mul);
  CHECK(p.value(p.e().apply(LOCUS_div, p.whole(1), p.whole(0))) == std::numeric_limits<double>::infinity());
}

TEST_CASE("identities hold for every float or are left alone") {
  Pair p;
  CHECK(p.e().apply(LOCUS_mul, p.xi, p.whole(1)) == p.xi);
  CHECK(p.e().apply(LOCUS_div, p.xi, p.whole(1)) == p.xi);
  CHECK(p.e().apply(LOCUS_sub, p.xi, p.exact(0)) == p.xi);
  CHECK(p.e().apply(LOCUS_add, p.ki, p.whole(0)) == p.ki);
  CHECK(p.e().apply(LOCUS_add, p.xi, p.exact(0)) != p.xi);  // -0.0 + 0.0 is 0.0
  CHECK(p.e().apply(LOCUS_sub, p.xi, p.exact(-0.0)) != p.xi);
  CHECK(p.e().at(p.e().apply(LOCUS_mul, p.xi, p.exact(0))).op == LOCUS_mul);  // NaN * 0 is NaN
  CHECK(p.value(p.e().apply(LOCUS_mul, p.ki, p.whole(0))) == 0);
  CHECK(p.e().apply(LOCUS_neg, p.e().apply(LOCUS_neg, p.xi)) == p.xi);
  const ExprId near = p.e().apply(LOCUS_lt, p.xi, p.yj);
  CHECK(p.e().apply(LOCUS_not, p.e().apply(LOCUS_not, near)) == near);
  CHECK(p.e().apply(LOCUS_and, near, p.e().constant(1, Type::boolean)) == near);
  CHECK(p.value(p.e().apply(LOCUS_and, near, p.e().constant(0, Type::boolean))) == 0);
  CHECK(p.e().apply(LOCUS_select, p.e().constant(1, Type::boolean), p.xi, p.yj) == p.xi);
}

TEST_CASE("coordinates are renamed, fixed and shifted") {
  Pair p;
  const ExprId distance = p.e().contract(LOCUS_SQDIST, p.d, p.xi, p.yj);
  CHECK(p.e().free(distance) == std::vector<CoordId>{p.i, p.j});
  CHECK(p.e().depends(distance, p.i));
  CHECK_FALSE(p.e().depends(distance, p.d));
  CHECK(p.e().reads(distance) == std::vector<TensorId>{p.x, p.y});

  const CoordId r = p.g.add_coordinate("r", 4);
  const ExprId renamed = p.e().rename(distance, [&](CoordId c) { return c == p.i ? r : c; });
  CHECK(p.e().free(renamed) == std::vector<CoordId>{p.j, r});
  CHECK(p.e().rename(renamed, [&](CoordId c) { return c == r ? p.i : c; }) == distance);
  CHECK_THROWS(p.e().rename(distance, [&](CoordId c) { return c == p.i ? p.d : c; }));  // would be captured

  const Expr& fixed = p.e().at(p.e().fix(p.xi, p.i, 2));
  CHECK(fixed.offset == 6);
  CHECK(fixed.strides == std::vector<Stride>{{p.d, 1}});
  CHECK(p.e().at(p.e().shift(p.xi, p.i, -1)).offset == -3);
  const ExprId moved = p.e().shift(p.e().coordinate(p.i), p.i, 2);
  CHECK(p.e().apply(LOCUS_add, p.e().coordinate(p.i), p.whole(2)) == moved);
  CHECK(p.value(p.e().fix(p.e().apply(LOCUS_mul, p.e().coordinate(p.i), p.whole(3)), p.i, 4)) == 12);

  const Expr& diagonal =
      p.e().at(p.e().rename(p.g.read(p.g.add_tensor({"a", Type::real, {4, 4}, {"n", "n"}}), {p.i, r}), [&](CoordId c) { return c == r ? p.i : c; }));
  CHECK(diagonal.strides == std::vector<Stride>{{p.i, 5}});  // both strides met
}
