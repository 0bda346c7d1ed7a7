// Values with named axes, and the building of a graph from them: arithmetic that aligns axes by name, views, whole-array nodes.
// Knows nothing of syntax trees and scopes. An axis whose name begins with '@', '|' or '^' is hidden: '@i' and '@j' are the two sides of a sentence,
// '|name' an axis that queries and samples are read on in step, '^name' an axis in front of what a hierarchy declares.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>
#include "core/base/diagnostic.hpp"
#include "core/graph/adjoint.hpp"

namespace locus::sema {

using graph::CoordId;
using graph::ExprId;
using graph::TensorId;
using graph::Type;
constexpr std::int64_t unknown = -1;  ///< a size that is open while a spec is checked without data

/// A mistake ends the step that it stands in.
struct Fault {
  Diagnostic diagnostic;
};
/// The same mistake seen again: no second message.
struct Poisoned {};
[[noreturn]] void fail(Code code, Span span, std::string message, std::string help = "", std::vector<Note> notes = {});

struct Axis {
  std::string name;
  std::int64_t size = unknown;
  CoordId coord = graph::none;
};

/// An expression over the coordinates of its axes. The k-th axis of one name and size has one coordinate throughout, so that values align by construction.
struct Value {
  ExprId expr = graph::none;
  std::vector<Axis> axes;
};

bool hidden(const std::string& axis);
/// "[n, d]": the visible axes of a value, for messages.
std::string shown(const Value& v);
/// Positions of visible axes.
std::vector<int> visible(const Value& v);
/// Position of the last visible axis, -1 for a number.
int last_axis(const Value& v);
bool has_axis(const Value& v, const std::string& name);
std::int64_t size_of(const Value& v, const std::string& name);

class Build {
 public:
  graph::Graph graph;
  Span span;         ///< of what is being lowered: nodes carry it
  std::string name;  ///< of the let it goes to

  // -- numbers
  Value number(double v, Type t) { return {graph.exprs.constant(v, t), {}}; }
  Value integer(std::int64_t v) { return number(static_cast<double>(v), Type::integer); }
  Type type(const Value& v) const { return graph.exprs.at(v.expr).type; }
  bool constant(const Value& v) const { return graph.exprs.at(v.expr).op == LOCUS_CONSTANT; }
  double value(const Value& v) const { return graph.exprs.at(v.expr).value; }
  Value to(Type t, Value v) { v.expr = graph.exprs.to(t, v.expr); return v; }
  /// As a number that a sum can take: a whole number from data is real, one from settings exact.
  Value real(const Value& v);

  // -- axes
  CoordId coordinate(const std::string& name, int occurrence, std::int64_t size);
  /// A value whose axes have these names and coordinates: hidden ones come to the front, coordinates become the canonical ones.
  Value canonical(ExprId expr, std::vector<Axis> axes);
  Value renamed(const Value& v, const std::function<std::string(int, const std::string&)>& f);
  Value permuted(const Value& v, const std::vector<int>& order);
  /// The axes of a result: the order of the side that has all; else left, then right; hidden ones first.
  std::vector<Axis> join(const std::vector<Axis>& left, const std::vector<Axis>& right);
  /// The coordinate of one axis alone: 0, 1, 2, ...
  Value index(const std::string& name, std::int64_t size);

  // -- entries
  Value apply(graph::Op op, const Value& a);
  Value apply(graph::Op op, const Value& a, const Value& b);
  Value select(const Value& test, const Value& yes, const Value& no);
  /// SUM_OVER, MAX_OVER, MIN_OVER over the axes at these positions, inside the expression.
  Value over(graph::Op op, const Value& v, std::vector<int> positions);
  /// DOT, SQDIST, L1DIST, MAXDIST over the last visible axis (which both have, or one).
  Value contract(graph::Op op, const Value& a, const Value& b);

  // -- views
  Value take(const Value& v, int position, std::int64_t at);
  Value cut(const Value& v, int position, std::int64_t low, const std::string& name, std::int64_t size);
  /// Visible axes replaced by these, row-major; a copy where the value is no plain array.
  Value reshaped(const Value& v, const std::vector<Axis>& shape);

  // -- nodes
  void emit(graph::Node node);
  std::vector<graph::Node>* block() { return blocks_.back(); }
  /// A loop's body. Of the loop: its carried values, which have a beginning and a state by now, its turn and its limit; nothing of a search, which has no turns for its body.
  void push_block(std::vector<graph::Node>* b, const graph::Iterate& loop = {}) { blocks_.push_back(b), loops_.push_back({loop.turn, graph::none, loop.limit, loop.carries, {}, {}}); }
  void pop_block() { blocks_.pop_back(), loops_.pop_back(); }
  const std::vector<std::vector<graph::Node>*>& blocks() const { return blocks_; }  ///< those being built, the outermost first
  bool in_loop() const { return blocks_.size() > 1; }
  /// The number of the turn among all turns of the loops around; nothing outside of loops.
  std::optional<Value> turn();
  /// An array that a run before the run has told from `source`: `grad` has no way back through it.
  void told(const Value& source, const Value& array, const std::string& by) { told_.push_back({source.expr, graph.exprs.at(array.expr).index, by, span}); }
  /// d scalar / d target, which must be a whole tensor, as an array of the target's axes. Throws graph::Adjoint::NoDerivative.
  Value derivative(const Value& scalar, const Value& target);
  TensorId tensor(const std::vector<Axis>& axes, Type t);
  /// The value as a tensor whose dims are its axes; a bare whole tensor is taken as it is.
  TensorId materialise(const Value& v);
  Value materialised(const Value& v);
  /// Is it a read of a tensor, a constant or a coordinate (nothing gained by storing it)?
  bool simple(const Value& v) const;
  Value read(TensorId t, std::vector<Axis> axes);
  graph::Operand operand(const Value& v);  ///< of a materialised or bare read value
  /// A reduce with one estimate over one sample axis; out has rows, features (and the sample for gram and weights; width for nearest).
  TensorId reduce(std::vector<Axis> rows, Axis sample, graph::Reduce r, graph::Estimate e, Type t, const std::vector<Axis>& tail = {});
  Value array_call(locus_array_function f, std::vector<Value> inputs, const std::vector<Axis>& axes, Type t, std::vector<double> parameters = {});
  Value constant_array(Array data, const std::vector<Axis>& axes, const std::string& label);
  Value input_array(const std::string& label, const std::vector<Axis>& axes, Type t);
  Value opaque(const std::vector<Axis>& axes, Type t) { return read(tensor(axes, t), axes); }

  Build() { blocks_.push_back(&graph.nodes); }
  Build(const Build&) = delete;

 private:
  std::map<std::tuple<std::string, int, std::int64_t>, CoordId> coordinates_;
  std::vector<std::vector<graph::Node>*> blocks_;
  struct Told {
    ExprId source;
    TensorId array;
    std::string by;
    Span span;
  };
  std::vector<Told> told_;
  std::vector<graph::Iterate> loops_;  ///< of the blocks but the first, without their bodies
  int depth_of(ExprId e);
  std::vector<CoordId> coords(const std::vector<Axis>& axes);
};

}  // namespace locus::sema
