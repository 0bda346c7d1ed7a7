// Maps of weights: names, cuts and transposes give what the lines say, and only that.
#include <cstring>
#include "core/data/weights_map.hpp"
#include "tests/data/rendered.hpp"

using namespace locus;
using namespace locus::test;

namespace {

StoredArray stored(Array array) {
  StoredArray s{"F64", array.dtype(), array.shape(), array.bytes(), {}};
  s.read = [array](Diagnostics&) { return std::optional(array); };
  return s;
}

Weights file() {
  Weights all;
  for (const char* name : {"h.0.w", "h.1.w", "h.10.w"}) all[name] = stored(array_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 6}));
  all["t.b"] = stored(array_of({1, 2, 3}, {3}));
  all["odd name"] = stored(array_of({7}, {}));
  all["h.0.mask"] = stored(array_of({0}, {1}));
  return all;
}

Mapped good(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  const auto map = read_weights_map(sources.add("w.map", text), sources, diagnostics);
  INFO(rendered(diagnostics, sources));
  REQUIRE(map);
  auto mapped = apply(*map, file(), "w.safetensors", diagnostics);
  INFO(rendered(diagnostics, sources));
  REQUIRE(mapped);
  return *mapped;
}

void gives(const Mapped& mapped, const std::string& path, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  INFO(path);
  REQUIRE(mapped.arrays.count(path) == 1);
  const StoredArray& array = mapped.arrays.at(path).array;
  CHECK(array.shape == shape);
  CHECK(array.bytes == values.size() * sizeof(double));
  Diagnostics diagnostics;
  const auto read = array.read(diagnostics);
  REQUIRE(read);
  CHECK(read->shape() == shape);
  CHECK(numbers(*read) == values);
}

}  // namespace

TEST_CASE("layers, cuts and transposes") {
  const Mapped m = good("# all forms\r\na.*.q = h.*.w[:, 1 of 3] transposed  # the second third\na.*.left = h.*.w[:1, 4:]\na.*.none = h.*.w[1:1]\n\"c c\"=\"odd name\"");
  CHECK(m.arrays.size() == 12);  // two have no line and keep their names
  for (const std::string layer : {"0", "1", "10"}) {
    gives(m, "a." + layer + ".q", {2, 2}, {2, 8, 3, 9});
    gives(m, "a." + layer + ".left", {1, 2}, {4, 5});
    gives(m, "a." + layer + ".none", {0, 6}, {});
  }
  gives(m, "c c", {}, {7});
  CHECK(m.arrays.at("a.1.q").source == "h.1.w[:, 1 of 3] transposed");
  CHECK(m.arrays.at("t.b").source.empty());
  CHECK(m.unused.empty());
  CHECK(good("h.0.mask = t.b").unused == std::vector<std::string>{"h.0.mask"});
}

TEST_CASE("a prefix is taken away where it stands, and ignored arrays are used by nobody") {
  const Mapped m = good("prefix t.\nbias = b\nw.* = h.*.w\nignore h.*.mask\nignore odd*\nignore never.there\n");
  gives(m, "bias", {3}, {1, 2, 3});
  CHECK(m.unused.empty());
}

TEST_CASE("an asterisk is one piece between two points") {
  CHECK(matched("h.*.w", "h.10.w") == std::vector<std::string>{"10"});
  CHECK(matched("*.*", "a.b") == std::vector<std::string>{"a", "b"});
  CHECK(matched("a*b.c", "axyb.c") == std::vector<std::string>{"xy"});
  CHECK(matched("w", "w") == std::vector<std::string>{});
  for (const char* other : {"h..w", "h.1.2.w", "h.1", "h.1.w.x", "g.1.w", ""}) CHECK_FALSE(matched("h.*.w", other));
  CHECK_FALSE(matched("**", "ab"));
  CHECK(filled("b.*.c.*", {"1", "x"}) == "b.1.c.x");
}
