// What every user of a graph needs of its parts: making coordinates, tensors and reads, and which tensors a node touches.
// Knows nothing of passes.
#include "core/graph/graph.hpp"
#include <algorithm>
#include <stdexcept>

namespace locus::graph {
namespace {

struct Touched {
  const Graph* graph;
  std::vector<TensorId> all;

  void tensor(TensorId t) {
    if (t != none) all.push_back(t);
  }
  void tensors(const std::vector<TensorId>& t) { all.insert(all.end(), t.begin(), t.end()); }
  void expr(ExprId e) {
    if (e != none) tensors(graph->exprs.reads(e));
  }
  std::vector<TensorId> sorted() {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return std::move(all);
  }
};

void read_by(Touched& t, const Node& node);

void read_by(Touched&, const Input&) {}
void read_by(Touched& t, const Map& m) { t.expr(m.value); }
void read_by(Touched& t, const Linear& l) { t.tensor(l.a.tensor), t.tensor(l.b.tensor); }
void read_by(Touched& t, const Reduce& r) {
  for (ExprId e : {r.weight, r.factor, r.score, r.where}) t.expr(e);
  t.tensor(r.list);
  for (const Estimate& e : r.estimates) t.expr(e.value), t.expr(e.parameter);
}
void read_by(Touched& t, const Gather& g) {
  t.tensor(g.table.tensor);
  for (const GatherIndex& i : g.indices) t.expr(i.index);
}
void read_by(Touched& t, const Iterate& l) {
  t.tensor(l.stop);
  for (const Carry& c : l.carries) t.tensor(c.initial), t.tensor(c.next);
  for (const Path& p : l.paths) t.tensor(p.source);
  for (const Node& n : l.body) read_by(t, n);
}
void read_by(Touched& t, const ArrayCall& a) { t.tensors(a.inputs); }
void read_by(Touched& t, const Node& node) {
  std::visit([&t](const auto& kind) { read_by(t, kind); }, node.kind);
}

void written_by(std::vector<TensorId>& t, const Node& node);

void written_by(std::vector<TensorId>& t, const Input& i) { t.push_back(i.out); }
void written_by(std::vector<TensorId>& t, const Map& m) { t.push_back(m.out); }
void written_by(std::vector<TensorId>& t, const Linear& l) { t.push_back(l.out); }
void written_by(std::vector<TensorId>& t, const Reduce& r) {
  for (const Estimate& e : r.estimates) t.push_back(e.out);
}
void written_by(std::vector<TensorId>& t, const Gather& g) { t.push_back(g.out); }
void written_by(std::vector<TensorId>& t, const Iterate& l) {
  if (l.turn != none) t.push_back(l.turn);
  for (const Carry& c : l.carries) t.push_back(c.state);
  for (const Path& p : l.paths) t.push_back(p.out);
  for (const Node& n : l.body) written_by(t, n);
}
void written_by(std::vector<TensorId>& t, const ArrayCall& a) { t.insert(t.end(), a.outputs.begin(), a.outputs.end()); }
void written_by(std::vector<TensorId>& t, const Node& node) {
  std::visit([&t](const auto& kind) { written_by(t, kind); }, node.kind);
}

}  // namespace

const char* name_of(Estimator e) {
  static const char* const names[] = {"mean",    "sum",   "max",     "min",  "quantile", "cov",     "mass",
                                      "logmass", "count", "entropy", "gram", "weights",  "nearest", "effective"};
  return names[e];
}

CoordId Graph::add_coordinate(std::string name, std::int64_t extent) {
  coordinates.push_back({std::move(name), extent});
  return static_cast<CoordId>(coordinates.size() - 1);
}

TensorId Graph::add_tensor(Tensor t) {
  if (t.axes.size() != t.shape.size()) throw std::logic_error("a tensor needs as many axis names as dims");
  tensors.push_back(std::move(t));
  return static_cast<TensorId>(tensors.size() - 1);
}

ExprId Graph::read(TensorId t, const std::vector<CoordId>& at) {
  const Tensor& tensor = tensors.at(t);
  if (at.size() != tensor.shape.size()) throw std::logic_error("a read needs one coordinate for each dim of " + tensor.name);
  std::vector<Stride> strides(at.size());
  std::int64_t step = 1;
  for (std::size_t k = at.size(); k-- > 0; step *= tensor.shape[k]) strides[k] = {at[k], step};
  return exprs.read(t, tensor.type, 0, std::move(strides));
}

std::vector<std::int64_t> Graph::extents(const std::vector<CoordId>& c) const {
  std::vector<std::int64_t> all;
  for (CoordId id : c) all.push_back(coordinates.at(id).extent);
  return all;
}

std::vector<TensorId> reads(const Graph& g, const Node& n) {
  Touched t{&g, {}};
  read_by(t, n);
  return t.sorted();
}

std::vector<TensorId> writes(const Node& n) {
  std::vector<TensorId> all;
  written_by(all, n);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace locus::graph
