// Every block of the language page and every spec of the tree is read without a message, and its print reads back to the same print.
// Knows nothing of what the specs mean.
#include <catch2/catch.hpp>
#include "reading.hpp"

namespace {

namespace fs = std::filesystem;

std::size_t check_folder(const fs::path& folder) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".locus") continue;
    ++files;
    const reading::Read first(reading::file_text(entry.path()), entry.path().filename().string());
    INFO(entry.path().string() << '\n' << first.messages());
    CHECK_FALSE(first.diagnostics.failed());
    CHECK_FALSE(first.file.declarations.empty());
    const std::string printed = locus::print(first.file);
    const reading::Read second(printed);
    INFO(second.messages());
    CHECK(second.file.declarations.size() == first.file.declarations.size());
    CHECK(locus::print(second.file) == printed);
  }
  return files;
}

}  // namespace

TEST_CASE("the blocks of the language page are read") { CHECK(check_folder(fs::path(LOCUS_TREE) / "tests/parse/language") == 6); }

TEST_CASE("the specs of the tree are read") {
  std::size_t files = 0;
  for (const char* folder : {"specs", "tests/conformance/specs"})
    if (fs::exists(fs::path(LOCUS_TREE) / folder)) files += check_folder(fs::path(LOCUS_TREE) / folder);
  CHECK(files > 0);
}
