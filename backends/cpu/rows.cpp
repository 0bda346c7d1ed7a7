// A reduce row by row; see rows.hpp.
#include "backends/cpu/rows.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace locus::cpu {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Strip strip_of(const Program& program, std::vector<Id> roots, Id sample, bool lanes = true) {
  std::erase(roots, LOCUS_NONE);
  const Id lane[] = {sample};
  return Strip(program, roots, std::span<const Id>(lane, lanes ? 1 : 0), true);
}

/// Does each sample follow the one before it?
bool in_a_row(const std::vector<std::int64_t>& samples) {
  for (std::size_t k = 1; k < samples.size(); ++k)
    if (samples[k] != samples[k - 1] + 1) return false;
  return true;
}

}  // namespace

RowPlan::RowPlan(const Program& p, std::uint32_t n) : program(p), reduce(p.reduces[p.nodes[n].detail]), node(n) {
  if (reduce.where != LOCUS_NONE) where.push_back(strip_of(p, {reduce.where}, reduce.sample));
  weight.push_back(strip_of(p, {reduce.factor, reduce.score}, reduce.sample));
  for (const locus_estimate& e : p.estimates_of(reduce)) {
    values.push_back(strip_of(p, {e.value}, reduce.sample));
    second.push_back(strip_of(p, {e.second}, reduce.sample));
    parameter.push_back(strip_of(p, {e.parameter}, reduce.sample, false));
  }
  for (std::uint32_t c : p.list(reduce.rows)) rows *= p.extent(c);
  plain = reduce.factor == LOCUS_NONE && reduce.score == LOCUS_NONE && reduce.where == LOCUS_NONE && reduce.list == LOCUS_NONE && p.extent(reduce.sample) > 0;
  for (const locus_estimate& e : p.estimates_of(reduce)) plain = plain && e.features.count == 0 && (e.estimator == LOCUS_MEAN || e.estimator <= LOCUS_MINIMUM);
}

RowReducer::RowReducer(const RowPlan& plan, const Driver& tensors, locus_report* report)
    : plan_(plan), program_(plan.program), tensors_(tensors), report_(report), place_(plan.program, tensors) {
  std::size_t bytes = 0;
  for (const auto* list : {&plan.where, &plan.weight, &plan.values, &plan.second, &plan.parameter})
    for (const Strip& s : *list) bytes = std::max(bytes, s.register_bytes());
  memory_.resize(bytes + 64);
  registers_ = memory_.data() + (64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64);
}

int RowReducer::fail(std::uint32_t kind, std::int64_t value, std::int64_t limit) { return plugin::fault(report_, kind, plan_.node, row_, value, limit); }

int RowReducer::sound(const std::int64_t* samples) {
  if (place_.fault.kind == LOCUS_FAULT_NONE) return LOCUS_OK;
  const std::int64_t value = place_.fault.kind == LOCUS_FAULT_PLUGIN_NAN && samples ? samples[place_.fault.row] : place_.fault.value;
  return fail(place_.fault.kind, value, 0);
}

void RowReducer::store(std::uint32_t tensor, std::int64_t at, double value) {
  switch (program_.tensors[tensor].dtype) {
    case LOCUS_FLOAT32: tensors_.as<float>(tensor)[at] = static_cast<float>(value); break;
    case LOCUS_FLOAT64: tensors_.as<double>(tensor)[at] = value; break;
    case LOCUS_INT64: tensors_.as<std::int64_t>(tensor)[at] = static_cast<std::int64_t>(value); break;
    default: tensors_.as<std::uint8_t>(tensor)[at] = value != 0;
  }
}

/// Runs the strip over the samples, 256 at a time; body(first, count) looks at its roots.
template <class Body>
int RowReducer::strips(const Strip& strip, const std::vector<std::int64_t>& samples, bool consecutive, Body&& body) {
  const std::uint32_t c = plan_.reduce.sample;
  place_.consecutive[c] = consecutive;
  for (std::size_t first = 0; first < samples.size(); first += strip_width) {
    const auto count = static_cast<std::int64_t>(std::min<std::size_t>(strip_width, samples.size() - first));
    place_.lanes[c] = samples.data() + first;
    strip.run(place_, count, registers_);
    if (const int status = sound(samples.data() + first); status != LOCUS_OK) {
      place_.lanes[c] = nullptr;
      return status;
    }
    body(first, count);
  }
  place_.lanes[c] = nullptr;
  return LOCUS_OK;
}

double RowReducer::scalar(const Strip& strip) {
  strip.run(place_, 1, registers_);
  return strip.root(0, registers_).real(0);
}

void RowReducer::stand(std::int64_t row) {
  row_ = row;
  const auto coordinates = program_.list(plan_.reduce.rows);
  for (std::size_t k = coordinates.size(); k-- > 0;) {
    const std::int64_t n = program_.extent(coordinates[k]);
    place_.fixed[coordinates[k]] = row % n;
    row /= n;
  }
}

int RowReducer::gather() {
  const std::int64_t samples = program_.extent(plan_.reduce.sample);
  consecutive_ = plan_.reduce.list == LOCUS_NONE;
  if (among_) {
    candidates_ = *among_;
    consecutive_ = in_a_row(candidates_);
  } else if (consecutive_) {
    if (static_cast<std::int64_t>(candidates_.size()) != samples || plan_.where.size()) {
      candidates_.resize(static_cast<std::size_t>(samples));
      std::iota(candidates_.begin(), candidates_.end(), 0);
    }
  } else {
    candidates_.clear();
    const std::int64_t width = program_.dims(plan_.reduce.list).back();
    const std::int64_t* list = tensors_.as<std::int64_t>(plan_.reduce.list) + row_ * width;
    for (std::int64_t t = 0; t < width; ++t) {
      if (list[t] == -1) continue;
      if (list[t] < 0 || list[t] >= samples) return fail(LOCUS_FAULT_INDEX, list[t], samples);
      candidates_.push_back(list[t]);
    }
  }
  if (plan_.where.empty()) return LOCUS_OK;
  std::vector<std::int64_t> kept;
  const int status = strips(plan_.where[0], candidates_, consecutive_, [&](std::size_t first, std::int64_t count) {
    const Lanes holds = plan_.where[0].root(0, registers_);
    for (std::int64_t t = 0; t < count; ++t)
      if (holds.whole(t)) kept.push_back(candidates_[first + static_cast<std::size_t>(t)]);
  });
  candidates_ = std::move(kept);
  consecutive_ = false;
  return status;
}

int RowReducer::weigh() {
  pairs_.clear();
  infinite_ = false, shift_ = 0, total_ = 0;
  double top = -infinity;
  const bool has_factor = plan_.reduce.factor != LOCUS_NONE, has_score = plan_.reduce.score != LOCUS_NONE;
  const auto take = [&](std::int64_t j, double factor, double score) {
    if (factor == 0 || score == -infinity) return;
    infinite_ = infinite_ || std::isinf(factor) || score == infinity;
    if (score > top) top = score;
    pairs_.push_back({j, factor, score, 0, 0});
  };
  if (!has_factor && !has_score) {
    for (std::int64_t j : candidates_) take(j, 1, 0);
  } else {
    const Strip& strip = plan_.weight[0];
    const int status = strips(strip, candidates_, consecutive_, [&](std::size_t first, std::int64_t count) {
      for (std::int64_t t = 0; t < count; ++t)
        take(candidates_[first + static_cast<std::size_t>(t)], has_factor ? strip.root(0, registers_).real(t) : 1, has_score ? strip.root(has_factor ? 1 : 0, registers_).real(t) : 0);
    });
    if (status != LOCUS_OK) return status;
  }
  if (std::isfinite(top)) shift_ = top;
  for (Pair& p : pairs_) {
    p.linear = has_score ? p.factor * std::exp(p.score) : p.factor;
    const double sign = (p.factor > 0) - (p.factor < 0);
    p.relative = infinite_ ? (std::isinf(p.factor) || p.score == infinity ? sign : 0) : has_score ? p.factor * std::exp(p.score - shift_) : p.factor;
    total_ += p.relative;
  }
  if (pairs_.empty()) ++empty_rows;
  chosen_.clear();
  for (const Pair& p : pairs_) chosen_.push_back(p.sample);
  return LOCUS_OK;
}

namespace {

/// Sums and extremes of what comes strip by strip. Eight sums in turn, so that the order of additions is the same wherever a row is computed.
struct Running {
  double centre = 0, least = infinity, most = -infinity;
  double sums[8] = {};
  bool nan_met = false;

  void take(const double* v, std::int64_t count) {
    for (std::int64_t t = 0; t < count; ++t) sums[t % 8] += v[t] - centre;
  }
  void extremes(const double* v, std::int64_t count) {
    for (std::int64_t t = 0; t < count; ++t) {
      nan_met = nan_met || std::isnan(v[t]);
      least = std::min(least, v[t]), most = std::max(most, v[t]);
    }
  }
  double sum() const { return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7])); }
};

}  // namespace

// Means about the first value that is finite: constants come out as they are, and offsets cost no digits.
int RowReducer::plain_row() {
  const std::int64_t samples = program_.extent(plan_.reduce.sample);
  if (static_cast<std::int64_t>(candidates_.size()) != samples) {
    candidates_.resize(static_cast<std::size_t>(samples));
    std::iota(candidates_.begin(), candidates_.end(), 0);
  }
  const auto estimates = program_.estimates_of(plan_.reduce);
  for (std::size_t k = 0; k < estimates.size(); ++k) {
    const std::uint32_t estimator = estimates[k].estimator;
    const bool extreme = estimator == LOCUS_MAXIMUM || estimator == LOCUS_MINIMUM;
    Running running;
    double copy[strip_width];
    const int status = strips(plan_.values[k], candidates_, true, [&](std::size_t first, std::int64_t count) {
      const Lanes lanes = plan_.values[k].root(0, registers_);
      const double* v = static_cast<const double*>(lanes.data);
      if (lanes.uniform || lanes.kind == Kind::whole || !(lanes.kind == Kind::exact || lanes.wide)) {
        for (std::int64_t t = 0; t < count; ++t) copy[t] = lanes.real(t);
        v = copy;
      }
      if (extreme) return running.extremes(v, count);
      if (first == 0 && estimator == LOCUS_MEAN)
        if (const double* finite = std::find_if(v, v + count, [](double x) { return std::isfinite(x); }); finite != v + count) running.centre = *finite;
      running.take(v, count);
    });
    if (status != LOCUS_OK) return status;
    double value = running.sum();
    if (estimator == LOCUS_MEAN) value = running.centre + value / static_cast<double>(samples);
    if (extreme) value = running.nan_met ? nan : estimator == LOCUS_MAXIMUM ? running.most : running.least;
    store(estimates[k].out, row_, value);
  }
  return LOCUS_OK;
}

int RowReducer::row(std::int64_t row, const std::vector<bool>* wanted) {
  stand(row);
  if (plan_.plain && !among_ && !wanted) return plain_row();
  int status = gather();
  if (status == LOCUS_OK) status = weigh();
  const auto estimates = program_.estimates_of(plan_.reduce);
  for (std::size_t k = 0; k < estimates.size() && status == LOCUS_OK; ++k)
    if (!wanted || (*wanted)[k]) status = estimate(k);
  return status;
}

int RowReducer::estimate(std::size_t k) {
  const locus_estimate& e = program_.estimates_of(plan_.reduce)[k];
  if (e.estimator == LOCUS_NEAREST) return nearest(k);
  if (e.estimator == LOCUS_COV && e.features.count > 0) {
    covariance(k);
    return sound(nullptr);
  }
  if (e.estimator == LOCUS_GRAM || e.estimator == LOCUS_WEIGHTS) {
    matrix(k);
    return LOCUS_OK;
  }
  return features(k);
}

template <class Body>
void RowReducer::each_feature(std::span<const std::uint32_t> coordinates, Body&& body) {
  std::int64_t count = 1;
  for (std::uint32_t c : coordinates) count *= program_.extent(c);
  for (std::int64_t f = 0; f < count; ++f) {
    std::int64_t rest = f;
    for (std::size_t k = coordinates.size(); k-- > 0;) {
      place_.fixed[coordinates[k]] = rest % program_.extent(coordinates[k]);
      rest /= program_.extent(coordinates[k]);
    }
    body(f);
  }
}

int RowReducer::features(std::size_t k) {
  const locus_estimate& e = program_.estimates_of(plan_.reduce)[k];
  const auto coordinates = program_.list(e.features);
  std::int64_t width = 1;
  for (std::uint32_t c : coordinates) width *= program_.extent(c);
  each_feature(coordinates, [&](std::int64_t f) {
    const std::int64_t at = row_ * width + f;
    if (e.estimator == LOCUS_COUNT) store(e.out, at, static_cast<double>(pairs_.size()));
    else if (e.value == LOCUS_NONE || e.estimator >= LOCUS_MASS) store(e.out, at, of_weights(e.estimator));
    else if (pairs_.empty()) store(e.out, at, e.estimator == LOCUS_WEIGHTED_SUM ? 0 : nan);
    else store(e.out, at, of_values(e.estimator, values_of(plan_.values[k]), e.estimator == LOCUS_QUANTILE ? scalar(plan_.parameter[k]) : 0));
  });
  return sound(chosen_.data());
}

std::vector<double> RowReducer::values_of(const Strip& strip) {
  std::vector<double> all(chosen_.size());
  const bool whole = in_a_row(chosen_);
  strips(strip, chosen_, whole, [&](std::size_t first, std::int64_t count) {
    const Lanes v = strip.root(0, registers_);
    for (std::int64_t t = 0; t < count; ++t) all[first + static_cast<std::size_t>(t)] = v.real(t);
  });
  return all;
}

double RowReducer::of_weights(std::uint32_t estimator) const {
  const bool empty = pairs_.empty();
  double linear = 0, square = 0, entropy = 0;
  for (const Pair& p : pairs_) {
    linear += p.linear;
    square += p.relative * p.relative;
    const double share = p.relative / total_;
    if (p.relative != 0) entropy -= share > 0 ? share * std::log(share) : 0 * share;
  }
  switch (estimator) {
    case LOCUS_MASS: return linear;
    case LOCUS_LOGMASS: return empty ? -infinity : infinite_ ? infinity : shift_ + std::log(total_);
    case LOCUS_EFFECTIVE: return empty ? 0 : total_ * total_ / square;
    default: return empty ? nan : entropy;
  }
}

double RowReducer::of_values(std::uint32_t estimator, const std::vector<double>& v, double parameter) const {
  if (estimator == LOCUS_QUANTILE) return quantile(v, parameter);
  if (estimator == LOCUS_COV) return product_moment(v, v);
  if (estimator == LOCUS_MEAN) return mean(v);
  double sum = 0, extreme = v[0];
  for (std::size_t k = 0; k < v.size(); ++k) {
    sum += pairs_[k].linear * v[k];
    if (std::isnan(v[k]) || (estimator == LOCUS_MAXIMUM ? v[k] > extreme : v[k] < extreme)) extreme = v[k];
  }
  return estimator == LOCUS_WEIGHTED_SUM ? sum : extreme;
}

// About the value that counts most: constants come out as they are, and offsets cost no digits.
double RowReducer::mean(const std::vector<double>& v) const {
  double sum = 0, centre = 0, most = 0;
  for (std::size_t k = 0; k < v.size(); ++k)
    if (std::abs(pairs_[k].relative) > most && std::isfinite(v[k])) most = std::abs(pairs_[k].relative), centre = v[k];
  for (std::size_t k = 0; k < v.size(); ++k)
    if (pairs_[k].relative != 0) sum += pairs_[k].relative * (v[k] - centre);
  return centre + sum / total_;
}

double RowReducer::product_moment(const std::vector<double>& a, const std::vector<double>& b) const {
  const double mean_a = mean(a), mean_b = mean(b);
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (pairs_[k].relative != 0) sum += pairs_[k].relative / total_ * (a[k] - mean_a) * (b[k] - mean_b);
  return sum;
}

// The smallest value whose cumulated weight reaches t of the total; where it is exactly t, the mean of it and the next.
double RowReducer::quantile(const std::vector<double>& v, double t) const {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < v.size(); ++k)
    if (pairs_[k].relative != 0) order.push_back(k);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return std::isnan(v[b]) ? !std::isnan(v[a]) : v[a] < v[b]; });
  std::vector<double> cumulated;
  double sum = 0;
  for (std::size_t k : order) cumulated.push_back(sum += pairs_[k].relative);
  if (order.empty() || std::isnan(t) || std::isnan(sum)) return nan;
  const double target = t * sum;
  std::size_t below = 0, reached = 0;
  for (double c : cumulated) below += c < target, reached += c <= target;
  const std::size_t last = order.size() - 1, at = std::min(below, last), following = std::min(reached, last);
  const double value = v[order[at]], next = v[order[following]];
  return cumulated[at] == target && std::isfinite(next) ? (value + next) / 2 : value;
}

void RowReducer::covariance(std::size_t k) {
  const locus_estimate& e = program_.estimates_of(plan_.reduce)[k];
  const auto all = program_.list(e.features);
  const std::uint32_t last = all.back(), twin = program_.twin[static_cast<std::size_t>(&e - program_.estimates.data())];
  const std::int64_t width = program_.extent(last);
  std::int64_t blocks = 1;
  for (std::uint32_t c : all.first(all.size() - 1)) blocks *= program_.extent(c);
  each_feature(all.first(all.size() - 1), [&](std::int64_t block) {
    std::vector<std::vector<double>> first, other;
    for (std::int64_t f = 0; f < width; ++f) {
      place_.fixed[last] = f;
      first.push_back(values_of(plan_.values[k]));
      if (twin != LOCUS_NONE) place_.fixed[twin] = f;
      other.push_back(values_of(plan_.second[k]));
    }
    for (std::int64_t a = 0; a < width; ++a)
      for (std::int64_t b = 0; b < width; ++b)
        store(e.out, ((row_ * blocks + block) * width + a) * width + b, pairs_.empty() ? nan : product_moment(first[static_cast<std::size_t>(a)], other[static_cast<std::size_t>(b)]));
  });
}

void RowReducer::matrix(std::size_t k) {
  const locus_estimate& e = program_.estimates_of(plan_.reduce)[k];
  const std::int64_t samples = program_.extent(plan_.reduce.sample);
  for (std::int64_t j = 0; j < samples; ++j) store(e.out, row_ * samples + j, 0);
  for (const Pair& p : pairs_) store(e.out, row_ * samples + p.sample, e.estimator == LOCUS_GRAM ? p.linear : p.relative / total_);
}

int RowReducer::nearest(std::size_t k) {
  const locus_estimate& e = program_.estimates_of(plan_.reduce)[k];
  const std::int64_t width = program_.dims(e.out).back();
  const std::int64_t asked = std::clamp<std::int64_t>(static_cast<std::int64_t>(scalar(plan_.parameter[k])), 0, width);
  std::vector<std::pair<double, std::int64_t>> heap;  // the best so far, the worst of them on top
  int bad = LOCUS_OK;
  const int status = strips(plan_.values[k], candidates_, consecutive_, [&](std::size_t first, std::int64_t count) {
    const Lanes distance = plan_.values[k].root(0, registers_);
    for (std::int64_t t = 0; t < count; ++t) {
      const std::pair<double, std::int64_t> one{distance.real(t), candidates_[first + static_cast<std::size_t>(t)]};
      if (std::isnan(one.first)) {
        if (bad == LOCUS_OK) bad = fail(LOCUS_FAULT_DISTANCE_NAN, one.second, 0);
      } else if (static_cast<std::int64_t>(heap.size()) < asked) {
        heap.push_back(one);
        std::push_heap(heap.begin(), heap.end());
      } else if (asked > 0 && one < heap.front()) {
        std::pop_heap(heap.begin(), heap.end());
        heap.back() = one;
        std::push_heap(heap.begin(), heap.end());
      }
    }
  });
  if (status != LOCUS_OK) return status;
  if (bad != LOCUS_OK) return bad;
  std::sort_heap(heap.begin(), heap.end());
  const auto found = static_cast<std::int64_t>(heap.size());
  if (found < asked && (e.flags & LOCUS_NEED_ALL) != 0) return fail(LOCUS_FAULT_NEIGHBOURS, found, asked);
  for (std::int64_t t = 0; t < width; ++t) tensors_.as<std::int64_t>(e.out)[row_ * width + t] = t < found ? heap[static_cast<std::size_t>(t)].second : -1;
  return LOCUS_OK;
}

}  // namespace locus::cpu
