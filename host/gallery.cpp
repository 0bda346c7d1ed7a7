// `locus gallery`: every call of the gallery, held against the numbers that specs/gallery/gallery.json expects.
// Must not know what a method is: inputs go by name through the same door as those of `locus run`.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include "core/data/weights.hpp"
#include "host/gallery.hpp"
#include "host/verdict.hpp"

namespace locus::host {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string setting_text(const json& value) {
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const json& v : value) text += (text.empty() ? "" : ",") + v.dump();
  return text;
}

/// The numbers by which a result is known.
std::map<std::string, double> summary(const Array& a) {
  double sum = 0, low = INFINITY, high = -INFINITY;
  for (std::int64_t k = 0; k < a.count(); ++k) {
    const double v = a.number(k);
    sum += v, low = std::min(low, v), high = std::max(high, v);
  }
  return {{"mean", sum / static_cast<double>(a.count())}, {"min", low}, {"max", high}, {"first", a.number(0)}, {"last", a.number(a.count() - 1)}, {"value", a.number(0)}};
}

void compare_summary(const std::string& label, const Array& got, const json& expected, Verdict& v) {
  const auto shape = expected.at("shape").get<std::vector<std::int64_t>>();
  if (got.shape() != shape || got.count() == 0) return v.fail(label + ": shape " + shape_text(got.shape()) + ", expected " + shape_text(shape));
  const auto found = summary(got);
  const double tolerance = std::max(expected.value("tolerance", 0.0), 1e-8 * std::abs(found.at("mean")));  // means are written with nine digits
  for (const auto& [name, value] : found) {
    if (!expected.contains(name)) continue;
    const double wanted = expected[name].get<double>();
    std::ostringstream line;
    line.precision(9);
    line << label << ": " << name << ' ' << value << ", expected " << wanted << " within " << tolerance;
    v.compare(std::abs(value - wanted) <= tolerance, line.str());
  }
}

/// The call as a command line's names: files of the data folder, settings as text.
std::vector<CommandLine::Named> names_of(const json& call, const fs::path& data) {
  std::vector<CommandLine::Named> all;
  const json inputs = call.value("inputs", json::object()), settings = call.value("settings", json::object());
  for (const auto& [name, file] : inputs.items()) all.push_back({name, (data / file.get<std::string>()).string()});
  for (const auto& [name, value] : settings.items()) all.push_back({name, setting_text(value)});
  return all;
}

void run_call(const json& call, Session& session, const LoadedBackend& backend, Dtype real, Verdict& v) {
  const auto got = gallery_results(call, session, backend, real);
  if (!got) return;
  const std::string name = call.at("hierarchy").get<std::string>();
  const json results = call.at("expect");
  for (const auto& [result, expected] : results.items()) {
    const auto at = std::find_if(got->begin(), got->end(), [&, &wanted = result](const Result& r) { return r.name == wanted; });
    if (at == got->end()) v.fail(name + ": there is no result '" + result + "'");
    else compare_summary(name + "." + result, at->array, expected, v);
  }
}

int run_gallery(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  const auto calls = gallery_calls(line.value("calls"), session.diagnostics);
  const LoadedBackend* backend = calls ? session.choose_backend() : nullptr;
  if (!backend) return session.finish();
  Tally tally(session.common.quiet, session.common.verbose);
  for (const Dtype real : session.common.dtypes) {
    if (!session.common.quiet) std::printf("%s, %s\n", backend->name.c_str(), name_of(real));
    for (const json& call : *calls) {
      const auto start = std::chrono::steady_clock::now();
      Verdict v;
      session.diagnostics = Diagnostics();  // a call's messages are its verdict
      try {
        run_call(call, session, *backend, real, v);
      } catch (const json::exception& e) {
        v.fail(e.what());
      }
      v.take(session.diagnostics, 0, call.value("spec", ""));
      tally.count(call.value("spec", "") + ' ' + call.value("hierarchy", ""), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), v);
    }
  }
  tally.print();
  return tally.failed() ? differs : fine;
}

}  // namespace

std::optional<json> gallery_calls(const std::string& named, Diagnostics& diagnostics) {
  const std::string path = named.empty() ? (fs::path(specs_folder()) / "gallery" / "gallery.json").string() : named;
  std::ifstream in(path);
  json all = in ? json::parse(in, nullptr, false) : json();
  if (all.is_array()) return all;
  diagnostics.add({Code::E401, {}, in ? "'" + path + "' is not a list of calls in JSON" : "cannot open '" + path + "'", "", {}, "name the file: `locus gallery --calls FILE`", "--calls"});
  return {};
}

std::optional<std::vector<Result>> gallery_results(const json& call, Session& session, const LoadedBackend& backend, Dtype real) {
  const fs::path specs = specs_folder();
  Chosen chosen{Spec::load((specs / "gallery" / call.at("spec").get<std::string>()).string(), session.sources, session.library(), session.diagnostics), {}, session.line(), {}, {}};
  if (session.diagnostics.failed()) return {};
  const std::string name = call.at("hierarchy").get<std::string>();
  for (const HierarchyInfo& h : chosen.spec.hierarchies())
    if (h.name == name) chosen.hierarchy = h;
  if (chosen.hierarchy.name.empty()) {
    session.diagnostics.add({Code::E807, {}, "there is no hierarchy '" + name + "'", "", {}, "", "--calls"});
    return {};
  }
  chosen.line.arguments = {call.at("spec").get<std::string>()};
  chosen.line.inputs = names_of(call, specs / "data");
  if (call.contains("weights")) chosen.weights = (specs / "data" / call.at("weights").get<std::string>()).string();
  if (call.contains("map")) chosen.weights_map = (specs / "gallery" / call.at("map").get<std::string>()).string();
  if (!check_names(chosen, false, session.diagnostics)) return {};
  auto data = read_data(chosen, session);
  if (!data) return {};
  RunOptions options;
  options.backend = backend.backend, options.memory = session.common.memory, options.real = real;
  auto outcome = run_request(chosen.spec, data->request, options, session.sources, session.diagnostics);
  if (!outcome) return {};
  return std::move(outcome->results);
}

Command gallery_command() {
  return {"gallery", "[--calls FILE] [--dtype float32|float64|both]", "run every spec of the gallery and compare with its expected numbers",
          "specs/gallery/gallery.json lists the calls: a spec, a hierarchy, data, and for each result its shape, mean, least, largest, first and last entry.\n"
          "Exit code 1 if something differs.",
          0, 0, {{"calls", "FILE", "another list of calls of the gallery's specs"}, both_types()}, {"backend", "threads", "seed", "memory", "missing", "header", "delimiter", "plugin", "quiet", "verbose"}, false, run_gallery, true};
}

}  // namespace locus::host
