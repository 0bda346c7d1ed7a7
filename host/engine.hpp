// One request from text to results: lower, run, give each result the kind that the spec declares.
// Must not know where a request comes from and where its results go.
#pragma once
#include <optional>
#include <string>
#include <vector>
#include "core/data/write.hpp"
#include "core/run/runner.hpp"
#include "dsl/compile.hpp"

namespace locus::host {

struct Outcome {
  std::vector<Result> results;         ///< in declared order; int64 and bool where declared so
  std::vector<ResultInfo> infos;       ///< of each result
  std::vector<Result> status;          ///< per-query status, if asked for
  std::vector<std::string> notes;      ///< remarks of lowering, and queries without a sample
  RunSummary summary;
};

/// Nothing after a message.
std::optional<Outcome> run_request(const Spec& spec, const Request& request, const RunOptions& options, const Sources& sources, Diagnostics& diagnostics);

}  // namespace locus::host
