// Random specs on every backend found against the reference backend without rewriting passes, in float64: the meaning of the spec, pair by pair.
//   random_specs [--seed N] [--count N] [--backend NAME] [--small] [--write DIR]
// A failure prints its seed, its spec and the numbers; `--seed N --count 1` runs it again. --write stores specs, data and the reference's results.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include "core/data/npy.hpp"
#include "core/run/runner.hpp"
#include "dsl/compile.hpp"
#include "plugins/host/host_services.hpp"
#include "plugins/host/registry.hpp"
#include "tests/random/generator.hpp"

namespace {

using namespace locus;
using test::RandomSpec;

// Of the largest number of a result, or of 1: sums of terms of both signs round as their terms do.
constexpr double tolerance_of(Dtype real) { return real == Dtype::float32 ? 3e-4 : 1e-9; }

struct Options {
  std::uint64_t seed = 1, count = 500;
  std::string backend, write;
  test::Limits limits;
};

class Comparison {
 public:
  Comparison(const RandomSpec& spec, const Registry& registry) : spec_(spec), registry_(registry) {}

  // All results, computed pair by pair in float64; nothing if the spec was refused.
  std::optional<std::map<std::string, Array>> reference() {
    const std::uint32_t source_failed = static_cast<std::uint32_t>(diagnostics_.errors());
    const Spec spec = Spec::from_text("random.locus", spec_.text, sources_, {}, diagnostics_);
    if (diagnostics_.errors() != source_failed) return std::nullopt;
    Request request;
    request.hierarchy = "main", request.inputs = spec_.inputs, request.settings = spec_.settings;
    const Force force = [&](const graph::Graph& g, const std::map<std::string, Array>& inputs) { return run(g, inputs, "reference", Dtype::float64, false); };
    lowered_ = lower(spec, request, force, diagnostics_);
    if (!lowered_) return std::nullopt;
    expected_ = run(lowered_->graph, lowered_->inputs, "reference", Dtype::float64, false);
    return expected_;
  }

  bool agrees(const std::string& backend) {
    const auto got = run(lowered_->graph, lowered_->inputs, backend, spec_.real, true);
    if (!got) return false;
    for (const ResultInfo& r : lowered_->results)
      if (!same(r.name, expected_->at(r.output), got->at(r.output), backend)) return false;
    return true;
  }

  const std::vector<ResultInfo>& results() const { return lowered_->results; }
  void report() const {
    std::cerr << "seed " << spec_.seed << ", " << name_of(spec_.real) << "\n" << spec_.text;
    for (const auto& [name, data] : spec_.inputs) std::cerr << "# " << name << " " << shape_text(data.shape()) << "\n";
    for (const auto& [name, value] : spec_.settings) std::cerr << "# " << name << " = " << value.number(0) << "\n";
    write(std::cerr, diagnostics_, sources_);
    std::cerr << failure_ << "\n";
  }

 private:
  std::optional<std::map<std::string, Array>> run(const graph::Graph& g, const std::map<std::string, Array>& inputs, const std::string& backend, Dtype real,
                                                  bool fuse) {
    RunOptions options;
    options.backend = registry_.backend(backend)->backend, options.real = real, options.fuse = fuse, options.verify_each_pass = true;
    const std::size_t before = diagnostics_.errors();
    auto all = run_graph(g, inputs, options, diagnostics_);
    if (diagnostics_.errors() != before) return std::nullopt;
    return all;
  }

  bool same(const std::string& name, const Array& expected, const Array& got, const std::string& backend) {
    if (expected.shape() != got.shape())
      return fail(backend + ": " + name + " has shape " + shape_text(got.shape()) + ", expected " + shape_text(expected.shape()));
    double largest = 1;
    for (std::int64_t k = 0; k < expected.count(); ++k)
      if (std::isfinite(expected.number(k))) largest = std::max(largest, std::abs(expected.number(k)));
    for (std::int64_t k = 0; k < expected.count(); ++k) {
      const double e = expected.number(k), g = got.number(k);
      const bool equal = e == g || (std::isnan(e) && std::isnan(g)) || std::abs(e - g) <= tolerance_of(spec_.real) * largest;
      if (!equal) return fail(backend + ": " + name + " entry " + std::to_string(k) + " is " + std::to_string(g) + ", expected " + std::to_string(e));
    }
    return true;
  }
  bool fail(std::string text) {
    failure_ = std::move(text);
    return false;
  }

  const RandomSpec& spec_;
  const Registry& registry_;
  Sources sources_;
  Diagnostics diagnostics_;
  std::optional<Lowered> lowered_;
  std::optional<std::map<std::string, Array>> expected_;
  std::string failure_;
};

void store(const std::filesystem::path& folder, const RandomSpec& spec, const std::vector<ResultInfo>& results, const std::map<std::string, Array>& values) {
  std::filesystem::create_directories(folder / "inputs");
  std::filesystem::create_directories(folder / "expected");
  std::ofstream(folder / "spec.locus") << spec.text;
  std::ofstream settings(folder / "settings");
  for (const auto& [name, value] : spec.settings) settings << name << "=" << value.number(0) << "\n";
  for (const auto& [name, data] : spec.inputs) std::ofstream(folder / "inputs" / (name + ".npy"), std::ios::binary) << npy_bytes(data);
  for (const ResultInfo& r : results) std::ofstream(folder / "expected" / (r.name + ".npy"), std::ios::binary) << npy_bytes(values.at(r.output));
}

bool read_options(int count, char** words, Options& options) {
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (word == "--small") {
      options.limits = {600, false};
      continue;
    }
    if (++k == count) return false;
    if (word == "--seed")
      options.seed = std::strtoull(words[k], nullptr, 10);
    else if (word == "--count")
      options.count = std::strtoull(words[k], nullptr, 10);
    else if (word == "--backend")
      options.backend = words[k];
    else if (word == "--write")
      options.write = words[k];
    else
      return false;
  }
  return true;
}

// The backends to try: the one asked for, or all but those for which this machine has no device.
std::vector<std::string> backends_of(const Registry& registry, const Options& options) {
  if (!options.backend.empty()) return {options.backend};
  std::vector<std::string> names;
  for (const LoadedBackend& b : registry.backends())
    if (std::uint32_t devices = 0; b.backend->devices(0, nullptr, &devices) == LOCUS_OK && devices > 0) names.push_back(b.name);
  return names;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!read_options(count, words, options)) return std::cerr << "random_specs [--seed N] [--count N] [--backend NAME] [--small] [--write DIR]\n", 2;
  Diagnostics diagnostics;
  const Registry registry({{LOCUS_BUILT_PLUGINS}, "", {}}, host_services().table(), diagnostics);
  const std::vector<std::string> backends = backends_of(registry, options);
  for (const std::string& name : {std::string("reference"), options.backend.empty() ? std::string("cpu") : options.backend})
    if (!registry.backend(name)) return std::cerr << "there is no backend " << name << " in " << LOCUS_BUILT_PLUGINS << "\n", 2;
  std::uint64_t failed = 0, results = 0;
  for (std::uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    const RandomSpec spec = test::random_spec(seed, options.limits);
    Comparison comparison(spec, registry);
    const auto expected = comparison.reference();
    bool good = expected.has_value();
    for (std::size_t k = 0; k < backends.size() && good; ++k) good = comparison.agrees(backends[k]);
    if (good && !options.write.empty()) store(std::filesystem::path(options.write) / std::to_string(seed), spec, comparison.results(), *expected);
    if (good) results += expected->size();
    if (!good && ++failed <= 5) comparison.report();
  }
  std::cout << options.count << " specs, " << results << " results on " << backends.size() << " backends, " << failed << " failed\n";
  return failed == 0 && results > 0 ? 0 : 1;
}
