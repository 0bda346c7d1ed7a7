// The text form of a graph: declarations, shared expressions, one node a line. Everything is numbered by where it stands, so equal graphs have equal texts.
// Knows nothing of reading it back.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include "core/graph/graph.hpp"
#include "core/graph/text.hpp"

namespace locus::graph {
namespace {

std::string number_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, v);
  return {buffer, end};
}

class Printer {
 public:
  explicit Printer(const Graph& g) : graph_(g) {}

  std::string run() {
    collect_roots(graph_.nodes);
    text_ = "locus graph 1\n";
    for (std::size_t c = 0; c < graph_.coordinates.size(); ++c)
      line("c" + std::to_string(c) + " " + quoted(graph_.coordinates[c].name) + " " + std::to_string(graph_.coordinates[c].extent));
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) line("t" + std::to_string(t) + " " + declared(graph_.tensors[t]));
    for (std::size_t k = 0; k < graph_.kernels.size(); ++k) line("k" + std::to_string(k) + " " + called(graph_.kernels[k]));
    for (std::size_t k = 0; k < order_.size(); ++k) line("e" + std::to_string(k) + " = " + written(graph_.exprs.at(order_[k])));
    nodes(graph_.nodes);
    for (const Output& o : graph_.outputs) line("output " + quoted(o.name) + " " + tensor(o.tensor));
    return std::move(text_);
  }

 private:
  void line(const std::string& s) { text_ += indent_ + s + "\n"; }

  static std::string declared(const Tensor& t) {
    std::string s = quoted(t.name) + " " + name_of(t.type) + " [";
    for (std::size_t k = 0; k < t.shape.size(); ++k) s += (k ? ", " : "") + std::to_string(t.shape[k]) + " " + quoted(t.axes[k]);
    return s + "]";
  }
  static std::string called(const NativeKernel& k) {
    std::string s = quoted(k.kernel ? k.kernel->name : "") + " (";
    for (std::size_t n = 0; n < k.settings.size(); ++n) s += (n ? ", " : "") + number_text(k.settings[n]);
    return s + ")";
  }

  // -- which expressions get a line of their own: those used twice, and some of deep ones, so that no line nests without bound
  void collect_roots(const std::vector<Node>& all) {
    for (const Node& n : all) {
      if (const auto* m = std::get_if<Map>(&n.kind)) root(m->value);
      if (const auto* r = std::get_if<Reduce>(&n.kind)) {
        for (ExprId e : {r->weight, r->factor, r->score, r->where}) root(e);
        for (const Estimate& e : r->estimates) root(e.value), root(e.parameter);
      }
      if (const auto* g = std::get_if<Gather>(&n.kind))
        for (const GatherIndex& i : g->indices) root(i.index);
      if (const auto* l = std::get_if<Iterate>(&n.kind)) collect_roots(l->body);
    }
    if (&all != &graph_.nodes) return;
    for (ExprId e : finished_)
      if (graph_.exprs.at(e).arity > 0 && (uses_[e] > 1 || height_[e] % 24 == 0)) names_.emplace(e, order_.size()), order_.push_back(e);
  }

  // Arguments first; each expression is walked once, so this is an order of definitions that depends on the graph's structure alone.
  void root(ExprId e) {
    if (e == none || e >= graph_.exprs.count()) return;
    struct Open {
      ExprId id;
      int next;
    };
    std::vector<Open> open;
    const auto enter = [&](ExprId id) {
      if (uses_[id]++ == 0) open.push_back({id, 0});
    };
    enter(e);
    while (!open.empty()) {
      Open& top = open.back();
      const Expr& x = graph_.exprs.at(top.id);
      if (top.next < x.arity) {
        enter(x.args[top.next++]);
        continue;
      }
      int height = 0;
      for (int k = 0; k < x.arity; ++k) height = std::max(height, height_[x.args[k]] + 1);
      height_[top.id] = height;
      finished_.push_back(top.id);
      open.pop_back();
    }
  }

  // -- expressions
  std::string expr(ExprId id) const {
    if (id == none) return "none";
    if (const auto found = names_.find(id); found != names_.end()) return "e" + std::to_string(found->second);
    return written(graph_.exprs.at(id));
  }

  std::string written(const Expr& e) const {
    if (e.op == LOCUS_CONSTANT) return constant(e);
    if (e.op == LOCUS_READ) return read(e.index, e.offset, e.strides);
    if (e.op == LOCUS_COORDINATE) return coordinate(e.index);
    if (const char* sign = sign_of(e.op)) return "(" + expr(e.args[0]) + " " + sign + " " + expr(e.args[1]) + ")";
    std::string s = e.op == LOCUS_real   ? name_of(e.type)
                    : e.op == LOCUS_CALL ? std::string("call ") + name_of(e.type) + " k" + std::to_string(e.index)
                                         : info(e.op).name;
    s += "(";
    if (e.op >= LOCUS_SUM_OVER && e.op <= LOCUS_MAXDIST) s += coordinate(e.index) + "; ";
    for (int k = 0; k < e.arity; ++k) s += (k ? ", " : "") + expr(e.args[k]);
    return s + ")";
  }

  // An int is written as one, a real of the run's precision ends in r, a bool is a word; all other numbers are exact and show a point or exponent.
  static std::string constant(const Expr& e) {
    if (e.type == Type::boolean) return e.value != 0 ? "true" : "false";
    std::string s = number_text(e.value);
    if (e.type == Type::integer) {
      char buffer[32];
      const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, e.value, std::chars_format::fixed, 0);
      return error == std::errc{} ? std::string(buffer, end) : s;
    }
    if (s.find_first_not_of("-0123456789") == std::string::npos) s += ".0";
    return e.type == Type::real ? s + "r" : s;
  }

  static std::string coordinate(CoordId c) { return c == none ? "none" : "c" + std::to_string(c); }
  static std::string tensor(TensorId t) { return t == none ? "none" : "t" + std::to_string(t); }

  static std::string read(TensorId t, std::int64_t offset, const std::vector<Stride>& strides) {
    std::string s;
    for (const Stride& one : strides) s += (s.empty() ? "" : " + ") + coordinate(one.coordinate) + (one.stride == 1 ? "" : "*" + std::to_string(one.stride));
    if (offset != 0) s += (s.empty() ? "" : " + ") + std::to_string(offset);
    return tensor(t) + "[" + s + "]";
  }

  template <class Ids>
  static std::string list(const Ids& ids, const char* letter) {
    std::string s = "[";
    for (std::uint32_t id : ids) s += (s.size() > 1 ? ", " : "") + std::string(letter) + std::to_string(id);
    return s + "]";
  }

  // -- nodes
  void nodes(const std::vector<Node>& all) {
    for (const Node& n : all) std::visit([&](const auto& kind) { node(kind, origin(n)); }, n.kind);
  }

  static std::string origin(const Node& n) {
    std::string s = n.name.empty() && !n.span.set() ? "" : "  # " + quoted(n.name);
    if (n.span.set()) s += " " + std::to_string(n.span.source) + ":" + std::to_string(n.span.low) + "-" + std::to_string(n.span.high);
    return s;
  }

  void node(const Input& i, const std::string& from) {
    line(tensor(i.out) + " = " + (i.constant ? "constant " + quoted(i.name) + " " + data_text(i.data) : "input " + quoted(i.name)) + from);
  }

  static std::string data_text(const Array& a) {
    std::string s = std::string(locus::name_of(a.dtype())) + " ";
    if (a.count() > 16) {
      std::uint64_t sum = 0xcbf29ce484222325u;  // FNV-1a
      for (std::size_t k = 0; k < a.bytes(); ++k) sum = (sum ^ static_cast<std::uint64_t>(static_cast<const std::byte*>(a.data())[k])) * 0x100000001b3u;
      return s + "checksum " + std::to_string(sum);
    }
    s += "(";
    for (std::int64_t k = 0; k < a.count(); ++k)
      s += (k ? ", " : "") + (a.dtype() == Dtype::int64 ? std::to_string(a.as<std::int64_t>()[k]) : number_text(a.number(k)));
    return s + ")";
  }

  void node(const Map& m, const std::string& from) { line(tensor(m.out) + " = map " + list(m.space, "c") + " " + expr(m.value) + from); }

  void node(const Linear& l, const std::string& from) {
    line(tensor(l.out) + " = linear " + list(l.batch, "c") + " row " + coordinate(l.row) + " inner " + coordinate(l.inner) + " column " + coordinate(l.column) +
         " " + read(l.a.tensor, l.a.offset, l.a.strides) + " " + read(l.b.tensor, l.b.offset, l.b.strides) + from);
  }

  void node(const Reduce& r, const std::string& from) {
    std::string s = "reduce " + list(r.rows, "c") + " among " + coordinate(r.sample);
    const std::pair<const char*, ExprId> parts[] = {{" weight ", r.weight}, {" factor ", r.factor}, {" score ", r.score}, {" where ", r.where}};
    for (const auto& [word, e] : parts)
      if (e != none) s += word + expr(e);
    if (r.list != none) s += " list " + tensor(r.list);
    if (r.count_empty) s += " count_empty";
    line(s + from);
    for (const Estimate& e : r.estimates) line("  " + estimate(e));
  }

  std::string estimate(const Estimate& e) const {
    std::string s = tensor(e.out) + " = " + name_of(e.estimator);
    if (!e.features.empty()) s += " " + list(e.features, "c");
    if (e.twin != none) s += " twin " + coordinate(e.twin);
    if (e.value != none) s += " of " + expr(e.value);
    if (e.parameter != none) s += " by " + expr(e.parameter);
    if (e.width != 0) s += " width " + std::to_string(e.width);
    if (e.need_all) s += " need_all";
    return s;
  }

  void node(const Gather& g, const std::string& from) {
    std::string s = tensor(g.out) + " = gather " + list(g.space, "c") + " " + read(g.table.tensor, g.table.offset, g.table.strides);
    for (const GatherIndex& i : g.indices) s += " at " + expr(i.index) + " below " + std::to_string(i.extent) + " step " + std::to_string(i.stride);
    line(s + from);
  }

  void node(const Iterate& l, const std::string& from) {
    line("iterate " + tensor(l.turn) + " stop " + tensor(l.stop) + " limit " + std::to_string(l.limit) + from);
    for (const Carry& c : l.carries) line("  carry " + tensor(c.state) + " from " + tensor(c.initial) + " next " + tensor(c.next));
    for (const Path& p : l.paths) line("  path " + tensor(p.out) + " of " + tensor(p.source) + (p.since < 0 ? "" : " since " + std::to_string(p.since)));
    line("{");
    indent_ += "  ";
    nodes(l.body);
    indent_.resize(indent_.size() - 2);
    line("}");
  }

  void node(const ArrayCall& a, const std::string& from) {
    std::string s = list(a.outputs, "t") + " = array " + name_of(a.function) + " " + list(a.inputs, "t") + " (";
    for (std::size_t k = 0; k < a.parameters.size(); ++k) s += (k ? ", " : "") + number_text(a.parameters[k]);
    line(s + ")" + from);
  }

  const Graph& graph_;
  std::string text_, indent_;
  std::unordered_map<ExprId, int> uses_, height_;
  std::unordered_map<ExprId, std::size_t> names_;
  std::vector<ExprId> finished_, order_;
};

}  // namespace

std::string quoted(const std::string& name) {
  static const char digits[] = "0123456789abcdef";
  std::string s = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      s += {'\\', c};
    else if (byte < 32)
      s += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    else
      s += c;
  }
  return s + "\"";
}

const char* sign_of(Op op) {
  switch (op) {
    case LOCUS_add:
      return "+";
    case LOCUS_sub:
      return "-";
    case LOCUS_mul:
      return "*";
    case LOCUS_div:
      return "/";
    case LOCUS_pow:
      return "^";
    case LOCUS_idiv:
      return "//";
    case LOCUS_mod:
      return "%";
    case LOCUS_lt:
      return "<";
    case LOCUS_le:
      return "<=";
    case LOCUS_eq:
      return "==";
    case LOCUS_ne:
      return "!=";
    case LOCUS_and:
      return "and";
    case LOCUS_or:
      return "or";
    default:
      return nullptr;
  }
}

const char* name_of(locus_array_function f) {
  static const char* const names[] = {"concat",       "sort",        "cumsum",      "cumprod",         "argmax", "argmin",  "pad_edge",
                                      "pad_mirror",   "pad_zero",    "patches",     "scatter",         "matrix", "uniform", "normal",
                                      "random_index", "permutation", "random_beta", "trustworthiness", "copy",  "solve",   "eigen",
                                      "fit",          "descend",     "root",        "neighbours",
                                      "reach",    "pairs",        "pairs_turn",  "pairs_join",  "pairs_at",        "pairs_sum",    "pairs_times", "pairs_whole", "pairs_look", "pairs_eigen"};
  return names[f];
}

std::string print(const Graph& g) { return Printer(g).run(); }

}  // namespace locus::graph
