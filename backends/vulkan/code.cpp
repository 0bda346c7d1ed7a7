// Statement by statement; see code.hpp.
#include "backends/vulkan/code.hpp"
#include <cmath>
#include <cstdio>
#include "backends/vulkan/library.hpp"

namespace locus::vulkan {
namespace {

constexpr std::int64_t unrolled = 16, long_loop = 4096;

const char* type_word(std::uint32_t type, bool wide) {
  switch (type) {
    case LOCUS_TYPE_BOOL: return "bool";
    case LOCUS_TYPE_INTEGER: return "int64_t";
    case LOCUS_TYPE_EXACT: return "double";
    default: return wide ? "double" : "float";
  }
}

}  // namespace

const char* type_text(const Program&, std::uint32_t dtype) {
  return dtype == LOCUS_BOOL ? "bool" : dtype == LOCUS_INT64 ? "int64_t" : dtype == LOCUS_FLOAT32 ? "float" : "double";
}

namespace {
const char* access(std::uint32_t dtype) { return dtype == LOCUS_BOOL ? "bool" : dtype == LOCUS_INT64 ? "int" : dtype == LOCUS_FLOAT32 ? "float" : "double"; }
}  // namespace

std::string load_text(const Program& p, Id tensor) { return std::string("load_") + access(p.tensors[tensor].dtype); }
std::string store_text(const Program& p, Id tensor) { return std::string("store_") + access(p.tensors[tensor].dtype); }

std::string shader(const Program& p, int size, const std::string& before_main, const std::string& body) {
  std::string text = "#version 460\n#extension GL_EXT_buffer_reference : require\n#extension GL_EXT_shader_explicit_arithmetic_types : require\n#extension GL_EXT_shader_8bit_storage : require\n"
                     "#extension GL_EXT_control_flow_attributes : require\n";
  text += std::string("#define REAL ") + (p.real == LOCUS_FLOAT64 ? "double\n#define REAL_INF inf_d()" : "float\n#define REAL_INF inf_f") + "\nlayout(local_size_x = " + std::to_string(size) + ") in;\n";
  return text + library + before_main + "void main() {\n  if (stopped()) return;\n" + body + "}\n";
}

std::string Code::literal(double v, std::uint32_t type) const {
  char text[64];
  if (type == LOCUS_TYPE_BOOL) return v != 0 ? "true" : "false";
  if (type == LOCUS_TYPE_INTEGER) {
    const auto whole = static_cast<std::int64_t>(v);
    if (whole == INT64_MIN) return "(-9223372036854775807l - 1l)";
    std::snprintf(text, sizeof text, "(%lldl)", static_cast<long long>(whole));
    return text;
  }
  const bool wide = type == LOCUS_TYPE_EXACT || program_.real == LOCUS_FLOAT64;
  if (!wide) v = static_cast<float>(v);
  if (std::isnan(v)) return wide ? "nan_d()" : "nan_f";
  if (std::isinf(v)) return std::string(v < 0 ? "(-" : "(") + (wide ? "inf_d()" : "inf_f") + ")";
  std::snprintf(text, sizeof text, wide ? "(%.17e" : "(%.9e", v);
  return std::string(text) + (wide ? "lf)" : ")");
}

std::string Code::tensor(Id t) {
  tensors_.insert(t);
  return "tensor" + std::to_string(t);
}

std::string Code::addresses() const {
  std::string text;
  for (Id t : tensors_) text += "  uint64_t tensor" + std::to_string(t) + " = AsAddress(P.table + " + std::to_string(8 * std::uint64_t{t}) + "ul).v;\n";
  return text;
}

void Code::open(const std::string& head) {
  line(head + " {");
  scopes_.emplace_back();
}

void Code::close() {
  scopes_.pop_back();
  line("}");
}

void Code::decode(const std::string& flat, std::span<const Id> coordinates) {
  std::string rest = flat;
  for (std::size_t k = coordinates.size(); k-- > 0;) {
    const Id c = coordinates[k];
    const std::string name = "c" + std::to_string(c) + "_" + std::to_string(fresh_++), extent = std::to_string(std::max<std::int64_t>(program_.extent(c), 1)) + "l";
    if (k == 0) {
      line("int " + name + " = int(" + rest + ");");
    } else {
      const std::string next = "rest" + std::to_string(fresh_++);
      line("int64_t " + next + " = (" + rest + ") / " + extent + "; int " + name + " = int((" + rest + ") - " + next + " * " + extent + ");");
      rest = next;
    }
    bind(c, name);
  }
}

std::string Code::place(std::int64_t offset, std::span<const locus_stride> strides) const {
  std::string text = std::to_string(offset) + "l";
  for (const locus_stride& s : strides) text += " + int64_t(" + names_.at(s.coordinate) + ") * " + (s.stride < 0 ? "(" + std::to_string(s.stride) + "l)" : std::to_string(s.stride) + "l");
  return text;
}

bool Code::available(Id e) const {
  return std::all_of(program_.free[e].begin(), program_.free[e].end(), [&](Id c) { return names_.count(c) > 0; });
}

std::string Code::define(Id e, const std::string& text) {
  const std::string name = "v" + std::to_string(fresh_++);
  line(std::string(type_word(program_.exprs[e].type, program_.real == LOCUS_FLOAT64)) + ' ' + name + " = " + text + ";");
  return scopes_.back()[e] = name;
}

std::string Code::value(Id e) {
  for (std::size_t k = scopes_.size(); k-- > 0;)
    if (const auto found = scopes_[k].find(e); found != scopes_[k].end()) return found->second;
  const locus_expr& x = program_.exprs[e];
  if (x.op == LOCUS_CONSTANT) return literal(x.value, x.type);
  return define(e, compute(e));
}

std::string Code::value_for(Id e, Id tensor) {
  const std::uint32_t dtype = program_.tensors[tensor].dtype;
  const std::string v = value(e);
  return dtype >= LOCUS_FLOAT32 ? std::string(access(dtype)) + "(" + v + ")" : v;
}

// A value as another type; exact constants become that type's own.
std::string Code::as(Id e, std::uint32_t type) {
  const locus_expr& x = program_.exprs[e];
  if (x.type == type) return value(e);
  if (x.op == LOCUS_CONSTANT) return literal(x.value, type);
  return std::string(type_word(type, program_.real == LOCUS_FLOAT64)) + "(" + value(e) + ")";
}

std::string Code::compute(Id id) {
  const locus_expr& e = program_.exprs[id];
  if (e.op == LOCUS_READ) return load_text(program_, e.index) + "(" + tensor(e.index) + ", " + place(e.offset, program_.read_strides(e)) + ")";
  if (e.op == LOCUS_COORDINATE) return "int64_t(" + names_.at(e.index) + ")";
  if (e.op <= LOCUS_MAXDIST) return binder(id);
  if (e.op == LOCUS_CALL) return call(e);
  return operation(e);
}

// What a loop's body needs and does not change in the loop is computed before it.
void Code::hoist(Id e, Id bound) {
  const locus_expr& x = program_.exprs[e];
  if (x.op == LOCUS_CONSTANT) return;
  if (!program_.depends(e, bound) && available(e)) return void(value(e));
  for (Id k = 0; k < x.arity; ++k) hoist(x.args[k], bound);
}

std::string Code::binder(Id id) {
  const locus_expr& e = program_.exprs[id];
  const std::string type = type_word(e.type, program_.real == LOCUS_FLOAT64), sum = "s" + std::to_string(fresh_++);
  const double infinity = HUGE_VAL;
  const bool whole = e.type == LOCUS_TYPE_INTEGER;
  double begin = 0;
  if (e.op == LOCUS_MAX_OVER) begin = whole ? -0x1p63 : -infinity;
  if (e.op == LOCUS_MIN_OVER) begin = infinity;
  line(type + ' ' + sum + " = " + (whole && e.op == LOCUS_MIN_OVER ? "9223372036854775807l" : literal(begin, e.type)) + ";");
  const std::int64_t extent = e.index == LOCUS_NONE ? 1 : program_.extent(e.index);
  const auto body = [&] {
    const std::string a = as(e.args[0], e.type);
    if (e.op == LOCUS_SUM_OVER) return line(sum + " += " + a + ";");
    if (e.op <= LOCUS_MIN_OVER) {
      if (whole) return line(sum + " = " + (e.op == LOCUS_MAX_OVER ? "max(" : "min(") + sum + ", " + a + ");");
      return line(sum + " = " + (e.op == LOCUS_MAX_OVER ? "larger(" : "smaller(") + sum + ", " + a + ");");
    }
    const std::string b = as(e.args[1], e.type);
    if (e.op == LOCUS_DOT) return line(sum + " = fma(" + a + ", " + b + ", " + sum + ");");
    const std::string d = "d" + std::to_string(fresh_++);
    line(type + ' ' + d + " = " + a + " - " + b + ";");
    if (e.op == LOCUS_SQDIST) line(sum + " = fma(" + d + ", " + d + ", " + sum + ");");
    else if (e.op == LOCUS_L1DIST) line(sum + " += k_abs(" + d + ");");
    else line(sum + " = larger(" + sum + ", k_abs(" + d + "));");
  };
  if (e.index == LOCUS_NONE) {
    open("");
    body();
    close();
    return sum;
  }
  for (Id k = 0; k < e.arity; ++k) hoist(e.args[k], e.index);
  const std::string c = "c" + std::to_string(e.index) + "_" + std::to_string(fresh_++);
  const auto outside = names_.find(e.index);
  const std::string before = outside == names_.end() ? "" : outside->second;
  const auto loop = [&](const std::string& head) {
    bind(e.index, c);
    open(head);
    body();
    close();
  };
  if (extent > long_loop) {  // unrolled bodies count once
    const std::string block = "b" + std::to_string(fresh_++);
    open("for (int " + block + " = 0; " + block + " < " + std::to_string(extent / unrolled) + "; ++" + block + ")");
    for (std::int64_t u = 0; u < unrolled; ++u) {
      open("");
      line("int " + c + " = " + block + " * " + std::to_string(unrolled) + " + " + std::to_string(u) + ";");
      bind(e.index, c);
      body();
      close();
    }
    close();
    loop("for (int " + c + " = " + std::to_string(extent / unrolled * unrolled) + "; " + c + " < " + std::to_string(extent) + "; ++" + c + ")");
  } else {
    loop("for (int " + c + " = 0; " + c + " < " + std::to_string(extent) + "; ++" + c + ")");
  }
  if (before.empty()) names_.erase(e.index);
  else names_[e.index] = before;
  return sum;
}

std::string Code::operation(const locus_expr& e) {
  const auto type_of = [&](int k) { return program_.exprs[e.args[k]].type; };
  if (e.op == LOCUS_select) return value(e.args[0]) + " ? " + as(e.args[1], e.type) + " : " + as(e.args[2], e.type);
  if (e.op == LOCUS_real) {
    if (type_of(0) == LOCUS_TYPE_BOOL) return value(e.args[0]) + " ? " + literal(1, e.type) + " : " + literal(0, e.type);
    return std::string(type_word(e.type, program_.real == LOCUS_FLOAT64)) + "(" + value(e.args[0]) + ")";
  }
  if (e.op >= LOCUS_lt && e.op <= LOCUS_ne) {
    std::uint32_t common = std::max(type_of(0), type_of(1));
    for (int k = 0; k < 2; ++k) {  // a number that both precisions hold need not widen the comparison
      const locus_expr& x = program_.exprs[e.args[k]];
      if (common == LOCUS_TYPE_REAL && x.type == LOCUS_TYPE_EXACT && !(x.op == LOCUS_CONSTANT && static_cast<double>(static_cast<float>(x.value)) == x.value)) common = LOCUS_TYPE_EXACT;
    }
    static const char* const signs[] = {" < ", " <= ", " == ", " != "};
    return as(e.args[0], common) + signs[e.op - LOCUS_lt] + as(e.args[1], common);
  }
  const std::uint32_t at = e.type == LOCUS_TYPE_BOOL ? type_of(0) : e.type;
  const std::string a = as(e.args[0], at), b = e.arity > 1 ? as(e.args[1], at) : "";
  if (e.op == LOCUS_not) return "!" + a;
  if (e.op == LOCUS_and) return a + " && " + b;
  if (e.op == LOCUS_or) return a + " || " + b;
  const bool whole = e.type == LOCUS_TYPE_INTEGER;
  switch (e.op) {
    case LOCUS_neg: return "-" + a;
    case LOCUS_add: return a + " + " + b;
    case LOCUS_sub: return a + " - " + b;
    case LOCUS_mul: return a + " * " + b;
    case LOCUS_div: return a + " / " + b;
    case LOCUS_idiv: return "i_div(" + a + ", " + b + ")";
    case LOCUS_mod: return "i_mod(" + a + ", " + b + ")";
    case LOCUS_abs: return (whole ? "i_abs(" : "k_abs(") + a + ")";
    case LOCUS_sign: return (whole ? "i_sign(" : "k_sign(") + a + ")";
    case LOCUS_maximum: return (whole ? "max(" : "larger(") + a + ", " + b + ")";
    case LOCUS_minimum: return (whole ? "min(" : "smaller(") + a + ", " + b + ")";
    case LOCUS_sqrt: return "sqrt(" + a + ")";
    case LOCUS_floor: return "floor(" + a + ")";
    case LOCUS_round: return "roundEven(" + a + ")";
    case LOCUS_relu: return "larger(" + a + ", " + literal(0, e.type) + ")";
    case LOCUS_pow: {
      if (whole) return "i_pow(" + a + ", " + b + ")";
      const locus_expr& n = program_.exprs[e.args[1]];
      if (n.op == LOCUS_CONSTANT && n.value == 2) return a + " * " + a;
      if (n.op == LOCUS_CONSTANT && n.value == 3) return a + " * " + a + " * " + a;
      return "k_pow(" + a + ", " + b + ")";
    }
    default: {
      static const char* const names[] = {
#define LOCUS_OP(name, arity, rule, low, high, text) #name,
#include "plugins/abi/locus_ops.def"
#undef LOCUS_OP
      };
      return std::string("k_") + names[e.op - LOCUS_BEFORE_OPS - 1] + "(" + a + ")";
    }
  }
}

// A native kernel is a function of its own: `x`, the contracted number, and its settings by their names.
std::string Code::call(const locus_expr& e) {
  const locus_program_kernel& use = program_.kernels[e.index];
  if (!use.kernel->glsl) throw Failure(LOCUS_UNSUPPORTED, std::string("kernel ") + use.kernel->name + " has no glsl form; give it one, or a source");
  if (kernels_.insert(e.index).second) {
    functions_ += "REAL kernel" + std::to_string(e.index) + "(REAL x) {\n";
    for (std::uint32_t k = 0; k < use.setting_count; ++k) functions_ += std::string("const REAL ") + use.kernel->settings[k].name + " = " + literal(use.settings[k], LOCUS_TYPE_REAL) + ";\n";
    functions_ += std::string(use.kernel->glsl) + "\n}\n";
  }
  return "kernel" + std::to_string(e.index) + "(" + as(e.args[0], LOCUS_TYPE_REAL) + ")";
}

std::int64_t Code::iterations(Id id) const {
  std::map<Id, std::int64_t> done;
  std::int64_t total = 0;
  std::vector<std::pair<Id, std::int64_t>> open{{id, 1}};
  while (!open.empty()) {
    const auto [e, times] = open.back();
    open.pop_back();
    const locus_expr& x = program_.exprs[e];
    std::int64_t inner = times;
    if (x.op == LOCUS_erf || x.op == LOCUS_gelu) total += 64 * times;
    if (x.op == LOCUS_pow) total += 7 * times;
    if (plugin::bound_by(x) != LOCUS_NONE) {
      std::int64_t extent = program_.extent(x.index);
      if (extent > long_loop) extent = extent / unrolled + unrolled;
      inner = times * std::max<std::int64_t>(extent, 1);
      total += inner;
    }
    if (total > INT64_MAX / 4 || done[e] >= inner) continue;
    done[e] = inner;
    for (Id k = 0; k < x.arity; ++k) open.push_back({x.args[k], inner});
  }
  return total;
}

}  // namespace locus::vulkan
