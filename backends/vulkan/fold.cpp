// Sums over samples in one pass: tiles of pairs, a running maximum, sums in registers that are carried in scratch memory from dispatch to dispatch.
// The meaning of every part is that of locus_reduce in the C header; what cannot be summed in one pass is in rare.cpp.
#include "backends/vulkan/fold.hpp"
#include <algorithm>
#include <cmath>

namespace locus::vulkan {

namespace {
constexpr int tile_rows = 16, threads = 128, features_at_once = 64;
constexpr std::uint64_t scratch_limit = 256u << 20;
std::string n(std::int64_t v) { return std::to_string(v); }
std::string nl(std::int64_t v) { return std::to_string(v) + "l"; }
}  // namespace

Fold::Fold(const Program& p, const locus_reduce& r) : program_(p), reduce_(r) {
  for (Id c : p.list(r.rows)) rows_ *= p.extent(c);
  samples_ = r.list == LOCUS_NONE ? p.extent(r.sample) : p.dims(r.list).back();
}

std::int64_t Fold::width_of(const locus_estimate& e) const {
  std::int64_t w = 1;
  for (Id c : program_.list(e.features)) w *= program_.extent(c);
  return w;
}

void Fold::add(Column c) {
  c.offset = features_;
  features_ += c.width;
  columns_.push_back(std::move(c));
}

// Which rows, parts and blocks there are, and where their sums lie in the scratch memory behind `base`.
void Fold::lay_out(std::uint64_t base) {
  base_ = base;
  blocks_ = std::max<std::int64_t>((features_ + features_at_once - 1) / features_at_once, 1);
  const std::int64_t groups = (rows_ + tile_rows - 1) / tile_rows * blocks_;
  parts_ = groups < 64 && samples_ > 4096 ? std::min<std::int64_t>(64, samples_ / 1024) : 1;
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(parts_) * (static_cast<std::uint64_t>(blocks_) * state_size + static_cast<std::uint64_t>(features_)) * 8;
  row_block_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(scratch_limit / row_bytes), tile_rows, std::int64_t{65535} * tile_rows);
  row_block_ = std::min(row_block_, std::max<std::int64_t>(rows_, 1));
  state_bytes_ = static_cast<std::uint64_t>(parts_ * blocks_ * row_block_) * state_size * 8;
  bytes_ = state_bytes_ + static_cast<std::uint64_t>(parts_ * features_ * row_block_) * 8;
}

std::string Fold::state_at(const std::string& part, const std::string& block, const std::string& row) const {
  return "(P.scratch + " + std::to_string(base_) + "ul + uint64_t(((" + part + ") * " + nl(blocks_) + " + int64_t(" + block + ")) * " + nl(row_block_) + " + (" + row + ")) * " + std::to_string(state_size * 8) + "ul)";
}
std::string Fold::sum_at(const std::string& part, const std::string& row, const std::string& feature) const {
  return "(P.scratch + " + std::to_string(base_ + state_bytes_) + "ul + uint64_t(((" + part + ") * " + nl(row_block_) + " + (" + row + ")) * " + nl(std::max<std::int64_t>(features_, 1)) + " + int64_t(" + feature + ")) * 8ul)";
}

// `row` is bound to coordinates; `j` an int variable: bool counts, REAL x (the score), REAL fa (the factor).
std::string Fold::pair_text(Code& code) const {
  code.bind(reduce_.sample, "j");
  code.line("bool counts = here; REAL x = REAL(0), fa = REAL(1);");
  if (reduce_.where != LOCUS_NONE) {
    code.open("if (counts)");
    code.line("counts = " + code.value(reduce_.where) + ";");
    code.close();
  }
  code.open("if (counts)");
  if (reduce_.factor != LOCUS_NONE) code.line("fa = REAL(" + code.value(reduce_.factor) + ");");
  if (reduce_.score != LOCUS_NONE) code.line("x = REAL(" + code.value(reduce_.score) + ");");
  code.line("counts = fa != REAL(0) && !(is_inf(x) && x < REAL(0));");
  code.close();
  code.line("if (divided_by_zero) fault(5u, uint(row), divided, 0l);");
  return code.take();
}

// Declares `int j` for place t of a row, and whether there is one.
std::string Fold::sample_text(Code& code) const {
  if (reduce_.list == LOCUS_NONE) {
    code.line("int j = int(t);");
  } else {
    code.line("int j = -1;");
    code.line("if (here) { int64_t jj = load_int(" + code.tensor(reduce_.list) + ", row * " + nl(samples_) + " + t); here = jj != -1l; if (here && (jj < 0l || jj >= " + nl(program_.extent(reduce_.sample)) +
              ")) { fault(1u, uint(row), jj, " + nl(program_.extent(reduce_.sample)) + "); here = false; } j = int(jj); }");
  }
  return code.take();
}

std::int64_t Fold::pair_iterations(const Code& code) const {
  std::int64_t sum = 1;
  for (Id e : {reduce_.where, reduce_.factor, reduce_.score})
    if (e != LOCUS_NONE) sum += code.iterations(e);
  return sum;
}

std::string Fold::shader_text(int span, std::int64_t* cost) const {
  const bool scored = reduce_.score != LOCUS_NONE, factored = reduce_.factor != LOCUS_NONE;
  const int block_width = static_cast<int>(std::min<std::int64_t>(features_, features_at_once)), held = (tile_rows * block_width + threads - 1) / threads;
  Code code(program_);
  const auto rows = program_.list(reduce_.rows);
  std::string text;
  // -- this row's state, held by the first invocations
  code.line("int tid = int(gl_LocalInvocationIndex); int block = int(gl_WorkGroupID.y); int64_t part = int64_t(gl_WorkGroupID.z);");
  code.line("int64_t local0 = int64_t(gl_WorkGroupID.x) * " + nl(tile_rows) + ", begin = min(part * P.c + P.a, " + nl(samples_) + "), end = min(min(begin + P.b, part * P.c + P.c), " + nl(samples_) + ");");
  code.line("bool carries = P.a > 0l; REAL top = -REAL_INF; double total = 0.0lf, square = 0.0lf, up = 0.0lf, up_total = 0.0lf, down = 0.0lf, down_total = 0.0lf; int64_t counted = 0l; bool infinite = false;");
  code.line("bool owner = tid < " + n(tile_rows) + " && local0 + int64_t(tid) < P.count; uint64_t state = " + state_at("part", "block", "local0 + int64_t(tid)") + ";");
  code.line("if (owner && carries) { top = REAL(AsDouble(state).v); total = AsDouble(state + 8ul).v; square = AsDouble(state + 16ul).v; counted = AsInt(state + 24ul).v; infinite = AsInt(state + 32ul).v != 0l; up = AsDouble(state + 40ul).v; "
            "up_total = AsDouble(state + 48ul).v; down = AsDouble(state + 56ul).v; down_total = AsDouble(state + 64ul).v; }");
  code.line("if (tid < " + n(tile_rows) + ") { old_top[tid] = top; was_infinite[tid] = infinite ? 1u : 0u; }");
  if (features_ > 0) {
    code.line("REAL acc[" + n(held) + "]; [[unroll]] for (int h = 0; h < " + n(held) + "; ++h) acc[h] = REAL(0);");
    for (const Column& c : columns_)
      if (c.extreme()) code.line("[[unroll]] for (int h = 0; h < " + n(held) + "; ++h) { int f = block * " + n(features_at_once) + " + (tid + h * " + n(threads) + ") % " + n(block_width) + "; if (f >= " + n(c.offset) + " && f < " + n(c.offset + c.width) + ") acc[h] = " + c.nothing() + "; }");
  }
  code.line("for (int64_t t0 = begin; t0 < end; t0 += " + nl(span) + ") {");
  // -- the tile's pairs
  code.line("if (tid == 0) any = 0u;");
  code.line("barrier();");
  code.open("for (int q = tid; q < " + n(tile_rows * span) + "; q += " + n(threads) + ")");
  code.line("int r = q / " + n(span) + "; int64_t t = t0 + int64_t(q - r * " + n(span) + "), row = P.first + local0 + int64_t(r); bool here = local0 + int64_t(r) < P.count && t < end;");
  code.decode("row", rows);
  text += code.take();
  text += sample_text(code);
  text += pair_text(code);
  code.line("score[q] = x; on[q] = counts ? 1u : 0u; if (counts) any = 1u;");
  if (factored) code.line("factor[q] = fa;");
  if (reduce_.list != LOCUS_NONE) code.line("who[q] = j;");
  code.close();
  code.line("barrier();");
  code.line("if (any == 0u) continue;");
  // -- weights of each row
  code.line("if (owner) { int q0 = tid * " + n(span) + "; REAL grow_by = REAL(1);");
  const std::string fa = factored ? "factor[q0 + s]" : "REAL(1)";
  if (scored || factored) {
    code.line("REAL next = top; bool more = false; for (int s = 0; s < " + n(span) + "; ++s) if (on[q0 + s] != 0u) { REAL v = score[q0 + s]; if (is_inf(" + fa + ") || is_inf(v)) more = true; else if (v > next) next = v; }");
    code.line("if (more && !infinite) { infinite = true; total = square = up = up_total = down = down_total = 0.0lf; grow_by = REAL(0); }");
    if (scored)
      code.line("else if (!infinite && next > top) { grow_by = is_inf(top) ? REAL(0) : k_exp(top - next); double g = double(grow_by), lg = is_inf(top) ? 0.0lf : double(top - next); up = g * (up + lg * up_total); down = g * (down + lg * down_total); "
                "up_total *= g; down_total *= g; total *= g; square *= g * g; }");
    code.line("if (next > top) top = next;");
  }
  code.line("grow[tid] = grow_by; for (int s = 0; s < " + n(span) + "; ++s) if (on[q0 + s] != 0u) { REAL rel = infinite ? ((is_inf(" + fa + ") || is_inf(score[q0 + s])) ? k_sign(" + fa + ") : REAL(0)) : " +
            (scored ? fa + " * k_exp(score[q0 + s] - (is_inf(top) ? REAL(0) : top))" : fa) + "; double w = double(rel);");
  if (entropy_)
    code.line(std::string("double lw = ") + (factored ? "k_log(k_abs(double(" + fa + ")))" : "0.0lf") + " + (infinite ? 0.0lf : double(score[q0 + s]) - (is_inf(top) ? 0.0lf : double(top))); if (w > 0.0lf) { up += w * lw; up_total += w; } else if (w < 0.0lf) { down += w * lw; down_total += w; }");
  code.line("score[q0 + s] = rel; total += w; square += w * w; ++counted; } }");
  code.line("barrier();");
  // -- sums of values
  if (features_ > 0) {
    code.line("[[unroll]] for (int h = 0; h < " + n(held) + "; ++h) { int item = tid + h * " + n(threads) + ", r = item / " + n(block_width) + ", f = block * " + n(features_at_once) + " + item - r * " + n(block_width) +
              "; if (r < " + n(tile_rows) + " && f < " + n(features_) + " && local0 + int64_t(r) < P.count) { int64_t row = P.first + local0 + int64_t(r); int q0 = r * " + n(span) + "; REAL part_sum = REAL(0);");
    text += code.take();
    for (const Column& c : columns_) {
      code.open("if (f >= " + n(c.offset) + " && f < " + n(c.offset + c.width) + ")");
      code.decode("row", rows);
      const std::string centre = centre_text(code, c);
      if (c.extreme()) code.line("part_sum = " + std::string(c.nothing()) + ";");
      code.open("for (int s = 0; s < " + n(span) + "; ++s)");
      code.open("if (on[q0 + s] != 0u" + std::string(c.extreme() ? "" : " && score[q0 + s] != REAL(0)") + ")");
      code.line(reduce_.list == LOCUS_NONE ? "int j = int(t0) + s;" : "int j = who[q0 + s];");
      const std::string v = value_text(code, c);
      if (c.extreme()) code.line("part_sum = " + std::string(c.kind == Column::maximum ? "larger(" : "smaller(") + v + ", part_sum);");
      else code.line("part_sum = fma(score[q0 + s], " + v + " - " + centre + ", part_sum);");
      code.close();
      code.close();
      if (c.extreme()) code.line("acc[h] = " + std::string(c.kind == Column::maximum ? "larger(" : "smaller(") + "part_sum, acc[h]);");
      else code.line("acc[h] = acc[h] * grow[r] + part_sum;");
      code.close();
    }
    code.line("} }");
  }
  code.line("}");
  // -- what goes on in the next dispatch
  code.line("barrier();");
  code.line("if (owner) { REAL before = old_top[tid]; grow[tid] = was_infinite[tid] != 0u ? REAL(1) : infinite ? REAL(0) : " + std::string(scored ? "is_inf(before) ? REAL(0) : k_exp(before - top)" : "REAL(1)") +
            "; AsDouble(state).v = double(top); AsDouble(state + 8ul).v = total; AsDouble(state + 16ul).v = square; AsInt(state + 24ul).v = counted; AsInt(state + 32ul).v = infinite ? 1l : 0l; AsDouble(state + 40ul).v = up; "
            "AsDouble(state + 48ul).v = up_total; AsDouble(state + 56ul).v = down; AsDouble(state + 64ul).v = down_total; }");
  code.line("barrier();");
  if (features_ > 0) {
    code.line("[[unroll]] for (int h = 0; h < " + n(held) + "; ++h) { int item = tid + h * " + n(threads) + ", r = item / " + n(block_width) + ", f = block * " + n(features_at_once) + " + item - r * " + n(block_width) + "; if (r < " + n(tile_rows) + " && f < " + n(features_) +
              " && local0 + int64_t(r) < P.count) { uint64_t to = " + sum_at("part", "local0 + int64_t(r)", "f") + "; bool extreme = false, most = false;");
    for (const Column& c : columns_)
      if (c.extreme()) code.line("if (f >= " + n(c.offset) + " && f < " + n(c.offset + c.width) + ") { extreme = true; most = " + (c.kind == Column::maximum ? "true" : "false") + "; }");
    code.line("double old = carries ? AsDouble(to).v : 0.0lf, now = double(acc[h]); if (extreme) AsDouble(to).v = !carries ? now : most ? larger(now, old) : smaller(now, old); else AsDouble(to).v = old * double(grow[r]) + now; } }");
  }
  text += code.take();
  std::int64_t value_cost = 0;
  for (const Column& c : columns_) value_cost = std::max(value_cost, 1 + (c.estimate->value == LOCUS_NONE ? 0 : code.iterations(c.estimate->value)) + (c.kind == Column::product && c.estimate->second != LOCUS_NONE ? code.iterations(c.estimate->second) : 0));
  *cost = std::int64_t{tile_rows} * span / threads * (1 + pair_iterations(code)) + 2 * span + (features_ > 0 ? std::int64_t{held} * (span + 1) * (1 + value_cost) : 0) + 8;
  std::string shared = "shared REAL score[" + n(tile_rows * span) + "], grow[" + n(tile_rows) + "], old_top[" + n(tile_rows) + "];\nshared uint on[" + n(tile_rows * span) + "], was_infinite[" + n(tile_rows) + "], any;\n";
  if (factored) shared += "shared REAL factor[" + n(tile_rows * span) + "];\n";
  if (reduce_.list != LOCUS_NONE) shared += "shared int who[" + n(tile_rows * span) + "];\n";
  return shader(program_, threads, code.functions() + shared, code.addresses() + text);
}

// The value of feature `f` of a column for the bound row and sample j, as a REAL.
std::string Fold::value_text(Code& code, const Column& c) const {
  const auto all = program_.list(c.estimate->features);
  const std::string own = "(int64_t(f) - " + nl(c.offset) + ")";
  code.bind(reduce_.sample, "j");
  if (c.kind != Column::product) {
    code.decode(own, all);
    return "REAL(" + code.value(c.estimate->value) + ")";
  }
  // A product of deviations: the features of the first, and the twin of the last.
  if (all.empty()) {
    const std::string v = code.value(c.estimate->value);
    code.line("REAL dv = REAL(double(" + v + ") - AsDouble(" + c.means + ").v);");
    return "(dv * dv)";
  }
  const std::int64_t width = program_.extent(all.back());
  code.line("int64_t pair_of = " + own + "; int second_of = int(pair_of - pair_of / " + nl(width) + " * " + nl(width) + "); int64_t first_of = pair_of / " + nl(width) + ", block_of = first_of / " + nl(width) + ";");
  code.decode("first_of", all);
  const std::string v = code.value(c.estimate->value);
  code.bind(c.twin, "second_of");
  const std::string u = code.value(c.estimate->second);
  code.line("REAL dv = REAL(double(" + v + ") - AsDouble(" + c.means + " + uint64_t(first_of) * 8ul).v), du = REAL(double(" + u + ") - AsDouble(" + c.means + " + uint64_t(block_of * " + nl(width) + " + int64_t(second_of)) * 8ul).v);");
  return "(dv * du)";
}

// What is taken off a value before it is summed: the first sample's, where values do not depend on the query.
std::string Fold::centre_text(Code& code, const Column& c) const {
  const auto rows = program_.list(reduce_.rows);
  if (!centred(c)) return "REAL(0)";
  code.line("REAL centre = REAL(0);");
  code.open("");
  code.line("int j = 0;");
  const std::string v = value_text(code, c);
  code.line("centre = " + v + ";");
  code.close();
  code.line("if (!is_finite(centre)) centre = REAL(0);");
  return "centre";
}

bool Fold::centred(const Column& c) const {
  const auto rows = program_.list(reduce_.rows);
  return (c.kind == Column::mean || c.kind == Column::sum) && program_.extent(reduce_.sample) > 0 && (rows.empty() || !program_.depends(c.estimate->value, rows.back()));
}

void Fold::run(NodeSteps& to, const std::function<void(NodeSteps&, Push)>& finish, std::int64_t from, std::int64_t until) const {
  until = std::min(until, rows_);
  if (from >= until) return;
  int span = 32;
  std::int64_t cost = 0;
  std::string text = shader_text(span, &cost);
  while (cost > iteration_limit && span > 8) text = shader_text(span /= 2, &cost);
  if (cost > iteration_limit * 16) throw Failure(LOCUS_UNSUPPORTED, "a pair takes more steps than one dispatch may run (" + std::to_string(cost) + "): its points have too many coordinates for this backend");
  const std::int64_t chunk = std::max<std::int64_t>(iteration_limit / cost, 1) * span, per_part = (samples_ + parts_ - 1) / parts_;
  for (std::int64_t first = from; first < until; first += row_block_) {
    Push push;
    push.first = first, push.count = std::min(row_block_, until - first), push.c = per_part;
    for (std::int64_t at = 0; at == 0 || at < per_part; at += chunk) {
      Step s;
      s.glsl = text, s.push = push;
      s.push.a = at, s.push.b = chunk;
      s.groups[0] = static_cast<std::uint32_t>((push.count + tile_rows - 1) / tile_rows), s.groups[1] = static_cast<std::uint32_t>(blocks_), s.groups[2] = static_cast<std::uint32_t>(parts_);
      to.steps.push_back(std::move(s));
    }
    finish(to, push);
  }
  to.words = "tiles of " + n(tile_rows) + " x " + n(span) + (reduce_.score != LOCUS_NONE ? ", running maximum" : "") + (parts_ > 1 ? ", samples in " + n(parts_) + " parts" : "") + ", " + n(chunk) + " samples a dispatch";
}

// Declares what all parts together say of a row (`local`: its place in the block): top, total, square, counted, infinite, entropy's sums.
std::string Fold::merge_text(const std::string& block) const {
  const std::string at = state_at("part", block, "local");
  return "  double top = -inf_d(), total = 0.0lf, square = 0.0lf, up = 0.0lf, up_total = 0.0lf, down = 0.0lf, down_total = 0.0lf; int64_t counted = 0l; bool infinite = false;\n"
         "  for (int64_t part = 0l; part < " + nl(parts_) + "; ++part) { uint64_t s = " + at + "; infinite = infinite || AsInt(s + 32ul).v != 0l; counted += AsInt(s + 24ul).v; if (AsInt(s + 24ul).v > 0l && AsDouble(s).v > top) top = AsDouble(s).v; }\n"
         "  for (int64_t part = 0l; part < " + nl(parts_) + "; ++part) { uint64_t s = " + at + "; double g = " + scale_text() + ", lg = g > 0.0lf && g != 1.0lf ? AsDouble(s).v - top : 0.0lf; if (g != 0.0lf) { total += g * AsDouble(s + 8ul).v; square += g * g * AsDouble(s + 16ul).v; "
         "up += g * (AsDouble(s + 40ul).v + lg * AsDouble(s + 48ul).v); up_total += g * AsDouble(s + 48ul).v; down += g * (AsDouble(s + 56ul).v + lg * AsDouble(s + 64ul).v); down_total += g * AsDouble(s + 64ul).v; } }\n";
}

// By what the sums of state s are multiplied when parts are joined.
std::string Fold::scale_text() const {
  const std::string finite = reduce_.score != LOCUS_NONE ? "(is_inf(AsDouble(s).v) ? (is_inf(top) ? 1.0lf : 0.0lf) : k_exp(AsDouble(s).v - top))" : "1.0lf";
  return "(AsInt(s + 24ul).v == 0l ? 0.0lf : infinite ? (AsInt(s + 32ul).v != 0l ? 1.0lf : 0.0lf) : " + finite + ")";
}

std::string Fold::numerator_text(const std::string& block, const std::string& feature, const Column& c) const {
  const std::string at = state_at("part", block, "local"), sum = sum_at("part", "local", feature);
  if (c.extreme())
    return "  double numerator = " + std::string(c.kind == Column::maximum ? "-inf_d()" : "inf_d()") + "; for (int64_t part = 0l; part < " + nl(parts_) + "; ++part) { double v = AsDouble(" + sum + ").v; numerator = " +
           (c.kind == Column::maximum ? "larger(v, numerator)" : "smaller(v, numerator)") + "; }\n";
  return "  double numerator = 0.0lf; for (int64_t part = 0l; part < " + nl(parts_) + "; ++part) { uint64_t s = " + at + "; double g = " + scale_text() + "; if (g != 0.0lf) numerator += g * AsDouble(" + sum + ").v; }\n";
}

int Fold::block_of(std::int64_t feature) { return static_cast<int>(feature / features_at_once); }

}  // namespace locus::vulkan
