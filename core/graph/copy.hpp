// Nodes once more with other tensors. Knows nothing of why.
#pragma once
#include <map>
#include <vector>
#include "core/graph/graph.hpp"

namespace locus::graph {

/// Every mention of a tensor of the map becomes one of the other tensor, of the same shape; bodies of loops included.
void rename_tensors(Graph& g, Node& n, const std::map<TensorId, TensorId>& to);

/// The nodes once more, what they write being new tensors, which join the map.
std::vector<Node> copied(Graph& g, const std::vector<Node>& nodes, std::map<TensorId, TensorId>& to);

}  // namespace locus::graph
