// The tile functions for baseline; CMakeLists.txt gives this file its flags. Nothing else may be defined here.
#include "backends/cpu/arch/table_of.hpp"

namespace locus::cpu {
namespace {
constexpr Table here = {"baseline", functions_here<float>(), functions_here<double>()};
}
const Table* baseline_table() { return &here; }
}  // namespace locus::cpu
