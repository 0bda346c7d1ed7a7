// A reduce one row at a time, in double, every rule applied: the way of neighbour lists, of rare estimates, and of rows that the tiles give up on
// (infinite weights, NaN values, nothing but underflow). Knows nothing of tiles and threads.
#pragma once
#include "backends/cpu/strip.hpp"

namespace locus::cpu {

/// What a reduce needs to go row by row: strips whose lanes are samples. Immutable, shared by threads.
struct RowPlan {
  RowPlan(const Program& program, std::uint32_t node);

  const Program& program;
  const locus_reduce& reduce;
  std::uint32_t node;
  std::vector<Strip> where;    ///< one or none
  std::vector<Strip> weight;   ///< roots: factor and score, those that are there
  std::vector<Strip> values;   ///< one for each estimate; empty roots where it has no value
  std::vector<Strip> second;   ///< cov
  std::vector<Strip> parameter;
  std::int64_t rows = 1;
  bool plain = false;          ///< statistics of all samples alike, one number a row: no pair needs to be kept
};

/// One thread's view of it.
class RowReducer {
 public:
  RowReducer(const RowPlan& plan, const Driver& tensors, locus_report* report);
  /// Row `row` in row-major order of the reduce's row coordinates; estimates chosen by `wanted` (all if null). A status.
  int row(std::int64_t row, const std::vector<bool>* wanted = nullptr);
  /// The samples that the next rows may pair with; all if null.
  void among(const std::vector<std::int64_t>* samples) { among_ = samples; }
  std::int64_t empty_rows = 0;

 private:
  struct Pair {
    std::int64_t sample;
    double factor, score, linear, relative;
  };

  void stand(std::int64_t row);
  int gather();
  int weigh();
  int estimate(std::size_t k);
  int plain_row();
  int nearest(std::size_t k);
  void covariance(std::size_t k);
  void matrix(std::size_t k);
  int features(std::size_t k);
  std::vector<double> values_of(const Strip& strip);
  double of_weights(std::uint32_t estimator) const;
  double of_values(std::uint32_t estimator, const std::vector<double>& v, double parameter) const;
  double mean(const std::vector<double>& v) const;
  double product_moment(const std::vector<double>& a, const std::vector<double>& b) const;
  double quantile(const std::vector<double>& v, double t) const;
  template <class Body>
  void each_feature(std::span<const std::uint32_t> coordinates, Body&& body);
  template <class Body>
  int strips(const Strip& strip, const std::vector<std::int64_t>& samples, bool consecutive, Body&& body);
  double scalar(const Strip& strip);
  int fail(std::uint32_t kind, std::int64_t value, std::int64_t limit);
  int sound(const std::int64_t* samples);
  void store(std::uint32_t tensor, std::int64_t at, double value);

  const RowPlan& plan_;
  const Program& program_;
  const Driver& tensors_;
  locus_report* report_;
  Place place_;
  std::vector<std::byte> memory_;
  std::byte* registers_ = nullptr;
  std::vector<std::int64_t> candidates_;
  const std::vector<std::int64_t>* among_ = nullptr;
  bool consecutive_ = false;
  std::vector<Pair> pairs_;
  std::vector<std::int64_t> chosen_;  ///< samples of pairs_
  double shift_ = 0, total_ = 0;
  bool infinite_ = false;
  std::int64_t row_ = 0;
};

}  // namespace locus::cpu
