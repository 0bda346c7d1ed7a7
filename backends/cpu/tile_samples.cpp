// Samples made ready for tiles; see tile_samples.hpp.
#include "backends/cpu/tile_samples.hpp"
#include <cmath>

namespace locus::cpu {
namespace {

constexpr std::int64_t sample_block = 256;  // samples that are made ready at a time

template <class T>
void centred(T* v, std::int64_t count, std::int64_t stride, double centre) {
  if (centre == 0) return;
  const T c = static_cast<T>(centre);
  for (std::int64_t t = 0; t < count; ++t) v[t * stride] -= c;
}

}  // namespace

template <class T>
void TileRun<T>::at_feature(std::span<const Id> features, std::int64_t feature, Place& at) const {
  for (std::size_t k = features.size(); k-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(plan.program.extent(features[k]), 1);
    at.fixed[features[k]] = feature % extent;
    feature /= extent;
  }
}

template <class T>
void TileRun<T>::bad(const Place& at) {
  const std::lock_guard lock(mutex);
  if (status == LOCUS_OK) status = plugin::fault(report, at.fault.kind, plan.node, 0, at.fault.value, 0);
}

template <class T>
bool TileRun<T>::along(const Strip& strip, Place& at, Id coordinate, std::int64_t begin, std::int64_t count, T* out, std::int64_t stride, Registers& registers) {
  std::int64_t lanes[strip_width];
  bool fits = true;
  const std::vector<std::int64_t>* placed = !order || coordinate == LOCUS_NONE ? nullptr : coordinate == plan.query ? &order->queries : &order->samples;
  for (std::int64_t first = 0; first < count; first += strip_width) {
    const std::int64_t k = std::min<std::int64_t>(strip_width, count - first);
    if (coordinate != LOCUS_NONE) {
      for (std::int64_t t = 0; t < k; ++t) lanes[t] = placed ? (*placed)[static_cast<std::size_t>(begin + first + t)] : begin + first + t;
      at.lanes[coordinate] = lanes;
      at.consecutive[coordinate] = placed ? 0 : 1;
    }
    strip.run(at, k, registers.get());
    if (at.fault.kind != LOCUS_FAULT_NONE) bad(at);
    const Lanes v = strip.root(0, registers.get());
    if (v.kind == Kind::whole && sizeof(T) == 4)
      for (std::int64_t t = 0; t < k; ++t) fits &= std::abs(v.real(t)) < 16777216;
    if (v.kind == Kind::real && !v.wide && !v.uniform && sizeof(T) == 4 && stride == 1) std::copy_n(static_cast<const T*>(v.data), k, out + first);
    else
      for (std::int64_t t = 0; t < k; ++t) out[(first + t) * stride] = static_cast<T>(v.real(t));
  }
  if (coordinate != LOCUS_NONE) at.lanes[coordinate] = nullptr;
  return fits;
}

template <class T>
Place TileRun<T>::place(std::int64_t batch) const {
  Place at(plan.program, tensors);
  for (std::size_t k = plan.batch.size(); k-- > 0;) {
    at.fixed[plan.batch[k]] = batch % plan.program.extent(plan.batch[k]);
    batch /= plan.program.extent(plan.batch[k]);
  }
  return at;
}

template <class T>
std::optional<Plain<T>> TileRun<T>::plain(Id expr, const Place& at, Id along, std::span<const Id> features) const {
  const locus_expr& e = plan.program.exprs[expr];
  if (e.op != LOCUS_READ || features.size() > 1 || plan.program.tensors[e.index].dtype != (sizeof(T) == 4 ? LOCUS_FLOAT32 : LOCUS_FLOAT64)) return {};
  Plain<T> part{tensors.template as<T>(e.index) + e.offset, 0, 0};
  for (const locus_stride& s : plan.program.read_strides(e)) {
    if (s.coordinate == along) part.along += s.stride;
    else if (!features.empty() && s.coordinate == features[0]) part.across += s.stride;
    else part.data += s.stride * at.fixed[s.coordinate];
  }
  return part;
}

template <class T>
std::int64_t TileRun<T>::bytes() const {
  std::int64_t entries = static_cast<std::int64_t>(plan.code.columns.size()) + width;
  for (const ContractionCode& c : plan.code.contractions) entries += plan.program.extent(c.coordinate);
  return std::max<std::int64_t>(1, entries * padded * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
std::vector<TileSamples<T>> TileRun<T>::samples(std::int64_t first_batch, std::int64_t count) {
  std::vector<TileSamples<T>> all(static_cast<std::size_t>(count));
  for (std::int64_t b = 0; b < count; ++b) {
    TileSamples<T>& s = all[static_cast<std::size_t>(b)];
    s.batch = first_batch + b;
    for (const ContractionCode& c : plan.code.contractions) s.panels.emplace_back(padded * plan.program.extent(c.coordinate));
    for (std::size_t k = 0; k < plan.code.columns.size(); ++k) s.columns.emplace_back(padded);
    if (width > 0) s.values.emplace(padded * width);
    s.centre = centres(s.batch);
  }
  const std::int64_t blocks_each = padded / sample_block;
  parallel(host, count * blocks_each, static_cast<double>(bytes()) / static_cast<double>(blocks_each), [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> lane(sample_block);
    for (std::int64_t k = begin; k < end; ++k) {
      TileSamples<T>& s = all[static_cast<std::size_t>(k / blocks_each)];
      Place at = place(s.batch);
      fill(s, k % blocks_each, at, lane);
    }
  });
  if (plan.where.kind == Ref::tile)
    for (TileSamples<T>& s : all) ranges(s);
  return all;
}

template <class T>
void TileRun<T>::fill(TileSamples<T>& s, std::int64_t block, Place& at, std::vector<T>& lane) {
  const std::int64_t first = block * sample_block, count = std::min(sample_block, m - first);
  for (std::size_t k = 0; k < plan.code.contractions.size(); ++k) fill_panel(s, k, first, at, lane);
  for (std::size_t k = 0; k < plan.column_strips.size(); ++k) {
    Registers registers(plan.column_strips[k]);
    std::fill_n(s.columns[k].get() + first, sample_block, T(0));
    if (!along(plan.column_strips[k], at, plan.reduce.sample, first, count, s.columns[k].get() + first, 1, registers)) outcome.unfit = true;
  }
  if (width > 0) fill_values(s, first, at);
}

template <class T>
void TileRun<T>::fill_panel(TileSamples<T>& s, std::size_t k, std::int64_t first, Place& at, std::vector<T>& lane) {
  const ContractionCode& code = plan.code.contractions[k];
  const Id j = plan.reduce.sample, c = code.coordinate;
  const std::int64_t d = plan.program.extent(c), count = std::min(sample_block, m - first);
  T* panel = s.panels[k].get() + first * d;
  if (const auto part = plain(code.sample, at, j, std::span(&c, 1))) {
    std::fill_n(panel + count / padding * padding * d, (sample_block - count / padding * padding) * d, T(0));
    for (std::int64_t t = 0; t < count; ++t) {
      const T* from = part->data + stands(j, first + t) * part->along;
      T* to = panel + t / padding * padding * d + t % padding;
      for (std::int64_t x = 0; x < d; ++x) to[x * padding] = from[x * part->across];
    }
    return;
  }
  Registers registers(plan.sample_strips[k]);
  for (std::int64_t x = 0; x < d; ++x) {
    at.fixed[c] = x;
    std::fill(lane.begin(), lane.end(), T(0));
    along(plan.sample_strips[k], at, j, first, count, lane.data(), 1, registers);
    for (std::int64_t g = 0; g < sample_block / padding; ++g) std::copy_n(lane.data() + g * padding, padding, panel + g * padding * d + x * padding);
  }
}

template <class T>
void TileRun<T>::fill_values(TileSamples<T>& s, std::int64_t first, Place& at) {
  const Program& p = plan.program;
  const Id j = plan.reduce.sample;
  const std::int64_t count = std::min(sample_block, m - first);
  const bool few = plan.width <= few_values;
  // Few columns lie each on its own, many side by side.
  const std::int64_t step = few ? 1 : width, column = few ? padded : 1;
  T* values = s.values->get() + first * step;
  if (few)
    for (std::int64_t c = 0; c < width; ++c) std::fill_n(values + c * column, sample_block, T(0));
  else std::fill_n(values, sample_block * width, T(0));
  std::size_t strip = 0;
  for (const auto& o : plan.outputs) {
    if (o.width == 0) continue;
    const Strip& value = plan.value_strips[strip++];
    const auto features = p.list(o.estimate->features);
    T* out = values + o.first * column;
    const double* centre = s.centre.data() + o.first;
    if (const auto part = plain(o.estimate->value, at, j, features)) {
      for (std::int64_t t = 0; t < count; ++t) {
        const T* from = part->data + stands(j, first + t) * part->along;
        for (std::int64_t c = 0; c < o.width; ++c) out[t * step + c * column] = from[c * part->across] - static_cast<T>(centre[c]);
      }
      continue;
    }
    Registers registers(value);
    for (std::int64_t c = 0; c < o.width; ++c) {
      at_feature(features, c, at);
      along(value, at, j, first, count, out + c * column, step, registers);
      centred(out + c * column, count, step, centre[c]);
    }
  }
}

template <class T>
std::vector<double> TileRun<T>::centres(std::int64_t batch) {
  std::vector<double> all;
  std::size_t strip = 0;
  Place at = place(batch);
  for (const auto& o : plan.outputs) {
    if (o.width == 0) continue;
    const Strip& value = plan.value_strips[strip++];
    Registers registers(value);
    const auto features = plan.program.list(o.estimate->features);
    for (std::int64_t c = 0; c < o.width; ++c) {
      at_feature(features, c, at);
      T first = 0;
      along(value, at, plan.reduce.sample, 0, 1, &first, 1, registers);
      all.push_back(std::isfinite(first) ? static_cast<double>(first) : 0.0);
    }
  }
  return all;
}

template <class T>
void TileRun<T>::ranges(TileSamples<T>& s) const {
  for (const Aligned<T>& column : s.columns) {
    std::vector<Interval> all;
    for (std::int64_t first = 0; first < m; first += plan.span) all.push_back(range_of(column.get() + first, std::min(plan.span, m - first)));
    s.column_ranges.push_back(std::move(all));
  }
}

template <class T>
Interval TileRun<T>::range_of(const T* v, std::int64_t count) {
  Interval r{infinity, -infinity};
  for (std::int64_t k = 0; k < count; ++k) {
    if (std::isnan(v[k])) return {-infinity, infinity};
    r.low = std::min<double>(r.low, v[k]), r.high = std::max<double>(r.high, v[k]);
  }
  return r;
}

template struct TileRun<float>;
template struct TileRun<double>;

}  // namespace locus::cpu
