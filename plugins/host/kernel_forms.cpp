// Calls into the plugin's functions. A block is given strides wider than needed and guard cells, since an engine does the same.
#include "plugins/host/kernel_forms.hpp"
#include <algorithm>
#include <cmath>

namespace locus {
namespace {

constexpr std::int64_t gap = 3;     // cells between rows that do not belong to the block
constexpr double guard = -7.25e11;  // exact in both precisions, and no kernel's value

template <class Real>
using ScalarForm = void (*)(const double*, std::int64_t, const Real*, Real*);
template <class Real>
using BlockForm = void (*)(const double*, std::int64_t, std::int64_t, std::int64_t, const Real*, std::int64_t, const Real*, std::int64_t, Real*, std::int64_t);

template <class Real>
std::string check_guards(const std::vector<Real>& cells, std::int64_t rows, std::int64_t used, std::int64_t stride) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t s = used; s < stride; ++s)
      if (cells[static_cast<std::size_t>(r * stride + s)] != static_cast<Real>(guard))
        return "writes outside its block: row " + std::to_string(r) + ", cell " + std::to_string(s) + " of " + std::to_string(used);
  return {};
}

/// `Given` is the precision of the contracted scalar.
template <class Real, class Given = Real>
KernelValues run_scalar(const locus_kernel& kernel, ScalarForm<Real> form, const KernelSample& sample) {
  const std::int64_t count = sample.rows * sample.samples;
  std::vector<Real> x(static_cast<std::size_t>(count + gap), Real{0}), value(static_cast<std::size_t>(count + gap), static_cast<Real>(guard));
  for (std::int64_t r = 0; r < sample.rows; ++r)
    for (std::int64_t s = 0; s < sample.samples; ++s)
      x[static_cast<std::size_t>(r * sample.samples + s)] = static_cast<Given>(
          contract(kernel.contraction, sample.d, &sample.q[static_cast<std::size_t>(r * sample.d)], &sample.x[static_cast<std::size_t>(s * sample.d)]));
  form(sample.settings.data(), 0, x.data(), value.data());
  form(sample.settings.data(), count, x.data(), value.data());
  const std::string fault = value[0] == static_cast<Real>(guard) ? "does not write its values" : check_guards(value, 1, count, count + gap);
  value.resize(static_cast<std::size_t>(count));
  return {{value.begin(), value.end()}, fault};
}

template <class Real>
std::vector<Real> spread(const std::vector<double>& points, std::int64_t count, std::int64_t d, std::int64_t stride) {
  std::vector<Real> result(static_cast<std::size_t>(count * stride), static_cast<Real>(guard));
  for (std::int64_t r = 0; r < count; ++r)
    for (std::int64_t c = 0; c < d; ++c) result[static_cast<std::size_t>(r * stride + c)] = static_cast<Real>(points[static_cast<std::size_t>(r * d + c)]);
  return result;
}

template <class Real>
KernelValues run_block(BlockForm<Real> form, const KernelSample& sample) {
  const std::int64_t q_stride = sample.d + 1, x_stride = sample.d + 2, stride = sample.samples + gap;
  const auto q = spread<Real>(sample.q, sample.rows, sample.d, q_stride);
  const auto x = spread<Real>(sample.x, sample.samples, sample.d, x_stride);
  std::vector<Real> cells(static_cast<std::size_t>(sample.rows * stride), static_cast<Real>(guard));
  form(sample.settings.data(), 0, 0, sample.d, q.data(), q_stride, x.data(), x_stride, cells.data(), stride);
  form(sample.settings.data(), sample.rows, sample.samples, sample.d, q.data(), q_stride, x.data(), x_stride, cells.data(), stride);
  KernelValues result{{}, cells[0] == static_cast<Real>(guard) ? "does not write its values" : check_guards(cells, sample.rows, sample.samples, stride)};
  for (std::int64_t r = 0; r < sample.rows; ++r)
    result.value.insert(result.value.end(), cells.begin() + r * stride, cells.begin() + r * stride + sample.samples);
  return result;
}

}  // namespace

const char* name_of(KernelForm form) {
  switch (form) {
    case KernelForm::scalar_f64:
      return "scalar_f64";
    case KernelForm::scalar_f32:
      return "scalar_f32";
    case KernelForm::block_f64:
      return "block_f64";
    case KernelForm::block_f32:
      return "block_f32";
    case KernelForm::source:
      return "source";
  }
  return "";
}

std::vector<KernelForm> forms_of(const locus_kernel& kernel) {
  std::vector<KernelForm> forms;
  if (kernel.scalar_f64) forms.push_back(KernelForm::scalar_f64);
  if (kernel.block_f64) forms.push_back(KernelForm::block_f64);
  if (kernel.source) forms.push_back(KernelForm::source);
  if (kernel.scalar_f32) forms.push_back(KernelForm::scalar_f32);
  if (kernel.block_f32) forms.push_back(KernelForm::block_f32);
  return forms;
}

KernelValues evaluate(const locus_kernel& kernel, KernelForm form, const SourceEvaluator& source, const KernelSample& sample) {
  switch (form) {
    case KernelForm::scalar_f64:
      return run_scalar<double>(kernel, kernel.scalar_f64, sample);
    case KernelForm::scalar_f32:
      return run_scalar<float>(kernel, kernel.scalar_f32, sample);
    case KernelForm::block_f64:
      return run_block<double>(kernel.block_f64, sample);
    case KernelForm::block_f32:
      return run_block<float>(kernel.block_f32, sample);
    case KernelForm::source:
      break;
  }
  if (!source) return {{}, "has no evaluator here"};
  KernelValues result{std::vector<double>(static_cast<std::size_t>(sample.rows * sample.samples)), ""};
  result.fault = source(kernel, sample, result.value);
  return result;
}

KernelValues evaluate_on_float32(const locus_kernel& kernel, const KernelSample& sample) {
  return run_scalar<double, float>(kernel, kernel.scalar_f64, sample);
}

double contract(std::uint32_t contraction, std::int64_t d, const double* a, const double* b) {
  double result = 0;
  for (std::int64_t c = 0; c < d; ++c) {
    const double difference = a[c] - b[c];
    if (contraction == LOCUS_OF_DOT)
      result += a[c] * b[c];
    else if (contraction == LOCUS_OF_SQDIST)
      result += difference * difference;
    else if (contraction == LOCUS_OF_L1DIST)
      result += std::abs(difference);
    else
      result = std::max(result, std::abs(difference));
  }
  return result;
}

double distance_of(const locus_kernel& kernel, std::int64_t d, const double* a, const double* b) {
  const bool own = kernel.contraction == LOCUS_OF_L1DIST || kernel.contraction == LOCUS_OF_MAXDIST;
  return own ? contract(kernel.contraction, d, a, b) : std::sqrt(contract(LOCUS_OF_SQDIST, d, a, b));
}

}  // namespace locus
