// A loop that sets one entry of a list in each turn and reads the last row of what is computed from it (generation by a causal model): rows before the new one
// are as they were. What all rows of the list gave is computed once before the loop, each turn computes its own row, and what later rows look at (keys, values)
// is kept in states. Knows nothing of models: rows depend on earlier rows alone when every step keeps the list's axis or looks back through a mask like j <= i.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include "core/graph/copy.hpp"
#include "core/passes/passes.hpp"
#include "core/passes/turns.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

class Appending {
 public:
  Appending(Graph& g, std::vector<Node>& outside, std::size_t place) : g_(g), x_(g.exprs), outside_(outside), place_(place), loop_(std::get<Iterate>(outside[place].kind)) {}

  // True if the loop was rewritten; new nodes may stand before it.
  bool rewrite_loop() {
    for (std::size_t k = 0; k < loop_.carries.size(); ++k)
      if (finds_list(k) && classify() && one_row_a_turn()) {
        rebuild();
        return true;
      }
    return false;
  }

 private:
  const std::vector<std::int64_t>& shape(TensorId t) const { return g_.tensors[t].shape; }
  std::int64_t step(TensorId t, int dim) const {
    std::int64_t s = 1;
    for (std::size_t k = shape(t).size(); k-- > static_cast<std::size_t>(dim) + 1;) s *= shape(t)[k];
    return s;
  }

  bool finds_list(std::size_t carry) {
    list_ = loop_.carries[carry];
    setter_ = writer_of(loop_.body, list_.next);
    const auto* m = setter_ ? std::get_if<Map>(&setter_->kind) : nullptr;
    const auto at = m ? set_entry(g_, *m, m->value, list_.state) : std::nullopt;
    if (at) replaced_ = *at, n_ = shape(list_.state)[0];
    return at.has_value();
  }

  // -- which tensors have rows of the list
  bool classify() {
    dims_.clear(), across_.clear(), kept_.clear(), demanded_.clear(), varying_.clear();
    dims_[list_.state] = 0;
    varying_.insert(loop_.turn);
    for (const Carry& c : loop_.carries) varying_.insert(c.state);
    for (const Node& n : loop_.body)
      for (TensorId t : writes(n)) varying_.insert(t);
    for (const Node& n : loop_.body) {
      if (&n == setter_) continue;
      const auto in = reads(g_, n);
      if (std::none_of(in.begin(), in.end(), [&](TensorId t) { return dims_.count(t) > 0; })) continue;
      if (!aligned(n)) return false;
    }
    for (const Carry& c : loop_.carries)
      if (c.next != list_.next && dims_.count(c.next)) return false;
    for (const Path& p : loop_.paths)
      if (p.source != list_.state && dims_.count(p.source)) return false;
    return !demanded_.empty() && (loop_.stop == none || !dims_.count(loop_.stop));
  }

  bool aligned(const Node& n) {
    across_[&n] = none;
    if (const auto* m = std::get_if<Map>(&n.kind)) return along(n, {m->value}, m->space, none) && place(n, m->out, m->space);
    if (const auto* l = std::get_if<Linear>(&n.kind)) {
      std::vector<CoordId> space = l->batch;
      for (CoordId c : {l->row, l->column})
        if (c != none) space.push_back(c);
      return along(n, {as_read(l->a), as_read(l->b)}, space, none) && place(n, l->out, space);
    }
    if (const auto* r = std::get_if<Reduce>(&n.kind)) return reduce(n, *r);
    if (const auto* gather = std::get_if<Gather>(&n.kind)) return look_up(n, *gather);
    return false;
  }

  ExprId as_read(const Operand& o) { return x_.read(o.tensor, g_.tensors[o.tensor].type, o.offset, o.strides); }

  /// Every read of a tensor with rows goes along one coordinate of the space (or of the samples), and nothing else that changes from turn to turn is read.
  bool along(const Node& n, const std::vector<ExprId>& values, const std::vector<CoordId>& space, CoordId sample) {
    CoordId& c = across_[&n];
    for (ExprId e : values) {
      if (e == none) continue;
      for (TensorId t : x_.reads(e))
        if (varying_.count(t) && !dims_.count(t)) return false;
      bool good = true;
      each_read(e, [&](const Expr& r) {
        const auto at = dims_.find(r.index);
        if (at == dims_.end() || !good) return;
        const CoordId met = meets(r, at->second);
        if (met == none) good = false;
        else if (met == sample) kept_.insert(r.index);
        else if (std::find(space.begin(), space.end(), met) == space.end() || (c != none && c != met)) good = false;
        else c = met;
      });
      if (!good) return false;
    }
    return true;
  }

  void each_read(ExprId root, const std::function<void(const Expr&)>& visit) {
    rewrite(x_, root, [&](ExprId part) {
      if (x_.at(part).op == LOCUS_READ) visit(x_.at(part));
      return part;
    });
  }

  /// The coordinate that runs over the rows; none if the read takes them in any other way.
  CoordId meets(const Expr& r, int dim) const {
    const std::int64_t inner = step(r.index, dim), outer = inner * n_;
    if (r.offset % outer / inner != 0) return none;
    CoordId c = none;
    for (const Stride& s : r.strides) {
      if (s.stride == inner && g_.coordinates[s.coordinate].extent == n_ && c == none) c = s.coordinate;
      else if (s.stride < 0 || (s.stride >= inner && s.stride % outer != 0)) return none;
    }
    return c;
  }

  bool place(const Node& n, TensorId out, const std::vector<CoordId>& space) {
    const CoordId c = across_[&n];
    const auto at = std::find(space.begin(), space.end(), c);
    if (c == none || at == space.end()) return false;
    dims_[out] = static_cast<int>(at - space.begin());
    return true;
  }

  bool reduce(const Node& n, const Reduce& r) {
    if (r.list != none) return false;
    std::vector<ExprId> values{r.weight, r.factor, r.score, r.where};
    for (const Estimate& e : r.estimates) values.push_back(e.value), values.push_back(e.parameter);
    if (!along(n, values, r.rows, r.sample)) return false;
    bool looks = false;  // at other rows
    for (ExprId e : values)
      if (e != none)
        each_read(e, [&](const Expr& read) {
          const auto at = dims_.find(read.index);
          looks |= at != dims_.end() && meets(read, at->second) == r.sample;
        });
    if (looks) {
      const CoordId row = looks_back(r);
      CoordId& c = across_[&n];
      if (row == none || (c != none && c != row)) return false;
      c = row;
    }
    for (const Estimate& e : r.estimates) {
      std::vector<CoordId> space = r.rows;
      if (!place(n, e.out, space)) return false;
    }
    return true;
  }

  /// The row's coordinate of which the mask says: sample <= row.
  CoordId looks_back(const Reduce& r) {
    std::vector<ExprId> open;
    if (r.where != none) open.push_back(r.where);
    const ExprId j = x_.coordinate(r.sample);
    while (!open.empty()) {
      const Expr e = x_.at(open.back());
      open.pop_back();
      if (e.op == LOCUS_and) open.push_back(e.args[0]), open.push_back(e.args[1]);
      if (e.op != LOCUS_le && e.op != LOCUS_lt) continue;
      for (CoordId c : r.rows) {
        if (g_.coordinates[c].extent != n_) continue;
        const ExprId i = x_.coordinate(c), zero = x_.constant(0, Type::integer);
        if (e.args[0] == j && e.args[1] == i) return c;
        const Expr difference = x_.at(e.args[1]);
        if (e.args[0] == zero && difference.op == LOCUS_sub && difference.args[0] == i && difference.args[1] == j) return c;
      }
    }
    return none;
  }

  /// One row of a table with rows, told by a number of the turn, is what the loop is after; else an index may have rows of its own.
  bool look_up(const Node& n, const Gather& gather) {
    const auto table = dims_.find(gather.table.tensor);
    std::vector<ExprId> indices;
    for (const GatherIndex& i : gather.indices) indices.push_back(i.index);
    if (table == dims_.end()) return along(n, indices, gather.space, none) && place(n, gather.out, gather.space);
    if (gather.indices.size() != 1) return false;
    const std::int64_t inner = step(gather.table.tensor, table->second);
    const GatherIndex& i = gather.indices[0];
    if (i.stride != inner || i.extent != n_ || gather.table.offset % (inner * n_) / inner != 0) return false;
    for (const Stride& s : gather.table.strides)
      if (s.stride < 0 || (s.stride >= inner && s.stride % (inner * n_) != 0)) return false;
    if (!x_.free(i.index).empty()) return false;
    for (TensorId t : x_.reads(i.index))
      if (dims_.count(t)) return false;
    across_.erase(&n);
    demanded_.push_back(&n);
    return true;
  }

  // -- in each turn the row that is read is the one behind which the list is set
  bool one_row_a_turn() {
    constexpr std::int64_t most = 1 << 20;
    if (loop_.limit < 2 || loop_.limit > most) return false;
    wanted_ = std::get<Gather>(demanded_[0]->kind).indices[0].index;
    for (const Node* d : demanded_)
      if (std::get<Gather>(d->kind).indices[0].index != wanted_) return false;
    Turns turns(g_, outside_, place_);
    std::optional<std::int64_t> before;
    for (; turns.turn() < loop_.limit; turns.next()) {
      const auto row = turns.value(wanted_), set = turns.value(replaced_);
      if (!row || !set || *set != *row + 1 || (before && *row != *before)) return false;
      before = set;
    }
    return true;
  }

  // -- the new loop
  void rebuild() {
    std::vector<Node> before, body;
    for (const Node& n : loop_.body)
      if (across_.count(&n)) before.push_back(copy_before(n));
    // The row comes first, with what tells it.
    std::set<TensorId> first;
    collect(x_.reads(wanted_), first);
    const auto early = [&](const Node& n) {
      const auto w = writes(n);
      return std::any_of(w.begin(), w.end(), [&](TensorId t) { return first.count(t) > 0; });
    };
    for (const Node& n : loop_.body)
      if (!across_.count(&n) && early(n)) body.push_back(n);
    row_ = g_.add_tensor({"row", Type::integer, {}, {}});
    body.push_back({outside_[place_].span, "row", Map{row_, {}, wanted_}});
    at_row_[list_.state] = fetched(body, {list_.state, 0, {}}, 1, {});
    for (const Node& n : loop_.body) {
      if (across_.count(&n)) {
        std::vector<Node> extra;
        Node made = one_row(n, extra);
        body.insert(body.end(), extra.begin(), extra.end());
        body.push_back(std::move(made));
        for (TensorId t : writes(n))
          if (kept_.count(t)) keep(body, t);
      } else if (std::find(demanded_.begin(), demanded_.end(), &n) != demanded_.end()) {
        const auto& gather = std::get<Gather>(n.kind);
        const Expr whole = x_.at(x_.read(gather.table.tensor, g_.tensors[gather.table.tensor].type, gather.table.offset, gather.table.strides));
        body.push_back({n.span, n.name, Map{gather.out, gather.space, shrunk(whole, none)}});
      } else if (!early(n)) {
        body.push_back(n);
      }
    }
    loop_.body = std::move(body);
    outside_.insert(outside_.begin() + static_cast<std::ptrdiff_t>(place_), before.begin(), before.end());
  }

  void collect(const std::vector<TensorId>& tensors, std::set<TensorId>& all) {
    for (TensorId t : tensors) {
      if (!all.insert(t).second) continue;
      if (const Node* w = writer_of(loop_.body, t)) collect(reads(g_, *w), all);
    }
  }

  TensorId renamed_before(TensorId t) {
    if (t == list_.state) return list_.initial;
    if (!dims_.count(t)) return t;
    const auto [at, is_new] = before_.try_emplace(t, none);
    if (is_new) at->second = g_.add_tensor(g_.tensors[t]);
    return at->second;
  }

  // The node on the list as it begins.
  Node copy_before(const Node& n) {
    Node made = n;
    std::map<TensorId, TensorId> to;
    for (TensorId t : reads(g_, n)) to[t] = renamed_before(t);
    for (TensorId t : writes(n)) to[t] = renamed_before(t);
    rename_tensors(g_, made, to);
    return made;
  }

  /// Row `row_` of a tensor that does not change: a look-up over the other coordinates of the read.
  TensorId fetched(std::vector<Node>& body, const Operand& table, std::int64_t stride, const std::vector<CoordId>& space) {
    Gather gather;
    Tensor made{g_.tensors[table.tensor].name + " at the row", g_.tensors[table.tensor].type, g_.extents(space), {}};
    for (CoordId c : space) made.axes.push_back(g_.coordinates[c].name);
    gather.out = g_.add_tensor(std::move(made));
    gather.space = space;
    gather.table = table;
    gather.indices = {{x_.read(row_, Type::integer, 0, {}), n_, stride}};
    const TensorId out = gather.out;
    body.push_back({outside_[place_].span, g_.tensors[table.tensor].name, std::move(gather)});
    return out;
  }

  TensorId row_of(TensorId t) {
    const auto [at, is_new] = at_row_.try_emplace(t, none);
    if (is_new) {
      Tensor one = g_.tensors[t];
      one.shape.erase(one.shape.begin() + dims_.at(t)), one.axes.erase(one.axes.begin() + dims_.at(t));
      at->second = g_.add_tensor(std::move(one));
    }
    return at->second;
  }

  // A read along the rows becomes one of the row alone.
  ExprId shrunk(const Expr& r, CoordId c) {
    const std::int64_t inner = step(r.index, dims_.at(r.index)), outer = inner * n_;
    std::vector<Stride> strides;
    for (const Stride& s : r.strides)
      if (s.coordinate != c) strides.push_back({s.coordinate, s.stride >= outer ? s.stride / n_ : s.stride});
    return x_.read(row_of(r.index), r.type, r.offset / outer * inner + r.offset % inner, std::move(strides));
  }

  // e at the row: coordinate c is gone.
  ExprId at_row(ExprId e, CoordId c, std::vector<Node>& extra) {
    if (e == none) return none;
    return rewrite(x_, e, [&](ExprId part) {
      const Expr r = x_.at(part);
      if (r.op == LOCUS_COORDINATE && r.index == c) return x_.read(row_, Type::integer, 0, {});
      if (r.op != LOCUS_READ) return part;
      const auto dim = dims_.find(r.index);
      if (dim != dims_.end() && meets(r, dim->second) == c) return shrunk(r, c);
      if (dim != dims_.end()) return kept_at(r);
      const auto own = std::find_if(r.strides.begin(), r.strides.end(), [&](const Stride& s) { return s.coordinate == c; });
      if (own == r.strides.end()) return part;
      Operand rest{r.index, r.offset, r.strides};
      std::erase_if(rest.strides, [&](const Stride& s) { return s.coordinate == c; });
      std::vector<CoordId> space;
      for (const Stride& s : rest.strides) space.push_back(s.coordinate);
      return g_.read(fetched(extra, rest, own->stride, space), space);
    });
  }

  // A read of other rows goes to what is kept of them.
  ExprId kept_at(const Expr& r) {
    const TensorId from = r.index == list_.state ? list_.state : next_.at(r.index);
    return x_.read(from, r.type, r.offset, r.strides);
  }

  void keep(std::vector<Node>& body, TensorId t) {
    Tensor whole = g_.tensors[t];
    whole.name += " so far";
    const TensorId state = g_.add_tensor(whole), next = g_.add_tensor(whole);
    std::vector<CoordId> space, others;
    for (std::size_t k = 0; k < shape(t).size(); ++k) {
      space.push_back(g_.add_coordinate(g_.tensors[t].axes[k], shape(t)[k]));
      if (static_cast<int>(k) != dims_.at(t)) others.push_back(space.back());
    }
    const ExprId here = x_.apply(LOCUS_eq, x_.coordinate(space[static_cast<std::size_t>(dims_.at(t))]), x_.read(row_, Type::integer, 0, {}));
    body.push_back({outside_[place_].span, whole.name, Map{next, space, x_.apply(LOCUS_select, here, g_.read(row_of(t), others), g_.read(state, space))}});
    loop_.carries.push_back({renamed_before(t), state, next});
    next_[t] = next;
  }

  Node one_row(const Node& n, std::vector<Node>& extra) {
    const CoordId c = across_.at(&n);
    Node made = n;
    const auto without = [&](std::vector<CoordId>& space) { std::erase(space, c); };
    if (auto* m = std::get_if<Map>(&made.kind)) {
      m->out = row_of(m->out), m->value = at_row(m->value, c, extra);
      without(m->space);
    } else if (auto* l = std::get_if<Linear>(&made.kind)) {
      l->out = row_of(l->out);
      for (Operand* o : {&l->a, &l->b}) {
        const Expr r = x_.at(at_row(as_read(*o), c, extra));
        *o = {r.index, r.offset, r.strides};
      }
      without(l->batch);
      if (l->row == c) l->row = none;
      if (l->column == c) l->column = none;
    } else if (auto* r = std::get_if<Reduce>(&made.kind)) {
      without(r->rows);
      for (ExprId* e : {&r->weight, &r->factor, &r->score, &r->where}) *e = at_row(*e, c, extra);
      for (Estimate& e : r->estimates) e.out = row_of(e.out), e.value = at_row(e.value, c, extra), e.parameter = at_row(e.parameter, c, extra);
    } else if (auto* gather = std::get_if<Gather>(&made.kind)) {
      gather->out = row_of(gather->out);
      without(gather->space);
      for (GatherIndex& i : gather->indices) i.index = at_row(i.index, c, extra);
      const auto own = std::find_if(gather->table.strides.begin(), gather->table.strides.end(), [&](const Stride& s) { return s.coordinate == c; });
      if (own != gather->table.strides.end()) {
        gather->indices.push_back({x_.read(row_, Type::integer, 0, {}), n_, own->stride});
        gather->table.strides.erase(own);
      }
    }
    return made;
  }

  Graph& g_;
  Expressions& x_;
  std::vector<Node>& outside_;
  std::size_t place_;
  Iterate& loop_;
  Carry list_;
  std::int64_t n_ = 0;
  ExprId replaced_ = none, wanted_ = none;
  const Node* setter_ = nullptr;
  std::map<TensorId, int> dims_;               ///< tensors with rows of the list, and which dim these are
  std::map<const Node*, CoordId> across_;      ///< nodes that make them, and the coordinate over the rows
  std::vector<const Node*> demanded_;          ///< look-ups of one row
  std::set<TensorId> kept_, varying_;
  TensorId row_ = none;
  std::map<TensorId, TensorId> before_, at_row_, next_;
};

}  // namespace

void append(Graph& g) {
  for (std::size_t k = 0; k < g.nodes.size(); ++k)
    if (std::holds_alternative<Iterate>(g.nodes[k].kind)) {
      const std::size_t count = g.nodes.size();
      if (Appending(g, g.nodes, k).rewrite_loop()) k += g.nodes.size() - count;
    }
}

}  // namespace locus::passes
