// Whether expressions are sound: ids, types by the rules of locus_ops.def, reads within their tensors. Knows nothing of nodes.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>
#include "core/graph/graph.hpp"

namespace locus::graph {

/// A run of equally spaced reads beyond the strides: extent many, stride apart.
struct Extent {
  std::int64_t extent, stride;
};
/// Do all of offset + sum of stride * index lie inside the tensor? True where nothing is read at all.
bool within(const Graph& g, TensorId t, std::int64_t offset, const std::vector<Stride>& strides, const std::vector<Extent>& more);

/// The fault of an expression or of what it is made of, in words; "" if there is none. Remembers what it has seen.
class ExpressionFaults {
 public:
  explicit ExpressionFaults(const Graph& g) : graph_(g) {}
  std::string fault(ExprId root);

 private:
  std::string own(const Expr& e) const;
  std::string of_read(const Expr& e) const;
  std::string of_types(const Expr& e) const;
  const Graph& graph_;
  std::unordered_map<ExprId, bool> sound_;
};

}  // namespace locus::graph
