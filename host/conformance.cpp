// `locus conformance`: specs against reference data from independent implementations.
// Must not know how results are computed or what a case means: bindings say which array is which.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include "host/case.hpp"
#include "host/engine.hpp"
#include "host/session.hpp"
#include "host/verdict.hpp"

namespace locus::host {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Runner {
  Session& session;
  RunOptions options;
  std::string golden;
  std::vector<fs::path> specs;  ///< where a spec is looked for, in this order

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
    v.take(found, 0, request.hierarchy);
    if (!outcome) return;
    const json sign = run.value("options", json::object()).value("up_to_sign", json::array());
    for (const auto& [name, path] : run.at("results").items()) {
      const Result* got = nullptr;
      for (const Result& r : outcome->results)
        if (r.name == name) got = &r;
      const std::string label = request.hierarchy + "." + name;
      if (!got) {
        v.fail(label + ": there is no such result");
        continue;
      }
      const Array expected = data.resolve(path);
      std::string reason;
      const auto tolerance = path.is_string() ? data.tolerance(path.get<std::string>(), options.real, reason) : Tolerance{1e-9, 1e-9};
      if (!tolerance) {
        v.lines.push_back(label + ": skipped, no target in float32: " + reason);
        continue;
      }
      const bool flips = std::find(sign.begin(), sign.end(), json(name)) != sign.end();
      const Comparison c = compare(flips ? with_sign(got->array, expected, data.up_to_sign_by_row(path.get<std::string>())) : got->array, expected, *tolerance);
      std::ostringstream line;
      line.precision(3);
      line << label << ": worst " << c.worst << " of the tolerance" << (c.where.empty() ? "" : ", " + c.where);
      v.compare(c.passed, line.str());
    }
  }

  std::string spec_file(const std::string& name) const {
    for (const fs::path& folder : specs)
      if (fs::exists(folder / name)) return (folder / name).string();
    return (specs.front() / name).string();  // the message of the loader names it
  }

  void run_case(const json& binding, Tally& tally) {
    const std::string name = binding.at("case").get<std::string>();
    const auto start = std::chrono::steady_clock::now();
    Verdict v;
    try {
      const fs::path whole = fs::path(golden) / name, inner = fs::path(golden) / name.substr(name.find('/') + 1);
      const ReferenceCase data((fs::is_directory(whole) ? whole : inner).string());
      Diagnostics found;
      const Spec spec = Spec::load(spec_file(binding.at("spec").get<std::string>()), session.sources, session.library(), found);
      v.take(found, 0, "spec");
      for (const json& run : binding.at("runs"))
        if (!found.failed()) run_one(run, data, spec, v);
    } catch (const std::exception& e) {
      v.fail(e.what());
    }
    tally.count(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), v);
  }
};

/// The folders with specs: the one that was named; else beside the bindings that were named, then the tree's.
std::vector<fs::path> spec_folders(const CommandLine& line, const fs::path& tests) {
  if (line.has("specs")) return {line.value("specs")};
  if (line.has("bindings")) return {fs::path(line.value("bindings")).parent_path(), tests / "specs"};
  return {tests / "specs"};
}

int run_conformance(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  const fs::path tests = fs::path(specs_folder()).parent_path() / "tests" / "conformance";
  const std::vector<fs::path> specs = spec_folders(line, tests);
  const std::string bindings = line.value("bindings", (specs.front() / "bindings.json").string());
  std::ifstream in(bindings);
  const json all = in ? json::parse(in, nullptr, false) : json();
  if (!all.is_array()) {
    session.diagnostics.add({Code::E401, {}, in ? "'" + bindings + "' is not a list of bindings in JSON" : "cannot open '" + bindings + "'", "", {}, "name the file: `--bindings FILE`", "--bindings"});
    return session.finish();
  }
  const LoadedBackend* backend = session.choose_backend();
  if (!backend) return session.finish();
  Runner runner{session, {}, line.value("golden", (tests / "golden").string()), specs};
  runner.options.backend = backend->backend;
  runner.options.memory = session.common.memory;
  Tally tally(session.common.quiet, session.common.verbose);
  for (const Dtype real : session.common.dtypes) {
    runner.options.real = real;
    if (!session.common.quiet) std::printf("%s, %s\n", backend->name.c_str(), name_of(real));
    for (const json& binding : all)
      if (binding.value("case", "").find(line.value("case")) != std::string::npos) runner.run_case(binding, tally);
  }
  if (tally.total() == 0) {
    session.diagnostics.add({Code::E804, {}, "no case is named like '" + line.value("case") + "'", "", {}, "leave --case out for all", "--case"});
    return session.finish();
  }
  tally.print();
  const int code = session.finish();
  return code ? code : tally.failed() ? differs : fine;
}

}  // namespace

Command conformance_command() {
  return {"conformance", "[--golden DIR] [--specs DIR] [--bindings FILE] [--case TEXT] [--dtype float32|float64|both]", "compare with reference data of independent implementations",
          "Each case is a folder of arrays with a case.json; bindings say which array is which input and result of a spec. Without options the cases of the source tree\n"
          "run in float32 and float64; --dtype chooses one. Constructs that are not built yet are counted apart. Exit code 1 if something differs.",
          0, 0,
          {{"golden", "DIR", "the folder with the cases"},
           {"specs", "DIR", "the folder with the specs; beside the bindings or the tree's if not said"},
           {"bindings", "FILE", "bindings.json of the specs' folder if not said"},
           {"case", "TEXT", "only cases with this text in their names"},
           both_types()},
          {"backend", "threads", "seed", "memory", "plugin", "quiet", "verbose"}, false, run_conformance, true};
}

}  // namespace locus::host
