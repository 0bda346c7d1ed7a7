// The way back through loops; see adjoint.hpp. A loop of turns is gone through from the last to the first, each turn's states taken from a record. A search has
// no turns to go back: where the slope is 0 (or the two sides are equal), that equation says how the answer moves (implicit function theorem).
#include <algorithm>
#include "core/graph/adjoint.hpp"
#include "core/graph/copy.hpp"

namespace locus::graph {
namespace {

const ArrayCall* call_of(const Iterate& loop, locus_array_function f) {
  for (const Node& n : loop.body)
    if (const auto* call = std::get_if<ArrayCall>(&n.kind); call && call->function == f) return call;
  return nullptr;
}

Iterate* find(std::vector<Node>& nodes, TensorId state) {
  for (Node& n : nodes)
    if (auto* loop = std::get_if<Iterate>(&n.kind)) {
      for (const Carry& c : loop->carries)
        if (c.state == state) return loop;
      if (Iterate* inner = find(loop->body, state)) return inner;
    }
  return nullptr;
}

}  // namespace

Iterate* Adjoint::original(TensorId state) {
  for (auto* block : blocks_)
    if (Iterate* loop = find(*block, state)) return loop;
  return nullptr;
}

// What another walk has found of tensors that are known here.
void Adjoint::take_over(Adjoint& from) {
  for (const auto& [t, s] : from.sums_)
    if (active(t) && from.found(t)) add(t, read_flat(from.whole(t), sum(t).at));
}

void Adjoint::back(const Iterate& loop) {
  if (const ArrayCall* call = call_of(loop, LOCUS_ARRAY_DESCEND)) return back_search(loop, *call);
  if (const ArrayCall* call = call_of(loop, LOCUS_ARRAY_ROOT)) return back_root(loop, *call);
  for (const Path& p : loop.paths)
    if (found(p.out)) throw NoDerivative{"`path`", span_};
  back_turns(loop);
}

// -- searches
// The body of a search once more, at the states that it ended with, without the function that moves them on.
std::vector<Node> Adjoint::asked_again(const Iterate& loop, locus_array_function moves, std::map<TensorId, TensorId>& to) {
  std::vector<Node> body;
  for (const Node& n : loop.body) {
    const auto* call = std::get_if<ArrayCall>(&n.kind);
    if (!call || call->function != moves) body.push_back(n);
  }
  std::vector<Node> copies = copied(graph_, body, to);
  for (const Node& n : copies) emit_(n);
  return copies;
}

/// A walk through these nodes that holds the state fixed.
Adjoint Adjoint::beside(TensorId state, const std::vector<Node>& nodes) const {
  Adjoint inner(graph_, blocks_, emit_);
  inner.span_ = span_;
  inner.active_ = active_;
  inner.active_.erase(state);
  inner.activate(nodes);
  return inner;
}

void Adjoint::back_search(const Iterate& loop, const ArrayCall& call) {
  const TensorId state = loop.carries[0].state;
  std::map<TensorId, TensorId> to;
  const std::vector<Node> copies = asked_again(loop, LOCUS_ARRAY_DESCEND, to);
  Node here{span_, "", call};
  rename_tensors(graph_, here, to);
  const Blocks b = blocks_of(std::get<ArrayCall>(here.kind), 2, false);
  std::int64_t p = 0;
  for (std::int64_t s : b.sizes) p += s;
  Adjoint inner = beside(state, copies);
  inner.back_slopes(b, whole(state), p, graph_.tensors[state].shape.back());  // the best point of a row stands behind its trial
  inner.sweep(copies);
  take_over(inner);
}

void Adjoint::back_root(const Iterate& loop, const ArrayCall& call) {
  const TensorId state = loop.carries[0].state;
  std::map<TensorId, TensorId> to;
  const std::vector<Node> copies = asked_again(loop, LOCUS_ARRAY_ROOT, to);
  const TensorId gap = renamed(call.inputs[1], to);
  Adjoint slope(graph_, blocks_, emit_);
  slope.span_ = span_;
  slope.active_ = {state};
  slope.activate(copies);
  slope.add(gap, number(1));
  slope.sweep(copies);
  Adjoint inner = beside(state, copies);
  const auto entry = inner.sum(gap).at;
  const std::int64_t width = graph_.tensors[state].shape.back();
  const auto state_entry = [&](TensorId t, std::int64_t place) {
    std::vector<Stride> strides;
    std::int64_t step = width;
    for (std::size_t k = entry.size(); k-- > 0; step *= graph_.coordinates[entry[k]].extent) strides.push_back({entry[k], step});
    return read_part(t, place, std::move(strides));
  };
  const ExprId steep = state_entry(slope.whole(state), 0), missed = state_entry(state, 8);
  const ExprId moves = x_.apply(LOCUS_and, x_.apply(LOCUS_ne, steep, number(0)), x_.apply(LOCUS_eq, missed, number(0)));
  inner.add(gap, x_.apply(LOCUS_select, moves, x_.apply(LOCUS_neg, x_.apply(LOCUS_div, state_entry(whole(state), 0), steep)), number(0)));
  inner.sweep(copies);
  take_over(inner);
}

// -- turns
void Adjoint::back_turns(const Iterate& given) {
  Iterate* const recorded = original(given.carries[0].state);
  if (!recorded) throw NoDerivative{"a loop inside a loop", span_};
  const std::int64_t limit = given.limit;
  const auto record = [&](TensorId source, std::int64_t length) {
    for (const Path& p : recorded->paths)
      if (p.source == source) return p.out;
    Tensor made = graph_.tensors[source];
    made.name += " over turns";
    made.shape.insert(made.shape.begin(), length), made.axes.insert(made.axes.begin(), "turn");
    recorded->paths.push_back({source, graph_.add_tensor(std::move(made))});
    return recorded->paths.back().out;
  };
  std::vector<TensorId> paths;
  for (const Carry& c : given.carries) paths.push_back(record(c.state, limit + 1));
  const TensorId stops = given.stop == none ? none : record(given.stop, limit);
  const Iterate loop = *recorded;  // nodes are added to the list that it stands in

  Iterate back;
  back.limit = limit;
  back.turn = tensor({}, Type::integer);
  std::vector<Node> body;
  Adjoint inner(graph_, {&body}, [&body](Node n) { body.push_back(std::move(n)); });
  inner.span_ = span_;
  const auto integer = [&](std::int64_t v) { return x_.constant(static_cast<double>(v), Type::integer); };
  const ExprId turn = x_.apply(LOCUS_sub, integer(limit - 1), read(back.turn, {}));
  std::map<TensorId, TensorId> to;
  to[loop.turn] = inner.stored(turn, {}, Type::integer);
  const auto recall = [&](TensorId path, ExprId when, TensorId like) {
    const auto dims = inner.fresh(graph_.tensors[like].shape, graph_.tensors[like].name);
    Gather gather;
    gather.out = inner.tensor(dims, graph_.tensors[like].type);
    gather.space = dims;
    std::int64_t step = 1;
    std::vector<Stride> strides;
    for (std::size_t k = dims.size(); k-- > 0; step *= graph_.coordinates[dims[k]].extent) strides.push_back({dims[k], step});
    std::erase_if(strides, [&](const Stride& s) { return graph_.coordinates[s.coordinate].extent == 1; });
    gather.table = {path, 0, std::move(strides)};
    gather.indices = {{when, graph_.tensors[path].shape[0], step}};
    const TensorId out = gather.out;
    inner.emit(std::move(gather));
    return out;
  };
  inner.active_ = active_;
  for (std::size_t k = 0; k < loop.carries.size(); ++k) {
    const TensorId state = loop.carries[k].state;
    to[state] = recall(paths[k], turn, state);
    inner.active_.erase(state);
    if (active(state)) inner.active_.insert(to[state]);
  }
  // Was this turn made at all? After a stop the record repeats itself.
  ExprId made = none;
  if (stops != none) {
    const ExprId before = x_.apply(LOCUS_maximum, x_.apply(LOCUS_sub, turn, integer(1)), integer(0));
    made = x_.apply(LOCUS_or, x_.apply(LOCUS_eq, turn, integer(0)), x_.apply(LOCUS_not, read(recall(stops, before, loop.stop), {})));
  }
  const std::vector<Node> copies = copied(graph_, loop.body, to);
  body.insert(body.end(), copies.begin(), copies.end());
  inner.activate(copies);

  struct Carried {
    TensorId of, initial, state;
    bool is_state;
  };
  std::vector<Carried> carried;
  for (const Carry& c : loop.carries)
    if (active(c.state) && graph_.tensors[c.state].type >= Type::exact) {
      carried.push_back({c.state, stored(at(c.state, sum(c.state).at), sum(c.state).at, Type::real), inner.tensor(sum(c.state).at, Type::real), true});
      const TensorId next = inner.renamed(c.next, to);
      inner.add(next, read(carried.back().state, inner.sum(next).at));
    }
  inner.sweep(copies);
  std::set<TensorId> written;
  for (const Node& n : copies)
    for (TensorId t : writes(n)) written.insert(t);
  std::vector<TensorId> outside;
  for (const auto& [t, s] : inner.sums_)
    if (active(t) && inner.found(t) && !written.count(t)) outside.push_back(t);
  for (TensorId t : outside) carried.push_back({t, stored(number(0), sum(t).at, Type::real), inner.tensor(sum(t).at, Type::real), false});
  for (const Carried& c : carried) {
    const auto dims = sum(c.of).at;
    const ExprId now = read(c.state, dims), more = inner.at(c.is_state ? to[c.of] : c.of, dims);
    const ExprId next = c.is_state ? more : x_.apply(LOCUS_add, now, more);
    const TensorId out = inner.tensor(dims, Type::real);
    inner.emit(Map{out, dims, x_.to(Type::real, made == none ? next : x_.apply(LOCUS_select, made, next, now))});
    back.carries.push_back({c.initial, c.state, out});
  }
  if (back.carries.empty()) return;
  back.body = std::move(body);
  emit(std::move(back));
  for (const Carried& c : carried) {
    if (!c.is_state) {
      add(c.of, read(c.state, sum(c.of).at));
      continue;
    }
    const auto own = std::find_if(loop.carries.begin(), loop.carries.end(), [&](const Carry& k) { return k.state == c.of; });
    if (active(own->initial)) add(own->initial, read_flat(c.state, sum(own->initial).at));
  }
}

TensorId Adjoint::renamed(TensorId t, const std::map<TensorId, TensorId>& to) {
  const auto found = to.find(t);
  return found == to.end() ? t : found->second;
}

}  // namespace locus::graph
