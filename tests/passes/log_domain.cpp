// Weights split into factor, score and conditions, by composition.
#include "tests/passes/passes.hpp"

using namespace locus;

namespace {
std::string after(const std::string& body) { return test::after(passes::log_domain, test::points + body); }
}  // namespace

TEST_CASE("log_domain: an exponential is a score") {
  CHECK(after(R"(reduce [c0] among c1 weight exp(neg((sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2]) / 2.0)))
  t8 = mean of t3[c1]
output "a" t8
)") == R"(
reduce [c0] among c1 score neg((sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2]) / 2.0))
  t8 = mean of t3[c1]
output "a" t8
)");
}

TEST_CASE("log_domain: products and quotients add and subtract scores; a bracket is a condition") {
  CHECK(after(R"(reduce [c0] among c1 weight (((exp(t4[c0*5 + c1]) * t3[c1]) / exp(t2[c0])) * real(t5[c1])) where (c0 != c1)
  t8 = mean of t3[c1]
output "a" t8
)") == R"(
reduce [c0] among c1 factor t3[c1] score (t4[c0*5 + c1] - t2[c0]) where ((c0 != c1) and t5[c1])
  t8 = mean of t3[c1]
output "a" t8
)");
}

TEST_CASE("log_domain: powers multiply scores, negation is a factor") {
  CHECK(after(R"(reduce [c0] among c1 weight (neg((exp(t4[c0*5 + c1]) * t3[c1])) ^ 2.0)
  t8 = mass
output "a" t8
)") == R"(
reduce [c0] among c1 factor (neg(t3[c1]) ^ 2.0) score (t4[c0*5 + c1] * 2.0)
  t8 = mass
output "a" t8
)");
}

TEST_CASE("log_domain: a select of exponentials selects scores") {
  CHECK(after(R"(reduce [c0] among c1 weight select(t5[c1], exp(t4[c0*5 + c1]), (2.0r * exp(t3[c1])))
  t8 = mass
output "a" t8
)") == R"(
reduce [c0] among c1 factor select(t5[c1], 1.0, 2.0r) score select(t5[c1], t4[c0*5 + c1], t3[c1])
  t8 = mass
output "a" t8
)");
}

TEST_CASE("log_domain: 0 where a condition fails is the condition") {
  CHECK(after(R"(reduce [c0] among c1 weight select((t3[c1] < t2[c0]), exp(t4[c0*5 + c1]), 0.0r)
  t8 = mass
output "a" t8
)") == R"(
reduce [c0] among c1 score t4[c0*5 + c1] where (t3[c1] < t2[c0])
  t8 = mass
output "a" t8
)");
}

TEST_CASE("log_domain: a bracket alone is a condition") {
  CHECK(after(R"(reduce [c0] among c1 weight real((sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2]) <= 1.0r))
  t8 = mass
output "a" t8
)") == R"(
reduce [c0] among c1 where (sqdist(c2; t0[c0*3 + c2], t1[c1*3 + c2]) <= 1.0r)
  t8 = mass
output "a" t8
)");
}

TEST_CASE("log_domain: without an exponential there is no score") {
  CHECK(after(R"(reduce [c0] among c1 weight (t4[c0*5 + c1] * select((t3[c1] < t2[c0]), 1.0r, 0.0r))
  t8 = mass
output "a" t8
)") == R"(
reduce [c0] among c1 factor t4[c0*5 + c1] where (t3[c1] < t2[c0])
  t8 = mass
output "a" t8
)");
}
