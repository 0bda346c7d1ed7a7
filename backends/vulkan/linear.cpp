// Products of matrices: an invocation holds a block of 4 x 4 sums in registers and walks the inner axis.
#include <algorithm>
#include "backends/vulkan/failure.hpp"
#include "backends/vulkan/steps.hpp"

namespace locus::vulkan {
namespace {

constexpr int block = 4;
constexpr std::int64_t tile = 256;  // terms that are summed in the output's precision before they are added in double
constexpr std::int64_t inner_at_once = 8192;

std::string n(std::int64_t v) { return std::to_string(v) + "l"; }

}  // namespace

// P.a, P.b: the part of the inner axis of this dispatch. Rows and columns beyond the last are computed as the last and not stored.
NodeSteps linear_steps(const Program& p, const locus_linear& l) {
  NodeSteps made;
  const std::int64_t batches = count_of(p, p.list(l.batch)), row_blocks = (l.rows + block - 1) / block, column_blocks = (l.columns + block - 1) / block;
  if (batches == 0 || l.rows == 0 || l.columns == 0) return made;
  const std::uint32_t dtype = p.tensors[l.out].dtype;
  const std::string type = type_of(dtype), i[] = {"0", "1", "2", "3"};
  Code code(p);
  const auto size = [&](Id t) { return static_cast<std::int64_t>(plugin::size_of_dtype(p.tensors[t].dtype)); };
  const auto place = [&](Id tensor, std::int64_t offset, locus_range strides) {  // of a batch; numbers, so that products of any sizes share a shader
    std::string at = code.base(tensor) + " + uint64_t(" + code.number(offset * size(tensor)) + ")";
    std::string rest = "batch";
    for (std::size_t k = p.list(l.batch).size(); k-- > 0;) {
      std::int64_t step = 0;
      for (const locus_stride& s : p.stride_list(strides))
        if (s.coordinate == p.list(l.batch)[k]) step = s.stride * size(tensor);
      const std::string extent = code.number(p.extent(p.list(l.batch)[k]));
      at += " + uint64_t((" + rest + " % " + extent + ") * " + code.number(step) + ")";
      rest = "(" + rest + " / " + extent + ")";
    }
    return at;
  };
  const std::string rows = code.number(l.rows), columns = code.number(l.columns), by_row = code.number(row_blocks), by_column = code.number(column_blocks);
  const std::string a_row = code.number(l.a_row * size(l.a)), a_inner = code.number(l.a_inner * size(l.a)), b_column = code.number(l.b_column * size(l.b)),
                    b_inner = code.number(l.b_inner * size(l.b));
  code.line(entry_head() + "int64_t at_column = k / " + by_row + ", row = (k - at_column * " + by_row + ") * 4l, batch = at_column / " + by_column +
            ", column = (at_column - batch * " + by_column + ") * 4l;");
  const std::string at_a = place(l.a, l.a_offset, l.a_batch), at_b = place(l.b, l.b_offset, l.b_batch);
  code.line("uint64_t a = " + at_a + ", b = " + at_b + ";");
  for (const std::string& k : i) {
    code.line("uint64_t a" + k + " = a + uint64_t(min(row + " + k + "l, " + rows + " - 1l) * " + a_row + "), b" + k + " = b + uint64_t(min(column + " + k + "l, " + columns +
              " - 1l) * " + b_column + ");");
    for (const std::string& c : i) code.line("double all" + k + c + " = 0.0lf;");
  }
  code.open("for (int64_t from = P.a; from < P.b; from += " + n(tile) + ")");
  for (const std::string& r : i) code.line(type + " s" + r + "0 = " + type + "(0), s" + r + "1 = " + type + "(0), s" + r + "2 = " + type + "(0), s" + r + "3 = " + type + "(0);");
  code.open("for (int64_t inner = from; inner < min(from + " + n(tile) + ", P.b); ++inner)");
  code.line("uint64_t at_a = uint64_t(inner * " + a_inner + "), at_b = uint64_t(inner * " + b_inner + ");");
  for (const std::string& k : i)
    code.line(type + " x" + k + " = " + type + "(" + load_of(p.tensors[l.a].dtype) + "(a" + k + " + at_a)), y" + k + " = " + type + "(" + load_of(p.tensors[l.b].dtype) + "(b" + k +
              " + at_b));");
  for (const std::string& r : i)
    for (const std::string& c : i) code.line("s" + r + c + " = fma(x" + r + ", y" + c + ", s" + r + c + ");");
  code.close();
  for (const std::string& r : i)
    for (const std::string& c : i) code.line("all" + r + c + " += double(s" + r + c + ");");
  code.close();
  code.line("uint64_t out_at = " + code.base(l.out) + ";");
  for (const std::string& r : i)
    for (const std::string& c : i) {
      code.open("if (row + " + r + "l < " + rows + " && column + " + c + "l < " + columns + ")");
      code.line("uint64_t to = out_at + uint64_t(((batch * " + rows + " + row + " + r + "l) * " + columns + " + column + " + c + "l) * " + n(size(l.out)) + ");");
      code.line(std::string(store_of(dtype)) + "(to, " + type + "((P.a > 0l ? double(" + load_of(dtype) + "(to)) : 0.0lf) + all" + r + c + "));");
      code.close();
    }
  const Shader text = code.finish();
  for (std::int64_t at = 0; at == 0 || at < l.inner; at += inner_at_once) {
    Push push;
    push.a = at, push.b = std::min(at + inner_at_once, l.inner);
    for_each(made, text, batches * row_blocks * column_blocks, static_cast<double>(16 * (push.b - push.a)), push);
  }
  made.words = "blocks of 4 x 4 in registers";
  return made;
}

}  // namespace locus::vulkan
