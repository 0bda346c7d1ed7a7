// Every broken spec in syntax/ gives the whole message in the .expected file beside it, byte for byte; every code E0xx has a case.
// Knows only the parser: what `locus check` prints for these files is what parse finds, under the file's bare name.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include "dsl/syntax/parse.hpp"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  INFO(path.string());
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> cases() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(fs::path(LOCUS_TREE) / "tests/errors/syntax"))
    if (entry.path().extension() == ".locus") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

locus::Diagnostics check(const fs::path& path, locus::Sources& sources) {
  locus::Diagnostics diagnostics;
  locus::parse(sources, sources.add(path.filename().string(), read(path)), diagnostics);
  return diagnostics;
}

}  // namespace

TEST_CASE("a broken spec gives the expected message") {
  REQUIRE_FALSE(cases().empty());
  for (const fs::path& path : cases()) {
    locus::Sources sources;
    const locus::Diagnostics found = check(path, sources);
    std::ostringstream out;
    locus::write(out, found, sources);
    INFO(path.filename().string());
    CHECK(found.failed());
    CHECK(out.str() == read(fs::path(path).replace_extension(".expected")));
  }
}

TEST_CASE("every syntax code has a case that is named after it") {
  std::set<std::string> shown;
  for (const fs::path& path : cases()) {
    locus::Sources sources;
    const locus::Diagnostics found = check(path, sources);
    for (const locus::Diagnostic& each : found.all())
      if (path.filename().string().rfind(locus::info(each.code).name, 0) == 0) shown.insert(locus::info(each.code).name);
  }
  for (const locus::CodeInfo& row : locus::code_table()) {
    const std::string name = row.name;
    if (name.rfind("E0", 0) != 0) continue;
    INFO(name << " has no case in tests/errors/syntax");
    CHECK(shown.count(name) == 1);
  }
}
