// Names: what stands in expressions must mean something, arguments must be ones that the callee takes, steps must stand where they can; see model.hpp.
#include <algorithm>
#include <set>
#include "dsl/sema/model.hpp"
#include "dsl/sema/repair.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

const std::vector<std::string>& builtin_names() {
  static const std::vector<std::string> names = {
      "mean",   "sum",       "max",       "min",     "median",  "quantile", "cov",      "mass",    "logmass", "count",      "entropy",  "gram",    "weights",       "neighbours",  "dot",    "sqdist",       "dist",
      "l1dist", "maxdist",   "norm",      "sqnorm",  "l1norm",  "softmax",  "logsumexp", "layernorm", "rmsnorm", "argmax",   "argmin",   "sort",    "cumsum",        "cumprod",     "exp",    "log",          "log2",
      "sqrt",   "abs",       "sign",      "floor",   "round",   "sin",      "cos",      "tanh",    "asin",    "acos",       "atan",     "erf",     "lgamma",        "sigmoid",     "softplus", "relu",       "elu",
      "gelu",   "silu",      "index",     "linspace", "zeros",  "ones",     "eye",      "grid",    "onehot",  "reshape",    "flatten",  "transpose", "concat",      "replace",     "split",  "merge",        "solve",
      "trace",  "eigen_smallest", "eigen_largest", "scatter", "matrix", "triplets", "pad_edge", "pad_mirror", "pad_zero", "patches", "rotate", "rotate_pairs", "cross_entropy", "group", "trustworthiness", "uniform", "normal",
      "random_index", "permutation", "random_beta", "change", "path", "grad", "descent", "adam", "newton"};
  return names;
}
bool is_estimator(const std::string& name) {
  static const std::set<std::string> names = {"mean", "sum", "max", "min", "median", "quantile", "cov", "mass", "logmass", "count", "entropy", "gram", "weights", "neighbours"};
  return names.count(name) > 0;
}
bool is_pair_function(const std::string& name) {
  static const std::set<std::string> names = {"dot", "sqdist", "dist", "l1dist", "maxdist"};
  return names.count(name) > 0;
}

namespace {

using Names = std::set<std::string>;
using ast::ExprKind;
using ast::StepKind;

bool valueless(const std::string& name) { return name == "mass" || name == "logmass" || name == "count" || name == "entropy" || name == "gram" || name == "weights" || name == "neighbours"; }

struct Resolver {
  const Model& model;
  Diagnostics& diagnostics;
  std::string owner;
  std::set<std::string> params;  ///< names of `param` hierarchies in the hierarchy at hand, with their type
  std::map<std::string, const Declaration*> copies;

  void error(Code code, Span span, std::string message, std::string help = "", std::vector<Note> notes = {}) {
    diagnostics.add({code, span, std::move(message), "", std::move(notes), std::move(help), ""});
  }

  bool built_in(const std::string& n) const { return std::find(builtin_names().begin(), builtin_names().end(), n) != builtin_names().end(); }

  void unknown(const ast::Name& n, const Names& known) {
    std::vector<std::string> all(known.begin(), known.end());
    for (const auto& [name, d] : model.declarations) all.push_back(name);
    all.insert(all.end(), builtin_names().begin(), builtin_names().end());
    for (const char* word : {"pi", "inf"}) all.push_back(word);
    const std::string near = nearest_name(n.text, all);
    error(Code::E101, n.span, "nothing is named '" + n.text + "' here", near.empty() ? "declare it as an input or a setting of '" + owner + "', or give it a value with `let " + n.text + " = …`" : "did you mean `" + near + "`?");
  }

  void settings(const std::string& callee, const std::vector<std::string>& names, const std::vector<ast::Argument>& given, Span span, const char* what) {
    Names used;
    for (std::size_t k = 0; k < given.size(); ++k) {
      const ast::Name& keyword = given[k].name;
      std::string all;
      for (const auto& n : names) all += (all.empty() ? "" : ", ") + n;
      if (keyword.text.empty()) {
        if (k >= names.size()) {
          error(Code::E104, given[k].value->span, "'" + callee + "' takes " + (names.empty() ? std::string("no ") + what + "s" : std::to_string(names.size()) + " " + what + (names.size() == 1 ? "" : "s") + " (" + all + ")") + ", not " + std::to_string(given.size()),
                std::string(what) == "input" ? "settings stand behind ';'" : "");
          return;
        }
        used.insert(names[k]);
        continue;
      }
      if (std::find(names.begin(), names.end(), keyword.text) == names.end()) {
        const std::string near = nearest_name(keyword.text, names);
        error(Code::E104, keyword.span, "'" + callee + "' has no " + what + " '" + keyword.text + "'" + (names.empty() ? "" : ": it has " + all), near.empty() ? (names.size() == 1 ? "write `" + names.front() + " = …`" : "") : "did you mean `" + near + "`?");
      } else if (!used.insert(keyword.text).second) {
        error(Code::E104, keyword.span, std::string(what) + " '" + keyword.text + "' is given twice");
      }
    }
    (void)span;
  }

  static std::vector<std::string> names_of(const std::vector<ast::Declared>& list) {
    std::vector<std::string> names;
    for (const auto& d : list) names.push_back(d.name.text);
    return names;
  }

  void arguments(const ast::Expr& e, bool in_clause) {
    if (e.parts[0]->kind != ExprKind::name && e.parts[0]->kind != ExprKind::index) return;
    const std::string& name = e.parts[0]->kind == ExprKind::name ? e.parts[0]->name.text : e.parts[0]->parts[0]->name.text;
    const Declaration* d = copies.count(name) ? copies[name] : e.parts[0]->kind == ExprKind::name ? model.find(name) : nullptr;
    if (!d) return;
    if (d->kernel || d->native) {
      std::vector<std::string> names = d->kernel ? names_of(d->kernel->settings) : std::vector<std::string>{};
      if (d->native)
        for (const auto& [n, initial] : d->native->settings) names.push_back(n);
      const bool only_settings = in_clause && !e.semicolon && (!names.empty() || e.points.empty());
      if (only_settings) {
        settings(name, names, e.points, e.span, "setting");
      } else {
        if (e.points.size() != 2) error(Code::E104, e.span, "kernel '" + name + "' takes two points, not " + std::to_string(e.points.size()), "call it as `" + name + "(a, b" + (names.empty() ? "" : "; " + names.front()) + ")`");
        settings(name, names, e.settings, e.span, "setting");
      }
    } else if (d->local) {
      if (e.points.size() != d->local->inputs.size()) {
        std::string all;
        for (const auto& i : d->local->inputs) all += (all.empty() ? "" : ", ") + i.name.text;
        error(Code::E104, e.span, "'" + name + "' takes " + std::to_string(d->local->inputs.size()) + " inputs (" + all + "), not " + std::to_string(e.points.size()));
      }
      settings(name, names_of(d->local->settings), e.settings, e.span, "setting");
    } else {
      const auto inputs = names_of(d->hierarchy->inputs);
      if (inputs.empty() && !e.points.empty() && !e.semicolon) error(Code::E104, e.span, "'" + name + "' takes settings only", "put ';' before them: `" + name + "(; …)`");
      else settings(name, inputs, e.points, e.span, "input");
      settings(name, names_of(d->hierarchy->settings), e.settings, e.span, "setting");
      const bool parameters = std::any_of(d->hierarchy->steps.begin(), d->hierarchy->steps.end(), [](const auto& st) { return st.kind == StepKind::param; });
      if (parameters && !copies.count(name)) error(Code::E109, e.span, "'" + name + "' has parameters of its own and cannot be called directly", "declare `param part: " + name + "` and call `part(…)`");
    }
  }

  /// pair: inside the pair expressions of a sentence; clause: in `by` or `under`.
  void expression(const ast::Expr& e, const Names& known, bool pair = false, bool clause = false) {
    switch (e.kind) {
      case ExprKind::name:
        if (e.name.text == "i" || e.name.text == "j") return;  // judged while lowering, which knows the sentence
        if (!known.count(e.name.text) && !model.find(e.name.text) && !built_in(e.name.text) && e.name.text != "pi" && e.name.text != "inf") unknown(e.name, known);
        return;
      case ExprKind::sentence: {
        if (pair) {
          error(Code::E110, e.span, "one sentence cannot stand inside the pair expressions of another", "give it a name first: `let inner = " + print(e) + "`");
          return;
        }
        const ast::Sentence& c = *e.sentence;
        const ast::Expr& est = *c.estimate;
        const std::string& name = est.parts[0]->name.text;
        const Declaration* d = model.find(name);
        if (d ? !d->local : !is_estimator(name)) {
          std::vector<std::string> all;
          for (const auto& n : builtin_names())
            if (is_estimator(n)) all.push_back(n);
          for (const auto& [n, x] : model.declarations)
            if (x.local) all.push_back(n);
          const std::string near = nearest_name(name, all);
          error(Code::E111, est.parts[0]->span, "'" + name + "' is not an estimate", near.empty() ? "the estimates are mean, sum, max, min, median, quantile, cov, mass, logmass, count, entropy, gram, weights, neighbours and local models" : "did you mean `" + near + "`?");
        } else if (!d) {
          const std::size_t wanted = valueless(name) ? 0 : 1;
          if (est.points.size() != wanted)
            error(Code::E111, est.span, "the estimate '" + name + "' takes " + (wanted ? "one value" : "no value") + ", not " + std::to_string(est.points.size()), wanted ? "write `" + name + "(y) at …`" : "write `" + name + "() at …`");
        }
        if (c.under && !c.nearest && !c.within)
          error(Code::E112, c.under->span, "`under` without `nearest` or `within` cannot change the estimate", "add `nearest 5` or `within 1.0`; a weight by distance is `by`, a condition is `where`");
        if (d) arguments(est, false);
        for (const auto& a : est.points) expression(*a.value, known, true);
        for (const auto& a : est.settings) expression(*a.value, known, false);
        expression(*c.queries, known);
        expression(*c.samples, known);
        for (const auto* p : {&c.nearest, &c.within, &c.where, &c.otherwise})
          if (*p) expression(**p, known, true);
        for (const auto* p : {&c.by, &c.under})
          if (*p) expression(**p, known, true, true);
        return;
      }
      case ExprKind::call: {
        const ast::Expr& callee = *e.parts[0];
        if (callee.kind == ExprKind::name && !known.count(callee.name.text) && !model.find(callee.name.text)) {
          const std::string& name = callee.name.text;
          if (!built_in(name)) unknown(callee.name, known);
          else if (valueless(name)) error(Code::E111, e.span, "'" + name + "' is an estimate: it needs `at … among …`", "write `" + name + "() at x among x`");
        } else {
          expression(callee, known, pair);
        }
        arguments(e, clause);
        for (const auto& a : e.points) expression(*a.value, known, pair);
        for (const auto& a : e.settings) expression(*a.value, known, pair);
        return;
      }
      default: break;
    }
    for (const auto& p : e.parts) expression(*p, known, pair, clause);
    for (const auto& a : e.points) expression(*a.value, known, pair);
    for (const auto& a : e.settings) expression(*a.value, known, pair);
    for (const auto& p : e.places) {
      if (p.low) expression(*p.low, known, pair);
      if (p.high) expression(*p.high, known, pair);
    }
  }

  void axes(const ast::Type& t, Names& known) {
    for (const auto& e : t.shape) {
      if (e->kind == ExprKind::name) known.insert(e->name.text);
      else atoms(*e, known);
    }
  }
  static void atoms(const ast::Expr& e, Names& known) {
    if (e.kind == ExprKind::name) known.insert(e.name.text);
    for (const auto& p : e.parts) atoms(*p, known);
  }

  static void read_names(const ast::Expr& e, std::vector<const ast::Expr*>& found) {
    if (e.kind == ExprKind::name) found.push_back(&e);
    for (const auto& p : e.parts) read_names(*p, found);
    for (const auto& a : e.points) read_names(*a.value, found);
    for (const auto& a : e.settings) read_names(*a.value, found);
    for (const auto& p : e.places) {
      if (p.low) read_names(*p.low, found);
      if (p.high) read_names(*p.high, found);
    }
    if (e.sentence)
      for (const auto* p : {&e.sentence->estimate, &e.sentence->queries, &e.sentence->samples, &e.sentence->nearest, &e.sentence->within, &e.sentence->under, &e.sentence->by, &e.sentence->where, &e.sentence->otherwise})
        if (*p) read_names(**p, found);
  }
  static void read_names(const ast::Steps& steps, std::vector<const ast::Expr*>& found) {
    for (const auto& s : steps) {
      for (const auto* p : {&s.value, &s.until, &s.until_right, &s.low, &s.high, &s.by, &s.limit})
        if (*p) read_names(**p, found);
      for (const auto& d : s.declared)
        if (d.value) read_names(*d.value, found);
      read_names(s.block, found);
    }
  }

  void updates(const ast::Step& loop) {
    Names carried, done;
    for (const auto& d : loop.declared) carried.insert(d.name.text);
    for (const auto& s : loop.block) {
      std::vector<const ast::Expr*> read;
      read_names(ast::Steps{s}, read);
      for (const auto* e : read)
        if (done.count(e->name.text)) {
          error(Code::E106, e->span, "'" + e->name.text + "' is read after its `<-`: before the turn ends the old value, after it the new", "read it before the update, or give the new value a name with `let` and use that");
          break;
        }
      if (s.kind != StepKind::update) continue;
      if (!carried.count(s.name.text)) {
        std::vector<std::string> all(carried.begin(), carried.end());
        const std::string near = nearest_name(s.name.text, all);
        error(Code::E105, s.name.span, "'" + s.name.text + "' is not carried by this loop", near.empty() ? "add it behind `iterate`: `" + s.name.text + " from …`" : "did you mean `" + near + "`?");
      } else if (!done.insert(s.name.text).second) {
        error(Code::E105, s.name.span, "'" + s.name.text + "' is updated twice in one turn");
      }
    }
  }

  void steps(const ast::Steps& list, Names& known, const char* inside) {
    for (const auto& s : list) {
      switch (s.kind) {
        case StepKind::let:
          expression(*s.value, known);
          axes(s.type, known);
          known.insert(s.name.text);
          break;
        case StepKind::param:
          if (inside) error(Code::E107, s.span, std::string("`param` cannot stand in ") + inside, "declare it at the top of the hierarchy");
          for (const auto& d : s.declared) {
            const std::string& base = d.type.base.text;
            if (!base.empty() && base != "real" && base != "int" && base != "bool") {
              const Declaration* h = model.find(base);
              if (!h || !h->hierarchy) {
                std::vector<std::string> all;
                for (const auto& [n, x] : model.declarations)
                  if (x.hierarchy) all.push_back(n);
                const std::string near = nearest_name(base, all);
                error(Code::E101, d.type.base.span, "there is no hierarchy named '" + base + "'", near.empty() ? "" : "did you mean `" + near + "`?");
              } else {
                copies[d.name.text] = h;
                auto given = d.type.points;
                given.insert(given.end(), d.type.settings.begin(), d.type.settings.end());
                settings(base, names_of(h->hierarchy->settings), given, d.type.span, "setting");
                for (const auto& a : given) expression(*a.value, known);
              }
              for (const auto& e : d.type.shape) expression(*e, known);
            } else {
              for (const auto& e : d.type.shape) expression(*e, known);
            }
            if (d.value) expression(*d.value, known);
            known.insert(d.name.text);
          }
          break;
        case StepKind::update:
          if (!inside || std::string(inside) != "an `iterate`") error(Code::E107, s.span, "an update stands in an `iterate` only", "use `let " + s.name.text + " = …` for a new name");
          expression(*s.value, known);
          break;
        case StepKind::minimize:
          if (!inside || std::string(inside) != "a `learn`") error(Code::E107, s.span, "`minimize` stands in a `learn` only", "write `learn name from start { … minimize loss } by adam(rate = 0.05) limit 100`");
          expression(*s.value, known);
          break;
        case StepKind::iterate: {
          for (const auto& d : s.declared) expression(*d.value, known);
          for (const auto& d : s.declared) known.insert(d.name.text);
          updates(s);
          Names inner = known;
          inner.insert("turn");
          steps(s.block, inner, "an `iterate`");
          if (s.until) expression(*s.until, inner);
          expression(*s.limit, known);
          inner.erase("turn");
          known.insert(inner.begin(), inner.end());
          break;
        }
        case StepKind::calibrate: {
          expression(*s.low, known);
          expression(*s.high, known);
          axes(s.type, known);
          known.insert(s.name.text);
          Names inner = known;
          steps(s.block, inner, "a `calibrate`");
          expression(*s.until, inner);
          expression(*s.until_right, inner);
          break;
        }
        case StepKind::learn: {
          for (const auto& d : s.declared)
            if (d.value) expression(*d.value, known);
            else if (!known.count(d.name.text)) unknown(d.name, known);
          for (const auto& d : s.declared) known.insert(d.name.text);
          Names inner = known;
          inner.insert("turn");
          steps(s.block, inner, "a `learn`");
          expression(*s.by, inner);
          expression(*s.limit, known);
          inner.erase("turn");
          known.insert(inner.begin(), inner.end());
          break;
        }
      }
    }
  }

  void distinct(const std::vector<ast::Declared>& a, const std::vector<ast::Declared>& b) {
    std::map<std::string, Span> seen;
    Names names;
    for (const auto* list : {&a, &b})
      for (const auto& d : *list) names.insert(d.name.text);
    for (const auto* list : {&a, &b})
      for (const auto& d : *list) {
        const auto [at, fresh] = seen.try_emplace(d.name.text, d.name.span);
        if (!fresh) error(Code::E113, d.name.span, "'" + d.name.text + "' stands twice among the inputs and settings", "call this one `" + free_name(d.name.text, names) + "`", {{at->second, "the first is here"}});
      }
  }

  void declaration(const Declaration& d) {
    owner = d.name;
    copies.clear();
    Names known;
    const auto declared_settings = [&](const std::vector<ast::Declared>& list) {
      for (const auto& s : list) {
        known.insert(s.name.text);
        axes(s.type, known);
      }
      for (const auto& s : list)
        if (s.value) expression(*s.value, known);
    };
    if (d.kernel) {
      Names names;
      for (const auto* p : {&d.kernel->query, &d.kernel->sample})
        for (const auto& n : p->names) names.insert(n.text);
      for (const auto* p : {&d.kernel->query, &d.kernel->sample})
        for (const auto& n : p->names)
          if (!known.insert(n.text).second) error(Code::E113, n.span, "'" + n.text + "' stands twice among the points of '" + d.name + "'", "call this one `" + free_name(n.text, names) + "`");
      declared_settings(d.kernel->settings);
      expression(*d.kernel->body, known, true, false);
      return;
    }
    if (d.local) {
      distinct(d.local->inputs, d.local->settings);
      for (const auto& i : d.local->inputs) {
        known.insert(i.name.text);
        axes(i.type, known);
      }
      declared_settings(d.local->settings);
      if (d.local->has_query)
        for (const auto& n : d.local->query.names) known.insert(n.text);
      for (const auto& o : d.local->over) {
        if (o.value) expression(*o.value, known);
        known.insert(o.name.text);
      }
      steps(d.local->before, known, nullptr);
      expression(*d.local->loss, known);
      Names penalty = known;
      penalty.insert("mass");
      if (d.local->penalty) expression(*d.local->penalty, penalty);
      steps(d.local->after, known, nullptr);
      expression(*d.local->result, known);
      return;
    }
    if (!d.hierarchy) return;
    distinct(d.hierarchy->inputs, d.hierarchy->settings);
    for (const auto& i : d.hierarchy->inputs) {
      known.insert(i.name.text);
      axes(i.type, known);
    }
    declared_settings(d.hierarchy->settings);
    steps(d.hierarchy->steps, known, nullptr);
    expression(*d.hierarchy->result, known);
  }

  // -- circles of calls
  void callees(const Declaration& d, std::set<std::string>& found) const {
    std::vector<const ast::Expr*> read;
    if (d.kernel) read_names(*d.kernel->body, read);
    if (d.hierarchy) {
      read_names(d.hierarchy->steps, read);
      read_names(*d.hierarchy->result, read);
      for (const auto& s : d.hierarchy->steps)
        for (const auto& p : s.declared)
          if (s.kind == StepKind::param && model.find(p.type.base.text)) found.insert(p.type.base.text);
    }
    for (const auto* e : read)
      if (const auto* other = model.find(e->name.text); other && (other->kernel || other->hierarchy)) found.insert(e->name.text);
  }
  void circles() {
    for (const auto& name : model.own) {
      std::set<std::string> reached, open{name};
      bool circle = false;
      while (!open.empty() && !circle) {
        const std::string at = *open.begin();
        open.erase(open.begin());
        const Declaration* d = model.find(at);
        std::set<std::string> next;
        if (d) callees(*d, next);
        // A name that the declaration itself binds is no call.
        if (d && d->hierarchy)
          for (const auto& s : d->hierarchy->steps) next.erase(s.name.text);
        for (const auto& n : next) {
          circle |= n == name;
          if (reached.insert(n).second) open.insert(n);
        }
      }
      if (circle) error(Code::E108, model.find(name)->span, "'" + name + "' calls itself, directly or through others", "repeat with `iterate name from start { name <- … } limit 10`");
    }
  }
};

}  // namespace

void resolve(const Model& model, Diagnostics& diagnostics) {
  Resolver r{model, diagnostics, "", {}, {}};
  for (const auto& name : model.own)
    if (const auto* d = model.find(name)) r.declaration(*d);
  r.circles();
}

}  // namespace locus::sema
