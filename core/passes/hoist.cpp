// What depends on one side of the pairs alone is computed once per point, by a map in front; so is what depends on few coordinates of a map's space, and
// out of a loop what no turn changes. Arguments of contractions become plain reads, as matrix kernels need them.
// Knows nothing of backends.
#include <algorithm>
#include <map>
#include <set>
#include "core/passes/contractions.hpp"
#include "core/passes/cost.hpp"
#include "core/passes/passes.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

using Coordinates = std::vector<CoordId>;

// A list of nodes in the making, and what was hoisted into it.
struct Scope {
  Scope* outer = nullptr;
  std::set<TensorId> inside;                                   ///< tensors that this list writes, hoisted ones included
  std::map<std::pair<ExprId, Coordinates>, TensorId> hoisted;  ///< by the expression over canonical coordinates, and their order
  std::vector<Node> nodes;                                     ///< the new list so far
};

// The loops around an expression: those of the node, then those of sums inside it.
struct Around {
  Coordinates node;       ///< rows and sample of a reduce, the space of a map
  Coordinates more;       ///< features, and what sums on the way bind
  CoordId sample = none;  ///< of a reduce
  double pairs = 0;       ///< how often the node evaluates what depends on all of `node`
  bool domain = false;    ///< in a reduce's `where`: bounds of index arithmetic are derived from it, so it stays visible
};

class Hoister {
 public:
  explicit Hoister(Graph& g) : graph_(g), exprs_(g.exprs), costs_(g) {}

  std::vector<Node> list(std::vector<Node> nodes, Scope* outer, const std::set<TensorId>& inside) {
    Scope scope{outer, inside, {}, {}};
    for (Node& n : nodes) node(scope, std::move(n));
    return std::move(scope.nodes);
  }

 private:
  void node(Scope& scope, Node n) {
    origin_span_ = n.span, origin_name_ = n.name;
    if (auto* map = std::get_if<Map>(&n.kind))
      map->value = of_map(scope, map->space, map->value);
    else if (auto* r = std::get_if<Reduce>(&n.kind))
      of_reduce(scope, *r);
    else if (auto* loop = std::get_if<Iterate>(&n.kind))
      of_loop(scope, n, *loop);
    scope.nodes.push_back(std::move(n));
  }

  // -- loops
  void of_loop(Scope& scope, const Node& n, Iterate& loop) {
    const std::vector<TensorId> written = writes(n);
    std::set<TensorId> inside(written.begin(), written.end());
    std::set<TensorId> kept;
    for (const Path& p : loop.paths) kept.insert(p.source);
    std::vector<Node> body;
    for (Node& inner : loop.body) {
      if (loop.limit < 1 || !moves(inner, inside, kept)) {
        body.push_back(std::move(inner));
        continue;
      }
      for (TensorId t : writes(inner)) inside.erase(t), scope.inside.insert(t);
      node(scope, std::move(inner));
    }
    loop.body = list(std::move(body), &scope, inside);
  }

  // May the node stand in front of the loop? Whatever may fault or is counted in each turn stays.
  bool moves(const Node& n, const std::set<TensorId>& inside, const std::set<TensorId>& kept) {
    const auto* map = std::get_if<Map>(&n.kind);
    const auto* r = std::get_if<Reduce>(&n.kind);
    if (!map && !r && !std::holds_alternative<Linear>(n.kind)) return false;
    if (map && !costs_.safe(map->value)) return false;
    if (r && (r->count_empty || !safe(*r))) return false;
    for (TensorId t : reads(graph_, n))
      if (inside.count(t)) return false;
    const std::vector<TensorId> made = writes(n);
    return std::none_of(made.begin(), made.end(), [&](TensorId t) { return kept.count(t) != 0; });
  }
  bool safe(const Reduce& r) {
    for (ExprId e : {r.weight, r.factor, r.score, r.where})
      if (e != none && !costs_.safe(e)) return false;
    return std::all_of(r.estimates.begin(), r.estimates.end(), [&](const Estimate& e) {
      return e.estimator != LOCUS_NEAREST && (e.value == none || costs_.safe(e.value)) && (e.parameter == none || costs_.safe(e.parameter));
    });
  }

  // -- nodes
  ExprId of_map(Scope& scope, const Coordinates& space, ExprId value) {
    Around around;
    around.node = space, around.pairs = static_cast<double>(entries_of(graph_, space));
    return walk(scope, around, value);
  }

  void of_reduce(Scope& scope, Reduce& r) {
    Around around;
    around.node = r.rows, around.sample = r.sample;
    around.node.push_back(r.sample);
    const std::int64_t samples = r.list == none ? graph_.coordinates[r.sample].extent : graph_.tensors[r.list].shape.back();
    around.pairs = static_cast<double>(entries_of(graph_, r.rows)) * static_cast<double>(samples);
    if (r.factor != none) r.factor = walk(scope, around, grouped(r.factor, around));
    if (r.weight != none) r.weight = walk(scope, around, r.weight);
    if (r.score != none) r.score = walk(scope, around, r.score);
    for (Estimate& e : r.estimates) {
      around.more = e.features;
      if (e.value != none) e.value = walk(scope, around, e.value);
    }
    around.more.clear(), around.domain = true;
    if (r.where != none) r.where = walk(scope, around, grouped(r.where, around));
  }

  // -- sides
  enum class Side { row, sample, both };
  Side side_of(ExprId e, const Around& around) const {
    if (!exprs_.depends(e, around.sample)) return Side::row;
    const bool all = std::all_of(around.node.begin(), around.node.end(), [&](CoordId c) { return exprs_.depends(e, c); });
    return all ? Side::both : Side::sample;
  }

  // A product, or a conjunction, with the parts of one side beside each other, so that they are hoisted together.
  ExprId grouped(ExprId e, const Around& around) {
    const Op op = around.domain ? LOCUS_and : LOCUS_mul;
    std::vector<ExprId> parts;
    flatten(op, e, parts);
    std::vector<ExprId> sides[3];
    for (ExprId part : parts) {
      const bool visible = around.domain && exprs_.reads(part).empty();
      const Side side = visible || exprs_.at(part).op == LOCUS_CONSTANT ? Side::both : side_of(part, around);
      sides[static_cast<int>(side)].push_back(part);
    }
    if (sides[0].size() < 2 && sides[1].size() < 2) return e;
    ExprId all = none;
    for (int side : {2, 0, 1}) {
      ExprId group = none;
      for (ExprId part : sides[side]) group = group == none ? part : exprs_.apply(op, group, part);
      if (group != none) all = all == none ? group : exprs_.apply(op, all, group);
    }
    return all;
  }
  void flatten(Op op, ExprId e, std::vector<ExprId>& parts) const {
    if (exprs_.at(e).op != op) return parts.push_back(e);
    flatten(op, exprs_.at(e).args[0], parts), flatten(op, exprs_.at(e).args[1], parts);
  }

  // -- expressions
  using Done = std::map<std::pair<ExprId, bool>, ExprId>;

  ExprId walk(Scope& scope, const Around& around, ExprId e) {
    Done done;
    return walk(scope, around, e, none, done);
  }

  // contraction: the one that e is an argument of, or none.
  ExprId walk(Scope& scope, const Around& around, ExprId id, ExprId contraction, Done& done) {
    const std::pair<ExprId, bool> key{id, contraction != none};
    if (const auto found = done.find(key); found != done.end()) return found->second;
    ExprId result = id;
    if (contraction != none && argument_moves(around, id, contraction)) {
      result = hoisted(scope, around, plain(id, contraction));
    } else if (moves(around, id)) {
      result = hoisted(scope, around, id);
    } else {
      const Expr& e = exprs_.at(id);
      const bool contracts = is_contraction(e.op), binds = (contracts || is_over(e.op)) && e.index != none;
      ExprId args[3] = {none, none, none};
      Around inside;
      Done fresh;
      if (binds) inside = around, inside.more.push_back(e.index);
      for (int k = 0; k < e.arity; ++k) args[k] = walk(scope, binds ? inside : around, e.args[k], contracts ? id : none, binds ? fresh : done);
      result = rebuild(exprs_, id, args);
    }
    done.emplace(key, result);
    return result;
  }

  // A matrix kernel reads the run's precision.
  ExprId plain(ExprId id, ExprId contraction) { return exprs_.at(contraction).type == Type::real ? exprs_.to(Type::real, id) : id; }

  bool argument_moves(const Around& around, ExprId id, ExprId contraction) {
    const Expr& e = exprs_.at(id);
    if (e.op == LOCUS_READ && (e.type == Type::real || exprs_.at(contraction).type != Type::real)) return false;
    if (!costs_.safe(id)) return false;
    if (around.sample == none) return saves(around, id, 1);
    return side_of(id, around) != Side::both || around.node.size() == 1;
  }

  bool moves(const Around& around, ExprId id) {
    const double cost = costs_.of(id);
    if (cost < 1 || !costs_.safe(id)) return false;
    if (around.sample == none) return cost >= 4 && saves(around, id, cost);
    const Coordinates free = exprs_.free(id);
    const bool no_data = only_indices(id);
    if (no_data && !free.empty() && (around.domain || cost < 4)) return false;
    return side_of(id, around) != Side::both && saves(around, id, cost);
  }

  // Index arithmetic: coordinates and numbers of the whole node, no data of points.
  bool only_indices(ExprId root) const {
    bool only = true;
    rewrite(exprs_, root, [&](ExprId part) {
      const Expr& e = exprs_.at(part);
      only = only && !(e.op == LOCUS_READ && !e.strides.empty());
      return part;
    });
    return only;
  }

  // Is it evaluated at least twice as often in place as in a map of its own, and is that map no larger than the pairs or than what it reads?
  bool saves(const Around& around, ExprId id, double cost) const {
    const Coordinates free = exprs_.free(id);
    const double entries = static_cast<double>(entries_of(graph_, free));
    double evaluations = around.pairs, read = 0;
    for (CoordId c : around.more) evaluations *= static_cast<double>(graph_.coordinates[c].extent);
    for (TensorId t : exprs_.reads(id)) {
      double size = 1;
      for (std::int64_t d : graph_.tensors[t].shape) size *= static_cast<double>(d);
      read += size;
    }
    const double least = around.sample == none ? 64 : 0;  // a map has to pay for a node more
    return 2 * entries <= evaluations && (evaluations - entries) * cost >= least && entries <= std::max(around.pairs, read);
  }

  // -- making maps
  ExprId hoisted(Scope& scope, const Around& around, ExprId id) {
    const Coordinates space = ordered(around, exprs_.free(id));
    const Coordinates canonical = canonical_of(space);
    std::map<CoordId, CoordId> names;
    for (std::size_t k = 0; k < space.size(); ++k) names[space[k]] = canonical[k];
    const ExprId value = exprs_.rename(id, [&](CoordId c) { return names.count(c) ? names.at(c) : c; });
    TensorId made = none;
    for (const Scope* s = &scope; s && made == none; s = s->outer)
      if (const auto found = s->hoisted.find({value, canonical}); found != s->hoisted.end()) made = found->second;
    return graph_.read(made == none ? make(scope, space, canonical, value) : made, space);
  }

  TensorId make(Scope& scope, const Coordinates& space, const Coordinates& canonical, ExprId value) {
    Scope* place = &scope;
    const std::vector<TensorId> needed = exprs_.reads(value);
    const auto changes = [&](TensorId t) { return place->inside.count(t) != 0; };
    while (place->outer && std::none_of(needed.begin(), needed.end(), changes)) place = place->outer;
    Tensor tensor{origin_name_, exprs_.at(value).type, graph_.extents(space), {}};
    for (CoordId c : space) tensor.axes.push_back(graph_.coordinates[c].name);
    const TensorId out = graph_.add_tensor(std::move(tensor));
    const ExprId inner = of_map(*place, canonical, value);
    place->nodes.push_back({origin_span_, origin_name_, Map{out, canonical, inner}});
    place->inside.insert(out), place->hoisted.emplace(std::pair(value, canonical), out);
    return out;
  }

  // Rows, sample, features and inner coordinates: the order of the loops around.
  static Coordinates ordered(const Around& around, const Coordinates& free) {
    Coordinates space;
    for (const Coordinates* list : {&around.node, &around.more})
      for (CoordId c : *list)
        if (std::binary_search(free.begin(), free.end(), c) && std::find(space.begin(), space.end(), c) == space.end()) space.push_back(c);
    return space;
  }

  // The n-th coordinate of an extent in hoisted maps is always the same one: so queries and samples that are the same points share their maps.
  Coordinates canonical_of(const Coordinates& space) {
    Coordinates all;
    std::map<std::int64_t, std::size_t> used;
    for (CoordId c : space) {
      const Coordinate like = graph_.coordinates[c];
      Coordinates& pool = canonical_[like.extent];
      const std::size_t k = used[like.extent]++;
      if (k == pool.size()) pool.push_back(graph_.add_coordinate(like.name, like.extent));
      all.push_back(pool[k]);
    }
    return all;
  }

  Graph& graph_;
  Expressions& exprs_;
  Costs costs_;
  std::map<std::int64_t, Coordinates> canonical_;
  Span origin_span_;
  std::string origin_name_;
};

}  // namespace

void hoist(Graph& g) {
  show_contractions(g);
  std::set<TensorId> inside;
  g.nodes = Hoister(g).list(std::move(g.nodes), nullptr, inside);
}

}  // namespace locus::passes
