// A graph and its plan as the flat C table, with everything that the table points to. Knows nothing of backends and of passes' work.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>
#include "core/graph/graph.hpp"
#include "core/passes/passes.hpp"

namespace locus {

/// Owns a locus_program and its arrays; the pointers in `table` point into this object, so it does not move.
struct ExportedProgram {
  locus_program table{};
  std::vector<locus_tensor> tensors;
  std::vector<locus_coordinate> coordinates;
  std::vector<locus_expr> exprs;
  std::vector<locus_stride> strides;
  std::vector<std::uint32_t> lists;
  std::vector<double> numbers;
  std::vector<locus_map> maps;
  std::vector<locus_linear> linears;
  std::vector<locus_reduce> reduces;
  std::vector<locus_estimate> estimates;
  std::vector<locus_gather> gathers;
  std::vector<locus_iterate> iterates;
  std::vector<locus_array> arrays;
  std::vector<locus_program_kernel> kernels;
  std::vector<locus_node> nodes;
  std::deque<Array> constants;

  std::vector<const graph::Node*> origin;  ///< of each node of the table, in the graph that was exported
  struct Buffer {
    graph::TensorId tensor;
    std::string input;  ///< the input's name; empty for an output
  };
  std::vector<Buffer> buffers;
  struct Followed {
    std::uint32_t tensor;  ///< of the table
    graph::TensorId path;
    std::int64_t since;
  };
  std::vector<Followed> followed;  ///< paths that the caller wants to see as they grow

  ExportedProgram() = default;
  ExportedProgram(const ExportedProgram&) = delete;
  ExportedProgram& operator=(const ExportedProgram&) = delete;
};

/// The graph must be sound. Only tensors and expressions in use are exported. A reduce whose weight no pass has split gives it as factor. May add
/// expressions to the graph (cov's value over the twin coordinate). The graph must outlive `origin`.
std::unique_ptr<ExportedProgram> export_program(graph::Graph& graph, const passes::Plan& plan, Dtype real);

/// float32 or float64, int64, bool: what a tensor of this type holds in a run.
Dtype dtype_of(graph::Type type, Dtype real);

}  // namespace locus
