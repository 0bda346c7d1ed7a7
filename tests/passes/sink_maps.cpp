// Maps sink where each entry is read once, leaves everywhere; nothing sinks where it would be computed again.
#include "tests/passes/passes.hpp"

using namespace locus;

namespace {
std::string after(const std::string& body) { return test::after(passes::sink_maps, test::points + body); }
}  // namespace

TEST_CASE("sink_maps: elementwise maps sink into their consumer, not into a sum that repeats them") {
  CHECK(after(R"(t8 = map [c0] (t2[c0] + 1.0)
t9 = map [c0] (t8[c0] * t8[c0])
t10 = map [c0] exp(t9[c0])
t12 = map [c0, c1] (t10[c0] + t4[c0*5 + c1])
t13 = map [c1] (sum_over(c0; t12[c0*5 + c1]) / 2.0)
output "f" t13
)") == R"(
e0 = (t2[c0] + 1.0)
t10 = map [c0] exp((e0 * e0))
t13 = map [c1] (sum_over(c0; (t10[c0] + t4[c0*5 + c1])) / 2.0)
output "f" t13
)");
}

TEST_CASE("sink_maps: constants, indices and copies are read through") {
  CHECK(after(R"(t8 = map [c0] 1.0
t9 = map [c0] real(c0)
t13 = map [c1] t3[c1]
reduce [c0] among c1 weight (t8[c0] * t13[c1])
  t10 = mean of t9[c0]
output "c" t10
)") == R"(
e0 = real(c0)
t8 = map [c0] 1.0
t9 = map [c0] e0
t13 = map [c1] t3[c1]
reduce [c0] among c1 weight t3[c1]
  t10 = mean of e0
output "c" t10
)");
}

TEST_CASE("sink_maps: a matrix of pairs that one weight reads need not exist") {
  CHECK(after(R"(t12 = map [c0, c1] (t4[c0*5 + c1] * 2.0)
reduce [c0] among c1 weight exp(t12[c0*5 + c1])
  t10 = mean of t3[c1]
output "c" t10
)") == R"(
reduce [c0] among c1 weight exp((t4[c0*5 + c1] * 2.0))
  t10 = mean of t3[c1]
output "c" t10
)");
}

TEST_CASE("sink_maps: a read of a part shifts the coordinates") {
  CHECK(after(R"(t14 "cut" real [2 "n", 2 "d"]
c4 "n" 2
c5 "d" 2
t15 "part" real [2 "n", 2 "d"]
t14 = map [c4, c5] t0[c4*3 + c5 + 4]
t11 = map [c0, c2] (exp(t0[c0*3 + c2]) * real(c2))
t15 = map [c4, c5] ((t14[c4*2 + c5] + t11[c4*3 + c5 + 3]) + real(c4))
output "part" t15
)") == R"(
t14 = map [c4, c5] t0[c4*3 + c5 + 4]
t15 = map [c4, c5] ((t0[c4*3 + c5 + 4] + (exp(t0[c4*3 + c5 + 3]) * real(c5))) + real(c4))
output "part" t15
)");
}

TEST_CASE("sink_maps: two sums that read the same entries keep the tensor") {
  CHECK(after(R"(t11 = map [c0, c2] exp(t0[c0*3 + c2])
t8 = map [c0] (sum_over(c2; t11[c0*3 + c2]) + sum_over(c2; (t11[c0*3 + c2] * 2.0)))
output "a" t8
)") == R"(
t11 = map [c0, c2] exp(t0[c0*3 + c2])
t8 = map [c0] (sum_over(c2; t11[c0*3 + c2]) + sum_over(c2; (t11[c0*3 + c2] * 2.0)))
output "a" t8
)");
}

TEST_CASE("sink_maps: a sum that reads each entry once takes it") {
  CHECK(after(R"(t11 = map [c0, c2] exp(t0[c0*3 + c2])
t8 = map [c0] sum_over(c2; t11[c0*3 + c2])
output "a" t8
)") == R"(
t8 = map [c0] sum_over(c2; exp(t0[c0*3 + c2]))
output "a" t8
)");
}

TEST_CASE("sink_maps: what is broadcast is computed once") {
  CHECK(after(R"(t8 = map [c0] exp(t2[c0])
t12 = map [c0, c1] (t8[c0] * t4[c0*5 + c1])
output "e" t12
)") == R"(
t8 = map [c0] exp(t2[c0])
t12 = map [c0, c1] (t8[c0] * t4[c0*5 + c1])
output "e" t12
)");
}

TEST_CASE("sink_maps: nothing sinks into a loop from outside, but within its body") {
  CHECK(after(R"(t14 "turn" int []
t15 "state" real [4 "n"]
t16 "next" real [4 "n"]
t8 = map [c0] exp(t2[c0])
iterate t14 stop none limit 3
  carry t15 from t2 next t16
{
  t9 = map [c0] (t15[c0] * t8[c0])
  t16 = map [c0] (t9[c0] + 1.0)
}
t10 = map [c0] (t15[c0] * 2.0)
output "c" t10
)") == R"(
t8 = map [c0] exp(t2[c0])
iterate t14 stop none limit 3
  carry t15 from t2 next t16
{
  t16 = map [c0] ((t15[c0] * t8[c0]) + 1.0)
}
t10 = map [c0] (t15[c0] * 2.0)
output "c" t10
)");
}
