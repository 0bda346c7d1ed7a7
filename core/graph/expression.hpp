// Scalar expressions over coordinates: pure, hash-consed, shared by all nodes of a graph. One value per pair, per row or per entry.
// Knows nothing of nodes, of the language or of backends; op codes come from the C table's own list.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include "plugins/abi/locus_plugin.h"

namespace locus::graph {

using ExprId = std::uint32_t;
using CoordId = std::uint32_t;
using TensorId = std::uint32_t;
constexpr std::uint32_t none = LOCUS_NONE;

/// The op codes and types of the C table.
using Op = locus_op;
enum class Type : std::uint8_t { boolean = LOCUS_TYPE_BOOL, integer = LOCUS_TYPE_INTEGER, exact = LOCUS_TYPE_EXACT, real = LOCUS_TYPE_REAL };
const char* name_of(Type t);  // "bool", "int", "exact", "real"

struct OpInfo {
  const char* name;
  int arity;
  const char* rule;
  double low, high;
  const char* text;
};
/// The row of locus_ops.def for an op at or above LOCUS_neg; a synthetic row for the leaves and contractions.
const OpInfo& info(Op op);

struct Stride {
  CoordId coordinate;
  std::int64_t stride;  ///< in elements
  friend bool operator==(const Stride&, const Stride&) = default;
};

struct Expr {
  Op op = LOCUS_CONSTANT;
  Type type = Type::real;
  std::uint8_t arity = 0;
  ExprId args[3] = {none, none, none};
  std::uint32_t index = none;   ///< tensor (read), coordinate (coordinate, *_over, contractions) or kernel (call)
  std::int64_t offset = 0;      ///< read
  std::vector<Stride> strides;  ///< read: sorted by coordinate, no zero strides
  double value = 0;             ///< constant
  friend bool operator==(const Expr&, const Expr&) = default;
};

/// Arena of expressions. Equal expressions get one id. Ids of arguments are below the ids of their users. References that at() gives stay valid.
/// Impossible requests (unknown ids, an op of other arity, a condition where none can be) are faults of the caller: std::logic_error.
class Expressions {
 public:
  const Expr& at(ExprId id) const { return all_[id]; }
  std::size_t count() const { return all_.size(); }
  ExprId add(Expr e);

  ExprId constant(double value, Type type);
  ExprId read(TensorId tensor, Type type, std::int64_t offset, std::vector<Stride> strides);
  ExprId coordinate(CoordId c);
  /// An op of locus_ops.def; converts arguments by the op's rule, folds constants (in double) and IEEE-safe identities (x*1, x+0 for ints, select of a
  /// constant, not not), never reorders floating arithmetic. numeric: int if all arguments are, real if one is, else exact; an int beside a real becomes real.
  /// real: as numeric, but ints alone become exact. A bool in a numeric place counts as 0 or 1 (exact).
  ExprId apply(Op op, ExprId a, ExprId b = none, ExprId c = none);
  /// SUM_OVER, MAX_OVER, MIN_OVER over a coordinate. The type of the body; an empty maximum of ints is the least int64.
  ExprId over(Op op, CoordId c, ExprId body);
  /// DOT, SQDIST, L1DIST, MAXDIST; c may be none.
  ExprId contract(Op op, CoordId c, ExprId a, ExprId b);
  ExprId call(std::uint32_t kernel, Type type, std::vector<ExprId> args);
  /// A number or bool as exact or real (or a bool as int); the same id where the type is already that. No way from exact or real to int.
  ExprId to(Type type, ExprId e);

  /// e with its free coordinates replaced: map gives for each an other (or the same). Shares what does not change. A coordinate that is bound inside stays;
  /// mapping a free one onto it would capture it and is a std::logic_error.
  ExprId rename(ExprId e, const std::function<CoordId(CoordId)>& map);
  /// e with coordinate c fixed at a constant index, or shifted by a constant (c := c + shift).
  ExprId fix(ExprId e, CoordId c, std::int64_t index);
  ExprId shift(ExprId e, CoordId c, std::int64_t shift);
  /// Does e depend on the coordinate (free, that is not bound by an *_over or a contraction inside)?
  bool depends(ExprId e, CoordId c) const;
  /// Free coordinates of e, sorted.
  std::vector<CoordId> free(ExprId e) const;
  /// Tensors that e reads, sorted.
  std::vector<TensorId> reads(ExprId e) const;

 private:
  using Substitution = std::function<ExprId(CoordId, Stride*, std::int64_t*)>;
  ExprId substitute(ExprId e, const Substitution& with, std::unordered_map<ExprId, ExprId>& done);
  ExprId substitute_read(const Expr& e, const Substitution& with);
  ExprId identity(Op op, Type result, ExprId a, ExprId b, ExprId c);
  ExprId unified(ExprId a, Type type);

  std::deque<Expr> all_;
  std::deque<std::vector<CoordId>> free_;  ///< free coordinates of each, sorted
  std::unordered_multimap<std::size_t, ExprId> index_;
};

}  // namespace locus::graph
