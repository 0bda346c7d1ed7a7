// The checks of a kernel: forms agree, no NaN, and each fact that is claimed holds on every sample. A sample can disprove a fact, never prove it.
#include "plugins/host/check_kernel.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include "plugins/host/kernel_forms.hpp"
#include "plugins/host/spectrum.hpp"

namespace locus {
namespace {

constexpr std::int64_t dimensions[] = {1, 2, 3, 8};
constexpr double spreads[] = {0.25, 1.0, 4.0};  // points close together, of the size of the settings, and far apart
constexpr std::int64_t rows = 40, samples = 29;
constexpr std::int64_t grid_points = 64;

constexpr double same_in_float64 = 1e-9;  // relative to the largest value of the sample
constexpr double same_in_float32 = 1e-5;
constexpr double rounding = 1e-12;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string point(const std::vector<double>& points, std::int64_t d, std::int64_t k) {
  std::string text = "(";
  for (std::int64_t c = 0; c < d; ++c) text += (c ? ", " : "") + number(points[static_cast<std::size_t>(k * d + c)]);
  return text + ")";
}

std::string pair_text(const KernelSample& sample, std::int64_t k) {
  return "query " + point(sample.q, sample.d, k / sample.samples) + ", sample " + point(sample.x, sample.d, k % sample.samples);
}

std::string settings_text(const locus_kernel& kernel, const std::vector<double>& settings) {
  std::string text;
  for (std::size_t k = 0; k < settings.size(); ++k) text += std::string(", ") + kernel.settings[k].name + " = " + number(settings[k]);
  return text;
}

/// Of the finite values, so that one overflow does not hide all other differences.
double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values)
    if (std::isfinite(value)) result = std::max(result, std::abs(value));
  return result;
}

bool is_single(KernelForm form) { return form == KernelForm::scalar_f32 || form == KernelForm::block_f32; }

/// Collects the worst of one check over all samples.
class Verdict {
 public:
  Verdict(std::string check, double limit) : finding_{std::move(check), true, 0, limit, ""} {}
  void see(double deviation, const std::string& detail) {
    if (deviation <= finding_.worst) return;
    finding_.worst = deviation;
    if (!(deviation <= finding_.limit)) fail(detail, true);
  }
  void fail(const std::string& detail, bool worse = false) {
    if (finding_.passed || worse) finding_.detail = detail;
    finding_.passed = false;
  }
  const KernelFinding& finding() const { return finding_; }

 private:
  KernelFinding finding_;
};

/// What a float32 can hold of the values: beyond its range they are infinite or 0 with right.
std::vector<double> as_float32(std::vector<double> values) {
  for (double& value : values) value = static_cast<float>(value);
  return values;
}

class Checker {
 public:
  Checker(const locus_kernel& kernel, const std::string& plugin, const SourceEvaluator& source)
      : kernel_(kernel), plugin_(plugin), source_(source), forms_(forms_of(kernel)) {
    for (const KernelForm form : forms_) {
      const std::string name = form == forms_[0] ? std::string(name_of(form)) + " runs" : std::string(name_of(form)) + " = " + name_of(forms_[0]);
      agreement_.emplace_back(name, is_single(form) ? same_in_float32 : same_in_float64);
    }
  }

  void check_sample(const KernelSample& sample, const std::string& label) {
    label_ = label + settings_text(kernel_, sample.settings);
    std::vector<double> reference;
    for (std::size_t k = 0; k < forms_.size(); ++k) {
      const KernelValues values = evaluate(kernel_, forms_[k], source_, sample);
      if (!values.fault.empty()) return agreement_[k].fail(values.fault + " (" + label_ + ")");
      if (!check_numbers(agreement_[k], values.value, sample)) return;
      if (k == 0)
        reference = values.value;
      else if (forms_[k] == KernelForm::scalar_f32)
        compare(agreement_[k], as_float32(evaluate_on_float32(kernel_, sample).value), values.value, sample);
      else
        compare(agreement_[k], is_single(forms_[k]) ? as_float32(reference) : reference, values.value, sample);
    }
    check_range(reference, sample);
    check_support(reference, sample);
    check_monotone(reference, sample);
    check_symmetric(reference, sample);
    check_positive_definite(sample.settings, sample.q, sample.d);
  }

  /// Points in equal steps bring out what random ones hide: the spectrum of the kernel at the step's frequencies.
  void check_grid(const std::vector<double>& settings, const std::vector<double>& points, std::int64_t d) {
    if (all_run()) check_positive_definite(settings, points, d);
  }

  std::vector<KernelFinding> findings() const {
    std::vector<KernelFinding> all;
    for (const Verdict& verdict : agreement_) all.push_back(verdict.finding());
    all.push_back(range_.finding());
    if (kernel_.support) all.push_back(support_.finding());
    if (claims(LOCUS_SYMMETRIC) || claims(LOCUS_POSITIVE_DEFINITE)) all.push_back(symmetric_.finding());
    if (claims(LOCUS_POSITIVE_DEFINITE)) all.push_back(definite_.finding());
    if (claims(LOCUS_MONOTONE)) all.push_back(monotone_.finding());
    return all;
  }

 private:
  bool claims(std::uint32_t fact) const { return (kernel_.facts & fact) != 0; }
  std::string at(const KernelSample& sample, std::int64_t k) const { return pair_text(sample, k) + " (" + label_ + ")"; }

  bool all_run() const {
    return std::all_of(agreement_.begin(), agreement_.end(), [](const Verdict& verdict) { return verdict.finding().passed; });
  }

  bool check_numbers(Verdict& verdict, const std::vector<double>& values, const KernelSample& sample) const {
    for (std::size_t k = 0; k < values.size(); ++k)
      if (std::isnan(values[k])) {
        verdict.fail("plugin `" + plugin_ + "`, kernel `" + kernel_.name + "` gave NaN for " + at(sample, static_cast<std::int64_t>(k)));
        return false;
      }
    return true;
  }

  void compare(Verdict& verdict, const std::vector<double>& reference, const std::vector<double>& values, const KernelSample& sample) const {
    const double scale = largest(reference);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] == reference[k]) continue;  // also infinities
      verdict.see(std::abs(values[k] - reference[k]) / scale,
                  number(values[k]) + " against " + number(reference[k]) + " for " + at(sample, static_cast<std::int64_t>(k)));
    }
  }

  void check_range(const std::vector<double>& values, const KernelSample& sample) {
    for (std::size_t k = 0; k < values.size(); ++k)
      range_.see(std::max(kernel_.low - values[k], values[k] - kernel_.high),
                 number(values[k]) + " is outside [" + number(kernel_.low) + ", " + number(kernel_.high) + "] for " + at(sample, static_cast<std::int64_t>(k)));
  }

  double distance(const KernelSample& sample, std::int64_t k) const {
    return distance_of(kernel_, sample.d, &sample.q[static_cast<std::size_t>(k / sample.samples * sample.d)],
                       &sample.x[static_cast<std::size_t>(k % sample.samples * sample.d)]);
  }

  void check_support(const std::vector<double>& values, const KernelSample& sample) {
    if (!kernel_.support) return;
    const double radius = kernel_.support(sample.settings.data());
    if (!(radius >= 0)) return support_.fail("support gave " + number(radius) + " (" + label_ + ")");
    for (std::size_t k = 0; k < values.size(); ++k)
      if (distance(sample, static_cast<std::int64_t>(k)) > radius * (1 + rounding))
        support_.see(std::abs(values[k]), number(values[k]) + " beyond the radius " + number(radius) + " for " + at(sample, static_cast<std::int64_t>(k)));
  }

  void check_monotone(const std::vector<double>& values, const KernelSample& sample) {
    if (!claims(LOCUS_MONOTONE)) return;
    std::vector<std::pair<double, std::int64_t>> order;
    for (std::size_t k = 0; k < values.size(); ++k) order.emplace_back(distance(sample, static_cast<std::int64_t>(k)), static_cast<std::int64_t>(k));
    std::sort(order.begin(), order.end());
    const double scale = largest(values);
    for (std::size_t t = 1; t < order.size(); ++t) {
      const double rise = values[static_cast<std::size_t>(order[t].second)] - values[static_cast<std::size_t>(order[t - 1].second)];
      if (order[t].first > order[t - 1].first && rise > 0)
        monotone_.see(rise / scale,
                      "rises from distance " + number(order[t - 1].first) + " to " + number(order[t].first) + " at " + at(sample, order[t].second));
    }
  }

  std::vector<double> values_of(const KernelSample& sample) const { return evaluate(kernel_, forms_[0], source_, sample).value; }

  void check_symmetric(const std::vector<double>& values, const KernelSample& sample) {
    if (!claims(LOCUS_SYMMETRIC) && !claims(LOCUS_POSITIVE_DEFINITE)) return;
    const std::vector<double> turned = values_of({sample.settings, sample.samples, sample.rows, sample.d, sample.x, sample.q});
    const double scale = largest(values);
    for (std::int64_t r = 0; r < sample.rows; ++r)
      for (std::int64_t s = 0; s < sample.samples; ++s) {
        const double one = values[static_cast<std::size_t>(r * sample.samples + s)], other = turned[static_cast<std::size_t>(s * sample.rows + r)];
        if (one != other)
          symmetric_.see(std::abs(one - other) / scale, number(one) + " and " + number(other) + " for " + at(sample, r * sample.samples + s) + " and back");
      }
  }

  void check_positive_definite(const std::vector<double>& settings, const std::vector<double>& points, std::int64_t d) {
    if (!claims(LOCUS_POSITIVE_DEFINITE)) return;
    const auto n = points.size() / static_cast<std::size_t>(d);
    const auto count = static_cast<std::int64_t>(n);
    std::vector<double> gram = values_of({settings, count, count, d, points, points});
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t s = 0; s < r; ++s) gram[r * n + s] = gram[s * n + r] = (gram[r * n + s] + gram[s * n + r]) / 2;
    const double scale = largest(gram);
    if (!std::all_of(gram.begin(), gram.end(), [](double entry) { return std::isfinite(entry); }))
      return definite_.fail("the matrix of kernel values is not finite (" + label_ + ")");
    if (scale == 0) return;
    const double least = smallest_eigenvalue(gram, n) / (scale * static_cast<double>(n));
    if (least < 0) definite_.see(-least, "a matrix of kernel values has an eigenvalue of " + number(least) + " of its size (" + label_ + ")");
  }

  const locus_kernel& kernel_;
  const std::string& plugin_;
  const SourceEvaluator& source_;
  std::vector<KernelForm> forms_;
  std::string label_;
  std::vector<Verdict> agreement_;
  Verdict range_{"range", rounding}, support_{"support", 0}, symmetric_{"symmetric", same_in_float64}, definite_{"positive definite", same_in_float64},
      monotone_{"monotone", same_in_float64};
};

/// 64, 8 x 8, 4 x 4 x 4 points, or the corners of a cube in six of the coordinates.
std::vector<double> draw_grid(std::mt19937_64& random, std::int64_t d, double spread) {
  const std::int64_t used = std::min<std::int64_t>(d, 6);
  const auto side = static_cast<std::int64_t>(std::lround(std::pow(grid_points, 1.0 / static_cast<double>(used))));
  const double step = spread * std::pow(10, -std::uniform_real_distribution<double>(0, 1)(random));
  std::vector<double> points(static_cast<std::size_t>(grid_points * d), 0.0);
  for (std::int64_t k = 0; k < grid_points; ++k)
    for (std::int64_t c = 0, rest = k; c < used; ++c, rest /= side) points[static_cast<std::size_t>(k * d + c)] = static_cast<double>(rest % side) * step;
  return points;
}

/// Points that float32 holds exactly, so that both precisions see the same ones. On a lattice their squared distances are exact as well.
std::vector<double> draw_points(std::mt19937_64& random, std::int64_t count, double spread, bool lattice) {
  std::normal_distribution<double> normal(0, spread);
  std::vector<double> points(static_cast<std::size_t>(count));
  for (double& value : points) value = static_cast<float>(lattice ? std::round(normal(random) * 2 / spread) * spread / 2 : normal(random));
  return points;
}

std::vector<double> draw_settings(const locus_kernel& kernel, std::mt19937_64& random) {
  std::lognormal_distribution<double> positive(0, 0.5);
  std::vector<double> settings;
  for (std::uint32_t k = 0; k < kernel.setting_count; ++k)
    settings.push_back(std::isnan(kernel.settings[k].initial) ? positive(random) : kernel.settings[k].initial);
  return settings;
}

}  // namespace

std::vector<KernelFinding> check_kernel(const locus_kernel& kernel, const std::string& plugin, const SourceEvaluator& source,
                                        const std::vector<std::uint64_t>& seeds) {
  Checker checker(kernel, plugin, source);
  for (const std::uint64_t seed : seeds) {
    std::mt19937_64 random(seed);
    for (const std::int64_t d : dimensions)
      for (const double spread : spreads) {
        const bool lattice = seed % 2 == 0;  // equal coordinates and ties are where formulas divide by zero
        KernelSample sample{draw_settings(kernel, random), rows, samples, d, {}, {}};
        sample.q = draw_points(random, rows * d, spread, lattice);
        sample.x = draw_points(random, samples * d, spread, lattice);
        std::copy_n(sample.q.begin(), d, sample.x.begin());  // one pair coincides
        const std::string label =
            "seed " + std::to_string(seed) + ", " + std::to_string(d) + (d == 1 ? " coordinate, spread " : " coordinates, spread ") + number(spread);
        checker.check_sample(sample, label);
        checker.check_grid(sample.settings, draw_grid(random, d, spread), d);
      }
  }
  return checker.findings();
}

std::string line_of(const KernelFinding& finding) {
  std::string text =
      std::string(finding.passed ? "pass  " : "FAIL  ") + finding.check + " (worst " + number(finding.worst) + ", allowed " + number(finding.limit) + ")";
  return finding.passed ? text : text + ": " + finding.detail;
}

}  // namespace locus
