// The whole-array functions of the C table, on host memory, and the two that size their own results. Knows nothing of graphs and backends.
#pragma once
#include "core/base/array.hpp"
#include "plugins/abi/locus_plugin.h"

namespace locus {

/// Runs a whole-array function (enum locus_array_function). LOCUS_OK; LOCUS_FAULT if an index lies outside; LOCUS_FAILED if shapes or parameters do not
/// fit; LOCUS_UNSUPPORTED for an unknown function; LOCUS_OUT_OF_MEMORY. Real arrays may differ in precision. Any thread.
int array_function(std::uint32_t function, std::uint32_t inputs, const locus_host_array* input, std::uint32_t outputs, locus_host_array* output,
                   std::uint32_t parameters, const double* parameter);

/// Merges points that ended at one place: of the distinct points, the one with the largest size is a centre if it is farther than radius from each centre
/// before it. z [n, d] or [n], size [n]; centres [c, d] or [c] in z's dtype, labels int64 [n]: the nearest centre, the first of equals.
struct Groups {
  Array centres, labels;
};
Groups group_points(const Array& z, const Array& size, double radius);

/// The entries of a matrix that are not 0, row by row: rows, cols int64 [e], vals [e] in the matrix's dtype.
struct Triplets {
  Array rows, cols, vals;
};
Triplets triplets(const Array& matrix);

}  // namespace locus
