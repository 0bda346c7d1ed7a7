// Reverse accumulation: sums of what has been found, and the way back through maps, products and look-ups; see adjoint.hpp.
#include "core/graph/adjoint.hpp"
#include <algorithm>
#include "core/graph/rewrite.hpp"

namespace locus::graph {
namespace {

std::vector<std::int64_t> steps_of(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> steps(shape.size());
  std::int64_t step = 1;
  for (std::size_t k = shape.size(); k-- > 0; step *= shape[k]) steps[k] = step;
  return steps;
}

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (std::int64_t s : shape) n *= s;
  return n;
}

bool number_type(Type t) { return t >= Type::exact; }

}  // namespace

TensorId Adjoint::of(ExprId scalar, TensorId by) {
  std::vector<Node> nodes;
  for (const auto* block : blocks_)
    for (const Node& n : *block)
      if (!std::holds_alternative<Input>(n.kind)) nodes.push_back(n);
  active_.insert(by);
  activate(nodes);
  for (const Carry& c : open_)
    if (active(c.initial)) active_.insert(c.state);
  for (const Cut& c : cuts_)
    if (std::any_of(c.from.begin(), c.from.end(), [&](TensorId t) { return active(t); })) active_.insert(c.array);
  activate(nodes);
  push(plain(scalar), number(1), {});
  flush_views();
  sweep(nodes);
  for (const Cut& c : cuts_)
    if (found(c.array)) throw NoDerivative{"`" + c.by + "`", c.span};
  for (const Carry& c : open_)
    if (c.state != by && found(c.state)) throw NoDerivative{"an earlier turn of the loop", span_};
  return whole(by);
}

// -- sums
Adjoint::Sum& Adjoint::sum(TensorId t) {
  const auto [at, is_new] = sums_.try_emplace(t);
  if (is_new) at->second.at = fresh(graph_.tensors[t].shape, graph_.tensors[t].name);
  return at->second;
}

bool Adjoint::found(TensorId t) const {
  const auto at = sums_.find(t);
  return at != sums_.end() && !at->second.parts.empty();
}

void Adjoint::add(TensorId t, ExprId part) {
  Sum& s = sum(t);
  s.parts.push_back(part);
  s.whole = none;
}

TensorId Adjoint::whole(TensorId t) {
  Sum& s = sum(t);
  if (s.whole != none) return s.whole;
  ExprId total = none;
  for (ExprId p : s.parts) total = total == none ? p : x_.apply(LOCUS_add, total, p);
  return s.whole = stored(total == none ? number(0) : total, s.at, graph_.tensors[t].type);
}

ExprId Adjoint::at(TensorId t, const std::vector<CoordId>& c) { return read_flat(whole(t), c); }

void Adjoint::add_flat(TensorId t, TensorId flat) { add(t, read_flat(flat, sum(t).at)); }

void Adjoint::scatter(TensorId t, ExprId value, ExprId place, const std::vector<CoordId>& space) {
  const TensorId values = stored(value, space, graph_.tensors[t].type), places = stored(place, space, Type::integer);
  const std::vector<CoordId> flat = fresh({count_of(graph_.extents(space))}, "entries"), out = fresh({count_of(graph_.tensors[t].shape)}, "entries");
  ArrayCall call;
  call.function = LOCUS_ARRAY_SCATTER;
  call.inputs = {stored(read_flat(values, flat), flat, graph_.tensors[values].type), stored(read_flat(places, flat), flat, Type::integer)};
  call.outputs = {tensor(out, graph_.tensors[values].type)};
  const TensorId added = call.outputs[0];
  emit(std::move(call));
  add_flat(t, added);
}

// -- the walk
void Adjoint::activate(const std::vector<Node>& nodes) {
  for (const Node& n : nodes) {
    const auto in = reads(graph_, n);
    if (std::none_of(in.begin(), in.end(), [&](TensorId t) { return active(t); })) continue;
    for (TensorId t : writes(n))
      if (number_type(graph_.tensors[t].type)) active_.insert(t);
  }
}

void Adjoint::sweep(const std::vector<Node>& nodes) {
  for (std::size_t k = nodes.size(); k-- > 0;) {
    const Node& n = nodes[k];
    const auto in = reads(graph_, n), out = writes(n);
    if (std::none_of(in.begin(), in.end(), [&](TensorId t) { return active(t); })) continue;
    if (std::none_of(out.begin(), out.end(), [&](TensorId t) { return found(t); })) continue;
    span_ = n.span;
    std::visit([this](const auto& kind) { back(kind); }, n.kind);
    flush_views();
  }
}

std::vector<TensorId> Adjoint::active_reads(ExprId e) const {
  auto all = x_.reads(e);
  std::erase_if(all, [&](TensorId t) { return !active(t); });
  return all;
}

// e with each read that does not take an active tensor as it is through a tensor of its own.
ExprId Adjoint::plain(ExprId e) {
  if (e == none || active_reads(e).empty()) return e;
  return rewrite(x_, e, [&](ExprId part) {
    const Expr r = x_.at(part);
    if (r.op != LOCUS_READ || !active(r.index)) return part;
    const auto& shape = graph_.tensors[r.index].shape;
    const auto steps = steps_of(shape);
    std::vector<Stride> strides = r.strides;
    std::erase_if(strides, [&](const Stride& s) { return graph_.coordinates[s.coordinate].extent == 1; });
    auto left = strides;
    bool whole = r.offset == 0;
    for (std::size_t k = 0; k < shape.size() && whole; ++k) {
      if (shape[k] == 1) continue;
      const auto own = std::find_if(left.begin(), left.end(), [&](const Stride& s) { return s.stride == steps[k] && graph_.coordinates[s.coordinate].extent == shape[k]; });
      whole = own != left.end();
      if (whole) left.erase(own);
    }
    if (whole && left.empty()) return part;
    std::stable_sort(strides.begin(), strides.end(), [](const Stride& a, const Stride& b) { return a.stride > b.stride; });
    View v{none, r.index, r.offset, strides};
    std::vector<CoordId> dims;
    for (const Stride& s : strides) dims.push_back(s.coordinate);
    const ExprId as_read = x_.read(r.index, r.type, r.offset, strides);
    v.tensor = stored(as_read, dims, r.type);
    if (v.tensor == r.index) return part;
    active_.insert(v.tensor);
    views_.push_back(v);
    return read(v.tensor, dims);
  });
}

void Adjoint::flush_views() {
  while (!views_.empty()) {
    const View v = views_.back();
    views_.pop_back();
    if (!found(v.tensor)) continue;
    std::vector<CoordId> dims;
    for (const Stride& s : v.strides) dims.push_back(s.coordinate);
    const auto steps = steps_of(graph_.extents(dims));
    bool same = v.offset == 0 && count_of(graph_.extents(dims)) == count_of(graph_.tensors[v.source].shape);
    for (std::size_t k = 0; k < dims.size(); ++k) same &= v.strides[k].stride == steps[k];
    if (same) {
      add_flat(v.source, whole(v.tensor));
      continue;
    }
    ExprId place = x_.constant(static_cast<double>(v.offset), Type::integer);
    for (const Stride& s : v.strides) place = x_.apply(LOCUS_add, place, x_.apply(LOCUS_mul, x_.coordinate(s.coordinate), x_.constant(static_cast<double>(s.stride), Type::integer)));
    scatter(v.source, at(v.tensor, dims), place, dims);
  }
}

// The derivative of sum over the pairs of weight * factor * value, with weight and factor held fixed.
void Adjoint::push(ExprId value, ExprId factor, const Pairs& over) {
  for (TensorId t : active_reads(value)) {
    Unknown u;
    u.tensor = t, u.entry = sum(t).at;
    std::vector<Term> terms;
    try {
      terms = Derivative(graph_, u).of(value);
    } catch (const Derivative::NoDerivative& no) {
      throw NoDerivative{"`" + no.op + "`", span_};
    }
    for (Term& term : terms) {
      term.value = x_.apply(LOCUS_mul, factor, term.value);
      for (CoordId f : over.features)
        if (!term.pins.count(f)) term.value = x_.over(LOCUS_SUM_OVER, f, term.value);
      spread(t, term, over);
    }
  }
}

// One summand of it, over all pairs that are not pinned to the entry.
void Adjoint::spread(TensorId t, const Term& term, const Pairs& over) {
  const std::vector<CoordId> entry = sum(t).at;
  const auto image = [&](CoordId c) {
    const auto pin = term.pins.find(c);
    return pin == term.pins.end() ? c : pin->second;
  };
  const auto moved = [&](ExprId e) { return e == none ? none : x_.rename(e, image); };
  const ExprId value = moved(term.value), weight = moved(over.weight);
  ExprId where = moved(over.where);
  std::vector<CoordId> open, rows;
  for (CoordId c : over.rows) {
    rows.push_back(image(c));
    if (!term.pins.count(c)) open.push_back(c);
  }
  if (over.sample == none) return add(t, summed(value, entry, open));
  Pairs p{rows, over.sample, {}, weight, where, over.list};
  if (const CoordId sample = image(over.sample); sample != over.sample) {  // the rows are summed over instead
    if (over.list != none) {
      const CoordId place = fresh({graph_.tensors[over.list].shape.back()}, "place")[0];
      auto listed = rows;
      listed.push_back(place);
      const ExprId here = x_.over(LOCUS_SUM_OVER, place, x_.to(Type::exact, x_.apply(LOCUS_eq, read(over.list, listed), x_.coordinate(sample))));
      const ExprId member = x_.apply(LOCUS_lt, number(0), here);
      where = where == none ? member : x_.apply(LOCUS_and, where, member);
    }
    if (open.empty()) {
      const ExprId all = weight == none ? value : x_.apply(LOCUS_mul, weight, value);
      return add(t, where == none ? all : x_.apply(LOCUS_select, where, all, number(0)));
    }
    const CoordId longest = *std::max_element(open.begin(), open.end(), [&](CoordId a, CoordId b) { return graph_.coordinates[a].extent < graph_.coordinates[b].extent; });
    std::erase(open, longest), std::erase(p.rows, longest);
    p.rows.push_back(sample), p.sample = longest, p.where = where, p.list = none;
  }
  for (CoordId c : entry)
    if (std::find(p.rows.begin(), p.rows.end(), c) == p.rows.end()) p.features.push_back(c);
  std::vector<CoordId> dims = p.rows;
  dims.insert(dims.end(), p.features.begin(), p.features.end());
  const TensorId out = reduced(p, LOCUS_WEIGHTED_SUM, value, Type::exact);
  add(t, summed(read(out, dims), entry, open));
}

// The sum over coordinates, those of `kept` remaining.
ExprId Adjoint::summed(ExprId value, const std::vector<CoordId>& kept, std::vector<CoordId> over) {
  constexpr std::int64_t inside = 256;  // longer sums are a reduce's, which keeps their error small
  std::sort(over.begin(), over.end(), [&](CoordId a, CoordId b) { return graph_.coordinates[a].extent < graph_.coordinates[b].extent; });
  while (!over.empty()) {
    std::int64_t entries = 1;
    for (CoordId c : over) entries *= graph_.coordinates[c].extent;
    if (entries <= inside) {
      for (CoordId c : over) value = x_.over(LOCUS_SUM_OVER, c, value);
      return value;
    }
    const CoordId longest = over.back();
    over.pop_back();
    std::vector<CoordId> dims = kept;
    dims.insert(dims.end(), over.begin(), over.end());
    if (as_linear(value, dims, longest, &value)) continue;
    Pairs p;
    p.rows = dims, p.sample = longest;
    value = read(reduced(p, LOCUS_WEIGHTED_SUM, value, Type::exact), dims);
  }
  return value;
}

// A product of two reads with a coordinate of its own on each side is a matrix product.
bool Adjoint::as_linear(ExprId value, const std::vector<CoordId>& kept, CoordId over, ExprId* result) {
  const Expr e = x_.at(value);
  if (e.op != LOCUS_mul || e.type != Type::real) return false;
  const Expr a = x_.at(e.args[0]), b = x_.at(e.args[1]);
  if (a.op != LOCUS_READ || b.op != LOCUS_READ || a.type != Type::real || b.type != Type::real) return false;
  if (!x_.depends(e.args[0], over) || !x_.depends(e.args[1], over)) return false;
  Linear l;
  l.inner = over;
  for (CoordId c : kept) {
    const bool in_a = x_.depends(e.args[0], c), in_b = x_.depends(e.args[1], c);
    if (in_a == in_b) {
      l.batch.push_back(c);
    } else {
      CoordId& side = in_a ? l.row : l.column;
      if (side != none) return false;
      side = c;
    }
  }
  if (l.row == none || l.column == none) return false;
  std::vector<CoordId> dims = l.batch;
  dims.push_back(l.row), dims.push_back(l.column);
  l.a = {a.index, a.offset, a.strides}, l.b = {b.index, b.offset, b.strides};
  l.out = tensor(dims, Type::real);
  *result = read(l.out, dims);
  emit(std::move(l));
  return true;
}

// -- nodes
void Adjoint::back(const Map& m) {
  Pairs p;
  p.rows = m.space;
  push(plain(m.value), at(m.out, m.space), p);
}

void Adjoint::back(const Linear& l) {
  const auto operand = [&](const Operand& o) { return x_.read(o.tensor, graph_.tensors[o.tensor].type, o.offset, o.strides); };
  Pairs p;
  p.rows = l.batch;
  for (CoordId c : {l.row, l.column})
    if (c != none) p.rows.push_back(c);
  push(plain(x_.contract(LOCUS_DOT, l.inner, operand(l.a), operand(l.b))), at(l.out, p.rows), p);
}

void Adjoint::back(const Gather& gather) {
  if (!active(gather.table.tensor)) return;
  const auto integer = [&](std::int64_t v) { return x_.constant(static_cast<double>(v), Type::integer); };
  ExprId place = integer(gather.table.offset);
  for (const Stride& s : gather.table.strides) place = x_.apply(LOCUS_add, place, x_.apply(LOCUS_mul, x_.coordinate(s.coordinate), integer(s.stride)));
  for (const GatherIndex& i : gather.indices) place = x_.apply(LOCUS_add, place, x_.apply(LOCUS_mul, i.index, integer(i.stride)));
  scatter(gather.table.tensor, at(gather.out, gather.space), place, gather.space);
}

// -- small things
ExprId Adjoint::read_flat(TensorId t, const std::vector<CoordId>& c) {
  const auto steps = steps_of(graph_.extents(c));
  std::vector<Stride> strides;
  for (std::size_t k = 0; k < c.size(); ++k) strides.push_back({c[k], steps[k]});
  return read_part(t, 0, std::move(strides));
}

ExprId Adjoint::read_part(TensorId t, std::int64_t offset, std::vector<Stride> strides) {
  std::erase_if(strides, [&](const Stride& s) { return graph_.coordinates[s.coordinate].extent == 1; });
  return x_.read(t, graph_.tensors[t].type, offset, std::move(strides));
}

TensorId Adjoint::tensor(const std::vector<CoordId>& dims, Type t) {
  Tensor made;
  made.name = "derivative";
  made.type = t;
  made.shape = graph_.extents(dims);
  for (CoordId c : dims) made.axes.push_back(graph_.coordinates[c].name);
  return graph_.add_tensor(std::move(made));
}

std::vector<CoordId> Adjoint::fresh(const std::vector<std::int64_t>& shape, const std::string& name) {
  std::vector<CoordId> all;
  for (std::size_t k = 0; k < shape.size(); ++k) all.push_back(graph_.add_coordinate(name, shape[k]));
  return all;
}

// A bare read of a whole tensor is that tensor. What is real stays real where an exact tensor would do.
TensorId Adjoint::stored(ExprId value, const std::vector<CoordId>& space, Type t) {
  if (t == Type::exact && x_.at(value).type == Type::real) t = Type::real;
  if (t != Type::integer) value = x_.to(t, value);
  const Expr e = x_.at(value);
  if (e.op == LOCUS_READ && e.offset == 0 && graph_.tensors[e.index].shape == graph_.extents(space) && (read(e.index, space) == value || read_flat(e.index, space) == value)) return e.index;
  Map m;
  m.out = tensor(space, t);
  m.space = space;
  m.value = value;
  const TensorId out = m.out;
  emit(std::move(m));
  return out;
}

// At least of type t; real if what is reduced is.
TensorId Adjoint::reduced(const Pairs& p, Estimator estimator, ExprId value, Type t) {
  for (ExprId e : {value, p.weight})
    if (e != none && x_.at(e).type == Type::real) t = Type::real;
  Reduce r;
  r.rows = p.rows, r.sample = p.sample, r.weight = p.weight, r.where = p.where, r.list = p.list;
  Estimate e;
  e.estimator = estimator;
  e.value = value;
  e.features = p.features;
  std::vector<CoordId> dims = p.rows;
  dims.insert(dims.end(), p.features.begin(), p.features.end());
  e.out = tensor(dims, t);
  const TensorId out = e.out;
  r.estimates.push_back(std::move(e));
  emit(std::move(r));
  return out;
}

void Adjoint::emit(decltype(Node::kind) kind) { emit_({span_, "derivative", std::move(kind)}); }

}  // namespace locus::graph
