// Results written and read back; failed writes leave what was there.
#include <sys/stat.h>
#include <unistd.h>
#include <cmath>
#include <fstream>
#include <limits>
#include "core/data/csv.hpp"
#include "core/data/npy.hpp"
#include "core/data/number.hpp"
#include "core/data/write.hpp"
#include "tests/data/rendered.hpp"

using namespace locus;
using namespace locus::test;

namespace {

std::string text_of(const std::vector<Result>& results, const std::optional<Kept>& kept = std::nullopt) {
  Diagnostics diagnostics;
  const auto text = csv_text(results, ',', kept, "out.csv", diagnostics);
  INFO(rendered(diagnostics));
  REQUIRE(text);
  return *text;
}

}  // namespace

TEST_CASE("tables: names, numbers of columns, shortest digits") {
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(text_of({{"m", array_of({0.1, 1e23, -infinite, NAN}, {4})}}) == "m\n0.1\n1e+23\n-inf\nNaN\n");
  CHECK(text_of({{"m", array_of({1, 2, 3, 4}, {2, 2})}, {"k", Array(Dtype::int64, {2})}}) == "m_0,m_1,k\n1,2,0\n3,4,0\n");
  CHECK(text_of({{"total", array_of({2.5}, {})}}) == "total\n2.5\n");
  CHECK(text_of({{"flag", Array(Dtype::boolean, {1})}}) == "flag\n0\n");
  Array single(Dtype::float32, {1});
  single.as<float>()[0] = 0.1f;
  CHECK(text_of({{"s", single}}) == "s\n0.1\n");
  CHECK(text_of({{"a,\"b\"", array_of({1}, {1})}}) == "\"a,\"\"b\"\"\"\n1\n");
}

TEST_CASE("rows left out are written NA at their own number") {
  const Kept kept{{0, 2, 4}, 5};
  CHECK(text_of({{"m", array_of({2, 6, 10}, {3})}}, kept) == "row,m\n1,2\n2,NA\n3,6\n4,NA\n5,10\n");
  CHECK(text_of({{"total", array_of({18}, {})}}, kept) == "total\n18\n");
}

TEST_CASE("a written table reads back to the same bits") {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(std::ldexp(std::sin(i + 1.0), i * 7 - 700));
  Diagnostics diagnostics;
  const auto table = read_csv(text_of({{"m", array_of(values, {100, 2})}}), "back.csv", {}, diagnostics);
  REQUIRE(table);
  const auto back = select(*table, {"m_0", "m_1"}, Missing::refuse, diagnostics);
  REQUIRE(back);
  CHECK(numbers(*back) == values);
}

TEST_CASE("files are chosen by their end and are complete") {
  Diagnostics diagnostics;
  const std::vector<Result> results = {{"m", array_of({1, 2}, {2})}};
  const std::string npy = scratch("m.npy"), csv = scratch("m.csv"), tsv = scratch("m.tsv");
  REQUIRE(write_results(npy, results, {}, diagnostics));
  REQUIRE(write_results(csv, results, {}, diagnostics));
  REQUIRE(write_results(tsv, std::vector<Result>{results[0], results[0]}, {}, diagnostics));
  CHECK(bytes_of(npy) == npy_bytes(results[0].array));
  CHECK(bytes_of(csv) == "m\n1\n2\n");
  CHECK(bytes_of(tsv) == "m\tm\n1\t1\n2\t2\n");
  CHECK(write_results(scratch("kept.npy"), results, Kept{{1, 2}, 3}, diagnostics));
  const auto spread = read_npy_file(scratch("m.npy").replace(scratch("m.npy").size() - 5, 5, "kept.npy"), diagnostics);
  REQUIRE(spread);
  CHECK(std::isnan(spread->number(0)));
  CHECK(spread->number(2) == 2);
}

TEST_CASE("an older file keeps its permissions, a link stays a link, nothing is left beside") {
  Diagnostics diagnostics;
  const std::string folder = scratch("old"), path = folder + "/m.csv", link = folder + "/link.csv";
  std::filesystem::create_directories(folder);
  std::ofstream(path) << "old";
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  std::filesystem::create_symlink("m.csv", link);
  REQUIRE(write_file(link, "new", diagnostics));
  CHECK(bytes_of(path) == "new");
  CHECK(std::filesystem::is_symlink(link));
  struct stat about {};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0640);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()) == 2);
}

TEST_CASE("a pipe or device is written directly") {
  Diagnostics diagnostics;
  CHECK(write_file("/dev/null", "gone", diagnostics));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("words for numbers") {
  CHECK(number_word(-0.0) == "-0");
  CHECK(number_word(std::nan("")) == "NaN");
  CHECK(parse_number("1e400") == std::nullopt);
  CHECK(parse_number("0x10") == std::nullopt);
  CHECK(parse_number("+-3") == std::nullopt);
  CHECK(parse_number("1,5") == std::nullopt);
  CHECK(parse_integer("9223372036854775808") == std::nullopt);
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
}
