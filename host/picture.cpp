// A graph for people: a line for each node, the text after a pass.
// Must not know specs, data and backends.
#include "host/picture.hpp"
#include <ostream>
#include "core/graph/text.hpp"
#include "core/passes/passes.hpp"
#include "host/progress.hpp"

namespace locus::host {
namespace {

using namespace graph;

double product(const Graph& g, const std::vector<CoordId>& coordinates) {
  double all = 1;
  for (CoordId c : coordinates) all *= static_cast<double>(g.coordinates[c].extent);
  return all;
}

std::string shape_of(const Graph& g, TensorId t) {
  if (t == none) return "";
  const Tensor& tensor = g.tensors[t];
  std::string text = " [";
  for (std::size_t k = 0; k < tensor.shape.size(); ++k)
    text += (k ? ", " : "") + (k < tensor.axes.size() && !tensor.axes[k].empty() ? tensor.axes[k] + " " : "") + std::to_string(tensor.shape[k]);
  return text + "]";
}

struct Words {
  const Graph& g;

  std::string operator()(const Input& n) const { return (n.constant ? "constant" : "input") + shape_of(g, n.out); }
  std::string operator()(const Map& n) const { return "map" + shape_of(g, n.out); }
  std::string operator()(const Linear& n) const { return "matrix product over " + std::to_string(g.coordinates[n.inner].extent) + shape_of(g, n.out); }
  std::string operator()(const Gather& n) const { return "gather" + shape_of(g, n.out); }
  std::string operator()(const ArrayCall& n) const {
    if (n.function == LOCUS_ARRAY_PAIRS_WHOLE) return "every entry of a list of pairs, as something reads the whole matrix" + shape_of(g, n.outputs.front());
    const bool list = n.function >= LOCUS_ARRAY_PAIRS && n.function <= LOCUS_ARRAY_PAIRS_JOIN;
    return (list ? "list of pairs, " : "whole-array function ") + std::string(name_of(n.function)) + (n.outputs.empty() ? "" : shape_of(g, n.outputs[list && n.outputs.size() > 2 ? 2 : 0]));
  }
  std::string operator()(const Iterate& n) const { return "loop, at most " + std::to_string(n.limit) + (n.limit == 1 ? " turn" : " turns"); }
  std::string operator()(const Reduce& n) const {
    std::string text = "reduce";
    for (std::size_t k = 0; k < n.estimates.size(); ++k) text += (k ? ", " : " ") + std::string(name_of(n.estimates[k].estimator));
    const double pairs = product(g, n.rows) * static_cast<double>(g.coordinates[n.sample].extent);
    text += " over " + amount_text(pairs) + " pairs";
    if (n.list != none) text += ", neighbour list of " + std::to_string(g.tensors[n.list].shape.back());
    if (n.score != none) text += ", in the log domain";
    if (n.where != none) text += ", masked";
    return text;
  }
};

void describe(const Graph& g, const std::vector<Node>& nodes, std::size_t depth, std::vector<NodeLine>& lines) {
  for (const Node& n : nodes) {
    const auto* input = std::get_if<Input>(&n.kind);
    const std::string name = input && !input->name.empty() ? input->name : n.name;
    lines.push_back({n.span, depth, (name.empty() ? "" : name + ": ") + std::visit(Words{g}, n.kind), &n});
    if (const auto* loop = std::get_if<Iterate>(&n.kind)) describe(g, loop->body, depth + 1, lines);
  }
}

}  // namespace

std::vector<NodeLine> describe_nodes(const Graph& g) {
  std::vector<NodeLine> lines;
  describe(g, g.nodes, 0, lines);
  return lines;
}

void rewrite_all(Graph& g) {
  for (const passes::Pass& pass : passes::order()) pass.run(g);
}

void dump_after(Graph g, const std::string& pass, std::ostream& out) {
  const auto show = [&](const std::string& name) {
    if (pass == name || pass == "all") out << "# after " << name << '\n' << print(g) << '\n';
  };
  show("lower");
  for (const passes::Pass& each : passes::order()) {
    each.run(g);
    show(each.name);
  }
}

}  // namespace locus::host
