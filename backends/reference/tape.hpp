// Evaluates one expression of a program at the current values of the coordinates: every op as written in the maths, in double and int64.
// Knows nothing of nodes.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>
#include "plugins/abi/locus_plugin.hpp"

namespace locus::reference {

/// exact and real live in `real`, int and bool in `whole`.
struct Scalar {
  double real = 0;
  std::int64_t whole = 0;
};

/// What evaluation looks at: where the tensors lie and what the coordinates are. The first thing that goes wrong stays in `fault`.
struct Machine {
  const plugin::Program& program;
  const plugin::Driver& tensors;
  std::vector<std::int64_t> coordinate;
  locus_fault fault{};

  Machine(const plugin::Program& p, const plugin::Driver& d) : program(p), tensors(d), coordinate(p.coordinates.size(), 0) {}
  Scalar load(std::uint32_t tensor, std::int64_t index) const;
  /// Rounds to the tensor's dtype.
  void store(std::uint32_t tensor, std::int64_t index, double value) const;
  void store_whole(std::uint32_t tensor, std::int64_t index, std::int64_t value) const;
  std::int64_t place(std::int64_t offset, std::span<const locus_stride> strides) const;
};

/// The steps of one expression in order. What stands under a sum or contraction has a tape of its own, which runs once for each index.
class Tape {
 public:
  Tape() = default;
  Tape(const plugin::Program& program, std::uint32_t root);
  explicit operator bool() const { return !steps_.empty(); }
  Scalar evaluate(Machine& machine) const;

 private:
  struct Step {
    std::uint32_t expr;
    std::uint32_t args[3];
    std::vector<Tape> inner;
  };
  Scalar evaluate(const Step& step, Machine& machine) const;
  Scalar contract(const Step& step, Machine& machine) const;
  Scalar over(const Step& step, Machine& machine) const;
  std::vector<Step> steps_;
  mutable std::vector<Scalar> value_;
};

}  // namespace locus::reference
