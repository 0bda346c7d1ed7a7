// Turns of a loop told in advance; see turns.hpp.
#include "core/passes/turns.hpp"
#include <algorithm>

namespace locus::passes {
using namespace graph;

Turns::Turns(Graph& g, const std::vector<Node>& outside, std::size_t place) : g_(g), outside_(outside), place_(place), loop_(std::get<Iterate>(outside[place].kind)) {
  std::map<TensorId, std::int64_t> begin;
  for (const Carry& c : loop_.carries)
    if (g_.tensors[c.state].shape.empty())
      if (const auto v = number_of(c.initial)) begin[c.state] = *v;
  now_ = std::move(begin);
  now_[loop_.turn] = 0;
}

void Turns::next() {
  std::map<TensorId, std::int64_t> after;
  for (const Carry& c : loop_.carries)
    if (g_.tensors[c.state].shape.empty())
      if (const auto v = number_of(c.next)) after[c.state] = *v;
  now_ = std::move(after);
  now_[loop_.turn] = ++turn_;
}

std::optional<std::int64_t> Turns::number_of(TensorId t) {
  if (const auto known = now_.find(t); known != now_.end()) return known->second;
  const auto writer = [&](TensorId tensor) {
    const Node* inside = writer_of(loop_.body, tensor);
    return inside ? inside : writer_of(outside_, tensor);
  };
  const Node* w = writer(t);
  if (!w || w == &outside_[place_] || !g_.tensors[t].shape.empty()) return {};
  if (const auto* m = std::get_if<Map>(&w->kind)) return value(m->value, none, 0);
  if (const auto* input = std::get_if<Input>(&w->kind)) return input->constant && input->data.dtype() == Dtype::int64 ? std::optional(input->data.as<std::int64_t>()[0]) : std::nullopt;
  if (const auto* gather = std::get_if<Gather>(&w->kind); gather && gather->indices.size() == 1 && gather->indices[0].stride == 1 && gather->table.offset == 0) {
    const auto at = value(gather->indices[0].index, none, 0);
    const Node* table = writer(gather->table.tensor);
    const Map* m = table ? std::get_if<Map>(&table->kind) : nullptr;
    if (at && *at >= 0 && *at < gather->indices[0].extent && m && m->space.size() == 1) return value(m->value, m->space[0], *at);
  }
  return {};
}

std::optional<std::int64_t> Turns::value(ExprId id, CoordId c, std::int64_t at) {
  const Expr& e = g_.exprs.at(id);
  if (e.type != Type::integer && e.type != Type::boolean) return {};
  if (e.op == LOCUS_CONSTANT) return static_cast<std::int64_t>(e.value);
  if (e.op == LOCUS_COORDINATE) return e.index == c ? std::optional(at) : std::nullopt;
  if (e.op == LOCUS_READ) return e.strides.empty() && g_.tensors[e.index].shape.empty() ? number_of(e.index) : std::nullopt;
  std::int64_t a[3] = {0, 0, 0};
  for (int k = 0; k < e.arity; ++k) {
    const auto v = value(e.args[k], c, at);
    if (!v) return {};
    a[k] = *v;
  }
  switch (e.op) {
    case LOCUS_add: return a[0] + a[1];
    case LOCUS_sub: return a[0] - a[1];
    case LOCUS_mul: return a[0] * a[1];
    case LOCUS_neg: return -a[0];
    case LOCUS_minimum: return std::min(a[0], a[1]);
    case LOCUS_maximum: return std::max(a[0], a[1]);
    case LOCUS_lt: return a[0] < a[1];
    case LOCUS_le: return a[0] <= a[1];
    case LOCUS_eq: return a[0] == a[1];
    case LOCUS_ne: return a[0] != a[1];
    case LOCUS_and: return a[0] && a[1];
    case LOCUS_or: return a[0] || a[1];
    case LOCUS_not: return !a[0];
    case LOCUS_select: return a[0] ? a[1] : a[2];
    default: return {};
  }
}

const Node* writer_of(const std::vector<Node>& nodes, TensorId t) {
  for (const Node& n : nodes) {
    const auto w = writes(n);
    if (std::find(w.begin(), w.end(), t) != w.end()) return &n;
  }
  return nullptr;
}

std::optional<ExprId> set_entry(Graph& g, const Map& m, ExprId next, TensorId state) {
  Expressions& x = g.exprs;
  if (g.tensors[state].shape.size() != 1 || m.space.size() != 1) return {};
  const Expr s = x.at(next);
  if (s.op != LOCUS_select || s.args[2] != g.read(state, m.space) || x.depends(s.args[1], m.space[0])) return {};
  const Expr test = x.at(s.args[0]);
  const ExprId c = x.coordinate(m.space[0]);
  if (test.op != LOCUS_eq || (test.args[0] != c && test.args[1] != c)) return {};
  const ExprId place = test.args[0] == c ? test.args[1] : test.args[0];
  return x.depends(place, m.space[0]) ? std::nullopt : std::optional(place);
}

}  // namespace locus::passes
