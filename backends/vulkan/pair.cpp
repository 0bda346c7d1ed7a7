// What a fold does with one pair: does it exist, what is its weight, and what it adds; see fold.hpp. The meaning is that of locus_reduce in the C header.
#include "backends/vulkan/fold.hpp"

namespace locus::vulkan {

void Fold::candidate(Code& code) const {
  if (reduce_.list == LOCUS_NONE) {
    code.line("int j = t; bool counts = true;");
  } else {
    const std::string extent = std::to_string(program_.extent(reduce_.sample)) + "l";
    code.line("int64_t entry_j = load_int(" + code.base(reduce_.list) + " + uint64_t((int64_t(row) * " + std::to_string(samples_) +
              "l + int64_t(t)) * 8l)); bool counts = !less_i(entry_j, 0l) && less_i(entry_j, " + extent + ");");
    code.line("if (!counts && entry_j != -1l) report(1u, int64_t(row), entry_j, " + extent + ");");
    code.line("int j = counts ? int(entry_j) : 0;");  // reads stay inside their tensors
  }
  code.bind(reduce_.sample, "j");
  if (reduce_.where == LOCUS_NONE) return;
  code.open("if (counts)");
  const std::string holds = code.value(reduce_.where);
  code.line("counts = " + holds + ";");
  code.close();
}

void Fold::weigh(Code& code) const {
  code.open("if (counts)");
  const std::string fa = factored() ? code.real_value(reduce_.factor) : "REAL(1)", x = scored() ? code.real_value(reduce_.score) : "REAL(0)";
  code.line("REAL fa = " + fa + ", x = " + x + ";");
  std::string nonzero;
  if (factored()) nonzero = "fa != REAL(0)";
  if (scored()) nonzero += (nonzero.empty() ? "" : " && ") + std::string("x != -inf") + ending();
  code.open(nonzero.empty() ? "" : "if (" + nonzero + ")");
}

void Fold::check(Code& code) const { code.line("if (trouble != 0u) { report(trouble, int64_t(row), trouble == 4u ? int64_t(j) : trouble_value, 0l); trouble = 0u; }"); }

void Fold::pair(Code& code, const Unit& u) const {
  candidate(code);
  weigh(code);
  code.line("++counted;");
  std::vector<std::string> values;
  for (std::size_t k = 0; k < u.slots.size(); ++k) values.push_back(value_of(code, u, k));
  rise(code, u, values);
  accumulate(code, u, values);
  code.close();
  code.close();
  check(code);
}

// The value of a slot for this pair, as a REAL.
std::string Fold::value_of(Code& code, const Unit& u, std::size_t slot) const {
  const Slot& s = u.slots[slot];
  const locus_estimate& e = *s.column->estimate;
  const std::string name = code.fresh("value");
  code.line("REAL " + name + ";");
  code.open();
  std::string v;
  if (s.column->kind == Column::product) {
    v = product_of(code, s);
  } else {
    code.decode(s.feature, program_.list(e.features), "int");
    v = code.real_value(e.value);
  }
  code.line(name + " = " + v + ";");
  code.close();
  return name;
}

// Entry (…, a, b) of a covariance: the deviation of feature a times that of feature b.
std::string Fold::product_of(Code& code, const Slot& s) const {
  const std::string& feature = s.feature;
  const locus_estimate& e = *s.column->estimate;
  const auto all = program_.list(e.features);
  const std::int64_t width = count_of(program_, all), last = all.empty() ? 1 : program_.extent(all.back());
  const auto mean = [&](const std::string& f) {
    return "AsDouble(P.scratch + " + std::to_string(s.column->means) + "ul + uint64_t((int64_t(row) - P.d) * " + std::to_string(width) + "l + int64_t(" + f + ")) * 8ul).v";
  };
  if (all.empty()) {
    const std::string d = code.fresh("d");
    code.line("REAL " + d + " = REAL(double(" + code.real_value(e.value) + ") - " + mean("0") + ");");
    return d + " * " + d;
  }
  const std::string a = code.fresh("a"), b = code.fresh("b"), da = code.fresh("d"), db = code.fresh("d"), n = std::to_string(last);
  code.line("int " + a + " = " + feature + " / " + n + ", " + b + " = " + a + " / " + n + " * " + n + " + " + feature + " % " + n + ";");
  code.decode(a, all, "int");
  code.line("REAL " + da + " = REAL(double(" + code.real_value(e.value) + ") - " + mean(a) + ");");
  if (s.column->twin != LOCUS_NONE) {
    const std::string twin = code.fresh("c");
    code.line("int " + twin + " = " + feature + " % " + n + ";");
    code.bind(s.column->twin, twin);
  }
  code.line("REAL " + db + " = REAL(double(" + code.real_value(e.second) + ") - " + mean(b) + ");");
  return da + " * " + db;
}

// A pair heavier than all before: sums are taken relative to it from here on, means about its value, so that neither overflows nor loses digits.
// Where weights have no exponent, only the centre moves, and only for a much heavier pair.
void Fold::rise(Code& code, const Unit& u, const std::vector<std::string>& values) const {
  const std::string r = ending();
  if (!weighted()) {
    code.open("if (top < REAL(0))");
    code.line("top = REAL(0);");
    for (std::size_t k = 0; k < u.slots.size(); ++k)
      if (u.slots[k].column->kind == Column::mean) code.line("centre" + std::to_string(k) + " = is_finite" + r + "(" + values[k] + ") ? " + values[k] + " : REAL(0);");
    code.close();
    return;
  }
  size_up(code);
  code.line("REAL level = huge ? inf" + r + " : " + (scored() ? "x" : "abs" + r + "(fa)") + ";");
  code.open("if (level > top)");
  code.line("double g = " + (scored() ? "huge ? 0.0lf : double(exp" + r + "(top - x))" : std::string("from_bool_d(!huge)")) + ";");
  const auto scaled = [&](const std::string& name, const std::string& with, const char* by) { code.line(name + " = g == 0.0lf ? 0.0lf : " + by + " * (" + with + ");"); };
  if (!wide()) code.line("total += double(tile_total); tile_total = 0.0;");
  for (std::size_t k = 0; k < u.slots.size(); ++k) {
    const Column& c = *u.slots[k].column;
    const std::string n = std::to_string(k), acc = "acc" + n, centre = "centre" + n;
    if (c.extreme()) continue;
    const std::string sum = wide() ? acc : acc + " + double(sum" + n + ")";
    if (c.kind == Column::mean) {
      const std::string next = code.fresh("centre_");
      code.line("REAL " + next + " = is_finite" + r + "(" + values[k] + ") ? " + values[k] + " : " + centre + ";");
      scaled(acc, sum + " + total * (double(" + centre + ") - double(" + next + "))", "g");
      code.line(centre + " = " + next + ";");
    } else {
      scaled(acc, sum, "g");
    }
    if (!wide()) code.line("sum" + n + " = 0.0;");
  }
  if (needs_.square) scaled("square", "square", "g * g");
  if (needs_.entropy)
    for (const std::string side : {"up", "down"}) {
      scaled(side, side + (scored() ? " + double(top - x) * " + side + "_total" : ""), "g");
      scaled(side + "_total", side + "_total", "g");
    }
  scaled("total", "total", "g");
  code.line(scored() ? "top = level;" : "top = level * REAL(8);");
  code.close();
}

void Fold::size_up(Code& code) const {
  const std::string huge_factor = "is_inf" + ending() + "(fa)", huge_score = "x == inf" + ending();
  code.line("bool huge = " + (factored() && scored() ? huge_factor + " || " + huge_score : factored() ? huge_factor : scored() ? huge_score : "false") + ";");
}

// Up to a factor common to the row; beside infinite weights only these count, each as 1.
void Fold::weight(Code& code) const {
  const std::string r = ending(), finite = scored() ? (factored() ? "fa * " : std::string()) + "exp" + r + "(x - top)" : "fa";
  code.line("REAL w = infinite ? (huge ? sign" + r + "(fa) : REAL(0)) : " + finite + ";");
}

void Fold::accumulate(Code& code, const Unit& u, const std::vector<std::string>& values) const {
  const std::string r = ending(), total = wide() ? "total" : "tile_total";
  for (std::size_t k = 0; k < u.slots.size(); ++k)
    if (const Column& c = *u.slots[k].column; c.extreme()) {
      const std::string acc = "acc" + std::to_string(k);
      code.line(acc + " = " + (c.kind == Column::maximum ? "larger" : "smaller") + "_d(double(" + values[k] + "), " + acc + ");");
    }
  if (weighted()) {
    code.line("bool infinite = top == inf" + r + ";");
    weight(code);
    code.line(total + " += w;");
    if (needs_.square) code.line("square += double(w) * double(w);");
    if (needs_.entropy) {
      code.line("double lw = double(infinite ? REAL(0) : " + std::string(factored() ? "log" + r + "(abs" + r + "(fa))" : "REAL(0)") + (scored() ? " + (x - top)" : "") + ");");
      code.line("if (w > REAL(0)) { up += double(w) * lw; up_total += double(w); } else if (w < REAL(0)) { down += double(w) * lw; down_total += double(w); }");
    }
    code.open("if (w != REAL(0))");
  }
  for (std::size_t k = 0; k < u.slots.size(); ++k) {
    const Column& c = *u.slots[k].column;
    if (c.extreme()) continue;
    const std::string n = std::to_string(k), sum = (wide() ? "acc" : "sum") + n, deviation = c.kind == Column::mean ? "(" + values[k] + " - centre" + n + ")" : values[k];
    if (!weighted())
      code.line(sum + " += " + deviation + ";");
    else if (c.kind == Column::sum)
      code.line(sum + " += (infinite ? w * inf" + r + " : w) * " + values[k] + ";");
    else
      code.line(sum + " += w * " + deviation + ";");
  }
  if (weighted()) code.close();
}

}  // namespace locus::vulkan
