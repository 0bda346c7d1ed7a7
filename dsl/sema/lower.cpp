// The two ways in: check a spec without data, and lower one hierarchy for given data; see compile.hpp.
#include <algorithm>
#include <cmath>
#include "dsl/compile.hpp"
#include "dsl/sema/lower.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus {

using namespace sema;
using graph::none;

namespace sema {

/// What lowering needs from outside: the door, where arrays meet their declarations.
struct Entry {
  const Model& model;
  const Request& request;
  Diagnostics& diagnostics;
  Lowering& lowering;

  struct Shape {
    std::string name;
    const ast::Declared* declared = nullptr;
    const Array* array = nullptr;
    bool setting = false;
  };

  std::string said(const std::string& name) const {
    const auto origin = request.origins.find(name);
    return "'" + name + "'" + (origin == request.origins.end() ? "" : " (" + origin->second + ")");
  }
  static std::string type_text(const ast::Declared& d) {
    std::string text = d.type.base.text;
    if (!d.type.shape.empty()) {
      text += text.empty() ? "[" : " [";
      for (std::size_t k = 0; k < d.type.shape.size(); ++k) text += (k ? ", " : "") + print(*d.type.shape[k]);
      text += "]";
    }
    return text.empty() ? "real" : text;
  }
  void error(Code code, const Span& span, std::string message, std::string help) { diagnostics.add({code, span, std::move(message), "", {}, std::move(help), ""}); }

  /// Names, numbers of axes and sizes of everything given, all faults at once.
  bool check_door(const ast::Hierarchy& h) {
    const std::size_t before = diagnostics.errors();
    std::vector<std::string> names;
    for (const auto& d : h.inputs) names.push_back(d.name.text);
    for (const auto& d : h.settings) names.push_back(d.name.text);
    for (const auto* given : {&request.inputs, &request.settings})
      for (const auto& [name, array] : *given)
        if (std::find(names.begin(), names.end(), name) == names.end()) {
          std::string all;
          for (const auto& n : names) all += (all.empty() ? "" : ", ") + n;
          const std::string near = nearest_name(name, names);
          error(Code::E451, h.name.span, "'" + h.name.text + "' has no input or setting '" + name + "': it has " + all, near.empty() ? "" : "did you mean `--" + near + "`?");
        }
    auto& axes = sizes_;
    std::set<std::string> absent;
    const auto array_of = [&](const std::string& name) -> const Array* {
      for (const auto* given : {&request.inputs, &request.settings})
        if (const auto found = given->find(name); found != given->end()) return &found->second;
      return nullptr;
    };
    const auto check_one = [&](const ast::Declared& d, bool setting) {
      const Array* a = array_of(d.name.text);
      if (!a) {
        if (!request.sizes.empty() && !setting) return;
        if (!setting || !d.value)
          error(Code::E450, d.name.span, std::string(setting ? "setting '" : "input '") + d.name.text + "' of '" + h.name.text + "' is not given: it is declared " + type_text(d),
                "add `--" + d.name.text + (setting && d.type.shape.empty() ? " VALUE`" : " FILE`"));
        return;
      }
      if (setting && !d.type.present) return;
      auto declared = d.type.shape;
      auto have = a->shape();
      if (have.empty()) return;  // a number stands for a whole array of it
      if (declared.size() == 2 && have.size() == 1 && declared[1]->kind == ast::ExprKind::name && !axes.count(declared[1]->name.text)) absent.insert(declared[1]->name.text);
      std::erase_if(declared, [&](const ast::ExprPtr& e) { return e->kind == ast::ExprKind::name && absent.count(e->name.text); });
      const std::string found = said(d.name.text) + " holds " + shape_text(have);
      if (have.size() < declared.size()) {
        const std::string column = declared.size() == 2 && declared[1]->kind == ast::ExprKind::name && axes.count(declared[1]->name.text)
                                       ? ": axis '" + declared[1]->name.text + "' is " + std::to_string(axes[declared[1]->name.text].first) + " in " + axes[declared[1]->name.text].second : "";
        error(Code::E452, d.name.span, "'" + d.name.text + "' is declared " + type_text(d) + ", and " + found + column, "give an array with " + std::to_string(declared.size()) + " axes");
        return;
      }
      for (std::size_t k = 0; k < declared.size(); ++k) {
        const ast::Expr& e = *declared[k];
        const std::int64_t size = have[have.size() - declared.size() + k];
        if (e.kind == ast::ExprKind::number && e.whole && e.integer != size)
          error(Code::E453, d.name.span, "'" + d.name.text + "' is declared " + type_text(d) + ", and " + found + ": " + std::to_string(size) + " where " + std::to_string(e.integer) + " is declared", "");
        if (e.kind != ast::ExprKind::name || std::find(names.begin(), names.end(), e.name.text) != names.end()) continue;
        const auto [at, fresh] = axes.try_emplace(e.name.text, size, said(d.name.text));
        if (!fresh && at->second.first != size)
          error(Code::E453, d.name.span, "axis '" + e.name.text + "' has " + std::to_string(at->second.first) + " entries in " + at->second.second + " and " + std::to_string(size) + " in " + said(d.name.text) +
                                             ": '" + d.name.text + "' is declared " + type_text(d) + " and holds " + shape_text(have),
                "give arrays of one size for '" + e.name.text + "'");
      }
    };
    for (const auto& d : h.inputs) check_one(d, false);
    for (const auto& d : h.settings) check_one(d, true);
    for (const auto& d : h.inputs) {  // a number stands for a whole array of it, if others tell how large
      const Array* a = array_of(d.name.text);
      if (!a || !a->shape().empty()) continue;
      for (const auto& e : d.type.shape)
        if (e->kind == ast::ExprKind::name && !axes.count(e->name.text) && std::find(names.begin(), names.end(), e->name.text) == names.end() && !request.sizes.count(e->name.text)) {
          error(Code::E452, d.name.span, "'" + d.name.text + "' is declared " + type_text(d) + " and given as one number, and nothing else tells the size of axis '" + e->name.text + "'", "give a file: `--" + d.name.text + " FILE`");
          break;
        }
    }
    return diagnostics.errors() == before;
  }

  /// An array as a value: its last axes get placeholders (the declaration names them), extra axes in front are counted from the right.
  Value at_the_door(const std::string& name, const ast::Declared& d, const Array& given, const std::map<std::string, std::int64_t>& longest) {
    Array a = given;
    const std::string& kind = d.type.base.text;
    const bool setting_scalar = a.shape().empty();
    if (kind == "int" && a.dtype() != Dtype::int64) {
      for (std::int64_t k = 0; k < a.count(); ++k)
        if (a.number(k) != std::round(a.number(k))) fail(Code::E421, d.name.span, said(name) + " is declared int, and entry " + std::to_string(k) + " is " + std::to_string(a.number(k)));
      a = a.cast(Dtype::int64);
    }
    if (kind == "bool" && a.dtype() != Dtype::boolean) {
      for (std::int64_t k = 0; k < a.count(); ++k)
        if (a.number(k) != 0 && a.number(k) != 1) fail(Code::E422, d.name.span, said(name) + " is declared bool, and entry " + std::to_string(k) + " is " + std::to_string(a.number(k)));
      a = a.cast(Dtype::boolean);
    }
    if (kind != "bool" && a.dtype() == Dtype::boolean && (d.type.present || !setting_scalar)) a = a.cast(kind == "int" ? Dtype::int64 : Dtype::float64);
    Build& b = lowering.build;
    if (setting_scalar && !is_setting(name) && kind != "int" && kind != "bool" && !d.type.shape.empty()) {  // a number for a whole array gives what a constant array gives
      lowering.data[name] = a.cast(Dtype::float64);
      return b.input_array(name, {}, Type::real);
    }
    if (setting_scalar) {
      const Type t = a.dtype() == Dtype::boolean ? Type::boolean : a.dtype() == Dtype::int64 ? Type::integer : Type::exact;
      return b.number(a.number(0), t);
    }
    const std::size_t declared = d.type.present ? std::min(d.type.shape.size(), a.shape().size()) : a.shape().size();
    const std::size_t front = a.shape().size() - declared;
    std::vector<Axis> axes;
    for (std::size_t k = 0; k < a.shape().size(); ++k)
      axes.push_back({k < front ? "^" + std::to_string(front - k) + " in front" : name + "." + std::to_string(k - front), a.shape()[k], none});
    const Type t = a.dtype() == Dtype::boolean ? Type::boolean : a.dtype() == Dtype::int64 ? Type::integer : is_setting(name) ? Type::exact : Type::real;
    Value v;
    if (t == Type::integer && kind != "int" && !is_setting(name)) {
      a = a.cast(Dtype::float64);
      v = b.input_array(name, axes, Type::real);
    } else {
      v = b.input_array(name, axes, t);
    }
    lowering.data[name] = a;
    for (std::size_t k = front; k-- > 0;) {  // an axis of length 1 in front is repeated
      const auto longer = longest.find(axes[k].name);
      if (a.shape()[k] == 1 && longer != longest.end() && longer->second > 1) v = b.take(v, static_cast<int>(k), 0);
    }
    return v;
  }
  const ast::Hierarchy* hierarchy = nullptr;
  std::map<std::string, std::pair<std::int64_t, std::string>> sizes_ = {};  ///< axis -> size, who said it

  /// A number for a whole array, where the other inputs tell its size: then it is that array, so that both give the same bits.
  std::optional<Array> spread(const ast::Declared& d, const Array& number) const {
    std::vector<std::int64_t> shape;
    for (const auto& e : d.type.shape) {
      const auto known_size = e->kind == ast::ExprKind::name ? sizes_.find(e->name.text) : sizes_.end();
      if (known_size == sizes_.end()) return {};
      shape.push_back(known_size->second.first);
    }
    if (shape.empty()) return {};
    Array whole(number.dtype(), shape);
    const std::size_t width = size_of(number.dtype());
    for (std::int64_t k = 0; k < whole.count(); ++k) std::copy_n(static_cast<const char*>(number.data()), width, static_cast<char*>(whole.data()) + static_cast<std::size_t>(k) * width);
    return whole;
  }
  bool is_setting(const std::string& name) const {
    return std::any_of(hierarchy->settings.begin(), hierarchy->settings.end(), [&](const auto& d) { return d.name.text == name; });
  }

  /// Made-up inputs of a dry run: only their sizes matter.
  Value dry(const ast::Declared& d, Scope& scope) {
    std::vector<Axis> axes;
    for (const auto& e : d.type.shape) {
      std::set<std::string> atoms;
      collect(*e, atoms);
      for (const auto& atom : atoms)
        if (!scope.axes.count(atom) && !scope.names.count(atom)) {
          const auto given = request.sizes.find(atom);
          if (given == request.sizes.end()) fail(Code::E450, e->span, "the size of axis '" + atom + "' is not given", "add `--size " + atom + "=1000`");
          scope.axes[atom] = {given->second, false, "--size"};
        }
      axes.push_back({d.name.text + "." + std::to_string(axes.size()), lowering.size(*e, scope), none});
    }
    const std::string& kind = d.type.base.text;
    return lowering.build.input_array(d.name.text, axes, kind == "int" ? Type::integer : kind == "bool" ? Type::boolean : Type::real);
  }

  std::optional<Lowered> run(const Declaration& d) {
    hierarchy = d.hierarchy.get();
    if (!check_door(*hierarchy)) return {};
    std::map<std::string, std::int64_t> longest;
    const auto declared_axes = [&](const ast::Declared& x, const Array& a) { return x.type.present ? std::min(x.type.shape.size(), a.shape().size()) : a.shape().size(); };
    for (const auto* list : {&hierarchy->inputs, &hierarchy->settings})
      for (const auto& x : *list)
        for (const auto* given : {&request.inputs, &request.settings})
          if (const auto found = given->find(x.name.text); found != given->end()) {
            const Array& a = found->second;
            const std::size_t front = a.shape().size() - declared_axes(x, a);
            for (std::size_t k = 0; k < front; ++k) {
              auto& n = longest["^" + std::to_string(front - k) + " in front"];
              n = std::max(n, a.shape()[k]);
            }
          }
    try {
      std::map<std::string, Value> inputs;
      Settings settings;
      Scope sized;
      lowering.build.span = d.span;
      for (const auto& x : hierarchy->settings) {
        for (const auto* given : {&request.inputs, &request.settings})
          if (const auto found = given->find(x.name.text); found != given->end()) {
            Setting setting;
            // A map of widths given as one number; a width per coordinate stays the number that it is.
            const auto whole = found->second.shape().empty() && x.type.shape.size() > 1 ? spread(x, found->second) : std::nullopt;
            setting.value = Any::of(at_the_door(x.name.text, x, whole ? *whole : found->second, longest));
            const double value = found->second.shape().empty() ? found->second.number(0) : 0.5;
            if (value == std::round(value) && found->second.dtype() != Dtype::boolean && std::abs(value) < 9e15) setting.axis = lowering.sizes.number(static_cast<std::int64_t>(value));
            sized.names[x.name.text] = setting.value;
            settings[x.name.text] = std::move(setting);
          }
        if (!settings.count(x.name.text) && x.value && !request.sizes.empty()) sized.names[x.name.text] = lowering.eval(*x.value, sized);
      }
      for (const auto& x : hierarchy->inputs) {
        const Array* given = nullptr;
        for (const auto* list : {&request.inputs, &request.settings})
          if (const auto found = list->find(x.name.text); found != list->end()) given = &found->second;
        std::optional<Array> whole;
        if (given && given->shape().empty()) whole = spread(x, *given);
        inputs[x.name.text] = given ? at_the_door(x.name.text, x, whole ? *whole : *given, longest) : dry(x, sized);
      }
      const Any result = lowering.run_hierarchy(d, inputs, settings, "", d.span, true);
      if (lowering.failed()) return {};
      return finish(result);
    } catch (const Fault& f) {
      lowering.report(f);
    } catch (const Poisoned&) {
      if (!diagnostics.failed()) error(Code::E690, d.span, "lowering '" + d.name + "' stopped without a reason", "please report the spec");
    } catch (const std::logic_error& e) {
      error(Code::E690, lowering.build.span, std::string("internal: ") + e.what(), "please report the spec");
    }
    return {};
  }

  std::optional<Lowered> finish(const Any& result) {
    Build& b = lowering.build;
    std::vector<std::pair<std::string, Value>> fields;
    if (result.kind == Any::Kind::record) fields = result.fields;
    else fields.emplace_back("result", result.value);
    Lowered made;
    bool followed = false;
    const auto follow = [&](TensorId t) {
      for (auto& node : b.graph.nodes)
        if (auto* loop = std::get_if<graph::Iterate>(&node.kind))
          for (auto& p : loop->paths)
            if (p.out == t) return p.since = 0, true;
      return false;
    };
    std::set<TensorId> taken;
    for (const auto& node : b.graph.nodes)
      if (const auto* input = std::get_if<graph::Input>(&node.kind)) taken.insert(input->out);
      else if (const auto* loop = std::get_if<graph::Iterate>(&node.kind))
        for (const auto& c : loop->carries) taken.insert(c.state);
    for (const auto& [name, value] : fields) {
      b.name = name;
      b.span = hierarchy->result->span;
      TensorId t = b.materialise(value);
      if (!taken.insert(t).second) {  // an input, a loop's state or another result: a copy of its own
        const TensorId copy = b.tensor(value.axes, b.type(value));
        graph::Map m;
        m.out = copy;
        for (const Axis& a : value.axes) m.space.push_back(a.coord);
        m.value = b.read(t, value.axes).expr;
        b.emit({{}, "", std::move(m)});
        t = copy;
        taken.insert(t);
      }
      b.graph.outputs.push_back({name, t});
      if (request.follow && !followed) followed = follow(t);
      ResultInfo info{name, name, {}, "real"};
      for (const Axis& a : value.axes) info.axes.push_back(hidden(a.name) ? a.name.substr(a.name.find_first_not_of("@|^")) : a.name);
      const auto declared = std::find_if(hierarchy->results.begin(), hierarchy->results.end(), [&wanted = name](const auto& r) { return r.name.text == wanted; });
      const ast::Type& type = hierarchy->named_results && declared != hierarchy->results.end() ? declared->type : hierarchy->output;
      if (!type.base.text.empty()) info.kind = type.base.text;
      made.results.push_back(std::move(info));
    }
    if (request.follow && !followed)
      error(Code::E811, hierarchy->result->span, "no result is a `path` of a loop, so none can be followed", "return `path(name)` of a value that the loop computes in each turn");
    made.graph = std::move(b.graph);
    made.inputs = std::move(lowering.data);
    made.status = std::move(lowering.status);
    made.notes = std::move(lowering.notes);
    made.watches = std::move(lowering.watches);
    made.why = std::move(lowering.whys);
    return made;
  }
};

Value Lowering::made_up(const ast::Declared& d, Scope& scope) {
  const std::string& kind = d.type.base.text;
  const Type t = kind == "int" ? Type::integer : kind == "bool" ? Type::boolean : Type::real;
  std::vector<Axis> axes;
  for (std::size_t k = 0; k < d.type.shape.size(); ++k) {
    std::int64_t known_size = unknown;
    const ast::Expr& e = *d.type.shape[k];
    if (e.kind == ast::ExprKind::number && e.whole) known_size = e.integer;
    axes.push_back({d.name.text + "." + std::to_string(k), known_size, none});
  }
  (void)scope;
  return build.opaque(axes, t);
}

void Lowering::check_kernel(const Declaration& d) {
  if (!d.kernel) return;
  // A kernel's body is checked where it is called, since its points may be of any kind; alone, with numbers for points of one part.
  Scope s;
  for (const ast::Point* p : {&d.kernel->query, &d.kernel->sample})
    for (const auto& n : p->names) s.names[n.text] = Any::of(build.opaque({{"d", unknown, none}}, Type::real));
  for (const auto& setting : d.kernel->settings)
    s.names[setting.name.text] = setting.value ? eval(*setting.value, s) : Any::of(build.opaque({}, Type::exact));
}

void Lowering::check_local(const Declaration& d) {
  Scope s;
  ast::Expr call;
  call.span = d.span;
  const ast::Local& local = *d.local;
  std::vector<Axis> rows{{"^query", unknown, none}};
  for (std::size_t k = 0; k < local.inputs.size(); ++k) {
    Value v = made_up(local.inputs[k], s);
    v = build.opaque([&] {
      std::vector<Axis> axes{{"sample", unknown, none}};
      for (const auto& e : local.inputs[k].type.shape) axes.push_back({"in " + print(*e), unknown, none});
      return axes;
    }(), build.type(v));
    s.names["input " + std::to_string(k)] = Any::of(v);
    auto name = std::make_shared<ast::Expr>();
    name->kind = ast::ExprKind::name;
    name->span = local.inputs[k].name.span;
    name->name = {"input " + std::to_string(k), local.inputs[k].name.span};
    call.points.push_back({{}, name});
  }
  for (const auto& setting : local.settings)
    if (!setting.value) {
      s.names["setting " + setting.name.text] = Any::of(build.opaque({}, Type::exact));
      auto name = std::make_shared<ast::Expr>();
      name->kind = ast::ExprKind::name;
      name->name = {"setting " + setting.name.text, setting.name.span};
      call.settings.push_back({setting.name, name});
    }
  if (local.has_query) return;  // its query's axes are those of a sentence: checked there
  local_fit(d, call, s, {}, nullptr, nullptr);
}

}  // namespace sema

bool check(const Spec& spec, Diagnostics& diagnostics) {
  const Model& model = spec.model();
  const std::size_t before = diagnostics.errors();
  Request request;
  for (const std::string& name : model.own) {
    const Declaration* d = model.find(name);
    if (!d) continue;
    Diagnostics found;
    Lowering lowering(model, found, true);
    lowering.request = &request;
    try {
      lowering.build.span = d->span;
      if (d->hierarchy) {
        const ast::Hierarchy& h = *d->hierarchy;
        std::map<std::string, Value> inputs;
        Settings settings;
        Scope scope;
        for (const auto& x : h.inputs) inputs[x.name.text] = lowering.made_up(x, scope);
        for (const auto& x : h.settings)
          if (!x.value) {
            Setting s;
            const std::string& kind = x.type.base.text;
            s.value = Any::of(x.type.present ? lowering.made_up(x, scope) : lowering.build.opaque({}, Type::exact));
            if (x.type.present && x.type.shape.empty()) s.value = Any::of(lowering.build.opaque({}, kind == "int" ? Type::integer : kind == "bool" ? Type::boolean : Type::exact));
            settings[x.name.text] = s;
          }
        lowering.run_hierarchy(*d, inputs, settings, "", d->span, true);
      } else if (d->local) {
        lowering.check_local(*d);
      } else {
        lowering.check_kernel(*d);
      }
    } catch (const Fault& f) {
      lowering.report(f);
    } catch (const Poisoned&) {
      // said already
    } catch (const std::logic_error&) {
      // sizes are open: an expression that cannot be built without them is judged when data are there
    }
    // One message for one place, however often the place is reached.
    for (const auto& m : found.all()) {
      const bool said = std::any_of(diagnostics.all().begin(), diagnostics.all().end(), [&](const Diagnostic& o) { return o.code == m.code && o.span == m.span; });
      if (!said) diagnostics.add(m);
    }
  }
  return diagnostics.errors() == before;
}

std::optional<Lowered> lower(const Spec& spec, const Request& request, const Force& force, Diagnostics& diagnostics) {
  const Model& model = spec.model();
  std::string name = request.hierarchy;
  std::vector<std::string> hierarchies;
  for (const auto& n : model.own)
    if (const auto* d = model.find(n); d && d->hierarchy) hierarchies.push_back(n);
  std::string all;
  for (const auto& n : hierarchies) all += (all.empty() ? "" : ", ") + n;
  if (name.empty()) {
    if (hierarchies.size() != 1) {
      diagnostics.add({Code::E455, {}, hierarchies.empty() ? "the file declares no hierarchy, so there is nothing to run" : "the file declares several hierarchies: " + all, "", {},
                       hierarchies.empty() ? "declare one: `hierarchy name(x: [n]) -> [n] { return x }`" : "name one behind the file: `" + hierarchies.front() + "`", ""});
      return {};
    }
    name = hierarchies.front();
  }
  const Declaration* d = model.find(name);
  if (!d || !d->hierarchy) {
    const std::string near = nearest_name(name, hierarchies);
    diagnostics.add({Code::E455, {}, "there is no hierarchy '" + name + "': the file declares " + (all.empty() ? "none" : all), "", {}, near.empty() ? "" : "did you mean `" + near + "`?", ""});
    return {};
  }
  Lowering lowering(model, diagnostics, false);
  lowering.request = &request;
  lowering.force = &force;
  Entry entry{model, request, diagnostics, lowering, nullptr, {}};
  return entry.run(*d);
}

}  // namespace locus
