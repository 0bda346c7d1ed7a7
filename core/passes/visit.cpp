// Walking: the one place that knows where a node keeps its expressions and its tensors' names.
// Knows nothing of what any pass is for.
#include "core/passes/visit.hpp"
#include <algorithm>
#include <limits>

namespace locus::passes {
using namespace graph;

namespace {

void name_tensors(const std::vector<Node>& nodes, std::vector<TensorId>& all) {
  for (const Node& n : nodes) {
    if (const auto* l = std::get_if<Linear>(&n.kind)) {
      all.insert(all.end(), {l->a.tensor, l->b.tensor});
    } else if (const auto* r = std::get_if<Reduce>(&n.kind)) {
      all.push_back(r->list);
    } else if (const auto* gather = std::get_if<Gather>(&n.kind)) {
      all.push_back(gather->table.tensor);
    } else if (const auto* call = std::get_if<ArrayCall>(&n.kind)) {
      all.insert(all.end(), call->inputs.begin(), call->inputs.end());
    } else if (const auto* loop = std::get_if<Iterate>(&n.kind)) {
      all.push_back(loop->stop);
      for (const Carry& c : loop->carries) all.insert(all.end(), {c.initial, c.state, c.next});
      for (const Path& p : loop->paths) all.push_back(p.source);
      name_tensors(loop->body, all);
    }
  }
}

}  // namespace

void each_list(std::vector<Node>& nodes, const std::function<void(std::vector<Node>&)>& visit) {
  for (Node& n : nodes)
    if (auto* loop = std::get_if<Iterate>(&n.kind)) each_list(loop->body, visit);
  visit(nodes);
}

void each_expression(Node& node, const std::function<void(ExprId&)>& visit) {
  const auto given = [&visit](ExprId& e) {
    if (e != none) visit(e);
  };
  if (auto* map = std::get_if<Map>(&node.kind)) {
    given(map->value);
  } else if (auto* r = std::get_if<Reduce>(&node.kind)) {
    given(r->weight), given(r->factor), given(r->score), given(r->where);
    for (Estimate& e : r->estimates) given(e.value), given(e.parameter);
  } else if (auto* gather = std::get_if<Gather>(&node.kind)) {
    for (GatherIndex& i : gather->indices) given(i.index);
  }
}

std::vector<TensorId> named_tensors(const Graph& g) {
  std::vector<TensorId> all;
  name_tensors(g.nodes, all);
  for (const Output& o : g.outputs) all.push_back(o.tensor);
  std::erase(all, none);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<CoordId> bound_inside(const Expressions& exprs, ExprId id) {
  std::vector<CoordId> all;
  std::vector<bool> seen(id + 1, false);
  std::vector<ExprId> open{id};
  seen[id] = true;
  while (!open.empty()) {
    const Expr& e = exprs.at(open.back());
    open.pop_back();
    if ((is_over(e.op) || is_contraction(e.op)) && e.index != none) all.push_back(e.index);
    for (int k = 0; k < e.arity; ++k)
      if (!seen[e.args[k]]) seen[e.args[k]] = true, open.push_back(e.args[k]);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::int64_t entries_of(const Graph& g, const std::vector<CoordId>& space) {
  std::int64_t product = 1;
  for (CoordId c : space)
    if (__builtin_mul_overflow(product, g.coordinates[c].extent, &product)) return std::numeric_limits<std::int64_t>::max();
  return product;
}

}  // namespace locus::passes
