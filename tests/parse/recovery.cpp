// After a mistake the parser goes on at the next line that begins a declaration; what was read well stays.
// Knows nothing of the messages' words: tests/errors compares those.
#include <catch2/catch.hpp>
#include "reading.hpp"

using reading::Read;

TEST_CASE("several mistakes are told in one run, and the good declarations stay") {
  const Read read(
      "kernel good(a, b) = 1\n"
      "kernel bad(a, b) = exp(a\n"
      "hierarchy fine(x: [n]) -> [n] {\n  return x\n}\n"
      "hierarchy worse(x: [n]) -> [n] {\n  let = 3\n  kernel\n  return x\n}\n"
      "local last(x: real) {\n  over a: real\n  minimize (x - a)^2\n  return a\n}\n");
  REQUIRE(read.diagnostics.all().size() == 3);  // the line `kernel` inside the broken body looks like a declaration, and is one more mistake
  CHECK(read.code(0) == "E005");
  CHECK(read.code(1) == "E006");
  CHECK(read.file.declarations.size() == 3);
  CHECK(read.file.declarations[2].local->name.text == "last");
}

TEST_CASE("a missing brace costs one declaration") {
  const Read read("hierarchy a(x: [n]) -> [n] {\n  return x\n\nkernel k(a, b) = 1\nkernel l(a, b) = 2\n");
  CHECK(read.diagnostics.all().size() == 1);
  CHECK(read.code() == "E005");
  CHECK(read.file.declarations.size() == 2);
}

TEST_CASE("a message at the end of the file stands behind the last word") {
  const Read read("hierarchy a(x: [n]) -> [n] {\n  return x\n\n\n# nothing more\n");
  REQUIRE(read.diagnostics.all().size() == 1);
  const locus::Span span = read.diagnostics.all()[0].span;
  CHECK(read.sources.place(span.source, span.low).line == 2);
  CHECK(read.sources.place(span.source, span.low).column == 11);
}

TEST_CASE("an empty file and a file of comments are files") {
  CHECK(Read("").messages() == "");
  CHECK(Read("# only a comment").messages() == "");
  CHECK(Read(" \t\r\n\f\v").file.declarations.empty());
}

TEST_CASE("comments belong to the declaration directly below") {
  const Read read("# far\n\n# near\r\n#two\nkernel a(x, y) = 1  # behind\nkernel b(x, y) = 2\n# last\n  kernel c(x, y) = 3\n");
  REQUIRE(read.file.declarations.size() == 3);
  CHECK(read.file.declarations[0].comment == "near\ntwo");
  CHECK(read.file.declarations[1].comment == "");
  CHECK(read.file.declarations[2].comment == "last");
}

TEST_CASE("line ends of any kind and a byte order mark make no difference") {
  const std::string text = "# one\nkernel a(x, y) =\n  x +\n  y\n";
  std::string returns;
  for (const char c : text) returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(locus::print(Read(returns).file) == locus::print(Read(text).file));
  CHECK(locus::print(Read("\xEF\xBB\xBF" + text).file) == locus::print(Read(text).file));
}
