// The localization trick: argmin over the unknowns of sum over samples of weight times loss, plus a penalty, for every row. The loss is differentiated
// twice; a quadratic becomes one reduce of moments and a small solve, any other smooth loss a damped Newton search, an absolute loss a weighted quantile.
// Knows nothing of how the inputs of a local model were bound.
#pragma once
#include "core/graph/derivative.hpp"
#include "dsl/sema/lower.hpp"

namespace locus::sema {

class Fit {
 public:
  /// `inner`: the local's scope with inputs, settings and query bound; solve() adds the unknowns' values to it.
  Fit(Lowering& l, const Declaration& d, Span span, Scope& inner, const Neighbourhood& at, const Pair* pair);
  void solve();

 private:
  struct Unknown {
    std::string name;
    std::vector<Axis> own;
    TensorId tensor = graph::none;      ///< stands for its values while the loss is differentiated
    std::vector<CoordId> first, second; ///< its entry in a gradient, and the other one in a Hessian
    std::int64_t size = 1, offset = 0;
    const ast::Expr* start = nullptr;
  };
  using Side = graph::Derivative::Side;

  void declare();
  void state_objective();
  void differentiate();
  bool separates(const std::string& axis) const;
  bool reads_unknowns(ExprId e) const;
  std::vector<graph::Term> derive(ExprId e, const Unknown& by, const std::vector<CoordId>& entry, Side side);
  std::optional<ExprId> plus(std::optional<ExprId> a, std::optional<ExprId> b);

  ExprId averaged(ExprId e, std::vector<CoordId> features);
  /// A value of pairs as a sum of products, query side times sample side (`none`: 1).
  struct Product {
    ExprId query, sample;
  };
  ExprId mean_of(ExprId e, std::vector<CoordId> features, Type type);
  std::optional<ExprId> averaged_apart(ExprId e, const std::vector<CoordId>& features);
  std::optional<std::vector<Product>> apart(ExprId e);
  std::optional<std::vector<Product>> difference_apart(ExprId a, ExprId b, bool turned);
  ExprId exact(ExprId e);
  TensorId stored(std::optional<ExprId> e, const std::vector<CoordId>& own, bool outcome);
  std::vector<TensorId> blocks(const std::function<std::optional<ExprId>(ExprId, bool loss)>& at);
  void by_moments();
  void by_search();
  void by_quantile();
  void leave(TensorId t, std::int64_t offset, std::int64_t width, bool outcome);
  ExprId in_state(ExprId e, TensorId state, std::int64_t width);
  void status(const std::string& what, TensorId t, std::int64_t width, std::int64_t offset, std::vector<Axis> axes);
  Value start();
  TensorId zero();

  Lowering& l_;
  Build& build_;
  const Declaration& declaration_;
  const ast::Local& local_;
  Span span_;
  Scope& inner_;
  Neighbourhood at_;
  const Pair* pair_;  ///< null for a global fit
  Type type_ = Type::exact;
  std::vector<Unknown> unknowns_;
  std::int64_t count_ = 0;               ///< of all unknowns of a row (of one outcome)
  ExprId loss_ = graph::none, penalty_ = graph::none;
  TensorId mass_ = graph::none, counted_ = graph::none;
  std::string outcome_;                  ///< an axis over which the problem falls apart into equal ones
  Axis outcome_axis_;
  std::vector<ExprId> gradient_, penalty_gradient_;             ///< none where 0
  std::vector<std::vector<graph::Term>> hessian_, penalty_hessian_;  ///< for k <= l in order
  std::vector<std::optional<ExprId>> kinks_;
  bool kinked_ = false;
  std::map<TensorId, TensorId> exact_copies_;
  std::map<ExprId, ExprId> centres_;  ///< of what depends on samples, its mean
};

}  // namespace locus::sema
