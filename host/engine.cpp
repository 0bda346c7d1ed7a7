// One request from text to results: lower, run, give each result the kind that the spec declares.
// Must not know where a request comes from and where its results go.
#include "host/engine.hpp"

namespace locus::host {
namespace {

Array as_declared(const Array& array, const std::string& kind) {
  if (kind == "int") return array.dtype() == Dtype::int64 ? array : array.cast(Dtype::int64);
  if (kind == "bool") return array.dtype() == Dtype::boolean ? array : array.cast(Dtype::boolean);
  return array;
}

std::vector<Result> take(const std::vector<ResultInfo>& infos, const std::map<std::string, Array>& outputs) {
  std::vector<Result> all;
  for (const ResultInfo& r : infos) all.push_back({r.name, as_declared(outputs.at(r.output), r.kind)});
  return all;
}

/// Rows that no sample reached, with the line of the spec: what the spec could say about them stands in the same line.
void note_empty(const RunSummary& summary, const Sources& sources, std::vector<std::string>& notes) {
  for (const auto& [span, count] : summary.empty_by_node) {
    std::string text = std::to_string(count) + (count == 1 ? " query had no sample" : " queries had no sample");
    if (span.set()) {
      const Place at = sources.place(span.source, span.low);
      text += " in " + sources.at(span.source).name + ":" + std::to_string(at.line);
    }
    notes.push_back(text + "; `otherwise VALUE` in that sentence says what they get");
  }
}

}  // namespace

std::optional<Outcome> run_request(const Spec& spec, const Request& request, const RunOptions& options, const Sources& sources, Diagnostics& diagnostics) {
  const Force force = [&](const graph::Graph& g, const std::map<std::string, Array>& inputs) -> std::optional<std::map<std::string, Array>> {
    RunOptions quiet = options;
    quiet.dump = nullptr;
    const std::size_t before = diagnostics.errors();
    auto outputs = run_graph(g, inputs, quiet, diagnostics);
    if (diagnostics.errors() != before) return {};
    return outputs;
  };
  auto lowered = lower(spec, request, force, diagnostics);
  if (!lowered) return {};
  Outcome outcome;
  const std::size_t before = diagnostics.errors();
  const auto outputs = run_graph(std::move(lowered->graph), lowered->inputs, options, diagnostics, &outcome.summary);
  if (diagnostics.errors() != before) return {};
  outcome.results = take(lowered->results, outputs);
  outcome.infos = std::move(lowered->results);
  outcome.status = take(lowered->status, outputs);
  outcome.notes = std::move(lowered->notes);
  note_empty(outcome.summary, sources, outcome.notes);
  return outcome;
}

}  // namespace locus::host
