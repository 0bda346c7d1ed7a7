// Signs of life of long work: a bar with rate and time left on a terminal, plain lines at intervals elsewhere, nothing when quiet.
// Must not know what the work is.
#pragma once
#include <chrono>
#include <string>

namespace locus::host {

/// Hooked into the host's services as long as it lives. Nothing is shown in the first two seconds.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` parts of equal work; called at most once at a time.
  void show(double done, double total);

 private:
  using clock = std::chrono::steady_clock;
  void bar(double share, double seconds, double rate);
  void line(double share, double seconds, double rate);

  bool quiet_, terminal_, shown_ = false;
  clock::time_point start_ = clock::now(), last_ = start_;
};

/// "3 s", "4 min 10 s", "2 h 5 min".
std::string duration_text(double seconds);
/// "512", "3.4 thousand", "12 million", "1.2 billion".
std::string amount_text(double amount);

}  // namespace locus::host
