// Which table of functions this machine gets.
#include <cstdlib>
#include <cstring>
#include "backends/cpu/table.hpp"

namespace locus::cpu {
namespace {

// What the processor and the operating system both support (the builtin looks at XGETBV too).
bool runs_avx2() { return avx2_table() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool runs_avx512() {
  return avx512_table() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

const Table* choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const char* asked = std::getenv("LOCUS_CPU_ISA");
  const auto allows = [&](const char* name) { return !asked || std::strcmp(asked, name) == 0; };
  if (allows("avx512") && runs_avx512()) return avx512_table();
  if ((allows("avx2") || (asked && std::strcmp(asked, "avx512") == 0)) && runs_avx2()) return avx2_table();
#endif
  return baseline_table();
}

}  // namespace

const Table& table() {
  static const Table* const chosen = choose();
  return *chosen;
}

}  // namespace locus::cpu
