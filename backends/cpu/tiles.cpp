// Dense reduces in tiles; see tiles.hpp.
#include "backends/cpu/tiles.hpp"
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <new>
#include "backends/cpu/nodes.hpp"
#include "backends/cpu/tile_code.hpp"

namespace locus::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t flush_after = 4096;  // samples whose sums may stand in the tile's type
constexpr int few_values = 4;               // value columns that are summed beside the weights

std::int64_t rounded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

template <class T>
class Aligned {
 public:
  explicit Aligned(std::int64_t count) : data_(static_cast<T*>(::operator new(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(T), std::align_val_t(64)))) {}
  ~Aligned() { ::operator delete(data_, std::align_val_t(64)); }
  Aligned(Aligned&& o) noexcept : data_(o.data_) { o.data_ = nullptr; }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  T* get() const { return data_; }

 private:
  T* data_;
};

struct Registers {
  explicit Registers(const Strip& strip) : memory(strip.register_bytes() + 64) {}
  std::byte* get() { return memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64); }
  std::vector<std::byte> memory;
};

double base_power(double x, bool two) { return two ? std::exp2(x) : std::exp(x); }

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

template <class T>
class Tiles final : public TilePlan {
 public:
  Tiles(const Program& program, std::uint32_t node)
      : program_(program), reduce_(program.reduces[program.nodes[node].detail]), node_(node), code_(program, query_of(program, reduce_), reduce_.sample, sizeof(T) == 4) {}

  bool compile() {
    const auto rows = program_.list(reduce_.rows);
    query_ = query_of(program_, reduce_);
    for (std::uint32_t c : rows.first(rows.empty() ? 0 : rows.size() - 1)) batch_.push_back(c);
    if (sizeof(T) == 4)
      for (Id c : {query_, reduce_.sample})
        if (c != LOCUS_NONE && program_.extent(c) >= 16777216) return false;
    if (reduce_.score != LOCUS_NONE) {
      Id root = reduce_.score;
      peel(program_, root, scale_);
      if (program_.exprs[root].op == LOCUS_CONSTANT) root = reduce_.score, scale_ = 1;
      const auto r = code_.add(root);
      if (!r) return false;
      score_ = *r;
    }
    if (reduce_.factor != LOCUS_NONE) {
      const auto r = code_.add(reduce_.factor);
      if (!r) return false;
      factor_ = *r;
    }
    weight_end_ = code_.steps.size();
    if (reduce_.where != LOCUS_NONE) {
      const auto r = code_.add(reduce_.where);
      if (!r) return false;
      where_ = *r;
    }
    for (const locus_estimate& e : program_.estimates_of(reduce_)) {
      Output out{&e, 0, 0};
      switch (e.estimator) {
        case LOCUS_MEAN:
        case LOCUS_WEIGHTED_SUM: {
          if (query_ != LOCUS_NONE && program_.depends(e.value, query_)) {
            if (!add_pair_value(e)) return false;
            out.pair = static_cast<int>(pairs_.size()) - 1;
            break;
          }
          const auto features = program_.list(e.features);
          std::int64_t width = 1;
          for (std::uint32_t c : features) width *= program_.extent(c);
          out.first = width_, out.width = width;
          width_ += width;
          break;
        }
        case LOCUS_EFFECTIVE: square_ = true; break;
        case LOCUS_COUNT: count_ = true; break;
        case LOCUS_MASS:
        case LOCUS_LOGMASS: break;
        default: return false;
      }
      outputs_.push_back(out);
    }
    if (program_.extent(reduce_.sample) < 16 || code_.tiles > 24) return false;
    std::int64_t d = 0;
    for (const ContractionCode& c : code_.contractions) d = std::max(d, program_.extent(c.coordinate));
    height_ = d >= 32 || width_ > few_values ? 96 : 16;
    span_ = d >= 32 || width_ > few_values ? 128 : 256;
    if (sizeof(T) == 8) height_ /= 2;
    if (!pairs_.empty()) height_ = 32, span_ = 128;
    compile_strips();
    return true;
  }

  std::string words() const override {
    std::string text = "tiles of " + std::to_string(height_) + " x " + std::to_string(span_) + ", " + table().name + (sizeof(T) == 4 ? ", float32" : ", float64");
    if (score_.kind != Ref::none) text += ", running maximum";
    if (where_.kind != Ref::none) text += ", blocks by mask";
    if (!pairs_.empty()) text += ", " + std::to_string(pair_width_) + " values of pairs";
    return text;
  }

  int run(const Driver& tensors, const locus_host* host, locus_report* report, TileOutcome& outcome, const TileOrder* order) const override {
    Run run{*this, tensors, host, report, outcome, order};
    return run.all();
  }
  std::int64_t height() const override { return height_; }
  std::int64_t span() const override { return span_; }

 private:
  struct Output {
    const locus_estimate* estimate;
    std::int64_t first, width;  ///< value columns
    int pair = -1;              ///< or a value that depends on both sides
  };

  /// A value of a pair, one tile for each of its features; its parts on one side are told anew for each feature.
  struct PairValue {
    const locus_estimate* estimate;
    std::unique_ptr<TileCode> code;
    Ref value;
    std::int64_t first, width;  ///< its sums
    std::vector<Strip> row_strips, column_strips;
    std::vector<T> constants;
  };

  bool add_pair_value(const locus_estimate& e) {
    PairValue v{&e, std::make_unique<TileCode>(program_, query_, reduce_.sample, sizeof(T) == 4), {}, pair_width_, 1, {}, {}, {}};
    const auto r = v.code->add(e.value);
    if (!r || !v.code->contractions.empty() || !v.code->matrices.empty() || std::any_of(v.code->steps.begin(), v.code->steps.end(), [](const TileStep& s) { return s.kind != TileStep::element; })) return false;
    v.value = *r;
    for (std::uint32_t c : program_.list(e.features)) v.width *= program_.extent(c);
    const Id sample[] = {reduce_.sample}, query[] = {query_};
    for (Id part : v.code->rows) v.row_strips.emplace_back(program_, std::vector<Id>{part}, query, false);
    for (Id part : v.code->columns) v.column_strips.emplace_back(program_, std::vector<Id>{part}, sample, false);
    for (double c : v.code->constants) v.constants.push_back(static_cast<T>(c));
    pair_width_ += v.width;
    pair_tiles_ = std::max(pair_tiles_, v.code->tiles);
    pairs_.push_back(std::move(v));
    return true;
  }

  static Id query_of(const Program& program, const locus_reduce& r) {
    const auto rows = program.list(r.rows);
    return rows.empty() ? LOCUS_NONE : rows.back();
  }

  void compile_strips() {
    const Id sample[] = {reduce_.sample}, query[] = {query_};
    const std::span<const Id> query_lanes(query, query_ == LOCUS_NONE ? 0 : 1);
    for (Id e : code_.rows) row_strips_.emplace_back(program_, std::vector<Id>{e}, query_lanes, false);
    for (Id e : code_.columns) column_strips_.emplace_back(program_, std::vector<Id>{e}, sample, false);
    for (const ContractionCode& c : code_.contractions) {
      query_strips_.emplace_back(program_, std::vector<Id>{c.query}, query_lanes, false);
      sample_strips_.emplace_back(program_, std::vector<Id>{c.sample}, sample, false);
    }
    for (const Output& o : outputs_)
      if (o.width > 0) value_strips_.emplace_back(program_, std::vector<Id>{o.estimate->value}, sample, false);
  }

  /// One batch entry's samples, made ready once for all query blocks.
  struct Samples {
    std::vector<Aligned<T>> panels, columns;
    std::optional<Aligned<T>> values;  ///< less their centre
    std::vector<double> centre;        ///< of each value column, its first entry: constants come out as they are, and offsets cost no digits
    std::vector<std::vector<Interval>> column_ranges;  ///< by column part and block of samples
  };

  struct Run {
    const Tiles& plan;
    const Driver& tensors;
    const locus_host* host;
    locus_report* report;
    TileOutcome& outcome;
    const TileOrder* order;
    std::int64_t n = 1, m = 0, padded = 0, width = 0;
    std::mutex mutex = {};
    std::atomic<std::int64_t> empty = 0, blocks = 0, skipped = 0, done = 0;
    std::atomic<int> status = LOCUS_OK;
    std::vector<std::int64_t> batch_at = {};

    const Functions<T>& f = functions<T>();

    int all() {
      const Program& p = plan.program_;
      n = plan.query_ == LOCUS_NONE ? 1 : p.extent(plan.query_);
      m = p.extent(plan.reduce_.sample);
      padded = rounded(m, 256);
      width = plan.width_ <= few_values ? plan.width_ : rounded(plan.width_, 16);
      std::int64_t batches = 1;
      for (Id c : plan.batch_) batches *= p.extent(c);
      batch_at.assign(p.coordinates.size(), 0);
      for (std::int64_t b = 0; b < batches && status == LOCUS_OK && !outcome.unfit; ++b) {
        std::int64_t rest = b;
        for (std::size_t k = plan.batch_.size(); k-- > 0;) {
          batch_at[plan.batch_[k]] = rest % p.extent(plan.batch_[k]);
          rest /= p.extent(plan.batch_[k]);
        }
        one_batch(b, batches);
      }
      if (outcome.unfit) return LOCUS_OK;
      std::sort(outcome.redo.begin(), outcome.redo.end());
      if ((plan.reduce_.flags & LOCUS_COUNT_EMPTY) != 0 && plan.node_ < report->node_count) report->empty_rows[plan.node_] += empty;
      if (report->skipped && plan.node_ < report->node_count && blocks > 0) report->skipped[plan.node_] = static_cast<double>(skipped) / static_cast<double>(blocks);
      return status;
    }

    Place place() const {
      Place at(plan.program_, tensors);
      at.fixed = batch_at;
      return at;
    }

    void bad(const Place& at) {
      const std::lock_guard lock(mutex);
      if (status == LOCUS_OK) status = plugin::fault(report, at.fault.kind, plan.node_, 0, at.fault.value, 0);
    }

    /// Values of a one-sided part along `coordinate`, from `begin`; false if an integer is too large for T.
    bool along(const Strip& strip, Place& at, Id coordinate, std::int64_t begin, std::int64_t count, T* out, std::int64_t stride, Registers& registers) {
      std::int64_t lanes[strip_width];
      bool fits = true;
      const std::vector<std::int64_t>* placed = !order || coordinate == LOCUS_NONE ? nullptr : coordinate == plan.query_ ? &order->queries : &order->samples;
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

    Samples samples() {
      const Program& p = plan.program_;
      const Id j = plan.reduce_.sample;
      Samples s;
      for (const ContractionCode& c : plan.code_.contractions) s.panels.emplace_back(padded * p.extent(c.coordinate));
      for (std::size_t k = 0; k < plan.code_.columns.size(); ++k) s.columns.emplace_back(padded);
      if (width > 0) s.values.emplace(padded * width);
      s.centre = centres();
      const bool few = plan.width_ <= few_values;
      std::atomic<bool> fits{true};
      parallel(host, padded / 256, 256.0 * 64, [&](std::int64_t begin, std::int64_t end) {
        Place at = place();
        std::int64_t largest = 0;
        for (const auto* list : {&plan.sample_strips_, &plan.column_strips_, &plan.value_strips_})
          for (const Strip& strip : *list) largest = std::max<std::int64_t>(largest, static_cast<std::int64_t>(strip.register_bytes()));
        std::vector<T> lane(256);
        for (std::int64_t block = begin; block < end; ++block) {
          const std::int64_t first = block * 256, count = std::min<std::int64_t>(256, m - first);
          for (std::size_t k = 0; k < plan.code_.contractions.size(); ++k) {
            const Id c = plan.code_.contractions[k].coordinate;
            const std::int64_t d = p.extent(c);
            Registers registers(plan.sample_strips_[k]);
            for (std::int64_t x = 0; x < d; ++x) {
              at.fixed[c] = x;
              std::fill(lane.begin(), lane.end(), T(0));
              along(plan.sample_strips_[k], at, j, first, count, lane.data(), 1, registers);
              for (std::int64_t g = 0; g < 4; ++g) std::copy_n(lane.data() + g * padding, padding, s.panels[k].get() + (first + g * padding) * d + x * padding);
            }
          }
          for (std::size_t k = 0; k < plan.column_strips_.size(); ++k) {
            Registers registers(plan.column_strips_[k]);
            std::fill_n(s.columns[k].get() + first, 256, T(0));
            if (!along(plan.column_strips_[k], at, j, first, count, s.columns[k].get() + first, 1, registers)) fits = false;
          }
          if (width == 0) continue;
          if (!few) std::fill_n(s.values->get() + first * width, 256 * width, T(0));
          std::size_t strip = 0;
          for (const Output& o : plan.outputs_) {
            if (o.width == 0) continue;
            const Strip& value = plan.value_strips_[strip++];
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
      if (plan.where_.kind == Ref::tile) ranges(s);
      return s;
    }

    static void centred(T* v, std::int64_t count, std::int64_t stride, double centre) {
      if (centre == 0) return;
      const T c = static_cast<T>(centre);
      for (std::int64_t t = 0; t < count; ++t) v[t * stride] -= c;
    }

    std::vector<double> centres() {
      std::vector<double> all;
      std::size_t strip = 0;
      Place at = place();
      for (const Output& o : plan.outputs_) {
        if (o.width == 0) continue;
        const Strip& value = plan.value_strips_[strip++];
        Registers registers(value);
        const auto features = plan.program_.list(o.estimate->features);
        for (std::int64_t c = 0; c < o.width; ++c) {
          std::int64_t rest = c;
          for (std::size_t k = features.size(); k-- > 0;) {
            at.fixed[features[k]] = rest % plan.program_.extent(features[k]);
            rest /= plan.program_.extent(features[k]);
          }
          T first = 0;
          along(value, at, plan.reduce_.sample, 0, 1, &first, 1, registers);
          all.push_back(std::isfinite(first) ? static_cast<double>(first) : 0.0);
        }
      }
      return all;
    }

    void ranges(Samples& s) const {
      for (const Aligned<T>& column : s.columns) {
        std::vector<Interval> all;
        for (std::int64_t first = 0; first < m; first += plan.span_) all.push_back(range_of(column.get() + first, std::min(plan.span_, m - first)));
        s.column_ranges.push_back(std::move(all));
      }
    }
    static Interval range_of(const T* v, std::int64_t count) {
      Interval r{infinity, -infinity};
      for (std::int64_t k = 0; k < count; ++k) {
        if (std::isnan(v[k])) return {-infinity, infinity};
        r.low = std::min<double>(r.low, v[k]), r.high = std::max<double>(r.high, v[k]);
      }
      return r;
    }

    void one_batch(std::int64_t b, std::int64_t batches) {
      const Samples s = samples();
      if (outcome.unfit || status != LOCUS_OK) return;
      const std::int64_t query_blocks = (n + plan.height_ - 1) / plan.height_;
      parallel(host, query_blocks, static_cast<double>(plan.height_) * static_cast<double>(m) * static_cast<double>(8 + plan.width_ / 4), [&](std::int64_t begin, std::int64_t end) {
        Block block(*this, s, b);
        for (std::int64_t k = begin; k < end && status == LOCUS_OK && !outcome.unfit; ++k) {
          block.run(k * plan.height_, std::min(plan.height_, n - k * plan.height_));
          const double pairs = static_cast<double>(plan.height_) * static_cast<double>(m);
          if (host->progress && host->progress(host->context, static_cast<double>(++done) * pairs, static_cast<double>(query_blocks * batches) * pairs) != 0) {
            const std::lock_guard lock(mutex);
            if (status == LOCUS_OK) plugin::say(report, "stopped on request"), status = LOCUS_FAILED;
          }
        }
        const std::lock_guard lock(mutex);
        outcome.redo.insert(outcome.redo.end(), block.redo.begin(), block.redo.end());
        empty += block.empty, blocks += block.blocks, skipped += block.skipped;
      });
    }
  };

  /// One thread's workspace for blocks of queries.
  struct Block {
    Run& run_;
    const Tiles& plan;
    const Program& program;
    const Samples& s;
    const std::int64_t batch, height, span, width;
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

    Block(Run& r, const Samples& samples, std::int64_t b)
        : run_(r), plan(r.plan), program(r.plan.program_), s(samples), batch(b), height(plan.height_), span(plan.span_), width(r.width), at(r.place()), extreme(height), shift(height), rescale(height),
          partial(height * std::max<std::int64_t>(width, 1)), weights_only(height * span), sum(static_cast<std::size_t>(height)), square(sum.size()), count(sum.size()), cumulative(sum.size()),
          wide(static_cast<std::size_t>(height * std::max<std::int64_t>(plan.width_, 1))), broken(sum.size()), fill(static_cast<T>(plan.scale_ > 0 ? -infinity : infinity)) {
      for (int k = 0; k < plan.code_.tiles + 2; ++k) tiles.emplace_back(height * span);
      for (const ContractionCode& c : plan.code_.contractions) queries.emplace_back(height * program.extent(c.coordinate));
      for (std::size_t k = 0; k < plan.code_.rows.size(); ++k) rows.emplace_back(height);
      pair_moments.assign(static_cast<std::size_t>(plan.pair_width_), std::vector<double>(sum.size()));
      for (int k = 0; k < plan.pair_tiles_ + 1 && !plan.pairs_.empty(); ++k) pair_tiles.emplace_back(height * span);
      for (const PairValue& v : plan.pairs_) {
        auto &in_rows = pair_rows.emplace_back(), &in_columns = pair_columns.emplace_back();
        auto &of_rows = row_registers.emplace_back(), &of_columns = column_registers.emplace_back();
        for (const Strip& strip : v.row_strips) in_rows.emplace_back(height * v.width), of_rows.emplace_back(strip);
        for (const Strip& strip : v.column_strips) in_columns.emplace_back(span), of_columns.emplace_back(strip);
      }
      moments.assign(few() ? static_cast<std::size_t>(plan.width_) : 0, std::vector<double>(sum.size()));
    }

    bool few() const { return plan.width_ <= few_values; }
    bool scored() const { return plan.score_.kind != Ref::none; }
    const Functions<T>& f = functions<T>();

    bool prepare(std::int64_t first, std::int64_t r) {
      bool fits = true;
      for (std::size_t k = 0; k < plan.code_.contractions.size(); ++k) {
        const Id c = plan.code_.contractions[k].coordinate;
        Registers registers(plan.query_strips_[k]);
        for (std::int64_t x = 0; x < program.extent(c); ++x) {
          at.fixed[c] = x;
          run_.along(plan.query_strips_[k], at, plan.query_, first, r, queries[k].get() + x * height, 1, registers);
        }
      }
      for (std::size_t k = 0; k < plan.row_strips_.size(); ++k) {
        Registers registers(plan.row_strips_[k]);
        fits &= run_.along(plan.row_strips_[k], at, plan.query_, first, r, rows[k].get(), 1, registers);
      }
      for (std::size_t p = 0; p < plan.pairs_.size(); ++p)
        for (std::int64_t c = 0; c < plan.pairs_[p].width; ++c) {
          at_feature(plan.pairs_[p], c);
          for (std::size_t k = 0; k < plan.pairs_[p].row_strips.size(); ++k)
            fits &= run_.along(plan.pairs_[p].row_strips[k], at, plan.query_, first, r, pair_rows[p][k].get() + c * height, 1, row_registers[p][k]);
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

    void at_feature(const PairValue& v, std::int64_t feature) {
      const auto all = program.list(v.estimate->features);
      for (std::size_t k = all.size(); k-- > 0; feature /= std::max<std::int64_t>(program.extent(all[k]), 1)) at.fixed[all[k]] = feature % std::max<std::int64_t>(program.extent(all[k]), 1);
    }

    /// Sums of weight times the values that depend on both sides, over one tile.
    void pair_sums(const T* weights, std::int64_t r, std::int64_t j0, std::int64_t c, std::int64_t columns) {
      for (std::size_t p = 0; p < plan.pairs_.size(); ++p) {
        const PairValue& v = plan.pairs_[p];
        for (std::int64_t feature = 0; feature < v.width; ++feature) {
          at_feature(v, feature);
          for (std::size_t k = 0; k < v.column_strips.size(); ++k) {
            T* part = pair_columns[p][k].get();
            std::fill(part + c, part + columns, T(0));
            run_.along(v.column_strips[k], at, plan.reduce_.sample, j0, c, part, 1, column_registers[p][k]);
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
        default: return {plan.constants_as<T>() + r.index, 0, 0};
      }
    }

    void steps(std::size_t begin, std::size_t end, std::int64_t first, std::int64_t r, std::int64_t j0, std::int64_t columns, std::int64_t c) {
      for (std::size_t k = begin; k < end; ++k) {
        const TileStep& step = plan.code_.steps[k];
        T* out = tiles[static_cast<std::size_t>(step.out)].get();
        switch (step.kind) {
          case TileStep::element: {
            Operand<T> args[3];
            for (int a = 0; a < 3; ++a) args[a] = step.args[a].kind == Ref::none ? Operand<T>{out, 0, 0} : operand(step.args[a], j0);
            f.elementwise[step.op](args, out, span, r, columns);
            break;
          }
          case TileStep::contraction: {
            const std::int64_t d = program.extent(plan.code_.contractions[static_cast<std::size_t>(step.index)].coordinate);
            Contraction<T> p{queries[static_cast<std::size_t>(step.index)].get(), height, s.panels[static_cast<std::size_t>(step.index)].get() + j0 * d, d, r, columns, out, span, nullptr, nullptr, Extreme::none, nullptr};
            f.contract[step.op - LOCUS_DOT](p);
            break;
          }
          case TileStep::matrix: matrix(plan.code_.matrices[static_cast<std::size_t>(step.index)].read, out, first, r, j0, c, columns); break;
          case TileStep::call: call(step, out, r, columns); break;
        }
      }
    }

    void matrix(Id read, T* out, std::int64_t first, std::int64_t r, std::int64_t j0, std::int64_t c, std::int64_t columns) {
      const locus_expr& e = program.exprs[read];
      std::int64_t base = e.offset, si = 0, sj = 0;
      for (const locus_stride& x : program.read_strides(e)) {
        if (x.coordinate == plan.query_) si = x.stride;
        else if (x.coordinate == plan.reduce_.sample) sj = x.stride;
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
    std::int64_t query(std::int64_t position) const { return run_.order ? run_.order->queries[static_cast<std::size_t>(position)] : position; }

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
      T* out = tiles[static_cast<std::size_t>(plan.code_.tiles + spare)].get();
      const Operand<T> a = operand(r, j0);
      if (r.kind == Ref::tile && !plan.shared_) return const_cast<T*>(a.data);
      f.elementwise[LOCUS_real](&a, out, span, rows_here, columns);
      return out;
    }

    void run(std::int64_t first, std::int64_t r) {
      if (!prepare(first, r)) {
        run_.outcome.unfit = true;
        return;
      }
      std::vector<Interval> row_ranges;
      if (plan.where_.kind == Ref::tile)
        for (const Aligned<T>& v : rows) row_ranges.push_back(Run::range_of(v.get(), r));
      std::int64_t since = 0;
      for (std::int64_t j0 = 0; j0 < run_.m; j0 += span) {
        const std::int64_t c = std::min(span, run_.m - j0), columns = rounded(c, padding);
        ++blocks;
        if (run_.order && run_.order->apart(first / height, j0 / span)) {
          ++skipped;
          continue;
        }
        bool masked = plan.where_.kind != Ref::none;
        if (plan.where_.kind == Ref::tile) {
          const Interval truth = interval_of(plan.code_, 0, plan.code_.steps.size(), plan.where_, [&](Ref part) {
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
      steps(0, plan.weight_end_, first, r, j0, columns, c);
      if (masked) steps(plan.weight_end_, plan.code_.steps.size(), first, r, j0, columns, c);
      const T zero = 0;
      const T bottom = scored() ? fill : zero;
      T* factor = nullptr;
      if (plan.factor_.kind != Ref::none) factor = as_tile(plan.factor_, 1, r, columns, j0);
      T* x = scored() ? as_tile(plan.score_, 0, r, columns, j0) : factor;
      if (!x) {  // every pair weighs 1
        x = tiles[static_cast<std::size_t>(plan.code_.tiles)].get();
        for (std::int64_t i = 0; i < r; ++i) std::fill_n(x + i * span, columns, T(1));
      }
      if (masked) {
        const Operand<T> args[3] = {operand(plan.where_, j0), {x, span, 1}, {&bottom, 0, 0}};
        f.elementwise[LOCUS_select](args, x, span, r, columns);
      }
      if (scored() && factor) {
        const Operand<T> test[3] = {{factor, span, 1}, {x, span, 1}, {&bottom, 0, 0}};
        f.elementwise[LOCUS_select](test, x, span, r, columns);  // factor 0: the pair counts nothing
      }
      if (c < columns)
        for (std::int64_t i = 0; i < r; ++i) std::fill(x + i * span + c, x + i * span + columns, bottom);
      if (plan.count_)
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
      f.extreme(x, span, r, columns, plan.scale_ > 0 ? Extreme::maximum : Extreme::minimum, extreme.get());
      constexpr bool two = sizeof(T) == 4;
      const double unit = two ? 1.4426950408889634 : 1.0;
      for (std::int64_t i = 0; i < r; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const T e = extreme.get()[i];
        const T next = std::isinf(e) ? T(0) : e;
        if (std::isnan(e) || (std::isinf(e) && e != fill)) broken[k] = 1;
        const double change = next == shift.get()[i] ? 1.0 : base_power((static_cast<double>(shift.get()[i]) - static_cast<double>(next)) * plan.scale_ * unit, two);
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
      const T unit = static_cast<T>(plan.scale_ * (sizeof(T) == 4 ? 1.4426950408889634 : 1.0));
      const T* values[few_values];
      double* sums[few_values];
      for (std::size_t k = 0; k < moments.size(); ++k) values[k] = s.values->get() + static_cast<std::int64_t>(k) * run_.padded + j0, sums[k] = moments[k].data();
      const bool both = scored() && factor;
      Weighing<T> w{x, span, r, columns, unit, scored() ? shift.get() : nullptr, values, static_cast<int>(moments.size()), true, sum.data(), sums, plan.square_ ? square.data() : nullptr, nullptr, nullptr};
      if (both) {
        std::vector<double> aside(sum.size());
        w.sum = aside.data(), w.value_count = 0, w.square = nullptr;
        f.weigh(w);
        const Operand<T> product[2] = {{x, span, 1}, {factor, span, 1}};
        f.elementwise[LOCUS_mul](product, x, span, r, columns);
        w = {x, span, r, columns, unit, nullptr, values, static_cast<int>(moments.size()), false, sum.data(), sums, plan.square_ ? square.data() : nullptr, nullptr, nullptr};
      }
      w.write = w.shift != nullptr && (!few() || !plan.pairs_.empty());
      f.weigh(w);
      if (few()) return;
      if (!scored()) std::fill_n(rescale.get(), r, T(1));
      f.fold({x, span, s.values->get() + j0 * width, r, columns, width, rescale.get(), partial.get()});
    }

    void flush(std::int64_t r) {
      for (std::int64_t i = 0; i < r; ++i) {
        double* to = wide.data() + i * plan.width_;
        T* from = partial.get() + i * width;
        for (std::int64_t c = 0; c < plan.width_; ++c) to[c] = to[c] * cumulative[static_cast<std::size_t>(i)] + static_cast<double>(from[c]);
        std::fill_n(from, width, T(0));
        cumulative[static_cast<std::size_t>(i)] = 1;
      }
    }

    void finish(std::int64_t first, std::int64_t r) {
      for (std::int64_t i = 0; i < r; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const std::int64_t row = batch * run_.n + query(first + i);
        const bool none = scored() && extreme.get()[i] == fill && !broken[k];
        if (broken[k] || (!none && (!std::isfinite(sum[k]) || sum[k] == 0))) {
          redo.push_back(row);
          continue;
        }
        const double log_factor = scored() ? static_cast<double>(shift.get()[i]) * plan.scale_ : 0.0, factor = std::exp(log_factor);
        bool fine = true;
        for (const Output& o : plan.outputs_) fine &= write(o, row, k, none, factor, log_factor);
        if (!fine) redo.push_back(row);
        else empty += none;
      }
    }

    double numerator(std::size_t k, std::int64_t column) const { return few() ? moments[static_cast<std::size_t>(column)][k] : wide[static_cast<std::size_t>(static_cast<std::int64_t>(k) * plan.width_ + column)]; }

    bool write(const Output& o, std::int64_t row, std::size_t k, bool none, double factor, double log_factor) {
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
      const std::int64_t out_width = o.pair < 0 ? o.width : plan.pairs_[static_cast<std::size_t>(o.pair)].width;
      for (std::int64_t c = 0; c < out_width; ++c) {
        const double centre = o.pair < 0 ? s.centre[static_cast<std::size_t>(o.first + c)] : 0;
        const double top = o.pair < 0 ? numerator(k, o.first + c) : pair_moments[static_cast<std::size_t>(plan.pairs_[static_cast<std::size_t>(o.pair)].first + c)][k];
        const double v = none ? (mean ? std::numeric_limits<double>::quiet_NaN() : 0) : mean ? centre + top / sum[k] : (top + centre * sum[k]) * factor;
        if (!none && !std::isfinite(v)) return false;
        put(row * out_width + c, v);
      }
      return true;
    }
  };

  template <class U>
  const U* constants_as() const {
    return constants_.data();
  }

  const Program& program_;
  const locus_reduce& reduce_;
  const std::uint32_t node_;
  TileCode code_;
  Id query_ = LOCUS_NONE;
  std::vector<Id> batch_;
  Ref score_, factor_, where_;
  double scale_ = 1;
  std::size_t weight_end_ = 0;
  std::vector<Output> outputs_;
  std::int64_t width_ = 0, height_ = 0, span_ = 0;
  bool square_ = false, count_ = false, shared_ = false;
  std::vector<PairValue> pairs_;
  std::int64_t pair_width_ = 0;
  int pair_tiles_ = 0;
  std::vector<Strip> row_strips_, column_strips_, query_strips_, sample_strips_, value_strips_;
  std::vector<T> constants_;

  friend std::unique_ptr<TilePlan> finished(std::unique_ptr<Tiles<T>> plan) {
    if (!plan->compile()) return nullptr;
    for (double c : plan->code_.constants) plan->constants_.push_back(static_cast<T>(c));
    // A tile that is both the weight and a part of the mask must not be overwritten before the mask is made.
    plan->shared_ = plan->where_.kind != Ref::none || (plan->score_.kind == Ref::tile && plan->factor_.kind == Ref::tile);
    return plan;
  }
};

}  // namespace

std::unique_ptr<TilePlan> TilePlan::make(const Program& program, std::uint32_t node) {
  const locus_reduce& r = program.reduces[program.nodes[node].detail];
  if (r.list != LOCUS_NONE) return nullptr;
  bool wide = program.real == LOCUS_FLOAT64;
  const auto rows = program.list(r.rows);
  for (const locus_estimate& e : program.estimates_of(r)) {
    wide |= program.tensors[e.out].dtype == LOCUS_FLOAT64;
    // Values of pairs are moments of a fit as a rule, and a fit magnifies what they lose.
    wide |= e.value != LOCUS_NONE && e.estimator <= LOCUS_WEIGHTED_SUM && !rows.empty() && program.depends(e.value, rows.back());
  }
  if (wide) return finished(std::make_unique<Tiles<double>>(program, node));
  return finished(std::make_unique<Tiles<float>>(program, node));
}

}  // namespace locus::cpu
