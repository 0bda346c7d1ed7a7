// A Vulkan device with one compute queue: choice, limits, memory, submission. Knows nothing of programs and shaders.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include "backends/vulkan/instance.hpp"
#include "backends/vulkan/words.hpp"

namespace locus::vulkan {

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
  /// The one that runs, opened on first use. Throws a Failure with the reason where there is none.
  static Device& get();

  const DeviceInfo& info() const { return info_; }
  VkDevice handle() const { return device_; }
  double timestamp_nanoseconds() const { return period_; }

  Memory allocate(std::uint64_t bytes);
  void release(Memory& m);
  void write(const Memory& m, std::uint64_t offset, const void* data, std::uint64_t bytes);
  void read(const Memory& m, std::uint64_t offset, void* data, std::uint64_t bytes);

  VkCommandBuffer begin();  ///< a command buffer to record into
  void end(VkCommandBuffer c);
  void submit(const std::vector<VkCommandBuffer>& c);  ///< in order, and waits for all
  void discard(VkCommandBuffer c);

  Device(const Device&) = delete;

 private:
  explicit Device(const DeviceInfo& info);
  MemoryState memory_state() const;
  std::uint32_t memory_type(std::uint32_t bits, VkMemoryPropertyFlags wanted) const;
  Memory make(std::uint64_t bytes, VkBufferUsageFlags usage, VkMemoryPropertyFlags first, VkMemoryPropertyFlags second);
  Memory& staging();
  void copy(VkBuffer from, std::uint64_t from_offset, VkBuffer to, std::uint64_t to_offset, std::uint64_t bytes);

  DeviceInfo info_;
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
