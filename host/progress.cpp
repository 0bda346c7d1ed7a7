// Signs of life of long work: a bar with rate and time left on a terminal, plain lines at intervals elsewhere, nothing when quiet.
// Must not know what the work is.
#include "host/progress.hpp"
#include <algorithm>
#include <cstdio>
#include <iostream>
#include "host/session.hpp"
#include "plugins/host/host_services.hpp"

namespace locus::host {
namespace {

constexpr double silent_seconds = 2;
constexpr double bar_seconds = 0.2;
constexpr double line_seconds = 10;

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.1f" : "%.0f", value);
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string amount_text(double amount) {
  if (amount >= 1e9) return rounded(amount / 1e9) + " billion";
  if (amount >= 1e6) return rounded(amount / 1e6) + " million";
  if (amount >= 1e3) return rounded(amount / 1e3) + " thousand";
  return rounded(amount);
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(standard_error_is_terminal()) {
  if (quiet_) return;
  host_services().use_progress([this](double done, double total) {
    show(done, total);
    return false;
  });
}

Progress::~Progress() {
  if (quiet_) return;
  host_services().use_progress({});
  if (shown_ && terminal_) std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::show(double done, double total) {
  const auto now = clock::now();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (quiet_ || seconds < silent_seconds || !(total > 0)) return;
  if (shown_ && since < (terminal_ ? bar_seconds : line_seconds)) return;
  last_ = now, shown_ = true;
  const double share = std::clamp(done / total, 0.0, 1.0);
  terminal_ ? bar(share, seconds, done / seconds) : line(share, seconds, done / seconds);
}

void Progress::bar(double share, double seconds, double rate) {
  constexpr int width = 30;
  const int full = static_cast<int>(share * width);
  std::string text = "\r[" + std::string(static_cast<std::size_t>(full), '#') + std::string(static_cast<std::size_t>(width - full), '.') + "] " + std::to_string(static_cast<int>(share * 100)) + " %";
  text += ", " + amount_text(rate) + " a second";
  if (share > 0.01) text += ", " + duration_text(seconds * (1 - share) / share) + " left";
  std::cerr << text << "\x1b[K" << std::flush;
}

void Progress::line(double share, double seconds, double rate) {
  std::cerr << "progress: " << static_cast<int>(share * 100) << " % after " << duration_text(seconds) << ", " << amount_text(rate) << " a second";
  if (share > 0.01) std::cerr << ", " << duration_text(seconds * (1 - share) / share) << " left";
  std::cerr << '\n';
}

}  // namespace locus::host
