// Opens what a command needs and ends it: plugins, standard library, backend, messages and the exit code.
// Must not know what a command does.
#include "host/session.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <unistd.h>
#include "core/data/file.hpp"
#include "plugins/host/host_services.hpp"

namespace locus::host {
namespace fs = std::filesystem;

bool Session::open() {
  const auto read = read_common(line_, diagnostics);
  if (!read) return false;
  common = *read;
  host_services().use_threads(common.threads);
  registry_ = std::make_unique<Registry>(usual_search(common.plugins), host_services().table(), diagnostics);
  if (diagnostics.failed()) return false;
  library_.texts = standard_texts(diagnostics);
  library_.kernels = plugin_kernels(*registry_);
  return !diagnostics.failed();
}

const LoadedBackend* Session::choose_backend() {
  const BackendChoice choice = registry_->choose_backend(common.backend, common.dtypes.back() == Dtype::float64, "--backend", diagnostics);
  if (common.verbose)
    for (const std::string& reason : choice.reasons) note(reason);
  return choice.backend;
}

void Session::note(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

int Session::finish() {
  print(diagnostics, sources, common.quiet || line_.has("quiet"));
  for (const LogLine& line : host_services().take_log()) note((line.level > 0 ? "warning from a plugin: " : "from a plugin: ") + line.text);
  if (!common.quiet && !line_.has("quiet"))
    for (const std::string& text : notes_) std::cerr << "note: " << text << '\n';
  std::cout.flush();
  return exit_code(diagnostics);
}

int exit_code(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.all()) {
    if (info(d.code).severity != Severity::error) continue;
    if (d.code == Code::E601 || d.code == Code::E723) return memory_error;
    switch (info(d.code).name[1]) {
      case '4': return input_error;
      case '6': return run_error;
      case '7': return plugin_error;
      case '8': return usage_error;
      default: return spec_error;
    }
  }
  return fine;
}

bool standard_error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

void print(const Diagnostics& diagnostics, const Sources& sources, bool errors_only) {
  const bool colour = standard_error_is_terminal() && !std::getenv("NO_COLOR");
  bool first = true;
  for (const Diagnostic& d : diagnostics.all()) {
    if (errors_only && info(d.code).severity != Severity::error) continue;
    if (!first) std::cerr << '\n';
    first = false;
    write(std::cerr, d, sources, colour);
  }
}

std::string specs_folder() {
  std::vector<fs::path> places;
  std::error_code fault;
  const fs::path program = fs::read_symlink("/proc/self/exe", fault);
  if (!fault) places.push_back(program.parent_path() / ".." / "share" / "locus" / "specs");
  places.push_back(LOCUS_SPECS_SOURCE);
  places.push_back(LOCUS_SPECS_INSTALLED);
  for (const fs::path& place : places)
    if (fs::is_directory(place / "std", fault)) return place.lexically_normal().string();
  return "";
}

std::vector<std::pair<std::string, std::string>> standard_texts(Diagnostics& diagnostics) {
  std::vector<std::pair<std::string, std::string>> texts;
  const std::string folder = specs_folder();
  if (folder.empty()) {
    diagnostics.add({Code::E401, {}, "the standard library is not found: no folder specs/std beside the program", "", {}, "install locus again, or run it from its build folder", LOCUS_SPECS_INSTALLED});
    return texts;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / "std"))
    if (entry.path().extension() == ".locus") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    if (auto text = read_file(file.string(), diagnostics)) texts.emplace_back("<std>/" + file.filename().string(), *text);
  return texts;
}

std::vector<KernelSignature> plugin_kernels(const Registry& registry) {
  std::vector<KernelSignature> all;
  for (const LoadedKernel& k : registry.kernels()) {
    KernelSignature signature;
    signature.name = k.name;
    for (std::uint32_t s = 0; s < k.kernel->setting_count; ++s) {
      const locus_kernel_setting& setting = k.kernel->settings[s];
      signature.settings.emplace_back(setting.name, std::isnan(setting.initial) ? std::nullopt : std::optional<double>(setting.initial));
    }
    signature.source = k.kernel->source ? k.kernel->source : "";
    signature.native = k.kernel;
    signature.origin = registry.plugins()[k.plugin].file.string();
    all.push_back(std::move(signature));
  }
  return all;
}

}  // namespace locus::host
