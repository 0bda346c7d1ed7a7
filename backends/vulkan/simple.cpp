// Nodes without sums over samples: maps, gathers, products of matrices, copies.
#include <algorithm>
#include "backends/vulkan/failure.hpp"
#include "backends/vulkan/steps.hpp"

namespace locus::vulkan {

std::int64_t count_of(const Program& p, std::span<const Id> space) {
  std::int64_t n = 1;
  for (Id c : space) n *= p.extent(c);
  return n;
}

void require_short(std::int64_t n) {
  if (n > iteration_limit)
    throw Failure(LOCUS_UNSUPPORTED,
                  "an expression takes " + std::to_string(n) + " iterations for one entry or pair, more than one dispatch may run; sum over samples instead, or run with `--backend cpu`");
}

void for_each(NodeSteps& to, const Shader& shader, std::int64_t count, double iterations, Push push) {
  const auto short_enough = std::max<std::int64_t>(static_cast<std::int64_t>(dispatch_work / std::max(iterations, 1.0)), 1 << 14);
  const std::int64_t most = std::min<std::int64_t>(short_enough / group_size * group_size, std::int64_t{65535} * group_size);
  for (std::int64_t first = 0; first < count; first += most) {
    Step s;
    s.shader = shader, s.push = push;
    s.push.first += first, s.push.count = std::min(most, count - first);
    s.groups[0] = static_cast<std::uint32_t>((s.push.count + group_size - 1) / group_size);
    s.work = static_cast<double>(s.push.count) * (iterations + 1);
    to.steps.push_back(std::move(s));
  }
}

std::string entry_head() { return "if (int64_t(gl_GlobalInvocationID.x) >= P.count) return;\nint64_t k = P.first + int64_t(gl_GlobalInvocationID.x);\n"; }

namespace {

void check(Code& code) { code.line("if (trouble != 0u) report(trouble, k, trouble_value, 0l);"); }

std::string entry_of(Code& code, Id tensor, const Program& p) {
  return code.base(tensor) + " + uint64_t(k * " + std::to_string(plugin::size_of_dtype(p.tensors[tensor].dtype)) + "l)";
}

// Long sums of an entry, each through as many dispatches as it needs; `code` takes what they leave.
void carry_sums(const Program& p, const locus_map& m, Code& code, NodeSteps& made) {
  constexpr std::int64_t long_sum = 256;
  const std::int64_t count = count_of(p, p.list(m.space));
  for (const Id fold : code.outermost_folds(m.value)) {
    if (code.iterations(fold) < long_sum) continue;
    const std::string state = "P.scratch + " + std::to_string(made.scratch) + "ul + uint64_t(k) * 8ul";
    made.scratch += static_cast<std::uint64_t>(count) * 8;
    Code part(p);
    part.line(entry_head());
    part.decode("k", p.list(m.space), "int64_t");
    const std::int64_t turn = part.turn_iterations(fold), chunk = std::max<std::int64_t>(iteration_limit / turn, 1), extent = p.extent(p.exprs[fold].index);
    require_short(turn);
    part.carry(fold, state);
    check(part);
    const Shader text = part.finish();
    for (std::int64_t at = 0; at < extent; at += chunk) {
      Push push;
      push.a = at, push.b = std::min(at + chunk, extent);
      for_each(made, text, count, static_cast<double>((push.b - push.a) * turn), push);
    }
    code.take(fold, state);
  }
}

}  // namespace

NodeSteps map_steps(const Program& p, const locus_map& m) {
  NodeSteps made;
  Code code(p);
  code.line(entry_head());
  code.decode("k", p.list(m.space), "int64_t");
  const std::int64_t count = count_of(p, p.list(m.space)), whole = code.iterations(m.value);
  if (whole > iteration_limit) carry_sums(p, m, code, made);
  require_short(code.iterations(m.value));
  const std::uint32_t dtype = p.tensors[m.out].dtype;
  const std::string v = code.entry_value(m.value, dtype);
  code.line("uint64_t to = " + entry_of(code, m.out, p) + "; " + store_of(dtype) + "(to, " + v + ");");
  check(code);
  for_each(made, code.finish(), count, static_cast<double>(code.iterations(m.value)));
  made.words = std::string("an entry an invocation") + (whole > iteration_limit ? ", long sums carried from dispatch to dispatch" : "");
  return made;
}

NodeSteps gather_steps(const Program& p, const locus_gather& g) {
  NodeSteps made;
  Code code(p);
  code.line(entry_head());
  code.decode("k", p.list(g.space), "int64_t");
  const std::uint32_t dtype = p.tensors[g.out].dtype;
  code.line("uint64_t from = " + code.address(g.table, g.offset, p.stride_list(g.strides)) + "; bool inside = true;");
  const auto triples = p.list(g.indices);
  std::int64_t iterations = 1;
  for (std::size_t t = 0; t < triples.size(); t += 3) {
    iterations += code.iterations(triples[t]);
    require_short(iterations);
    const std::string index = code.value(triples[t]), extent = std::to_string(static_cast<std::int64_t>(p.numbers[triples[t + 1]])) + "l";
    check(code);
    code.line("if (less_i(" + index + ", 0l) || !less_i(" + index + ", " + extent + ")) { report(1u, k, " + index + ", " + extent + "); inside = false; }");
    code.line("from += uint64_t(" + index + " * " + std::to_string(static_cast<std::int64_t>(p.numbers[triples[t + 2]]) * static_cast<std::int64_t>(plugin::size_of_dtype(dtype))) +
              "l);");
  }
  code.line("uint64_t to = " + entry_of(code, g.out, p) + "; if (inside) " + store_of(dtype) + "(to, " + load_of(dtype) + "(from));");
  for_each(made, code.finish(), count_of(p, p.list(g.space)), static_cast<double>(iterations));
  made.words = "an entry an invocation";
  return made;
}

namespace {

NodeSteps moving(std::uint32_t dtype, std::int64_t n, Id target, Id source, const std::string& head, std::int64_t count, Push push) {
  NodeSteps made;
  const Program none;
  Code code(none);
  const std::string bytes = std::to_string(plugin::size_of_dtype(dtype)) + "l)";
  code.line(entry_head() + head);
  code.line("uint64_t to = " + code.base(target) + " + uint64_t((turn * " + std::to_string(n) + "l + at) * " + bytes + ", from = " + code.base(source) + " + uint64_t(at * " +
            bytes + ";");
  code.line(std::string(store_of(dtype)) + "(to, " + load_of(dtype) + "(from));");
  for_each(made, code.finish(), count, 1, push);
  return made;
}

}  // namespace

NodeSteps copy_steps(std::uint32_t dtype, std::int64_t n, Id target, Id source) { return moving(dtype, n, target, source, "int64_t turn = 0l, at = k;", n, {}); }

NodeSteps record_steps(std::uint32_t dtype, std::int64_t n, Id target, Id source, std::int64_t shift) {
  Push push;
  push.a = shift;
  return moving(dtype, n, target, source, "int64_t turn = AsInt(P.control + 8ul).v + P.a, at = k;", n, push);
}

NodeSteps repeat_steps(std::uint32_t dtype, std::int64_t n, Id target, Id source, std::int64_t shift, std::int64_t limit, std::uint64_t control) {
  Push push;
  push.a = shift, push.b = static_cast<std::int64_t>(control);  // not as the loop's own control: that says that it has stopped
  const std::string each = std::to_string(std::max<std::int64_t>(n, 1)) + "l";
  return moving(dtype, n, target, source,
                "int64_t turn = k / " + each + ", at = k - turn * " + each + ", run = AsInt(uint64_t(P.b) + 8ul).v; if (run == 0l || turn < run) return; turn += P.a;", n * limit,
                push);
}

}  // namespace locus::vulkan
