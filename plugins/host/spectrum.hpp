// The smallest eigenvalue of a small symmetric matrix. Knows nothing of kernels.
#pragma once
#include <cstddef>
#include <vector>

namespace locus {

/// By cyclic Jacobi rotations; the matrix is n x n, row-major, symmetric. Meant for n below a hundred.
double smallest_eigenvalue(std::vector<double> matrix, std::size_t n);

}  // namespace locus
