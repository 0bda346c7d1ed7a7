// Dead nodes, estimates, carries and paths go; what a result needs stays.
#include "tests/passes/passes.hpp"

using namespace locus;

namespace {
std::string after(const std::string& body) { return test::after(passes::remove_dead, test::points + body); }
}  // namespace

TEST_CASE("remove_dead: nodes and estimates that no result needs") {
  CHECK(after(R"(t8 = map [c0] (t2[c0] + 1.0)
t9 = map [c0] (t8[c0] + 1.0)
t10 = map [c0] (t2[c0] * 2.0)
reduce [c0] among c1
  t11 = mean [c2] of t1[c1*3 + c2]
  t12 = gram
output "c" t10
)") == R"(
t10 = map [c0] (t2[c0] * 2.0)
output "c" t10
)");
}

TEST_CASE("remove_dead: a loop keeps the carries that its results, its stop and its live carries need") {
  CHECK(after(R"(t14 "turn" int []
t15 "state" real [4 "n"]
t16 "next" real [4 "n"]
t17 "other" real [5 "m"]
t18 "other next" real [5 "m"]
t19 "path" real [3 "turns", 4 "n"]
t20 "stop" bool []
iterate t14 stop t20 limit 3
  carry t15 from t2 next t16
  carry t17 from t3 next t18
  path t19 of t9
{
  t18 = map [c1] (t17[c1] * 2.0)
  t9 = map [c0] (t15[c0] * 2.0)
  t20 = map [] (t15[1] < 1.0)
  t16 = map [c0] (t15[c0] + 1.0)
}
output "state" t15
)") == R"(
iterate t14 stop t20 limit 3
  carry t15 from t2 next t16
{
  t20 = map [] (t15[1] < 1.0)
  t16 = map [c0] (t15[c0] + 1.0)
}
output "state" t15
)");
}
