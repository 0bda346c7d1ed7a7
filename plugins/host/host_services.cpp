// The host's side of locus_host: chunks for threads behind parallel_for, a locked list behind the log, hooks for the rest.
// Nothing may leave these functions by an exception: their callers are C.
#include "plugins/host/host_services.hpp"
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <utility>
#include "plugins/host/parallel.hpp"

namespace locus {

namespace {

std::string text_of_current_exception() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

/// Whoever works for a parallel_for passes here when it begins and when it ends, as does the caller: so all bodies come behind the caller's writes
/// and before its return. TBB orders them too, but a thread sanitizer cannot see into TBB.
std::atomic<std::uint64_t> passage{0};

/// One parallel_for: chunks are handed out in order, so that the cut never depends on who runs them.
struct Work {
  std::int64_t count, grain, chunks;
  void (*body)(void*, std::int64_t, std::int64_t);
  void* argument;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> threw{false};
  std::exception_ptr thrown{};  ///< by the first body that threw

  void take() noexcept {
    for (std::int64_t chunk = next++; chunk < chunks; chunk = next++) {
      const std::int64_t begin = chunk * grain;
      try {
        body(argument, begin, grain < count - begin ? begin + grain : count);
      } catch (...) {
        if (!threw.exchange(true)) thrown = std::current_exception();
        next = chunks;  // the others stop soon
      }
    }
  }
  static void enter(void* work) {
    ++passage;
    static_cast<Work*>(work)->take();
    ++passage;
  }
};

}  // namespace

struct HostServices::State {
  Threads threads;
  std::atomic<ArrayFunction> array_function{nullptr};

  std::mutex progress_lock;
  std::function<bool(double, double)> progress;
  std::atomic<bool> stop{false};

  std::mutex text_lock;
  std::vector<LogLine> lines;
  std::string failure;

  void run(std::int64_t count, std::int64_t grain, void (*body)(void*, std::int64_t, std::int64_t), void* argument) noexcept {
    Work work{count, grain, (count - 1) / grain + 1, body, argument};
    const auto workers = static_cast<int>(std::min<std::int64_t>(threads.count(), work.chunks));
    ++passage;
    try {
      if (workers == 1)
        work.take();
      else
        threads.run(workers, Work::enter, &work);
    } catch (...) {
      fail("parallel_for could not run");
    }
    ++passage;
    if (!work.thrown) return;
    try {
      std::rethrow_exception(work.thrown);
    } catch (...) {
      fail("the body of a plugin's parallel_for threw");
    }
  }

  /// In a handler.
  void fail(const std::string& where) noexcept {
    try {
      const std::string text = where + ": " + text_of_current_exception();
      const std::lock_guard guard(text_lock);
      if (failure.empty()) failure = text;
    } catch (...) {
      std::terminate();  // no memory even for the message: going on would hand out an incomplete result
    }
  }
};

HostServices::HostServices() : state_(new State), table_{} {
  table_.size = sizeof(locus_host);
  table_.abi = LOCUS_ABI;
  table_.context = state_;
  table_.parallel_for = [](void* context, std::int64_t count, std::int64_t grain, void (*body)(void*, std::int64_t, std::int64_t), void* argument) {
    if (count > 0) static_cast<State*>(context)->run(count, std::clamp<std::int64_t>(grain, 1, count), body, argument);
  };
  table_.threads = [](void* context) -> std::uint32_t { return static_cast<State*>(context)->threads.count(); };
  table_.log = [](void* context, int level, const char* text) {
    auto& state = *static_cast<State*>(context);
    try {
      const std::lock_guard guard(state.text_lock);
      state.lines.push_back({level, text ? text : "(a plugin logged NULL)"});
    } catch (...) {
      state.fail("a plugin's log line could not be kept");
    }
  };
  table_.array_function = [](void* context, std::uint32_t function, std::uint32_t inputs, const locus_host_array* input, std::uint32_t outputs,
                             locus_host_array* output, std::uint32_t parameters, const double* parameter) -> int {
    auto& state = *static_cast<State*>(context);
    const ArrayFunction run = state.array_function;
    if (!run) return LOCUS_UNSUPPORTED;
    try {
      return run(function, inputs, input, outputs, output, parameters, parameter);
    } catch (const std::bad_alloc&) {
      return LOCUS_OUT_OF_MEMORY;
    } catch (...) {
      state.fail("an array function failed");
      return LOCUS_FAILED;
    }
  };
  table_.progress = [](void* context, double done, double total) -> int {
    auto& state = *static_cast<State*>(context);
    const std::unique_lock guard(state.progress_lock, std::try_to_lock);
    if (guard && state.progress) {  // whoever finds another thread reporting takes that one's last answer
      try {
        state.stop = state.progress(done, total);
      } catch (...) {
        state.fail("the progress hook threw");
        state.stop = true;
      }
    }
    return state.stop ? 1 : 0;
  };
}

HostServices::~HostServices() { delete state_; }

void HostServices::use_threads(unsigned count) { state_->threads.resize(count); }

unsigned HostServices::threads() const { return state_->threads.count(); }

void HostServices::use_array_function(ArrayFunction function) { state_->array_function = function; }

void HostServices::use_progress(std::function<bool(double, double)> progress) {
  const std::lock_guard guard(state_->progress_lock);
  state_->progress = std::move(progress);
  state_->stop = false;
}

std::vector<LogLine> HostServices::take_log() {
  const std::lock_guard guard(state_->text_lock);
  return std::exchange(state_->lines, {});
}

std::string HostServices::take_failure() {
  const std::lock_guard guard(state_->text_lock);
  return std::exchange(state_->failure, {});
}

HostServices& host_services() {
  static HostServices& services = *new HostServices;
  return services;
}

}  // namespace locus

#if defined(__SANITIZE_THREAD__)
// The sanitizer cannot see into TBB's library, which orders what it hands from thread to thread by means of its own.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() { return "called_from_lib:libtbb.so\nrace:libtbb.so\n"; }
#endif
