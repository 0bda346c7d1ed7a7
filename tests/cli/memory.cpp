// What a run with large parameters really takes, against what `explain` says before: no second copy of the weights, however they are stored.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include "tests/cli/execute.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LOCUS_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOCUS_SANITIZED
#endif

namespace {

using namespace locus::test;

constexpr int layers = 24;
constexpr std::int64_t width = 768;

/// Each layer [width, width], 2.4 MB in float32; zeros, so that the file is written quickly.
void write_weights(const std::filesystem::path& path, const char* type, std::size_t size) {
  nlohmann::json header;
  std::size_t at = 0;
  for (int k = 0; k < layers; ++k) {
    const std::size_t end = at + static_cast<std::size_t>(width * width) * size;
    header["h." + std::to_string(k) + ".w"] = {{"dtype", type}, {"shape", {width, width}}, {"data_offsets", {at, end}}};
    at = end;
  }
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), 8);
  out << text << std::string(at, '\0');
}

/// The most memory that the program had, in MB.
double peak(const std::filesystem::path& folder, std::vector<std::string> words) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> list{const_cast<char*>(LOCUS_PROGRAM)};
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    if (::chdir(folder.c_str()) == 0) ::execv(LOCUS_PROGRAM, list.data());
    ::_exit(99);
  }
  int status = 0;
  struct rusage used {};
  REQUIRE(::wait4(child, &status, 0, &used) == child);
  REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  return static_cast<double>(used.ru_maxrss) * 1024 / 1e6;
}

}  // namespace

TEST_CASE("a run takes the memory that explain says, within a tenth and what one array needs while it is read") {
#ifdef LOCUS_SANITIZED
  WARN("under a sanitizer memory is not what it would be: not measured");
#else
  const auto folder = fresh_folder("memory");
  std::ofstream(folder / "net.locus") << "hierarchy layer(x: [n, d]) -> [n, d] {\n  param w: [d, d]\n  return x + x @ transpose(w)\n}\n"
                                         "hierarchy net(x: [n]; layers = 24, d = 768) -> [n, d] {\n  param blocks: layer [layers]\n"
                                         "  iterate z from x + zeros(d) { z <- blocks[turn](z) } limit layers\n  return z\n}\n";
  std::ofstream(folder / "net.map") << "blocks.*.w = h.*.w transposed\n";
  const std::vector<std::string> common{"--x", "d.csv:x", "--quiet", "--backend", "cpu", "--threads", "2"};
  const double program = peak(folder, {"run", "smooth.locus", "--query", "d.csv:x", "--x", "d.csv:x", "--y", "d.csv:y", "--quiet", "--backend", "cpu", "--threads", "2", "-o", "o.npy"});
  for (const auto& [type, size] : {std::pair{"F32", 4}, {"F16", 2}, {"F64", 8}}) {
    CAPTURE(type);
    write_weights(folder / "w.safetensors", type, static_cast<std::size_t>(size));
    const std::string said = execute("locus explain net.locus net --x d.csv:x --quiet --backend cpu --weights w.safetensors --weights-map net.map | grep -o 'memory [0-9.]* MB' | cut -d' ' -f2", folder).out;
    REQUIRE_FALSE(said.empty());
    const double predicted = std::stod(said);
    CHECK(predicted > 56);
    std::vector<std::string> words{"run", "net.locus", "net", "--weights", "w.safetensors", "--weights-map", "net.map", "-o", "o.npy"};
    words.insert(words.end(), common.begin(), common.end());
    const double taken = peak(folder, words) - program;
    CAPTURE(predicted, taken);
    const double one = static_cast<double>(width * width * size) / 1e6;
    CHECK(taken < 1.1 * predicted + 4 * one);  // its pages in the file, decoded, transposed, converted
    CHECK(taken > 0.9 * predicted);
  }
#endif
}
