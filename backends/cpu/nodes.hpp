// Maps, products and gathers on the CPU, in parallel over fixed chunks. Knows nothing of reduces.
#pragma once
#include <functional>
#include <mutex>
#include "backends/cpu/strip.hpp"

namespace locus::cpu {

/// Splits [0, count) into chunks by size alone and runs body(begin, end) on the host's threads; small work stays on this one.
/// `cost`: pairs, products or entries behind one index.
void parallel(const locus_host* host, std::int64_t count, double cost, const std::function<void(std::int64_t, std::int64_t)>& body);

/// A map, or a gather's indices: roots over the coordinates of a space.
struct MapPlan {
  MapPlan(const Program& program, std::span<const std::uint32_t> space, std::vector<Id> roots);
  std::vector<std::uint32_t> space;
  std::int64_t count = 1;
  bool inner;  ///< lanes run along the last coordinate; else over the flattened space
  /// A map that sets entries of what lies in its place already, where one coordinate is a number: only these are computed.
  std::size_t set_at = none;  ///< which coordinate of the space
  Id number = LOCUS_NONE;     ///< the tensor that holds the number
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  void find_set(const Program& program, const locus_map& map);
  Strip strip;
};

int run_map(const Program& program, const MapPlan& plan, const locus_map& map, const Driver& tensors, const locus_host* host, std::uint32_t node, locus_report* report);
int run_gather(const Program& program, const MapPlan& plan, const locus_gather& gather, const Driver& tensors, const locus_host* host, std::uint32_t node, locus_report* report);
void run_linear(const Program& program, const locus_linear& linear, const Driver& tensors, const locus_host* host);

}  // namespace locus::cpu
