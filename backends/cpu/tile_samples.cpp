// Samples made ready for tiles; see tile_samples.hpp.
#include "backends/cpu/tile_samples.hpp"
#include <cmath>

namespace locus::cpu {
namespace {

template <class T>
void centred(T* v, std::int64_t count, std::int64_t stride, double centre) {
  if (centre == 0) return;
  const T c = static_cast<T>(centre);
  for (std::int64_t t = 0; t < count; ++t) v[t * stride] -= c;
}

}  // namespace

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
TileSamples<T> TileRun<T>::samples() {
  const Program& p = plan.program;
  const Id j = plan.reduce.sample;
  TileSamples<T> s;
  for (const ContractionCode& c : plan.code.contractions) s.panels.emplace_back(padded * p.extent(c.coordinate));
  for (std::size_t k = 0; k < plan.code.columns.size(); ++k) s.columns.emplace_back(padded);
  if (width > 0) s.values.emplace(padded * width);
  s.centre = centres();
  const bool few = plan.width <= few_values;
  std::atomic<bool> fits{true};
  parallel(host, padded / 256, 256.0 * 64, [&](std::int64_t begin, std::int64_t end) {
    Place at = place();
    std::int64_t largest = 0;
    for (const auto* list : {&plan.sample_strips, &plan.column_strips, &plan.value_strips})
      for (const Strip& strip : *list) largest = std::max<std::int64_t>(largest, static_cast<std::int64_t>(strip.register_bytes()));
    std::vector<T> lane(256);
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * 256, count = std::min<std::int64_t>(256, m - first);
      for (std::size_t k = 0; k < plan.code.contractions.size(); ++k) {
        const Id c = plan.code.contractions[k].coordinate;
        const std::int64_t d = p.extent(c);
        Registers registers(plan.sample_strips[k]);
        for (std::int64_t x = 0; x < d; ++x) {
          at.fixed[c] = x;
          std::fill(lane.begin(), lane.end(), T(0));
          along(plan.sample_strips[k], at, j, first, count, lane.data(), 1, registers);
          for (std::int64_t g = 0; g < 4; ++g) std::copy_n(lane.data() + g * padding, padding, s.panels[k].get() + (first + g * padding) * d + x * padding);
        }
      }
      for (std::size_t k = 0; k < plan.column_strips.size(); ++k) {
        Registers registers(plan.column_strips[k]);
        std::fill_n(s.columns[k].get() + first, 256, T(0));
        if (!along(plan.column_strips[k], at, j, first, count, s.columns[k].get() + first, 1, registers)) fits = false;
      }
      if (width == 0) continue;
      if (!few) std::fill_n(s.values->get() + first * width, 256 * width, T(0));
      std::size_t strip = 0;
      for (const auto& o : plan.outputs) {
        if (o.width == 0) continue;
        const Strip& value = plan.value_strips[strip++];
        Registers registers(value);
        const auto features = p.list(o.estimate->features);
        for (std::int64_t c = 0; c < o.width; ++c) {
          std::int64_t rest = c;
          for (std::size_t k = features.size(); k-- > 0;) {
            at.fixed[features[k]] = rest % p.extent(features[k]);
            rest /= p.extent(features[k]);
          }
          if (few) {
            T* out = s.values->get() + (o.first + c) * padded + first;
            std::fill_n(out, 256, T(0));
            along(value, at, j, first, count, out, 1, registers);
            centred(out, count, 1, s.centre[static_cast<std::size_t>(o.first + c)]);
          } else {
            T* out = s.values->get() + first * width + o.first + c;
            along(value, at, j, first, count, out, width, registers);
            centred(out, count, width, s.centre[static_cast<std::size_t>(o.first + c)]);
          }
        }
      }
    }
  });
  if (!fits) outcome.unfit = true;
  if (plan.where.kind == Ref::tile) ranges(s);
  return s;
}

template <class T>
std::vector<double> TileRun<T>::centres() {
  std::vector<double> all;
  std::size_t strip = 0;
  Place at = place();
  for (const auto& o : plan.outputs) {
    if (o.width == 0) continue;
    const Strip& value = plan.value_strips[strip++];
    Registers registers(value);
    const auto features = plan.program.list(o.estimate->features);
    for (std::int64_t c = 0; c < o.width; ++c) {
      std::int64_t rest = c;
      for (std::size_t k = features.size(); k-- > 0;) {
        at.fixed[features[k]] = rest % plan.program.extent(features[k]);
        rest /= plan.program.extent(features[k]);
      }
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
