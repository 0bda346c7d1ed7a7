// Parameters meet the weights: each by its path, and one message for all that do not fit; see lower.hpp.
#include <algorithm>
#include "dsl/sema/lower.hpp"

namespace locus::sema {
namespace {

std::string kind_of(Dtype d) { return d == Dtype::boolean ? "booleans" : d == Dtype::int64 ? "integers" : "floats"; }

bool fits(Type type, Dtype d) {
  if (type == Type::integer) return d == Dtype::int64;
  if (type == Type::boolean) return d == Dtype::boolean;
  return d == Dtype::float32 || d == Dtype::float64;
}

std::string counted(std::size_t n, const std::string& one, const std::string& many) { return std::to_string(n) + (n == 1 ? one : many); }

}  // namespace

Any Lowering::parameter(const ast::Declared& d, const std::string& path, Scope& s) {
  const std::string& base = d.type.base.text;
  const auto axes = shape(d.type.shape, s);
  std::vector<std::int64_t> want;
  for (const Axis& a : axes) want.push_back(a.size);
  const Type type = base == "int" ? Type::integer : base == "bool" ? Type::boolean : Type::real;
  if (checking_) {
    if (d.value) number(*d.value, s);
    return Any::of(build.opaque(axes, type));
  }
  const bool first = taken_.insert(path).second;  // a parameter that is used again is said once
  const auto found = request->weights.by_path.find(path);
  if (found == request->weights.by_path.end() && d.value) {
    const Value v = build.real(number(*d.value, s));
    return Any::of(v.axes.empty() ? build.canonical(v.expr, axes) : v);
  }
  const std::string label = "param " + path + "#" + std::to_string(++fresh_);
  const Value value = build.input_array(label, axes, type);
  if (found == request->weights.by_path.end()) {
    const bool made_up = !request->sizes.empty() && request->weights.names.empty();  // a dry run
    if (first && !made_up) missing_.push_back({path, "parameter '" + path + "' " + shape_text(want) + " is not among the weights", d.name.span});
    return Any::of(value);
  }
  const Parameter& parameter = found->second;
  const std::string source = parameter.source.empty() ? "the weights hold " : "'" + parameter.source + "' is ";
  auto have = parameter.shape;
  while (have.size() > want.size() && have.front() == 1) have.erase(have.begin());
  if (have != want) {
    if (first) misshapen_.push_back({path, "parameter '" + path + "' is declared " + shape_text(want) + " and " + source + shape_text(parameter.shape), d.name.span});
  } else if (!fits(type, parameter.dtype)) {
    const std::string kind = type == Type::real ? "real" : base;
    if (first) misshapen_.push_back({path, "parameter '" + path + "' is declared " + kind + " and " + source + kind_of(parameter.dtype), d.name.span});
  }
  unread[label] = [read = parameter.read, want](Diagnostics& diagnostics) -> std::optional<Array> {
    const std::optional<Array> array = read(diagnostics);
    if (!array) return std::nullopt;
    return array->reshaped(want);
  };
  return Any::of(value);
}

namespace {

/// Does a parameter of this hierarchy, or of one that is a parameter of it, have the path?
bool declares(const Model& model, const ast::Hierarchy& h, const std::string& path) {
  const auto dot = path.find('.');
  for (const ast::Step& step : h.steps)
    for (const ast::Declared& d : step.declared) {
      if (step.kind != ast::StepKind::param || d.name.text != path.substr(0, dot)) continue;
      const Declaration* own = d.type.base.text.empty() ? nullptr : model.find(d.type.base.text);
      if (!own || !own->hierarchy) return dot == std::string::npos;
      if (dot == std::string::npos) return false;
      std::string rest = path.substr(dot + 1);
      if (!d.type.shape.empty()) {  // the number of the copy
        const auto next = rest.find('.');
        if (next == std::string::npos) return false;
        rest = rest.substr(next + 1);
      }
      return declares(model, *own->hierarchy, rest);
    }
  return false;
}

/// One file of weights serves all hierarchies that a spec declares.
bool declared_elsewhere(const Model& model, const std::string& hierarchy, const std::string& path) {
  return std::any_of(model.own.begin(), model.own.end(), [&](const std::string& name) {
    const Declaration* d = model.find(name);
    return name != hierarchy && d && d->hierarchy && declares(model, *d->hierarchy, path);
  });
}

}  // namespace

bool Lowering::check_parameters(const std::string& hierarchy, bool end) {
  const Parameters& weights = request->weights;
  // What belongs to a hierarchy that this run declares and does not call has no shape to be held against.
  const auto uncalled = [&](const std::string& path) {
    return std::any_of(instances_.begin(), instances_.end(), [&](const auto& i) {
      if (path.compare(0, i.first.size() + 1, i.first + ".") != 0) return false;
      if (i.second == -1) return !called_.count(i.first);
      const std::string copy = path.substr(0, path.find('.', i.first.size() + 1));
      for (std::int64_t k = 0; k < i.second; ++k)
        if (copy == i.first + "." + std::to_string(k)) return !called_.count(copy);
      return false;
    });
  };
  std::vector<const Parameter*> lines;
  std::vector<std::string> extra;
  if (end)
    for (const auto& [path, parameter] : weights.by_path)
      if (!taken_.count(path) && !uncalled(path) && !declared_elsewhere(model_, hierarchy, path)) extra.push_back(path), lines.push_back(&parameter);
  const bool mapped = static_cast<bool>(weights.wanted);
  const std::size_t unused = end ? weights.unused.size() : 0;
  const std::size_t all = missing_.size() + misshapen_.size() + extra.size() + unused;
  if (all == 0) return true;

  std::vector<std::string> candidates;  // what no parameter took is what was meant
  for (std::size_t k = 0; k < extra.size(); ++k)
    if (lines[k]->source.empty()) candidates.push_back(extra[k]);
  if (candidates.empty()) candidates = weights.names;
  std::vector<std::string> declared(taken_.begin(), taken_.end());
  std::string repair;  // a line of a map for each fault that one can mend
  std::set<std::string> mended;  // an array that a line gives is not ignored by the next
  const auto mend = [&](const std::string& name, const std::string& line) {
    if (mended.insert(name).second) repair += (repair.empty() ? "" : "`, `") + line;
  };
  std::vector<Note> faults;
  for (const Misfit& m : missing_) {
    const std::string near = nearest_name(m.path, candidates), wanted = mapped ? weights.wanted(m.path) : "";
    std::string text = m.text;
    if (!wanted.empty()) text += ": the map takes it from '" + wanted + "'";
    else if (mapped) text += ": no line of the map gives it";
    else if (weights.names.empty()) text += ", and none were given";
    if (wanted.empty() && !near.empty()) text += "; the nearest name there is '" + near + "'", mend(near, m.path + " = " + near);
    faults.push_back({{}, text});
  }
  for (const Misfit& m : misshapen_) faults.push_back({{}, m.text});
  for (std::size_t k = 0; k < extra.size(); ++k) {
    const std::string near = nearest_name(extra[k], declared);
    const bool own = lines[k]->source.empty();
    faults.push_back({lines[k]->span, (own ? "the weights hold '" : "the map gives '") + extra[k] + "' " + shape_text(lines[k]->shape) + ", which " + hierarchy + " does not declare" +
                                          (near.empty() ? "" : "; the nearest parameter is '" + near + "'")});
    if (own) mend(extra[k], near.empty() || weights.by_path.count(near) ? "ignore " + extra[k] : near + " = " + extra[k]);
  }
  for (std::size_t k = 0; k < unused; ++k) {
    faults.push_back({{}, "the weights hold '" + weights.unused[k] + "', and the map gives another array this name"});
    mend(weights.unused[k], "ignore " + weights.unused[k]);
  }
  const Misfit* first = !missing_.empty() ? &missing_.front() : !misshapen_.empty() ? &misshapen_.front() : nullptr;
  Diagnostic d{Code::E454, first ? first->span : declaration(hierarchy)->span, "", "", {}, "", ""};
  if (all == 1) {
    d.message = faults.front().text;
    if (faults.front().span.set()) d.span = faults.front().span;
  } else {
    std::string counts;
    const auto add = [&](std::size_t n, const std::string& one, const std::string& many) {
      if (n > 0) counts += (counts.empty() ? "" : ", ") + counted(n, one, many);
    };
    add(missing_.size(), " parameter is missing", " parameters are missing");
    add(misshapen_.size(), " parameter has another shape or kind", " parameters have another shape or kind");
    add(extra.size() + unused, " array is not used", " arrays are not used");
    d.message = "the weights do not fit " + hierarchy + ": " + counts;
    d.notes = std::move(faults);
  }
  if (weights.names.empty()) d.help = "give a file: `--weights model.safetensors`";
  else if (!repair.empty()) d.help = std::string(mapped ? "add to the map: `" : "say what is what in a map, `--weights-map FILE`: `") + repair + "`";
  else if (mapped) d.help = "`locus weights FILE --map MAPFILE` lists what the map gives, with shapes";
  else d.help = "`locus weights FILE` lists what the file holds; a map can cut and transpose it: `--weights-map FILE`";
  diagnostics_.add(std::move(d));
  return false;
}

}  // namespace locus::sema
