// `locus help [COMMAND]` and `locus version`: made of the tables that the parser reads, so that they cannot differ from it.
// Must not know what a command does.
#include <iostream>
#include "host/session.hpp"

namespace locus::host {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

void list_commands(std::ostream& out) {
  out << "locus runs kernels, local models and hierarchies of them from a page of text\n\nusage: locus COMMAND ...\n\n";
  for (const Command& command : commands()) out << "  " << padded(command.name, 14) << command.line << '\n';
  out << "\nexit codes: 0 fine, 1 the spec has errors, 2 usage, 3 input data, 4 memory, 5 plugin or backend, 6 the run failed\n"
         "`locus help COMMAND` shows a command's options; `locus errors CODE` explains a message\n";
}

void show(std::ostream& out, const Command& command) {
  out << "locus " << command.name << ": " << command.line << "\n\nusage: locus " << command.name << ' ' << command.usage << '\n';
  if (*command.details) out << '\n' << command.details << '\n';
  out << "\noptions, in any order:\n";
  for (const Option& option : options_of(command)) {
    std::string name = option.letter ? std::string("-") + option.letter + ", --" + option.name : std::string("--") + option.name;
    if (*option.value) name += std::string(" ") + option.value;
    out << "  " << padded(name, 22) << option.meaning << '\n';
  }
}

int run_help(const CommandLine& line) {
  if (line.arguments.empty()) {
    list_commands(std::cout);
    return fine;
  }
  if (const Command* command = find_command(line.arguments.front())) {
    show(std::cout, *command);
    return fine;
  }
  Diagnostics diagnostics;
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  const std::string near = nearest_name(line.arguments.front(), names);
  diagnostics.add({Code::E810, {}, "there is no command '" + line.arguments.front() + "'", "", {}, near.empty() ? "`locus help` lists the commands" : "write `locus help " + near + "`", ""});
  print(diagnostics, Sources());
  return exit_code(diagnostics);
}

int run_version(const CommandLine&) {
  std::cout << "locus " << LOCUS_VERSION << '\n';
  return fine;
}

}  // namespace

Command help_command() { return {"help", "[COMMAND]", "this list, or a command's options", "", 0, 1, {}, {}, false, run_help}; }
Command version_command() { return {"version", "", "the version", "", 0, 0, {}, {}, false, run_version}; }

}  // namespace locus::host
