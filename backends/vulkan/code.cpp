// Scopes, addresses and the frame of a shader; see code.hpp. Expressions are in expressions.cpp.
#include "backends/vulkan/code.hpp"
#include <algorithm>
#include <cctype>
#include "backends/vulkan/functions.hpp"

namespace locus::vulkan {
namespace {

// Tensors are reached by their addresses, which lie in a table: buffers change from run to run, recorded commands do not. Once the word at `halt` is not
// 0, since a fault was met, no shader does anything any more.
constexpr const char* frame = R"(#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require
layout(buffer_reference, std430, buffer_reference_align = 4) buffer AsFloat { float v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer AsDouble { double v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer AsInt { int64_t v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer AsAddress { uint64_t v; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer AsWord { uint v; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer AsByte { uint8_t v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Fault {
  uint row, only, kind, empty, most_empty, reserved;
  int64_t value, limit;
  uint seen, seen_high, skipped, skipped_high;
};
layout(push_constant, std430) uniform Push { uint64_t table, scratch, faults, control, halt; int64_t first, count, a, b, c, d; } P;
#define load_float(p) AsFloat(p).v
#define load_double(p) AsDouble(p).v
#define load_int(p) AsInt(p).v
#define load_bool(p) (AsByte(p).v != uint8_t(0))
#define store_float(p, x) AsFloat(p).v = x
#define store_double(p, x) AsDouble(p).v = x
#define store_int(p, x) AsInt(p).v = x
#define store_bool(p, x) AsByte(p).v = uint8_t((x) ? 1 : 0)
uint trouble = 0u;
int64_t trouble_value = 0l;
bool reported = false;
void report(uint kind, int64_t row, int64_t value, int64_t limit) {
  if (reported) return;
  reported = true;
  Fault f = Fault(P.faults);
  uint at = uint(min(row, 4294967294l));
  atomicMin(f.row, at);
  AsWord(P.halt).v = 1u;
  if (f.only == at) { f.kind = kind; f.value = value; f.limit = limit; }
}
)";

bool is_number(const std::string& name) { return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0; }

const char* access_of(std::uint32_t dtype) { return dtype == LOCUS_BOOL ? "bool" : dtype == LOCUS_INT64 ? "int" : dtype == LOCUS_FLOAT32 ? "float" : "double"; }

}  // namespace

const char* load_of(std::uint32_t dtype) {
  static const char* const of[] = {"load_bool", "load_int", "load_float", "load_double"};
  return of[dtype];
}
const char* store_of(std::uint32_t dtype) {
  static const char* const of[] = {"store_bool", "store_int", "store_float", "store_double"};
  return of[dtype];
}
const char* type_of(std::uint32_t dtype) { return dtype == LOCUS_INT64 ? "int64_t" : access_of(dtype); }

Shader Code::finish(const std::string& before_main) const {
  const std::string own =
      before_main + kernels_ + "void main() {\nif (AsWord(P.halt).v != 0u || (P.control != 0ul && AsInt(P.control).v != 0l)) return;\n" + scopes_.front().text + "}\n";
  const std::string head = std::string(frame) + "#define REAL " + (wide() ? "double" : "float") + "\nlayout(local_size_x = " + std::to_string(group_size) + ") in;\n";
  return {head + functions_for(own) + own, tensors_, numbers_};
}

std::vector<bool> faulty_expressions(const Program& program) {
  std::vector<bool> faulty(program.exprs.size());
  for (Id k = 0; k < program.exprs.size(); ++k) {  // arguments stand before their users
    const locus_expr& e = program.exprs[k];
    faulty[k] = e.op == LOCUS_CALL || e.op == LOCUS_idiv || e.op == LOCUS_mod;
    for (Id a = 0; a < e.arity; ++a) faulty[k] = faulty[k] || faulty[e.args[a]];
  }
  return faulty;
}

Code::Code(const Program& program) : program_(program), scopes_(1), faulty_(faulty_expressions(program)), sizes_(program.exprs.size()) {
  constexpr int long_function = 8, sum = 16, bound = 1000;
  for (Id k = 0; k < program.exprs.size(); ++k) {
    const locus_expr& e = program.exprs[k];
    const bool function = e.op > LOCUS_BEFORE_OPS && e.op <= LOCUS_silu && e.op != LOCUS_neg && e.op != LOCUS_abs;
    int n = e.op == LOCUS_CONSTANT ? 0 : function ? long_function : 1;
    if (plugin::bound_by(e) != LOCUS_NONE) n += sum;
    for (Id a = 0; a < e.arity; ++a) n += sizes_[e.args[a]];
    sizes_[k] = std::min(n, bound);
  }
}

void Code::open(const std::string& head) {
  Scope& inner = scopes_.emplace_back();
  inner.head = head;
  inner.kind = head.empty() ? Scope::braces : head.rfind("for", 0) == 0 ? Scope::loop : Scope::condition;
}

void Code::close() {
  Scope inner = std::move(scopes_.back());
  scopes_.pop_back();
  for (std::size_t k = inner.before.size(); k-- > 0;) {
    if (inner.before[k].second)
      names_[inner.before[k].first] = *inner.before[k].second;
    else
      names_.erase(inner.before[k].first);
  }
  scopes_.back().text += inner.head + " {\n" + inner.text + "}\n";
}

void Code::bind(Id c, const std::string& name, std::size_t depth) {
  const auto known = names_.find(c);
  scopes_.back().before.emplace_back(c, known == names_.end() ? std::nullopt : std::optional<Binding>(known->second));
  names_[c] = {name, is_number(name) ? 0 : depth};
}

std::string Code::within(std::size_t k, const std::function<std::string()>& body) {
  std::vector<Scope> inner(std::make_move_iterator(scopes_.begin() + static_cast<std::ptrdiff_t>(k) + 1), std::make_move_iterator(scopes_.end()));
  scopes_.resize(k + 1);
  std::string result = body();
  scopes_.insert(scopes_.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
  return result;
}

std::string Code::share(std::size_t scope, const char* type, const std::string& text) {
  for (std::size_t k = scope + 1; k-- > 0;)  // names are never used twice, so that a text means the same wherever it can stand
    if (const auto found = scopes_[k].shared.find(text); found != scopes_[k].shared.end()) return found->second;
  const std::string name = fresh("p");
  scopes_[scope].text += std::string(type) + ' ' + name + " = " + text + ";\n";
  return scopes_[scope].shared[text] = name;
}

std::string Code::key_of(Id e) const {
  std::string key = std::to_string(e);
  for (Id c : program_.free[e]) key += ',' + names_.at(c).name;
  return key;
}

// Where a value is computed: outside of all loops that it does not change in, and of plain braces; not outside of a condition for its own sake.
std::size_t Code::target_of(Id e) const {
  std::size_t outermost = 0, target = scopes_.size() - 1;
  for (Id c : program_.free[e]) outermost = std::max(outermost, names_.at(c).depth);
  if (faulty_[e]) return target;
  for (std::size_t k = target; k > outermost; --k)
    if (scopes_[k].kind == Scope::loop) target = k - 1;
  while (target > outermost && scopes_[target].kind == Scope::braces) --target;
  return target;
}

void Code::decode(const std::string& flat, std::span<const Id> coordinates, const char* type) {
  std::string rest = flat;
  if (is_number(flat)) {
    std::int64_t at = std::stoll(flat);
    for (std::size_t k = coordinates.size(); k-- > 0;) {
      const std::int64_t extent = std::max<std::int64_t>(program_.extent(coordinates[k]), 1);
      bind(coordinates[k], std::to_string(k == 0 ? at : at % extent));
      at /= extent;
    }
    return;
  }
  for (std::size_t k = coordinates.size(); k-- > 0;) {
    const Id c = coordinates[k];
    const std::string name = fresh("c"), extent = std::string(type) + "(" + std::to_string(std::max<std::int64_t>(program_.extent(c), 1)) + ")";
    if (k == 0) {
      line("int " + name + " = int(" + rest + ");");
    } else {
      const std::string next = fresh("q");
      line(std::string(type) + ' ' + next + " = " + rest + " / " + extent + "; int " + name + " = int(" + rest + " - " + next + " * " + extent + ");");
      rest = next;
    }
    bind(c, name);
  }
}

std::string Code::base(Id tensor) {
  const auto at = static_cast<std::size_t>(std::find(tensors_.begin(), tensors_.end(), tensor) - tensors_.begin());
  if (at == tensors_.size()) tensors_.push_back(tensor);
  return share(0, "uint64_t", "AsAddress(P.table + " + std::to_string(8 * at) + "ul).v");
}

// Numbers stand before the addresses, the first one last.
std::string Code::number(std::int64_t v) {
  numbers_.push_back(v);
  return share(0, "int64_t", "AsInt(P.table - " + std::to_string(8 * numbers_.size()) + "ul).v");
}

// Bytes from the base: a part for each scope, outermost first, so that an inner scope only adds its own. Products that fit stay in 32 bits.
std::string Code::address(Id tensor, std::int64_t offset, std::span<const locus_stride> strides) {
  const auto size = static_cast<std::int64_t>(plugin::size_of_dtype(program_.tensors[tensor].dtype));
  std::int64_t fixed = offset * size;
  std::map<std::size_t, std::string> parts;
  for (const locus_stride& s : strides) {
    const Binding& at = names_.at(s.coordinate);
    const std::int64_t step = s.stride * size, extent = program_.extent(s.coordinate);
    if (is_number(at.name)) {
      fixed += std::stoll(at.name) * step;
      continue;
    }
    const bool narrow = static_cast<__int128>(std::max<std::int64_t>(extent, 1)) * std::abs(step) < INT32_MAX;
    parts[at.depth] += narrow ? " + uint64_t(int64_t(" + at.name + " * " + std::to_string(step) + "))" : " + uint64_t(int64_t(" + at.name + ") * " + std::to_string(step) + "l)";
  }
  std::string at = base(tensor);
  for (const auto& [depth, text] : parts) at = share(depth, "uint64_t", at + text);
  return fixed == 0 ? at : at + " + uint64_t(" + std::to_string(fixed) + "l)";
}

}  // namespace locus::vulkan
