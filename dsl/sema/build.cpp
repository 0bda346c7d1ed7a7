// Values with named axes and the graph that is built from them; see build.hpp.
#include "dsl/sema/build.hpp"
#include <algorithm>

namespace locus::sema {

using graph::Node;
using graph::none;

void fail(Code code, Span span, std::string message, std::string help, std::vector<Note> notes) {
  throw Fault{{code, span, std::move(message), "", std::move(notes), std::move(help), ""}};
}

bool hidden(const std::string& axis) { return !axis.empty() && (axis[0] == '@' || axis[0] == '|' || axis[0] == '^'); }

std::string shown(const Value& v) {
  std::string text = "[";
  for (const Axis& a : v.axes)
    if (!hidden(a.name)) text += (text.size() > 1 ? ", " : "") + a.name;
  return text + "]";
}

std::vector<int> visible(const Value& v) {
  std::vector<int> found;
  for (std::size_t k = 0; k < v.axes.size(); ++k)
    if (!hidden(v.axes[k].name)) found.push_back(static_cast<int>(k));
  return found;
}

int last_axis(const Value& v) {
  const auto found = visible(v);
  return found.empty() ? -1 : found.back();
}

bool has_axis(const Value& v, const std::string& name) {
  return std::any_of(v.axes.begin(), v.axes.end(), [&](const Axis& a) { return a.name == name; });
}

std::int64_t size_of(const Value& v, const std::string& name) {
  for (const Axis& a : v.axes)
    if (a.name == name) return a.size;
  return unknown;
}

Value Build::real(const Value& v) {
  const Type t = type(v);
  if (t == Type::boolean) return to(Type::exact, v);
  if (t != Type::integer) return v;
  return to(graph.exprs.reads(v.expr).empty() ? Type::exact : Type::real, v);
}

CoordId Build::coordinate(const std::string& axis, int occurrence, std::int64_t size) {
  const auto [at, fresh] = coordinates_.try_emplace({axis, occurrence, size}, none);
  if (fresh) at->second = graph.add_coordinate(axis, size);
  return at->second;
}

Value Build::canonical(ExprId expr, std::vector<Axis> axes) {
  std::stable_partition(axes.begin(), axes.end(), [](const Axis& a) { return hidden(a.name); });
  std::map<CoordId, CoordId> moves;
  std::map<std::string, int> seen;
  for (Axis& a : axes) {
    const CoordId want = coordinate(a.name, seen[a.name]++, a.size);
    if (a.coord != want && a.coord != none) moves[a.coord] = want;
    a.coord = want;
  }
  if (!moves.empty())
    expr = graph.exprs.rename(expr, [&](CoordId c) {
      const auto found = moves.find(c);
      return found == moves.end() ? c : found->second;
    });
  return {expr, std::move(axes)};
}

Value Build::renamed(const Value& v, const std::function<std::string(int, const std::string&)>& f) {
  std::vector<Axis> axes = v.axes;
  bool same = true;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    std::string next = f(static_cast<int>(k), axes[k].name);
    same &= next == axes[k].name;
    axes[k].name = std::move(next);
  }
  return same ? v : canonical(v.expr, std::move(axes));
}

Value Build::permuted(const Value& v, const std::vector<int>& order) {
  std::vector<Axis> axes;
  for (int k : order) axes.push_back(v.axes[static_cast<std::size_t>(k)]);
  return canonical(v.expr, std::move(axes));
}

namespace {
int count(const std::vector<Axis>& axes, const std::string& name) {
  return static_cast<int>(std::count_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.name == name; }));
}
std::string names(const std::vector<Axis>& axes) { return shown({none, axes}); }
}  // namespace

std::vector<Axis> Build::join(const std::vector<Axis>& left, const std::vector<Axis>& right) {
  for (const Axis& a : left)
    for (const Axis& b : right) {
      if (a.name != b.name) continue;
      const int l = count(left, a.name), r = count(right, a.name);
      const std::string label = hidden(a.name) ? a.name.substr(1) : a.name;
      if (l != r)
        fail(Code::E202, span, "axis '" + label + "' is found " + std::to_string(l) + " times in " + names(left) + " and " + std::to_string(r) + " times in " + names(right),
             "index one away, or name one anew with `let name: [axis, other] = …`");
      if (a.size != b.size && a.size != unknown && b.size != unknown)
        fail(Code::E201, span, "two sizes for axis '" + label + "': " + std::to_string(a.size) + " and " + std::to_string(b.size));
    }
  const auto covers = [](const std::vector<Axis>& big, const std::vector<Axis>& small) {
    return std::all_of(small.begin(), small.end(), [&](const Axis& a) { return count(big, a.name) > 0; });
  };
  std::vector<Axis> merged = covers(left, right) ? left : covers(right, left) ? right : left;
  if (!covers(left, right) && !covers(right, left))
    for (const Axis& a : right)
      if (count(left, a.name) == 0) merged.push_back(a);
  std::stable_partition(merged.begin(), merged.end(), [](const Axis& a) { return hidden(a.name); });
  // Sizes that one side knows are the axis's; coordinates follow.
  std::map<std::string, int> seen;
  for (Axis& a : merged) {
    for (const auto* side : {&left, &right})
      for (const Axis& b : *side)
        if (a.size == unknown && b.name == a.name) a.size = b.size;
    a.coord = coordinate(a.name, seen[a.name]++, a.size);
  }
  return merged;
}

Value Build::index(const std::string& axis, std::int64_t size) {
  const CoordId c = coordinate(axis, 0, size);
  return {graph.exprs.coordinate(c), {{axis, size, c}}};
}

Value Build::apply(graph::Op op, const Value& a) { return {graph.exprs.apply(op, a.expr), a.axes}; }

Value Build::apply(graph::Op op, const Value& a, const Value& b) {
  std::vector<Axis> axes = join(a.axes, b.axes);
  return {graph.exprs.apply(op, a.expr, b.expr), std::move(axes)};
}

Value Build::select(const Value& test, const Value& yes, const Value& no) {
  std::vector<Axis> axes = join(join(yes.axes, no.axes), test.axes);
  return {graph.exprs.apply(LOCUS_select, test.expr, yes.expr, no.expr), std::move(axes)};
}

int Build::depth_of(ExprId e) {  // how deep *_over and contractions are nested in e; bound coordinates are told apart by it
  const graph::Expr& x = graph.exprs.at(e);
  int depth = 0;
  for (int k = 0; k < x.arity; ++k) depth = std::max(depth, depth_of(x.args[k]));
  return depth + (x.op >= LOCUS_SUM_OVER && x.op <= LOCUS_MAXDIST ? 1 : 0);
}

Value Build::over(graph::Op op, const Value& v, std::vector<int> positions) {
  std::sort(positions.rbegin(), positions.rend());
  Value r = v;
  for (int p : positions) {
    const Axis a = r.axes[static_cast<std::size_t>(p)];
    const CoordId bound = coordinate(a.name + "'", depth_of(r.expr), a.size);
    const ExprId body = graph.exprs.rename(r.expr, [&](CoordId c) { return c == a.coord ? bound : c; });
    r.axes.erase(r.axes.begin() + p);
    r.expr = graph.exprs.over(op, bound, body);
    r = canonical(r.expr, r.axes);
  }
  return r;
}

Value Build::contract(graph::Op op, const Value& a, const Value& b) {
  const int ka = last_axis(a), kb = last_axis(b);
  std::vector<Axis> axes = join(a.axes, b.axes);
  if (ka < 0 && kb < 0) return {graph.exprs.contract(op, none, a.expr, b.expr), std::move(axes)};
  const Axis coordinate_axis = ka >= 0 ? a.axes[static_cast<std::size_t>(ka)] : b.axes[static_cast<std::size_t>(kb)];
  // The last axis of that name in the result is the one summed over (its coordinate is the last occurrence's).
  int at = -1;
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (axes[k].name == coordinate_axis.name) at = static_cast<int>(k);
  const Axis summed = axes[static_cast<std::size_t>(at)];
  const CoordId bound = coordinate(summed.name + "'", std::max(depth_of(a.expr), depth_of(b.expr)), summed.size);
  const auto move = [&](CoordId c) { return c == summed.coord ? bound : c; };
  const ExprId ea = graph.exprs.rename(a.expr, move), eb = graph.exprs.rename(b.expr, move);
  axes.erase(axes.begin() + at);
  // A width that both points are divided by leaves the distance: the difference is then taken of the data as they came, not of rounded quotients.
  const graph::Expr x = graph.exprs.at(ea), y = graph.exprs.at(eb);
  if (op != LOCUS_DOT && x.op == LOCUS_div && y.op == LOCUS_div && x.args[1] == y.args[1] && !graph.exprs.depends(x.args[1], bound)) {
    const ExprId width = x.args[1], plain = graph.exprs.contract(op, bound, x.args[0], y.args[0]);
    const ExprId unit = op == LOCUS_SQDIST ? graph.exprs.apply(LOCUS_mul, width, width) : graph.exprs.apply(LOCUS_abs, width);
    return canonical(graph.exprs.apply(LOCUS_div, plain, unit), std::move(axes));
  }
  return canonical(graph.exprs.contract(op, bound, ea, eb), std::move(axes));
}

Value Build::take(const Value& v, int position, std::int64_t at) {
  std::vector<Axis> axes = v.axes;
  const ExprId e = graph.exprs.fix(v.expr, axes[static_cast<std::size_t>(position)].coord, at);
  axes.erase(axes.begin() + position);
  return canonical(e, std::move(axes));
}

Value Build::cut(const Value& v, int position, std::int64_t low, const std::string& axis, std::int64_t size) {
  std::vector<Axis> axes = v.axes;
  Axis& a = axes[static_cast<std::size_t>(position)];
  // A coordinate of its own while the value is between its two names.
  const CoordId own = coordinate(axis + "~", 0, size);
  ExprId e = low > 0 ? graph.exprs.shift(v.expr, a.coord, low) : v.expr;
  const CoordId old = a.coord;
  e = graph.exprs.rename(e, [&](CoordId c) { return c == old ? own : c; });
  a = {axis, size, own};
  return canonical(e, std::move(axes));
}

bool Build::simple(const Value& v) const {
  const graph::Op op = graph.exprs.at(v.expr).op;
  return op == LOCUS_CONSTANT || op == LOCUS_READ || op == LOCUS_COORDINATE;
}

void Build::emit(Node node) {
  node.span = span;
  node.name = name;
  blocks_.back()->push_back(std::move(node));
}

std::vector<CoordId> Build::coords(const std::vector<Axis>& axes) {
  std::vector<CoordId> found;
  for (const Axis& a : axes) found.push_back(a.coord);
  return found;
}

TensorId Build::tensor(const std::vector<Axis>& axes, Type t) {
  graph::Tensor made;
  made.name = name;
  made.type = t;
  for (const Axis& a : axes) {
    made.shape.push_back(a.size);
    made.axes.push_back(hidden(a.name) ? a.name.substr(a.name.find_first_not_of("@|^")) : a.name);
  }
  return graph.add_tensor(std::move(made));
}

Value Build::read(TensorId t, std::vector<Axis> axes) {
  std::map<std::string, int> seen;
  std::vector<CoordId> at;
  for (Axis& a : axes) at.push_back(a.coord = coordinate(a.name, seen[a.name]++, a.size));
  const ExprId e = graph.read(t, at);
  return canonical(e, std::move(axes));
}

TensorId Build::materialise(const Value& v) {
  const graph::Expr& e = graph.exprs.at(v.expr);
  if (e.op == LOCUS_READ && e.offset == 0) {
    const graph::Tensor& t = graph.tensors[e.index];
    bool whole = t.shape.size() == v.axes.size();
    for (std::size_t k = 0; whole && k < v.axes.size(); ++k) whole = t.shape[k] == v.axes[k].size;
    if (whole && graph.read(e.index, coords(v.axes)) == v.expr) return e.index;
  }
  const TensorId out = tensor(v.axes, type(v));
  graph::Map m;
  m.out = out;
  m.space = coords(v.axes);
  m.value = v.expr;
  emit({{}, "", std::move(m)});
  return out;
}

Value Build::materialised(const Value& v) { return read(materialise(v), v.axes); }

std::optional<Value> Build::turn() {
  std::optional<Value> all;
  for (const graph::Iterate& loop : loops_) {
    if (loop.turn == none) continue;
    const Value own = read(loop.turn, {});
    all = all ? apply(LOCUS_add, apply(LOCUS_mul, *all, integer(std::max<std::int64_t>(loop.limit, 1))), own) : own;
  }
  return all;
}

Value Build::derivative(const Value& scalar, const Value& target) {
  graph::Adjoint adjoint(graph, blocks_, [this](Node node) {
    node.name = name;
    blocks_.back()->push_back(std::move(node));
  });
  for (const graph::Iterate& loop : loops_) adjoint.inside(loop.carries);
  for (const Told& t : told_) adjoint.cut(graph.exprs.reads(t.source), t.array, t.by, t.span);
  const TensorId by = graph.exprs.at(target.expr).index;
  std::vector<int> all(scalar.axes.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
  const ExprId sum = over(LOCUS_SUM_OVER, scalar, all).expr;  // each number depends on its own part of the target alone
  return {graph.read(adjoint.of(sum, by), coords(target.axes)), target.axes};
}

graph::Operand Build::operand(const Value& v) {
  const graph::Expr e = graph.exprs.at(graph.exprs.at(v.expr).op == LOCUS_READ ? v.expr : materialised(v).expr);
  return {e.index, e.offset, e.strides};
}

Value Build::reshaped(const Value& v, const std::vector<Axis>& shape) {
  std::vector<Axis> lead;
  for (const Axis& a : v.axes)
    if (hidden(a.name)) lead.push_back(a);
  const TensorId t = materialise(v);
  // The flat order is that of the tensor; only the visible part gets other axes.
  std::int64_t inner = 1;
  for (const Axis& a : shape) inner *= a.size;
  std::vector<graph::Stride> strides;
  std::int64_t step = inner;
  std::vector<Axis> axes = lead;
  std::map<std::string, int> seen;
  for (std::size_t k = lead.size(); k-- > 0;) {
    if (lead[k].size != 1) strides.push_back({lead[k].coord, step});
    step *= lead[k].size;
  }
  for (const Axis& a : lead) ++seen[a.name];
  std::vector<Axis> tail = shape;
  for (Axis& a : tail) a.coord = coordinate(a.name, seen[a.name]++, a.size);
  step = 1;
  for (std::size_t k = tail.size(); k-- > 0;) {
    if (tail[k].size != 1) strides.push_back({tail[k].coord, step});
    step *= tail[k].size;
  }
  axes.insert(axes.end(), tail.begin(), tail.end());
  return {graph.exprs.read(t, graph.tensors[t].type, 0, std::move(strides)), std::move(axes)};
}

TensorId Build::reduce(std::vector<Axis> rows, Axis sample, graph::Reduce r, graph::Estimate e, Type t, const std::vector<Axis>& tail) {
  std::vector<Axis> out = rows;
  out.insert(out.end(), tail.begin(), tail.end());
  e.out = tensor(out, t);
  r.rows = coords(rows);
  r.sample = sample.coord;
  const TensorId made = e.out;
  r.estimates.push_back(std::move(e));
  emit({{}, "", std::move(r)});
  return made;
}

Value Build::array_call(locus_array_function f, std::vector<Value> inputs, const std::vector<Axis>& axes, Type t, std::vector<double> parameters) {
  graph::ArrayCall call;
  call.function = f;
  for (const Value& v : inputs) call.inputs.push_back(materialise(v));
  const TensorId out = tensor(axes, t);
  call.outputs.push_back(out);
  call.parameters = std::move(parameters);
  emit({{}, "", std::move(call)});
  return read(out, axes);
}

Value Build::constant_array(Array data, const std::vector<Axis>& axes, const std::string& label) {
  const Type t = data.dtype() == Dtype::boolean ? Type::boolean : data.dtype() == Dtype::int64 ? Type::integer : data.dtype() == Dtype::float32 ? Type::real : Type::exact;
  graph::Input made;
  made.out = tensor(axes, t);
  made.name = label;
  made.constant = true;
  made.data = std::move(data);
  const TensorId out = made.out;
  graph.nodes.insert(graph.nodes.begin(), Node{span, label, std::move(made)});
  return read(out, axes);
}

Value Build::input_array(const std::string& label, const std::vector<Axis>& axes, Type t) {
  graph::Input made;
  made.out = tensor(axes, t);
  made.name = label;
  graph.tensors[made.out].name = label;
  const TensorId out = made.out;
  graph.nodes.insert(graph.nodes.begin(), Node{span, label, std::move(made)});
  return read(out, axes);
}

}  // namespace locus::sema
