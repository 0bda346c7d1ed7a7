// The syntax tree of a .locus file: what was written, nothing more. Every node carries the span it came from.
// Knows nothing of Spirit, of names' meanings or of the graph.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include "core/base/source.hpp"

namespace locus::ast {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;  // shared: the middle of a chain a < b < c stands in both links

struct Name {
  std::string text;
  Span span;
};

/// An argument of a call, or a field of a record: `name = value`, `name: value`, or a value alone (name.text empty).
struct Argument {
  Name name;
  ExprPtr value;
};

/// One place between [ ]: `e` (at: low), `low : high` (cut, either side may be null), `..` (skip).
struct Index {
  enum class Kind { at, cut, skip } kind = Kind::at;
  Span span;
  ExprPtr low, high;
};

enum class Operator { add, subtract, multiply, divide, floor_divide, modulo, matmul, power, less, less_equal, greater, greater_equal, equal, not_equal, logical_and, logical_or };

enum class ExprKind {
  number,    ///< number, whole
  truth,     ///< truth
  name,      ///< name
  tuple,     ///< parts (two or more): (place, value)
  record,    ///< points: (value: a, slope: b)
  bracket,   ///< parts (one or more): [condition] or [a, b]
  call,      ///< parts[0] is what is called; points, settings, semicolon
  field,     ///< parts[0] . name
  index,     ///< parts[0] [ places ]
  negate,    ///< parts[0]
  negation,  ///< not parts[0]
  binary,    ///< op, parts[0], parts[1]; a chain a < b < c comes as (a < b) and (b < c)
  choose,    ///< if parts[0] then parts[1] else parts[2]
  sentence,  ///< sentence
};

/// ESTIMATE at QUERIES among SAMPLES and its clauses; absent clauses are null.
struct Sentence {
  ExprPtr estimate;  ///< a call
  ExprPtr queries, samples;
  ExprPtr nearest, within, under, by, where, otherwise;
};

struct Expr {
  ExprKind kind = ExprKind::number;
  Span span;
  double number = 0;
  bool whole = false;  ///< written without '.' and exponent: an integer (its value fits an int64, else it is real)
  std::int64_t integer = 0;
  bool truth = false;
  Name name;
  Operator op = Operator::add;
  Span op_span;
  std::vector<ExprPtr> parts;
  std::vector<Argument> points, settings;
  bool semicolon = false;  ///< a ';' was written, even with nothing behind it
  std::vector<Index> places;
  std::unique_ptr<Sentence> sentence;
};

/// real, int, bool, nothing (a bare shape, or a let's type), or the name of a hierarchy with arguments. Shape entries are size expressions.
struct Type {
  Span span;
  Name base;  ///< text empty for a bare shape
  std::vector<Argument> points, settings;
  std::vector<ExprPtr> shape;
  bool present = false;  ///< false where the grammar lets a type be left out and it was
};

/// `name: type`, `name: type = value`, `name = value`: inputs, settings, params, over, results.
struct Declared {
  Name name;
  Type type;
  ExprPtr value;  ///< null if there is none
};

struct Step;
using Steps = std::vector<Step>;

enum class StepKind { let, param, update, minimize, iterate, calibrate, learn };

struct Step {
  StepKind kind = StepKind::let;
  Span span;
  Name name;                        ///< let, update, calibrate
  Type type;                        ///< let (optional), calibrate
  ExprPtr value;                    ///< let, update, minimize
  std::vector<Declared> declared;   ///< param (groups are spread: one entry for each name); iterate: name and value; learn: name and value or null
  Steps block;                      ///< iterate, calibrate, learn
  ExprPtr until;                    ///< iterate (null if none); calibrate: left side
  ExprPtr until_right;              ///< calibrate: right side
  ExprPtr low, high;                ///< calibrate
  ExprPtr by;                       ///< learn: a call
  ExprPtr limit;                    ///< iterate, learn
};

/// A point of a kernel or local: one name, or several parts.
struct Point {
  Span span;
  std::vector<Name> names;
  bool tuple = false;
};

struct Kernel {
  Name name;
  Span span;
  Point query, sample;
  std::vector<Declared> settings;
  ExprPtr body;
};

struct Local {
  Name name;
  Span span;
  std::vector<Declared> inputs, settings;
  bool has_query = false;
  Point query;
  std::vector<Declared> over;  ///< groups spread: one entry for each name
  Steps before;                ///< lets before minimize
  ExprPtr loss, penalty;       ///< penalty may be null
  Steps after;                 ///< lets behind it
  ExprPtr result;
};

struct Hierarchy {
  Name name;
  Span span;
  std::vector<Declared> inputs, settings;
  bool named_results = false;
  Type output;                    ///< if not named_results
  std::vector<Declared> results;  ///< if named_results
  Steps steps;
  ExprPtr result;
};

struct Import {
  std::string path;
  Span span;
};

struct Declaration {
  enum class Kind { import, kernel, local, hierarchy } kind = Kind::kernel;
  Span span;
  std::string comment;  ///< the comment lines directly above it, '#' and one blank removed; for the kernel catalogue
  std::shared_ptr<Import> import;
  std::shared_ptr<Kernel> kernel;
  std::shared_ptr<Local> local;
  std::shared_ptr<Hierarchy> hierarchy;
};

struct File {
  std::uint32_t source = 0;
  std::vector<Declaration> declarations;
};

}  // namespace locus::ast
