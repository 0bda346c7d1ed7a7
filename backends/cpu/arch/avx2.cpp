// The tile functions for AVX2; CMakeLists.txt gives this file its flags. Nothing else may be defined here.
#include "backends/cpu/arch/table_of.hpp"

namespace locus::cpu {
namespace {
constexpr Table here = {"AVX2", functions_here<float>(), functions_here<double>()};
}
const Table* avx2_table() { return &here; }
}  // namespace locus::cpu
