// Samples within a radius; see near.hpp.
#include "backends/cpu/near.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <nanoflann.hpp>
#include <numeric>
#include <optional>

namespace locus::cpu {
namespace {

constexpr std::int64_t most_coordinates = 6, least_pairs = 1 << 20;

/// Looks for the radius in a mask and in a kernel.
class Finder {
 public:
  Finder(const Program& program, const locus_reduce& reduce) : p_(program), r_(reduce) {}

  std::optional<Reach> find() {
    Reach reach;
    if (r_.where != LOCUS_NONE && false_beyond(r_.where, reach)) return reach;
    if (r_.factor != LOCUS_NONE && zero_beyond(r_.factor, reach)) return reach;
    return {};
  }

 private:
  const locus_expr& at(Id e) const { return p_.exprs[e]; }
  bool fixed(Id e) const { return !p_.depends(e, r_.sample); }
  bool constant(Id e, double value) const { return at(e).op == LOCUS_CONSTANT && at(e).value == value; }

  bool false_beyond(Id e, Reach& reach) const {
    const locus_expr& x = at(e);
    if (x.op == LOCUS_and) return false_beyond(x.args[0], reach) || false_beyond(x.args[1], reach);
    return (x.op == LOCUS_le || x.op == LOCUS_lt) && fixed(x.args[1]) && from(x.args[1], x.args[0], reach);
  }

  bool zero_beyond(Id e, Reach& reach) const {
    const locus_expr& x = at(e);
    switch (x.op) {
      case LOCUS_mul: return zero_beyond(x.args[0], reach) || zero_beyond(x.args[1], reach);
      case LOCUS_div: case LOCUS_neg: case LOCUS_abs: case LOCUS_sqrt: return zero_beyond(x.args[0], reach);
      case LOCUS_pow: return at(x.args[1]).op == LOCUS_CONSTANT && at(x.args[1]).value > 0 && zero_beyond(x.args[0], reach);
      case LOCUS_real: return at(x.args[0]).type == LOCUS_TYPE_BOOL ? false_beyond(x.args[0], reach) : zero_beyond(x.args[0], reach);
      case LOCUS_select: return constant(x.args[2], 0) && false_beyond(x.args[0], reach);
      case LOCUS_maximum:
        for (int k = 0; k < 2; ++k) {
          const locus_expr& u = at(x.args[k]);
          if (constant(x.args[1 - k], 0) && u.op == LOCUS_sub && fixed(u.args[0]) && from(u.args[0], u.args[1], reach)) return true;
        }
        return false;
      default: return false;
    }
  }

  bool from(Id start, Id rising, Reach& reach) const {
    Reach tried;
    tried.start = start;
    if (!down(rising, tried)) return false;
    reach = tried;
    return true;
  }

  /// Is e a rising function of a distance? The steps that lead from its value to the distance.
  bool down(Id e, Reach& reach) const {
    const locus_expr& x = at(e);
    if (x.op == LOCUS_SQDIST || x.op == LOCUS_L1DIST || x.op == LOCUS_MAXDIST) {
      if (x.op == LOCUS_SQDIST) reach.steps.push_back({Reach::Step::power, LOCUS_NONE, 0.5});
      for (int k = 0; k < 2; ++k) {
        const Id query = x.args[k], sample = x.args[1 - k];
        const auto rows = p_.list(r_.rows);
        if (!fixed(query) || fixed(sample) || std::any_of(rows.begin(), rows.end(), [&](Id c) { return p_.depends(sample, c); })) continue;
        reach.metric = e, reach.query = query, reach.sample = sample;
        return true;
      }
      return false;
    }
    switch (x.op) {
      case LOCUS_sqrt: reach.steps.push_back({Reach::Step::power, LOCUS_NONE, 2}); return down(x.args[0], reach);
      case LOCUS_real: case LOCUS_abs: return down(x.args[0], reach);
      case LOCUS_pow:
        if (at(x.args[1]).op != LOCUS_CONSTANT || !(at(x.args[1]).value > 0)) return false;
        reach.steps.push_back({Reach::Step::power, LOCUS_NONE, 1 / at(x.args[1]).value});
        return down(x.args[0], reach);
      case LOCUS_div:
        if (!fixed(x.args[1])) return false;
        reach.steps.push_back({Reach::Step::times, x.args[1], 0});
        return down(x.args[0], reach);
      case LOCUS_mul: {
        const int k = fixed(x.args[0]) ? 0 : 1;
        if (!fixed(x.args[k])) return false;
        reach.steps.push_back({Reach::Step::over, x.args[k], 0});
        return down(x.args[1 - k], reach);
      }
      default: return false;
    }
  }

  const Program& p_;
  const locus_reduce& r_;
};

struct Points {
  std::vector<double> at;
  std::int64_t count = 0, d = 1;
  std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(count); }
  double kdtree_get_pt(std::size_t k, std::size_t c) const { return at[k * static_cast<std::size_t>(d) + c]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Points>, Points, -1, std::uint32_t>;

struct Within {
  using DistanceType = double;
  double square;
  std::vector<std::int64_t>& found;
  bool addPoint(double, std::uint32_t index) {
    found.push_back(index);
    return true;
  }
  double worstDist() const { return square; }
  bool full() const { return true; }
  std::size_t size() const { return found.size(); }
};

/// One expression of a row or of a sample, in double.
class Told {
 public:
  Told(const Program& program, Id e) : strip_(program, std::vector<Id>{e}, {}, true), memory_(strip_.register_bytes() + 64) {}
  double operator()(Place& place) {
    std::byte* const registers = memory_.data() + (64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64);
    strip_.run(place, 1, registers);
    return strip_.root(0, registers).real(0);
  }

 private:
  Strip strip_;
  std::vector<std::byte> memory_;
};

/// An expression along one coordinate, in double.
std::vector<double> along(const Program& program, Place& place, Id e, Id coordinate) {
  const Id lane[] = {coordinate};
  const Strip strip(program, std::vector<Id>{e}, lane, true);
  std::vector<std::byte> memory(strip.register_bytes() + 64);
  std::byte* const registers = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  std::vector<double> all(static_cast<std::size_t>(program.extent(coordinate)));
  std::vector<std::int64_t> lanes(static_cast<std::size_t>(strip_width));
  for (std::size_t first = 0; first < all.size(); first += lanes.size()) {
    const std::size_t count = std::min(lanes.size(), all.size() - first);
    std::iota(lanes.begin(), lanes.end(), static_cast<std::int64_t>(first));
    place.lanes[coordinate] = lanes.data(), place.consecutive[coordinate] = 1;
    strip.run(place, static_cast<std::int64_t>(count), registers);
    for (std::size_t t = 0; t < count; ++t) all[first + t] = strip.root(0, registers).real(static_cast<std::int64_t>(t));
  }
  place.lanes[coordinate] = nullptr;
  return all;
}

/// Places in blocks: halves of halves along the widest side, cut where blocks end.
struct Blocks {
  std::vector<std::int64_t> order;
  std::vector<double> low, high;  ///< of each block and coordinate
  std::int64_t block, d;

  Blocks(const std::vector<double>& at, std::int64_t width, std::int64_t size) : order(at.size() / static_cast<std::size_t>(width)), block(size), d(width) {
    std::iota(order.begin(), order.end(), 0);
    cut(at, 0, static_cast<std::int64_t>(order.size()));
  }

  void cut(const std::vector<double>& at, std::int64_t first, std::int64_t last) {
    const auto coordinate = [&](std::int64_t k, std::int64_t c) { return at[static_cast<std::size_t>(order[static_cast<std::size_t>(k)] * d + c)]; };
    std::vector<double> lows(static_cast<std::size_t>(d), std::numeric_limits<double>::infinity()), highs(lows.size(), -std::numeric_limits<double>::infinity());
    for (std::int64_t k = first; k < last; ++k)
      for (std::int64_t c = 0; c < d; ++c) {
        const double v = coordinate(k, c);
        double &l = lows[static_cast<std::size_t>(c)], &h = highs[static_cast<std::size_t>(c)];
        l = std::min(l, v), h = std::max(h, v);
      }
    if (last - first <= block) {
      std::sort(order.begin() + first, order.begin() + last);
      low.insert(low.end(), lows.begin(), lows.end()), high.insert(high.end(), highs.begin(), highs.end());
      return;
    }
    std::int64_t widest = 0;
    for (std::int64_t c = 1; c < d; ++c)
      if (highs[static_cast<std::size_t>(c)] - lows[static_cast<std::size_t>(c)] > highs[static_cast<std::size_t>(widest)] - lows[static_cast<std::size_t>(widest)]) widest = c;
    const std::int64_t middle = first + ((last - first + block - 1) / block + 1) / 2 * block;
    std::nth_element(order.begin() + first, order.begin() + middle, order.begin() + last, [&](std::int64_t a, std::int64_t b) {
      const double x = at[static_cast<std::size_t>(a * d + widest)], y = at[static_cast<std::size_t>(b * d + widest)];
      return x < y || (x == y && a < b);
    });
    cut(at, first, middle);
    cut(at, middle, last);
  }
  std::int64_t count() const { return static_cast<std::int64_t>(low.size()) / d; }
};

class Order final : public TileOrder {
 public:
  Order(Blocks q, Blocks x, const std::vector<double>& radii, std::uint16_t metric) : q_(std::move(q)), x_(std::move(x)), metric_(metric), far_(static_cast<std::size_t>(q_.count())) {
    queries = std::move(q_.order), samples = std::move(x_.order);
    for (std::size_t k = 0; k < queries.size(); ++k) {
      double& far = far_[k / static_cast<std::size_t>(q_.block)];
      far = std::max(far, radii[static_cast<std::size_t>(queries[k])]);
    }
  }
  bool apart(std::int64_t query_block, std::int64_t sample_block) const override {
    double distance = 0, most = 0;
    for (std::int64_t c = 0; c < q_.d; ++c) {
      const auto i = static_cast<std::size_t>(query_block * q_.d + c), j = static_cast<std::size_t>(sample_block * q_.d + c);
      const double gap = std::max({x_.low[j] - q_.high[i], q_.low[i] - x_.high[j], 0.0});
      distance = metric_ == LOCUS_MAXDIST ? std::max(distance, gap) : distance + (metric_ == LOCUS_SQDIST ? gap * gap : gap);
      most = std::max({most, std::abs(q_.high[i]), std::abs(q_.low[i])});
    }
    if (metric_ == LOCUS_SQDIST) distance = std::sqrt(distance);
    // A little farther, for what rounding in float does to the radius and to coordinates.
    return distance > far_[static_cast<std::size_t>(query_block)] * (1 + 1e-5) + most * 1e-6;
  }
  /// The share of blocks of samples that a block of queries meets, of a few of them.
  double share() const {
    const std::int64_t blocks = q_.count(), tried = std::min<std::int64_t>(64, blocks);
    double met = 0;
    for (std::int64_t k = 0; k < tried; ++k)
      for (std::int64_t j = 0; j < x_.count(); ++j) met += !apart(k * (blocks / tried), j);
    return met / (static_cast<double>(tried) * static_cast<double>(x_.count()));
  }

 private:
  Blocks q_, x_;
  std::uint16_t metric_;
  std::vector<double> far_;  ///< the largest radius of each block
};

}  // namespace

bool NearPlan::points(const Driver& tensors, Id side, Id coordinate, std::vector<double>& at) const {
  const Id c = program_.exprs[reach_.metric].index;
  Place place(program_, tensors);
  at.resize(static_cast<std::size_t>(program_.extent(coordinate) * d_));
  for (std::int64_t k = 0; k < d_; ++k) {
    if (c != LOCUS_NONE) place.fixed[c] = k;
    const std::vector<double> column = along(program_, place, side, coordinate);
    for (std::size_t j = 0; j < column.size(); ++j) at[j * static_cast<std::size_t>(d_) + static_cast<std::size_t>(k)] = column[j];
  }
  return place.fault.kind == LOCUS_FAULT_NONE && std::all_of(at.begin(), at.end(), [](double v) { return std::isfinite(v); });
}

std::vector<double> NearPlan::radii(const Driver& tensors) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Id row = program_.list(reduce_.rows)[0];
  Place place(program_, tensors);
  std::vector<double> all = along(program_, place, reach_.start, row);
  for (const Reach::Step& step : reach_.steps) {
    const std::vector<double> by = step.kind == Reach::Step::power ? std::vector<double>() : along(program_, place, step.by, row);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (step.kind == Reach::Step::power) all[i] = all[i] < 0 ? all[i] : std::pow(all[i], step.exponent);
      else if (!(by[i] > 0)) all[i] = infinity;
      else all[i] = step.kind == Reach::Step::times ? all[i] * by[i] : all[i] / by[i];
    }
  }
  for (double& r : all) r = std::isnan(r) || place.fault.kind != LOCUS_FAULT_NONE ? infinity : r;
  return all;
}

std::unique_ptr<TileOrder> NearPlan::order(const Driver& tensors, std::int64_t height, std::int64_t span) const {
  constexpr double most = 0.6;  // of the blocks, for what the ordering costs
  const auto rows = program_.list(reduce_.rows);
  std::vector<double> queries, samples;
  if (rows.size() != 1 || !points(tensors, reach_.sample, reduce_.sample, samples) || !points(tensors, reach_.query, rows[0], queries)) return nullptr;
  auto made = std::make_unique<Order>(Blocks(queries, d_, height), Blocks(samples, d_, span), radii(tensors), program_.exprs[reach_.metric].op);
  return made->share() <= most ? std::move(made) : nullptr;
}

class Samples final : public NearSamples {
 public:
  Samples(const NearPlan& plan, const Driver& tensors) : plan_(plan), tensors_(tensors) {}

  bool read() {
    points_.count = plan_.program_.extent(plan_.reduce_.sample), points_.d = plan_.d_;
    if (!plan_.points(tensors_, plan_.reach_.sample, plan_.reduce_.sample, points_.at)) return false;
    if (points_.d > 1) {
      tree_ = std::make_unique<Tree>(static_cast<int>(points_.d), points_, nanoflann::KDTreeSingleIndexAdaptorParams(16));
    } else {
      order_.resize(static_cast<std::size_t>(points_.count));
      std::iota(order_.begin(), order_.end(), 0);
      std::stable_sort(order_.begin(), order_.end(), [&](std::int64_t a, std::int64_t b) { return points_.at[static_cast<std::size_t>(a)] < points_.at[static_cast<std::size_t>(b)]; });
      for (std::int64_t j : order_) line_.push_back(points_.at[static_cast<std::size_t>(j)]);
    }
    measure();
    return true;
  }

  std::unique_ptr<Search> search() const override { return std::make_unique<Look>(*this); }

 private:
  class Look final : public Search {
   public:
    explicit Look(const Samples& s) : s_(s), p_(s.plan_.program_), place_(p_, s.tensors_), start_(p_, s.plan_.reach_.start), query_(p_, s.plan_.reach_.query) {
      for (const Reach::Step& step : s.plan_.reach_.steps)
        if (step.kind != Reach::Step::power) factors_.emplace_back(p_, step.by);
      point_.resize(static_cast<std::size_t>(s.points_.d));
    }

    bool find(std::int64_t row, std::vector<std::int64_t>& found) override {
      const auto coordinates = p_.list(s_.plan_.reduce_.rows);
      for (std::size_t k = coordinates.size(); k-- > 0; row /= p_.extent(coordinates[k])) place_.fixed[coordinates[k]] = row % p_.extent(coordinates[k]);
      found.clear();
      const locus_expr& metric = p_.exprs[s_.plan_.reach_.metric];
      double most = 0;
      for (std::size_t c = 0; c < point_.size(); ++c) {
        if (metric.index != LOCUS_NONE) place_.fixed[metric.index] = static_cast<std::int64_t>(c);
        point_[c] = query_(place_);
        most = std::max(most, std::abs(point_[c]));
      }
      const double radius = this->radius();
      if (!std::isfinite(radius) || !std::isfinite(most) || place_.fault.kind != LOCUS_FAULT_NONE) return false;
      if (radius < 0) return true;
      // A little farther, for what rounding does to the radius and to coordinates.
      const double far = radius * (1 + 1e-6) + most * 1e-14;
      if (point_.size() == 1) {
        const auto low = std::lower_bound(s_.line_.begin(), s_.line_.end(), point_[0] - far), high = std::upper_bound(low, s_.line_.end(), point_[0] + far);
        found.assign(s_.order_.begin() + (low - s_.line_.begin()), s_.order_.begin() + (high - s_.line_.begin()));
      } else {
        const double euclidean = metric.op == LOCUS_MAXDIST ? far * std::sqrt(static_cast<double>(point_.size())) : far;
        Within within{euclidean * euclidean * (1 + 1e-12) + std::numeric_limits<double>::min(), found};
        s_.tree_->findNeighbors(within, point_.data(), nanoflann::SearchParams());
      }
      return true;
    }

   private:
    /// NaN where there is none.
    double radius() {
      double t = start_(place_);
      std::size_t factor = 0;
      for (const Reach::Step& step : s_.plan_.reach_.steps) {
        if (t < 0) return -1;
        if (step.kind == Reach::Step::power) {
          t = std::pow(t, step.exponent);
          continue;
        }
        const double by = factors_[factor++](place_);
        if (!(by > 0)) return std::numeric_limits<double>::quiet_NaN();
        t = step.kind == Reach::Step::times ? t * by : t / by;
      }
      return t;
    }

    const Samples& s_;
    const Program& p_;
    Place place_;
    Told start_, query_;
    std::vector<Told> factors_;
    std::vector<double> point_;
  };

  /// How many samples a row meets, of a few rows.
  void measure() {
    constexpr std::int64_t few = 64;
    Look look(*this);
    std::vector<std::int64_t> found;
    const std::int64_t tried = std::min(few, plan_.rows_);
    double met = 0;
    for (std::int64_t k = 0; k < tried; ++k) met += look.find(k * (plan_.rows_ / tried), found) ? static_cast<double>(found.size()) : static_cast<double>(points_.count);
    share = met / (static_cast<double>(tried) * static_cast<double>(points_.count));
  }

  const NearPlan& plan_;
  const Driver& tensors_;
  Points points_;
  std::unique_ptr<Tree> tree_;
  std::vector<std::int64_t> order_;  ///< of points on a line, ascending
  std::vector<double> line_;
};

std::unique_ptr<NearPlan> NearPlan::make(const Program& program, std::uint32_t node) {
  const locus_reduce& reduce = program.reduces[program.nodes[node].detail];
  if (reduce.list != LOCUS_NONE) return nullptr;
  const auto found = Finder(program, reduce).find();
  if (!found) return nullptr;
  std::unique_ptr<NearPlan> plan(new NearPlan(program, reduce));
  plan->reach_ = *found;
  const Id coordinate = program.exprs[found->metric].index;
  plan->d_ = coordinate == LOCUS_NONE ? 1 : program.extent(coordinate);
  for (Id c : program.list(reduce.rows)) plan->rows_ *= program.extent(c);
  const std::int64_t m = program.extent(reduce.sample);
  const bool many = m > 0 && m < std::numeric_limits<std::uint32_t>::max() / 2 && plan->rows_ > 0 && plan->rows_ >= least_pairs / m;
  return many && plan->d_ >= 1 && plan->d_ <= most_coordinates ? std::move(plan) : nullptr;
}

std::unique_ptr<NearSamples> NearPlan::samples(const Driver& tensors) const {
  auto made = std::make_unique<Samples>(*this, tensors);
  return made->read() ? std::move(made) : nullptr;
}

std::string NearPlan::words() const { return "pairs end at a radius: by place, where few lie within"; }

}  // namespace locus::cpu
