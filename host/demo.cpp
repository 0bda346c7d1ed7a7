// `locus demo`: the main job on bundled real data: a curve through a motorcycle crash test, as a short table, a result file and a picture.
// Must not know more than any user: it takes the gallery's spec and the data beside it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include "core/data/input.hpp"
#include "host/engine.hpp"
#include "host/session.hpp"
#include "host/svg.hpp"

namespace locus::host {
namespace {

namespace fs = std::filesystem;

Array grid_over(const Array& x, std::int64_t count) {
  double low = x.number(0), high = low;
  for (std::int64_t k = 0; k < x.count(); ++k) low = std::min(low, x.number(k)), high = std::max(high, x.number(k));
  Array grid(Dtype::float64, {count});
  for (std::int64_t k = 0; k < count; ++k) grid.as<double>()[k] = low + (high - low) * static_cast<double>(k) / static_cast<double>(count - 1);
  return grid;
}

std::vector<double> numbers(const Array& a) {
  std::vector<double> all;
  for (std::int64_t k = 0; k < a.count(); ++k) all.push_back(a.number(k));
  return all;
}

bool keep(const fs::path& path, const std::string& text, Diagnostics& diagnostics) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (out.flush()) return true;
  diagnostics.add({Code::E430, {}, "cannot write '" + path.string() + "'", "", {}, "name a folder that can be written: `locus demo --out DIR`", path.string()});
  return false;
}

int run_demo(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  const fs::path specs = specs_folder(), folder = line.value("out", "demo-output");
  Inputs inputs({}, Missing::refuse);
  const std::string table = (specs / "data" / "motorcycle.csv").string();
  const auto times = inputs.read(table + ":times", session.diagnostics), accel = inputs.read(table + ":accel", session.diagnostics);
  const Spec spec = Spec::load((specs / "gallery" / "nadaraya_watson.locus").string(), session.sources, session.library(), session.diagnostics);
  const LoadedBackend* backend = session.choose_backend();
  if (!times || !accel || !backend || session.diagnostics.failed()) return session.finish();
  Request request;
  request.inputs = {{"query", grid_over(times->array, 200)}, {"x", times->array}, {"y", accel->array}};
  request.settings["h"] = Array(Dtype::float64, {});
  request.settings["h"].as<double>()[0] = 1.5;
  RunOptions options;
  options.backend = backend->backend;
  options.real = session.common.dtype;
  options.memory = session.common.memory;
  const auto outcome = run_request(spec, request, options, session.sources, session.diagnostics);
  if (!outcome) return session.finish();
  const Array &query = request.inputs.at("query"), &fit = outcome->results.front().array;

  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const std::vector<Result> columns{{"times", query}, {"accel", fit}};
  if (!write_results((folder / "motorcycle_fit.csv").string(), columns, {}, session.diagnostics)) return session.finish();
  const Plot plot{"mean(accel) at query among times by gaussian(1.5)", "milliseconds after impact", "head acceleration (g)", numbers(times->array), numbers(accel->array), numbers(query), numbers(fit)};
  if (!keep(folder / "motorcycle_fit.svg", svg_text(plot), session.diagnostics)) return session.finish();

  std::printf("kernel regression of %lld accelerations of a helmet in a crash test (Silverman 1985), on %s\n\n", static_cast<long long>(times->array.count()), backend->name.c_str());
  std::printf("  return mean(y) at query among x by gaussian(h)        h = 1.5 ms\n\n  %8s  %8s\n", "ms", "g");
  for (std::int64_t k = 0; k < query.count(); k += 28) std::printf("  %8.1f  %8.1f\n", query.number(k), fit.number(k));
  std::printf("\n  %s  200 places\n  %s  points and curve\n", (folder / "motorcycle_fit.csv").string().c_str(), (folder / "motorcycle_fit.svg").string().c_str());
  return session.finish();
}

}  // namespace

Command demo_command() {
  return {"demo", "[--out DIR]", "a curve through real data, as a table and a picture",
          "Kernel regression of a motorcycle crash test by specs/gallery/nadaraya_watson.locus. Leaves motorcycle_fit.csv and motorcycle_fit.svg in demo-output, or in DIR.",
          0, 0, {{"out", "DIR", "the folder for the results", "demo-output"}}, {"backend", "threads", "dtype", "memory", "plugin", "quiet", "verbose"}, false, run_demo};
}

}  // namespace locus::host
