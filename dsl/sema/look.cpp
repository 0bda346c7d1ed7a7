// The shares of one sentence as a block of a matrix, for `locus look`; see lower.hpp.
#include <algorithm>
#include <cmath>
#include "dsl/sema/lower.hpp"

namespace locus::sema {

using graph::none;

void Lowering::look_at(const Pair& pair, const std::vector<Axis>& rows, const Axis& sample, const graph::Reduce& reduce, const std::string& path) {
  if (build.in_loop()) return;  // its reduce are other ones in every turn
  LookedAt at;
  const std::string own = (path.empty() ? "" : path + ".") + (build.name.empty() ? "result" : build.name);
  const auto same = std::count_if(looked.begin(), looked.end(), [&](const LookedAt& l) { return l.sentence == own || l.sentence.rfind(own + "#", 0) == 0; });
  at.sentence = own + (same ? "#" + std::to_string(same + 1) : "");
  at.span = pair.span, at.queries = pair.n, at.samples = pair.m;
  for (const Axis& a : rows)
    if (a.name != "@i") at.mapped.emplace_back(hidden(a.name) ? a.name.substr(a.name.find_first_not_of("@|^")) : a.name, a.size);
  looked.push_back(at);
  const Look& look = *request->look;
  if (look.sentence != at.sentence) return;

  const Axis query = rows.back();
  const Axis q{"@look.i", look.queries.second - look.queries.first, build.coordinate("@look.i", 0, look.queries.second - look.queries.first)};
  const Axis x{"@look.j", look.samples.second - look.samples.first, build.coordinate("@look.j", 0, look.samples.second - look.samples.first)};
  const auto moved = [&](ExprId e, const Axis& from, std::int64_t low, const Axis& to) {
    if (low > 0) e = build.graph.exprs.shift(e, from.coord, low);
    return build.graph.exprs.rename(e, [&](CoordId c) { return c == from.coord ? to.coord : c; });
  };
  const auto chosen = [&](ExprId e) {  // one head, the asked queries
    if (e == none) return e;
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) e = build.graph.exprs.fix(e, rows[k].coord, look.mapped[k]);
    return moved(e, query, look.queries.first, q);
  };
  graph::Reduce all = reduce;
  all.weight = chosen(reduce.weight), all.where = chosen(reduce.where);
  const std::string name = build.name;
  graph::Estimate shares, total;
  shares.estimator = LOCUS_WEIGHTS, total.estimator = LOCUS_LOGMASS;
  const bool whole = x.size == sample.size;
  if (reduce.list != none) {
    std::vector<Axis> near = rows;
    near.push_back({"~near", build.graph.tensors[reduce.list].shape.back(), none});
    Value list = build.read(reduce.list, near);
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) list = build.take(list, 0, look.mapped[k]);
    all.list = build.materialise(build.cut(list, 0, look.queries.first, q.name, q.size));
  }
  if (whole || reduce.list != none) {
    const Value w = build.read(build.reduce({q}, sample, all, shares, Type::exact, {sample}), {q, sample});
    const Value block = whole ? w : build.cut(w, 1, look.samples.first, x.name, x.size);
    build.graph.outputs.push_back({"look", build.materialise(build.canonical(build.graph.exprs.apply(LOCUS_add, block.expr, build.number(0, Type::exact).expr), block.axes))});
  } else {  // a part of the samples: its shares among themselves, times its own share of the whole
    graph::Reduce part = all;
    for (ExprId* e : {&part.weight, &part.where})
      if (*e != none) *e = moved(*e, sample, look.samples.first, x);
    const Value w = build.read(build.reduce({q}, x, part, shares, Type::exact, {x}), {q, x});
    const Value inside = build.read(build.reduce({q}, x, part, total, Type::exact), {q}), outside = build.read(build.reduce({q}, sample, all, total, Type::exact), {q});
    const Value held = build.apply(LOCUS_exp, build.apply(LOCUS_sub, inside, outside));
    const Value empty = build.apply(LOCUS_eq, inside, build.number(-HUGE_VAL, Type::exact));
    build.graph.outputs.push_back({"look", build.materialise(build.apply(LOCUS_mul, w, build.select(empty, build.number(0, Type::exact), held)))});
  }
  build.name = name;
}

}  // namespace locus::sema
