// Passes of a reduce of their own: matrices of pairs, covariances, quantiles, neighbours; see reduce.hpp.
#include <algorithm>
#include "backends/vulkan/failure.hpp"
#include "backends/vulkan/reduce.hpp"

namespace locus::vulkan {
namespace {

std::string n(std::int64_t v) { return std::to_string(v) + "l"; }

}  // namespace

void Reduce::entry_rows(Code& code, std::int64_t width) const {
  code.line(entry_head() + "int64_t local = k / " + n(std::max<std::int64_t>(width, 1)) + ", row = P.a + local; int entry = int(k - local * " +
            n(std::max<std::int64_t>(width, 1)) + ");");
  code.decode("row", program_.list(reduce_.rows), "int64_t");
}

void Reduce::recall(Code& code) const {
  code.line("uint64_t kept = P.scratch + " + std::to_string(kept_) +
            "ul + uint64_t(local) * 24ul; REAL top = REAL(AsDouble(kept).v); double total = AsDouble(kept + 8ul).v; int counted = int(AsDouble(kept + 16ul).v);");
  code.line("bool infinite = " + (fold_->weighted() ? "top == inf" + fold_->ending() : std::string("false")) + ";");
}

// w, or w / sum of w, for each pair.
void Reduce::matrix(const locus_estimate& e, std::int64_t first, std::int64_t count) {
  const std::int64_t samples = program_.extent(reduce_.sample), width = fold_->samples();
  Push push;
  push.a = first;
  if (reduce_.list != LOCUS_NONE) {  // pairs that the list does not name
    Code zero(program_);
    entry_rows(zero, samples);
    store(zero, e.out, samples, "entry", "0");
    for_each(made_, zero.finish(), count * samples, 1, push);
  }
  Code code(program_);
  entry_rows(code, width);
  if (e.estimator == LOCUS_WEIGHTS) recall(code);
  code.line("int t = entry; REAL weight = REAL(0);");
  fold_->candidate(code);
  if (reduce_.list != LOCUS_NONE) code.line("if (entry_j == -1l) return;");
  fold_->weigh(code);
  if (e.estimator == LOCUS_GRAM) {
    code.line("weight = " + std::string(fold_->scored() ? "fa * exp" + fold_->ending() + "(x)" : "fa") + ";");
  } else {
    fold_->size_up(code);
    fold_->weight(code);
    code.line("weight = REAL(double(w) / total);");
  }
  code.close();
  code.close();
  fold_->check(code);
  store(code, e.out, samples, "j", "weight");
  for_each(made_, code.finish(), count * width, static_cast<double>(fold_->pair_iterations(code)), push);
}

// The first pass left the means; this one sums products of deviations from them.
void Reduce::covariance(const locus_estimate& e, const Column& means, std::int64_t first, std::int64_t count) {
  const auto features = program_.list(e.features);
  Column c;
  c.kind = Column::product, c.estimate = &e, c.means = means.means, c.width = means.width * (features.empty() ? 1 : program_.extent(features.back()));
  c.twin = program_.twin[static_cast<std::size_t>(&e - program_.estimates.data())];
  if (c.width == 0) return;
  Fold second(program_, reduce_, {c}, {});
  made_.scratch = std::max(made_.scratch, second.lay_out(scratch_));
  const auto finish = [&](Code& code, bool, const std::vector<Slot>& slots) {
    for (std::size_t k = 0; k < slots.size(); ++k) store(code, e.out, c.width, slots[k].feature, "counted == 0 ? nan_d : acc" + std::to_string(k) + " / total");
  };
  for (std::int64_t at = first; at < first + count; at += second.row_block()) second.run(made_, finish, at, std::min(second.row_block(), first + count - at), first);
}

// Bisection over the order of numbers: how much weight lies at or below one. A turn is a pass over the samples; P.c counts turns, P.b is the first sample.
void Reduce::quantile(const locus_estimate& e, std::int64_t first, std::int64_t count) {
  const bool wide = program_.real == LOCUS_FLOAT64;
  const std::int64_t width = count_of(program_, program_.list(e.features)), samples = fold_->samples(), turns = wide ? 66 : 34;
  if (width == 0) return;
  made_.scratch = std::max(made_.scratch, scratch_ + static_cast<std::uint64_t>(fold_->row_block() * width) * 48);
  const std::string order =
      wide ? "#define HIGHEST 9223372036854775807l\nint64_t order_of(double v) { int64_t b = doubleBitsToInt64(v); return is_nan_d(v) ? HIGHEST : b < 0l ? -(b & HIGHEST) : b; }\n"
             "double of_order(int64_t b) { return b == HIGHEST ? nan_d : b < 0l ? -int64BitsToDouble(-b) : int64BitsToDouble(b); }\n"
           : "#define HIGHEST 2147483647l\nint64_t order_of(float v) { int b = floatBitsToInt(v); return is_nan_f(v) ? HIGHEST : b < 0 ? -int64_t(b & 0x7fffffff) : int64_t(b); }\n"
             "float of_order(int64_t b) { return b == HIGHEST ? nan_f : b < 0l ? -intBitsToFloat(int(-b)) : intBitsToFloat(int(b)); }\n";
  Code code(program_);
  entry_rows(code, width);
  code.decode("entry", program_.list(e.features), "int");
  recall(code);
  code.line("uint64_t q = P.scratch + " + std::to_string(scratch_) + "ul + uint64_t(k) * 48ul;");
  code.line(
      "int64_t low = AsInt(q).v, high = AsInt(q + 8ul).v, middle = AsInt(q + 16ul).v; double below = AsDouble(q + 24ul).v, all = AsDouble(q + 32ul).v, next = AsDouble(q + "
      "40ul).v;");
  code.line("double target = double(" + code.value(e.parameter) + ") * all;");
  code.open("if (P.b == 0l)");
  code.line("if (P.c == 0l) { low = -HIGHEST - 1l; high = HIGHEST; middle = HIGHEST; }");
  code.line("else if (P.c == 1l) all = below; else if (below >= target && below != 0.0lf) high = middle; else low = middle;");
  code.line("if (P.c > 0l) middle = P.c == " + n(turns) + " ? high : (low >> 1) + (high >> 1) + (low & high & 1l);");
  code.line("below = 0.0lf; next = inf_d; target = double(" + code.value(e.parameter) + ") * all;");
  code.line("AsInt(q).v = low; AsInt(q + 8ul).v = high; AsInt(q + 16ul).v = middle; AsDouble(q + 32ul).v = all;");
  code.close();
  const std::int64_t cost = 1 + fold_->pair_iterations(code) + code.iterations(e.value) + code.iterations(e.parameter);
  const std::int64_t chunk = std::max<std::int64_t>(iteration_limit / cost - 1, 1);
  require_short(cost);
  code.open("for (int t = int(P.b); t < int(min(P.b + " + n(chunk) + ", " + n(samples) + ")); ++t)");
  fold_->candidate(code);
  fold_->weigh(code);
  fold_->size_up(code);
  fold_->weight(code);
  code.open("if (w != REAL(0))");
  code.line("REAL v = " + code.real_value(e.value) + "; if (order_of(v) <= middle) below += double(w); else if (double(v) < next) next = double(v);");
  code.close();
  code.close();
  code.close();
  fold_->check(code);
  code.close();
  code.line("AsDouble(q + 24ul).v = below; AsDouble(q + 40ul).v = next;");
  code.open("if (P.c == " + n(turns) + " && P.b + " + n(chunk) + " >= " + n(samples) + ")");
  code.line("double v = double(of_order(high)); if (below == target && is_finite_d(next)) v = (v + next) / 2.0lf;");
  store(code, e.out, width, "entry", "counted == 0 || is_nan_d(target) ? nan_d : v");
  code.close();
  const Shader text = code.finish(order);
  for (std::int64_t turn = 0; turn <= turns; ++turn)
    for (std::int64_t at = 0; at == 0 || at < samples; at += chunk) {
      Push push;
      push.a = first, push.b = at, push.c = turn;
      for_each(made_, text, count * width, static_cast<double>(std::min(chunk, samples) * cost), push);
    }
}

// Each row keeps its nearest so far in order: places in the result, distances in scratch memory behind their number.
void Reduce::nearest(const locus_estimate& e, std::int64_t first, std::int64_t count) {
  const std::int64_t width = program_.dims(e.out).back(), samples = fold_->samples();
  made_.scratch = std::max(made_.scratch, scratch_ + static_cast<std::uint64_t>(fold_->row_block() * (width + 1)) * 8);
  Code code(program_);
  entry_rows(code, 1);
  code.line("int64_t asked = minimum_i(maximum_i(" + code.value(e.parameter) + ", 0l), " + n(width) + ");");
  code.line("uint64_t far = P.scratch + " + std::to_string(scratch_) + "ul + uint64_t(local * " + n(width + 1) + ") * 8ul, near = " + place(code, e.out, width, "0") +
            "; int64_t found = P.b == 0l ? 0l : AsInt(far).v;");
  const std::int64_t cost = 2 + fold_->pair_iterations(code) + code.iterations(e.value) + width, chunk = std::max<std::int64_t>((iteration_limit - width / 8) / cost - 1, 1);
  require_short(cost - width);
  if (width / 8 + 1 + cost > iteration_limit)
    throw Failure(LOCUS_UNSUPPORTED, "lists of " + std::to_string(width) + " neighbours are longer than this backend sorts; ask for fewer, or run with `--backend cpu`");
  code.open("if (P.b == 0l) for (int s = 0; s < " + std::to_string(width) + "; s += 8)");  // an iteration for 8: the last places are written again
  for (int k = 0; k < 8; ++k) code.line("AsInt(near + uint64_t(min(s + " + std::to_string(k) + ", " + std::to_string(width - 1) + ")) * 8ul).v = -1l;");
  code.close();
  code.open("for (int t = int(P.b); t < int(min(P.b + " + n(chunk) + ", " + n(samples) + ")); ++t)");
  fold_->candidate(code);
  code.open("if (counts)");
  code.line("double d = double(" + code.value(e.value) + ");");
  code.line("if (is_nan_d(d)) report(3u, row, int64_t(j), 0l);");
  // Samples come in order unless a list names them, so a later one of equal distance stands behind.
  const std::string before = reduce_.list == LOCUS_NONE
                                 ? "d < AsDouble(far + uint64_t(#) * 8ul).v"
                                 : "d < AsDouble(far + uint64_t(#) * 8ul).v || (d == AsDouble(far + uint64_t(#) * 8ul).v && int64_t(j) < AsInt(near + uint64_t(# - 1l) * 8ul).v)";
  const auto before_place = [&](const std::string& at) {
    std::string text = before;
    for (std::size_t k = text.find('#'); k != std::string::npos; k = text.find('#')) text.replace(k, 1, at);
    return text;
  };
  code.open("if (asked > 0l && (found < asked || " + before_place("found") + "))");
  code.line("if (found < asked) ++found;");
  code.line("int64_t at = found;");
  code.open("while (at > 1l && (" + before_place("(at - 1l)") + "))");
  code.line(
      "AsDouble(far + uint64_t(at) * 8ul).v = AsDouble(far + uint64_t(at - 1l) * 8ul).v; AsInt(near + uint64_t(at - 1l) * 8ul).v = AsInt(near + uint64_t(at - 2l) * 8ul).v; --at;");
  code.close();
  code.line("AsDouble(far + uint64_t(at) * 8ul).v = d; AsInt(near + uint64_t(at - 1l) * 8ul).v = int64_t(j);");
  code.close();
  code.close();
  fold_->check(code);
  code.close();
  code.line("AsInt(far).v = found;");
  if ((e.flags & LOCUS_NEED_ALL) != 0) code.line("if (P.b + " + n(chunk) + " >= " + n(samples) + " && found < asked) report(2u, row, found, asked);");
  const Shader text = code.finish();
  for (std::int64_t at = 0; at == 0 || at < samples; at += chunk) {
    Push push;
    push.a = first, push.b = at;
    for_each(made_, text, count, static_cast<double>(std::min(chunk, samples) * (cost - width / 2)), push);
  }
  if (first != 0) return;
  made_.words += (made_.words.empty() ? "" : "; ") + std::string("nearest by insertion") + (chunk < samples ? ", " + std::to_string(chunk) + " samples a dispatch" : "");
}

}  // namespace locus::vulkan
