// Reduces over the same pairs with the same weights merge, whatever their coordinates are called, where order allows.
#include "tests/passes/passes.hpp"

using namespace locus;

namespace {
std::string after(const std::string& body) { return test::after(passes::fuse_siblings, test::points + body); }
}  // namespace

TEST_CASE("fuse_siblings: coordinates that a sum binds may have other names") {
  CHECK(after(R"(reduce [c0] among c1 weight exp(neg((sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2]) / 2.0)))
  t8 = mean of t3[c1]
reduce [c0] among c1 weight exp(neg((sqdist(c3; t0[c0*3 + c3], t1[c1*3 + c3]) / 2.0))) count_empty
  t9 = mass
output "a" t8
output "b" t9
)") == R"(
reduce [c0] among c1 weight exp(neg((sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2]) / 2.0))) count_empty
  t8 = mean of t3[c1]
  t9 = mass
output "a" t8
output "b" t9
)");
}

TEST_CASE("fuse_siblings: the merged reduce stands where all its inputs are known") {
  CHECK(after(R"(reduce [c0] among c1 weight t4[c0*5 + c1]
  t8 = mean of t3[c1]
t13 = map [c1] exp(t3[c1])
reduce [c0] among c1 weight t4[c0*5 + c1]
  t9 = mean of t13[c1]
t10 = map [c0] (t8[c0] + t9[c0])
output "c" t10
)") == R"(
t13 = map [c1] exp(t3[c1])
reduce [c0] among c1 weight t4[c0*5 + c1]
  t8 = mean of t3[c1]
  t9 = mean of t13[c1]
t10 = map [c0] (t8[c0] + t9[c0])
output "c" t10
)");
}

TEST_CASE("fuse_siblings: a sibling that needs the other stays") {
  CHECK(after(R"(reduce [c0] among c1 weight t4[c0*5 + c1]
  t8 = mean of t3[c1]
t9 = map [c0] exp(t8[c0])
reduce [c0] among c1 weight t4[c0*5 + c1]
  t10 = mean of (t3[c1] * t9[c0])
output "c" t10
)") == R"(
reduce [c0] among c1 weight t4[c0*5 + c1]
  t8 = mean of t3[c1]
t9 = map [c0] exp(t8[c0])
reduce [c0] among c1 weight t4[c0*5 + c1]
  t10 = mean of (t3[c1] * t9[c0])
output "c" t10
)");
}
