// What the device of a backend reaches by itself, as the measure of workloads: bytes copied and multiplications with additions in a second.
// Must not know backends: it runs small specs, as users would, and takes the backend's own times.
#pragma once
#include <map>
#include <optional>
#include <string>
#include "core/run/runner.hpp"
#include "host/session.hpp"

namespace locus::host {

struct DeviceRates {
  std::string device;
  double copy = 0, compute = 0;  ///< bytes read and written, and floating-point operations, each second
};

/// Nothing after a message; no device where it has no memory of its own, since then SGEMM measures the same processor, and better.
std::optional<DeviceRates> device_rates(const LoadedBackend& backend, const RunOptions& options, int runs, Session& session);
/// Options whose runs leave in `seconds` what the backend itself took, without transfers.
RunOptions with_device_time(RunOptions options, double& seconds);

}  // namespace locus::host
