// `locus why`: which samples carried the answer for one query, and what that answer is.
// Must not know how weights are made.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include "host/engine.hpp"
#include "host/request.hpp"
#include "host/session.hpp"

namespace locus::host {
namespace {

/// The weighed samples of one sentence, the weightiest first; what is mapped over is shown for its first entry.
void print_weighed(const Weighed& w, std::int64_t query, std::int64_t top, const Session& session) {
  const std::int64_t samples = w.share.shape().empty() ? 1 : w.share.shape().back();
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return std::abs(w.share.number(a)) > std::abs(w.share.number(b)); });
  double mass = 0, square = 0;
  std::int64_t counted = 0;
  for (std::int64_t j = 0; j < samples; ++j) mass += w.weight.number(j), square += w.share.number(j) * w.share.number(j), counted += w.share.number(j) != 0;
  const std::string name = w.name.empty() ? "result" : w.name;
  std::printf("%s", name.c_str());
  if (w.span.set()) std::printf(" (%s:%d)", session.sources.at(w.span.source).name.c_str(), static_cast<int>(session.sources.place(w.span.source, w.span.low).line));
  std::printf(": query %lld, %lld of %lld samples count, total weight %.6g, effective sample size %.4g\n", static_cast<long long>(query), static_cast<long long>(counted), static_cast<long long>(samples), mass, square > 0 ? 1 / square : 0.0);
  if (w.share.count() > samples) std::printf("  (of %lld that are mapped over, the first)\n", static_cast<long long>(w.share.count() / samples));
  if (counted == 0) return;
  std::printf("  %8s %12s %9s%s\n", "sample", "weight", "share", w.distance ? "     distance" : "");
  double shown = 0;
  for (std::int64_t k = 0; k < std::min(top, counted); ++k) {
    const std::int64_t j = order[static_cast<std::size_t>(k)];
    shown += w.share.number(j);
    std::printf("  %8lld %12.6g %8.3f%%", static_cast<long long>(j), w.weight.number(j), 100 * w.share.number(j));
    if (w.distance) std::printf(" %12.6g", w.distance->number(j));
    std::printf("\n");
  }
  if (counted > top) std::printf("  %8s %12s %8.3f%%  together: %lld more\n", "…", "", 100 * (1 - shown), static_cast<long long>(counted - top));
}

/// The query's own entries of each result that has a row for each query: values, and the coefficients of local models.
void print_results(const Outcome& outcome, std::int64_t query) {
  for (std::size_t r = 0; r < outcome.results.size(); ++r) {
    const Array& a = outcome.results[r].array;
    if (a.shape().empty() || query >= a.shape().front()) continue;
    const std::int64_t width = a.count() / std::max<std::int64_t>(a.shape().front(), 1);
    std::printf("%s[%lld] =", outcome.results[r].name.c_str(), static_cast<long long>(query));
    for (std::int64_t c = 0; c < std::min<std::int64_t>(width, 16); ++c) std::printf(" %.6g", a.number(query * width + c));
    std::printf(width > 16 ? " … (%lld entries)\n" : "\n", static_cast<long long>(width));
  }
}

void why(const Chosen& chosen, Session& session) {
  if (!check_names(chosen, false, session.diagnostics)) return;
  const auto query = read_count(chosen.line, "query", 0, 0, session.diagnostics), top = read_count(chosen.line, "top", 1, 10, session.diagnostics);
  if (!query || !top) return;
  const LoadedBackend* backend = session.choose_backend();
  if (!backend) return;
  auto data = read_data(chosen, session);
  if (!data) return;
  data->request.why = static_cast<std::int64_t>(*query);
  RunOptions options;
  options.backend = backend->backend, options.real = session.common.dtype, options.memory = session.common.memory;
  const auto outcome = run_request(chosen.spec, data->request, options, session.sources, session.diagnostics);
  if (!outcome) return;
  for (const std::string& note : outcome->notes) session.note(note);
  for (const Weighed& w : outcome->weighed) print_weighed(w, *data->request.why, static_cast<std::int64_t>(*top), session);
  if (outcome->weighed.empty()) std::printf("%s has no sentence outside of loops: nothing is weighed for a query\n", chosen.hierarchy.name.c_str());
  print_results(*outcome, *data->request.why);
}

int run_why(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  if (const auto chosen = choose_hierarchy(session)) why(*chosen, session);
  return session.finish();
}

}  // namespace

Command why_command() {
  return {"why", "SPEC [HIERARCHY] [--NAME FILE ...] --query ROW [--top N]", "which samples carried the answer for one query",
          "For every sentence outside of loops: the samples by their share, with weight and distance, the total weight and the effective sample size; then the\n"
          "query's own results, coefficients of local models among them. Rows count from 0. Where the spec has an input named query, write --locus-query ROW.",
          1, 2,
          {{"query", "ROW", "the query, from 0 (the default)", "3"}, {"top", "N", "how many samples are listed; 10 if not said", "5"}, {"weights", "FILE", "learnt parameters: .safetensors, .npz or a folder of .npy"}, {"weights-map", "FILE", "which array of the weights is which parameter"}},
          {"backend", "threads", "dtype", "seed", "memory", "missing", "header", "delimiter", "plugin", "quiet", "verbose"}, true, run_why};
}

}  // namespace locus::host
