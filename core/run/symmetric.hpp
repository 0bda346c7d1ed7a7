// A dense symmetric eigenproblem by LAPACK, and what all eigenproblems share: the rule for signs, the report.
#pragma once
#include <vector>
#include "core/run/view.hpp"

namespace locus {

/// The k smallest or largest eigenvalues of a matrix by columns (it is destroyed), the extreme one first, and their vectors one behind the other. False if LAPACK gives up.
bool symmetric_ends(int n, int k, bool largest, std::vector<double>& matrix, std::vector<double>& values, std::vector<double>& vectors);

/// The sign of an eigenvector is free: its entry of largest size, the first of equals, is positive.
void fix_sign(double* vector, int n);

/// What there is to say of the `which`-th of several eigenproblems: 1 if it settled, how many of its eigenvalues equal another, how many of those are 0.
void report_spectrum(const View& report, std::int64_t which, const View& values, bool settled, double tolerance);

}  // namespace locus
