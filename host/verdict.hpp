// What is said of a case that was compared with what it should give: a line for it, lines for what differs, and the count of all at the end.
// Must not know what a case is.
#pragma once
#include <set>
#include <string>
#include <vector>
#include "core/base/diagnostic.hpp"

namespace locus::host {

struct Verdict {
  bool fine = true;
  int compared = 0;                  ///< results that were held against a target
  std::set<std::string> unbuilt;     ///< constructs that this version does not run yet
  std::vector<std::string> lines;    ///< always shown: what differs, what was left out and why
  std::vector<std::string> details;  ///< shown with --verbose

  /// Errors from the one at `first` on; "not built yet" is counted apart.
  void take(const Diagnostics& diagnostics, std::size_t first, const std::string& label);
  void compare(bool passed, const std::string& line);
  void fail(const std::string& line);
};

class Tally {
 public:
  Tally(bool quiet, bool verbose) : quiet_(quiet), verbose_(verbose) {}
  /// Prints `pass|FAIL|unbuilt|skip NAME` and what belongs to it.
  void count(const std::string& name, double seconds, const Verdict& verdict);
  int total() const { return passed_ + failed_ + unbuilt_ + skipped_; }
  bool failed() const { return failed_ > 0; }
  /// "84 passed, 0 failed, 12 not built yet"
  void print() const;

 private:
  bool quiet_, verbose_;
  int passed_ = 0, failed_ = 0, unbuilt_ = 0, skipped_ = 0;
};

}  // namespace locus::host
