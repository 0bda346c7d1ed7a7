// Each kind of fault in a graph is found, and named.
#include "tests/graph/texts.hpp"

using namespace locus;

namespace {
const char* const head = R"(c0 "n" 4
c1 "m" 5
c2 "d" 3
c3 "d" 3
t0 "x" real [4 "n", 3 "d"]
t1 "y" real [5 "m", 3 "d"]
t2 "out" real [4 "n"]
t3 "label" int [4 "n"]
t4 "seen" bool [5 "m"]
t5 "far" real [4 "n", 3 "d"]
t6 "turn" int []
t7 "path" real [4 "turns", 4 "n", 3 "d"]
t8 "list" int [4 "n", 2 "near"]
t0 = input "x"
t1 = input "y"
)";

std::string fault_of(const std::string& body) {
  const auto faults = graph::verify(test::graph_of(head + body));
  return faults.empty() ? "" : faults[0];
}
}  // namespace

TEST_CASE("a sound graph has no fault") {
  CHECK(fault_of(R"(reduce [c0] among c1 weight exp(neg((sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2]) / 2.0)))
  t2 = mean of t1[c1*3]
  t8 = nearest of dot(c2; t0[c0*3 + c2], t1[c1*3 + c2]) by 2 width 2
output "out" t2
)") == "");
  CHECK(fault_of(R"(iterate t6 stop none limit 3
  carry t5 from t0 next t0
  path t7 of t5
{
t2 = map [c0] (t5[c0*3] + real(t6[]))
}
output "path" t7
)") == "");
}

TEST_CASE("each kind of fault is found") {
  const std::pair<const char*, const char*> cases[] = {
      {"t2 = map [c0] t0[c0*3 + 3]", "reads outside t0"},
      {"t2 = map [c0] t0[c0*3 + c2]", "which is not its own"},
      {"t2 = map [c1] t1[c1*3]", "has shape [4]"},
      {"t2 = map [c0] t5[c0*3]", "before it is written"},
      {"t2 = map [c0] t0[c0*3]\nt2 = map [c0] t0[c0*3]", "written twice"},
      {"t2 = map [c0] c0", "has type real"},
      {"t3 = map [c0] t0[c0*3]", "has type int"},
      {"t2 = map [c0] (t0[c0*3] + c0)", "mixes types"},
      {"t2 = map [c0] exp(c0)", "exp of int"},
      {"t2 = map [c0] (true and t0[c0*3])", "mixes types"},
      {"t5 = map [c0, c0] t0[]", "a coordinate twice"},
      {"t0 = input \"again\"", "written twice"},
      {"t3 = constant \"k\" float64 (1, 2, 3, 4)", "a constant of float64 for type int"},
      {"reduce [c0] among c0 weight t0[c0*3]", "a coordinate twice"},
      {"reduce [c0] among c1 weight (t0[c0*3] < t1[c1*3])", "weight has type bool"},
      {"reduce [c0] among c1 weight 1.0 factor 1.0", "beside its own split"},
      {"reduce [c0] among c1 where t1[c1*3]", "where has type real"},
      {"reduce [c0] among c1\n  t2 = mean of t1[c1*3 + c2]", "which is not its own"},
      {"reduce [c0] among c1\n  t5 = mean of t1[c1*3]", "has shape [4, 3]"},
      {"reduce [c0] among c1\n  t5 = cov of t1[c1*3]", "cov has shape"},
      {"reduce [c0] among c1\n  t5 = cov [c2] twin c2 of t1[c1*3 + c2]", "a coordinate twice"},
      {"reduce [c0] among c1\n  t2 = quantile of t1[c1*3]", "parameter is no expression"},
      {"reduce [c0] among c1\n  t8 = nearest of t1[c1*3] by 2 width 3", "has shape [4, 2]"},
      {"reduce [c0] among c1\n  t2 = count", "has type real"},
      {"t5 = gather [c0, c2] t1[c2] at c0 below 6 step 3", "reads outside t1"},
      {"t5 = gather [c0, c2] t1[c2] at t0[c0*3] below 5 step 3", "index has type real"},
      {"t2 = linear [] row c0 inner c2 column none t0[c0*3 + c2] t1[c2*8]", "reads outside t1"},
      {"t2 = linear [] row c1 inner c2 column none t1[c1*3 + c2] t0[c2]", "has shape [4]"},
      {"iterate t6 stop none limit 3\n  carry t2 from t0 next t0\n{\n}", "another type or shape"},
      {"iterate t6 stop t0 limit 3\n{\n}", "stop is no condition"},
      {"iterate t6 stop none limit 5\n  carry t5 from t0 next t0\n  path t7 of t5\n{\n}", "path has shape"},
      {"iterate t6 stop none limit 5\n{\nt2 = map [c0] t0[c0*3]\n}\noutput \"o\" t2", "lives inside a loop"},
      {"output \"o\" t2", "before it is written"},
      {"[t2] = array sort [t5] ()", "before it is written"},
  };
  for (const auto& [body, expected] : cases) {
    INFO(body);
    CHECK_THAT(fault_of(body), Catch::Contains(expected));
  }
}

TEST_CASE("tables out of range are found") {
  graph::Graph g;
  g.tensors.push_back({"a", graph::Type::real, {2, 2}, {"n"}});
  g.coordinates.push_back({"n", -1});
  g.kernels.push_back({});
  const auto faults = graph::verify(g);
  REQUIRE(faults.size() == 3);
  CHECK_THAT(faults[0], Catch::Contains("axis names"));
  CHECK_THAT(faults[1], Catch::Contains("extent out of range"));
  CHECK_THAT(faults[2], Catch::Contains("kernel 0"));
}
