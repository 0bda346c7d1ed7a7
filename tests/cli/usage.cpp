// Mistakes on the command line: the whole message, the exit code, an end within a second, and a proposal that works when pasted.
// The cases stand in usage.txt and messages.txt: `$ command`, its exit code, what is written to standard error.
#include <catch2/catch.hpp>
#include <fstream>
#include <regex>
#include <vector>
#include "core/base/diagnostic.hpp"
#include "tests/cli/execute.hpp"

namespace {

using namespace locus::test;

struct Usage {
  std::string command, err;
  int exit = 0;
};

std::vector<Usage> read_cases(const char* file) {
  std::ifstream in(std::filesystem::path(LOCUS_TREE) / "tests" / "cli" / file);
  std::vector<Usage> cases;
  std::string line;
  while (std::getline(in, line)) {
    if (line.compare(0, 2, "$ ") == 0) {
      cases.push_back({line.substr(2), "", 0});
      std::getline(in, line);
      cases.back().exit = std::stoi(line);
    } else if (!cases.empty()) {
      cases.back().err += line + '\n';
    }
  }
  for (Usage& u : cases)  // a blank line parts the cases
    if (u.err.size() >= 1 && (u.err == "\n" || u.err.compare(u.err.size() - 2, 2, "\n\n") == 0)) u.err.pop_back();
  return cases;
}

/// What a message says can be pasted: `locus ...`.
std::vector<std::string> proposals(const std::string& err) {
  static const std::regex command("help: [^`\n]*`(locus [^`]*)`");
  std::vector<std::string> all;
  for (std::sregex_iterator at(err.begin(), err.end(), command), end; at != end; ++at) all.push_back((*at)[1]);
  return all;
}

}  // namespace

TEST_CASE("a mistake on the command line is answered in full, and the proposal works") {
  const std::vector<Usage> cases = read_cases("usage.txt");
  REQUIRE(cases.size() > 20);
  std::size_t pasted = 0;
  for (const Usage& u : cases) {
    CAPTURE(u.command);
    const auto folder = fresh_folder("usage");
    const Finished f = execute(u.command, folder);
    CHECK(f.err == u.err);
    CHECK(f.exit == u.exit);
    CHECK(f.seconds < 5);  // a second and the slowness of a loaded machine
    for (const std::string& proposal : proposals(f.err)) {
      CAPTURE(proposal);
      const Finished again = execute(proposal, folder);
      CHECK(again.err.find("error[") == std::string::npos);
      CHECK(again.exit == 0);
      ++pasted;
    }
  }
  CHECK(pasted >= 20);
}

TEST_CASE("a mistake that a run meets is answered in full") {
  const std::vector<Usage> cases = read_cases("messages.txt");
  REQUIRE(cases.size() > 15);
  for (const Usage& u : cases) {
    CAPTURE(u.command);
    const Finished f = execute(u.command, fresh_folder("messages"));
    CHECK(f.err == u.err);
    CHECK(f.exit == u.exit);
  }
}

TEST_CASE("every code has a message that a test compares whole") {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(LOCUS_TREE) / "tests")) {
    const std::string kind = entry.path().extension().string();
    if (entry.is_regular_file() && (kind == ".expected" || kind == ".txt" || kind == ".cpp")) all += contents(entry.path());
  }
  for (const locus::CodeInfo& row : locus::code_table()) {
    CAPTURE(row.name);
    const std::string name = row.name;
    CHECK((all.find("error[" + name + "]") != std::string::npos || all.find("warning[" + name + "]") != std::string::npos || all.find("note[" + name + "]") != std::string::npos));
  }
}
