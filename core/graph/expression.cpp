// The arena of expressions: hash-consing, typing by rule, and folding of constants. Substitution of coordinates stands in substitute.cpp.
// Knows nothing of nodes; a tensor is only its id here.
#include "core/graph/expression.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include "core/graph/fold.hpp"
#include "core/graph/rewrite.hpp"

namespace locus::graph {
namespace {

// 0.0 and -0.0 differ, a NaN equals itself: constants are what their bits are.
bool same(const Expr& a, const Expr& b) {
  return a.op == b.op && a.type == b.type && a.arity == b.arity && std::equal(a.args, a.args + 3, b.args) && a.index == b.index && a.offset == b.offset &&
         a.strides == b.strides && std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
}

std::size_t hash(const Expr& e) {
  std::uint64_t h = 0x9e3779b97f4a7c15u;
  const auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 0xff51afd7ed558ccdu, h ^= h >> 33; };
  mix(static_cast<std::uint64_t>(e.op) << 8 | static_cast<std::uint64_t>(e.type));
  for (ExprId a : e.args) mix(a);
  mix(e.index), mix(static_cast<std::uint64_t>(e.offset)), mix(std::bit_cast<std::uint64_t>(e.value));
  for (const Stride& s : e.strides) mix(s.coordinate), mix(static_cast<std::uint64_t>(s.stride));
  return static_cast<std::size_t>(h);
}

const std::vector<OpInfo>& operations() {
  static const std::vector<OpInfo> table = {
#define LOCUS_OP(name, arity, rule, low, high, text) {#name, arity, #rule, low, high, text},
#include "plugins/abi/locus_ops.def"
#undef LOCUS_OP
  };
  return table;
}

const OpInfo leaves[] = {{"constant", 0, "leaf", 0, 0, "a number"},
                         {"read", 0, "leaf", 0, 0, "an entry of a tensor"},
                         {"coordinate", 0, "leaf", 0, 0, "the value of a coordinate"},
                         {"sum_over", 1, "numeric", 0, 0, "sum over a coordinate"},
                         {"max_over", 1, "numeric", 0, 0, "maximum over a coordinate"},
                         {"min_over", 1, "numeric", 0, 0, "minimum over a coordinate"},
                         {"dot", 2, "real", 0, 0, "sum of a b"},
                         {"sqdist", 2, "real", 0, 0, "sum of (a - b)^2"},
                         {"l1dist", 2, "real", 0, 0, "sum of |a - b|"},
                         {"maxdist", 2, "real", 0, 0, "maximum of |a - b|"},
                         {"call", 1, "real", 0, 0, "a plugin's kernel"}};

Type highest(Type a, Type b) { return std::max(a, b); }  // bool < int < exact < real

}  // namespace

const char* name_of(Type t) {
  switch (t) {
    case Type::boolean:
      return "bool";
    case Type::integer:
      return "int";
    case Type::exact:
      return "exact";
    case Type::real:
      return "real";
  }
  return "?";
}

const OpInfo& info(Op op) {
  if (op > LOCUS_BEFORE_OPS && op < LOCUS_OP_END) return operations()[op - LOCUS_BEFORE_OPS - 1];
  if (op <= LOCUS_CALL) return leaves[op];
  throw std::logic_error("no such op");
}

ExprId Expressions::add(Expr e) {
  const std::size_t key = hash(e);
  for (auto [at, end] = index_.equal_range(key); at != end; ++at)
    if (same(all_[at->second], e)) return at->second;
  std::vector<CoordId> open;
  if (e.op == LOCUS_COORDINATE) open.push_back(e.index);
  for (const Stride& s : e.strides) open.push_back(s.coordinate);
  for (int k = 0; k < e.arity; ++k) {
    if (e.args[k] >= all_.size()) throw std::logic_error("an argument that is no expression yet");
    open.insert(open.end(), free_[e.args[k]].begin(), free_[e.args[k]].end());
  }
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  if (is_over(e.op) || is_contraction(e.op)) std::erase(open, e.index);
  const ExprId id = static_cast<ExprId>(all_.size());
  all_.push_back(std::move(e));
  free_.push_back(std::move(open));
  index_.emplace(key, id);
  return id;
}

ExprId Expressions::constant(double value, Type type) {
  Expr e;
  e.type = type, e.value = value;
  return add(std::move(e));
}

ExprId Expressions::read(TensorId tensor, Type type, std::int64_t offset, std::vector<Stride> strides) {
  std::sort(strides.begin(), strides.end(), [](const Stride& a, const Stride& b) { return a.coordinate < b.coordinate; });
  std::vector<Stride> merged;
  for (const Stride& s : strides) {
    if (!merged.empty() && merged.back().coordinate == s.coordinate)
      merged.back().stride += s.stride;
    else
      merged.push_back(s);
  }
  std::erase_if(merged, [](const Stride& s) { return s.stride == 0; });
  Expr e;
  e.op = LOCUS_READ, e.type = type, e.index = tensor, e.offset = offset, e.strides = std::move(merged);
  return add(std::move(e));
}

ExprId Expressions::coordinate(CoordId c) {
  Expr e;
  e.op = LOCUS_COORDINATE, e.type = Type::integer, e.index = c;
  return add(std::move(e));
}

ExprId Expressions::to(Type type, ExprId id) {
  const Expr& e = at(id);
  if (e.type == type) return id;
  if (e.op == LOCUS_CONSTANT && type >= Type::integer && e.type < type) return constant(e.value, type);
  if (type == Type::integer && e.type == Type::boolean) return apply(LOCUS_select, id, constant(1, Type::integer), constant(0, Type::integer));
  if (type < Type::exact || e.type > type) throw std::logic_error(std::string("no way from ") + name_of(e.type) + " to " + name_of(type));
  Expr r;
  r.op = LOCUS_real, r.type = type, r.arity = 1, r.args[0] = id;
  return add(std::move(r));
}

// Constants stay exact beside a real, so that no digit is lost before the operation; an int is converted to what it meets.
ExprId Expressions::unified(ExprId id, Type type) {
  const Type own = at(id).type;
  if (own >= Type::exact || own == type) return id;
  const bool number = at(id).op == LOCUS_CONSTANT;
  return to(number && type == Type::real ? Type::exact : type, id);
}

ExprId Expressions::apply(Op op, ExprId a, ExprId b, ExprId c) {
  const OpInfo& row = info(op);
  const std::string_view rule = row.rule;
  ExprId args[3] = {a, b, c};
  for (int k = 0; k < 3; ++k)
    if ((args[k] != none) != (k < row.arity) || op < LOCUS_neg || (k < row.arity && args[k] >= all_.size()))
      throw std::logic_error(std::string("wrong arguments for ") + row.name);
  if (op == LOCUS_real) return to(highest(at(a).type, Type::exact), a);

  const int first = rule == "select" ? 1 : 0;
  Type common = Type::boolean;
  for (int k = first; k < row.arity; ++k) common = highest(common, at(args[k]).type);
  Type result = common;
  if (rule == "logic") {
    if (common != Type::boolean) throw std::logic_error(std::string("a number where ") + row.name + " needs a condition");
  } else if (rule == "integer") {
    if (common > Type::integer) throw std::logic_error(std::string("a real number where ") + row.name + " needs ints");
    result = common = Type::integer;
  } else if (rule == "real" || (rule == "numeric" && common == Type::boolean)) {
    result = common = highest(common, Type::exact);
  } else if (op == LOCUS_pow && common == Type::integer && !(at(b).op == LOCUS_CONSTANT && at(b).value >= 0)) {
    result = common = Type::exact;
  } else if (rule == "compare") {
    result = Type::boolean;
  } else if (rule == "select" && at(a).type != Type::boolean) {
    throw std::logic_error("select needs a condition");
  }
  for (int k = first; k < row.arity; ++k) args[k] = unified(args[k], common);

  if (const ExprId simple = identity(op, result, args[0], args[1], args[2]); simple != none) return simple;
  Expr e;
  e.op = op, e.type = result, e.arity = static_cast<std::uint8_t>(row.arity);
  std::copy(args, args + 3, e.args);
  return add(std::move(e));
}

// What an application is without computing it: a constant, or one of its arguments. `none` if it must be computed.
ExprId Expressions::identity(Op op, Type result, ExprId a, ExprId b, ExprId c) {
  const auto is = [this](ExprId id, double v) { return id != none && at(id).op == LOCUS_CONSTANT && at(id).value == v; };
  const auto known = [this](ExprId id) { return id == none || at(id).op == LOCUS_CONSTANT; };
  const auto as = [this, result](ExprId id) { return at(id).type == result ? id : to(result, id); };
  if (op == LOCUS_select) {
    if (known(a)) return as(at(a).value != 0 ? b : c);
    return b == c ? as(b) : none;
  }
  if (known(a) && known(b)) {
    const double x = at(a).value, y = b == none ? 0 : at(b).value;
    if (double value; fold(op, result == Type::integer, x, y, &value)) return constant(value, result);
    return none;
  }
  switch (op) {
    case LOCUS_add:  // -0.0 + 0 is 0.0: for ints alone
      if (result != Type::integer) return none;
      return is(b, 0) ? a : is(a, 0) ? b : none;
    case LOCUS_sub:
      return is(b, 0) && !std::signbit(at(b).value) ? as(a) : none;
    case LOCUS_mul:
      if (is(b, 1)) return as(a);
      if (is(a, 1)) return as(b);
      return result == Type::integer && (is(a, 0) || is(b, 0)) ? constant(0, result) : none;
    case LOCUS_div:
      return is(b, 1) ? as(a) : none;
    case LOCUS_idiv:
      return is(b, 1) ? a : none;
    case LOCUS_pow:
      return is(b, 1) ? as(a) : is(b, 0) ? constant(1, result) : none;
    case LOCUS_neg:
    case LOCUS_not:
      return at(a).op == op ? at(a).args[0] : none;
    case LOCUS_and:
      return is(a, 0) || is(b, 0) ? constant(0, result) : is(a, 1) || a == b ? b : is(b, 1) ? a : none;
    case LOCUS_or:
      return is(a, 1) || is(b, 1) ? constant(1, result) : is(a, 0) || a == b ? b : is(b, 0) ? a : none;
    default:
      return none;
  }
}

ExprId Expressions::over(Op op, CoordId c, ExprId body) {
  if (!is_over(op) || c == none) throw std::logic_error("no such statistic over a coordinate");
  if (at(body).type == Type::boolean) body = to(Type::integer, body);
  Expr e;
  e.op = op, e.type = at(body).type, e.arity = 1, e.args[0] = body, e.index = c;
  return add(std::move(e));
}

ExprId Expressions::contract(Op op, CoordId c, ExprId a, ExprId b) {
  if (!is_contraction(op)) throw std::logic_error("no such contraction");
  Expr e;
  e.op = op, e.type = highest(Type::exact, highest(at(a).type, at(b).type)), e.arity = 2, e.index = c;
  e.args[0] = unified(a, e.type), e.args[1] = unified(b, e.type);
  return add(std::move(e));
}

ExprId Expressions::call(std::uint32_t kernel, Type type, std::vector<ExprId> args) {
  if (args.empty() || args.size() > 3) throw std::logic_error("a kernel takes one to three arguments");
  Expr e;
  e.op = LOCUS_CALL, e.type = type, e.arity = static_cast<std::uint8_t>(args.size()), e.index = kernel;
  std::copy(args.begin(), args.end(), e.args);
  return add(std::move(e));
}

}  // namespace locus::graph
