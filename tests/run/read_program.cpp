// The reader of the C table refuses each kind of broken program, and names the node.
#include <functional>
#include "core/run/export.hpp"
#include "plugins/abi/locus_plugin.hpp"
#include "tests/graph/texts.hpp"

using namespace locus;

namespace {

const char* const body = R"(c0 "n" 4
c1 "m" 5
c2 "d" 3
c3 "twin" 3
t0 "x" real [4 "n", 3 "d"]
t1 "y" real [5 "m", 3 "d"]
t2 "mean" real [4 "n"]
t3 "cov" real [4 "n", 3 "d", 3 "d"]
t4 "near" int [4 "n", 2 "k"]
t5 "dots" real [4 "n", 5 "m"]
t6 "rows" real [4 "n", 3 "d"]
t7 "turn" int []
t8 "state" real [4 "n"]
t9 "next" real [4 "n"]
t10 "path" real [3 "turns", 4 "n"]
t11 "sorted" real [4 "n", 3 "d"]
t0 = input "x"
t1 = input "y"
t5 = linear [] row c0 inner c2 column c1 t0[c0*3 + c2] t1[c1*3 + c2]
reduce [c0] among c1 factor 1.0 score neg(sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2])) where (c0 < c1)
  t2 = mean of t1[c1*3]
  t3 = cov [c2] twin c3 of t1[c1*3 + c2]
  t4 = nearest of abs((t0[c0*3] - t1[c1*3])) by 2 width 2
t6 = gather [c0, c2] t1[c2] at t4[c0*2] below 5 step 3
[t11] = array sort [t0] ()
iterate t7 stop none limit 2
  carry t8 from t2 next t9
  path t10 of t8
{
  t9 = map [c0] (t8[c0] * 0.5)
}
output "path" t10
output "rows" t6
)";

struct Exported {
  graph::Graph g = test::graph_of(body);
  std::unique_ptr<ExportedProgram> program;
  Exported() {
    // Every tensor has a place of its own.
    passes::Plan plan;
    for (std::size_t t = 0; t < g.tensors.size(); ++t) plan.offset.push_back(t * 1024);
    plan.slab_bytes = 1024 * g.tensors.size();
    program = export_program(g, plan, Dtype::float32);
  }
  std::string refusal(std::uint32_t* node = nullptr) {
    plugin::Refusal r;
    const bool taken = plugin::read_program(&program->table, &r) != nullptr;
    CHECK(taken == r.text.empty());
    if (node) *node = r.node;
    return r.text;
  }
};

}  // namespace

TEST_CASE("a sound program is taken, and what it points to is copied") {
  Exported e;
  plugin::Refusal refusal;
  const auto program = plugin::read_program(&e.program->table, &refusal);
  CHECK(refusal.text == "");
  REQUIRE(program);
  const std::string name = e.program->tensors[0].name;
  e = Exported();
  CHECK(program->tensors[0].name == name);
  CHECK(program->nodes.size() == 6);
  CHECK(program->main_count == 5);
  CHECK(program->iterates[0].first_node == 5);
  CHECK(std::count_if(program->twin.begin(), program->twin.end(), [](std::uint32_t c) { return c != LOCUS_NONE; }) == 1);
}

TEST_CASE("each kind of broken program is refused") {
  using P = ExportedProgram;
  const auto any_read = [](P& p) -> locus_expr& {
    return *std::find_if(p.exprs.begin(), p.exprs.end(), [](const locus_expr& x) { return x.op == LOCUS_READ; });
  };
  const auto any = [](P& p, locus_op op) -> locus_expr& {
    return *std::find_if(p.exprs.begin(), p.exprs.end(), [op](const locus_expr& x) { return x.op == op; });
  };
  struct Case {
    const char* expected;
    std::function<void(P&)> spoil;
    std::uint32_t node = LOCUS_NONE;
  };
  const Case cases[] = {
      {"smaller than this backend needs", [](P& p) { p.table.size = 40; }},
      {"neither float32 nor float64", [](P& p) { p.table.real = LOCUS_INT64; }},
      {"a count without an array", [](P& p) { p.table.exprs = nullptr; }},
      {"tensor 0: smaller", [](P& p) { p.tensors[0].size = 8; }},
      {"tensor 1: has another size", [](P& p) { p.tensors[1].size += 8; }},
      {"unknown dtype", [](P& p) { p.tensors[1].dtype = 9; }},
      {"too many dims", [](P& p) { p.tensors[1].rank = 13; }},
      {"a dim out of range", [](P& p) { p.tensors[1].dims[0] = -1; }},
      {"too many entries", [](P& p) { p.tensors[1].dims[0] = p.tensors[1].dims[1] = std::int64_t{1} << 40; }},
      {"no such buffer", [](P& p) { p.tensors[0].where = 99; }},
      {"another tensor's too", [](P& p) { p.tensors[1].where = p.tensors[0].where; }},
      {"multiple of 64", [](P& p) { p.tensors.back().where += 8; }},
      {"beyond the slab", [](P& p) { p.table.slab_bytes = 64; }},
      {"a constant without data", [](P& p) { p.tensors[0].place = LOCUS_PLACE_CONSTANT; }},
      {"extent out of range", [](P& p) { p.coordinates[0].extent = -4; }},
      {"unknown op", [](P& p) { p.exprs[0].op = 20; }},
      {"unknown type", [](P& p) { p.exprs[0].type = 7; }},
      {"wrong number of arguments", [&](P& p) { any(p, LOCUS_neg).arity = 2; }},
      {"does not stand before it", [&](P& p) { any(p, LOCUS_neg).args[0] = 1000; }},
      {"reads outside its tensor", [&](P& p) { any_read(p).offset = 100; }},
      {"strides out of range", [&](P& p) { any_read(p).first_stride = 1000; }},
      {"its type is not the tensor's", [&](P& p) { any_read(p).type = LOCUS_TYPE_INTEGER; }},
      {"no such coordinate", [&](P& p) { any(p, LOCUS_SQDIST).index = 77; }},
      {"gives a bool", [&](P& p) { any(p, LOCUS_lt).type = LOCUS_TYPE_INTEGER; }},
      {"no such tensors", [](P& p) { p.linears[0].a = 77; }, 0},
      {"reads outside its operands", [](P& p) { p.linears[0].b_column = 4; }, 0},
      {"another number of entries", [](P& p) { p.linears[0].rows = 3; }, 0},
      {"its weight is no real expression", [](P& p) { p.reduces[0].score = p.reduces[0].where; }, 1},
      {"no condition", [](P& p) { p.reduces[0].where = p.reduces[0].score; }, 1},
      {"no coordinate of its own", [](P& p) { p.reduces[0].sample = 0; }, 1},
      {"no tensor of ints", [](P& p) { p.reduces[0].list = 0; }, 1},
      {"unknown estimator", [](P& p) { p.estimates[0].estimator = 40; }, 1},
      {"cannot be written", [](P& p) { p.estimates[0].out = 0; }, 1},
      {"no real expression over rows, sample", [](P& p) { p.estimates[0].value = LOCUS_NONE; }, 1},
      {"cov needs its value over the twin", [](P& p) { p.estimates[1].second = LOCUS_NONE; }, 1},
      {"one twin", [](P& p) { p.estimates[1].second = p.estimates[1].value; }, 1},
      {"an int parameter over rows", [](P& p) { p.estimates[2].parameter = LOCUS_NONE; }, 1},
      {"estimates out of range", [](P& p) { p.reduces[0].estimate_count = 50; }, 1},
      {"reads outside its table", [](P& p) { p.numbers[0] = 6; }, 2},
      {"no whole number", [](P& p) { p.numbers[0] = 2.5; }, 2},
      {"unknown function", [](P& p) { p.arrays[0].function = 77; }, 3},
      {"its body is out of range", [](P& p) { p.iterates[0].node_count = 50; }, 4},
      {"does not lie behind it", [](P& p) { p.iterates[0].first_node = 4; }, 4},
      {"its limit is out of range", [](P& p) { p.iterates[0].limit = -1; }, 4},
      {"one entry for each turn", [](P& p) { p.iterates[0].limit = 7; }, 4},
      {"its turn is no int", [](P& p) { p.iterates[0].turn = p.maps[0].out; }, 4},
      {"stop is no bool", [](P& p) { p.iterates[0].stop = 0; }, 4},
      {"stands in no loop", [](P& p) { p.iterates[0].node_count = 0; }, 5},
      {"its output has other dims", [](P& p) { p.maps[0].out = p.linears[0].out; }, 5},
      {"no expression over its space", [](P& p) { p.maps[0].value = p.reduces[0].score; }, 5},
      {"unknown kind of node", [](P& p) { p.nodes[0].kind = 9; }, 0},
      {"its detail is out of range", [](P& p) { p.nodes[0].detail = 9; }, 0},
      {"longer than the list", [](P& p) { p.table.main_count = 9; }},
  };
  for (const Case& c : cases) {
    Exported e;
    c.spoil(*e.program);
    INFO(c.expected);
    std::uint32_t node = 0;
    CHECK_THAT(e.refusal(&node), Catch::Contains(c.expected));
    CHECK(node == c.node);
  }
}
