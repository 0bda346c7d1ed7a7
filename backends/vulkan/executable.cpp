// From nodes to recorded command buffers; see executable.hpp. Running them is in run.cpp.
#include "backends/vulkan/executable.hpp"
#include <algorithm>
#include <functional>

namespace locus::vulkan {
namespace {

void barrier(VkCommandBuffer c) {
  const VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
  vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &all, 0, nullptr, 0, nullptr);
}

constexpr double segment_work = 4e9;  // of what is submitted together: the host hears of progress in between

}  // namespace

Executable::Executable(std::unique_ptr<Program> program, const locus_host* host) : program_(std::move(program)), host_(host), words_(program_->nodes.size()) {
  Device& d = Device::get();
  for (const locus_coordinate& c : program_->coordinates)
    if (c.extent > INT32_MAX) throw Failure(LOCUS_UNSUPPORTED, "an axis of more than 2147483647 entries");
  try {
    faults_ = d.allocate(std::max<std::size_t>(program_->nodes.size(), 1) * sizeof(FaultRecord));
    for (std::uint32_t t = 0; t < program_->tensors.size(); ++t) {
      const locus_tensor& tensor = program_->tensors[t];
      if (tensor.place != LOCUS_PLACE_CONSTANT) continue;
      constants_.push_back(d.allocate(program_->bytes(t)));
      d.write(constants_.back(), 0, tensor.data, program_->bytes(t));
    }
    std::uint64_t loops = 0;
    for (const locus_node& n : program_->nodes) loops += n.kind == LOCUS_ITERATE;
    controls_ = d.allocate(std::max<std::uint64_t>(loops, 1) * 16);
    plan(stages_, 0, program_->main_count, 0);
    scratch_ = d.allocate(scratch_bytes_);
    std::uint64_t bytes = 0;
    for (std::uint64_t b : temporaries_) bytes += (b + 63) / 64 * 64;
    aside_ = d.allocate(bytes);
    halt_ = d.allocate(8);
    collect_tables(stages_);
    table_ = d.allocate(table_bytes_);
    compile(stages_);
  } catch (...) {
    clear();
    throw;
  }
}

Executable::~Executable() { clear(); }

void Executable::clear() {
  Device& d = Device::get();
  const auto drop = [&](Segment& s) {
    d.discard(s.plain), d.discard(s.timed);
    if (s.queries) vkDestroyQueryPool(d.handle(), s.queries, nullptr);
    s = {};
  };
  const std::function<void(std::vector<Stage>&)> all = [&](std::vector<Stage>& stages) {
    for (Stage& s : stages) {
      drop(s.work);
      if (!s.body) continue;
      for (Segment* part : {&s.body->before, &s.body->begin, &s.body->end, &s.body->after}) drop(*part);
      all(s.body->stages);
    }
    stages.clear();
  };
  all(stages_);
  for (Memory& m : constants_) d.release(m);
  constants_.clear();
  for (Memory* m : {&table_, &scratch_, &faults_, &controls_, &aside_, &halt_}) d.release(*m);
}

// -- planning
NodeSteps Executable::steps_of(std::uint32_t n) {
  const locus_node& node = program_->nodes[n];
  switch (node.kind) {
    case LOCUS_MAP:
      return map_steps(*program_, program_->maps[node.detail]);
    case LOCUS_LINEAR:
      return linear_steps(*program_, program_->linears[node.detail]);
    case LOCUS_REDUCE:
      return reduce_steps(*program_, program_->reduces[node.detail]);
    default:
      return gather_steps(*program_, program_->gathers[node.detail]);
  }
}

void Executable::append(Segment& s, std::uint32_t node, NodeSteps steps, std::uint64_t control) {
  scratch_bytes_ = std::max(scratch_bytes_, steps.scratch);
  for (Step& step : steps.steps) step.push.control = control, s.work += step.work;
  if (!steps.words.empty() && node < words_.size()) words_[node] = steps.words;
  s.parts.push_back({node, std::move(steps.steps)});
}

void Executable::plan(std::vector<Stage>& to, std::uint32_t first, std::uint32_t count, std::uint64_t control) {
  for (std::uint32_t n = first; n < first + count; ++n) {
    const std::uint32_t kind = program_->nodes[n].kind;
    if (kind == LOCUS_ARRAY || kind == LOCUS_ITERATE) {
      Stage& s = to.emplace_back();
      s.kind = kind == LOCUS_ARRAY ? Stage::array : Stage::loop, s.node = n;
      if (kind == LOCUS_ITERATE)
        s.body = plan_loop(n);
      else
        words_[n] = "on the host";
      continue;
    }
    try {
      add_node(to, n, steps_of(n), control);
    } catch (const Failure& f) {
      throw Failure(f.status, f.what(), n);
    }
  }
}

// A segment holds many short nodes, or a part of a long one.
void Executable::add_node(std::vector<Stage>& to, std::uint32_t node, NodeSteps steps, std::uint64_t control) {
  if (to.empty() || to.back().kind != Stage::segment) to.emplace_back();
  NodeSteps some{{}, steps.scratch, steps.words};
  double work = to.back().work.work;
  for (Step& step : steps.steps) {
    if (work > segment_work) {
      append(to.back().work, node, std::move(some), control);
      some = {}, work = 0;
      to.emplace_back();
    }
    work += step.work;
    some.steps.push_back(std::move(step));
  }
  append(to.back().work, node, std::move(some), control);
}

std::unique_ptr<Executable::Loop> Executable::plan_loop(std::uint32_t node) {
  const locus_iterate& l = program_->iterates[program_->nodes[node].detail];
  auto loop = std::make_unique<Loop>();
  loop->control = controls_.address + 16 * control_count_++;
  const auto carries = program_->list(l.carries), paths = program_->list(l.paths);
  const auto is_state = [&](Id t) {
    for (std::size_t k = 1; k < carries.size(); k += 3)
      if (carries[k] == t) return true;
    return false;
  };
  const auto dtype = [&](Id t) { return program_->tensors[t].dtype; };
  const auto copy = [&](Segment& to, Id target, Id source, std::uint64_t control) {
    if (target != source) append(to, node, copy_steps(dtype(source), program_->count(source), target, source), control);
  };
  const auto record = [&](Id target, Id source, std::int64_t shift) {
    append(loop->end, node, record_steps(dtype(source), program_->count(source), target, source, shift), loop->control);
  };
  const auto once = [&](Segment& to, Code& code) {
    NodeSteps s;
    for_each(s, code.finish(), 1, 1);
    append(to, node, std::move(s), loop->control);
  };
  Code begin(*program_), end(*program_);
  begin.line(entry_head()), end.line(entry_head());
  for (std::size_t k = 0; k < carries.size(); k += 3) copy(loop->before, carries[k + 1], carries[k], 0);
  for (std::size_t k = 0; k < paths.size(); k += 2)
    if (is_state(paths[k])) copy(loop->before, paths[k + 1], paths[k], 0);

  begin.line("store_int(" + begin.base(l.turn) + ", AsInt(P.control + 8ul).v);");
  once(loop->begin, begin);
  plan(loop->stages, l.first_node, l.node_count, loop->control);

  for (std::size_t k = 0; k < paths.size(); k += 2)
    if (!is_state(paths[k])) record(paths[k + 1], paths[k], 0);
  // All updates take effect together: a state that is another's next value is set aside first.
  std::vector<Id> from;
  for (std::size_t k = 0; k < carries.size(); k += 3) {
    const Id next = carries[k + 2];
    from.push_back(next);
    if (!is_state(next)) continue;
    from.back() = static_cast<Id>(program_->tensors.size() + temporaries_.size());
    temporaries_.push_back(program_->bytes(next));
    append(loop->end, node, copy_steps(dtype(next), program_->count(next), from.back(), next), loop->control);
  }
  for (std::size_t k = 0; k < carries.size(); k += 3)
    append(loop->end, node, copy_steps(dtype(carries[k + 1]), program_->count(carries[k + 1]), carries[k + 1], from[k / 3]), loop->control);
  for (std::size_t k = 0; k < paths.size(); k += 2)
    if (is_state(paths[k])) record(paths[k + 1], paths[k], 1);
  for (std::size_t k = 0; k < paths.size() && l.stop != LOCUS_NONE; k += 2)
    append(loop->after, node, repeat_steps(dtype(paths[k]), program_->count(paths[k]), paths[k + 1], paths[k], is_state(paths[k]) ? 1 : 0, l.limit, loop->control), 0);
  end.line("AsInt(P.control + 8ul).v += 1l;");
  if (l.stop != LOCUS_NONE) end.line("if (load_bool(" + end.base(l.stop) + ")) AsInt(P.control).v = 1l;");
  once(loop->end, end);
  loop->flat = std::all_of(loop->stages.begin(), loop->stages.end(), [](const Stage& s) { return s.kind == Stage::segment; });
  if (loop->flat) {  // a turn is one submission
    Segment whole = std::move(loop->begin);
    const auto join = [&](Segment& s) {
      whole.work += s.work;
      for (auto& part : s.parts) whole.parts.push_back(std::move(part));
    };
    for (Stage& s : loop->stages) join(s.work);
    join(loop->end);
    loop->turns_at_once = static_cast<int>(std::clamp(segment_work / std::max(whole.work, 1.0), 1.0, l.stop == LOCUS_NONE ? 64.0 : 8.0));
    loop->begin = std::move(whole), loop->end = {}, loop->stages.clear();
  }
  return loop;
}

// -- recording
// Each list of tensors that a shader takes has its addresses in one table.
void Executable::collect_tables(std::vector<Stage>& stages) {
  const auto collect = [&](const Segment& s) {
    for (const auto& part : s.parts)
      for (const Step& step : part.steps)
        if (tables_.emplace(std::pair(step.shader.tensors, step.shader.numbers), table_bytes_ + 8 * step.shader.numbers.size()).second)
          table_bytes_ += 8 * (step.shader.tensors.size() + step.shader.numbers.size());
  };
  for (Stage& s : stages) {
    collect(s.work);
    if (!s.body) continue;
    for (const Segment* part : {&s.body->before, &s.body->begin, &s.body->end, &s.body->after}) collect(*part);
    collect_tables(s.body->stages);
  }
}

void Executable::compile(std::vector<Stage>& stages) {
  for (Stage& s : stages) {
    compile(s.work);
    if (!s.body) continue;
    for (Segment* part : {&s.body->before, &s.body->begin, &s.body->end, &s.body->after}) compile(*part);
    compile(s.body->stages);
  }
}

void Executable::compile(Segment& s) {
  for (auto& part : s.parts)
    for (Step& step : part.steps) {
      step.push.table = table_.address + tables_.at({step.shader.tensors, step.shader.numbers}), step.push.scratch = scratch_.address, step.push.halt = halt_.address;
      step.push.faults = faults_.address + (part.node < program_->nodes.size() ? part.node : 0) * sizeof(FaultRecord);
      Shaders::get().pipeline(step.shader.glsl);
    }
  if (!s.parts.empty()) record(s, false);
}

void Executable::record(Segment& s, bool timed) {
  Device& d = Device::get();
  const VkCommandBuffer c = d.begin();
  std::uint32_t query = 0;
  if (timed) {
    VkQueryPoolCreateInfo create{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    create.queryType = VK_QUERY_TYPE_TIMESTAMP, create.queryCount = static_cast<std::uint32_t>(s.parts.size() + 1);
    check(vkCreateQueryPool(d.handle(), &create, nullptr, &s.queries), "vkCreateQueryPool");
    vkCmdResetQueryPool(c, s.queries, 0, create.queryCount);
    vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, s.queries, query++);
  }
  for (const auto& part : s.parts) {
    for (const Step& step : part.steps) {
      if (step.groups[0] == 0 || step.groups[1] == 0 || step.groups[2] == 0) continue;
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, Shaders::get().pipeline(step.shader.glsl));
      vkCmdPushConstants(c, Shaders::get().layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push), &step.push);
      vkCmdDispatch(c, step.groups[0], step.groups[1], step.groups[2]);
      barrier(c);
    }
    if (timed) vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, s.queries, query++);
  }
  d.end(c);
  (timed ? s.timed : s.plain) = c;
}

}  // namespace locus::vulkan
