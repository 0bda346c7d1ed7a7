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
  unsigned version = 0, revision = 0;
  shaderc_get_spv_version(&version, &revision);
  char name[64];
  std::snprintf(name, sizeof name, "%016llx%016llx.spv", static_cast<unsigned long long>(hash_of(glsl, version)), static_cast<unsigned long long>(hash_of(glsl, 0x9e3779b97f4a7c15u + revision)));
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
  options.SetOptimizationLevel(shaderc_optimization_level_performance);
  const auto made = compiler.CompileGlslToSpv(glsl, shaderc_compute_shader, "locus", options);
  if (made.GetCompilationStatus() != shaderc_compilation_status_success) {
    throw Failure(LOCUS_FAILED, "a shader does not compile: " + made.GetErrorMessage().substr(0, 300));
  }
  std::vector<std::uint32_t> words(made.cbegin(), made.cend());
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
