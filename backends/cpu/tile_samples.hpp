// A run of a reduce in tiles: what its threads share, and the samples of batch entries made ready for all blocks of queries.
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
  std::int64_t batch = 0;
  std::vector<Aligned<T>> panels, columns;
  std::optional<Aligned<T>> values;  ///< less their centre
  std::vector<double> centre;        ///< of each value column, its first entry: constants come out as they are, and offsets cost no digits
  std::vector<std::vector<Interval>> column_ranges;  ///< by column part and block of samples
};

/// A part that only reads an array of the tile's type: entry (k, x) lies at data[k * along + x * across].
template <class T>
struct Plain {
  const T* data;
  std::int64_t along, across;
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
  std::int64_t n = 1, m = 0, padded = 0, width = 0, batches = 1;
  std::mutex mutex = {};
  std::atomic<std::int64_t> empty = 0, blocks = 0, skipped = 0, done = 0;
  std::atomic<int> status = LOCUS_OK;

  Place place(std::int64_t batch) const;
  void bad(const Place& at);
  /// Values of a one-sided part along `coordinate`, from `begin`; false if an integer is too large for T.
  bool along(const Strip& strip, Place& at, Id coordinate, std::int64_t begin, std::int64_t count, T* out, std::int64_t stride, Registers& registers);
  /// `expr` as it lies, the coordinate `along` and the features apart; nothing if it must be computed.
  std::optional<Plain<T>> plain(Id expr, const Place& at, Id along, std::span<const Id> features) const;
  /// Where position k of the coordinate stands.
  std::int64_t stands(Id coordinate, std::int64_t k) const {
    if (!order) return k;
    return (coordinate == plan.query ? order->queries : order->samples)[static_cast<std::size_t>(k)];
  }
  /// Sets the features' coordinates to the feature-th entry of their space.
  void at_feature(std::span<const Id> features, std::int64_t feature, Place& at) const;
  /// Those of batch entries [first, first + count).
  std::vector<TileSamples<T>> samples(std::int64_t first, std::int64_t count);
  /// What one batch entry takes of memory while it is ready.
  std::int64_t bytes() const;
  static Interval range_of(const T* v, std::int64_t count);

 private:
  void fill(TileSamples<T>& s, std::int64_t block, Place& at, std::vector<T>& lane);
  void fill_panel(TileSamples<T>& s, std::size_t k, std::int64_t first, Place& at, std::vector<T>& lane);
  void fill_values(TileSamples<T>& s, std::int64_t first, Place& at);
  std::vector<double> centres(std::int64_t batch);
  void ranges(TileSamples<T>& s) const;
};

}  // namespace locus::cpu
