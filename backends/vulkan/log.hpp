// A line for the person who runs: the host prints it. Set once, when the plugin is opened.
#pragma once
#include <string>
#include "plugins/abi/locus_plugin.h"

namespace locus::vulkan {

inline const locus_host* log_host = nullptr;

/// level: 0 note, 1 warning.
inline void say(int level, const std::string& text) {
  if (log_host && log_host->log) log_host->log(log_host->context, level, text.c_str());
}

}  // namespace locus::vulkan
