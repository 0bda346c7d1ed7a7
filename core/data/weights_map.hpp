// A map of weights: which array of a file is which parameter, line by line, for files that call their arrays by other names.
//   ours.*.w = theirs.*.weight[:, 0 of 3] transposed      prefix NAME      ignore PATTERN      # comment
// Knows nothing of the parameters that a spec declares.
#pragma once
#include <optional>
#include <string>
#include <vector>
#include "core/base/diagnostic.hpp"
#include "core/data/weights.hpp"

namespace locus {

/// One place of a cut: all of an axis, low:high of it (an end may be left out), or part k of n equal ones.
struct Cut {
  enum class Kind : std::uint8_t { all, range, part } kind = Kind::all;
  std::optional<std::int64_t> low, high;  ///< of a part: k and n
};

/// A name in which each '*' stands for one piece between two points.
struct Pattern {
  std::string text;
  Span span;
};

struct MapLine {
  Pattern ours, theirs;
  std::vector<Cut> cuts;
  Span cut_span;
  bool transposed = false;
  Span transposed_span;
};

struct WeightsMap {
  std::vector<MapLine> lines;
  std::vector<Pattern> ignored, prefixes;

  /// The file's name for a parameter, as the first line says that gives it; "" if none does.
  std::string name_for(const std::string& path) const;
};

/// The text `source`. Every broken line is said (E443); nothing after one.
std::optional<WeightsMap> read_weights_map(std::uint32_t source, const Sources& sources, Diagnostics& diagnostics);

/// An array as a map gives it: cut and transposed when it is read.
struct MappedArray {
  StoredArray array;
  std::string source;  ///< "h.0.attn.c_attn.weight[:, 0 of 3] transposed"; "" for one that no line names: it keeps its own name
  Span span;           ///< the line
};

struct Mapped {
  std::map<std::string, MappedArray> arrays;  ///< by parameter
  std::vector<std::string> unused;            ///< names that no line uses or ignores, and whose own name another array has got
};

/// Every line that does not fit the file `name` is said (E444, E445, E446); nothing after one.
std::optional<Mapped> apply(const WeightsMap& map, const Weights& weights, const std::string& name, Diagnostics& diagnostics);

/// What the asterisks of `pattern` stand for in `name`; nothing if it does not match.
std::optional<std::vector<std::string>> matched(const std::string& pattern, const std::string& name);
/// The pattern with its asterisks replaced in order.
std::string filled(const std::string& pattern, const std::vector<std::string>& pieces);

}  // namespace locus
