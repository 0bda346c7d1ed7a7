// What a run took, node by node, as a file for chrome://tracing and Perfetto (the trace-event format).
// Must not know specs and data.
#pragma once
#include <string>
#include <vector>
#include "core/run/runner.hpp"

namespace locus::host {

/// One event for each node in the order of execution, those of a loop's body inside the loop's; `where` is the backend and its device.
std::string trace_text(const graph::Graph& g, const std::vector<NodeTime>& times, const std::string& where, Dtype real);

}  // namespace locus::host
