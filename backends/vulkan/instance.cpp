// Loader, instance, validation layer, choice of a device; see instance.hpp.
#define VOLK_IMPLEMENTATION
#include "backends/vulkan/instance.hpp"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include "backends/vulkan/log.hpp"
#include "backends/vulkan/words.hpp"

namespace locus::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT, const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  static std::atomic<int> messages{0};
  constexpr int shown = 20;
  if (data->pMessageIdName && std::strcmp(data->pMessageIdName, "Loader Message") == 0) return VK_FALSE;  // of the machine's set-up, not of this use
  const int n = ++messages;
  if (n <= shown) say(1, "vulkan validation " + std::to_string(n) + ": " + data->pMessage);
  if (n == shown + 1) say(1, "vulkan validation: further messages are not shown");
  return VK_FALSE;
}

bool validation_wanted() {
  const char* asked = std::getenv("LOCUS_VULKAN_VALIDATION");
  return asked && std::strcmp(asked, "1") == 0;
}

/// The one instance and its devices, or why there is none. It lives to the end of the process and is left to it: drivers have handlers of their own at
/// exit, in an unknown order.
struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> devices;
  std::string reason;

  Instance() {
    if (const VkResult r = open(); r != VK_SUCCESS)
      reason = words_of(r);
    else if (devices.empty())
      reason = "there is a Vulkan loader and no device: install the driver of the GPU, or mesa-vulkan-drivers for a software one";
  }

 private:
  VkResult open() {
    if (const VkResult r = volkInitialize(); r != VK_SUCCESS) return r;
    const VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO, nullptr, "locus", 1, "locus", 1, VK_API_VERSION_1_2};
    const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    const VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    const VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, nullptr, 1, &synchronization, 0, nullptr};
    VkInstanceCreateInfo create{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    create.pApplicationInfo = &application;
    if (validation_wanted())
      create.pNext = &features, create.enabledLayerCount = 1, create.ppEnabledLayerNames = &validation_layer, create.enabledExtensionCount = 2,
      create.ppEnabledExtensionNames = extensions;
    if (const VkResult r = vkCreateInstance(&create, nullptr, &handle); r != VK_SUCCESS) return r;
    volkLoadInstanceOnly(handle);
    if (validation_wanted()) listen();
    std::uint32_t count = 0;
    if (const VkResult r = vkEnumeratePhysicalDevices(handle, &count, nullptr); r != VK_SUCCESS) return r;
    devices.resize(count);
    return count == 0 ? VK_SUCCESS : vkEnumeratePhysicalDevices(handle, &count, devices.data());
  }

  void listen() {
    VkDebugUtilsMessengerCreateInfoEXT m{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    m.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    m.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    m.pfnUserCallback = on_message;
    vkCreateDebugUtilsMessengerEXT(handle, &m, nullptr, &messenger);
  }
};

Instance& instance() {
  static Instance& one = *new Instance;
  return one;
}

const char* type_of(VkPhysicalDeviceType t) {
  switch (t) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return "cpu";
    default:
      return "other";
  }
}

// Features and limits that every shader of this backend relies on; software drivers do not enforce limits themselves.
std::string missing_of(VkPhysicalDevice d, const VkPhysicalDeviceProperties& p) {
  if (p.apiVersion < VK_API_VERSION_1_2) return "Vulkan 1.2";
  VkPhysicalDeviceVulkan12Features f{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f};
  vkGetPhysicalDeviceFeatures2(d, &all);
  std::string text;
  const auto need = [&](bool has, const char* what) {
    if (!has) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  need(f.bufferDeviceAddress, "buffer addresses");
  need(all.features.shaderInt64, "64-bit integers");
  need(all.features.shaderFloat64, "64-bit floats");
  need(f.storageBuffer8BitAccess && f.shaderInt8, "8-bit storage");
  const VkPhysicalDeviceLimits& l = p.limits;
  need(l.maxComputeWorkGroupInvocations >= 64 && l.maxComputeWorkGroupSize[0] >= 64, "workgroups of 64");
  need(l.maxComputeWorkGroupCount[0] >= 65535 && l.maxComputeWorkGroupCount[1] >= 65535 && l.maxComputeWorkGroupCount[2] >= 65535, "65535 workgroups");
  need(l.maxPushConstantsSize >= 128, "push constants of 128 bytes");
  return text;
}

DeviceInfo info_of(VkPhysicalDevice d) {
  VkPhysicalDeviceVulkan12Properties twelve{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &twelve};
  vkGetPhysicalDeviceProperties2(d, &p);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(d, &memory);
  DeviceInfo info;
  info.handle = d, info.name = p.properties.deviceName, info.type = type_of(p.properties.deviceType);
  info.driver = std::string(twelve.driverName) + ' ' + twelve.driverInfo;
  info.software = p.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  info.keeps_nan = twelve.shaderSignedZeroInfNanPreserveFloat32 && twelve.shaderSignedZeroInfNanPreserveFloat64;
  for (std::uint32_t h = 0; h < memory.memoryHeapCount; ++h)
    if ((memory.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) info.memory = std::max<std::uint64_t>(info.memory, memory.memoryHeaps[h].size);
  std::uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(d, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(d, nullptr, &count, extensions.data());
  for (const VkExtensionProperties& e : extensions) info.tells_free = info.tells_free || std::strcmp(e.extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
  info.missing = missing_of(d, p.properties);
  return info;
}

}  // namespace

void check(VkResult result, const char* call) {
  if (result >= 0) return;
  const bool memory = result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
  throw Failure(memory ? LOCUS_OUT_OF_MEMORY : LOCUS_FAILED, std::string(words_of(result)) + " (" + call + ", " + std::to_string(result) + ")");
}

std::vector<DeviceInfo> devices(std::string& reason) {
  std::vector<DeviceInfo> all;
  for (VkPhysicalDevice d : instance().devices) all.push_back(info_of(d));
  reason = instance().reason;
  if (!reason.empty()) return {};
  const char* wanted = std::getenv("LOCUS_VULKAN_DEVICE");
  const bool chosen = wanted && *wanted;
  std::string seen;
  std::size_t best = all.size();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const DeviceInfo& d = all[k];
    seen += (seen.empty() ? "" : "; ") + std::to_string(k) + ": " + d.name + " (" + d.type + (d.missing.empty() ? "" : ", lacks " + d.missing) + ")";
    const bool fits = !chosen || std::to_string(k) == wanted || d.name.find(wanted) != std::string::npos || d.type == wanted;
    if (fits && d.missing.empty() && (best == all.size() || (all[best].software && !d.software))) best = k;
  }
  if (best == all.size())
    reason = chosen ? "LOCUS_VULKAN_DEVICE=" + std::string(wanted) + " fits no usable device; unset it, or name one of " + seen : "no device can be used: " + seen;
  else
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(best), all.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  return all;
}

}  // namespace locus::vulkan
