// No text makes the parser crash, hang or overflow: depth, length, and bytes of any kind.
// Knows nothing of meanings.
#include <catch2/catch.hpp>
#include "reading.hpp"

using reading::expression;
using reading::Read;

namespace {

std::string many(const std::string& text, int count) {
  std::string all;
  for (int k = 0; k < count; ++k) all += text;
  return all;
}

struct Shape {
  const char *open, *core, *close;
};
// Everything that can stand in itself.
const Shape shapes[] = {{"(", "a", ")"},
                        {"-", "a", ""},
                        {"not ", "a < b", ""},
                        {"a ^ ", "a", ""},
                        {"f(", "a", ")"},
                        {"[", "a", "]"},
                        {"a[", "0", "]"},
                        {"(a: ", "a", ")"},
                        {"if a < b then 1 else ", "1", ""},
                        {"if a < b then ", "1", " else 2"},
                        {"mean(", "x", ") at x among x"},
                        {"a < (", "a", ") < b"}};

std::string nested(const Shape& shape, int depth) { return many(shape.open, depth) + shape.core + many(shape.close, depth); }

}  // namespace

TEST_CASE("what stands in itself may do so 256 deep and no deeper") {
  for (const Shape& shape : shapes) {
    INFO(shape.open);
    const std::string printed = expression(nested(shape, 200));
    CHECK(printed.find("error") == std::string::npos);
    CHECK(expression(printed) == printed);
    CHECK(Read("kernel k(a, b) = " + nested(shape, 20000) + "\nkernel l(a, b) = 1\n").code() == "E013");
  }
}

TEST_CASE("blocks in blocks") {
  const auto text = [](int depth) {
    return "hierarchy f(x: [n]) -> [n] {\n" + many("iterate x from x {\n", depth) + "x <- x\n" + many("} limit 3\n", depth) + "return x\n}\n";
  };
  CHECK(Read(text(200)).messages() == "");
  CHECK(Read(text(20000)).code() == "E013");
}

TEST_CASE("long rows are fine until their tree is too high") {
  CHECK(expression("a" + many(" + a", 400)) == "a" + many(" + a", 400));
  CHECK(Read("kernel k(a, b) = a" + many(" + a", 100000) + "\n").code() == "E013");
  CHECK(Read("kernel k(a, b) = a" + many(" < a", 100000) + "\n").code() == "E013");
  CHECK(Read("kernel k(a, b) = a" + many("[0]", 100000) + "\n").code() == "E013");
  CHECK(Read("kernel k(a, b) = f(a" + many(", a", 100000) + ")\n").messages() == "");
}

TEST_CASE("every single byte is read or refused, anywhere") {
  const std::string text = "kernel k(a, b) = exp(a) # c\nimport \"x\"\n";
  for (int byte = 0; byte < 256; ++byte)
    for (std::size_t at = 0; at <= text.size(); ++at) {
      const Read read(text.substr(0, at) + static_cast<char>(byte) + text.substr(at));
      for (const locus::Diagnostic& each : read.diagnostics.all()) REQUIRE(each.span.high <= text.size() + 1);
      REQUIRE(read.messages().size() < 4000);
    }
}

TEST_CASE("every cut of a spec is read or refused") {
  const std::string text = reading::file_text(std::filesystem::path(LOCUS_TREE) / "tests/parse/language/learning.locus");
  REQUIRE_FALSE(text.empty());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const Read read(text.substr(0, at));
    refused += read.diagnostics.failed();
    REQUIRE(read.diagnostics.all().size() <= 1);  // the end is the only mistake
  }
  CHECK(refused > text.size() / 2);
}
