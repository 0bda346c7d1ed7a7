// The two whole-array functions whose results size themselves: they are run while a graph is made. Knows nothing of graphs and backends.
#pragma once
#include "core/base/array.hpp"

namespace locus {

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
/// The same of a matrix that is a list of pairs: see LOCUS_ARRAY_PAIRS.
Triplets triplets(const Array& values, const Array& starts, const Array& columns);

}  // namespace locus
