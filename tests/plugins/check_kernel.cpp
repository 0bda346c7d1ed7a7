// The check of kernels: true facts pass, each false promise is found, the project's own kernels hold.
#include "plugins/host/check_kernel.hpp"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include "plugins/host/host_services.hpp"
#include "plugins/host/kernel_forms.hpp"
#include "plugins/host/registry.hpp"
#include "plugins/host/spectrum.hpp"

using namespace locus;
using Catch::Contains;

namespace {

Registry load(const std::string& file) {
  Diagnostics diagnostics;
  Registry registry({{file}, std::nullopt, {}}, host_services().table(), diagnostics);
  REQUIRE(diagnostics.all().empty());
  return registry;
}

std::vector<std::string> failed(const std::vector<KernelFinding>& findings) {
  std::vector<std::string> names;
  for (const KernelFinding& finding : findings)
    if (!finding.passed) names.push_back(finding.check);
  return names;
}

/// Evaluates the formula `of(distance, settings)` in place of the spec language.
SourceEvaluator by_distance(double (*of)(double distance, const std::vector<double>& settings)) {
  return [of](const locus_kernel& kernel, const KernelSample& sample, std::vector<double>& value) -> std::string {
    for (std::int64_t r = 0; r < sample.rows; ++r)
      for (std::int64_t s = 0; s < sample.samples; ++s)
        value[static_cast<std::size_t>(r * sample.samples + s)] =
            of(distance_of(kernel, sample.d, &sample.q[static_cast<std::size_t>(r * sample.d)], &sample.x[static_cast<std::size_t>(s * sample.d)]),
               sample.settings);
    return "";
  };
}

/// chi2's formula as its source says it.
std::string chi2(const locus_kernel&, const KernelSample& sample, std::vector<double>& value) {
  for (std::int64_t r = 0; r < sample.rows; ++r)
    for (std::int64_t s = 0; s < sample.samples; ++s) {
      double sum = 0;
      for (std::int64_t c = 0; c < sample.d; ++c) {
        const double a = sample.q[static_cast<std::size_t>(r * sample.d + c)], b = sample.x[static_cast<std::size_t>(s * sample.d + c)], mass = std::abs(a) + std::abs(b);
        sum += mass > 0 ? (a - b) * (a - b) / mass : 0;
      }
      value[static_cast<std::size_t>(r * sample.samples + s)] = std::exp(-sample.settings[0] * sum);
    }
  return "";
}

double wendland(double r, const std::vector<double>& settings) { return std::pow(std::max(1 - r / settings[0], 0.0), 4) * (4 * r / settings[0] + 1); }
double cauchy(double r, const std::vector<double>& settings) { return 1 / (1 + r * r / (settings[0] * settings[0])); }

KernelFinding find(const std::vector<KernelFinding>& findings, const std::string& check) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const KernelFinding& finding) { return finding.check == check; });
  REQUIRE(found != findings.end());
  return *found;
}

}  // namespace

TEST_CASE("the kernels of the project keep what they promise") {
  const std::string plugins = LOCUS_BUILT_PLUGINS, templates = LOCUS_TEMPLATE_PLUGINS;
  struct Case {
    std::string file, name;
    SourceEvaluator source;
    std::size_t findings;
  };
  const Case cases[] = {{plugins + "/wendland.so", "wendland", by_distance(wendland), 5},
                        {plugins + "/student.so", "student", {}, 6},
                        {plugins + "/chi2.so", "chi2", chi2, 6},
                        {templates + "/template_kernel.so", "cauchy", by_distance(cauchy), 5}};
  for (const Case& one : cases) {
    INFO(one.name);
    const Registry registry = load(one.file);
    REQUIRE(registry.kernel(one.name) != nullptr);
    const auto findings = check_kernel(*registry.kernel(one.name)->kernel, one.name, one.source, {1, 2, 3, 4, 5});
    for (const KernelFinding& finding : findings) {
      INFO(line_of(finding));
      CHECK(finding.passed);
    }
    CHECK(findings.size() == one.findings);
  }
}

TEST_CASE("each false promise is found, and only that one") {
  const Registry registry = load(LOCUS_BAD_PLUGINS "/false_facts.so");
  const auto check = [&](const std::string& name) { return check_kernel(*registry.kernel(name)->kernel, "false_facts", {}); };
  CHECK(failed(check("lopsided")) == std::vector<std::string>{"symmetric"});
  CHECK(failed(check("box")) == std::vector<std::string>{"positive definite"});
  CHECK(failed(check("wave")) == std::vector<std::string>{"monotone"});
  CHECK(failed(check("tall")) == std::vector<std::string>{"range"});
  CHECK(failed(check("wide")) == std::vector<std::string>{"support"});
  CHECK(failed(check("apart")) == std::vector<std::string>{"scalar_f32 = scalar_f64"});
  CHECK(failed(check("spills")) == std::vector<std::string>{"block_f64 runs"});
  CHECK_THAT(find(check("spills"), "block_f64 runs").detail, Contains("writes outside its block: row 0, cell 29 of 29"));
  CHECK_THAT(line_of(find(check("wide"), "support")), Contains("FAIL  support (worst ") && Contains("beyond the radius 1 for query ("));
}

TEST_CASE("a NaN is reported with plugin, kernel and the pair") {
  const Registry registry = load(LOCUS_BAD_PLUGINS "/false_facts.so");
  const auto findings = check_kernel(*registry.kernel("nowhere")->kernel, "false_facts", {}, {7});
  REQUIRE(failed(findings) == std::vector<std::string>{"block_f64 runs"});
  CHECK_THAT(findings[0].detail, Contains("plugin `false_facts`, kernel `nowhere` gave NaN for query (") && Contains("sample (") && Contains("seed 7"));
}

TEST_CASE("a source that differs from the native form is found, and one that nobody can evaluate does not pass") {
  locus_kernel kernel = *load(LOCUS_BUILT_PLUGINS "/student.so").kernel("student")->kernel;
  kernel.source = "kernel student(a, b; h, freedom) = ...";
  const auto right = by_distance([](double r, const std::vector<double>& s) { return std::pow(1 + r * r / (s[1] * s[0] * s[0]), -(s[1] + 1) / 2); });
  const auto wrong = by_distance([](double r, const std::vector<double>& s) { return std::pow(1 + r * r / (s[1] * s[0] * s[0]), -(s[1] + 1.001) / 2); });
  CHECK(failed(check_kernel(kernel, "student", right)).empty());
  CHECK(failed(check_kernel(kernel, "student", wrong)) == std::vector<std::string>{"source = scalar_f64"});
  const auto unread =
      check_kernel(kernel, "student", [](const locus_kernel&, const KernelSample&, std::vector<double>&) { return std::string("line 1: no such name"); });
  CHECK_THAT(find(unread, "source = scalar_f64").detail, Contains("line 1: no such name"));
  CHECK(failed(check_kernel(kernel, "student", {})) == std::vector<std::string>{"source = scalar_f64"});
}

TEST_CASE("a positive definite kernel of three dimensions is not one of eight") {
  locus_kernel kernel = *load(LOCUS_BUILT_PLUGINS "/wendland.so").kernel("wendland")->kernel;
  kernel.facts |= LOCUS_POSITIVE_DEFINITE;
  CHECK(failed(check_kernel(kernel, "wendland", by_distance([](double r, const std::vector<double>& s) { return std::max(1 - r / s[0], 0.0); }))) ==
        std::vector<std::string>{"positive definite"});
}

TEST_CASE("the smallest eigenvalue") {
  CHECK(smallest_eigenvalue({2, 1, 1, 2}, 2) == Approx(1));
  CHECK(smallest_eigenvalue({1, 2, 2, 1}, 2) == Approx(-1));
  CHECK(smallest_eigenvalue({5}, 1) == Approx(5));
  const std::size_t n = 20;  // the second difference: eigenvalues 2 - 2 cos(k pi / (n + 1))
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    matrix[k * n + k] = 2;
    if (k + 1 < n) matrix[k * n + k + 1] = matrix[(k + 1) * n + k] = -1;
  }
  CHECK(smallest_eigenvalue(matrix, n) == Approx(2 - 2 * std::cos(M_PI / (n + 1))));
}
