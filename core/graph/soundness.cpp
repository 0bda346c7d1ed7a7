// Soundness of expressions, each looked at once.
#include "core/graph/soundness.hpp"
#include <cmath>
#include <string_view>

namespace locus::graph {

bool within(const Graph& g, TensorId t, std::int64_t offset, const std::vector<Stride>& strides, const std::vector<Extent>& more) {
  __int128 low = offset, high = offset, count = 1;
  bool any = true;
  const auto extend = [&](std::int64_t extent, std::int64_t stride) {
    any = any && extent > 0;
    const __int128 reach = static_cast<__int128>(stride) * (extent - 1);
    (reach < 0 ? low : high) += reach;
  };
  for (const Stride& s : strides) extend(g.coordinates[s.coordinate].extent, s.stride);
  for (const Extent& e : more) extend(e.extent, e.stride);
  for (std::int64_t d : g.tensors[t].shape) count = count > (std::int64_t{1} << 62) && d != 0 ? count : count * d;  // beyond that all is within
  return !any || (low >= 0 && high < count);
}

std::string ExpressionFaults::fault(ExprId root) {
  std::vector<ExprId> open{root};
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (!sound_.emplace(id, true).second) continue;
    const Expr& e = graph_.exprs.at(id);
    if (std::string why = own(e); !why.empty()) {
      sound_.clear();  // so that the next user of this expression hears of it too
      return "expression e" + std::to_string(id) + " " + why;
    }
    for (int k = 0; k < e.arity; ++k) open.push_back(e.args[k]);
  }
  return "";
}

std::string ExpressionFaults::own(const Expr& e) const {
  const bool over = e.op >= LOCUS_SUM_OVER && e.op <= LOCUS_MIN_OVER, contraction = e.op >= LOCUS_DOT && e.op <= LOCUS_MAXDIST;
  if (e.op == LOCUS_READ) return of_read(e);
  if ((e.op == LOCUS_COORDINATE || over || (contraction && e.index != none)) && e.index >= graph_.coordinates.size()) return "is over no coordinate";
  if (e.op == LOCUS_CALL && e.index >= graph_.kernels.size()) return "calls no kernel";
  if (e.op != LOCUS_CALL && e.arity != info(e.op).arity) return "has a wrong number of arguments";
  return of_types(e);
}

std::string ExpressionFaults::of_read(const Expr& e) const {
  if (e.index >= graph_.tensors.size()) return "reads no tensor";
  for (const Stride& s : e.strides)
    if (s.coordinate >= graph_.coordinates.size()) return "reads at no coordinate";
  if (e.type != graph_.tensors[e.index].type) return std::string("reads a tensor of ") + name_of(graph_.tensors[e.index].type) + " as " + name_of(e.type);
  return within(graph_, e.index, e.offset, e.strides, {}) ? "" : "reads outside t" + std::to_string(e.index) + " " + shape_text(graph_.tensors[e.index].shape);
}

// The rules of locus_ops.def as Expressions::apply makes them: ints among ints, else all exact or real; conditions only where conditions belong.
std::string ExpressionFaults::of_types(const Expr& e) const {
  if (e.op == LOCUS_CONSTANT) {
    const bool whole = e.value == std::floor(e.value) && std::abs(e.value) < 0x1p63;
    return (e.type == Type::boolean && e.value != 0 && e.value != 1) || (e.type == Type::integer && !whole) ? "is no constant of its type" : "";
  }
  if (e.op == LOCUS_COORDINATE) return e.type == Type::integer ? "" : "is a coordinate but no int";
  const std::string_view rule = info(e.op).rule;
  const auto type = [&](int k) { return graph_.exprs.at(e.args[k]).type; };
  const auto number = [](Type t) { return t >= Type::exact; };
  if (rule == "to_real") return number(e.type) && type(0) <= e.type ? "" : "is no real number";
  const int first = rule == "select" ? 1 : 0;
  if (first == 1 && type(0) != Type::boolean) return "selects by a number";
  Type common = type(first);
  for (int k = first; k < e.arity; ++k) {
    if (type(k) != common && !(number(type(k)) && number(common))) return "mixes types";
    common = std::max(common, type(k));
  }
  const bool boolean = common == Type::boolean;
  if (rule == "logic" ? !boolean : rule == "integer" ? common != Type::integer : rule == "real" ? !number(common) : rule == "numeric" && boolean)
    return std::string(info(e.op).name) + " of " + name_of(common);
  if (e.op == LOCUS_CALL) return number(e.type) ? "" : "is no real number";
  const Type result = rule == "compare" ? Type::boolean : common;
  return e.type == result ? "" : std::string("has type ") + name_of(e.type) + " instead of " + name_of(result);
}

}  // namespace locus::graph
