// `locus check`: specs without data, and the kernels of a plugin against their own facts and forms.
// Must not know what makes a spec right; it asks the compiler and the plugin host.
#include <algorithm>
#include <iostream>
#include "core/data/number.hpp"
#include "host/engine.hpp"
#include "host/session.hpp"
#include "plugins/host/check_kernel.hpp"

namespace locus::host {
namespace {

Array matrix(std::int64_t rows, std::int64_t columns, const std::vector<double>& numbers) {
  Array a(Dtype::float64, {rows, columns});
  std::copy(numbers.begin(), numbers.end(), a.as<double>());
  return a;
}

/// Evaluates a kernel's `source` form by a spec of one line on the reference backend.
class SourceForm {
 public:
  SourceForm(Session& session, const LoadedBackend& backend) : session_(session), backend_(backend) {}

  std::string operator()(const locus_kernel& kernel, const KernelSample& sample, std::vector<double>& value) const {
    std::string settings, declared;
    for (std::uint32_t k = 0; k < kernel.setting_count; ++k) {
      settings += std::string(k ? ", " : "") + kernel.settings[k].name;
      declared += std::string(k ? ", " : "; ") + kernel.settings[k].name + ": real";
    }
    const std::string text = std::string(kernel.source) + "\nhierarchy evaluate(query: [n, d], x: [m, d]" + declared + ") -> [n, m] {\n  return gram() at query among x by " + kernel.name +
                             (settings.empty() ? "" : "(" + settings + ")") + "\n}\n";
    Diagnostics diagnostics;
    const Spec spec = Spec::from_text("<source of " + std::string(kernel.name) + ">", text, session_.sources, session_.library(), diagnostics);
    Request request;
    request.inputs = {{"query", matrix(sample.rows, sample.d, sample.q)}, {"x", matrix(sample.samples, sample.d, sample.x)}};
    for (std::uint32_t k = 0; k < kernel.setting_count; ++k) {
      Array number(Dtype::float64, {});
      *number.as<double>() = sample.settings[k];
      request.settings[kernel.settings[k].name] = number;
    }
    RunOptions options;
    options.backend = backend_.backend;
    options.real = Dtype::float64;
    std::optional<Outcome> outcome;
    if (!diagnostics.failed()) outcome = run_request(spec, request, options, session_.sources, diagnostics);
    if (!outcome) return diagnostics.all().empty() ? "the source form could not be run" : diagnostics.all().front().message;
    const Array& gram = outcome->results.front().array;
    value.resize(static_cast<std::size_t>(gram.count()));
    for (std::int64_t k = 0; k < gram.count(); ++k) value[static_cast<std::size_t>(k)] = gram.number(k);
    return "";
  }

 private:
  Session& session_;
  const LoadedBackend& backend_;
};

/// All kernels of the plugins that --plugin has named.
bool check_plugins(Session& session) {
  const LoadedBackend* reference = session.registry().backend("reference");
  if (!reference) {
    session.common.backend = "reference";
    session.choose_backend();
    return false;
  }
  const SourceForm source(session, *reference);
  bool fine = true;
  std::size_t count = 0;
  for (const SearchedPlace& place : session.registry().places()) {
    if (place.origin != "--plugin") continue;
    for (const FileOutcome& file : place.files)
      for (const LoadedKernel& kernel : session.registry().kernels()) {
        const LoadedPlugin& plugin = session.registry().plugins()[kernel.plugin];
        std::error_code fault;
        if (!std::filesystem::equivalent(plugin.file, file.file, fault)) continue;
        ++count;
        std::cout << kernel.name << ": " << kernel.kernel->formula << '\n';
        for (const KernelFinding& finding : check_kernel(*kernel.kernel, plugin.name, source)) {
          std::cout << "  " << line_of(finding) << '\n';
          fine &= finding.passed;
        }
      }
  }
  std::cout << count << (count == 1 ? " kernel, " : " kernels, ") << (fine ? "nothing wrong found" : "something is wrong") << '\n';
  return fine;
}

void check_spec(const std::string& file, Session& session) {
  const std::size_t before = session.diagnostics.errors();
  const Spec spec = Spec::load(file, session.sources, session.library(), session.diagnostics);
  if (session.diagnostics.errors() == before) check(spec, session.diagnostics);
  const std::size_t errors = session.diagnostics.errors() - before;
  const std::size_t count = errors ? 0 : spec.hierarchies().size();
  std::cout << file << ": ";
  if (errors) std::cout << errors << (errors == 1 ? " error\n" : " errors\n");
  else std::cout << "ok, " << count << (count == 1 ? " hierarchy\n" : " hierarchies\n");
}

int run_check(const CommandLine& line) {
  Session session(line);
  if (line.arguments.empty() && !line.has("plugin"))
    session.diagnostics.add({Code::E806, {}, "`locus check` needs a spec or a plugin", "", {}, "`locus help check` lists what it takes", ""});
  if (session.diagnostics.failed() || !session.open()) return session.finish();
  const bool fine_plugins = !line.has("plugin") || check_plugins(session);
  for (const std::string& file : line.arguments) check_spec(file, session);
  const int code = session.finish();
  return code == fine && !fine_plugins ? static_cast<int>(plugin_error) : code;
}

}  // namespace

Command check_command() {
  return {"check", "SPEC ... | --plugin PATH", "check specs without data, or the kernels of a plugin",
          "A spec is read with all its imports; names, axes, types and clauses of every declaration are checked.\n"
          "A plugin's kernels are run in each form they have, on sampled points, and their facts are put to the test.",
          0, 100000, {}, {"plugin", "threads", "quiet", "verbose"}, false, run_check};
}

}  // namespace locus::host
