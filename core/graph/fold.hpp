// The value of an op of locus_ops.def on constants, in double. Knows no expressions.
#pragma once
#include "plugins/abi/locus_plugin.h"

namespace locus::graph {

/// The value of op(a[, b]); integer: of whole numbers. False where it must be left to the run: division by zero of ints, whole numbers beyond 2^53, select.
bool fold(locus_op op, bool integer, double a, double b, double* value);

}  // namespace locus::graph
