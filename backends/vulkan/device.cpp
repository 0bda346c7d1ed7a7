// Instance, choice of a device, memory and submission; see device.hpp.
#define VOLK_IMPLEMENTATION
#include "backends/vulkan/device.hpp"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace locus::vulkan {
namespace {

constexpr std::uint64_t staging_bytes = 16u << 20;
std::atomic<int> messages{0};

const char* word_of(VkResult r) {
  switch (r) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED: return "there is no Vulkan loader (libvulkan.so.1)";
    case VK_ERROR_DEVICE_LOST: return "the device was lost";
    case VK_ERROR_LAYER_NOT_PRESENT: return "the validation layer is not installed";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "there is no Vulkan driver";
    case VK_ERROR_EXTENSION_NOT_PRESENT: return "an extension is missing";
    case VK_ERROR_FEATURE_NOT_PRESENT: return "a feature is missing";
    default: return "an error of the driver";
  }
}

VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT, const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  ++messages;
  std::fprintf(stderr, "vulkan validation: %s\n", data->pMessage);
  return VK_FALSE;
}

/// The one instance, with its devices; or why there is none.
struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> devices;
  std::string reason;

  Instance() {
    if (const VkResult r = volkInitialize(); r != VK_SUCCESS) {
      reason = word_of(r);
      return;
    }
    const char* asked = std::getenv("LOCUS_VULKAN_VALIDATION");
    const bool validate = asked && std::strcmp(asked, "1") == 0;
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO, nullptr, "locus", 1, "locus", 1, VK_API_VERSION_1_2};
    const char* const layer = "VK_LAYER_KHRONOS_validation";
    const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    const VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, nullptr, 1, &synchronization, 0, nullptr};
    VkInstanceCreateInfo create{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    create.pApplicationInfo = &application;
    if (validate) create.pNext = &features, create.enabledLayerCount = 1, create.ppEnabledLayerNames = &layer, create.enabledExtensionCount = 2, create.ppEnabledExtensionNames = extensions;
    if (const VkResult r = vkCreateInstance(&create, nullptr, &handle); r != VK_SUCCESS) {
      reason = word_of(r), handle = VK_NULL_HANDLE;
      return;
    }
    volkLoadInstanceOnly(handle);
    if (validate) {
      VkDebugUtilsMessengerCreateInfoEXT m{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
      m.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
      m.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
      m.pfnUserCallback = on_message;
      vkCreateDebugUtilsMessengerEXT(handle, &m, nullptr, &messenger);
    }
    std::uint32_t count = 0;
    vkEnumeratePhysicalDevices(handle, &count, nullptr);
    devices.resize(count);
    if (count > 0) vkEnumeratePhysicalDevices(handle, &count, devices.data());
    if (count == 0) reason = "there is a Vulkan loader and no device";
  }
};

// Instance, device and pipelines live to the end of the process and are left to it: drivers have handlers of their own at exit, in an unknown order.
Instance& instance() {
  static Instance& one = *new Instance;
  return one;
}

const char* type_of(VkPhysicalDeviceType t) {
  switch (t) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return "cpu";
    default: return "other";
  }
}

struct Features {
  VkPhysicalDevice8BitStorageFeatures bytes{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features int8{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, &bytes};
  VkPhysicalDeviceBufferDeviceAddressFeatures address{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES, &int8};
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &address};
  Features() = default;
  Features(const Features&) = delete;
};

std::string missing_of(VkPhysicalDevice d, const VkPhysicalDeviceProperties& p) {
  if (p.apiVersion < VK_API_VERSION_1_2) return "Vulkan 1.2";
  Features f;
  vkGetPhysicalDeviceFeatures2(d, &f.all);
  std::string text;
  const auto need = [&](VkBool32 has, const char* what) {
    if (!has) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  need(f.address.bufferDeviceAddress, "buffer addresses");
  need(f.all.features.shaderInt64, "64-bit integers");
  need(f.all.features.shaderFloat64, "64-bit floats");
  need(f.bytes.storageBuffer8BitAccess && f.int8.shaderInt8, "8-bit storage");
  const auto& l = p.limits;
  need(l.maxComputeWorkGroupInvocations >= 128 && l.maxComputeWorkGroupSize[0] >= 128, "workgroups of 128");
  need(l.maxComputeSharedMemorySize >= 16384, "16 KiB of shared memory");
  need(l.maxPushConstantsSize >= 128, "push constants of 128 bytes");
  return text;
}

DeviceInfo info_of(VkPhysicalDevice d) {
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &driver};
  vkGetPhysicalDeviceProperties2(d, &p);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(d, &memory);
  DeviceInfo info;
  info.name = p.properties.deviceName, info.type = type_of(p.properties.deviceType);
  info.driver = std::string(driver.driverName) + ' ' + driver.driverInfo;
  info.software = p.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  for (std::uint32_t h = 0; h < memory.memoryHeapCount; ++h)
    if ((memory.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) info.memory = std::max<std::uint64_t>(info.memory, memory.memoryHeaps[h].size);
  info.missing = missing_of(d, p.properties);
  return info;
}

}  // namespace

void check(VkResult result, const char* call) {
  if (result >= 0) return;
  const bool memory = result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
  throw Failure(memory ? LOCUS_OUT_OF_MEMORY : LOCUS_FAILED, std::string(word_of(result)) + " (" + call + ", " + std::to_string(result) + ")");
}

int Device::validation_messages() { return messages; }

std::vector<DeviceInfo> Device::list(std::string& reason) {
  std::vector<DeviceInfo> all;
  for (VkPhysicalDevice d : instance().devices) all.push_back(info_of(d));
  reason = instance().reason;
  return all;
}

Device& Device::get() {
  static Device* one = nullptr;
  if (one) return *one;
  Instance& i = instance();
  if (!i.reason.empty()) throw Failure(LOCUS_UNSUPPORTED, i.reason);
  const char* wanted = std::getenv("LOCUS_VULKAN_DEVICE");
  int best = -1;
  std::string seen;
  std::vector<DeviceInfo> infos;
  for (std::size_t k = 0; k < i.devices.size(); ++k) {
    infos.push_back(info_of(i.devices[k]));
    const DeviceInfo& d = infos.back();
    seen += (seen.empty() ? "" : "; ") + std::to_string(k) + ": " + d.name + (d.missing.empty() ? "" : " (lacks " + d.missing + ")");
    if (wanted && *wanted && std::to_string(k) != wanted && d.name.find(wanted) == std::string::npos && d.type != wanted) continue;
    if (!d.missing.empty()) continue;
    if (best < 0 || (infos[static_cast<std::size_t>(best)].software && !d.software)) best = static_cast<int>(k);
  }
  if (best < 0) throw Failure(LOCUS_UNSUPPORTED, wanted && *wanted ? "LOCUS_VULKAN_DEVICE=" + std::string(wanted) + " fits no usable device; there are " + seen : "no device can be used: " + seen);
  one = new Device(i.devices[static_cast<std::size_t>(best)], infos[static_cast<std::size_t>(best)]);
  return *one;
}

Device::Device(VkPhysicalDevice physical, DeviceInfo info) : physical_(physical), info_(std::move(info)) {
  VkPhysicalDeviceMaintenance3Properties most{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &most};
  vkGetPhysicalDeviceProperties2(physical_, &p);
  limits_ = p.properties.limits, period_ = limits_.timestampPeriod, largest_ = most.maxMemoryAllocationSize;
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);
  std::uint32_t count = 0, family = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
  while (family < count && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family;
  if (family == count) throw Failure(LOCUS_UNSUPPORTED, "the device has no compute queue");
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family, queue.queueCount = 1, queue.pQueuePriorities = &priority;
  Features f;
  f.address.bufferDeviceAddress = f.bytes.storageBuffer8BitAccess = f.int8.shaderInt8 = VK_TRUE;
  f.all.features.shaderInt64 = f.all.features.shaderFloat64 = VK_TRUE;
  VkDeviceCreateInfo create{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &f.all};
  create.queueCreateInfoCount = 1, create.pQueueCreateInfos = &queue;
  check(vkCreateDevice(physical_, &create, nullptr, &device_), "vkCreateDevice");
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

// In a memory type of the first kind, or of the second where there is none.
Memory Device::make(std::uint64_t bytes, VkBufferUsageFlags usage, VkMemoryPropertyFlags first, VkMemoryPropertyFlags second) {
  Memory m;
  m.bytes = bytes;
  const auto no_memory = [&](const char* why) {
    release(m);
    throw Failure(LOCUS_OUT_OF_MEMORY, std::to_string(bytes) + " bytes are asked for, " + std::to_string(in_use_) + " are in use, the device has " + std::to_string(info_.memory) + " and gives at most " +
                                           std::to_string(largest_) + " at once" + why);
  };
  if (bytes > largest_) no_memory("");
  VkBufferCreateInfo create{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  create.size = bytes, create.usage = usage;
  if (vkCreateBuffer(device_, &create, nullptr, &m.buffer) != VK_SUCCESS) m.buffer = VK_NULL_HANDLE, no_memory("");
  VkMemoryRequirements need;
  vkGetBufferMemoryRequirements(device_, m.buffer, &need);
  std::uint32_t type = memory_type(need.memoryTypeBits, first);
  if (type == UINT32_MAX) type = memory_type(need.memoryTypeBits, second);
  if (type == UINT32_MAX) no_memory(": no memory type fits");
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
  const VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT};
  vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &all, 0, nullptr, 0, nullptr);
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
