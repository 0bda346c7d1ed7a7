// The plan of the slab, on random graphs: what is alive at the same time never overlaps.
#include <random>
#include <tuple>
#include "core/passes/passes.hpp"
#include "tests/run/reference.hpp"

using namespace locus;
using namespace locus::graph;

namespace {

// Chains of maps with random reuse, some of them inside a loop; every size from 0 up.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {}

  Graph make() {
    const TensorId first = tensor(Type::real, 1 + below(40));
    graph_.nodes.push_back({{}, "", Input{first, "x", false, {}}});
    known_.push_back(first);
    for (int k = 0; k < 12; ++k) {
      if (below(4) == 0)
        loop();
      else
        step(graph_.nodes);
    }
    for (int k = 0; k < 2; ++k) graph_.outputs.push_back({"out" + std::to_string(k), known_[below(known_.size())]});
    return std::move(graph_);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  TensorId tensor(Type type, std::size_t size) { return graph_.add_tensor({"t", type, {static_cast<std::int64_t>(size)}, {"n"}}); }

  // One entry of some tensor that is known here, as a real number.
  ExprId entry(CoordId c, std::int64_t extent) {
    const TensorId t = known_[below(known_.size())];
    const std::int64_t size = graph_.tensors[t].shape.empty() ? 1 : graph_.tensors[t].shape[0];
    if (size == 0 || graph_.tensors[t].type == Type::boolean) return graph_.exprs.constant(1, Type::exact);
    const ExprId e =
        size >= extent && extent > 0 ? graph_.exprs.read(t, graph_.tensors[t].type, 0, {{c, 1}}) : graph_.exprs.read(t, graph_.tensors[t].type, 0, {});
    return graph_.tensors[t].type == Type::integer ? graph_.exprs.to(Type::real, e) : e;
  }

  TensorId step(std::vector<Node>& nodes) {
    const auto extent = static_cast<std::int64_t>(below(6) == 0 ? below(2) : 1 + below(60));
    const CoordId c = graph_.add_coordinate("n", extent);
    const TensorId out = tensor(below(3) == 0 ? Type::exact : Type::real, static_cast<std::size_t>(extent));
    nodes.push_back({{}, "", Map{out, {c}, graph_.exprs.apply(LOCUS_add, entry(c, extent), entry(c, extent))}});
    known_.push_back(out);
    return out;
  }

  void loop() {
    Iterate l;
    l.turn = graph_.add_tensor({"turn", Type::integer, {}, {}}), l.limit = 2 + static_cast<std::int64_t>(below(3));
    const TensorId initial = known_[below(known_.size())];
    const Tensor like = graph_.tensors[initial];
    const TensorId state = graph_.add_tensor(like);
    const std::vector<TensorId> outside = known_;
    known_.push_back(state);
    for (std::size_t k = 0; k < 1 + below(4); ++k) step(l.body);
    const CoordId c = graph_.add_coordinate("n", like.shape.empty() ? 1 : like.shape[0]);
    const TensorId next = graph_.add_tensor(like);
    ExprId value = graph_.exprs.apply(LOCUS_mul, entry(c, graph_.coordinates[c].extent), graph_.exprs.constant(0.5, Type::exact));
    l.body.push_back({{}, "", Map{next, {c}, value}});
    l.carries.push_back({initial, state, next});
    known_ = outside;
    known_.push_back(state);
    graph_.nodes.push_back({{}, "", std::move(l)});
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<TensorId> known_;
};

std::uint64_t bytes_of(const Tensor& t) {
  std::uint64_t bytes = t.type == Type::boolean ? 1 : t.type == Type::real ? 4 : 8;
  for (std::int64_t d : t.shape) bytes *= static_cast<std::uint64_t>(d);
  return bytes;
}

// Lifetimes by a clock of its own: node k of a list runs at time k of its slices. A loop is entered an eighth before (states take their initial values),
// its body runs in the first half of its slice, and its states move on at three quarters.
struct Life {
  double begin = 1e9, end = -1e9;
  void at(double time) { begin = std::min(begin, time), end = std::max(end, time); }
};

void live(const Graph& g, const std::vector<Node>& nodes, double from, double slice, std::vector<Life>& lives) {
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const double now = from + slice * static_cast<double>(k), entered = now - slice / 8, left = now + slice * 3 / 4;
    const auto* loop = std::get_if<Iterate>(&nodes[k].kind);
    if (!loop) {
      for (TensorId t : writes(nodes[k])) lives[t].at(now);
      for (TensorId t : reads(g, nodes[k])) lives[t].at(now);
      continue;
    }
    lives[loop->turn].at(entered), lives[loop->turn].at(left);
    for (const Carry& c : loop->carries) lives[c.initial].at(entered), lives[c.state].at(entered), lives[c.state].at(left);
    std::vector<bool> inside(g.tensors.size());
    for (const Node& n : loop->body)
      for (TensorId t : writes(n)) inside[t] = true;
    for (const Node& n : loop->body)
      for (TensorId t : reads(g, n))
        if (!inside[t]) lives[t].at(now), lives[t].at(left);  // it is read again in the next turn
    live(g, loop->body, now, slice / 2 / static_cast<double>(loop->body.size()), lives);
    for (const Carry& c : loop->carries) lives[c.next].at(left);
  }
}

}  // namespace

TEST_CASE("what is alive at the same time never overlaps") {
  int overlaps_in_time = 0, shared_places = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Graph g = RandomGraph(seed).make();
    INFO(print(g));
    REQUIRE(verify(g).empty());
    const passes::Plan plan = passes::plan(g, 4);
    REQUIRE(plan.offset.size() == g.tensors.size());
    std::vector<Life> lives(g.tensors.size());
    live(g, g.nodes, 0, 1, lives);
    for (const Output& o : g.outputs) lives[o.tensor].at(1000);
    for (TensorId a = 0; a < g.tensors.size(); ++a) {
      if (plan.offset[a] == passes::Plan::none64) continue;
      const std::uint64_t a_end = plan.offset[a] + bytes_of(g.tensors[a]);
      REQUIRE(plan.offset[a] % 64 == 0);
      REQUIRE(a_end <= plan.slab_bytes);
      for (TensorId b = a + 1; b < g.tensors.size(); ++b) {
        if (plan.offset[b] == passes::Plan::none64) continue;
        const bool together = lives[a].begin <= lives[b].end && lives[b].begin <= lives[a].end;
        const bool overlap = plan.offset[a] < plan.offset[b] + bytes_of(g.tensors[b]) && plan.offset[b] < a_end;
        overlaps_in_time += together, shared_places += overlap;
        INFO("t" << a << " and t" << b);
        REQUIRE_FALSE((together && overlap));
      }
    }
  }
  CHECK(overlaps_in_time > 0);
  CHECK(shared_places > 0);  // else a plan that never reuses memory would pass
}

TEST_CASE("a planned slab gives the values that separate memory gives") {
  // Every intermediate as an output has a buffer of its own: nothing is shared then.
  RunOptions options;
  options.backend = test::reference(), options.real = Dtype::float64;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Graph g = RandomGraph(seed).make();
    Graph separate = g;
    for (const Node& n : g.nodes) {
      if (const auto* m = std::get_if<Map>(&n.kind)) separate.outputs.push_back({"extra" + std::to_string(m->out), m->out});
      if (const auto* l = std::get_if<Iterate>(&n.kind)) separate.outputs.push_back({"extra" + std::to_string(l->carries[0].state), l->carries[0].state});
    }
    const Array x(Dtype::float64, g.tensors[std::get<Input>(g.nodes[0].kind).out].shape);
    for (std::int64_t k = 0; k < x.count(); ++k) const_cast<double*>(x.as<double>())[k] = static_cast<double>(k) + 1;
    for (bool fuse : {false, true}) {
      options.fuse = fuse, options.verify_each_pass = true;
      Diagnostics diagnostics;
      auto planned = run_graph(g, {{"x", x}}, options, diagnostics);
      auto apart = run_graph(separate, {{"x", x}}, options, diagnostics);
      REQUIRE_FALSE(diagnostics.failed());
      for (const auto& [name, array] : planned)
        for (std::int64_t k = 0; k < array.count(); ++k) REQUIRE(array.number(k) == apart.at(name).number(k));
    }
  }
}
