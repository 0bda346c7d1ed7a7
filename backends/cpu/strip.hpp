// Expressions evaluated on strips: up to strip_width tuples of coordinate values at once, each op one loop over them. Ints and bools are int64, exact values
// double, real values T. The exact but slower way: maps, one-sided parts of pair expressions, lists of pairs and careful rows go through here.
// Knows nothing of nodes.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>
#include "backends/cpu/table.hpp"
#include "plugins/abi/locus_plugin.hpp"

namespace locus::cpu {

using plugin::Driver;
using plugin::Program;
using Id = std::uint32_t;

constexpr std::int64_t strip_width = 256;

enum class Kind : std::uint8_t { whole, exact, real };

/// Where a strip stands: fixed coordinates have one value, lanes a list of them.
struct Place {
  const Program* program;
  const Driver* tensors;
  std::vector<std::int64_t> fixed;              ///< by coordinate
  std::vector<const std::int64_t*> lanes;       ///< by coordinate: values of the lanes, or null
  std::vector<std::uint8_t> consecutive;        ///< by coordinate: lanes rise by 1
  locus_fault fault{};                          ///< the first thing that went wrong; `row` is the lane

  Place(const Program& p, const Driver& d)
      : program(&p), tensors(&d), fixed(p.coordinates.size(), 0), lanes(p.coordinates.size(), nullptr), consecutive(p.coordinates.size(), 0) {}
};

/// What an expression was on the lanes of a strip; uniform values stand in entry 0 only.
struct Lanes {
  const void* data;
  Kind kind;
  bool uniform;
  bool wide;  ///< real values are double

  double real(std::int64_t t) const {
    const std::int64_t at = uniform ? 0 : t;
    if (kind == Kind::whole) return static_cast<double>(static_cast<const std::int64_t*>(data)[at]);
    return kind == Kind::exact || wide ? static_cast<const double*>(data)[at] : static_cast<double>(static_cast<const float*>(data)[at]);
  }
  std::int64_t whole(std::int64_t t) const { return static_cast<const std::int64_t*>(data)[uniform ? 0 : t]; }
};

/// Compiled once for a set of roots and of coordinates that vary over the lanes. Immutable; the registers are the caller's.
class Strip {
 public:
  /// wide: real values are computed in double whatever the program's real.
  Strip(const Program& program, std::span<const Id> roots, std::span<const Id> lane_coordinates, bool wide);

  std::size_t register_bytes() const { return registers_.size() * strip_width * sizeof(double); }
  /// Evaluates all roots for `count` lanes. `registers` is 64-byte aligned and of register_bytes().
  void run(Place& place, std::int64_t count, std::byte* registers) const;
  Lanes root(std::size_t k, const std::byte* registers) const;
  bool uniform(std::size_t k) const { return registers_[roots_[k]].uniform; }

 private:
  struct Register {
    Kind kind;
    bool uniform;
  };
  struct Step {
    std::uint16_t op;
    Id out, args[3];
    Id expr;            // for READ, COORDINATE, CONSTANT, CALL and loops
    std::uint32_t end;  // a loop's body is [this + 1, end)
    Id inner;           // a loop's body value
  };
  friend struct Machine;

  Id emit(Id expr);
  Id emit_loop(Id expr);
  Id emit_contraction(Id expr, Id a, Id b, Kind kind, bool uniform);
  void hoist(Id expr, Id coordinate);
  Id add(std::uint16_t op, Kind kind, bool uniform, std::initializer_list<Id> args, Id expr);
  Id convert(Id reg, Kind kind);
  Kind kind_of(Id expr) const;
  bool is_uniform(Id expr) const;

  const Program& program_;
  bool wide_;
  std::vector<Id> lane_;
  std::vector<Step> steps_;
  std::vector<Register> registers_;
  std::vector<Id> roots_;
  std::map<Id, Id> memo_;
};

/// Aligned memory for what a strip computes.
struct Registers {
  explicit Registers(const Strip& strip) : memory(strip.register_bytes() + 64) {}
  std::byte* get() { return memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64); }
  std::vector<std::byte> memory;
};

}  // namespace locus::cpu
