// What a command of the program is, and the codes it ends with.
// Must not know what any command does.
#pragma once
#include <string>
#include <vector>

namespace locus::host {

/// What the program's exit code says. Scripts rely on it; docs and `locus help` list it.
/// `differs` is what conformance and gallery end with where a result is not as expected.
enum Exit { fine = 0, spec_error = 1, differs = 1, usage_error = 2, input_error = 3, memory_error = 4, plugin_error = 5, run_error = 6 };

/// An option of a command. `value` is "" for a switch.
struct Option {
  const char* name;
  const char* value;
  const char* meaning;
  const char* sample = "";  ///< a value that is always right: what a message proposes
  bool many = false;
  char letter = 0;
};

class CommandLine;

struct Command {
  const char* name;
  const char* usage;               ///< behind the name
  const char* line;                ///< one line in the list of commands
  const char* details;             ///< paragraphs of `locus help NAME`
  std::size_t least, most;         ///< how many arguments stand beside the options
  std::vector<Option> options;     ///< its own; then `shared` ones follow
  std::vector<const char*> shared; ///< names of common options that it takes
  bool open = false;               ///< other names after `--` are inputs and settings of a hierarchy
  int (*run)(const CommandLine& line) = nullptr;
  bool both = false;               ///< --dtype may be `both`, and is if not said
};

/// All commands, in the order of `locus help`.
const std::vector<Command>& commands();
const Command* find_command(const std::string& name);

Command run_command();
Command check_command();
Command explain_command();
Command why_command();
Command weights_command();
Command look_command();
Command kernels_command();
Command plugins_command();
Command backends_command();
Command bench_command();
Command conformance_command();
Command gallery_command();
Command selftest_command();
Command demo_command();
Command errors_command();
Command version_command();
Command help_command();

}  // namespace locus::host
