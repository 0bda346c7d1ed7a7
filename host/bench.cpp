// `locus bench`: the standard workloads, each as a fraction of what this machine's own SGEMM reaches in the same run.
// Must not know backends: it runs what users run.
#include <cblas.h>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include "host/engine.hpp"
#include "host/rates.hpp"
#include "host/session.hpp"
#include "plugins/host/host_services.hpp"

extern "C" void openblas_set_num_threads(int);

namespace locus::host {
namespace {

using Clock = std::chrono::steady_clock;

struct Times {
  double least, median;
};

template <class Body>
Times timed(int runs, Body&& body) {
  std::vector<double> all;
  body();
  for (int k = 0; k < runs; ++k) {
    const auto begin = Clock::now();
    body();
    all.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::sort(all.begin(), all.end());
  return {all.front(), all[all.size() / 2]};
}

double sgemm_rate(unsigned threads, int runs) {
  constexpr int n = 2048;
  std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f), c(n * n);
  openblas_set_num_threads(static_cast<int>(threads));
  const Times t = timed(runs, [&] { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n); });
  openblas_set_num_threads(1);
  return 2.0 * n * n * n / t.least / 1e9;
}

Array normal(std::vector<std::int64_t> shape, unsigned seed) {
  Array a(Dtype::float32, std::move(shape));
  std::mt19937 generator(seed);
  std::normal_distribution<float> draw;
  for (std::int64_t k = 0; k < a.count(); ++k) a.as<float>()[k] = draw(generator);
  return a;
}

struct Workload {
  const char* name;
  const char* hierarchy;
  std::map<std::string, Array> inputs;
  double pairs, flops;  ///< flops: multiplications and additions of the contractions; 0 where pairs are the measure
  double values, operations;  ///< numbers that go in and out; multiplications and additions of contractions, weights times values and their sums, no functions
};

std::vector<Workload> workloads() {
  std::vector<Workload> all;
  const double heads = 8, n = 4096, c = 64;
  const std::map<std::string, Array> qkv{{"q", normal({8, 4096, 64}, 1)}, {"k", normal({8, 4096, 64}, 2)}, {"v", normal({8, 4096, 64}, 3)}};
  all.push_back({"attention, 8 heads, n = m = 4096, c = 64", "attention", qkv, heads * n * n, 4 * heads * n * n * c, 4 * heads * n * c, heads * n * n * (4 * c + 1)});
  all.push_back({"the same, causal (half the pairs counted)", "causal_attention", qkv, heads * n * n / 2, 2 * heads * n * n * c, 4 * heads * n * c, heads * n * n / 2 * (4 * c + 1)});
  all.push_back({"Gaussian mean, n = m = 50 000, d = 3", "gaussian_mean", {{"query", normal({50000, 3}, 4)}, {"x", normal({50000, 3}, 5)}, {"y", normal({50000}, 6)}}, 2.5e9, 0, 50000 * (3 + 3 + 1 + 1), 2.5e9 * (3 * 3 + 3)});
  all.push_back({"L1 kernel mean, n = m = 20 000, d = 10", "l1_mean", {{"query", normal({20000, 10}, 7)}, {"x", normal({20000, 10}, 8)}, {"y", normal({20000}, 9)}}, 4e8, 0, 20000 * (10 + 10 + 1 + 1), 4e8 * (2 * 10 + 3)});
  return all;
}

int run_bench(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  const LoadedBackend* backend = session.choose_backend();
  const auto runs = read_count(line, "runs", 1, 3, session.diagnostics);
  const std::string path = (std::filesystem::path(specs_folder()) / "bench" / "workloads.locus").string();
  const Spec spec = Spec::load(path, session.sources, session.library(), session.diagnostics);
  if (!backend || !runs || session.diagnostics.failed()) return session.finish();
  RunOptions options;
  options.backend = backend->backend;
  options.real = session.common.dtype;
  options.memory = session.common.memory;
  const unsigned threads = host_services().threads();
  const double sgemm = sgemm_rate(threads, static_cast<int>(*runs));
  std::printf("%s, %s, %u threads; SGEMM 2048 of OpenBLAS in this run: %.0f GFLOP/s\n\n", backend->name.c_str(), name_of(options.real), threads, sgemm);
  const auto rates = device_rates(*backend, options, static_cast<int>(*runs), session);
  if (!rates) return session.finish();
  const bool measured = !rates->device.empty();
  if (measured) std::printf("%s, by its own times in this run: a map copies %.1f GB/s, a chain of multiplications and additions does %.1f GFLOP/s\n\n", rates->device.c_str(),
              rates->copy / 1e9, rates->compute / 1e9);
  std::printf("%-44s %9s %9s %9s %9s %8s\n", "workload", "min ms", "med ms", "GFLOP/s", "Gpair/s", "x SGEMM");
  nlohmann::json report{{"backend", backend->name}, {"dtype", name_of(options.real)}, {"threads", threads}, {"sgemm_gflops", sgemm}, {"workloads", nlohmann::json::array()}};
  if (measured) report["device"] = rates->device, report["copy_gb_per_s"] = rates->copy / 1e9, report["multiply_add_gflops"] = rates->compute / 1e9;
  for (const Workload& w : workloads()) {
    Request request;
    request.hierarchy = w.hierarchy;
    request.inputs = w.inputs;
    auto lowered = lower(spec, request, Force(), session.diagnostics);
    if (!lowered) return session.finish();
    double seconds = 0, on_device = HUGE_VAL;
    const RunOptions watched = with_device_time(options, seconds);
    const Times t = timed(static_cast<int>(*runs), [&] {
      run_graph(lowered->graph, lowered->inputs, watched, session.diagnostics);
      on_device = std::min(on_device, seconds);
    });
    if (session.diagnostics.failed()) return session.finish();
    const double gflops = w.flops / t.least / 1e9, gpairs = w.pairs / t.least / 1e9;
    std::printf("%-44s %9.1f %9.1f", w.name, t.least * 1e3, t.median * 1e3);
    if (w.flops > 0) std::printf(" %9.1f %9.2f %8.2f\n", gflops, gpairs, gflops / sgemm);
    else std::printf(" %9s %9.2f %8s\n", "", gpairs, "");
    std::fflush(stdout);
    report["workloads"].push_back({{"name", w.name}, {"min_s", t.least}, {"median_s", t.median}, {"gpairs_per_s", gpairs}, {"pairs_per_sgemm_flop", gpairs / sgemm}});
    if (w.flops > 0) report["workloads"].back()["gflops"] = gflops, report["workloads"].back()["fraction_of_sgemm"] = gflops / sgemm;
    if (!measured) continue;
    const double moved = w.values * static_cast<double>(size_of(options.real)) / on_device / rates->copy, computed = w.operations / on_device / rates->compute;
    std::printf("  on the device %.1f ms: %.2g of its copy for inputs and results, %.2g of its multiplications and additions\n", on_device * 1e3, moved, computed);
    std::fflush(stdout);
    auto& entry = report["workloads"].back();
    entry["device_s"] = on_device, entry["fraction_of_copy"] = moved, entry["fraction_of_multiply_add"] = computed;
  }
  if (line.has("json")) {
    std::ofstream out(line.value("json"));
    out << report.dump(2) << '\n';
    if (!out.flush()) session.diagnostics.add({Code::E430, {}, "cannot write '" + line.value("json") + "'", "", {}, "name a file in a folder that can be written", "--json"});
  }
  return session.finish();
}

}  // namespace

Command bench_command() {
  return {"bench", "[--runs N] [--json FILE]", "how fast, as a fraction of this machine's own SGEMM",
          "Attention, a Gaussian mean and an L1 kernel mean, whole runs with their transfers, beside OpenBLAS's SGEMM of 2048 x 2048 in the same run at the same number of threads; on a device of its own also without transfers, as shares of what that device copies and computes.",
          0, 0, {{"runs", "N", "timed runs of each, after one that is not timed", "3"}, {"json", "FILE", "write the figures here too", "bench.json"}},
          {"backend", "threads", "dtype", "memory", "plugin", "quiet", "verbose"}, false, run_bench};
}

}  // namespace locus::host
