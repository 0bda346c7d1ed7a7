// Arrays: zeroed aligned storage, counts of odd shapes, casts, shared reshapes.
// Knows nothing of files.
#include "core/base/array.hpp"
#include <catch2/catch.hpp>

using namespace locus;

TEST_CASE("an array is zeroed, aligned and counted") {
  for (const Dtype dtype : {Dtype::boolean, Dtype::int64, Dtype::float32, Dtype::float64}) {
    const Array a(dtype, {3, 5});
    CHECK(a.count() == 15);
    CHECK(a.bytes() == 15 * size_of(dtype));
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
    for (std::int64_t k = 0; k < 15; ++k) CHECK(a.number(k) == 0.0);
  }
  CHECK(Array(Dtype::float64, {}).count() == 1);
  CHECK(Array(Dtype::float64, {4, 0, 7}).count() == 0);
  CHECK(Array().count() == 0);
}

TEST_CASE("sizes that cannot be are refused") {
  CHECK_THROWS_AS(Array(Dtype::float64, {-1}), std::invalid_argument);
  CHECK_THROWS_AS(Array(Dtype::float64, {std::int64_t{1} << 40, std::int64_t{1} << 40}), std::length_error);
  CHECK_THROWS_AS(Array(Dtype::float64, {std::int64_t{1} << 61}), std::length_error);
  CHECK(Array(Dtype::float64, {std::int64_t{1} << 40, std::int64_t{1} << 40, 0}).count() == 0);
}

TEST_CASE("casts keep values that fit") {
  Array a(Dtype::float64, {4});
  const double values[] = {0.0, -2.75, 1e9, 0.5};
  for (int k = 0; k < 4; ++k) a.as<double>()[k] = values[k];
  const Array whole = a.cast(Dtype::int64), truth = a.cast(Dtype::boolean), single = a.cast(Dtype::float32);
  CHECK(whole.as<std::int64_t>()[1] == -2);
  CHECK(whole.as<std::int64_t>()[2] == 1000000000);
  CHECK(truth.number(0) == 0);
  CHECK(truth.number(1) == 1);
  CHECK(truth.number(3) == 1);
  CHECK(single.as<float>()[1] == -2.75f);
  CHECK(single.dtype() == Dtype::float32);
}

TEST_CASE("a reshape shares its memory and keeps its count") {
  Array a(Dtype::int64, {2, 6});
  const Array b = a.reshaped({3, 4});
  a.as<std::int64_t>()[7] = 42;
  CHECK(b.number(7) == 42);
  CHECK(shape_text(b.shape()) == "[3, 4]");
  CHECK(shape_text({}) == "[]");
  CHECK_THROWS_AS(a.reshaped({5}), std::invalid_argument);
}
