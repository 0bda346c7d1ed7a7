// A sum or mean under a separable kernel, w(i, j) = r(i) dot(a(i), b(j)) s(j), takes the sums over the samples first: sum w v = r a @ (sum s b v').
// Two small matrix products replace all pairs; what is left per query is a product with a matrix of the points' width.
// A row whose total weight is exactly 0 counts as empty: where every weight is 0 the sums are exactly 0 too; where weights of both signs cancel exactly,
// its mean is undefined anyway. Factors must be finite for finite data (no quotients, logs, exponentials): an infinite weight would have to silence the others.
// Causal domains (j <= i) go block by block: what lies before a block of queries comes as one product, only the block itself is paired. Others stay dense.
#include <algorithm>
#include <optional>
#include "core/passes/contractions.hpp"
#include "core/passes/passes.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

using Coordinates = std::vector<CoordId>;

constexpr std::int64_t causal_block = 128;  // queries of a causal domain that share what lies before them
constexpr std::int64_t chunk = 4096;        // samples summed in one go in the run's precision; beyond two chunks the partial sums are summed again

struct Separable {
  CoordId inner = none;
  ExprId a = none, b = none;         ///< the points of the dot, row's and sample's
  ExprId row = none, sample = none;  ///< factors of one side, none: 1
  Op causal = LOCUS_CONSTANT;        ///< le or lt: only pairs with sample <= row, or <; else all
  CoordId until = none;              ///< causal: the row
};

// Is it sample <= row or sample < row, of two coordinates? Then what kind, and which row.
bool causal_domain(const Graph& g, const Reduce& r, Separable& all) {
  const Expr& e = g.exprs.at(r.where);
  if (e.op != LOCUS_le && e.op != LOCUS_lt) return false;
  const Expr &sample = g.exprs.at(e.args[0]), &row = g.exprs.at(e.args[1]);
  if (sample.op != LOCUS_COORDINATE || row.op != LOCUS_COORDINATE || sample.index != r.sample || row.index == r.sample) return false;
  all.causal = e.op, all.until = row.index;
  return g.coordinates[row.index].extent == g.coordinates[r.sample].extent;
}

bool finite(const Expressions& exprs, ExprId id) {
  const Expr& e = exprs.at(id);
  const auto constant = [&](int k) { return exprs.at(e.args[k]).op == LOCUS_CONSTANT; };
  switch (e.op) {
    case LOCUS_log:
    case LOCUS_log2:
    case LOCUS_exp:
    case LOCUS_lgamma:
    case LOCUS_CALL:
    case LOCUS_MAX_OVER:
    case LOCUS_MIN_OVER:
      return false;
    case LOCUS_CONSTANT:
      return e.value - e.value == 0;
    case LOCUS_div:
      if (!constant(1) || exprs.at(e.args[1]).value == 0) return false;
      break;
    case LOCUS_pow:
      if (!constant(1) || exprs.at(e.args[1]).value < 0) return false;
      break;
    default:
      break;
  }
  for (int k = 0; k < e.arity; ++k)
    if (!finite(exprs, e.args[k])) return false;
  return true;
}

std::optional<Separable> separable(Graph& g, const Reduce& r) {
  Expressions& exprs = g.exprs;
  if (r.factor == none || r.score != none || r.weight != none || r.list != none) return std::nullopt;
  Separable all;
  if (r.where != none && !causal_domain(g, r, all)) return std::nullopt;
  Product product = product_of(exprs, r.factor), row, sample;
  for (ExprId d : product.divisors)
    if (exprs.at(d).op != LOCUS_CONSTANT || exprs.at(d).value == 0) return std::nullopt;
  row.divisors = product.divisors;
  for (ExprId f : product.factors) {
    const Expr& e = exprs.at(f);
    if (!exprs.depends(f, r.sample)) {
      row.factors.push_back(f);
    } else if (e.op == LOCUS_DOT && e.index != none && all.inner == none && !exprs.depends(e.args[0], r.sample)) {
      all.inner = e.index, all.a = e.args[0], all.b = e.args[1];
    } else {
      sample.factors.push_back(f);
    }
  }
  if (all.inner == none) return std::nullopt;
  for (const Product* side : {&row, &sample})
    for (ExprId f : side->factors)
      if (!finite(exprs, f)) return std::nullopt;
  all.row = multiplied(exprs, row), all.sample = multiplied(exprs, sample);
  return all;
}

class Rewriter {
 public:
  Rewriter(Graph& g, const Node& node, const Reduce& r, const Separable& parts) : graph_(g), exprs_(g.exprs), origin_(node), reduce_(r), parts_(parts) {}

  // The nodes that take the reduce's place; none if it is better left alone.
  std::vector<Node> run() {
    if (!fits() || !pays()) return {};
    row_ = graph_.add_coordinate("queries", entries_of(graph_, queries_));
    inner_ = graph_.add_coordinate(graph_.coordinates[parts_.inner].name, graph_.coordinates[parts_.inner].extent);
    a_ = operand(parts_.a, {queries_, {parts_.inner}}, {row_, inner_});
    for (const Estimate& e : reduce_.estimates)
      if (e.estimator != LOCUS_WEIGHTED_SUM && mass_ == none) mass_ = summed(parts_.sample == none ? number(1) : parts_.sample, {});
    Reduce means;
    for (const Estimate& e : reduce_.estimates) finish(e, means);
    if (!means.estimates.empty()) add(std::move(means));
    return std::move(nodes_);
  }

 private:
  ExprId number(double v) { return exprs_.constant(v, Type::exact); }
  void add(decltype(Node::kind) kind) { nodes_.push_back({origin_.span, origin_.name, std::move(kind)}); }

  bool fits() {
    bool mean = false;
    for (const Estimate& e : reduce_.estimates) {
      if (e.estimator != LOCUS_MEAN && e.estimator != LOCUS_WEIGHTED_SUM && e.estimator != LOCUS_MASS) return false;
      if (graph_.tensors[e.out].type != Type::real) return false;
      mean = mean || e.estimator == LOCUS_MEAN;
    }
    if (reduce_.count_empty && !mean) return false;
    for (CoordId c : reduce_.rows) {
      bool shared = exprs_.depends(parts_.b, c) || (parts_.sample != none && exprs_.depends(parts_.sample, c));
      for (const Estimate& e : reduce_.estimates) shared = shared || (e.value != none && exprs_.depends(e.value, c));
      (shared ? batch_ : queries_).push_back(c);
    }
    const auto depends_on_query = [&](ExprId e) {
      return e != none && std::any_of(queries_.begin(), queries_.end(), [&](CoordId c) { return exprs_.depends(e, c); });
    };
    if (parts_.causal != LOCUS_CONSTANT && queries_ != Coordinates{parts_.until}) return false;
    return !queries_.empty() && !depends_on_query(parts_.b);
  }

  bool pays() const {
    const auto size = [&](const Coordinates& space) { return static_cast<double>(entries_of(graph_, space)); };
    const double n = size(queries_), m = size({reduce_.sample}), d = size({parts_.inner});
    double width = 0;
    for (const Estimate& e : reduce_.estimates) width += e.value == none ? 0 : size(e.features);
    const bool causal = parts_.causal != LOCUS_CONSTANT;
    const double pairs = causal ? n * m / 2 : n * m, paired = causal ? 2 * n * causal_block : 0;
    return 2 * (n + m) * d * (width + 1) + 2 * paired * (d + width) <= pairs * (d + width);
  }

  // -- operands
  // e as a matrix: `groups` of coordinates behind the batch, each seen as one flat coordinate. A plain read is one already.
  Operand operand(ExprId e, const std::vector<Coordinates>& groups, const Coordinates& flat) {
    e = exprs_.to(Type::real, e);
    const Expr& read = exprs_.at(e);
    const bool single = std::all_of(groups.begin(), groups.end(), [](const Coordinates& g) { return g.size() <= 1; });
    if (read.op == LOCUS_READ && single) {
      Operand o{read.index, read.offset, {}};
      for (Stride s : read.strides) {
        for (std::size_t k = 0; k < groups.size(); ++k)
          if (!groups[k].empty() && groups[k][0] == s.coordinate) s.coordinate = flat[k];
        o.strides.push_back(s);
      }
      return o;
    }
    Coordinates space = batch_;
    for (const Coordinates& g : groups) space.insert(space.end(), g.begin(), g.end());
    const TensorId out = tensor(space);
    add(Map{out, space, e});
    return whole(out, groups, flat);
  }

  TensorId tensor(const Coordinates& space) {
    Tensor t{origin_.name, Type::real, graph_.extents(space), {}};
    for (CoordId c : space) t.axes.push_back(graph_.coordinates[c].name);
    return graph_.add_tensor(std::move(t));
  }

  // A contiguous tensor [batch..., groups...].
  Operand whole(TensorId t, const std::vector<Coordinates>& groups, const Coordinates& flat) const {
    Operand o{t, 0, {}};
    std::int64_t step = 1;
    for (std::size_t k = groups.size(); k-- > 0; step *= entries_of(graph_, groups[k]))
      if (flat[k] != none) o.strides.push_back({flat[k], step});
    for (std::size_t k = batch_.size(); k-- > 0; step *= graph_.coordinates[batch_[k]].extent) o.strides.push_back({batch_[k], step});
    return o;
  }

  // -- sums over the samples: [batch..., inner, features] of b(j, inner) t(j, features), then per query: [batch..., row, features]
  TensorId summed(ExprId t, const Coordinates& features) {
    const CoordId sample = graph_.add_coordinate(graph_.coordinates[reduce_.sample].name, graph_.coordinates[reduce_.sample].extent);
    const CoordId column = features.empty() ? none : graph_.add_coordinate("features", entries_of(graph_, features));
    Operand b = operand(parts_.b, {{reduce_.sample}, {parts_.inner}}, {sample, inner_});
    Operand v = operand(t, {{reduce_.sample}, features}, {sample, column});
    if (parts_.causal != LOCUS_CONSTANT) return causal(b, v, sample, column);
    const TensorId moments = over_samples(b, v, sample, column);
    Coordinates space = batch_;
    space.push_back(row_);
    if (column != none) space.push_back(column);
    const TensorId out = tensor(space);
    Operand m = whole(moments, {{inner_}, column == none ? Coordinates{} : Coordinates{column}}, {inner_, column});
    add(Linear{out, batch_, row_, inner_, column, a_, m});
    return out;
  }

  TensorId over_samples(const Operand& b, const Operand& v, CoordId sample, CoordId column) {
    const std::int64_t m = graph_.coordinates[sample].extent;
    Coordinates space = batch_;
    space.push_back(inner_);
    if (column != none) space.push_back(column);
    if (m <= 2 * chunk) return product(batch_, b, v, sample, column, space);
    const CoordId block = graph_.add_coordinate("blocks", m / chunk), within = graph_.add_coordinate("samples", chunk);
    Coordinates blocks = batch_, blocked = batch_;
    blocks.push_back(block), blocked.push_back(block), blocked.push_back(inner_);
    if (column != none) blocked.push_back(column);
    const TensorId partial = product(blocks, cut(b, sample, block, within), cut(v, sample, block, within), within, column, blocked);
    ExprId total = exprs_.over(LOCUS_SUM_OVER, block, graph_.read(partial, blocked));
    if (m % chunk != 0) {
      const CoordId rest = graph_.add_coordinate("samples", m % chunk);
      const TensorId tail = product(batch_, tail_of(b, sample, rest), tail_of(v, sample, rest), rest, column, space);
      total = exprs_.apply(LOCUS_add, total, graph_.read(tail, space));
    }
    const TensorId out = tensor(space);
    add(Map{out, space, total});
    return out;
  }

  // -- causal domains
  // Sums over the samples up to each query: blocks before the query's own through running sums of moments, its own pair by pair.
  TensorId causal(const Operand& b, const Operand& v, CoordId sample, CoordId column) {
    const std::int64_t n = graph_.coordinates[sample].extent, count = n / causal_block;
    const CoordId block = graph_.add_coordinate("blocks", count);
    const CoordId query = graph_.add_coordinate("queries", causal_block), within = graph_.add_coordinate("samples", causal_block);
    Coordinates blocks = batch_;
    blocks.push_back(block);
    const TensorId before = moments_before(cut(b, sample, block, within), cut(v, sample, block, within), block, within, column);
    const Operand a = cut(a_, row_, block, query);
    const Coordinates space = with(blocks, {query, column});
    const TensorId far = tensor(space);
    add(Linear{far, blocks, query, inner_, column, a, contiguous(before, with(blocks, {inner_, column}))});
    const TensorId near = paired(a, cut(b, sample, block, within), cut(v, sample, block, within), with(blocks, {query}), within, column, 0);
    const TensorId head = tensor(space);
    add(Map{head, space, exprs_.apply(LOCUS_add, graph_.read(far, space), graph_.read(near, space))});
    if (n % causal_block == 0) return head;
    const CoordId last = graph_.add_coordinate("queries", n % causal_block);
    const TensorId tail = paired(tail_of(a_, row_, last), b, v, with(batch_, {last}), sample, column, n - n % causal_block);
    return joined(head, count * causal_block, tail, last, column);
  }

  static Coordinates with(Coordinates space, std::initializer_list<CoordId> more) {
    for (CoordId c : more)
      if (c != none) space.push_back(c);
    return space;
  }
  Operand contiguous(TensorId t, const Coordinates& space) const {
    Operand o{t, 0, {}};
    std::int64_t step = 1;
    for (std::size_t k = space.size(); k-- > 0; step *= graph_.coordinates[space[k]].extent) o.strides.push_back({space[k], step});
    return o;
  }
  ExprId at(const Operand& o) { return exprs_.read(o.tensor, Type::real, o.offset, o.strides); }

  // For each block the sum of the moments of all blocks before it: [batch..., block, inner, features].
  TensorId moments_before(const Operand& b, const Operand& v, CoordId block, CoordId within, CoordId column) {
    Coordinates blocks = batch_;
    blocks.push_back(block);
    const Coordinates each = with(blocks, {inner_, column}), kept = with(batch_, {inner_, column});
    const TensorId own = product(blocks, b, v, within, column, each);
    const CoordId one = graph_.add_coordinate("blocks", 1), more = graph_.add_coordinate("blocks", graph_.coordinates[block].extent + 1);
    const TensorId zero = tensor(with(kept, {one})), last = tensor(with(kept, {block})), all = tensor(with(kept, {more})), sums = tensor(with(kept, {more}));
    add(Map{zero, with(kept, {one}), exprs_.constant(0, Type::real)});
    add(Map{last, with(kept, {block}), graph_.read(own, each)});
    add(ArrayCall{LOCUS_ARRAY_CONCAT, {zero, last}, {all}, {}});
    add(ArrayCall{LOCUS_ARRAY_CUMSUM, {all}, {sums}, {}});
    Operand before = contiguous(sums, with(kept, {more}));
    before.strides[0].coordinate = block;
    const TensorId out = tensor(each);
    add(Map{out, each, at(before)});
    return out;
  }

  // Pairs of the rows with the samples up to each, counted from `shift` before the first row.
  TensorId paired(const Operand& a, const Operand& b, const Operand& v, const Coordinates& rows, CoordId over, CoordId column, std::int64_t shift) {
    Reduce r;
    r.rows = rows, r.sample = over;
    r.factor = exprs_.contract(LOCUS_DOT, inner_, at(a), at(b));
    const ExprId row = exprs_.apply(LOCUS_add, exprs_.coordinate(rows.back()), exprs_.constant(static_cast<double>(shift), Type::integer));
    r.where = exprs_.apply(parts_.causal, exprs_.coordinate(over), row);
    Estimate e;
    e.estimator = LOCUS_WEIGHTED_SUM, e.value = at(v);
    if (column != none) e.features.push_back(column);
    const TensorId out = e.out = tensor(with(rows, {column}));
    r.estimates.push_back(std::move(e));
    add(std::move(r));
    return out;
  }

  // The rows of both beneath each other: whole arrays join along the last axis, so the rows stand there for a moment.
  TensorId joined(TensorId head, std::int64_t rows, TensorId tail, CoordId last, CoordId column) {
    const CoordId first = graph_.add_coordinate("queries", rows);
    const auto turned = [&](TensorId t, CoordId row) {
      if (column == none) return t;
      const Coordinates space = with(batch_, {column, row});
      const TensorId out = tensor(space);
      add(Map{out, space, at(contiguous(t, with(batch_, {row, column})))});
      return out;
    };
    const TensorId all = tensor(with(batch_, {column, row_}));
    const TensorId above = column == none ? flattened(head, first) : turned(head, first);
    add(ArrayCall{LOCUS_ARRAY_CONCAT, {above, turned(tail, last)}, {all}, {}});
    if (column == none) return all;
    const TensorId out = tensor(with(batch_, {row_, column}));
    add(Map{out, with(batch_, {row_, column}), at(contiguous(all, with(batch_, {column, row_})))});
    return out;
  }
  // Blocks and their queries as one axis.
  TensorId flattened(TensorId head, CoordId row) {
    const TensorId out = tensor(with(batch_, {row}));
    add(Map{out, with(batch_, {row}), at(contiguous(head, with(batch_, {row})))});
    return out;
  }

  TensorId product(const Coordinates& batch, const Operand& b, const Operand& v, CoordId over, CoordId column, const Coordinates& space) {
    const TensorId out = tensor(space);
    add(Linear{out, batch, inner_, over, column, b, v});
    return out;
  }

  Operand cut(Operand o, CoordId sample, CoordId block, CoordId within) const {
    const std::vector<Stride> strides = std::move(o.strides);
    o.strides.clear();
    for (const Stride& s : strides) {
      if (s.coordinate == sample)
        o.strides.push_back({block, s.stride * graph_.coordinates[within].extent}), o.strides.push_back({within, s.stride});
      else
        o.strides.push_back(s);
    }
    return o;
  }
  Operand tail_of(Operand o, CoordId sample, CoordId rest) const {
    const std::int64_t done = graph_.coordinates[sample].extent - graph_.coordinates[rest].extent;
    for (Stride& s : o.strides)
      if (s.coordinate == sample) o.offset += done * s.stride, s.coordinate = rest;
    return o;
  }

  // -- results
  // A tensor [batch..., row, features] at the reduce's rows and features.
  ExprId at_rows(TensorId t, const Coordinates& features) {
    std::vector<Stride> strides;
    std::int64_t step = 1;
    for (const Coordinates* list : {&features, static_cast<const Coordinates*>(&queries_), static_cast<const Coordinates*>(&batch_)})
      for (std::size_t k = list->size(); k-- > 0; step *= graph_.coordinates[(*list)[k]].extent) strides.push_back({(*list)[k], step});
    return exprs_.read(t, Type::real, 0, std::move(strides));
  }

  ExprId scaled(ExprId e) { return parts_.row == none ? e : exprs_.apply(LOCUS_mul, parts_.row, e); }

  // A sample of weight 0 contributes nothing, whatever its value.
  ExprId weighted(ExprId value) {
    if (parts_.sample == none) return value;
    return exprs_.apply(LOCUS_select, exprs_.apply(LOCUS_eq, parts_.sample, number(0)), number(0), exprs_.apply(LOCUS_mul, parts_.sample, value));
  }

  void finish(const Estimate& e, Reduce& means) {
    Coordinates space = reduce_.rows;
    space.insert(space.end(), e.features.begin(), e.features.end());
    if (e.estimator == LOCUS_MASS) return add(Map{e.out, space, exprs_.to(Type::real, scaled(at_rows(mass_, {})))});
    const ExprId sum = at_rows(summed(weighted(e.value), e.features), e.features);
    if (e.estimator == LOCUS_WEIGHTED_SUM) return add(Map{e.out, space, exprs_.to(Type::real, scaled(sum))});
    const ExprId mass = at_rows(mass_, {});
    if (!reduce_.count_empty) return add(Map{e.out, space, exprs_.apply(LOCUS_div, scaled(sum), scaled(mass))});
    // Empty rows are counted by a reduce: over one pair a row, which exists where the row has weight.
    if (means.estimates.empty()) {
      means.rows = reduce_.rows, means.sample = graph_.add_coordinate("total", 1), means.count_empty = true;
      means.where = exprs_.apply(LOCUS_ne, scaled(mass), number(0));
    }
    Estimate mean = e;
    mean.value = exprs_.apply(LOCUS_div, sum, mass);
    means.estimates.push_back(std::move(mean));
  }

  Graph& graph_;
  Expressions& exprs_;
  const Node origin_;
  const Reduce reduce_;
  const Separable parts_;
  Coordinates batch_, queries_;  ///< rows that the samples' side has too, and the others
  CoordId row_ = none, inner_ = none;
  Operand a_;
  TensorId mass_ = none;
  std::vector<Node> nodes_;
};

}  // namespace

void reassociate(Graph& g) {
  show_contractions(g);
  each_list(g.nodes, [&g](std::vector<Node>& nodes) {
    std::vector<Node> all;
    for (Node& n : nodes) {
      const auto* r = std::get_if<Reduce>(&n.kind);
      const std::optional<Separable> parts = r ? separable(g, *r) : std::nullopt;
      std::vector<Node> instead;
      if (parts) instead = Rewriter(g, n, *r, *parts).run();
      if (instead.empty()) all.push_back(std::move(n));
      for (Node& made : instead) all.push_back(std::move(made));
    }
    nodes = std::move(all);
  });
}

}  // namespace locus::passes
