// Verdicts and their count; see verdict.hpp.
#include "host/verdict.hpp"
#include <cstdio>

namespace locus::host {

void Verdict::take(const Diagnostics& diagnostics, std::size_t first, const std::string& label) {
  for (std::size_t k = first; k < diagnostics.all().size(); ++k) {
    const Diagnostic& found = diagnostics.all()[k];
    if (info(found.code).severity != Severity::error) continue;
    if (found.code == Code::E301) unbuilt.insert(found.message);
    else fail(label + ": " + found.message);
  }
}

void Verdict::compare(bool passed, const std::string& line) {
  ++compared;
  fine &= passed;
  (passed ? details : lines).push_back(line);
}

void Verdict::fail(const std::string& line) {
  fine = false;
  lines.push_back(line);
}

void Tally::count(const std::string& name, double seconds, const Verdict& verdict) {
  const char* word = "pass";
  if (!verdict.fine) ++failed_, word = "FAIL";
  else if (!verdict.unbuilt.empty()) ++unbuilt_, word = "unbuilt";
  else if (verdict.compared == 0) ++skipped_, word = "skip";
  else ++passed_;
  if (quiet_ && verdict.fine) return;
  std::string why;
  for (const std::string& what : verdict.unbuilt) why += (why.empty() ? "  " : ", ") + what;
  std::printf("%s %s  [%.1f s]%s\n", word, name.c_str(), seconds, verdict.fine ? why.c_str() : "");
  for (const std::string& line : verdict.lines) std::printf("     %s\n", line.c_str());
  if (verbose_)
    for (const std::string& line : verdict.details) std::printf("     %s\n", line.c_str());
  std::fflush(stdout);
}

void Tally::print() const {
  std::printf("%d passed, %d failed", passed_, failed_);
  if (unbuilt_) std::printf(", %d not built yet", unbuilt_);
  if (skipped_) std::printf(", %d skipped", skipped_);
  std::printf("\n");
}

}  // namespace locus::host
