// The passes, in their order. Each takes a graph and leaves a graph that verify() accepts; each is one function in a file of its name.
// Knows nothing of the language, of files and of backends.
#pragma once
#include <vector>
#include "core/graph/graph.hpp"

namespace locus::passes {

/// A pass and its name, as `--dump-after` takes it.
struct Pass {
  const char* name;
  void (*run)(graph::Graph&);
};
/// All of them in the order in which a run takes them.
const std::vector<Pass>& order();

/// What a loop computes anew in each turn from things that do not change moves in front of it.
void lift(graph::Graph& g);
/// A loop that sets an entry of a list while a test holds that settings and turns alone tell, and does another thing afterwards, becomes two loops.
void unswitch(graph::Graph& g);
/// A loop that sets one entry of a list in each turn and reads one row of what comes from it (generation by a causal model) computes that row alone: rows before
/// it are as they were, and what later rows look at is kept.
void append(graph::Graph& g);
/// Nodes whose results nobody reads go away.
void remove_dead(graph::Graph& g);
/// Maps that are read by one consumer's expressions only, elementwise and at most as often as there are entries, sink into it.
void sink_maps(graph::Graph& g);
/// Reduces over the same rows, sample, weight, where and list merge into one with several estimates: a mean and a mass are one pass over the pairs.
void fuse_siblings(graph::Graph& g);
/// Reduce::weight becomes factor and score: log of a product of exponentials, with what is no exponential in the factor. Compositional: products, quotients,
/// powers, negation and select of weights; never a matter of recognising softmax.
void log_domain(graph::Graph& g);
/// A sum or mean under a separable kernel, dot(f(query), g(sample)) times one-sided factors, over a dense domain is reassociated: sums over the samples first, linear in the number of points.
void reassociate(graph::Graph& g);
/// Parts of a reduce's expressions that depend on one side alone (queries' rows, or samples) and cost more than a read are computed once per point by a map. Arguments of
/// contractions become plain reads.
void hoist(graph::Graph& g);

/// Where each tensor of a program lies.
struct Plan {
  std::vector<std::uint64_t> offset;  ///< per tensor; none64 where it has no place in the slab
  std::uint64_t slab_bytes = 0;
  static constexpr std::uint64_t none64 = ~std::uint64_t{0};
};
/// Lifetimes to offsets in one slab (64-byte aligned), greedy by size; tensors alive at the same time never overlap. Loop states, and what a body reads from
/// outside, live through the loop; a carried value that is set entry by entry lies where its state does. `real_bytes` is 4 or 8.
Plan plan(const graph::Graph& g, std::size_t real_bytes);

}  // namespace locus::passes
