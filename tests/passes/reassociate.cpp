// Separable kernels over dense domains become products; where it would not pay nothing changes.
#include <cmath>
#include <random>
#include "tests/passes/passes.hpp"
#include "tests/run/reference.hpp"

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

namespace {

// Data of any sign for values, positive for the points of the kernel; some samples and one query a head of weight 0.
std::map<std::string, Array> data(std::int64_t n, std::int64_t m) {
  std::mt19937 random(7);
  const auto filled = [&](std::vector<std::int64_t> shape, double low) {
    Array a(Dtype::float64, std::move(shape));
    for (std::int64_t k = 0; k < a.count(); ++k) a.as<double>()[k] = low + static_cast<double>(random() % 1000) / 1000;
    return a;
  };
  std::map<std::string, Array> all{{"q", filled({2, n, 3}, 0)}, {"k", filled({2, m, 3}, 0)}, {"v", filled({m, 2}, -0.5)}, {"s", filled({m}, 0)}};
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t c = 0; c < 3; ++c) all.at("q").as<double>()[(h * n + n / 2) * 3 + c] = 0;
  for (std::int64_t j = 0; j < m; j += 3) all.at("s").as<double>()[j] = 0;
  return all;
}

// The same with and without passes, the reassociated form in use.
void same_numbers(const std::string& body, const std::map<std::string, Array>& inputs, std::int64_t empty) {
  graph::Graph g = test::graph_of(body);
  passes::log_domain(g);
  passes::reassociate(g);
  REQUIRE(graph::verify(g) == std::vector<std::string>{});
  REQUIRE(graph::print(g).find(" = linear ") != std::string::npos);
  auto plain = test::run(body, inputs, false), fast = test::run(body, inputs, true);
  CHECK(plain.summary.empty_rows == empty);
  CHECK(fast.summary.empty_rows == empty);
  for (const char* name : {"mean", "sum", "mass"}) {
    const std::vector<double> a = plain.values(name), b = fast.values(name);
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      INFO(name << " " << k);
      if (std::isnan(a[k]))
        REQUIRE(std::isnan(b[k]));
      else
        REQUIRE(b[k] == Approx(a[k]).epsilon(1e-9).margin(1e-9));
    }
  }
}

std::string separable(std::int64_t n, std::int64_t m, const std::string& where) {
  const std::string rows = std::to_string(n), samples = std::to_string(m), three_rows = std::to_string(3 * n), three_samples = std::to_string(3 * m);
  return "c0 \"h\" 2\nc1 \"n\" " + rows + "\nc2 \"m\" " + samples + "\nc3 \"d\" 3\nc4 \"p\" 2\nt0 \"q\" real [2 \"h\", " + rows +
         " \"n\", 3 \"d\"]\nt1 \"k\" real [2 \"h\", " + samples + " \"m\", 3 \"d\"]\nt2 \"v\" real [" + samples + " \"m\", 2 \"p\"]\nt3 \"s\" real [" +
         samples + " \"m\"]\nt4 \"mean\" real [2 \"h\", " + rows + " \"n\", 2 \"p\"]\nt5 \"sum\" real [2 \"h\", " + rows +
         " \"n\"]\nt6 \"mass\" real [2 \"h\", " + rows + " \"n\"]\nt0 = input \"q\"\nt1 = input \"k\"\nt2 = input \"v\"\nt3 = input \"s\"\n" +
         "reduce [c0, c1] among c2 weight (sum_over(c3; (t0[c0*" + three_rows + " + c1*3 + c3] * (t1[c0*" + three_samples + " + c2*3 + c3] + 0.5))) * t3[c2])" +
         where +
         " count_empty\n  t4 = mean [c4] of (t2[c2*2 + c4] + 1.0)\n  t5 = sum of t2[c2*2]\n  t6 = mass\noutput \"mean\" t4\noutput \"sum\" t5\noutput \"mass\" "
         "t6\n";
}

}  // namespace

TEST_CASE("reassociate: sums over all samples, in one go and in blocks") {
  same_numbers(separable(40, 200, ""), data(40, 200), 2);
  same_numbers(separable(20, 9001, ""), data(20, 9001), 2);
}

TEST_CASE("reassociate: causal domains, whole blocks and a rest") {
  same_numbers(separable(1280, 1280, " where (c2 <= c1)"), data(1280, 1280), 4);  // sample 0 has weight 0
  same_numbers(separable(1283, 1283, " where (c2 < c1)"), data(1283, 1283), 6);
}

TEST_CASE("reassociate: other domains stay as they are") {
  for (const char* where : {" where (c1 <= c2)", " where (c2 <= (c1 + 1))", " where (c2 != c1)"}) {
    graph::Graph g = test::graph_of(separable(1280, 1280, where));
    passes::log_domain(g);
    passes::reassociate(g);
    CHECK(graph::print(g).find("linear") == std::string::npos);
  }
}
