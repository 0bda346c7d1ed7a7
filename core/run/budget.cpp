// Sums up what a run needs. Knows nothing of the machine: the budget is the caller's.
#include "core/run/budget.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include "core/run/export.hpp"

namespace locus {
namespace {

using namespace graph;

std::uint64_t bytes_of(const Tensor& t, Dtype real) {
  std::uint64_t bytes = size_of(dtype_of(t.type, real));
  for (std::int64_t d : t.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(d), &bytes)) return std::numeric_limits<std::uint64_t>::max();
  return bytes;
}

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a + b < a ? std::numeric_limits<std::uint64_t>::max() : a + b; }

const Node* writer(const std::vector<Node>& nodes, TensorId t) {
  for (const Node& n : nodes) {
    if (const auto* loop = std::get_if<Iterate>(&n.kind))
      if (const Node* inner = writer(loop->body, t)) return inner;
    const auto written = writes(n);
    if (std::binary_search(written.begin(), written.end(), t)) return &n;
  }
  return nullptr;
}

bool is_matrix_of_pairs(const Node* n, TensorId t) {
  const auto* reduce = n ? std::get_if<Reduce>(&n->kind) : nullptr;
  return reduce && std::any_of(reduce->estimates.begin(), reduce->estimates.end(),
                               [t](const Estimate& e) { return e.out == t && (e.estimator == LOCUS_GRAM || e.estimator == LOCUS_WEIGHTS); });
}

}  // namespace

Budget budget_of(const Graph& graph, const passes::Plan& plan, Dtype real) {
  Budget all;
  std::vector<bool> used(graph.tensors.size(), false), outside(graph.tensors.size(), false);
  for (const Node& n : graph.nodes) {
    for (TensorId t : writes(n)) used[t] = true;
    if (const auto* input = std::get_if<Input>(&n.kind)) outside[input->out] = true;
  }
  for (const Output& o : graph.outputs) outside[o.tensor] = true;
  all.bytes = plan.slab_bytes;
  for (TensorId t = 0; t < graph.tensors.size(); ++t) {
    const std::uint64_t bytes = bytes_of(graph.tensors[t], real);
    if (outside[t]) all.bytes = add(all.bytes, bytes);
    if (used[t] && bytes > all.largest_bytes) all.largest = t, all.largest_bytes = bytes;
  }
  return all;
}

Diagnostic over_budget(const Graph& graph, const Budget& budget, std::uint64_t allowed) {
  Diagnostic d{Code::E601, {}, "the run needs " + size_text(budget.bytes) + ", the budget is " + size_text(allowed), "", {}, "", ""};
  const std::string more = std::to_string(static_cast<std::uint64_t>(std::ceil(static_cast<double>(budget.bytes) / 1e9))) + "GB";
  d.help = "allow more with `--memory " + more + "`";
  if (budget.largest == none) return d;
  const Tensor& t = graph.tensors[budget.largest];
  const Node* node = writer(graph.nodes, budget.largest);
  std::string axes;
  for (std::size_t k = 0; k < t.axes.size(); ++k) axes += (k ? ", " : "") + t.axes[k];
  d.message += ": " + (t.name.empty() ? std::string("an array") : "'" + t.name + "'") + " " + shape_text(t.shape) + " alone takes " +
               size_text(budget.largest_bytes);
  if (node) d.span = node->span;
  d.label = shape_text(t.shape) + (axes.empty() ? "" : " is [" + axes + "]");
  if (is_matrix_of_pairs(node, budget.largest))
    d.help = "do not store the matrix of pairs: write what is done with it as an estimate, as in `mean(v) at q among k by ...`; or " + d.help;
  return d;
}

std::string size_text(std::uint64_t bytes) {
  static const char* const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1000 && unit < 6; ++unit) value /= 1000;
  if (unit == 0) return std::to_string(bytes) + " bytes";
  value = std::ceil(value * 10) / 10;
  std::string text = std::to_string(static_cast<std::int64_t>(value));
  const int tenth = static_cast<int>(std::llround((value - std::floor(value)) * 10)) % 10;
  if (tenth != 0) text += "." + std::to_string(tenth);
  return text + " " + units[unit];
}

}  // namespace locus
