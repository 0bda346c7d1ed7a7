// Comparisons of integers that are linear in the sample, as bounds; see window.hpp.
#include "backends/vulkan/window.hpp"

namespace locus::vulkan {

Window::Window(const Program& p, const locus_reduce& r) : program_(p), sample_(r.sample), faulty_(faulty_expressions(p)) {
  if (r.where != LOCUS_NONE && r.list == LOCUS_NONE) collect(r.where, {});
}

void Window::collect(Id e, const std::vector<Id>& unless) {
  const locus_expr& x = program_.exprs[e];
  if (x.op == LOCUS_and) return collect(x.args[0], unless), collect(x.args[1], unless);
  if (x.op == LOCUS_or) {  // holds for any sample where the side without it does
    for (Id k = 0; k < 2; ++k) {
      if (program_.depends(x.args[k], sample_) || faulty_[x.args[k]]) continue;
      std::vector<Id> more = unless;
      more.push_back(x.args[k]);
      return collect(x.args[1 - k], more);
    }
    return;
  }
  if (x.op == LOCUS_lt || x.op == LOCUS_le) compare(x.args[0], x.args[1], x.op == LOCUS_le, unless);
  if (x.op == LOCUS_eq) compare(x.args[0], x.args[1], true, unless), compare(x.args[1], x.args[0], true, unless);
}

void Window::compare(Id low, Id high, bool or_equal, const std::vector<Id>& unless) {
  if (program_.exprs[low].type != LOCUS_TYPE_INTEGER) return;
  const locus_expr& x = program_.exprs[low];
  for (const int sign : {1, -1}) {  // |a| < b is a < b and -a < b
    Line line;
    if (add(x.op == LOCUS_abs ? x.args[0] : low, sign, line) && add(high, -1, line)) keep(line, or_equal, unless);
    if (x.op != LOCUS_abs) return;
  }
}

void Window::keep(const Line& line, bool or_equal, const std::vector<Id>& unless) {
  if (std::abs(line.sample) == 1) bounds_.push_back({line, or_equal, unless});
}

bool Window::add(Id e, int sign, Line& line) const {
  const locus_expr& x = program_.exprs[e];
  if (x.op == LOCUS_CONSTANT && std::abs(x.value) < 0x1p40) return line.constant += sign * static_cast<std::int64_t>(x.value), true;
  if (x.op == LOCUS_COORDINATE && x.index == sample_) return line.sample += sign, true;
  if (!program_.depends(e, sample_)) return !faulty_[e] && (line.terms.emplace_back(sign, e), true);
  if (x.op == LOCUS_add) return add(x.args[0], sign, line) && add(x.args[1], sign, line);
  if (x.op == LOCUS_sub) return add(x.args[0], sign, line) && add(x.args[1], -sign, line);
  return x.op == LOCUS_neg && add(x.args[0], -sign, line);
}

void Window::narrow(Code& code) const {
  constexpr const char* far = "1099511627776l";  // beyond it a bound says nothing, and nothing can wrap round
  for (const Bound& b : bounds_) {
    const std::string rest = code.fresh("rest");
    std::string sum = std::to_string(b.line.constant) + "l", applies;
    for (const auto& [sign, e] : b.line.terms) {
      const std::string v = code.value(e);
      sum += (sign < 0 ? " - " : " + ") + v;
      applies += "!less_i(" + v + ", -" + far + ") && less_i(" + v + ", " + far + ") && ";
    }
    for (Id e : b.unless) applies += "!" + code.value(e) + " && ";
    code.line("int64_t " + rest + " = " + sum + ";");
    code.open("if (" + applies + "true)");
    // j + rest < 0 ends the range before -rest; -j + rest < 0 begins it behind rest.
    const std::string inside = b.line.sample > 0 ? "-" + rest + (b.or_equal ? " + 1l" : "") : rest + (b.or_equal ? "" : " + 1l");
    const std::string at = "int(minimum_i(maximum_i(" + inside + ", 0l), 2147483647l))";
    code.line(b.line.sample > 0 ? "end = min(end, " + at + ");" : "begin = max(begin, " + at + ");");
    code.close();
  }
}

}  // namespace locus::vulkan
