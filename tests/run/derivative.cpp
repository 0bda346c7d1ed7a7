// Derivatives of expressions against central differences, in float64 on the reference backend: every op, and sums whose index meets the entry.
#include <cmath>
#include "core/graph/derivative.hpp"
#include "tests/run/reference.hpp"

using namespace locus;
using namespace locus::graph;

namespace {

/// y[n] = e, with t0 = x.
std::vector<double> values(Graph g, ExprId e, CoordId c, const Array& x) {
  Map m;
  m.out = g.add_tensor({"y", Type::real, {g.coordinates[c].extent}, {"n"}}), m.space = {c}, m.value = g.exprs.at(e).type == Type::exact ? g.exprs.to(Type::real, e) : e;
  g.outputs.push_back({"y", m.out});
  g.nodes.push_back({{}, "y", std::move(m)});
  RunOptions options;
  options.backend = test::reference(), options.real = Dtype::float64, options.fuse = false;
  Diagnostics found;
  const auto out = run_graph(g, {{"x", x}}, options, found);
  REQUIRE_FALSE(found.failed());
  std::vector<double> all;
  for (std::int64_t k = 0; k < out.at("y").count(); ++k) all.push_back(out.at("y").number(k));
  return all;
}

Graph with_input(std::vector<std::int64_t> shape) {
  Graph g;
  Input input;
  input.out = g.add_tensor({"x", Type::real, shape, std::vector<std::string>(shape.size(), "n")}), input.name.assign(1, 'x');
  g.nodes.push_back({{}, "x", input});
  return g;
}

}  // namespace

TEST_CASE("the derivative of every op is that of its central differences") {
  constexpr std::int64_t n = 40;
  for (int op = LOCUS_BEFORE_OPS + 1; op < LOCUS_OP_END; ++op) {
    const auto o = static_cast<Op>(op);
    const std::string rule = info(o).rule, name = info(o).name;
    if (rule == "logic" || rule == "integer" || rule == "compare" || rule == "select" || rule == "to_real" || name == "lgamma") continue;  // no way through, or none yet
    for (int which = 0; which < info(o).arity; ++which) {
      CAPTURE(name, which);
      Graph g = with_input({n});
      const CoordId c = g.add_coordinate("n", n);
      const ExprId x = g.read(0, {c}), other = g.exprs.constant(1.7, Type::exact);
      const ExprId e = info(o).arity == 1 ? g.exprs.apply(o, x) : which == 0 ? g.exprs.apply(o, x, other) : g.exprs.apply(o, other, x);
      Unknown u;
      u.tensor = 0, u.rows = {c};
      const ExprId d = Derivative(g, u).whole(e);
      std::vector<double> at, below, above;
      const double low = info(o).low, high = info(o).high, h = 1e-5;
      for (std::int64_t k = 0; k < n; ++k) at.push_back(low + (high - low) * (static_cast<double>(k) + 0.37) / n), below.push_back(at.back() - h), above.push_back(at.back() + h);
      const auto left = values(g, e, c, test::array({n}, below)), right = values(g, e, c, test::array({n}, above));
      const auto slope = d == none ? std::vector<double>(n, 0.0) : values(g, d, c, test::array({n}, at));
      for (std::size_t k = 0; k < n; ++k) {
        const double difference = (right[k] - left[k]) / (2 * h);
        if (std::abs(difference) > 1e4) continue;  // a jump between the two places
        CHECK(std::abs(slope[k] - difference) <= 1e-5 * std::max(1.0, std::abs(difference)));
      }
    }
  }
}

TEST_CASE("a sum that meets the entry's own index is that one summand") {
  Graph g = with_input({3, 4});
  const CoordId row = g.add_coordinate("n", 3), c = g.add_coordinate("d", 4), entry = g.add_coordinate("e", 4);
  const ExprId e = g.exprs.over(LOCUS_SUM_OVER, c, g.exprs.apply(LOCUS_pow, g.read(0, {row, c}), g.exprs.constant(3, Type::exact)));
  Unknown u;
  u.tensor = 0, u.rows = {row}, u.entry = {entry};
  const auto terms = Derivative(g, u).of(e);
  REQUIRE(terms.size() == 1);
  CHECK(terms[0].pins.empty());
  CHECK(g.exprs.free(terms[0].value) == std::vector<CoordId>{row, entry});
  CHECK(g.exprs.at(terms[0].value).op != LOCUS_SUM_OVER);
}
