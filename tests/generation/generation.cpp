// Generation: the same tokens whether rows are kept or computed anew, and a turn's cost that does not grow with the square of the length.
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include "core/passes/cost.hpp"
#include "core/passes/passes.hpp"
#include "core/run/runner.hpp"
#include "dsl/compile.hpp"
#include "plugins/host/host_services.hpp"
#include "plugins/host/registry.hpp"

using namespace locus;

namespace {

Array random_weights(std::vector<std::int64_t> shape, std::mt19937_64& source) {
  Array a(Dtype::float64, std::move(shape));
  std::normal_distribution<double> draw(0, 0.6);
  for (std::int64_t k = 0; k < a.count(); ++k) a.as<double>()[k] = draw(source);
  return a;
}

std::map<std::string, Array> weights() {
  std::mt19937_64 source(11);
  std::map<std::string, Array> all;
  const auto model = [&](const std::string& path) {
    all[path + "wte"] = random_weights({11, 8}, source), all[path + "wpe"] = random_weights({200, 8}, source);
    for (const std::string layer : {"layers.0.", "layers.1."})
      for (const auto& [name, b, a] : {std::tuple{"q", 8, 8}, {"k", 8, 8}, {"v", 8, 8}, {"o", 8, 8}, {"up", 16, 8}, {"down", 8, 16}})
        all[path + layer + name + ".w"] = random_weights({b, a}, source), all[path + layer + name + ".bias"] = random_weights({b}, source);
  };
  model("m."), all["wte"] = random_weights({11, 8}, source);
  return all;
}

class Specs {
 public:
  Specs() : registry_({{std::string(LOCUS_BUILD) + "/lib/locus/plugins"}, "", {}}, host_services().table(), diagnostics_) {
    Library library;
    const std::string kernels = std::string(LOCUS_TREE) + "/specs/std/kernels.locus";
    std::ifstream in(kernels);
    library.texts.emplace_back(kernels, std::string(std::istreambuf_iterator<char>(in), {}));
    spec_.emplace(Spec::load(std::string(LOCUS_TREE) + "/tests/generation/models.locus", sources_, library, diagnostics_));
    check();
  }

  Lowered lowered(const std::string& hierarchy, std::map<std::string, double> settings = {}) {
    Request request;
    Array prompt(Dtype::int64, {5});
    for (std::int64_t k = 0; k < 5; ++k) prompt.as<std::int64_t>()[k] = (3 * k + 1) % 11;
    request.hierarchy = hierarchy, request.inputs = {{"prompt", prompt}}, request.weights = weights(), request.seed = 5;
    for (const auto& [name, v] : settings) {
      Array a(Dtype::int64, {});
      a.as<std::int64_t>()[0] = static_cast<std::int64_t>(v);
      request.settings.emplace(name, a);
    }
    const Force force = [&](const graph::Graph& g, const std::map<std::string, Array>& inputs) { return run_graph(g, inputs, options("cpu", true), diagnostics_); };
    auto made = lower(*spec_, request, force, diagnostics_);
    check();
    REQUIRE(made.has_value());
    return std::move(*made);
  }

  std::vector<std::vector<std::int64_t>> run(const std::string& hierarchy, const std::string& backend, bool fuse) {
    const Lowered l = lowered(hierarchy);
    const auto all = run_graph(l.graph, l.inputs, options(backend, fuse), diagnostics_);
    check();
    std::vector<std::vector<std::int64_t>> results;
    for (const ResultInfo& r : l.results) {
      const Array& a = all.at(r.output);
      results.emplace_back(a.as<std::int64_t>(), a.as<std::int64_t>() + a.count());
    }
    return results;
  }

 private:
  RunOptions options(const std::string& backend, bool fuse) {
    RunOptions o;
    o.backend = registry_.backend(backend)->backend, o.real = Dtype::float64, o.fuse = fuse, o.verify_each_pass = true;
    return o;
  }
  void check() {
    if (diagnostics_.errors() == 0) return;
    std::ostringstream text;
    write(text, diagnostics_, sources_);
    FAIL(text.str());
  }

  Sources sources_;
  Diagnostics diagnostics_;
  Registry registry_;
  std::optional<Spec> spec_;
};

/// Additions that a turn of the loops costs, at the largest.
double cost_of_a_turn(const graph::Graph& g) {
  passes::Costs costs(g);
  const auto entries = [&](const std::vector<graph::CoordId>& space) {
    double all = 1;
    for (graph::CoordId c : space) all *= static_cast<double>(g.coordinates[c].extent);
    return all;
  };
  double most = 0;
  for (const graph::Node& n : g.nodes)
    if (const auto* loop = std::get_if<graph::Iterate>(&n.kind)) {
      double sum = 0;
      for (const graph::Node& b : loop->body) {
        if (const auto* m = std::get_if<graph::Map>(&b.kind)) sum += entries(m->space) * (1 + costs.of(m->value));
        if (const auto* l = std::get_if<graph::Linear>(&b.kind))
          sum += entries(l->batch) * (l->row == graph::none ? 1 : entries({l->row})) * entries({l->inner}) * (l->column == graph::none ? 1 : entries({l->column}));
        if (const auto* r = std::get_if<graph::Reduce>(&b.kind)) sum += entries(r->rows) * entries({r->sample}) * (1 + (r->score == graph::none ? 0 : costs.of(r->score)));
      }
      most = std::max(most, sum);
    }
  return most;
}

}  // namespace

TEST_CASE("kept rows give the same tokens") {
  Specs specs;
  for (const std::string hierarchy : {"growing", "sliding", "sampled", "both_ways", "skipping"}) {
    const auto plain = specs.run(hierarchy, "reference", false);
    for (const std::string backend : {"reference", "cpu"}) {
      INFO(hierarchy << " on " << backend);
      CHECK(specs.run(hierarchy, backend, true) == plain);
    }
  }
}

TEST_CASE("a token costs what its row costs") {
  Specs specs;
  const auto cost = [&](const std::string& hierarchy, double length) {
    Lowered l = specs.lowered(hierarchy, {{hierarchy == "sliding" ? "context" : "new", length}});
    for (const passes::Pass& pass : passes::order()) pass.run(l.graph);
    return cost_of_a_turn(l.graph);
  };
  for (const std::string hierarchy : {"growing", "sampled"}) {
    INFO(hierarchy);
    const double shorter = cost(hierarchy, 48), longer = cost(hierarchy, 192);
    CHECK(longer / shorter < 4.0);          // linear: the row looks back at as many more
    CHECK(cost("skipping", 48) / shorter > 10.0);  // where nothing can be kept, every row is computed
  }
}
