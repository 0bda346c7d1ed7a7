// Calls one function on several threads at once. The only user of oneTBB; must not know what the function does.
#pragma once

namespace locus {

/// At most `count` threads, the caller's among them. Construct and resize while nothing runs.
class Threads {
 public:
  Threads();
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// 0: as many as the machine lets this process use.
  void resize(unsigned count);
  unsigned count() const { return count_; }

  /// Calls work(argument) `times` times, each on whatever thread is free, and returns when all are done. `work` must not throw.
  void run(int times, void (*work)(void* argument), void* argument);

 private:
  struct Arena;
  Arena* arena_;
  unsigned count_ = 1;
};

}  // namespace locus
