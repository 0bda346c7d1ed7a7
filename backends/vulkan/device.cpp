// The device that runs: memory and submission; see device.hpp.
#include "backends/vulkan/device.hpp"
#include <algorithm>
#include <cstring>

namespace locus::vulkan {
namespace {

constexpr std::uint64_t staging_bytes = 16u << 20;

}  // namespace

Device& Device::get() {
  static Device* one = nullptr;  // left to the end of the process, as the instance is
  if (one) return *one;
  std::string reason;
  const std::vector<DeviceInfo> all = devices(reason);
  if (!reason.empty()) throw Failure(LOCUS_UNSUPPORTED, reason);
  return *(one = new Device(all.front()));
}

Device::Device(const DeviceInfo& info) : info_(info) {
  VkPhysicalDeviceMaintenance3Properties most{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &most};
  vkGetPhysicalDeviceProperties2(info_.handle, &p);
  period_ = p.properties.limits.timestampPeriod, largest_ = most.maxMemoryAllocationSize;
  vkGetPhysicalDeviceMemoryProperties(info_.handle, &memory_);
  std::uint32_t count = 0, family = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(info_.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(info_.handle, &count, families.data());
  while (family < count && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family;
  if (family == count) throw Failure(LOCUS_UNSUPPORTED, "the device has no compute queue");
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family, queue.queueCount = 1, queue.pQueuePriorities = &priority;
  VkPhysicalDeviceVulkan12Features features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features.bufferDeviceAddress = features.storageBuffer8BitAccess = features.shaderInt8 = VK_TRUE;
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features};
  all.features.shaderInt64 = all.features.shaderFloat64 = VK_TRUE;
  VkDeviceCreateInfo create{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &all};
  create.queueCreateInfoCount = 1, create.pQueueCreateInfos = &queue;
  check(vkCreateDevice(info_.handle, &create, nullptr, &device_), "vkCreateDevice");
  volkLoadDevice(device_);
  vkGetDeviceQueue(device_, family, 0, &queue_);
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = family;
  check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
  VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  check(vkCreateFence(device_, &fence, nullptr, &fence_), "vkCreateFence");
}

std::uint32_t Device::memory_type(std::uint32_t bits, VkMemoryPropertyFlags wanted) const {
  for (std::uint32_t k = 0; k < memory_.memoryTypeCount; ++k)
    if ((bits >> k & 1u) != 0 && (memory_.memoryTypes[k].propertyFlags & wanted) == wanted) return k;
  return UINT32_MAX;
}

// What other processes hold is known where the driver tells.
MemoryState Device::memory_state() const {
  MemoryState s{info_.memory - std::min(info_.memory, in_use_), info_.memory, in_use_, largest_};
  if (!info_.tells_free) return s;
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget};
  vkGetPhysicalDeviceMemoryProperties2(info_.handle, &all);
  s.free = 0;
  for (std::uint32_t h = 0; h < memory_.memoryHeapCount; ++h)
    if ((memory_.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
      s.free = std::max<std::uint64_t>(s.free, budget.heapBudget[h] - std::min(budget.heapBudget[h], budget.heapUsage[h]));
  return s;
}

// In a memory type of the first kind, or of the second where there is none.
Memory Device::make(std::uint64_t bytes, VkBufferUsageFlags usage, VkMemoryPropertyFlags first, VkMemoryPropertyFlags second) {
  Memory m;
  m.bytes = bytes;
  const auto no_memory = [&](const char* why) {
    release(m);
    throw Failure(LOCUS_OUT_OF_MEMORY, no_memory_words(bytes, memory_state(), why));
  };
  if (bytes > largest_ || bytes > info_.memory - std::min(info_.memory, in_use_)) no_memory("");  // software drivers promise more than there is
  VkBufferCreateInfo create{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  create.size = bytes, create.usage = usage;
  if (vkCreateBuffer(device_, &create, nullptr, &m.buffer) != VK_SUCCESS) m.buffer = VK_NULL_HANDLE, no_memory("");
  VkMemoryRequirements need;
  vkGetBufferMemoryRequirements(device_, m.buffer, &need);
  std::uint32_t type = memory_type(need.memoryTypeBits, first);
  if (type == UINT32_MAX) type = memory_type(need.memoryTypeBits, second);
  if (type == UINT32_MAX) no_memory(" of a kind that shaders reach");
  VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  if ((usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0) allocate.pNext = &flags;
  allocate.allocationSize = need.size, allocate.memoryTypeIndex = type;
  if (vkAllocateMemory(device_, &allocate, nullptr, &m.memory) != VK_SUCCESS) m.memory = VK_NULL_HANDLE, no_memory("");
  check(vkBindBufferMemory(device_, m.buffer, m.memory, 0), "vkBindBufferMemory");
  const VkMemoryPropertyFlags has = memory_.memoryTypes[type].propertyFlags;
  if ((has & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 && (has & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0) {
    void* at = nullptr;
    check(vkMapMemory(device_, m.memory, 0, VK_WHOLE_SIZE, 0, &at), "vkMapMemory");
    m.mapped = static_cast<std::byte*>(at);
  }
  if ((usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0) {
    VkBufferDeviceAddressInfo where{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, m.buffer};
    m.address = vkGetBufferDeviceAddress(device_, &where);
  }
  in_use_ += bytes;
  return m;
}

Memory Device::allocate(std::uint64_t bytes) {
  return make(std::max<std::uint64_t>((bytes + 255) / 256 * 256, 256),
              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
              VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

void Device::release(Memory& m) {
  if (m.buffer) vkDestroyBuffer(device_, m.buffer, nullptr);
  if (m.memory) vkFreeMemory(device_, m.memory, nullptr), in_use_ -= m.bytes;
  m = {};
}

Memory& Device::staging() {
  constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  if (!staging_.buffer) staging_ = make(staging_bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, visible);
  return staging_;
}

void Device::copy(VkBuffer from, std::uint64_t from_offset, VkBuffer to, std::uint64_t to_offset, std::uint64_t bytes) {
  const VkCommandBuffer c = begin();
  const VkBufferCopy region{from_offset, to_offset, bytes};
  vkCmdCopyBuffer(c, from, to, 1, &region);
  end(c);
  submit({c});
  discard(c);
}

void Device::write(const Memory& m, std::uint64_t offset, const void* data, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (m.mapped) return void(std::memcpy(m.mapped + offset, data, bytes));
  for (std::uint64_t done = 0; done < bytes; done += staging_bytes) {
    const std::uint64_t now = std::min(staging_bytes, bytes - done);
    std::memcpy(staging().mapped, static_cast<const std::byte*>(data) + done, now);
    copy(staging().buffer, 0, m.buffer, offset + done, now);
  }
}

void Device::read(const Memory& m, std::uint64_t offset, void* data, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (m.mapped) return void(std::memcpy(data, m.mapped + offset, bytes));
  for (std::uint64_t done = 0; done < bytes; done += staging_bytes) {
    const std::uint64_t now = std::min(staging_bytes, bytes - done);
    copy(m.buffer, offset + done, staging().buffer, 0, now);
    std::memcpy(static_cast<std::byte*>(data) + done, staging().mapped, now);
  }
}

VkCommandBuffer Device::begin() {
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = pool_, allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, allocate.commandBufferCount = 1;
  VkCommandBuffer c = VK_NULL_HANDLE;
  check(vkAllocateCommandBuffers(device_, &allocate, &c), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;  // a turn of a loop is submitted several times at once
  check(vkBeginCommandBuffer(c, &info), "vkBeginCommandBuffer");
  return c;
}

// What the shaders have written is there for the host and for the next submission.
void Device::end(VkCommandBuffer c) {
  const VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                            VK_ACCESS_HOST_READ_BIT | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT};
  vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                       VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &all, 0, nullptr, 0, nullptr);
  check(vkEndCommandBuffer(c), "vkEndCommandBuffer");
}

void Device::submit(const std::vector<VkCommandBuffer>& c) {
  if (c.empty()) return;
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = static_cast<std::uint32_t>(c.size()), info.pCommandBuffers = c.data();
  check(vkResetFences(device_, 1, &fence_), "vkResetFences");
  check(vkQueueSubmit(queue_, 1, &info, fence_), "vkQueueSubmit");
  check(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX), "vkWaitForFences");
}

void Device::discard(VkCommandBuffer c) {
  if (c) vkFreeCommandBuffers(device_, pool_, 1, &c);
}

}  // namespace locus::vulkan
