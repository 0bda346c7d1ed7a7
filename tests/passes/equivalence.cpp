// Random graphs give the same numbers on the reference backend with and without passes, and after each pass alone.
#include <cmath>
#include <map>
#include <random>
#include <set>
#include "core/passes/passes.hpp"
#include "tests/run/reference.hpp"

using namespace locus;
using namespace locus::graph;

namespace {

struct Pass {
  const char* name;
  void (*run)(Graph&);
};
const Pass all_passes[] = {{"remove_dead", passes::remove_dead}, {"sink_maps", passes::sink_maps},     {"fuse_siblings", passes::fuse_siblings},
                           {"log_domain", passes::log_domain},   {"reassociate", passes::reassociate}, {"hoist", passes::hoist}, {"lift", passes::lift}};

// Small graphs of maps, reduces, products and loops. Numbers stay of moderate size and weights positive, so that rounding cannot grow.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Graph make() {
    static const std::int64_t sizes[] = {1, 2, 3, 5, 7, 40};
    for (const char* name : {"n", "m", "d", "h"}) axes_.push_back({name, sizes[below(name[0] == 'm' ? 6 : 4)]});
    for (int k = 0; k < 6; ++k) input(k);
    const int steps = 2 + below(6);
    for (int k = 0; k < steps; ++k) step(graph_.nodes, true);
    for (std::size_t k = known_.size(); k-- > 0 && graph_.outputs.size() < 4;)
      if (below(2) == 0 || graph_.outputs.empty()) graph_.outputs.push_back({"out" + std::to_string(k), known_[k]});
    return std::move(graph_);
  }
  std::map<std::string, Array> inputs;

 private:
  struct Axis {
    std::string name;
    std::int64_t extent;
  };
  using Coordinates = std::vector<CoordId>;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  double uniform() { return static_cast<double>(random_() % 10007) / 10007.0; }
  Expressions& exprs() { return graph_.exprs; }
  ExprId exact(double v) { return exprs().constant(v, Type::exact); }

  void input(int k) {
    const Type type = k == 4 ? Type::integer : k == 5 ? Type::boolean : Type::real;
    std::vector<int> over = k == 0   ? std::vector<int>{0, 2}
                            : k == 1 ? std::vector<int>{1, 2}
                            : k == 2 ? std::vector<int>{1}
                            : k == 3 ? std::vector<int>{0, 1}
                                     : std::vector<int>{below(2)};
    const TensorId t = tensor(over, type);
    graph_.nodes.push_back({{}, "", Input{t, "in" + std::to_string(k), false, {}}});
    Array data(type == Type::real ? Dtype::float64 : type == Type::integer ? Dtype::int64 : Dtype::boolean, graph_.tensors[t].shape);
    for (std::int64_t e = 0; e < data.count(); ++e) {
      if (type == Type::real) data.as<double>()[e] = 2 * uniform() - 1;
      if (type == Type::integer) data.as<std::int64_t>()[e] = below(9) - 3;
      if (type == Type::boolean) data.as<std::uint8_t>()[e] = below(3) != 0;
    }
    inputs["in" + std::to_string(k)] = data;
    known_.push_back(t);
  }

  TensorId tensor(const std::vector<int>& over, Type type) {
    Tensor t{"", type, {}, {}};
    for (int a : over) t.shape.push_back(axes_[static_cast<std::size_t>(a)].extent), t.axes.push_back(axes_[static_cast<std::size_t>(a)].name);
    const TensorId id = graph_.add_tensor(std::move(t));
    over_[id] = over;
    return id;
  }
  CoordId coordinate(int axis) {
    const Axis& a = axes_[static_cast<std::size_t>(axis)];
    const CoordId c = graph_.add_coordinate(a.name, a.extent);
    axis_of_[c] = axis;
    return c;
  }
  std::vector<int> axes_of(const Coordinates& space) {
    std::vector<int> all;
    for (CoordId c : space) all.push_back(axis_of_[c]);
    return all;
  }

  // -- expressions
  // A read of a known tensor at coordinates of the space, in bounds: on an axis without a coordinate at a fixed index, or summed over.
  ExprId entry(const Coordinates& space) {
    const TensorId t = known_[static_cast<std::size_t>(below(static_cast<int>(known_.size())))];
    Coordinates at;
    std::vector<std::pair<CoordId, bool>> loose;
    for (int axis : over_[t]) {
      Coordinates fitting;
      for (CoordId c : space)
        if (graph_.coordinates[c].extent == axes_[static_cast<std::size_t>(axis)].extent) fitting.push_back(c);
      if (!fitting.empty() && below(8) != 0) {
        at.push_back(fitting[static_cast<std::size_t>(below(static_cast<int>(fitting.size())))]);
      } else {
        at.push_back(coordinate(axis));
        loose.emplace_back(at.back(), below(2) == 0);
      }
    }
    ExprId e = graph_.read(t, at);
    const Type type = graph_.tensors[t].type;
    if (wild_.count(t)) e = exprs().apply(LOCUS_select, exprs().apply(LOCUS_le, exprs().apply(LOCUS_abs, e), exact(4)), e, exact(0.25));
    if (type == Type::boolean) e = exprs().apply(LOCUS_select, e, exact(0.7), exact(0.3));
    if (type == Type::integer) e = exprs().apply(LOCUS_div, e, exprs().constant(4, Type::integer));
    for (const auto& [c, summed] : loose) {
      const double extent = static_cast<double>(graph_.coordinates[c].extent);
      e = summed ? exprs().apply(LOCUS_div, exprs().over(LOCUS_SUM_OVER, c, e), exact(extent)) : exprs().fix(e, c, below(static_cast<int>(extent)));
    }
    return e;
  }

  ExprId condition(const Coordinates& space) {
    if (below(3) != 0 && space.size() > 1)
      return exprs().apply(LOCUS_le, exprs().coordinate(space[0]),
                           exprs().apply(LOCUS_add, exprs().coordinate(space[1]), exprs().constant(below(5), Type::integer)));
    return exprs().apply(LOCUS_lt, number(space, 1), exact(0.5));
  }

  ExprId contraction(const Coordinates& space) {
    const CoordId c = coordinate(2);
    Coordinates both = space;
    both.push_back(c);
    const ExprId a = number(both, 1), b = number(both, 1), difference = exprs().apply(LOCUS_sub, a, b);
    switch (below(7)) {
      case 0:
        return exprs().contract(LOCUS_DOT, c, a, b);
      case 1:
        return exprs().contract(LOCUS_SQDIST, c, a, b);
      case 2:
        return exprs().contract(LOCUS_L1DIST, c, a, b);
      case 3:
        return exprs().over(LOCUS_SUM_OVER, c, exprs().apply(LOCUS_mul, a, b));
      case 4:
        return exprs().over(LOCUS_SUM_OVER, c, exprs().apply(LOCUS_mul, difference, difference));
      case 5:
        return exprs().over(LOCUS_SUM_OVER, c, exprs().apply(LOCUS_abs, difference));
      default:
        return exprs().over(LOCUS_MAX_OVER, c, exprs().apply(LOCUS_abs, difference));
    }
  }

  ExprId number(const Coordinates& space, int depth) {
    if (depth <= 0 || below(5) == 0) return below(6) == 0 && !space.empty() ? exprs().apply(LOCUS_div, exprs().coordinate(space[0]), exact(8)) : entry(space);
    const ExprId a = number(space, depth - 1);
    switch (below(10)) {
      case 0:
        return exprs().apply(LOCUS_tanh, a);
      case 1:
        return exprs().apply(LOCUS_sin, a);
      case 2:
        return exprs().apply(LOCUS_neg, a);
      case 3:
        return exprs().apply(LOCUS_mul, a, exact(0.5));
      case 4:
        return exprs().apply(LOCUS_select, condition(space), a, number(space, depth - 1));
      case 5:
        return exprs().apply(LOCUS_sub, a, number(space, depth - 1));
      case 6:
        return exprs().apply(LOCUS_add, a, number(space, depth - 1));
      case 7:
        return exprs().apply(LOCUS_tanh, contraction(space));
      default:
        return exprs().apply(LOCUS_mul, a, exprs().apply(LOCUS_tanh, number(space, depth - 1)));
    }
  }

  ExprId weight(const Coordinates& space, int depth) {
    switch (below(depth > 0 ? 9 : 4)) {
      case 0:
        return exprs().apply(LOCUS_exp, number(space, 2));
      case 1:
        return exprs().apply(LOCUS_exp, exprs().apply(LOCUS_neg, exprs().apply(LOCUS_abs, contraction(space))));
      case 2:
        return exprs().to(Type::exact, condition(space));
      case 3:
        return exprs().apply(LOCUS_add, exprs().apply(LOCUS_abs, number(space, 2)), exact(0.1));
      case 4:
      case 5:
        return exprs().apply(LOCUS_mul, weight(space, depth - 1), weight(space, depth - 1));
      case 6:
        return exprs().apply(LOCUS_div, weight(space, depth - 1), exprs().apply(LOCUS_exp, number(space, 1)));
      case 7:
        return exprs().apply(LOCUS_select, condition(space), weight(space, depth - 1), below(2) ? exact(0) : weight(space, depth - 1));
      default:
        return exprs().apply(LOCUS_pow, weight(space, depth - 1), exact(2));
    }
  }

  // -- nodes
  Coordinates space_of(int most) {
    Coordinates space;
    for (int axis : {3, 0, 1, 2})
      if (static_cast<int>(space.size()) < most && below(2) == 0) space.push_back(coordinate(axis));
    return space;
  }

  void map(std::vector<Node>& nodes) {
    const Coordinates space = space_of(3);
    const ExprId value = exprs().to(Type::real, number(space, 3));
    const TensorId out = tensor(axes_of(space), Type::real);
    nodes.push_back({{}, "", Map{out, space, value}});
    known_.push_back(out);
  }

  void reduce(std::vector<Node>& nodes) {
    Reduce r;
    r.rows = below(3) ? Coordinates{coordinate(0)} : below(2) ? Coordinates{coordinate(3), coordinate(0)} : Coordinates{};
    r.sample = coordinate(1);
    Coordinates pair = r.rows;
    pair.push_back(r.sample);
    if (below(5) != 0) r.weight = below(4) == 0 && !r.rows.empty() ? separable(pair) : weight(pair, 2);
    if (below(3) == 0) r.where = condition(pair);
    std::vector<TensorId> made;
    const int estimates = 1 + below(2);
    for (int k = 0; k < estimates; ++k) made.push_back(estimate(r, pair));
    nodes.push_back({{}, "", r});
    if (below(3) == 0) {  // a sibling
      Reduce again = r;
      again.estimates.clear(), made.push_back(estimate(again, pair));
      nodes.push_back({{}, "", std::move(again)});
    }
    known_.insert(known_.end(), made.begin(), made.end());
    wild_.insert(made.begin(), made.end());
  }

  ExprId separable(const Coordinates& pair) {
    const CoordId c = coordinate(2);
    const ExprId a = exprs().apply(LOCUS_abs, number({pair[pair.size() - 2], c}, 2)), b = exprs().apply(LOCUS_abs, number({pair.back(), c}, 2));
    const ExprId one = exprs().apply(LOCUS_add, exprs().contract(LOCUS_DOT, c, a, b), exact(0));
    return below(2) ? exprs().contract(LOCUS_DOT, c, a, b) : exprs().apply(LOCUS_mul, one, exprs().apply(LOCUS_abs, number({pair.back()}, 2)));
  }

  TensorId estimate(Reduce& r, const Coordinates& pair) {
    static const Estimator kinds[] = {LOCUS_MEAN,    LOCUS_MEAN,    LOCUS_WEIGHTED_SUM, LOCUS_MAXIMUM, LOCUS_MASS,
                                      LOCUS_LOGMASS, LOCUS_ENTROPY, LOCUS_GRAM,         LOCUS_COV};
    Estimate e;
    e.estimator = kinds[below(9)];
    Coordinates out = r.rows;
    if (e.estimator <= LOCUS_COV) {
      if (below(2) || e.estimator == LOCUS_COV) e.features.push_back(coordinate(2));
      Coordinates space = below(2) ? Coordinates{r.sample} : pair;
      space.insert(space.end(), e.features.begin(), e.features.end());
      e.value = exprs().to(Type::real, number(space, 2));
    }
    out.insert(out.end(), e.features.begin(), e.features.end());
    if (e.estimator == LOCUS_COV) e.twin = coordinate(2), out.push_back(e.twin);
    if (e.estimator == LOCUS_GRAM) out.push_back(r.sample);
    e.out = tensor(axes_of(out), Type::real);
    r.estimates.push_back(e);
    return e.out;
  }

  void loop(std::vector<Node>& nodes) {
    Iterate l;
    l.limit = below(4);
    l.turn = tensor({}, Type::integer);
    const TensorId initial = known_[0];
    const TensorId state = tensor(over_[initial], Type::real), next = tensor(over_[initial], Type::real);
    const std::vector<TensorId> outside = known_;
    known_.push_back(state), known_.push_back(l.turn);
    const int steps = 1 + below(3);
    for (int k = 0; k < steps; ++k) step(l.body, false);
    Coordinates space;
    for (int axis : over_[initial]) space.push_back(coordinate(axis));
    const ExprId old = graph_.read(state, space);
    l.body.push_back({{}, "", Map{next, space, exprs().to(Type::real, exprs().apply(LOCUS_tanh, exprs().apply(LOCUS_add, old, number(space, 2))))}});
    l.carries.push_back({initial, state, next});
    known_ = outside;
    known_.push_back(state);
    nodes.push_back({{}, "", std::move(l)});
  }

  void step(std::vector<Node>& nodes, bool loops) {
    const int kind = below(loops ? 8 : 6);
    if (kind < 3)
      map(nodes);
    else if (kind < 6)
      reduce(nodes);
    else
      loop(nodes);
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<Axis> axes_;
  std::vector<TensorId> known_;
  std::map<TensorId, std::vector<int>> over_;
  std::map<CoordId, int> axis_of_;
  std::set<TensorId> wild_;  // may hold NaN or infinities, of rows without pairs: 0 times NaN is NaN, but a pair that does not exist is nothing
};

std::map<std::string, Array> values(const Graph& g, const std::map<std::string, Array>& inputs, bool fuse) {
  RunOptions options;
  options.backend = test::reference(), options.real = Dtype::float64, options.verify_each_pass = true, options.fuse = fuse;
  Diagnostics diagnostics;
  auto all = run_graph(g, inputs, options, diagnostics);
  std::ostringstream text;
  write(text, diagnostics, Sources());
  INFO(text.str());
  REQUIRE(all.size() == g.outputs.size());
  return all;
}

bool near(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 1e-7 * (1 + std::abs(a));
}

void compare(const std::map<std::string, Array>& a, const std::map<std::string, Array>& b) {
  for (const auto& [name, x] : a) {
    const Array& y = b.at(name);
    REQUIRE(x.shape() == y.shape());
    for (std::int64_t k = 0; k < x.count(); ++k) {
      INFO(name << " entry " << k << ": " << x.number(k) << " and " << y.number(k));
      REQUIRE(near(x.number(k), y.number(k)));
    }
  }
}

}  // namespace

TEST_CASE("passes do not change what a graph computes") {
  std::map<std::string, int> changed;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    Generator generator(seed);
    const Graph g = generator.make();
    const std::string before = print(g);
    INFO("seed " << seed << "\n" << before);
    REQUIRE(verify(g) == std::vector<std::string>{});
    const auto plain = values(g, generator.inputs, false);
    for (const Pass& pass : all_passes) {
      Graph one = g;
      if (std::string(pass.name) == "reassociate") passes::log_domain(one);
      const std::string old = print(one);
      pass.run(one);
      INFO("after " << pass.name << "\n" << print(one));
      REQUIRE(verify(one) == std::vector<std::string>{});
      if (print(one) != old) ++changed[pass.name];
      compare(plain, values(one, generator.inputs, false));
    }
    compare(plain, values(g, generator.inputs, true));
  }
  for (const Pass& pass : all_passes) CHECK(changed[pass.name] > 10);  // else a pass that does nothing would pass
}
