// The Vulkan instance of this process, its devices, and which of them runs. Knows nothing of memory and work.
#pragma once
#include <volk.h>
#include <string>
#include <vector>
#include "backends/vulkan/failure.hpp"

namespace locus::vulkan {

/// Throws a Failure that names the call where the result is an error.
void check(VkResult result, const char* call);

struct DeviceInfo {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string name, driver, type;  ///< type: "discrete", "integrated", "virtual", "cpu", "other"
  std::uint64_t memory = 0;        ///< bytes of its largest heap
  bool software = false;
  bool keeps_nan = false;  ///< shaders can ask for infinities, NaN and the sign of 0 as IEEE 754 has them
  bool tells_free = false;  ///< how much memory all processes have left
  std::string missing;     ///< why it cannot be used; "" if it can
};

/// All devices, the one that runs first: what LOCUS_VULKAN_DEVICE names (an index, a part of the name, or a type), else the first usable real GPU, else a
/// usable software driver. If none runs the list may be empty, and `reason` says why.
std::vector<DeviceInfo> devices(std::string& reason);

}  // namespace locus::vulkan
