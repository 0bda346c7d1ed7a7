// What a loop's body computes anew in each turn from things that do not change moves in front of the loop. Knows nothing of what it is for.
#include <algorithm>
#include <set>
#include "core/passes/passes.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

// Takes the nodes out of the body that read nothing of a turn. What the loop itself names (a record's source, a carried value, the stop) stays in it.
std::vector<Node> taken_out(const Graph& g, Iterate& loop) {
  std::set<TensorId> moves{loop.turn}, named{loop.stop};
  for (const Carry& c : loop.carries) moves.insert(c.state), named.insert(c.next);
  for (const Path& p : loop.paths) named.insert(p.source);
  std::vector<Node> out, rest;
  for (Node& n : loop.body) {
    const auto in = reads(g, n), made = writes(n);
    const bool stays = std::any_of(in.begin(), in.end(), [&](TensorId t) { return moves.count(t) > 0; }) || std::any_of(made.begin(), made.end(), [&](TensorId t) { return named.count(t) > 0; });
    if (stays) moves.insert(made.begin(), made.end());
    (stays ? rest : out).push_back(std::move(n));
  }
  loop.body = std::move(rest);
  return out;
}

void lift_from(const Graph& g, std::vector<Node>& nodes) {
  std::vector<Node> all;
  for (Node& n : nodes) {
    if (auto* loop = std::get_if<Iterate>(&n.kind)) {
      lift_from(g, loop->body);
      for (Node& out : taken_out(g, *loop)) all.push_back(std::move(out));
    }
    all.push_back(std::move(n));
  }
  nodes = std::move(all);
}

}  // namespace

void lift(Graph& g) { lift_from(g, g.nodes); }

}  // namespace locus::passes
