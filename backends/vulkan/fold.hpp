// Sums over the samples of a reduce, in one pass: an invocation for each row and block of features. Knows nothing of estimates beyond their values;
// what becomes of the sums is the caller's text.
#pragma once
#include <functional>
#include "backends/vulkan/steps.hpp"
#include "backends/vulkan/window.hpp"

namespace locus::vulkan {

/// A run of sums over pairs of weight w and value v.
struct Column {
  enum Kind { mean, sum, maximum, minimum, product } kind = mean;  ///< product: of deviations from the means of v, for a covariance
  const locus_estimate* estimate = nullptr;
  std::int64_t width = 0;
  Id twin = LOCUS_NONE;     ///< product: the twin of the last feature coordinate
  std::uint64_t means = 0;  ///< where in the scratch memory the means of a block of rows lie, doubles [row, feature]: a product's, or a mean's own place
  bool kept = false;        ///< mean: it goes there and not to the estimate's tensor
  bool extreme() const { return kind == maximum || kind == minimum; }
};

/// One feature of a column, as an invocation sums it. The variables of slot k are sum<k>, acc<k>, centre<k>.
struct Slot {
  const Column* column;
  std::string feature;  ///< a decimal number, or the int variable f<k>
};

class Fold {
 public:
  struct Needs {
    bool square = false, entropy = false;
  };
  Fold(const Program& p, const locus_reduce& r, std::vector<Column> columns, Needs needs);
  Fold(const Fold&) = delete;

  std::int64_t rows() const { return rows_; }
  std::int64_t samples() const { return samples_; }  ///< or the width of the list
  std::int64_t row_block() const { return row_block_; }
  std::int64_t parts() const { return parts_; }
  bool scored() const { return reduce_.score != LOCUS_NONE; }
  bool factored() const { return reduce_.factor != LOCUS_NONE; }
  bool weighted() const { return scored() || factored(); }
  std::string ending() const { return program_.real == LOCUS_FLOAT64 ? "_d" : "_f"; }  ///< of functions of REAL
  /// Bytes of scratch memory behind `base`, which is said first.
  std::uint64_t lay_out(std::uint64_t base);
  /// Appends the dispatches for `count` rows from `first`. `finish` writes statements that look at the sums of a row: double top, total, square, up,
  /// up_total, down, down_total; int counted; acc<k> and centre<k> for slot k; int64_t local, an int or int64_t row. `first`: the unit that speaks for the
  /// row itself, where block is 0. `means_from`: the row of the first kept mean.
  using Finish = std::function<void(Code&, bool first, const std::vector<Slot>& slots)>;
  void run(NodeSteps& to, const Finish& finish, std::int64_t first, std::int64_t count, std::int64_t means_from = 0) const;
  /// Statements that declare `REAL w`, from fa, x, bool huge and bool infinite.
  void weight(Code& code) const;
  void size_up(Code& code) const;  ///< declares bool huge
  std::string words() const;

  // -- for passes of other kinds over the same pairs
  /// Statements that declare `int j` for place `t` of a row, and `bool counts`: whether there is such a pair.
  void candidate(Code& code) const;
  /// `REAL x` and `REAL fa`, the score and the factor. Opens a condition that holds where the pair's weight is not 0.
  void weigh(Code& code) const;
  /// Reports a fault that an expression met.
  void check(Code& code) const;
  std::int64_t pair_iterations(const Code& code) const;

 private:
  struct Unit {
    std::vector<Slot> slots;
    std::int64_t blocks = 1;
    std::uint64_t base = 0;  ///< of its records in the scratch memory
  };

  void plan_units(const Code& code);
  void declare_state(Code& code, const Unit& u) const;
  void declare_slots(Code& code, const Unit& u) const;
  void count_skipped(Code& code) const;
  void load_state(Code& code, const Unit& u, const std::string& record, const std::string& mark) const;
  void store_state(Code& code, const Unit& u) const;
  void pair(Code& code, const Unit& u) const;
  void rise(Code& code, const Unit& u, const std::vector<std::string>& values) const;
  void accumulate(Code& code, const Unit& u, const std::vector<std::string>& values) const;
  std::string value_of(Code& code, const Unit& u, std::size_t slot) const;
  std::string product_of(Code& code, const Slot& s) const;
  std::string record_at(const Unit& u, const std::string& part) const;
  Shader fold_text(const Unit& u, const Finish& finish) const;
  void join(Code& code, const std::string& name, const std::string& mine, const std::string& other, bool squared = false) const;
  void join_part(Code& code, const Unit& u) const;
  Shader merge_text(const Unit& u, const Finish& finish) const;
  void head(Code& code) const;
  bool wide() const { return program_.real == LOCUS_FLOAT64; }

  const Program& program_;
  const locus_reduce& reduce_;
  std::vector<Column> columns_;
  std::vector<Unit> units_;
  Needs needs_;
  Window window_;
  std::int64_t rows_ = 1, samples_ = 0, row_block_ = 1, parts_ = 1, chunk_ = 1, cost_ = 1;
};

}  // namespace locus::vulkan
