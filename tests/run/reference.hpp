// For tests: graphs as text, run on the reference backend, or on the one that the environment variable LOCUS_TEST_BACKEND names. LOCUS_BUILT_PLUGINS is
// the folder of the built plugins.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include "core/run/runner.hpp"
#include "plugins/host/host_services.hpp"
#include "plugins/host/registry.hpp"
#include "tests/graph/texts.hpp"

namespace locus::test {

inline const locus_backend* reference() {
  static Diagnostics diagnostics;
  const char* other = std::getenv("LOCUS_TEST_BACKEND");
  const std::string name = other ? other : "reference";
  static const Registry registry({{LOCUS_BUILT_PLUGINS "/locus_backend_" + name + ".so"}, "", {}}, host_services().table(), diagnostics);
  REQUIRE_FALSE(diagnostics.failed());
  REQUIRE(registry.backend(name) != nullptr);
  return registry.backend(name)->backend;
}

inline Array array(std::vector<std::int64_t> shape, const std::vector<double>& values) {
  Array a(Dtype::float64, std::move(shape));
  REQUIRE(a.count() == static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), a.as<double>());
  return a;
}

struct Ran {
  std::map<std::string, Array> out;
  Diagnostics diagnostics;
  RunSummary summary;

  std::vector<double> values(const std::string& name) {
    std::ostringstream text;
    write(text, diagnostics, Sources());
    INFO(text.str());
    REQUIRE(out.contains(name));
    std::vector<double> all;
    for (std::int64_t k = 0; k < out.at(name).count(); ++k) all.push_back(out.at(name).number(k));
    return all;
  }
  /// The only message.
  const Diagnostic& message() {
    REQUIRE(diagnostics.all().size() == 1);
    REQUIRE(out.empty());
    return diagnostics.all()[0];
  }
};

inline Ran run(const std::string& body, const std::map<std::string, Array>& inputs, bool fuse = true, std::uint64_t memory = 0, Dtype real = Dtype::float64) {
  RunOptions options;
  options.backend = reference(), options.real = real, options.memory = memory, options.verify_each_pass = true, options.fuse = fuse;
  Ran ran;
  ran.out = run_graph(graph_of(body), inputs, options, ran.diagnostics, &ran.summary);
  return ran;
}

}  // namespace locus::test
