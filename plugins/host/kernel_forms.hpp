// Evaluates the forms of a kernel on sampled points, with guard cells round what a form may write.
// Must not know what a check makes of the values.
#pragma once
#include <string>
#include <vector>
#include "plugins/host/check_kernel.hpp"

namespace locus {

enum class KernelForm { scalar_f64, scalar_f32, block_f64, block_f32, source };
const char* name_of(KernelForm form);

/// The forms that the kernel has; the first one is what the others are compared with.
std::vector<KernelForm> forms_of(const locus_kernel& kernel);

struct KernelValues {
  std::vector<double> value;  ///< [rows * samples]
  std::string fault;          ///< what is wrong, or ""
};
KernelValues evaluate(const locus_kernel& kernel, KernelForm form, const SourceEvaluator& source, const KernelSample& sample);

/// scalar_f64 on the contracted scalars that scalar_f32 is given: rounded to float32. A kernel with a jump differs at the rounding, with right.
KernelValues evaluate_on_float32(const locus_kernel& kernel, const KernelSample& sample);

/// The contraction of two points that the kernel's scalar form takes.
double contract(std::uint32_t contraction, std::int64_t d, const double* a, const double* b);
/// The distance that the facts `support` and `monotone` speak of: that of the contraction; for a dot product the Euclidean one.
double distance_of(const locus_kernel& kernel, std::int64_t d, const double* a, const double* b);

}  // namespace locus
