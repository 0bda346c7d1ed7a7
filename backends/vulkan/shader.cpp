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
#include "backends/vulkan/log.hpp"

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
  return folder.string();
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

namespace {

// Asks that infinities, NaN and the sign of 0 are kept in float and double: a copy of what the text says of one precision for the other, since the
// compiler keeps one of two such lines.
void keep_nan(std::vector<std::uint32_t>& words) {
  constexpr std::uint32_t execution_mode = 16, keeps = 4461;
  for (std::size_t k = 5; k < words.size(); k += std::max<std::uint32_t>(words[k] >> 16, 1)) {
    if ((words[k] & 0xffffu) != execution_mode || words[k + 2] != keeps) continue;
    const std::uint32_t other[] = {words[k], words[k + 1], keeps, words[k + 3] == 64 ? 32u : 64u};
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(k) + 4, std::begin(other), std::end(other));
    return;
  }
}

std::vector<std::uint32_t> compiled(const std::string& glsl) {
  static shaderc::Compiler compiler;
  shaderc::CompileOptions options;
  options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
  options.SetOptimizationLevel(shaderc_optimization_level_performance);
  const auto made = compiler.CompileGlslToSpv(glsl, shaderc_compute_shader, "locus", options);
  if (made.GetCompilationStatus() != shaderc_compilation_status_success) throw Failure(LOCUS_FAILED, "a shader does not compile: " + made.GetErrorMessage().substr(0, 300));
  std::vector<std::uint32_t> words(made.cbegin(), made.cend());
  keep_nan(words);
  return words;
}

// A file holds the length of the text, the number of words, and the words; one that is not what its name says (cut, or of another text) is made anew.
std::vector<std::uint32_t> cached(const fs::path& path, std::size_t text_size) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::copy_n(bytes.data(), words.size() * 4, reinterpret_cast<char*>(words.data()));
  constexpr std::uint32_t magic = 0x07230203u;
  if (words.size() < 7 || words[0] != text_size || words[1] != words.size() - 2 || words[2] != magic) return {};
  return {words.begin() + 2, words.end()};
}

// Under a name of this process first: others may write the same.
bool keep(const fs::path& path, std::size_t text_size, const std::vector<std::uint32_t>& words) {
  const fs::path draft = path.string() + "." + std::to_string(::getpid());
  std::ofstream out(draft, std::ios::binary);
  const std::uint32_t head[] = {static_cast<std::uint32_t>(text_size), static_cast<std::uint32_t>(words.size())};
  out.write(reinterpret_cast<const char*>(head), sizeof head);
  out.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  out.close();
  std::error_code error;
  if (out) fs::rename(draft, path, error);
  if (out && !error) return true;
  fs::remove(draft, error);
  return false;
}

}  // namespace

// SPIR-V does not depend on the device: what does is in the text. Drivers keep what they make of it themselves.
std::vector<std::uint32_t> Shaders::spirv(const std::string& glsl) {
  unsigned version = 0, revision = 0;
  shaderc_get_spv_version(&version, &revision);
  char name[64];
  std::snprintf(name, sizeof name, "%016llx%016llx.spv", static_cast<unsigned long long>(hash_of(glsl, version)),
                static_cast<unsigned long long>(hash_of(glsl, 0x9e3779b97f4a7c15u + revision)));
  const fs::path path = fs::path(folder_) / name;
  if (!folder_.empty())
    if (std::vector<std::uint32_t> words = cached(path, glsl.size()); !words.empty()) return words;
  std::vector<std::uint32_t> words = compiled(glsl);
  if (!folder_.empty() && !keep(path, glsl.size(), words)) {
    say(0, "compiled shaders cannot be kept in " + folder_ + ", so each run compiles them anew: make it writable, or set XDG_CACHE_HOME to a folder that is");
    folder_.clear();
  }
  return words;
}

VkPipeline Shaders::pipeline(const std::string& text) {
  const auto found = made_.find(text);
  if (found != made_.end()) return found->second;
  const std::string mode = "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4466], 4461, 64);\n", mark = "layout(local_size_x";
  std::string glsl = text;
  if (Device::get().info().keeps_nan) glsl.insert(glsl.find(mark), mode);
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
  made_.emplace(text, made);
  return made;
}

}  // namespace locus::vulkan
