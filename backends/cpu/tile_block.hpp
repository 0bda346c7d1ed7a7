// One thread's work on blocks of queries: a tile of weights at a time, folded into sums of each query. Knows nothing of threads and of how samples came.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include "backends/cpu/tile_samples.hpp"

namespace locus::cpu {

constexpr std::int64_t flush_after = 4096;  // samples whose sums may stand in the tile's type

/// exp in the base of the tile's type; see table.hpp for why float32 counts in powers of two.
inline double base_power(double x, bool two) { return two ? std::exp2(x) : std::exp(x); }

/// One thread's workspace for blocks of queries.
template <class T>
class TileBlock {
 public:
  TileRun<T>& run_;
  const TileReduce<T>& plan;
  const Program& program;
  const TileSamples<T>& s;
  const std::int64_t height, span, width;
  Place at;
  std::vector<Aligned<T>> tiles, queries, rows;
  Aligned<T> extreme, shift, rescale, partial, weights_only;
  std::vector<double> sum, square, count, cumulative, wide;
  std::vector<std::vector<double>> moments, pair_moments;
  std::vector<Aligned<T>> pair_tiles;
  std::vector<std::vector<Aligned<T>>> pair_rows, pair_columns;  ///< by value and part; rows for each feature
  std::vector<std::vector<Registers>> row_registers, column_registers;
  std::vector<std::uint8_t> broken;
  std::vector<std::int64_t> redo;
  std::int64_t empty = 0, blocks = 0, skipped = 0;
  const T fill;

  TileBlock(TileRun<T>& r, const TileSamples<T>& samples)
      : run_(r), plan(r.plan), program(r.plan.program), s(samples), height(plan.height), span(plan.span), width(r.width), at(r.place(samples.batch)), extreme(height), shift(height), rescale(height),
        partial(height * std::max<std::int64_t>(width, 1)), weights_only(height * span), sum(static_cast<std::size_t>(height)), square(sum.size()), count(sum.size()), cumulative(sum.size()),
        wide(static_cast<std::size_t>(height * std::max<std::int64_t>(plan.width, 1))), broken(sum.size()), fill(static_cast<T>(plan.scale > 0 ? -infinity : infinity)) {
    for (int k = 0; k < plan.code.tiles + 2; ++k) tiles.emplace_back(height * span);
    for (const ContractionCode& c : plan.code.contractions) queries.emplace_back(height * program.extent(c.coordinate));
    for (std::size_t k = 0; k < plan.code.rows.size(); ++k) rows.emplace_back(height);
    pair_moments.assign(static_cast<std::size_t>(plan.pair_width), std::vector<double>(sum.size()));
    for (int k = 0; k < plan.pair_tiles + 1 && !plan.pairs.empty(); ++k) pair_tiles.emplace_back(height * span);
    for (const typename TileReduce<T>::PairValue& v : plan.pairs) {
      auto &in_rows = pair_rows.emplace_back(), &in_columns = pair_columns.emplace_back();
      auto &of_rows = row_registers.emplace_back(), &of_columns = column_registers.emplace_back();
      for (const Strip& strip : v.row_strips) in_rows.emplace_back(height * v.width), of_rows.emplace_back(strip);
      for (const Strip& strip : v.column_strips) in_columns.emplace_back(span), of_columns.emplace_back(strip);
    }
    moments.assign(few() ? static_cast<std::size_t>(plan.width) : 0, std::vector<double>(sum.size()));
  }

  bool few() const { return plan.width <= few_values; }
  bool scored() const { return plan.score.kind != Ref::none; }
  const Functions<T>& f = functions<T>();

  bool prepare(std::int64_t first, std::int64_t r) {
    bool fits = true;
    for (std::size_t k = 0; k < plan.code.contractions.size(); ++k) {
      const Id c = plan.code.contractions[k].coordinate;
      if (const auto part = run_.plain(plan.code.contractions[k].query, at, plan.query, std::span(&c, 1))) {
        for (std::int64_t i = 0; i < r; ++i) {
          const T* from = part->data + query(first + i) * part->along;
          for (std::int64_t x = 0; x < program.extent(c); ++x) queries[k].get()[x * height + i] = from[x * part->across];
        }
        continue;
      }
      Registers registers(plan.query_strips[k]);
      for (std::int64_t x = 0; x < program.extent(c); ++x) {
        at.fixed[c] = x;
        run_.along(plan.query_strips[k], at, plan.query, first, r, queries[k].get() + x * height, 1, registers);
      }
    }
    for (std::size_t k = 0; k < plan.row_strips.size(); ++k) {
      Registers registers(plan.row_strips[k]);
      fits &= run_.along(plan.row_strips[k], at, plan.query, first, r, rows[k].get(), 1, registers);
    }
    for (std::size_t p = 0; p < plan.pairs.size(); ++p)
      for (std::int64_t c = 0; c < plan.pairs[p].width; ++c) {
        run_.at_feature(program.list(plan.pairs[p].estimate->features), c, at);
        for (std::size_t k = 0; k < plan.pairs[p].row_strips.size(); ++k)
          fits &= run_.along(plan.pairs[p].row_strips[k], at, plan.query, first, r, pair_rows[p][k].get() + c * height, 1, row_registers[p][k]);
      }
    for (auto& v : pair_moments) std::fill(v.begin(), v.end(), 0.0);
    std::fill_n(extreme.get(), height, fill);
    std::fill_n(shift.get(), height, T(0));
    std::fill_n(partial.get(), height * std::max<std::int64_t>(width, 1), T(0));
    for (auto* v : {&sum, &square, &count, &wide}) std::fill(v->begin(), v->end(), 0.0);
    std::fill(cumulative.begin(), cumulative.end(), 1.0);
    std::fill(broken.begin(), broken.end(), std::uint8_t{0});
    for (auto& v : moments) std::fill(v.begin(), v.end(), 0.0);
    return fits;
  }

  /// Sums of weight times the values that depend on both sides, over one tile.
  void pair_sums(const T* weights, std::int64_t r, std::int64_t j0, std::int64_t c, std::int64_t columns) {
    for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
      const typename TileReduce<T>::PairValue& v = plan.pairs[p];
      for (std::int64_t feature = 0; feature < v.width; ++feature) {
        run_.at_feature(program.list(v.estimate->features), feature, at);
        for (std::size_t k = 0; k < v.column_strips.size(); ++k) {
          T* part = pair_columns[p][k].get();
          std::fill(part + c, part + columns, T(0));
          run_.along(v.column_strips[k], at, plan.reduce.sample, j0, c, part, 1, column_registers[p][k]);
        }
        const auto part_of = [&](Ref ref) -> Operand<T> {
          const auto k = static_cast<std::size_t>(ref.index);
          switch (ref.kind) {
            case Ref::tile: return {pair_tiles[k].get(), span, 1};
            case Ref::row: return {pair_rows[p][k].get() + feature * height, 1, 0};
            case Ref::column: return {pair_columns[p][k].get(), 0, 1};
            default: return {v.constants.data() + ref.index, 0, 0};
          }
        };
        for (const TileStep& step : v.code->steps) {
          T* out = pair_tiles[static_cast<std::size_t>(step.out)].get();
          Operand<T> args[3];
          for (int a = 0; a < 3; ++a) args[a] = step.args[a].kind == Ref::none ? Operand<T>{out, 0, 0} : part_of(step.args[a]);
          f.elementwise[step.op](args, out, span, r, columns);
        }
        T* product = pair_tiles.back().get();
        const Operand<T> both[2] = {{weights, span, 1}, part_of(v.value)};
        f.elementwise[LOCUS_mul](both, product, span, r, columns);
        f.weigh({product, span, r, columns, T(1), nullptr, nullptr, 0, false, pair_moments[static_cast<std::size_t>(v.first + feature)].data(), nullptr, nullptr, nullptr, nullptr});
      }
    }
  }

  Operand<T> operand(Ref r, std::int64_t first_sample) {
    switch (r.kind) {
      case Ref::tile: return {tiles[static_cast<std::size_t>(r.index)].get(), span, 1};
      case Ref::row: return {rows[static_cast<std::size_t>(r.index)].get(), 1, 0};
      case Ref::column: return {s.columns[static_cast<std::size_t>(r.index)].get() + first_sample, 0, 1};
      default: return {plan.constants.data() + r.index, 0, 0};
    }
  }

  void steps(std::size_t begin, std::size_t end, std::int64_t first, std::int64_t r, std::int64_t j0, std::int64_t columns, std::int64_t c) {
    for (std::size_t k = begin; k < end; ++k) {
      const TileStep& step = plan.code.steps[k];
      T* out = tiles[static_cast<std::size_t>(step.out)].get();
      switch (step.kind) {
        case TileStep::element: {
          Operand<T> args[3];
          for (int a = 0; a < 3; ++a) args[a] = step.args[a].kind == Ref::none ? Operand<T>{out, 0, 0} : operand(step.args[a], j0);
          f.elementwise[step.op](args, out, span, r, columns);
          break;
        }
        case TileStep::contraction: {
          const std::int64_t d = program.extent(plan.code.contractions[static_cast<std::size_t>(step.index)].coordinate);
          Contraction<T> p{queries[static_cast<std::size_t>(step.index)].get(), height, s.panels[static_cast<std::size_t>(step.index)].get() + j0 * d, d, r, columns, out, span, nullptr, nullptr, Extreme::none, nullptr};
          f.contract[step.op - LOCUS_DOT](p);
          break;
        }
        case TileStep::matrix: matrix(plan.code.matrices[static_cast<std::size_t>(step.index)].read, out, first, r, j0, c, columns); break;
        case TileStep::call: call(step, out, r, columns); break;
      }
    }
  }

  void matrix(Id read, T* out, std::int64_t first, std::int64_t r, std::int64_t j0, std::int64_t c, std::int64_t columns) {
    const locus_expr& e = program.exprs[read];
    std::int64_t base = e.offset, si = 0, sj = 0;
    for (const locus_stride& x : program.read_strides(e)) {
      if (x.coordinate == plan.query) si = x.stride;
      else if (x.coordinate == plan.reduce.sample) sj = x.stride;
      else base += x.stride * at.fixed[x.coordinate];
    }
    for (std::int64_t i = 0; i < r; ++i) {
      const std::int64_t start = base + query(first + i) * si;
      T* row = out + i * span;
      switch (program.tensors[e.index].dtype) {
        case LOCUS_BOOL: copy(run_.tensors.template as<std::uint8_t>(e.index) + start, sj, row, j0, c); break;
        case LOCUS_FLOAT32: copy(run_.tensors.template as<float>(e.index) + start, sj, row, j0, c); break;
        default: copy(run_.tensors.template as<double>(e.index) + start, sj, row, j0, c);
      }
      std::fill(row + c, row + columns, T(0));
    }
  }
  template <class A>
  void copy(const A* from, std::int64_t stride, T* to, std::int64_t j0, std::int64_t c) const {
    if (const TileOrder* order = run_.order)
      for (std::int64_t k = 0; k < c; ++k) to[k] = static_cast<T>(from[order->samples[static_cast<std::size_t>(j0 + k)] * stride]);
    else
      for (std::int64_t k = 0; k < c; ++k) to[k] = static_cast<T>(from[(j0 + k) * stride]);
  }
  std::int64_t query(std::int64_t position) const { return run_.stands(plan.query, position); }

  void call(const TileStep& step, T* out, std::int64_t r, std::int64_t columns) {
    const locus_program_kernel& use = program.kernels[static_cast<std::size_t>(step.index)];
    const T* x = operand(step.args[0], 0).data;
    for (std::int64_t i = 0; i < r; ++i) {
      const T* row = x + i * span;
      T* to = out + i * span;
      if constexpr (sizeof(T) == 4) {
        if (use.kernel->scalar_f32) use.kernel->scalar_f32(use.settings, columns, row, to);
        else broken[static_cast<std::size_t>(i)] = 1;
      } else {
        if (use.kernel->scalar_f64) use.kernel->scalar_f64(use.settings, columns, row, to);
        else broken[static_cast<std::size_t>(i)] = 1;
      }
    }
  }

  /// A part as a tile of its own that may be overwritten.
  T* as_tile(Ref r, int spare, std::int64_t rows_here, std::int64_t columns, std::int64_t j0) {
    T* out = tiles[static_cast<std::size_t>(plan.code.tiles + spare)].get();
    const Operand<T> a = operand(r, j0);
    if (r.kind == Ref::tile && !plan.shared) return const_cast<T*>(a.data);
    f.elementwise[LOCUS_real](&a, out, span, rows_here, columns);
    return out;
  }

  void run(std::int64_t first, std::int64_t r) {
    if (!prepare(first, r)) {
      run_.outcome.unfit = true;
      return;
    }
    std::vector<Interval> row_ranges;
    if (plan.where.kind == Ref::tile)
      for (const Aligned<T>& v : rows) row_ranges.push_back(TileRun<T>::range_of(v.get(), r));
    std::int64_t since = 0;
    for (std::int64_t j0 = 0; j0 < run_.m; j0 += span) {
      const std::int64_t c = std::min(span, run_.m - j0), columns = rounded(c, padding);
      ++blocks;
      if (run_.order && run_.order->apart(first / height, j0 / span)) {
        ++skipped;
        continue;
      }
      bool masked = plan.where.kind != Ref::none;
      if (plan.where.kind == Ref::tile) {
        const Interval truth = interval_of(plan.code, 0, plan.code.steps.size(), plan.where, [&](Ref part) {
          return part.kind == Ref::row ? row_ranges[static_cast<std::size_t>(part.index)] : s.column_ranges[static_cast<std::size_t>(part.index)][static_cast<std::size_t>(j0 / span)];
        });
        if (truth.high == 0) {
          ++skipped;
          continue;
        }
        masked = truth.low <= 0;
      }
      tile(first, r, j0, c, columns, masked);
      since += c;
      if (!few() && since >= flush_after) flush(r), since = 0;
    }
    if (!few()) flush(r);
    finish(first, r);
  }

  void tile(std::int64_t first, std::int64_t r, std::int64_t j0, std::int64_t c, std::int64_t columns, bool masked) {
    steps(0, plan.weight_end, first, r, j0, columns, c);
    if (masked) steps(plan.weight_end, plan.code.steps.size(), first, r, j0, columns, c);
    const T zero = 0;
    const T bottom = scored() ? fill : zero;
    T* factor = nullptr;
    if (plan.factor.kind != Ref::none) factor = as_tile(plan.factor, 1, r, columns, j0);
    T* x = scored() ? as_tile(plan.score, 0, r, columns, j0) : factor;
    if (!x) {  // every pair weighs 1
      x = tiles[static_cast<std::size_t>(plan.code.tiles)].get();
      for (std::int64_t i = 0; i < r; ++i) std::fill_n(x + i * span, columns, T(1));
    }
    if (masked) {
      const Operand<T> args[3] = {operand(plan.where, j0), {x, span, 1}, {&bottom, 0, 0}};
      f.elementwise[LOCUS_select](args, x, span, r, columns);
    }
    if (scored() && factor) {
      const Operand<T> test[3] = {{factor, span, 1}, {x, span, 1}, {&bottom, 0, 0}};
      f.elementwise[LOCUS_select](test, x, span, r, columns);  // factor 0: the pair counts nothing
    }
    if (c < columns)
      for (std::int64_t i = 0; i < r; ++i) std::fill(x + i * span + c, x + i * span + columns, bottom);
    if (plan.count)
      for (std::int64_t i = 0; i < r; ++i) {
        std::int64_t there = 0;
        for (std::int64_t k = 0; k < c; ++k) there += x[i * span + k] != bottom;
        count[static_cast<std::size_t>(i)] += static_cast<double>(there);
      }
    if (scored()) raise(x, r, columns);
    weigh(x, factor, r, columns, j0);
    pair_sums(x, r, j0, c, columns);
  }

  /// The running extreme of each row, and what it does to the sums so far.
  void raise(const T* x, std::int64_t r, std::int64_t columns) {
    f.extreme(x, span, r, columns, plan.scale > 0 ? Extreme::maximum : Extreme::minimum, extreme.get());
    constexpr bool two = sizeof(T) == 4;
    const double unit = two ? 1.4426950408889634 : 1.0;
    for (std::int64_t i = 0; i < r; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const T e = extreme.get()[i];
      const T next = std::isinf(e) ? T(0) : e;
      if (std::isnan(e) || (std::isinf(e) && e != fill)) broken[k] = 1;
      const double change = next == shift.get()[i] ? 1.0 : base_power((static_cast<double>(shift.get()[i]) - static_cast<double>(next)) * plan.scale * unit, two);
      shift.get()[i] = next;
      rescale.get()[i] = static_cast<T>(change);
      if (change != 1) {
        sum[k] *= change, square[k] *= change * change, cumulative[k] *= change;
        for (auto* list : {&moments, &pair_moments})
          for (auto& v : *list) v[k] *= change;
        if (!std::isfinite(change)) {  // nothing was summed before this
          sum[k] = square[k] = 0, cumulative[k] = 1, rescale.get()[i] = 0;
          for (auto* list : {&moments, &pair_moments})
            for (auto& v : *list) v[k] = 0;
        }
      }
    }
  }

  void weigh(T* x, const T* factor, std::int64_t r, std::int64_t columns, std::int64_t j0) {
    const T unit = static_cast<T>(plan.scale * (sizeof(T) == 4 ? 1.4426950408889634 : 1.0));
    const T* values[few_values];
    double* sums[few_values];
    for (std::size_t k = 0; k < moments.size(); ++k) values[k] = s.values->get() + static_cast<std::int64_t>(k) * run_.padded + j0, sums[k] = moments[k].data();
    const bool both = scored() && factor;
    Weighing<T> w{x, span, r, columns, unit, scored() ? shift.get() : nullptr, values, static_cast<int>(moments.size()), true, sum.data(), sums, plan.square ? square.data() : nullptr, nullptr, nullptr};
    if (both) {
      std::vector<double> aside(sum.size());
      w.sum = aside.data(), w.value_count = 0, w.square = nullptr;
      f.weigh(w);
      const Operand<T> product[2] = {{x, span, 1}, {factor, span, 1}};
      f.elementwise[LOCUS_mul](product, x, span, r, columns);
      w = {x, span, r, columns, unit, nullptr, values, static_cast<int>(moments.size()), false, sum.data(), sums, plan.square ? square.data() : nullptr, nullptr, nullptr};
    }
    w.write = w.shift != nullptr && (!few() || !plan.pairs.empty());
    f.weigh(w);
    if (few()) return;
    if (!scored()) std::fill_n(rescale.get(), r, T(1));
    f.fold({x, span, s.values->get() + j0 * width, r, columns, width, rescale.get(), partial.get()});
  }

  void flush(std::int64_t r) {
    for (std::int64_t i = 0; i < r; ++i) {
      double* to = wide.data() + i * plan.width;
      T* from = partial.get() + i * width;
      for (std::int64_t c = 0; c < plan.width; ++c) to[c] = to[c] * cumulative[static_cast<std::size_t>(i)] + static_cast<double>(from[c]);
      std::fill_n(from, width, T(0));
      cumulative[static_cast<std::size_t>(i)] = 1;
    }
  }

  void finish(std::int64_t first, std::int64_t r) {
    for (std::int64_t i = 0; i < r; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const std::int64_t row = s.batch * run_.n + query(first + i);
      const bool none = scored() && extreme.get()[i] == fill && !broken[k];
      if (broken[k] || (!none && (!std::isfinite(sum[k]) || sum[k] == 0))) {
        redo.push_back(row);
        continue;
      }
      const double log_factor = scored() ? static_cast<double>(shift.get()[i]) * plan.scale : 0.0, factor = std::exp(log_factor);
      bool fine = true;
      for (const typename TileReduce<T>::Output& o : plan.outputs) fine &= write(o, row, k, none, factor, log_factor);
      if (!fine) redo.push_back(row);
      else empty += none;
    }
  }

  double numerator(std::size_t k, std::int64_t column) const { return few() ? moments[static_cast<std::size_t>(column)][k] : wide[static_cast<std::size_t>(static_cast<std::int64_t>(k) * plan.width + column)]; }

  /// The common case of write(): many means of one row.
  bool write_means(const typename TileReduce<T>::Output& o, std::size_t k, float* out) const {
    const double* top = wide.data() + static_cast<std::int64_t>(k) * plan.width + o.first;
    const double* centre = s.centre.data() + o.first;
    const double share = 1 / sum[k];
    bool fine = std::isfinite(share);
    for (std::int64_t c = 0; c < o.width; ++c) {
      const double v = centre[c] + top[c] * share;
      fine &= std::abs(v) < infinity;
      out[c] = static_cast<float>(v);
    }
    return fine;
  }

  bool write(const typename TileReduce<T>::Output& o, std::int64_t row, std::size_t k, bool none, double factor, double log_factor) {
    const std::uint32_t tensor = o.estimate->out;
    const auto put = [&](std::int64_t place, double v) {
      switch (program.tensors[tensor].dtype) {
        case LOCUS_FLOAT32: run_.tensors.template as<float>(tensor)[place] = static_cast<float>(v); break;
        case LOCUS_FLOAT64: run_.tensors.template as<double>(tensor)[place] = v; break;
        default: run_.tensors.template as<std::int64_t>(tensor)[place] = static_cast<std::int64_t>(v);
      }
    };
    switch (o.estimate->estimator) {
      case LOCUS_MASS: put(row, none ? 0 : sum[k] * factor); return true;
      case LOCUS_LOGMASS:
        put(row, none ? -infinity : std::log(sum[k]) + log_factor);
        return none || sum[k] > 0;
      case LOCUS_COUNT: put(row, count[k]); return true;
      case LOCUS_EFFECTIVE: put(row, none ? 0 : sum[k] * sum[k] / square[k]); return none || square[k] > 0;
      default: break;
    }
    const bool mean = o.estimate->estimator == LOCUS_MEAN;
    if (mean && !none && !few() && o.pair < 0 && program.tensors[tensor].dtype == LOCUS_FLOAT32)
      return write_means(o, k, run_.tensors.template as<float>(tensor) + row * o.width);
    const std::int64_t out_width = o.pair < 0 ? o.width : plan.pairs[static_cast<std::size_t>(o.pair)].width;
    for (std::int64_t c = 0; c < out_width; ++c) {
      const double centre = o.pair < 0 ? s.centre[static_cast<std::size_t>(o.first + c)] : 0;
      const double top = o.pair < 0 ? numerator(k, o.first + c) : pair_moments[static_cast<std::size_t>(plan.pairs[static_cast<std::size_t>(o.pair)].first + c)][k];
      const double v = none ? (mean ? std::numeric_limits<double>::quiet_NaN() : 0) : mean ? centre + top / sum[k] : (top + centre * sum[k]) * factor;
      if (!none && !std::isfinite(v)) return false;
      put(row * out_width + c, v);
    }
    return true;
  }
};

}  // namespace locus::cpu
