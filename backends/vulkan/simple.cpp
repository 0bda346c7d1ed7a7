// Nodes without sums over samples: maps, gathers, products of matrices, copies.
#include <algorithm>
#include "backends/vulkan/steps.hpp"

namespace locus::vulkan {

void for_each(NodeSteps& to, const std::string& glsl, std::int64_t count, Push push, std::int64_t at_once) {
  const std::int64_t most = std::min<std::int64_t>(at_once, std::int64_t{65535} * group_size);
  for (std::int64_t first = 0; first < count; first += most) {
    Step s;
    s.glsl = glsl;
    s.push = push;
    s.push.first += first, s.push.count = std::min(most, count - first);
    s.groups[0] = static_cast<std::uint32_t>((s.push.count + group_size - 1) / group_size);
    to.steps.push_back(std::move(s));
  }
}

std::string entry_head() {
  return "  if (int64_t(gl_GlobalInvocationID.x) >= P.count) return;\n  int64_t k = P.first + int64_t(gl_GlobalInvocationID.x);\n";
}

namespace {

std::int64_t count_of(const Program& p, std::span<const Id> space) {
  std::int64_t n = 1;
  for (Id c : space) n *= p.extent(c);
  return n;
}

const char* const division_check = "if (divided_by_zero) { fault(5u, uint(k), divided, 0l); }";

void within_limit(const Code& code, Id e) {
  if (code.iterations(e) > iteration_limit * 16)
    throw Failure(LOCUS_UNSUPPORTED, "a sum inside an expression has more terms than one dispatch may take (" + std::to_string(code.iterations(e)) + "); take it over samples, with `at … among …`, instead");
}

}  // namespace

NodeSteps map_steps(const Program& p, const locus_map& m) {
  NodeSteps made;
  Code code(p);
  within_limit(code, m.value);
  code.decode("k", p.list(m.space));
  const std::string v = code.value_for(m.value, m.out);
  code.line(store_text(p, m.out) + "(" + code.tensor(m.out) + ", k, " + v + ");");
  code.line(division_check);
  const std::string body = code.take();
  for_each(made, shader(p, group_size, code.functions(), entry_head() + code.addresses() + body), count_of(p, p.list(m.space)));
  return made;
}

NodeSteps gather_steps(const Program& p, const locus_gather& g) {
  NodeSteps made;
  Code code(p);
  code.decode("k", p.list(g.space));
  code.line("int64_t at = " + code.place(g.offset, p.stride_list(g.strides)) + "; bool inside = true;");
  const auto triples = p.list(g.indices);
  for (std::size_t t = 0; t < triples.size(); t += 3) {
    within_limit(code, triples[t]);
    const std::string index = code.value(triples[t]), extent = std::to_string(static_cast<std::int64_t>(p.numbers[triples[t + 1]])) + "l";
    code.line("if (" + index + " < 0l || " + index + " >= " + extent + ") { if (inside) fault(1u, uint(k), " + index + ", " + extent + "); inside = false; }");
    code.line("at += " + index + " * (" + std::to_string(static_cast<std::int64_t>(p.numbers[triples[t + 2]])) + "l);");
  }
  code.line(division_check);
  code.line("if (inside) " + store_text(p, g.out) + "(" + code.tensor(g.out) + ", k, " + load_text(p, g.table) + "(" + code.tensor(g.table) + ", at));");
  const std::string body = code.take();
  for_each(made, shader(p, group_size, code.functions(), entry_head() + code.addresses() + body), count_of(p, p.list(g.space)));
  return made;
}

// Tiles of 16 x 16 through shared memory; each of 128 invocations holds two sums.
NodeSteps linear_steps(const Program& p, const locus_linear& l) {
  NodeSteps made;
  Code code(p);
  const std::string type = p.tensors[l.out].dtype == LOCUS_FLOAT64 ? "double" : "float";
  code.line("int tid = int(gl_LocalInvocationIndex); int64_t batch = P.first + int64_t(gl_WorkGroupID.z);");
  code.decode("batch", p.list(l.batch));
  code.line("int64_t a0 = " + code.place(l.a_offset, p.stride_list(l.a_batch)) + ", b0 = " + code.place(l.b_offset, p.stride_list(l.b_batch)) + ";");
  const auto n = [](std::int64_t v) { return "(" + std::to_string(v) + "l)"; };
  const auto load = [&](Id t, const std::string& at) { return type + "(" + load_text(p, t) + "(" + code.tensor(t) + ", " + at + "))"; };
  code.line("int64_t row0 = int64_t(gl_WorkGroupID.x) * 16l, col0 = int64_t(gl_WorkGroupID.y) * 16l; int lr = tid / 16, lc = tid - lr * 16;");
  code.line(type + " s0 = " + type + "(0), s1 = " + type + "(0);");
  code.line("for (int64_t k0 = P.a; k0 < P.b; k0 += 16l) {");
  code.line("for (int q = tid; q < 256; q += 128) { int r = q / 16, c = q - r * 16; int64_t row = row0 + int64_t(r), k = k0 + int64_t(c);");
  code.line("as[q] = row < " + n(l.rows) + " && k < P.b ? " + load(l.a, "a0 + row * " + n(l.a_row) + " + k * " + n(l.a_inner)) + " : " + type + "(0);");
  code.line("int64_t kb = k0 + int64_t(r), col = col0 + int64_t(c);");
  code.line("bs[q] = kb < P.b && col < " + n(l.columns) + " ? " + load(l.b, "b0 + kb * " + n(l.b_inner) + " + col * " + n(l.b_column)) + " : " + type + "(0); }");
  code.line("barrier();");
  code.line("[[unroll]] for (int k = 0; k < 16; ++k) { " + type + " b = bs[k * 16 + lc]; s0 = fma(as[lr * 16 + k], b, s0); s1 = fma(as[(lr + 8) * 16 + k], b, s1); }");
  code.line("barrier(); }");
  code.line("int64_t col = col0 + int64_t(lc);");
  for (int half = 0; half < 2; ++half) {
    const std::string s = half ? "s1" : "s0", row = half ? "(row0 + int64_t(lr) + 8l)" : "(row0 + int64_t(lr))", at = "(batch * " + n(l.rows) + " + " + row + ") * " + n(l.columns) + " + col";
    code.line("if (" + row + " < " + n(l.rows) + " && col < " + n(l.columns) + ") " + store_text(p, l.out) + "(" + code.tensor(l.out) + ", " + at + ", " + s + " + (P.a > 0l ? " + load_text(p, l.out) + "(" +
              code.tensor(l.out) + ", " + at + ") : " + type + "(0)));");
  }
  const std::string body = code.take();
  const std::string text = shader(p, 128, "shared " + type + " as[256], bs[256];\n", code.addresses() + body);
  const std::int64_t batches = count_of(p, p.list(l.batch));
  const std::int64_t row_groups = (l.rows + 15) / 16, column_groups = (l.columns + 15) / 16;
  if (batches == 0 || row_groups == 0 || column_groups == 0) return made;
  if (row_groups > INT32_MAX || column_groups > 65535) throw Failure(LOCUS_UNSUPPORTED, "a matrix of more than a million columns");
  constexpr std::int64_t inner_at_once = 8192;  // 16 a turn, and shared loads beside
  for (std::int64_t b = 0; b < batches; b += 65535)
    for (std::int64_t k = 0; k == 0 || k < l.inner; k += inner_at_once) {
      Step s;
      s.glsl = text;
      s.groups[0] = static_cast<std::uint32_t>(row_groups), s.groups[1] = static_cast<std::uint32_t>(column_groups), s.groups[2] = static_cast<std::uint32_t>(std::min<std::int64_t>(65535, batches - b));
      s.push.first = b, s.push.a = k, s.push.b = std::min(k + inner_at_once, l.inner);
      made.steps.push_back(std::move(s));
    }
  made.words = "tiles of 16 x 16";
  return made;
}

NodeSteps copy_steps(std::uint32_t dtype, std::int64_t n, std::uint32_t target, std::uint32_t source, Push push) {
  NodeSteps made;
  const char* kind = dtype == LOCUS_BOOL ? "bool" : dtype == LOCUS_INT64 ? "int" : dtype == LOCUS_FLOAT32 ? "float" : "double";
  const auto address = [](std::uint32_t t) { return "AsAddress(P.table + " + std::to_string(8 * std::uint64_t{t}) + "ul).v"; };
  std::string body = entry_head() + "  int64_t turn = P.b == 0l ? 0l : P.b == 1l ? AsInt(P.control + 8ul).v + P.a : P.c;\n";
  body += std::string("  store_") + kind + "(" + address(target) + ", turn * " + std::to_string(n) + "l + k, load_" + kind + "(" + address(source) + ", k));\n";
  Program none;
  for_each(made, shader(none, group_size, "", body), n, push);
  return made;
}

}  // namespace locus::vulkan
