// Matrices of pairs that are kept as lists: which values are 0 wherever some list has no pair, and what such a value is at the pairs.
// A listed matrix has two forms: the list, and a tensor of all entries that is made from it and dies where nobody reads it. So whoever knows nothing of lists
// reads the tensor as ever. Knows nothing of syntax trees, scopes and sentences.
#pragma once
#include <optional>
#include <unordered_map>
#include "dsl/sema/build.hpp"

namespace locus::sema {

/// See LOCUS_ARRAY_PAIRS. `capacity` is what the arrays hold: how many of them are pairs only a run can tell.
struct PairList {
  TensorId starts = graph::none, rows = graph::none, columns = graph::none, values = graph::none;
  std::int64_t n = 0, m = 0, capacity = 0;
};

class PairLists {
 public:
  explicit PairLists(Build& build) : build_(build) {}

  /// A list of columns [n, k] and values, -1 for none; or of rows, columns and values [e].
  PairList make(const std::vector<Value>& parts, std::int64_t n, std::int64_t m);
  /// The matrix of a list as a value with these axes.
  Value matrix(const PairList& list, const Axis& row, const Axis& column);

  /// The list of a value over two coordinates that is 0 outside the pairs of some lists; made if need be. Nothing if the value may have every pair.
  std::optional<PairList> of(ExprId value, const Axis& row, const Axis& column);
  /// Of a value with two axes.
  std::optional<PairList> of(const Value& v);
  /// Is the value 0 everywhere but on the diagonal?
  bool diagonal(ExprId value, const Axis& row, const Axis& column);
  /// The pairs outside which a condition or a number is false or 0, its values left out; `with_list`: not those of the diagonal alone.
  std::optional<PairList> pattern(ExprId value, const Axis& row, const Axis& column);
  /// A value over two coordinates told at the pairs of a list: read at the place `pair()` and at what coordinates it has beside them.
  ExprId at(ExprId value, const Axis& row, const Axis& column, const PairList& pattern);
  Axis pair(const PairList& list) { return {"~pair", list.capacity, build_.coordinate("~pair", 0, list.capacity)}; }

  PairList turned(const PairList& list);
  /// [n] or [n, p]: the sums of each row's entries.
  Value row_sums(const PairList& list, const Value& entries, const Axis& row);
  Value times(const PairList& list, const Value& x, const Axis& row);

  /// A product of two lists is stored whole, but for an eigenproblem its factors do.
  void add_product(TensorId whole, const PairList& a, const PairList& b) { products_[whole] = {a, b}; }
  std::optional<std::pair<PairList, PairList>> product(const Value& v) const;

 private:
  struct Pairs {  ///< of some lists, turned or not, and maybe of the diagonal
    std::vector<std::pair<TensorId, bool>> lists;
    bool diagonal = false;
  };
  struct Outside {  ///< what an expression is where none of the pairs is
    double value = 0;
    Pairs pairs;
  };
  struct Sides {
    Axis row, column;
    std::unordered_map<ExprId, std::optional<Outside>> seen;
  };
  std::optional<Outside> outside(ExprId e, Sides& sides);
  std::optional<Outside> outside_now(ExprId e, Sides& sides);
  /// The listed tensor that is read at (row, column), or turned at (column, row).
  std::optional<std::pair<TensorId, bool>> listed(ExprId e, const Sides& sides);
  static Pairs both(Pairs a, const Pairs& b);
  std::int64_t size(const Pairs& p, const Sides& sides) const;
  PairList list(const std::pair<TensorId, bool>& which);
  PairList joined(const Pairs& pairs, const Sides& sides);

  struct Entries;
  ExprId entry(ExprId e, Entries& entries);
  ExprId gathered(const graph::Expr& read, Entries& entries);
  Value read(TensorId t, std::int64_t size);

  Build& build_;
  std::unordered_map<TensorId, PairList> lists_;
  std::unordered_map<TensorId, PairList> turned_;  ///< by `values`; outside loops only
  std::unordered_map<TensorId, std::pair<PairList, PairList>> products_;
};

}  // namespace locus::sema
