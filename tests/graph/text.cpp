// The text form: what is printed is read back to the same text; what cannot be read is refused with its line.
#include <cmath>
#include <limits>
#include "tests/graph/texts.hpp"

using namespace locus;
using namespace locus::graph;

namespace {
void round_trip(const Graph& g) {
  const std::string once = print(g);
  std::string error;
  const Graph back = parse_text(once, &error);
  INFO(once);
  REQUIRE(error == "");
  CHECK(print(back) == once);
  CHECK(verify(back).empty());
  CHECK(verify(g).empty());
}
}  // namespace

TEST_CASE("every kind of node goes to text and back") {
  round_trip(test::graph_of(R"(c0 "n" 4
c1 "m" 5
c2 "d \"quoted\" \\ \x0a" 3
c3 "twin" 3
t0 "x" real [4 "n", 3 "d"]
t1 "y" real [5 "m", 3 "d"]
t2 "" real [4 "n"]
t3 "cov" real [4 "n", 3 "d", 3 "d"]
t4 "near" int [4 "n", 2 "k"]
t5 "state" real [4 "n"]
t6 "turn" int []
t7 "path" real [3 "turns", 4 "n"]
t8 "gathered" real [4 "n", 3 "d"]
t9 "k" int [3 "k"]
t10 "s" real [4 "n"]
t11 "l" real [4 "n", 5 "m"]
t12 "stop" bool []
t13 "b" bool [2 "k"]
t0 = input "x"  # "x" 1:4-9
t1 = input "y"
t9 = constant "k" int64 (1, -9007199254740993, 3)
t13 = constant "" bool (0, 1)
t11 = linear [] row c0 inner c2 column c1 t0[c0*3 + c2] t1[c1*3 + c2]
reduce [c0] among c1 weight exp(neg((sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2]) / 2.0))) where (c1 != c0) count_empty  # "fitted" 2:10-44
  t2 = mean of t1[c1*3]
  t3 = cov [c2] twin c3 of t1[c1*3 + c2]
  t4 = nearest of maxdist(none; t0[c0*3], t1[c1*3]) by 2 width 2 need_all
t8 = gather [c0, c2] t1[c2] at (c0 % 5) below 5 step 3 at 0 below 1 step -1
iterate t6 stop t12 limit 2
  carry t5 from t2 next t10
  path t7 of t5
{
  t10 = map [c0] select((t6[] < 1), (t5[c0] * 0.5), max_over(c2; (t0[c0*3 + c2] ^ 2.0r)))
  t12 = map [] (true or not(false))
}
output "path" t7
output "near" t4
)"));
}

TEST_CASE("numbers keep every digit") {
  Graph g;
  const CoordId n = g.add_coordinate("n", 1);
  const double values[] = {0.1, -0.0, 1e22, 5e-324, 1e308, 3, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), std::nan("")};
  for (Type type : {Type::exact, Type::real})
    for (double v : values) {
      const TensorId t = g.add_tensor({"t", type, {1}, {"n"}});
      g.nodes.push_back({{}, "", Map{t, {n}, g.exprs.constant(v, type)}});
    }
  const TensorId whole = g.add_tensor({"i", Type::integer, {1}, {"n"}});
  g.nodes.push_back({{}, "", Map{whole, {n}, g.exprs.constant(-4611686018427387904.0, Type::integer)}});
  round_trip(g);
}

TEST_CASE("shared and deep expressions stay small") {
  Graph g;
  const CoordId n = g.add_coordinate("n", 1);
  const TensorId x = g.add_tensor({"x", Type::real, {1}, {"n"}}), y = g.add_tensor({"y", Type::real, {1}, {"n"}}),
                 z = g.add_tensor({"z", Type::real, {1}, {"n"}});
  g.nodes.push_back({{}, "", Input{x, "x", false, {}}});
  ExprId doubled = g.read(x, {n}), deep = doubled;
  for (int k = 0; k < 100; ++k) doubled = g.exprs.apply(LOCUS_add, doubled, doubled);
  for (int k = 0; k < 5000; ++k) deep = g.exprs.apply(LOCUS_sin, deep);
  g.nodes.push_back({{}, "", Map{y, {n}, doubled}});
  g.nodes.push_back({{}, "", Map{z, {n}, deep}});
  CHECK(print(g).size() < 60000);
  round_trip(g);
}

TEST_CASE("what cannot be read is refused with its line") {
  const std::pair<const char*, const char*> cases[] = {
      {"graph", "line 1: expected 'locus graph 1'"},
      {"locus graph 1\nc1 \"n\" 3", "line 2: coordinates are numbered from 0"},
      {"locus graph 1\nt0 \"x\" float []", "line 2: expected a type"},
      {"locus graph 1\nt0 = input \"x\"", "line 2: no t0"},
      {"locus graph 1\nt0 \"x\" real []\nt0 = map [] frob(1)", "line 3: no such operation: 'frob'"},
      {"locus graph 1\nt0 \"x\" real []\nt0 = map [] (1 ? 2)", "line 3: expected an operation"},
      {"locus graph 1\nt0 \"x\" real [2 \"n\"]\nt0 = constant \"\" float64 (1)", "line 3: another number of entries"},
      {"locus graph 1\nt0 \"x\" real [2 \"n\"]\nt0 = constant \"\" float64 checksum 12", "more than 16 entries cannot be read back"},
      {"locus graph 1\nk0 \"wendland\" (1)", "line 2: a plugin's kernel cannot be read back"},
      {"locus graph 1\nc0 \"n", "line 2: expected '\"'"},
  };
  for (const auto& [text, expected] : cases) {
    std::string error;
    parse_text(text, &error);
    CHECK_THAT(error, Catch::Contains(expected));
  }
  std::string deep = "locus graph 1\nt0 \"x\" real []\nt0 = map [] ";
  for (int k = 0; k < 100000; ++k) deep += "neg(";
  std::string error;
  parse_text(deep, &error);
  CHECK_THAT(error, Catch::Contains("nests too deep"));
}
