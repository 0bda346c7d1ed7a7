// Lowering of expressions: names, arithmetic, indices, choices; see lower.hpp.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include "dsl/sema/lower.hpp"
#include "dsl/sema/repair.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

using ast::ExprKind;
using ast::Operator;

Any Lowering::eval(const ast::Expr& e, Scope& s, bool raw) {
  const Span outside = build.span;
  build.span = e.span;
  const auto done = [&](Any a) {
    build.span = outside;
    return a;
  };
  switch (e.kind) {
    case ExprKind::number:
      return done(Any::of(e.whole ? build.integer(e.integer) : build.number(e.number, Type::exact)));
    case ExprKind::truth:
      return done(Any::of(build.number(e.truth ? 1 : 0, Type::boolean)));
    case ExprKind::name:
      return done(eval_name(e, s, raw));
    case ExprKind::tuple: {
      Any t;
      t.kind = Any::Kind::tuple;
      for (const auto& p : e.parts) {
        Any part = eval(*p, s, raw);
        if (part.kind != Any::Kind::value) fail(Code::E213, p->span, "a part of a point must be an array");
        t.parts.push_back(part.value);
      }
      return done(t);
    }
    case ExprKind::record: {
      Any r;
      r.kind = Any::Kind::record;
      for (const auto& f : e.points) r.fields.emplace_back(f.name.text, number(*f.value, s));
      return done(r);
    }
    case ExprKind::bracket:
      return done(Any::of(eval_bracket(e, s)));
    case ExprKind::call: {
      Any a = call(e, s);
      build.span = e.span;
      if (s.pair && !raw && a.kind == Any::Kind::value) a.value = s.pair->read(a.value);
      return done(a);
    }
    case ExprKind::field:
      return done(eval_field(e, s, raw));
    case ExprKind::index:
      return done(eval_index(e, s, raw));
    case ExprKind::negate: {
      const Value v = number(*e.parts[0], s);
      if (build.type(v) == Type::boolean) fail(Code::E205, e.parts[0]->span, "a condition is not a number", "its opposite is `not " + print(*e.parts[0]) + "`; as a number it is `[" + print(*e.parts[0]) + "]`");
      return done(Any::of(build.apply(LOCUS_neg, v)));
    }
    case ExprKind::negation:
      return done(Any::of(build.apply(LOCUS_not, condition(*e.parts[0], s))));
    case ExprKind::binary:
      return done(eval_binary(e, s));
    case ExprKind::choose:
      return done(eval_choose(e, s));
    case ExprKind::sentence:
      return done(sentence(e, s));
  }
  return {};
}

namespace {
const char* kind_name(Any::Kind k) {
  switch (k) {
    case Any::Kind::record: return "a record";
    case Any::Kind::tuple: return "a tuple of points";
    case Any::Kind::function: return "a function";
    case Any::Kind::instance: return "a parameter that is a hierarchy";
    default: return "nothing";
  }
}
}  // namespace

Value Lowering::number(const ast::Expr& e, Scope& s) {
  Any a = eval(e, s);
  if (a.kind == Any::Kind::poison) throw Poisoned{};
  if (a.kind == Any::Kind::record) {
    std::string parts;
    for (const auto& [name, v] : a.fields) parts += (parts.empty() ? "" : ", ") + name;
    fail(Code::E213, e.span, "an array or a number is needed here, not a record of " + parts, a.fields.empty() ? "" : "take one part: `" + print(e) + "." + a.fields.front().first + "`");
  }
  if (a.kind == Any::Kind::function && s.pair && s.pair->settings_only) {
    if (a.declared && (a.declared->kernel || a.declared->native)) return call_kernel(*a.declared, nullptr, s, e.span).value;
    if (!a.declared && is_pair_function(a.function)) {
      const auto q = s.pair->point('i'), x = s.pair->point('j');
      if (q.size() != 1 || x.size() != 1) fail(Code::E213, e.span, "`" + a.function + "` takes points of one part");
      return pair_function(a.function, q[0], x[0], s, e.span);
    }
  }
  if (a.kind != Any::Kind::value)
    fail(Code::E213, e.span, std::string("an array or a number is needed here, not ") + kind_name(a.kind), a.kind == Any::Kind::function ? "call it: `" + a.function + "(…)`" : "");
  return a.value;
}

Value Lowering::condition(const ast::Expr& e, Scope& s) {
  const Value v = number(e, s);
  if (build.type(v) != Type::boolean) fail(Code::E204, e.span, "a condition is needed here, not a number", "compare it: `" + print(e) + " != 0`");
  return v;
}

std::optional<double> Lowering::constant_of(const Value& v) const {
  if (!build.constant(v)) return {};
  return build.value(v);
}

std::optional<std::int64_t> Lowering::integer(const ast::Expr& e, Scope& s) {
  const Value v = number(e, s);
  if (!v.axes.empty()) fail(Code::E207, e.span, "a size or count must be one number, not an array " + shown(v));
  if (build.type(v) == Type::boolean) fail(Code::E205, e.span, "a size or count must be a number, not a condition");
  std::optional<double> x = constant_of(v);
  if (!x) {
    const auto array = known(v, e.span);
    if (!array) return {};
    x = array->number(0);
  }
  if (*x != std::round(*x) || std::abs(*x) > 9e15) {
    char text[40];
    std::snprintf(text, sizeof text, "%.12g", *x);
    char below[40];
    std::snprintf(below, sizeof below, "%.12g", std::floor(*x));
    fail(Code::E207, e.span, std::string("a size or count must be whole, not ") + text,
         e.kind == ExprKind::binary && e.op == Operator::divide ? "divide with `//`: `" + print(*e.parts[0]) + " // " + print(*e.parts[1]) + "`" : std::string("write `") + below + "`");
  }
  return static_cast<std::int64_t>(*x);
}

std::int64_t Lowering::size(const ast::Expr& e, Scope& s) {
  const auto k = integer(e, s);
  if (k && *k < 0) fail(Code::E207, e.span, "a size or count must be at least 0, not " + std::to_string(*k));
  return k.value_or(unknown);
}

std::optional<std::string> Lowering::axis_name(const ast::Expr& e, Scope& s) {
  if (e.kind == ExprKind::number && e.whole) return sizes.number(e.integer);
  if (e.kind == ExprKind::name) {
    const auto found = s.axes.find(e.name.text);
    if (found != s.axes.end() && found->second.absent) return {};
    return e.name.text;
  }
  if (e.kind == ExprKind::binary && (e.op == Operator::add || e.op == Operator::subtract || e.op == Operator::multiply || e.op == Operator::divide)) {
    const std::string a = axis_name(*e.parts[0], s).value_or("1"), b = axis_name(*e.parts[1], s).value_or("1");
    switch (e.op) {
      case Operator::add: return sizes.add(a, b);
      case Operator::subtract: return sizes.add(a, b, -1);
      case Operator::multiply: return sizes.multiply(a, b);
      default: return sizes.divide(a, b);
    }
  }
  const auto k = integer(e, s);
  return k ? sizes.number(*k) : "(" + print(e) + ")";
}

std::vector<Axis> Lowering::shape(const std::vector<ast::ExprPtr>& exprs, Scope& s) {
  std::vector<Axis> axes;
  for (const auto& e : exprs) {
    const auto name = axis_name(*e, s);
    if (name) axes.push_back({*name, size(*e, s), graph::none});
  }
  return axes;
}

Any Lowering::eval_name(const ast::Expr& e, Scope& s, bool raw) {
  const std::string& name = e.name.text;
  if (s.pair && (name == "i" || name == "j")) return Any::of(s.pair->index(name[0]));
  const auto found = s.names.find(name);
  if (found != s.names.end()) {
    if (found->second.kind == Any::Kind::poison) throw Poisoned{};
    if (s.pair && !raw && found->second.kind == Any::Kind::value) return Any::of(s.pair->read(found->second.value));
    return found->second;
  }
  const auto axis = s.axes.find(name);
  if (axis != s.axes.end()) {
    if (axis->second.absent) return Any::of(build.integer(1));
    if (axis->second.size != unknown) return Any::of(build.integer(axis->second.size));
    return Any::of(build.opaque({}, Type::integer));
  }
  Any f;
  f.kind = Any::Kind::function;
  f.function = name;
  if ((f.declared = declaration(name))) return f;
  if (name == "pi") return Any::of(build.number(3.14159265358979323846, Type::exact));
  if (name == "inf") return Any::of(build.number(std::numeric_limits<double>::infinity(), Type::exact));
  if (known_function(name)) return f;
  if (name == "i" || name == "j") fail(Code::E203, e.span, "`" + name + "` has a meaning only inside a sentence: the index of the " + (name == "i" ? "query" : "sample"));
  throw Poisoned{};  // an unknown name: said by resolve already
}

Value Lowering::binary(Operator op, const Value& a, const Value& b, Span span) {
  build.span = span;
  switch (op) {
    case Operator::less: return build.apply(LOCUS_lt, a, b);
    case Operator::less_equal: return build.apply(LOCUS_le, a, b);
    case Operator::greater: {
      const auto axes = build.join(a.axes, b.axes);
      return {build.apply(LOCUS_lt, b, a).expr, axes};
    }
    case Operator::greater_equal: {
      const auto axes = build.join(a.axes, b.axes);
      return {build.apply(LOCUS_le, b, a).expr, axes};
    }
    case Operator::equal: return build.apply(LOCUS_eq, a, b);
    case Operator::not_equal: return build.apply(LOCUS_ne, a, b);
    default: break;
  }
  switch (op) {
    case Operator::add: return build.apply(LOCUS_add, a, b);
    case Operator::subtract: return build.apply(LOCUS_sub, a, b);
    case Operator::multiply: return build.apply(LOCUS_mul, a, b);
    case Operator::divide: return build.apply(LOCUS_div, build.real(a), build.real(b));
    case Operator::floor_divide:
    case Operator::modulo:
      if (const auto d = constant_of(b); d && *d == 0) fail(Code::E207, span, "division by zero");
      return build.apply(op == Operator::modulo ? LOCUS_mod : LOCUS_idiv, a, b);
    case Operator::power: return build.apply(LOCUS_pow, a, b);
    default: return matmul(a, b, span);
  }
}

Any Lowering::eval_binary(const ast::Expr& e, Scope& s) {
  if (e.op == Operator::logical_and || e.op == Operator::logical_or) {
    const bool is_or = e.op == Operator::logical_or;
    const Value left = condition(*e.parts[0], s);
    if (const auto c = constant_of(left); c && (*c != 0) == is_or) return Any::of(left);
    const Value right = condition(*e.parts[1], s);
    build.span = e.span;
    if (const auto c = constant_of(left); c && left.axes.empty()) return Any::of(right);
    if (const auto c = constant_of(right); c && right.axes.empty()) return Any::of((*c != 0) == is_or ? right : left);
    return Any::of(build.apply(is_or ? LOCUS_or : LOCUS_and, left, right));
  }
  const Value a = number(*e.parts[0], s);
  const Value b = number(*e.parts[1], s);
  const bool compares = e.op >= Operator::less && e.op <= Operator::not_equal;
  for (int k = 0; k < 2 && !compares; ++k)
    if (build.type(k ? b : a) == Type::boolean)
      fail(Code::E205, e.parts[static_cast<std::size_t>(k)]->span, "a condition is not a number", "put it in brackets, which make it 1 or 0: `[" + print(*e.parts[static_cast<std::size_t>(k)]) + "]`");
  if ((e.op == Operator::floor_divide || e.op == Operator::modulo) && (build.type(a) != Type::integer || build.type(b) != Type::integer))
    fail(Code::E206, e.span, std::string("`") + (e.op == Operator::modulo ? "%" : "//") + "` is for integers", "write `" + real_division(e) + "` for real numbers");
  if (e.op != Operator::matmul) return Any::of(binary(e.op, a, b, e.span));
  try {
    return Any::of(matmul(a, b, e.span));
  } catch (Fault& f) {  // which side to turn is seen here, where both have a text
    const auto va = visible(a), vb = visible(b);
    const auto name = [](const Value& v, int k) { return v.axes[static_cast<std::size_t>(k)].name; };
    const std::string left = print(*e.parts[0]), right = print(*e.parts[1]);
    if (f.diagnostic.code == Code::E202 && va.size() > 1 && !vb.empty() && name(a, va[va.size() - 2]) == name(b, vb.size() > 1 ? vb[vb.size() - 2] : vb.back()))
      f.diagnostic.help = "transpose the left side: `transpose(" + left + ") @ " + right + "`";
    else if (f.diagnostic.code == Code::E202 && vb.size() > 1 && !va.empty() && name(a, va.back()) == name(b, vb.back()))
      f.diagnostic.help = "transpose the right side: `" + left + " @ transpose(" + right + ")`";
    throw;
  }
}

Any Lowering::eval_choose(const ast::Expr& e, Scope& s) {
  const Value test = condition(*e.parts[0], s);
  if (const auto c = constant_of(test); c && test.axes.empty()) return eval(*e.parts[*c != 0 ? 1 : 2], s);
  Any yes = eval(*e.parts[1], s), no = eval(*e.parts[2], s);
  build.span = e.span;
  if (yes.kind == Any::Kind::record && no.kind == Any::Kind::record && yes.fields.size() == no.fields.size()) {
    for (std::size_t k = 0; k < yes.fields.size(); ++k) yes.fields[k].second = build.select(test, yes.fields[k].second, no.fields[k].second);
    return yes;
  }
  if (yes.kind != Any::Kind::value || no.kind != Any::Kind::value) {
    if (checking_ && yes.kind == no.kind) return yes;
    fail(Code::E213, e.span, "the branches of an `if` must both be arrays or numbers");
  }
  const bool conditions = build.type(yes.value) == Type::boolean;
  if (conditions != (build.type(no.value) == Type::boolean)) fail(Code::E205, e.span, "one branch of this `if` is a condition and the other a number", "put the condition in brackets");
  return Any::of(build.select(test, yes.value, no.value));
}

Value Lowering::eval_bracket(const ast::Expr& e, Scope& s) {
  if (e.parts.size() == 1) {
    const Value v = number(*e.parts[0], s);
    if (build.type(v) != Type::boolean) fail(Code::E204, e.span, "brackets round one value make a condition a number; this is a number already", "leave out the brackets: `" + print(*e.parts[0]) + "`");
    return build.to(Type::exact, v);
  }
  std::vector<Value> parts;
  std::vector<Axis> axes;
  for (const auto& p : e.parts) {
    parts.push_back(build.real(number(*p, s)));
    axes = build.join(axes, parts.back().axes);
  }
  // A vector of k values: chosen by its own coordinate.
  const Value place = build.index(sizes.number(static_cast<std::int64_t>(parts.size())), static_cast<std::int64_t>(parts.size()));
  Value v = parts.back();
  v.axes = axes;
  for (std::size_t k = parts.size() - 1; k-- > 0;) {
    const Value here = build.apply(LOCUS_eq, place, build.integer(static_cast<std::int64_t>(k)));
    v = {build.graph.exprs.apply(LOCUS_select, here.expr, parts[k].expr, v.expr), axes};
  }
  axes.push_back(place.axes[0]);
  return build.canonical(v.expr, axes);
}

Any Lowering::eval_field(const ast::Expr& e, Scope& s, bool raw) {
  Any base = eval(*e.parts[0], s, true);
  build.span = e.span;
  if (base.kind == Any::Kind::poison) throw Poisoned{};
  if (base.kind == Any::Kind::record) {
    std::vector<std::string> names;
    for (const auto& [name, v] : base.fields) {
      if (name == e.name.text) return Any::of(s.pair && !raw ? s.pair->read(v) : v);
      names.push_back(name);
    }
    std::string all;
    for (const auto& n : names) all += (all.empty() ? "" : ", ") + n;
    const std::string near = nearest_name(e.name.text, names);
    fail(Code::E219, e.name.span, "there is no part named '" + e.name.text + "': the parts are " + all, near.empty() ? "" : "did you mean `" + near + "`?");
  }
  if (base.kind == Any::Kind::instance) fail(Code::E219, e.span, "a parameter of a parameter is seen only inside its hierarchy");
  fail(Code::E219, e.span, "only a record has parts; this has none named '" + e.name.text + "'");
}

Any Lowering::eval_index(const ast::Expr& e, Scope& s, bool raw) {
  Any base = eval(*e.parts[0], s, true);
  build.span = e.span;
  if (base.kind == Any::Kind::poison) throw Poisoned{};
  if (base.kind == Any::Kind::instance) {
    if (base.instance->copies == -1) fail(Code::E208, e.span, "only a parameter with several copies is indexed", "leave the index out: `" + print(*e.parts[0]) + "`");
    const auto chosen = [&](std::int64_t k) { return "`" + indexed_text(e, {{ast::Index::Kind::at, e.span, whole_number(k), nullptr}}) + "`"; };
    if (e.places.size() != 1 || e.places[0].kind != ast::Index::Kind::at) fail(Code::E208, e.span, "a copy of a parameter is chosen by one number", "write " + chosen(0));
    const Value k = number(*e.places[0].low, s);
    Any copy = base;
    copy.instance = std::make_shared<Instance>(*base.instance);
    copy.instance->copies = -1;
    const auto c = constant_of(k);
    if (c && base.instance->copies >= 0 && (*c < 0 || *c >= static_cast<double>(base.instance->copies)))
      fail(Code::E208, e.span, "copy " + std::to_string(static_cast<std::int64_t>(*c)) + " of " + std::to_string(base.instance->copies),
           base.instance->copies == 0 ? "declare the parameter with a copy at least" : "copies count from 0: the last is " + chosen(base.instance->copies - 1));
    if (!c && !checking_) fail(Code::E301, e.span, "a copy chosen by data is not built yet", "choose it by a number or by `turn`");
    copy.instance->path += "." + (c ? std::to_string(static_cast<std::int64_t>(*c)) : "*");
    return copy;
  }
  if (base.kind == Any::Kind::tuple) fail(Code::E213, e.span, "a tuple of points is not indexed", "index its parts");
  if (base.kind == Any::Kind::record) fail(Code::E213, e.span, "a record is not indexed", "index one of its parts: `" + print(*e.parts[0]) + "." + (base.fields.empty() ? "part" : base.fields[0].first) + "[…]`");
  if (base.kind != Any::Kind::value) fail(Code::E213, e.span, "only arrays are indexed");
  Value v = s.pair ? s.pair->in_step(base.value) : base.value;
  bool sides = false;
  std::vector<const ast::Index*> places;
  for (const auto& p : e.places) {
    if (s.pair && p.kind == ast::Index::Kind::at && p.low->kind == ExprKind::name && (p.low->name.text == "i" || p.low->name.text == "j")) {
      build.span = e.span;
      v = s.pair->at_side(v, p.low->name.text[0]);
      sides = true;
    } else {
      places.push_back(&p);
    }
  }
  v = indexed(v, places, s, e);
  build.span = e.span;
  return Any::of(s.pair && !raw ? s.pair->read(v, sides) : v);
}

void Lowering::need_integers(const ast::Expr& e, const Value& v, const std::string& message) {
  if (build.type(v) != Type::integer) fail(Code::E206, e.span, message, integer_repair(e, v, active_.empty() ? nullptr : declaration(active_.back())));
}

Value Lowering::indexed(Value v, std::vector<const ast::Index*> places, Scope& s, const ast::Expr& e) {
  const Span span = e.span;
  const std::size_t sides = e.places.size() - places.size();
  const auto with = [&](const ast::Index* wrong, const ast::Index& right) {  // the text with one place mended
    std::vector<ast::Index> all = e.places;
    for (ast::Index& p : all)
      if (p.span == wrong->span && p.low == wrong->low && p.high == wrong->high) p = right;
    return "`" + indexed_text(e, std::move(all)) + "`";
  };
  static const ast::Index whole{ast::Index::Kind::cut, {}, nullptr, nullptr};
  const auto skip = std::find_if(places.begin(), places.end(), [](const auto* p) { return p->kind == ast::Index::Kind::skip; });
  if (skip != places.end()) {
    const auto at = skip - places.begin();
    const auto gap = static_cast<std::ptrdiff_t>(visible(v).size()) - (static_cast<std::ptrdiff_t>(places.size()) - 1);
    places.erase(skip);
    if (gap > 0) places.insert(places.begin() + at, static_cast<std::size_t>(gap), &whole);
  }
  auto positions = visible(v);
  if (places.size() > positions.size()) fail(Code::E208, span, std::to_string(places.size()) + " indices for " + shown(v), "write " + first_places(e, sides + positions.size()));
  std::map<int, Value> gathers;
  std::vector<std::pair<int, std::int64_t>> numbers;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const ast::Index& p = *places[k];
    const int at = positions[k];
    const Axis axis = v.axes[static_cast<std::size_t>(at)];
    if (p.kind == ast::Index::Kind::cut) {
      if (!p.low && !p.high) continue;
      const std::int64_t low = p.low ? size(*p.low, s) : 0, high = p.high ? size(*p.high, s) : axis.size;
      if (low != unknown && high != unknown && (low > high || (axis.size != unknown && high > axis.size)))
        fail(Code::E208, p.span.set() ? p.span : span, std::to_string(low) + ":" + std::to_string(high) + " does not fit axis '" + axis.name + "' of " + std::to_string(axis.size),
             "write " + with(&p, {ast::Index::Kind::cut, p.span, low <= axis.size || axis.size == unknown ? p.low : nullptr, nullptr}));
      const std::string high_name = p.high ? axis_name(*p.high, s).value_or("1") : axis.name;
      const std::string name = p.low ? sizes.add(high_name, axis_name(*p.low, s).value_or("1"), -1) : high_name;
      build.span = span;
      v = build.cut(v, at, low == unknown ? 0 : low, name, low == unknown || high == unknown ? unknown : high - low);
      continue;
    }
    const Value index = number(*p.low, s);
    build.span = span;
    need_integers(*p.low, index, "an index must be an integer or an integer array");
    const auto c = constant_of(index);
    if (c && index.axes.empty()) {
      const auto place = static_cast<std::int64_t>(*c);
      if (axis.size != unknown && (place < 0 || place >= axis.size))
        fail(Code::E208, p.low->span, "index " + std::to_string(place) + " lies outside axis '" + axis.name + "' of " + std::to_string(axis.size),
             axis.size == 0 ? "the axis has no entries: take a longer array" : "indices count from 0: the last is " + with(&p, {ast::Index::Kind::at, p.span, whole_number(axis.size - 1), nullptr}));
      numbers.emplace_back(at, place);
    } else {
      gathers[at] = index;
    }
  }
  if (!gathers.empty()) {
    for (const auto& [at, place] : numbers) gathers[at] = build.integer(place);
    return gather(v, gathers);
  }
  for (auto it = numbers.rbegin(); it != numbers.rend(); ++it) v = build.take(v, it->first, it->second);
  return v;
}

Value Lowering::gather(const Value& base, const std::map<int, Value>& places) {
  // The table as a stored tensor under coordinates of its own, so that an axis of the index may have the name of an axis that it replaces.
  Value table = build.renamed(base, [&](int k, const std::string& a) { return places.count(k) ? a + "`" + std::to_string(k) : a; });
  if (!build.simple(table) || build.constant(table) || build.graph.exprs.at(table.expr).op == LOCUS_COORDINATE) table = build.materialised(table);
  std::vector<Axis> index_axes;
  for (const auto& [k, v] : places) index_axes = build.join(index_axes, v.axes);
  const int first = places.begin()->first;
  std::vector<Axis> lead, before, after, inserted;
  for (std::size_t k = 0; k < table.axes.size(); ++k) {
    if (places.count(static_cast<int>(k))) continue;
    (hidden(table.axes[k].name) ? lead : static_cast<int>(k) < first ? before : after).push_back(table.axes[k]);
  }
  for (const Axis& a : index_axes) {
    if (!hidden(a.name)) inserted.push_back(a);
    else if (std::none_of(lead.begin(), lead.end(), [&](const Axis& l) { return l.name == a.name; })) lead.push_back(a);
  }
  std::vector<Axis> axes = lead;
  for (const auto* part : {&before, &inserted, &after}) axes.insert(axes.end(), part->begin(), part->end());
  // Result coordinates: the index's axes and the table's rest may share names; the table's rest moves to later occurrences.
  std::vector<Axis> made = axes;
  std::map<std::string, int> seen;
  for (Axis& a : made) a.coord = build.coordinate(a.name, seen[a.name]++, a.size);
  graph::Gather g;
  const graph::Operand whole = build.operand(table);
  g.table.tensor = whole.tensor;
  g.table.offset = whole.offset;
  std::map<CoordId, std::int64_t> stride;
  for (const auto& st : whole.strides) stride[st.coordinate] = st.stride;
  const std::size_t leads = lead.size(), befores = before.size(), inserts = inserted.size();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const bool from_table = k < leads || (k >= leads && k < leads + befores) || k >= leads + befores + inserts;
    if (from_table && stride.count(axes[k].coord) && has_axis(table, axes[k].name)) g.table.strides.push_back({made[k].coord, stride[axes[k].coord]});
    g.space.push_back(made[k].coord);
  }
  std::sort(g.table.strides.begin(), g.table.strides.end(), [](const auto& a, const auto& b) { return a.coordinate < b.coordinate; });
  for (const auto& [k, v] : places) {
    const Axis& a = table.axes[static_cast<std::size_t>(k)];
    ExprId index = v.expr;
    std::map<CoordId, CoordId> moves;
    for (const Axis& x : v.axes)
      for (std::size_t p = 0; p < axes.size(); ++p)
        if (axes[p].coord == x.coord && ((p >= leads + befores && p < leads + befores + inserts) || p < leads)) moves[x.coord] = made[p].coord;
    index = build.graph.exprs.rename(index, [&](CoordId c) { return moves.count(c) ? moves[c] : c; });
    g.indices.push_back({index, a.size, stride.count(a.coord) ? stride[a.coord] : 0});
  }
  const TensorId out = build.tensor(made, build.graph.tensors[g.table.tensor].type);
  g.out = out;
  build.emit({{}, "", std::move(g)});
  return build.read(out, made);
}

Axis Lowering::fresh_axis(const std::string& label, std::int64_t n) { return {label + "#" + std::to_string(++fresh_), n, graph::none}; }

Value Lowering::linear(const Value& a, const Value& b, int row, int inner_a, int inner_b, int column) {
  // Both operands under names of their own for the contracted axis, the rows and the columns; what is left aligns by name.
  const Value left = build.renamed(a, [&](int k, const std::string& n) { return k == inner_a ? "~inner" : k == row ? "~row" : n; });
  const Value right = build.renamed(b, [&](int k, const std::string& n) { return k == inner_b ? "~inner" : k == column ? "~column" : n; });
  std::vector<Axis> batch;
  for (const Axis& x : build.join(left.axes, right.axes))
    if (x.name[0] != '~') batch.push_back(x);
  std::stable_partition(batch.begin(), batch.end(), [](const Axis& x) { return hidden(x.name); });
  const auto find = [](const Value& v, const std::string& n) -> const Axis* {
    for (const Axis& x : v.axes)
      if (x.name == n) return &x;
    return nullptr;
  };
  graph::Linear node;
  const auto stored = [&](const Value& v) { return build.graph.exprs.at(v.expr).op == LOCUS_READ ? v : build.materialised(v); };
  const Value l = stored(left), r = stored(right);
  node.a = build.operand(l);
  node.b = build.operand(r);
  std::vector<Axis> axes = batch;
  for (const Axis& x : batch) node.batch.push_back(x.coord);
  node.inner = find(l, "~inner")->coord;
  if (row >= 0) {
    node.row = find(l, "~row")->coord;
    axes.push_back(*find(l, "~row"));
  }
  if (column >= 0) {
    node.column = find(r, "~column")->coord;
    axes.push_back(*find(r, "~column"));
  }
  const auto number_type = [&](const Value& v) { return build.type(v) == Type::integer ? build.type(build.real(v)) : build.type(v); };
  const Type t = number_type(a) == Type::real || number_type(b) == Type::real ? Type::real : Type::exact;
  node.out = build.tensor(axes, t);
  const TensorId out = node.out;
  build.emit({{}, "", std::move(node)});
  return build.renamed(build.read(out, axes), [&](int, const std::string& n) {
    return n == "~row" ? a.axes[static_cast<std::size_t>(row)].name : n == "~column" ? b.axes[static_cast<std::size_t>(column)].name : n;
  });
}

Value Lowering::matmul(const Value& left_side, const Value& right_side, Span span) {
  build.span = span;
  const Value a = build.real(left_side), b = build.real(right_side);
  const auto va = visible(a), vb = visible(b);
  if (va.empty() || vb.empty()) return build.apply(LOCUS_mul, a, b);  // an absent axis has one entry: its contraction is a product
  const int inner_a = va.back(), inner_b = vb.size() > 1 ? vb[vb.size() - 2] : vb.back();
  const Axis &x = a.axes[static_cast<std::size_t>(inner_a)], &y = b.axes[static_cast<std::size_t>(inner_b)];
  if (x.name != y.name) fail(Code::E202, span, "`@` contracts '" + x.name + "' with '" + y.name + "': " + shown(a) + " @ " + shown(b), "name an axis anew with `let` where the two are one thing");
  if (x.size != y.size && x.size != unknown && y.size != unknown)
    fail(Code::E201, span, "two sizes for axis '" + x.name + "': " + std::to_string(x.size) + " and " + std::to_string(y.size));
  const int row = va.size() > 1 ? va[va.size() - 2] : -1, column = vb.size() > 1 ? vb.back() : -1;
  const bool in_pair = has_axis(a, "@i") || has_axis(a, "@j") || has_axis(b, "@i") || has_axis(b, "@j");
  if (!in_pair) {
    if (checking_) return linear(a, b, row, inner_a, inner_b, column);
    if (const auto fused = fused_product(a, b)) return *fused;
    // Lists: only pairs that exist are multiplied.
    const auto plain_axes = [](const Value& v) { return visible(v).size() == v.axes.size() && v.axes.size() <= 2; };
    const auto left_list = plain_axes(a) && plain_axes(b) ? pairs.of(a) : std::nullopt;
    const auto right_list = plain_axes(a) && plain_axes(b) ? pairs.of(b) : std::nullopt;
    if (left_list && !right_list) return pairs.times(*left_list, b, a.axes[0]);
    if (right_list && !left_list) {
      const Value turned = pairs.times(pairs.turned(*right_list), a.axes.size() == 2 ? build.permuted(a, {1, 0}) : a, b.axes[1]);
      return a.axes.size() == 2 ? build.permuted(turned, {1, 0}) : turned;
    }
    const Value whole = linear(a, b, row, inner_a, inner_b, column);
    if (left_list && right_list) pairs.add_product(build.graph.exprs.at(whole.expr).index, *left_list, *right_list);
    return whole;
  }
  const Value left = build.renamed(a, [&](int k, const std::string& n) { return k == inner_a ? "~inner" : k == row ? "~row" : n; });
  const Value right = build.renamed(b, [&](int k, const std::string& n) { return k == inner_b ? "~inner" : k == column ? "~column" : n; });
  Value p = build.apply(LOCUS_mul, left, right);
  for (std::size_t k = 0; k < p.axes.size(); ++k)
    if (p.axes[k].name == "~inner") {
      p = build.over(LOCUS_SUM_OVER, p, {static_cast<int>(k)});
      break;
    }
  std::vector<int> order;
  for (std::size_t k = 0; k < p.axes.size(); ++k)
    if (p.axes[k].name[0] != '~') order.push_back(static_cast<int>(k));
  for (const char* last : {"~row", "~column"})
    for (std::size_t k = 0; k < p.axes.size(); ++k)
      if (p.axes[k].name == last) order.push_back(static_cast<int>(k));
  p = build.permuted(p, order);
  return build.renamed(p, [&](int, const std::string& n) {
    return n == "~row" ? a.axes[static_cast<std::size_t>(row)].name : n == "~column" ? b.axes[static_cast<std::size_t>(column)].name : n;
  });
}

}  // namespace locus::sema
