// Lowering: a hierarchy with its inputs becomes a graph. Axes and types are found on the way, call by call, since a hierarchy may be called with other axes.
// The same walk checks a spec without data: sizes are then unknown and the graph is thrown away. Knows nothing of how graphs are run.
#pragma once
#include <set>
#include "dsl/sema/outline.hpp"
#include "dsl/sema/pair_list.hpp"
#include "dsl/sema/scope.hpp"

namespace locus::sema {

/// What a local model is fitted under: a row for each query, the samples, and the reduce that says which pairs count how much (without estimates).
struct Neighbourhood {
  std::vector<Axis> rows;
  Axis sample;
  graph::Reduce pairs;
};

class Lowering {
 public:
  Lowering(const Model& model, Diagnostics& diagnostics, bool checking) : model_(model), diagnostics_(diagnostics), checking_(checking) {}

  Build build;
  PairLists pairs{build};
  Sizes sizes;
  const Request* request = nullptr;
  const Force* force = nullptr;
  std::map<std::string, Array> data;           ///< for the graph's Input nodes
  std::map<std::string, ReadArray> unread;     ///< the same, read when a run needs them
  std::vector<std::string> notes;
  std::vector<ResultInfo> status;
  std::vector<Watch> watches;
  std::vector<Why> whys;
  std::unique_ptr<Outline> outline;  ///< if the picture is asked for
  /// Weight, share and distance of every sample for the query that `why` asks for; never more than one row of the matrix of pairs.
  void explain_query(const Pair& pair, const std::vector<Axis>& rows, const Axis& sample, const graph::Reduce& pairs, const std::optional<Value>& metric);
  std::vector<LookedAt> looked;
  /// One block of the sentence's shares, if it is the one that `look` asks for.
  void look_at(const Pair& pair, const std::vector<Axis>& rows, const Axis& sample, const graph::Reduce& pairs, const std::string& path);
  /// Has the run tell how this went, unless it happens inside a loop.
  void watch(Watch::Kind kind, TensorId tensor, const std::string& name, Span span, std::int64_t unknowns);
  /// --status: one more result for each row, where the hierarchy that was asked for is lowered.
  bool wants_status() const { return request && request->status && !build.in_loop() && active_.size() == 1 && !checking_; }
  void add_status(const std::string& what, TensorId tensor, const std::vector<Axis>& rows, const Pair* pair, const std::string& kind);

  /// Calls a hierarchy with bound inputs; `door`: from outside, results keep extra axes in front and declared names.
  Any run_hierarchy(const Declaration& d, const std::map<std::string, Value>& given, const Settings& settings, const std::string& path, Span span, bool door);
  /// A local model or a kernel alone, for `check`.
  void check_local(const Declaration& d);
  void check_kernel(const Declaration& d);
  /// Values with the axes that a type declares, sizes unknown.
  Value made_up(const ast::Declared& d, Scope& scope);
  /// Mistakes of a step are reported and the step's names poisoned; run without this they end everything.
  void report(const Fault& f);
  bool failed() const { return failed_; }

  // -- expressions (expression.cpp)
  Any eval(const ast::Expr& e, Scope& s, bool raw = false);
  Value number(const ast::Expr& e, Scope& s);
  Value condition(const ast::Expr& e, Scope& s);
  std::optional<std::int64_t> integer(const ast::Expr& e, Scope& s);
  std::int64_t size(const ast::Expr& e, Scope& s);  ///< unknown while checking if it cannot be told
  /// The name of the axis that a size expression makes; nothing if the axis is absent.
  std::optional<std::string> axis_name(const ast::Expr& e, Scope& s);
  std::vector<Axis> shape(const std::vector<ast::ExprPtr>& e, Scope& s);
  Value binary(ast::Operator op, const Value& a, const Value& b, Span span);
  Value matmul(const Value& a, const Value& b, Span span);

  // -- calls (call.cpp)
  Any call(const ast::Expr& e, Scope& s);
  Any call_kernel(const Declaration& d, const ast::Expr* e, Scope& s, Span span);
  Any call_hierarchy(const Declaration& d, const ast::Expr& e, Scope& s, const std::string& path, const Settings& preset);
  Settings given_settings(const std::string& callee, const std::vector<ast::Declared>& declared, const std::vector<ast::Argument>& given, Scope& s);
  Value bind(const Any& value, const ast::Type* type, Scope& inner, std::map<std::string, std::string>& outer, const std::string& what, Span span, bool is_setting = false);
  Any leave(const Any& result, const ast::Hierarchy& h, Scope& inner, const std::map<std::string, std::string>& outer, bool door);
  Value leave_value(Value v, const ast::Type& type, Scope& inner, const std::map<std::string, std::string>& outer, const std::string& what, Span span, bool door);
  /// `repair` is what is proposed where integers are declared and numbers are not whole.
  Value as_kind(const Value& v, const std::string& kind, const std::string& what, Span span, const std::string& repair);

  // -- built-ins (builtin.cpp, shape.cpp)
  Any builtin(const std::string& name, const ast::Expr& e, Scope& s);
  Value pair_function(const std::string& name, const Value& a, const Value& b, Scope& s, Span span);
  Value plain(const std::string& name, const ast::Expr& e, Scope& s);
  Value plain_over(const std::string& name, const Value& v, const std::vector<int>& positions, const Value* t);
  std::vector<int> reduced(const Value& v, const ast::Expr* axis, Scope& s);
  bool known_function(const std::string& name) const;

  // -- the sentence (sentence.cpp)
  Any sentence(const ast::Expr& e, Scope& s);
  Value weight(const ast::Expr& e, Scope& s);
  /// The list of neighbours by a whole-array function, where it finds the same as a look at every pair; or the distance to the farthest of them alone.
  std::optional<TensorId> neighbours_of(const ast::Sentence& c, const Pair& pair, const std::vector<Axis>& rows, ExprId where, std::int64_t width, bool farthest);

  // -- sentences over few of all pairs (listed.cpp)
  struct Listed {
    TensorId out = graph::none, counted = graph::none;
  };
  /// gram() and weights() as a list, where the neighbours are one or the mask or kernel holds within some.
  std::optional<Value> listed_matrix(const Neighbourhood& at, const std::optional<Value>& near, bool shares, Type type);
  std::optional<Listed> listed_estimate(const Neighbourhood& at, locus_estimator which, const Value* value, const std::vector<Axis>& tail, Type type);
  /// The samples within a radius as a list of neighbours.
  std::optional<Value> within_list(const Neighbourhood& at, const Value& metric);

  // -- matrices of a kernel that are not stored (system.cpp)
  /// gram() of these pairs is `whole`, whose products and systems may do without it.
  void remember_kernel(TensorId whole, const Neighbourhood& at);
  std::optional<Value> fused_product(const Value& a, const Value& b);
  /// Solves a symmetric system of kernels and a diagonal, where there are many rows.
  std::optional<Value> conjugate_gradients(const Value& a, const Value& right);

  // -- local models (local.cpp)
  /// Fits a local model under the pairs of a sentence, with its inputs' values as read there; or once over all samples, without a pair.
  Any local_fit(const Declaration& d, const ast::Expr& call, Scope& s, Neighbourhood at, const std::vector<Value>* given, Pair* pair);
  bool checking() const { return checking_; }

  // -- steps (steps.cpp)
  void run(const ast::Steps& steps, Scope& s);
  void run_body(const ast::Steps& block, Scope& inner);  ///< of a loop: what it makes cannot be used if a step of it is mistaken
  void step(const ast::Step& st, Scope& s);
  void step_let(const ast::Step& st, Scope& s);
  void step_param(const ast::Step& st, Scope& s);
  void step_update(const ast::Step& st, Scope& s);
  void step_iterate(const ast::Step& st, Scope& s);
  void unrolled(const ast::Step& st, Scope& s);
  void step_calibrate(const ast::Step& st, Scope& s);
  Value first_point(const Value& low, const Value& high);
  void step_learn(const ast::Step& st, Scope& s);
  Value history(graph::Iterate& loop, const std::string& name, const Value& v, const Axis& turns);
  Value change(const std::string& name, Scope& s, Span span);
  Value like(const Value& next, const Value& old, const std::string& name, Span span);

  // -- parameters (parameters.cpp)
  Any parameter(const ast::Declared& d, const std::string& path, Scope& s);
  /// One message for all parameters that the weights lack or hold in another shape, and if the walk went to its `end` for all that the weights hold besides.
  bool check_parameters(const std::string& hierarchy, bool end);

  // -- values known now (force.cpp)
  /// The entries of a value, by running the graph so far; nothing while checking.
  std::optional<Array> known(const Value& v, Span span);

 private:
  const Model& model_;
  Diagnostics& diagnostics_;
  bool checking_ = false;
  bool failed_ = false;
  int fresh_ = 0;
  struct Misfit {
    std::string path, text;
    Span span;
  };
  std::vector<Misfit> missing_, misshapen_;
  std::set<std::string> taken_;  ///< parameters by path, found or not
  std::map<std::string, std::int64_t> instances_;  ///< parameters that are hierarchies: how many copies, -1 for a single one
  std::set<std::string> called_;                   ///< those that were called
  std::set<std::string> paths_;  ///< names that `path(...)` asks for in the hierarchy at hand
  std::set<std::string> graded_;  ///< names that `grad(...)` differentiates by there: each is stored on its own, so that what depends on it reads it
  bool differentiates_ = false;    ///< some hierarchy so far asks for `grad(...)`
  std::vector<std::string> active_;
  std::uint64_t streams_ = 0;
  std::map<TensorId, Neighbourhood> kernels_;  ///< of whole matrices of pairs
  friend struct Entry;

  Any eval_name(const ast::Expr& e, Scope& s, bool raw);
  Any eval_index(const ast::Expr& e, Scope& s, bool raw);
  Any eval_field(const ast::Expr& e, Scope& s, bool raw);
  Any eval_binary(const ast::Expr& e, Scope& s);
  Any eval_choose(const ast::Expr& e, Scope& s);
  Value eval_bracket(const ast::Expr& e, Scope& s);
  Value indexed(Value v, std::vector<const ast::Index*> places, Scope& s, const ast::Expr& e);
  /// What `e` gives must be integers (E206).
  void need_integers(const ast::Expr& e, const Value& v, const std::string& message);
  Value gather(const Value& v, const std::map<int, Value>& places);
  std::optional<double> constant_of(const Value& v) const;
  Value linear(const Value& a, const Value& b, int row, int inner_a, int inner_b, int column);
  Axis fresh_axis(const std::string& label, std::int64_t size);
  const Declaration* declaration(const std::string& name) const { return model_.find(name); }
  static constexpr std::int64_t least_rows_unstored = 8192;
  struct KernelSum {
    std::vector<std::pair<Neighbourhood, Value>> kernels;  ///< each with its scale
    std::optional<Value> diagonal;
  };
  const Neighbourhood* kernel_at(ExprId e, const Axis& row, const Axis& column);
  Value kernel_product(const Neighbourhood& kernel, const Value& v, const Axis& row, Type type);
  bool kernel_sum(ExprId e, const Value& scale, const Axis& row, const Axis& column, KernelSum& sum);
  Value times_kernels(const KernelSum& sum, const Value& v, const Axis& row);
  Value near_matrix(const Neighbourhood& at, const Value& near, bool shares, Type type);
  std::optional<PairList> listed_weights(const Neighbourhood& at);
  bool raised(ExprId e) const;
  Any shape_function(const std::string& name, const ast::Expr& e, Scope& s);
  Any special_function(const std::string& name, const ast::Expr& e, Scope& s);
  std::pair<std::string, std::int64_t> named_size(const ast::Expr& e, Scope& s);
  Value along_last(const std::string& name, const Value& v, double epsilon, Scope& s);
  Value stored(const Value& v, Scope& s);
  /// The value of a name that `grad` may ask for.
  Value own(const std::string& name, const Value& v);
  Value gradient(const Value& scalar, const Value& target, const ast::Expr& e);
  Value derivative(const Value& scalar, Span scalar_span, const Value& by, const std::string& name, Span span);
};

/// Does the expression mention one of these names?
bool mentions(const ast::Expr& e, const std::set<std::string>& names);
/// All names that an expression, or steps, mention.
void collect(const ast::Expr& e, std::set<std::string>& names);
void collect(const ast::Steps& steps, std::set<std::string>& names);
/// Names under path(...), and those that grad(...) differentiates by.
void collect_paths(const ast::Steps& steps, std::set<std::string>& names);
void collect_paths(const ast::Expr& e, std::set<std::string>& names);
void collect_graded(const ast::Hierarchy& h, std::set<std::string>& names);

}  // namespace locus::sema
