// oneTBB behind Threads. A thread sanitizer sees the headers of TBB but not its library, and would report every hand-over of a task: its builds
// compile this one file without it, so nothing else belongs here.
#include "plugins/host/parallel.hpp"
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <algorithm>
#include <optional>

namespace locus {
namespace {

/// An arena alone gets no more threads than there are cores. The limit is one for the process, and of several the least would hold.
void limit_threads(unsigned count) {
  static auto& limit = *new std::optional<oneapi::tbb::global_control>;
  limit.reset();
  limit.emplace(oneapi::tbb::global_control::max_allowed_parallelism, count);
}

}  // namespace

struct Threads::Arena {
  oneapi::tbb::task_arena arena{1};
};

Threads::Threads() : arena_(new Arena) { resize(0); }
Threads::~Threads() { delete arena_; }

void Threads::resize(unsigned count) {
  const unsigned all = static_cast<unsigned>(std::max(1, oneapi::tbb::info::default_concurrency()));
  count_ = count == 0 ? all : count;
  limit_threads(count_);
  arena_->arena.terminate();
  arena_->arena.initialize(static_cast<int>(count_));
}

void Threads::run(int times, void (*work)(void*), void* argument) {
  arena_->arena.execute([&] {
    oneapi::tbb::parallel_for(
        0, times, 1, [=](int) { work(argument); }, oneapi::tbb::simple_partitioner());
  });
}

}  // namespace locus
