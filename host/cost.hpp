// What a node costs: operations, bytes that it touches, and the share of pair blocks that its mask rules out. Counted from the graph, nothing is run.
// Must not know backends.
#pragma once
#include <optional>
#include "core/graph/graph.hpp"

namespace locus::host {

/// Additions, multiplications and function calls of one run of the node (a loop: of one turn of its body).
double operations(const graph::Graph& g, const graph::Node& n);
/// Bytes of all tensors that it reads and writes, each once.
double bytes_touched(const graph::Graph& g, const graph::Node& n, std::size_t real_bytes);
/// Share of the blocks of 128 x 128 pairs in which the mask holds nowhere; nothing where only data can tell.
std::optional<double> skipped_share(const graph::Graph& g, const graph::Reduce& r);

}  // namespace locus::host
