// Dead nodes, dead estimates of a reduce, dead carries and paths of a loop. Walks from the results to the front, so that one sweep is enough.
// Knows nothing of what nodes compute.
#include <algorithm>
#include <set>
#include "core/passes/passes.hpp"

namespace locus::passes {
using namespace graph;

namespace {

using Live = std::set<TensorId>;

void sweep(const Graph& g, std::vector<Node>& nodes, Live& live);

void need(Live& live, TensorId t) {
  if (t != none) live.insert(t);
}

// The nodes of a body that some turn needs, and with them the states: a state that only its own update reads is dead.
Live needed_in(const Graph& g, const Iterate& loop, const Live& outside) {
  Live live;
  need(live, loop.stop);
  for (const Carry& c : loop.carries)
    if (outside.count(c.state)) need(live, c.state);
  for (const Path& p : loop.paths)
    if (outside.count(p.out)) need(live, p.source);
  for (std::size_t before = 0; before != live.size();) {
    before = live.size();
    for (const Carry& c : loop.carries)
      if (live.count(c.state)) need(live, c.next);
    std::vector<Node> body = loop.body;
    sweep(g, body, live);
  }
  return live;
}

bool keep(const Graph& g, Iterate& loop, Live& live) {
  bool read = false;
  for (const Carry& c : loop.carries) read = read || live.count(c.state);
  for (const Path& p : loop.paths) read = read || live.count(p.out);
  if (!read) return false;
  Live inside = needed_in(g, loop, live);
  std::erase_if(loop.carries, [&](const Carry& c) { return !inside.count(c.state); });
  std::erase_if(loop.paths, [&](const Path& p) { return !live.count(p.out); });
  sweep(g, loop.body, inside);
  return true;
}

bool keep(const Graph&, Reduce& r, Live& live) {
  std::erase_if(r.estimates, [&](const Estimate& e) { return !live.count(e.out); });
  return !r.estimates.empty();
}

void sweep(const Graph& g, std::vector<Node>& nodes, Live& live) {
  std::vector<Node> kept;
  for (std::size_t k = nodes.size(); k-- > 0;) {
    Node& n = nodes[k];
    bool stays = false;
    if (auto* loop = std::get_if<Iterate>(&n.kind))
      stays = keep(g, *loop, live);
    else if (auto* r = std::get_if<Reduce>(&n.kind))
      stays = keep(g, *r, live);
    else
      for (TensorId t : writes(n)) stays = stays || live.count(t);
    if (!stays) continue;
    for (TensorId t : reads(g, n)) live.insert(t);
    kept.push_back(std::move(n));
  }
  nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

}  // namespace

void remove_dead(Graph& g) {
  Live live;
  for (const Output& o : g.outputs) live.insert(o.tensor);
  sweep(g, g.nodes, live);
}

}  // namespace locus::passes
