// A reduce as dispatches: one pass of sums, then what each estimate makes of them; matrices of pairs, covariances, quantiles and neighbours by passes of
// their own. The meaning is that of locus_reduce in the C header.
#include <algorithm>
#include <limits>
#include "backends/vulkan/fold.hpp"

namespace locus::vulkan {
namespace {

std::string nl(std::int64_t v) { return std::to_string(v) + "l"; }

class Reduce {
 public:
  Reduce(const Program& p, const locus_reduce& r) : p_(p), r_(r), fold_(p, r) {}

  NodeSteps steps() {
    bool sums = false;
    for (const locus_estimate& e : p_.estimates_of(r_)) {
      if (e.estimator == LOCUS_NEAREST) continue;
      sums = true;
      if (e.estimator == LOCUS_ENTROPY) fold_.with_entropy();
      if (e.estimator <= LOCUS_MINIMUM || e.estimator == LOCUS_COV) {
        Column c;
        c.kind = e.estimator == LOCUS_WEIGHTED_SUM ? Column::sum : e.estimator == LOCUS_MAXIMUM ? Column::maximum : e.estimator == LOCUS_MINIMUM ? Column::minimum : Column::mean;
        c.estimate = &e, c.width = fold_.width_of(e);
        column_of_[&e] = fold_.columns().size();
        fold_.add(c);
      }
    }
    fold_.lay_out(0);
    made_.scratch = sums ? fold_.bytes() : 0;
    if (sums) fold_.run(made_, [&](NodeSteps& to, Push push) { finish(to, push); });
    for (const locus_estimate& e : p_.estimates_of(r_))
      if (e.estimator == LOCUS_NEAREST) nearest(e);
    return std::move(made_);
  }

 private:
  bool scored() const { return r_.score != LOCUS_NONE; }

  /// A shader with an invocation for each of `width` entries of each row of the block: `k`, `row`, `local`, `entry`.
  std::string head(std::int64_t width) const {
    return entry_head() + "  int64_t local = k / " + nl(std::max<std::int64_t>(width, 1)) + ", entry = k - local * " + nl(std::max<std::int64_t>(width, 1)) + ", row = P.a + local;\n";
  }
  void for_rows(NodeSteps& to, const std::string& glsl, std::int64_t width, Push block, std::int64_t at_once = dispatch_limit, std::int64_t b = 0, std::int64_t c = 0) const {
    Push push;
    push.a = block.first, push.b = b, push.c = c;
    for_each(to, glsl, block.count * width, push, at_once);
  }

  void finish(NodeSteps& to, Push block) {
    bool counts = (r_.flags & LOCUS_COUNT_EMPTY) != 0;
    for (const locus_estimate& e : p_.estimates_of(r_)) {
      switch (e.estimator) {
        case LOCUS_NEAREST: break;
        case LOCUS_GRAM:
        case LOCUS_WEIGHTS: matrix(to, e, block); break;
        case LOCUS_COV: covariance(to, e, block); break;
        case LOCUS_QUANTILE: quantile(to, e, block); break;
        default: plain(to, e, block);
      }
    }
    if (!counts) return;
    Code code(p_);
    for_rows(to, shader(p_, group_size, "", head(1) + fold_.merge_text("0") + "  if (counted == 0l) atomicAdd(Fault(P.faults).empty, 1u);\n"), 1, block);
    if (block.first + block.count < fold_.rows()) return;
    for_each(to, shader(p_, group_size, "", entry_head() + "  Fault f = Fault(P.faults); f.most_empty = max(f.most_empty, f.empty); f.empty = 0u;\n"), 1);
  }

  // One number for each row and feature.
  void plain(NodeSteps& to, const locus_estimate& e, Push block) {
    Code code(p_);
    const std::int64_t width = fold_.width_of(e);
    std::string body = head(width);
    const auto column = column_of_.find(&e);
    std::string value;
    if (column == column_of_.end()) {
      body += fold_.merge_text("0");
      static const std::string shift = "(is_inf(top) ? 0.0lf : top)";
      switch (e.estimator) {
        case LOCUS_MASS: value = std::string("infinite ? (total > 0.0lf ? inf_d() : total < 0.0lf ? -inf_d() : nan_d()) : ") + (scored() ? "(counted == 0l ? 0.0lf : k_exp(" + shift + ") * total)" : "total"); break;
        case LOCUS_LOGMASS: value = "counted == 0l ? -inf_d() : infinite ? (total > 0.0lf ? inf_d() : nan_d()) : " + (scored() ? shift + " + " : std::string()) + "k_log(total)"; break;
        case LOCUS_COUNT: value = "counted"; break;
        case LOCUS_ENTROPY: value = "counted == 0l ? nan_d() : total > 0.0lf ? k_log(total) * up_total / total - up / total : total < 0.0lf ? k_log(-total) * down_total / total - down / total : nan_d()"; break;
        default: value = "counted == 0l ? 0.0lf : total * total / square";
      }
    } else {
      const Column& c = fold_.columns()[column->second];
      code.line("int f = int(entry) + " + std::to_string(c.offset) + "; int block = f / " + std::to_string(64) + ";");
      body += code.take() + fold_.merge_text("block") + fold_.numerator_text("block", "f", c);
      code.decode("row", p_.list(r_.rows));
      const std::string centre = fold_.centre_text(code, c);
      body += code.take();
      const std::string none = c.kind == Column::sum ? "0.0lf" : "nan_d()";
      if (c.extreme()) value = "numerator";
      else if (c.kind == Column::mean) value = "double(" + centre + ") + numerator / total";
      else value = std::string("(numerator + double(") + centre + ") * total)" + (scored() ? " * (infinite ? inf_d() : k_exp(is_inf(top) ? 0.0lf : top))" : "");
      if (c.kind == Column::sum && !scored()) value = "infinite ? " + value + " * inf_d() : " + value;
      value = "counted == 0l ? " + none + " : " + value;
    }
    const std::uint32_t dtype = p_.tensors[e.out].dtype;
    body += "  " + store_text(p_, e.out) + "(" + code.tensor(e.out) + ", row * " + nl(width) + " + entry, " + (dtype == LOCUS_FLOAT32 ? "float(" + value + ")" : dtype == LOCUS_INT64 ? value : "double(" + value + ")") + ");\n";
    for_rows(to, shader(p_, group_size, code.functions(), code.addresses() + body), width, block);
  }

  // w, or w / sum of w, for each pair.
  void matrix(NodeSteps& to, const locus_estimate& e, Push block) {
    const std::int64_t samples = p_.extent(r_.sample);
    if (r_.list != LOCUS_NONE) {
      Code zero(p_);
      const std::string store = "  " + store_text(p_, e.out) + "(" + zero.tensor(e.out) + ", row * " + nl(samples) + " + entry, " + (p_.tensors[e.out].dtype == LOCUS_FLOAT32 ? "0.0" : "0.0lf") + ");\n";
      for_rows(to, shader(p_, group_size, "", head(samples) + zero.addresses() + store), samples, block);
    }
    Code code(p_);
    std::string body = head(fold_.samples());
    code.line("int64_t t = entry; bool here = true;");
    code.decode("row", p_.list(r_.rows));
    body += code.take();
    body += fold_.sample_text(code);
    body += fold_.pair_text(code);
    body += fold_.merge_text("0");
    const std::string rel = relative();
    const std::string linear = scored() ? "double(fa) * k_exp(double(x))" : "double(fa)", v = e.estimator == LOCUS_GRAM ? linear : rel + " / total";
    const bool single = p_.tensors[e.out].dtype == LOCUS_FLOAT32;
    body += "  if (here || " + std::string(r_.list == LOCUS_NONE ? "true" : "false") + ") " + store_text(p_, e.out) + "(" + code.tensor(e.out) + ", row * " + nl(samples) + " + int64_t(j), " + (single ? "float" : "double") + "(counts ? " + v + " : 0.0lf));\n";
    for_rows(to, shader(p_, group_size, code.functions(), code.addresses() + body), fold_.samples(), block);
  }

  // The weight of a pair up to the row's factor, from fa, x and the row's merged state.
  std::string relative() const {
    return "(infinite ? ((is_inf(fa) || is_inf(x)) ? k_sign(double(fa)) : 0.0lf) : double(fa)" + std::string(scored() ? " * k_exp(double(x) - (is_inf(top) ? 0.0lf : top))" : "") + ")";
  }

  // Means first (a column of the first pass), then a pass of its own over products of deviations.
  void covariance(NodeSteps& to, const locus_estimate& e, Push block) {
    const Column& mean = fold_.columns()[column_of_.at(&e)];
    const std::uint64_t means = fold_.bytes();
    Code code(p_);
    code.line("int f = int(entry) + " + std::to_string(mean.offset) + "; int block = f / 64;");
    std::string body = head(mean.width) + code.take() + fold_.merge_text("block") + fold_.numerator_text("block", "f", mean);
    code.decode("row", p_.list(r_.rows));
    const std::string centre = fold_.centre_text(code, mean);
    body += code.take() + "  AsDouble(P.scratch + " + std::to_string(means) + "ul + uint64_t(k) * 8ul).v = double(" + centre + ") + numerator / total;\n";
    for_rows(to, shader(p_, group_size, code.functions(), code.addresses() + body), mean.width, block);
    // The second pass takes one block of rows at a time, the block that the means are of.
    Fold second(p_, r_);
    const auto features = p_.list(e.features);
    const std::int64_t last = features.empty() ? 1 : p_.extent(features.back());
    Column c;
    c.kind = Column::product, c.estimate = &e, c.width = mean.width * last;
    c.twin = p_.twin[static_cast<std::size_t>(&e - p_.estimates.data())];
    c.means = "(P.scratch + " + std::to_string(means) + "ul + uint64_t((row - " + nl(block.first) + ") * " + nl(mean.width) + ") * 8ul)";
    second.add(c);
    second.lay_out(means + static_cast<std::uint64_t>(fold_.row_block() * mean.width) * 8);
    made_.scratch = std::max(made_.scratch, second_end(second, means, mean.width));
    NodeSteps all;
    second.run(all, [&](NodeSteps& in, Push own) {
      Code out(p_);
      out.line("int f = int(entry); int block = f / 64;");
      std::string text = head(c.width) + out.take() + second.merge_text("block") + second.numerator_text("block", "f", second.columns()[0]);
      const bool single = p_.tensors[e.out].dtype == LOCUS_FLOAT32;
      text += "  " + store_text(p_, e.out) + "(" + out.tensor(e.out) + ", row * " + nl(c.width) + " + entry, " + (single ? "float" : "double") + "(counted == 0l ? nan_d() : numerator / total));\n";
      for_rows(in, shader(p_, group_size, out.functions(), out.addresses() + text), c.width, own);
    }, block.first, block.first + block.count);
    for (Step& s : all.steps) to.steps.push_back(std::move(s));
  }
  std::uint64_t second_end(const Fold& second, std::uint64_t means, std::int64_t width) const { return means + static_cast<std::uint64_t>(fold_.row_block() * width) * 8 + second.bytes(); }

  // Bisection over the order of the numbers: how much weight lies at or below a value. Each turn is a pass over the samples.
  void quantile(NodeSteps& to, const locus_estimate& e, Push block) {
    const std::int64_t width = fold_.width_of(e), items = width;
    const std::uint64_t base = fold_.bytes(), bytes = static_cast<std::uint64_t>(fold_.row_block() * width) * 48;
    made_.scratch = std::max(made_.scratch, base + bytes);
    const std::string item = "(P.scratch + " + std::to_string(base) + "ul + uint64_t(k) * 48ul)";
    const std::string order = "int64_t order_of(double v) { if (is_nan(v)) return 9223372036854775807l; int64_t b = doubleBitsToInt64(v == 0.0lf ? 0.0lf : v); return b < 0l ? -(b & 9223372036854775807l) : b; }\n"
                              "double value_of(int64_t b) { return b == 9223372036854775807l ? nan_d() : b < 0l ? -int64BitsToDouble(-b) : int64BitsToDouble(b); }\n";
    // {low, high, middle, weight at or below, all weight, next}: the answer is in (low, high]
    Code scan(p_);
    scan.line("uint64_t q = " + item + "; int64_t middle = AsInt(q + 16ul).v; double below = P.b == 0l ? 0.0lf : AsDouble(q + 24ul).v, next = P.b == 0l ? inf_d() : AsDouble(q + 40ul).v;");
    scan.decode("row", p_.list(r_.rows));
    scan.decode("entry", p_.list(e.features));
    std::string body = head(items) + scan.take() + fold_.merge_text("0");
    const std::int64_t per_pair = 2 + fold_.pair_iterations(scan) + scan.iterations(e.value), chunk = std::max<std::int64_t>(iteration_limit / per_pair, 1);
    scan.open("for (int64_t t = P.b; t < min(P.b + " + nl(chunk) + ", " + nl(fold_.samples()) + "); ++t)");
    scan.line("bool here = true;");
    body += scan.take();
    body += fold_.sample_text(scan);
    body += fold_.pair_text(scan);
    scan.open("if (counts)");
    scan.line("double w = " + relative() + ";");
    scan.open("if (w != 0.0lf)");
    scan.line("double v = double(" + scan.value(e.value) + "); int64_t o = order_of(v); if (P.c == 2l) { next = is_nan(next) ? next : o > middle && v < next ? v : next; if (o <= middle) below += w; } else if (P.c == 1l || o <= middle) below += w;");
    scan.close();
    scan.close();
    scan.close();
    scan.line("AsDouble(q + 24ul).v = below; AsDouble(q + 40ul).v = next;");
    body += scan.take();
    const std::string scan_text = shader(p_, group_size, scan.functions() + order, scan.addresses() + body);
    const auto pass = [&](std::int64_t mode) {
      for (std::int64_t at = 0; at == 0 || at < fold_.samples(); at += chunk) for_rows(to, scan_text, items, block, 1 << 16, at, mode);
    };
    Code level(p_);
    level.decode("row", p_.list(r_.rows));
    level.decode("entry", p_.list(e.features));
    const std::string t = "double(" + level.value(e.parameter) + ")";
    const std::string level_text = level.take();
    const auto step = [&](const std::string& text) { for_rows(to, shader(p_, group_size, level.functions() + order, head(items) + level.addresses() + "  uint64_t q = " + item + ";\n" + text), items, block); };
    step("  AsInt(q).v = order_of(-inf_d()) - 1l; AsInt(q + 8ul).v = 9223372036854775807l; AsInt(q + 16ul).v = 0l;\n");
    pass(1);  // all weight
    step("  AsDouble(q + 32ul).v = AsDouble(q + 24ul).v;\n");
    const std::string halve = "  int64_t low = AsInt(q).v, high = AsInt(q + 8ul).v; AsInt(q + 16ul).v = (low >> 1) + (high >> 1) + (low & high & 1l);\n";
    step(halve);
    const std::string decide = level_text + "  double target = " + t + " * AsDouble(q + 32ul).v; if (AsDouble(q + 24ul).v >= target && AsDouble(q + 24ul).v != 0.0lf) AsInt(q + 8ul).v = AsInt(q + 16ul).v; else AsInt(q).v = AsInt(q + 16ul).v;\n" + halve;
    for (int turn = 0; turn < 64; ++turn) {
      pass(0);
      step(decide);
    }
    step("  AsInt(q + 16ul).v = AsInt(q + 8ul).v;\n");
    pass(2);
    const bool single = p_.tensors[e.out].dtype == LOCUS_FLOAT32;
    Code out(p_);
    const std::string store = "  double target = " + t + " * AsDouble(q + 32ul).v, v = value_of(AsInt(q + 16ul).v), next = AsDouble(q + 40ul).v;\n  if (AsDouble(q + 24ul).v == target && is_finite(next)) v = (v + next) / 2.0lf;\n  if (counted == 0l || is_nan(target)) v = nan_d();\n  " +
                              store_text(p_, e.out) + "(" + level.tensor(e.out) + ", row * " + nl(width) + " + entry, " + (single ? "float" : "double") + "(v));\n";
    step(level_text + fold_.merge_text("0") + store);
  }

  // Each row keeps its nearest so far in order, distances in scratch memory.
  void nearest(const locus_estimate& e) {
    const std::int64_t width = p_.dims(e.out).back(), samples = fold_.samples();
    if (fold_.rows() == 0) return;
    const std::int64_t rows_at_once = std::max<std::int64_t>(std::min<std::int64_t>(fold_.rows(), (std::int64_t{128} << 20) / 8 / (width + 1)), 1);
    made_.scratch = std::max(made_.scratch, static_cast<std::uint64_t>(rows_at_once * (width + 1)) * 8);
    Code code(p_);
    code.decode("row", p_.list(r_.rows));
    const std::string asked = code.value(e.parameter);
    const std::string at = "(P.scratch + uint64_t(local * " + nl(width + 1) + ") * 8ul)", out = "row * " + nl(width);
    code.line("int64_t asked = clamp(" + asked + ", 0l, " + nl(width) + "); uint64_t far = " + at + "; int64_t found = P.b == 0l ? 0l : AsInt(far).v;");
    code.line("if (P.b == 0l) for (int64_t t = 0l; t < " + nl(width) + "; ++t) store_int(" + code.tensor(e.out) + ", " + out + " + t, -1l);");
    const std::int64_t per_pair = 2 + fold_.pair_iterations(code) + code.iterations(e.value) + width, chunk = std::max<std::int64_t>((iteration_limit - std::min<std::int64_t>(width, iteration_limit / 2)) / per_pair, 1);
    code.open("for (int64_t t = P.b; t < min(P.b + " + nl(chunk) + ", " + nl(samples) + "); ++t)");
    code.line("bool here = true;");
    std::string body = head(1) + code.take();
    body += fold_.sample_text(code);
    code.bind(r_.sample, "j");
    if (r_.where != LOCUS_NONE) {
      code.open("if (here)");
      code.line("here = " + code.value(r_.where) + ";");
      code.close();
    }
    code.open("if (here)");
    code.line("double d = double(" + code.value(e.value) + ");");
    code.line("if (is_nan(d)) { fault(3u, uint(row), int64_t(j), 0l); continue; }");
    code.open("if (asked > 0l && (found < asked || d < AsDouble(far + uint64_t(found) * 8ul).v))");
    code.line("int64_t at = found < asked ? found : found - 1l; if (found < asked) ++found;");
    code.line("while (at > 0l && d < AsDouble(far + uint64_t(at) * 8ul).v) { AsDouble(far + uint64_t(at + 1l) * 8ul).v = AsDouble(far + uint64_t(at) * 8ul).v; store_int(" + code.tensor(e.out) + ", " + out + " + at, load_int(" + code.tensor(e.out) + ", " + out + " + at - 1l)); --at; }");
    code.line("AsDouble(far + uint64_t(at + 1l) * 8ul).v = d; store_int(" + code.tensor(e.out) + ", " + out + " + at, int64_t(j));");
    code.close();
    code.close();
    code.close();
    code.line("AsInt(far).v = found; if (divided_by_zero) fault(5u, uint(row), divided, 0l);");
    if ((e.flags & LOCUS_NEED_ALL) != 0) code.line("if (P.c == 1l && found < asked) fault(2u, uint(row), found, asked);");
    body += code.take();
    const std::string text = shader(p_, group_size, code.functions(), code.addresses() + body);
    for (std::int64_t first = 0; first < fold_.rows(); first += rows_at_once)
      for (std::int64_t s = 0; s == 0 || s < samples; s += chunk) {
        Push block;
        block.first = first, block.count = std::min(rows_at_once, fold_.rows() - first);
        for_rows(made_, text, 1, block, dispatch_limit, s, s + chunk >= samples ? 1 : 0);
      }
    if (!made_.words.empty()) made_.words += "; ";
    made_.words += "nearest by insertion, " + std::to_string(chunk) + " samples a dispatch";
  }

  const Program& p_;
  const locus_reduce& r_;
  Fold fold_;
  NodeSteps made_;
  std::map<const locus_estimate*, std::size_t> column_of_;
};

}  // namespace

NodeSteps reduce_steps(const Program& p, const locus_reduce& r) { return Reduce(p, r).steps(); }

}  // namespace locus::vulkan
