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

std::int64_t wrap(std::uint64_t value) { return static_cast<std::int64_t>(value); }  // ints wrap round, as machines' do

std::int64_t whole_power(std::int64_t a, std::int64_t b) {
  std::uint64_t product = 1;
  for (std::uint64_t square = static_cast<std::uint64_t>(a); b > 0; b >>= 1, square *= square) product *= b & 1 ? square : 1;
  return wrap(product);
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
    case LOCUS_lt: return a < b;
    case LOCUS_le: return a <= b;
    case LOCUS_eq: return a == b;
    case LOCUS_ne: return a != b;
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
  if (program.tensors[tensor].dtype == LOCUS_FLOAT32)
    tensors.as<float>(tensor)[index] = static_cast<float>(value);
  else
    tensors.as<double>(tensor)[index] = value;
}

void Machine::store_whole(std::uint32_t tensor, std::int64_t index, std::int64_t value) const {
  if (program.tensors[tensor].dtype == LOCUS_BOOL)
    tensors.as<std::uint8_t>(tensor)[index] = value != 0;
  else
    tensors.as<std::int64_t>(tensor)[index] = value;
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
      if (binds(e))
        step.inner.emplace_back(program, e.args[k]);
      else
        step.args[k] = slots.at(e.args[k]);
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
  if (whole_arguments) return {0, whole(e.op, arg(0).whole, e.arity > 1 ? arg(1).whole : 0, machine)};
  const double value = plugin::value_of(e.op, arg(0).real, e.arity > 1 ? arg(1).real : 0);
  return is_whole(step.expr) ? Scalar{0, value != 0} : Scalar{value, 0};  // a condition is whole
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
    if (e.type <= LOCUS_TYPE_INTEGER)
      all.whole = whole(op, all.whole, one.whole, machine);
    else
      all.real = plugin::value_of(op, all.real, one.real);
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
    if (e.op == LOCUS_DOT)
      all += a * b;
    else if (e.op == LOCUS_SQDIST)
      all += (a - b) * (a - b);
    else if (e.op == LOCUS_L1DIST)
      all += std::abs(a - b);
    else
      all = plugin::larger(all, std::abs(a - b));
  }
  index = outside;
  return {all, 0};
}

}  // namespace locus::reference
