// What names mean while a hierarchy is lowered, and the two sides of a sentence. Knows nothing of how expressions are lowered.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "dsl/sema/build.hpp"
#include "dsl/sema/model.hpp"
#include "dsl/sema/sizes.hpp"

namespace locus::sema {

struct Instance;

/// What an expression can be.
struct Any {
  enum class Kind { value, record, tuple, function, instance, poison } kind = Kind::value;
  Value value;                                        ///< value
  std::vector<std::pair<std::string, Value>> fields;  ///< record
  std::vector<Value> parts;                           ///< tuple: the parts of a point
  std::string function;                               ///< function: a name that can be called
  const Declaration* declared = nullptr;              ///< function: its declaration, null for a built-in
  std::shared_ptr<Instance> instance;
  static Any of(Value v) {
    Any a;
    a.value = std::move(v);
    return a;
  }
};

/// A setting as passed: its value and the name of the axis that it makes when used as a size ("" if it makes none).
struct Setting {
  Any value;
  std::string axis;
};
using Settings = std::map<std::string, Setting>;

/// A `param` that is a hierarchy with parameters of its own; copies < 0: a single one.
struct Instance {
  std::string path;
  const Declaration* declared = nullptr;
  Settings settings;
  std::int64_t copies = -1;
};

/// A declared axis: its size (unknown while a spec is checked), or absent: counts 1 and vanishes from every shape.
struct AxisSize {
  std::int64_t size = unknown;
  bool absent = false;
  std::string said;  ///< who fixed it, for messages
};

struct Scope;

/// The sides of one sentence: which axes are the queries' and the samples', which are read in step.
class Pair {
 public:
  Pair(Build& build, std::vector<Value> queries, std::vector<Value> samples, Span span);

  Build& build;
  Span span;
  std::vector<Value> queries, samples;
  std::string i_axis, j_axis;
  std::int64_t n = unknown, m = unknown;
  bool self = false;                ///< queries and samples are one axis
  std::vector<std::string> steps;   ///< axes read in step
  char side = 0;                    ///< 'i' or 'j': how an array on the one axis of a self-localisation is read; 0: it must say
  bool settings_only = false;       ///< in `by` and `under`: a call without ';' gives settings

  Value in_step(const Value& v) const;
  Value at_side(const Value& v, char wanted) const;
  /// An array read on its natural sides.
  Value read(const Value& v, bool explicit_sides = false) const;
  /// The point of one side as kernels receive it.
  std::vector<Value> point(char wanted) const;
  /// A result with its sides and steps named as outside, in the order steps, queries, samples, rest.
  Value outside(const Value& v) const;
  Value index(char wanted) const { return build.index(wanted == 'i' ? "@i" : "@j", wanted == 'i' ? n : m); }

 private:
  void points(std::vector<Value>& parts, std::string& axis, std::int64_t& count, const char* role) const;
};

struct History {
  Value value;  ///< stacked: [steps, ...]
  bool known = false;
};

struct Scope {
  std::map<std::string, Any> names;
  std::map<std::string, AxisSize> axes;
  std::map<std::string, Value> paths;
  std::string path;                       ///< of parameters: "blocks.0"
  Pair* pair = nullptr;
  bool scalar_points = false;             ///< inside a kernel whose points have no coordinates
  bool inlined = false;                   ///< the body of a kernel or a local: statistics reduce inside the expression, as they do for a pair
  std::map<std::string, Value>* updates = nullptr;
  const std::vector<std::string>* carried = nullptr;
  std::map<std::string, Value> before;    ///< in `until`: the carried values of the turn before
  std::optional<Value> minimised;
  std::map<std::string, Value>* lets = nullptr;  ///< a loop's body: named lets, for path
  /// Nothing is stored here: an expression is told for one pair, one sample or one query.
  bool pairwise() const { return pair || inlined; }
};

}  // namespace locus::sema
