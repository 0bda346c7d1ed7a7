// The look of a message to the byte: gutters, carets under tabs, wide and broken characters, notes, colours; and the search for a meant name.
// Knows nothing of the language.
#include "core/base/diagnostic.hpp"
#include <catch2/catch.hpp>
#include <sstream>

using namespace locus;

namespace {

std::string shown(const Diagnostic& d, const Sources& sources, bool colour = false) {
  std::ostringstream out;
  write(out, d, sources, colour);
  return out.str();
}

}  // namespace

TEST_CASE("a message has a head, a place, a line, a caret, notes and help") {
  Sources sources;
  const auto id = sources.add("smooth.locus", "\n\n\n  return mean(y) by gaussian(bandwith)\n");
  const Diagnostic d{
      Code::E006, {id, 31, 39}, "nothing is named `bandwith` here", "not known", {{{}, "names are declared before use"}}, "did you mean `bandwidth`?", ""};
  CHECK(shown(d, sources) ==
        "error[E006]: nothing is named `bandwith` here\n"
        "  --> smooth.locus:4:29\n"
        "   |\n"
        " 4 |   return mean(y) by gaussian(bandwith)\n"
        "   |                             ^~~~~~~~ not known\n"
        "   = note: names are declared before use\n"
        "   = help: did you mean `bandwidth`?\n");
}

TEST_CASE("a note with a place shows its line, and all frames share a gutter") {
  Sources sources;
  const auto id = sources.add("a", "first\n2\n3\n4\n5\n6\n7\n8\n9\ntenth line\n");
  const Diagnostic d{Code::E006, {id, 0, 5}, "one", "", {{{id, 22, 27}, "two"}}, "", ""};
  CHECK(shown(d, sources) ==
        "error[E006]: one\n"
        "   --> a:1:1\n"
        "    |\n"
        "  1 | first\n"
        "    | ^~~~~\n"
        "    = note: two\n"
        "   --> a:10:1\n"
        "    |\n"
        " 10 | tenth line\n"
        "    | ^~~~~\n");
}

TEST_CASE("tabs stay tabs, and characters of any width do not shift the caret") {
  Sources sources;
  const auto tabs = sources.add("t", "\ta\t\u00e4\u00f6 x y\n");
  CHECK(shown({Code::E006, {tabs, 8, 9}, "m", "", {}, "", ""}, sources) == "error[E006]: m\n  --> t:1:7\n   |\n 1 | \ta\t\u00e4\u00f6 x y\n   | \t \t   ^\n");
  const auto wide = sources.add("w", "\u65e5\u672c e\u0301 x\n");
  CHECK(shown({Code::E006, {wide, 11, 12}, "m", "", {}, "", ""}, sources) == "error[E006]: m\n  --> w:1:7\n   |\n 1 | \u65e5\u672c e\u0301 x\n   |        ^\n");
  const auto broken = sources.add("b", "a\xff\x1b[31m x\r\n");
  CHECK(shown({Code::E006, {broken, 8, 9}, "m", "", {}, "", ""}, sources) == "error[E006]: m\n  --> b:1:9\n   |\n 1 | a\ufffd\ufffd[31m x\n   |         ^\n");
}

TEST_CASE("a span over several lines shows its first, an empty one a caret") {
  Sources sources;
  const auto id = sources.add("s", "one two\nthree\n");
  CHECK(shown({Code::E006, {id, 4, 12}, "m", "", {}, "", ""}, sources) == "error[E006]: m\n  --> s:1:5\n   |\n 1 | one two\n   |     ^~~\n");
  CHECK(shown({Code::E006, {id, 7, 7}, "m", "here", {}, "", ""}, sources) == "error[E006]: m\n  --> s:1:8\n   |\n 1 | one two\n   |        ^ here\n");
  CHECK(shown({Code::E006, {id, 14, 14}, "m", "", {}, "", ""}, sources) == "error[E006]: m\n  --> s:3:1\n   |\n 3 | \n   | ^\n");
}

TEST_CASE("a message may have a place that is no span, or none") {
  const Sources sources;
  CHECK(shown({Code::E006, {}, "m", "", {}, "h", "prices.csv:17:3"}, sources) == "error[E006]: m\n  --> prices.csv:17:3\n   = help: h\n");
  CHECK(shown({Code::E006, {}, "m", "", {}, "", ""}, sources) == "error[E006]: m\n");
}

TEST_CASE("of a very long line the surroundings of the caret are shown") {
  Sources sources;
  const auto id = sources.add("l", std::string(5000, 'a') + "b" + std::string(5000, 'c'));
  const std::string text = shown({Code::E006, {id, 5000, 5001}, "m", "", {}, "", ""}, sources);
  CHECK(text.size() < 500);
  CHECK(text.find("\n   | " + std::string(123, ' ') + "^\n") != std::string::npos);
  CHECK(text.find(" 1 | ..." + std::string(120, 'a') + "b" + std::string(79, 'c') + "...\n") != std::string::npos);
}

TEST_CASE("colours are added only when asked for") {
  Sources sources;
  const auto id = sources.add("c", "x\n");
  const Diagnostic d{Code::E006, {id, 0, 1}, "m", "l", {}, "h", ""};
  CHECK(shown(d, sources).find('\x1b') == std::string::npos);
  std::string plain, coloured = shown(d, sources, true);
  for (std::size_t k = 0; k < coloured.size(); ++k) {
    if (coloured[k] == '\x1b')
      k = coloured.find('m', k);
    else
      plain += coloured[k];
  }
  CHECK(coloured.find('\x1b') != std::string::npos);
  CHECK(plain == shown(d, sources));
}

TEST_CASE("only errors make a run fail") {
  Diagnostics all;
  for (const CodeInfo& row : code_table()) {
    const std::size_t before = all.errors();
    all.add({row.code, {}, "m", "", {}, "", ""});
    CHECK(all.errors() - before == (row.severity == Severity::error ? 1u : 0u));
    CHECK(info(row.code).name == row.name);
  }
}

TEST_CASE("the name that was meant") {
  const std::vector<std::string> names = {"bandwidth", "gaussian", "mean", "x", "query", "tricube"};
  CHECK(nearest_name("bandwith", names) == "bandwidth");
  CHECK(nearest_name("gausian", names) == "gaussian");
  CHECK(nearest_name("guassian", names) == "gaussian");
  CHECK(nearest_name("Mean", names) == "mean");
  CHECK(nearest_name("quary", names) == "query");
  CHECK(nearest_name("y", names) == "");
  CHECK(nearest_name("kernel", names) == "");
  CHECK(nearest_name("", names) == "");
  CHECK(nearest_name("mean", {"mean"}) == "");
  CHECK(nearest_name(std::string(100000, 'a'), names) == "");
}

TEST_CASE("places count lines and characters from 1") {
  Sources sources;
  const auto id = sources.add("p", "a\u00e4b\r\nc\n");
  CHECK(sources.place(id, 3).column == 3);
  CHECK(sources.line(id, 0) == "a\u00e4b");
  CHECK(sources.place(id, 6).line == 2);
  CHECK(sources.line(id, 6) == "c");
  CHECK(sources.line(id, 99) == "");
  CHECK(sources.text({id, 1, 3}) == "\u00e4");
  CHECK(sources.text({id, 5, 99}) == "\nc\n");
  CHECK(cover({1, 2, 3}, {1, 7, 9}) == Span{1, 2, 9});
  CHECK(cover({}, {1, 7, 9}) == Span{1, 7, 9});
  CHECK(cover({2, 2, 3}, {1, 7, 9}) == Span{2, 2, 3});
}
