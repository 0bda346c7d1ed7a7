// What a run needs is known and refused before anything is allocated.
#include "core/run/budget.hpp"
#include "tests/run/reference.hpp"

using namespace locus;

TEST_CASE("sizes in words are never below what they say") {
  CHECK(size_text(640) == "640 bytes");
  CHECK(size_text(1000) == "1 kB");
  CHECK(size_text(1001) == "1.1 kB");
  CHECK(size_text(10'000'000'000) == "10 GB");
  CHECK(size_text(999'999) == "1000 kB");
}

TEST_CASE("a run beyond its budget is refused by name and shape") {
  const std::string body = R"(c0 "n" 50000
c1 "m" 50000
t0 "x" real [50000 "n"]
t1 "w" real [50000 "n", 50000 "m"]
t0 = input "x"
reduce [c0] among c1 weight exp(neg(sqdist(none; t0[c0], t0[c1]))) # "w" 1:4-9
  t1 = gram
output "w" t1
)";
  test::Ran ran = test::run(body, {{"x", Array(Dtype::float32, {50000})}}, true, 4'000'000'000, Dtype::float32);
  const Diagnostic& d = ran.message();
  CHECK(d.code == Code::E601);
  CHECK(d.span == Span{1, 4, 9});
  CHECK(d.message == "the run needs 10.1 GB, the budget is 4 GB: 'w' [50000, 50000] alone takes 10 GB");
  CHECK(d.label == "[50000, 50000] is [n, m]");
  CHECK(d.help ==
        "do not store the matrix of pairs: write what is done with it as an estimate, as in `mean(v) at q among k by ...`; or allow more with `--memory 11GB`");
  CHECK(ran.summary.peak_bytes == 10'000'200'000);
}

TEST_CASE("inputs must be those that the graph was made for") {
  const std::string body = "c0 \"n\" 2\nt0 \"x\" real [2 \"n\"]\nt0 = input \"x\"\noutput \"x\" t0\n";
  CHECK(test::run(body, {}).message().message == "input 'x' is not given");
  CHECK(test::run(body, {{"x", Array(Dtype::float32, {3})}}).message().message == "input 'x' has shape [3], the graph was made for [2]");
}
