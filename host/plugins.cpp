// `locus plugins` and `locus backends`: what was found where, why a file was refused, and what can run here.
// Must not know how plugins are loaded.
#include <iostream>
#include "host/session.hpp"

namespace locus::host {
namespace {

void list_places(const Registry& registry) {
  for (const SearchedPlace& place : registry.places()) {
    std::cout << place.origin << ": " << place.place.string() << (place.outcome.empty() ? "" : ": " + place.outcome) << '\n';
    for (const FileOutcome& file : place.files)
      std::cout << "  " << (file.loaded ? "loaded   " : "refused  ") << file.file.filename().string() << (file.reason.empty() ? "" : ": " + file.reason) << '\n';
  }
}

int run_plugins(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  for (const LoadedPlugin& plugin : session.registry().plugins()) {
    std::cout << plugin.name << ' ' << plugin.version << ':';
    for (std::size_t k = 0; k < plugin.capabilities.size(); ++k) std::cout << (k ? ", " : " ") << plugin.capabilities[k];
    std::cout << '\n';
  }
  if (session.registry().plugins().empty()) std::cout << "no plugin is loaded\n";
  std::size_t refused = 0;
  for (const SearchedPlace& place : session.registry().places())
    for (const FileOutcome& file : place.files) refused += !file.loaded;
  if (session.common.verbose) std::cout << '\n', list_places(session.registry());
  else if (refused) session.note(std::to_string(refused) + (refused == 1 ? " file was" : " files were") + " refused; `locus plugins --verbose` says why");
  return session.finish();
}

void list_devices(const locus_backend& backend) {
  std::uint32_t count = 0;
  locus_device devices[16] = {};
  for (locus_device& device : devices) device.size = sizeof device;
  if (!backend.devices || backend.devices(16, devices, &count) != LOCUS_OK) return;
  for (std::uint32_t k = 0; k < std::min<std::uint32_t>(count, 16); ++k) {
    std::cout << "  " << devices[k].name;
    if (devices[k].driver && *devices[k].driver) std::cout << ", " << devices[k].driver;
    if (devices[k].memory) std::cout << ", " << devices[k].memory / 1000000 << " MB";
    std::cout << '\n';
  }
}

int run_backends(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  for (const LoadedBackend& loaded : session.registry().backends()) {
    char reason[256] = "";
    const int score = loaded.backend->score(reason, sizeof reason);
    reason[sizeof reason - 1] = 0;
    std::cout << loaded.name << ": " << loaded.backend->description << (loaded.backend->float64 ? ", float32 and float64" : ", float32");
    if (score > 0) std::cout << ", score " << score << '\n', list_devices(*loaded.backend);
    else std::cout << ", cannot run here: " << reason << '\n';
  }
  if (session.registry().backends().empty()) std::cout << "no backend is loaded; `locus plugins --verbose` says where was looked\n";
  Diagnostics quiet;
  const BackendChoice choice = session.registry().choose_backend("auto", session.common.dtype == Dtype::float64, "--backend", quiet);
  if (choice.backend) std::cout << "auto chooses " << choice.backend->name << '\n';
  return session.finish();
}

}  // namespace

Command plugins_command() {
  return {"plugins", "", "plugins that were found, and why files were refused", "Looked for in: --plugin, LOCUS_PLUGIN_PATH, lib/locus/plugins beside the program, the installed folder.", 0, 0, {},
          {"plugin", "verbose", "quiet"}, false, run_plugins};
}
Command backends_command() { return {"backends", "", "backends, their devices, and what can run here", "", 0, 0, {}, {"plugin", "dtype", "verbose", "quiet"}, false, run_backends}; }

}  // namespace locus::host
