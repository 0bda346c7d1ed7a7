// Derivatives by rules, one for each op; a sum over a coordinate that meets the entry's own is that one summand.
#include "core/graph/derivative.hpp"
#include <algorithm>
#include "core/graph/rewrite.hpp"

namespace locus::graph {

const std::vector<Term>& Derivative::of(ExprId e) {
  const auto found = done_.find(e);
  if (found != done_.end()) return found->second;
  Terms t = compute(e);
  return done_.emplace(e, std::move(t)).first->second;
}

ExprId Derivative::whole(ExprId e) { return graph::whole(graph_, of(e)); }

ExprId whole(Graph& g, const std::vector<Term>& terms) {
  Expressions& x = g.exprs;
  ExprId sum = none;
  for (const Term& t : terms) {
    ExprId value = t.value;
    for (const auto& [c, entry] : t.pins) value = x.apply(LOCUS_select, x.apply(LOCUS_eq, x.coordinate(c), x.coordinate(entry)), value, x.constant(0, Type::exact));
    sum = sum == none ? value : x.apply(LOCUS_add, sum, value);
  }
  return sum;
}

Derivative::Terms Derivative::compute(ExprId id) {
  const Expr e = x_.at(id);
  if (e.type <= Type::integer) return {};  // conditions and whole numbers do not move
  if (e.op == LOCUS_READ) return of_read(id);
  if (e.op == LOCUS_CONSTANT || e.op == LOCUS_COORDINATE) return {};
  if (is_contraction(e.op)) return of_contraction(e);
  if (e.op == LOCUS_SUM_OVER) return over(e.index, of(e.args[0]));
  if (is_over(e.op)) {  // the summands where the extreme is reached
    const Terms body = of(e.args[0]);
    if (body.empty()) return {};
    return over(e.index, scaled(body, x_.to(Type::exact, x_.apply(LOCUS_eq, e.args[0], id))));
  }
  Terms all;
  if (e.op == LOCUS_select) {
    const ExprId zero = number(0);
    for (int k = 1; k < 3; ++k)
      for (Term t : of(e.args[k])) {
        t.value = k == 1 ? x_.apply(LOCUS_select, e.args[0], t.value, zero) : x_.apply(LOCUS_select, e.args[0], zero, t.value);
        merge(all, {std::move(t)});
      }
    return all;
  }
  if (e.op == LOCUS_real) return of(e.args[0]);
  for (int k = 0; k < e.arity; ++k) {
    const Terms inner = of(e.args[k]);
    if (inner.empty()) continue;
    if (e.op == LOCUS_floor || e.op == LOCUS_round || e.op == LOCUS_sign) continue;
    if (e.op == LOCUS_add || (e.op == LOCUS_sub && k == 0)) merge(all, inner);
    else merge(all, scaled(inner, slope(id, k)));
  }
  return all;
}

// A read that takes one coordinate for each dim of the entry pins these; any other read counts where its place is the entry's.
Derivative::Terms Derivative::of_read(ExprId id) {
  const Expr e = x_.at(id);
  if (e.index != by_.tensor) return {};
  const Tensor& t = graph_.tensors[by_.tensor];
  std::map<CoordId, std::int64_t> strides;
  for (const Stride& s : e.strides) strides[s.coordinate] = s.stride;
  std::int64_t step = 1;
  std::vector<std::int64_t> steps(t.shape.size());
  for (std::size_t k = t.shape.size(); k-- > 0;) steps[k] = step, step *= std::max<std::int64_t>(t.shape[k], 1);
  for (std::size_t k = 0; k < by_.rows.size(); ++k) strides.erase(by_.rows[k]);
  Term one{number(1), {}};
  bool plain = e.offset == 0;
  auto left = strides;
  for (std::size_t k = 0; k < by_.entry.size() && plain; ++k) {
    if (t.shape[by_.rows.size() + k] == 1) continue;
    const auto own = std::find_if(left.begin(), left.end(), [&](const auto& s) { return s.second == steps[by_.rows.size() + k] && graph_.coordinates[s.first].extent == t.shape[by_.rows.size() + k]; });
    plain = own != left.end();
    if (plain) one.pins[own->first] = by_.entry[k], left.erase(own);
  }
  std::erase_if(left, [&](const auto& s) { return graph_.coordinates[s.first].extent == 1; });
  if (plain && left.empty()) return {one};
  one.pins.clear();
  ExprId here = x_.constant(static_cast<double>(e.offset), Type::integer), there = x_.constant(0, Type::integer);
  const auto add = [&](ExprId sum, CoordId c, std::int64_t stride) {
    return x_.apply(LOCUS_add, sum, x_.apply(LOCUS_mul, x_.coordinate(c), x_.constant(static_cast<double>(stride), Type::integer)));
  };
  for (const auto& [c, stride] : strides) here = add(here, c, stride);
  for (std::size_t k = 0; k < by_.entry.size(); ++k) there = add(there, by_.entry[k], steps[by_.rows.size() + k]);
  one.value = x_.to(Type::exact, x_.apply(LOCUS_eq, here, there));
  return {one};
}

Derivative::Terms Derivative::of_contraction(const Expr& e) {
  const ExprId a = e.args[0], b = e.args[1];
  const Terms da = of(a), db = of(b);
  if (da.empty() && db.empty()) return {};
  if (e.op == LOCUS_MAXDIST) throw NoDerivative{"maxdist"};
  Terms body;
  if (e.op == LOCUS_DOT) {
    body = scaled(da, b);
    merge(body, scaled(db, a));
  } else {
    const ExprId difference = x_.apply(LOCUS_sub, a, b);
    const ExprId outer = e.op == LOCUS_SQDIST ? x_.apply(LOCUS_mul, number(2), difference) : x_.apply(LOCUS_sign, difference);
    body = scaled(da, outer);
    merge(body, scaled(db, x_.apply(LOCUS_neg, outer)));
  }
  return e.index == none ? body : over(e.index, body);
}

Derivative::Terms Derivative::over(CoordId c, const Terms& body) {
  Terms all;
  for (const Term& t : body) {
    Term r = t;
    if (const auto pin = r.pins.find(c); pin != r.pins.end()) {
      const CoordId entry = pin->second;
      r.pins.erase(pin);
      r.value = x_.rename(r.value, [&](CoordId k) { return k == c ? entry : k; });
    } else if (x_.at(t.value).op == LOCUS_mul && x_.at(t.value).type >= Type::exact) {
      r.value = x_.contract(LOCUS_DOT, c, x_.at(t.value).args[0], x_.at(t.value).args[1]);
    } else {
      r.value = x_.over(LOCUS_SUM_OVER, c, t.value);
    }
    merge(all, {std::move(r)});
  }
  return all;
}

Derivative::Terms Derivative::scaled(const Terms& terms, ExprId by) {
  Terms all = terms;
  for (Term& t : all) t.value = x_.apply(LOCUS_mul, by, t.value);
  return all;
}

void Derivative::merge(Terms& into, const Terms& more) {
  for (const Term& t : more) {
    const auto same = std::find_if(into.begin(), into.end(), [&](const Term& o) { return o.pins == t.pins; });
    if (same == into.end()) into.push_back(t);
    else same->value = x_.apply(LOCUS_add, same->value, t.value);
  }
}

// d e / d argument k, where it is not 1.
ExprId Derivative::slope(ExprId id, int k) {
  const Expr e = x_.at(id);
  const ExprId a = e.args[0], b = e.arity > 1 ? e.args[1] : none, one = number(1), zero = number(0);
  const auto op = [&](Op o, ExprId u, ExprId v = none, ExprId w = none) { return x_.apply(o, u, v, w); };
  const auto less = [&](ExprId u, ExprId v, ExprId yes, ExprId no) { return op(LOCUS_select, op(LOCUS_lt, u, v), yes, no); };
  switch (e.op) {
    case LOCUS_neg:
    case LOCUS_sub: return number(-1);
    case LOCUS_abs:
      return side_ == Side::middle ? op(LOCUS_sign, a) : side_ == Side::above ? less(a, zero, number(-1), one) : less(zero, a, one, number(-1));
    case LOCUS_exp: return id;
    case LOCUS_log: return op(LOCUS_div, one, a);
    case LOCUS_log2: return op(LOCUS_div, number(1.4426950408889634), a);
    case LOCUS_sqrt: return less(zero, a, op(LOCUS_div, number(0.5), id), zero);  // a distance has derivative 0 at coincidence
    case LOCUS_sin: return op(LOCUS_cos, a);
    case LOCUS_cos: return op(LOCUS_neg, op(LOCUS_sin, a));
    case LOCUS_tanh: return op(LOCUS_sub, one, op(LOCUS_mul, id, id));
    case LOCUS_asin:
    case LOCUS_acos: {
      const ExprId s = op(LOCUS_div, one, op(LOCUS_sqrt, op(LOCUS_sub, one, op(LOCUS_mul, a, a))));
      return e.op == LOCUS_asin ? s : op(LOCUS_neg, s);
    }
    case LOCUS_atan: return op(LOCUS_div, one, op(LOCUS_add, one, op(LOCUS_mul, a, a)));
    case LOCUS_erf: return op(LOCUS_mul, number(1.1283791670955126), op(LOCUS_exp, op(LOCUS_neg, op(LOCUS_mul, a, a))));
    case LOCUS_sigmoid: return op(LOCUS_mul, id, op(LOCUS_sigmoid, op(LOCUS_neg, a)));
    case LOCUS_softplus: return op(LOCUS_sigmoid, a);
    case LOCUS_relu: return less(zero, a, one, zero);
    case LOCUS_elu: return less(zero, a, one, op(LOCUS_exp, op(LOCUS_minimum, a, zero)));
    case LOCUS_gelu: {
      const ExprId share = op(LOCUS_mul, number(0.5), op(LOCUS_add, one, op(LOCUS_erf, op(LOCUS_mul, a, number(0.7071067811865476)))));
      const ExprId density = op(LOCUS_mul, number(0.3989422804014327), op(LOCUS_exp, op(LOCUS_mul, number(-0.5), op(LOCUS_mul, a, a))));
      return op(LOCUS_add, share, op(LOCUS_mul, a, density));
    }
    case LOCUS_silu: {
      const ExprId s = op(LOCUS_sigmoid, a);
      return op(LOCUS_mul, s, op(LOCUS_add, one, op(LOCUS_mul, a, op(LOCUS_sigmoid, op(LOCUS_neg, a)))));
    }
    case LOCUS_mul: return k == 0 ? b : a;
    case LOCUS_div: return k == 0 ? op(LOCUS_div, one, b) : op(LOCUS_neg, op(LOCUS_div, id, b));
    case LOCUS_pow:
      if (k == 0) return op(LOCUS_mul, b, op(LOCUS_pow, a, op(LOCUS_sub, b, one)));
      return less(zero, a, op(LOCUS_mul, id, op(LOCUS_log, a)), zero);
    case LOCUS_maximum: return k == 0 ? less(a, b, zero, one) : less(a, b, one, zero);  // a tie counts for the first argument
    case LOCUS_minimum: return k == 0 ? less(b, a, zero, one) : less(b, a, one, zero);
    default: throw NoDerivative{info(e.op).name};
  }
}

// -- substitution
namespace {

class Zero {
 public:
  Zero(Graph& g, const std::vector<TensorId>& tensors) : x_(g.exprs), tensors_(tensors) {}

  std::optional<ExprId> of(ExprId id) {
    const auto found = done_.find(id);
    if (found != done_.end()) return found->second;
    const auto r = compute(id);
    done_.emplace(id, r);
    return r;
  }

 private:
  std::optional<ExprId> compute(ExprId id) {
    const Expr e = x_.at(id);
    if (e.op == LOCUS_READ && std::find(tensors_.begin(), tensors_.end(), e.index) != tensors_.end()) return {};
    if (e.op == LOCUS_CONSTANT) return e.value == 0 && e.type >= Type::exact ? std::nullopt : std::optional(id);
    if (e.arity == 0) return id;
    std::optional<ExprId> a[3];
    for (int k = 0; k < e.arity; ++k) a[k] = of(e.args[k]);
    const auto filled = [&](int k) { return a[k] ? *a[k] : x_.constant(0, x_.at(e.args[k]).type == Type::integer ? Type::integer : Type::exact); };
    switch (e.op) {
      case LOCUS_SUM_OVER:
        return a[0] ? std::optional(x_.over(e.op, e.index, *a[0])) : std::nullopt;
      case LOCUS_DOT:
        return a[0] && a[1] ? std::optional(x_.contract(e.op, e.index, *a[0], *a[1])) : std::nullopt;
      case LOCUS_mul:
        return a[0] && a[1] ? std::optional(x_.apply(e.op, *a[0], *a[1])) : std::nullopt;
      case LOCUS_div:
        return a[0] ? std::optional(x_.apply(e.op, *a[0], filled(1))) : std::nullopt;
      case LOCUS_add:
        if (!a[0]) return a[1];
        return a[1] ? x_.apply(e.op, *a[0], *a[1]) : *a[0];
      case LOCUS_sub:
        if (!a[1]) return a[0];
        return a[0] ? x_.apply(e.op, *a[0], *a[1]) : x_.apply(LOCUS_neg, *a[1]);
      case LOCUS_neg:
      case LOCUS_real:
        if (!a[0]) return {};
        return e.op == LOCUS_real ? x_.to(e.type, *a[0]) : x_.apply(e.op, *a[0]);
      case LOCUS_select:
        if (!a[1] && !a[2]) return {};
        break;
      default: break;
    }
    if (is_over(e.op)) return x_.over(e.op, e.index, filled(0));
    if (is_contraction(e.op)) return x_.contract(e.op, e.index, filled(0), filled(1));
    if (e.op == LOCUS_CALL) return x_.call(e.index, e.type, e.arity == 1 ? std::vector{filled(0)} : std::vector{filled(0), filled(1)});
    const ExprId r = x_.apply(e.op, filled(0), e.arity > 1 ? filled(1) : none, e.arity > 2 ? filled(2) : none);
    return x_.at(r).op == LOCUS_CONSTANT && x_.at(r).value == 0 && x_.at(r).type >= Type::exact ? std::nullopt : std::optional(r);
  }

  Expressions& x_;
  const std::vector<TensorId>& tensors_;
  std::map<ExprId, std::optional<ExprId>> done_;
};

}  // namespace

std::optional<ExprId> at_zero(Graph& g, ExprId e, const std::vector<TensorId>& tensors) { return Zero(g, tensors).of(e); }

ExprId reread(Graph& g, ExprId root, const std::map<TensorId, TensorId>& to, const std::function<void(const Expr&, std::int64_t&, std::vector<Stride>&)>& place) {
  Expressions& x = g.exprs;
  std::map<ExprId, ExprId> done;
  const std::function<ExprId(ExprId)> go = [&](ExprId id) -> ExprId {
    const auto found = done.find(id);
    if (found != done.end()) return found->second;
    Expr e = x.at(id);
    ExprId r = id;
    if (e.op == LOCUS_READ) {
      if (const auto other = to.find(e.index); other != to.end()) {
        std::int64_t offset = e.offset;
        std::vector<Stride> strides = e.strides;
        place(e, offset, strides);
        r = x.read(other->second, g.tensors[other->second].type, offset, std::move(strides));
        if (x.at(r).type < e.type) r = x.to(e.type, r);
      }
    } else if (e.arity > 0) {
      bool same = true;
      for (int k = 0; k < e.arity; ++k) {
        const ExprId a = go(e.args[k]);
        same &= a == e.args[k];
        e.args[k] = a;
      }
      if (!same) r = x.add(std::move(e));
    }
    return done.emplace(id, r).first->second;
  };
  return go(root);
}

}  // namespace locus::graph
