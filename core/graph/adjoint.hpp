// The derivative of a number by a tensor, as further nodes: backwards through every node that stands between the two (reverse accumulation; Griewank and
// Walther, Evaluating Derivatives, 2008). Sums over pairs stay reduces, so no matrix of pairs is stored. Knows nothing of the language.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "core/graph/derivative.hpp"
#include "core/graph/graph.hpp"

namespace locus::graph {

class Adjoint {
 public:
  using Emit = std::function<void(Node)>;
  /// `blocks`: the lists of nodes that have run when the new ones do, outer ones first; loops in them may be made to record their states.
  Adjoint(Graph& g, std::vector<std::vector<Node>*> blocks, Emit emit) : graph_(g), x_(g.exprs), blocks_(std::move(blocks)), emit_(std::move(emit)) {}

  /// The loops around the new nodes: a state whose beginning depends on `by` has earlier turns in it, which are not gone through.
  void inside(const std::vector<Carry>& carries) { open_.insert(open_.end(), carries.begin(), carries.end()); }
  /// An array that was told from these tensors before the graph runs: there is no way back through it.
  void cut(std::vector<TensorId> from, TensorId array, std::string by, Span span) { cuts_.push_back({std::move(from), array, std::move(by), span}); }
  /// A tensor of the shape of `by`: d scalar / d each entry. A distance has derivative 0 at coincidence. Throws NoDerivative.
  TensorId of(ExprId scalar, TensorId by);

  /// Something that has no derivative, or none that is built, stands between.
  struct NoDerivative {
    std::string what;
    Span span;
  };

 private:
  /// What has been found of the derivative by one tensor: summands over its entry's coordinates.
  struct Sum {
    std::vector<CoordId> at;
    std::vector<ExprId> parts;
    TensorId whole = none;
  };
  /// What a derivative is summed over: rows and samples of a reduce (no sample: the space of a map), the estimate's features, and how much each pair counts.
  struct Pairs {
    std::vector<CoordId> rows;
    CoordId sample = none;
    std::vector<CoordId> features;
    ExprId weight = none, where = none;
    TensorId list = none;
  };
  /// A read that does not take a tensor as it is, stored: its entries' derivatives go back where they were read.
  struct View {
    TensorId tensor = none, source = none;
    std::int64_t offset = 0;
    std::vector<Stride> strides;  ///< the longest first, as the tensor's dims
  };

  // -- sums (adjoint.cpp)
  Sum& sum(TensorId t);
  bool found(TensorId t) const;
  TensorId whole(TensorId t);
  ExprId at(TensorId t, const std::vector<CoordId>& c);  ///< the derivative by an entry of t
  void add(TensorId t, ExprId part);                     ///< over sum(t).at
  void add_flat(TensorId t, TensorId flat);              ///< a tensor with as many entries in the same order
  void scatter(TensorId t, ExprId value, ExprId place, const std::vector<CoordId>& space);  ///< added at flat places
  void activate(const std::vector<Node>& nodes);
  void sweep(const std::vector<Node>& nodes);
  ExprId plain(ExprId e);
  void flush_views();
  void push(ExprId value, ExprId factor, const Pairs& over);
  void spread(TensorId t, const Term& term, const Pairs& over);
  ExprId summed(ExprId value, const std::vector<CoordId>& kept, std::vector<CoordId> over);
  bool as_linear(ExprId value, const std::vector<CoordId>& kept, CoordId over, ExprId* result);

  // -- nodes
  void back(const Map& m);
  void back(const Linear& l);
  void back(const Gather& gather);
  void back(const Input&) {}
  // -- reduces (adjoint_reduce.cpp)
  void back(const Reduce& r);
  // -- whole-array functions (adjoint_array.cpp)
  void back(const ArrayCall& call);
  void back_solve(const ArrayCall& call);
  void back_concat(const ArrayCall& call);
  void back_fit_call(const ArrayCall& call);
  void add_looked_up(TensorId in, TensorId out, const std::vector<TensorId>& indices, std::size_t leading);
  /// The inputs of `fit` and `descend`.
  struct Blocks {
    std::vector<TensorId> slopes, curvatures, kinks;
    TensorId count = none;
    std::int64_t rows = 1, outcomes = 1;
    std::vector<std::int64_t> sizes;
  };
  static Blocks blocks_of(const ArrayCall& call, std::size_t first, bool with_outcomes);
  TensorId back_slopes(const Blocks& b, TensorId by_theta, std::int64_t offset, std::int64_t width);
  // -- lists of pairs (adjoint_pairs.cpp)
  void back_pairs(const ArrayCall& call);
  ExprId picked(TensorId table, const std::vector<TensorId>& indices, CoordId entry, const std::vector<CoordId>& rest);
  ExprId within_list(TensorId starts, CoordId entry, ExprId value);
  TensorId called(locus_array_function function, std::vector<TensorId> inputs, const std::vector<std::int64_t>& shape, Type type);
  std::vector<TensorId> turned(TensorId starts, TensorId columns, TensorId values, std::int64_t rows);
  // -- loops (adjoint_loop.cpp)
  void back(const Iterate& loop);
  void back_search(const Iterate& loop, const ArrayCall& call);
  void back_root(const Iterate& loop, const ArrayCall& call);
  void back_turns(const Iterate& loop);
  std::vector<Node> asked_again(const Iterate& loop, locus_array_function moves, std::map<TensorId, TensorId>& to);
  Adjoint beside(TensorId state, const std::vector<Node>& nodes) const;
  void take_over(Adjoint& from);
  static TensorId renamed(TensorId t, const std::map<TensorId, TensorId>& to);
  Iterate* original(TensorId state);

  // -- small things
  ExprId number(double v) { return x_.constant(v, Type::exact); }
  ExprId read(TensorId t, const std::vector<CoordId>& c) { return graph_.read(t, c); }
  ExprId read_flat(TensorId t, const std::vector<CoordId>& c);  ///< row-major over c, whatever t's own dims
  ExprId read_part(TensorId t, std::int64_t offset, std::vector<Stride> strides);  ///< strides over an extent of 1 may stand there
  TensorId tensor(const std::vector<CoordId>& dims, Type t);
  std::vector<CoordId> fresh(const std::vector<std::int64_t>& shape, const std::string& name);
  TensorId stored(ExprId value, const std::vector<CoordId>& space, Type t);
  TensorId reduced(const Pairs& p, Estimator e, ExprId value, Type t);
  void emit(decltype(Node::kind) kind);
  bool active(TensorId t) const { return active_.count(t) > 0; }
  std::vector<TensorId> active_reads(ExprId e) const;

  Graph& graph_;
  Expressions& x_;
  std::vector<std::vector<Node>*> blocks_;
  Emit emit_;
  std::vector<Carry> open_;
  struct Cut {
    std::vector<TensorId> from;
    TensorId array;
    std::string by;
    Span span;
  };
  std::vector<Cut> cuts_;
  Span span_;  ///< of the node at hand
  std::set<TensorId> active_;
  std::map<TensorId, Sum> sums_;
  std::vector<View> views_;
};

}  // namespace locus::graph
