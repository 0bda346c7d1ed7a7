// `locus errors [CODE]`: the index of all messages, as markdown. docs/errors.md is this text; a test compares them.
// Must not know where a message comes from.
#include <iostream>
#include "host/session.hpp"

namespace locus::host {
namespace {

const char* word_of(Severity severity) { return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note"; }

void show(const CodeInfo& row) { std::cout << "## " << row.name << ": " << row.title << "\n\n*" << word_of(row.severity) << ".* " << row.explanation << "\n"; }

int run_errors(const CommandLine& line) {
  if (line.arguments.empty()) {
    std::cout << "# Messages\n\nEvery message of locus carries a code. `locus errors CODE` shows its paragraph; this page is `locus errors`.\n";
    for (const CodeInfo& row : code_table()) std::cout << '\n', show(row);
    return fine;
  }
  std::vector<std::string> names;
  for (const CodeInfo& row : code_table()) {
    if (line.arguments.front() == row.name) return show(row), fine;
    names.push_back(row.name);
  }
  Diagnostics diagnostics;
  const std::string near = nearest_name(line.arguments.front(), names);
  diagnostics.add({Code::E810, {}, "no message has the code '" + line.arguments.front() + "'", "", {}, near.empty() ? "`locus errors` lists all" : "write `locus errors " + near + "`", ""});
  print(diagnostics, Sources());
  return exit_code(diagnostics);
}

}  // namespace

Command errors_command() { return {"errors", "[CODE]", "the index of messages, or one of them", "", 0, 1, {}, {}, false, run_errors}; }

}  // namespace locus::host
