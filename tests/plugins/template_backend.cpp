// The template backend, driven by hand through the C table as an engine would drive it. Also a worked example of the table.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include "plugins/host/host_services.hpp"
#include "plugins/host/registry.hpp"

using namespace locus;

// A sanitizer's allocator would end the program where malloc gives NULL.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace {

const locus_backend* backend() {
  static Diagnostics diagnostics;
  static const Registry registry({{LOCUS_TEMPLATE_PLUGINS "/template_backend.so"}, std::nullopt, {}}, host_services().table(), diagnostics);
  REQUIRE(diagnostics.all().empty());
  REQUIRE(registry.backend("template") != nullptr);
  return registry.backend("template")->backend;
}

locus_tensor tensor(std::uint32_t dtype, std::uint32_t place, std::uint64_t where, std::vector<std::int64_t> dims, const void* data = nullptr) {
  locus_tensor t{};
  t.size = sizeof t;
  t.dtype = dtype;
  t.place = place;
  t.where = where;
  t.rank = static_cast<std::uint32_t>(dims.size());
  for (std::size_t k = 0; k < dims.size(); ++k) t.dims[k] = dims[k];
  t.data = data;
  t.name = "t";
  return t;
}

locus_expr expr(std::uint32_t op, std::vector<std::uint32_t> args = {}, double value = 0, std::uint32_t index = LOCUS_NONE) {
  locus_expr e{};
  e.op = static_cast<std::uint16_t>(op);
  e.type = op == LOCUS_COORDINATE ? LOCUS_TYPE_INTEGER : LOCUS_TYPE_REAL;
  e.arity = static_cast<std::uint32_t>(args.size());
  for (std::size_t k = 0; k < args.size(); ++k) e.args[k] = args[k];
  e.index = index;
  e.value = value;
  return e;
}

/// out[r, c] = exp(-x[c, r]) * scale[c] + r for x float32 [columns, rows], by way of a slab tensor that holds the exponential.
struct Example {
  std::int64_t rows, columns;
  std::vector<double> scale;
  std::vector<locus_tensor> tensors;
  std::vector<locus_coordinate> coordinates;
  std::vector<locus_stride> strides;
  std::vector<locus_expr> exprs;
  std::vector<std::uint32_t> lists{0, 1};
  std::vector<locus_map> maps;
  std::vector<locus_node> nodes{{LOCUS_MAP, 0}, {LOCUS_MAP, 1}};

  Example(std::int64_t r, std::int64_t c) : rows(r), columns(c) {
    for (std::int64_t k = 0; k < columns; ++k) scale.push_back(0.5 + static_cast<double>(k));
    tensors = {tensor(LOCUS_FLOAT32, LOCUS_PLACE_INPUT, 0, {columns, rows}), tensor(LOCUS_FLOAT64, LOCUS_PLACE_SLAB, 64, {rows, columns}),
               tensor(LOCUS_FLOAT64, LOCUS_PLACE_CONSTANT, 0, {columns}, scale.data()), tensor(LOCUS_FLOAT32, LOCUS_PLACE_OUTPUT, 1, {rows, columns})};
    coordinates = {{rows, "r"}, {columns, "c"}};
    strides = {{0, 0, 1}, {1, 0, rows}, {0, 0, columns}, {1, 0, 1}, {1, 0, 1}};
    exprs = {expr(LOCUS_READ, {}, 0, 0),       expr(LOCUS_neg, {0}),       expr(LOCUS_exp, {1}),      // exp(-x)
             expr(LOCUS_READ, {}, 0, 1),       expr(LOCUS_READ, {}, 0, 2), expr(LOCUS_mul, {3, 4}),   // slab * scale
             expr(LOCUS_COORDINATE, {}, 0, 0), expr(LOCUS_real, {6}),      expr(LOCUS_add, {5, 7})};  // + r
    exprs[0].first_stride = 0, exprs[0].stride_count = 2;
    exprs[3].first_stride = 2, exprs[3].stride_count = 2;
    exprs[4].first_stride = 4, exprs[4].stride_count = 1;
    maps = {{1, 2, {0, 2}}, {3, 8, {0, 2}}};
  }

  locus_program program() const {
    locus_program p{};
    p.size = sizeof p;
    p.real = LOCUS_FLOAT32;
    const auto give = [](auto& count, auto& pointer, const auto& list) {
      count = static_cast<std::uint32_t>(list.size());
      pointer = list.data();
    };
    give(p.tensor_count, p.tensors, tensors);
    give(p.coordinate_count, p.coordinates, coordinates);
    give(p.expr_count, p.exprs, exprs);
    give(p.stride_count, p.strides, strides);
    give(p.list_count, p.lists, lists);
    give(p.map_count, p.maps, maps);
    give(p.node_count, p.nodes, nodes);
    p.main_count = p.node_count;
    p.buffer_count = 2;
    p.slab_bytes = 64 + static_cast<std::uint64_t>(rows * columns) * 8;
    return p;
  }
};

struct Compiled {
  int status;
  locus_executable* executable = nullptr;
  std::string message;
  std::uint32_t node = 12345;
};

Compiled compile(const locus_program& program) {
  Compiled result{};
  char message[256] = "";
  result.status = backend()->compile(&program, &result.executable, message, sizeof message, &result.node);
  result.message = message;
  return result;
}

void check_run(std::int64_t rows, std::int64_t columns) {
  INFO(rows << " x " << columns);
  Compiled compiled;
  std::uint64_t slab_bytes = 0;
  {
    const Example example(rows, columns);  // gone before the run: compile has to copy
    const locus_program program = example.program();
    slab_bytes = program.slab_bytes;
    compiled = compile(program);
  }
  REQUIRE(compiled.status == LOCUS_OK);
  CHECK(compiled.node == LOCUS_NONE);
  const auto count = static_cast<std::size_t>(rows * columns);
  std::vector<float> x(count);
  for (std::size_t k = 0; k < count; ++k) x[k] = 0.01f * static_cast<float>(k % 300);
  constexpr float guard = -123.0f;
  std::vector<float> out(count + 1, guard);
  locus_buffer *in = nullptr, *result = nullptr, *slab = nullptr;
  REQUIRE(backend()->alloc(count * 4, &in) == LOCUS_OK);
  REQUIRE(backend()->alloc(count * 4 + 4, &result) == LOCUS_OK);
  REQUIRE(backend()->alloc(slab_bytes, &slab) == LOCUS_OK);
  CHECK(backend()->write(in, 0, x.data(), count * 4) == LOCUS_OK);
  CHECK(backend()->write(result, 0, out.data(), count * 4 + 4) == LOCUS_OK);
  CHECK(backend()->write(in, 1, x.data(), count * 4) == LOCUS_FAILED);  // beyond the end
  locus_buffer* buffers[] = {in, result};
  locus_report report{};
  report.size = sizeof report;
  CHECK(backend()->run(compiled.executable, buffers, slab, &report) == LOCUS_OK);
  CHECK(backend()->read(result, 0, out.data(), count * 4 + 4) == LOCUS_OK);
  CHECK(out[count] == guard);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const double expected =
          std::exp(-static_cast<double>(x[static_cast<std::size_t>(c * rows + r)])) * (0.5 + static_cast<double>(c)) + static_cast<double>(r);
      REQUIRE(out[static_cast<std::size_t>(r * columns + c)] == static_cast<float>(expected));
    }
  char text[128] = "";
  CHECK(backend()->describe(compiled.executable, 1, text, sizeof text) == LOCUS_OK);
  CHECK(std::string(text) == "entry by entry: " + std::to_string(count) + " entries, 6 steps each");
  for (locus_buffer* buffer : {in, result, slab}) backend()->free(buffer);
  backend()->release(compiled.executable);
}

}  // namespace

TEST_CASE("the template backend runs maps, whatever the size and the threads") {
  for (const unsigned threads : {1u, 3u}) {
    host_services().use_threads(threads);
    for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {3, 5}, {0, 4}, {1023, 1}, {64, 16}, {31, 101}})
      check_run(rows, columns);
  }
  host_services().use_threads(0);
  CHECK(host_services().take_failure().empty());
}

TEST_CASE("the template backend refuses what it cannot run and names the node") {
  const Example good(3, 4);
  Example example = good;
  example.nodes[1] = {LOCUS_REDUCE, 0};
  Compiled compiled = compile(example.program());
  CHECK(compiled.status == LOCUS_UNSUPPORTED);
  CHECK(compiled.executable == nullptr);
  CHECK(compiled.node == 1);
  CHECK(compiled.message == "only maps run here, this node has kind 3");

  example = good;
  example.exprs[2].op = LOCUS_tanh;
  compiled = compile(example.program());
  CHECK(compiled.status == LOCUS_UNSUPPORTED);
  CHECK(compiled.node == 0);
  CHECK(compiled.message == "the operation " + std::to_string(LOCUS_tanh) + " is not among those of this backend");

  example = good;
  example.tensors[3].dtype = LOCUS_INT64;
  compiled = compile(example.program());
  CHECK(compiled.status == LOCUS_UNSUPPORTED);
  CHECK(compiled.message == "the result is not a floating-point tensor");

  example = good;
  for (std::uint32_t k = 0; k < 300; ++k) example.exprs.push_back(expr(LOCUS_neg, {static_cast<std::uint32_t>(example.exprs.size() - 1)}));
  example.maps[1].value = static_cast<std::uint32_t>(example.exprs.size() - 1);
  compiled = compile(example.program());
  CHECK(compiled.status == LOCUS_UNSUPPORTED);
  CHECK(compiled.message == "the expression has 306 steps, at most 256 run here");

  locus_program old = good.program();
  old.size = 8;
  CHECK(compile(old).status == LOCUS_BAD_PROGRAM);
}

TEST_CASE("the template backend says when there is no memory") {
  locus_buffer* buffer = reinterpret_cast<locus_buffer*>(1);
  CHECK(backend()->alloc(std::numeric_limits<std::uint64_t>::max() / 4, &buffer) == LOCUS_OUT_OF_MEMORY);
  CHECK(buffer == nullptr);
}

TEST_CASE("the template backend runs anywhere and lets every other one go first") {
  char reason[64] = "";
  CHECK(backend()->score(reason, sizeof reason) == 1);
  locus_device device{};
  std::uint32_t count = 0;
  CHECK(backend()->devices(1, &device, &count) == LOCUS_OK);
  CHECK(count == 1);
  CHECK(std::string(device.name) == "this processor");
}
