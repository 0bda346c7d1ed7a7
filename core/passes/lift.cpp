// What a loop computes anew in each turn though nothing in it changes is computed once, in front: lists of neighbours of fixed points, features of the samples.
// Knows nothing of what nodes compute.
#include <algorithm>
#include <iterator>
#include <set>
#include "core/passes/passes.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

/// Nodes of the body that read nothing of the loop, in order. What the loop itself names stays inside.
std::vector<Node> fixed_nodes(const Graph& g, Iterate& loop) {
  std::set<TensorId> inside{loop.turn}, named{loop.stop};
  for (const Carry& c : loop.carries) inside.insert(c.state), named.insert(c.next);
  for (const Path& p : loop.paths) named.insert(p.source);
  std::vector<Node> fixed, left;
  for (Node& n : loop.body) {
    const std::vector<TensorId> in = reads(g, n), out = writes(n);
    const bool changes = std::holds_alternative<Iterate>(n.kind) || std::any_of(in.begin(), in.end(), [&](TensorId t) { return inside.count(t) > 0; }) ||
                       std::any_of(out.begin(), out.end(), [&](TensorId t) { return named.count(t) > 0; });
    if (changes) inside.insert(out.begin(), out.end());
    (changes ? left : fixed).push_back(std::move(n));
  }
  loop.body = std::move(left);
  return fixed;
}

}  // namespace

void lift(Graph& g) {
  each_list(g.nodes, [&](std::vector<Node>& nodes) {
    std::vector<Node> all;
    for (Node& n : nodes) {
      if (auto* loop = std::get_if<Iterate>(&n.kind); loop && loop->limit > 1) std::ranges::move(fixed_nodes(g, *loop), std::back_inserter(all));
      all.push_back(std::move(n));
    }
    nodes = std::move(all);
  });
}

}  // namespace locus::passes
