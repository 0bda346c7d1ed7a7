// `locus conformance`: specs against reference data from independent implementations.
// Must not know how results are computed or what a case means: bindings say which array is which.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include "host/case.hpp"
#include "host/engine.hpp"
#include "host/session.hpp"

namespace locus::host {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Tally {
  int passed = 0, failed = 0, unbuilt = 0;
};

struct Runner {
  Session& session;
  RunOptions options;
  std::string golden, specs;
  bool verbose = false;

  struct Verdict {
    bool fine = true;
    std::set<std::string> unbuilt;
    std::vector<std::string> lines;  ///< what is shown of a failure
    std::vector<std::string> details;
  };

  void mistakes(const Diagnostics& d, const std::string& label, Verdict& v) const {
    for (const Diagnostic& m : d.all()) {
      if (info(m.code).severity != Severity::error) continue;
      if (m.code == Code::E301) {
        v.unbuilt.insert(m.message);
        continue;
      }
      v.fine = false;
      v.lines.push_back(label + ": " + m.message);
    }
  }

  void run_one(const json& run, const ReferenceCase& data, const Spec& spec, Verdict& v) {
    Request request;
    request.hierarchy = run.at("hierarchy").get<std::string>();
    request.seed = session.common.seed;
    const json inputs = run.value("inputs", json::object()), settings = run.value("settings", json::object());
    for (const auto& [name, source] : inputs.items()) request.inputs[name] = data.resolve(source);
    for (const auto& [name, source] : settings.items()) request.settings[name] = data.resolve(source);
    request.weights = data.parameters(run.value("params", json::object()));
    Diagnostics found;
    const auto outcome = run_request(spec, request, options, session.sources, found);
    mistakes(found, request.hierarchy, v);
    if (!outcome) return;
    const json sign = run.value("options", json::object()).value("up_to_sign", json::array());
    for (const auto& [name, path] : run.at("results").items()) {
      const Result* got = nullptr;
      for (const Result& r : outcome->results)
        if (r.name == name) got = &r;
      const std::string label = request.hierarchy + "." + name;
      if (!got) {
        v.fine = false;
        v.lines.push_back(label + ": there is no such result");
        continue;
      }
      const Array expected = data.resolve(path);
      std::string reason;
      const auto tolerance = path.is_string() ? data.tolerance(path.get<std::string>(), options.real, reason) : Tolerance{1e-9, 1e-9};
      if (!tolerance) {
        v.details.push_back(label + ": skipped, no target in float32: " + reason);
        continue;
      }
      const bool flips = std::find(sign.begin(), sign.end(), json(name)) != sign.end();
      const Comparison c = compare(flips ? with_sign(got->array, expected, data.up_to_sign_by_row(path.get<std::string>())) : got->array, expected, *tolerance);
      std::ostringstream line;
      line.precision(3);
      line << label << ": worst " << c.worst << " of the tolerance" << (c.where.empty() ? "" : ", " + c.where);
      (c.passed ? v.details : v.lines).push_back(line.str());
      v.fine &= c.passed;
    }
  }

  void run_case(const json& binding, Tally& tally) {
    const std::string name = binding.at("case").get<std::string>();
    const auto start = std::chrono::steady_clock::now();
    Verdict v;
    try {
      const fs::path whole = fs::path(golden) / name, inner = fs::path(golden) / name.substr(name.find('/') + 1);
      const ReferenceCase data((fs::is_directory(whole) ? whole : inner).string());
      Diagnostics found;
      const Spec spec = Spec::load((fs::path(specs) / binding.at("spec").get<std::string>()).string(), session.sources, session.library(), found);
      mistakes(found, "spec", v);
      for (const json& run : binding.at("runs"))
        if (!found.failed()) run_one(run, data, spec, v);
    } catch (const std::exception& e) {
      v.fine = false;
      v.lines.push_back(e.what());
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const char* word = !v.fine ? "FAIL" : v.unbuilt.empty() ? "pass" : "todo";
    ++(!v.fine ? tally.failed : v.unbuilt.empty() ? tally.passed : tally.unbuilt);
    if (!session.common.quiet || !v.fine) {
      std::printf("%s %s  [%.1f s]", word, name.c_str(), seconds);
      std::string all;
      for (const auto& what : v.unbuilt) all += (all.empty() ? "  " : ", ") + what;
      std::printf("%s\n", v.fine ? all.c_str() : "");
    }
    for (const auto& line : v.lines) std::printf("     %s\n", line.c_str());
    if (verbose)
      for (const auto& line : v.details) std::printf("     %s\n", line.c_str());
    std::fflush(stdout);
  }
};

int run_conformance(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  const fs::path tests = fs::path(specs_folder()).parent_path() / "tests" / "conformance";
  const std::string specs = line.value("specs", (tests / "specs").string()), bindings = line.value("bindings", (fs::path(specs) / "bindings.json").string());
  std::ifstream in(bindings);
  const json all = in ? json::parse(in, nullptr, false) : json();
  if (!all.is_array()) {
    session.diagnostics.add({Code::E401, {}, in ? "'" + bindings + "' is not a list of bindings in JSON" : "cannot open '" + bindings + "'", "", {}, "name the file: `--bindings FILE`", "--bindings"});
    return session.finish();
  }
  const LoadedBackend* backend = session.choose_backend();
  if (!backend) return session.finish();
  Runner runner{session, {}, line.value("golden", (tests / "golden").string()), specs, session.common.verbose};
  runner.options.backend = backend->backend;
  runner.options.memory = session.common.memory;
  Tally tally;
  for (const Dtype real : {Dtype::float32, Dtype::float64}) {
    if (line.has("dtype") && real != session.common.dtype) continue;
    runner.options.real = real;
    if (!session.common.quiet) std::printf("%s, %s\n", backend->name.c_str(), name_of(real));
    for (const json& binding : all)
      if (binding.value("case", "").find(line.value("case")) != std::string::npos) runner.run_case(binding, tally);
  }
  if (tally.passed + tally.failed + tally.unbuilt == 0) {
    session.diagnostics.add({Code::E804, {}, "no case is named like '" + line.value("case") + "'", "", {}, "leave --case out for all", "--case"});
    return session.finish();
  }
  if (tally.unbuilt) std::printf("%d not built yet\n", tally.unbuilt);
  std::printf("%d passed, %d failed\n", tally.passed, tally.failed);
  const int code = session.finish();
  return code ? code : tally.failed ? run_error : fine;
}

}  // namespace

Command conformance_command() {
  return {"conformance", "[--golden DIR] [--specs DIR] [--bindings FILE] [--case TEXT]", "compare with reference data of independent implementations",
          "Each case is a folder of arrays with a case.json; bindings say which array is which input and result of a spec. Without options the cases of the source tree\n"
          "run in float32 and float64; --dtype chooses one. Constructs that are not built yet are counted apart. Exit code 0 only if nothing failed.",
          0, 0,
          {{"golden", "DIR", "the folder with the cases"},
           {"specs", "DIR", "the folder with the specs"},
           {"bindings", "FILE", "bindings.json of the specs' folder if not said"},
           {"case", "TEXT", "only cases with this text in their names"}},
          {"backend", "threads", "dtype", "seed", "memory", "plugin", "quiet", "verbose"}, false, run_conformance};
}

}  // namespace locus::host
