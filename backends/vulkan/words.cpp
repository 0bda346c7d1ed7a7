// See words.hpp.
#include "backends/vulkan/words.hpp"

namespace locus::vulkan {
namespace {

std::string size_text(std::uint64_t bytes) {
  static const char* const units[] = {" bytes", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  while (unit < 3 && bytes >= 10240) bytes /= 1024, ++unit;
  return std::to_string(bytes) + units[unit];
}

}  // namespace

const char* words_of(VkResult r) {
  switch (r) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "there is no Vulkan loader: install libvulkan1";
    case VK_ERROR_DEVICE_LOST:
      return "the device was lost: its driver was reset or ended the work; run again, on other data of less size if it happens again, or with `--backend cpu`";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "the validation layer is not installed: install vulkan-validationlayers, or unset LOCUS_VULKAN_VALIDATION";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "there is no Vulkan driver: install that of the GPU, or mesa-vulkan-drivers for a software one";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "an extension is missing";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "a feature is missing";
    default:
      return "an error of the driver";
  }
}

std::string no_memory_words(std::uint64_t asked, const MemoryState& s, const std::string& kind) {
  return "the device has no memory for " + size_text(asked) + kind + ": " + size_text(s.free) + " of its " + size_text(s.total) + " are free, " + size_text(s.in_use) +
         " are this process's, and it gives at most " + size_text(s.largest) + " at once";
}

}  // namespace locus::vulkan
