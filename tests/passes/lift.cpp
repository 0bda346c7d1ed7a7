// What no turn changes stands in front of the loop; what the loop itself names, or reads, stays.
#include "tests/passes/passes.hpp"

using namespace locus;

namespace {
const char* const declared = R"(t14 "turn" int []
t15 "state" real [4 "n"]
t16 "next" real [4 "n"]
t17 "fixed" real [4 "n"]
t18 "twice" real [4 "n"]
t19 "path" real [3 "turns", 4 "n"]
)";
std::string after(const std::string& body) { return test::after(passes::lift, std::string(test::points) + declared + body); }
}  // namespace

TEST_CASE("lift: what is fixed and what is read of it go, in order") {
  CHECK(after(R"(iterate t14 stop none limit 3
  carry t15 from t2 next t16
{
  t17 = map [c0] exp(t2[c0])
  t18 = map [c0] (t17[c0] * 2.0)
  t16 = map [c0] (t15[c0] + t18[c0])
}
output "state" t15
)") == R"(
t17 = map [c0] exp(t2[c0])
t18 = map [c0] (t17[c0] * 2.0)
iterate t14 stop none limit 3
  carry t15 from t2 next t16
{
  t16 = map [c0] (t15[c0] + t18[c0])
}
output "state" t15
)");
}

TEST_CASE("lift: next values and paths are the loop's own") {
  const std::string loop = R"(
iterate t14 stop none limit 3
  carry t15 from t2 next t16
  path t19 of t17
{
  t16 = map [c0] (t2[c0] + 1.0)
  t17 = map [c0] exp(t2[c0])
  t18 = map [c0] (t17[c0] * 2.0)
}
output "state" t15
output "path" t19
)";
  CHECK(after(loop.substr(1)) == loop);
}
