// Runs the program through a shell in a folder of its own, as a user does.
// Knows exit codes and text, and nothing of what lies behind them.
#include "tests/cli/execute.hpp"
#include <sys/wait.h>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace locus::test {
namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

fs::path fresh_folder(const std::string& name) {
  const fs::path folder = fs::path(LOCUS_BUILD) / "tests" / "cli" / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "d.csv") << "x,y\n1,2\n2,3\n3,5.5\n";
  std::ofstream(folder / "smooth.locus") << "hierarchy smooth(query: [n, d], x: [m, d], y: [m]; h = 1.0) -> [n] {\n  return mean(y) at query among x by gaussian(h)\n}\n";
  std::ofstream(folder / "pair.locus") << "hierarchy first(x: [n]) -> [n] { return x }\nhierarchy second(memory: [n]) -> (twice: [n], mean: real) { return (twice: 2 * memory, mean: mean(memory)) }\n";
  return folder;
}

namespace {
// Folders of plugins, which differ from machine to machine: `$bad` and `$template` in commands and messages.
const std::string bad = LOCUS_BUILD "/tests/plugins/bad", sample = LOCUS_BUILD "/lib/locus/template";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
  return text;
}
}  // namespace

Finished execute(const std::string& command, const fs::path& folder) {
  std::ofstream(folder / ".sh") << "locus() { '" << LOCUS_PROGRAM << "' \"$@\"; }\nbad='" << bad << "' template='" << sample << "'\ncd '" << folder.string() << "' || exit 99\n{ " << command << "\n} > .out 2> .err < /dev/null\n";
  const auto start = std::chrono::steady_clock::now();
  const int status = std::system(("timeout 20 sh '" + (folder / ".sh").string() + "'").c_str());
  Finished finished;
  finished.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  finished.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  finished.out = contents(folder / ".out"), finished.err = replaced(replaced(contents(folder / ".err"), bad, "$bad"), sample, "$template");
  finished.err = replaced(finished.err, "`reference`, `vulkan`", "`reference`");  // the one backend that a build may lack
  return finished;
}

}  // namespace locus::test
