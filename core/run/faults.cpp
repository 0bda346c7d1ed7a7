// Messages for what went wrong while a graph was compiled or run.
#include "core/run/faults.hpp"
#include <set>
#include "core/run/budget.hpp"

namespace locus {
namespace {

using namespace graph;

std::string named(const Node& n) { return n.name.empty() ? "" : " in '" + n.name + "'"; }

const std::vector<CoordId>& space_of(const Node& n) {
  static const std::vector<CoordId> nothing;
  if (const auto* m = std::get_if<Map>(&n.kind)) return m->space;
  if (const auto* r = std::get_if<Reduce>(&n.kind)) return r->rows;
  if (const auto* g = std::get_if<Gather>(&n.kind)) return g->space;
  return nothing;
}

// Axes of a sentence as the spec's reader knows them.
std::string axis_text(const std::string& name) {
  if (name.empty()) return "row";
  if (name == "@i") return "query";
  if (name == "@j") return "sample";
  return name.substr(name.find_first_not_of("@|^~"));
}

// "n = 3", "heads = 1, n = 3": the place of a flat index, by the names of its axes.
std::string place_text(const Graph& g, const Node& n, std::int64_t row) {
  std::string text;
  const std::vector<CoordId>& space = space_of(n);
  for (std::size_t k = space.size(); k-- > 0;) {
    const Coordinate& c = g.coordinates[space[k]];
    const std::int64_t extent = c.extent > 0 ? c.extent : 1;
    text = axis_text(c.name) + " = " + std::to_string(row % extent) + (text.empty() ? "" : ", ") + text;
    row /= extent;
  }
  return text.empty() ? "" : " at " + text;
}

Diagnostic neighbours(const Graph& g, const Node& n, const locus_fault& f) {
  std::string all;
  if (const auto* r = std::get_if<Reduce>(&n.kind)) {
    const std::int64_t samples = g.coordinates[r->sample].extent;
    all = std::to_string(samples) + (samples == 1 ? " sample" : " samples");
    if (r->where != none && f.value == samples - 1)
      all += ": at most " + std::to_string(f.value) + (f.value == 1 ? " neighbour" : " neighbours") + " when the point itself is excluded";
    else
      all += ", " + std::to_string(f.value) + " of them can be chosen" + place_text(g, n, f.row);
  }
  Diagnostic d{Code::E603,
               n.span,
               "too few neighbours" + named(n) + ": " + std::to_string(f.limit) + " are asked for among " + all,
               std::to_string(f.value) + " found",
               {},
               "",
               ""};
  if (f.value > 0)
    d.help = "ask for `nearest " + std::to_string(f.value) + "`, or give more samples";
  else
    d.help = "let the condition behind `where` admit some sample for each query";
  return d;
}

void collect_kernels(const Graph& g, ExprId e, std::set<ExprId>& seen, std::set<std::string>& names) {
  if (e == none || !seen.insert(e).second) return;
  const Expr& x = g.exprs.at(e);
  if (x.op == LOCUS_CALL && x.index < g.kernels.size() && g.kernels[x.index].kernel) names.insert(g.kernels[x.index].kernel->name);
  for (int k = 0; k < x.arity; ++k) collect_kernels(g, x.args[k], seen, names);
}

/// "the kernel `a`", "one of the kernels `a`, `b`": those of plugins that the node calls.
std::string kernels_text(const Graph& g, const Node& n) {
  std::set<ExprId> seen;
  std::set<std::string> names;
  if (const auto* m = std::get_if<Map>(&n.kind)) collect_kernels(g, m->value, seen, names);
  if (const auto* r = std::get_if<Reduce>(&n.kind))
    for (ExprId e : {r->weight, r->factor, r->score, r->where}) collect_kernels(g, e, seen, names);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text.empty() ? "a kernel of a plugin" : (names.size() == 1 ? "the kernel " : "one of the kernels ") + text;
}

/// What is left to do where a backend is at fault: another one, and behind the reference nothing but less to hold, or a report.
Diagnostic refused(Code code, const Node* n, const std::string& backend, const std::string& what) {
  const std::string help = backend != "reference"  ? "run it on another backend: `--backend reference` runs everything, slowly"
                           : code == Code::E723    ? "free memory; `--memory 1M` tells which array is the largest"
                                                   : "report this as a fault of locus";
  return {code, n ? n->span : Span{}, "backend '" + backend + "' " + what, "", {}, help, ""};
}

Diagnostic of_fault(const Graph& g, const Node& n, const std::string& backend, const locus_fault& f) {
  const std::string at = place_text(g, n, f.row);
  switch (f.kind) {
    case LOCUS_FAULT_INDEX:
      if (const auto* call = std::get_if<ArrayCall>(&n.kind); call && call->function == LOCUS_ARRAY_NEIGHBOURS)
        return {Code::E604, n.span, "a point holds NaN" + named(n), "no order among neighbours", {}, "leave out rows with missing values: `--missing drop`", ""};
      if (const auto* call = std::get_if<ArrayCall>(&n.kind); call && call->function == LOCUS_ARRAY_EIGEN)
        return {Code::E606, n.span, "the matrix is not symmetric" + named(n), "its transpose differs", {}, "take `(a + transpose(a)) / 2` if that is meant", ""};
      if (f.limit <= 0) return {Code::E602, n.span, "an index is outside its axis" + named(n), "", {}, "indices count from 0", ""};
      return {Code::E602, n.span, "index " + std::to_string(f.value) + " is outside an axis of " + std::to_string(f.limit) + named(n) + at,
              "",         {},     "indices count from 0 and go up to " + std::to_string(f.limit - 1),
              ""};
    case LOCUS_FAULT_NEIGHBOURS:
      return neighbours(g, n, f);
    case LOCUS_FAULT_DISTANCE_NAN:
      return {Code::E604,
              n.span,
              "the distance to sample " + std::to_string(f.value) + " is NaN" + named(n) + at,
              "no order among neighbours",
              {},
              "leave out rows with missing values: `--missing drop`",
              ""};
    case LOCUS_FAULT_PLUGIN_NAN:
      return {Code::E722, n.span, kernels_text(g, n) + " gave NaN for finite points: sample " + std::to_string(f.value) + named(n) + at,
              "",         {},     "compare its forms: `locus check --plugin FILE`",
              ""};
    case LOCUS_FAULT_DIVISION:
      return {Code::E605, n.span, "integer division by zero: " + std::to_string(f.value) + " by 0" + named(n) + at, "", {}, "keep the divisor from 0, as in `a // max(b, 1)`, or divide as real numbers: `a / b`", ""};
    default:
      return refused(Code::E721, &n, backend, "reports an unknown fault");
  }
}

const Node* origin(const ExportedProgram& program, std::uint32_t node) { return node < program.origin.size() ? program.origin[node] : nullptr; }

}  // namespace

Diagnostic not_compiled(const ExportedProgram& program, const std::string& backend, int status, const std::string& message, std::uint32_t node) {
  const Node* n = origin(program, node);
  const std::string why = (n ? named(*n) : "") + (message.empty() ? "" : ": " + message);
  if (status == LOCUS_UNSUPPORTED) {
    Diagnostic d = refused(Code::E720, n, backend, "cannot run this" + why);
    d.help = "choose another with `--backend auto`";
    return d;
  }
  if (status == LOCUS_OUT_OF_MEMORY) return refused(Code::E723, n, backend, "has no memory left to compile" + why);
  return refused(Code::E721, n, backend, "refuses the program" + why);
}

Diagnostic not_run(const Graph& graph, const ExportedProgram& program, const std::string& backend, int status, const locus_report& report) {
  const Node* n = origin(program, report.fault.node);
  if (status == LOCUS_FAULT && n) return of_fault(graph, *n, backend, report.fault);
  const std::string message = report.message;
  const std::string why = message.empty() ? "" : ": " + message;
  if (status == LOCUS_OUT_OF_MEMORY) return refused(Code::E723, nullptr, backend, "has no memory left" + why);
  if (status == LOCUS_UNSUPPORTED) return refused(Code::E720, nullptr, backend, "cannot run this" + why);
  return refused(Code::E721, nullptr, backend, "failed" + (why.empty() ? " with status " + std::to_string(status) : why));
}

Diagnostic no_memory(const std::string& backend, std::uint64_t bytes) {
  return refused(Code::E723, nullptr, backend, "cannot give a buffer of " + size_text(bytes));
}

Diagnostic buffer_lost(const std::string& backend) { return refused(Code::E721, nullptr, backend, "cannot copy a buffer"); }

Diagnostic exception_escaped(const std::string& backend, const std::string& what) {
  return refused(Code::E721, nullptr, backend, "let an exception out: " + what);
}

}  // namespace locus
