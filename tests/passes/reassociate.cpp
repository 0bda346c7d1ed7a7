// Separable kernels over dense domains become products; where it would not pay nothing changes.
#include "tests/passes/passes.hpp"

using namespace locus;

namespace {
std::string after(const std::string& body) { return test::after(passes::reassociate, test::points + body); }
}  // namespace

TEST_CASE("reassociate: sums over the samples first, in blocks, and empty rows counted by a reduce over one pair") {
  CHECK(after(R"(c4 "q" 300
c5 "k" 9000
c6 "width" 2
t14 "q" real [300 "q", 3 "d"]
t15 "k" real [9000 "k", 3 "d"]
t16 "values" real [9000 "k", 2 "width"]
t17 "out" real [300 "q", 2 "width"]
t18 "mass" real [300 "q"]
t19 "scale" real [300 "q"]
t14 = input "q"
t15 = input "k"
t16 = input "values"
t19 = input "scale"
reduce [c4] among c5 factor ((dot(c2; t14[c4*3 + c2], t15[c5*3 + c2]) * t16[c5*2]) * t19[c4]) count_empty
  t17 = mean [c6] of t16[c5*2 + c6]
  t18 = mass
output "out" t17
output "mass" t18
)") == R"(
e0 = (t19[c4] * t23[c4])
t20 = linear [c10] row c8 inner c11 column none t15[c8 + c10*12288 + c11*3] t16[c10*8192 + c11*2]
t21 = linear [] row c8 inner c12 column none t15[c8 + c12*3 + 24576] t16[c12*2 + 16384]
t22 = map [c8] (sum_over(c10; t20[c8 + c10*3]) + t21[c8])
t23 = linear [] row c7 inner c8 column none t14[c8 + c7*3] t22[c8]
t24 = map [c5, c6] select((t16[c5*2] == 0.0), 0.0, (t16[c5*2] * t16[c5*2 + c6]))
t25 = linear [c15] row c8 inner c16 column c14 t15[c8 + c15*12288 + c16*3] t24[c14 + c15*8192 + c16*2]
t26 = linear [] row c8 inner c17 column c14 t15[c8 + c17*3 + 24576] t24[c14 + c17*2 + 16384]
t27 = map [c8, c14] (sum_over(c15; t25[c8*2 + c14 + c15*6]) + t26[c8*2 + c14])
t28 = linear [] row c7 inner c8 column c14 t14[c8 + c7*3] t27[c14 + c8*2]
t18 = map [c4] e0
reduce [c4] among c18 where (e0 != 0.0) count_empty
  t17 = mean [c6] of (t28[c4*2 + c6] / t23[c4])
output "out" t17
output "mass" t18
)");
}

TEST_CASE("reassociate: few samples stay as they are") {
  CHECK(after(R"(reduce [c0] among c1 factor (dot(c2; t0[c0*3 + c2], t1[c1*3 + c2]) * t3[c1])
  t8 = mean of t3[c1]
output "a" t8
)") == R"(
reduce [c0] among c1 factor (dot(c2; t0[c0*3 + c2], t1[c1*3 + c2]) * t3[c1])
  t8 = mean of t3[c1]
output "a" t8
)");
}
