// Matrices of pairs as lists give what the whole matrices give, and never hold them.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include "core/data/npy.hpp"

namespace fs = std::filesystem;
using namespace locus;

namespace {

const fs::path folder = fs::path(LOCUS_BUILD) / "tests" / "pairs_data";

std::string quoted(const fs::path& p) { return "'" + p.string() + "'"; }

std::string stored(const std::string& name, const Array& a) {
  fs::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << npy_bytes(a);
  return quoted(folder / name);
}

/// Points of a few clusters; some stand twice.
std::string points(std::int64_t n, std::int64_t d) {
  Array x(Dtype::float64, {n, d});
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (std::int64_t k = 0; k < x.count(); ++k) x.as<double>()[k] = normal(random) + static_cast<double>(k / d % 3);
  for (std::int64_t c = 0; c < d && n > 9; ++c) x.as<double>()[9 * d + c] = x.as<double>()[4 * d + c];
  return stored("x" + std::to_string(n) + ".npy", x);
}

std::string spec() { return quoted(fs::path(LOCUS_TREE) / "tests" / "pairs" / "lists.locus"); }

int run(const std::string& arguments, const std::string& log = "log.txt") {
  fs::create_directories(folder);
  const std::string command = std::string("'") + LOCUS_PROGRAM + "' " + arguments + " > " + quoted(folder / log) + " 2>&1";
  INFO(command);
  const int status = std::system(command.c_str());
  std::ifstream in(folder / log);
  INFO(std::string(std::istreambuf_iterator<char>(in), {}));
  CHECK(status == 0);
  return status;
}

std::string said(const std::string& log = "log.txt") {
  std::ifstream in(folder / log);
  return {std::istreambuf_iterator<char>(in), {}};
}

Array result(const fs::path& file) {
  Diagnostics diagnostics;
  const auto array = read_npy_file(file.string(), diagnostics);
  REQUIRE(array.has_value());
  return *array;
}

void all_below(const std::string& hierarchy, const std::string& backend, const std::string& type, double tolerance, std::int64_t n) {
  Array zero(Dtype::float64, {n, n});
  std::fill_n(zero.as<double>(), zero.count(), 0.0);
  const fs::path out = folder / (hierarchy + backend + type);
  fs::remove_all(out);
  run("run " + spec() + " " + hierarchy + " --x " + points(n, 3) + " --zero " + stored("zero.npy", zero) + " --backend " + backend + " --dtype " + type + " --out " + quoted(out));
  int results = 0;
  for (const auto& file : fs::directory_iterator(out)) {
    INFO(hierarchy << " on " << backend << ", " << type << ": " << file.path().filename());
    CHECK(std::abs(result(file.path()).number(0)) <= tolerance);
    ++results;
  }
  CHECK(results > 0);
}

}  // namespace

TEST_CASE("what is done with a list is what is done with the whole matrix") {
  for (const std::string backend : {"reference", "cpu"})
    for (const std::string hierarchy : {"algebra", "sentences", "turns", "spectrum", "slopes"}) {
      all_below(hierarchy, backend, "float64", 1e-9, 41);
      all_below(hierarchy, backend, "float32", 2e-4, 41);
    }
}

TEST_CASE("entries of one place add, rows may be empty") {
  Array rows(Dtype::int64, {4}), columns(Dtype::int64, {4}), values(Dtype::float64, {4});
  const std::int64_t r[] = {3, 0, 3, 3}, c[] = {1, 2, 0, 1};
  const double v[] = {1, 2, 4, 8};
  for (int k = 0; k < 4; ++k) rows.as<std::int64_t>()[k] = r[k], columns.as<std::int64_t>()[k] = c[k], values.as<double>()[k] = v[k];
  run("run " + spec() + " given --row " + stored("r.npy", rows) + " --column " + stored("c.npy", columns) + " --value " + stored("v.npy", values) + " --n 4 -o " + quoted(folder / "given.npy"));
  const Array a = result(folder / "given.npy");
  for (std::int64_t k = 0; k < 16; ++k) CHECK(a.number(k) == (k == 2 ? 2 : k == 12 ? 4 : k == 13 ? 9 : 0));
}

TEST_CASE("a graph in parts has an eigenvalue 0 for each, and the run says so") {
  Array place(Dtype::float64, {6000});
  for (std::int64_t k = 0; k < 6000; ++k) place.as<double>()[k] = static_cast<double>(k);
  const fs::path out = folder / "parts";
  // 6000 points in 30 rings: by Lanczos, the matrix of 36 million entries being beyond the budget. The lowest eigenvalue of a ring of 200 above 0 is 1 - cos(pi / 100).
  run("run " + spec() + " parts --place " + stored("place.npy", place) + " --size 200 --c 5 --memory 20M --out " + quoted(out));
  for (std::int64_t k = 0; k < 5; ++k) CHECK(std::abs(result(out / "values.npy").number(k)) < 1e-7);
  CHECK(said().find("5 of 5 eigenvalues") != std::string::npos);
  run("run " + spec() + " parts --place " + quoted(folder / "place.npy") + " --size 3000 --c 4 --dtype float64 --memory 20M --out " + quoted(out));
  const Array two = result(out / "values.npy");
  for (std::int64_t k = 0; k < 4; ++k) CHECK(std::abs(two.number(k) - (k < 2 ? 0 : 1 - std::cos(2 * M_PI / 3000))) < 1e-9);
  CHECK(said().find("4 of 4 eigenvalues") != std::string::npos);
  CHECK(said().find("2 of them 0") != std::string::npos);
}

TEST_CASE("no matrix of pairs is stored where its list will do") {
  run("explain '" + std::string(LOCUS_TREE) + "/specs/gallery/umap_graph.locus' --size n=70000 --size d=3 --memory 300M");
  CHECK(said().find("list of pairs") != std::string::npos);
  CHECK(said().find("every entry of a list") == std::string::npos);
  run("explain " + spec() + " given --size e=5 --memory 300M --n 40", "whole.txt");
  CHECK(said("whole.txt").find("every entry of a list of pairs, as something reads the whole matrix") != std::string::npos);
}

TEST_CASE("the farthest of many nearest needs no list") {
  Array x(Dtype::float64, {2100});
  std::mt19937 random(3);
  for (std::int64_t k = 0; k < x.count(); ++k) x.as<double>()[k] = static_cast<double>(random() % 5000) / 16;
  const fs::path out = folder / "farthest";
  run("run " + spec() + " farthest --x " + stored("line.npy", x) + " --dtype float64 --out " + quoted(out));
  CHECK(result(out / "all.npy").number(0) == 0);
  CHECK(result(out / "others.npy").number(0) == 0);
}

TEST_CASE("pairs that end at a radius, found by place, are those of a look at every pair") {
  const std::string near = quoted(fs::path(LOCUS_TREE) / "tests" / "pairs" / "near.locus");
  for (const std::int64_t d : {1, 2, 4})
    for (const std::string type : {"float64", "float32"}) {
      // On a grid, so that many distances are the radius itself, and far from most samples.
      std::mt19937 random(static_cast<unsigned>(d));
      std::normal_distribution<double> normal;
      Array x(Dtype::float64, {1400, d}), q(Dtype::float64, {800, d}), y(Dtype::float64, {1400});
      for (std::int64_t k = 0; k < x.count(); ++k) x.as<double>()[k] = std::round(8 * normal(random)) / 8;
      for (std::int64_t k = 0; k < q.count(); ++k) q.as<double>()[k] = k < 300 * d ? x.as<double>()[k] : 2 * normal(random);
      for (std::int64_t k = 0; k < y.count(); ++k) y.as<double>()[k] = 3 + normal(random);
      const std::string given = " --q " + stored("q.npy", q) + " --x " + stored("xs.npy", x) + " --y " + stored("y.npy", y) + " --h 0.5 --r 0.625 --locus-dtype " + type;
      for (const std::string backend : {"reference", "cpu"}) run("run " + near + given + " --locus-backend " + backend + " --locus-quiet --locus-out " + quoted(folder / backend));
      for (const auto& file : fs::directory_iterator(folder / "reference")) {
        const Array wanted = result(file.path()), got = result(folder / "cpu" / file.path().filename());
        double most = 0;
        for (std::int64_t k = 0; k < wanted.count(); ++k) {
          const double a = wanted.number(k), b = got.number(k);
          most = std::max(most, std::isnan(a) || std::isnan(b) ? (std::isnan(a) == std::isnan(b) ? 0 : HUGE_VAL) : std::abs(a - b) / std::max(1.0, std::abs(a)));
        }
        INFO(type << ", " << d << " coordinates: " << file.path().filename());
        CHECK(most <= (type == "float64" ? 1e-11 : 1e-5));
      }
    }
  run("explain " + near + " --size n=5000 --size m=5000 --size d=2");
  CHECK(said().find("pairs end at a radius: by place, where few lie within") != std::string::npos);
}

TEST_CASE("a large system of a kernel is solved without its matrix, and the run says how far it came") {
  Array y(Dtype::float64, {8200, 2});
  for (std::int64_t k = 0; k < y.count(); ++k) y.as<double>()[k] = std::sin(static_cast<double>(k));
  const std::string given = " --x " + points(8200, 2) + " --y " + stored("right.npy", y);
  const fs::path out = folder / "ridge";
  for (const std::string type : {"float64", "float32"}) {
    run("run " + spec() + " ridge" + given + " --memory 20M --dtype " + type + " --out " + quoted(out));
    CHECK(result(out / "left.npy").number(0) < (type == "float64" ? 1e-8 : 1e-5));
    CHECK(result(out / "one.npy").number(0) < 1e-9);
    CHECK(result(out / "both.npy").number(0) > 1e-4);
    CHECK(result(out / "product.npy").number(0) < (type == "float64" ? 1e-10 : 1e-4));
    CHECK(said().find("turns of conjugate gradients") != std::string::npos);
    CHECK(said().find("did not settle") == std::string::npos);
  }
  Array one(Dtype::float64, {8200});
  for (std::int64_t k = 0; k < one.count(); ++k) one.as<double>()[k] = y.as<double>()[2 * k];
  run("run " + spec() + " indefinite --x " + quoted(folder / "x8200.npy") + " --y " + stored("one.npy", one) + " --memory 20M -o " + quoted(folder / "indefinite.npy"));
  CHECK(said().find("so it did not settle: a larger number on the diagonal settles it") != std::string::npos);
  one.as<double>()[17] = std::nan("");
  run("run " + spec() + " indefinite --x " + quoted(folder / "x8200.npy") + " --missing nan --y " + stored("one.npy", one) + " --memory 20M -o " + quoted(folder / "indefinite.npy"));
  CHECK(std::isnan(result(folder / "indefinite.npy").number(0)));
  run("explain " + spec() + " skew --size n=9000 --size d=2");
  CHECK(said().find("whole-array function solve") != std::string::npos);
  run("explain " + spec() + " ridge --size n=9000 --size d=2 --size p=2");
  CHECK(said().find("whole-array function solve") == std::string::npos);
}
