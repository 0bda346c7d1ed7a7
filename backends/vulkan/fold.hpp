// One pass over the pairs of a reduce; see fold.cpp.
#pragma once
#include <functional>
#include "backends/vulkan/steps.hpp"

namespace locus::vulkan {

struct Column {
  enum Kind { mean, sum, maximum, minimum, product } kind = mean;
  const locus_estimate* estimate = nullptr;
  std::int64_t width = 0, offset = 0;
  Id twin = LOCUS_NONE;
  std::string means;  ///< product: the address of the row's means
  bool extreme() const { return kind == maximum || kind == minimum; }
  const char* nothing() const { return kind == maximum ? "(-REAL_INF)" : "REAL_INF"; }
};

class Fold {
 public:
  Fold(const Program& p, const locus_reduce& r);
  void add(Column c);
  void with_entropy() { entropy_ = true; }
  void lay_out(std::uint64_t base);
  std::uint64_t bytes() const { return bytes_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t samples() const { return samples_; }
  std::int64_t row_block() const { return row_block_; }
  const std::vector<Column>& columns() const { return columns_; }
  std::int64_t width_of(const locus_estimate& e) const;

  /// Appends the dispatches for rows [from, until); `finish` is called after those of each block of rows, with its first row and count.
  void run(NodeSteps& to, const std::function<void(NodeSteps&, Push)>& finish, std::int64_t from = 0, std::int64_t until = INT64_MAX) const;

  // Parts of shaders that look at the sums, or at pairs, of a row.
  std::string merge_text(const std::string& block) const;
  std::string numerator_text(const std::string& block, const std::string& feature, const Column& c) const;
  std::string centre_text(Code& code, const Column& c) const;
  std::string value_text(Code& code, const Column& c) const;
  std::string pair_text(Code& code) const;
  std::string sample_text(Code& code) const;
  std::int64_t pair_iterations(const Code& code) const;
  bool centred(const Column& c) const;
  static int block_of(std::int64_t feature);

 private:
  static constexpr std::int64_t state_size = 9;  ///< numbers of a row's state
  std::string shader_text(int span, std::int64_t* cost) const;
  std::string state_at(const std::string& part, const std::string& block, const std::string& row) const;
  std::string sum_at(const std::string& part, const std::string& row, const std::string& feature) const;
  std::string scale_text() const;

  const Program& program_;
  const locus_reduce& reduce_;
  std::vector<Column> columns_;
  std::int64_t rows_ = 1, samples_ = 0, features_ = 0, blocks_ = 1, parts_ = 1, row_block_ = 1;
  std::uint64_t base_ = 0, state_bytes_ = 0, bytes_ = 0;
  bool entropy_ = false;
};

}  // namespace locus::vulkan
