// Which backend runs: the one asked for, or the highest score. A backend that cannot run is an error that says why, never a silent other one.
#include <algorithm>
#include <exception>
#include "plugins/host/registry.hpp"

namespace locus {
namespace {

struct Score {
  int value;
  std::string reason;  ///< why it is 0
};

Score ask_score(const locus_backend* backend) {
  char reason[512] = "";
  try {
    const int value = backend->score(reason, sizeof reason);
    reason[sizeof reason - 1] = '\0';
    if (value > 0) return {value, ""};
    return {0, *reason ? reason : "it gives no reason"};
  } catch (...) {
    return {0, "its score function threw an exception"};
  }
}

std::string listed(const std::vector<LoadedBackend>& backends) {
  std::string text;
  for (const LoadedBackend& backend : backends) text += (text.empty() ? "`" : ", `") + backend.name + "`";
  return text;
}

constexpr const char* no_float64 = "it cannot run in float64";

}  // namespace

BackendChoice Registry::choose_named(const std::string& name, bool float64, const std::string& where, Diagnostics& diagnostics) const {
  BackendChoice choice;
  const LoadedBackend* found = backend(name);
  if (!found) {
    std::vector<std::string> names{"auto"};
    for (const LoadedBackend& other : backends_) names.push_back(other.name);
    Diagnostic message{Code::E702, {}, "no backend is named `" + name + "`", "", {}, "", where};
    message.message += backends_.empty() ? ", none is loaded" : ", there are " + listed(backends_);
    const std::string near = nearest_name(name, names);
    message.help = near.empty() ? "`locus plugins -v` shows where backends are looked for" : "write `" + where + " " + near + "`";
    diagnostics.add(std::move(message));
    return choice;
  }
  const Score score = ask_score(found->backend);
  const std::string refusal = score.value == 0 ? score.reason : float64 && !found->backend->float64 ? no_float64 : "";
  choice.reasons.push_back(name + ": " + (refusal.empty() ? "score " + std::to_string(score.value) : "cannot run here: " + refusal));
  if (refusal.empty())
    choice.backend = found;
  else
    diagnostics.add({Code::E703, {}, "the backend `" + name + "` cannot run here: " + refusal, "", {}, "`--backend auto` takes the best one that can", where});
  return choice;
}

BackendChoice Registry::choose_backend(const std::string& name, bool float64, const std::string& where, Diagnostics& diagnostics) const {
  if (name != "auto") return choose_named(name, float64, where, diagnostics);
  BackendChoice choice;
  int best = 0;
  for (const LoadedBackend& candidate : backends_) {
    const Score score = ask_score(candidate.backend);
    const std::string refusal = score.value == 0 ? score.reason : float64 && !candidate.backend->float64 ? no_float64 : "";
    choice.reasons.push_back(candidate.name + ": " + (refusal.empty() ? "score " + std::to_string(score.value) : "cannot run here: " + refusal));
    if (refusal.empty() && score.value > best) {
      best = score.value;
      choice.backend = &candidate;
    }
  }
  if (!choice.backend) {
    Diagnostic message{Code::E704, {}, backends_.empty() ? "no backend is loaded" : "none of the loaded backends can run here", "", {}, "", where};
    for (const std::string& reason : choice.reasons) message.notes.push_back({{}, reason});
    message.help = "`locus plugins -v` shows where backends are looked for";
    diagnostics.add(std::move(message));
  }
  return choice;
}

}  // namespace locus
