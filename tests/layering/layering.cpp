// The rooms of the house: who may include whom. Greps every #include of the tree and fails on any other edge. Also looks into the objects of the
// CPU backend that are compiled for one instruction set: shared inline code in them would run on machines without it.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path tree = LOCUS_SOURCE_DIR;

/// A room may include itself and what stands here. The longest prefix of a path names its room.
const std::map<std::string, std::set<std::string>> may_include = {
    {"core/base", {}},
    {"core/graph", {"core/base", "plugins/abi"}},
    {"core/passes", {"core/base", "core/graph", "plugins/abi"}},
    {"core/data", {"core/base"}},
    {"core/run", {"core/base", "core/graph", "core/passes", "plugins/abi", "plugins/host"}},
    {"dsl/syntax", {"core/base"}},
    {"dsl/sema", {"core/base", "core/graph", "dsl/syntax", "dsl"}},
    {"dsl", {"core/base", "core/graph", "dsl/syntax", "dsl/sema"}},
    {"plugins/abi", {}},
    {"plugins/host", {"core/base", "plugins/abi"}},
    {"plugins/kernels", {"plugins/abi"}},
    {"plugins/template", {"plugins/abi"}},
    {"backends/reference", {"plugins/abi"}},
    {"backends/cpu", {"plugins/abi"}},
    {"backends/vulkan", {"plugins/abi"}},
    {"host", {"core/base", "core/graph", "core/passes", "core/data", "core/run", "dsl", "plugins/abi", "plugins/host"}},
};
/// A library that shows itself in one room only.
const std::vector<std::pair<std::string, std::string>> only_in = {
    {"boost/dll", "plugins/host"}, {"boost/spirit", "dsl/syntax"}, {"boost/program_options", "host"}, {"xsimd", "backends/cpu"}};

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder || (path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 && path[folder.size()] == '/');
}

std::string room_of(const std::string& path) {
  std::string room;
  for (const auto& [name, allowed] : may_include)
    if (is_below(path, name) && name.size() > room.size()) room = name;
  return room;
}

/// What is wrong with this include, or "". `target` is a path of the tree, or what stands between <> if it is none.
std::string fault_of(const std::string& file, const std::string& target) {
  const std::string from = room_of(file), to = room_of(target);
  if (!to.empty()) {
    if (from == to || may_include.at(from).count(to)) return "";
    return file + " includes " + target + ": " + from + " must not see " + to;
  }
  for (const auto& [library, room] : only_in)
    if ((is_below(target, library) || target == library + ".hpp") && from != room) return file + " includes <" + target + ">: only " + room + " may";
  return "";
}

/// The path in the tree that the compiler would take: beside the file first, then from the root.
std::string resolve(const fs::path& file, const std::string& text) {
  for (const fs::path& base : {file.parent_path(), tree}) {
    const fs::path candidate = (base / text).lexically_normal();
    if (fs::is_regular_file(candidate)) return candidate.lexically_relative(tree).string();
  }
  return text;
}

std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex line_form(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<std::string> found;
  std::ifstream in(file);
  std::smatch match;
  for (std::string line; std::getline(in, line);)
    if (std::regex_search(line, match, line_form)) found.push_back(resolve(file, match[1]));
  return found;
}

std::vector<fs::path> sources() {
  static const std::set<std::string> extensions = {".c", ".h", ".cpp", ".hpp", ".def", ".ipp", ".inc"};
  std::vector<fs::path> found;
  for (const char* top : {"core", "dsl", "plugins", "backends", "host"})
    for (const auto& item : fs::recursive_directory_iterator(tree / top))
      if (item.is_regular_file() && extensions.count(item.path().extension().string())) found.push_back(item.path());
  return found;
}

/// The lines of a command's output.
std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  REQUIRE(pipe != nullptr);
  char line[8192];
  while (std::fgets(line, sizeof line, pipe.get())) lines.emplace_back(line);
  return lines;
}

/// Weak symbols of the standard library in an object: code that the linker may take for all of the program.
std::vector<std::string> weak_standard_symbols(const fs::path& object) {
  static const std::regex form(R"(^[0-9a-f ]+ [WVu] (.*\bstd::.*))");
  std::vector<std::string> found;
  std::smatch match;
  for (const std::string& line : lines_of("nm -C --defined-only '" + object.string() + "'"))
    if (std::regex_search(line, match, form)) found.push_back(match[1]);
  return found;
}

bool holds_sources(const fs::path& folder) {
  if (!fs::is_directory(folder)) return false;
  for (const auto& item : fs::directory_iterator(folder))
    if (item.path().extension() == ".cpp") return true;
  return false;
}

}  // namespace

TEST_CASE("every include is an edge of the house") {
  std::size_t seen = 0;
  for (const fs::path& path : sources()) {
    const std::string file = path.lexically_relative(tree).string();
    INFO(file);
    CHECK_FALSE(room_of(file).empty());
    if (room_of(file).empty()) continue;
    for (const std::string& target : includes_of(path)) {
      ++seen;
      const std::string fault = fault_of(file, target);
      INFO(fault);
      CHECK(fault.empty());
    }
  }
  CHECK(seen > 100);  // the search found the tree
}

TEST_CASE("the layering test sees a forbidden edge") {
  CHECK(fault_of("core/base/a.hpp", "core/graph/graph.hpp") == "core/base/a.hpp includes core/graph/graph.hpp: core/base must not see core/graph");
  CHECK_FALSE(fault_of("core/run/a.cpp", "dsl/compile.hpp").empty());
  CHECK_FALSE(fault_of("dsl/sema/a.cpp", "plugins/abi/locus_plugin.h").empty());
  CHECK_FALSE(fault_of("backends/cpu/a.cpp", "core/base/array.hpp").empty());
  CHECK_FALSE(fault_of("backends/cpu/a.cpp", "backends/reference/a.hpp").empty());
  CHECK_FALSE(fault_of("core/data/a.cpp", "core/graph/graph.hpp").empty());
  CHECK(fault_of("host/a.cpp", "boost/dll/shared_library.hpp") == "host/a.cpp includes <boost/dll/shared_library.hpp>: only plugins/host may");
  CHECK_FALSE(fault_of("dsl/sema/a.cpp", "boost/spirit/home/x3.hpp").empty());
  CHECK_FALSE(fault_of("core/run/a.cpp", "boost/program_options.hpp").empty());
  CHECK_FALSE(fault_of("backends/reference/a.cpp", "xsimd/xsimd.hpp").empty());
  CHECK(fault_of("host/a.cpp", "dsl/compile.hpp").empty());
  CHECK(fault_of("core/run/a.cpp", "plugins/host/registry.hpp").empty());
  CHECK(fault_of("core/run/a.cpp", "vector").empty());
  CHECK(includes_of(tree / "plugins/abi/locus_plugin.h") == std::vector<std::string>{"stddef.h", "stdint.h", "plugins/abi/locus_ops.def"});
}

TEST_CASE("objects for one instruction set share no inline code of the standard library") {
  if (std::system("nm --version > /dev/null 2>&1") != 0) {
    WARN("skipped: `nm` is not installed");
    return;
  }
  if (!holds_sources(tree / "backends/cpu/arch")) {
    WARN("skipped: backends/cpu/arch holds no source");
    return;
  }
  std::size_t objects = 0;
  for (const auto& item : fs::recursive_directory_iterator(LOCUS_BINARY_DIR)) {
    const std::string path = item.path().string();
    if (item.path().extension() != ".o" || path.find("backends/cpu/") == std::string::npos || path.find("/arch/") == std::string::npos) continue;
    ++objects;
    for (const std::string& symbol : weak_standard_symbols(item.path())) FAIL_CHECK(path << " has the weak symbol " << symbol);
  }
  INFO("build the whole tree before its tests: there is no object of backends/cpu/arch below " LOCUS_BINARY_DIR);
  CHECK(objects > 0);
}

TEST_CASE("the search for weak symbols finds them where they are") {
  if (std::system("nm --version > /dev/null 2>&1") != 0) {
    WARN("skipped: `nm` is not installed");
    return;
  }
  CHECK_FALSE(weak_standard_symbols(fs::read_symlink("/proc/self/exe")).empty());  // this test itself uses containers freely
}
