// Is a graph sound? Every pass must leave one that is; what is found here would else be a wrong number or a crash in a backend.
// Knows nothing of passes and backends.
#include <algorithm>
#include <set>
#include "core/graph/graph.hpp"
#include "core/graph/soundness.hpp"

namespace locus::graph {
namespace {

using Ids = std::vector<std::uint32_t>;

constexpr std::int64_t largest = std::int64_t{1} << 48;  // of a dim or extent: products with strides stay within 128 bits

class Verifier {
 public:
  explicit Verifier(const Graph& g) : graph_(g), exprs_(g) {}

  std::vector<std::string> run() {
    check_tables();
    if (!faults_.empty()) return std::move(faults_);
    check_list(graph_.nodes);
    where_.clear();
    for (const Output& o : graph_.outputs)
      if (o.tensor >= graph_.tensors.size())
        say("output '" + o.name + "' is no tensor");
      else
        readable(o.tensor, "output '" + o.name + "'");
    return std::move(faults_);
  }

 private:
  void say(std::string text) { faults_.push_back(where_ + text); }
  const Tensor& tensor(TensorId t) const { return graph_.tensors[t]; }
  bool known(TensorId t, const char* what) {
    if (t < graph_.tensors.size()) return true;
    say(std::string(what) + " is no tensor");
    return false;
  }
  std::string label(TensorId t) const { return "t" + std::to_string(t) + (tensor(t).name.empty() ? "" : " '" + tensor(t).name + "'"); }

  void check_tables() {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& one = graph_.tensors[t];
      where_ = "tensor " + std::to_string(t) + ": ";
      if (one.shape.size() > LOCUS_MAX_RANK) say("too many dims");
      if (one.axes.size() != one.shape.size()) say("another number of axis names than dims");
      if (std::any_of(one.shape.begin(), one.shape.end(), [](std::int64_t d) { return d < 0 || d > largest; })) say("a dim out of range");
    }
    for (std::size_t c = 0; c < graph_.coordinates.size(); ++c)
      if (graph_.coordinates[c].extent < 0 || graph_.coordinates[c].extent > largest)
        where_ = "coordinate " + std::to_string(c) + ": ", say("extent out of range");
    for (std::size_t k = 0; k < graph_.kernels.size(); ++k)
      if (!graph_.kernels[k].kernel) where_ = "kernel " + std::to_string(k) + ": ", say("missing");
    where_.clear();
  }

  // -- order
  void readable(TensorId t, const std::string& what) {
    if (written_.contains(t)) return;
    say(what + " reads " + label(t) + (ever_.contains(t) ? ", which lives inside a loop" : " before it is written"));
  }
  void write(TensorId t) {
    if (!known(t, "an output")) return;
    if (!ever_.insert(t).second) say(label(t) + " is written twice");
    written_.insert(t);
  }

  void check_list(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      const std::string outside = where_;
      where_ += "node " + std::to_string(count_++) + (n.name.empty() ? "" : " '" + n.name + "'") + ": ";
      std::visit([this](const auto& kind) { check(kind); }, n.kind);
      where_ = outside;
    }
  }

  // -- parts of nodes
  bool coordinates(const Ids& ids, const char* what, const Ids& others = {}) {
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (ids[k] >= graph_.coordinates.size()) return say(std::string(what) + ": no such coordinate"), false;
      if (std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k), ids[k]) != ids.begin() + static_cast<std::ptrdiff_t>(k) ||
          std::find(others.begin(), others.end(), ids[k]) != others.end())
        return say(std::string(what) + ": a coordinate twice"), false;
    }
    return true;
  }

  // An expression that is sound, over these coordinates only, all of whose tensors are written, of a type in [low, high].
  bool expression(ExprId e, const Ids& over, Type low, Type high, const char* what) {
    if (e >= graph_.exprs.count()) return say(std::string(what) + " is no expression"), false;
    if (const std::string fault = exprs_.fault(e); !fault.empty()) return say(std::string(what) + ": " + fault), false;
    for (CoordId c : graph_.exprs.free(e))
      if (std::find(over.begin(), over.end(), c) == over.end())
        return say(std::string(what) + " is over coordinate c" + std::to_string(c) + ", which is not its own"), false;
    const Type type = graph_.exprs.at(e).type;
    if (type < low || type > high) return say(std::string(what) + " has type " + name_of(type)), false;
    for (TensorId t : graph_.exprs.reads(e)) readable(t, what);
    return true;
  }

  void output(TensorId t, const std::vector<std::int64_t>& shape, Type low, Type high, const char* what) {
    write(t);
    if (t >= graph_.tensors.size()) return;
    if (tensor(t).shape != shape) say(std::string(what) + " has shape " + shape_text(tensor(t).shape) + ", its space " + shape_text(shape));
    if (tensor(t).type < low || tensor(t).type > high) say(std::string(what) + " has type " + name_of(tensor(t).type));
  }

  bool operand(const Operand& o, const Ids& over, const std::vector<Extent>& more, const char* what) {
    if (!known(o.tensor, what)) return false;
    readable(o.tensor, what);
    for (const Stride& s : o.strides)
      if (std::find(over.begin(), over.end(), s.coordinate) == over.end())
        return say(std::string(what) + ": a stride over a coordinate that is not its own"), false;
    if (!within(graph_, o.tensor, o.offset, o.strides, more)) return say(std::string(what) + " reads outside " + label(o.tensor)), false;
    return true;
  }

  // -- nodes
  void check(const Input& i) {
    write(i.out);
    if (i.out >= graph_.tensors.size() || !i.constant) return;
    if (i.data.shape() != tensor(i.out).shape)
      say("a constant of shape " + shape_text(i.data.shape()) + " for " + label(i.out) + " " + shape_text(tensor(i.out).shape));
    const Type type = tensor(i.out).type;
    const bool number = i.data.dtype() >= Dtype::float32;
    if (type == Type::boolean ? i.data.dtype() != Dtype::boolean : type == Type::integer ? i.data.dtype() != Dtype::int64 : !number)
      say(std::string("a constant of ") + locus::name_of(i.data.dtype()) + " for type " + name_of(type));
  }

  void check(const Map& m) {
    if (!coordinates(m.space, "space") || !expression(m.value, m.space, Type::boolean, Type::real, "value")) return;
    const Type type = graph_.exprs.at(m.value).type;
    output(m.out, graph_.extents(m.space), type >= Type::exact ? Type::exact : type, type >= Type::exact ? Type::real : type, "output");
  }

  void check(const Linear& l) {
    Ids a = l.batch, b = l.batch, out = l.batch;
    if (l.row != none) a.push_back(l.row), out.push_back(l.row);
    if (l.column != none) b.push_back(l.column), out.push_back(l.column);
    a.push_back(l.inner), b.push_back(l.inner);
    if (!coordinates(out, "space", {l.inner}) || !coordinates({l.inner}, "inner")) return;
    if (!operand(l.a, a, {}, "left") || !operand(l.b, b, {}, "right")) return;
    for (const Operand* o : {&l.a, &l.b})
      if (tensor(o->tensor).type < Type::exact) say("an operand has type " + std::string(name_of(tensor(o->tensor).type)));
    output(l.out, graph_.extents(out), Type::exact, Type::real, "output");
  }

  void check(const Reduce& r) {
    if (!coordinates(r.rows, "rows") || !coordinates({r.sample}, "sample", r.rows)) return;
    Ids pair = r.rows;
    pair.push_back(r.sample);
    if (r.weight != none && (r.factor != none || r.score != none)) say("a weight beside its own split");
    const std::pair<ExprId, const char*> parts[] = {{r.weight, "weight"}, {r.factor, "factor"}, {r.score, "score"}};
    for (const auto& [part, what] : parts)
      if (part != none) expression(part, pair, Type::exact, Type::real, what);
    if (r.where != none) expression(r.where, pair, Type::boolean, Type::boolean, "where");
    if (r.list != none && known(r.list, "list")) {
      readable(r.list, "list");
      const Tensor& list = tensor(r.list);
      std::vector<std::int64_t> rows = graph_.extents(r.rows);
      if (list.type != Type::integer || list.shape.size() != rows.size() + 1 || !std::equal(rows.begin(), rows.end(), list.shape.begin()))
        say("the list does not fit the rows");
    }
    for (const Estimate& e : r.estimates) check(r, e, pair);
  }

  void check(const Reduce& r, const Estimate& e, const Ids& pair) {
    if (!coordinates(e.features, "features", pair)) return;
    Ids value = pair, parameter = r.rows, shape = r.rows;
    value.insert(value.end(), e.features.begin(), e.features.end());
    parameter.insert(parameter.end(), e.features.begin(), e.features.end());
    const bool valued = e.estimator <= LOCUS_COV || e.estimator == LOCUS_NEAREST;
    if (valued && !expression(e.value, value, Type::exact, Type::real, "value")) return;
    if (!valued && (e.value != none || !e.features.empty())) return say(std::string(name_of(e.estimator)) + " takes no value");
    if (e.estimator == LOCUS_QUANTILE) expression(e.parameter, parameter, Type::exact, Type::real, "parameter");
    if (e.estimator == LOCUS_NEAREST) {
      if (!e.features.empty()) say("neighbours have no features");
      expression(e.parameter, r.rows, Type::integer, Type::integer, "parameter");
      if (e.width < 0) return say("a negative width");
      std::vector<std::int64_t> dims = graph_.extents(r.rows);
      dims.push_back(e.width);
      return output(e.out, dims, Type::integer, Type::integer, "list of neighbours");
    }
    if (e.estimator == LOCUS_GRAM || e.estimator == LOCUS_WEIGHTS)
      shape = pair;
    else
      shape = parameter;
    if (e.estimator == LOCUS_COV && !e.features.empty()) {
      if (!coordinates({e.twin}, "twin", value)) return;
      if (graph_.coordinates[e.twin].extent != graph_.coordinates[e.features.back()].extent) say("the twin has another extent than the last feature");
      shape.push_back(e.twin);
    }
    const bool counts = e.estimator == LOCUS_COUNT;
    output(e.out, graph_.extents(shape), counts ? Type::integer : Type::exact, counts ? Type::integer : Type::real, name_of(e.estimator));
  }

  void check(const Gather& g) {
    if (!coordinates(g.space, "space")) return;
    std::vector<Extent> runs;
    for (const GatherIndex& i : g.indices) {
      if (!expression(i.index, g.space, Type::integer, Type::integer, "index")) return;
      if (i.extent < 0 || i.extent > largest) return say("an index over an extent out of range");
      runs.push_back({i.extent, i.stride});
    }
    if (!operand(g.table, g.space, runs, "table")) return;
    const Type type = tensor(g.table.tensor).type;
    output(g.out, graph_.extents(g.space), type, type, "output");
  }

  void check(const Iterate& l) {
    if (l.limit < 0) say("a negative limit");
    for (const Carry& c : l.carries)
      if (known(c.initial, "an initial value")) readable(c.initial, "initial value");
    const std::set<TensorId> outside = written_;
    output(l.turn, {}, Type::integer, Type::integer, "turn");
    for (const Carry& c : l.carries) write(c.state);
    check_list(l.body);
    for (const Carry& c : l.carries) check(c);
    if (l.stop != none && known(l.stop, "stop")) {
      readable(l.stop, "stop");
      if (tensor(l.stop).type != Type::boolean || !tensor(l.stop).shape.empty()) say("stop is no condition");
    }
    for (const Path& p : l.paths) check(l, p);
    // Only the states and paths are left when a loop has ended.
    written_ = outside;
    for (const Carry& c : l.carries) written_.insert(c.state);
    for (const Path& p : l.paths) written_.insert(p.out);
  }

  void check(const Carry& c) {
    if (!known(c.next, "a next value") || !known(c.state, "a state") || !known(c.initial, "an initial value")) return;
    readable(c.next, "next value");
    for (TensorId t : {c.initial, c.next})
      if (tensor(t).type != tensor(c.state).type || tensor(t).shape != tensor(c.state).shape)
        say("state " + label(c.state) + " has another type or shape than " + label(t));
  }

  void check(const Iterate& l, const Path& p) {
    if (!known(p.source, "a path's source")) return;
    readable(p.source, "path");
    const bool state = std::any_of(l.carries.begin(), l.carries.end(), [&](const Carry& c) { return c.state == p.source; });
    std::vector<std::int64_t> shape = tensor(p.source).shape;
    shape.insert(shape.begin(), l.limit + (state ? 1 : 0));
    output(p.out, shape, tensor(p.source).type, tensor(p.source).type, "path");
  }

  void check(const ArrayCall& a) {
    if (a.function < LOCUS_ARRAY_CONCAT || a.function > LOCUS_ARRAY_PAIRS_EIGEN) say("unknown function");
    for (TensorId t : a.inputs)
      if (known(t, "an argument")) readable(t, "argument");
    if (a.outputs.empty()) say("a whole-array function without output");
    for (TensorId t : a.outputs) write(t);
  }

  const Graph& graph_;
  ExpressionFaults exprs_;
  std::string where_;
  int count_ = 0;
  std::set<TensorId> written_, ever_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> verify(const Graph& g) { return Verifier(g).run(); }

}  // namespace locus::graph
