// The cpu backend through the program: the same bits for any number of threads, every instruction set near the reference, sizes round the tiles,
// and the rules that tiles could break (far queries, masked rows, infinite weights, constants, offsets, a million samples).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include "core/data/npy.hpp"

namespace fs = std::filesystem;

namespace {

const fs::path folder = fs::path(LOCUS_BUILD) / "cpu";

locus::Array normal(std::vector<std::int64_t> shape, unsigned seed) {
  locus::Array a(locus::Dtype::float32, std::move(shape));
  std::mt19937 generator(seed);
  std::normal_distribution<float> draw;
  for (std::int64_t k = 0; k < a.count(); ++k) a.as<float>()[k] = draw(generator);
  return a;
}

void save(const std::string& name, const locus::Array& a) {
  fs::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << locus::npy_bytes(a);
}

std::string bytes(const std::string& name) {
  std::ifstream in(folder / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

locus::Array load(const std::string& name) {
  locus::Diagnostics diagnostics;
  auto a = locus::read_npy_file((folder / name).string(), diagnostics);
  REQUIRE(a.has_value());
  return *a;
}

void run(const std::string& spec, const std::string& words, const std::string& before = "") {
  fs::create_directories(folder);
  std::ofstream(folder / "spec.locus") << spec;
  const std::string command = "cd '" + folder.string() + "' && " + before + " " + LOCUS_PROGRAM + " run spec.locus --quiet " + words;
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
}

double worst(const locus::Array& a, const locus::Array& b) {
  REQUIRE(a.shape() == b.shape());
  double error = 0;
  for (std::int64_t k = 0; k < a.count(); ++k) {
    const double x = a.number(k), y = b.number(k);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    error = std::max(error, std::isnan(x) || std::isnan(y) ? HUGE_VAL : std::abs(x - y) / std::max(1.0, std::abs(y)));
  }
  return error;
}

const std::string several =
    "hierarchy f(q: [n, d], x: [m, d], y: [m, p], s: int [m]) -> (mean: [n, p], mass: [n], logmass: [n], count: int [n], causal: [n, p], segment: [n, p]) {\n"
    "  let a = mean(y) at q among x by gaussian(0.7)\n  let b = mass() at q among x by laplacian(1.5)\n  let c = logmass() at q among x by expdot(0.5)\n"
    "  let e = count() at q among x where l1dist(q, x) < 2\n  let g = mean(y) at q among x by expdot(0.3) where j <= i\n"
    "  let h = mean(y) at q among x by gaussian(1) where s[j] == i % 3\n  return (mean: a, mass: b, logmass: c, count: e, causal: g, segment: h)\n}\n";
const char* const results[] = {"mean", "mass", "logmass", "count", "causal", "segment"};

void save_inputs(std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t p) {
  save("q.npy", normal({n, d}, 1));
  save("x.npy", normal({m, d}, 2));
  save("y.npy", normal({m, p}, 3));
  locus::Array s(locus::Dtype::int64, {m});
  for (std::int64_t k = 0; k < m; ++k) s.as<std::int64_t>()[k] = k * 3 / m;
  save("s.npy", s);
}
const std::string inputs = "--q q.npy --x x.npy --y y.npy --s s.npy";

}  // namespace

TEST_CASE("the same bits for 1, 2 and 7 threads") {
  save_inputs(700, 1031, 17, 6);
  for (const char* threads : {"1", "2", "7"}) run(several, inputs + " --backend cpu --threads " + threads + " --out t" + threads);
  for (const std::string name : results)
    for (const char* threads : {"2", "7"}) CHECK(bytes("t1/" + name + ".npy") == bytes(std::string("t") + threads + "/" + name + ".npy"));
}

TEST_CASE("every instruction set and size agrees with the reference") {
  for (const std::int64_t n : {1, 7, 33, 129})
    for (const std::int64_t m : {1, 15, 16, 127, 128, 129, 257})
      for (const std::int64_t d : {1, 3, 32}) {
        save_inputs(n, m, d, m % 2 ? 1 : 20);
        run(several, inputs + " --backend reference --dtype float64 --out truth");
        for (const char* isa : {"baseline", "avx2", "avx512"}) {
          run(several, inputs + " --backend cpu --out found", std::string("LOCUS_CPU_ISA=") + isa);
          for (const std::string name : results) {
            INFO(isa << ", n " << n << ", m " << m << ", d " << d << ", " << name);
            CHECK(worst(load("found/" + name + ".npy"), load("truth/" + name + ".npy")) < 2e-4);
          }
        }
        if (n != 33) break;
      }
}

TEST_CASE("scores beyond the exponential, far queries, infinite weights, constants") {
  locus::Array q(locus::Dtype::float64, {3}), x(locus::Dtype::float64, {16}), y(locus::Dtype::float64, {16});
  q.as<double>()[0] = 1, q.as<double>()[1] = 500, q.as<double>()[2] = 5;
  for (int k = 0; k < 16; ++k) x.as<double>()[k] = k, y.as<double>()[k] = 10 * k;
  save("q1.npy", q), save("x1.npy", x), save("y1.npy", y);
  run("hierarchy f(q: [n], x: [m], y: [m]) -> (hot: [n], far: [n], near: [n], one: [n]) {\n  let a = mean(y) at q among x by exp(120 * q * x)\n  let b = mean(y) at q among x by gaussian(1)\n"
      "  let c = mean(y) at q among x by 1 / dist(q, x)\n  let d = mean(5 + 0 * y) at q among x by gaussian(3)\n  return (hot: a, far: b, near: c, one: d)\n}\n",
      "--q q1.npy --x x1.npy --y y1.npy --backend cpu --out edge");
  CHECK(load("edge/hot.npy").number(0) == Approx(150));
  CHECK(load("edge/far.npy").number(1) == Approx(150));  // far from all data the nearest sample's value
  CHECK(load("edge/near.npy").number(0) == 10);          // an infinite weight outweighs every finite one
  CHECK(load("edge/near.npy").number(2) == 50);
  for (int k = 0; k < 3; ++k) CHECK(load("edge/one.npy").number(k) == 5);  // a constant comes out as it is
}

TEST_CASE("sums over a million samples keep their digits in float32") {
  const std::int64_t m = 1'000'000;
  locus::Array x(locus::Dtype::float32, {m}), y(locus::Dtype::float32, {m});
  for (std::int64_t k = 0; k < m; ++k) x.as<float>()[k] = static_cast<float>(k % 1000) * 0.001f, y.as<float>()[k] = 1.0f + static_cast<float>(k % 7);
  save("xm.npy", x), save("ym.npy", y), save("qm.npy", normal({2}, 5));
  const std::string spec = "hierarchy f(q: [n], x: [m], y: [m]) -> (mass: [n], mean: [n]) {\n  let a = mass() at q among x by gaussian(0.5)\n  let b = mean(y) at q among x by gaussian(0.5)\n  return (mass: a, mean: b)\n}\n";
  for (const std::string backend : {"cpu", "reference"}) run(spec, "--q qm.npy --x xm.npy --y ym.npy --backend " + backend + (backend == "cpu" ? "" : " --dtype float64") + " --out m" + backend);
  for (const std::string name : {"mass", "mean"})
    for (int k = 0; k < 2; ++k) {
      const double truth = load("mreference/" + name + ".npy").number(k);
      CHECK(std::abs(load("mcpu/" + name + ".npy").number(k) - truth) < 1e-5 * std::abs(truth));
    }
}
