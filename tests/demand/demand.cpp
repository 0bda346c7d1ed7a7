// Runs the program as a user does: the cases of cases.json, each in a folder of its own, once for each backend that the case is for.
// Knows exit codes, text and files, and nothing of what lies behind them.
#include <sys/wait.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include "core/data/npy.hpp"

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const fs::path here = fs::path(LOCUS_TREE) / "tests" / "demand";

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

struct Finished {
  int exit = -1;
  std::string out, err;
};

/// Through the shell, in `folder`, killed after 20 seconds: nothing here may hang.
Finished execute(std::string command, const fs::path& folder, const std::string& backend) {
  replace_all(command, "{locus}", LOCUS_PROGRAM);
  replace_all(command, "{specs}", (here / "specs").string());
  replace_all(command, "{data}", (here / "data").string());
  replace_all(command, "{backend}", backend);
  const std::string line = "cd '" + folder.string() + "' && { " + command + "\n} > .out 2> .err < /dev/null";
  std::ofstream(folder / ".sh") << line << '\n';
  const int status = std::system(("timeout 20 sh '" + (folder / ".sh").string() + "'").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder / ".out"), contents(folder / ".err")};
}

/// A text file: its lines, or [line, how often].
void write_file(const fs::path& path, const json& lines) {
  std::ofstream out(path, std::ios::binary);
  for (const json& line : lines) {
    const std::string text = line.is_string() ? line.get<std::string>() : line.at(0).get<std::string>();
    for (int k = line.is_string() ? 1 : line.at(1).get<int>(); k > 0; --k) out << text << '\n';
  }
}

double number_in(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string word = value;
  if (word == "inf" || word == "-inf") return (word == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  REQUIRE(word == "nan");
  return std::numeric_limits<double>::quiet_NaN();
}

bool agree(double found, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected)) return found == expected;
  return std::abs(found - expected) <= tolerance;
}

void compare(const fs::path& path, const json& expected) {
  INFO("file " << path.filename().string());
  locus::Diagnostics diagnostics;
  const auto array = locus::read_npy_file(path.string(), diagnostics);
  REQUIRE(array.has_value());
  if (expected.contains("shape")) REQUIRE(array->shape() == expected["shape"].get<std::vector<std::int64_t>>());
  if (expected.contains("type")) CHECK(std::string(locus::name_of(array->dtype())) == expected["type"].get<std::string>());
  const json& values = expected["values"];
  REQUIRE(array->count() == static_cast<std::int64_t>(values.size()));
  for (std::int64_t k = 0; k < array->count(); ++k) {
    INFO("entry " << k << ": found " << array->number(k) << ", expected " << values[static_cast<std::size_t>(k)].dump());
    CHECK(agree(array->number(k), number_in(values[static_cast<std::size_t>(k)]), expected.value("tolerance", 0.0)));
  }
}

/// What a message proposes: the text of "write `locus ...`" that stands last.
std::string proposal(const std::string& text) {
  const std::string before = "write `locus ";
  const std::size_t at = text.rfind(before);
  if (at == std::string::npos) return "";
  const std::size_t low = at + before.size();
  return text.substr(low, text.find('`', low) - low);
}

void check_run(const json& run, const fs::path& folder, const std::string& backend) {
  const Finished done = execute(run["command"], folder, backend);
  INFO("command " << run["command"].get<std::string>() << "\nbackend " << backend << "\nexit " << done.exit << "\nstdout:\n" << done.out << "stderr:\n" << done.err);
  CHECK(done.exit == run.value("exit", 0));
  for (const json& text : run.value("stderr", json::array())) {
    INFO("wanted on stderr: " << text);
    CHECK(done.err.find(text.get<std::string>()) != std::string::npos);
  }
  for (const json& text : run.value("not_stderr", json::array())) {
    INFO("not wanted on stderr: " << text);
    CHECK(done.err.find(text.get<std::string>()) == std::string::npos);
  }
  for (const json& text : run.value("stdout", json::array())) {
    INFO("wanted on stdout: " << text);
    CHECK(done.out.find(text.get<std::string>()) != std::string::npos);
  }
  const json arrays = run.value("expect", json::object()), texts = run.value("text", json::object());
  for (const auto& [file, expected] : arrays.items()) compare(folder / file, expected);
  for (const auto& [file, expected] : texts.items()) {
    INFO("file " << file << ":\n" << contents(folder / file));
    CHECK(contents(folder / file).find(expected.get<std::string>()) != std::string::npos);
  }
  for (const json& pair : run.value("same", json::array())) {
    INFO("the same bytes: " << pair);
    const std::string first = contents(folder / pair[0].get<std::string>());
    CHECK(!first.empty());
    CHECK(first == contents(folder / pair[1].get<std::string>()));
  }
  if (run.value("paste", false)) {
    const std::string words = proposal(done.err);
    REQUIRE(!words.empty());
    const Finished again = execute("{locus} " + words, folder, backend);
    INFO("pasted: locus " << words << "\nexit " << again.exit << "\nstderr:\n" << again.err);
    CHECK(again.exit == 0);
  }
}

/// Those that can run here; what cannot is named, with the reason that the program gives.
std::vector<std::string> find_backends() {
  const fs::path folder = fs::path(LOCUS_BUILD) / "demand";
  fs::create_directories(folder);
  std::istringstream lines(execute("{locus} backends", folder, "").out);
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);)
    for (const std::string name : {"reference", "cpu", "vulkan"})
      if (line.rfind(name + ": ", 0) == 0) {
        if (line.find("cannot run here: ") == std::string::npos) found.push_back(name);
        else WARN("no case runs on this backend: " << line);
      }
  return found;
}

const std::vector<std::string>& backends() {
  static const std::vector<std::string> found = find_backends();
  return found;
}

void check_case(const json& one) {
  const std::string name = one["case"];
  bool any_backend = false;
  for (const json& run : one["runs"]) any_backend |= run["command"].get<std::string>().find("{backend}") != std::string::npos;
  for (const std::string& backend : any_backend ? backends() : std::vector<std::string>{"none"}) {
    INFO("case " << name << ": " << one["title"].get<std::string>());
    const fs::path folder = fs::path(LOCUS_BUILD) / "demand" / (name + "-" + backend);
    fs::remove_all(folder);
    fs::create_directories(folder);
    const json files = one.value("files", json::object());
    for (const auto& [file, lines] : files.items()) write_file(folder / file, lines);
    for (const json& run : one["runs"]) check_run(run, folder, backend);
  }
}

}  // namespace

TEST_CASE("what users run into, as they would run it") {
  const json cases = json::parse(contents(here / "cases.json"));
  REQUIRE(cases.size() >= 30);
  REQUIRE(!backends().empty());
  for (const json& one : cases) {
    DYNAMIC_SECTION(one["case"].get<std::string>()) { check_case(one); }
  }
}
