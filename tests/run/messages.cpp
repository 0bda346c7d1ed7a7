// What a run says when its inputs, its passes or its backend are at fault: whole messages.
#include "core/run/faults.hpp"
#include "tests/run/reference.hpp"

using namespace locus;

namespace {

std::string rendered(const Diagnostics& diagnostics) {
  std::ostringstream text;
  write(text, diagnostics, Sources());
  return text.str();
}

const std::string body = "c0 \"n\" 2\nt0 \"x\" real [2 \"n\"]\nt1 \"y\" real [2 \"n\"]\nt0 = input \"x\"\nt1 = map [c0] exp(t0[c0])\noutput \"y\" t1\n";

/// The reference backend with one function that fails.
std::string failing(const std::function<void(locus_backend&)>& change) {
  locus_backend backend = *test::reference();
  change(backend);
  RunOptions options;
  options.backend = &backend;
  Diagnostics diagnostics;
  run_graph(test::graph_of(body), {{"x", test::array({2}, {0, 1})}}, options, diagnostics);
  return rendered(diagnostics);
}

}  // namespace

TEST_CASE("a missing or misshapen input of a graph is named") {
  CHECK(rendered(test::run(body, {}).diagnostics) == "error[E620]: input 'x' is not given\n   = help: add `--x FILE`\n");
  CHECK(rendered(test::run(body, {{"x", test::array({3}, {0, 1, 2})}}).diagnostics) ==
        "error[E621]: input 'x' has shape [3], the graph was made for [2]\n   = help: give data of shape `[2]`, or lower the spec again with these\n");
}

TEST_CASE("a graph that is unsound is refused before it runs") {
  graph::Graph g = test::graph_of(body);
  g.outputs.push_back({"lost", 7});
  RunOptions options;
  options.backend = test::reference(), options.verify_each_pass = true;
  Diagnostics diagnostics;
  run_graph(g, {{"x", test::array({2}, {0, 1})}}, options, diagnostics);
  CHECK(rendered(diagnostics) == "error[E690]: the graph is unsound after lowering: output 'lost' is no tensor\n   = help: report this as a fault of locus\n");
}

TEST_CASE("a backend that fails is named with its reason, and another is proposed") {
  const auto lost = [](locus_backend& b) {
    b.run = [](locus_executable*, locus_buffer* const*, locus_buffer*, locus_report* report) -> int {
      std::snprintf(report->message, sizeof report->message, "the device was lost");
      return LOCUS_FAILED;
    };
  };
  const auto full = [](locus_backend& b) { b.alloc = [](std::uint64_t, locus_buffer**) -> int { return LOCUS_OUT_OF_MEMORY; }; };
  const auto named = [](const auto& change) {
    return failing([&](locus_backend& b) { b.name = "swift", change(b); });
  };
  CHECK(failing(lost) == "error[E721]: backend 'reference' failed: the device was lost\n   = help: report this as a fault of locus\n");
  CHECK(named(lost) == "error[E721]: backend 'swift' failed: the device was lost\n   = help: run it on another backend: `--backend reference` runs everything, slowly\n");
  CHECK(failing(full) == "error[E723]: backend 'reference' cannot give a buffer of 64 bytes\n   = help: free memory; `--memory 1M` tells which array is the largest\n");
  CHECK(named(full) == "error[E723]: backend 'swift' cannot give a buffer of 64 bytes\n   = help: run it on another backend: `--backend reference` runs everything, slowly\n");
}

TEST_CASE("what a backend refuses is told by its status") {
  const auto refusing = [](int status) {
    static int said;
    said = status;
    return failing([](locus_backend& b) {
      b.name = "swift";
      b.compile = [](const locus_program*, locus_executable**, char* message, std::size_t size, std::uint32_t* node) -> int {
        *node = 0;
        std::snprintf(message, size, "no exponential here");
        return said;
      };
    });
  };
  CHECK(refusing(LOCUS_UNSUPPORTED) == "error[E720]: backend 'swift' cannot run this: no exponential here\n   = help: choose another with `--backend auto`\n");
  CHECK(refusing(LOCUS_OUT_OF_MEMORY) ==
        "error[E723]: backend 'swift' has no memory left to compile: no exponential here\n   = help: run it on another backend: `--backend reference` runs everything, slowly\n");
  CHECK(refusing(LOCUS_BAD_PROGRAM) == "error[E721]: backend 'swift' refuses the program: no exponential here\n   = help: run it on another backend: `--backend reference` runs everything, slowly\n");
}

TEST_CASE("a kernel of a plugin that gives NaN is named with its pair") {
  CHECK(failing([](locus_backend& b) {
          b.run = [](locus_executable*, locus_buffer* const*, locus_buffer*, locus_report* report) -> int {
            report->fault = {LOCUS_FAULT_PLUGIN_NAN, 0, 1, 0, 0};
            return LOCUS_FAULT;
          };
        }) == "error[E722]: a kernel of a plugin gave NaN for finite points: sample 0 at n = 1\n   = help: compare its forms: `locus check --plugin FILE`\n");
}
