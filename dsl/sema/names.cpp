// Which names a piece of syntax mentions; see lower.hpp.
#include "dsl/sema/lower.hpp"

namespace locus::sema {

namespace {
template <class F>
void walk(const ast::Expr& e, const F& f) {
  f(e);
  const auto each = [&](const ast::ExprPtr& p) {
    if (p) walk(*p, f);
  };
  for (const auto& p : e.parts) each(p);
  for (const auto& a : e.points) each(a.value);
  for (const auto& a : e.settings) each(a.value);
  for (const auto& p : e.places) {
    each(p.low);
    each(p.high);
  }
  if (e.sentence)
    for (const auto* p : {&e.sentence->estimate, &e.sentence->queries, &e.sentence->samples, &e.sentence->nearest, &e.sentence->within, &e.sentence->under, &e.sentence->by, &e.sentence->where,
                          &e.sentence->otherwise})
      each(*p);
}

template <class F>
void walk(const ast::Steps& steps, const F& f) {
  for (const ast::Step& s : steps) {
    for (const auto* p : {&s.value, &s.until, &s.until_right, &s.low, &s.high, &s.by, &s.limit})
      if (*p) walk(**p, f);
    for (const auto& d : s.declared)
      if (d.value) walk(*d.value, f);
    walk(s.block, f);
  }
}
}  // namespace

bool mentions(const ast::Expr& e, const std::set<std::string>& names) {
  bool found = false;
  walk(e, [&](const ast::Expr& x) { found |= x.kind == ast::ExprKind::name && names.count(x.name.text) > 0; });
  return found;
}

void collect(const ast::Expr& e, std::set<std::string>& names) {
  walk(e, [&](const ast::Expr& x) {
    if (x.kind == ast::ExprKind::name) names.insert(x.name.text);
  });
}

void collect(const ast::Steps& steps, std::set<std::string>& names) {
  walk(steps, [&](const ast::Expr& x) {
    if (x.kind == ast::ExprKind::name) names.insert(x.name.text);
  });
}

namespace {
void path_of(const ast::Expr& x, std::set<std::string>& names) {
  if (x.kind == ast::ExprKind::call && x.parts[0]->kind == ast::ExprKind::name && x.parts[0]->name.text == "path" && x.points.size() == 1 && x.points[0].value->kind == ast::ExprKind::name)
    names.insert(x.points[0].value->name.text);
}
}  // namespace

void collect_paths(const ast::Steps& steps, std::set<std::string>& names) {
  walk(steps, [&](const ast::Expr& x) { path_of(x, names); });
}
void collect_paths(const ast::Expr& e, std::set<std::string>& names) {
  walk(e, [&](const ast::Expr& x) { path_of(x, names); });
}

void collect_graded(const ast::Hierarchy& h, std::set<std::string>& names) {
  const auto by = [&](const ast::Expr& x) {
    if (x.kind == ast::ExprKind::call && x.parts[0]->kind == ast::ExprKind::name && x.parts[0]->name.text == "grad" && x.points.size() == 2 && x.points[1].value->kind == ast::ExprKind::name)
      names.insert(x.points[1].value->name.text);
  };
  walk(h.steps, by);
  walk(*h.result, by);
}

}  // namespace locus::sema
