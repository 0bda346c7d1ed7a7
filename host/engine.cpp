// One request from text to results: lower, run, give each result the kind that the spec declares.
// Must not know where a request comes from and where its results go.
#include "host/engine.hpp"
#include <cmath>
#include <sstream>

namespace locus::host {
namespace {

Array as_declared(const Array& array, const std::string& kind) {
  if (kind == "int") return array.dtype() == Dtype::int64 ? array : array.cast(Dtype::int64);
  if (kind == "bool") return array.dtype() == Dtype::boolean ? array : array.cast(Dtype::boolean);
  return array;
}

/// A result that is declared int and holds another number would be cut silently.
bool whole(const ResultInfo& r, const Array& array, Span span, Diagnostics& diagnostics) {
  if (r.kind != "int" || array.dtype() == Dtype::int64) return true;
  std::int64_t k = 0;
  while (k < array.count() && std::abs(array.number(k)) <= 0x1p53 && array.number(k) == std::trunc(array.number(k))) ++k;
  if (k == array.count()) return true;
  std::string type = "[";
  for (std::size_t a = 0; a < r.axes.size(); ++a) type += (a ? ", " : "") + r.axes[a];
  std::ostringstream entry;
  entry << array.number(k);
  diagnostics.add({Code::E206, span, "'" + r.name + "' is declared int and holds " + entry.str() + (array.shape().empty() ? "" : " at entry " + std::to_string(k)), "", {},
                   "declare it `" + (r.axes.empty() ? "real" : type + "]") + "`, or take `round(...)` of it", ""});
  return false;
}

std::vector<Result> take(const std::vector<ResultInfo>& infos, const std::map<std::string, Array>& outputs) {
  std::vector<Result> all;
  for (const ResultInfo& r : infos) all.push_back({r.name, as_declared(outputs.at(r.output), r.kind)});
  return all;
}

Span span_of(const Spec& spec, const std::string& hierarchy) {
  for (const HierarchyInfo& h : spec.hierarchies())
    if (h.name == hierarchy) return h.span;
  return {};
}

std::string place_of(Span span, const Sources& sources) {
  if (!span.set()) return "";
  return " in " + sources.at(span.source).name + ":" + std::to_string(sources.place(span.source, span.low).line);
}

/// Rows that no sample reached, with the line of the spec: what the spec could say about them stands in the same line.
void note_empty(const RunSummary& summary, const Sources& sources, std::vector<std::string>& notes) {
  for (const auto& [span, count] : summary.empty_by_node) {
    const std::string text = std::to_string(count) + (count == 1 ? " query had no sample" : " queries had no sample") + place_of(span, sources);
    notes.push_back(text + "; `otherwise VALUE` in that sentence says what they get");
  }
}

/// "12 of 200 fits of 'linear' in a.locus:3 (the first: 4, 5, 9)", or nothing.
std::string some_of(const std::vector<std::int64_t>& which, std::int64_t all, const std::string& what, const Watch& w, const Sources& sources) {
  std::string text = std::to_string(which.size()) + " of " + std::to_string(all) + ' ' + what + " of '" + w.name + "'" + place_of(w.span, sources);
  for (std::size_t k = 0; k < std::min<std::size_t>(which.size(), 3); ++k) text += (k ? ", " : which.size() == 1 ? " (number " : " (numbers ") + std::to_string(which[k]);
  return text + (which.size() > 3 ? ", …)" : ")");
}

/// Eigenvalues that are one, whose vectors are no property of the matrix.
void note_spectrum(const Watch& w, const Array& report, const Sources& sources, std::vector<std::string>& notes) {
  const std::string at = place_of(w.span, sources);
  if (report.number(0) == 0) notes.push_back("'" + w.name + "'" + at + " did not settle, or met NaN or infinity: NaN is given");
  if (report.number(1) == 0) return;
  const auto equal = static_cast<std::int64_t>(report.number(1)), zero = static_cast<std::int64_t>(report.number(2));
  notes.push_back(std::to_string(equal) + " of " + std::to_string(w.unknowns) + " eigenvalues" + at + " equal another" +
                  (zero > 0 ? ", " + std::to_string(zero) + " of them 0 (a graph's Laplacian has one for each of its parts)" : "") + ": any turn of their vectors serves as well");
}

/// A system that was solved by turns: how many, and how far it came.
void note_system(const Watch& w, const Array& report, const Sources& sources, std::vector<std::string>& notes) {
  std::ostringstream text;
  text.precision(2);
  const double left = report.number(1);
  text << "'" << w.name << "'" << place_of(w.span, sources) << ": " << static_cast<std::int64_t>(report.number(0)) << " turns of conjugate gradients, " << left << " of the right side is left";
  if (!(left <= 1e-8)) text << ", so it did not settle: a larger number on the diagonal settles it";
  notes.push_back(text.str());
}

/// What fits and searches could not settle; the count of rows is from 0.
void note_watch(const Watch& w, const Array& a, const Sources& sources, std::vector<std::string>& notes) {
  if (w.kind == Watch::system) return note_system(w, a, sources, notes);
  if (w.kind == Watch::spectrum) return note_spectrum(w, a, sources, notes);
  const std::int64_t p = w.unknowns, width = w.kind == Watch::fit ? 3 : w.kind == Watch::search ? 3 * p + 6 : 11;
  const std::int64_t rows = width > 0 ? a.count() / width : 0;
  std::vector<std::int64_t> thin, open, lost;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto at = [&](std::int64_t c) { return a.number(r * width + c); };
    if (w.kind == Watch::fit) {
      if (at(0) > 0 && at(0) < static_cast<double>(p)) thin.push_back(r);
    } else if (w.kind == Watch::search) {
      if (at(3 * p + 2) != 2) open.push_back(r);
      else if (std::isnan(at(p)) && at(3 * p + 4) > 0) lost.push_back(r);
    } else {
      if (at(1) != 4) open.push_back(r);
      else if (std::isnan(at(0))) lost.push_back(r);
      else if (at(8) != 0) thin.push_back(r);
    }
  }
  if (!thin.empty())
    notes.push_back(w.kind == Watch::root ? some_of(thin, rows, "roots", w, sources) + ": the two sides do not cross in the interval, so its nearer end was taken"
                                          : some_of(thin, rows, "fits", w, sources) + " have fewer independent samples than unknowns: the solution of least norm was taken; a wider kernel or a `penalize` settles it");
  if (!open.empty()) notes.push_back(some_of(open, rows, w.kind == Watch::root ? "roots" : "searches", w, sources) + " did not settle within the limit: the best so far is given");
  if (!lost.empty()) notes.push_back(some_of(lost, rows, w.kind == Watch::root ? "roots" : "searches", w, sources) + " met NaN or infinity: NaN is given; look at the start values and at the data there");
}

/// No NaN goes out without a word.
void note_nan(const Result& r, std::vector<std::string>& notes) {
  if (r.array.dtype() != Dtype::float32 && r.array.dtype() != Dtype::float64) return;
  std::int64_t count = 0, first = -1;
  for (std::int64_t k = 0; k < r.array.count(); ++k)
    if (std::isnan(r.array.number(k)) && count++ == 0) first = k;
  if (count == 0) return;
  std::string place;
  std::int64_t rest = first;
  for (std::size_t a = r.array.shape().size(); a-- > 0; rest /= r.array.shape()[a]) place = std::to_string(rest % r.array.shape()[a]) + (place.empty() ? "" : ", ") + place;
  notes.push_back(place.empty() ? "'" + r.name + "' is NaN" : std::to_string(count) + " of " + std::to_string(r.array.count()) + " entries of '" + r.name + "' are NaN, the first at [" + place + "]");
}

}  // namespace

std::optional<Outcome> run_request(const Spec& spec, const Request& request, const RunOptions& options, const Sources& sources, Diagnostics& diagnostics) {
  const Force force = [&](const graph::Graph& g, const std::map<std::string, Array>& inputs) -> std::optional<std::map<std::string, Array>> {
    RunOptions quiet = options;
    quiet.dump = nullptr, quiet.profile = nullptr;
    const std::size_t before = diagnostics.errors();
    auto outputs = run_graph(g, inputs, quiet, diagnostics);
    if (diagnostics.errors() != before) return {};
    return outputs;
  };
  auto lowered = lower(spec, request, force, diagnostics);
  if (!lowered) return {};
  Outcome outcome;
  const std::size_t before = diagnostics.errors();
  RunOptions reading = options;
  reading.parameters = &lowered->parameters;
  const auto outputs = run_graph(std::move(lowered->graph), lowered->inputs, reading, diagnostics, &outcome.summary);
  if (diagnostics.errors() != before) return {};
  for (const ResultInfo& r : lowered->results)
    if (!whole(r, outputs.at(r.output), span_of(spec, request.hierarchy), diagnostics)) return {};
  outcome.results = take(lowered->results, outputs);
  outcome.infos = std::move(lowered->results);
  outcome.status = take(lowered->status, outputs);
  for (const Why& w : lowered->why) {
    outcome.weighed.push_back({w.name, w.span, outputs.at(w.weight), outputs.at(w.share), {}});
    if (!w.distance.empty()) outcome.weighed.back().distance = outputs.at(w.distance);
  }
  outcome.notes = std::move(lowered->notes);
  note_empty(outcome.summary, sources, outcome.notes);
  for (const Watch& w : lowered->watches) note_watch(w, outputs.at(w.output), sources, outcome.notes);
  for (const Result& r : outcome.results) note_nan(r, outcome.notes);
  return outcome;
}

}  // namespace locus::host
