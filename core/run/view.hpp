// An array of the C table seen as numbers, whatever its dtype; for the whole-array functions. Owns nothing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include "plugins/abi/locus_plugin.h"

namespace locus {

class View {
 public:
  explicit View(const locus_host_array& a) : a_(a) {
    for (std::int64_t d : dims()) count_ *= d;
  }
  std::span<const std::int64_t> dims() const { return {a_.dims, a_.rank}; }
  std::int64_t count() const { return count_; }
  std::uint32_t dtype() const { return a_.dtype; }
  bool is_float() const { return a_.dtype >= LOCUS_FLOAT32; }
  std::size_t entry_size() const { return a_.dtype == LOCUS_BOOL ? 1 : a_.dtype == LOCUS_FLOAT32 ? 4 : 8; }
  /// The last axis; 1 for a number.
  std::int64_t last() const { return a_.rank == 0 ? 1 : a_.dims[a_.rank - 1]; }
  /// How many there are of the last axis, or of the last two.
  std::int64_t before_last() const { return product(1); }
  std::int64_t before_last_two() const { return product(2); }

  std::byte* bytes(std::int64_t k) const { return static_cast<std::byte*>(a_.data) + static_cast<std::size_t>(k) * entry_size(); }
  double number(std::int64_t k) const {
    switch (a_.dtype) {
      case LOCUS_BOOL:
        return static_cast<const std::uint8_t*>(a_.data)[k];
      case LOCUS_INT64:
        return static_cast<double>(static_cast<const std::int64_t*>(a_.data)[k]);
      case LOCUS_FLOAT32:
        return static_cast<const float*>(a_.data)[k];
      default:
        return static_cast<const double*>(a_.data)[k];
    }
  }
  /// Of ints and bools; a real number is truncated.
  std::int64_t whole(std::int64_t k) const {
    return a_.dtype == LOCUS_INT64 ? static_cast<const std::int64_t*>(a_.data)[k] : static_cast<std::int64_t>(number(k));
  }
  void set(std::int64_t k, double value) const {
    switch (a_.dtype) {
      case LOCUS_BOOL:
        static_cast<std::uint8_t*>(a_.data)[k] = value != 0;
        break;
      case LOCUS_INT64:
        static_cast<std::int64_t*>(a_.data)[k] = static_cast<std::int64_t>(value);
        break;
      case LOCUS_FLOAT32:
        static_cast<float*>(a_.data)[k] = static_cast<float>(value);
        break;
      default:
        static_cast<double*>(a_.data)[k] = value;
    }
  }
  void set_whole(std::int64_t k, std::int64_t value) const {
    if (a_.dtype == LOCUS_INT64)
      static_cast<std::int64_t*>(a_.data)[k] = value;
    else
      set(k, static_cast<double>(value));
  }
  /// Entry k := entry j of the other, converted where dtypes differ.
  void copy(std::int64_t k, const View& other, std::int64_t j, std::int64_t count) const {
    if (count <= 0) return;
    if (a_.dtype == other.a_.dtype) {
      std::memcpy(bytes(k), other.bytes(j), static_cast<std::size_t>(count) * entry_size());
      return;
    }
    const bool exact = a_.dtype == LOCUS_INT64 || other.a_.dtype == LOCUS_INT64;
    for (std::int64_t t = 0; t < count; ++t) {
      if (exact && !is_float() && !other.is_float())
        set_whole(k + t, other.whole(j + t));
      else
        set(k + t, other.number(j + t));
    }
  }

 private:
  std::int64_t product(std::uint32_t dropped) const {
    std::int64_t n = 1;
    for (std::uint32_t k = 0; k + dropped < a_.rank; ++k) n *= a_.dims[k];
    return n;
  }
  const locus_host_array& a_;
  std::int64_t count_ = 1;
};

/// What a whole-array function is called with.
struct ArrayCallArguments {
  std::span<const locus_host_array> in;
  std::span<const locus_host_array> out;
  std::span<const double> parameters;
};

/// The functions of chance (chance.cpp); a status.
int draw(std::uint32_t function, const ArrayCallArguments& call);
/// LOCUS_ARRAY_SOLVE to LOCUS_ARRAY_REACH (dense.cpp, fit.cpp, root.cpp, neighbours.cpp); a status.
int solve(std::uint32_t function, const ArrayCallArguments& call);
int fit(const ArrayCallArguments& call);
int descend(const ArrayCallArguments& call);
int root(const ArrayCallArguments& call);
int neighbours(const ArrayCallArguments& call);
int reach(const ArrayCallArguments& call);
/// LOCUS_ARRAY_PAIRS and those behind it (pairs.cpp); a status.
int pairs(std::uint32_t function, const ArrayCallArguments& call);

}  // namespace locus
