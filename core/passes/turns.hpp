// Whole numbers of a loop that settings and turns alone tell, turn by turn, before anything runs. Knows nothing of what for.
#pragma once
#include <map>
#include <optional>
#include "core/graph/graph.hpp"

namespace locus::passes {

class Turns {
 public:
  /// The loop is outside[place]; at first it stands in turn 0.
  Turns(graph::Graph& g, const std::vector<graph::Node>& outside, std::size_t place);

  std::int64_t turn() const { return turn_; }
  void next();
  /// A number or condition (0 or 1) of this turn; nothing if data tell it.
  std::optional<std::int64_t> value(graph::ExprId e) { return value(e, graph::none, 0); }

 private:
  std::optional<std::int64_t> number_of(graph::TensorId t);
  std::optional<std::int64_t> value(graph::ExprId e, graph::CoordId c, std::int64_t at);

  graph::Graph& g_;
  const std::vector<graph::Node>& outside_;
  std::size_t place_;
  const graph::Iterate& loop_;
  std::int64_t turn_ = 0;
  std::map<graph::TensorId, std::int64_t> now_;
};

/// The node of the list that writes a tensor; null if none does.
const graph::Node* writer_of(const std::vector<graph::Node>& nodes, graph::TensorId t);

/// If `next`, a value of the map, is the list `state` (one dim) with one entry set: which one.
std::optional<graph::ExprId> set_entry(graph::Graph& g, const graph::Map& m, graph::ExprId next, graph::TensorId state);

}  // namespace locus::passes
