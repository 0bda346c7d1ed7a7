// Copy and arithmetic of a device by two maps; see rates.hpp.
#include "host/rates.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace locus::host {

RunOptions with_device_time(RunOptions options, double& seconds) {
  options.profile = [&seconds](const graph::Graph&, const std::vector<NodeTime>& times) {
    seconds = 0;
    for (const NodeTime& t : times) seconds += t.seconds;
  };
  return options;
}

std::optional<DeviceRates> device_rates(const LoadedBackend& backend, const RunOptions& options, int runs, Session& session) {
  DeviceRates rates;
  std::array<locus_device, 1> first{};
  std::uint32_t count = 0;
  const bool known = backend.backend->devices(1, first.data(), &count) == LOCUS_OK && count > 0;
  if (!known || first[0].memory == 0) return rates;
  rates.device = first[0].name;
  const Spec spec = Spec::load((std::filesystem::path(specs_folder()) / "bench" / "device.locus").string(), session.sources, session.library(), session.diagnostics);
  if (session.diagnostics.failed()) return {};
  constexpr std::int64_t copied = 1 << 24, computed = 1 << 20;
  constexpr double chain = 2 * 512;  // operations of multiply_add for an entry
  const auto seconds = [&](const char* hierarchy, std::int64_t n) {
    Array x(Dtype::float32, {n});
    std::fill_n(x.as<float>(), n, 0.25f);
    Request request;
    request.hierarchy = hierarchy;
    request.inputs["x"] = std::move(x);
    const auto lowered = lower(spec, request, Force(), session.diagnostics);
    double least = HUGE_VAL, taken = 0;
    const RunOptions watched = with_device_time(options, taken);
    for (int k = 0; lowered && k <= runs; ++k) {
      run_graph(lowered->graph, lowered->inputs, watched, session.diagnostics);
      if (k > 0) least = std::min(least, taken);  // the first run compiles
    }
    return least;
  };
  const double copy = seconds("copy", copied), compute = seconds("multiply_add", computed);
  if (session.diagnostics.failed()) return {};
  rates.copy = 2.0 * static_cast<double>(copied) * static_cast<double>(size_of(options.real)) / copy;
  rates.compute = chain * static_cast<double>(computed) / compute;
  return rates;
}

}  // namespace locus::host
