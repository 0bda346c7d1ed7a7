// A reduce as dispatches: one pass of sums, then what each estimate makes of them. Matrices of pairs, covariances, quantiles and neighbours take passes of
// their own, in rare.cpp. The meaning is that of locus_reduce in the C header.
#include "backends/vulkan/reduce.hpp"
#include <algorithm>

namespace locus::vulkan {
namespace {

std::string n(std::int64_t v) { return std::to_string(v) + "l"; }

}  // namespace

Reduce::Reduce(const Program& p, const locus_reduce& r) : program_(p), reduce_(r) {
  std::vector<Column> columns;
  Fold::Needs needs;
  bool sums = (r.flags & LOCUS_COUNT_EMPTY) != 0;
  for (const locus_estimate& e : p.estimates_of(r)) {
    sums = sums || (e.estimator != LOCUS_NEAREST && e.estimator != LOCUS_GRAM);
    keeps_ = keeps_ || e.estimator == LOCUS_COV || e.estimator == LOCUS_QUANTILE || e.estimator == LOCUS_WEIGHTS;
    needs.entropy = needs.entropy || e.estimator == LOCUS_ENTROPY;
    needs.square = needs.square || e.estimator == LOCUS_EFFECTIVE || ((e.estimator == LOCUS_MASS || e.estimator == LOCUS_LOGMASS) && r.factor != LOCUS_NONE);
    if (e.estimator > LOCUS_MINIMUM && e.estimator != LOCUS_COV) continue;
    Column c;
    c.kind = e.estimator == LOCUS_WEIGHTED_SUM ? Column::sum : e.estimator == LOCUS_MAXIMUM ? Column::maximum : e.estimator == LOCUS_MINIMUM ? Column::minimum : Column::mean;
    c.estimate = &e, c.width = count_of(p, p.list(e.features)), c.kept = e.estimator == LOCUS_COV;
    columns.push_back(c);
  }
  std::uint64_t means = 0;  // before all else, since their places are part of the columns
  Fold measure(p, r, columns, needs);
  measure.lay_out(0);
  for (Column& c : columns)
    if (c.kept) c.means = means, means += static_cast<std::uint64_t>(measure.row_block() * c.width) * 8;
  fold_ = std::make_unique<Fold>(p, r, columns, needs);
  kept_ = fold_->lay_out(means);
  scratch_ = kept_ + (keeps_ ? static_cast<std::uint64_t>(fold_->row_block()) * 24 : 0);
  made_.scratch = scratch_;
  if (sums) made_.words = fold_->words();
  const auto finish = [&](Code& code, bool first, const std::vector<Slot>& slots) { this->finish(code, first, slots); };
  for (std::int64_t first = 0; first < fold_->rows(); first += fold_->row_block()) {
    const std::int64_t count = std::min(fold_->row_block(), fold_->rows() - first);
    if (sums) fold_->run(made_, finish, first, count);
    for (const locus_estimate& e : p.estimates_of(r)) add_pass(e, columns, first, count);
  }
  if ((r.flags & LOCUS_COUNT_EMPTY) == 0) return;
  Code code(p);  // in a loop the turn with the most counts
  code.line(entry_head() + "Fault f = Fault(P.faults); f.most_empty = max(f.most_empty, f.empty); f.empty = 0u;");
  for_each(made_, code.finish(), 1, 1);
}

void Reduce::add_pass(const locus_estimate& e, const std::vector<Column>& columns, std::int64_t first, std::int64_t count) {
  switch (e.estimator) {
    case LOCUS_GRAM:
    case LOCUS_WEIGHTS:
      return matrix(e, first, count);
    case LOCUS_QUANTILE:
      return quantile(e, first, count);
    case LOCUS_NEAREST:
      return nearest(e, first, count);
    case LOCUS_COV:
      return covariance(e, *std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.estimate == &e; }), first, count);
    default:
      return;
  }
}

std::string Reduce::place(Code& code, Id tensor, std::int64_t width, const std::string& entry) const {
  return code.base(tensor) + " + uint64_t((int64_t(row) * " + n(width) + " + int64_t(" + entry + ")) * " +
         n(static_cast<std::int64_t>(plugin::size_of_dtype(program_.tensors[tensor].dtype))) + ")";
}

void Reduce::store(Code& code, Id tensor, std::int64_t width, const std::string& entry, const std::string& value) const {
  const std::uint32_t dtype = program_.tensors[tensor].dtype;
  const std::string at = code.fresh("out");
  code.line("uint64_t " + at + " = " + place(code, tensor, width, entry) + "; " + store_of(dtype) + "(" + at + ", " + type_of(dtype) + "(" + value + "));");
}

// Sums of a row become results.
void Reduce::finish(Code& code, bool first, const std::vector<Slot>& slots) const {
  const std::string infinite = fold_->weighted() ? "top == inf" + fold_->ending() : "false";
  code.line("bool endless = " + infinite + ";");
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const Column& c = *slots[k].column;
    const std::string i = std::to_string(k), acc = "acc" + i, mean = "double(centre" + i + ") + " + acc + " / total";
    if (c.kind == Column::mean && c.kept) {
      code.line("AsDouble(P.scratch + " + std::to_string(c.means) + "ul + uint64_t(local * " + n(c.width) + " + int64_t(" + slots[k].feature + ")) * 8ul).v = " + mean + ";");
      continue;
    }
    std::string value = c.kind == Column::sum ? acc : c.kind == Column::mean ? mean : acc;
    if (c.kind == Column::sum && fold_->scored()) value = "endless ? " + acc + " : exp_d(double(top)) * " + acc;
    store(code, c.estimate->out, c.width, slots[k].feature, "counted == 0 ? " + std::string(c.kind == Column::sum ? "0.0lf" : "nan_d") + " : " + value);
  }
  if (!first) return;
  code.open("if (block == 0)");
  for (const locus_estimate& e : program_.estimates_of(reduce_))
    if (const std::string value = of_weights(e.estimator); !value.empty()) store(code, e.out, 1, "0", value);
  if ((reduce_.flags & LOCUS_COUNT_EMPTY) != 0) code.line("if (counted == 0) atomicAdd(Fault(P.faults).empty, 1u);");
  if (keeps_)
    code.line("uint64_t kept = P.scratch + " + std::to_string(kept_) +
              "ul + uint64_t(local) * 24ul; AsDouble(kept).v = double(top); AsDouble(kept + 8ul).v = total; AsDouble(kept + 16ul).v = double(counted);");
  code.close();
}

// What an estimate makes of a row's weights alone, or nothing.
std::string Reduce::of_weights(std::uint32_t estimator) const {
  const std::string scale = fold_->scored() ? "exp_d(double(top)) * total" : "total";
  const std::string sign = fold_->factored() ? "square != abs_d(total) ? nan_d : total > 0.0lf ? inf_d : -inf_d" : "inf_d";
  switch (estimator) {
    case LOCUS_MASS:
      return "counted == 0 ? 0.0lf : endless ? (" + sign + ") : " + scale;
    case LOCUS_LOGMASS:
      return "counted == 0 ? -inf_d : endless ? log_d(" + sign + ") : " + (fold_->scored() ? "double(top) + " : std::string()) + "log_d(total)";
    case LOCUS_COUNT:
      return "counted";
    case LOCUS_ENTROPY:
      return "counted == 0 || is_nan_d(total) ? nan_d : total > 0.0lf ? log_d(total) * (up_total / total) - up / total : log_d(-total) * (down_total / total) - down / total";
    case LOCUS_EFFECTIVE:
      return "counted == 0 ? 0.0lf : total * total / square";
    default:
      return "";
  }
}

NodeSteps reduce_steps(const Program& p, const locus_reduce& r) { return Reduce(p, r).steps(); }

}  // namespace locus::vulkan
