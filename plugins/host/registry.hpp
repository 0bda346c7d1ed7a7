// Finds plugins, inspects and loads them, asks them what they offer, and remembers why a file was refused.
// Must not know what runs on a backend. Loaded plugins stay loaded to the end of the process.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>
#include "core/base/diagnostic.hpp"
#include "plugins/abi/locus_plugin.h"

namespace locus {

/// Where to look, in this order; of two plugins, kernels or backends of one name the first one found wins.
struct PluginSearch {
  std::vector<std::string> asked;               ///< --plugin: files or directories; these must load
  std::optional<std::string> path;              ///< LOCUS_PLUGIN_PATH: directories joined by ':', in place of the default places; an empty item means those
  std::vector<std::filesystem::path> defaults;  ///< the default places
};
/// The search of this program: `asked`, the environment, and as default places lib/locus/plugins beside and in the executable's directory and
/// the directory that was compiled in.
PluginSearch usual_search(std::vector<std::string> asked);

struct LoadedPlugin {
  std::string name, version;
  std::filesystem::path file;
  const locus_plugin* table;
  std::vector<std::string> capabilities;  ///< "kernel wendland", "backend cpu"
};
struct LoadedKernel {
  std::string name;
  const locus_kernel* kernel;
  std::size_t plugin;  ///< index into plugins()
};
struct LoadedBackend {
  std::string name;
  const locus_backend* backend;
  std::size_t plugin;
};

/// What became of one file.
struct FileOutcome {
  std::filesystem::path file;
  bool loaded;
  std::string reason;  ///< why it, or a part of it, was refused; "already loaded" if it was met before; empty if all is well
};
/// One place that was looked at.
struct SearchedPlace {
  std::filesystem::path place;
  std::string origin;   ///< "--plugin", "LOCUS_PLUGIN_PATH", "default"
  std::string outcome;  ///< "no such directory", "holds no *.so", or empty
  std::vector<FileOutcome> files;
};

struct BackendChoice {
  const LoadedBackend* backend = nullptr;  ///< null: the diagnostics say why
  std::vector<std::string> reasons;        ///< a line for each backend that was asked: "cpu: score 200", "vulkan: cannot run here: no device"
};

class Registry {
 public:
  /// Looks everywhere at once. Only what was asked for and cannot be had is an error (E701); everything else is in places().
  Registry(const PluginSearch& search, const locus_host* host, Diagnostics& diagnostics);

  const std::vector<LoadedPlugin>& plugins() const { return plugins_; }
  const std::vector<LoadedKernel>& kernels() const { return kernels_; }
  const std::vector<LoadedBackend>& backends() const { return backends_; }
  const std::vector<SearchedPlace>& places() const { return places_; }

  const LoadedKernel* kernel(const std::string& name) const;
  const LoadedBackend* backend(const std::string& name) const;

  /// The backend of that name, or for "auto" the one with the highest score (the first of equals). `where` is what a message points at: "--backend".
  BackendChoice choose_backend(const std::string& name, bool float64, const std::string& where, Diagnostics& diagnostics) const;

 private:
  void search_place(const std::filesystem::path& place, const char* origin, const locus_host* host);
  FileOutcome take_file(const std::filesystem::path& file, const locus_host* host);
  std::string admit(const std::filesystem::path& file, const locus_plugin* table);
  void report_asked(const SearchedPlace& place, Diagnostics& diagnostics) const;
  BackendChoice choose_named(const std::string& name, bool float64, const std::string& where, Diagnostics& diagnostics) const;

  std::vector<LoadedPlugin> plugins_;
  std::vector<LoadedKernel> kernels_;
  std::vector<LoadedBackend> backends_;
  std::vector<SearchedPlace> places_;
};

}  // namespace locus
