// Derivatives of expressions by the entries of a tensor, as expressions: exact, sparse, sums kept as sums. Knows nothing of nodes and of the language.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>
#include "core/graph/graph.hpp"

namespace locus::graph {

/// One summand of a derivative: `value` where the coordinates named first are what they are pinned to (second: a coordinate of the entry).
struct Term {
  ExprId value = none;
  std::map<CoordId, CoordId> pins;
};

/// A tensor whose entries are differentiated by: row-major, its leading dims are rows that every read takes as they are.
struct Unknown {
  TensorId tensor = none;
  std::vector<CoordId> rows;  ///< of the leading dims
  std::vector<CoordId> entry; ///< of the other dims: the entry that is differentiated by; free in no expression
};

class Derivative {
 public:
  /// What |u| has as its derivative at u = 0: the middle, or the slope on one side (kinks are found by comparing them).
  enum class Side { middle, above, below };

  Derivative(Graph& g, Unknown by, Side side = Side::middle) : graph_(g), x_(g.exprs), by_(std::move(by)), side_(side) {}

  /// The summands of d e / d entry; none if e does not read the tensor. Throws NoDerivative.
  const std::vector<Term>& of(ExprId e);
  /// All summands as one expression: what is still pinned becomes a condition. `none` if the derivative is 0.
  ExprId whole(ExprId e);

  /// An op without a derivative stands between e and the tensor.
  struct NoDerivative {
    std::string op;
  };

 private:
  using Terms = std::vector<Term>;
  Terms compute(ExprId e);
  Terms of_read(ExprId e);
  Terms of_contraction(const Expr& e);
  Terms over(CoordId c, const Terms& body);
  Terms scaled(const Terms& t, ExprId by);
  void merge(Terms& into, const Terms& more);
  ExprId slope(ExprId e, int argument);
  ExprId number(double v) { return x_.constant(v, Type::exact); }

  Graph& graph_;
  Expressions& x_;
  Unknown by_;
  Side side_;
  std::map<ExprId, Terms> done_;
};

/// Sum of the summands, each under the condition of its pins; `none` for an empty list.
ExprId whole(Graph& g, const std::vector<Term>& terms);

/// e where the tensor is 0 throughout, simplified as if 0 times anything were 0; nothing if that is 0.
std::optional<ExprId> at_zero(Graph& g, ExprId e, const std::vector<TensorId>& tensors);

/// e with every read of a tensor of the map replaced by a read of the other tensor, offset and strides through `place`.
ExprId reread(Graph& g, ExprId e, const std::map<TensorId, TensorId>& to, const std::function<void(const Expr& read, std::int64_t& offset, std::vector<Stride>& strides)>& place);

}  // namespace locus::graph
