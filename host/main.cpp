// locus: a table of contents. Each command stands in a file of its name.
// Must not know how any of them works.
#include <exception>
#include <iostream>
#include "host/command.hpp"
#include "host/options.hpp"
#include "host/request.hpp"
#include "host/session.hpp"

namespace locus::host {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      run_command(),          // a hierarchy of a spec on data
      check_command(),        // a spec, or a plugin's kernels, without data
      explain_command(),      // what is declared, and what would be computed how
      why_command(),          // which samples carried the answer for one query
      weights_command(),      // what a file of weights holds
      look_command(),         // a picture of the shares of one sentence
      kernels_command(),      // the catalogue
      plugins_command(),      // what was found where
      backends_command(),     // what can run here
      bench_command(),        // how fast, as a fraction of this machine's SGEMM
      conformance_command(),  // against reference data
      gallery_command(),      // every spec of the gallery against its expected numbers
      selftest_command(),     // a backend against the reference, on this machine
      demo_command(),         // a curve through real data, as a table and a picture
      errors_command(),       // the index of messages
      version_command(),
      help_command(),
  };
  return all;
}

const Command* find_command(const std::string& name) {
  for (const Command& command : commands())
    if (name == command.name) return &command;
  return nullptr;
}

namespace {

/// Where the command stands: options, with their values, may stand before it.
std::size_t command_place(const std::vector<std::string>& words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k].compare(0, 1, "-") != 0) return k;
    for (const Option& option : common_options())
      if (*option.value && words[k] == std::string("--") + option.name) ++k;
  }
  return words.size();
}

int unknown_command(const std::string& name, std::vector<std::string> words, std::size_t at) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  const std::string near = nearest_name(name, names);
  std::string repaired = "locus";
  if (!near.empty()) words[at] = near;
  for (const std::string& word : words) repaired += ' ' + quoted(word);
  Diagnostics diagnostics;
  diagnostics.add({Code::E801, {}, "there is no command '" + name + "'", "", {}, near.empty() ? "`locus help` lists the commands" : "did you mean " + near + "? write `" + repaired + "`", ""});
  print(diagnostics, Sources());
  return usage_error;
}

int start(std::vector<std::string> words) {
  std::size_t at = command_place(words);
  if (at == words.size()) {
    for (const std::string& word : words)
      if (word == "--version") return find_command("version")->run(CommandLine());
    const bool asked = words.empty() || words.front() == "--help" || words.front() == "-h";
    words.insert(words.begin(), "help"), at = 0;
    if (asked) words.resize(1);
  }
  const std::string name = words[at];
  const Command* command = find_command(name);
  if (!command) return unknown_command(name, words, at);
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  Diagnostics diagnostics;
  const auto line = parse(*command, words, command->open ? names_declared_in(words) : std::set<std::string>(), diagnostics);
  if (line && line->has("help")) {
    CommandLine help;
    help.command = find_command("help");
    help.arguments = {name};
    return help.command->run(help);
  }
  if (!line) {
    print(diagnostics, Sources());
    return exit_code(diagnostics);
  }
  return command->run(*line);
}

}  // namespace
}  // namespace locus::host

int main(int count, char** words) {
  try {
    return locus::host::start({words + 1, words + count});
  } catch (const std::bad_alloc&) {
    std::cerr << "error: memory is exhausted\n";
    return locus::host::memory_error;
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return locus::host::run_error;
  }
}
