// Lifetimes of tensors to offsets in one slab. Time is the position of a node in the order of execution; a loop spans the time of its body.
// Knows nothing of backends: results and data from outside have buffers of their own and get no place here.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include "core/passes/passes.hpp"

namespace locus::passes {
using namespace graph;

namespace {

struct Life {
  std::int64_t first = -1, last = -1;  ///< from the node that writes it to the last one that reads it, both included
};

class Lifetimes {
 public:
  explicit Lifetimes(const Graph& g) : graph_(g), lives_(g.tensors.size()) { walk(g.nodes, 0); }
  const std::vector<Life>& all() const { return lives_; }

 private:
  void write(TensorId t) {
    if (t == none) return;
    lives_[t].first = lives_[t].last = now_;
  }
  // What is older than the loop must outlive all turns, not only its last reader in this one.
  void read(TensorId t, std::int64_t loop_begin) {
    if (t == none) return;
    lives_[t].last = std::max(lives_[t].last, now_);
    if (lives_[t].first < loop_begin) survivors_.insert(t);
  }

  void walk(const std::vector<Node>& nodes, std::int64_t loop_begin) {
    for (const Node& n : nodes) {
      ++now_;
      if (const auto* loop = std::get_if<Iterate>(&n.kind)) {
        walk(*loop, loop_begin);
        continue;
      }
      for (TensorId t : reads(graph_, n)) read(t, loop_begin);
      for (TensorId t : writes(n)) write(t);
    }
  }

  void walk(const Iterate& loop, std::int64_t outer_begin) {
    const std::int64_t begin = now_;
    for (const Carry& c : loop.carries) read(c.initial, outer_begin);
    write(loop.turn);
    for (const Carry& c : loop.carries) write(c.state);
    for (const Path& p : loop.paths) write(p.out);
    std::set<TensorId> outer;
    outer.swap(survivors_);
    walk(loop.body, begin);
    ++now_;  // the end of a turn: updates and paths are taken together
    read(loop.stop, begin), live(loop.turn);
    for (const Carry& c : loop.carries) read(c.next, begin), live(c.state);
    for (const Path& p : loop.paths) read(p.source, begin), live(p.out);
    for (TensorId t : survivors_) {
      live(t);
      if (lives_[t].first < outer_begin) outer.insert(t);
    }
    survivors_.swap(outer);
  }
  void live(TensorId t) {
    if (t != none) lives_[t].last = std::max(lives_[t].last, now_);
  }

  const Graph& graph_;
  std::vector<Life> lives_;
  std::set<TensorId> survivors_;  ///< tensors from before the innermost loop that its body reads
  std::int64_t now_ = 0;
};

std::uint64_t bytes_of(const Tensor& t, std::size_t real_bytes) {
  std::uint64_t bytes = t.type == Type::boolean ? 1 : t.type == Type::real ? real_bytes : 8;
  for (std::int64_t d : t.shape) bytes *= static_cast<std::uint64_t>(d);
  return (bytes + 63) / 64 * 64;
}

struct Placed {
  std::uint64_t offset, bytes;
};

// The lowest gap that holds it between those that live at the same time.
std::uint64_t lowest_gap(std::vector<Placed>& beside, std::uint64_t bytes) {
  std::sort(beside.begin(), beside.end(), [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
  std::uint64_t at = 0;
  for (const Placed& p : beside) {
    if (at + bytes <= p.offset) break;
    at = std::max(at, p.offset + p.bytes);
  }
  return at;
}

/// Is the map select(c == number, value, state) over the whole state, entry by entry?
bool sets_entries(const Graph& g, const Map& m, TensorId state) {
  const Expr e = g.exprs.at(m.value);
  if (e.op != LOCUS_select || g.exprs.at(e.args[0]).op != LOCUS_eq) return false;
  const Expr old = g.exprs.at(e.args[2]);
  if (old.op != LOCUS_READ || old.index != state || old.offset != 0 || g.extents(m.space) != g.tensors[state].shape) return false;
  std::vector<Stride> strides;
  std::int64_t step = 1;
  for (std::size_t k = m.space.size(); k-- > 0; step *= g.tensors[state].shape[k]) strides.push_back({m.space[k], step});
  for (const Stride& s : strides)
    if (g.coordinates[s.coordinate].extent != 1 && std::find(old.strides.begin(), old.strides.end(), s) == old.strides.end()) return false;
  for (ExprId part : {e.args[0], e.args[1]})
    for (TensorId t : g.exprs.reads(part))
      if (t == state) return false;
  return true;
}

/// Carried values whose next is made of the state entry by entry, while nothing else looks at the state: both may lie in one place.
std::map<TensorId, TensorId> in_one_place(const Graph& g, const std::vector<Node>& nodes) {
  std::map<TensorId, TensorId> all;
  for (const Node& n : nodes) {
    const auto* loop = std::get_if<Iterate>(&n.kind);
    if (!loop) continue;
    all.merge(in_one_place(g, loop->body));
    for (const Carry& c : loop->carries) {
      const bool recorded = std::any_of(loop->paths.begin(), loop->paths.end(), [&](const Path& p) { return p.source == c.state || p.source == c.next; });
      const auto users = std::count_if(loop->body.begin(), loop->body.end(), [&](const Node& b) {
        const auto in = reads(g, b);
        return std::find(in.begin(), in.end(), c.state) != in.end();
      });
      const auto shared = std::count_if(loop->carries.begin(), loop->carries.end(), [&](const Carry& o) { return o.next == c.next || o.next == c.state || o.initial == c.state; });
      if (recorded || users != 1 || shared != 1 || g.tensors[c.state].type != g.tensors[c.next].type) continue;
      for (const Node& b : loop->body)
        if (const auto* m = std::get_if<Map>(&b.kind); m && m->out == c.next && sets_entries(g, *m, c.state)) all[c.next] = c.state;
    }
  }
  return all;
}

}  // namespace

Plan plan(const Graph& g, std::size_t real_bytes) {
  const std::vector<Life> lives = Lifetimes(g).all();
  std::vector<bool> outside(g.tensors.size(), false);
  for (const Node& n : g.nodes)
    if (const auto* input = std::get_if<Input>(&n.kind)) outside[input->out] = true;
  for (const Output& o : g.outputs) outside[o.tensor] = true;

  auto together = in_one_place(g, g.nodes);
  std::erase_if(together, [&](const auto& pair) { return outside[pair.first] || outside[pair.second]; });
  std::vector<TensorId> order;
  for (TensorId t = 0; t < g.tensors.size(); ++t)
    if (!outside[t] && lives[t].first >= 0 && !together.count(t)) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](TensorId a, TensorId b) { return bytes_of(g.tensors[a], real_bytes) > bytes_of(g.tensors[b], real_bytes); });

  Plan result;
  result.offset.assign(g.tensors.size(), Plan::none64);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const TensorId t = order[k];
    std::vector<Placed> beside;
    for (std::size_t earlier = 0; earlier < k; ++earlier) {
      const TensorId o = order[earlier];
      if (lives[o].first <= lives[t].last && lives[t].first <= lives[o].last) beside.push_back({result.offset[o], bytes_of(g.tensors[o], real_bytes)});
    }
    const std::uint64_t bytes = bytes_of(g.tensors[t], real_bytes);
    result.offset[t] = lowest_gap(beside, bytes);
    result.slab_bytes = std::max(result.slab_bytes, result.offset[t] + bytes);
  }
  for (const auto& [next, state] : together) result.offset[next] = result.offset[state];
  return result;
}

}  // namespace locus::passes
