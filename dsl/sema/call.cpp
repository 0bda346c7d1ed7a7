// Lowering of calls: kernels, hierarchies, and the renaming of axes on the way in and out; see lower.hpp.
#include <algorithm>
#include <cmath>
#include "dsl/sema/lower.hpp"
#include "dsl/sema/repair.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

using ast::ExprKind;

namespace {
// Built-ins that may be told apart pair by pair; every other function takes whole arrays where no i or j stands in its arguments.
const std::set<std::string> pairwise = {"abs",  "max",  "min",    "norm",  "sqnorm", "l1norm", "cross_entropy", "onehot", "mean", "sum",  "median",  "quantile", "cov",  "exp",  "log", "log2", "sqrt", "sign",
                                        "floor", "round", "sin", "cos",   "tanh",   "asin",   "acos",          "atan",   "erf",  "lgamma", "sigmoid", "softplus", "relu", "elu", "gelu", "silu"};
}  // namespace

Any Lowering::call(const ast::Expr& e, Scope& outer_scope) {
  Any callee = eval(*e.parts[0], outer_scope, true);
  build.span = e.span;
  Scope whole;
  Scope* s = &outer_scope;
  if (outer_scope.pair && !mentions(e, {"i", "j"})) {
    const bool takes_whole = callee.kind == Any::Kind::instance || (callee.declared && callee.declared->hierarchy) ||
                             (callee.kind == Any::Kind::function && !callee.declared && !is_pair_function(callee.function) && !pairwise.count(callee.function));
    if (takes_whole) {
      whole = outer_scope;
      whole.pair = nullptr;
      s = &whole;
    }
  }
  if (callee.kind == Any::Kind::instance) {
    if (callee.instance->copies != -1) fail(Code::E220, e.span, "this parameter has several copies: choose one by an index", "`" + print(*e.parts[0]) + "[turn](…)`");
    called_.insert(callee.instance->path);
    return call_hierarchy(*callee.instance->declared, e, *s, callee.instance->path, callee.instance->settings);
  }
  if (callee.kind != Any::Kind::function) fail(Code::E220, e.span, "an array or a number cannot be called", "indices stand in brackets: `" + print(*e.parts[0]) + "[…]`");
  if (const Declaration* d = callee.declared) {
    if (d->kernel || d->native) return call_kernel(*d, &e, *s, e.span);
    if (d->local) return local_fit(*d, e, *s, {}, nullptr, nullptr);
    const bool parameters = std::any_of(d->hierarchy->steps.begin(), d->hierarchy->steps.end(), [](const ast::Step& st) { return st.kind == ast::StepKind::param; });
    if (parameters) throw Poisoned{};  // said by resolve
    return call_hierarchy(*d, e, *s, s->path, {});
  }
  return builtin(callee.function, e, *s);
}

Settings Lowering::given_settings(const std::string& callee, const std::vector<ast::Declared>& declared, const std::vector<ast::Argument>& given, Scope& s) {
  Settings found;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const std::string name = !given[k].name.text.empty() ? given[k].name.text : k < declared.size() ? declared[k].name.text : "";
    const bool known_name = std::any_of(declared.begin(), declared.end(), [&](const auto& d) { return d.name.text == name; });
    if (!known_name || found.count(name)) throw Poisoned{};  // said by resolve
    Setting setting;
    setting.value = eval(*given[k].value, s);
    if (setting.value.kind == Any::Kind::value && setting.value.value.axes.empty() && build.type(setting.value.value) != Type::boolean) {
      const auto c = constant_of(setting.value.value);
      const ExprKind kind = given[k].value->kind;
      const bool sized = kind == ExprKind::name || kind == ExprKind::number || kind == ExprKind::binary;
      if (!c ? (checking_ && sized && build.type(setting.value.value) == Type::integer) : *c == std::round(*c) && std::abs(*c) < 9e15) {
        std::set<std::string> parts;
        collect(*given[k].value, parts);
        setting.axis = sized && !parts.count("pi") ? axis_name(*given[k].value, s).value_or("1") : c ? sizes.number(static_cast<std::int64_t>(*c)) : "";
      }
    }
    found[name] = std::move(setting);
  }
  (void)callee;
  return found;
}

Any Lowering::call_kernel(const Declaration& d, const ast::Expr* e, Scope& s, Span span) {
  static const std::vector<ast::Declared> nothing;
  std::vector<ast::Declared> native_settings;
  const std::vector<ast::Declared>* declared = d.kernel ? &d.kernel->settings : &nothing;
  if (d.native) {
    for (const auto& [name, initial] : d.native->settings) {
      ast::Declared setting;
      setting.name.text = name;
      native_settings.push_back(setting);
    }
    declared = &native_settings;
  }
  Pair* pair = s.pair;
  const bool implicit = pair && pair->settings_only && (!e || (!e->semicolon && (!declared->empty() || e->points.empty())));
  if (!e && !implicit) fail(Code::E213, span, "kernel '" + d.name + "' needs its two points here", "call it with them: `" + d.name + "(a, b; …)`");
  std::vector<std::vector<Value>> points;
  const std::vector<ast::Argument>* given = nullptr;
  static const std::vector<ast::Argument> no_arguments;
  if (implicit) {
    points = {pair->point('i'), pair->point('j')};
    given = e ? &e->points : &no_arguments;
  } else {
    if (e->points.size() != 2)
      fail(Code::E218, span, "kernel '" + d.name + "' takes two points, and settings behind ';'", "call it as `" + d.name + "(a, b" + (declared->empty() ? "" : "; …") + ")`");
    for (const auto& a : e->points) {
      Any p = eval(*a.value, s);
      if (p.kind == Any::Kind::tuple) points.push_back(p.parts);
      else if (p.kind == Any::Kind::value) points.push_back({p.value});
      else if (p.kind == Any::Kind::poison) throw Poisoned{};
      else fail(Code::E213, a.value->span, "a point must be an array, a number or a tuple of them");
    }
    given = &e->settings;
  }
  build.span = span;
  const Settings settings = given_settings(d.name, *declared, *given, s);
  if (d.native) {
    if (points[0].size() != 1 || points[1].size() != 1) fail(Code::E213, span, "the plugin's kernel '" + d.name + "' takes points of one part");
    graph::NativeKernel native{d.native->native, {}};
    for (const auto& [name, initial] : d.native->settings) {
      const auto found = settings.find(name);
      if (found == settings.end()) {
        if (!initial) fail(Code::E214, span, "setting '" + name + "' of '" + d.name + "' is not given");
        native.settings.push_back(*initial);
        continue;
      }
      const auto c = found->second.value.kind == Any::Kind::value ? constant_of(found->second.value.value) : std::nullopt;
      if (!c && !checking_) fail(Code::E214, span, "setting '" + name + "' of the plugin's kernel '" + d.name + "' must be one number known before the run");
      native.settings.push_back(c.value_or(1.0));
    }
    static const char* const functions[] = {"dot", "sqdist", "l1dist", "maxdist"};
    const auto index = static_cast<std::uint32_t>(build.graph.kernels.size());
    const Value &q = points[0][0], &x = points[1][0];
    Value v;
    if (native.kernel && !native.kernel->scalar_f32 && native.kernel->block_f32) {
      const Value c = build.contract(LOCUS_DOT, q, x);  // the block form reads both points whole: its arguments are those of the contraction
      const graph::Expr x_pair = build.graph.exprs.at(c.expr);
      v = {build.graph.exprs.call(index, Type::real, {x_pair.args[0], x_pair.args[1]}), c.axes};
      fail(Code::E301, span, "a kernel of a plugin with only a block form is not run yet: '" + d.name + "'", "give the kernel a scalar form or a source");
    }
    const Value c = pair_function(functions[native.kernel ? native.kernel->contraction : 1], q, x, s, span);
    v = {build.graph.exprs.call(index, Type::real, {build.graph.exprs.to(Type::real, c.expr)}), c.axes};
    build.graph.kernels.push_back(std::move(native));
    return Any::of(v);
  }
  const ast::Kernel& k = *d.kernel;
  Scope inner;
  inner.path = s.path;
  inner.scalar_points = true;
  inner.inlined = true;
  const ast::Point* formal[] = {&k.query, &k.sample};
  for (int side = 0; side < 2; ++side) {
    if (formal[side]->names.size() != points[static_cast<std::size_t>(side)].size())
      fail(Code::E213, span, "kernel '" + d.name + "' takes points of " + std::to_string(formal[side]->names.size()) + " parts, not " + std::to_string(points[static_cast<std::size_t>(side)].size()));
    for (std::size_t p = 0; p < formal[side]->names.size(); ++p) {
      const Value& v = points[static_cast<std::size_t>(side)][p];
      if (!visible(v).empty()) inner.scalar_points = false;
      inner.names[formal[side]->names[p].text] = Any::of(v);
    }
  }
  for (const auto& [name, setting] : settings) inner.names[name] = setting.value;
  for (const auto& setting : k.settings) {
    if (inner.names.count(setting.name.text)) continue;
    if (!setting.value) fail(Code::E214, span, "setting '" + setting.name.text + "' of '" + d.name + "' is not given", "write `" + d.name + "(" + (implicit ? "" : "a, b; ") + setting.name.text + " = …)`");
    inner.names[setting.name.text] = eval(*setting.value, inner);
  }
  const Value v = number(*k.body, inner);
  build.span = span;
  return Any::of(v);
}

Any Lowering::call_hierarchy(const Declaration& d, const ast::Expr& e, Scope& s, const std::string& path, const Settings& preset) {
  std::map<std::string, Value> given;
  const auto& inputs = d.hierarchy->inputs;
  for (std::size_t k = 0; k < e.points.size(); ++k) {
    const std::string name = !e.points[k].name.text.empty() ? e.points[k].name.text : k < inputs.size() ? inputs[k].name.text : "";
    if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& i) { return i.name.text == name; })) throw Poisoned{};  // said by resolve
    given[name] = number(*e.points[k].value, s);
  }
  Settings settings = preset;
  for (auto& [name, setting] : given_settings(d.name, d.hierarchy->settings, e.settings, s)) settings[name] = setting;
  return run_hierarchy(d, given, settings, path, e.span, false);
}

Any Lowering::run_hierarchy(const Declaration& d, const std::map<std::string, Value>& outside_values, const Settings& settings, const std::string& path, Span span, bool door) {
  const ast::Hierarchy& h = *d.hierarchy;
  if (std::find(active_.begin(), active_.end(), d.name) != active_.end() || active_.size() > 100) throw Poisoned{};  // a circle of calls: said by resolve
  active_.push_back(d.name);
  struct Restore {
    Lowering& l;
    std::set<std::string> paths, graded;
    ~Restore() {
      l.active_.pop_back();
      l.paths_ = paths, l.graded_ = graded;
    }
  } restore{*this, paths_, graded_};
  paths_.clear(), graded_.clear();
  collect_paths(h.steps, paths_);
  collect_paths(*h.result, paths_);
  collect_graded(h, graded_);
  std::map<std::string, Value> given = outside_values;
  // A call for one pair or one sample is a formula, not a part.
  const bool drawn = outline && std::none_of(given.begin(), given.end(), [](const auto& g) { return has_axis(g.second, "@i") || has_axis(g.second, "@j"); });
  if (drawn) {
    std::vector<std::string> order;
    for (const ast::Declared& input : h.inputs) order.push_back(input.name.text);
    outline->enter(d.name, path, given, order);
  }
  differentiates_ |= !graded_.empty();
  Scope inner;
  inner.path = path;
  std::map<std::string, std::string> outer;
  for (const auto& [name, setting] : settings)
    if (setting.value.kind == Any::Kind::value && setting.value.value.axes.empty()) {
      inner.names[name] = setting.value;
      if (!setting.axis.empty()) outer[name] = setting.axis;
    }
  std::vector<const ast::Declared*> waiting;  // a number stands for a whole array of it, once the sizes are known
  const auto bind_input = [&](const ast::Declared& input) {
    inner.names[input.name.text] = Any::of(own(input.name.text, bind(Any::of(given.at(input.name.text)), &input.type, inner, outer, "'" + input.name.text + "' of '" + d.name + "'", span)));
  };
  for (const ast::Declared& input : h.inputs) {
    if (!given.count(input.name.text)) fail(Code::E214, span, "input '" + input.name.text + "' of '" + d.name + "' is not given");
    if (!input.type.shape.empty() && visible(given.at(input.name.text)).empty()) waiting.push_back(&input);
    else bind_input(input);
  }
  for (const auto* input : waiting) bind_input(*input);
  for (const ast::Declared& setting : h.settings) {
    const std::string& name = setting.name.text;
    const std::string what = "'" + name + "' of '" + d.name + "'";
    const auto found = settings.find(name);
    if (found != settings.end()) {
      inner.names[name] = found->second.value.kind == Any::Kind::value ? Any::of(bind(found->second.value, setting.type.present ? &setting.type : nullptr, inner, outer, what, span, true)) : found->second.value;
    } else if (setting.value) {
      const Any v = eval(*setting.value, inner);
      if (v.kind != Any::Kind::value) fail(Code::E213, setting.value->span, "a default must be a number or an array");
      inner.names[name] = setting.type.present ? Any::of(bind(v, &setting.type, inner, outer, what, span, true)) : v;
      const auto c = constant_of(v.value);
      const ExprKind kind = setting.value->kind;
      if (v.value.axes.empty() && c && *c == std::round(*c) && build.type(v.value) != Type::boolean && (kind == ExprKind::number || kind == ExprKind::name || kind == ExprKind::binary))
        outer.try_emplace(name, sizes.substitute(setting.value->kind == ExprKind::number ? sizes.number(static_cast<std::int64_t>(*c)) : axis_name(*setting.value, inner).value_or("1"), [&](const std::string& a) {
          const auto o = outer.find(a);
          return o == outer.end() ? a : o->second;
        }));
    } else {
      fail(Code::E214, span, "setting " + what + " is not given", "write `" + name + " = …` behind the ';'");
    }
    if (Any& a = inner.names[name]; a.kind == Any::Kind::value) a.value = own(name, a.value);
  }
  run(h.steps, inner);
  if (failed_ && !checking_) throw Poisoned{};
  const Any result = eval(*h.result, inner);
  build.span = h.result->span;
  Any left = leave(result, h, inner, outer, door);
  if (drawn) outline->leave(left);
  return left;
}

Value Lowering::as_kind(const Value& v, const std::string& kind, const std::string& what, Span span, const std::string& repair) {
  const Type t = build.type(v);
  if (kind == "bool") {
    if (t != Type::boolean) fail(Code::E204, span, what + " is declared bool and is a number", "compare it: `x != 0`");
    return v;
  }
  if (t == Type::boolean) fail(Code::E205, span, what + " is declared " + (kind.empty() ? "real" : kind) + " and is a condition", "put it in brackets: `[x]`");
  if (kind == "int") {
    if (t == Type::integer) return v;
    const auto c = constant_of(v);
    if (c && *c == std::round(*c)) return {build.graph.exprs.constant(*c, Type::integer), v.axes};
    fail(Code::E206, span, what + " is declared int and is a real number", repair);
  }
  return build.real(v);
}

Value Lowering::bind(const Any& any, const ast::Type* type, Scope& inner, std::map<std::string, std::string>& outer, const std::string& what, Span span, bool is_setting) {
  if (any.kind == Any::Kind::poison) throw Poisoned{};
  if (any.kind != Any::Kind::value) fail(Code::E213, span, what + " must be an array or a number");
  build.span = span;
  Value value = build.renamed(any.value, [](int, const std::string& a) { return hidden(a) ? "^" + a : a; });
  if (!type) {
    return build.renamed(value, [&](int, const std::string& a) {
      if (!hidden(a))
        for (const auto& [in, out] : outer)
          if (out == a) return in;
      return a;
    });
  }
  (void)is_setting;
  value = as_kind(value, type->base.text, what, span, "give it integers: a whole number such as `3`, `index(n)`, or an input that is declared `int`");
  std::vector<ast::ExprPtr> declared = type->shape;
  const auto at = visible(value);
  if (!declared.empty() && at.empty()) {  // a number for a whole array
    std::vector<Axis> axes = value.axes;
    for (const Axis& a : shape(declared, inner)) axes.push_back(a);
    return build.canonical(value.expr, axes);
  }
  if (declared.size() == 2 && at.size() == 1 && declared[1]->kind == ExprKind::name) {
    const std::string& name = declared[1]->name.text;
    if (!inner.axes.count(name) && !inner.names.count(name)) inner.axes[name] = {1, true, what};
    const auto known_axis = inner.axes.find(name);
    if (known_axis == inner.axes.end() || !known_axis->second.absent)
      fail(Code::E211, span, what + " is a 1-D array where " + "[" + print(*declared[0]) + ", " + name + "] is declared, and '" + name + "' is " +
                                 (known_axis != inner.axes.end() && known_axis->second.size != unknown ? std::to_string(known_axis->second.size) : "known already"),
           "give it as a table of one column: `reshape(x, " + print(*declared[0]) + ", 1)`");
  }
  std::erase_if(declared, [&](const ast::ExprPtr& e) { return e->kind == ExprKind::name && inner.axes.count(e->name.text) && inner.axes[e->name.text].absent; });
  if (at.size() < declared.size())
    fail(Code::E211, span, what + " has " + std::to_string(at.size()) + (at.size() == 1 ? " axis " : " axes ") + shown(value) + " where " + std::to_string(declared.size()) + " are declared",
         "give it as many, as in `reshape(x" + [&] {
           std::string axes;
           for (int k : at) axes += ", " + value.axes[static_cast<std::size_t>(k)].name;
           for (std::size_t k = at.size(); k < declared.size(); ++k) axes += ", 1";
           return axes;
         }() + ")`");
  std::map<int, std::string> names;
  for (std::size_t k = 0; k < declared.size(); ++k) {
    const int position = at[at.size() - declared.size() + k];
    const Axis& a = value.axes[static_cast<std::size_t>(position)];
    const ast::Expr& e = *declared[k];
    if (e.kind == ExprKind::name && !inner.axes.count(e.name.text) && !inner.names.count(e.name.text)) {
      inner.axes[e.name.text] = {a.size, false, what};
      outer[e.name.text] = a.name;
    }
    const std::int64_t want = size(e, inner);
    if (want != a.size && want != unknown && a.size != unknown) {
      const auto said = e.kind == ExprKind::name ? inner.axes.find(e.name.text) : inner.axes.end();
      fail(Code::E201, span, "two sizes for axis '" + print(e) + "': " + std::to_string(want) + (said != inner.axes.end() && !said->second.said.empty() ? " in " + said->second.said : "") + ", and " +
                                 std::to_string(a.size) + " in " + what);
    }
    names[position] = axis_name(e, inner).value_or("1");
  }
  return build.renamed(value, [&](int k, const std::string& a) { return names.count(k) ? names[k] : hidden(a) ? a : "^" + a; });
}

Value Lowering::leave_value(Value v, const ast::Type& type, Scope& inner, const std::map<std::string, std::string>& outer, const std::string& what, Span span, bool door) {
  std::vector<ast::ExprPtr> declared = type.shape;
  std::erase_if(declared, [&](const ast::ExprPtr& e) { return e->kind == ExprKind::name && inner.axes.count(e->name.text) && inner.axes[e->name.text].absent; });
  if (type.base.text == "bool" && build.type(v) != Type::boolean) fail(Code::E204, span, what + " is declared bool and is a number");
  if (type.base.text != "bool" && build.type(v) == Type::boolean) fail(Code::E205, span, what + " is declared a number and is a condition", "declare it `bool`, or put the condition in brackets");
  const auto at = visible(v);
  std::vector<std::string> have;
  for (int k : at) have.push_back(v.axes[static_cast<std::size_t>(k)].name);
  struct Want {
    std::string name;
    bool known;
    ast::ExprPtr expr;
  };
  std::vector<Want> wants;
  for (const auto& e : declared) {
    std::set<std::string> atoms;
    collect(*e, atoms);
    const bool known_size = std::all_of(atoms.begin(), atoms.end(), [&](const std::string& a) { return inner.axes.count(a) || (inner.names.count(a) && inner.names[a].kind == Any::Kind::value && inner.names[a].value.axes.empty()); });
    wants.push_back({known_size ? axis_name(*e, inner).value_or("1") : print(*e), known_size, e});
  }
  std::vector<std::string> spare = have;
  for (const Want& w : wants)
    if (w.known) {
      const auto found = std::find(spare.begin(), spare.end(), w.name);
      if (found != spare.end()) spare.erase(found);
    }
  std::vector<std::string> wanted;
  for (const Want& w : wants) {
    const bool there = std::find(have.begin(), have.end(), w.name) != have.end();
    if (w.known || there || spare.empty()) wanted.push_back(w.name);
    else {
      wanted.push_back(spare.front());
      spare.erase(spare.begin());
    }
  }
  auto sorted_have = have, sorted_want = wanted;
  std::sort(sorted_have.begin(), sorted_have.end());
  std::sort(sorted_want.begin(), sorted_want.end());
  std::string declared_text = "[";
  for (const auto& e : declared) declared_text += (declared_text.size() > 1 ? ", " : "") + print(*e);
  declared_text += "]";
  build.span = span;
  if (sorted_have != sorted_want) {
    const std::string message = what + " is declared " + declared_text + " and is " + shown(v);
    const auto part = what.find('.');
    const std::string declare = "declare `" + (part == std::string::npos ? "-> " : what.substr(part + 1) + ": ") + type_of_result(type.base.text, v) + "`, or return what is declared";
    if (wanted.size() == have.size()) {
      for (std::size_t k = 0; k < wants.size(); ++k) {
        if (!wants[k].known) continue;
        const std::int64_t want = size(*wants[k].expr, inner), got = v.axes[static_cast<std::size_t>(at[k])].size;
        if (want != got && want != unknown && got != unknown)
          fail(Code::E210, span, message + ": axis '" + wants[k].name + "' has " + std::to_string(want) + " entries and '" + have[k] + "' " + std::to_string(got), declare);
      }
      std::map<int, std::string> names;
      for (std::size_t k = 0; k < wants.size(); ++k) names[at[k]] = wants[k].name;
      v = build.renamed(v, [&](int k, const std::string& a) { return names.count(k) ? names[k] : a; });
      wanted.clear();
      for (const Want& w : wants) wanted.push_back(w.name);
    } else if (std::includes(sorted_want.begin(), sorted_want.end(), sorted_have.begin(), sorted_have.end())) {  // constant along a declared axis
      std::vector<Axis> axes = v.axes;
      for (const Axis& a : shape(declared, inner))
        if (!has_axis(v, a.name)) axes.push_back(a);
      v = build.canonical(v.expr, axes);
    } else {
      fail(Code::E210, span, message, declare);
    }
  }
  std::vector<int> order;
  for (std::size_t k = 0; k < v.axes.size(); ++k)
    if (hidden(v.axes[k].name)) order.push_back(static_cast<int>(k));
  std::set<int> used;
  for (const std::string& w : wanted)
    for (std::size_t k = 0; k < v.axes.size(); ++k)
      if (v.axes[k].name == w && used.insert(static_cast<int>(k)).second) {
        order.push_back(static_cast<int>(k));
        break;
      }
  v = build.permuted(v, order);
  if (door) {
    std::map<int, std::string> names;
    const std::size_t lead = v.axes.size() - wanted.size();
    for (std::size_t k = 0; k < wants.size(); ++k) names[static_cast<int>(lead + k)] = wants[k].name;
    return build.renamed(v, [&](int k, const std::string& a) { return names.count(k) ? names[k] : a; });
  }
  const auto meaning = [&](const std::string& atom) -> std::string {
    const auto o = outer.find(atom);
    if (o != outer.end()) return o->second;
    const auto axis = inner.axes.find(atom);
    if (axis != inner.axes.end() && axis->second.size != unknown) return sizes.number(axis->second.size);
    const auto name = inner.names.find(atom);
    if (name != inner.names.end() && name->second.kind == Any::Kind::value && name->second.value.axes.empty()) {
      const auto c = constant_of(name->second.value);
      if (c && *c == std::round(*c)) return sizes.number(static_cast<std::int64_t>(*c));
    }
    if (!atom.empty() && (std::isdigit(static_cast<unsigned char>(atom[0])) || atom.find('#') != std::string::npos)) return atom;
    return what.substr(0, what.find(' ')) + "." + atom;
  };
  return build.renamed(v, [&](int, const std::string& a) { return a[0] == '^' ? a.substr(1) : hidden(a) ? a : sizes.substitute(a, meaning); });
}

Any Lowering::leave(const Any& result, const ast::Hierarchy& h, Scope& inner, const std::map<std::string, std::string>& outer, bool door) {
  if (result.kind == Any::Kind::poison) throw Poisoned{};
  if (!h.named_results) {
    if (result.kind == Any::Kind::record)
      fail(Code::E213, h.result->span, "'" + h.name.text + "' declares a single result and returns a record", "return one of its parts, or declare named results: `-> (value: [n], …)`");
    if (result.kind != Any::Kind::value) fail(Code::E213, h.result->span, "'" + h.name.text + "' must return an array or a number");
    return Any::of(leave_value(result.value, h.output, inner, outer, h.name.text, h.result->span, door));
  }
  std::string declared, returned, types;
  for (const auto& [name, v] : result.fields)
    types += (types.empty() ? "" : ", ") + name + ": " + type_of_result(build.type(v) == Type::boolean ? "bool" : build.type(v) == Type::integer ? "int" : "", v);
  for (const auto& r : h.results) declared += (declared.empty() ? "" : ", ") + r.name.text;
  for (const auto& [name, v] : result.fields) returned += (returned.empty() ? "" : ", ") + name;
  if (result.kind != Any::Kind::record) fail(Code::E213, h.result->span, "'" + h.name.text + "' must return its named results: " + declared, "`return (" + h.results.front().name.text + ": …)`");
  Any left;
  left.kind = Any::Kind::record;
  for (const auto& r : h.results) {
    const auto found = std::find_if(result.fields.begin(), result.fields.end(), [&](const auto& f) { return f.first == r.name.text; });
    if (found == result.fields.end() || result.fields.size() != h.results.size())
      fail(Code::E210, h.result->span, "'" + h.name.text + "' declares the results " + declared + " and returns " + returned, "declare `-> (" + types + ")`, or return what is declared");
    left.fields.emplace_back(r.name.text, leave_value(found->second, r.type, inner, outer, h.name.text + "." + r.name.text, h.result->span, door));
  }
  return left;
}

}  // namespace locus::sema
