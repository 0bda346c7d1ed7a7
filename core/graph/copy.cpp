// Copies of nodes; see copy.hpp.
#include "core/graph/copy.hpp"
#include "core/graph/derivative.hpp"

namespace locus::graph {
namespace {

struct Renaming {
  Graph& g;
  const std::map<TensorId, TensorId>& to;

  void set(TensorId& t) const {
    if (const auto found = to.find(t); found != to.end()) t = found->second;
  }
  void set(ExprId& e, int) const {
    if (e != none) e = reread(g, e, to, [](const Expr&, std::int64_t&, std::vector<Stride>&) {});
  }
  void set(Operand& o) const { set(o.tensor); }
  void operator()(Input&) const {}
  void operator()(Map& m) const { set(m.out), set(m.value, 0); }
  void operator()(Linear& l) const { set(l.out), set(l.a), set(l.b); }
  void operator()(Reduce& r) const {
    for (ExprId* e : {&r.weight, &r.factor, &r.score, &r.where}) set(*e, 0);
    set(r.list);
    for (Estimate& e : r.estimates) set(e.out), set(e.value, 0), set(e.parameter, 0);
  }
  void operator()(Gather& l) const {
    set(l.out), set(l.table);
    for (GatherIndex& i : l.indices) set(i.index, 0);
  }
  void operator()(Iterate& l) const {
    set(l.turn), set(l.stop);
    for (Carry& c : l.carries) set(c.initial), set(c.state), set(c.next);
    for (Path& p : l.paths) set(p.source), set(p.out);
    for (Node& n : l.body) std::visit(*this, n.kind);
  }
  void operator()(ArrayCall& a) const {
    for (auto* list : {&a.inputs, &a.outputs})
      for (TensorId& t : *list) set(t);
  }
};

}  // namespace

void rename_tensors(Graph& g, Node& n, const std::map<TensorId, TensorId>& to) { std::visit(Renaming{g, to}, n.kind); }

std::vector<Node> copied(Graph& g, const std::vector<Node>& nodes, std::map<TensorId, TensorId>& to) {
  for (const Node& n : nodes)
    for (TensorId t : writes(n)) to[t] = g.add_tensor(g.tensors[t]);
  std::vector<Node> made = nodes;
  for (Node& n : made) rename_tensors(g, n, to);
  return made;
}

}  // namespace locus::graph
