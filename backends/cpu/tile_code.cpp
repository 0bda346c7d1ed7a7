// Pair expressions as tile code; see tile_code.hpp.
#include "backends/cpu/tile_code.hpp"

namespace locus::cpu {

int TileCode::place(std::vector<Id>& list, Id e) {
  const auto at = static_cast<int>(std::find(list.begin(), list.end(), e) - list.begin());
  if (at == static_cast<int>(list.size())) list.push_back(e);
  return at;
}

Ref TileCode::element(std::uint16_t op, std::initializer_list<Ref> args) {
  TileStep step;
  step.op = op;
  std::copy(args.begin(), args.end(), step.args);
  step.out = tiles++;
  steps.push_back(step);
  return {Ref::tile, step.out};
}

std::optional<Ref> TileCode::add(Id expr) { return emit(expr); }

std::optional<Ref> TileCode::emit(Id expr) {
  if (const auto known = memo_.find(expr); known != memo_.end()) return known->second;
  const locus_expr& e = program_.exprs[expr];
  const bool i = on_query(expr), j = on_sample(expr), whole = e.type == LOCUS_TYPE_INTEGER;
  std::optional<Ref> out;
  if (e.op == LOCUS_CONSTANT) {
    constants.push_back(e.value);
    if (single_ && whole && std::abs(e.value) >= 16777216) return {};
    out = Ref{Ref::constant, static_cast<int>(constants.size()) - 1};
  } else if (!j) {
    whole_parts |= whole;
    out = Ref{Ref::row, place(rows, expr)};
  } else if (!i) {
    whole_parts |= whole;
    out = Ref{Ref::column, place(columns, expr)};
  } else if (e.op == LOCUS_READ) {
    if (program_.tensors[e.index].dtype == LOCUS_INT64) return {};
    TileStep step;
    step.kind = TileStep::matrix;
    step.index = static_cast<int>(matrices.size());
    step.out = tiles++;
    matrices.push_back({expr});
    steps.push_back(step);
    out = Ref{Ref::tile, step.out};
  } else if (e.op >= LOCUS_DOT && e.op <= LOCUS_MAXDIST) {
    out = contraction(expr);
  } else if (e.op < LOCUS_DOT) {
    return {};  // a sum over mixed sides
  } else {
    Ref args[3];
    for (std::uint32_t k = 0; k < e.arity; ++k) {
      const auto a = emit(e.args[k]);
      if (!a) return {};
      args[k] = *a;
    }
    if (e.op == LOCUS_real) {
      out = args[0];
    } else if (e.op == LOCUS_CALL) {
      TileStep step;
      step.kind = TileStep::call;
      step.index = static_cast<int>(e.index);
      step.args[0] = args[0];
      step.out = tiles++;
      steps.push_back(step);
      out = Ref{Ref::tile, step.out};
    } else {
      if (whole && single_ && (e.op == LOCUS_mul || e.op == LOCUS_pow)) return {};  // may leave the integers that a float holds
      if (e.op == LOCUS_idiv || e.op == LOCUS_mod) return {};                        // a zero divisor must be seen
      out = element(e.op, {args[0], args[1], args[2]});
    }
  }
  if (out) memo_[expr] = *out;
  return out;
}

std::optional<Ref> TileCode::contraction(Id expr) {
  const locus_expr& e = program_.exprs[expr];
  Id a = e.args[0], b = e.args[1];
  const auto mixed = [&](Id x) { return on_query(x) && on_sample(x); };
  if (e.index == LOCUS_NONE) {
    const auto x = emit(a), y = emit(b);
    if (!x || !y) return {};
    if (e.op == LOCUS_DOT) return element(LOCUS_mul, {*x, *y});
    const Ref difference = element(LOCUS_sub, {*x, *y});
    return e.op == LOCUS_SQDIST ? element(LOCUS_mul, {difference, difference}) : element(LOCUS_abs, {difference});
  }
  if (mixed(a) || mixed(b)) return {};
  if (on_sample(a)) std::swap(a, b);  // every contraction is symmetric
  if (on_sample(a) || on_query(b)) return {};
  TileStep step;
  step.kind = TileStep::contraction;
  step.op = e.op;
  step.index = static_cast<int>(contractions.size());
  step.out = tiles++;
  contractions.push_back({e.op, e.index, a, b});
  steps.push_back(step);
  return Ref{Ref::tile, step.out};
}

}  // namespace locus::cpu
