// GLSL to a pipeline: compiled on first need, kept in a folder under a name made of its text. Knows nothing of what a shader computes.
#pragma once
#include <map>
#include <string>
#include "backends/vulkan/device.hpp"

namespace locus::vulkan {

/// What every dispatch gets beside the tensors' addresses.
struct Push {
  std::uint64_t table = 0;                                        ///< addresses of the shader's tensors; its numbers stand before them
  std::uint64_t scratch = 0;                                      ///< of the node
  std::uint64_t faults = 0;                                       ///< of the node: struct Fault
  std::uint64_t control = 0;                                      ///< of the loop around it: {stopped, turn}; 0 outside of loops
  std::uint64_t halt = 0;                                         ///< a word that is not 0 once a fault was met
  std::int64_t first = 0, count = 0, a = 0, b = 0, c = 0, d = 0;  ///< what the shader makes of them
};

/// As shaders write it. `row` is the least that failed; only the row that is asked for by `only` writes the rest.
struct FaultRecord {
  std::uint32_t row = UINT32_MAX, only = UINT32_MAX;
  std::uint32_t kind = 0, empty = 0, most_empty = 0, reserved = 0;
  std::int64_t value = 0, limit = 0;
  std::uint32_t seen[2] = {0, 0}, skipped[2] = {0, 0};  ///< pairs of rows and samples, low words first: all, and those that a mask's range left out
};

class Shaders {
 public:
  static Shaders& get();
  /// The pipeline of a compute shader. Throws Failure with the compiler's text.
  VkPipeline pipeline(const std::string& glsl);
  VkPipelineLayout layout() const { return layout_; }

 private:
  Shaders();
  std::vector<std::uint32_t> spirv(const std::string& glsl);
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::map<std::string, VkPipeline> made_;
  std::string folder_;  ///< "" if there is none
};

}  // namespace locus::vulkan
