// What one query of a sentence weighs, for `locus why`; see lower.hpp.
#include "dsl/sema/lower.hpp"

namespace locus::sema {

using graph::none;

void Lowering::explain_query(const Pair& pair, const std::vector<Axis>& rows, const Axis& sample, const graph::Reduce& reduce, const std::optional<Value>& metric) {
  const Axis query = rows.back();
  const std::int64_t row = *request->why;
  if (row < 0 || row >= query.size) {
    diagnostics_.add({Code::E208, pair.span, "there is no query " + std::to_string(row) + " here: axis '" + pair.i_axis + "' has " + std::to_string(query.size), "", {},
                      query.size > 0 ? "queries count from 0: `--query " + std::to_string(query.size - 1) + "` is the last" : "give data with at least one query", ""});
    throw Poisoned{};
  }
  const auto fixed = [&](ExprId e) { return e == none ? none : build.graph.exprs.fix(e, query.coord, row); };
  const std::vector<Axis> left(rows.begin(), rows.end() - 1);
  graph::Reduce one = reduce;
  one.weight = fixed(reduce.weight), one.where = fixed(reduce.where);
  const std::string name = build.name;
  if (reduce.list != none) {  // its row of the list
    std::vector<Axis> all = rows;
    all.push_back({"~near", build.graph.tensors[reduce.list].shape.back(), none});
    const Value list = build.read(reduce.list, all);
    one.list = build.materialise(build.take(list, static_cast<int>(rows.size()) - 1, row));
  }
  Why why{name, pair.span, "why." + std::to_string(whys.size()) + ".weight", "why." + std::to_string(whys.size()) + ".share", ""};
  graph::Estimate weight, share;
  weight.estimator = LOCUS_GRAM, share.estimator = LOCUS_WEIGHTS;
  std::vector<Axis> out = left;
  out.push_back(sample);
  share.out = build.tensor(out, Type::exact);
  one.estimates = {share};
  build.graph.outputs.push_back({why.share, share.out});
  build.graph.outputs.push_back({why.weight, build.reduce(left, sample, one, weight, Type::exact, {sample})});
  std::optional<Value> distance = metric;
  const auto q = pair.point('i'), x = pair.point('j');
  Scope nowhere;
  if (!distance && q.size() == 1 && x.size() == 1 && visible(q[0]).size() == visible(x[0]).size()) distance = pair_function("dist", q[0], x[0], nowhere, pair.span);
  if (distance) {
    why.distance = "why." + std::to_string(whys.size()) + ".distance";
    const Value here = build.canonical(fixed(build.real(*distance).expr), out);
    build.graph.outputs.push_back({why.distance, build.materialise(here)});
  }
  build.name = name;
  whys.push_back(std::move(why));
}

}  // namespace locus::sema
