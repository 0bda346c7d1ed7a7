// Graph to C table: tensors and expressions are renumbered, nodes and the bodies of loops are laid out one behind the other.
// Knows nothing of what a backend does with it.
#include "core/run/export.hpp"
#include <algorithm>
#include <map>

namespace locus {
namespace {

using namespace graph;

class Exporter {
 public:
  Exporter(Graph& g, const passes::Plan& plan, Dtype real) : graph_(g), plan_(plan), real_(real), out_(std::make_unique<ExportedProgram>()) {}

  std::unique_ptr<ExportedProgram> run() {
    for (const Coordinate& c : graph_.coordinates) out_->coordinates.push_back({c.extent, c.name.c_str()});
    tensors_.assign(graph_.tensors.size(), none);
    for (const Node& n : graph_.nodes)
      if (const auto* input = std::get_if<Input>(&n.kind)) add_input(*input);
    for (const Output& o : graph_.outputs) add_output(o.tensor);
    lay_out_nodes();
    fill_details();
    finish();
    return std::move(out_);
  }

 private:
  std::uint32_t add_tensor(TensorId t, locus_place place, std::uint64_t where, const void* data) {
    const Tensor& tensor = graph_.tensors[t];
    locus_tensor c{};
    c.size = sizeof c, c.dtype = static_cast<std::uint32_t>(dtype_of(tensor.type, real_)), c.rank = static_cast<std::uint32_t>(tensor.shape.size());
    c.place = place, c.where = where, c.data = data, c.name = tensor.name.c_str();
    std::copy(tensor.shape.begin(), tensor.shape.end(), c.dims);
    out_->tensors.push_back(c);
    return tensors_[t] = static_cast<std::uint32_t>(out_->tensors.size() - 1);
  }

  void add_input(const Input& input) {
    if (input.constant) {
      const Array& data = out_->constants.emplace_back(input.data.cast(dtype_of(graph_.tensors[input.out].type, real_)));
      add_tensor(input.out, LOCUS_PLACE_CONSTANT, 0, data.data());
    } else {
      add_tensor(input.out, LOCUS_PLACE_INPUT, out_->buffers.size(), nullptr);
      out_->buffers.push_back({input.out, input.name});
    }
  }

  void add_output(TensorId t) {
    if (tensors_[t] != none) return;  // an input handed through, or one result under two names
    add_tensor(t, LOCUS_PLACE_OUTPUT, out_->buffers.size(), nullptr);
    out_->buffers.push_back({t, ""});
  }

  std::uint32_t tensor(TensorId t) {
    if (t == none || tensors_[t] != none) return t == none ? none : tensors_[t];
    return add_tensor(t, LOCUS_PLACE_SLAB, plan_.offset[t], nullptr);
  }

  // Breadth first: the main list, then the bodies of its loops, then theirs.
  void lay_out_nodes() {
    const auto append = [&](const std::vector<Node>& nodes) {
      for (const Node& n : nodes)
        if (!std::holds_alternative<Input>(n.kind)) out_->origin.push_back(&n);
    };
    append(graph_.nodes);
    main_count_ = static_cast<std::uint32_t>(out_->origin.size());
    for (std::size_t k = 0; k < out_->origin.size(); ++k)
      if (const auto* loop = std::get_if<Iterate>(&out_->origin[k]->kind)) {
        const auto first = static_cast<std::uint32_t>(out_->origin.size());
        append(loop->body);
        bodies_[loop] = {first, static_cast<std::uint32_t>(out_->origin.size()) - first};
      }
  }

  void fill_details() {
    mark_expressions();
    for (const Node* n : out_->origin) std::visit([this](const auto& kind) { add(kind); }, n->kind);
  }

  // -- expressions: those in use, in their old order
  void mark(ExprId root) {
    std::vector<ExprId> open;
    const auto visit = [&](ExprId e) {
      if (e != none && !exprs_.contains(e)) exprs_.emplace(e, none), open.push_back(e);
    };
    visit(root);
    while (!open.empty()) {
      const Expr& e = graph_.exprs.at(open.back());
      open.pop_back();
      for (int k = 0; k < e.arity; ++k) visit(e.args[k]);
    }
  }

  void mark_expressions() {
    for (const Node* n : out_->origin) {
      if (const auto* m = std::get_if<Map>(&n->kind)) mark(m->value);
      if (const auto* g = std::get_if<Gather>(&n->kind))
        for (const GatherIndex& i : g->indices) mark(i.index);
      if (const auto* r = std::get_if<Reduce>(&n->kind)) {
        for (ExprId e : {r->weight, r->factor, r->score, r->where}) mark(e);
        for (const Estimate& e : r->estimates) mark(e.value), mark(e.parameter), mark(second_of(e));
      }
    }
    std::uint32_t next = 0;
    for (auto& [id, number] : exprs_) number = next++;
    for (const auto& [id, number] : exprs_) add_expression(graph_.exprs.at(id));
  }

  ExprId second_of(const Estimate& e) {
    if (e.estimator != LOCUS_COV || e.twin == none || e.features.empty()) return none;
    return graph_.exprs.rename(e.value, [&](CoordId c) { return c == e.features.back() ? e.twin : c; });
  }

  void add_expression(const Expr& e) {
    locus_expr c{};
    c.op = static_cast<std::uint16_t>(e.op), c.type = static_cast<std::uint16_t>(e.type), c.arity = e.arity;
    for (int k = 0; k < 3; ++k) c.args[k] = k < e.arity ? exprs_.at(e.args[k]) : none;
    c.index = e.op == LOCUS_READ ? tensor(e.index) : e.index;
    c.offset = e.offset, c.value = e.value;
    const locus_range r = strides(e.strides);
    c.first_stride = r.first, c.stride_count = r.count;
    out_->exprs.push_back(c);
  }

  std::uint32_t expr(ExprId e) const { return e == none ? none : exprs_.at(e); }

  // -- lists
  locus_range strides(const std::vector<Stride>& s) {
    const locus_range r{static_cast<std::uint32_t>(out_->strides.size()), static_cast<std::uint32_t>(s.size())};
    for (const Stride& one : s) out_->strides.push_back({one.coordinate, 0, one.stride});
    return r;
  }
  locus_range list(const std::vector<std::uint32_t>& ids) {
    const locus_range r{static_cast<std::uint32_t>(out_->lists.size()), static_cast<std::uint32_t>(ids.size())};
    out_->lists.insert(out_->lists.end(), ids.begin(), ids.end());
    return r;
  }
  std::uint32_t number(double value) {
    out_->numbers.push_back(value);
    return static_cast<std::uint32_t>(out_->numbers.size() - 1);
  }
  std::vector<std::uint32_t> tensor_ids(const std::vector<TensorId>& all) {
    std::vector<std::uint32_t> ids;
    for (TensorId t : all) ids.push_back(tensor(t));
    return ids;
  }

  template <class T>
  void node(std::uint32_t kind, std::vector<T>& details, const T& detail) {
    details.push_back(detail);
    out_->nodes.push_back({kind, static_cast<std::uint32_t>(details.size() - 1)});
  }

  // -- nodes
  void add(const Input&) {}
  void add(const Map& m) { node(LOCUS_MAP, out_->maps, {tensor(m.out), expr(m.value), list(m.space)}); }

  static std::int64_t stride_of(const Operand& o, CoordId c) {
    for (const Stride& s : o.strides)
      if (s.coordinate == c) return s.stride;
    return 0;
  }

  void add(const Linear& l) {
    const auto extent = [&](CoordId c) { return c == none ? 1 : graph_.coordinates[c].extent; };
    const auto batch = [&](const Operand& o) {
      std::vector<Stride> kept;
      for (const Stride& s : o.strides)
        if (std::find(l.batch.begin(), l.batch.end(), s.coordinate) != l.batch.end()) kept.push_back(s);
      return strides(kept);
    };
    locus_linear c{};
    c.out = tensor(l.out), c.a = tensor(l.a.tensor), c.b = tensor(l.b.tensor);
    c.a_offset = l.a.offset, c.b_offset = l.b.offset;
    c.rows = extent(l.row), c.inner = extent(l.inner), c.columns = extent(l.column);
    c.a_row = stride_of(l.a, l.row), c.a_inner = stride_of(l.a, l.inner), c.b_inner = stride_of(l.b, l.inner), c.b_column = stride_of(l.b, l.column);
    c.batch = list(l.batch), c.a_batch = batch(l.a), c.b_batch = batch(l.b);
    node(LOCUS_LINEAR, out_->linears, c);
  }

  void add(const Reduce& r) {
    const bool split = r.factor != none || r.score != none;
    locus_reduce c{expr(split ? r.factor : r.weight),
                   expr(r.score),
                   expr(r.where),
                   tensor(r.list),
                   r.sample,
                   r.count_empty ? LOCUS_COUNT_EMPTY : 0,
                   list(r.rows),
                   static_cast<std::uint32_t>(out_->estimates.size()),
                   static_cast<std::uint32_t>(r.estimates.size())};
    for (const Estimate& e : r.estimates)
      out_->estimates.push_back({static_cast<std::uint32_t>(e.estimator), tensor(e.out), expr(e.value), expr(second_of(e)), expr(e.parameter),
                                 e.need_all ? LOCUS_NEED_ALL : 0, list(e.features)});
    node(LOCUS_REDUCE, out_->reduces, c);
  }

  void add(const Gather& g) {
    std::vector<std::uint32_t> triples;
    for (const GatherIndex& i : g.indices) {
      const std::uint32_t extent = number(static_cast<double>(i.extent)), stride = number(static_cast<double>(i.stride));
      triples.insert(triples.end(), {expr(i.index), extent, stride});
    }
    node(LOCUS_GATHER, out_->gathers, {tensor(g.out), tensor(g.table.tensor), g.table.offset, list(g.space), strides(g.table.strides), list(triples)});
  }

  void add(const Iterate& l) {
    std::vector<std::uint32_t> carries, paths;
    for (const Carry& c : l.carries) carries.insert(carries.end(), {tensor(c.initial), tensor(c.state), tensor(c.next)});
    for (const Path& p : l.paths) {
      paths.insert(paths.end(), {tensor(p.source), tensor(p.out)});
      if (p.since >= 0) out_->followed.push_back({tensor(p.out), p.out, p.since});
    }
    const auto [first, count] = bodies_.at(&l);
    node(LOCUS_ITERATE, out_->iterates, {tensor(l.turn), tensor(l.stop), first, count, l.limit, list(carries), list(paths)});
  }

  void add(const ArrayCall& a) {
    const locus_range parameters{static_cast<std::uint32_t>(out_->numbers.size()), static_cast<std::uint32_t>(a.parameters.size())};
    out_->numbers.insert(out_->numbers.end(), a.parameters.begin(), a.parameters.end());
    node(LOCUS_ARRAY, out_->arrays, {static_cast<std::uint32_t>(a.function), list(tensor_ids(a.inputs)), list(tensor_ids(a.outputs)), parameters});
  }

  template <class T>
  static void point(std::uint32_t& count, const T*& at, const std::vector<T>& all) {
    count = static_cast<std::uint32_t>(all.size()), at = all.data();
  }

  void finish() {
    for (const NativeKernel& k : graph_.kernels) out_->kernels.push_back({k.kernel, k.settings.data(), static_cast<std::uint32_t>(k.settings.size()), 0});
    locus_program& t = out_->table;
    t.size = sizeof t, t.real = static_cast<std::uint32_t>(real_), t.main_count = main_count_;
    t.buffer_count = static_cast<std::uint32_t>(out_->buffers.size()), t.slab_bytes = plan_.slab_bytes;
    point(t.tensor_count, t.tensors, out_->tensors), point(t.coordinate_count, t.coordinates, out_->coordinates);
    point(t.expr_count, t.exprs, out_->exprs), point(t.stride_count, t.strides, out_->strides);
    point(t.list_count, t.lists, out_->lists), point(t.number_count, t.numbers, out_->numbers);
    point(t.map_count, t.maps, out_->maps), point(t.linear_count, t.linears, out_->linears);
    point(t.reduce_count, t.reduces, out_->reduces), point(t.estimate_count, t.estimates, out_->estimates);
    point(t.gather_count, t.gathers, out_->gathers), point(t.iterate_count, t.iterates, out_->iterates);
    point(t.array_count, t.arrays, out_->arrays), point(t.kernel_count, t.kernels, out_->kernels);
    point(t.node_count, t.nodes, out_->nodes);
  }

  Graph& graph_;
  const passes::Plan& plan_;
  const Dtype real_;
  std::unique_ptr<ExportedProgram> out_;
  std::vector<std::uint32_t> tensors_;  // new number of each tensor, or none
  std::map<ExprId, std::uint32_t> exprs_;
  std::map<const Iterate*, std::pair<std::uint32_t, std::uint32_t>> bodies_;
  std::uint32_t main_count_ = 0;
};

}  // namespace

Dtype dtype_of(graph::Type type, Dtype real) {
  switch (type) {
    case graph::Type::boolean:
      return Dtype::boolean;
    case graph::Type::integer:
      return Dtype::int64;
    case graph::Type::exact:
      return Dtype::float64;
    case graph::Type::real:
      return real;
  }
  return real;
}

std::unique_ptr<ExportedProgram> export_program(graph::Graph& graph, const passes::Plan& plan, Dtype real) { return Exporter(graph, plan, real).run(); }

}  // namespace locus
