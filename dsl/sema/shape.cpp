// Lowering of built-in functions that make arrays, change shapes, or work on whole arrays; see lower.hpp.
#include <algorithm>
#include <cmath>
#include "core/graph/run_sized.hpp"
#include "dsl/sema/lower.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

using graph::none;

std::pair<std::string, std::int64_t> Lowering::named_size(const ast::Expr& e, Scope& s) { return {axis_name(e, s).value_or("1"), size(e, s)}; }

Any Lowering::shape_function(const std::string& name, const ast::Expr& e, Scope& s) {
  const auto count = e.points.size();
  const auto argument = [&](std::size_t k) {
    Value v = number(*e.points[k].value, s);
    build.span = e.span;
    return v;
  };
  const auto need = [&](std::size_t low, std::size_t high, const char* form) {
    if (count < low || count > high) fail(Code::E218, e.span, "`" + name + "` is called as " + form + ", not with " + std::to_string(count) + (count == 1 ? " argument" : " arguments"), "");
  };
  const auto axis_argument = [&]() -> const ast::Expr* {
    for (const auto* list : {&e.points, &e.settings})
      for (const auto& a : *list)
        if (a.name.text == "axis") return a.value.get();
    return nullptr;
  };
  const auto sized = [&](std::size_t from) {
    std::vector<ast::ExprPtr> list;
    for (std::size_t k = from; k < count; ++k) list.push_back(e.points[k].value);
    return shape(list, s);
  };
  const auto filled = [&](const Value& v, std::vector<Axis> axes) { return Any::of(build.canonical(v.expr, std::move(axes))); };

  if (name == "index") {
    need(1, 1, "index(n)");
    const auto [axis, n] = named_size(*e.points[0].value, s);
    return Any::of(build.index(axis, n));
  }
  if (name == "zeros" || name == "ones") return filled(build.number(name == "ones" ? 1 : 0, Type::exact), sized(0));
  if (name == "linspace") {
    need(3, 3, "linspace(a, b, n)");
    const auto [axis, n] = named_size(*e.points[2].value, s);
    const Value a = build.real(argument(0)), b = build.real(argument(1));
    const Value t = build.index(axis, n);
    const Value step = build.apply(LOCUS_div, build.apply(LOCUS_sub, b, a), build.number(static_cast<double>(std::max<std::int64_t>(n - 1, 1)), Type::exact));
    const Value line = build.apply(LOCUS_add, a, build.apply(LOCUS_mul, build.to(Type::exact, t), step));
    if (n <= 1 && n != unknown) return Any::of(line);
    return Any::of(build.select(build.apply(LOCUS_eq, t, build.integer(n - 1)), b, line));  // the last is exactly b
  }
  if (name == "eye") {
    need(1, 1, "eye(n)");
    const auto [axis, n] = named_size(*e.points[0].value, s);
    const CoordId r = build.coordinate(axis, 0, n), c = build.coordinate(axis, 1, n);
    const ExprId same = build.graph.exprs.apply(LOCUS_eq, build.graph.exprs.coordinate(r), build.graph.exprs.coordinate(c));
    return Any::of({build.graph.exprs.to(Type::exact, same), {{axis, n, r}, {axis, n, c}}});
  }
  if (name == "grid") {
    need(2, 2, "grid(r, c)");
    const auto [ra, r] = named_size(*e.points[0].value, s);
    const auto [ca, c] = named_size(*e.points[1].value, s);
    const Value p = build.index(sizes.multiply(ra, ca), r == unknown || c == unknown ? unknown : r * c), k = build.index(sizes.number(2), 2);
    const Value width = build.integer(std::max<std::int64_t>(c, 1));
    const Value v = build.select(build.apply(LOCUS_eq, k, build.integer(0)), build.apply(LOCUS_idiv, p, width), build.apply(LOCUS_mod, p, width));
    return Any::of(build.canonical(v.expr, {p.axes[0], k.axes[0]}));
  }
  if (name == "onehot") {
    need(2, 2, "onehot(y, c)");
    const Value y = argument(0);
    const auto [axis, c] = named_size(*e.points[1].value, s);
    need_integers(*e.points[0].value, y, "onehot takes integer labels");
    std::vector<Axis> axes = y.axes;
    const auto times = std::count_if(axes.begin(), axes.end(), [&wanted = axis](const Axis& a) { return a.name == wanted; });
    const CoordId own = build.coordinate(axis, static_cast<int>(times), c);
    axes.push_back({axis, c, own});
    const ExprId hit = build.graph.exprs.apply(LOCUS_eq, y.expr, build.graph.exprs.coordinate(own));
    return Any::of(build.canonical(build.graph.exprs.to(Type::exact, hit), axes));
  }
  if (name == "reshape") {
    if (count < 2) fail(Code::E218, e.span, "`reshape` is called as reshape(x, n, …)");
    const Value v = argument(0);
    const auto axes = sized(1);
    std::int64_t have = 1, want = 1;
    bool open = false;
    for (int k : visible(v)) open |= v.axes[static_cast<std::size_t>(k)].size == unknown, have *= v.axes[static_cast<std::size_t>(k)].size;
    for (const Axis& a : axes) open |= a.size == unknown, want *= a.size;
    if (!open && have != want) fail(Code::E221, e.span, "reshape of " + shown(v) + ", " + std::to_string(have) + " entries, to a shape of " + std::to_string(want));
    build.span = e.span;
    return Any::of(build.reshaped(v, axes));
  }
  if (name == "flatten") {
    need(1, 1, "flatten(x)");
    const Value v = argument(0);
    std::string axis = "1";
    std::int64_t n = 1;
    for (int k : visible(v)) {
      axis = sizes.multiply(axis, v.axes[static_cast<std::size_t>(k)].name);
      n = n == unknown || v.axes[static_cast<std::size_t>(k)].size == unknown ? unknown : n * v.axes[static_cast<std::size_t>(k)].size;
    }
    return Any::of(build.reshaped(v, {{axis, n, none}}));
  }
  if (name == "transpose") {
    need(1, 1, "transpose(x)");
    const Value v = argument(0);
    if (visible(v).size() < 2) fail(Code::E221, e.span, "transpose needs two axes, and " + shown(v) + " has " + std::to_string(visible(v).size()), "a vector needs no transpose: `@` takes it on either side");
    std::vector<int> order(v.axes.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return Any::of(build.permuted(v, order));
  }
  if (name == "concat") {
    if (count < 1) fail(Code::E218, e.span, "`concat` is called as concat(a, b, …)");
    std::vector<Value> parts;
    std::vector<Axis> fronts;
    std::string axis;
    std::int64_t n = 0;
    bool real = false, whole = true;
    for (std::size_t k = 0; k < count; ++k) {
      Value v = argument(k);
      if (build.type(v) == Type::boolean) fail(Code::E205, e.points[k].value->span, "a condition is not a number");
      real |= build.type(v) == Type::real;
      whole &= build.type(v) == Type::integer;
      const int at = last_axis(v);
      const std::string own = at < 0 ? "1" : v.axes[static_cast<std::size_t>(at)].name;
      const std::int64_t m = at < 0 ? 1 : v.axes[static_cast<std::size_t>(at)].size;
      axis = axis.empty() ? own : sizes.add(axis, own);
      n = n == unknown || m == unknown ? unknown : n + m;
      if (at < 0) {
        std::vector<Axis> axes = v.axes;
        axes.push_back({"~part", 1, none});
        v = build.canonical(v.expr, axes);
      } else {
        v = build.renamed(v, [&](int p, const std::string& a) { return p == at ? "~part" : a; });
      }
      std::vector<Axis> front(v.axes.begin(), v.axes.end() - 1);
      fronts = build.join(fronts, front);
      parts.push_back(std::move(v));
    }
    const Type t = whole ? Type::integer : real ? Type::real : Type::exact;
    for (Value& v : parts) {
      std::vector<Axis> axes = fronts;
      axes.push_back(v.axes.back());
      v = build.materialised(build.to(t, {v.expr, axes}));
    }
    std::vector<Axis> axes = fronts;
    axes.push_back({axis, n, none});
    return Any::of(build.array_call(LOCUS_ARRAY_CONCAT, parts, axes, t));
  }
  if (name == "replace") {
    need(3, 3, "replace(x, at, value)");
    const Value u = argument(0);
    Value at = argument(1);
    const Value value = argument(2);
    const auto positions = visible(u);
    if (positions.empty()) fail(Code::E218, e.span, "`replace` takes an array");
    if (!visible(at).empty()) fail(Code::E218, e.points[1].value->span, "`replace` changes one place at a time");
    need_integers(*e.points[1].value, at, "a place must be an integer");
    const Axis axis = u.axes[static_cast<std::size_t>(positions[0])];
    const auto c = constant_of(at);
    if (c && axis.size != unknown && (*c < 0 || *c >= static_cast<double>(axis.size)))
      fail(Code::E208, e.points[1].value->span, "place " + std::to_string(static_cast<std::int64_t>(*c)) + " lies outside axis '" + axis.name + "' of " + std::to_string(axis.size),
           axis.size == 0 ? "the axis has no entries: take a longer array" : "places count from 0: the last is `" + std::to_string(axis.size - 1) + "`");
    if (!c) at = gather(build.index("~places", axis.size), {{0, at}});  // looked up, so that a place outside is a fault
    const Value here = build.apply(LOCUS_eq, build.index(axis.name, axis.size), at);
    const Type t = build.type(u);
    Value chosen = build.select(here, t == Type::integer && build.type(value) == Type::integer ? value : build.real(value), t == Type::integer && build.type(value) == Type::integer ? u : build.real(u));
    std::vector<Axis> axes;
    for (const Axis& a : chosen.axes)
      if (hidden(a.name)) axes.push_back(a);
    for (int k : positions) axes.push_back(u.axes[static_cast<std::size_t>(k)]);
    return Any::of(build.canonical(chosen.expr, axes));
  }
  if (name == "split") {
    need(2, 2, "split(x, heads)");
    const Value v = argument(0);
    const auto [axis, h] = named_size(*e.points[1].value, s);
    if (visible(v).size() < 2) fail(Code::E221, e.span, "split needs [n, d], not " + shown(v));
    const Axis d = v.axes.back(), rows = v.axes[v.axes.size() - 2];
    if (d.size != unknown && h != unknown && (h == 0 || d.size % h != 0)) fail(Code::E221, e.span, "split: " + std::to_string(h) + " heads do not divide axis '" + d.name + "' of " + std::to_string(d.size));
    std::vector<Axis> axes;
    for (std::size_t k = 0; k + 1 < v.axes.size(); ++k)
      if (!hidden(v.axes[k].name)) axes.push_back(v.axes[k]);
    axes.push_back({axis, h, none});
    axes.push_back({sizes.divide(d.name, axis), d.size == unknown || h <= 0 ? unknown : d.size / h, none});
    const Value wide = build.reshaped(v, axes);
    std::vector<int> order(wide.axes.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
    std::swap(order[order.size() - 2], order[order.size() - 3]);
    (void)rows;
    return Any::of(build.permuted(wide, order));
  }
  if (name == "merge") {
    need(1, 1, "merge(x)");
    const Value v = argument(0);
    if (visible(v).size() < 3) fail(Code::E221, e.span, "merge needs [heads, n, c], not " + shown(v));
    std::vector<int> order(v.axes.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
    std::swap(order[order.size() - 2], order[order.size() - 3]);
    const Value turned = build.permuted(v, order);
    const std::size_t n = v.axes.size();
    const Axis heads = v.axes[n - 3], c = v.axes[n - 1], rows = v.axes[n - 2];
    std::vector<Axis> axes;
    for (std::size_t k = 0; k + 3 < n; ++k)
      if (!hidden(v.axes[k].name)) axes.push_back(v.axes[k]);
    axes.push_back(rows);
    axes.push_back({sizes.multiply(heads.name, c.name), heads.size == unknown || c.size == unknown ? unknown : heads.size * c.size, none});
    return Any::of(build.reshaped(turned, axes));
  }
  if (name == "trace") {
    need(1, 1, "trace(x)");
    const Value v = build.real(argument(0));
    if (visible(v).size() < 2 || v.axes.back().name != v.axes[v.axes.size() - 2].name) fail(Code::E221, e.span, "trace needs [n, n], not " + shown(v));
    const Axis row = v.axes[v.axes.size() - 2], column = v.axes.back();
    Value diagonal{build.graph.exprs.rename(v.expr, [&](CoordId k) { return k == column.coord ? row.coord : k; }), v.axes};
    diagonal.axes.pop_back();
    diagonal = build.canonical(diagonal.expr, diagonal.axes);
    const int at = static_cast<int>(diagonal.axes.size()) - 1;
    return Any::of(s.pairwise() ? build.over(LOCUS_SUM_OVER, diagonal, {at}) : plain_over("sum", diagonal, {at}, nullptr));
  }
  static const std::map<std::string, locus_array_function> over_axis = {{"sort", LOCUS_ARRAY_SORT}, {"cumsum", LOCUS_ARRAY_CUMSUM}, {"cumprod", LOCUS_ARRAY_CUMPROD}, {"argmax", LOCUS_ARRAY_ARGMAX}, {"argmin", LOCUS_ARRAY_ARGMIN}};
  if (const auto f = over_axis.find(name); f != over_axis.end()) {
    if (count < 1) fail(Code::E218, e.span, "`" + name + "` is called as " + name + "(x, axis = a)");
    const Value v = argument(0);
    if (build.type(v) == Type::boolean) fail(Code::E205, e.span, "a condition is not a number");
    const ast::Expr* axis = axis_argument();
    const auto found = axis ? reduced(v, axis, s) : std::vector<int>{last_axis(v)};
    build.span = e.span;
    if (found.empty()) {  // an absent axis has one entry
      if (name == "argmax" || name == "argmin") return Any::of(Value{build.integer(0).expr, v.axes});
      return Any::of(v);
    }
    if (found[0] < 0) fail(Code::E218, e.span, "a number has no axis to go over");
    std::vector<int> order, back(v.axes.size());
    for (std::size_t k = 0; k < v.axes.size(); ++k)
      if (static_cast<int>(k) != found[0]) order.push_back(static_cast<int>(k));
    order.push_back(found[0]);
    for (std::size_t k = 0; k < order.size(); ++k) back[static_cast<std::size_t>(order[k])] = static_cast<int>(k);
    const Value last = build.permuted(v, order);
    std::vector<Axis> axes = last.axes;
    const bool drops = name == "argmax" || name == "argmin";
    if (drops) axes.pop_back();
    const Value r = build.array_call(f->second, {last}, axes, drops ? Type::integer : build.type(v));
    return Any::of(drops ? r : build.permuted(r, back));
  }
  return special_function(name, e, s);
}

}  // namespace locus::sema
