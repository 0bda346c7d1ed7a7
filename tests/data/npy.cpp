// .npy files as numpy writes them come in equal, whatever their version, order and type; written arrays read back to the bit.
#include <cmath>
#include <limits>
#include <random>
#include "core/data/npy.hpp"
#include "tests/data/rendered.hpp"

using namespace locus;
using namespace locus::test;

namespace {

Array good(const std::string& file) {
  Diagnostics diagnostics;
  const auto array = read_npy_file(fixture(file), diagnostics);
  INFO(file << "\n" << rendered(diagnostics));
  REQUIRE(array);
  REQUIRE(diagnostics.all().empty());
  return *array;
}

}  // namespace

TEST_CASE("the same matrix is read from every kind of numbers, order and version") {
  const auto [file, dtype] = GENERATE(table<const char*, Dtype>(
      {{"fortran_int16.npy", Dtype::int64}, {"big_float64.npy", Dtype::float64}, {"big_fortran_int32.npy", Dtype::int64}, {"float16.npy", Dtype::float32},
       {"float32.npy", Dtype::float32}, {"uint8.npy", Dtype::int64}, {"int8.npy", Dtype::int64}, {"uint16.npy", Dtype::int64},
       {"uint32.npy", Dtype::int64}, {"uint64.npy", Dtype::int64}, {"int64.npy", Dtype::int64}, {"version2.npy", Dtype::float64},
       {"version3.npy", Dtype::float64}}));
  const Array array = good(file);
  INFO(file);
  CHECK(array.dtype() == dtype);
  CHECK(array.shape() == std::vector<std::int64_t>{2, 3});
  CHECK(numbers(array) == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("booleans, numbers without axes, no rows, three axes") {
  const Array truth = good("bool.npy");
  CHECK(truth.dtype() == Dtype::boolean);
  CHECK(numbers(truth) == std::vector<double>(6, 1));
  const Array scalar = good("scalar.npy");
  CHECK(scalar.shape().empty());
  CHECK(numbers(scalar) == std::vector<double>{2.5});
  CHECK(good("no_rows.npy").shape() == std::vector<std::int64_t>{0, 3});
  const Array cube = good("cube_fortran.npy");
  CHECK(cube.shape() == std::vector<std::int64_t>{2, 3, 4});
  for (std::int64_t k = 0; k < 24; ++k) CHECK(cube.number(k) == static_cast<double>(k));
}

TEST_CASE("half precision is widened exactly") {
  const std::vector<double> values = numbers(good("halves.npy"));
  REQUIRE(values.size() == 9);
  CHECK(values[0] == 0);
  CHECK(std::signbit(values[1]));
  CHECK(values[2] == 1);
  CHECK(values[3] == -2);
  CHECK(values[4] == 65504);
  CHECK(values[5] == 0x1p-24);  // the smallest half, to which 6e-8 is rounded
  CHECK(std::isinf(values[6]));
  CHECK(std::isnan(values[7]));
  CHECK(values[8] == 0.333251953125);
}

TEST_CASE("written arrays read back to the bit") {
  std::mt19937_64 random(7);
  for (const Dtype dtype : {Dtype::boolean, Dtype::int64, Dtype::float32, Dtype::float64}) {
    for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {7}, {0, 3}, {5, 3}, {2, 3, 4}}) {
      Array array(dtype, shape);
      for (std::size_t k = 0; k < array.bytes(); ++k) array.as<unsigned char>()[k] = static_cast<unsigned char>(random() & (dtype == Dtype::boolean ? 1 : 255));
      const std::string bytes = npy_bytes(array);
      CHECK((bytes.size() - array.bytes()) % 64 == 0);
      Diagnostics diagnostics;
      const auto back = read_npy(bytes, "back.npy", diagnostics);
      REQUIRE(back);
      CHECK(back->dtype() == dtype);
      CHECK(back->shape() == shape);
      CHECK(std::equal(back->as<char>(), back->as<char>() + array.bytes(), array.as<char>()));
    }
  }
}

TEST_CASE("every cut and every lengthening of a file is an error") {
  const std::string whole = bytes_of(fixture("big_float64.npy"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Diagnostics diagnostics;
    CHECK_FALSE(read_npy(std::string_view(whole).substr(0, size), "cut.npy", diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
  Diagnostics diagnostics;
  CHECK_FALSE(read_npy(whole + "x", "long.npy", diagnostics));
  CHECK(diagnostics.errors() == 1);
}

TEST_CASE("numpy reads what is written: the header is numpy's own") {
  const std::string bytes = npy_bytes(Array(Dtype::float64, {2, 3}));
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(bytes.substr(10, 60) == "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), } ");
  CHECK(npy_bytes(Array(Dtype::int64, {4})).find("'shape': (4,), }") != std::string::npos);
  CHECK(npy_bytes(Array(Dtype::int64, {})).find("'shape': (), }") != std::string::npos);
}
