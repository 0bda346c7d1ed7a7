// The shape of a fold: which sums an invocation holds, how samples and rows are cut, what is carried between dispatches; see fold.hpp.
// The statements for one pair are in pair.cpp.
#include "backends/vulkan/fold.hpp"
#include <algorithm>
#include "backends/vulkan/failure.hpp"

namespace locus::vulkan {
namespace {

constexpr std::int64_t state_numbers = 8;          // of a record, before its slots
constexpr int slots_at_once = 32, slot_text = 64;  // sums that an invocation holds; operations of their values together
constexpr std::uint64_t scratch_limit = 256u << 20;
constexpr std::int64_t enough_invocations = 1 << 15;  // below this a GPU is not filled, and samples are cut into parts
constexpr std::int64_t part_samples = 256, most_parts = 1024;
constexpr int long_tile = 64, short_tile = 16;  // pairs that are summed in the run's precision before they are added in double
constexpr std::size_t few_slots = 8;            // a double costs dozens of floats on many devices: few sums can have it more often

std::uint64_t record_bytes(std::size_t slots) { return (state_numbers + 2 * slots) * 8; }

}  // namespace

Fold::Fold(const Program& p, const locus_reduce& r, std::vector<Column> columns, Needs needs)
    : program_(p), reduce_(r), columns_(std::move(columns)), needs_(needs), window_(p, r) {
  rows_ = count_of(p, p.list(r.rows));
  samples_ = r.list == LOCUS_NONE ? p.extent(r.sample) : p.dims(r.list).back();
  const Code code(p);
  plan_units(code);
  std::int64_t most = 0;
  for (const Unit& u : units_) {
    std::int64_t values = 0;
    for (const Slot& s : u.slots) {
      const locus_estimate& e = *s.column->estimate;
      values += code.iterations(e.value) + (s.column->kind == Column::product && e.second != LOCUS_NONE ? code.iterations(e.second) : 0);
    }
    most = std::max(most, values);
  }
  for (const Unit& u : units_)
    if (u.blocks > 65535) throw Failure(LOCUS_UNSUPPORTED, "a value of more than two million features; split it, or run with `--backend cpu`");
  cost_ = 1 + pair_iterations(code) + most;  // and a turn of the outer loop for each tile, which the limit leaves room for
  require_short(cost_);
  chunk_ = std::max<std::int64_t>(iteration_limit / cost_ - 2, 1);
  if (chunk_ > long_tile) chunk_ = chunk_ / long_tile * long_tile;
  if (rows_ < enough_invocations) parts_ = std::clamp<std::int64_t>(std::min(enough_invocations / std::max<std::int64_t>(rows_, 1), samples_ / part_samples), 1, most_parts);
}

// Columns of few features stand together; a wide one has a unit of its own, cut into blocks.
void Fold::plan_units(const Code& code) {
  units_.emplace_back();
  int text = 0;
  for (const Column& c : columns_) {
    const locus_estimate& e = *c.estimate;
    const int one = 1 + code.size(e.value) + (c.kind == Column::product ? code.size(e.second == LOCUS_NONE ? e.value : e.second) : 0);
    const std::int64_t held = std::clamp<std::int64_t>(slot_text / one, 1, slots_at_once);
    if (c.width > held) {
      Unit& u = units_.emplace_back();
      for (std::int64_t k = 0; k < held; ++k) u.slots.push_back({&c, "f" + std::to_string(k)});
      u.blocks = (c.width + held - 1) / held;
      continue;
    }
    if (text + one * c.width > slot_text && !units_.back().slots.empty()) units_.emplace_back(), text = 0;
    if (units_.back().blocks > 1) units_.emplace_back(), text = 0;
    for (std::int64_t f = 0; f < c.width; ++f) units_.back().slots.push_back({&c, std::to_string(f)});
    text += static_cast<int>(one * c.width);
  }
  if (units_.size() > 1 && units_.front().slots.empty()) units_.erase(units_.begin());  // the next one speaks for the row as well
}

std::uint64_t Fold::lay_out(std::uint64_t base) {
  std::uint64_t row_bytes = 0;
  for (const Unit& u : units_) row_bytes += static_cast<std::uint64_t>(parts_ * u.blocks) * record_bytes(u.slots.size());
  std::int64_t blocks = 1;
  for (const Unit& u : units_) blocks = std::max(blocks, u.blocks);
  const double row_work = static_cast<double>(std::min(chunk_, samples_) * cost_ * blocks * parts_);
  row_block_ = std::max<std::int64_t>(static_cast<std::int64_t>(scratch_limit / row_bytes), 1);
  row_block_ = std::min({row_block_, std::max<std::int64_t>(static_cast<std::int64_t>(dispatch_work / std::max(row_work, 1.0)), enough_invocations),
                         std::int64_t{65535} * group_size, std::max<std::int64_t>(rows_, 1)});
  for (Unit& u : units_) {
    u.base = base;
    base += static_cast<std::uint64_t>(parts_ * u.blocks * row_block_) * record_bytes(u.slots.size());
  }
  return base;
}

std::int64_t Fold::pair_iterations(const Code& code) const {
  std::int64_t sum = 1;
  for (const Id e : {reduce_.where, reduce_.factor, reduce_.score})
    if (e != LOCUS_NONE) sum += code.iterations(e);
  return sum;
}

std::string Fold::record_at(const Unit& u, const std::string& part) const {
  const auto n = [](std::int64_t v) { return std::to_string(v) + "l"; };
  return "P.scratch + " + std::to_string(u.base) + "ul + uint64_t(((int64_t(" + part + ") * " + n(u.blocks) + " + int64_t(block)) * " + n(row_block_) + " + local) * " +
         n(static_cast<std::int64_t>(record_bytes(u.slots.size()))) + ")";
}

void Fold::head(Code& code) const {
  code.line("int64_t local = int64_t(gl_GlobalInvocationID.x);");
  code.line("if (local >= P.count) return;");
  const char* type = rows_ < INT32_MAX ? "int" : "int64_t";
  code.line(std::string(type) + " row = " + type + "(P.first + local); int block = int(gl_WorkGroupID.y);");
  code.decode("row", program_.list(reduce_.rows), type);
}

void Fold::declare_state(Code& code, const Unit& u) const {
  // The level of the heaviest pair so far: its score, or where there is none its size. Infinite once a weight is.
  code.line("REAL top = REAL(" + std::string(scored() ? "-inf" + ending() : "-1") + "); double total = 0.0lf; int counted = 0;");
  if (needs_.square) code.line("double square = 0.0lf;");
  if (needs_.entropy) code.line("double up = 0.0lf, up_total = 0.0lf, down = 0.0lf, down_total = 0.0lf;");
  for (std::size_t k = 0; k < u.slots.size(); ++k) {
    const Column& c = *u.slots[k].column;
    const std::string n = std::to_string(k), begin = c.kind == Column::maximum ? "-inf_d" : c.kind == Column::minimum ? "inf_d" : "0.0lf";
    code.line("double acc" + n + " = " + begin + ";" + (c.kind == Column::mean ? " REAL centre" + n + " = REAL(0);" : ""));
  }
}

// The features of a wide column that this invocation sums; beyond the last one it is summed again and not stored.
void Fold::declare_slots(Code& code, const Unit& u) const {
  if (u.blocks == 1) return;
  for (std::size_t k = 0; k < u.slots.size(); ++k)
    code.line("int f" + std::to_string(k) + " = min(block * " + std::to_string(u.slots.size()) + " + " + std::to_string(k) + ", " + std::to_string(u.slots[k].column->width - 1) +
              ");");
}

// Names of what is loaded end in `mark`.
void Fold::load_state(Code& code, const Unit& u, const std::string& record, const std::string& mark) const {
  const std::string declare = mark.empty() ? "" : "double ";
  const auto at = [&](std::size_t k) { return "AsDouble(" + record + " + " + std::to_string(8 * k) + "ul).v"; };
  code.line((mark.empty() ? "" : "REAL ") + ("top" + mark) + " = REAL(" + at(0) + "); " + declare + "total" + mark + " = " + at(1) + "; " + (mark.empty() ? "" : "int ") +
            "counted" + mark + " = int(" + at(2) + ");");
  if (needs_.square) code.line(declare + "square" + mark + " = " + at(3) + ";");
  if (needs_.entropy) {
    static const char* const names[] = {"up", "up_total", "down", "down_total"};
    for (std::size_t k = 0; k < 4; ++k) code.line(declare + names[k] + mark + " = " + at(4 + k) + ";");
  }
  for (std::size_t k = 0; k < u.slots.size(); ++k) {
    const std::string n = std::to_string(k) + mark;
    code.line(declare + "acc" + n + " = " + at(state_numbers + 2 * k) + ";");
    if (u.slots[k].column->kind == Column::mean) code.line((mark.empty() ? "" : "REAL ") + ("centre" + n) + " = REAL(" + at(state_numbers + 2 * k + 1) + ");");
  }
}

void Fold::store_state(Code& code, const Unit& u) const {
  const auto put = [&](std::size_t k, const std::string& v) { code.line("AsDouble(record + " + std::to_string(8 * k) + "ul).v = " + v + ";"); };
  put(0, "double(top)"), put(1, "total"), put(2, "double(counted)");
  if (needs_.square) put(3, "square");
  if (needs_.entropy) put(4, "up"), put(5, "up_total"), put(6, "down"), put(7, "down_total");
  for (std::size_t k = 0; k < u.slots.size(); ++k) {
    put(state_numbers + 2 * k, "acc" + std::to_string(k));
    if (u.slots[k].column->kind == Column::mean) put(state_numbers + 2 * k + 1, "double(centre" + std::to_string(k) + ")");
  }
}

// Only where a profile asks for it. Sums of two words, since 64-bit atomics are not everywhere.
void Fold::count_skipped(Code& code) const {
  code.open("if (block == 0 && AsWord(P.halt + 4ul).v != 0u)");
  code.line("Fault f = Fault(P.faults); uint all = uint(whole), left_out = uint(whole - max(end - begin, 0)), before = atomicAdd(f.seen, all);");
  code.line("if (before + all < before) atomicAdd(f.seen_high, 1u);");
  code.line("before = atomicAdd(f.skipped, left_out);");
  code.line("if (before + left_out < before) atomicAdd(f.skipped_high, 1u);");
  code.close();
}

// P.a: the first sample of this dispatch in each part, P.b: how many, P.c: samples of a part.
Shader Fold::fold_text(const Unit& u, const Finish& finish) const {
  Code code(program_);
  head(code);
  declare_slots(code, u);
  const bool carried = chunk_ < samples_ || parts_ > 1;
  code.line("int part = int(gl_WorkGroupID.z); int begin = int(min(int64_t(part) * P.c + P.a, " + std::to_string(samples_) +
            "l)), end = int(min(int64_t(part) * P.c + min(P.a + P.b, P.c), " + std::to_string(samples_) + "l));");
  if (&u == &units_.front() && !window_.empty()) code.line("int whole = max(end - begin, 0);");
  window_.narrow(code);
  if (&u == &units_.front() && !window_.empty()) count_skipped(code);
  declare_state(code, u);
  if (carried) {
    code.line("uint64_t record = " + record_at(u, "part") + ";");
    code.open("if (P.a > 0l)");
    load_state(code, u, "record", "");
    code.close();
  }
  if (wide()) {
    code.open("for (int t = begin; t < end; ++t)");
    pair(code, u);
    code.close();
  } else {
    const std::string tile = std::to_string(u.slots.size() <= few_slots ? short_tile : long_tile);
    code.open("for (int t0 = begin; t0 < end; t0 += " + tile + ")");
    if (weighted()) code.line("REAL tile_total = 0.0;");
    for (std::size_t k = 0; k < u.slots.size(); ++k)
      if (!u.slots[k].column->extreme()) code.line("REAL sum" + std::to_string(k) + " = 0.0;");
    code.open("for (int t = t0; t < min(t0 + " + tile + ", end); ++t)");
    pair(code, u);
    code.close();
    if (weighted()) code.line("total += double(tile_total);");
    for (std::size_t k = 0; k < u.slots.size(); ++k)
      if (!u.slots[k].column->extreme()) code.line("acc" + std::to_string(k) + " += double(sum" + std::to_string(k) + ");");
    code.close();
  }
  if (!weighted()) code.line("total = double(counted);" + std::string(needs_.square ? " square = total;" : "") + (needs_.entropy ? " up_total = total;" : ""));
  if (parts_ > 1) {
    store_state(code, u);
  } else {
    if (carried) {
      code.open("if (P.a + P.b < P.c)");
      store_state(code, u);
      code.line("return;");
      code.close();
    }
    finish(code, &u == &units_.front(), u.slots);
  }
  return code.finish();
}

// name = g (mine) + h (other), where a factor of 0 leaves out what it stands before, NaN included.
void Fold::join(Code& code, const std::string& name, const std::string& mine, const std::string& other, bool squared) const {
  const std::string g = squared ? "g * g" : "g", h = squared ? "h * h" : "h";
  code.line(name + " = (g == 0.0lf ? 0.0lf : " + g + " * (" + mine + ")) + (h == 0.0lf ? 0.0lf : " + h + " * (" + other + "));");
}

// The record `_p` of a part joins what stands before it: both relative to the heavier of their levels, means about the value of the heavier.
void Fold::join_part(Code& code, const Unit& u) const {
  const std::string r = ending();
  const auto grown = [&](const std::string& level) {
    const std::string same = "from_bool_d(" + level + " == level)", endless = "is_inf" + r + "(level) && level > REAL(0)";
    return level + " == level || (" + endless + ") ? " + same + " : " + (scored() ? "double(exp" + r + "(" + level + " - level))" : "from_bool_d(true)");
  };
  code.line("bool heavier = top_p > top; REAL level = heavier ? top_p : top; double g = " + grown("top") + ", h = " + grown("top_p") + "; if (counted == 0) g = 0.0lf;");
  for (std::size_t k = 0; k < u.slots.size(); ++k) {
    const std::string n = std::to_string(k), acc = "acc" + n, centre = "centre" + n, move = "(double(" + centre + ") - double(" + centre + "_p))";
    const Column& c = *u.slots[k].column;
    if (c.extreme()) {
      code.line(acc + " = " + (c.kind == Column::maximum ? "larger" : "smaller") + "_d(" + acc + "_p, " + acc + ");");
    } else if (c.kind == Column::mean) {
      join(code, acc, acc + " + (heavier ? total * " + move + " : 0.0lf)", acc + "_p - (heavier ? 0.0lf : total_p * " + move + ")");
      code.line("if (heavier) " + centre + " = " + centre + "_p;");
    } else {
      join(code, acc, acc, acc + "_p");
    }
  }
  if (needs_.square) join(code, "square", "square", "square_p", true);
  const auto moved = [&](const std::string& level) { return scored() ? "double(is_inf" + r + "(level) ? REAL(0) : " + level + " - level)" : std::string("0.0lf"); };
  for (const std::string side : {"up", "down"}) {
    if (!needs_.entropy) continue;
    join(code, side, side + " + " + moved("top") + " * " + side + "_total", side + "_p + " + moved("top_p") + " * " + side + "_total_p");
    join(code, side + "_total", side + "_total", side + "_total_p");
  }
  join(code, "total", "total", "total_p");
  code.line("counted += counted_p; top = level;");
}

// The parts of a row, in their order.
Shader Fold::merge_text(const Unit& u, const Finish& finish) const {
  Code code(program_);
  head(code);
  declare_slots(code, u);
  declare_state(code, u);
  code.open("for (int part = 0; part < " + std::to_string(parts_) + "; ++part)");
  code.line("uint64_t record = " + record_at(u, "part") + ";");
  load_state(code, u, "record", "_p");
  code.open("if (counted_p > 0)");
  join_part(code, u);
  code.close();
  code.close();
  finish(code, &u == &units_.front(), u.slots);
  return code.finish();
}

void Fold::run(NodeSteps& to, const Finish& finish, std::int64_t first, std::int64_t count, std::int64_t means_from) const {
  const std::int64_t per_part = (samples_ + parts_ - 1) / parts_;
  for (const Unit& u : units_) {
    Step s;
    s.shader = fold_text(u, finish);
    s.push.first = first, s.push.count = count, s.push.c = per_part, s.push.b = chunk_, s.push.d = means_from;
    s.groups[0] = static_cast<std::uint32_t>((count + group_size - 1) / group_size), s.groups[1] = static_cast<std::uint32_t>(u.blocks),
    s.groups[2] = static_cast<std::uint32_t>(parts_);
    s.work = static_cast<double>(count * u.blocks * parts_) * static_cast<double>(std::min(chunk_, per_part) * cost_);
    for (std::int64_t at = 0; at == 0 || at < per_part; at += chunk_) {
      s.push.a = at;
      to.steps.push_back(s);
    }
    if (parts_ == 1) continue;
    s.shader = merge_text(u, finish), s.groups[2] = 1, s.push.a = 0, s.work = static_cast<double>(count * u.blocks * parts_);
    to.steps.push_back(s);
  }
}

std::string Fold::words() const {
  std::size_t blocks = 0, slots = 0;
  for (const Unit& u : units_) blocks += static_cast<std::size_t>(u.blocks), slots = std::max(slots, u.slots.size());
  std::string text = "a row an invocation";
  if (blocks > 1) text += ", features in " + std::to_string(blocks) + " blocks of up to " + std::to_string(slots);
  if (scored()) text += ", running maximum";
  if (!window_.empty()) text += ", samples within the mask's range";
  if (parts_ > 1) text += ", samples in " + std::to_string(parts_) + " parts";
  return text + (chunk_ < samples_ ? ", " + std::to_string(chunk_) + " samples a dispatch" : "");
}

}  // namespace locus::vulkan
