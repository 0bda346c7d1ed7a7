// Constant folding, with the same mathematics as the backends'. Knows no expressions.
#include "core/graph/fold.hpp"
#include <cmath>
#include "plugins/abi/scalar.hpp"

namespace locus::graph {
bool fold(locus_op op, bool integer, double a, double b, double* value) {
  if (op < LOCUS_neg || op == LOCUS_select || op == LOCUS_real) return false;
  if ((op == LOCUS_idiv || op == LOCUS_mod) && b == 0) return false;
  *value = plugin::value_of(op, a, b);
  return !integer || std::abs(*value) <= 0x1p53;
}

}  // namespace locus::graph
