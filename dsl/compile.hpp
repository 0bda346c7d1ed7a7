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

/// An array that a parameter may take: its shape is known, its numbers are read when a run needs them.
struct Parameter {
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::float64;
  std::string source;  ///< how a map says that it is found in the file; "" where it stands there under the parameter's path
  Span span;           ///< the map's line
  ReadArray read;
};

struct Parameters {
  std::map<std::string, Parameter> by_path;
  std::vector<std::string> names;   ///< what the file holds
  std::vector<std::string> unused;  ///< what a map neither uses nor ignores, while another array has its name
  std::function<std::string(const std::string& path)> wanted;  ///< the name in the file that a map gives for a path, "" if none; unset without a map
};

/// A block of one sentence's shares, [queries, samples]. An empty name: the sentences are only listed.
struct Look {
  std::string sentence;
  std::vector<std::int64_t> mapped;                        ///< an entry of each axis that is mapped over
  std::pair<std::int64_t, std::int64_t> queries, samples;  ///< from, behind the last
};

struct Request {
  std::string hierarchy;                       ///< "" if the file has one only
  std::map<std::string, Array> inputs;         ///< by declared name
  std::map<std::string, Array> settings;       ///< scalars and arrays, by declared name
  Parameters weights;
  std::map<std::string, std::string> origins;  ///< where an input or setting came from ("prices.csv"), for messages
  std::map<std::string, std::int64_t> sizes;   ///< a dry run without data (`explain --size n=1000`): sizes of declared axes; inputs may then be missing
  std::uint64_t seed = 0;
  std::optional<std::int64_t> why;             ///< a query: add what every sentence outside loops weighs its samples with
  bool follow = false;                         ///< the first result that is a `path` is to be seen as it grows
  std::optional<Look> look;                    ///< an output "look"
  bool outline = false;                        ///< tell the parts of the picture
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

/// A sentence that can be looked at: outside of loops.
struct LookedAt {
  std::string sentence;  ///< path of its parameters and name of its let, "blocks.0.attn.context"
  Span span;
  std::int64_t queries = 0, samples = 0;
  std::vector<std::pair<std::string, std::int64_t>> mapped;  ///< axes in front: heads, batches
};

/// A part of the picture of a hierarchy. The first is the call of the hierarchy itself.
struct Part {
  enum Kind { call, input, sentence, join } kind = call;
  std::string name;            ///< a call: the hierarchy; a sentence: as written
  std::string instance;        ///< a call: the `param` it goes to, "" if none
  std::int64_t index = -1;     ///< which copy of several, -1 if there is one
  std::size_t parent = 0;      ///< the call that it stands in
  std::size_t out = 0;         ///< where its result comes from: itself, or a part inside it
  std::string shape;           ///< sizes of its result: "8 × 10 × 64"
  struct Feed {
    std::size_t from;
    std::string shape;
  };
  std::vector<Feed> feeds;     ///< what flows into it
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
  std::map<std::string, Array> inputs;          ///< data for the graph's Input nodes
  std::map<std::string, ReadArray> parameters;  ///< those that are read only when a run needs them
  std::vector<ResultInfo> results;       ///< in declared order
  std::vector<ResultInfo> status;        ///< "fit.mass", ... if asked for
  std::vector<Watch> watches;
  std::vector<Why> why;                  ///< if asked for
  std::vector<LookedAt> looked;          ///< if asked for: all there are
  std::vector<Part> parts;               ///< if asked for
  std::vector<std::string> notes;
};

/// The graph of one hierarchy for given data. Sizes that only a run can tell (`onehot(y, max(y) + 1)`, `group`) are found by running the graph so far through
/// `force`; without it (a dry run) they are an error. All data errors are reported together. Nothing if there was an error.
std::optional<Lowered> lower(const Spec& spec, const Request& request, const Force& force, Diagnostics& diagnostics);

}  // namespace locus
