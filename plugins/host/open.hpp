// Opens one shared object and checks that what its entry gives keeps the contract of locus_plugin.h.
// The only user of Boost.DLL. Must not know where the file was found or what other plugins exist.
#pragma once
#include <filesystem>
#include <string>
#include "plugins/abi/locus_plugin.h"

namespace locus {

struct OpenedPlugin {
  const locus_plugin* table = nullptr;  ///< null: see refusal
  std::string refusal;                  ///< lower case, no full stop
  bool again = false;                   ///< the same file had been opened before in this process; its entry was not called again
};

/// Inspects, loads and asks the entry. Call from the main thread. The library stays loaded, even if the plugin is refused.
OpenedPlugin open_plugin(const std::filesystem::path& file, const locus_host* host);

/// Why the table breaks the contract, or "". Both are called by open_plugin's users with tables from plugins, and are safe for any table
/// whose struct sizes are true.
std::string check_table(const locus_plugin* table);
std::string check_kernel_table(const locus_kernel* kernel);
std::string check_backend_table(const locus_backend* backend);

/// A capability by id; null if there is none. An exception is a refusal.
const void* query(const locus_plugin* table, const char* id, std::string& refusal);

}  // namespace locus
