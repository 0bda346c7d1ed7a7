// The execution graph: tensors, coordinates, expressions and a list of nodes of seven kinds. Effects on tensors stand in nodes, all arithmetic in expressions.
// Knows nothing of the language and of backends. All sizes are numbers: a graph is made when sizes are known.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/source.hpp"
#include "core/graph/expression.hpp"

namespace locus::graph {

/// An index that runs from 0 to extent - 1. Nodes list the coordinates they range over; expressions read tensors at them.
struct Coordinate {
  std::string name;  ///< the axis's name, for people
  std::int64_t extent = 0;
};

/// Contiguous and row-major. real: the run's dtype. exact: float64.
struct Tensor {
  std::string name;
  Type type = Type::real;
  std::vector<std::int64_t> shape;
  std::vector<std::string> axes;  ///< names, for people; as many as shape
};

/// Data from outside, or a constant.
struct Input {
  TensorId out = none;
  std::string name;
  bool constant = false;
  Array data;  ///< for constants; inputs get theirs when the run begins
};

/// out[space...] = value.
struct Map {
  TensorId out = none;
  std::vector<CoordId> space;
  ExprId value = none;
};

/// A tensor read with strides: element offset + sum stride * coordinate.
struct Operand {
  TensorId tensor = none;
  std::int64_t offset = 0;
  std::vector<Stride> strides;
};

/// out[batch..., row, column] = sum over inner of a b. `row` or `column` may be none (a vector): then out lacks it.
struct Linear {
  TensorId out = none;
  std::vector<CoordId> batch;
  CoordId row = none, inner = none, column = none;
  Operand a, b;
};

using Estimator = locus_estimator;
const char* name_of(Estimator e);

struct Estimate {
  Estimator estimator = LOCUS_MEAN;
  TensorId out = none;
  ExprId value = none;      ///< over rows, sample, features and inner coordinates; none for mass and the like; the metric for nearest
  CoordId twin = none;      ///< cov: the twin of the last feature coordinate; out's dims end with it
  ExprId parameter = none;  ///< quantile: t; nearest: k of the row
  std::vector<CoordId> features;
  std::int64_t width = 0;  ///< nearest: the last dim of out
  bool need_all = false;   ///< nearest: a row with fewer candidates than its k is a fault
};

/// For each row over all samples; see locus_reduce for the meaning of every part. A weight comes as `weight` from lowering and is split by the log-domain
/// pass into factor and score.
struct Reduce {
  std::vector<CoordId> rows;
  CoordId sample = none;
  ExprId weight = none;  ///< none: 1. After log_domain: none
  ExprId factor = none, score = none;
  ExprId where = none;
  TensorId list = none;  ///< neighbour list [rows..., width]
  bool count_empty = false;
  std::vector<Estimate> estimates;
};

/// out[space...] = table[... at indices]; indices are int expressions over the space.
struct GatherIndex {
  ExprId index = none;
  std::int64_t extent = 0, stride = 0;
};
struct Gather {
  TensorId out = none;
  std::vector<CoordId> space;
  Operand table;
  std::vector<GatherIndex> indices;
};

struct Node;

struct Carry {
  TensorId initial = none, state = none, next = none;
};
struct Path {
  TensorId source = none, out = none;
  std::int64_t since = -1;  ///< the run's caller follows it as it grows: the number of its first entry; -1: nobody does
};
struct Iterate {
  TensorId turn = none;  ///< int scalar, set before each turn
  TensorId stop = none;  ///< bool scalar computed in the body, or none
  std::int64_t limit = 0;
  std::vector<Carry> carries;
  std::vector<Path> paths;
  std::vector<Node> body;
};

/// A whole-array function; inputs and outputs are whole contiguous tensors.
struct ArrayCall {
  locus_array_function function = LOCUS_ARRAY_COPY;
  std::vector<TensorId> inputs, outputs;
  std::vector<double> parameters;
};

struct Node {
  Span span;
  std::string name;  ///< of the let or result it comes from, for people
  std::variant<Input, Map, Linear, Reduce, Gather, Iterate, ArrayCall> kind;
};

/// A native kernel of a plugin with its settings.
struct NativeKernel {
  const locus_kernel* kernel = nullptr;
  std::vector<double> settings;
};

struct Output {
  std::string name;
  TensorId tensor = none;
};

struct Graph {
  Expressions exprs;
  std::vector<Coordinate> coordinates;
  std::vector<Tensor> tensors;
  std::vector<NativeKernel> kernels;
  std::vector<Node> nodes;  ///< in order of execution
  std::vector<Output> outputs;

  CoordId add_coordinate(std::string name, std::int64_t extent);
  TensorId add_tensor(Tensor t);
  /// A read of the whole tensor at these coordinates (one for each dim, row-major strides).
  ExprId read(TensorId t, const std::vector<CoordId>& at);
  std::vector<std::int64_t> extents(const std::vector<CoordId>& c) const;
};

/// The tensors that a node reads and writes (a loop: also those of its body; its states count as written).
std::vector<TensorId> reads(const Graph& g, const Node& n);
std::vector<TensorId> writes(const Node& n);

/// Faults of a graph in words; empty if it is sound: ids in range, expressions only over known coordinates, every read within the tensor's bounds, every tensor
/// written before it is read and once only, shapes that fit, types that fit.
std::vector<std::string> verify(const Graph& g);

/// Text form, and back. print(parse_text(print(g))) == print(g). Constants' data are printed if they have at most 16 entries, else as a checksum.
std::string print(const Graph& g);
Graph parse_text(const std::string& text, std::string* error);

}  // namespace locus::graph
