// Expressions of a program as GLSL statements; see code.hpp.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include "backends/vulkan/code.hpp"
#include "backends/vulkan/failure.hpp"
#include "backends/vulkan/functions.hpp"

namespace locus::vulkan {
namespace {

constexpr int short_text = 12;            // operations of an expression that may stand several times
constexpr std::int64_t whole_extent = 8;  // loops up to this are written out
constexpr std::int64_t exact_terms = 64;  // sums of more terms are kept in double
constexpr std::int64_t exact_contraction_terms = 1024;

bool contracts(const locus_expr& e) { return e.op >= LOCUS_DOT && e.op <= LOCUS_MAXDIST; }

}  // namespace

const char* Code::word(std::uint32_t type) const {
  static const char* const words[] = {"bool", "int64_t", "double"};
  return type < LOCUS_TYPE_REAL ? words[type] : wide() ? "double" : "float";
}

const char* Code::suffix(std::uint32_t type) const { return type == LOCUS_TYPE_INTEGER ? "_i" : type == LOCUS_TYPE_EXACT || wide() ? "_d" : "_f"; }

std::string Code::literal(double v, std::uint32_t type) const {
  char text[64];
  if (type == LOCUS_TYPE_BOOL) return v != 0 ? "true" : "false";
  if (type == LOCUS_TYPE_INTEGER) {
    const auto whole = static_cast<std::int64_t>(v);
    if (whole == INT64_MIN) return "(-9223372036854775807l - 1l)";
    std::snprintf(text, sizeof text, "(%lldl)", static_cast<long long>(whole));
    return text;
  }
  const bool is_double = type == LOCUS_TYPE_EXACT || wide();
  if (!is_double) v = static_cast<float>(v);
  if (std::isnan(v)) return is_double ? "nan_d" : "nan_f";
  if (std::isinf(v)) return std::string(v < 0 ? "(-" : "(") + (is_double ? "inf_d)" : "inf_f)");
  return is_double ? double_text(v) : float_text(static_cast<float>(v));
}

std::string Code::value(Id id) {
  const locus_expr& e = program_.exprs[id];
  if (e.op == LOCUS_CONSTANT) return literal(e.value, e.type);
  const std::string key = key_of(id);
  for (std::size_t k = scopes_.size(); k-- > 0;)
    if (const auto found = scopes_[k].values.find(key); found != scopes_[k].values.end()) return found->second;
  return within(target_of(id), [&] {
    const std::string text = compute(id), name = fresh("v");
    line(std::string(word(e.type)) + ' ' + name + " = " + text + ";");
    return scopes_.back().values[key] = name;
  });
}

// A value as another type; exact constants become that type's own.
std::string Code::as(Id id, std::uint32_t type) {
  const locus_expr& e = program_.exprs[id];
  if (e.type == type) return value(id);
  if (e.op == LOCUS_CONSTANT) return literal(e.value, type);
  return std::string(word(type)) + "(" + value(id) + ")";
}

std::string Code::entry_value(Id e, std::uint32_t dtype) { return dtype >= LOCUS_FLOAT32 ? std::string(type_of(dtype)) + "(" + value(e) + ")" : value(e); }

std::string Code::compute(Id id) {
  const locus_expr& e = program_.exprs[id];
  if (e.op == LOCUS_READ) return std::string(load_of(program_.tensors[e.index].dtype)) + "(" + address(e.index, e.offset, program_.read_strides(e)) + ")";
  if (e.op == LOCUS_COORDINATE) return "int64_t(" + names_.at(e.index).name + ")";
  if (e.op <= LOCUS_MAXDIST) return fold(id);
  if (e.op == LOCUS_CALL) return call(e);
  return operation(e);
}

// -- sums over a coordinate
// How many turns of a loop are written one after the other: short ones all, longer ones by up to 64 of little text, 16 of much.
std::int64_t Code::unrolled_turns(const locus_expr& e) const {
  const std::int64_t extent = program_.extent(e.index);
  int text = 0;
  for (Id k = 0; k < e.arity; ++k) text += size(e.args[k]);
  if (text > short_text) return extent > iteration_limit ? 16 : extent > iteration_limit / 4 ? 4 : 1;
  if (extent <= whole_extent) return std::max<std::int64_t>(extent, 1);
  return extent > iteration_limit * 8 ? 64 : extent > iteration_limit / 4 ? 16 : 4;
}

void Code::turns(Id coordinate, std::int64_t extent, std::int64_t unrolled, const std::function<void()>& body) {
  const auto turn = [&](const std::string& name) {
    bind(coordinate, name);
    body();
  };
  if (extent <= unrolled) {
    for (std::int64_t k = 0; k < extent; ++k) {
      open();
      turn(std::to_string(k));
      close();
    }
    return;
  }
  const std::string name = fresh("c");
  open("for (int " + name + " = 0; " + name + " < " + std::to_string(extent / unrolled * unrolled) + "; " + name + " += " + std::to_string(unrolled) + ")");
  for (std::int64_t k = 0; k < unrolled; ++k) {
    if (k == 0) {
      turn(name);
      continue;
    }
    open();
    const std::string next = fresh("c");
    line("int " + next + " = " + name + " + " + std::to_string(k) + ";");
    turn(next);
    close();
  }
  close();
  for (std::int64_t k = extent / unrolled * unrolled; k < extent; ++k) {
    open();
    turn(std::to_string(k));
    close();
  }
}

Code::Sum Code::sum_of(const locus_expr& e) const {
  const std::int64_t extent = e.index == LOCUS_NONE ? 1 : program_.extent(e.index);
  const bool whole = e.type == LOCUS_TYPE_INTEGER, adds = e.op != LOCUS_MAX_OVER && e.op != LOCUS_MIN_OVER && e.op != LOCUS_MAXDIST;
  const bool exact = !whole && adds && !wide() && e.type == LOCUS_TYPE_REAL && extent > (contracts(e) ? exact_contraction_terms : exact_terms);
  std::string begin = literal(0, exact ? std::uint32_t{LOCUS_TYPE_EXACT} : std::uint32_t{e.type});
  if (e.op == LOCUS_MAX_OVER) begin = whole ? "(-9223372036854775807l - 1l)" : literal(-HUGE_VAL, e.type);
  if (e.op == LOCUS_MIN_OVER) begin = whole ? "9223372036854775807l" : literal(HUGE_VAL, e.type);
  return {begin, exact ? "double" : word(e.type), exact};
}

void Code::add_turn(const locus_expr& e, const Sum& sum, const std::string& all) {
  const std::string last = suffix(e.type), a = as(e.args[0], e.type);
  const bool whole = e.type == LOCUS_TYPE_INTEGER, exact = sum.exact;
  const auto add = [&](const std::string& term) { line(all + " += " + (exact ? "double(" + term + ")" : term) + ";"); };
  if (e.op == LOCUS_SUM_OVER) return add(a);
  if (e.op <= LOCUS_MIN_OVER) {
    const char* which = e.op == LOCUS_MAX_OVER ? (whole ? "maximum" : "larger") : (whole ? "minimum" : "smaller");
    return line(all + " = " + which + last + "(" + all + ", " + a + ");");
  }
  const std::string b = as(e.args[1], e.type);
  if (e.op == LOCUS_DOT) return exact ? add(a + " * " + b) : line(all + " = fma(" + a + ", " + b + ", " + all + ");");
  const std::string d = fresh("d");
  line(std::string(word(e.type)) + ' ' + d + " = " + a + " - " + b + ";");
  if (e.op == LOCUS_SQDIST) return exact ? add(d + " * " + d) : line(all + " = fma(" + d + ", " + d + ", " + all + ");");
  if (e.op == LOCUS_L1DIST) return add("abs" + last + "(" + d + ")");
  line(all + " = larger" + last + "(" + all + ", abs" + last + "(" + d + "));");
}

std::string Code::fold(Id id) {
  const locus_expr& e = program_.exprs[id];
  const Sum sum = sum_of(e);
  const std::string all = fresh("s");
  line(sum.type + ' ' + all + " = " + sum.begin + ";");
  if (e.index == LOCUS_NONE) {
    open();
    add_turn(e, sum, all);
    close();
  } else {
    turns(e.index, program_.extent(e.index), unrolled_turns(e), [&] { add_turn(e, sum, all); });
  }
  return sum.exact ? std::string(word(e.type)) + "(" + all + ")" : all;
}

namespace {

std::string state_at(const std::string& type, const std::string& at) { return (type == "float" ? "AsFloat(" : type == "double" ? "AsDouble(" : "AsInt(") + at + ").v"; }

}  // namespace

void Code::carry(Id id, const std::string& state) {
  const locus_expr& e = program_.exprs[id];
  const Sum sum = sum_of(e);
  const std::string all = fresh("s"), c = fresh("c");
  line(sum.type + ' ' + all + " = " + sum.begin + ";");
  line("if (P.a > 0l) " + all + " = " + state_at(sum.type, state) + ";");
  open("for (int " + c + " = int(P.a); " + c + " < int(P.b); ++" + c + ")");
  bind(e.index, c);
  add_turn(e, sum, all);
  close();
  line(state_at(sum.type, state) + " = " + all + ";");
}

void Code::take(Id id, const std::string& state) {
  const locus_expr& e = program_.exprs[id];
  const std::string name = fresh("v");
  line(std::string(word(e.type)) + ' ' + name + " = " + word(e.type) + "(" + state_at(sum_of(e).type, state) + ");");
  scopes_.back().values[key_of(id)] = name;
  taken_.insert(id);
}

std::vector<Id> Code::outermost_folds(Id id) const {
  std::set<Id> seen;
  std::vector<Id> folds, left{id};
  while (!left.empty()) {
    const Id e = left.back();
    left.pop_back();
    if (!seen.insert(e).second) continue;
    const locus_expr& x = program_.exprs[e];
    if (plugin::bound_by(x) != LOCUS_NONE)
      folds.push_back(e);
    else
      left.insert(left.end(), x.args, x.args + x.arity);
  }
  return folds;
}

std::int64_t Code::turn_iterations(Id fold) const {
  const locus_expr& e = program_.exprs[fold];
  std::int64_t n = 1;
  for (Id k = 0; k < e.arity; ++k) n += iterations(e.args[k]);
  return n;
}

std::int64_t Code::iterations(Id id) const {
  std::map<Id, std::int64_t> most;  // times that an expression is computed, where it is computed most
  std::int64_t total = 0;
  std::vector<std::pair<Id, std::int64_t>> left{{id, 1}};
  while (!left.empty() && total < INT64_MAX / 4) {
    const auto [e, times] = left.back();
    left.pop_back();
    if (taken_.count(e) != 0) continue;
    const locus_expr& x = program_.exprs[e];
    std::int64_t inner = times;
    if (plugin::bound_by(x) != LOCUS_NONE) {
      const std::int64_t extent = program_.extent(x.index), unrolled = unrolled_turns(x);
      if (__builtin_mul_overflow(times, std::max<std::int64_t>(extent, 1), &inner)) return INT64_MAX / 4;
      if (extent > unrolled) total += times * (extent / unrolled + 1);
    }
    if (x.op == LOCUS_pow && x.type == LOCUS_TYPE_INTEGER) total += 64 * times;
    if (const auto [at, added] = most.emplace(e, inner); !added) {
      if (at->second >= inner) continue;
      at->second = inner;
    }
    for (Id k = 0; k < x.arity; ++k) left.push_back({x.args[k], inner});
  }
  return total;
}

// -- scalar operations
std::string Code::comparison(const locus_expr& e) {
  std::uint32_t common = 0;
  for (Id k = 0; k < 2; ++k) common = std::max<std::uint32_t>(common, program_.exprs[e.args[k]].type);
  const std::string a = as(e.args[0], common), b = as(e.args[1], common);
  if (common == LOCUS_TYPE_INTEGER && e.op == LOCUS_lt) return "less_i(" + a + ", " + b + ")";
  if (common == LOCUS_TYPE_INTEGER && e.op == LOCUS_le) return "!less_i(" + b + ", " + a + ")";
  static const char* const signs[] = {" < ", " <= ", " == ", " != "};
  return a + signs[e.op - LOCUS_lt] + b;
}

// A constant whole power is written out as the products of repeated squaring.
std::string Code::power(const locus_expr& e, const std::string& a, const std::string& b) {
  const locus_expr& n = program_.exprs[e.args[1]];
  if (e.type == LOCUS_TYPE_INTEGER || n.op != LOCUS_CONSTANT || n.value != std::floor(n.value) || std::abs(n.value) > 64)
    return std::string("pow") + suffix(e.type) + "(" + a + ", " + b + ")";
  std::string product, square = a;
  for (auto k = static_cast<unsigned>(std::abs(n.value)); k != 0; k >>= 1) {
    if ((k & 1u) != 0) product = product.empty() ? square : "(" + product + " * " + square + ")";
    if (k > 1) {
      const std::string next = fresh("x");
      line(std::string(word(e.type)) + ' ' + next + " = " + square + " * " + square + ";");
      square = next;
    }
  }
  if (product.empty()) product = literal(1, e.type);
  return n.value < 0 ? literal(1, e.type) + " / " + product : product;
}

std::string Code::operation(const locus_expr& e) {
  if (e.op == LOCUS_select) {
    const std::string c = value(e.args[0]), yes = as(e.args[1], e.type), no = as(e.args[2], e.type);
    if (e.type >= LOCUS_TYPE_EXACT && yes == literal(1, e.type) && no == literal(0, e.type)) return "from_bool" + std::string(suffix(e.type)) + "(" + c + ")";
    if (e.type >= LOCUS_TYPE_EXACT && yes == literal(0, e.type) && no == literal(1, e.type)) return "from_bool" + std::string(suffix(e.type)) + "(!" + c + ")";
    return c + " ? " + yes + " : " + no;
  }
  const std::uint32_t first = program_.exprs[e.args[0]].type;
  if (e.op == LOCUS_real)
    return first == LOCUS_TYPE_BOOL ? "from_bool" + std::string(suffix(e.type)) + "(" + value(e.args[0]) + ")" : std::string(word(e.type)) + "(" + value(e.args[0]) + ")";
  if (e.op >= LOCUS_lt && e.op <= LOCUS_ne) return comparison(e);
  const std::uint32_t type = e.type == LOCUS_TYPE_BOOL ? first : std::uint32_t{e.type};
  const std::string a = as(e.args[0], type), b = e.arity > 1 ? as(e.args[1], type) : "", last = suffix(type);
  const bool whole = type == LOCUS_TYPE_INTEGER;
  switch (e.op) {
    case LOCUS_not:
      return "!" + a;
    case LOCUS_and:
      return a + " && " + b;
    case LOCUS_or:
      return a + " || " + b;
    case LOCUS_neg:
      return "-" + a;
    case LOCUS_add:
      return a + " + " + b;
    case LOCUS_sub:
      return a + " - " + b;
    case LOCUS_mul:
      return a + " * " + b;
    case LOCUS_div:
      return a + " / " + b;
    case LOCUS_sqrt:
      return "sqrt(" + a + ")";
    case LOCUS_floor:
      return "floor(" + a + ")";
    case LOCUS_round:
      return "roundEven(" + a + ")";
    case LOCUS_maximum:
      return (whole ? "maximum_i" : "larger" + last) + "(" + a + ", " + b + ")";
    case LOCUS_minimum:
      return (whole ? "minimum_i" : "smaller" + last) + "(" + a + ", " + b + ")";
    case LOCUS_relu:
      return "larger" + last + "(" + a + ", " + literal(0, type) + ")";
    case LOCUS_pow:
      return power(e, a, b);
    default:
      break;
  }
  static const char* const names[] = {
#define LOCUS_OP(name, arity, rule, low, high, text) #name,
#include "plugins/abi/locus_ops.def"
#undef LOCUS_OP
  };
  return names[e.op - LOCUS_BEFORE_OPS - 1] + last + "(" + a + (e.arity > 1 ? ", " + b : "") + ")";
}

// `exp_r` in a kernel's text is the function for the run's precision.
std::string Code::for_real(std::string text) const {
  const std::string mark = "_r(", own = std::string(suffix(LOCUS_TYPE_REAL)) + "(";
  for (std::size_t k = text.find(mark); k != std::string::npos; k = text.find(mark, k)) text.replace(k, mark.size(), own);
  return text;
}

// A native kernel is a function of the contracted number `x` and its settings by their names. Giving NaN for a finite number is a fault of the pair.
std::string Code::call(const locus_expr& e) {
  const locus_program_kernel& use = program_.kernels[e.index];
  const std::string name = "kernel" + std::to_string(e.index);
  const std::size_t known = offsetof(locus_kernel, glsl) + sizeof use.kernel->glsl;
  if (use.kernel->size < known || !use.kernel->glsl)
    throw Failure(LOCUS_UNSUPPORTED,
                  std::string("the kernel ") + use.kernel->name + " has no form for GPUs; give its plugin a `source` or a `glsl` form, or run with `--backend cpu`");
  if (written_.emplace(e.index, true).second) {
    kernels_ += "REAL " + name + "_value(REAL x) {\n";
    for (std::uint32_t k = 0; k < use.setting_count; ++k)
      kernels_ += std::string("const REAL ") + use.kernel->settings[k].name + " = " + literal(use.settings[k], LOCUS_TYPE_REAL) + ";\n";
    kernels_ += for_real(use.kernel->glsl) + "\n}\nREAL " + name + "(REAL x) { REAL v = " + name + "_value(x); if (is_nan" + suffix(LOCUS_TYPE_REAL) + "(v) && is_finite" +
                suffix(LOCUS_TYPE_REAL) + "(x) && trouble == 0u) trouble = 4u; return v; }\n";
  }
  const std::string v = name + "(" + as(e.args[0], LOCUS_TYPE_REAL) + ")";
  return e.type == LOCUS_TYPE_REAL ? v : std::string(word(e.type)) + "(" + v + ")";
}

}  // namespace locus::vulkan
