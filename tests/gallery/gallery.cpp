// Every call of the gallery, through the program, on every backend: shapes and a few numbers of each result are held against gallery.json.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include "core/data/npy.hpp"

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const fs::path specs = fs::path(LOCUS_TREE) / "specs";

std::string setting_text(const json& value) {
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const json& v : value) text += (text.empty() ? "" : ",") + v.dump();
  return text;
}

void check_result(const fs::path& file, const json& expected) {
  locus::Diagnostics diagnostics;
  const auto array = locus::read_npy_file(file.string(), diagnostics);
  REQUIRE(array.has_value());
  CHECK(array->shape() == expected.at("shape").get<std::vector<std::int64_t>>());
  REQUIRE(array->count() > 0);
  double sum = 0, low = INFINITY, high = -INFINITY;
  for (std::int64_t k = 0; k < array->count(); ++k) {
    const double v = array->number(k);
    sum += v, low = std::min(low, v), high = std::max(high, v);
  }
  const double mean = sum / static_cast<double>(array->count()), tolerance = std::max(expected.value("tolerance", 0.0), 1e-8 * std::abs(mean));
  const std::map<std::string, double> found{{"mean", mean}, {"min", low}, {"max", high}, {"first", array->number(0)}, {"last", array->number(array->count() - 1)}, {"value", array->number(0)}};
  for (const auto& [name, value] : found)
    if (expected.contains(name)) {
      INFO(name << ": found " << value << ", expected " << expected[name]);
      CHECK(std::abs(value - expected[name].get<double>()) <= tolerance);
    }
}

/// Every entry, against a file that checkpoints.py wrote in float64.
void check_entries(const fs::path& file, const fs::path& golden) {
  locus::Diagnostics diagnostics;
  const auto got = locus::read_npy_file(file.string(), diagnostics), expected = locus::read_npy_file(golden.string(), diagnostics);
  REQUIRE((got && expected && got->shape() == expected->shape()));
  double worst = 0;
  for (std::int64_t k = 0; k < got->count(); ++k) worst = std::max(worst, std::abs(got->number(k) - expected->number(k)));
  CHECK(worst <= 5e-6);
}

void check_call(const json& call, const std::string& backend, const fs::path& folder) {
  std::string command = std::string(LOCUS_PROGRAM) + " run '" + (specs / "gallery" / call.at("spec").get<std::string>()).string() + "' " + call.at("hierarchy").get<std::string>() + " --locus-backend " + backend +
                        " --locus-quiet --locus-out '" + folder.string() + "'";
  const json inputs = call.value("inputs", json::object()), settings = call.value("settings", json::object()), results = call.at("expect");
  for (const auto& [name, file] : inputs.items()) command += " --" + name + " '" + (specs / "data" / file.get<std::string>()).string() + "'";
  for (const auto& [name, value] : settings.items()) command += " --" + name + "=" + setting_text(value);
  if (call.contains("weights")) command += " --locus-weights '" + (specs / "data" / call["weights"].get<std::string>()).string() + "'";
  if (call.contains("map")) command += " --weights-map '" + (specs / "gallery" / call["map"].get<std::string>()).string() + "'";
  INFO(command);
  REQUIRE(std::system((command + " > /dev/null").c_str()) == 0);
  for (const auto& [name, expected] : results.items()) {
    INFO("result " << name);
    check_result(folder / (name + ".npy"), expected);
    if (call.contains("golden")) check_entries(folder / (name + ".npy"), fs::path(LOCUS_TREE) / "tests" / "gallery" / "golden" / call["golden"].get<std::string>());
  }
}

}  // namespace

TEST_CASE("the gallery gives what its methods promise") {
  std::ifstream in(specs / "gallery" / "gallery.json");
  const json calls = json::parse(in);
  REQUIRE(calls.size() >= 25);
  for (const std::string backend : {"reference", "cpu"})
    for (std::size_t k = 0; k < calls.size(); ++k)
      DYNAMIC_SECTION(backend << ": " << calls[k].at("spec").get<std::string>() << " " << calls[k].at("hierarchy").get<std::string>() << " " << k) {
        const fs::path folder = fs::path(LOCUS_BUILD) / "gallery" / (backend + std::to_string(k));
        fs::remove_all(folder);
        fs::create_directories(folder);
        check_call(calls[k], backend, folder);
      }
}
