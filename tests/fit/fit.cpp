// Losses that a user writes, against scipy's general optimisers (BFGS, then Nelder-Mead, then BFGS) run once for each query: expected.json.
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

const fs::path folder = fs::path(LOCUS_BUILD) / "tests" / "fit_data";

json expected() {
  std::ifstream in(fs::path(LOCUS_TREE) / "tests" / "fit" / "expected.json");
  return json::parse(in);
}

std::string queries(const json& values, const char* name) {
  fs::create_directories(folder);
  std::ofstream out(folder / name);
  out << "query\n";
  for (double v : values) out << v << '\n';
  return "'" + (folder / name).string() + ":query'";
}

void run(const std::string& arguments, const std::string& backend) {
  const std::string command = std::string("'") + LOCUS_PROGRAM + "' run '" + LOCUS_TREE + "/tests/fit/losses.locus' " + arguments + " --locus-backend " + backend + " --locus-dtype float64 --locus-quiet --locus-out '" + folder.string() + "'";
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
}

void check(const char* result, const json& wanted, double tolerance) {
  locus::Diagnostics diagnostics;
  const auto array = locus::read_npy_file((folder / (std::string(result) + ".npy")).string(), diagnostics);
  REQUIRE(array.has_value());
  REQUIRE(array->count() == static_cast<std::int64_t>(wanted.size()));
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    INFO(result << " at query " << k);
    CHECK(std::abs(array->number(static_cast<std::int64_t>(k)) - wanted[k].get<double>()) <= tolerance * std::max(1.0, std::abs(wanted[k].get<double>())));
  }
}

}  // namespace

TEST_CASE("a loss that no library has is minimised for each query") {
  const json all = expected();
  const std::string data = std::string(LOCUS_TREE) + "/specs/data/", at = queries(all["query"], "motorcycle_query.csv"), at_faithful = queries(all["faithful_query"], "faithful_query.csv");
  for (const std::string backend : {"reference", "cpu"}) {
    run("student --query " + at + " --x '" + data + "motorcycle.csv:times' --y '" + data + "motorcycle.csv:accel'", backend);
    check("value", all["value"], 1e-6), check("slope", all["slope"], 1e-6);
    run("waiting --query " + at_faithful + " --x '" + data + "faithful.csv:eruptions' --y '" + data + "faithful.csv:waiting'", backend);
    check("shape", all["shape"], 1e-6), check("scale", all["scale"], 1e-6);
    run("huber --query " + at + " --x '" + data + "motorcycle.csv:times' --y '" + data + "motorcycle.csv:accel'", backend);
    check("result", all["huber"], 1e-6);
  }
}
