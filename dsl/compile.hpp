// The public face of the language: text to checked model, model and data to execution graph. Shows no Boost type and no syntax tree.
// Knows nothing of plugins' libraries, of files other than specs, and of how a graph is run (a callback does that).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"
#include "core/graph/graph.hpp"

namespace locus {

/// A native kernel as plain data (from a plugin). With `source` the kernel is compiled from text and `native` is not used.
struct KernelSignature {
  std::string name;
  std::vector<std::pair<std::string, std::optional<double>>> settings;  ///< name, default
  std::string source;                                                   ///< a `kernel ...` declaration, or ""
  const locus_kernel* native = nullptr;
  std::string origin;                                                   ///< the plugin's path, for messages
};

/// What is known to every spec: the standard library's texts (lowest priority) and plugins' kernels.
struct Library {
  std::vector<std::pair<std::string, std::string>> texts;  ///< shown name ("<std>/kernels.locus"), text
  std::vector<KernelSignature> kernels;
};

/// An input, a setting or a result as declared.
struct DeclaredName {
  std::string name;
  std::string type;                     ///< as written: "[n, d]", "int [n]", "real"; "" where a setting has none
  std::string kind;                     ///< "real", "int" or "bool"
  std::vector<std::string> shape;       ///< size expressions as written
  std::string initial;                  ///< the default as written, "" if none
  Span span;
};

struct HierarchyInfo {
  std::string name;
  std::string comment;
  Span span;
  std::vector<DeclaredName> inputs, settings, results;  ///< one result named "result" where the hierarchy returns a single value
  bool parameters = false;                               ///< declares or uses `param`s: needs weights
};

struct KernelInfo {
  std::string name, parameters, formula, comment, file;  ///< parameters: "(a, b; h)"; formula: the body as text; file: where it is declared
};

namespace sema { struct Model; }

/// A spec with all it imports, names resolved.
class Spec {
 public:
  /// Reads `path` ("-": standard input) and its imports. Mistakes go to diagnostics; what could be read is kept.
  static Spec load(const std::string& path, Sources& sources, const Library& library, Diagnostics& diagnostics);
  /// The same for a text in memory; imports are looked up beside `name`.
  static Spec from_text(const std::string& name, const std::string& text, Sources& sources, const Library& library, Diagnostics& diagnostics);

  /// Hierarchies declared in the file itself, in its order.
  std::vector<HierarchyInfo> hierarchies() const;
  /// All kernels known to it, the standard library's and the plugins' too.
  std::vector<KernelInfo> kernels() const;
  const sema::Model& model() const { return *model_; }

 private:
  std::shared_ptr<const sema::Model> model_;
};

/// Axes, types and clauses of every declaration of the file, sizes left open. Reports to diagnostics; true if there is no error.
bool check(const Spec& spec, Diagnostics& diagnostics);

/// Runs a graph: Input name -> data, output name -> data; nothing if it failed (said in the diagnostics already).
using Force = std::function<std::optional<std::map<std::string, Array>>(const graph::Graph&, const std::map<std::string, Array>&)>;

struct Request {
  std::string hierarchy;                       ///< "" if the file has one only
  std::map<std::string, Array> inputs;         ///< by declared name
  std::map<std::string, Array> settings;       ///< scalars and arrays, by declared name
  std::map<std::string, Array> weights;        ///< parameters by path
  std::map<std::string, std::string> origins;  ///< where an input or setting came from ("prices.csv"), for messages
  std::map<std::string, std::int64_t> sizes;   ///< a dry run without data (`explain --size n=1000`): sizes of declared axes; inputs may then be missing
  std::uint64_t seed = 0;
  std::optional<std::int64_t> why;             ///< a query: add what every sentence outside loops weighs its samples with
  bool follow = false;                         ///< the first result that is a `path` is to be seen as it grows
  bool status = false;                         ///< add per-query status of every sentence outside loops: NAME.mass, NAME.effective, NAME.count
};

struct ResultInfo {
  std::string name;                ///< as declared; "result" for a single value
  std::string output;              ///< name of the graph's output
  std::vector<std::string> axes;   ///< axis names, extra axes in front included
  std::string kind;                ///< "real", "int" or "bool": what the array is to be written as
};

/// What one query of a sentence weighs: names of outputs [.., samples]. No distance where its points have several parts and no metric.
struct Why {
  std::string name;                ///< of the let that the sentence stands in
  Span span;
  std::string weight, share, distance;
};

/// A tensor that tells how a fit or a search went, looked at when the run has ended.
struct Watch {
  enum Kind { fit, search, root, spectrum, system } kind = fit;
  std::string output;            ///< name of the graph's output: fit [rows.., 3] rank, condition, 1; search and root: their states; spectrum: its report (core/run);
                                 ///< system [2]: turns, share of the right side that is left
  Span span;
  std::string name;              ///< of the local model, the calibrated name or the function
  std::int64_t unknowns = 0;
};

struct Lowered {
  graph::Graph graph;
  std::map<std::string, Array> inputs;   ///< data for the graph's Input nodes
  std::vector<ResultInfo> results;       ///< in declared order
  std::vector<ResultInfo> status;        ///< "fit.mass", ... if asked for
  std::vector<Watch> watches;
  std::vector<Why> why;                  ///< if asked for
  std::vector<std::string> notes;
};

/// The graph of one hierarchy for given data. Sizes that only a run can tell (`onehot(y, max(y) + 1)`, `group`) are found by running the graph so far through
/// `force`; without it (a dry run) they are an error. All data errors are reported together. Nothing if there was an error.
std::optional<Lowered> lower(const Spec& spec, const Request& request, const Force& force, Diagnostics& diagnostics);

}  // namespace locus
