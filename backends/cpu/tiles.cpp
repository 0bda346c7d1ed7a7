// Dense reduces in tiles, batch by batch; see tiles.hpp. What is compiled stands in tile_reduce, what all blocks share in tile_samples, a block in tile_block.
#include "backends/cpu/tiles.hpp"
#include <algorithm>
#include "backends/cpu/tile_block.hpp"

namespace locus::cpu {
namespace {

template <class T>
class Tiles final : public TilePlan {
 public:
  Tiles(const Program& program, std::uint32_t node) : plan_(program, node) {}
  bool compile() { return plan_.compile(); }

  std::string words() const override {
    std::string text = "tiles of " + std::to_string(plan_.height) + " x " + std::to_string(plan_.span) + ", " + table().name + (sizeof(T) == 4 ? ", float32" : ", float64");
    if (plan_.score.kind != Ref::none) text += ", running maximum";
    if (plan_.where.kind != Ref::none) text += ", blocks by mask";
    if (!plan_.pairs.empty()) text += ", " + std::to_string(plan_.pair_width) + " values of pairs";
    return text;
  }

  int run(const Driver& tensors, const locus_host* host, locus_report* report, TileOutcome& outcome, const TileOrder* order) const override {
    TileRun<T> run{plan_, tensors, host, report, outcome, order};
    return all(run);
  }
  std::int64_t height() const override { return plan_.height; }
  std::int64_t span() const override { return plan_.span; }

 private:
  static int all(TileRun<T>& run);
  static void one_batch(TileRun<T>& run, std::int64_t b, std::int64_t batches);

  TileReduce<T> plan_;
};

template <class T>
int Tiles<T>::all(TileRun<T>& run) {
  const Program& p = run.plan.program;
  run.n = run.plan.query == LOCUS_NONE ? 1 : p.extent(run.plan.query);
  run.m = p.extent(run.plan.reduce.sample);
  run.padded = rounded(run.m, 256);
  run.width = run.plan.width <= few_values ? run.plan.width : rounded(run.plan.width, 16);
  std::int64_t batches = 1;
  for (Id c : run.plan.batch) batches *= p.extent(c);
  run.batch_at.assign(p.coordinates.size(), 0);
  for (std::int64_t b = 0; b < batches && run.status == LOCUS_OK && !run.outcome.unfit; ++b) {
    std::int64_t rest = b;
    for (std::size_t k = run.plan.batch.size(); k-- > 0;) {
      run.batch_at[run.plan.batch[k]] = rest % p.extent(run.plan.batch[k]);
      rest /= p.extent(run.plan.batch[k]);
    }
    one_batch(run, b, batches);
  }
  if (run.outcome.unfit) return LOCUS_OK;
  std::sort(run.outcome.redo.begin(), run.outcome.redo.end());
  if ((run.plan.reduce.flags & LOCUS_COUNT_EMPTY) != 0 && run.plan.node < run.report->node_count) run.report->empty_rows[run.plan.node] += run.empty;
  if (run.report->skipped && run.plan.node < run.report->node_count && run.blocks > 0) run.report->skipped[run.plan.node] = static_cast<double>(run.skipped) / static_cast<double>(run.blocks);
  return run.status;
}

template <class T>
void Tiles<T>::one_batch(TileRun<T>& run, std::int64_t b, std::int64_t batches) {
  const TileSamples<T> s = run.samples();
  if (run.outcome.unfit || run.status != LOCUS_OK) return;
  const std::int64_t query_blocks = (run.n + run.plan.height - 1) / run.plan.height;
  parallel(run.host, query_blocks, static_cast<double>(run.plan.height) * static_cast<double>(run.m) * static_cast<double>(8 + run.plan.width / 4), [&](std::int64_t begin, std::int64_t end) {
    TileBlock<T> block(run, s, b);
    for (std::int64_t k = begin; k < end && run.status == LOCUS_OK && !run.outcome.unfit; ++k) {
      block.run(k * run.plan.height, std::min(run.plan.height, run.n - k * run.plan.height));
      const double pairs = static_cast<double>(run.plan.height) * static_cast<double>(run.m);
      if (run.host->progress && run.host->progress(run.host->context, static_cast<double>(++run.done) * pairs, static_cast<double>(query_blocks * batches) * pairs) != 0) {
        const std::lock_guard lock(run.mutex);
        if (run.status == LOCUS_OK) plugin::say(run.report, "stopped on request"), run.status = LOCUS_FAILED;
      }
    }
    const std::lock_guard lock(run.mutex);
    run.outcome.redo.insert(run.outcome.redo.end(), block.redo.begin(), block.redo.end());
    run.empty += block.empty, run.blocks += block.blocks, run.skipped += block.skipped;
  });
}

template <class T>
std::unique_ptr<TilePlan> finished(std::unique_ptr<Tiles<T>> plan) {
  return plan->compile() ? std::move(plan) : nullptr;
}

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
