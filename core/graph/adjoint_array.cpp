// The way back through whole-array functions; see adjoint.hpp. What moves entries (concat, patches, padding) gives them back where they came from, small
// systems are solved once more with the derivative as the right side.
#include <algorithm>
#include "core/graph/adjoint.hpp"
#include "core/graph/text.hpp"

namespace locus::graph {

void Adjoint::back(const ArrayCall& call) {
  const TensorId out = call.outputs[0];
  switch (call.function) {
    case LOCUS_ARRAY_CONCAT: return back_concat(call);
    case LOCUS_ARRAY_SOLVE: return back_solve(call);
    case LOCUS_ARRAY_FIT: return back_fit_call(call);
    case LOCUS_ARRAY_COPY: return add_flat(call.inputs[0], whole(out));
    case LOCUS_ARRAY_CUMSUM: {  // what is to the right: all, less the sum up to here, and this one
      const std::vector<CoordId>& at_in = sum(call.inputs[0]).at;
      ArrayCall again = call;
      again.inputs = {whole(out)};
      again.outputs = {tensor(at_in, graph_.tensors[out].type)};
      const TensorId running = again.outputs[0];
      emit(std::move(again));
      const CoordId last = fresh({graph_.coordinates[at_in.back()].extent}, "all")[0];
      const ExprId g = at(out, at_in), all = x_.over(LOCUS_SUM_OVER, last, x_.rename(g, [&](CoordId c) { return c == at_in.back() ? last : c; }));
      return add(call.inputs[0], x_.apply(LOCUS_add, x_.apply(LOCUS_sub, all, read(running, at_in)), g));
    }
    case LOCUS_ARRAY_SCATTER: {
      const TensorId near = call.inputs[1];
      if (!active(call.inputs[0])) return;
      return add_looked_up(call.inputs[0], out, {near}, graph_.tensors[near].shape.size() - 1);
    }
    case LOCUS_ARRAY_MATRIX:
      return add_looked_up(call.inputs[2], out, {call.inputs[0], call.inputs[1]}, 0);
    case LOCUS_ARRAY_PAD_EDGE:
    case LOCUS_ARRAY_PAD_MIRROR:
    case LOCUS_ARRAY_PAD_ZERO:
    case LOCUS_ARRAY_PATCHES: {  // the same function tells where each entry came from
      const TensorId in = call.inputs[0];
      const auto at_in = sum(in).at, at_out = sum(out).at;
      ExprId number_of = x_.constant(0, Type::integer);
      std::int64_t step = 1;
      for (std::size_t k = at_in.size(); k-- > 0; step *= graph_.coordinates[at_in[k]].extent)
        number_of = x_.apply(LOCUS_add, number_of, x_.apply(LOCUS_mul, x_.coordinate(at_in[k]), x_.constant(static_cast<double>(step), Type::integer)));
      ArrayCall places = call;
      places.inputs = {stored(x_.apply(LOCUS_add, number_of, x_.constant(1, Type::integer)), at_in, Type::integer)};
      places.outputs = {tensor(at_out, Type::integer)};
      const TensorId from = places.outputs[0];
      emit(std::move(places));
      return scatter(in, at(out, at_out), x_.apply(LOCUS_sub, read(from, at_out), x_.constant(1, Type::integer)), at_out);  // padding came from -1: nowhere
    }
    case LOCUS_ARRAY_PAIRS:
    case LOCUS_ARRAY_PAIRS_TURN:
    case LOCUS_ARRAY_PAIRS_AT:
    case LOCUS_ARRAY_PAIRS_SUM:
    case LOCUS_ARRAY_PAIRS_TIMES:
    case LOCUS_ARRAY_PAIRS_WHOLE: return back_pairs(call);
    default: throw NoDerivative{"`" + std::string(name_of(call.function)) + "`", span_};
  }
}

// in[e] += out's derivative at [leading coordinates of e, the indices at e].
void Adjoint::add_looked_up(TensorId in, TensorId out, const std::vector<TensorId>& indices, std::size_t leading) {
  const auto space = sum(in).at;
  const auto& shape = graph_.tensors[out].shape;
  Gather gather;
  gather.out = tensor(space, graph_.tensors[in].type);
  gather.space = space;
  gather.table = {stored(at(out, sum(out).at), sum(out).at, graph_.tensors[in].type), 0, {}};
  std::int64_t step = 1;
  for (std::size_t k = shape.size(); k-- > 0; step *= shape[k]) {
    if (k < leading) gather.table.strides.push_back({space[k], step});
    else gather.indices.push_back({read(indices[k - leading], space), shape[k], step});
  }
  std::sort(gather.table.strides.begin(), gather.table.strides.end(), [](const Stride& a, const Stride& b) { return a.coordinate < b.coordinate; });
  const TensorId got = gather.out;
  emit(std::move(gather));
  add(in, read(got, space));
}

void Adjoint::back_concat(const ArrayCall& call) {
  const TensorId out = call.outputs[0];
  std::int64_t from = 0;
  for (TensorId in : call.inputs) {
    const auto shape = graph_.tensors[in].shape;
    if (active(in)) {
      const Expr g = x_.at(at(out, sum(out).at));
      std::vector<Stride> strides;
      std::int64_t step = 1;
      for (std::size_t k = shape.size(); k-- > 0; step *= graph_.tensors[out].shape[k]) strides.push_back({sum(in).at[k], step});
      add(in, read_part(g.index, from, std::move(strides)));
    }
    from += shape.back();
  }
}

// a x = b: b's derivative is the solution of a' l = g, a's is -l x'.
void Adjoint::back_solve(const ArrayCall& call) {
  const TensorId a = call.inputs[0], b = call.inputs[1], x = call.outputs[0];
  const auto& sa = graph_.tensors[a].shape;
  const Type type = graph_.tensors[x].type;
  const auto at_a = fresh(sa, "n"), at_x = fresh(graph_.tensors[x].shape, "x");
  auto turned = at_a;
  std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
  ArrayCall again;
  again.function = LOCUS_ARRAY_SOLVE;
  again.inputs = {stored(read(a, turned), at_a, graph_.tensors[a].type), whole(x)};
  again.outputs = {tensor(at_x, type)};
  const TensorId l = again.outputs[0];
  emit(std::move(again));
  if (active(b)) add(b, read(l, sum(b).at));
  if (!active(a)) return;
  const auto& entry = sum(a).at;
  const std::size_t lead = entry.size() - 2;
  std::vector<CoordId> left(entry.begin(), entry.begin() + static_cast<std::ptrdiff_t>(lead)), right = left;
  left.push_back(entry[lead]), right.push_back(entry[lead + 1]);
  if (at_x.size() == entry.size()) {  // several right sides
    left.push_back(at_x.back()), right.push_back(at_x.back());
    add(a, x_.apply(LOCUS_neg, x_.contract(LOCUS_DOT, at_x.back(), read(l, left), read(x, right))));
  } else {
    add(a, x_.apply(LOCUS_neg, x_.apply(LOCUS_mul, read(l, left), read(x, right))));
  }
}

// -- small problems of local models: see core/run/fit.cpp for the blocks
Adjoint::Blocks Adjoint::blocks_of(const ArrayCall& call, std::size_t first, bool with_outcomes) {
  Blocks b;
  const auto count = static_cast<std::size_t>(call.parameters[0]);
  b.rows = static_cast<std::int64_t>(call.parameters[1]);
  if (with_outcomes) b.outcomes = static_cast<std::int64_t>(call.parameters[2]);
  for (std::size_t k = 0; k < count; ++k) b.sizes.push_back(static_cast<std::int64_t>(call.parameters[(with_outcomes ? 3 : 2) + k]));
  auto at = call.inputs.begin() + static_cast<std::ptrdiff_t>(first);
  const auto take = [&](std::size_t n) {
    const std::vector<TensorId> part(at, at + static_cast<std::ptrdiff_t>(n));
    at += static_cast<std::ptrdiff_t>(n);
    return part;
  };
  b.slopes = take(count), b.curvatures = take(count * (count + 1) / 2), b.kinks = take(count);
  b.count = *at;
  return b;
}

void Adjoint::back_fit_call(const ArrayCall& call) {
  const Blocks b = blocks_of(call, 0, true);
  const TensorId theta = call.outputs[0];
  if (!found(theta)) return;
  const std::int64_t p = graph_.tensors[theta].shape.back();
  const TensorId l = back_slopes(b, whole(theta), 0, p);
  const CoordId row = fresh({b.rows}, "row")[0], outcome = fresh({b.outcomes}, "outcome")[0];
  // A row without a solution has none to move.
  const CoordId all = fresh({p}, "entry")[0];
  const ExprId solved = x_.apply(LOCUS_select, x_.apply(LOCUS_eq, read_flat(b.count, {row}), x_.constant(0, Type::integer)), number(0), read_flat(theta, {row, outcome, all}));
  const TensorId x = stored(solved, {row, outcome, all}, Type::exact);
  const auto part = [&](TensorId t, std::int64_t offset, CoordId own) { return read_part(t, offset, {{row, b.outcomes * p}, {outcome, p}, {own, 1}}); };
  std::size_t input = 0;
  std::int64_t first = 0;
  for (std::size_t k = 0; k < b.sizes.size(); first += b.sizes[k++]) {
    std::int64_t second = first;
    for (std::size_t m = k; m < b.sizes.size(); second += b.sizes[m++], ++input) {
      const TensorId block = b.curvatures[input];
      if (!active(block)) continue;
      const CoordId r = fresh({b.sizes[k]}, "entry")[0], c = fresh({b.sizes[m]}, "other entry")[0];
      ExprId value = x_.apply(LOCUS_mul, part(l, first, r), part(x, second, c));
      if (k != m) value = x_.apply(LOCUS_add, value, x_.apply(LOCUS_mul, part(x, first, r), part(l, second, c)));
      std::int64_t entries = 1;
      for (std::int64_t s : graph_.tensors[block].shape) entries *= s;
      std::vector<CoordId> dims{row};
      if (entries == b.rows * b.sizes[k] * b.sizes[m]) value = x_.over(LOCUS_SUM_OVER, outcome, value);
      else dims.push_back(outcome);
      dims.push_back(r), dims.push_back(c);
      add_flat(block, stored(value, dims, Type::exact));
    }
  }
}

// theta = -H^-1 g: with l = -H^-1 theta', the derivative by g is l, and by H it is l theta' + theta l' (half of it on the diagonal, whose entries stand once).
// Gives l [rows, outcomes, P]; a row's part of `by_theta` begins at `offset` of its `width` numbers.
TensorId Adjoint::back_slopes(const Blocks& b, TensorId by_theta, std::int64_t offset, std::int64_t width) {
  for (TensorId k : b.kinks)
    if (!graph_.tensors[k].shape.empty()) throw NoDerivative{"a penalty of absolute values", span_};
  std::int64_t p = 0;
  for (std::int64_t s : b.sizes) p += s;
  const CoordId row = fresh({b.rows}, "row")[0], outcome = fresh({b.outcomes}, "outcome")[0];
  const auto part = [&](TensorId t, std::int64_t from, std::int64_t wide, CoordId own) { return read_part(t, from, {{row, b.outcomes * wide}, {outcome, wide}, {own, 1}}); };
  ArrayCall fit;
  fit.function = LOCUS_ARRAY_FIT;
  fit.parameters = {static_cast<double>(b.sizes.size()), static_cast<double>(b.rows), static_cast<double>(b.outcomes)};
  std::int64_t first = 0;
  for (std::int64_t s : b.sizes) {
    const CoordId own = fresh({s}, "entry")[0];
    fit.inputs.push_back(stored(part(by_theta, offset + first, width, own), {row, outcome, own}, Type::exact));
    fit.parameters.push_back(static_cast<double>(s));
    first += s;
  }
  fit.inputs.insert(fit.inputs.end(), b.curvatures.begin(), b.curvatures.end());
  fit.inputs.insert(fit.inputs.end(), b.kinks.begin(), b.kinks.end());
  fit.inputs.push_back(b.count);
  const CoordId all = fresh({p}, "entry")[0], three = fresh({3}, "info")[0];
  const TensorId solved = tensor({row, outcome, all}, Type::exact);
  fit.outputs = {solved, tensor({row, outcome, three}, Type::exact)};
  emit(std::move(fit));
  const ExprId moves = x_.apply(LOCUS_select, x_.apply(LOCUS_eq, read_flat(b.count, {row}), x_.constant(0, Type::integer)), number(0), read(solved, {row, outcome, all}));
  const TensorId l = stored(moves, {row, outcome, all}, Type::exact);
  first = 0;
  for (std::size_t k = 0; k < b.sizes.size(); first += b.sizes[k++]) {
    if (!active(b.slopes[k])) continue;
    const CoordId own = fresh({b.sizes[k]}, "entry")[0];
    add_flat(b.slopes[k], stored(part(l, first, p, own), {row, outcome, own}, Type::exact));
  }
  return l;
}

}  // namespace locus::graph
