// Lowering of `grad` and `learn`; see lower.hpp. The derivatives themselves are made by core/graph/adjoint.
#include <algorithm>
#include "dsl/sema/lower.hpp"
#include "dsl/sema/repair.hpp"

namespace locus::sema {

Value Lowering::own(const std::string& name, const Value& v) {
  if (checking_ || !graded_.count(name) || build.type(v) < Type::exact) return v;
  const std::string outside = build.name;
  build.name = name;
  graph::Map copy;
  copy.out = build.tensor(v.axes, build.type(v));
  for (const Axis& a : v.axes) copy.space.push_back(a.coord);
  copy.value = v.expr;
  const TensorId out = copy.out;
  build.emit({{}, "", std::move(copy)});
  build.name = outside;
  return build.read(out, v.axes);
}

Value Lowering::gradient(const Value& scalar, const Value& target, const ast::Expr& e) {
  const std::string& name = e.points[1].value->name.text;
  const Type type = build.type(target);
  if (type < Type::exact)
    fail(Code::E206, e.points[1].value->span, "grad differentiates by real numbers, and '" + name + "' holds " + (type == Type::boolean ? "conditions" : "integers"), "declare '" + name + "' real");
  return derivative(scalar, e.points[0].value->span, target, name, e.span);
}

Value Lowering::derivative(const Value& scalar, Span scalar_span, const Value& by, const std::string& name, Span span) {
  for (const Axis& a : scalar.axes)
    if (!has_axis(by, a.name))
      fail(Code::E218, scalar_span, "there is one such number for each entry of axis '" + a.name.substr(a.name.find_first_not_of("@|^")) + "', and '" + name + "' " + shown(by) + " is the same for all",
           "give '" + name + "' that axis, or call the hierarchy once for each");
  build.span = span;
  if (checking_) return build.opaque(by.axes, Type::real);
  try {
    return build.derivative(scalar, by);
  } catch (const graph::Adjoint::NoDerivative& no) {
    std::vector<Note> where;
    if (no.span.set() && no.span != span) where.push_back({no.span, "it stands here"});
    fail(Code::E222, span, "there is no derivative by '" + name + "' through " + no.what, "say the method without it where '" + name + "' passes", std::move(where));
  }
}

namespace {

struct Optimiser {
  bool adam = false;
  std::map<std::string, const ast::Expr*> settings;
};

/// The call behind `by`, its settings by name.
Optimiser optimiser_of(const ast::Expr& by) {
  const std::string name = by.kind == ast::ExprKind::call && by.parts[0]->kind == ast::ExprKind::name ? by.parts[0]->name.text : "";
  if (name == "newton") fail(Code::E301, by.span, "`newton` is not built yet for `learn`", "use `adam(rate = 0.05)`, or state the problem as a `local`, which takes Newton steps");
  if (name != "descent" && name != "adam") fail(Code::E222, by.span, "`learn` ends with an optimiser", "write `by adam(rate = 0.05)` or `by descent(rate = 0.1, momentum = 0.9)`");
  Optimiser o;
  o.adam = name == "adam";
  const std::vector<std::string> known = o.adam ? std::vector<std::string>{"rate", "beta1", "beta2", "epsilon"} : std::vector<std::string>{"rate", "momentum"};
  std::size_t place = 0;
  for (const auto* list : {&by.points, &by.settings})
    for (const ast::Argument& a : *list) {
      const std::string setting = !a.name.text.empty() ? a.name.text : place < known.size() ? known[place] : "";
      ++place;
      if (std::find(known.begin(), known.end(), setting) == known.end()) {
        const std::string near = nearest_name(setting, known);
        fail(Code::E218, a.name.text.empty() ? a.value->span : a.name.span, "`" + name + "` has no setting '" + setting + "'", near.empty() ? "its settings are " + [&] {
          std::string all;
          for (const auto& k : known) all += (all.empty() ? "" : ", ") + k;
          return all;
        }() : "write `" + near + "`");
      }
      if (!o.settings.emplace(setting, a.value.get()).second) fail(Code::E218, a.value->span, "'" + setting + "' is given twice");
    }
  if (!o.settings.count("rate")) fail(Code::E214, by.span, "'rate' of `" + name + "` is not given", "write `" + name + "(rate = 0.05)`");
  return o;
}

}  // namespace

// A loop whose updates are an optimiser's. The values of lets are recorded limit + 1 times, so the body is then asked once more, without an update.
void Lowering::step_learn(const ast::Step& st, Scope& s) {
  const Optimiser by = optimiser_of(*st.by);
  const auto limit_axis = sizes.add(axis_name(*st.limit, s).value_or("1"), "1");
  const std::int64_t limit = size(*st.limit, s);
  std::vector<std::string> names;
  std::map<std::string, Value> initial, states, next, lets;
  for (const auto& d : st.declared) {
    if (!d.value) {
      if (!s.names.count(d.name.text)) throw Poisoned{};
      if (checking_) continue;
      fail(Code::E301, d.name.span, "learning the parameters of a hierarchy is not built yet", "give what is learnt as an array: `learn " + d.name.text + " from start { … }`");
    }
    names.push_back(d.name.text);
    build.name = d.name.text;
    const Value begin = number(*d.value, s);
    if (build.type(begin) == Type::boolean) fail(Code::E205, d.value->span, "what is learnt are numbers, not conditions", "put it in brackets");
    initial[d.name.text] = build.to(Type::real, build.real(begin));
  }
  bool recorded = false;
  const std::function<void(const ast::Steps&)> look = [&](const ast::Steps& steps) {
    for (const auto& b : steps) recorded |= b.kind == ast::StepKind::let && paths_.count(b.name.text) > 0;
  };
  look(st.block);
  const std::int64_t turns = limit == unknown ? 0 : limit + (recorded ? 1 : 0);
  graph::Iterate loop;
  loop.limit = turns;
  build.span = st.span;
  const auto carry = [&](const std::string& label, const Value& from) {
    build.name = label;
    const TensorId state = build.tensor(from.axes, Type::real);
    loop.carries.push_back({build.materialise(from), state, graph::none});
    return build.read(state, from.axes);
  };
  std::map<std::string, Value> slow, size_of_steps;  // running means of the gradient and of its square
  for (const auto& n : names) {
    states[n] = carry(n, initial[n]);
    const Value zero = build.canonical(build.graph.exprs.to(Type::real, build.number(0, Type::exact).expr), initial[n].axes);
    if (by.adam || by.settings.count("momentum")) slow[n] = carry(n + "'s mean slope", zero);
    if (by.adam) size_of_steps[n] = carry(n + "'s mean square slope", zero);
  }
  build.name = "turn";
  loop.turn = build.tensor({}, Type::integer);
  std::vector<graph::Node> body;
  Scope inner = s;
  {
    build.push_block(&body, loop);
    struct Pop {
      Build& b;
      ~Pop() { b.pop_block(); }
    } pop{build};
    inner.updates = nullptr;
    inner.lets = &lets;
    inner.minimised.reset();
    const Value turn = build.read(loop.turn, {});
    inner.names["turn"] = Any::of(turn);
    for (const auto& n : names) inner.names[n] = Any::of(states[n]);
    run_body(st.block, inner);
    if (!inner.minimised) fail(Code::E222, st.span, "learn needs a `minimize`", "add `minimize loss` to its block");
    const auto setting = [&](const std::string& name, double otherwise) {
      const auto found = by.settings.find(name);
      if (found == by.settings.end()) return build.number(otherwise, Type::exact);
      const Value v = build.real(number(*found->second, inner));
      if (!visible(v).empty()) fail(Code::E218, found->second->span, "'" + name + "' is one number, not " + shown(v));
      return v;
    };
    const Value rate = setting("rate", 0), one = build.number(1, Type::exact);
    const auto times = [&](const Value& a, const Value& b) { return build.apply(LOCUS_mul, a, b); };
    const auto mixed = [&](const Value& share, const Value& old, const Value& now) { return build.apply(LOCUS_add, times(share, old), times(build.apply(LOCUS_sub, one, share), now)); };
    const auto corrected = [&](const Value& mean, const Value& share) {  // the mean began at 0
      const Value made = build.apply(LOCUS_add, build.to(Type::exact, turn), one);
      return build.apply(LOCUS_div, mean, build.apply(LOCUS_sub, one, build.apply(LOCUS_pow, share, made)));
    };
    build.span = st.span;
    std::map<TensorId, Value> after;  // by state
    const auto state_of = [&](const Value& v) { return build.graph.exprs.at(v.expr).index; };
    for (const auto& n : names) {
      build.name = n;
      const Value slope = derivative(*inner.minimised, st.span, states[n], n, st.span);
      build.span = st.span;
      Value step = times(rate, slope);
      if (by.adam) {
        const Value b1 = setting("beta1", 0.9), b2 = setting("beta2", 0.999), tiny = setting("epsilon", 1e-8);
        const Value mean = build.materialised(mixed(b1, slow[n], slope)), square = build.materialised(mixed(b2, size_of_steps[n], times(slope, slope)));
        step = build.apply(LOCUS_div, times(rate, corrected(mean, b1)), build.apply(LOCUS_add, build.apply(LOCUS_sqrt, corrected(square, b2)), tiny));
        after[state_of(slow[n])] = mean, after[state_of(size_of_steps[n])] = square;
      } else if (slow.count(n)) {
        const Value mean = build.materialised(build.apply(LOCUS_add, times(setting("momentum", 0), slow[n]), slope));
        step = times(rate, mean);
        after[state_of(slow[n])] = mean;
      }
      Value moved = build.apply(LOCUS_sub, states[n], step);
      if (recorded) moved = build.select(build.apply(LOCUS_lt, turn, build.integer(limit)), moved, states[n]);
      after[state_of(states[n])] = like(moved, states[n], n, st.span);
    }
    for (graph::Carry& c : loop.carries) {
      build.name = build.graph.tensors[c.state].name;
      c.next = build.materialise(build.to(Type::real, after[c.state]));
    }
    for (auto& [n, v] : lets)
      if (paths_.count(n)) {
        build.name = n;
        v = build.materialised(v);
      }
  }
  const std::int64_t count = limit == unknown ? unknown : limit + 1;
  for (const auto& n : names)
    if (paths_.count(n)) {
      // A record of the states has one more where the body is asked once more.
      const Value all = history(loop, n, states[n], {recorded ? sizes.add(limit_axis, "1") : limit_axis, limit == unknown ? unknown : turns + 1, graph::none});
      const int position = static_cast<int>(all.axes.size() - visible(states[n]).size()) - 1;
      s.paths[n] = recorded ? build.cut(all, position, 0, limit_axis, count) : all;
    }
  for (const auto& [n, v] : lets)
    if (paths_.count(n)) s.paths[n] = history(loop, n, v, {limit_axis, count, graph::none});
  loop.body = std::move(body);
  build.name = names.empty() ? "learn" : names.front();
  build.span = st.span;
  build.emit({{}, "", std::move(loop)});
  for (const auto& n : names) s.names[n] = Any::of(states[n]);
}

}  // namespace locus::sema
