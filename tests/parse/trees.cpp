// How expressions group, what the printer writes, and where the nodes of the tree stand.
// Knows nothing of meanings.
#include <catch2/catch.hpp>
#include "reading.hpp"

using reading::expression;
using reading::Read;
namespace ast = locus::ast;

namespace {

/// The expression with every binary and prefix operator in parentheses.
std::string grouped(const ast::Expr& e) {
  if (e.kind == ast::ExprKind::binary) {
    const std::string whole = locus::print(e);
    ast::Expr probe;  // the sign of an operator, from the print of `a op b`
    probe.kind = ast::ExprKind::binary;
    probe.op = e.op;
    ast::Expr a, b;
    a.kind = b.kind = ast::ExprKind::name;
    a.name.text = "a";
    b.name.text = "b";
    probe.parts = {std::make_shared<ast::Expr>(std::move(a)), std::make_shared<ast::Expr>(std::move(b))};
    const std::string sign = locus::print(probe);
    return '(' + grouped(*e.parts[0]) + sign.substr(1, sign.size() - 2) + grouped(*e.parts[1]) + ')';
  }
  if (e.kind == ast::ExprKind::negate) return "(-" + grouped(*e.parts[0]) + ')';
  if (e.kind == ast::ExprKind::negation) return "(not " + grouped(*e.parts[0]) + ')';
  return locus::print(e);
}

std::string groups(const std::string& text) {
  const Read read("kernel k(a, b) = " + text + "\n");
  return read.diagnostics.failed() ? read.messages() : grouped(*read.file.declarations.at(0).kernel->body);
}

const ast::Expr& body(const Read& read) { return *read.file.declarations.at(0).kernel->body; }

}  // namespace

TEST_CASE("operators group as the language page says") {
  CHECK(groups("a - b - c") == "((a - b) - c)");
  CHECK(groups("a - b * c") == "(a - (b * c))");
  CHECK(groups("a / b // c % d @ e") == "((((a / b) // c) % d) @ e)");
  CHECK(groups("-x^2") == "(-(x ^ 2))");
  CHECK(groups("2^-x^3") == "(2 ^ (-(x ^ 3)))");
  CHECK(groups("a^b^c") == "(a ^ (b ^ c))");
  CHECK(groups("- -a") == "(-(-a))");
  CHECK(groups("a--b") == "(a - (-b))");
  CHECK(groups("not a < b and c or d") == "(((not (a < b)) and c) or d)");
  CHECK(groups("a or b and c") == "(a or (b and c))");
  CHECK(groups("a <-b") == "(a < (-b))");
  CHECK(groups("a < b <= c != d") == "(((a < b) and (b <= c)) and (c != d))");
  CHECK(groups("(a < b) < c") == "((a < b) < c)");
}

TEST_CASE("the middle of a chain of comparisons is one node") {
  const Read read("kernel k(a, b) = [0 <= a - b < 64]\n");
  const ast::Expr& chain = *body(read).parts.at(0);
  REQUIRE(chain.op == ast::Operator::logical_and);
  CHECK(chain.parts[0]->parts[1] == chain.parts[1]->parts[0]);
  CHECK(locus::print(chain) == "0 <= a - b < 64");
  CHECK(expression("0 <= a and a < 64") == "0 <= a and a < 64");
  CHECK(expression("(a < b < c) < d") == "(a < b < c) < d");
  CHECK(expression("a < (b < c < d) < e") == "a < (b < c < d) < e");
  CHECK(expression("a < b < c and d") == "a < b < c and d");
}

TEST_CASE("numbers keep what they were written as") {
  const Read read("kernel k(a, b) = [3, 3.0, 1e-3, 0.5, 9223372036854775807, 9223372036854775808, 1e2, true]\n");
  const auto& parts = body(read).parts;
  CHECK(parts.at(0)->whole);
  CHECK(parts.at(0)->integer == 3);
  CHECK(parts.at(0)->number == 3.0);
  CHECK_FALSE(parts.at(1)->whole);
  CHECK(parts.at(2)->number == 1e-3);
  CHECK(parts.at(4)->integer == 9223372036854775807);
  CHECK_FALSE(parts.at(5)->whole);
  CHECK(parts.at(5)->number == 9223372036854775808.0);
  CHECK_FALSE(parts.at(6)->whole);
  CHECK(parts.at(7)->truth);
  CHECK(locus::print(body(read)) == "[3, 3.0, 0.001, 0.5, 9223372036854775807, 9223372036854775808.0, 100.0, true]");
}

TEST_CASE("parentheses, tuples, records and brackets") {
  CHECK(expression("((a))") == "a");
  CHECK(expression("(a, b)") == "(a, b)");
  CHECK(expression("(value: a, slope: b + 1)") == "(value: a, slope: b + 1)");
  CHECK(expression("(only: a)") == "(only: a)");
  CHECK(expression("[a < b]") == "[a < b]");
  CHECK(expression("(a + b) * c") == "(a + b) * c");
  CHECK(expression("(-a)^2") == "(-a) ^ 2");
  CHECK(expression("(if a < b then 1 else 2) + 3") == "(if a < b then 1 else 2) + 3");
  CHECK(expression("if a < b then if c then 1 else 2 else 3") == "if a < b then if c then 1 else 2 else 3");
}

TEST_CASE("calls, fields and indices") {
  CHECK(expression("f(a, axis = k; h = 1, 2)") == "f(a, axis = k; h = 1, 2)");
  CHECK(expression("mean()") == "mean()");
  CHECK(expression("adam(; rate = 1)") == "adam(; rate = 1)");
  CHECK(expression("a[.., 0]") == "a[.., 0]");
  CHECK(expression("a[:, 1 : c + 1, lo:, :hi]") == "a[:, 1 : c + 1, lo :, : hi]");
  CHECK(expression("blocks[turn](layernorm(x)).value[i, j]") == "blocks[turn](layernorm(x)).value[i, j]");
  CHECK(expression("(a + b)[0]") == "(a + b)[0]");
  CHECK(expression("x[near] - x") == "x[near] - x");
  CHECK(expression("5 .a") == "(5).a");
  const Read read("kernel k(a, b) = f(a; h)\n");
  CHECK(body(read).semicolon);
  CHECK(body(read).points.size() == 1);
  CHECK(body(read).settings.size() == 1);
}

TEST_CASE("sentences take their clauses in any order and reach as far right as they can") {
  const Read read("kernel k(a, b) = mean(y) at q among x where i != j by gaussian(h) * 2 under l1dist nearest k + 1 otherwise 0\n");
  REQUIRE_FALSE(read.diagnostics.failed());
  const ast::Sentence& s = *body(read).sentence;
  CHECK(locus::print(*s.estimate) == "mean(y)");
  CHECK(locus::print(*s.by) == "gaussian(h) * 2");
  CHECK(locus::print(*s.nearest) == "k + 1");
  CHECK(locus::print(*s.under) == "l1dist");
  CHECK(locus::print(*s.where) == "i != j");
  CHECK(locus::print(*s.otherwise) == "0");
  CHECK(s.within == nullptr);
  CHECK(expression("1 + (mean(y) at q among (x, u))") == "1 + (mean(y) at q among (x, u))");
  CHECK(expression("f(mean(y) at q among x)") == "f(mean(y) at q among x)");
}

TEST_CASE("words of clauses are no names, words of functions are") {
  CHECK(expression("min + max + mean + mass + turn + grad") == "min + max + mean + mass + turn + grad");
  CHECK(expression("i + j + pi + inf") == "i + j + pi + inf");
  for (const char* word : {"kernel", "where", "limit", "over", "true", "real", "in"}) {
    INFO(word);
    CHECK(Read("kernel k(" + std::string(word) + ", b) = 1\n").code() == "E008");
  }
}

TEST_CASE("declarations are printed as they are read") {
  const std::string text =
      "import \"other.locus\"\n"
      "# A kernel.\n"
      "#\n"
      "# Two paragraphs.\n"
      "kernel bilateral((s, u), (t, v); hs, hv: [d] = 1.0) = gaussian(s, t; hs) * gaussian(u, v; hv)\n"
      "local linear(x: [d], y: [p]; ridge = 0) at z {\n"
      "  over a: [p], b: [d, p]\n"
      "  let r = y - a\n"
      "  minimize sqnorm(r - (x - z) @ b)\n"
      "  penalize ridge * sum(b ^ 2)\n"
      "  let s = a\n"
      "  return (value: s, slope: b)\n"
      "}\n"
      "hierarchy all(q: int [n], seen: bool [m]; h: [d] = 1.0, k: int) -> (value: [n], labels: int [steps + 1]) {\n"
      "  param w: [n, 4 * d], sub: dense(d; b = 3) [layers], bias: real = 0\n"
      "  let a: [n] = q\n"
      "  iterate z from q, size from zeros(n) {\n"
      "    size <- mass() at z among q by flat(h)\n"
      "    z <- -z\n"
      "  } until change(z) < 1.0 limit 300\n"
      "  calibrate t: [n] in (0, inf) {\n"
      "    let e = entropy() at q among q by gaussian(t[i])\n"
      "  } until e == log(3)\n"
      "  learn theta from a, free {\n"
      "    minimize f(theta)\n"
      "  } by adam(rate = 0.5) limit k\n"
      "  return (value: a, labels: z)\n"
      "}\n";
  const Read read(text);
  CHECK(read.messages() == "");
  CHECK(locus::print(read.file) == text);
  CHECK(read.file.declarations.at(1).comment == "A kernel.\n\nTwo paragraphs.");
}

TEST_CASE("groups are spread to one entry for each name") {
  const Read read("local f(x: real) {\n  over a, b: real = 1, c: [d]\n  minimize a\n  return b\n}\n");
  const auto& over = read.file.declarations.at(0).local->over;
  REQUIRE(over.size() == 3);
  CHECK(over[0].name.text == "a");
  CHECK(locus::print(*over[0].value) == "1");
  CHECK(over[1].type.base.text == "real");
  CHECK(over[1].value != nullptr);
  CHECK(over[2].value == nullptr);
  CHECK(over[2].type.shape.size() == 1);
}

TEST_CASE("spans cover what was written") {
  const Read read("kernel k(a, b) = (a + b) * f(a)[0]\n");
  const auto text = [&](locus::Span span) { return std::string(read.sources.text(span)); };
  const ast::Expr& product = body(read);
  CHECK(text(product.span) == "(a + b) * f(a)[0]");
  CHECK(text(product.op_span) == "*");
  CHECK(text(product.parts[0]->span) == "a + b");
  CHECK(text(product.parts[1]->span) == "f(a)[0]");
  CHECK(text(product.parts[1]->parts[0]->span) == "f(a)");
  CHECK(text(product.parts[1]->places[0].span) == "0");
  CHECK(text(read.file.declarations[0].span) == "kernel k(a, b) = (a + b) * f(a)[0]");
  const Read steps("hierarchy f(x: [n]) -> [n] {\n  let a: [n] = not x\n  return if a then -a else (a, x)\n}\n");
  const auto& h = *steps.file.declarations.at(0).hierarchy;
  const auto there = [&](locus::Span span) { return std::string(steps.sources.text(span)); };
  CHECK(there(h.steps[0].span) == "let a: [n] = not x");
  CHECK(there(h.steps[0].type.span) == "[n]");
  CHECK(there(h.steps[0].value->span) == "not x");
  CHECK(there(h.result->span) == "if a then -a else (a, x)");
  CHECK(there(h.result->parts[2]->span) == "(a, x)");
  CHECK(there(h.name.span) == "f");
}

TEST_CASE("an arrow is one only at the start of a step") {
  const Read read("hierarchy f(x: [n]) -> [n] {\n  iterate z from x {\n    let y = x <-z\n    z <- y\n  } limit 3\n  return z\n}\n");
  REQUIRE(read.messages() == "");
  const auto& block = read.file.declarations[0].hierarchy->steps[0].block;
  REQUIRE(block.size() == 2);
  CHECK(locus::print(*block[0].value) == "x < -z");
  CHECK(block[1].kind == ast::StepKind::update);
}
