// The way back through lists of pairs; see adjoint.hpp and LOCUS_ARRAY_PAIRS. Which pairs there are does not change with what they hold, so a derivative is a list
// with the same pairs. What stands behind the last pair means nothing, and nothing comes back from there.
#include <algorithm>
#include "core/graph/adjoint.hpp"

namespace locus::graph {

// table[i of the entry, ...] for each entry of a list.
ExprId Adjoint::picked(TensorId table, const std::vector<TensorId>& indices, CoordId entry, const std::vector<CoordId>& rest) {
  const auto& shape = graph_.tensors[table].shape;
  Gather gather;
  gather.space = {entry};
  gather.space.insert(gather.space.end(), rest.begin(), rest.end());
  gather.out = tensor(gather.space, graph_.tensors[table].type);
  gather.table = {table, 0, {}};
  std::int64_t step = 1;
  for (std::size_t k = shape.size(); k-- > 0; step *= shape[k]) {
    if (k < indices.size()) gather.indices.push_back({read(indices[k], {entry}), shape[k], step});
    else if (shape[k] != 1) gather.table.strides.push_back({rest[k - indices.size()], step});
  }
  std::sort(gather.table.strides.begin(), gather.table.strides.end(), [](const Stride& a, const Stride& b) { return a.coordinate < b.coordinate; });
  const TensorId out = gather.out;
  const auto space = gather.space;
  emit(std::move(gather));
  return read(out, space);
}

// The value where the entry is one of the list's pairs.
ExprId Adjoint::within_list(TensorId starts, CoordId entry, ExprId value) {
  const ExprId used = x_.read(starts, Type::integer, graph_.tensors[starts].shape[0] - 1, {});
  return x_.apply(LOCUS_select, x_.apply(LOCUS_lt, x_.coordinate(entry), used), value, number(0));
}

TensorId Adjoint::called(locus_array_function function, std::vector<TensorId> inputs, const std::vector<std::int64_t>& shape, Type type) {
  ArrayCall call;
  call.function = function;
  call.inputs = std::move(inputs);
  call.outputs = {tensor(fresh(shape, "entry"), type)};
  const TensorId out = call.outputs[0];
  emit(std::move(call));
  return out;
}

// (starts, rows, columns, values) of the transpose.
std::vector<TensorId> Adjoint::turned(TensorId starts, TensorId columns, TensorId values, std::int64_t rows) {
  ArrayCall call;
  call.function = LOCUS_ARRAY_PAIRS_TURN;
  call.inputs = {starts, columns, values};
  const auto entry = fresh(graph_.tensors[values].shape, "entry");
  call.outputs = {tensor(fresh({rows + 1}, "start"), Type::integer), tensor(entry, Type::integer), tensor(entry, Type::integer), tensor(entry, graph_.tensors[values].type)};
  const std::vector<TensorId> out = call.outputs;
  emit(std::move(call));
  return out;
}

void Adjoint::back_pairs(const ArrayCall& call) {
  const auto& in = call.inputs;
  switch (call.function) {
    case LOCUS_ARRAY_PAIRS: {  // each entry was added to one pair
      std::vector<TensorId> look{call.outputs[0], call.outputs[2], whole(call.outputs[3])};
      look.insert(look.end(), in.begin(), in.end() - 1);
      return add_flat(in.back(), called(LOCUS_ARRAY_PAIRS_LOOK, look, graph_.tensors[in.back()].shape, graph_.tensors[in.back()].type));
    }
    case LOCUS_ARRAY_PAIRS_TURN:
      return add_flat(in[2], turned(call.outputs[0], call.outputs[2], whole(call.outputs[3]), graph_.tensors[in[0]].shape[0] - 1)[3]);
    case LOCUS_ARRAY_PAIRS_AT:
      return add_flat(in[2], called(LOCUS_ARRAY_PAIRS_AT, {in[3], in[4], whole(call.outputs[0]), in[0], in[1]}, graph_.tensors[in[2]].shape, graph_.tensors[in[2]].type));
    case LOCUS_ARRAY_PAIRS_SUM: {
      const auto at_in = sum(in[2]).at;
      return add(in[2], within_list(in[0], at_in[0], picked(whole(call.outputs[0]), {in[1]}, at_in[0], {at_in.begin() + 1, at_in.end()})));
    }
    case LOCUS_ARRAY_PAIRS_TIMES: {
      const TensorId g = whole(call.outputs[0]);
      const auto& shape = graph_.tensors[in[4]].shape;
      if (active(in[3])) {
        const CoordId entry = sum(in[3]).at[0];
        const auto columns = shape.size() == 2 ? fresh({shape[1]}, "column") : std::vector<CoordId>{};
        ExprId both = x_.apply(LOCUS_mul, picked(g, {in[1]}, entry, columns), picked(in[4], {in[2]}, entry, columns));
        if (!columns.empty()) both = x_.over(LOCUS_SUM_OVER, columns[0], both);
        add(in[3], within_list(in[0], entry, both));
      }
      if (!active(in[4])) return;
      const auto back = turned(in[0], in[2], in[3], shape[0]);
      return add_flat(in[4], called(LOCUS_ARRAY_PAIRS_TIMES, {back[0], back[1], back[2], back[3], g}, shape, graph_.tensors[in[4]].type));
    }
    default: {  // LOCUS_ARRAY_PAIRS_WHOLE
      const CoordId entry = sum(in[3]).at[0];
      return add(in[3], within_list(in[0], entry, picked(whole(call.outputs[0]), {in[1], in[2]}, entry, {})));
    }
  }
}

}  // namespace locus::graph
