// What a message of names and axes proposes is text that stands in back ticks in its help, and the spec is sound once it is pasted.
// Each case: the code, a spec with the text that is wrong between two ~, and what is proposed for it.
#include <catch2/catch.hpp>
#include <sstream>
#include "dsl/compile.hpp"

namespace {

struct Repair {
  const char *code, *spec, *right;
};

struct Checked {
  locus::Diagnostics found;
  std::string text;
};

Checked checked(const std::string& spec) {
  locus::Sources sources;
  Checked c;
  const locus::Spec read = locus::Spec::from_text("a.locus", spec, sources, {}, c.found);
  if (!c.found.failed()) locus::check(read, c.found);
  std::ostringstream out;
  locus::write(out, c.found, sources);
  c.text = out.str();
  return c;
}

const Repair names[] = {
    {"E102", "kernel k(a, b) = dot(a, b)\nkernel ~k~(a, b) = dist(a, b)\n", "k2"},
    {"E102", "kernel k2(a, b) = dot(a, b)\nkernel k(a, b) = dot(a, b)\nkernel ~k~(a, b) = dist(a, b)\n", "k3"},
    {"E113", "hierarchy f(x: [n], x2: [n]; ~x~ = 1) -> [n] { return x2 }\n", "x3"},
    {"E113", "kernel k((s, ~s~), (u, v)) = u * v\n", "s2"},
};

const Repair integers[] = {
    {"E206", "hierarchy f(x: [n], ~y: [m]~) -> [m] { return x[y] }\n", "y: int [m]"},
    {"E206", "hierarchy f(x: [n]; ~k = 2.6~) -> real { return x[k] }\n", "k: int = 3"},
    {"E206", "hierarchy f(x: [n]; ~k: real~) -> real { return x[k] }\n", "k: int"},
    {"E206", "hierarchy f(x: [n]) -> real { return x[~1.5~] }\n", "2"},
    {"E206", "hierarchy f(x: [n]) -> [n] { return x[~floor(x)~] }\n", "index(n)"},
    {"E206", "hierarchy f(x: [n]) -> real { return x[~max(x)~] }\n", "0"},
    {"E206", "hierarchy f(x: [n]; ~k = 2.5~) -> int [n, k] { return neighbours() at x among x nearest k }\n", "k: int = 3"},
    {"E206", "hierarchy f(x: [n], y: [n]) -> [n] { return mean(y) at x among x nearest ~2.5~ }\n", "3"},
    {"E206", "hierarchy f(~y: [n]~) -> [n, 3] { return onehot(y, 3) }\n", "y: int [n]"},
    {"E206", "hierarchy f(x: [n]; ~place: real~) -> [n] { return replace(x, place, 0) }\n", "place: int"},
    {"E206", "hierarchy f(w: [n, k], ~near: [n, k]~; m = 5) -> [n, m] { return scatter(w, near, m) }\n", "near: int [n, k]"},
    {"E206", "hierarchy f(~a: [e]~, b: int [e], w: [e]; m = 5) -> [m, m] { return matrix(a, b, w, m) }\n", "a: int [e]"},
    {"E206", "hierarchy f(x: [n]; h = 0.5) -> [n] { return ~(x + 1) // h~ }\n", "floor((x + 1) / h)"},
    {"E206", "hierarchy f(x: [n]; h = 0.5) -> [n] { return ~(x + 1) % h~ }\n", "x + 1 - h * floor((x + 1) / h)"},
    {"E206", "hierarchy f(x: [n]) -> [n] {\n  ~let k: int [n] = x / 2~\n  return k\n}\n", "let k: [n] = x / 2"},
    {"E206", "hierarchy f(x: [n]) -> real {\n  ~let k: int = mean(x)~\n  return k\n}\n", "let k: real = mean(x)"},
    {"E206", "hierarchy g(x: [n]; k: int) -> [n] { return x * k }\nhierarchy f(x: [n]) -> [n] { return g(x; k = ~2.5~) }\n", "3"},
};

const Repair places[] = {
    {"E208", "hierarchy f(x: [n]) -> real { return ~x[0, 1]~ }\n", "x[0]"},
    {"E208", "hierarchy f(x: [n], y: [n, d]) -> [n] { return mean(~y[j, 0, 1]~) at x among x by dist(x[i], x[j]) }\n", "y[j, 0]"},
    {"E208", "hierarchy f(x: [3]) -> real { return ~x[3]~ }\n", "x[2]"},
    {"E208", "hierarchy f(x: [n, 3]) -> [n] { return ~x[:, 7]~ }\n", "x[:, 2]"},
    {"E208", "hierarchy f(x: [3]) -> [n] {\n  let y: [n] = ~x[1:5]~\n  return y\n}\n", "x[1 :]"},
    {"E208", "hierarchy f(x: [3]) -> [3] { return replace(x, ~3~, 0) }\n", "2"},
    {"E208", "hierarchy g(x: [n]) -> [n] {\n  param w: real = 1\n  return w * x\n}\nhierarchy f(x: [n]) -> [n] {\n  param one: g\n  return ~one[0]~(x)\n}\n", "one"},
    {"E208", "hierarchy g(x: [n]) -> [n] {\n  param w: real = 1\n  return w * x\n}\nhierarchy f(x: [n]) -> [n] {\n  param one: g [2]\n  return ~one[2]~(x)\n}\n", "one[1]"},
};

const Repair axes[] = {
    {"E210", "hierarchy f(x: [n, d]) ~-> [n]~ { return x }\n", "-> [n, d]"},
    {"E210", "hierarchy f(x: int [n, d]) ~-> int [n]~ { return x }\n", "-> int [n, d]"},
    {"E210", "hierarchy f(x: [n, d]) -> (~all: [n]~, mean: real) { return (all: x, mean: mean(x)) }\n", "all: [n, d]"},
    {"E210", "hierarchy f(x: [n]) ~-> (a: [n], b: real)~ { return (a: x, c: max(x)) }\n", "-> (a: [n], c: real)"},
    {"E211", "hierarchy f(x: [n, d]) -> [n, d] {\n  ~let z: [n] = x + 1~\n  return z\n}\n", "let z: [n, d] = x + 1"},
    {"E211", "hierarchy f(x: [n]) -> [n] {\n  ~let z: [n, n] = x + 1~\n  return z\n}\n", "let z: [n] = x + 1"},
    {"E211", "hierarchy g(x: [a, b, c]) -> [a] { return sum(sum(x, c), b) }\nhierarchy f(x: [n]) -> [n] { return g(~x~) }\n", "reshape(x, n, 1, 1)"},
    {"E211", "local line(x: real, y: real) {\n  over a: real\n  minimize (y - a * x)^2\n  return a\n}\nhierarchy f(x: [n]; h = 1.0) -> real { return line(x, ~h~) }\n", "h * ones(n)"},
    {"E211", "local line(x: real, y: real) {\n  over a: real\n  minimize (y - a * x)^2\n  return a\n}\nhierarchy f(x: [n], y: [n, p]) -> real { return line(x, ~y~) }\n", "y[.., 0]"},
    {"E211", "local level(x: [d], ~y: [d]~) {\n  over a: real\n  minimize sum((y - a * x)^2)\n  return a\n}\nhierarchy f(x: [n, d], y: [n]) -> real { return level(x, y) }\n", "y: real"},
};

/// The spec with what stands between the two ~ kept, or replaced.
std::string text_of(const Repair& r, bool mended) {
  const std::string spec = r.spec;
  const auto low = spec.find('~'), high = spec.find('~', low + 1);
  REQUIRE(high != std::string::npos);
  return spec.substr(0, low) + (mended ? r.right : spec.substr(low + 1, high - low - 1)) + spec.substr(high + 1);
}

template <std::size_t count>
void try_all(const Repair (&repairs)[count]) {
  for (const Repair& r : repairs) {
    CAPTURE(r.spec, r.right);
    const Checked wrong = checked(text_of(r, false));
    CAPTURE(wrong.text);
    CHECK(checked(text_of(r, true)).text == "");
    CHECK(wrong.found.all().size() == 1);
    if (wrong.found.all().empty()) continue;
    CHECK(locus::info(wrong.found.all()[0].code).name == std::string(r.code));
    CHECK(wrong.found.all()[0].help.find("`" + std::string(r.right) + "`") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a name that stands twice is given another that is free") { try_all(names); }
TEST_CASE("where integers are needed their declaration or a whole number is proposed") { try_all(integers); }
TEST_CASE("a place that is not there gives way to one that is") { try_all(places); }
TEST_CASE("axes are proposed as they have come out") { try_all(axes); }
