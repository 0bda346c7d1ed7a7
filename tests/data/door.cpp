// Checks at the door and rows that are left out: what passes, passes unchanged.
#include <cmath>
#include <limits>
#include "core/data/door.hpp"
#include "tests/data/rendered.hpp"

using namespace locus;
using namespace locus::test;

namespace {
const double absent = std::numeric_limits<double>::quiet_NaN();
const double infinite = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("finite arrays pass, others only under a policy") {
  Diagnostics diagnostics;
  CHECK(check_finite(array_of({1, 2}, {2}), {"x", {}}, Missing::refuse, diagnostics));
  CHECK(check_finite(array_of({1, absent}, {2}), {"x", {}}, Missing::nan, diagnostics));
  CHECK(check_finite(array_of({1, infinite}, {2}), {"x", {}}, Missing::drop, diagnostics));
  CHECK(check_finite(Array(Dtype::int64, {2}), {"x", {}}, Missing::refuse, diagnostics));
  CHECK(diagnostics.all().empty());
  CHECK_FALSE(check_finite(array_of({1, -infinite}, {2}), {"x", {}}, Missing::refuse, diagnostics));
}

TEST_CASE("whole floats are integers, up to where floats skip") {
  Diagnostics diagnostics;
  const auto whole = as_integers(array_of({-3, 0, 0x1p53}, {3}), {"k", {}}, diagnostics);
  REQUIRE(whole);
  CHECK(whole->dtype() == Dtype::int64);
  CHECK(whole->as<std::int64_t>()[2] == 9007199254740992);
  CHECK(as_integers(Array(Dtype::boolean, {2}), {"k", {}}, diagnostics));
  for (double bad : {0.5, absent, infinite, 0x1p54}) CHECK_FALSE(as_integers(array_of({1, bad}, {2}), {"k", {}}, diagnostics));
  CHECK(diagnostics.errors() == 4);
}

TEST_CASE("zeros and ones are booleans, nothing else is") {
  Diagnostics diagnostics;
  const auto truth = as_booleans(array_of({0, 1, 1}, {3}), {"mask", {}}, diagnostics);
  REQUIRE(truth);
  CHECK(truth->dtype() == Dtype::boolean);
  CHECK(numbers(*truth) == std::vector<double>{0, 1, 1});
  CHECK_FALSE(as_booleans(array_of({0, 2}, {2}), {"mask", {}}, diagnostics));
  CHECK_FALSE(as_booleans(array_of({absent}, {1}), {"mask", {}}, diagnostics));
}

TEST_CASE("shapes: any size where none is fixed, never another number of axes") {
  Diagnostics diagnostics;
  CHECK(check_shape(Array(Dtype::float64, {3, 2}), {"x", {}}, {-1, 2}, diagnostics));
  CHECK(check_shape(Array(Dtype::float64, {0, 2}), {"x", {}}, {-1, 2}, diagnostics));
  CHECK(check_shape(Array(Dtype::float64, {}), {"h", {}}, {}, diagnostics));
  CHECK(diagnostics.all().empty());
  CHECK_FALSE(check_shape(Array(Dtype::float64, {3}), {"x", {}}, {-1, 1}, diagnostics));
}

TEST_CASE("rows leave all inputs together and come back in place") {
  const std::vector<Array> together = {array_of({1, 2, 3, absent, 5}, {5}), array_of({2, absent, 6, 1, 10}, {5}), Array(Dtype::int64, {5})};
  const std::vector<std::int64_t> rows = complete_rows(together);
  CHECK(rows == std::vector<std::int64_t>{0, 2, 4});
  const Array kept = keep_rows(together[1], rows);
  CHECK(numbers(kept) == std::vector<double>{2, 6, 10});
  const std::vector<double> back = numbers(spread_rows(kept, rows, 5));
  CHECK(back[0] == 2);
  CHECK(std::isnan(back[1]));
  CHECK(back[2] == 6);
  CHECK(std::isnan(back[3]));
  CHECK(back[4] == 10);
  const Array pairs = array_of({1, 2, 3, 4, 5, 6}, {3, 2});
  CHECK(numbers(keep_rows(pairs, std::vector<std::int64_t>{2, 0})) == std::vector<double>{5, 6, 1, 2});
  CHECK(keep_rows(pairs, {}).shape() == std::vector<std::int64_t>{0, 2});
  CHECK(spread_rows(Array(Dtype::int64, {1}), std::vector<std::int64_t>{1}, 2).dtype() == Dtype::float64);
}
