// A request that a caller of the library makes, and that does not fit the spec: whole messages. The program asks for these things before it gets here.
#include <catch2/catch.hpp>
#include <sstream>
#include "dsl/compile.hpp"

namespace {

std::string answer(const std::string& text, const locus::Request& request) {
  locus::Sources sources;
  locus::Diagnostics diagnostics;
  const locus::Spec spec = locus::Spec::from_text("a.locus", text, sources, {}, diagnostics);
  locus::lower(spec, request, {}, diagnostics);
  std::ostringstream out;
  locus::write(out, diagnostics, sources);
  return out.str();
}

locus::Array three() { return locus::Array(locus::Dtype::float64, {3}); }
const std::string sum = "hierarchy sum_of(first: [n], second: [n]) -> [n] {\n  return first + second\n}\n";

}  // namespace

TEST_CASE("an input that is missing or unknown is named") {
  locus::Request request;
  request.inputs = {{"first", three()}};
  CHECK(answer(sum, request) ==
        "error[E450]: input 'second' of 'sum_of' is not given: it is declared [n]\n  --> a.locus:1:30\n   |\n 1 | hierarchy sum_of(first: [n], second: [n]) -> [n] {\n   |                              ^~~~~~\n   = help: add `--second FILE`\n");
  request.inputs = {{"first", three()}, {"second", three()}, {"secnd", three()}};
  CHECK(answer(sum, request) == "error[E451]: 'sum_of' has no input or setting 'secnd': it has first, second\n  --> a.locus:1:11\n   |\n 1 | hierarchy sum_of(first: [n], second: [n]) -> [n] {\n   |           ^~~~~~\n   = help: did you mean `--second`?\n");
}

TEST_CASE("a file of several hierarchies needs a choice") {
  CHECK(answer(sum + "hierarchy other(x: [n]) -> [n] { return x }\n", {}) == "error[E455]: the file declares several hierarchies: sum_of, other\n   = help: name one behind the file: `sum_of`\n");
}
