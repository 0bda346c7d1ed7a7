// Sizes at which tiles, parts, blocks and dispatches end: sums that are known exactly, on the device that the backend takes.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include "core/run/runner.hpp"
#include "plugins/host/host_services.hpp"
#include "plugins/host/registry.hpp"
#include "tests/graph/texts.hpp"

using namespace locus;

namespace {

const Registry& registry() {
  static Diagnostics diagnostics;
  static const Registry all({{LOCUS_BUILT_PLUGINS "/locus_backend_vulkan.so", LOCUS_BUILT_PLUGINS "/locus_backend_reference.so"}, "", {}}, host_services().table(), diagnostics);
  return all;
}

std::map<std::string, Array> run(const std::string& text, const std::map<std::string, Array>& inputs, const char* backend, Dtype real) {
  RunOptions options;
  options.backend = registry().backend(backend)->backend, options.real = real;
  Diagnostics diagnostics;
  auto out = run_graph(test::graph_of(text), inputs, options, diagnostics);
  std::ostringstream said;
  write(said, diagnostics, Sources());
  INFO(said.str());
  REQUIRE_FALSE(out.empty());
  return out;
}

Array numbers(std::vector<std::int64_t> shape, double scale) {
  Array a(Dtype::float64, std::move(shape));
  for (std::int64_t k = 0; k < a.count(); ++k) a.as<double>()[k] = scale * static_cast<double>((k * 7919) % 97 - 48) / 48;
  return a;
}

std::string n(std::int64_t v) { return std::to_string(v); }

}  // namespace

TEST_CASE("row sums of 70 000 points under the kernel 1 are exact, far beyond what one dispatch may loop over") {
  const std::string text = "c0 \"n\" 3\nc1 \"m\" 70000\nt0 \"x\" real [3 \"n\"]\nt1 \"mass\" real [3 \"n\"]\nt2 \"sum\" real [3 \"n\"]\nt0 = input \"x\"\nreduce [c0] among c1\n  t1 = mass\n  t2 = sum of ((t0[c0] * 0.0) + 1.0)\noutput \"mass\" t1\noutput \"sum\" t2\n";
  for (const Dtype real : {Dtype::float32, Dtype::float64}) {
    const auto out = run(text, {{"x", numbers({3}, 1)}}, "vulkan", real);
    for (const char* name : {"mass", "sum"})
      for (std::int64_t k = 0; k < 3; ++k) CHECK(out.at(name).number(k) == 70000);
  }
}

TEST_CASE("a sum inside an expression may be longer than a dispatch may loop") {
  const std::string text = "c0 \"n\" 2\nc1 \"d\" 70000\nt0 \"x\" real [2 \"n\"]\nt1 \"y\" real [2 \"n\"]\nt0 = input \"x\"\nt1 = map [c0] sum_over(c1; ((t0[c0] * 0.0) + 1.0))\noutput \"y\" t1\n";
  const auto out = run(text, {{"x", numbers({2}, 1)}}, "vulkan", Dtype::float64);
  CHECK(out.at("y").number(0) == 70000);
  CHECK(out.at("y").number(1) == 70000);
}

TEST_CASE("queries, samples and features of every size near a tile's agree with the reference") {
  const std::int64_t sizes[] = {1, 2, 7, 31, 32, 33, 127, 129, 1031};
  for (const std::int64_t a : sizes)
    for (const std::int64_t b : {a, std::int64_t{33}}) {
      const std::int64_t queries = a, samples = b, features = a == 1031 ? 3 : a;
      const std::string text = "c0 \"n\" " + n(queries) + "\nc1 \"m\" " + n(samples) + "\nc2 \"p\" " + n(features) + "\nt0 \"q\" real [" + n(queries) + " \"n\"]\nt1 \"x\" real [" + n(samples) + " \"m\"]\nt2 \"v\" real [" + n(samples) + " \"m\", " + n(features) +
                               " \"p\"]\nt3 \"f\" real [" + n(queries) + " \"n\", " + n(features) + " \"p\"]\nt0 = input \"q\"\nt1 = input \"x\"\nt2 = input \"v\"\nreduce [c0] among c1 weight exp(neg(sqdist(none; t0[c0], t1[c1])))\n  t3 = mean [c2] of t2[c1*" + n(features) + " + c2]\noutput \"f\" t3\n";
      const std::map<std::string, Array> inputs{{"q", numbers({queries}, 2)}, {"x", numbers({samples}, 2)}, {"v", numbers({samples, features}, 1)}};
      const auto expected = run(text, inputs, "reference", Dtype::float64), wide = run(text, inputs, "vulkan", Dtype::float64), single = run(text, inputs, "vulkan", Dtype::float32), again = run(text, inputs, "vulkan", Dtype::float32);
      INFO(queries << " queries, " << samples << " samples, " << features << " features");
      double worst = 0, worst_single = 0;
      for (std::int64_t k = 0; k < expected.at("f").count(); ++k) {
        worst = std::max(worst, std::abs(wide.at("f").number(k) - expected.at("f").number(k)));
        worst_single = std::max(worst_single, std::abs(single.at("f").number(k) - expected.at("f").number(k)));
      }
      CHECK(worst < 1e-13);
      CHECK(worst_single < 2e-6);
      CHECK(std::memcmp(single.at("f").data(), again.at("f").data(), static_cast<std::size_t>(single.at("f").count()) * 4) == 0);
    }
}

namespace {

// All estimates that are carried from dispatch to dispatch, of one neighbourhood; `weight` is an expression over t0[c0, c3] and t1[c1, c3].
std::string estimates_of(std::int64_t queries, std::int64_t samples, std::int64_t d, const std::string& weight, const std::string& where) {
  std::string text = "c0 \"n\" " + n(queries) + "\nc1 \"m\" " + n(samples) + "\nc2 \"p\" 2\nc3 \"d\" " + n(d) + "\nc4 \"p2\" 2\nt0 \"q\" real [" + n(queries) + " \"n\", " + n(d) + " \"d\"]\nt1 \"x\" real [" + n(samples) + " \"m\", " + n(d) + " \"d\"]\nt2 \"v\" real [" +
                     n(samples) + " \"m\", 2 \"p\"]\n";
  const std::string row = "[" + n(queries) + " \"n\"]\n", wide = "[" + n(queries) + " \"n\", 2 \"p\"]\n";
  const char* const names[] = {"mean", "sum", "max", "min", "mass", "logmass", "entropy", "effective", "count", "cov", "median"};
  const char* const lines[] = {"mean [c2] of t2[c1*2 + c2]", "sum [c2] of t2[c1*2 + c2]", "max [c2] of t2[c1*2 + c2]", "min [c2] of t2[c1*2 + c2]", "mass", "logmass", "entropy", "effective", "count", "cov [c2] twin c4 of t2[c1*2 + c2]", "quantile [c2] of t2[c1*2 + c2] by 0.5"};
  std::string inputs = "t0 = input \"q\"\nt1 = input \"x\"\nt2 = input \"v\"\nreduce [c0] among c1" + (weight.empty() ? "" : " weight " + weight) + where + "\n", outputs;
  for (int k = 0; k < 11; ++k) {
    const bool matrix = k == 9, by_feature = k < 4 || k == 10;
    text += "t" + n(k + 3) + " \"" + names[k] + "\" " + (k == 8 ? "int " : "real ") + (matrix ? "[" + n(queries) + " \"n\", 2 \"p\", 2 \"p2\"]\n" : by_feature ? wide : row);
    inputs += "  t" + n(k + 3) + " = " + lines[k] + "\n";
    outputs += std::string("output \"") + names[k] + "\" t" + n(k + 3) + "\n";
  }
  return text + inputs + outputs;
}

void agree(const std::string& text, const std::map<std::string, Array>& inputs, double wide_tolerance, double tolerance) {
  const auto expected = run(text, inputs, "reference", Dtype::float64);
  for (const Dtype real : {Dtype::float64, Dtype::float32}) {
    const auto got = run(text, inputs, "vulkan", real);
    for (const auto& [name, e] : expected) {
      double worst = 0, largest = 1;
      for (std::int64_t k = 0; k < e.count(); ++k)
        if (std::isfinite(e.number(k))) largest = std::max(largest, std::abs(e.number(k)));
      for (std::int64_t k = 0; k < e.count(); ++k) {
        const double a = e.number(k), b = got.at(name).number(k);
        if (!(a == b || (std::isnan(a) && std::isnan(b)))) worst = std::isfinite(a - b) ? std::max(worst, std::abs(a - b) / largest) : 1;
      }
      INFO(name << (real == Dtype::float64 ? ", float64" : ", float32"));
      CHECK(worst < (real == Dtype::float64 ? wide_tolerance : tolerance));
    }
  }
}

std::map<std::string, Array> data(std::int64_t queries, std::int64_t samples, std::int64_t d) { return {{"q", numbers({queries, d}, 1)}, {"x", numbers({samples, d}, 1.1)}, {"v", numbers({samples, 2}, 1)}}; }

}  // namespace

TEST_CASE("few queries: samples are cut into parts, and the parts joined") {
  for (const char* weight : {"", "exp(neg(sqdist(c3; t0[c0*3 + c3], t1[c1*3 + c3])))", "(1.0 / (1.0 + sqdist(c3; t0[c0*3 + c3], t1[c1*3 + c3])))", "exp((25.0 * dot(c3; t0[c0*3 + c3], t1[c1*3 + c3])))"}) {
    INFO(weight);
    agree(estimates_of(2, 3001, 3, weight, ""), data(2, 3001, 3), 1e-11, 3e-4);
  }
}

TEST_CASE("points of many coordinates: sums are carried through many dispatches") {
  for (const char* weight : {"exp(neg((sqdist(c3; t0[c0*2000 + c3], t1[c1*2000 + c3]) / 2000.0)))", "(1.0 / (1.0 + sqdist(c3; t0[c0*2000 + c3], t1[c1*2000 + c3])))"}) {
    INFO(weight);
    agree(estimates_of(5, 200, 2000, weight, ""), data(5, 200, 2000), 1e-11, 3e-4);
  }
}

TEST_CASE("masks that are ranges of samples: only the range is visited") {
  for (const char* where : {"(c1 <= c0)", "(abs((c0 - c1)) <= 3)", "(((c0 - c1) < 4) and (c1 < 60))", "(c0 < c1)", "((c0 == c1) or (c0 < 5))", "((c1 + 2) == c0)", "(c1 < -3)"}) {
    INFO(where);
    agree(estimates_of(70, 65, 1, "exp(neg(sqdist(none; t0[c0], t1[c1])))", std::string(" where ") + where), data(70, 65, 1), 1e-11, 3e-4);
  }
}

TEST_CASE("a profile says which share of the pairs a mask's range left out, to the pair") {
  RunOptions options;
  options.backend = registry().backend("vulkan")->backend, options.real = Dtype::float32;
  double skipped = -1;
  options.profile = [&](const graph::Graph&, const std::vector<NodeTime>& times) {
    for (const NodeTime& t : times) skipped = std::max(skipped, t.skipped);
  };
  const auto share = [&](const char* where) {
    Diagnostics diagnostics;
    skipped = -1;
    const auto out = run_graph(test::graph_of(estimates_of(70, 65, 1, "exp(neg(sqdist(none; t0[c0], t1[c1])))", where)), data(70, 65, 1), options, diagnostics);
    REQUIRE_FALSE(out.empty());
    return skipped;
  };
  CHECK(share("") == 0);
  CHECK(share(" where (c1 < 13)") == Approx(52.0 / 65).epsilon(1e-12));
  CHECK(share(" where (c1 <= c0)") == Approx((65.0 * 64 / 2) / (70.0 * 65)).epsilon(1e-12));
}

TEST_CASE("nested sums of an entry go through as many dispatches as the limit of iterations asks for") {
  // 30 501 iterations, which a driver may still run at once, and 251 000, which none of them is asked to.
  for (const auto& [outer, inner] : {std::pair<std::int64_t, std::int64_t>{400, 300}, {1000, 1000}}) {
    const std::string text = "c0 \"n\" 3\nc1 \"a\" " + n(outer) + "\nc2 \"b\" " + n(inner) +
                             "\nt0 \"x\" real [3 \"n\"]\nt1 \"y\" real [3 \"n\"]\nt2 \"z\" real [3 \"n\"]\nt0 = input \"x\"\nt1 = map [c0] (1.0 + sum_over(c1; sum_over(c2; ((t0[c0] * 0.0) + 1.0))))\n"
                             "t2 = map [c0] max_over(c1; sum_over(c2; (t0[c0] + real((c1 - c1)))))\noutput \"y\" t1\noutput \"z\" t2\n";
    for (const Dtype real : {Dtype::float32, Dtype::float64}) {
      const Array x = numbers({3}, 1);
      const auto out = run(text, {{"x", x}}, "vulkan", real);
      for (std::int64_t k = 0; k < 3; ++k) {
        CHECK(out.at("y").number(k) == static_cast<double>(static_cast<float>(outer * inner + 1)));
        CHECK(out.at("z").number(k) == Approx(static_cast<double>(inner) * x.number(k)).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("an expression of a pair beyond the limit of iterations is refused before anything runs") {
  const std::string text = "c0 \"n\" 2\nc1 \"m\" 2\nc2 \"a\" 400\nc3 \"b\" 300\nt0 \"x\" real [2 \"n\"]\nt1 \"y\" real [2 \"n\"]\nt0 = input \"x\"\nreduce [c0] among c1\n  t1 = sum of sum_over(c2; sum_over(c3; (t0[c1] * t0[c0])))\noutput \"y\" t1\n";
  RunOptions options;
  options.backend = registry().backend("vulkan")->backend, options.real = Dtype::float32;
  Diagnostics diagnostics;
  CHECK(run_graph(test::graph_of(text), {{"x", numbers({2}, 1)}}, options, diagnostics).empty());
  std::ostringstream said;
  write(said, diagnostics, Sources());
  CHECK_THAT(said.str(), Catch::Contains("error[E720]") && Catch::Contains("iterations for one entry or pair, more than one dispatch may run"));
}
