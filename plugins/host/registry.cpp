// The search for plugins and what becomes of each file. The first of a name wins; the second is refused with both paths.
#include "plugins/host/registry.hpp"
#include <algorithm>
#include <cstdlib>
#include "plugins/host/open.hpp"

namespace locus {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split_path(const std::string& text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  for (std::size_t end = text.find(':'); end != std::string::npos; begin = end + 1, end = text.find(':', begin))
    items.push_back(text.substr(begin, end - begin));
  items.push_back(text.substr(begin));
  return items;
}

template <class List>
auto find_named(const List& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::string taken(const std::string& what, const fs::path& by) { return what + " is already taken by " + by.string(); }

}  // namespace

Registry::Registry(const PluginSearch& search, const locus_host* host, Diagnostics& diagnostics) {
  for (const std::string& asked : search.asked) {
    search_place(asked, "--plugin", host);
    report_asked(places_.back(), diagnostics);
  }
  const auto search_defaults = [&] {
    for (const fs::path& place : search.defaults) search_place(place, "default", host);
  };
  for (const std::string& item : split_path(search.path.value_or(""))) {
    if (item.empty())
      search_defaults();
    else
      search_place(item, "LOCUS_PLUGIN_PATH", host);
  }
}

void Registry::search_place(const fs::path& place, const char* origin, const locus_host* host) {
  SearchedPlace searched{place, origin, "", {}};
  std::error_code error;
  std::vector<fs::path> files;
  if (fs::is_directory(place, error)) {
    for (fs::directory_iterator item(place, error), end; !error && item != end; item.increment(error))
      if (item->path().extension() == ".so") files.push_back(item->path());
    std::sort(files.begin(), files.end());
    if (error)
      searched.outcome = "cannot be read: " + error.message();
    else if (files.empty())
      searched.outcome = "holds no *.so";
  } else if (fs::exists(place, error)) {
    files.push_back(place);
  } else {
    searched.outcome = "there is no such file or directory";
  }
  for (const fs::path& file : files) searched.files.push_back(take_file(file, host));
  places_.push_back(std::move(searched));
}

FileOutcome Registry::take_file(const fs::path& file, const locus_host* host) {
  const OpenedPlugin opened = open_plugin(file, host);
  if (!opened.table) return {file, false, opened.refusal};
  for (const LoadedPlugin& plugin : plugins_)
    if (plugin.table == opened.table) return {file, true, "already loaded as " + plugin.file.string()};
  const std::size_t before = plugins_.size();
  const std::string reason = admit(file, opened.table);
  return {file, plugins_.size() > before, reason};
}

/// Everything is checked before anything is kept, so that a plugin that breaks the contract leaves no trace. A name that is taken costs
/// the plugin that one kernel or backend only.
std::string Registry::admit(const fs::path& file, const locus_plugin* table) {
  if (const LoadedPlugin* first = find_named(plugins_, table->name)) return taken(std::string("the plugin name `") + table->name + "`", first->file);
  std::string refusal;
  const auto* kernels = static_cast<const locus_kernels*>(query(table, LOCUS_KERNEL_ID, refusal));
  if (!refusal.empty()) return refusal;
  const auto* backend = static_cast<const locus_backend*>(query(table, LOCUS_BACKEND_ID, refusal));
  if (!refusal.empty()) return refusal;
  if (!kernels && !backend) return std::string("the plugin offers neither ") + LOCUS_KERNEL_ID + " nor " + LOCUS_BACKEND_ID;
  if (kernels && kernels->size < sizeof(locus_kernels))
    return "locus_kernels.size is " + std::to_string(kernels->size) + ", at least " + std::to_string(sizeof(locus_kernels)) + " expected";
  if (kernels && kernels->count > 0 && !kernels->kernels) return "locus_kernels.kernels is NULL";
  for (std::uint32_t k = 0; kernels && k < kernels->count; ++k)
    if (refusal = check_kernel_table(kernels->kernels[k]); !refusal.empty()) return refusal;
  if (backend && !(refusal = check_backend_table(backend)).empty()) return refusal;

  LoadedPlugin plugin{table->name, table->version, file, table, {}};
  const std::size_t index = plugins_.size();
  std::string reasons;
  const auto offer = [&](const std::string& what, auto& list, auto item) {
    if (const auto* first = find_named(list, item.name)) {
      const fs::path& owner = first->plugin == index ? file : plugins_[first->plugin].file;
      reasons += (reasons.empty() ? "" : "; ") + taken("the " + what + " name `" + item.name + "`", owner);
      return;
    }
    plugin.capabilities.push_back(what + " " + item.name);
    list.push_back(std::move(item));
  };
  for (std::uint32_t k = 0; kernels && k < kernels->count; ++k) offer("kernel", kernels_, LoadedKernel{kernels->kernels[k]->name, kernels->kernels[k], index});
  if (backend) offer("backend", backends_, LoadedBackend{backend->name, backend, index});
  if (plugin.capabilities.empty()) return reasons;
  plugins_.push_back(std::move(plugin));
  return reasons;
}

void Registry::report_asked(const SearchedPlace& searched, Diagnostics& diagnostics) const {
  if (std::any_of(searched.files.begin(), searched.files.end(), [](const FileOutcome& file) { return file.loaded; })) return;
  Diagnostic message{Code::E701, {}, "", "", {}, "", "--plugin"};
  if (searched.files.size() == 1) {
    message.message = "the plugin " + searched.files[0].file.string() + " was refused: " + searched.files[0].reason;
  } else if (searched.files.empty()) {
    message.message = "no plugin at " + searched.place.string() + ": " + searched.outcome;
  } else {
    message.message = "no plugin in " + searched.place.string() + " could be loaded";
    for (const FileOutcome& file : searched.files) message.notes.push_back({{}, file.file.string() + ": " + file.reason});
  }
  message.help = "`locus plugins -v` shows every place looked at and every refusal";
  diagnostics.add(std::move(message));
}

const LoadedKernel* Registry::kernel(const std::string& name) const { return find_named(kernels_, name); }
const LoadedBackend* Registry::backend(const std::string& name) const { return find_named(backends_, name); }

PluginSearch usual_search(std::vector<std::string> asked) {
  PluginSearch search{std::move(asked), std::nullopt, {}};
  if (const char* path = std::getenv("LOCUS_PLUGIN_PATH")) search.path = path;
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    search.defaults.push_back((executable.parent_path() / ".." / "lib" / "locus" / "plugins").lexically_normal());
    search.defaults.push_back(executable.parent_path() / "lib" / "locus" / "plugins");
  }
  const fs::path installed = LOCUS_PLUGIN_DIR;
  if (std::find(search.defaults.begin(), search.defaults.end(), installed) == search.defaults.end()) search.defaults.push_back(installed);
  return search;
}

}  // namespace locus
