// Whole-array functions against values that numpy gave.
#include "core/graph/run_sized.hpp"
#include "core/run/arrays.hpp"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

using namespace locus;

namespace {

using Values = std::vector<double>;
using Shape = std::vector<std::int64_t>;

Array filled(Dtype dtype, Shape shape, const Values& values) {
  Array a(Dtype::float64, std::move(shape));
  REQUIRE(a.count() == static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), a.as<double>());
  return dtype == Dtype::float64 ? a : a.cast(dtype);
}
Array real(Shape shape, const Values& values) { return filled(Dtype::float64, std::move(shape), values); }
Array whole(Shape shape, const Values& values) { return filled(Dtype::int64, std::move(shape), values); }

locus_host_array view(Array& a) {
  locus_host_array v{static_cast<std::uint32_t>(a.dtype()), static_cast<std::uint32_t>(a.shape().size()), {}, a.data()};
  std::copy(a.shape().begin(), a.shape().end(), v.dims);
  return v;
}

int status_of(locus_array_function f, std::vector<Array> in, Array& out, const Values& parameters = {}) {
  std::vector<locus_host_array> views;
  for (Array& a : in) views.push_back(view(a));
  locus_host_array result = view(out);
  return array_function(static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(views.size()), views.data(), 1, &result,
                        static_cast<std::uint32_t>(parameters.size()), parameters.data());
}

Values result(locus_array_function f, std::vector<Array> in, Shape shape, const Values& parameters = {}, Dtype dtype = Dtype::float64) {
  Array out(dtype, std::move(shape));
  REQUIRE(status_of(f, std::move(in), out, parameters) == LOCUS_OK);
  Values all;
  for (std::int64_t k = 0; k < out.count(); ++k) all.push_back(out.number(k));
  return all;
}

const double missing = std::nan("");

}  // namespace

TEST_CASE("joining and ordering") {
  CHECK(result(LOCUS_ARRAY_CONCAT, {real({2, 1}, {1, 2}), real({2, 2}, {3, 4, 5, 6})}, {2, 3}) == Values{1, 3, 4, 2, 5, 6});
  CHECK(result(LOCUS_ARRAY_CONCAT, {real({}, {1}), real({2}, {3, 4})}, {3}) == Values{1, 3, 4});
  CHECK(result(LOCUS_ARRAY_CONCAT, {whole({1}, {1}), filled(Dtype::float32, {1}, {0.5})}, {2}) == Values{1, 0.5});
  const Values sorted = result(LOCUS_ARRAY_SORT, {real({2, 3}, {3, missing, 1, 2, 2, -1})}, {2, 3});
  CHECK(Values(sorted.begin(), sorted.begin() + 2) == Values{1, 3});
  CHECK(std::isnan(sorted[2]));
  CHECK(Values(sorted.begin() + 3, sorted.end()) == Values{-1, 2, 2});
  CHECK(result(LOCUS_ARRAY_ARGMAX, {real({3, 3}, {1, 5, 5, missing, 9, missing, -1, -2, -3})}, {3}, {}, Dtype::int64) == Values{1, 0, 0});
  CHECK(result(LOCUS_ARRAY_ARGMIN, {whole({2, 3}, {4, 2, 2, 1, 1, 0})}, {2}, {}, Dtype::int64) == Values{1, 2});
}

TEST_CASE("cumulated sums are kept in double and in int64") {
  CHECK(result(LOCUS_ARRAY_CUMSUM, {real({2, 3}, {1, 2, 3, 4, 5, 6})}, {2, 3}) == Values{1, 3, 6, 4, 9, 15});
  CHECK(result(LOCUS_ARRAY_CUMPROD, {whole({3}, {2, -3, 4})}, {3}, {}, Dtype::int64) == Values{2, -6, -24});
  const Values many = result(LOCUS_ARRAY_CUMSUM, {filled(Dtype::float32, {100000}, Values(100000, 0.1))}, {100000}, {}, Dtype::float32);
  CHECK(many.back() == static_cast<float>(100000.0 * static_cast<double>(0.1f)));  // float32 sums end at 9998.56
  Array big(Dtype::int64, {2}), out(Dtype::int64, {2});
  big.as<std::int64_t>()[0] = std::int64_t{1} << 60, big.as<std::int64_t>()[1] = 1;
  REQUIRE(status_of(LOCUS_ARRAY_CUMSUM, {big}, out) == LOCUS_OK);
  CHECK(out.as<std::int64_t>()[1] == (std::int64_t{1} << 60) + 1);
}

TEST_CASE("images are padded and cut") {
  const Array image = real({2, 3}, {1, 2, 3, 4, 5, 6});
  // np.pad(a, 2, mode='reflect'), row 0 and row 5
  const Values mirror = result(LOCUS_ARRAY_PAD_MIRROR, {image}, {6, 7}, {2});
  CHECK(Values(mirror.begin(), mirror.begin() + 7) == Values{3, 2, 1, 2, 3, 2, 1});
  CHECK(Values(mirror.begin() + 7, mirror.begin() + 14) == Values{6, 5, 4, 5, 6, 5, 4});
  CHECK(Values(mirror.end() - 7, mirror.end()) == Values{6, 5, 4, 5, 6, 5, 4});
  CHECK(result(LOCUS_ARRAY_PAD_EDGE, {image}, {4, 5}, {1}) == Values{1, 1, 2, 3, 3, 1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 4, 4, 5, 6, 6});
  CHECK(result(LOCUS_ARRAY_PAD_ZERO, {image}, {4, 5}, {1}) == Values{0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0});
  CHECK(result(LOCUS_ARRAY_PATCHES, {image}, {2, 4}, {2}) == Values{1, 2, 4, 5, 2, 3, 5, 6});
  CHECK(result(LOCUS_ARRAY_PATCHES, {real({2, 1, 2}, {1, 2, 3, 4})}, {2, 2, 1}, {1}) == Values{1, 2, 3, 4});
}

TEST_CASE("lists of pairs") {
  CHECK(result(LOCUS_ARRAY_SCATTER, {real({2, 3}, {1, 2, 4, 8, 16, 32}), whole({2, 3}, {0, 0, 2, 1, -1, 1})}, {2, 3}) == Values{3, 0, 4, 0, 40, 0});
  CHECK(result(LOCUS_ARRAY_MATRIX, {whole({3}, {0, 1, 0}), whole({3}, {1, 0, 1}), real({3}, {1, 2, 4})}, {2, 2}) == Values{0, 5, 2, 0});
  Array out(Dtype::float64, {2, 3});
  CHECK(status_of(LOCUS_ARRAY_SCATTER, {real({2, 1}, {1, 2}), whole({2, 1}, {0, 3})}, out) == LOCUS_FAULT);
  const Triplets t = triplets(real({2, 3}, {0, 5, 0, 7, 0, missing}));
  REQUIRE(t.rows.count() == 3);
  CHECK((t.rows.number(1) == 1 && t.cols.number(1) == 0 && t.vals.number(1) == 7 && std::isnan(t.vals.number(2))));
}

TEST_CASE("groups of mean shift's ends") {
  // the oracle's f_group on the same points
  const Groups g = group_points(real({5, 2}, {0, 0, 5, 5, 0.1, 0, 5, 5, 9, 9}), real({5}, {3, 2, 4, 2, 1}), 1.0);
  REQUIRE(g.centres.shape() == Shape{3, 2});
  CHECK(g.centres.number(0) == 0.1);
  CHECK(g.centres.number(2) == 5);
  CHECK(g.centres.number(4) == 9);
  for (std::int64_t k = 0; k < 5; ++k) CHECK(g.labels.number(k) == Values{0, 1, 0, 1, 2}[k]);
  const Groups line = group_points(real({2}, {1, 2}), real({2}, {1, 1}), 0.5);
  CHECK(line.centres.shape() == Shape{2});
  CHECK(line.centres.number(0) == 2);  // of equal size the larger point first
}

TEST_CASE("trustworthiness as the oracle computes it") {
  const Array x = real({6, 2}, {0, 0, 1, 0, 0, 1.1, 3, 3, 4, 3, 3, 4.2}), y = real({6, 1}, {0, 2, 1, 5, 3, 4});
  const double expected = 1 - 2.0 / (6 * 2 * (12 - 6 - 1)) * 3;
  CHECK(result(LOCUS_ARRAY_TRUSTWORTHINESS, {x, y}, {}, {2})[0] == Approx(expected).epsilon(1e-14));
}

TEST_CASE("chance is Philox, the same wherever it runs") {
  // Random123's known answer for philox4x32-10 with all zeros: 6627e8d5 e169c58d bc57ac4c 9b00dbd8
  const double first = static_cast<double>(0x6627e8d5e169c58dULL >> 11) * 0x1p-53;
  CHECK(result(LOCUS_ARRAY_UNIFORM, {}, {3}, {0, 0})[0] == first);
  CHECK(result(LOCUS_ARRAY_UNIFORM, {}, {3}, {1, 0}) != result(LOCUS_ARRAY_UNIFORM, {}, {3}, {2, 0}));
  CHECK(result(LOCUS_ARRAY_UNIFORM, {}, {3}, {1, 0}) != result(LOCUS_ARRAY_UNIFORM, {}, {3}, {1, 1}));
  CHECK(result(LOCUS_ARRAY_UNIFORM, {whole({}, {0})}, {3}, {1, 0}) != result(LOCUS_ARRAY_UNIFORM, {whole({}, {1})}, {3}, {1, 0}));
  CHECK(result(LOCUS_ARRAY_UNIFORM, {}, {3}, {7, 3}) == result(LOCUS_ARRAY_UNIFORM, {}, {3}, {7, 3}));

  const auto moments = [](const Values& v) {
    double mean = 0, square = 0;
    for (double x : v) mean += x / static_cast<double>(v.size()), square += x * x / static_cast<double>(v.size());
    return std::pair{mean, square - mean * mean};
  };
  const auto [mean, variance] = moments(result(LOCUS_ARRAY_NORMAL, {}, {100000}, {5, 0}));
  CHECK(mean == Approx(0).margin(0.015));
  CHECK(variance == Approx(1).margin(0.02));
  for (double a : {0.2, 2.0}) {  // Beta(a, b): mean a / (a + b), variance ab / ((a + b)^2 (a + b + 1))
    const double b = 0.7, sum = a + b;
    const auto [beta, spread] = moments(result(LOCUS_ARRAY_RANDOM_BETA, {real({}, {a}), real({}, {b})}, {50000}, {5, 0}));
    CHECK(beta == Approx(a / sum).margin(0.01));
    CHECK(spread == Approx(a * b / (sum * sum * (sum + 1))).margin(0.005));
  }
  CHECK(result(LOCUS_ARRAY_RANDOM_BETA, {real({}, {0}), real({}, {1})}, {1}, {5, 0}) == Values{1});
}

TEST_CASE("random indices favour none, permutations hold each once") {
  std::vector<int> hits(7);
  for (double v : result(LOCUS_ARRAY_RANDOM_INDEX, {}, {70000}, {9, 0, 7}, Dtype::int64)) ++hits.at(static_cast<std::size_t>(v));
  for (int h : hits) CHECK(std::abs(h - 10000) < 400);
  const Values p = result(LOCUS_ARRAY_PERMUTATION, {}, {1000}, {9, 0}, Dtype::int64);
  CHECK(std::set<double>(p.begin(), p.end()).size() == 1000);
  CHECK((*std::max_element(p.begin(), p.end()) == 999 && !std::is_sorted(p.begin(), p.end())));
}

TEST_CASE("shapes and parameters that do not fit are refused") {
  Array two(Dtype::float64, {2}), image(Dtype::float64, {2, 2}), index(Dtype::int64, {2});
  CHECK(status_of(LOCUS_ARRAY_CONCAT, {real({1}, {1})}, two) == LOCUS_FAILED);
  CHECK(status_of(LOCUS_ARRAY_SORT, {real({3}, {1, 2, 3})}, two) == LOCUS_FAILED);
  CHECK(status_of(LOCUS_ARRAY_SORT, {}, two) == LOCUS_FAILED);
  CHECK(status_of(LOCUS_ARRAY_PAD_EDGE, {real({2, 2}, {1, 2, 3, 4})}, image, {1}) == LOCUS_FAILED);
  CHECK(status_of(LOCUS_ARRAY_PAD_EDGE, {real({2, 2}, {1, 2, 3, 4})}, image, {}) == LOCUS_FAILED);
  CHECK(status_of(LOCUS_ARRAY_PATCHES, {real({2, 2}, {1, 2, 3, 4})}, image, {3}) == LOCUS_FAILED);
  CHECK(status_of(LOCUS_ARRAY_UNIFORM, {}, two, {-1, 0}) == LOCUS_FAILED);
  CHECK(status_of(LOCUS_ARRAY_UNIFORM, {}, index, {1, 0}) == LOCUS_FAILED);
  CHECK(status_of(LOCUS_ARRAY_RANDOM_INDEX, {}, index, {1, 0, 0}) == LOCUS_FAILED);
  CHECK(status_of(static_cast<locus_array_function>(99), {real({1}, {1})}, two) == LOCUS_UNSUPPORTED);
}

namespace {

struct List {
  Values starts, rows, columns, values;
  bool operator==(const List&) const = default;
};

Array wholes(const Values& v) { return whole({static_cast<std::int64_t>(v.size())}, v); }
Array reals(const Values& v) { return real({static_cast<std::int64_t>(v.size())}, v); }

/// Lists of n rows with room for e pairs.
int list_of(locus_array_function f, std::vector<Array> in, std::int64_t n, std::int64_t e, List& list, const Values& parameters = {}) {
  std::vector<Array> out{Array(Dtype::int64, {n + 1}), Array(Dtype::int64, {e}), Array(Dtype::int64, {e})};
  if (f != LOCUS_ARRAY_PAIRS_JOIN) out.emplace_back(Dtype::float64, Shape{e});
  std::vector<locus_host_array> given, made;
  for (Array& a : in) given.push_back(view(a));
  for (Array& a : out) made.push_back(view(a));
  const int status = array_function(f, static_cast<std::uint32_t>(given.size()), given.data(), static_cast<std::uint32_t>(made.size()), made.data(), static_cast<std::uint32_t>(parameters.size()), parameters.data());
  Values* const parts[] = {&list.starts, &list.rows, &list.columns, &list.values};
  for (std::size_t k = 0; k < out.size(); ++k) {
    parts[k]->clear();
    for (std::int64_t t = 0; t < out[k].count(); ++t) parts[k]->push_back(out[k].number(t));
  }
  return status;
}

}  // namespace

TEST_CASE("lists of pairs: made of neighbours and of triples, turned, joined") {
  List a, b;
  REQUIRE(list_of(LOCUS_ARRAY_PAIRS, {whole({3, 2}, {2, 0, 1, 1, -1, 0}), real({3, 2}, {1, 2, 3, 4, 5, 6})}, 3, 6, a, {4}) == LOCUS_OK);
  CHECK(a == List{{0, 2, 3, 4}, {0, 0, 1, 2, 0, 0}, {0, 2, 1, 0, 0, 0}, {2, 1, 7, 6, 0, 0}});
  REQUIRE(list_of(LOCUS_ARRAY_PAIRS, {wholes({2, 0, 2}), wholes({3, 1, 3}), reals({1, 2, 4})}, 3, 3, b, {4}) == LOCUS_OK);
  CHECK(b == List{{0, 1, 1, 2}, {0, 2, 0}, {1, 3, 0}, {2, 5, 0}});
  List turned, joined;
  REQUIRE(list_of(LOCUS_ARRAY_PAIRS_TURN, {wholes(a.starts), wholes(a.columns), reals(a.values)}, 4, 6, turned) == LOCUS_OK);
  CHECK(turned == List{{0, 2, 3, 4, 4}, {0, 0, 1, 2, 0, 0}, {0, 2, 1, 0, 0, 0}, {2, 6, 7, 1, 0, 0}});
  REQUIRE(list_of(LOCUS_ARRAY_PAIRS_JOIN, {wholes(a.starts), wholes(a.columns), wholes(b.starts), wholes(b.columns)}, 3, 12, joined, {1}) == LOCUS_OK);
  CHECK(joined.starts == Values{0, 3, 4, 7});
  CHECK(Values(joined.columns.begin(), joined.columns.begin() + 7) == Values{0, 1, 2, 1, 0, 2, 3});
  CHECK(result(LOCUS_ARRAY_PAIRS_AT, {wholes(a.starts), wholes(a.columns), reals(a.values), wholes(joined.starts), wholes(joined.columns)}, {12}) == Values{2, 0, 1, 7, 6, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("lists of pairs: sums, products, every entry") {
  const std::vector<Array> a{wholes({0, 2, 2, 3}), wholes({0, 0, 2, 0}), wholes({0, 3, 1, 0}), reals({1, 2, 3, 99})};
  const auto with = [&](Array x) { return std::vector<Array>{a[0], a[1], a[2], a[3], std::move(x)}; };
  CHECK(result(LOCUS_ARRAY_PAIRS_SUM, {a[0], a[1], a[3]}, {3}) == Values{3, 0, 3});
  CHECK(result(LOCUS_ARRAY_PAIRS_LOOK, {a[0], a[2], a[3], wholes({2, 0, 0, 1}), wholes({1, 3, 2, -1})}, {4}) == Values{3, 2, 0, 0});
  CHECK(result(LOCUS_ARRAY_PAIRS_LOOK, {a[0], a[2], a[3], whole({3, 2}, {3, 1, -1, 0, 1, 1})}, {3, 2}) == Values{2, 0, 0, 0, 3, 3});
  CHECK(result(LOCUS_ARRAY_PAIRS_SUM, {a[0], a[1], real({4, 2}, {1, 10, 2, 20, 3, 30, 9, 9})}, {3, 2}) == Values{3, 30, 0, 0, 3, 30});
  CHECK(result(LOCUS_ARRAY_PAIRS_TIMES, with(reals({1, 10, 100, 1000})), {3}) == Values{2001, 0, 30});
  CHECK(result(LOCUS_ARRAY_PAIRS_TIMES, with(real({4, 2}, {1, 0, 0, 1, 1, 1, 2, 3})), {3, 2}) == Values{5, 6, 0, 0, 0, 3});
  CHECK(result(LOCUS_ARRAY_PAIRS_WHOLE, a, {3, 4}) == Values{1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0});
}

TEST_CASE("lists of pairs that are none are refused") {
  Array out(Dtype::float64, {2});
  const auto product = [&](const Values& starts, const Values& columns) { return status_of(LOCUS_ARRAY_PAIRS_TIMES, {wholes(starts), wholes({0, 1}), wholes(columns), reals({1, 2}), reals({1, 2})}, out); };
  CHECK(product({0, 1, 2}, {0, 1}) == LOCUS_OK);
  CHECK(product({0, 1, 3}, {0, 1}) == LOCUS_FAILED);
  CHECK(product({0, 2, 1}, {0, 1}) == LOCUS_FAILED);
  CHECK(product({1, 1, 2}, {0, 1}) == LOCUS_FAILED);
  CHECK(product({0, 2, 2}, {1, 0}) == LOCUS_FAILED);
  CHECK(product({0, 1, 2}, {0, 2}) == LOCUS_FAILED);
  CHECK(product({0, 1, 2}, {-1, 1}) == LOCUS_FAILED);
  List list;
  CHECK(list_of(LOCUS_ARRAY_PAIRS, {wholes({2}), wholes({0}), reals({1})}, 2, 1, list, {2}) == LOCUS_FAULT);
  CHECK(list_of(LOCUS_ARRAY_PAIRS, {wholes({0}), wholes({2}), reals({1})}, 2, 1, list, {2}) == LOCUS_FAULT);
  CHECK(list_of(LOCUS_ARRAY_PAIRS, {wholes({0, 0}), wholes({0, 1}), reals({1, 1})}, 2, 1, list, {2}) == LOCUS_FAILED);
}

TEST_CASE("the distance to the k-th nearest on a line") {
  CHECK(result(LOCUS_ARRAY_REACH, {reals({0, 5, 2}), reals({4, 1, 2, 7})}, {3}, {2, 0}) == Values{2, 2, 1});
  CHECK(result(LOCUS_ARRAY_REACH, {reals({4, 1, 2, 7, 2}), reals({4, 1, 2, 7, 2})}, {5}, {1, 1}) == Values{2, 1, 0, 3, 0});
  CHECK(result(LOCUS_ARRAY_REACH, {reals({4, 1}), reals({4, 1})}, {2}, {9, 0}) == Values{3, 3});
  CHECK(result(LOCUS_ARRAY_REACH, {reals({0}), reals({HUGE_VAL, 3, 1})}, {1}, {3, 0}) == Values{HUGE_VAL});
}
