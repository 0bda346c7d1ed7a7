// A run of a reduce in tiles: what its threads share, and the samples of one batch entry made ready for all blocks of queries.
// Knows nothing of what is done with a block.
#pragma once
#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include "backends/cpu/nodes.hpp"
#include "backends/cpu/tile_reduce.hpp"
#include "backends/cpu/tiles.hpp"

namespace locus::cpu {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The smallest multiple that holds n.
inline std::int64_t rounded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

template <class T>
class Aligned {
 public:
  explicit Aligned(std::int64_t count) : data_(static_cast<T*>(::operator new(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(T), std::align_val_t(64)))) {}
  ~Aligned() { ::operator delete(data_, std::align_val_t(64)); }
  Aligned(Aligned&& o) noexcept : data_(o.data_) { o.data_ = nullptr; }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  T* get() const { return data_; }

 private:
  T* data_;
};

/// One batch entry's samples, made ready once for all query blocks.
template <class T>
struct TileSamples {
  std::vector<Aligned<T>> panels, columns;
  std::optional<Aligned<T>> values;  ///< less their centre
  std::vector<double> centre;        ///< of each value column, its first entry: constants come out as they are, and offsets cost no digits
  std::vector<std::vector<Interval>> column_ranges;  ///< by column part and block of samples
};

/// One run of a reduce in tiles, all threads of it.
template <class T>
struct TileRun {
  const TileReduce<T>& plan;
  const Driver& tensors;
  const locus_host* host;
  locus_report* report;
  TileOutcome& outcome;
  const TileOrder* order;
  std::int64_t n = 1, m = 0, padded = 0, width = 0;
  std::mutex mutex = {};
  std::atomic<std::int64_t> empty = 0, blocks = 0, skipped = 0, done = 0;
  std::atomic<int> status = LOCUS_OK;
  std::vector<std::int64_t> batch_at = {};

  Place place() const {
    Place at(plan.program, tensors);
    at.fixed = batch_at;
    return at;
  }
  void bad(const Place& at);
  /// Values of a one-sided part along `coordinate`, from `begin`; false if an integer is too large for T.
  bool along(const Strip& strip, Place& at, Id coordinate, std::int64_t begin, std::int64_t count, T* out, std::int64_t stride, Registers& registers);
  TileSamples<T> samples();
  static Interval range_of(const T* v, std::int64_t count);

 private:
  std::vector<double> centres();
  void ranges(TileSamples<T>& s) const;
};

}  // namespace locus::cpu
