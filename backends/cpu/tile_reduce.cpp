// Reduces compiled for tiles; see tile_reduce.hpp.
#include "backends/cpu/tile_reduce.hpp"
#include <algorithm>

namespace locus::cpu {
namespace {

/// The weight's exponent without its constant factor: score = scale * root.
void peel(const Program& p, Id& root, double& scale) {
  for (;;) {
    const locus_expr& e = p.exprs[root];
    const auto constant = [&](std::uint32_t k) -> std::optional<double> {
      const locus_expr& c = p.exprs[e.args[k]];
      if (c.op != LOCUS_CONSTANT || !std::isfinite(c.value) || c.value == 0) return {};
      return c.value;
    };
    if (e.op == LOCUS_neg) scale = -scale, root = e.args[0];
    else if (e.op == LOCUS_div && constant(1)) scale /= *constant(1), root = e.args[0];
    else if (e.op == LOCUS_mul && constant(1)) scale *= *constant(1), root = e.args[0];
    else if (e.op == LOCUS_mul && constant(0)) scale *= *constant(0), root = e.args[1];
    else return;
  }
}

}  // namespace

template <class T>
bool TileReduce<T>::compile() {
  const auto rows = program.list(reduce.rows);
  query = query_of(reduce);
  for (std::uint32_t c : rows.first(rows.empty() ? 0 : rows.size() - 1)) batch.push_back(c);
  if (sizeof(T) == 4)
    for (Id c : {query, reduce.sample})
      if (c != LOCUS_NONE && program.extent(c) >= 16777216) return false;
  if (reduce.score != LOCUS_NONE) {
    Id root = reduce.score;
    peel(program, root, scale);
    if (program.exprs[root].op == LOCUS_CONSTANT) root = reduce.score, scale = 1;
    const auto r = code.add(root);
    if (!r) return false;
    score = *r;
  }
  if (reduce.factor != LOCUS_NONE) {
    const auto r = code.add(reduce.factor);
    if (!r) return false;
    factor = *r;
  }
  weight_end = code.steps.size();
  if (reduce.where != LOCUS_NONE) {
    const auto r = code.add(reduce.where);
    if (!r) return false;
    where = *r;
  }
  for (const locus_estimate& e : program.estimates_of(reduce)) {
    Output out{&e, 0, 0};
    switch (e.estimator) {
      case LOCUS_MEAN:
      case LOCUS_WEIGHTED_SUM: {
        if (query != LOCUS_NONE && program.depends(e.value, query)) {
          if (!add_pair_value(e)) return false;
          out.pair = static_cast<int>(pairs.size()) - 1;
          break;
        }
        const auto features = program.list(e.features);
        out.first = width, out.width = 1;
        for (std::uint32_t c : features) out.width *= program.extent(c);
        width += out.width;
        break;
      }
      case LOCUS_EFFECTIVE: square = true; break;
      case LOCUS_COUNT: count = true; break;
      case LOCUS_MASS:
      case LOCUS_LOGMASS: break;
      default: return false;
    }
    outputs.push_back(out);
  }
  if (program.extent(reduce.sample) < 16 || code.tiles > 24) return false;
  std::int64_t d = 0;
  for (const ContractionCode& c : code.contractions) d = std::max(d, program.extent(c.coordinate));
  height = d >= 32 || width > few_values ? 96 : 16;
  span = d >= 32 || width > few_values ? 128 : 256;
  if (sizeof(T) == 8) height /= 2;
  if (!pairs.empty()) height = 32, span = 128;
  compile_strips();
  for (double c : code.constants) constants.push_back(static_cast<T>(c));
  // A tile that is both the weight and a part of the mask must not be overwritten before the mask is made.
  shared = where.kind != Ref::none || (score.kind == Ref::tile && factor.kind == Ref::tile);
  return true;
}

template <class T>
bool TileReduce<T>::add_pair_value(const locus_estimate& e) {
  PairValue v{&e, std::make_unique<TileCode>(program, query, reduce.sample, sizeof(T) == 4), {}, pair_width, 1, {}, {}, {}};
  const auto r = v.code->add(e.value);
  if (!r || !v.code->contractions.empty() || !v.code->matrices.empty() || std::any_of(v.code->steps.begin(), v.code->steps.end(), [](const TileStep& s) { return s.kind != TileStep::element; })) return false;
  v.value = *r;
  for (std::uint32_t c : program.list(e.features)) v.width *= program.extent(c);
  const Id along_samples[] = {reduce.sample}, along_queries[] = {query};
  for (Id part : v.code->rows) v.row_strips.emplace_back(program, std::vector<Id>{part}, along_queries, false);
  for (Id part : v.code->columns) v.column_strips.emplace_back(program, std::vector<Id>{part}, along_samples, false);
  for (double c : v.code->constants) v.constants.push_back(static_cast<T>(c));
  pair_width += v.width;
  pair_tiles = std::max(pair_tiles, v.code->tiles);
  pairs.push_back(std::move(v));
  return true;
}

template <class T>
void TileReduce<T>::compile_strips() {
  const Id along_samples[] = {reduce.sample}, along_queries[] = {query};
  const std::span<const Id> of_queries(along_queries, query == LOCUS_NONE ? 0 : 1);
  for (Id e : code.rows) row_strips.emplace_back(program, std::vector<Id>{e}, of_queries, false);
  for (Id e : code.columns) column_strips.emplace_back(program, std::vector<Id>{e}, along_samples, false);
  for (const ContractionCode& c : code.contractions) {
    query_strips.emplace_back(program, std::vector<Id>{c.query}, of_queries, false);
    sample_strips.emplace_back(program, std::vector<Id>{c.sample}, along_samples, false);
  }
  for (const Output& o : outputs)
    if (o.width > 0) value_strips.emplace_back(program, std::vector<Id>{o.estimate->value}, along_samples, false);
}

template struct TileReduce<float>;
template struct TileReduce<double>;

}  // namespace locus::cpu
