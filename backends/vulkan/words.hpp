// What the driver's refusals are in words. Knows nothing of devices: whoever calls says the figures.
#pragma once
#include <vulkan/vulkan_core.h>
#include <cstdint>
#include <string>

namespace locus::vulkan {

/// Of an error of Vulkan: what it means for the one who runs, and what helps where something does.
const char* words_of(VkResult result);

struct MemoryState {
  std::uint64_t free = 0;     ///< as the driver tells, or else the heap less what this process has
  std::uint64_t total = 0;    ///< of the largest heap on the device
  std::uint64_t in_use = 0;   ///< by this process
  std::uint64_t largest = 0;  ///< at once
};
/// `kind`: " of a kind that shaders reach", or "".
std::string no_memory_words(std::uint64_t asked, const MemoryState& state, const std::string& kind);

}  // namespace locus::vulkan
