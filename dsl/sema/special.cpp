// Lowering of the remaining built-in functions: pair lists, images, rotations, chance, loops; see lower.hpp.
#include <algorithm>
#include <cmath>
#include "core/graph/run_sized.hpp"
#include "dsl/sema/lower.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

using graph::none;

Any Lowering::special_function(const std::string& name, const ast::Expr& e, Scope& s) {
  const auto count = e.points.size();
  const auto argument = [&](std::size_t k) {
    Value v = number(*e.points[k].value, s);
    build.span = e.span;
    return v;
  };
  const auto need = [&](std::size_t n, const char* form) {
    if (count != n) fail(Code::E218, e.span, "`" + name + "` is called as " + form + ", not with " + std::to_string(count) + (count == 1 ? " argument" : " arguments"));
  };
  const auto setting = [&](const char* form) -> const ast::Expr& {
    if (e.settings.size() != 1) fail(Code::E218, e.span, "`" + name + "` is called as " + form);
    return *e.settings[0].value;
  };
  const auto record = [](std::vector<std::pair<std::string, Value>> fields) {
    Any r;
    r.kind = Any::Kind::record;
    r.fields = std::move(fields);
    return r;
  };

  if (name == "scatter") {
    need(3, "scatter(w, near, m)");
    const Value w = build.real(argument(0)), near = argument(1);
    const auto [axis, m] = named_size(*e.points[2].value, s);
    need_integers(*e.points[1].value, near, "scatter takes integer places");
    if (near.axes.empty()) fail(Code::E221, e.points[1].value->span, "scatter takes an array of places, not one number", "put it in brackets: `[" + print(*e.points[1].value) + "]`");
    const Axis k = near.axes.back();
    std::vector<Axis> axes;
    for (const Axis& a : build.join(w.axes, near.axes))
      if (a.name != k.name) axes.push_back(a);
    std::vector<Axis> full = axes;
    full.push_back(k);
    const Value data_part = build.materialised({w.expr, full}), places = build.materialised({near.expr, full});
    axes.push_back({axis, m, none});
    if (checking_ || full.size() != 2 || hidden(full[0].name)) return Any::of(build.array_call(LOCUS_ARRAY_SCATTER, {data_part, places}, axes, build.type(w)));
    return Any::of(pairs.matrix(pairs.make({places, data_part}, axes[0].size, m), axes[0], axes[1]));
  }
  if (name == "matrix") {
    if (count != 4 && count != 5) fail(Code::E218, e.span, "`matrix` is called as matrix(rows, cols, vals, n)");
    const Value rows = argument(0), cols = argument(1), vals = build.real(argument(2));
    const auto [ra, n] = named_size(*e.points[3].value, s);
    const auto [ca, m] = count == 5 ? named_size(*e.points[4].value, s) : std::pair(ra, n);
    need_integers(*e.points[0].value, rows, "matrix takes integer rows and columns");
    need_integers(*e.points[1].value, cols, "matrix takes integer rows and columns");
    for (const Value* v : {&cols, &vals})
      if (v->axes.size() != 1 || rows.axes.size() != 1 || (v->axes[0].size != rows.axes[0].size && v->axes[0].size != unknown && rows.axes[0].size != unknown))
        fail(Code::E221, e.span, "matrix takes three lists of one length: " + shown(rows) + ", " + shown(cols) + ", " + shown(vals));
    const Axis row{ra, n, none}, column{ca, m, none};
    if (checking_) return Any::of(build.opaque({row, column}, build.type(vals)));
    return Any::of(pairs.matrix(pairs.make({rows, cols, vals}, n, m), row, column));
  }
  if (name == "triplets") {
    need(1, "triplets(a)");
    const Value a = build.real(argument(0));
    if (visible(a).size() != 2) fail(Code::E221, e.span, "triplets takes a matrix, not " + shown(a));
    if (a.axes.size() != 2) fail(Code::E222, e.span, "triplets of a mapped matrix would have as many lengths as matrices");
    const auto listed = pairs.of(a);
    const auto array = listed ? std::nullopt : known(a, e.span);
    const Axis axis = fresh_axis("pairs", unknown);
    if (!array && !listed) return record({{"rows", build.opaque({axis}, Type::integer)}, {"cols", build.opaque({axis}, Type::integer)}, {"vals", build.opaque({axis}, build.type(a))}});
    const auto told = [&](TensorId id) { return known(build.read(id, {{"~entry", build.graph.tensors[id].shape[0], none}}), e.span).value(); };
    const Triplets t = listed ? triplets(told(listed->values), told(listed->starts), told(listed->columns)) : triplets(*array);
    const Axis known_axis{axis.name, t.rows.count(), none};
    const std::string label = axis.name;
    const Value rows = build.constant_array(t.rows, {known_axis}, label + ".rows"), cols = build.constant_array(t.cols, {known_axis}, label + ".cols");
    // Which pairs exist is told by a run before the run; what they hold is looked up again where `grad` may ask how it moves.
    const Value vals = differentiates_ ? gather(a, {{0, rows}, {1, cols}}) : build.constant_array(t.vals, {known_axis}, label + ".vals");
    return record({{"rows", rows}, {"cols", cols}, {"vals", vals}});
  }
  if (name == "group") {
    need(2, "group(z, size; radius = h)");
    const Value z = build.real(argument(0)), counts = build.real(argument(1));
    const auto radius = constant_of(build.real(number(setting("group(z, size; radius = h)"), s)));
    if (z.axes.size() > 2 || z.axes.empty() || counts.axes.size() != 1) fail(Code::E222, e.span, "group takes points [n, d] and their sizes [n], not " + shown(z) + " and " + shown(counts));
    if (!radius && !checking_) fail(Code::E218, e.settings[0].value->span, "the radius of `group` must be known before the run");
    const auto points = known(z, e.span), size_array = known(counts, e.span);
    Axis axis = fresh_axis("groups", unknown);
    const bool flat = z.axes.size() == 1;
    if (!points || !size_array)
      return record({{"centres", build.opaque(flat ? std::vector<Axis>{axis} : std::vector<Axis>{axis, z.axes[1]}, build.type(z))}, {"labels", build.opaque({z.axes[0]}, Type::integer)}});
    const Groups g = group_points(*points, *size_array, *radius);
    axis.size = g.centres.shape()[0];
    const Value centres = build.constant_array(g.centres, flat ? std::vector<Axis>{axis} : std::vector<Axis>{axis, z.axes[1]}, axis.name + ".centres");
    build.told(z, centres, name);
    return record({{"centres", centres},
                   {"labels", build.constant_array(g.labels, {z.axes[0]}, axis.name + ".labels")}});
  }
  static const std::map<std::string, locus_array_function> pads = {{"pad_edge", LOCUS_ARRAY_PAD_EDGE}, {"pad_mirror", LOCUS_ARRAY_PAD_MIRROR}, {"pad_zero", LOCUS_ARRAY_PAD_ZERO}};
  if (const auto f = pads.find(name); f != pads.end() || name == "patches") {
    need(2, name == "patches" ? "patches(image, s)" : "pad_edge(image, r)");
    const Value v = argument(0);
    const auto [axis, r] = named_size(*e.points[1].value, s);
    if (visible(v).size() < 2) fail(Code::E221, e.span, "`" + name + "` takes an image [r, c], not " + shown(v));
    std::vector<Axis> axes = v.axes;
    if (f != pads.end()) {
      for (std::size_t k = axes.size() - 2; k < axes.size(); ++k) {
        if (name == "pad_mirror" && axes[k].size != unknown && r >= axes[k].size)
          fail(Code::E221, e.span, "pad_mirror: a border of " + std::to_string(r) + " needs an axis longer than that, and '" + axes[k].name + "' has " + std::to_string(axes[k].size));
        axes[k] = {sizes.add(axes[k].name, sizes.multiply(sizes.number(2), axis)), axes[k].size == unknown || r == unknown ? unknown : axes[k].size + 2 * r, none};
      }
      return Any::of(build.array_call(f->second, {v}, axes, build.type(v), {static_cast<double>(r)}));
    }
    const Axis a = axes[axes.size() - 2], b = axes.back();
    if (r != unknown && r < 1) fail(Code::E221, e.span, "patches need a side of at least 1");
    if (a.size != unknown && b.size != unknown && r != unknown && (a.size < r || b.size < r))
      fail(Code::E221, e.span, "patches of side " + std::to_string(r) + " do not fit an image of " + std::to_string(a.size) + " x " + std::to_string(b.size));
    const auto less = [&, side = axis](const std::string& n) { return sizes.add(sizes.add(n, side, -1), sizes.number(1)); };
    axes.resize(axes.size() - 2);
    const bool open = a.size == unknown || b.size == unknown || r == unknown;
    axes.push_back({sizes.multiply(less(a.name), less(b.name)), open ? unknown : (a.size - r + 1) * (b.size - r + 1), none});
    axes.push_back({sizes.multiply(axis, axis), r == unknown ? unknown : r * r, none});
    return Any::of(build.array_call(LOCUS_ARRAY_PATCHES, {v}, axes, build.type(v), {static_cast<double>(r)}));
  }
  if (name == "rotate" || name == "rotate_pairs") {
    need(2, "rotate(x, angle)");
    const Value x = build.real(argument(0));
    Value angle = build.real(argument(1));
    const int at = last_axis(x), angle_at = last_axis(angle);
    if (at < 0 || angle_at < 0) fail(Code::E221, e.span, "rotate takes [.., c] and angles [.., c/2]");
    const Axis c = x.axes.back();
    const std::int64_t half = c.size == unknown ? unknown : c.size / 2, have = angle.axes.back().size;
    if (c.size != unknown && (c.size % 2 != 0 || (have != unknown && have != half))) fail(Code::E221, e.span, "rotate: " + std::to_string(have) + " angles for " + std::to_string(c.size) + " coordinates");
    std::vector<Axis> axes;
    for (std::size_t k = 0; k + 1 < x.axes.size(); ++k)
      if (!hidden(x.axes[k].name)) axes.push_back(x.axes[k]);
    const bool halves = name == "rotate";
    const Axis two{"~two", 2, none}, pair_axis{"~pair", half, none};
    if (halves) axes.push_back(two);
    axes.push_back(pair_axis);
    if (!halves) axes.push_back(two);
    const Value wide = build.reshaped(x, axes);
    angle = build.renamed(angle, [&](int k, const std::string& a) { return k == angle_at ? "~pair" : a; });
    int two_at = -1;
    for (std::size_t k = 0; k < wide.axes.size(); ++k)
      if (wide.axes[k].name == "~two") two_at = static_cast<int>(k);
    const Value a = build.take(wide, two_at, 0), b = build.take(wide, two_at, 1);
    const Value cosine = build.apply(LOCUS_cos, angle), sine = build.apply(LOCUS_sin, angle);
    const Value first = build.apply(LOCUS_sub, build.apply(LOCUS_mul, a, cosine), build.apply(LOCUS_mul, b, sine));
    const Value second = build.apply(LOCUS_add, build.apply(LOCUS_mul, a, sine), build.apply(LOCUS_mul, b, cosine));
    const Value place = build.index("~two", 2);
    const Value both = build.select(build.apply(LOCUS_eq, place, build.integer(0)), first, second);
    std::vector<Axis> order;
    for (const Axis& q : both.axes)
      if (q.name != "~two" && q.name != "~pair") order.push_back(q);
    if (halves) order.push_back(place.axes[0]);
    order.push_back({"~pair", half, build.coordinate("~pair", 0, half)});
    if (!halves) order.push_back(place.axes[0]);
    const Value ordered = build.canonical(both.expr, order);
    std::vector<Axis> back;
    for (const Axis& q : ordered.axes)
      if (!hidden(q.name) && q.name[0] != '~') back.push_back(q);
    back.push_back(c);
    return Any::of(build.reshaped(ordered, back));
  }
  if (name == "cross_entropy") {
    need(2, "cross_entropy(logits, label)");
    const Value logits = stored(build.real(argument(0)), s), label = argument(1);
    if (last_axis(logits) < 0 || build.type(label) != Type::integer) fail(Code::E218, e.span, "cross_entropy takes logits [.., c] and integer labels [..]");
    const Axis c = logits.axes.back();
    const Value total = along_last("logsumexp", logits, 0, s);
    const Value surprise = build.apply(LOCUS_sub, total, logits);
    const Value hit = build.select(build.apply(LOCUS_eq, label, build.index(c.name, c.size)), surprise, build.number(0, Type::exact));
    int at = -1;
    for (std::size_t k = 0; k < hit.axes.size(); ++k)
      if (hit.axes[k].name == c.name) at = static_cast<int>(k);
    return Any::of(build.over(LOCUS_SUM_OVER, hit, {at}));
  }
  if (name == "trustworthiness") {
    need(2, "trustworthiness(x, y; k)");
    const Value x = build.real(argument(0)), y = build.real(argument(1));
    const std::int64_t k = size(setting("trustworthiness(x, y; k)"), s);
    build.span = e.span;
    return Any::of(build.array_call(LOCUS_ARRAY_TRUSTWORTHINESS, {x, y}, {}, Type::exact, {static_cast<double>(k)}));
  }
  static const std::map<std::string, locus_array_function> chance = {{"uniform", LOCUS_ARRAY_UNIFORM}, {"normal", LOCUS_ARRAY_NORMAL}, {"random_index", LOCUS_ARRAY_RANDOM_INDEX}, {"permutation", LOCUS_ARRAY_PERMUTATION}, {"random_beta", LOCUS_ARRAY_RANDOM_BETA}};
  if (const auto f = chance.find(name); f != chance.end()) {
    const double seed = request ? static_cast<double>(request->seed & ((std::uint64_t{1} << 53) - 1)) : 0;
    std::vector<double> parameters{seed, static_cast<double>(++streams_)};
    std::vector<Value> inputs;
    const auto turn = s.names.find("turn");
    if (const auto of_loops = build.turn()) inputs.push_back(*of_loops);
    if (turn != s.names.end() && turn->second.kind == Any::Kind::value && constant_of(turn->second.value)) parameters[1] += 1e6 * (1 + build.value(turn->second.value));
    std::vector<Axis> axes;
    if (name == "random_beta") {
      need(2, "random_beta(a, b)");
      inputs.push_back(build.to(Type::exact, build.real(argument(0))));
      inputs.push_back(build.to(Type::exact, build.real(argument(1))));
    } else {
      std::vector<ast::ExprPtr> list;
      for (const auto& a : e.points)
        if (a.name.text.empty()) list.push_back(a.value);
      axes = shape(list, s);
    }
    const bool whole = name == "random_index" || name == "permutation";
    if (name == "random_index") {
      const std::int64_t below = e.settings.empty() ? (axes.empty() ? unknown : axes[0].size) : size(*e.settings[0].value, s);
      if (below == 0) fail(Code::E218, e.span, "random_index needs at least one index to draw from");
      parameters.push_back(static_cast<double>(below));
    }
    build.span = e.span;
    return Any::of(build.array_call(f->second, inputs, axes, whole ? Type::integer : Type::exact, parameters));
  }
  if (name == "change" || name == "path") {
    if (count != 1 || e.points[0].value->kind != ast::ExprKind::name) fail(Code::E218, e.span, "`" + name + "` takes the name of a carried value");
    const std::string& which = e.points[0].value->name.text;
    if (name == "change") return Any::of(change(which, s, e.span));
    const auto found = s.paths.find(which);
    if (found == s.paths.end()) {
      const auto known_name = s.names.find(which);
      if (known_name != s.names.end() && known_name->second.kind == Any::Kind::poison) throw Poisoned{};
      fail(Code::E222, e.span, "path(" + which + "): no loop here carries, learns or lets that name");
    }
    return Any::of(found->second);
  }
  if (name == "grad") {
    if (count != 2 || e.points[1].value->kind != ast::ExprKind::name) fail(Code::E218, e.span, "`grad` is called as grad(scalar, name)");
    if (s.pairwise()) fail(Code::E218, e.span, "`grad` works on whole arrays, not pair by pair", "give it a name with `let` first");
    const Value scalar = argument(0), target = argument(1);
    if (!visible(scalar).empty()) fail(Code::E218, e.points[0].value->span, "grad differentiates one number, not " + shown(scalar), "sum it first");
    return Any::of(gradient(scalar, target, e));
  }
  if (name == "solve") {
    need(2, "solve(a, b)");
    const Value a = build.real(argument(0)), b = build.real(argument(1));
    const auto va = visible(a), vb = visible(b);
    if (va.size() < 2 || vb.empty()) fail(Code::E221, e.span, "solve takes a matrix and a right side, not " + shown(a) + " and " + shown(b));
    const std::string& n = a.axes.back().name;
    const bool vector = b.axes.back().name == n && (vb.size() < 2 || b.axes[b.axes.size() - 2].name != n);
    if (!vector && (vb.size() < 2 || b.axes[b.axes.size() - 2].name != n)) fail(Code::E202, e.span, "solve: " + shown(a) + " and " + shown(b) + " do not share axis '" + n + "'");
    std::vector<Axis> left(a.axes.begin(), a.axes.end() - 2), right(b.axes.begin(), b.axes.end() - (vector ? 1 : 2));
    std::vector<Axis> axes = build.join(left, right);
    axes.push_back(a.axes.back());
    if (!vector) axes.push_back(b.axes.back());
    build.span = e.span;
    if (checking_) return Any::of(build.opaque(axes, Type::real));
    if (const auto found = conjugate_gradients(a, b)) return Any::of(*found);
    // Both with all axes in front, so that each matrix meets its right side.
    const auto whole = [&](const Value& v, std::size_t last, bool column) {
      std::vector<Axis> all = build.join(left, right);
      const std::size_t lead = v.axes.size() - last;
      std::vector<Axis> own(v.axes.begin() + static_cast<std::ptrdiff_t>(lead), v.axes.end());
      Value named = build.renamed(v, [&](int p, const std::string& axis) { return p == static_cast<int>(lead) ? "~row" : p > static_cast<int>(lead) ? "~column" : axis; });
      all.insert(all.end(), named.axes.begin() + static_cast<std::ptrdiff_t>(lead), named.axes.end());
      if (column) all.push_back({"~column", 1, none});
      return build.canonical(named.expr, all);
    };
    std::vector<Axis> out = axes;
    if (vector) out.push_back({"~column", 1, none});
    const Value x = build.array_call(LOCUS_ARRAY_SOLVE, {whole(a, 2, false), whole(b, vector ? 1 : 2, vector)}, out, Type::exact);  // its entries may be large and of both signs: no digit is dropped here
    return Any::of(vector ? build.take(x, static_cast<int>(out.size()) - 1, 0) : x);
  }
  if (name == "eigen_smallest" || name == "eigen_largest") {
    need(2, "eigen_smallest(a, k)");
    const Value a = argument(0);
    const auto [axis, k] = named_size(*e.points[1].value, s);
    if (visible(a).size() < 2 || a.axes.back().name != a.axes[a.axes.size() - 2].name) fail(Code::E221, e.span, "an eigenproblem needs [n, n], not " + shown(a));
    std::vector<Axis> values(a.axes.begin(), a.axes.end() - 2), vectors(a.axes.begin(), a.axes.end() - 1);
    values.push_back({axis, k, none});
    vectors.push_back({axis, k, none});
    build.span = e.span;
    if (k != unknown && a.axes.back().size != unknown && k > a.axes.back().size)
      fail(Code::E221, e.points[1].value->span, "a matrix of " + std::to_string(a.axes.back().size) + " rows has no " + std::to_string(k) + " eigenvectors", "ask for at most " + std::to_string(a.axes.back().size));
    if (checking_) return record({{"values", build.opaque(values, Type::real)}, {"vectors", build.opaque(vectors, Type::real)}});
    const Type t = std::max(Type::exact, build.type(build.real(a)));
    graph::ArrayCall find;
    std::vector<Axis> report(values.begin(), values.end() - 1);
    report.push_back({"~report", 3, none});
    find.function = LOCUS_ARRAY_PAIRS_EIGEN;
    if (const auto factors = pairs.product(a)) {
      for (const PairList& l : {factors->first, factors->second}) find.inputs.insert(find.inputs.end(), {l.starts, l.columns, l.values});
    } else if (const auto list = pairs.of(build.real(a))) {
      find.inputs = {list->starts, list->columns, list->values};
    } else {
      find.function = LOCUS_ARRAY_EIGEN;
      find.inputs = {build.materialise(build.real(a))};
    }
    find.outputs = {build.tensor(values, t), build.tensor(vectors, t), build.tensor(report, Type::exact)};
    find.parameters = {name == "eigen_largest" ? 1.0 : 0.0};
    const std::vector<TensorId> found = find.outputs;
    build.emit({{}, "", std::move(find)});
    if (values.size() == 1) watch(Watch::spectrum, found[2], name, e.span, k);
    return record({{"values", build.read(found[0], values)}, {"vectors", build.read(found[1], vectors)}});
  }
  fail(Code::E218, e.span, "`" + name + "` cannot be called here");
}

}  // namespace locus::sema
