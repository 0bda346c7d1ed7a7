// The reference backend through run_graph, on graphs written by hand: every estimator, every node, every fault. Cases tagged [nodes] hold for any backend
// in float64: LOCUS_TEST_BACKEND names another.
#include "tests/run/reference.hpp"
#include <cmath>
#include <limits>

using namespace locus;
using namespace locus::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// One-dimensional points: queries q, samples x with values y.
const char* const points = R"(c0 "n" 2
c1 "m" 3
t0 "q" real [2 "n"]
t1 "x" real [3 "m"]
t2 "y" real [3 "m"]
t3 "a" real [2 "n"]
t4 "b" real [2 "n"]
t5 "count" int [2 "n"]
t6 "w" real [2 "n", 3 "m"]
t7 "near" int [2 "n", 2 "k"]
t0 = input "q"
t1 = input "x"
t2 = input "y"
)";

std::map<std::string, Array> data(const std::vector<double>& q, const std::vector<double>& x, const std::vector<double>& y) {
  return {{"q", array({2}, q)}, {"x", array({3}, x)}, {"y", array({3}, y)}};
}

using Values = std::vector<double>;

void near(const Values& found, const Values& expected, double tolerance = 1e-12) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    INFO("entry " << k);
    if (std::isnan(expected[k]))
      CHECK(std::isnan(found[k]));
    else if (std::isinf(expected[k]))
      CHECK(found[k] == expected[k]);
    else
      CHECK(found[k] == Approx(expected[k]).margin(tolerance).epsilon(tolerance));
  }
}

const double missing = std::nan("");

}  // namespace

TEST_CASE("nadaraya-watson with a gaussian kernel", "[nodes]") {
  const std::string body = std::string(points) + R"(reduce [c0] among c1 weight exp(neg((sqdist(none; t0[c0], t1[c1]) / 2.0)))
  t3 = mean of t2[c1]
  t4 = mass
output "mean" t3
output "mass" t4
)";
  for (bool fuse : {false, true}) {
    Ran ran = run(body, data({0, 1}, {0, 1, 3}, {1, 2, 10}), fuse);
    const double a = std::exp(-0.5), b = std::exp(-2.0), c = std::exp(-4.5);
    near(ran.values("mean"), {(1 + 2 * a + 10 * c) / (1 + a + c), (a + 2 + 10 * b) / (1 + a + b)});
    near(ran.values("mass"), {1 + a + c, 1 + a + b});
  }
}

TEST_CASE("in the log domain nothing overflows, and far away the nearest sample is left", "[nodes]") {
  const std::string body = std::string(points) + R"(reduce [c0] among c1 score (t0[c0] * t1[c1])
  t3 = mean of t2[c1]
  t4 = logmass
  t6 = weights
output "mean" t3
output "logmass" t4
output "weights" t6
)";
  Ran ran = run(body, data({1, 1000}, {120, 119, 0}, {1, 0, 5}), false);
  const double share = 1 / (1 + std::exp(-1.0));  // 0.731059, and 0.268941 for the other
  near(ran.values("mean"), {share, 1});
  near(ran.values("logmass"), {120 + std::log1p(std::exp(-1.0)), 120000});
  near({ran.values("weights")[1]}, {0.268941421369995}, 1e-14);
}

TEST_CASE("a row without a pair of weight is empty", "[nodes]") {
  const std::string body = std::string(points) + R"(reduce [c0] among c1 weight select((abs((t0[c0] - t1[c1])) <= 1.0), 1.0, 0.0) count_empty
  t3 = mean of t2[c1]
  t4 = sum of t2[c1]
  t5 = count
  t6 = weights
output "mean" t3
output "sum" t4
output "count" t5
output "weights" t6
)";
  Ran ran = run(body, data({0, 50}, {0, 1, 3}, {2, 4, missing}));  // the NaN has weight 0 and counts nothing
  near(ran.values("mean"), {3, missing});
  near(ran.values("sum"), {6, 0});
  near(ran.values("count"), {2, 0});
  near(ran.values("weights"), {0.5, 0.5, 0, 0, 0, 0});
  CHECK(ran.summary.empty_rows == 1);
  REQUIRE(ran.summary.empty_by_node.size() == 1);
}

TEST_CASE("other estimates of an empty row", "[nodes]") {
  const std::string body = std::string(points) + R"(reduce [c0] among c1 where (t0[c0] < t1[c1])
  t3 = %
output "a" t3
)";
  const std::pair<const char*, double> cases[] = {{"max of t2[c1]", missing},
                                                  {"min of t2[c1]", missing},
                                                  {"quantile of t2[c1] by 0.5", missing},
                                                  {"cov of t2[c1]", missing},
                                                  {"mass", 0},
                                                  {"logmass", -infinity},
                                                  {"entropy", missing},
                                                  {"effective", 0}};
  for (const auto& [what, expected] : cases) {
    std::string text = body;
    text.replace(text.find('%'), 1, what);
    INFO(what);
    Ran ran = run(text, data({9, 0}, {1, 2, 3}, {4, 5, 6}));
    CHECK_FALSE(ran.diagnostics.failed());
    near({ran.values("a")[0]}, {expected});
    CHECK_FALSE(std::isnan(ran.values("a")[1]));
  }
}

TEST_CASE("infinite weights outweigh finite ones and share alike", "[nodes]") {
  const std::string body = std::string(points) + R"(reduce [c0] among c1 weight (1.0 / abs((t0[c0] - t1[c1])))
  t3 = mean of t2[c1]
  t4 = quantile of t2[c1] by 0.5
  t6 = weights
output "mean" t3
output "median" t4
output "weights" t6
)";
  Ran ran = run(body, data({1, 2}, {1, 2, 2}, {20, 10, 14}), false);
  near(ran.values("mean"), {20, 12});
  near(ran.values("median"), {20, 12});
  near(ran.values("weights"), {1, 0, 0, 0, 0.5, 0.5});
}

TEST_CASE("quantiles meet their threshold exactly, or between two values", "[nodes]") {
  const std::string body = R"(c0 "m" 4
c1 "t" 3
t0 "y" real [4 "m"]
t1 "w" real [4 "m"]
t2 "t" exact [3 "t"]
t3 "q" real [3 "t"]
t0 = input "y"
t1 = input "w"
t2 = constant "t" float64 (0.25, 0.5, 0.9)
reduce [] among c0 weight t1[c0]
  t3 = quantile [c1] of t0[c0] by t2[c1]
output "q" t3
)";
  near(run(body, {{"y", array({4}, {4, 1, 3, 2})}, {"w", array({4}, {1, 1, 1, 1})}}).values("q"), {1.5, 2.5, 4});
  near(run(body, {{"y", array({4}, {4, 1, 3, 2})}, {"w", array({4}, {1, 5, 1, 1})}}).values("q"), {1, 1, 4});
  near(run(body, {{"y", array({4}, {4, 1, 3, 2})}, {"w", array({4}, {0, 1, 1, 0})}}).values("q"), {1, 2, 3});
}

TEST_CASE("spread, entropy, extremes and effective size", "[nodes]") {
  const std::string body = R"(c0 "m" 3
c1 "d" 2
c2 "twin" 2
t0 "x" real [3 "m", 2 "d"]
t1 "w" real [3 "m"]
t2 "cov" real [2 "d", 2 "d"]
t3 "h" real []
t4 "max" real [2 "d"]
t5 "min" real [2 "d"]
t6 "size" real []
t7 "var" real []
t0 = input "x"
t1 = input "w"
reduce [] among c0 weight t1[c0]
  t2 = cov [c1] twin c2 of t0[c0*2 + c1]
  t3 = entropy
  t4 = max [c1] of t0[c0*2 + c1]
  t5 = min [c1] of t0[c0*2 + c1]
  t6 = effective
  t7 = cov of t0[c0*2]
output "cov" t2
output "entropy" t3
output "max" t4
output "min" t5
output "size" t6
output "var" t7
)";
  Ran ran = run(body, {{"x", array({3, 2}, {0, 0, 2, 4, 9, -9})}, {"w", array({3}, {1, 3, 0})}});
  near(ran.values("cov"), {0.75, 1.5, 1.5, 3});  // p = 1/4, 3/4
  near(ran.values("var"), {0.75});
  near(ran.values("entropy"), {-(0.25 * std::log(0.25) + 0.75 * std::log(0.75))});
  near(ran.values("max"), {2, 4});
  near(ran.values("min"), {0, 0});
  near(ran.values("size"), {1.6});
}

TEST_CASE("nearest: ties on a grid go to the lower index, the point itself may be left out", "[nodes]") {
  const std::string body = R"(c0 "n" 9
c1 "m" 9
c2 "d" 2
t0 "x" real [9 "n", 2 "d"]
t1 "near" int [9 "n", 4 "k"]
t0 = input "x"
reduce [c0] among c1 where (c0 != c1)
  t1 = nearest of sqdist(c2; t0[c0*2 + c2], t0[c1*2 + c2]) by 3 width 4
output "near" t1
)";
  Values grid;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) grid.insert(grid.end(), {double(r), double(c)});
  Ran ran = run(body, {{"x", array({9, 2}, grid)}});
  const Values all = ran.values("near");
  CHECK(Values(all.begin(), all.begin() + 4) == Values{1, 3, 4, -1});
  CHECK(Values(all.begin() + 16, all.begin() + 20) == Values{1, 3, 5, -1});
  CHECK(Values(all.begin() + 32, all.end()) == Values{5, 7, 4, -1});
}

TEST_CASE("a list holds all pairs there are", "[nodes]") {
  const std::string body = std::string(points) + R"(t7 = constant "near" int64 (2, -1, 0, 1)
reduce [c0] among c1 list t7
  t3 = mean of t2[c1]
  t6 = gram
output "mean" t3
output "gram" t6
)";
  Ran ran = run(body, data({0, 0}, {0, 0, 0}, {1, 3, 7}));
  near(ran.values("mean"), {7, 2});
  near(ran.values("gram"), {0, 0, 1, 1, 1, 0});
}

TEST_CASE("linear, gather and whole-array functions", "[nodes]") {
  const std::string body = R"(c0 "n" 2
c1 "k" 3
c2 "m" 2
t0 "a" real [2 "n", 3 "k"]
t1 "b" real [3 "k", 2 "m"]
t2 "ab" real [2 "n", 2 "m"]
t3 "at" int [2 "n"]
t4 "rows" real [2 "n", 2 "m"]
t5 "sorted" real [2 "n", 3 "k"]
t0 = input "a"
t1 = input "b"
t3 = constant "at" int64 (2, 0)
t2 = linear [] row c0 inner c1 column c2 t0[c0*3 + c1] t1[c1*2 + c2]
t4 = gather [c0, c2] t1[c2] at t3[c0] below 3 step 2
[t5] = array sort [t0] ()
output "ab" t2
output "rows" t4
output "sorted" t5
output "a" t0
output "at" t3
)";
  Ran ran = run(body, {{"a", array({2, 3}, {3, 1, 2, 6, 5, 4})}, {"b", array({3, 2}, {1, 2, 3, 4, 5, 6})}});
  near(ran.values("ab"), {3 + 3 + 10, 6 + 4 + 12, 6 + 15 + 20, 12 + 20 + 24});
  near(ran.values("rows"), {5, 6, 1, 2});
  near(ran.values("sorted"), {1, 2, 3, 4, 5, 6});
  near(ran.values("a"), {3, 1, 2, 6, 5, 4});
  near(ran.values("at"), {2, 0});
}

TEST_CASE("loops: updates together, stop, and paths that repeat the last value", "[nodes]") {
  const std::string body = R"(t0 "a" real []
t1 "b" real []
t2 "x" real []
t3 "y" real []
t4 "turn" int []
t5 "stop" bool []
t6 "xs" real [6 "turns"]
t7 "ys" real [5 "turns"]
t8 "sum" real []
t0 = input "a"
t1 = input "b"
iterate t4 stop t5 limit 5
  carry t2 from t0 next t3
  carry t3 from t1 next t8
  path t6 of t2
  path t7 of t8
{
  t8 = map [] (t2[] + t3[])
  t5 = map [] (t4[] == 2)
}
output "x" t2
output "xs" t6
output "sums" t7
)";
  for (bool fuse : {false, true}) {
    Ran ran = run(body, {{"a", array({}, {1})}, {"b", array({}, {1})}}, fuse);  // Fibonacci: x takes y's old value
    near(ran.values("x"), {3});
    near(ran.values("xs"), {1, 1, 2, 3, 3, 3});
    near(ran.values("sums"), {2, 3, 5, 5, 5});
  }
}

TEST_CASE("a program of float32 rounds when it stores") {
  const std::string body = std::string(points) + "t3 = map [c0] (t0[c0] + 0.1)\noutput \"a\" t3\n";
  Ran ran = run(body, data({0.2, 1}, {0, 0, 0}, {0, 0, 0}), true, 0, Dtype::float32);
  CHECK(ran.out.at("a").dtype() == Dtype::float32);
  CHECK(ran.values("a")[0] == static_cast<float>(static_cast<double>(0.2f) + 0.1));
}

TEST_CASE("faults of a run are messages", "[nodes]") {
  const auto message = [](const std::string& body, const std::vector<double>& x) {
    Ran ran = run(std::string(points) + body, data({0, 1}, x, {0, 0, 0}));
    const Diagnostic d = ran.message();
    CHECK(d.span == Span{1, 4, 9});
    return std::string(info(d.code).name) + " " + d.message + " | " + d.help;
  };
  CHECK(message("t5 = map [c0] (c0 + 2)\nt3 = gather [c0] t1[] at t5[c0] below 3 step 1 # \"y\" 1:4-9\noutput \"a\" t3", {0, 1, 2}) ==
        "E602 index 3 is outside an axis of 3 in 'y' at n = 1 | indices count from 0 and go up to 2");
  CHECK(message("reduce [c0] among c1 where (c0 != c1) # \"near\" 1:4-9\n  t7 = nearest of abs((t0[c0] - t1[c1])) by 2 width 2 need_all\noutput \"a\" t7",
                {0, 1, missing}) == "E604 the distance to sample 2 is NaN in 'near' at n = 0 | leave out rows with missing values: `--missing drop`");
  CHECK_THAT(
      message("reduce [c0] among c1 where (t1[c1] < 1.5) # \"near\" 1:4-9\n  t7 = nearest of abs((t0[c0] - t1[c1])) by 2 width 2 need_all\noutput \"a\" t7",
              {5, 1, 7}),
      Catch::StartsWith("E603 too few neighbours in 'near': 2 are asked for among 3 samples, 1 of them can be chosen at n = 0"));
  CHECK(message("t5 = map [c0] (7 // c0) # \"q\" 1:4-9\noutput \"a\" t5", {0, 1, 2}) == "E605 integer division by zero: 7 by 0 in 'q' at n = 0 | keep the divisor from 0, as in `a // max(b, 1)`, or divide as real numbers: `a / b`");
}

TEST_CASE("three points have two neighbours", "[nodes]") {
  const std::string body = R"(c0 "n" 3
c1 "m" 3
t0 "x" real [3 "n"]
t1 "near" int [3 "n", 5 "k"]
t0 = input "x"
reduce [c0] among c1 where (c0 != c1) # "near" 1:4-9
  t1 = nearest of abs((t0[c0] - t0[c1])) by 5 width 5 need_all
output "near" t1
)";
  Ran ran = run(body, {{"x", array({3}, {0, 1, 2})}});
  CHECK(ran.message().message == "too few neighbours in 'near': 5 are asked for among 3 samples: at most 2 neighbours when the point itself is excluded");
  CHECK(ran.message().help == "ask for `nearest 2`, or give more samples");
}

TEST_CASE("sizes of zero", "[nodes]") {
  const std::string body = R"(c0 "n" 2
c1 "m" 0
c2 "none" 0
t0 "x" real [0 "m"]
t1 "mean" real [2 "n"]
t2 "mass" real [2 "n"]
t3 "rows" real [0 "none"]
t0 = input "x"
reduce [c0] among c1 weight t0[c1]
  t1 = mean of t0[c1]
  t2 = mass
reduce [c2] among c0
  t3 = mass
output "mean" t1
output "mass" t2
output "rows" t3
)";
  Ran ran = run(body, {{"x", Array(Dtype::float64, {0})}});
  near(ran.values("mean"), {missing, missing});
  near(ran.values("mass"), {0, 0});
  CHECK(ran.out.at("rows").shape() == std::vector<std::int64_t>{0});
}
