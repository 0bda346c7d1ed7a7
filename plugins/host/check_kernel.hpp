// `locus check --plugin`: runs every form of a kernel against the others on sampled points and rejects facts that the samples disprove.
// Must not know the language: the caller evaluates the `source` form.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "plugins/abi/locus_plugin.h"

namespace locus {

/// One line of the result, over all samples.
struct KernelFinding {
  std::string check;  ///< "scalar_f32 = scalar_f64", "positive definite"
  bool passed;
  double worst;        ///< the largest deviation that was seen, 0 if none
  double limit;        ///< what was still allowed
  std::string detail;  ///< where the worst was seen, or what is wrong: seed, dimension, the pair
};

/// Sampled points and settings of one call: value[r * samples + s] = K(query r, sample s), all row-major.
struct KernelSample {
  std::vector<double> settings;
  std::int64_t rows, samples, d;
  std::vector<double> q, x;
};
/// Evaluates the `source` form in float64; returns a reason if it cannot be done, "" else.
using SourceEvaluator = std::function<std::string(const locus_kernel& kernel, const KernelSample& sample, std::vector<double>& value)>;

/// All findings, in a fixed order; the kernel passed if each did. A kernel with a source needs the evaluator. `plugin` is for texts.
std::vector<KernelFinding> check_kernel(const locus_kernel& kernel, const std::string& plugin, const SourceEvaluator& source,
                                        const std::vector<std::uint64_t>& seeds = {1, 2, 3});
/// "pass  symmetric (worst 0, allowed 1e-09)" and the detail behind a failure.
std::string line_of(const KernelFinding& finding);

}  // namespace locus
