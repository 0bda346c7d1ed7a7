// The tile functions for AVX-512; CMakeLists.txt gives this file its flags. Nothing else may be defined here.
#include "backends/cpu/arch/table_of.hpp"

namespace locus::cpu {
namespace {
constexpr Table here = {"AVX-512", functions_here<float>(), functions_here<double>()};
}
const Table* avx512_table() { return &here; }
}  // namespace locus::cpu
