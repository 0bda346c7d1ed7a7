// One-sided parts become maps in front; contractions are recognised and read plainly; domains stay visible.
#include "tests/passes/passes.hpp"

using namespace locus;

namespace {
std::string after(const std::string& body) { return test::after(passes::hoist, test::points + body); }
}  // namespace

TEST_CASE("hoist: points of a distance and values of samples") {
  CHECK(after(R"(reduce [c0] among c1 score neg((sqdist(c2; (t0[c0*3 + c2] / 2.0), (t1[c1*3 + c2] / 2.0)) / 2.0)) 
  t8 = mean of (t3[c1] * exp(t3[c1]))
output "a" t8
)") == R"(
t14 = map [c4, c5] (t0[c4*3 + c5] / 2.0)
t15 = map [c6, c5] (t1[c5 + c6*3] / 2.0)
t16 = map [c6] (t3[c6] * exp(t3[c6]))
reduce [c0] among c1 score neg((sqdist(c2; t14[c0*3 + c2], t15[c1*3 + c2]) / 2.0))
  t8 = mean of t16[c1]
output "a" t8
)");
}

TEST_CASE("hoist: sums that are contractions, and numbers of the whole run") {
  CHECK(after(R"(reduce [c0] among c1 score (sum_over(c2; (t0[c0*3 + c2] * t1[c1*3 + c2])) / (t7[] * t7[]))
  t8 = mean of sum_over(c2; ((t1[c1*3 + c2] - t0[c0*3 + c2]) ^ 2.0))
  t9 = mean of max_over(c2; abs((t1[c1*3 + c2] - t0[c0*3 + c2])))
output "a" t8
output "b" t9
)") == R"(
t14 = map [] (t7[] * t7[])
reduce [c0] among c1 score (dot(c2; t0[c0*3 + c2], t1[c1*3 + c2]) / t14[])
  t8 = mean of sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2])
  t9 = mean of maxdist(c2; t0[c0*3 + c2], t1[c1*3 + c2])
output "a" t8
output "b" t9
)");
}

TEST_CASE("hoist: parts of one side are computed together; index arithmetic of a domain stays") {
  CHECK(after(R"(reduce [c0] among c1 factor ((t3[c1] * t4[c0*5 + c1]) * exp(t3[c1])) where ((t5[c1] and (c1 <= (c0 + 2))) and (t3[c1] < 1.0))
  t8 = mass
output "a" t8
)") == R"(
t14 = map [c4] (t3[c4] * exp(t3[c4]))
t15 = map [c4] (t5[c4] and (t3[c4] < 1.0))
reduce [c0] among c1 factor (t4[c0*5 + c1] * t14[c1]) where ((c1 <= (c0 + 2)) and t15[c1])
  t8 = mass
output "a" t8
)");
}

TEST_CASE("hoist: what no turn changes leaves the loop") {
  CHECK(after(R"(t14 "turn" int []
t15 "state" real [4 "n", 3 "d"]
t16 "mass" real [4 "n"]
t17 "next" real [4 "n", 3 "d"]
iterate t14 stop none limit 3
  carry t15 from t0 next t17
{
  t13 = map [c1] exp(t3[c1])
  reduce [c0] among c1 score neg(sqdist(c2; (t15[c0*3 + c2] / t7[]), (t1[c1*3 + c2] / t7[]))) 
    t17 = mean [c2] of (t1[c1*3 + c2] * t13[c1])
}
output "state" t15
)") == R"(
t13 = map [c1] exp(t3[c1])
t19 = map [c6, c5] (t1[c5 + c6*3] / t7[])
t20 = map [c6, c5] (t1[c5 + c6*3] * t13[c6])
iterate t14 stop none limit 3
  carry t15 from t0 next t17
{
  t18 = map [c4, c5] (t15[c4*3 + c5] / t7[])
  reduce [c0] among c1 score neg(sqdist(c2; t18[c0*3 + c2], t19[c1*3 + c2]))
    t17 = mean [c2] of t20[c1*3 + c2]
}
output "state" t15
)");
}

TEST_CASE("hoist: pairs of a list are few: what would cost more per sample stays") {
  CHECK(after(R"(c4 "wide" 2
t14 "near" int [4 "n", 2 "k"]
reduce [c0] among c1
  t14 = nearest of sqdist(c2; t0[c0*3 + c2], (t1[c1*3 + c2] * 2.0)) by (c0 + 1) width 2
reduce [c0] among c1 factor exp(t3[c1]) list t14
  t8 = mean of (t3[c1] * t2[c0])
output "a" t8
)") == R"(
t15 = map [c5, c6] (t1[c5*3 + c6] * 2.0)
reduce [c0] among c1
  t14 = nearest of sqdist(c2; t0[c0*3 + c2], t15[c1*3 + c2]) by (c0 + 1) width 2
reduce [c0] among c1 factor exp(t3[c1]) list t14
  t8 = mean of (t3[c1] * t2[c0])
output "a" t8
)");
}

TEST_CASE("hoist: what may fault stays where only existing pairs meet it") {
  CHECK(after(R"(t14 "rest" int [5 "m"]
t14 = map [c1] (t6[c1] // 2)
reduce [c0] among c1 where (((t6[c1] // 2) < 3) and ((t6[c1] % t14[c1]) < (c0 + t14[0])))
  t8 = mass
output "a" t8
)") == R"(
t14 = map [c1] (t6[c1] // 2)
t15 = map [c4] ((t6[c4] // 2) < 3)
reduce [c0] among c1 where (t15[c1] and ((t6[c1] % t14[c1]) < (c0 + t14[])))
  t8 = mass
output "a" t8
)");
}

TEST_CASE("hoist: statistics of a row in a map over rows and columns") {
  CHECK(after(R"(t11 = map [c0, c2] ((t0[c0*3 + c2] - (sum_over(c3; t0[c0*3 + c3]) / 3.0)) / sqrt((sum_over(c3; (t0[c0*3 + c3] ^ 2.0)) + 1e-5)))
output "d" t11
)") == R"(
t14 = map [c4] (sum_over(c3; t0[c3 + c4*3]) / 3.0)
t15 = map [c4] sqrt((sum_over(c3; (t0[c3 + c4*3] ^ 2.0)) + 1e-05))
t11 = map [c0, c2] ((t0[c0*3 + c2] - t14[c0]) / t15[c0])
output "d" t11
)");
}

TEST_CASE("hoist: a map over pairs") {
  CHECK(after(R"(t12 = map [c0, c1] exp(neg(sum_over(c2; (((t0[c0*3 + c2] / t7[]) - (t1[c1*3 + c2] / t7[])) ^ 2.0))))
output "e" t12
)") == R"(
t14 = map [c4, c5] (t0[c4*3 + c5] / t7[])
t15 = map [c6, c5] (t1[c5 + c6*3] / t7[])
t12 = map [c0, c1] exp(neg(sqdist(c2; t14[c0*3 + c2], t15[c1*3 + c2])))
output "e" t12
)");
}
