// `locus explain`: what a spec declares and, with data or sizes, the nodes that would run: what each does, over how many pairs, in how much memory.
// Must not know how a node is run.
#include <algorithm>
#include <set>
#include <cctype>
#include <cmath>
#include <map>
#include <iostream>
#include "core/data/file.hpp"
#include "core/data/number.hpp"
#include "core/run/budget.hpp"
#include "host/engine.hpp"
#include "core/run/export.hpp"
#include "host/cost.hpp"
#include "host/hierarchy.hpp"
#include "host/picture.hpp"
#include "host/request.hpp"

namespace locus::host {
namespace {

const std::vector<std::string>& passes_in_order() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"lower"};
    for (const passes::Pass& p : passes::order())
      if (std::find(all.begin(), all.end(), p.name) == all.end()) all.push_back(p.name);
    all.push_back("all");
    return all;
  }();
  return names;
}

void list_names(const char* title, const std::vector<DeclaredName>& names) {
  for (const DeclaredName& d : names) {
    std::cout << "  " << title << ' ' << d.name << (d.type.empty() ? "" : ": " + d.type) << (d.initial.empty() ? "" : " = " + d.initial) << '\n';
    title = "         ";
  }
}

void list_hierarchy(const HierarchyInfo& h) {
  if (!h.comment.empty()) std::cout << "# " << h.comment << '\n';
  std::cout << h.name << '\n';
  list_names("inputs   ", h.inputs);
  list_names("settings ", h.settings);
  list_names("returns  ", h.results);
  if (h.parameters) std::cout << "  has parameters: --weights FILE\n";
}

/// Axes that the inputs and settings declare by a name alone: those that data would size.
std::vector<std::string> axes_of(const HierarchyInfo& h) {
  std::vector<std::string> axes;
  for (const auto* names : {&h.inputs, &h.settings})
    for (const DeclaredName& d : *names)
      for (const std::string& size : d.shape) {
        const bool name = !size.empty() && !std::isdigit(static_cast<unsigned char>(size[0])) && std::all_of(size.begin(), size.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
        if (name && std::find(axes.begin(), axes.end(), size) == axes.end()) axes.push_back(size);
      }
  return axes;
}

/// --size n=1000
bool read_sizes(const Chosen& chosen, Request& request, Diagnostics& diagnostics) {
  const std::vector<std::string> axes = axes_of(chosen.hierarchy);
  for (const std::string& text : chosen.line.all("size")) {
    const auto at = text.find('=');
    const std::int64_t size = at == std::string::npos ? -1 : parse_integer(text.substr(at + 1)).value_or(-1);
    const std::string axis = text.substr(0, at);
    const bool known = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (known && size >= 0) {
      request.sizes[axis] = size;
      continue;
    }
    std::string all = "locus explain " + quoted(chosen.line.arguments.front()) + ' ' + chosen.hierarchy.name;
    for (const std::string& each : axes) all += " --size " + each + "=1000";
    const std::string fault = known ? "--size takes an axis and its size, as in " + axis + "=1000, not '" + text + "'" : chosen.hierarchy.name + " declares no axis '" + axis + "'";
    diagnostics.add({Code::E804, {}, fault, "", {}, "write `" + all + "`", "--size"});
    return false;
  }
  return true;
}

std::string place_of(const Span& span, const Sources& sources) {
  if (!span.set()) return "";
  return sources.at(span.source).name + ":" + std::to_string(sources.place(span.source, span.low).line);
}

std::string amount(double v) {
  const char* units[] = {"", " thousand", " million", " billion", " trillion"};
  int k = 0;
  while (v >= 1000 && k < 4) v /= 1000, ++k;
  return number_word(v < 10 && k ? std::round(v * 10) / 10 : std::round(v)) + units[k];
}

/// What the backend would do for each node: its own words, by node of the graph.
std::map<const graph::Node*, std::string> algorithms(graph::Graph& g, const passes::Plan& plan, const locus_backend& backend, Dtype real, Session& session) {
  std::map<const graph::Node*, std::string> words;
  if (!backend.describe) return words;
  const auto program = export_program(g, plan, real);
  locus_executable* executable = nullptr;
  char text[512] = "";
  std::uint32_t culprit = LOCUS_NONE;
  if (backend.compile(&program->table, &executable, text, sizeof text, &culprit) != LOCUS_OK) {
    session.note(std::string("the backend refuses the graph: ") + text);
    return words;
  }
  for (std::uint32_t n = 0; n < program->origin.size(); ++n)
    if (backend.describe(executable, n, text, sizeof text) == LOCUS_OK) words[program->origin[n]] = text;
  backend.release(executable);
  return words;
}

/// --svg FILE, --dot FILE
void draw(const std::vector<Part>& parts, const Chosen& chosen, Session& session) {
  const std::string dot = hierarchy_dot(parts);
  for (const char* option : {"svg", "dot"}) {
    if (!chosen.line.has(option)) continue;
    const std::string path = chosen.line.value(option);
    if (write_file(path, option == std::string("svg") ? svg_of_dot(dot) : dot, session.diagnostics)) std::cout << "hierarchy: " << path << '\n';
  }
}

void explain_graph(const Chosen& chosen, const Request& request, Session& session) {
  const LoadedBackend* backend = session.choose_backend();
  if (!backend) return;
  RunOptions options;
  options.backend = backend->backend;
  options.real = session.common.dtype;
  const Force force = [&](const graph::Graph& g, const std::map<std::string, Array>& inputs) -> std::optional<std::map<std::string, Array>> {
    const std::size_t before = session.diagnostics.errors();
    auto outputs = run_graph(g, inputs, options, session.diagnostics);
    if (session.diagnostics.errors() != before) return {};
    return outputs;
  };
  const bool dry = !request.sizes.empty();
  auto lowered = lower(chosen.spec, request, dry ? Force() : force, session.diagnostics);
  if (!lowered) return;
  for (const std::string& note : lowered->notes) session.note(note);
  if (request.outline) return draw(lowered->parts, chosen, session);
  const auto pass = read_choice(chosen.line, "dump-after", passes_in_order(), 0, session.diagnostics);
  if (!pass) return;
  if (chosen.line.has("dump-after")) {
    dump_after(lowered->graph, passes_in_order()[*pass], std::cout);
    return;
  }
  rewrite_all(lowered->graph);
  std::cout << signature(chosen.hierarchy) << '\n';
  for (const std::string& formula : formulas(chosen, session.sources)) std::cout << "  " << formula << '\n';
  std::cout << "on " << backend->name << ", " << name_of(session.common.dtype) << '\n';
  const passes::Plan plan = passes::plan(lowered->graph, size_of(session.common.dtype));
  const auto words = algorithms(lowered->graph, plan, *backend->backend, session.common.dtype, session);
  for (const NodeLine& line : describe_nodes(lowered->graph)) {
    const std::string place = place_of(line.span, session.sources), indent(2 + 2 * line.depth, ' ');
    std::cout << indent << line.text << (place.empty() ? "" : "   [" + place + "]") << '\n';
    if (std::holds_alternative<graph::Input>(line.node->kind)) continue;
    std::cout << indent << "    ";
    if (const double flops = operations(lowered->graph, *line.node); flops > 0) std::cout << amount(flops) << " operations, ";
    std::cout << size_text(static_cast<std::uint64_t>(bytes_touched(lowered->graph, *line.node, size_of(session.common.dtype))));
    if (const auto* reduce = std::get_if<graph::Reduce>(&line.node->kind))
      if (const auto skipped = skipped_share(lowered->graph, *reduce)) std::cout << ", " << std::round(*skipped * 1000) / 10 << " % of the blocks skipped";
    if (const auto found = words.find(line.node); found != words.end()) std::cout << "; " << found->second;
    std::cout << '\n';
  }
  const Budget budget = budget_of(lowered->graph, plan, session.common.dtype);
  std::cout << "memory " << size_text(budget.bytes) << " of " << size_text(session.common.memory) << " allowed\n";
}

/// The words with a size for every axis that the inputs name and no setting gives.
std::vector<std::string> with_sizes(const Chosen& chosen) {
  std::vector<std::string> words = chosen.line.words;
  std::set<std::string> known;
  for (const DeclaredName& d : chosen.hierarchy.settings) known.insert(d.name);
  for (const DeclaredName& d : chosen.hierarchy.inputs)
    for (const std::string& axis : d.shape)
      if (std::isalpha(static_cast<unsigned char>(axis[0])) && axis.find_first_of("+-*/ (") == std::string::npos && known.insert(axis).second) words.insert(words.end(), {"--size", axis + "=16"});
  return words;
}

void explain(Session& session) {
  const CommandLine& line = session.line();
  const std::string shown = line.has("svg") ? "svg" : line.has("dot") ? "dot" : line.has("dump-after") ? "dump-after" : "";  // what needs a graph
  if (line.arguments.size() == 1 && line.inputs.empty() && !line.has("size") && shown.empty()) {
    const Spec spec = Spec::load(line.arguments.front(), session.sources, session.library(), session.diagnostics);
    if (session.diagnostics.failed()) return;
    const auto all = spec.hierarchies();
    for (std::size_t k = 0; k < all.size(); ++k) std::cout << (k ? "\n" : ""), list_hierarchy(all[k]);
    return;
  }
  const auto chosen = choose_hierarchy(session);
  if (!chosen) return;
  const bool graph = !chosen->line.inputs.empty() || chosen->line.has("size") || chosen->hierarchy.inputs.empty();
  if (!graph && !shown.empty()) {
    session.diagnostics.add({Code::E806, {}, "--" + shown + " shows a graph, and the sizes of its axes are not said", "", {}, "write `" + line.text(with_sizes(*chosen)) + "`", "--" + shown});
    return;
  }
  if (!graph) {
    list_hierarchy(chosen->hierarchy);
    std::cout << "`--size n=1000` for each axis, or data, shows what would run\n";
    return;
  }
  if (!check_names(*chosen, chosen->line.has("size"), session.diagnostics)) return;
  auto data = read_data(*chosen, session);
  if (!data || !read_sizes(*chosen, data->request, session.diagnostics)) return;
  data->request.outline = line.has("svg") || line.has("dot");
  explain_graph(*chosen, data->request, session);
}

int run_explain(const CommandLine& line) {
  Session session(line);
  if (session.open()) explain(session);
  return session.finish();
}

}  // namespace

Command explain_command() {
  return {"explain", "SPEC [HIERARCHY] [--NAME FILE ...] [--size AXIS=N ...]", "what a spec declares and what would be computed how",
          "Without data or sizes: the names that a hierarchy takes and gives. With them: every node that would run, its pairs and the memory.", 1, 2,
          {{"size", "AXIS=N", "the size of an axis, in place of data", "n=1000", true},
           {"svg", "FILE", "draw the hierarchy: a box for each call, shapes on the edges", "hierarchy.svg"},
           {"dot", "FILE", "the same as a text for Graphviz", "hierarchy.dot"},
           {"dump-after", "PASS", "the graph as text after this pass: lower, hoist, ..., all", "all"},
           {"weights", "FILE", "learnt parameters: .safetensors, .npz or a folder of .npy"}, {"weights-map", "FILE", "which array of the weights is which parameter"}},
          {"backend", "dtype", "seed", "memory", "missing", "header", "delimiter", "threads", "plugin", "quiet", "verbose"}, true, run_explain};
}

}  // namespace locus::host
