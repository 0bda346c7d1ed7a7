// Reads the text form of a graph back. Says what it cannot read and in which line; whether the graph is sound is verify's question.
// Knows nothing of the language of specs.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include "core/graph/graph.hpp"
#include "core/graph/text.hpp"

namespace locus::graph {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Graph run(std::string* error) {
    if (take("locus") && take("graph") && take("1")) {
      while (good() && !at_end()) statement(graph_.nodes, 0);
    } else {
      fail("expected 'locus graph 1'");
    }
    if (error) *error = error_;
    return error_.empty() ? std::move(graph_) : Graph{};
  }

 private:
  // -- characters and words
  bool good() const { return error_.empty(); }
  bool fail(const std::string& what) {
    if (good()) error_ = "line " + std::to_string(1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n')) + ": " + what;
    return false;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  static bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
  bool next_is(std::string_view s) {
    skip_space();
    if (text_.substr(at_, s.size()) != s) return false;
    return !in_word(s.back()) || at_ + s.size() == text_.size() || !in_word(text_[at_ + s.size()]);
  }
  bool take(std::string_view s) {
    if (!good() || !next_is(s)) return false;
    at_ += s.size();
    return true;
  }
  bool expect(std::string_view s) { return take(s) || fail("expected '" + std::string(s) + "'"); }
  std::string_view word() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  template <class T>
  T whole() {
    skip_space();
    T value = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (problem != std::errc{})
      fail("expected a whole number");
    else
      at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  double number() {
    skip_space();
    double value = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (problem != std::errc{})
      fail("expected a number of float64");
    else
      at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }
  std::string name() {
    std::string s;
    if (!expect("\"")) return s;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\' && at_ + 2 < text_.size() && text_[at_] == 'x') {
        const int high = hex(text_[at_ + 1]), low = hex(text_[at_ + 2]);
        if (high < 0 || low < 0) return fail("no such escape"), s;
        c = static_cast<char>(high * 16 + low), at_ += 3;
      } else if (c == '\\' && at_ < text_.size()) {
        c = text_[at_++];
      }
      s += c;
    }
    expect("\"");
    return s;
  }

  // A letter and a number below count, or "none" where that may stand.
  std::uint32_t id(char letter, std::size_t count, bool optional = false) {
    if (optional && take("none")) return none;
    skip_space();
    if (at_ >= text_.size() || text_[at_] != letter) return fail(std::string("expected ") + letter + " and a number"), none;
    ++at_;
    const auto value = whole<std::uint32_t>();
    if (good() && value >= count) fail(std::string("no ") + letter + std::to_string(value));
    return good() ? value : none;
  }
  CoordId coordinate(bool optional = false) { return id('c', graph_.coordinates.size(), optional); }
  TensorId tensor(bool optional = false) { return id('t', graph_.tensors.size(), optional); }

  template <class Item>
  void items(const char* open, const char* close, Item&& item) {
    if (!expect(open) || take(close)) return;
    do item();
    while (take(","));
    expect(close);
  }
  std::vector<CoordId> coordinates() {
    std::vector<CoordId> all;
    items("[", "]", [&] { all.push_back(coordinate()); });
    return all;
  }
  std::vector<TensorId> tensors() {
    std::vector<TensorId> all;
    items("[", "]", [&] { all.push_back(tensor()); });
    return all;
  }
  std::vector<double> numbers() {
    std::vector<double> all;
    items("(", ")", [&] { all.push_back(number()); });
    return all;
  }
  Type type() {
    const std::string_view w = word();
    for (Type t : {Type::boolean, Type::integer, Type::exact, Type::real})
      if (w == name_of(t)) return t;
    fail("expected a type");
    return Type::real;
  }

  // -- statements
  void statement(std::vector<Node>& nodes, int depth) {
    if (take("output")) {
      const std::string n = name();
      graph_.outputs.push_back({n, tensor()});
    } else if (take("reduce")) {
      reduce(nodes);
    } else if (take("iterate")) {
      iterate(nodes, depth);
    } else if (next_is("[")) {
      array(nodes);
    } else if (skip_space(); at_ < text_.size() && (text_[at_] == 'c' || text_[at_] == 't' || text_[at_] == 'e')) {
      numbered(nodes);
    } else {
      fail(at_ < text_.size() && text_[at_] == 'k' ? "a plugin's kernel cannot be read back" : "expected a node");
    }
  }

  void numbered(std::vector<Node>& nodes) {
    const char letter = text_[at_++];
    const auto number = whole<std::uint32_t>();
    if (letter == 'c')
      declare_coordinate(number);
    else if (letter == 'e')
      define(number);
    else if (next_is("\""))
      declare_tensor(number);
    else if (number >= graph_.tensors.size())
      fail("no t" + std::to_string(number));
    else if (expect("="))
      node(nodes, number);
  }

  void declare_coordinate(std::uint32_t number) {
    if (number != graph_.coordinates.size()) return void(fail("coordinates are numbered from 0"));
    const std::string n = name();
    graph_.coordinates.push_back({n, whole<std::int64_t>()});
  }

  void declare_tensor(std::uint32_t number) {
    if (number != graph_.tensors.size()) return void(fail("tensors are numbered from 0"));
    Tensor t;
    t.name = name(), t.type = type();
    items("[", "]", [&] { t.shape.push_back(whole<std::int64_t>()), t.axes.push_back(name()); });
    if (good()) graph_.tensors.push_back(std::move(t));
  }

  void define(std::uint32_t number) {
    if (number != named_.size()) return void(fail("expressions are numbered from 0"));
    if (expect("=")) named_.push_back(expr(0));
  }

  void node(std::vector<Node>& nodes, TensorId out) {
    Node n;
    if (take("input"))
      n.kind = Input{out, name(), false, {}};
    else if (take("constant"))
      n.kind = constant(out);
    else if (take("map"))
      n.kind = map(out);
    else if (take("linear"))
      n.kind = linear(out);
    else if (take("gather"))
      n.kind = gather(out);
    else
      fail("expected a kind of node");
    finish(nodes, std::move(n));
  }

  void finish(std::vector<Node>& nodes, Node n) {
    origin(n);
    if (good()) nodes.push_back(std::move(n));
  }
  void origin(Node& n) {
    if (!take("#")) return;
    n.name = name();
    skip_space();
    if (at_ >= text_.size() || text_[at_] < '0' || text_[at_] > '9') return;
    n.span.source = whole<std::uint32_t>(), expect(":");
    n.span.low = whole<std::uint32_t>(), expect("-");
    n.span.high = whole<std::uint32_t>();
  }

  Input constant(TensorId out) {
    Input i{out, name(), true, {}};
    const std::string_view w = word();
    const Dtype all[] = {Dtype::boolean, Dtype::int64, Dtype::float32, Dtype::float64};
    const auto* dtype = std::find_if(all, all + 4, [&](Dtype d) { return w == locus::name_of(d); });
    if (dtype == all + 4) return fail("expected a dtype"), i;
    if (take("checksum")) return fail("a constant of more than 16 entries cannot be read back"), i;
    std::vector<double> values;
    std::vector<std::int64_t> ints;
    items("(", ")", [&] {
      if (*dtype == Dtype::int64)
        ints.push_back(whole<std::int64_t>());
      else
        values.push_back(number());
    });
    const std::size_t count = std::max(values.size(), ints.size());
    if (!good() || count != entries(graph_.tensors[out].shape)) return fail("another number of entries than the tensor has"), i;
    i.data = Array(*dtype, graph_.tensors[out].shape);
    for (std::size_t k = 0; k < count; ++k) {
      if (*dtype == Dtype::int64)
        i.data.as<std::int64_t>()[k] = ints[k];
      else if (*dtype == Dtype::float64)
        i.data.as<double>()[k] = values[k];
      else if (*dtype == Dtype::float32)
        i.data.as<float>()[k] = static_cast<float>(values[k]);
      else
        i.data.as<std::uint8_t>()[k] = values[k] != 0;
    }
    return i;
  }
  // Number of entries, if it is small: constants in a text have few.
  static std::size_t entries(const std::vector<std::int64_t>& shape) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
    std::int64_t n = 1;
    for (std::int64_t d : shape)
      if (d < 0 || d > (1 << 20) || (n *= d) > (1 << 20)) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(n);
  }

  Map map(TensorId out) {
    Map m;
    m.out = out, m.space = coordinates(), m.value = expr(0);
    return m;
  }
  Linear linear(TensorId out) {
    Linear l;
    l.out = out, l.batch = coordinates();
    expect("row"), l.row = coordinate(true), expect("inner"), l.inner = coordinate(), expect("column"), l.column = coordinate(true);
    l.a = operand(), l.b = operand();
    return l;
  }
  Gather gather(TensorId out) {
    Gather g;
    g.out = out, g.space = coordinates(), g.table = operand();
    while (take("at")) {
      GatherIndex i;
      i.index = expr(0), expect("below"), i.extent = whole<std::int64_t>(), expect("step"), i.stride = whole<std::int64_t>();
      g.indices.push_back(i);
    }
    return g;
  }

  Operand operand() {
    Operand o;
    o.tensor = tensor();
    bool first = true;
    expect("[");
    while (good() && !take("]")) {
      if (!first) expect("+");
      first = false;
      skip_space();
      if (at_ < text_.size() && text_[at_] == 'c') {
        const CoordId c = coordinate();
        o.strides.push_back({c, take("*") ? whole<std::int64_t>() : 1});
      } else {
        o.offset = whole<std::int64_t>();
      }
    }
    return o;
  }

  void reduce(std::vector<Node>& nodes) {
    Node n;
    Reduce r;
    r.rows = coordinates(), expect("among"), r.sample = coordinate();
    if (take("weight")) r.weight = expr(0);
    if (take("factor")) r.factor = expr(0);
    if (take("score")) r.score = expr(0);
    if (take("where")) r.where = expr(0);
    if (take("list")) r.list = tensor();
    r.count_empty = take("count_empty");
    origin(n);
    while (good() && estimate_follows()) r.estimates.push_back(estimate());
    n.kind = std::move(r);
    if (good()) nodes.push_back(std::move(n));
  }

  // "t5 = mean" is an estimate, "t5 = map" the next node.
  bool estimate_follows() {
    const std::size_t here = at_;
    skip_space();
    bool follows = at_ < text_.size() && text_[at_] == 't';
    if (follows) {
      ++at_, word();
      follows = take("=") && estimator_of(word()) >= 0;
    }
    at_ = here;
    return follows;
  }
  static int estimator_of(std::string_view w) {
    for (int e = LOCUS_MEAN; e <= LOCUS_EFFECTIVE; ++e)
      if (w == name_of(static_cast<Estimator>(e))) return e;
    return -1;
  }
  Estimate estimate() {
    Estimate e;
    e.out = tensor(), expect("=");
    e.estimator = static_cast<Estimator>(std::max(estimator_of(word()), 0));
    if (next_is("[")) e.features = coordinates();
    if (take("twin")) e.twin = coordinate();
    if (take("of")) e.value = expr(0);
    if (take("by")) e.parameter = expr(0);
    if (take("width")) e.width = whole<std::int64_t>();
    e.need_all = take("need_all");
    return e;
  }

  void iterate(std::vector<Node>& nodes, int depth) {
    Node n;
    Iterate l;
    l.turn = tensor(), expect("stop"), l.stop = tensor(true), expect("limit"), l.limit = whole<std::int64_t>();
    origin(n);
    while (take("carry")) {
      Carry c;
      c.state = tensor(), expect("from"), c.initial = tensor(), expect("next"), c.next = tensor();
      l.carries.push_back(c);
    }
    while (take("path")) {
      Path p;
      p.out = tensor(), expect("of"), p.source = tensor();
      if (take("since")) p.since = whole<std::int64_t>();
      l.paths.push_back(p);
    }
    if (depth > 50) return void(fail("loops nest too deep"));
    expect("{");
    while (good() && !take("}")) at_end() ? fail("expected '}'") : (statement(l.body, depth + 1), true);
    n.kind = std::move(l);
    if (good()) nodes.push_back(std::move(n));
  }

  void array(std::vector<Node>& nodes) {
    ArrayCall a;
    a.outputs = tensors(), expect("="), expect("array");
    const std::string_view w = word();
    int f = LOCUS_ARRAY_CONCAT;
    while (f <= LOCUS_ARRAY_PAIRS_EIGEN && w != name_of(static_cast<locus_array_function>(f))) ++f;
    if (f > LOCUS_ARRAY_PAIRS_EIGEN) return void(fail("no such whole-array function"));
    a.function = static_cast<locus_array_function>(f), a.inputs = tensors(), a.parameters = numbers();
    finish(nodes, {{}, "", std::move(a)});
  }

  // -- expressions; nothing is folded, so that the text stays as it is
  ExprId expr(int depth) {
    if (depth > 200) return fail("an expression nests too deep"), none;
    skip_space();
    if (!good() || at_ >= text_.size()) return fail("expected an expression"), none;
    if (take("(")) return between(depth);
    const char c = text_[at_], following = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    const bool digit = following >= '0' && following <= '9';
    if (c == 'c' && digit) return checked([&] { return graph_.exprs.coordinate(coordinate()); });
    if (c == 'e' && digit) {
      const std::uint32_t n = id('e', named_.size());
      return good() ? named_[n] : none;
    }
    if (c == 't' && digit) return read();
    if (c == '-' || (c >= '0' && c <= '9') || next_is("inf") || next_is("nan") || next_is("infr") || next_is("nanr")) return constant_expr();
    if (take("true")) return graph_.exprs.constant(1, Type::boolean);
    if (take("false")) return graph_.exprs.constant(0, Type::boolean);
    return function(depth);
  }
  template <class Make>
  ExprId checked(Make&& make) {
    const ExprId e = make();
    return good() ? e : none;
  }

  ExprId read() {
    Operand o = operand();
    return good() ? graph_.exprs.read(o.tensor, graph_.tensors[o.tensor].type, o.offset, std::move(o.strides)) : none;
  }

  ExprId constant_expr() {
    const std::size_t begin = at_;
    const double value = number();
    if (!good()) return none;
    const bool whole = text_.substr(begin, at_ - begin).find_first_of(".einf") == std::string_view::npos;
    if (at_ < text_.size() && text_[at_] == 'r') return ++at_, graph_.exprs.constant(value, Type::real);
    return graph_.exprs.constant(value, whole ? Type::integer : Type::exact);
  }

  ExprId between(int depth) {
    const ExprId a = expr(depth + 1);
    static constexpr Op ops[] = {LOCUS_le,  LOCUS_lt,  LOCUS_eq,  LOCUS_ne,  LOCUS_idiv, LOCUS_div, LOCUS_add,
                                 LOCUS_sub, LOCUS_mul, LOCUS_pow, LOCUS_mod, LOCUS_and,  LOCUS_or};
    for (Op op : ops)
      if (take(sign_of(op))) {
        const ExprId b = expr(depth + 1);
        expect(")");
        return made(op, {a, b, none}, 2, none);
      }
    fail("expected an operation");
    return none;
  }

  ExprId function(int depth) {
    const std::string_view w = word();
    if (w == "call") return fail("a plugin's kernel cannot be read back"), none;
    const bool conversion = w == "real" || w == "exact";
    Op op = LOCUS_real;
    for (int k = LOCUS_SUM_OVER; !conversion && k < LOCUS_OP_END; k = k == LOCUS_MAXDIST ? static_cast<int>(LOCUS_neg) : k + 1)
      if (w == info(static_cast<Op>(k)).name) op = static_cast<Op>(k);
    if (!conversion && op == LOCUS_real) return fail("no such operation: '" + std::string(w.substr(0, 40)) + "'"), none;
    std::uint32_t index = none;
    std::array<ExprId, 3> args{none, none, none};
    expect("(");
    if (op >= LOCUS_SUM_OVER && op <= LOCUS_MAXDIST) index = coordinate(op >= LOCUS_DOT), expect(";");
    const int arity = info(op).arity;
    for (int k = 0; k < arity; ++k) {
      if (k > 0) expect(",");
      args[k] = expr(depth + 1);
    }
    expect(")");
    return made(op, args, arity, index, w == "real" ? Type::real : Type::exact);
  }

  ExprId made(Op op, std::array<ExprId, 3> args, int arity, std::uint32_t index, Type converted = Type::exact) {
    if (!good()) return none;
    const std::string_view rule = info(op).rule;
    Expr e;
    e.op = op, e.arity = static_cast<std::uint8_t>(arity), e.index = index;
    Type common = Type::boolean;
    for (int k = 0; k < arity; ++k) {
      e.args[k] = args[k];
      if (rule != "select" || k > 0) common = std::max(common, graph_.exprs.at(args[k]).type);
    }
    e.type = op == LOCUS_real ? converted : rule == "compare" ? Type::boolean : common;
    return graph_.exprs.add(std::move(e));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
  Graph graph_;
  std::vector<ExprId> named_;
};

}  // namespace

Graph parse_text(const std::string& text, std::string* error) { return Parser(text).run(error); }

}  // namespace locus::graph
