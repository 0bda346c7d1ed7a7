// shaderc and the cache of what it made; see shader.hpp.
#include "backends/vulkan/shader.hpp"
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <shaderc/shaderc.hpp>

namespace locus::vulkan {
namespace {

namespace fs = std::filesystem;

std::uint64_t hash_of(const std::string& text, std::uint64_t seed) {
  std::uint64_t h = 1469598103934665603u ^ seed;
  for (unsigned char c : text) h = (h ^ c) * 1099511628211u, h ^= h >> 29;
  return h;
}

// Every floating operation as it is written: drivers may else take x - n a - n b for x - n (a + b), which costs the digits that the two parts are for.
std::vector<std::uint32_t> exact(const std::vector<std::uint32_t>& words) {
  constexpr std::uint32_t decorate = 71, no_contraction = 42, negate = 127, add = 129, subtract = 131, multiply = 133, divide = 136, extended = 12, type_void = 19, type_function = 33;
  std::vector<std::uint32_t> decorations;
  std::size_t types = 0;
  for (std::size_t at = 5; at < words.size();) {
    const std::uint32_t op = words[at] & 0xffffu, length = words[at] >> 16;
    if (length == 0 || at + length > words.size()) return words;
    if (types == 0 && op >= type_void && op <= type_function) types = at;  // annotations end where types begin
    if ((op == negate || op == add || op == subtract || op == multiply || op == divide || op == extended) && length > 2) {
      decorations.push_back(3u << 16 | decorate);
      decorations.push_back(words[at + 2]);
      decorations.push_back(no_contraction);
    }
    at += length;
  }
  std::vector<std::uint32_t> all(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(types));
  all.insert(all.end(), decorations.begin(), decorations.end());
  all.insert(all.end(), words.begin() + static_cast<std::ptrdiff_t>(types), words.end());
  return all;
}

std::string cache_folder() {
  const char* base = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (!(base && *base) && !(home && *home)) return "";
  const fs::path folder = base && *base ? fs::path(base) / "locus" : fs::path(home) / ".cache" / "locus";
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? "" : folder.string();
}

}  // namespace

Shaders& Shaders::get() {
  static Shaders& one = *new Shaders;
  return one;
}

Shaders::Shaders() : folder_(cache_folder()) {
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
  VkPipelineLayoutCreateInfo create{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  create.pushConstantRangeCount = 1, create.pPushConstantRanges = &range;
  check(vkCreatePipelineLayout(Device::get().handle(), &create, nullptr, &layout_), "vkCreatePipelineLayout");
}

// A file that is not what its name says (cut, or another text of the same hash) is made anew: it holds the length of the text and the words.
std::vector<std::uint32_t> Shaders::spirv(const std::string& glsl) {
  constexpr unsigned form = 3;  // of what is kept
  unsigned version = 0, revision = 0;
  shaderc_get_spv_version(&version, &revision);
  char name[64];
  std::snprintf(name, sizeof name, "%016llx%016llx.spv", static_cast<unsigned long long>(hash_of(glsl, version + form)), static_cast<unsigned long long>(hash_of(glsl, 0x9e3779b97f4a7c15u + revision)));
  const fs::path path = fs::path(folder_) / name;
  if (!folder_.empty()) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::vector<std::uint32_t> words(bytes.size() / 4);
    std::copy_n(bytes.data(), words.size() * 4, reinterpret_cast<char*>(words.data()));
    if (words.size() > 6 && words[0] == glsl.size() && words[1] == words.size() - 2 && words[2] == 0x07230203u) return {words.begin() + 2, words.end()};
  }
  static shaderc::Compiler compiler;
  shaderc::CompileOptions options;
  options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
  options.SetOptimizationLevel(shaderc_optimization_level_zero);
  const auto made = compiler.CompileGlslToSpv(glsl, shaderc_compute_shader, "locus", options);
  if (made.GetCompilationStatus() != shaderc_compilation_status_success) {
    throw Failure(LOCUS_FAILED, "a shader does not compile: " + made.GetErrorMessage().substr(0, 300));
  }
  const std::vector<std::uint32_t> words = exact({made.cbegin(), made.cend()});
  if (!folder_.empty()) {
    const fs::path draft = path.string() + "." + std::to_string(::getpid());
    std::ofstream out(draft, std::ios::binary);
    const std::uint32_t head[] = {static_cast<std::uint32_t>(glsl.size()), static_cast<std::uint32_t>(words.size())};
    out.write(reinterpret_cast<const char*>(head), sizeof head);
    out.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
    out.close();
    std::error_code error;
    if (out) fs::rename(draft, path, error);
    if (!out || error) fs::remove(draft, error), folder_.clear();  // it cannot be written: the run goes on without
  }
  return words;
}

VkPipeline Shaders::pipeline(const std::string& glsl) {
  const auto found = made_.find(glsl);
  if (found != made_.end()) return found->second;
  if (const char* show = std::getenv("LOCUS_VULKAN_SHOW"); show && *show == '1') std::fprintf(stderr, "%s\n", glsl.c_str());
  const std::vector<std::uint32_t> words = spirv(glsl);
  VkShaderModuleCreateInfo module{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module.codeSize = words.size() * 4, module.pCode = words.data();
  VkShaderModule m = VK_NULL_HANDLE;
  const VkDevice device = Device::get().handle();
  check(vkCreateShaderModule(device, &module, nullptr, &m), "vkCreateShaderModule");
  VkComputePipelineCreateInfo create{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  create.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, m, "main", nullptr};
  create.layout = layout_;
  VkPipeline made = VK_NULL_HANDLE;
  const VkResult r = vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &create, nullptr, &made);
  vkDestroyShaderModule(device, m, nullptr);
  check(r, "vkCreateComputePipelines");
  made_.emplace(glsl, made);
  return made;
}

}  // namespace locus::vulkan
