// Reduces over the same pairs with the same weights become one with several estimates: the weights, which cost most, are computed once.
// Coordinates' names do not matter: a sibling may call its rows and samples otherwise. Knows nothing of backends.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include "core/passes/passes.hpp"
#include "core/passes/visit.hpp"

namespace locus::passes {
using namespace graph;

namespace {

// Are two expressions the same up to the names of coordinates?
class Sameness {
 public:
  Sameness(const Graph& g, std::map<CoordId, CoordId> names) : graph_(g), names_(std::move(names)) {}

  bool same(ExprId a, ExprId b) {
    if (a == none || b == none) return a == b;
    if (equal_.count({a, b})) return true;
    const Expr &x = graph_.exprs.at(a), &y = graph_.exprs.at(b);
    if (x.op != y.op || x.type != y.type || x.arity != y.arity) return false;
    const bool equal = binds(x) ? same_inside(x, y) : same_head(x, y) && same_arguments(x, y);
    if (equal) equal_.insert({a, b});
    return equal;
  }

 private:
  static bool binds(const Expr& e) { return (is_over(e.op) || is_contraction(e.op)) && e.index != none; }
  CoordId renamed(CoordId c) const {
    const auto found = names_.find(c);
    return found == names_.end() ? c : found->second;
  }

  bool same_head(const Expr& x, const Expr& y) const {
    if (x.op == LOCUS_CONSTANT) return x.value == y.value || (x.value != x.value && y.value != y.value);
    if (x.op == LOCUS_COORDINATE) return x.index == renamed(y.index);
    if (x.op != LOCUS_READ) return x.index == y.index;
    if (x.index != y.index || x.offset != y.offset || x.strides.size() != y.strides.size()) return false;
    return std::all_of(y.strides.begin(), y.strides.end(), [&](const Stride& s) {
      return std::find(x.strides.begin(), x.strides.end(), Stride{renamed(s.coordinate), s.stride}) != x.strides.end();
    });
  }

  bool same_arguments(const Expr& x, const Expr& y) {
    for (int k = 0; k < x.arity; ++k)
      if (!same(x.args[k], y.args[k])) return false;
    return true;
  }

  bool same_inside(const Expr& x, const Expr& y) {
    if (y.index == none || graph_.coordinates[x.index].extent != graph_.coordinates[y.index].extent) return false;
    auto names = names_;
    names[y.index] = x.index;
    return Sameness(graph_, std::move(names)).same_arguments(x, y);
  }

  const Graph& graph_;
  std::map<CoordId, CoordId> names_;  ///< of the second expression to those of the first
  std::set<std::pair<ExprId, ExprId>> equal_;
};

// Estimates that one pass over the pairs accumulates. The others look at all pairs of a row again, or store them: nothing is shared.
bool accumulates(Estimator e) { return e != LOCUS_QUANTILE && e != LOCUS_COV && e != LOCUS_GRAM && e != LOCUS_WEIGHTS && e != LOCUS_NEAREST; }

bool accumulates(const Reduce& r) {
  return std::all_of(r.estimates.begin(), r.estimates.end(), [](const Estimate& e) { return accumulates(e.estimator); });
}

// The second's coordinates as the first calls them, if the two go over the same pairs with the same weights.
std::optional<std::map<CoordId, CoordId>> siblings(const Graph& g, const Reduce& a, const Reduce& b) {
  if (!accumulates(a) || !accumulates(b) || a.list != b.list || g.extents(a.rows) != g.extents(b.rows)) return std::nullopt;
  if (g.coordinates[a.sample].extent != g.coordinates[b.sample].extent) return std::nullopt;
  std::map<CoordId, CoordId> names{{b.sample, a.sample}};
  for (std::size_t k = 0; k < a.rows.size(); ++k) names[b.rows[k]] = a.rows[k];
  Sameness sameness(g, names);
  if (!sameness.same(a.weight, b.weight) || !sameness.same(a.factor, b.factor) || !sameness.same(a.score, b.score) || !sameness.same(a.where, b.where))
    return std::nullopt;
  return names;
}

// What the second binds or counts features with must not be what the first calls its pairs by.
bool clashes(const Graph& g, const Reduce& a, const Reduce& b) {
  const auto of_pair = [&a](CoordId c) { return c == a.sample || std::find(a.rows.begin(), a.rows.end(), c) != a.rows.end(); };
  for (const Estimate& e : b.estimates) {
    if (std::any_of(e.features.begin(), e.features.end(), of_pair)) return true;
    for (ExprId part : {e.value, e.parameter}) {
      if (part == none) continue;
      const std::vector<CoordId> bound = bound_inside(g.exprs, part);
      if (std::any_of(bound.begin(), bound.end(), of_pair)) return true;
    }
  }
  return false;
}

bool meet(const std::vector<TensorId>& sorted, const std::vector<TensorId>& other) {
  return std::any_of(other.begin(), other.end(), [&](TensorId t) { return std::binary_search(sorted.begin(), sorted.end(), t); });
}

class Fuser {
 public:
  Fuser(Graph& g, std::vector<Node>& nodes) : graph_(g), nodes_(nodes) {}

  void run() {
    for (std::size_t first = 0; first < nodes_.size(); ++first)
      for (std::size_t second = first + 1; second < nodes_.size();) {
        if (!try_fuse(first, second)) {
          ++second;
        } else if (moved_back_) {  // another node stands at `first` now
          second = first + 1;
        }
      }
  }

 private:
  bool try_fuse(std::size_t first, std::size_t second) {
    auto* a = std::get_if<Reduce>(&nodes_[first].kind);
    auto* b = std::get_if<Reduce>(&nodes_[second].kind);
    if (!a || !b) return false;
    const auto names = siblings(graph_, *a, *b);
    if (!names || clashes(graph_, *a, *b)) return false;
    const bool forward = inputs_stand_before(first, second);
    if (!forward && !unread_between(first, second)) return false;
    take(*a, *b, *names);
    if (nodes_[first].name != nodes_[second].name && !nodes_[second].name.empty())
      nodes_[first].name += (nodes_[first].name.empty() ? "" : ", ") + nodes_[second].name;
    moved_back_ = !forward;
    if (!forward) {
      nodes_[second] = std::move(nodes_[first]);
      nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(first));
    } else {
      nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(second));
    }
    return true;
  }

  bool inputs_stand_before(std::size_t first, std::size_t second) const {
    const std::vector<TensorId> needed = reads(graph_, nodes_[second]);
    for (std::size_t k = first; k < second; ++k)
      if (meet(needed, writes(nodes_[k]))) return false;
    return true;
  }
  bool unread_between(std::size_t first, std::size_t second) const {
    const std::vector<TensorId> made = writes(nodes_[first]);
    for (std::size_t k = first + 1; k <= second; ++k)
      if (meet(made, reads(graph_, nodes_[k]))) return false;
    return true;
  }

  void take(Reduce& a, Reduce& b, const std::map<CoordId, CoordId>& names) {
    const auto renamed = [&](ExprId e) {
      if (e == none) return e;
      return graph_.exprs.rename(e, [&](CoordId c) { return names.count(c) ? names.at(c) : c; });
    };
    a.count_empty = a.count_empty || b.count_empty;
    for (Estimate& e : b.estimates) {
      e.value = renamed(e.value), e.parameter = renamed(e.parameter);
      a.estimates.push_back(std::move(e));
    }
  }

  Graph& graph_;
  std::vector<Node>& nodes_;
  bool moved_back_ = false;
};

}  // namespace

void fuse_siblings(Graph& g) {
  each_list(g.nodes, [&g](std::vector<Node>& nodes) { Fuser(g, nodes).run(); });
}

}  // namespace locus::passes
