// Dense reduces in tiles, batch by batch; see tiles.hpp. What is compiled stands in tile_reduce, what all blocks share in tile_samples, a block in tile_block.
#include "backends/cpu/tiles.hpp"
#include <algorithm>
#include <optional>
#include "backends/cpu/tile_block.hpp"

namespace locus::cpu {
namespace {

constexpr std::int64_t ready_at_once = 1 << 24;  // bytes of samples of several batch entries

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
  static void blocks(TileRun<T>& run, const std::vector<TileSamples<T>>& samples);

  TileReduce<T> plan_;
};

template <class T>
int Tiles<T>::all(TileRun<T>& run) {
  const Program& p = run.plan.program;
  run.n = run.plan.query == LOCUS_NONE ? 1 : p.extent(run.plan.query);
  run.m = p.extent(run.plan.reduce.sample);
  run.padded = rounded(run.m, 256);
  run.width = run.plan.width <= few_values ? run.plan.width : rounded(run.plan.width, 16);
  for (Id c : run.plan.batch) run.batches *= p.extent(c);
  // As many batch entries at once as are ready in little memory: heads of attention and small problems share the threads.
  const std::int64_t together = std::max<std::int64_t>(1, ready_at_once / run.bytes());
  for (std::int64_t b = 0; b < run.batches && run.status == LOCUS_OK && !run.outcome.unfit; b += together) {
    const auto samples = run.samples(b, std::min(together, run.batches - b));
    if (run.status == LOCUS_OK && !run.outcome.unfit) blocks(run, samples);
  }
  if (run.outcome.unfit) return LOCUS_OK;
  std::sort(run.outcome.redo.begin(), run.outcome.redo.end());
  if ((run.plan.reduce.flags & LOCUS_COUNT_EMPTY) != 0 && run.plan.node < run.report->node_count) run.report->empty_rows[run.plan.node] += run.empty;
  if (run.report->skipped && run.plan.node < run.report->node_count && run.blocks > 0) run.report->skipped[run.plan.node] = static_cast<double>(run.skipped) / static_cast<double>(run.blocks);
  return run.status;
}

template <class T>
void Tiles<T>::blocks(TileRun<T>& run, const std::vector<TileSamples<T>>& samples) {
  const std::int64_t query_blocks = (run.n + run.plan.height - 1) / run.plan.height;
  const double pairs = static_cast<double>(run.plan.height) * static_cast<double>(run.m);
  parallel(run.host, query_blocks * static_cast<std::int64_t>(samples.size()), pairs * static_cast<double>(8 + run.plan.width / 4), [&](std::int64_t begin, std::int64_t end) {
    std::optional<TileBlock<T>> block;
    const auto leave = [&] {
      if (!block) return;
      const std::lock_guard lock(run.mutex);
      run.outcome.redo.insert(run.outcome.redo.end(), block->redo.begin(), block->redo.end());
      run.empty += block->empty, run.blocks += block->blocks, run.skipped += block->skipped;
    };
    for (std::int64_t k = begin; k < end && run.status == LOCUS_OK && !run.outcome.unfit; ++k) {
      const TileSamples<T>& s = samples[static_cast<std::size_t>(k / query_blocks)];
      if (!block || &block->s != &s) leave(), block.emplace(run, s);
      const std::int64_t first = k % query_blocks * run.plan.height;
      block->run(first, std::min(run.plan.height, run.n - first));
      if (run.host->progress && run.host->progress(run.host->context, static_cast<double>(++run.done) * pairs, static_cast<double>(query_blocks * run.batches) * pairs) != 0) {
        const std::lock_guard lock(run.mutex);
        if (run.status == LOCUS_OK) plugin::say(run.report, "stopped on request"), run.status = LOCUS_FAILED;
      }
    }
    leave();
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
