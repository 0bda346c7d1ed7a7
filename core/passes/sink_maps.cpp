// Maps that one consumer reads, each entry at most once, become part of that consumer's expression: their tensor is never stored.
// What runs over pairs, or is an operand as a whole, keeps its tensors. Knows nothing of backends.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include "core/passes/passes.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

// A dim of the map's tensor as the read goes over it: coordinate + shift, or a fixed index (coordinate none).
struct Along {
  CoordId coordinate = none;
  std::int64_t shift = 0;
};

// A read as one index for each dim of its tensor; nothing if its strides are no plain indices (a diagonal, a flattened pair of dims).
std::optional<std::vector<Along>> indices_of(const Graph& g, const Expr& read) {
  const std::vector<std::int64_t>& shape = g.tensors[read.index].shape;
  std::vector<std::int64_t> steps(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) steps[k - 1] = steps[k] * shape[k];
  std::vector<Along> all(shape.size());
  std::int64_t rest = read.offset;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 0) return std::nullopt;
    all[k].shift = rest / steps[k], rest %= steps[k];
    if (rest < 0) return std::nullopt;
  }
  for (const Stride& s : read.strides) {
    std::size_t k = 0;
    while (k < shape.size() && !(steps[k] == s.stride && shape[k] > 1)) ++k;
    if (k == shape.size() || all[k].coordinate != none) return std::nullopt;
    all[k].coordinate = s.coordinate;
  }
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::int64_t reach = all[k].coordinate == none ? 1 : g.coordinates[all[k].coordinate].extent;
    if (all[k].shift < 0 || all[k].shift + reach > shape[k]) return std::nullopt;
  }
  return all;
}

// The map's value where its space is at these indices; nothing where a coordinate that it binds is in use around there.
std::optional<ExprId> value_at(Expressions& exprs, const Map& map, const std::vector<Along>& indices, const std::set<CoordId>& around) {
  for (CoordId c : bound_inside(exprs, map.value))
    if (around.count(c)) return std::nullopt;
  ExprId value = map.value;
  std::map<CoordId, CoordId> names;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (indices[k].coordinate == none) {
      value = exprs.fix(value, map.space[k], indices[k].shift);
    } else {
      if (indices[k].shift != 0) value = exprs.shift(value, map.space[k], indices[k].shift);
      names[map.space[k]] = indices[k].coordinate;
    }
  }
  return exprs.rename(value, [&](CoordId c) { return names.count(c) ? names.at(c) : c; });
}

// Maps of a constant, of one coordinate or of one entry are no dearer to compute than to read, wherever they are read.
bool is_leaf(const Graph& g, const Map& map) {
  const Expr* e = &g.exprs.at(map.value);
  if (e->type > g.tensors[map.out].type) return false;
  if (e->op == LOCUS_READ) return e->type == g.tensors[map.out].type;
  if (e->op == LOCUS_real) e = &g.exprs.at(e->args[0]);
  return e->op == LOCUS_CONSTANT || e->op == LOCUS_COORDINATE;
}

void read_leaves(Graph& g) {
  std::map<TensorId, const Map*> leaves;
  each_list(g.nodes, [&](std::vector<Node>& nodes) {
    for (const Node& n : nodes)
      if (const auto* map = std::get_if<Map>(&n.kind))
        if (is_leaf(g, *map)) leaves.emplace(map->out, map);
  });
  if (leaves.empty()) return;
  const auto leaf_at = [&](ExprId id) {
    const Expr& e = g.exprs.at(id);
    const auto leaf = e.op == LOCUS_READ ? leaves.find(e.index) : leaves.end();
    if (leaf == leaves.end()) return id;
    if (g.exprs.at(leaf->second->value).op == LOCUS_CONSTANT) return g.exprs.to(e.type, leaf->second->value);
    const auto indices = indices_of(g, e);
    return indices ? g.exprs.to(e.type, *value_at(g.exprs, *leaf->second, *indices, {})) : id;
  };
  each_list(g.nodes, [&](std::vector<Node>& nodes) {
    for (Node& n : nodes) each_expression(n, [&](ExprId& e) { e = rewrite(g.exprs, e, leaf_at); });
  });
}

// An expression of more parts than this keeps what it reads as tensors: backends compile, and people read, one expression at a time.
constexpr std::size_t most_parts = 256;

std::size_t parts_of(const Expressions& exprs, ExprId root, std::set<ExprId>& seen) {
  std::vector<ExprId> open{root};
  while (!open.empty() && seen.size() <= most_parts) {
    const ExprId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const Expr& e = exprs.at(id);
    for (int a = 0; a < e.arity; ++a) open.push_back(e.args[a]);
  }
  return seen.size();
}

class Sinker {
 public:
  Sinker(Graph& g, std::vector<Node>& nodes) : graph_(g), nodes_(nodes) {
    const std::vector<TensorId> named = named_tensors(g);
    named_.insert(named.begin(), named.end());
  }

  void run() {
    for (std::size_t k = 0; k < nodes_.size(); ++k) note_reads(k);
    // From the back: what sinks into a map sinks on with it.
    for (std::size_t k = nodes_.size(); k-- > 0;)
      if (sink(k)) gone_.insert(k);
    std::vector<Node> kept;
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (!gone_.count(k)) kept.push_back(std::move(nodes_[k]));
    nodes_ = std::move(kept);
  }

 private:
  // Which node reads a tensor, and as which expression.
  using Use = std::pair<std::size_t, ExprId>;

  void note_reads(std::size_t node) {
    if (std::holds_alternative<Iterate>(nodes_[node].kind))
      for (TensorId t : reads(graph_, nodes_[node])) named_.insert(t);  // read in every turn: that is more than once
    each_read(node, [&](TensorId t, ExprId read) { uses_[t].insert({node, read}); });
  }
  void forget_reads(std::size_t node) {
    each_read(node, [&](TensorId t, ExprId read) { uses_[t].erase({node, read}); });
  }
  template <class Visit>
  void each_read(std::size_t node, Visit&& visit) {
    std::set<ExprId> seen;
    each_expression(nodes_[node], [&](ExprId& root) {
      std::vector<ExprId> open{root};
      while (!open.empty()) {
        const ExprId id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        const Expr& e = graph_.exprs.at(id);
        if (e.op == LOCUS_READ) visit(e.index, id);
        for (int a = 0; a < e.arity; ++a) open.push_back(e.args[a]);
      }
    });
  }

  bool sink(std::size_t k) {
    const auto* map = std::get_if<Map>(&nodes_[k].kind);
    if (!map || named_.count(map->out)) return false;
    const auto found = uses_.find(map->out);
    if (found == uses_.end() || found->second.size() != 1) return false;
    const Use use = *found->second.begin();
    auto* consumer = std::get_if<Map>(&nodes_[use.first].kind);
    forget_reads(k), forget_reads(use.first);
    const bool sunk = consumer ? replace(*map, use.second, consumer->value, consumer->space) : sink_into_pairs(*map, use);
    note_reads(use.first);
    if (!sunk) note_reads(k);
    return sunk;
  }

  // A matrix of pairs that only a reduce reads, entry by entry, need not exist.
  bool sink_into_pairs(const Map& map, const Use& use) {
    auto* r = std::get_if<Reduce>(&nodes_[use.first].kind);
    if (!r) return false;
    std::vector<CoordId> pair = r->rows;
    pair.push_back(r->sample);
    ExprId* only = nullptr;
    int parts = 0;
    const auto look = [&](ExprId& e) {
      if (e != none && holds(e, use.second)) only = &e, ++parts;
    };
    look(r->weight), look(r->factor), look(r->score), look(r->where);
    return parts == 1 && !in_estimates(*r, use.second) && replace(map, use.second, *only, pair);
  }

  bool in_estimates(const Reduce& r, ExprId read) const {
    return std::any_of(r.estimates.begin(), r.estimates.end(),
                       [&](const Estimate& e) { return (e.value != none && holds(e.value, read)) || (e.parameter != none && holds(e.parameter, read)); });
  }
  bool holds(ExprId root, ExprId part) const {
    bool found = false;
    each_part(root, [&](ExprId id) { found = found || id == part; });
    return found;
  }

  bool replace(const Map& map, ExprId read, ExprId& into, const std::vector<CoordId>& space) {
    const auto indices = indices_of(graph_, graph_.exprs.at(read));
    if (!indices || !once(read, into, space)) return false;
    std::set<ExprId> parts;
    parts_of(graph_.exprs, into, parts);
    if (parts_of(graph_.exprs, map.value, parts) > most_parts) return false;
    const Type own = graph_.exprs.at(map.value).type, stored = graph_.tensors[map.out].type;
    if (own > stored) return false;  // real kept as exact: the tensor is the rounding
    const auto value = value_at(graph_.exprs, map, *indices, bound_and_free(into, space));
    if (!value) return false;
    const ExprId converted = graph_.exprs.to(stored, *value);
    into = rewrite(graph_.exprs, into, [&](ExprId part) { return part == read ? converted : part; });
    return true;
  }

  std::set<CoordId> bound_and_free(ExprId into, const std::vector<CoordId>& space) const {
    std::set<CoordId> all(space.begin(), space.end());
    for (CoordId c : bound_inside(graph_.exprs, into)) all.insert(c);
    return all;
  }

  bool binds(const Expr& e) const { return (is_over(e.op) || is_contraction(e.op)) && e.index != none; }

  // Is each entry read at most once? There must be one way from the root to the read, and every coordinate on it must choose another entry.
  bool once(ExprId read, ExprId root, std::vector<CoordId> around) const {
    for (ExprId part = read; part != root;) {
      const std::vector<ExprId> frames = frames_of(part, root);
      if (frames.size() != 1) return false;
      part = frames[0];
      if (part == root && !binds(graph_.exprs.at(root))) break;
      around.push_back(graph_.exprs.at(part).index);
    }
    return std::all_of(around.begin(), around.end(), [&](CoordId c) { return graph_.coordinates[c].extent <= 1 || graph_.exprs.depends(read, c); });
  }

  // The sums (or the root itself) whose loops evaluate the part directly, not within an inner sum.
  std::vector<ExprId> frames_of(ExprId part, ExprId root) const {
    std::vector<ExprId> frames;
    const auto look = [&](ExprId frame) {
      std::set<ExprId> seen;
      std::vector<ExprId> open{frame};
      while (!open.empty()) {
        const ExprId id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        if (id == part && id != frame) return frames.push_back(frame);
        const Expr& e = graph_.exprs.at(id);
        if (id != frame && binds(e)) continue;
        for (int a = 0; a < e.arity; ++a) open.push_back(e.args[a]);
      }
    };
    each_part(root, [&](ExprId id) {
      if (id == root || binds(graph_.exprs.at(id))) look(id);
    });
    return frames;
  }

  template <class Visit>
  void each_part(ExprId root, Visit&& visit) const {
    std::set<ExprId> seen;
    std::vector<ExprId> open{root};
    while (!open.empty()) {
      const ExprId id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      visit(id);
      const Expr& e = graph_.exprs.at(id);
      for (int a = 0; a < e.arity; ++a) open.push_back(e.args[a]);
    }
  }

  Graph& graph_;
  std::vector<Node>& nodes_;
  std::set<TensorId> named_;
  std::map<TensorId, std::set<Use>> uses_;
  std::set<std::size_t> gone_;
};

}  // namespace

void sink_maps(Graph& g) {
  read_leaves(g);
  each_list(g.nodes, [&g](std::vector<Node>& nodes) { Sinker(g, nodes).run(); });
}

}  // namespace locus::passes
