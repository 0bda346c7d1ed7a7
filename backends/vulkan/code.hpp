// The body of a shader that is being written: scopes of GLSL statements, and expressions of a program in them. Each value is computed once, in the
// outermost scope where its coordinates are known. Knows nothing of nodes.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "plugins/abi/locus_plugin.hpp"

namespace locus::vulkan {

using plugin::Program;
using Id = std::uint32_t;

/// Most iterations of all loops together that one invocation runs in one dispatch. Some drivers end longer loops without a word, others the whole process.
constexpr std::int64_t iteration_limit = 16384;
constexpr int group_size = 64;

/// A whole shader. Tensor k of the text is tensors[k] of the program, and number k is numbers[k], so that nodes of one form share one shader.
struct Shader {
  std::string glsl;
  std::vector<Id> tensors;
  std::vector<std::int64_t> numbers;
};

class Code {
 public:
  explicit Code(const Program& program);

  // -- statements
  void line(const std::string& text) { scopes_.back().text += text + '\n'; }
  /// Opens a scope: `head {`: a loop if the head begins with `for`, a condition if it is other text, else plain braces.
  void open(const std::string& head = "");
  void close();
  /// The whole shader, of workgroups of `group_size`; all scopes are closed. `before_main`: functions of its own.
  Shader finish(const std::string& before_main = "") const;
  /// A name that nothing else has.
  std::string fresh(const char* stem) { return stem + std::to_string(count_++); }

  // -- coordinates and expressions
  /// Coordinate c is the int variable, or the decimal number, of this name in this scope.
  void bind(Id c, const std::string& name) { bind(c, name, scopes_.size() - 1); }
  /// The same for a variable that was declared in an outer scope, the one of this depth.
  void bind(Id c, const std::string& name, std::size_t depth);
  std::size_t depth() const { return scopes_.size() - 1; }
  /// Declares and binds coordinates from a flat index of type `type` (int or int64_t), row-major.
  void decode(const std::string& flat, std::span<const Id> coordinates, const char* type);
  /// The name of e's value, in e's own type.
  std::string value(Id e);
  /// The same as the run's real number; as an entry of a tensor of this dtype.
  std::string real_value(Id e) { return as(e, LOCUS_TYPE_REAL); }
  std::string entry_value(Id e, std::uint32_t dtype);
  /// Where entry offset + strides of a tensor lies: a uint64_t. Each part is computed in the scope that knows its coordinate.
  std::string address(Id tensor, std::int64_t offset, std::span<const locus_stride> strides);
  /// Where a tensor begins.
  std::string base(Id tensor);
  /// An int64 that is not part of the text.
  std::string number(std::int64_t v);

  bool wide() const { return program_.real == LOCUS_FLOAT64; }
  std::string literal(double v, std::uint32_t type) const;
  /// How many iterations of loops evaluating e takes, beyond what is known.
  std::int64_t iterations(Id e) const;

  // -- sums that are longer than a dispatch may loop
  /// The outermost sums in e, which depend on no other sum's coordinate.
  std::vector<Id> outermost_folds(Id e) const;
  /// Of one turn of a fold.
  std::int64_t turn_iterations(Id fold) const;
  /// Turns P.a to P.b of a fold, upon what those before left in the 8 bytes at `state`.
  void carry(Id fold, const std::string& state);
  /// The fold's value is what was left there.
  void take(Id fold, const std::string& state);
  /// How many operations e is, sums counted once: whether it may stand in a text many times.
  int size(Id e) const { return sizes_[e]; }

 private:
  struct Binding {
    std::string name;
    std::size_t depth;
  };
  struct Scope {
    enum Kind { braces, loop, condition } kind = braces;
    std::string head, text;
    std::map<std::string, std::string> values;                  ///< by expression and the names of its coordinates
    std::map<std::string, std::string> shared;                  ///< declared names by their text
    std::vector<std::pair<Id, std::optional<Binding>>> before;  ///< bindings to restore
  };

  std::size_t target_of(Id e) const;
  std::string key_of(Id e) const;
  /// Runs body with scope k as the innermost one.
  std::string within(std::size_t k, const std::function<std::string()>& body);
  std::string share(std::size_t scope, const char* type, const std::string& text);
  std::string as(Id e, std::uint32_t type);
  std::string compute(Id e);
  struct Sum {
    std::string begin, type;
    bool exact;  ///< kept in double, though its value is float
  };
  Sum sum_of(const locus_expr& e) const;
  std::string fold(Id e);
  /// all: the sum so far, of the turn that e's coordinate is bound to.
  void add_turn(const locus_expr& e, const Sum& sum, const std::string& all);
  void turns(Id coordinate, std::int64_t extent, std::int64_t unrolled, const std::function<void()>& body);
  std::int64_t unrolled_turns(const locus_expr& e) const;
  std::string operation(const locus_expr& e);
  std::string comparison(const locus_expr& e);
  std::string power(const locus_expr& e, const std::string& a, const std::string& b);
  std::string call(const locus_expr& e);
  std::string for_real(std::string text) const;
  const char* word(std::uint32_t type) const;
  const char* suffix(std::uint32_t type) const;

  const Program& program_;
  std::vector<Scope> scopes_;
  std::map<Id, Binding> names_;
  std::vector<bool> faulty_;  ///< by expression: see faulty_expressions()
  std::vector<int> sizes_;    ///< by expression, up to a bound
  std::string kernels_;       ///< functions of native kernels
  std::vector<Id> tensors_;
  std::vector<std::int64_t> numbers_;
  std::map<Id, bool> written_;  ///< kernels
  std::set<Id> taken_;          ///< folds that other dispatches computed
  int count_ = 0;
};

/// By expression: whether it may report a fault (a division, a kernel), so that it is not computed where it need not be.
std::vector<bool> faulty_expressions(const Program& program);

/// "load_float" …, "store_int" … for entries of a dtype, and the GLSL type of such a value.
const char* load_of(std::uint32_t dtype);
const char* store_of(std::uint32_t dtype);
const char* type_of(std::uint32_t dtype);

}  // namespace locus::vulkan
