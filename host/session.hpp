// What every command that reads specs or runs them needs: texts, messages, plugins, the standard library, and the end with its exit code.
// Must not know what a command does.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "core/run/runner.hpp"
#include "dsl/compile.hpp"
#include "host/options.hpp"
#include "plugins/host/registry.hpp"

namespace locus::host {

class Session {
 public:
  explicit Session(const CommandLine& line) : line_(line) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const CommandLine& line() const { return line_; }
  Sources sources;
  Diagnostics diagnostics;
  Common common;

  /// Reads the shared options and loads the plugins. False after a mistake.
  bool open();
  const Registry& registry() const { return *registry_; }
  /// The standard library and the plugins' kernels.
  const Library& library() const { return library_; }
  /// The backend of --backend, or nothing after a message.
  const LoadedBackend* choose_backend();

  /// A remark that is printed once at the end, unless --quiet.
  void note(const std::string& text);
  /// Prints the messages and remarks to standard error; the exit code that they make.
  int finish();

 private:
  const CommandLine& line_;
  std::unique_ptr<Registry> registry_;
  Library library_;
  std::vector<std::string> notes_;
};

/// What the messages amount to: that of the first error; fine if there is none.
int exit_code(const Diagnostics& diagnostics);
/// Prints messages to standard error, in colour on a terminal.
void print(const Diagnostics& diagnostics, const Sources& sources, bool errors_only = false);

/// The folder with std/, gallery/ and data/: beside the installed program, or in the tree that it was built from. "" if there is none.
std::string specs_folder();
/// All of specs/std, by name.
std::vector<std::pair<std::string, std::string>> standard_texts(Diagnostics& diagnostics);
/// The kernels of all loaded plugins as plain data for the compiler.
std::vector<KernelSignature> plugin_kernels(const Registry& registry);

/// `lines` of text on standard error, unless quiet.
bool standard_error_is_terminal();

}  // namespace locus::host
