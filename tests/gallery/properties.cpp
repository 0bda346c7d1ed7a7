// What the networks of the gallery promise for any data, on every backend found: sets have no order, and causal decoders do not look ahead.
// Knows the program and its files, and nothing of what lies behind them.
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <vector>
#include "core/data/npy.hpp"

namespace fs = std::filesystem;
using locus::Array;
using locus::Dtype;

namespace {

const fs::path specs = fs::path(LOCUS_TREE) / "specs", folder = fs::path(LOCUS_BUILD) / "gallery" / "properties";
constexpr std::int64_t width = 8;
/// What drivers of Vulkan keep to the end of the process is no leak.
const std::string program = "LSAN_OPTIONS=suppressions='" LOCUS_TREE "/tests/vulkan/leaks.txt':print_suppressions=0 " LOCUS_PROGRAM;

std::vector<std::string> backends_found() {
  fs::create_directories(folder);
  const fs::path list = folder / "backends.txt";
  REQUIRE(std::system((program + " backends > '" + list.string() + "' 2>&1").c_str()) == 0);
  std::ifstream in(list);
  std::stringstream text;
  text << in.rdbuf();
  std::vector<std::string> found{"reference", "cpu"};
  if (text.str().find("\nvulkan: ") != std::string::npos && text.str().find("cannot run here") == std::string::npos) found.push_back("vulkan");
  return found;
}

/// The result of one run: `inputs` by name, through files.
Array run(const std::string& spec, const std::string& hierarchy, const std::string& backend, const std::map<std::string, Array>& inputs) {
  std::string command = program + " run '" + (specs / "gallery" / (spec + ".locus")).string() + "' " + hierarchy + " --locus-quiet --locus-backend " + backend + " --locus-weights '" +
                        (specs / "data" / (spec + ".safetensors")).string() + "' --locus-out '" + folder.string() + "'";
  for (const auto& [name, array] : inputs) {
    const fs::path file = folder / (name + ".npy");
    const std::string bytes = locus::npy_bytes(array);
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    command += " --" + name + " '" + file.string() + "'";
  }
  INFO(command);
  REQUIRE(std::system((command + " > /dev/null").c_str()) == 0);
  locus::Diagnostics diagnostics;
  const auto result = locus::read_npy_file((folder / "result.npy").string(), diagnostics);
  REQUIRE(result.has_value());
  return *result;
}

using Order = std::vector<std::int64_t>;

/// Several orders of one random set as a batch, the first as drawn: [orders, n, width].
Array orders_of_one_set(std::int64_t n, std::mt19937_64& random, std::vector<Order>& orders) {
  orders.assign(5, Order(static_cast<std::size_t>(n)));
  for (std::size_t k = 0; k < orders.size(); ++k) {
    std::iota(orders[k].begin(), orders[k].end(), 0);
    if (k) std::shuffle(orders[k].begin(), orders[k].end(), random);
  }
  std::normal_distribution<float> normal;
  std::vector<float> set(static_cast<std::size_t>(n * width));
  for (float& v : set) v = normal(random);
  Array all(Dtype::float32, {static_cast<std::int64_t>(orders.size()), n, width});
  float* out = all.as<float>();
  for (const Order& order : orders)
    for (const std::int64_t from : order) out = std::copy_n(set.begin() + from * width, width, out);
  return all;
}

/// The largest difference from the first batch, rows taken back to where they were; `back` false: rows stay.
double largest_difference(const Array& result, const std::vector<Order>& orders, bool back) {
  const std::int64_t rows = result.shape()[1], columns = result.shape()[2];
  double largest = 0;
  for (std::size_t k = 1; k < orders.size(); ++k)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t from = back ? orders[k][static_cast<std::size_t>(r)] : r;
        const double difference = std::abs(result.number((static_cast<std::int64_t>(k) * rows + r) * columns + c) - result.number(from * columns + c));
        if (!(difference <= largest)) largest = difference;
      }
  return largest;
}

double largest_entry(const Array& a) {
  double largest = 0;
  for (std::int64_t k = 0; k < a.count(); ++k) largest = std::max(largest, std::abs(a.number(k)));
  return largest;
}

/// Batch k > 0 differs from batch 0 behind row k - 1 only; its rows up to there must be the same bits, and some row behind must differ.
void check_no_look_ahead(const Array& result, std::int64_t n) {
  const std::size_t row = static_cast<std::size_t>(result.shape()[2]) * locus::size_of(result.dtype());
  const char* data = static_cast<const char*>(result.data());
  for (std::int64_t k = 1; k < n; ++k) {
    const char* changed = data + static_cast<std::size_t>(k * n) * row;
    INFO("changed behind row " << k - 1);
    CHECK(std::memcmp(data, changed, static_cast<std::size_t>(k) * row) == 0);
    CHECK(std::memcmp(data + static_cast<std::size_t>(k) * row, changed + static_cast<std::size_t>(k) * row, static_cast<std::size_t>(n - k) * row) != 0);
  }
}

}  // namespace

TEST_CASE("the blocks of a Set Transformer know no order") {
  for (const std::string& backend : backends_found())
    for (const std::uint64_t seed : {1, 2, 3})
      for (const std::int64_t n : {1, 7, 33})
        DYNAMIC_SECTION(backend << ", seed " << seed << ", " << n << " points") {
          std::mt19937_64 random(seed);
          std::vector<Order> orders;
          const Array set = orders_of_one_set(n, random, orders);
          for (const auto& [hierarchy, follows] : {std::pair<std::string, bool>{"sab", true}, {"isab", true}, {"pma", false}, {"set_transformer", false}}) {
            const Array result = run("set_transformer", hierarchy, backend, {{"x", set}});
            INFO(hierarchy << (follows ? ": permuted rows in, permuted rows out" : ": the same answer"));
            CHECK(largest_difference(result, orders, follows) <= 1e-5 * largest_entry(result));
            if (follows && n > 1) CHECK(largest_difference(result, orders, false) > 1e-2 * largest_entry(result));  // the set is not one point many times
          }
        }
}

TEST_CASE("a later token changes no earlier logit") {
  constexpr std::int64_t n = 16;
  for (const std::string& backend : backends_found())
    for (const std::uint64_t seed : {1, 2, 3})
      DYNAMIC_SECTION(backend << ", seed " << seed) {
        std::mt19937_64 random(seed);
        Array tokens(Dtype::int64, {n, n});
        std::int64_t* id = tokens.as<std::int64_t>();
        for (std::int64_t t = 0; t < n; ++t) id[t] = static_cast<std::int64_t>(random() % 10);
        for (std::int64_t k = 1; k < n; ++k)
          for (std::int64_t t = 0; t < n; ++t) id[k * n + t] = t < k ? id[t] : (id[t] + 1 + static_cast<std::int64_t>(random() % 9)) % 10;
        check_no_look_ahead(run("gpt_char", "gpt", backend, {{"id", tokens}}), n);
        check_no_look_ahead(run("llama_char", "llama", backend, {{"id", tokens}}), n);
      }
}

TEST_CASE("a later row changes no earlier row of a decoder") {
  constexpr std::int64_t n = 12;
  for (const std::string& backend : backends_found())
    for (const std::uint64_t seed : {1, 2, 3})
      DYNAMIC_SECTION(backend << ", seed " << seed) {
        std::mt19937_64 random(seed);
        std::normal_distribution<float> normal;
        Array rows(Dtype::float32, {n, n, width}), memory(Dtype::float32, {7, width});
        float* x = rows.as<float>();
        for (std::int64_t c = 0; c < n * width; ++c) x[c] = normal(random);
        for (std::int64_t k = 1; k < n; ++k)
          for (std::int64_t c = 0; c < n * width; ++c) x[k * n * width + c] = c < k * width ? x[c] : normal(random);
        for (std::int64_t c = 0; c < memory.count(); ++c) memory.as<float>()[c] = normal(random);
        check_no_look_ahead(run("decoder", "decoder", backend, {{"x", rows}, {"memory", memory}}), n);
      }
}
