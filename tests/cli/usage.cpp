// Mistakes on the command line: the whole message, the exit code, an end within a second, and a proposal that works when pasted.
// The cases stand in usage.txt and messages.txt: `$ command`, its exit code, what is written to standard error.
#include <catch2/catch.hpp>
#include <fstream>
#include <regex>
#include <set>
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

namespace {

/// "E802" of each text `error[E802]: there is ...`: a whole message, not a search for a part of one.
void collect_codes(const std::string& text, std::set<std::string>& codes) {
  static const std::regex message("(error|warning|note)\\[([EW][0-9]+)\\]: [^ \"]");
  for (std::sregex_iterator at(text.begin(), text.end(), message), end; at != end; ++at) codes.insert((*at)[2]);
}

/// A text that no case compares shows nothing: an .expected without its spec.
bool is_compared(const std::filesystem::path& file) {
  const std::string kind = file.extension().string();
  if (kind == ".expected") return std::filesystem::exists(std::filesystem::path(file).replace_extension(".locus"));
  return kind == ".txt" || kind == ".cpp";
}

}  // namespace

TEST_CASE("every code has a message that a test compares whole, and every message a code") {
  std::set<std::string> shown, known;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(LOCUS_TREE) / "tests"))
    if (entry.is_regular_file() && is_compared(entry.path()) && entry.path().filename() != "CMakeLists.txt") collect_codes(contents(entry.path()), shown);
  for (const locus::CodeInfo& row : locus::code_table()) {
    CAPTURE(row.name);
    known.insert(row.name);
    CHECK(shown.count(row.name) == 1);
  }
  for (const std::string& code : shown) {
    CAPTURE(code);
    CHECK(known.count(code) == 1);
  }
}
