// One reduce: for each row the pairs, their weights, and every estimate from its definition. Knows nothing of other nodes.
#pragma once
#include "backends/reference/tape.hpp"

namespace locus::reference {

/// The tapes of a reduce, made once.
struct ReduceTapes {
  Tape factor, score, where;
  struct Estimate {
    Tape value, second, parameter;
  };
  std::vector<Estimate> estimates;
  ReduceTapes(const plugin::Program& program, const locus_reduce& reduce);
};

/// Runs node `node`; a status.
int reduce(const ReduceTapes& tapes, std::uint32_t node, Machine& machine, const locus_host* host, locus_report* report);

/// Calls body(k) for each tuple of the coordinates in row-major order, k = 0, 1, ..., until it gives false.
template <class Body>
bool each(Machine& machine, std::span<const std::uint32_t> coordinates, Body&& body) {
  for (std::uint32_t c : coordinates)
    if (machine.program.extent(c) == 0) return true;
  for (std::uint32_t c : coordinates) machine.coordinate[c] = 0;
  for (std::int64_t k = 0;; ++k) {
    if (!body(k)) return false;
    std::size_t at = coordinates.size();
    while (at > 0 && ++machine.coordinate[coordinates[at - 1]] == machine.program.extent(coordinates[at - 1])) machine.coordinate[coordinates[--at]] = 0;
    if (at == 0) return true;
  }
}

}  // namespace locus::reference
