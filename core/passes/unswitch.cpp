// A loop that sets an entry of a list while a test holds, and does another thing with it afterwards (a window that fills up, then slides), becomes two loops, if
// settings and turns alone tell when the test ends. Then each does one thing throughout. Knows nothing of models.
#include <algorithm>
#include "core/graph/copy.hpp"
#include "core/passes/passes.hpp"
#include "core/passes/turns.hpp"

namespace locus::passes {
using namespace graph;

namespace {

constexpr std::int64_t most_turns = 1 << 20;

class Unswitching {
 public:
  Unswitching(Graph& g, std::size_t place) : g_(g), x_(g.exprs), place_(place), loop_(std::get<Iterate>(g.nodes[place].kind)) {}

  /// The number of loops put before this one.
  std::size_t rewrite_loop() {
    if (loop_.stop != none || loop_.limit < 2 || loop_.limit > most_turns) return 0;
    for (const Carry& c : loop_.carries) {
      const Node* writer = writer_of(loop_.body, c.next);
      const Map* m = writer ? std::get_if<Map>(&writer->kind) : nullptr;
      if (!m || m->space.size() != 1 || x_.at(m->value).op != LOCUS_select) continue;
      const Expr choice = x_.at(m->value);
      if (x_.depends(choice.args[0], m->space[0]) || !set_entry(g_, *m, choice.args[1], c.state)) continue;
      Turns turns(g_, g_.nodes, place_);
      while (turns.turn() < loop_.limit && turns.value(choice.args[0]).value_or(0) != 0) turns.next();
      const std::int64_t held = turns.turn();
      if (held == 0) continue;
      for (; turns.turn() < loop_.limit; turns.next())
        if (turns.value(choice.args[0]).value_or(1) != 0) return 0;  // not told, or true again
      return split(c, held, choice.args[1]);
    }
    return 0;
  }

 private:
  static Map& setter(std::vector<Node>& body, TensorId next) {
    for (Node& n : body)
      if (auto* m = std::get_if<Map>(&n.kind); m && m->out == next) return *m;
    throw std::logic_error("a carried value without its map");
  }

  std::size_t split(const Carry& list, std::int64_t turns, ExprId while_it_holds) {
    const TensorId next = list.next;
    if (turns == loop_.limit) {
      setter(loop_.body, next).value = while_it_holds;
      return 0;
    }
    Node first{g_.nodes[place_].span, g_.nodes[place_].name, Iterate{}};
    Iterate early = loop_;
    early.limit = turns;
    setter(early.body, next).value = while_it_holds;
    std::map<TensorId, TensorId> to;
    for (TensorId t : writes(g_.nodes[place_])) to[t] = g_.add_tensor(g_.tensors[t]);
    first.kind = std::move(early);
    rename_tensors(g_, first, to);
    auto& begun = std::get<Iterate>(first.kind);
    for (Path& p : begun.paths) g_.tensors[p.out].shape[0] -= loop_.limit - turns;
    // The second loop goes on where the first ended.
    for (std::size_t k = 0; k < loop_.carries.size(); ++k) loop_.carries[k].initial = begun.carries[k].state;
    loop_.limit -= turns;
    const TensorId since = g_.add_tensor(g_.tensors[loop_.turn]);
    const ExprId all = x_.apply(LOCUS_add, x_.read(since, Type::integer, 0, {}), x_.constant(static_cast<double>(turns), Type::integer));
    loop_.body.insert(loop_.body.begin(), Node{first.span, "turn", Map{loop_.turn, {}, all}});
    loop_.turn = since;
    std::vector<Node> after;
    for (std::size_t k = 0; k < loop_.paths.size(); ++k) {
      const TensorId whole = loop_.paths[k].out, later = g_.add_tensor(g_.tensors[whole]);
      g_.tensors[later].shape[0] -= turns;
      loop_.paths[k].out = later;
      if (loop_.paths[k].since >= 0) loop_.paths[k].since += turns;
      join(after, whole, begun.paths[k].out, later, turns, first.span);
    }
    g_.nodes.insert(g_.nodes.begin() + static_cast<std::ptrdiff_t>(place_) + 1, after.begin(), after.end());
    g_.nodes.insert(g_.nodes.begin() + static_cast<std::ptrdiff_t>(place_), std::move(first));
    return 1;
  }

  // whole[t] = early[t] for t < turns, else late[t - turns].
  void join(std::vector<Node>& after, TensorId whole, TensorId early, TensorId late, std::int64_t turns, Span span) {
    std::vector<CoordId> space;
    for (std::size_t k = 0; k < g_.tensors[whole].shape.size(); ++k) space.push_back(g_.add_coordinate(g_.tensors[whole].axes[k], g_.tensors[whole].shape[k]));
    const auto integer = [&](std::int64_t v) { return x_.constant(static_cast<double>(v), Type::integer); };
    const ExprId t = x_.coordinate(space[0]);
    const auto part = [&](TensorId from, ExprId index) {
      Gather gather;
      Tensor made = g_.tensors[whole];
      gather.out = g_.add_tensor(std::move(made));
      gather.space = space;
      std::int64_t step = 1;
      std::vector<Stride> strides;
      for (std::size_t k = space.size(); k-- > 1; step *= g_.tensors[whole].shape[k]) strides.push_back({space[k], step});
      gather.table = {from, 0, std::move(strides)};
      gather.indices = {{index, g_.tensors[from].shape[0], step}};
      after.push_back({span, "turns", gather});
      return g_.read(gather.out, space);
    };
    const ExprId a = part(early, x_.apply(LOCUS_minimum, t, integer(turns - 1))), b = part(late, x_.apply(LOCUS_maximum, x_.apply(LOCUS_sub, t, integer(turns)), integer(0)));
    after.push_back({span, "turns", Map{whole, space, x_.apply(LOCUS_select, x_.apply(LOCUS_lt, t, integer(turns)), a, b)}});
  }

  Graph& g_;
  Expressions& x_;
  std::size_t place_;
  Iterate& loop_;
};

}  // namespace

void unswitch(Graph& g) {
  for (std::size_t k = 0; k < g.nodes.size(); ++k)
    if (std::holds_alternative<Iterate>(g.nodes[k].kind)) k += Unswitching(g, k).rewrite_loop();
}

}  // namespace locus::passes
