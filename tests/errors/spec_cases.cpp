// Every broken spec in names/ and axes/ gives the whole message in the .expected file beside it, byte for byte; every code E1xx and E2xx has a case.
// What `locus check` prints for these files, under the file's bare name; the standard library is known to them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include "dsl/compile.hpp"

namespace {

namespace fs = std::filesystem;
const fs::path tree = LOCUS_TREE;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const locus::Library& library() {
  static const locus::Library all = [] {
    locus::Library made;
    for (const auto& entry : fs::directory_iterator(tree / "specs/std")) made.texts.emplace_back("<std>/" + entry.path().filename().string(), text_of(entry.path()));
    std::sort(made.texts.begin(), made.texts.end());
    return made;
  }();
  return all;
}

std::vector<fs::path> files(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(tree / folder))
    if (entry.path().extension() == ".locus") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  REQUIRE_FALSE(found.empty());
  return found;
}

locus::Diagnostics checked(const std::string& name, const std::string& text, locus::Sources& sources) {
  locus::Diagnostics diagnostics;
  const locus::Spec spec = locus::Spec::from_text(name, text, sources, library(), diagnostics);
  if (!diagnostics.failed()) locus::check(spec, diagnostics);
  return diagnostics;
}

}  // namespace

TEST_CASE("a spec with a wrong name or axis gives the expected message") {
  std::set<std::string> shown;
  for (const char* folder : {"tests/errors/names", "tests/errors/axes"})
    for (const fs::path& path : files(folder)) {
      locus::Sources sources;
      const locus::Diagnostics found = checked(path.filename().string(), text_of(path), sources);
      std::ostringstream out;
      locus::write(out, found, sources);
      INFO(path.filename().string());
      CHECK(out.str() == text_of(fs::path(path).replace_extension(".expected")));
      for (const locus::Diagnostic& each : found.all())
        if (path.stem().string() == locus::info(each.code).name) shown.insert(path.stem().string());
    }
  for (const locus::CodeInfo& row : locus::code_table()) {
    const std::string name = row.name;
    if (name.rfind("E1", 0) != 0 && name.rfind("E2", 0) != 0 && name.rfind("W1", 0) != 0) continue;
    INFO(name << " has no case in tests/errors/names or axes");
    CHECK(shown.count(name) == 1);
  }
}

TEST_CASE("every spec of the tree checks without a message") {
  for (const char* folder : {"specs/std", "specs/gallery", "specs/bench", "tests/conformance/specs"})
    for (const fs::path& path : files(folder)) {
      locus::Sources sources;
      locus::Diagnostics diagnostics;
      const locus::Spec spec = locus::Spec::load(path.string(), sources, library(), diagnostics);
      locus::check(spec, diagnostics);
      std::ostringstream out;
      locus::write(out, diagnostics, sources);
      INFO(path.string());
      CHECK(out.str() == "");
    }
}

TEST_CASE("the blocks of the language page check as one file") {
  std::string page;
  for (const char* block : {"kernels", "attention", "neighbourhoods", "local_models", "loops", "learning"}) page += text_of(tree / "tests/parse/language" / (std::string(block) + ".locus")) + "\n";
  locus::Sources sources;
  const locus::Diagnostics found = checked("language.locus", page, sources);
  std::ostringstream out;
  locus::write(out, found, sources);
  CHECK(out.str() == "");
}
