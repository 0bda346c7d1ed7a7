// Native kernels of plugins on a GPU: by their GLSL form, or refused with the reason.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include "core/data/npy.hpp"

using namespace locus;
namespace fs = std::filesystem;

namespace {

const fs::path folder = fs::path(LOCUS_BUILD) / "tests" / "vulkan-kernel";

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

Array points(std::int64_t n) {
  Array a(Dtype::float64, {n, 2});
  for (std::int64_t k = 0; k < a.count(); ++k) a.as<double>()[k] = static_cast<double>((k * 7919) % 97 - 48) / 32;
  return a;
}

int run(const std::string& spec, const std::string& more, const std::string& backend) {
  const std::string data = " --x '" + (folder / "x.npy").string() + "' --locus-out '" + (folder / backend).string() + "'";
  return std::system((std::string(LOCUS_PROGRAM) + " run '" + (folder / spec).string() + "' --locus-backend " + backend + data + ' ' + more + " > '" + (folder / "said").string() + "' 2>&1").c_str());
}

Array result(const std::string& backend) {
  Diagnostics diagnostics;
  const auto a = read_npy_file((folder / backend / "result.npy").string(), diagnostics);
  REQUIRE(a.has_value());
  return *a;
}

}  // namespace

TEST_CASE("a kernel's GLSL form gives what its C form gives") {
  write_text(folder / "student.locus", "hierarchy density(x: [n, d]) -> [n] {\n  return mass() at x among x by student(h = 0.7, freedom = 2.5) where i != j\n}\n");
  fs::remove_all(folder / "reference"), fs::remove_all(folder / "vulkan");
  std::ofstream(folder / "x.npy", std::ios::binary) << npy_bytes(points(300));
  for (const std::string type : {"float64", "float32"}) {
    INFO(type);
    REQUIRE(run("student.locus", "--locus-dtype float64", "reference") == 0);
    REQUIRE(run("student.locus", "--locus-dtype " + type, "vulkan") == 0);
    const Array expected = result("reference"), got = result("vulkan");
    REQUIRE(got.count() == 300);
    for (std::int64_t k = 0; k < got.count(); ++k) CHECK(got.number(k) == Approx(expected.number(k)).epsilon(type == "float64" ? 1e-13 : 1e-6));
  }
}

TEST_CASE("a kernel without a GLSL form is refused by its name") {
  write_text(folder / "nan.locus", "hierarchy density(x: [n, d]) -> [n] {\n  return mass() at x among x by nan_kernel() where i != j\n}\n");
  std::ofstream(folder / "x.npy", std::ios::binary) << npy_bytes(points(3));
  CHECK(run("nan.locus", "--locus-plugin '" LOCUS_BAD_PLUGINS "/nan_kernel.so'", "vulkan") != 0);
  std::ifstream in(folder / "said");
  std::stringstream said;
  said << in.rdbuf();
  CHECK_THAT(said.str(), Catch::Contains("error[E720]") && Catch::Contains("has no form for GPUs; give its plugin a `source` or a `glsl` form"));
}
