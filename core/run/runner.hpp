// Runs a graph on a backend: passes, plan, export to the C table, buffers, faults as messages. Knows nothing of the language.
#pragma once
#include <functional>
#include <map>
#include <string>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"
#include "core/graph/graph.hpp"

namespace locus {

/// How long a node took; a loop's turns, and its body's nodes over all of them.
struct NodeTime {
  const graph::Node* node = nullptr;
  double seconds = 0;
  std::int64_t turns = 0;
  double skipped = 0;  ///< share of the blocks of pairs that a mask ruled out, as the backend found it
};

struct RunOptions {
  const locus_backend* backend = nullptr;  ///< required
  Dtype real = Dtype::float32;
  std::uint64_t memory = 0;  ///< budget in bytes, 0: none
  bool verify_each_pass = false;
  std::string dump_after;  ///< name of a pass, "all" or ""
  std::function<void(const std::string& pass, const std::string& text)> dump;
  std::function<void(const graph::Graph& rewritten, const std::vector<NodeTime>& times)> profile;  ///< asks the backend for times
  std::function<void(std::int64_t number, const Array& entry)> follow;  ///< takes entries of the path that is followed as they come, in their order
  bool fuse = true;  ///< false: no rewriting passes (for tests)
};

struct RunSummary {
  std::int64_t empty_rows = 0;  ///< of reduces that count them
  std::vector<std::pair<Span, std::int64_t>> empty_by_node;
  std::uint64_t peak_bytes = 0;  ///< slab + inputs + outputs as planned
};

/// Runs the graph; inputs by Input name (arrays of any dtype, converted as the tensor's type needs). Returns the outputs by name (real: the run's dtype; exact:
/// float64). On a fault or failure adds diagnostics (with the node's span) and returns an empty map.
std::map<std::string, Array> run_graph(graph::Graph g, const std::map<std::string, Array>& inputs, const RunOptions& options, Diagnostics& diagnostics,
                                       RunSummary* summary = nullptr);

}  // namespace locus
