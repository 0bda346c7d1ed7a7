// Lowering of steps: let, param, loops, calibrate, learn; see lower.hpp.
#include <algorithm>
#include "dsl/sema/lower.hpp"
#include "dsl/sema/repair.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

using ast::StepKind;
using graph::none;

void Lowering::report(const Fault& f) {
  diagnostics_.add(f.diagnostic);
  failed_ = true;
}

namespace {
Any poison() {
  Any a;
  a.kind = Any::Kind::poison;
  return a;
}
}  // namespace

void Lowering::run(const ast::Steps& steps, Scope& s) {
  for (const ast::Step& st : steps) {
    const std::string outside = build.name;
    const auto spoil = [&] {
      failed_ = true;
      build.name = outside;
      if (!st.name.text.empty()) s.names[st.name.text] = poison();
      for (const auto& d : st.declared) s.names[d.name.text] = poison();
      const std::function<void(const ast::Steps&)> inner = [&](const ast::Steps& block) {
        for (const auto& b : block) {
          if (b.kind == StepKind::let) s.paths.erase(b.name.text), s.names[b.name.text] = poison();
          inner(b.block);
        }
      };
      if (st.kind == StepKind::iterate || st.kind == StepKind::calibrate || st.kind == StepKind::learn) inner(st.block);
    };
    try {
      step(st, s);
    } catch (const Fault& f) {
      report(f);
      spoil();
    } catch (const Poisoned&) {
      spoil();
    }
  }
}

void Lowering::run_body(const ast::Steps& block, Scope& inner) {
  const bool before = failed_;
  failed_ = false;
  run(block, inner);
  const bool broken = failed_;
  failed_ |= before;
  if (broken) throw Poisoned{};
}

void Lowering::step(const ast::Step& st, Scope& s) {
  build.span = st.span;
  switch (st.kind) {
    case StepKind::let: return step_let(st, s);
    case StepKind::param: return step_param(st, s);
    case StepKind::update: return step_update(st, s);
    case StepKind::minimize: {
      const Value v = number(*st.value, s);
      if (!visible(v).empty()) fail(Code::E222, st.value->span, "what is minimised must be one number, not " + shown(v), "sum or average it");
      s.minimised = v;
      return;
    }
    case StepKind::iterate: return step_iterate(st, s);
    case StepKind::calibrate: return step_calibrate(st, s);
    case StepKind::learn: return step_learn(st, s);
  }
}

void Lowering::step_let(const ast::Step& st, Scope& s) {
  const std::string outside = build.name;
  build.name = st.name.text;
  Any a = eval(*st.value, s);
  build.span = st.span;
  if (a.kind == Any::Kind::value) {
    Value v = a.value;
    if (st.type.present) {
      const auto at = visible(v);
      std::vector<ast::ExprPtr> declared = st.type.shape;
      std::erase_if(declared, [&](const ast::ExprPtr& e) { return e->kind == ast::ExprKind::name && s.axes.count(e->name.text) && s.axes[e->name.text].absent; });
      if (at.size() != declared.size())
        fail(Code::E211, st.type.span, "'" + st.name.text + "' is declared with " + std::to_string(declared.size()) + (declared.size() == 1 ? " axis" : " axes") + " and is " + shown(v), "write `let " + st.name.text + ": " + type_of_result(st.type.base.text, v) + " = " + print(*st.value) + "`");
      std::map<int, std::string> names;
      for (std::size_t k = 0; k < declared.size(); ++k) {
        const Axis& a_axis = v.axes[static_cast<std::size_t>(at[k])];
        const ast::Expr& e = *declared[k];
        if (e.kind == ast::ExprKind::name && !s.axes.count(e.name.text) && !s.names.count(e.name.text)) s.axes[e.name.text] = {a_axis.size, false, "'" + st.name.text + "'"};
        const std::int64_t want = size(e, s);
        if (want != a_axis.size && want != unknown && a_axis.size != unknown)
          fail(Code::E201, e.span, "two sizes for axis '" + print(e) + "': " + std::to_string(want) + ", and " + std::to_string(a_axis.size) + " in '" + st.name.text + "'",
               "write `" + (e.kind == ast::ExprKind::number ? std::to_string(a_axis.size) : "other") + "` there" + (e.kind == ast::ExprKind::number ? "" : ": a name of its own, if it is another thing"));
        names[at[k]] = axis_name(e, s).value_or("1");
      }
      v = build.renamed(v, [&](int k, const std::string& n) { return names.count(k) ? names[k] : n; });
      if (!st.type.base.text.empty()) v = as_kind(v, st.type.base.text, "'" + st.name.text + "'", st.span, "write `let " + st.name.text + ": " + type_of_result(st.type.shape.empty() ? "real" : "", v) + " = " + print(*st.value) + "`");
    }
    build.span = st.span;
    v = own(st.name.text, stored(v, s));
    if (outline && !s.pairwise()) outline->let(st.name.text, v);
    a.value = v;
    if (s.lets) (*s.lets)[st.name.text] = v;
  } else if (a.kind == Any::Kind::record) {
    for (auto& [field, v] : a.fields) v = stored(v, s);
  } else if (st.type.present) {
    fail(Code::E213, st.span, "a `let` with a type must be one array");
  }
  s.names[st.name.text] = a;
  build.name = outside;
}

void Lowering::step_param(const ast::Step& st, Scope& s) {
  for (const auto& d : st.declared) {
    const std::string path = s.path.empty() ? d.name.text : s.path + "." + d.name.text;
    build.span = d.name.span;
    const std::string& base = d.type.base.text;
    if (base.empty() || base == "real" || base == "int" || base == "bool") {
      s.names[d.name.text] = parameter(d, path, s);
      continue;
    }
    const Declaration* declared = declaration(base);
    if (!declared || !declared->hierarchy) throw Poisoned{};  // said by resolve
    std::vector<ast::Argument> given = d.type.points;
    given.insert(given.end(), d.type.settings.begin(), d.type.settings.end());
    Any a;
    a.kind = Any::Kind::instance;
    a.instance = std::make_shared<Instance>();
    a.instance->path = path;
    a.instance->declared = declared;
    a.instance->settings = given_settings(base, declared->hierarchy->settings, given, s);
    if (!d.type.shape.empty()) {
      const std::int64_t copies = size(*d.type.shape[0], s);
      a.instance->copies = copies == unknown ? -2 : copies;  // -2: several, how many is open
    }
    instances_[path] = a.instance->copies;
    s.names[d.name.text] = a;
  }
}

void Lowering::step_update(const ast::Step& st, Scope& s) {
  if (!s.updates || !s.carried || std::find(s.carried->begin(), s.carried->end(), st.name.text) == s.carried->end()) throw Poisoned{};  // said by resolve
  const std::string outside = build.name;
  build.name = st.name.text;
  Value v = number(*st.value, s);
  build.span = st.span;
  build.name = outside;
  (*s.updates)[st.name.text] = v;
}

Value Lowering::like(const Value& next, const Value& old, const std::string& name, Span span) {
  build.span = span;
  std::vector<std::string> have, want;
  for (int k : visible(next)) have.push_back(next.axes[static_cast<std::size_t>(k)].name);
  for (int k : visible(old)) want.push_back(old.axes[static_cast<std::size_t>(k)].name);
  auto a = have, b = want;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (!std::includes(b.begin(), b.end(), a.begin(), a.end()))
  {
    std::string missing;
    for (const std::string& axis : a)
      if (std::find(b.begin(), b.end(), axis) == b.end()) missing += (missing.empty() ? "" : ", ") + axis;
    fail(Code::E216, span, "'" + name + "' begins as " + shown(old) + " and becomes " + shown(next), "let it begin with all its axes: add `+ zeros(" + missing + ")` to what stands behind `from`, or keep " + shown(old) + " here");
  }
  std::vector<Axis> axes;
  for (const Axis& x : build.join(next.axes, old.axes))
    if (hidden(x.name)) axes.push_back(x);
  for (int k : visible(old)) axes.push_back(old.axes[static_cast<std::size_t>(k)]);
  for (Axis& x : axes)
    for (const Axis& y : next.axes)
      if (x.name == y.name && x.size != y.size && x.size != unknown && y.size != unknown)
        fail(Code::E216, span, "'" + name + "' begins with " + std::to_string(x.size) + " on axis '" + x.name + "' and becomes " + std::to_string(y.size),
             "a loop cannot change the size of an axis: cut or pad before the update");
  return build.canonical(next.expr, axes);
}

Value Lowering::change(const std::string& name, Scope& s, Span span) {
  const auto old = s.before.find(name);
  const auto now = s.names.find(name);
  if (old == s.before.end() || now == s.names.end() || now->second.kind != Any::Kind::value) fail(Code::E222, span, "change(" + name + ") stands in the `until` of an `iterate` that carries the name");
  build.span = span;
  const Value moved = build.real(build.apply(LOCUS_sub, now->second.value, old->second));
  auto at = visible(moved);
  if (at.size() <= 1) return build.apply(LOCUS_abs, moved);
  at.erase(at.begin());
  return build.apply(LOCUS_sqrt, build.over(LOCUS_SUM_OVER, build.apply(LOCUS_mul, moved, moved), at));
}

namespace {
/// Where a loop's block updates the name.
Span update_of(const ast::Step& loop, const std::string& name) {
  for (const ast::Step& s : loop.block)
    if (s.kind == StepKind::update && s.name.text == name) return s.span;
  return loop.span;
}

/// Does a body choose a copy of a parameter by `turn`? Then every turn is another graph and the loop is unrolled.
bool chooses_by_turn(const ast::Steps& steps, const Scope& s) {
  std::set<std::string> names;
  collect(steps, names);
  if (!names.count("turn")) return false;
  return std::any_of(names.begin(), names.end(), [&](const std::string& n) {
    const auto found = s.names.find(n);
    return found != s.names.end() && found->second.kind == Any::Kind::instance && found->second.instance->copies != -1;
  });
}
}  // namespace

void Lowering::unrolled(const ast::Step& st, Scope& s) {
  const std::int64_t limit = size(*st.limit, s);
  std::map<std::string, Value> values;
  std::vector<std::string> names;
  for (const auto& d : st.declared) {
    names.push_back(d.name.text);
    values[d.name.text] = stored(number(*d.value, s), s);
  }
  if (st.until) fail(Code::E301, st.until->span, "`until` beside copies chosen by `turn` is not built yet");
  for (std::int64_t turn = 0; turn < (limit == unknown ? 1 : limit); ++turn) {
    Scope inner = s;
    std::map<std::string, Value> updates;
    for (const auto& n : names) inner.names[n] = Any::of(values[n]);
    inner.names["turn"] = Any::of(limit == unknown ? build.opaque({}, Type::integer) : build.integer(turn));
    inner.updates = &updates;
    inner.carried = &names;
    run_body(st.block, inner);
    for (const auto& n : names)
      if (updates.count(n)) {
        build.name = n;
        values[n] = stored(like(updates[n], values[n], n, update_of(st, n)), s);
      }
  }
  for (const auto& n : names) s.names[n] = Any::of(values[n]);
}

// The values of a stored array over the turns of a loop. The record has the turns first; hidden axes stand behind them there and in front in the value.
Value Lowering::history(graph::Iterate& loop, const std::string& name, const Value& v, const Axis& turns) {
  std::vector<Axis> axes{turns}, ordered;
  axes.insert(axes.end(), v.axes.begin(), v.axes.end());
  const std::string outside = build.name;
  build.name = name + " over turns";
  const TensorId out = build.tensor(axes, build.type(v));
  build.name = outside;
  loop.paths.push_back({build.graph.exprs.at(v.expr).index, out});
  std::stable_partition(axes.begin(), axes.end(), [](const Axis& a) { return hidden(a.name); });
  std::map<std::string, int> seen;
  for (Axis& a : axes) a.coord = build.coordinate(a.name, seen[a.name]++, a.size);
  const auto hidden_count = v.axes.size() - visible(v).size();
  std::vector<CoordId> at{axes[hidden_count].coord};
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (k != hidden_count) at.push_back(axes[k].coord);
  return {build.graph.read(out, at), axes};
}

void Lowering::step_iterate(const ast::Step& st, Scope& s) {
  if (chooses_by_turn(st.block, s)) return unrolled(st, s);
  std::vector<std::string> names;
  std::map<std::string, Value> initial;
  for (const auto& d : st.declared) {
    names.push_back(d.name.text);
    Value v = number(*d.value, s);
    if (build.type(v) == Type::boolean) fail(Code::E205, d.value->span, "a loop carries numbers, not conditions", "put it in brackets");
    initial[d.name.text] = v;
  }
  const std::int64_t limit = size(*st.limit, s);
  const auto limit_axis = axis_name(*st.limit, s);
  build.span = st.span;
  // A carried value may begin as a whole number or from settings alone and become real, or gain axes in front, in the first turn: then the body is lowered again.
  const std::size_t drawn = outline ? outline->mark() : 0;
  for (int attempt = 0;; ++attempt) {
    if (outline) outline->forget(drawn);
    graph::Iterate loop;
    loop.limit = limit == unknown ? 0 : limit;
    std::map<std::string, Value> states;
    std::map<std::string, TensorId> initial_tensors;
    for (const auto& n : names) {
      build.name = n;
      initial_tensors[n] = build.materialise(initial[n]);
      const TensorId state = build.tensor(initial[n].axes, build.type(initial[n]));
      states[n] = build.read(state, initial[n].axes);
      loop.carries.push_back({initial_tensors[n], state, none});
      if (outline) outline->carry(state, initial_tensors[n]);
    }
    build.name = "turn";
    loop.turn = build.tensor({}, Type::integer);
    std::vector<graph::Node> body;
    build.push_block(&body, loop);
    struct Pop {
      Build& b;
      ~Pop() { b.pop_block(); }
    };
    std::map<std::string, Value> next, lets;
    Scope inner = s;
    std::optional<Value> finished;
    TensorId finished_state = none;
    bool again = false;
    {
      Pop pop{build};
      std::map<std::string, Value> updates;
      for (const auto& n : names) inner.names[n] = Any::of(states[n]);
      inner.names["turn"] = Any::of(build.read(loop.turn, {}));
      inner.updates = &updates;
      inner.carried = &names;
      inner.lets = &lets;
      run_body(st.block, inner);
      build.span = st.span;
      for (const auto& n : names) {
        next[n] = updates.count(n) ? like(updates[n], states[n], n, update_of(st, n)) : states[n];
        const Type was = build.type(states[n]), is = build.type(next[n]);
        const bool grows = next[n].axes.size() > states[n].axes.size();
        const bool kind = was != is && !(was == Type::real) && (was == Type::integer || is == Type::real);
        if (grows || kind) {
          again = true;
          std::vector<Axis> axes = grows ? next[n].axes : initial[n].axes;
          ExprId e = initial[n].expr;
          if (kind) e = build.graph.exprs.to(is, e);
          initial[n] = build.canonical(e, axes);
        }
      }
      if (!again && st.until) {
        const auto tested = [&](const std::map<std::string, Value>& values) {
          Scope test = inner;
          test.updates = nullptr;
          test.before = states;
          for (const auto& [n, v] : values) test.names[n] = Any::of(v);
          const Value c = condition(*st.until, test);
          build.span = st.span;
          return c;
        };
        const Value shape_of = tested(next);  // only its axes are needed
        finished_state = build.tensor(shape_of.axes, Type::boolean);
        const Value was = build.read(finished_state, shape_of.axes);
        for (const auto& n : names) {
          const auto at = visible(was);
          const bool shares = std::all_of(at.begin(), at.end(), [&](int k) { return has_axis(next[n], was.axes[static_cast<std::size_t>(k)].name); });
          if (!shares) continue;  // a value without the rows' axis goes on
          const Value old = build.type(next[n]) == Type::real ? build.to(Type::real, states[n]) : states[n];
          next[n] = like(build.select(was, old, next[n]), states[n], n, st.span);
        }
        for (const auto& n : names) {
          build.name = n;
          next[n] = build.materialised(next[n]);
        }
        build.name = "finished";
        finished = build.materialised({build.apply(LOCUS_or, was, tested(next)).expr, was.axes});
        Value open = build.to(Type::exact, build.apply(LOCUS_not, *finished));
        std::vector<int> all(open.axes.size());
        for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
        open = build.renamed(open, [](int k, const std::string&) { return "~" + std::to_string(k); });  // mapped rows count too
        const Value left = all.empty() ? open : plain_over("sum", open, all, nullptr);
        build.name = "stop";
        loop.stop = build.materialise(build.apply(LOCUS_eq, left, build.number(0, Type::exact)));
      }
      if (!again) {
        for (std::size_t k = 0; k < names.size(); ++k) {
          const std::string& n = names[k];
          build.name = n;
          Value v = next[n];
          if (build.type(v) != build.type(states[n])) v = build.to(build.type(states[n]), v);
          TensorId t = build.materialise(v);
          // A next that is a state, an input of the body or another's next needs a tensor of its own.
          const bool own = std::any_of(body.begin(), body.end(), [&](const graph::Node& node) {
            const auto w = graph::writes(node);
            return std::find(w.begin(), w.end(), t) != w.end();
          });
          const bool taken = std::any_of(loop.carries.begin(), loop.carries.end(), [&](const graph::Carry& c) { return c.next == t; });
          if (!own || taken) {
            const TensorId copy = build.tensor(v.axes, build.type(v));
            graph::Map m;
            m.out = copy;
            for (const Axis& a : v.axes) m.space.push_back(a.coord);
            m.value = v.expr;
            build.emit({{}, "", std::move(m)});
            t = copy;
          }
          loop.carries[k].next = t;
        }
        for (auto& [n, v] : lets)
          if (paths_.count(n)) {
            build.name = n;
            v = build.materialised(v);
          }
      }
    }
    if (again) {
      if (attempt > 3) fail(Code::E216, st.span, "a carried value changes its axes or kind from turn to turn");
      continue;
    }
    if (finished) {
      build.name = "finished";
      const TensorId begin = build.materialise(build.canonical(build.graph.exprs.constant(0, Type::boolean), finished->axes));
      loop.carries.push_back({begin, finished_state, build.graph.exprs.at(finished->expr).index});
    }
    const Axis turns{limit_axis.value_or("1"), limit, none};
    for (const auto& n : names)
      if (paths_.count(n)) s.paths[n] = history(loop, n, states[n], {limit_axis ? sizes.add(*limit_axis, "1") : "1", limit == unknown ? unknown : limit + 1, none});
    for (const auto& [n, v] : lets)
      if (paths_.count(n) && !states.count(n)) s.paths[n] = history(loop, n, v, turns);
    loop.body = std::move(body);
    build.name = names.front();
    build.emit({{}, "", std::move(loop)});
    for (const auto& n : names) s.names[n] = Any::of(states[n]);
    return;
  }
}

}  // namespace locus::sema
