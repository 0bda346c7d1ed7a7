// Lowering of local models: what a call binds, and what leaves; the search itself is in fit.cpp. See lower.hpp.
#include <algorithm>
#include "dsl/sema/fit.hpp"
#include "dsl/sema/repair.hpp"
#include "dsl/syntax/parse.hpp"

namespace locus::sema {

using graph::none;

Any Lowering::local_fit(const Declaration& d, const ast::Expr& call, Scope& s, Neighbourhood at, const std::vector<Value>* given, Pair* pair) {
  const ast::Local& local = *d.local;
  const Settings settings = given_settings(d.name, local.settings, call.settings, s);
  if (call.points.size() != local.inputs.size())
    fail(Code::E218, call.span, "'" + d.name + "' takes " + std::to_string(local.inputs.size()) + " inputs, not " + std::to_string(call.points.size()));
  Scope inner;
  inner.path = s.path;
  inner.inlined = true;
  std::map<std::string, std::string> outer;
  for (std::size_t k = 0; k < local.inputs.size(); ++k) {
    Value v = given ? (*given)[k] : number(*call.points[k].value, s);
    const auto& kind = local.inputs[k].type;
    build.span = call.span;
    if (!pair) {  // a global fit: the axis in front of the declared ones is the samples'
      const auto axes = visible(v);
      if (axes.empty()) {
        std::string along = "1";  // as long as another input, if one is an array
        for (const auto& other : call.points)
          if (const Value array = number(*other.value, s); !visible(array).empty()) along = array.axes[static_cast<std::size_t>(visible(array).front())].name;
        fail(Code::E211, call.points[k].value->span, "input '" + local.inputs[k].name.text + "' of '" + d.name + "' needs a sample axis", "repeat it: `" + repeated_text(call.points[k].value, along) + "`");
      }
      const std::size_t keep = std::min(kind.shape.size(), axes.size() - 1);
      const int samples = axes[axes.size() - keep - 1];
      v = build.renamed(v, [&](int p, const std::string& a) { return p == samples ? "@j" : a; });
      for (const Axis& a : v.axes)
        if (a.name == "@j") at.sample = at.sample.size == unknown ? a : at.sample;
        else if (hidden(a.name) && std::none_of(at.rows.begin(), at.rows.end(), [&](const Axis& m) { return m.name == a.name; })) at.rows.push_back(a);
    }
    std::vector<ast::ExprPtr> declared = kind.shape;
    auto shown_at = visible(v);
    for (std::size_t p = shown_at.size(); p < declared.size(); ++p) {
      const ast::Expr& e = *declared[p];
      if (e.kind != ast::ExprKind::name || (inner.axes.count(e.name.text) && !inner.axes[e.name.text].absent))
        fail(Code::E211, call.points[k].value->span, "input '" + local.inputs[k].name.text + "' of '" + d.name + "' has " + shown(v) + " for each sample where " + std::to_string(declared.size()) + " axes are declared",
             "declare it `" + local.inputs[k].name.text + ": " + first_axes(kind, shown_at.size()) + "` in '" + d.name + "', or give an array with more axes");
      inner.axes[e.name.text] = {1, true, ""};
    }
    std::erase_if(declared, [&](const ast::ExprPtr& e) { return e->kind == ast::ExprKind::name && inner.axes.count(e->name.text) && inner.axes[e->name.text].absent; });
    if (shown_at.size() != declared.size())
      fail(Code::E211, call.points[k].value->span, "input '" + local.inputs[k].name.text + "' of '" + d.name + "' has " + shown(v) + " for each sample where " + std::to_string(declared.size()) + " axes are declared",
           "choose one of them: `" + last_entries(call.points[k].value, shown_at.size() - declared.size()) + "`");
    std::map<int, std::string> names;
    for (std::size_t p = 0; p < declared.size(); ++p) {
      const Axis& a = v.axes[static_cast<std::size_t>(shown_at[p])];
      const ast::Expr& e = *declared[p];
      if (e.kind == ast::ExprKind::name && !inner.axes.count(e.name.text)) {
        inner.axes[e.name.text] = {a.size, false, ""};
        outer[e.name.text] = a.name;
      }
      const std::int64_t want = size(e, inner);
      if (want != a.size && want != unknown && a.size != unknown)
        fail(Code::E201, call.points[k].value->span, "two sizes for axis '" + print(e) + "' of '" + d.name + "': " + std::to_string(want) + " and " + std::to_string(a.size));
      names[shown_at[p]] = axis_name(e, inner).value_or("1");
    }
    inner.names[local.inputs[k].name.text] = Any::of(build.renamed(v, [&](int p, const std::string& a) { return names.count(p) ? names[p] : a; }));
  }
  for (const auto& setting : local.settings) {
    const auto found = settings.find(setting.name.text);
    if (found != settings.end()) inner.names[setting.name.text] = found->second.value;
    else if (setting.value) inner.names[setting.name.text] = eval(*setting.value, inner);
    else fail(Code::E214, call.span, "setting '" + setting.name.text + "' of '" + d.name + "' is not given");
  }
  if (local.has_query && pair) {
    const auto points = pair->point('i');
    if (points.size() != local.query.names.size()) fail(Code::E213, call.span, "'" + d.name + "' takes queries of " + std::to_string(local.query.names.size()) + " parts, not " + std::to_string(points.size()));
    for (std::size_t k = 0; k < points.size(); ++k)
      inner.names[local.query.names[k].text] = Any::of(build.renamed(points[k], [&](int, const std::string& a) {
        for (const auto& [in, out] : outer)
          if (out == a) return in;
        return a;
      }));
  }
  const std::string let_name = build.name;
  Fit(*this, d, call.span, inner, at, pair).solve();
  build.name = let_name;
  inner.inlined = false;
  run(local.after, inner);
  Any result = eval(*local.result, inner);
  build.span = call.span;
  const auto left = [&](const Value& v) {
    if (has_axis(v, "@j")) fail(Code::E222, local.result->span, "the result of '" + d.name + "' depends on a sample");
    Value back = build.renamed(v, [&](int, const std::string& a) {
      return hidden(a) ? a : sizes.substitute(a, [&](const std::string& atom) { return outer.count(atom) ? outer[atom] : atom; });
    });
    std::vector<Axis> axes = at.rows;  // one result for each row, also where no unknown went into it
    for (const Axis& a : back.axes)
      if (!hidden(a.name)) axes.push_back(a);
    back = build.materialised(build.canonical(back.expr, axes));
    return pair ? pair->outside(back) : back;
  };
  if (result.kind == Any::Kind::record) {
    for (auto& [name, v] : result.fields) v = left(v);
    return result;
  }
  if (result.kind != Any::Kind::value) throw Poisoned{};
  return Any::of(left(result.value));
}

}  // namespace locus::sema
