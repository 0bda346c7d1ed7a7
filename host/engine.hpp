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

/// What one sentence weighed for the query that was asked for; arrays [.., samples], no distance where there is none.
struct Weighed {
  std::string name;
  Span span;
  Array weight, share;
  std::optional<Array> distance;
};

struct Outcome {
  std::vector<Result> results;         ///< in declared order; int64 and bool where declared so
  std::vector<ResultInfo> infos;       ///< of each result
  std::vector<Result> status;          ///< per-query status, if asked for
  std::vector<std::string> notes;      ///< remarks of lowering, and queries without a sample
  std::vector<Weighed> weighed;        ///< if `why` was asked for
  RunSummary summary;
};

/// Nothing after a message.
std::optional<Outcome> run_request(const Spec& spec, const Request& request, const RunOptions& options, const Sources& sources, Diagnostics& diagnostics);

}  // namespace locus::host
