// Derivatives against differences: each hierarchy of losses.locus gives a number and its derivative by x; every entry of x is moved, in float64.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include "core/run/runner.hpp"
#include "dsl/compile.hpp"
#include "plugins/host/host_services.hpp"
#include "plugins/host/registry.hpp"

using namespace locus;

namespace {

struct Case {
  const char* name;
  std::int64_t n, d;
};
constexpr Case cases[] = {{"cuts", 6, 3}, {"diagonal", 4, 4}, {"heads", 6, 4}, {"looked_up", 6, 2}, {"strung", 5, 2}, {"image", 4, 5}, {"by_let", 5, 2}, {"by_input", 5, 2}, {"second", 5, 2},
                          {"means", 7, 2}, {"both_sides", 6, 2}, {"compact", 7, 2}, {"signed", 5, 3}, {"masses", 6, 2}, {"matrices", 5, 2}, {"extremes", 7, 2}, {"listed", 7, 2}, {"empty_rows", 6, 2},
                          {"far_away", 5, 2}, {"batches", 5, 2}, {"norms", 4, 5}, {"systems", 5, 2}, {"lines", 9, 2}, {"several", 8, 2}, {"searched", 12, 2}, {"roots", 8, 2}, {"shifts", 6, 2},
                          {"blurring", 6, 2}, {"settles", 5, 2}, {"settles_together", 5, 2}, {"nested", 5, 2}, {"within_a_turn", 4, 2}, {"listed_pairs", 5, 2}};

class Hierarchy {
 public:
  Hierarchy(const Registry& registry, const std::string& name, const std::string& backend) : name_(name), backend_(registry.backend(backend)->backend) {
    Library library;
    for (const char* file : {"kernels", "metrics", "locals"}) {
      const std::string path = std::string(LOCUS_TREE) + "/specs/std/" + file + ".locus";
      std::ifstream in(path);
      library.texts.emplace_back(path, std::string(std::istreambuf_iterator<char>(in), {}));
    }
    spec_.emplace(Spec::load(std::string(LOCUS_TREE) + "/tests/grad/losses.locus", sources_, library, diagnostics_));
    check();
  }

  std::map<std::string, Array> run(const Array& x, const Array& y) {
    Request request;
    request.hierarchy = name_, request.inputs = {{"x", x}, {"y", y}};
    const Force force = [&](const graph::Graph& g, const std::map<std::string, Array>& inputs) { return run_graph(g, inputs, options(), diagnostics_); };
    auto lowered = lower(*spec_, request, force, diagnostics_);
    check();
    REQUIRE(lowered.has_value());
    auto all = run_graph(lowered->graph, lowered->inputs, options(), diagnostics_);
    check();
    std::map<std::string, Array> results;
    for (const ResultInfo& r : lowered->results) results.emplace(r.name, all.at(r.output));
    return results;
  }

 private:
  RunOptions options() const {
    RunOptions o;
    o.backend = backend_, o.real = Dtype::float64, o.verify_each_pass = true;
    return o;
  }
  void check() {
    if (diagnostics_.errors() == 0) return;
    std::ostringstream text;
    write(text, diagnostics_, sources_);
    FAIL(text.str());
  }

  std::string name_;
  const locus_backend* backend_;
  Sources sources_;
  Diagnostics diagnostics_;
  std::optional<Spec> spec_;
};

Array random_array(std::vector<std::int64_t> shape, std::mt19937_64& source, double low, double high) {
  Array a(Dtype::float64, std::move(shape));
  std::uniform_real_distribution<double> draw(low, high);
  for (std::int64_t k = 0; k < a.count(); ++k) a.as<double>()[k] = draw(source);
  return a;
}

}  // namespace

TEST_CASE("grad agrees with differences") {
  Diagnostics diagnostics;
  const Registry registry({{std::string(LOCUS_BUILD) + "/lib/locus/plugins"}, "", {}}, host_services().table(), diagnostics);
  for (const Case& c : cases)
    for (const std::string backend : {"reference", "cpu"}) {
      DYNAMIC_SECTION(c.name << " on " << backend) {
        std::mt19937_64 source(7);
        Hierarchy h(registry, c.name, backend);
        const Array x = random_array({c.n, c.d}, source, -1.2, 1.2), y = random_array({c.n}, source, 0.5, 1.5);
        const auto at_x = h.run(x, y);
        const Array& gradient = at_x.at("gradient");
        REQUIRE(gradient.shape() == x.shape());
        double largest = 1;
        for (std::int64_t k = 0; k < x.count(); ++k) largest = std::max(largest, std::abs(gradient.number(k)));
        for (std::int64_t k = 0; k < x.count(); ++k) {
          const auto moved = [&](double by) {
            Array z = x.cast(Dtype::float64);
            z.as<double>()[k] += by;
            return h.run(z, y).at("loss").number(0);
          };
          constexpr double step = 1e-3;
          const double difference = (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
          INFO("entry " << k);
          CHECK(std::abs(gradient.number(k) - difference) <= 1e-7 * largest);
        }
      }
    }
}
