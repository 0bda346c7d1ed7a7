// `locus look`: the shares of one sentence as a picture, a row for each query, a column for each sample.
// Must not know how weights are made.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include "core/data/file.hpp"
#include "core/data/number.hpp"
#include "host/engine.hpp"
#include "host/png.hpp"
#include "host/request.hpp"
#include "host/session.hpp"

namespace locus::host {
namespace {

constexpr std::int64_t most_entries = std::int64_t(1) << 22;

/// "2:10", "2:", ":10", "2" of an axis with `size` entries.
std::optional<std::pair<std::int64_t, std::int64_t>> read_range(const Chosen& chosen, const std::string& option, std::int64_t size, Diagnostics& diagnostics) {
  if (!chosen.line.has(option)) return std::pair<std::int64_t, std::int64_t>{0, size};
  const std::string text = chosen.line.value(option);
  const auto colon = text.find(':');
  const std::string left = text.substr(0, colon), right = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto low = left.empty() ? std::optional<std::int64_t>(0) : parse_integer(left);
  const auto high = colon == std::string::npos ? (low ? std::optional<std::int64_t>(*low + 1) : std::nullopt) : right.empty() ? std::optional<std::int64_t>(size) : parse_integer(right);
  if (low && high && 0 <= *low && *low < *high && *high <= size) return std::pair{*low, *high};
  diagnostics.add({Code::E804, {}, "--" + option + " takes a part of 0:" + std::to_string(size) + ", not '" + text + "'", "", {}, "write `" + chosen.line.text(chosen.line.with_value(option, "0:" + std::to_string(size))) + "`", "--" + option});
  return {};
}

/// One entry of each axis that is mapped over: "2", "0,2".
std::optional<std::vector<std::int64_t>> read_head(const Chosen& chosen, const LookedAt& at, Diagnostics& diagnostics) {
  if (!chosen.line.has("head")) return std::vector<std::int64_t>(at.mapped.size(), 0);
  std::vector<std::int64_t> found;
  std::istringstream in(chosen.line.value("head"));
  for (std::string word; std::getline(in, word, ',');) found.push_back(parse_integer(word).value_or(-1));
  bool fine = found.size() == at.mapped.size();
  std::string axes, last;
  for (std::size_t k = 0; k < at.mapped.size(); ++k) {
    fine = fine && 0 <= found[k] && found[k] < at.mapped[k].second;
    axes += (k ? ", " : "") + at.mapped[k].first + " (" + std::to_string(at.mapped[k].second) + ")";
    last += (k ? "," : "") + std::to_string(at.mapped[k].second - 1);
  }
  if (fine) return found;
  const std::string help = at.mapped.empty() ? chosen.line.text(chosen.line.without_first("head")) : chosen.line.text(chosen.line.with_value("head", last));
  diagnostics.add({Code::E804, {}, "--head takes an entry, from 0, of " + (at.mapped.empty() ? "an axis that is mapped over, and this sentence has none" : "each axis that is mapped over: " + axes) + ", not '" + chosen.line.value("head") + "'", "", {},
                   "write `" + help + "`", "--head"});
  return {};
}

/// The sentence that is asked for; it need not be said where there is one.
const LookedAt* choose_sentence(const Chosen& chosen, const std::vector<LookedAt>& all, Session& session) {
  const std::string asked = chosen.line.value("sentence");
  std::string list;
  for (const LookedAt& l : all) {
    if (l.sentence == asked || (asked.empty() && all.size() == 1)) return &l;
    list += "\n     --sentence " + l.sentence + "   " + std::to_string(l.queries) + " × " + std::to_string(l.samples);
    for (const auto& [axis, size] : l.mapped) list += ", " + axis + " " + std::to_string(size);
    list += "   [" + session.sources.at(l.span.source).name + ":" + std::to_string(session.sources.place(l.span.source, l.span.low).line) + "]";
  }
  if (all.empty()) {
    session.diagnostics.add({Code::E804, chosen.hierarchy.span, chosen.hierarchy.name + " has no sentence outside of loops: there are no shares to look at", "", {}, "", "--sentence"});
    return nullptr;
  }
  std::vector<std::string> words = chosen.line.without_first("sentence");
  words.insert(words.end(), {"--sentence", all.front().sentence});
  session.diagnostics.add({Code::E804, {}, (asked.empty() ? "there are several sentences, say which:" : "there is no sentence '" + asked + "' outside of loops, only:") + list, "", {}, "write `" + chosen.line.text(words) + "`", "--sentence"});
  return nullptr;
}

void tell(const Array& a, const Look& look, const LookedAt& at, double low, double high, const std::string& path) {
  double least = INFINITY, most = -INFINITY;
  std::int64_t missing = 0;
  const std::int64_t columns = a.shape()[1];
  for (std::int64_t r = 0; r < a.shape()[0]; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += a.number(r * columns + c), missing += std::isnan(a.number(r * columns + c));
    least = std::min(least, sum), most = std::max(most, sum);
  }
  std::printf("%s: %s, queries %lld:%lld of %lld down, samples %lld:%lld of %lld across", path.c_str(), at.sentence.c_str(), static_cast<long long>(look.queries.first), static_cast<long long>(look.queries.second),
              static_cast<long long>(at.queries), static_cast<long long>(look.samples.first), static_cast<long long>(look.samples.second), static_cast<long long>(at.samples));
  for (std::size_t k = 0; k < at.mapped.size(); ++k) std::printf(", %s %lld of %lld", at.mapped[k].first.c_str(), static_cast<long long>(look.mapped[k]), static_cast<long long>(at.mapped[k].second));
  std::printf("\nshares %.6g to %.6g, white is 0, dark blue %.6g\nrow sums %.6g to %.6g\n", low, high, high, least, most);
  if (missing) std::printf("%lld entries are NaN: magenta\n", static_cast<long long>(missing));
}

void look(const Chosen& chosen, Session& session) {
  if (!check_names(chosen, false, session.diagnostics)) return;
  const LoadedBackend* backend = session.choose_backend();
  auto data = backend ? read_data(chosen, session) : std::nullopt;
  if (!data) return;
  RunOptions options;
  options.backend = backend->backend, options.real = session.common.dtype, options.memory = session.common.memory;
  data->request.look = Look{};
  const Force force = [&](const graph::Graph& g, const std::map<std::string, Array>& inputs) -> std::optional<std::map<std::string, Array>> {
    const std::size_t before = session.diagnostics.errors();
    auto outputs = run_graph(g, inputs, options, session.diagnostics);
    if (session.diagnostics.errors() != before) return {};
    return outputs;
  };
  const auto listed = lower(chosen.spec, data->request, force, session.diagnostics);
  const LookedAt* at = listed ? choose_sentence(chosen, listed->looked, session) : nullptr;
  if (!at) return;
  const auto queries = read_range(chosen, "queries", at->queries, session.diagnostics), samples = read_range(chosen, "samples", at->samples, session.diagnostics);
  const auto head = read_head(chosen, *at, session.diagnostics);
  if (!queries || !samples || !head) return;
  if ((queries->second - queries->first) * (samples->second - samples->first) > most_entries || queries->first == queries->second || samples->first == samples->second) {
    session.diagnostics.add({Code::E804, {}, "a picture has 1 to " + std::to_string(most_entries) + " entries, and this one would have " + std::to_string(queries->second - queries->first) + " × " + std::to_string(samples->second - samples->first), "", {},
                             "ask for a part: `--queries 0:512 --samples 0:512`", "--queries"});
    return;
  }
  data->request.look = Look{at->sentence, *head, *queries, *samples};
  auto lowered = lower(chosen.spec, data->request, force, session.diagnostics);
  if (!lowered) return;
  std::erase_if(lowered->graph.outputs, [](const graph::Output& o) { return o.name != "look"; });  // nothing else need be computed
  const std::size_t before = session.diagnostics.errors();
  const auto outputs = run_graph(std::move(lowered->graph), lowered->inputs, options, session.diagnostics);
  if (session.diagnostics.errors() != before) return;
  const Array& shares = outputs.at("look");
  double low = INFINITY, high = -INFINITY;
  for (std::int64_t k = 0; k < shares.count(); ++k)
    if (!std::isnan(shares.number(k))) low = std::min(low, shares.number(k)), high = std::max(high, shares.number(k));
  const std::string path = chosen.line.value("png", "look.png");
  if (write_file(path, png_of(shares, high), session.diagnostics)) tell(shares, *data->request.look, *at, low, high, path);
}

int run_look(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  if (const auto chosen = choose_hierarchy(session)) look(*chosen, session);
  return session.finish();
}

}  // namespace

Command look_command() {
  return {"look", "SPEC [HIERARCHY] [--NAME FILE ...] [--sentence NAME] [--head N] [--queries A:B] [--samples A:B] [--png FILE]", "a picture of who attends to whom: the shares of one sentence",
          "A row for each query, a column for each sample, the share of the sample in the query's answer as a colour: white is 0, dark blue the largest share of the picture,\n"
          "magenta NaN. Sentences bear the path of their parameters and the name of their let, `encoder.0.self_attn.context`; where there are several and none is named, the\n"
          "message lists them. Only the asked block is computed. Sentences inside loops are not offered, those of layers that `turn` chooses are.",
          1, 2,
          {{"sentence", "NAME", "which sentence", "result"}, {"head", "N", "which entry, from 0, of each axis that is mapped over; 0 if not said", "0"},
           {"queries", "A:B", "these queries, A from 0, without B", "0:10"}, {"samples", "A:B", "these samples", "0:10"}, {"png", "FILE", "the picture; look.png if not said", "look.png"},
           {"weights", "FILE", "learnt parameters: .safetensors, .npz or a folder of .npy"}},
          {"backend", "threads", "dtype", "seed", "memory", "missing", "header", "delimiter", "plugin", "quiet", "verbose"}, true, run_look};
}

}  // namespace locus::host
