// C++ sugar for backends, part one: an owning copy of the C table, as read_program() gives it.
// Knows the C header only. Header-only: a plugin compiles it with its own settings.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include "plugins/abi/locus_plugin.h"

namespace locus::plugin {

inline std::size_t size_of_dtype(std::uint32_t dtype) { return dtype == LOCUS_BOOL ? 1 : dtype == LOCUS_FLOAT32 ? 4 : 8; }

/// Everything that a locus_program holds, owned. Names and constants' data point into this object, so it does not move.
struct Program {
  std::uint32_t real = LOCUS_FLOAT32;
  std::vector<locus_tensor> tensors;
  std::vector<locus_coordinate> coordinates;
  std::vector<locus_expr> exprs;
  std::vector<locus_stride> strides;
  std::vector<std::uint32_t> lists;
  std::vector<double> numbers;
  std::vector<locus_map> maps;
  std::vector<locus_linear> linears;
  std::vector<locus_reduce> reduces;
  std::vector<locus_estimate> estimates;
  std::vector<locus_gather> gathers;
  std::vector<locus_iterate> iterates;
  std::vector<locus_array> arrays;
  std::vector<locus_program_kernel> kernels;
  std::vector<locus_node> nodes;
  std::uint32_t main_count = 0, buffer_count = 0;
  std::uint64_t slab_bytes = 0;

  std::vector<std::vector<std::uint32_t>> free;  ///< free coordinates of each expression, sorted
  std::vector<std::uint32_t> twin;               ///< of each estimate: cov's twin coordinate, or LOCUS_NONE

  std::deque<std::string> names;
  std::deque<std::vector<std::byte>> constants;
  std::deque<std::vector<double>> settings;

  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::span<const std::uint32_t> list(locus_range r) const { return {lists.data() + r.first, r.count}; }
  std::span<const locus_stride> stride_list(locus_range r) const { return {strides.data() + r.first, r.count}; }
  std::span<const locus_stride> read_strides(const locus_expr& e) const { return {strides.data() + e.first_stride, e.stride_count}; }
  std::span<const double> number_list(locus_range r) const { return {numbers.data() + r.first, r.count}; }
  std::span<const locus_estimate> estimates_of(const locus_reduce& r) const { return {estimates.data() + r.first_estimate, r.estimate_count}; }
  std::int64_t extent(std::uint32_t coordinate) const { return coordinates[coordinate].extent; }
  std::span<const std::int64_t> dims(std::uint32_t tensor) const { return {tensors[tensor].dims, tensors[tensor].rank}; }
  std::int64_t count(std::uint32_t tensor) const {
    const auto all = dims(tensor);
    if (std::find(all.begin(), all.end(), 0) != all.end()) return 0;  // first: the product of the others may be beyond 64 bits
    std::int64_t n = 1;
    for (std::int64_t d : all) n *= d;
    return n;
  }
  std::uint64_t bytes(std::uint32_t tensor) const { return static_cast<std::uint64_t>(count(tensor)) * size_of_dtype(tensors[tensor].dtype); }
  std::uint32_t dtype_of(std::uint32_t type) const {
    const std::uint32_t of[] = {LOCUS_BOOL, LOCUS_INT64, LOCUS_FLOAT64, real};
    return of[type];
  }
  bool depends(std::uint32_t expr, std::uint32_t coordinate) const { return std::binary_search(free[expr].begin(), free[expr].end(), coordinate); }
};

/// Which coordinate an op binds in its arguments, or LOCUS_NONE.
inline std::uint32_t bound_by(const locus_expr& e) { return e.op >= LOCUS_SUM_OVER && e.op <= LOCUS_MAXDIST ? e.index : LOCUS_NONE; }

/// Why a program is refused.
struct Refusal {
  std::string text;                 ///< lower case, no full stop
  std::uint32_t node = LOCUS_NONE;  ///< the culprit, where it is one node's fault
};

}  // namespace locus::plugin
