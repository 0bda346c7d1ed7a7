// The services that plugins get from the host: threads, log, whole-array functions, progress. One set for the process.
// Must not know the registry, a backend or the graph: core/run hooks in what it has.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "plugins/abi/locus_plugin.h"

namespace locus {

/// A whole-array function on host memory: the body of locus_host.array_function without the context. Any thread.
using ArrayFunction = int (*)(std::uint32_t function, std::uint32_t inputs, const locus_host_array* input, std::uint32_t outputs, locus_host_array* output,
                              std::uint32_t parameters, const double* parameter);

struct LogLine {
  int level;  ///< 0 note, 1 warning
  std::string text;
};

class HostServices {
 public:
  HostServices();
  ~HostServices();
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  /// What plugins are opened with; valid as long as this object.
  const locus_host* table() const { return &table_; }

  /// 0: as many as the machine lets this process use. Not while a plugin runs.
  void use_threads(unsigned count);
  unsigned threads() const;

  /// Set by core/run before the first run; without it a plugin that asks is told LOCUS_UNSUPPORTED.
  void use_array_function(ArrayFunction function);
  /// Called at most once at a time, from any thread; returns true if the run should stop. An empty function: never stop.
  void use_progress(std::function<bool(double done, double total)> progress);

  /// What plugins have logged since the last call, in order.
  std::vector<LogLine> take_log();
  /// The first exception that a plugin's body let out of parallel_for or the progress hook threw, since the last call; empty if none.
  /// The result of such a run is incomplete: whoever runs a backend must ask and refuse the result.
  std::string take_failure();

 private:
  struct State;
  State* state_;
  locus_host table_;
};

/// The services of this process. They are never destroyed, since plugins stay loaded to the end.
HostServices& host_services();

}  // namespace locus
