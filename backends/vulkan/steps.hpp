// What a node is on the device: a list of dispatches. Knows nothing of loops and of when they run.
#pragma once
#include "backends/vulkan/code.hpp"
#include "backends/vulkan/shader.hpp"

namespace locus::vulkan {

/// One dispatch. The addresses in `push` are filled in when it is recorded.
struct Step {
  Shader shader;
  std::uint32_t groups[3] = {1, 1, 1};
  Push push;
  double work = 0;  ///< invocations times iterations, about
};

struct NodeSteps {
  std::vector<Step> steps;
  std::uint64_t scratch = 0;  ///< bytes that the node needs while it runs
  std::string words;          ///< for explain
};

constexpr double dispatch_work = 1e9;  ///< invocations times iterations of a dispatch: milliseconds on a GPU, so that none is long

std::int64_t count_of(const Program& p, std::span<const Id> space);
/// Refuses what takes more iterations for one entry or pair than one dispatch may run.
void require_short(std::int64_t iterations);

/// Appends dispatches of a shader with one invocation for each of `count` entries: `P.first + gl_GlobalInvocationID.x` below `P.first + P.count`.
/// `iterations`: of one invocation.
void for_each(NodeSteps& to, const Shader& shader, std::int64_t count, double iterations, Push push = {});
/// The head of such a shader: declares `int64_t k` and leaves where it is beyond.
std::string entry_head();

NodeSteps map_steps(const Program& p, const locus_map& m);
NodeSteps gather_steps(const Program& p, const locus_gather& g);
NodeSteps linear_steps(const Program& p, const locus_linear& l);
NodeSteps reduce_steps(const Program& p, const locus_reduce& r);

/// target[k] = source[k] for n entries.
NodeSteps copy_steps(std::uint32_t dtype, std::int64_t n, Id target, Id source);
/// target[turn + shift][k] = source[k], for the turn that the loop around it is in.
NodeSteps record_steps(std::uint32_t dtype, std::int64_t n, Id target, Id source, std::int64_t shift);
/// target[t + shift][k] = source[k] for the turns t below `limit` that the loop whose control block lies at `control` has not run, if it has run one.
NodeSteps repeat_steps(std::uint32_t dtype, std::int64_t n, Id target, Id source, std::int64_t shift, std::int64_t limit, std::uint64_t control);

}  // namespace locus::vulkan
