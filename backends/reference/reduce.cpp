// Every estimator from its definition, one row at a time, all pairs of the row in memory.
#include "backends/reference/reduce.hpp"
#include <cmath>
#include <limits>

namespace locus::reference {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Pair {
  std::int64_t sample;
  double factor, score;
  double linear;    // w
  double relative;  // w up to a common positive factor of the row; with infinite weights their sign, else 0
};

struct Row {
  std::vector<std::int64_t> candidates;  // samples whose pair exists
  std::vector<Pair> pairs;               // those of weight other than 0
  double shift = 0, total = 0;           // sum w = exp(shift) total, unless infinite
  bool infinite = false;
};

class Reducer {
 public:
  Reducer(const ReduceTapes& tapes, std::uint32_t node, Machine& machine, locus_report* report)
      : tapes_(tapes), machine_(machine), program_(machine.program), reduce_(program_.reduces[program_.nodes[node].detail]), node_(node), report_(report) {}

  int run(const locus_host* host) {
    std::int64_t before = 0;  // in a loop the turn with the most counts
    if (node_ < report_->node_count) std::swap(before, report_->empty_rows[node_]);
    std::int64_t rows = 1;
    for (std::uint32_t c : program_.list(reduce_.rows)) rows *= program_.extent(c);
    const double samples = static_cast<double>(program_.extent(reduce_.sample));
    each(machine_, program_.list(reduce_.rows), [&](std::int64_t r) {
      row_ = r;
      if (r % 64 == 0 && host->progress && host->progress(host->context, static_cast<double>(r) * samples, static_cast<double>(rows) * samples) != 0) {
        plugin::say(report_, "stopped on request");
        status_ = LOCUS_FAILED;
      }
      return status_ == LOCUS_OK && gather_pairs() && weigh() && estimate();
    });
    if (node_ < report_->node_count) report_->empty_rows[node_] = std::max(before, report_->empty_rows[node_]);
    return status_;
  }

 private:
  std::int64_t& sample() { return machine_.coordinate[reduce_.sample]; }

  bool fail(std::uint32_t kind, std::int64_t value, std::int64_t limit) {
    status_ = plugin::fault(report_, kind, node_, row_, value, limit);
    return false;
  }
  bool sound() {  // did an evaluation fail?
    if (machine_.fault.kind == LOCUS_FAULT_NONE) return true;
    return fail(machine_.fault.kind, machine_.fault.kind == LOCUS_FAULT_PLUGIN_NAN ? sample() : machine_.fault.value, 0);
  }

  bool gather_pairs() {
    now_.candidates.clear();
    const std::int64_t samples = program_.extent(reduce_.sample);
    const std::int64_t width = reduce_.list == LOCUS_NONE ? samples : program_.dims(reduce_.list).back();
    for (std::int64_t t = 0; t < width; ++t) {
      std::int64_t j = t;
      if (reduce_.list != LOCUS_NONE) {
        j = machine_.tensors.as<std::int64_t>(reduce_.list)[row_ * width + t];
        if (j == -1) continue;
        if (j < 0 || j >= samples) return fail(LOCUS_FAULT_INDEX, j, samples);
      }
      sample() = j;
      if (tapes_.where && tapes_.where.evaluate(machine_).whole == 0) continue;
      if (!sound()) return false;
      now_.candidates.push_back(j);
    }
    return sound();
  }

  bool weigh() {
    now_.pairs.clear();
    now_.infinite = false, now_.shift = 0, now_.total = 0;
    double top = -infinity;
    for (std::int64_t j : now_.candidates) {
      sample() = j;
      Pair p{j, tapes_.factor ? tapes_.factor.evaluate(machine_).real : 1, tapes_.score ? tapes_.score.evaluate(machine_).real : 0, 0, 0};
      if (!sound()) return false;
      if (p.factor == 0 || p.score == -infinity) continue;
      now_.infinite = now_.infinite || std::isinf(p.factor) || p.score == infinity;
      if (p.score > top) top = p.score;
      now_.pairs.push_back(p);
    }
    if (std::isfinite(top)) now_.shift = top;
    for (Pair& p : now_.pairs) {
      p.linear = tapes_.score ? p.factor * std::exp(p.score) : p.factor;
      const double sign = (p.factor > 0) - (p.factor < 0);
      if (now_.infinite)
        p.relative = std::isinf(p.factor) || p.score == infinity ? sign : 0;
      else
        p.relative = p.factor * std::exp(p.score - now_.shift);
      now_.total += p.relative;
    }
    if (now_.pairs.empty() && (reduce_.flags & LOCUS_COUNT_EMPTY) != 0 && node_ < report_->node_count) ++report_->empty_rows[node_];
    return true;
  }

  bool estimate() {
    const auto estimates = program_.estimates_of(reduce_);
    for (std::size_t k = 0; k < estimates.size(); ++k) {
      const locus_estimate& e = estimates[k];
      const ReduceTapes::Estimate& tapes = tapes_.estimates[k];
      bool good = true;
      if (e.estimator == LOCUS_NEAREST)
        good = nearest(e, tapes);
      else if (e.estimator == LOCUS_COV && e.features.count > 0)
        covariance(e, tapes);
      else if (e.estimator == LOCUS_GRAM || e.estimator == LOCUS_WEIGHTS)
        matrix(e);
      else
        features(e, tapes);
      if (!good || !sound()) return false;
    }
    return true;
  }

  void features(const locus_estimate& e, const ReduceTapes::Estimate& tapes) {
    const auto coordinates = program_.list(e.features);
    std::int64_t width = 1;
    for (std::uint32_t c : coordinates) width *= program_.extent(c);
    each(machine_, coordinates, [&](std::int64_t f) {
      const std::int64_t at = row_ * width + f;
      if (e.estimator == LOCUS_COUNT)
        machine_.store_whole(e.out, at, static_cast<std::int64_t>(now_.pairs.size()));
      else
        machine_.store(e.out, at, e.value == LOCUS_NONE || e.estimator >= LOCUS_MASS ? of_weights(e.estimator) : of_values(e.estimator, tapes));
      return machine_.fault.kind == LOCUS_FAULT_NONE;
    });
  }

  double of_weights(std::uint32_t estimator) const {
    const bool empty = now_.pairs.empty();
    double linear = 0, square = 0, entropy = 0;
    for (const Pair& p : now_.pairs) {
      linear += p.linear, square += p.relative * p.relative;
      const double share = p.relative / now_.total;
      entropy -= share > 0 ? share * std::log(share) : 0 * share;
    }
    switch (estimator) {
      case LOCUS_MASS: return linear;
      case LOCUS_LOGMASS: return empty ? -infinity : now_.infinite ? std::log(linear) : now_.shift + std::log(now_.total);
      case LOCUS_ENTROPY: return empty ? nan : entropy;
      default: return empty ? 0 : now_.total * now_.total / square;
    }
  }

  std::vector<double> values(const Tape& value) {
    std::vector<double> all;
    for (const Pair& p : now_.pairs) {
      sample() = p.sample;
      all.push_back(value.evaluate(machine_).real);
    }
    return all;
  }

  double of_values(std::uint32_t estimator, const ReduceTapes::Estimate& tapes) {
    if (now_.pairs.empty()) return estimator == LOCUS_WEIGHTED_SUM ? 0 : nan;
    const std::vector<double> v = values(tapes.value);
    if (estimator == LOCUS_QUANTILE) return quantile(v, tapes.parameter.evaluate(machine_).real);
    if (estimator == LOCUS_COV) return product_moment(v, v);
    if (estimator == LOCUS_MEAN) return mean(v);
    double sum = 0, extreme = v[0];
    for (std::size_t k = 0; k < v.size(); ++k) {
      sum += now_.pairs[k].linear * v[k];
      if (std::isnan(v[k]) || (estimator == LOCUS_MAXIMUM ? v[k] > extreme : v[k] < extreme)) extreme = v[k];
    }
    return estimator == LOCUS_WEIGHTED_SUM ? sum : extreme;
  }

  // A pair of relative weight 0 beside infinite ones counts nothing, whatever its value.
  double mean(const std::vector<double>& v) const {
    double sum = 0;
    for (std::size_t k = 0; k < v.size(); ++k)
      if (now_.pairs[k].relative != 0) sum += now_.pairs[k].relative * v[k];
    return sum / now_.total;
  }

  double product_moment(const std::vector<double>& a, const std::vector<double>& b) const {
    const double mean_a = mean(a), mean_b = mean(b);
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
      if (now_.pairs[k].relative != 0) sum += now_.pairs[k].relative / now_.total * (a[k] - mean_a) * (b[k] - mean_b);
    return sum;
  }

  // The smallest value whose cumulated weight reaches t of the total; where it is exactly t, the mean of it and the next.
  double quantile(const std::vector<double>& v, double t) const {
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < v.size(); ++k)
      if (now_.pairs[k].relative != 0) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return std::isnan(v[b]) ? !std::isnan(v[a]) : v[a] < v[b]; });
    std::vector<double> cumulated;
    double sum = 0;
    for (std::size_t k : order) cumulated.push_back(sum += now_.pairs[k].relative);
    if (order.empty() || std::isnan(t) || std::isnan(sum)) return nan;
    const double target = t * sum;
    std::size_t below = 0, reached = 0;
    for (double c : cumulated) below += c < target, reached += c <= target;
    const std::size_t last = order.size() - 1, at = std::min(below, last), following = std::min(reached, last);
    const double value = v[order[at]], next = v[order[following]];
    return cumulated[at] == target && std::isfinite(next) ? (value + next) / 2 : value;
  }

  void covariance(const locus_estimate& e, const ReduceTapes::Estimate& tapes) {
    const auto all = program_.list(e.features);
    const std::uint32_t last = all.back(), twin = program_.twin[static_cast<std::size_t>(&e - program_.estimates.data())];
    const std::int64_t width = program_.extent(last);
    std::int64_t blocks = 1;
    for (std::uint32_t c : all.first(all.size() - 1)) blocks *= program_.extent(c);
    each(machine_, all.first(all.size() - 1), [&](std::int64_t block) {
      std::vector<std::vector<double>> first, second;
      for (std::int64_t f = 0; f < width; ++f) {
        machine_.coordinate[last] = f;
        first.push_back(values(tapes.value));
        if (twin != LOCUS_NONE) machine_.coordinate[twin] = f;
        second.push_back(values(tapes.second));
      }
      for (std::int64_t a = 0; a < width; ++a)
        for (std::int64_t b = 0; b < width; ++b)
          machine_.store(e.out, ((row_ * blocks + block) * width + a) * width + b, now_.pairs.empty() ? nan : product_moment(first[a], second[b]));
      return true;
    });
  }

  void matrix(const locus_estimate& e) {
    const std::int64_t samples = program_.extent(reduce_.sample);
    for (std::int64_t j = 0; j < samples; ++j) machine_.store(e.out, row_ * samples + j, 0);
    for (const Pair& p : now_.pairs) machine_.store(e.out, row_ * samples + p.sample, e.estimator == LOCUS_GRAM ? p.linear : p.relative / now_.total);
  }

  bool nearest(const locus_estimate& e, const ReduceTapes::Estimate& tapes) {
    const std::int64_t width = program_.dims(e.out).back();
    const std::int64_t asked = std::clamp<std::int64_t>(tapes.parameter.evaluate(machine_).whole, 0, width);
    std::vector<std::pair<double, std::int64_t>> found;
    for (std::int64_t j : now_.candidates) {
      sample() = j;
      const double distance = tapes.value.evaluate(machine_).real;
      if (!sound()) return false;
      if (std::isnan(distance)) return fail(LOCUS_FAULT_DISTANCE_NAN, j, 0);
      found.emplace_back(distance, j);
    }
    std::sort(found.begin(), found.end());
    const std::int64_t count = std::min<std::int64_t>(asked, static_cast<std::int64_t>(found.size()));
    if (count < asked && (e.flags & LOCUS_NEED_ALL) != 0) return fail(LOCUS_FAULT_NEIGHBOURS, count, asked);
    for (std::int64_t t = 0; t < width; ++t) machine_.store_whole(e.out, row_ * width + t, t < count ? found[t].second : -1);
    return true;
  }

  const ReduceTapes& tapes_;
  Machine& machine_;
  const plugin::Program& program_;
  const locus_reduce& reduce_;
  const std::uint32_t node_;
  locus_report* report_;
  Row now_;
  std::int64_t row_ = 0;
  int status_ = LOCUS_OK;
};

}  // namespace

ReduceTapes::ReduceTapes(const plugin::Program& program, const locus_reduce& reduce)
    : factor(program, reduce.factor), score(program, reduce.score), where(program, reduce.where) {
  for (const locus_estimate& e : program.estimates_of(reduce))
    estimates.push_back({Tape(program, e.value), Tape(program, e.second), Tape(program, e.parameter)});
}

int reduce(const ReduceTapes& tapes, std::uint32_t node, Machine& machine, const locus_host* host, locus_report* report) {
  return Reducer(tapes, node, machine, report).run(host);
}

}  // namespace locus::reference
