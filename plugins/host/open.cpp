// Loads with Boost.DLL (now, local) after inspection, finds the entry, calls it once. Libraries are kept in a list that is never destroyed:
// an exception or a string of a plugin must not outlive its code.
#include "plugins/host/open.hpp"
#include <sys/stat.h>
#include <boost/dll/shared_library.hpp>
#include <exception>
#include <map>
#include <utility>
#include <vector>
#include "plugins/host/inspect.hpp"

namespace locus {
namespace {

using Entry = const locus_plugin*(const locus_host*);
using Identity = std::pair<std::uint64_t, std::uint64_t>;  // device and inode: one file under two names is one plugin

struct Opened {
  boost::dll::shared_library library;
  OpenedPlugin result;
};

std::map<Identity, Opened>& opened() {
  static auto& all = *new std::map<Identity, Opened>;
  return all;
}

/// Boost wraps the loader's text and adds an unrelated errno: keep the text alone.
std::string loader_text(const std::exception& error) {
  std::string text = error.what();
  const std::string before = "dlerror system message: ";
  const auto at = text.find(before);
  if (at == std::string::npos) return text;
  text.erase(0, at + before.size());
  const auto end = text.rfind("): ");
  if (end != std::string::npos) text.erase(end);
  return text;
}

std::string sanitizer_text(const std::string& name) { return name.empty() ? "without a sanitizer" : "with the sanitizer `" + name + "`"; }

std::string mismatch(const std::string& plugin) {
  return "the plugin was built " + sanitizer_text(plugin) + ", this locus " + sanitizer_text(sanitizer_of_host());
}

const locus_plugin* call_entry(Entry* entry, const locus_host* host, std::string& refusal) {
  const locus_plugin* table = nullptr;
  try {
    table = entry(host);
  } catch (const std::exception& e) {
    refusal = std::string("locus_plugin_entry threw an exception: ") + e.what();
    return nullptr;
  } catch (...) {
    refusal = "locus_plugin_entry threw an exception";
    return nullptr;
  }
  if (!table) {
    refusal = "locus_plugin_entry gave NULL: the plugin cannot work with ABI " + std::to_string(host->abi);
    return nullptr;
  }
  refusal = check_table(table);
  if (refusal.empty() && table->sanitizer != std::string(sanitizer_of_host())) refusal = mismatch(table->sanitizer);
  return refusal.empty() ? table : nullptr;
}

OpenedPlugin load(boost::dll::shared_library& library, const std::filesystem::path& file, const locus_host* host) {
  OpenedPlugin result;
  try {
    library.load(std::filesystem::absolute(file), boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  } catch (const std::exception& e) {
    result.refusal = "the loader says: " + loader_text(e);
    return result;
  }
  if (!library.has("locus_plugin_entry")) {
    result.refusal = "the symbol `locus_plugin_entry` is missing";
    return result;
  }
  result.table = call_entry(&library.get<Entry>("locus_plugin_entry"), host, result.refusal);
  return result;
}

}  // namespace

OpenedPlugin open_plugin(const std::filesystem::path& file, const locus_host* host) {
  const Inspection inspection = inspect(file);
  if (!inspection.refusal.empty()) return {nullptr, inspection.refusal, false};
  const std::string runtime = sanitizer_of(inspection.libraries);
  if (!runtime.empty() && runtime != sanitizer_of_host()) return {nullptr, mismatch(runtime), false};
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {nullptr, "the file cannot be opened for reading", false};
  const Identity identity{status.st_dev, status.st_ino};
  if (const auto found = opened().find(identity); found != opened().end()) {
    OpenedPlugin result = found->second.result;
    result.again = true;
    return result;
  }
  Opened& entry = opened()[identity];
  entry.result = load(entry.library, file, host);
  return entry.result;
}

const void* query(const locus_plugin* table, const char* id, std::string& refusal) {
  try {
    return table->query(id);
  } catch (...) {
    refusal = std::string("query(\"") + id + "\") threw an exception";
    return nullptr;
  }
}

}  // namespace locus
