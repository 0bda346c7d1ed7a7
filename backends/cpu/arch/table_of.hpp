// Fills the table of the instruction set that the including file is compiled for.
#pragma once
#include "backends/cpu/contract.hpp"
#include "backends/cpu/elementwise.hpp"
#include "backends/cpu/fold.hpp"

namespace locus::cpu {
namespace {

template <class T> constexpr Functions<T> functions_here() {
  Functions<T> f{};
#define LOCUS_OP(name, arity, rule, low, high, text) f.elementwise[LOCUS_##name] = Pick<T, op_##name, arity>::function;
#include "plugins/abi/locus_ops.def"
#undef LOCUS_OP
  f.contract[0] = &contract<T, Dot>;
  f.contract[1] = &contract<T, SquaredDistance>;
  f.contract[2] = &contract<T, AbsoluteDistance>;
  f.contract[3] = &contract<T, LargestDistance>;
  f.extreme = &extreme_of_rows<T>;
  f.reduce_lanes = &extreme_of_lanes<T>;
  f.weigh = &weigh<T>;
  f.fold = &fold<T>;
  f.vector = static_cast<std::int64_t>(xsimd::batch<T, xsimd::default_arch>::size);
  return f;
}

}  // namespace
}  // namespace locus::cpu
