// Looks at a shared object as a file, before anything of it runs: a cut file would kill the process inside dlopen.
// Must not know what a plugin is; loads nothing.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace locus {

struct Inspection {
  std::string refusal;                 ///< why the file must not be loaded, lower case; empty: it may be
  std::vector<std::string> libraries;  ///< the shared libraries it asks for (DT_NEEDED)
};

/// Checks that the file is a complete 64-bit shared object for this machine.
Inspection inspect(const std::filesystem::path& file);

/// What this program was built with: "", "address" or "thread".
const char* sanitizer_of_host();
/// The sanitizer whose runtime is among the libraries, or "". Such a runtime ends the process when it is loaded late.
std::string sanitizer_of(const std::vector<std::string>& libraries);

}  // namespace locus
