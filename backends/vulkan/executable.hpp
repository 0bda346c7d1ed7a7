// A program on the device: its nodes as recorded command buffers, its loops, and the arrays that the host computes. Knows the C table and steps only.
#pragma once
#include "backends/vulkan/steps.hpp"

namespace locus::vulkan {

class Executable {
 public:
  Executable(std::unique_ptr<Program> program, const locus_host* host);
  ~Executable();
  Executable(const Executable&) = delete;
  /// A status; faults and reasons go into the report.
  int run(const std::vector<const Memory*>& buffers, const Memory* slab, locus_report* report);
  const std::string& words(std::uint32_t node) const { return words_[node]; }
  std::uint32_t buffer_count() const { return program_->buffer_count; }

 private:
  /// Dispatches that are submitted together.
  struct Segment {
    struct Part {
      std::uint32_t node;
      std::vector<Step> steps;
    };
    std::vector<Part> parts;
    double work = 0;
    VkCommandBuffer plain = VK_NULL_HANDLE, timed = VK_NULL_HANDLE;
    VkQueryPool queries = VK_NULL_HANDLE;
  };
  struct Loop;
  struct Stage {
    enum Kind { segment, array, loop } kind = segment;
    std::uint32_t node = LOCUS_NONE;
    Segment work;
    std::unique_ptr<Loop> body;
  };
  struct Loop {
    std::vector<Stage> stages;
    Segment begin, end;     ///< of a turn
    Segment before, after;  ///< of the loop: states and the first entries of paths; entries of turns that were not run
    bool flat = false;      ///< nothing in it needs the host: a turn is `begin` alone
    int turns_at_once = 1;  ///< between two looks at whether it has stopped
    std::uint64_t control = 0;
  };

  void clear();
  void plan(std::vector<Stage>& to, std::uint32_t first, std::uint32_t count, std::uint64_t control);
  std::unique_ptr<Loop> plan_loop(std::uint32_t node);
  NodeSteps steps_of(std::uint32_t node);
  void add_node(std::vector<Stage>& to, std::uint32_t node, NodeSteps steps, std::uint64_t control);
  void append(Segment& s, std::uint32_t node, NodeSteps steps, std::uint64_t control);
  void collect_tables(std::vector<Stage>& stages);
  void compile(std::vector<Stage>& stages);
  void compile(Segment& s);
  void record(Segment& s, bool timed);
  void submit(Segment& s, int times, locus_report* report);
  int run(std::vector<Stage>& stages, locus_report* report);
  void follow(const locus_iterate& loop, locus_report* report, std::int64_t from, std::int64_t to);
  int run_loop(const Stage& stage, locus_report* report);
  int run_array(std::uint32_t node, locus_report* report);
  void fill_table();
  bool halted() const;
  const Memory& memory_of(std::uint32_t tensor, std::uint64_t* offset) const;

  std::unique_ptr<Program> program_;
  const locus_host* host_;
  std::vector<Stage> stages_;
  std::vector<std::string> words_;
  std::vector<Memory> constants_;
  std::vector<std::uint64_t> temporaries_;                                                 ///< bytes of each state set aside; their numbers follow the tensors'
  std::map<std::pair<std::vector<Id>, std::vector<std::int64_t>>, std::uint64_t> tables_;  ///< where a shader's addresses lie, behind its numbers
  std::uint64_t table_bytes_ = 0;
  Memory table_, scratch_, faults_, controls_, aside_, halt_;
  std::uint64_t scratch_bytes_ = 0;
  std::uint64_t control_count_ = 0;
  std::vector<const Memory*> buffers_;
  const Memory* slab_ = nullptr;
};

}  // namespace locus::vulkan
