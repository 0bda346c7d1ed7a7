// Local models as graphs; see fit.hpp.
#include "dsl/sema/fit.hpp"
#include <algorithm>

namespace locus::sema {

using graph::none;
using graph::Term;

namespace {
constexpr std::int64_t search_limit = 500;  // evaluations of a search, halvings included
constexpr std::int64_t extra = 6;           // what a search carries beside trial, best and step: see core/run/fit.cpp
}  // namespace

Fit::Fit(Lowering& l, const Declaration& d, Span span, Scope& inner, const Neighbourhood& at, const Pair* pair)
    : l_(l), build_(l.build), declaration_(d), local_(*d.local), span_(span), inner_(inner), at_(at), pair_(pair) {}

void Fit::solve() {
  declare();
  state_objective();
  differentiate();
  if (l_.checking()) return leave(build_.tensor(at_.rows, Type::exact), 0, 0, false);
  const bool flat = std::all_of(hessian_.begin(), hessian_.end(), [](const auto& t) { return t.empty(); });
  const bool slopes = std::any_of(gradient_.begin(), gradient_.end(), [](ExprId e) { return e != none; });
  if (flat && slopes) return by_quantile();
  bool quadratic = true;
  for (const auto* all : {&hessian_, &penalty_hessian_})
    for (const auto& terms : *all)
      for (const Term& t : terms) quadratic &= !reads_unknowns(t.value);
  if (quadratic) by_moments();
  else by_search();
}

// -- the problem
void Fit::declare() {
  for (const ast::Declared& over : local_.over) {
    Unknown u;
    u.name = over.name.text;
    u.own = l_.shape(over.type.shape, inner_);
    u.start = over.value.get();
    std::vector<Axis> axes = at_.rows;
    axes.insert(axes.end(), u.own.begin(), u.own.end());
    build_.name = u.name;
    u.tensor = build_.tensor(axes, Type::exact);
    std::map<std::string, int> seen;
    for (const Axis& a : u.own) {
      u.first.push_back(build_.coordinate(a.name + " of " + u.name, seen[a.name], a.size));
      u.second.push_back(build_.coordinate("other " + a.name + " of " + u.name, seen[a.name]++, a.size));
    }
    inner_.names[u.name] = Any::of(build_.read(u.tensor, axes));
    unknowns_.push_back(std::move(u));
  }
}

void Fit::state_objective() {
  const auto total = [&](const Value& v) {
    const Value real = build_.real(v);
    return build_.over(LOCUS_SUM_OVER, real, visible(real));
  };
  l_.run(local_.before, inner_);
  const Value loss = total(l_.number(*local_.loss, inner_));
  loss_ = loss.expr;
  build_.span = span_;
  for (TensorId t : build_.graph.exprs.reads(loss_))
    if (build_.graph.tensors[t].type == Type::real) type_ = Type::real;
  if (!local_.penalty) return;
  Scope scope = inner_;
  mass_ = build_.tensor(at_.rows, Type::exact);
  scope.names["mass"] = Any::of(build_.read(mass_, at_.rows));
  const Value penalty = total(l_.number(*local_.penalty, scope));
  if (has_axis(penalty, "@j")) fail(Code::E222, local_.penalty->span, "the penalty of '" + declaration_.name + "' depends on a sample", "it is added once for a query: what depends on a sample belongs to `minimize`");
  penalty_ = penalty.expr;
  build_.span = span_;
}

std::vector<Term> Fit::derive(ExprId e, const Unknown& by, const std::vector<CoordId>& entry, Side side) {
  graph::Unknown u;
  u.tensor = by.tensor, u.entry = entry;
  for (const Axis& a : at_.rows) u.rows.push_back(a.coord);
  try {
    return graph::Derivative(build_.graph, u, side).of(e);
  } catch (const graph::Derivative::NoDerivative& no) {
    fail(Code::E222, span_, "'" + declaration_.name + "' cannot be minimised: `" + no.op + "` of an unknown has no derivative here", "say the loss without `" + no.op + "` of '" + by.name + "'");
  }
}

bool Fit::reads_unknowns(ExprId e) const {
  for (TensorId t : build_.graph.exprs.reads(e))
    if (std::any_of(unknowns_.begin(), unknowns_.end(), [&](const Unknown& u) { return u.tensor == t; })) return true;
  return false;
}

void Fit::differentiate() {
  graph::Graph& g = build_.graph;
  // The weights' scale does not matter to a mean of losses; the penalty is divided by their sum instead. What it has in proportion to `mass` stays.
  if (penalty_ != none && !l_.checking()) {
    graph::Unknown mass;
    mass.tensor = mass_;
    for (const Axis& a : at_.rows) mass.rows.push_back(a.coord);
    const ExprId share = graph::Derivative(g, mass).whole(penalty_);
    const auto rest = graph::at_zero(g, penalty_, {mass_});
    graph::Reduce totals = at_.pairs;
    build_.name = "mass";
    const Axis sample = at_.sample;
    graph::Estimate sum, log;
    sum.estimator = LOCUS_MASS, log.estimator = LOCUS_LOGMASS;
    log.out = build_.tensor(at_.rows, type_);
    totals.estimates.push_back(log);
    const TensorId direct = build_.reduce(at_.rows, sample, totals, sum, type_);
    const Value m = build_.read(direct, at_.rows), lm = build_.read(log.out, at_.rows);
    const Value size = build_.apply(LOCUS_abs, m);
    const Value usual = build_.apply(LOCUS_and, build_.apply(LOCUS_lt, build_.number(1e-30, Type::exact), size), build_.apply(LOCUS_lt, size, build_.number(1e30, Type::exact)));
    const Value inverse = build_.select(usual, build_.apply(LOCUS_div, build_.number(1, Type::exact), m), build_.apply(LOCUS_exp, build_.apply(LOCUS_neg, lm)));
    const bool linear = share == none || [&] {
      const auto reads = g.exprs.reads(share);
      return std::find(reads.begin(), reads.end(), mass_) == reads.end();
    }();
    if (!linear) fail(Code::E222, local_.penalty->span, "the penalty of '" + declaration_.name + "' is not proportional to `mass`", "multiply by `mass`, or leave it out");
    std::optional<ExprId> scaled;
    if (rest) scaled = g.exprs.apply(LOCUS_mul, *rest, inverse.expr);
    penalty_ = plus(scaled, share == none ? std::nullopt : std::optional(share)).value_or(none);
  }
  for (const Unknown& u : unknowns_) {
    gradient_.push_back(graph::whole(g, derive(loss_, u, u.first, Side::middle)));
    penalty_gradient_.push_back(penalty_ == none ? none : graph::whole(g, derive(penalty_, u, u.first, Side::middle)));
  }
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    for (std::size_t l = k; l < unknowns_.size(); ++l) {
      hessian_.push_back(gradient_[k] == none ? std::vector<Term>{} : derive(gradient_[k], unknowns_[l], unknowns_[l].second, Side::middle));
      penalty_hessian_.push_back(penalty_gradient_[k] == none ? std::vector<Term>{} : derive(penalty_gradient_[k], unknowns_[l], unknowns_[l].second, Side::middle));
    }
  // Kinks: half the jump of the penalty's slope at 0.
  std::vector<TensorId> tensors;
  for (const Unknown& u : unknowns_) tensors.push_back(u.tensor);
  for (const Unknown& u : unknowns_) {
    std::optional<ExprId> jump;
    if (penalty_ != none) {
      const ExprId above = graph::whole(g, derive(penalty_, u, u.first, Side::above)), below = graph::whole(g, derive(penalty_, u, u.first, Side::below));
      if (above != below) {
        const auto a = graph::at_zero(g, above, tensors), b = graph::at_zero(g, below, tensors);
        const auto difference = plus(a, b ? std::optional(g.exprs.apply(LOCUS_neg, *b)) : std::nullopt);
        if (difference) jump = g.exprs.apply(LOCUS_mul, g.exprs.constant(0.5, Type::exact), *difference);
      }
    }
    kinked_ |= jump.has_value();
    kinks_.push_back(jump);
  }
}

std::optional<ExprId> Fit::plus(std::optional<ExprId> a, std::optional<ExprId> b) {
  if (!a || !b) return a ? a : b;
  return build_.graph.exprs.apply(LOCUS_add, *a, *b);
}

// Does every second derivative hold only where both entries have one index of this axis?
bool Fit::separates(const std::string& axis) const {
  const auto position = [&](const Unknown& u) {
    int at = -1, times = 0;
    for (std::size_t k = 0; k < u.own.size(); ++k)
      if (u.own[k].name == axis) at = static_cast<int>(k), ++times;
    return times == 1 ? at : -1;
  };
  std::size_t input = 0;
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    for (std::size_t l = k; l < unknowns_.size(); ++l, ++input) {
      const int first = position(unknowns_[k]), second = position(unknowns_[l]);
      if (first < 0 || second < 0) return false;
      for (const auto* all : {&hessian_[input], &penalty_hessian_[input]})
        for (const Term& t : *all) {
          const auto pin = t.pins.find(unknowns_[k].first[static_cast<std::size_t>(first)]);
          if (pin == t.pins.end() || pin->second != unknowns_[l].second[static_cast<std::size_t>(second)]) return false;
        }
    }
  return true;
}

// -- what is accumulated
TensorId Fit::zero() { return build_.materialise(build_.number(0, Type::exact)); }

TensorId Fit::stored(std::optional<ExprId> e, const std::vector<CoordId>& own, bool outcome) {
  if (!e) return zero();
  std::vector<CoordId> at;
  for (const Axis& a : at_.rows) at.push_back(a.coord);
  if (outcome) at.push_back(unknowns_[0].first[0]);  // by_moments has put the outcome's coordinate first
  at.insert(at.end(), own.begin(), own.end());
  const graph::Expr x = build_.graph.exprs.at(*e);
  if (x.op == LOCUS_READ && build_.graph.tensors[x.index].shape == build_.graph.extents(at) && build_.graph.read(x.index, at) == *e) return x.index;
  graph::Tensor made;
  made.name = build_.name, made.type = build_.graph.exprs.at(*e).type;
  made.shape = build_.graph.extents(at);
  for (CoordId c : at) made.axes.push_back(build_.graph.coordinates[c].name);
  graph::Map map;
  map.out = build_.graph.add_tensor(std::move(made));
  map.space = at, map.value = *e;
  const TensorId out = map.out;
  build_.emit({{}, "", std::move(map)});
  return out;
}

// Gradient, Hessian and kinks in the order of core/run/fit.cpp. `at` makes of an expression what it is where the unknowns stand.
std::vector<TensorId> Fit::blocks(const std::function<std::optional<ExprId>(ExprId, bool)>& at) {
  graph::Graph& g = build_.graph;
  std::vector<TensorId> all;
  const bool outcome = !outcome_.empty();
  const auto own = [&](const std::vector<CoordId>& entry) { return std::vector<CoordId>(entry.begin() + (outcome ? 1 : 0), entry.end()); };
  const auto mean = [&](ExprId e, std::vector<CoordId> features) { return e == none ? std::nullopt : [&]() -> std::optional<ExprId> {
    const auto here = at(e, true);
    return here ? std::optional(averaged(*here, std::move(features))) : std::nullopt;
  }(); };
  const auto once = [&](ExprId e) { return e == none ? std::nullopt : at(e, false); };
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    build_.name = "slope by " + unknowns_[k].name;
    const auto sum = plus(mean(gradient_[k], unknowns_[k].first), once(penalty_gradient_[k]));
    all.push_back(stored(sum, own(unknowns_[k].first), outcome));
  }
  std::size_t input = 0;
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    for (std::size_t l = k; l < unknowns_.size(); ++l, ++input) {
      build_.name = "curvature by " + unknowns_[k].name + " and " + unknowns_[l].name;
      std::vector<CoordId> features = own(unknowns_[k].first);
      for (CoordId c : own(unknowns_[l].second)) features.push_back(c);
      const auto open = [&](std::vector<Term> terms) {
        for (Term& t : terms)
          if (outcome) t.pins.erase(unknowns_[k].first[0]);
        return graph::whole(g, terms);
      };
      const ExprId loss = open(hessian_[input]), penalty = open(penalty_hessian_[input]);
      const bool varies = outcome && std::any_of(&loss, &loss + 1, [&](ExprId) {
        return (loss != none && g.exprs.depends(loss, unknowns_[0].first[0])) || (penalty != none && g.exprs.depends(penalty, unknowns_[0].first[0]));
      });
      auto with = features;
      if (varies) with.insert(with.begin(), unknowns_[0].first[0]);
      all.push_back(stored(plus(mean(loss, with), once(penalty)), features, varies));
    }
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    build_.name = "kinks of " + unknowns_[k].name;
    all.push_back(stored(kinks_[k], own(unknowns_[k].first), outcome));
  }
  return all;
}

// -- ways to the minimum
void Fit::by_moments() {
  if (!kinked_)
    for (const Axis& a : unknowns_[0].own)
      if (outcome_.empty() && a.size > 1 && separates(a.name)) outcome_ = a.name, outcome_axis_ = a;
  // One coordinate for the outcome, first in every entry.
  if (!outcome_.empty()) {
    CoordId shared = none;
    for (Unknown& u : unknowns_) {
      const auto at = std::find_if(u.own.begin(), u.own.end(), [&](const Axis& a) { return a.name == outcome_; }) - u.own.begin();
      for (auto* entry : {&u.first, &u.second}) std::rotate(entry->begin(), entry->begin() + at, entry->begin() + at + 1);
      if (shared == none) shared = u.first[0];
    }
    graph::Expressions& x = build_.graph.exprs;
    const auto move = [&](ExprId e) {
      return e == none ? none : x.rename(e, [&](CoordId c) { return std::any_of(unknowns_.begin(), unknowns_.end(), [&](const Unknown& u) { return u.first[0] == c; }) ? shared : c; });
    };
    for (auto* list : {&gradient_, &penalty_gradient_})
      for (ExprId& e : *list) e = move(e);
    for (auto* list : {&hessian_, &penalty_hessian_})
      for (auto& terms : *list)
        for (Term& t : terms) {
          t.value = move(t.value);
          if (t.pins.size() > 0) {
            std::map<CoordId, CoordId> pins;
            for (const auto& [c, e] : t.pins) pins[std::any_of(unknowns_.begin(), unknowns_.end(), [&, c = c](const Unknown& u) { return u.first[0] == c; }) ? shared : c] = e;
            t.pins = std::move(pins);
          }
        }
    for (Unknown& u : unknowns_) u.first[0] = shared;
  }
  std::vector<TensorId> tensors;
  for (Unknown& u : unknowns_) {
    tensors.push_back(u.tensor);
    u.size = 1, u.offset = count_;
    for (const Axis& a : u.own)
      if (a.name != outcome_) u.size *= a.size;
    count_ += u.size;
  }
  graph::ArrayCall call;
  call.function = LOCUS_ARRAY_FIT;
  call.inputs = blocks([&](ExprId e, bool) { return graph::at_zero(build_.graph, e, tensors); });
  build_.name = "count";
  graph::Estimate count;
  count.estimator = LOCUS_COUNT;
  graph::Reduce pairs = at_.pairs;
  pairs.count_empty = true;
  counted_ = build_.reduce(at_.rows, at_.sample, pairs, count, Type::integer);
  call.inputs.push_back(counted_);
  std::int64_t rows = 1;
  for (const Axis& a : at_.rows) rows *= a.size;
  const std::int64_t outcomes = outcome_.empty() ? 1 : outcome_axis_.size;
  call.parameters = {static_cast<double>(unknowns_.size()), static_cast<double>(rows), static_cast<double>(outcomes)};
  for (const Unknown& u : unknowns_) call.parameters.push_back(static_cast<double>(u.size));
  std::vector<Axis> axes = at_.rows;
  if (!outcome_.empty()) axes.push_back(outcome_axis_);
  axes.push_back({"~unknowns", count_, none});
  build_.name = declaration_.name;
  const TensorId theta = build_.tensor(axes, Type::exact);
  axes.back() = {"~info", 3, none};
  const TensorId info = build_.tensor(axes, Type::exact);
  call.outputs = {theta, info};
  build_.emit({{}, "", std::move(call)});
  l_.watch(Watch::fit, info, declaration_.name, span_, count_);
  axes.pop_back();
  status("rank", info, 3, 0, axes), status("condition", info, 3, 1, axes);
  leave(theta, 0, count_, !outcome_.empty());
}

// Reads of the unknowns become reads of the search's state, [rows, width], where unknown u stands at its offset.
ExprId Fit::in_state(ExprId e, TensorId state, std::int64_t width) {
  std::map<TensorId, TensorId> to;
  for (const Unknown& u : unknowns_) to[u.tensor] = state;
  return graph::reread(build_.graph, e, to, [&](const graph::Expr& read, std::int64_t& offset, std::vector<graph::Stride>& strides) {
    const Unknown& u = *std::find_if(unknowns_.begin(), unknowns_.end(), [&](const Unknown& v) { return v.tensor == read.index; });
    offset = offset / u.size * width + u.offset + offset % u.size;
    for (graph::Stride& s : strides)
      if (s.stride % u.size == 0) s.stride = s.stride / u.size * width;
  });
}

Value Fit::start() {
  std::vector<Value> parts;
  for (const Unknown& u : unknowns_) {
    std::vector<Axis> axes = at_.rows;
    axes.insert(axes.end(), u.own.begin(), u.own.end());
    Value v = build_.number(0, Type::exact);
    if (u.start) v = build_.real(l_.number(*u.start, inner_));
    if (build_.type(v) == Type::real) v = build_.materialised(v);
    for (const Axis& a : v.axes)
      if (std::none_of(axes.begin(), axes.end(), [&](const Axis& b) { return a.name == b.name; })) fail(Code::E222, u.start->span, "the start of '" + u.name + "' has axis '" + a.name + "', which '" + u.name + "' lacks");
    const Value whole = build_.materialised(build_.canonical(build_.graph.exprs.to(Type::exact, v.expr), axes));
    parts.push_back(build_.reshaped(whole, {{"~unknowns", u.size, none}}));
  }
  std::vector<Axis> axes = at_.rows;
  axes.push_back({"~unknowns", 2 * count_ + extra, none});
  parts.push_back(build_.canonical(build_.number(0, Type::exact).expr, axes));
  axes.back().size = 3 * count_ + extra;
  return build_.array_call(LOCUS_ARRAY_CONCAT, parts, axes, Type::exact);
}

void Fit::by_search() {
  for (Unknown& u : unknowns_) {
    u.size = 1, u.offset = count_;
    for (const Axis& a : u.own) u.size *= a.size;
    count_ += u.size;
  }
  const std::int64_t width = 3 * count_ + extra;
  build_.name = "count";
  graph::Estimate count;
  count.estimator = LOCUS_COUNT;
  graph::Reduce pairs = at_.pairs;
  pairs.count_empty = true;
  counted_ = build_.reduce(at_.rows, at_.sample, pairs, count, Type::integer);
  build_.name = declaration_.name + " begins";
  const Value initial = start();
  graph::Iterate loop;
  loop.limit = search_limit;
  build_.name = "turn";
  loop.turn = build_.tensor({}, Type::integer);
  std::vector<Axis> axes = at_.rows;
  axes.push_back({"~unknowns", width, none});
  build_.name = declaration_.name;
  const TensorId state = build_.tensor(axes, Type::exact), next = build_.tensor(axes, Type::exact);
  std::vector<graph::Node> body;
  build_.push_block(&body);
  const auto here = [&](ExprId e, bool) { return std::optional(in_state(e, state, width)); };
  graph::ArrayCall call;
  call.function = LOCUS_ARRAY_DESCEND;
  build_.name = "loss";
  const ExprId value = averaged(in_state(loss_, state, width), {});
  const TensorId objective = stored(plus(value, penalty_ == none ? std::nullopt : here(penalty_, false)), {}, false);
  call.inputs = {state, objective};
  for (TensorId t : blocks(here)) call.inputs.push_back(t);
  call.inputs.push_back(counted_);
  std::int64_t rows = 1;
  for (const Axis& a : at_.rows) rows *= a.size;
  call.parameters = {static_cast<double>(unknowns_.size()), static_cast<double>(rows)};
  for (const Unknown& u : unknowns_) call.parameters.push_back(static_cast<double>(u.size));
  build_.name = "stop";
  loop.stop = build_.tensor({}, Type::boolean);
  call.outputs = {next, loop.stop};
  build_.emit({{}, "", std::move(call)});
  build_.pop_block();
  loop.carries = {{build_.materialise(initial), state, next}};
  loop.body = std::move(body);
  build_.name = declaration_.name;
  build_.emit({{}, "", std::move(loop)});
  l_.watch(Watch::search, state, declaration_.name, span_, count_);
  status("iterations", state, width, 3 * count_ + 3, at_.rows), status("rank", state, width, 3 * count_ + 4, at_.rows), status("condition", state, width, 3 * count_ + 5, at_.rows);
  leave(state, count_, width, false);
}

// Entry `offset` of each row of `width` numbers.
void Fit::status(const std::string& what, TensorId t, std::int64_t width, std::int64_t offset, std::vector<Axis> axes) {
  if (!l_.wants_status()) return;
  std::map<std::string, int> seen;
  std::vector<graph::Stride> strides;
  for (Axis& a : axes) a.coord = build_.coordinate(a.name, seen[a.name]++, a.size);
  std::int64_t step = width;
  for (std::size_t k = axes.size(); k-- > 0;) strides.push_back({axes[k].coord, step}), step *= axes[k].size;
  const ExprId e = build_.graph.exprs.read(t, Type::exact, offset, std::move(strides));
  l_.add_status(what, build_.materialise(build_.canonical(e, axes)), axes, pair_, what == "condition" ? "real" : "int");
}

// A loss made of straight pieces with one kink for each sample: cumulated slopes change their sign at a weighted quantile of the kinks.
void Fit::by_quantile() {
  graph::Expressions& x = build_.graph.exprs;
  if (unknowns_.size() != 1 || !unknowns_[0].own.empty() || penalty_ != none)
    fail(Code::E301, span_, "an absolute loss with a penalty or with several unknowns is not built yet", "use a smooth loss, such as a Huber loss, or one unknown number");
  const Unknown& u = unknowns_[0];
  const auto with = [&](ExprId e, double v) {
    const ExprId constant = x.constant(v, Type::exact);
    std::map<ExprId, ExprId> done;
    const std::function<ExprId(ExprId)> go = [&](ExprId id) -> ExprId {
      if (const auto found = done.find(id); found != done.end()) return found->second;
      graph::Expr e2 = x.at(id);
      ExprId r = id;
      if (e2.op == LOCUS_READ && e2.index == u.tensor) r = constant;
      for (int k = 0; k < e2.arity; ++k) e2.args[k] = go(e2.args[k]);
      if (e2.arity > 0) r = x.add(e2);
      done[id] = r;
      return r;
    };
    return go(e);
  };
  const ExprId rises = with(gradient_[0], 1e30), falls = with(gradient_[0], -1e30), jump = x.apply(LOCUS_sub, rises, falls);
  const ExprId zero = x.constant(0, Type::exact), loss0 = with(loss_, 0), slope0 = with(gradient_[0], 0);
  const ExprId kink = x.apply(LOCUS_select, x.apply(LOCUS_eq, loss0, zero), zero, x.apply(LOCUS_neg, x.apply(LOCUS_div, loss0, slope0)));
  build_.name = "level";
  const ExprId down = averaged(falls, {}), across = averaged(jump, {});
  graph::Reduce r = at_.pairs;
  r.weight = r.weight == none ? jump : x.apply(LOCUS_mul, r.weight, jump);
  r.count_empty = true;
  graph::Estimate e;
  e.estimator = LOCUS_QUANTILE;
  e.value = kink;
  e.parameter = x.apply(LOCUS_neg, x.apply(LOCUS_div, down, across));
  build_.name = declaration_.name;
  const TensorId out = build_.reduce(at_.rows, at_.sample, r, e, type_);
  inner_.names[u.name] = Any::of(build_.read(out, at_.rows));
}

// -- the unknowns' values: tensor [rows, outcome if there is one, width], those of a row from `offset` on
void Fit::leave(TensorId t, std::int64_t offset, std::int64_t width, bool outcome) {
  for (const Unknown& u : unknowns_) {
    std::vector<Axis> axes = at_.rows;
    axes.insert(axes.end(), u.own.begin(), u.own.end());
    if (l_.checking()) {
      inner_.names[u.name] = Any::of(build_.opaque(axes, Type::real));
      continue;
    }
    std::map<std::string, int> seen;
    for (Axis& a : axes) a.coord = build_.coordinate(a.name, seen[a.name]++, a.size);
    std::vector<graph::Stride> strides;
    std::int64_t step = 1;
    for (std::size_t k = axes.size(); k-- > at_.rows.size();) {
      if (outcome && axes[k].name == outcome_) {
        strides.push_back({axes[k].coord, width});
        continue;
      }
      strides.push_back({axes[k].coord, step});
      step *= axes[k].size;
    }
    step = width * (outcome ? outcome_axis_.size : 1);
    for (std::size_t k = at_.rows.size(); k-- > 0;) strides.push_back({axes[k].coord, step}), step *= axes[k].size;
    std::erase_if(strides, [&](const graph::Stride& s) { return build_.graph.coordinates[s.coordinate].extent == 1; });
    const ExprId e = build_.graph.exprs.read(t, Type::exact, offset + u.offset, std::move(strides));
    inner_.names[u.name] = Any::of(build_.canonical(build_.graph.exprs.to(type_, e), axes));
  }
}

}  // namespace locus::sema
