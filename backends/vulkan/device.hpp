// A Vulkan device with one compute queue: choice, limits, memory, submission. Knows nothing of programs and shaders.
#pragma once
#include <volk.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include "backends/vulkan/failure.hpp"

namespace locus::vulkan {

/// Throws a Failure that names the call where the result is an error.
void check(VkResult result, const char* call);

struct DeviceInfo {
  std::string name, driver, type;  ///< type: "discrete", "integrated", "virtual", "cpu", "other"
  std::uint64_t memory = 0;
  bool software = false;
  std::string missing;             ///< why it cannot be used; "" if it can
};

/// Memory on the device that shaders reach by its address.
struct Memory {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
  std::uint64_t bytes = 0;
  std::byte* mapped = nullptr;  ///< null where the host cannot see it
};

class Device {
 public:
  /// The chosen device of this process, made on first use: the first that can be used, real GPUs before software; or what LOCUS_VULKAN_DEVICE names (an index,
  /// a part of the name, or a type). Throws Failure with the reason.
  static Device& get();
  /// All devices, or the reason why there is none.
  static std::vector<DeviceInfo> list(std::string& reason);

  const DeviceInfo& info() const { return info_; }
  const VkPhysicalDeviceLimits& limits() const { return limits_; }
  VkDevice handle() const { return device_; }
  double timestamp_nanoseconds() const { return period_; }

  Memory allocate(std::uint64_t bytes);
  void release(Memory& m);
  void write(const Memory& m, std::uint64_t offset, const void* data, std::uint64_t bytes);
  void read(const Memory& m, std::uint64_t offset, void* data, std::uint64_t bytes);

  VkCommandBuffer begin();                 ///< a command buffer to record into
  void end(VkCommandBuffer c);
  void submit(const std::vector<VkCommandBuffer>& c);  ///< in order, and waits for all
  void discard(VkCommandBuffer c);

  /// Messages that the validation layer has printed (LOCUS_VULKAN_VALIDATION=1).
  static int validation_messages();

  Device(const Device&) = delete;

 private:
  explicit Device(VkPhysicalDevice physical, DeviceInfo info);
  std::uint32_t memory_type(std::uint32_t bits, VkMemoryPropertyFlags wanted) const;
  Memory make(std::uint64_t bytes, VkBufferUsageFlags usage, VkMemoryPropertyFlags first, VkMemoryPropertyFlags second);
  Memory& staging();
  void copy(VkBuffer from, std::uint64_t from_offset, VkBuffer to, std::uint64_t to_offset, std::uint64_t bytes);

  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  DeviceInfo info_;
  VkPhysicalDeviceLimits limits_{};
  VkPhysicalDeviceMemoryProperties memory_{};
  double period_ = 1;
  std::uint64_t largest_ = 0, in_use_ = 0;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  Memory staging_;
};

}  // namespace locus::vulkan
