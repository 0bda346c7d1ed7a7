// The layers that every spec knows, against numpy: expected.py wrote the data, the weights and the expected numbers.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include "core/data/npy.hpp"
#include "core/data/weights.hpp"

namespace fs = std::filesystem;
using namespace locus;

namespace {

const std::string folder = std::string(LOCUS_TREE) + "/tests/layers/";

std::map<std::string, Array> expected() {
  Diagnostics diagnostics;
  const auto stored = open_weights(folder + "expected.npz", diagnostics);
  REQUIRE(stored.has_value());
  std::map<std::string, Array> all;
  for (const auto& [name, weight] : *stored) {
    const auto array = weight.read(diagnostics);
    REQUIRE(array.has_value());
    all.emplace(name, *array);
  }
  return all;
}

Array result(const std::string& arguments, const fs::path& out, const std::string& name) {
  const std::string command = std::string("'") + LOCUS_PROGRAM + "' run '" + folder + "layers.locus' " + arguments + " --quiet --out '" + out.string() + "'";
  INFO(command);
  if (!fs::exists(out)) REQUIRE(std::system(command.c_str()) == 0);
  Diagnostics diagnostics;
  const auto array = read_npy_file((out / (name + ".npy")).string(), diagnostics);
  REQUIRE(array.has_value());
  return *array;
}

fs::path fresh(const std::string& name) {
  const fs::path out = fs::path(LOCUS_BUILD) / "tests" / ("layers_" + name);
  fs::remove_all(out);
  return out;
}

}  // namespace

TEST_CASE("layers of the standard library agree with numpy") {
  const std::string data = "layers --x '" + folder + "x.npy' --z '" + folder + "z.npy' --logits '" + folder + "logits.npy' --weights '" + folder + "weights.npz'";
  for (const std::string backend : {"reference", "cpu"})
    for (const auto& [dtype, tolerance] : {std::pair{"float64", 1e-12}, std::pair{"float32", 2e-5}}) {
      const fs::path out = fresh(backend + dtype);
      for (const auto& [name, wanted] : expected()) {
        if (name == "draws") continue;
        INFO(name << " on " << backend << " in " << dtype);
        const Array got = result(data + " --backend " + backend + " --dtype " + dtype, out, name);
        REQUIRE(got.shape() == wanted.shape());
        for (std::int64_t k = 0; k < got.count(); ++k) {
          const double g = got.number(k), w = wanted.number(k);
          CHECK((g == w || std::abs(g - w) <= tolerance * std::max(1.0, std::abs(w))));
        }
      }
    }
}

TEST_CASE("samples are drawn in proportion") {
  const Array shares = result("draws --logits '" + folder + "logits.npy' --seed 3", fresh("draws"), "result");
  const Array wanted = expected().at("draws");
  for (std::int64_t k = 0; k < wanted.count(); ++k) CHECK(std::abs(shares.number(k) - wanted.number(k)) < 0.03);  // four standard errors of 4000 draws
  CHECK(result("draws --logits '" + folder + "logits.npy' --seed 3", fresh("again"), "result").number(0) == shares.number(0));
  CHECK(result("draws --logits '" + folder + "logits.npy' --seed 4", fresh("other"), "result").number(0) != shares.number(0));
}
