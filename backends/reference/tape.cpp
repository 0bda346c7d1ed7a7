// Expressions, step by step.
#include "backends/reference/tape.hpp"
#include <cmath>
#include <limits>
#include <map>

namespace locus::reference {
namespace {

bool binds(const locus_expr& e) { return e.op >= LOCUS_SUM_OVER && e.op <= LOCUS_MAXDIST; }

void collect(const plugin::Program& program, std::uint32_t root, std::map<std::uint32_t, std::uint32_t>& slots) {
  std::vector<std::uint32_t> open{root};
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    if (!slots.emplace(id, 0).second) continue;
    const locus_expr& e = program.exprs[id];
    for (std::uint32_t k = 0; k < e.arity && !binds(e); ++k) open.push_back(e.args[k]);
  }
  std::uint32_t slot = 0;
  for (auto& [id, at] : slots) at = slot++;  // ids of arguments are below their users': this is an order of evaluation
}

double power(double a, double b) {
  if (b != std::floor(b) || std::abs(b) > 64) return std::pow(a, b);
  double product = 1;
  for (int k = 0; k < std::abs(b); ++k) product *= a;
  return b < 0 ? 1 / product : product;
}

std::int64_t wrap(std::uint64_t value) { return static_cast<std::int64_t>(value); }  // ints wrap round, as machines' do

std::int64_t whole_power(std::int64_t a, std::int64_t b) {
  std::uint64_t product = 1;
  for (std::uint64_t square = static_cast<std::uint64_t>(a); b > 0; b >>= 1, square *= square) product *= b & 1 ? square : 1;
  return wrap(product);
}

double unary(std::uint32_t op, double a) {
  switch (op) {
    case LOCUS_neg: return -a;
    case LOCUS_abs: return std::abs(a);
    case LOCUS_sign: return std::isnan(a) ? a : (a > 0) - (a < 0);
    case LOCUS_exp: return std::exp(a);
    case LOCUS_log: return std::log(a);
    case LOCUS_log2: return std::log2(a);
    case LOCUS_sqrt: return std::sqrt(a);
    case LOCUS_floor: return std::floor(a);
    case LOCUS_round: return std::nearbyint(a);
    case LOCUS_sin: return std::sin(a);
    case LOCUS_cos: return std::cos(a);
    case LOCUS_tanh: return std::tanh(a);
    case LOCUS_asin: return std::asin(a);
    case LOCUS_acos: return std::acos(a);
    case LOCUS_atan: return std::atan(a);
    case LOCUS_erf: return std::erf(a);
    case LOCUS_lgamma: return std::lgamma(a);
    case LOCUS_sigmoid: return 1 / (1 + std::exp(-a));
    case LOCUS_softplus: return (a > 0 ? a : 0 * a) + std::log1p(std::exp(-std::abs(a)));
    case LOCUS_relu: return std::isnan(a) || a > 0 ? a : 0;
    case LOCUS_elu: return a > 0 ? a : std::expm1(a);
    case LOCUS_gelu: return a / 2 * (1 + std::erf(a / std::sqrt(2.0)));
    case LOCUS_silu: return a / (1 + std::exp(-a));
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

double binary(std::uint32_t op, double a, double b) {
  switch (op) {
    case LOCUS_add: return a + b;
    case LOCUS_sub: return a - b;
    case LOCUS_mul: return a * b;
    case LOCUS_div: return a / b;
    case LOCUS_pow: return power(a, b);
    case LOCUS_maximum: return std::isnan(a) || a > b ? a : b;
    case LOCUS_minimum: return std::isnan(a) || a < b ? a : b;
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

// Floor division; the divisor is not 0. The least int by -1 wraps round.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == -1) return wrap(-static_cast<std::uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::int64_t whole(std::uint32_t op, std::int64_t a, std::int64_t b, Machine& machine) {
  const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  switch (op) {
    case LOCUS_neg: return wrap(-u(a));
    case LOCUS_abs: return a < 0 ? wrap(-u(a)) : a;
    case LOCUS_sign: return (a > 0) - (a < 0);
    case LOCUS_add: return wrap(u(a) + u(b));
    case LOCUS_sub: return wrap(u(a) - u(b));
    case LOCUS_mul: return wrap(u(a) * u(b));
    case LOCUS_pow: return whole_power(a, b);
    case LOCUS_maximum: return a > b ? a : b;
    case LOCUS_minimum: return a < b ? a : b;
    case LOCUS_not: return a == 0;
    case LOCUS_and: return a != 0 && b != 0;
    case LOCUS_or: return a != 0 || b != 0;
    default: break;
  }
  if (b == 0) {  // idiv, mod
    machine.fault.kind = LOCUS_FAULT_DIVISION, machine.fault.value = a;
    return 0;
  }
  return op == LOCUS_idiv ? floor_divide(a, b) : wrap(u(a) - u(b) * u(floor_divide(a, b)));
}

template <class T> bool compare(std::uint32_t op, T a, T b) {
  return op == LOCUS_lt ? a < b : op == LOCUS_le ? a <= b : op == LOCUS_eq ? a == b : a != b;
}

double call(const locus_program_kernel& use, double x, Machine& machine) {
  double value = 0;
  use.kernel->scalar_f64(use.settings, 1, &x, &value);
  if (std::isnan(value) && std::isfinite(x)) machine.fault.kind = LOCUS_FAULT_PLUGIN_NAN;
  return value;
}

}  // namespace

Scalar Machine::load(std::uint32_t tensor, std::int64_t index) const {
  switch (program.tensors[tensor].dtype) {
    case LOCUS_BOOL: return {0, tensors.as<std::uint8_t>(tensor)[index] != 0};
    case LOCUS_INT64: return {0, tensors.as<std::int64_t>(tensor)[index]};
    case LOCUS_FLOAT32: return {tensors.as<float>(tensor)[index], 0};
    default: return {tensors.as<double>(tensor)[index], 0};
  }
}

void Machine::store(std::uint32_t tensor, std::int64_t index, double value) const {
  if (program.tensors[tensor].dtype == LOCUS_FLOAT32) tensors.as<float>(tensor)[index] = static_cast<float>(value);
  else tensors.as<double>(tensor)[index] = value;
}

void Machine::store_whole(std::uint32_t tensor, std::int64_t index, std::int64_t value) const {
  if (program.tensors[tensor].dtype == LOCUS_BOOL) tensors.as<std::uint8_t>(tensor)[index] = value != 0;
  else tensors.as<std::int64_t>(tensor)[index] = value;
}

std::int64_t Machine::place(std::int64_t offset, std::span<const locus_stride> strides) const {
  for (const locus_stride& s : strides) offset += s.stride * coordinate[s.coordinate];
  return offset;
}

Tape::Tape(const plugin::Program& program, std::uint32_t root) {
  if (root == LOCUS_NONE) return;
  std::map<std::uint32_t, std::uint32_t> slots;
  collect(program, root, slots);
  for (const auto& [id, slot] : slots) {
    const locus_expr& e = program.exprs[id];
    Step& step = steps_.emplace_back();
    step.expr = id;
    for (std::uint32_t k = 0; k < e.arity; ++k) {
      if (binds(e)) step.inner.emplace_back(program, e.args[k]);
      else step.args[k] = slots.at(e.args[k]);
    }
  }
  value_.resize(steps_.size());
}

Scalar Tape::evaluate(Machine& machine) const {
  for (std::size_t k = 0; k < steps_.size(); ++k) value_[k] = evaluate(steps_[k], machine);
  return value_.back();
}

Scalar Tape::evaluate(const Step& step, Machine& machine) const {
  const plugin::Program& program = machine.program;
  const locus_expr& e = program.exprs[step.expr];
  const auto is_whole = [&](std::uint32_t id) { return program.exprs[id].type <= LOCUS_TYPE_INTEGER; };
  const auto arg = [&](int k) -> const Scalar& { return value_[step.args[k]]; };
  if (e.op == LOCUS_CONSTANT) return is_whole(step.expr) ? Scalar{0, static_cast<std::int64_t>(e.value)} : Scalar{e.value, 0};
  if (e.op == LOCUS_READ) return machine.load(e.index, machine.place(e.offset, program.read_strides(e)));
  if (e.op == LOCUS_COORDINATE) return {0, machine.coordinate[e.index]};
  if (e.op <= LOCUS_MIN_OVER) return over(step, machine);
  if (e.op <= LOCUS_MAXDIST) return contract(step, machine);
  if (e.op == LOCUS_CALL) return {call(program.kernels[e.index], arg(0).real, machine), 0};
  if (e.op == LOCUS_select) return arg(0).whole ? arg(1) : arg(2);
  const bool whole_arguments = is_whole(e.args[0]);
  if (e.op == LOCUS_real) return {whole_arguments ? static_cast<double>(arg(0).whole) : arg(0).real, 0};
  if (e.op >= LOCUS_lt && e.op <= LOCUS_ne)
    return {0, whole_arguments ? compare(e.op, arg(0).whole, arg(1).whole) : compare(e.op, arg(0).real, arg(1).real)};
  if (whole_arguments) return {0, whole(e.op, arg(0).whole, e.arity > 1 ? arg(1).whole : 0, machine)};
  return {e.arity == 1 ? unary(e.op, arg(0).real) : binary(e.op, arg(0).real, arg(1).real), 0};
}

Scalar Tape::over(const Step& step, Machine& machine) const {
  const locus_expr& e = machine.program.exprs[step.expr];
  const double infinity = std::numeric_limits<double>::infinity();
  Scalar all;
  if (e.op == LOCUS_MAX_OVER) all = {-infinity, std::numeric_limits<std::int64_t>::min()};
  if (e.op == LOCUS_MIN_OVER) all = {infinity, std::numeric_limits<std::int64_t>::max()};
  const std::uint32_t op = e.op == LOCUS_SUM_OVER ? LOCUS_add : e.op == LOCUS_MAX_OVER ? LOCUS_maximum : LOCUS_minimum;
  std::int64_t& index = machine.coordinate[e.index];
  const std::int64_t outside = index;
  for (index = 0; index < machine.program.extent(e.index); ++index) {
    const Scalar one = step.inner[0].evaluate(machine);
    if (e.type <= LOCUS_TYPE_INTEGER) all.whole = whole(op, all.whole, one.whole, machine);
    else all.real = binary(op, all.real, one.real);
  }
  index = outside;
  return all;
}

Scalar Tape::contract(const Step& step, Machine& machine) const {
  const locus_expr& e = machine.program.exprs[step.expr];
  double all = 0;
  std::int64_t single = 0;  // one number and no axis
  std::int64_t& index = e.index == LOCUS_NONE ? single : machine.coordinate[e.index];
  const std::int64_t outside = index, extent = e.index == LOCUS_NONE ? 1 : machine.program.extent(e.index);
  for (index = 0; index < extent; ++index) {
    const double a = step.inner[0].evaluate(machine).real, b = step.inner[1].evaluate(machine).real;
    if (e.op == LOCUS_DOT) all += a * b;
    else if (e.op == LOCUS_SQDIST) all += (a - b) * (a - b);
    else if (e.op == LOCUS_L1DIST) all += std::abs(a - b);
    else all = binary(LOCUS_maximum, all, std::abs(a - b));
  }
  index = outside;
  return {all, 0};
}

}  // namespace locus::reference
