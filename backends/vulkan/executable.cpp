// Recording, loops, faults; see executable.hpp.
#include "backends/vulkan/executable.hpp"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

namespace locus::vulkan {
namespace {

constexpr int turns_at_once = 8;  // of a loop, between two looks at whether it has stopped

void barrier(VkCommandBuffer c) {
  const VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
  vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &all, 0, nullptr, 0, nullptr);
}

std::string address(std::uint32_t tensor) { return "AsAddress(P.table + " + std::to_string(8 * std::uint64_t{tensor}) + "ul).v"; }

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
    table_ = d.allocate((program_->tensors.size() + temporaries_.size()) * 8);
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
      if (s.body) drop(s.body->begin), drop(s.body->end), drop(s.body->before), all(s.body->stages);
    }
    stages.clear();
  };
  all(stages_);
  for (Memory& m : constants_) d.release(m);
  constants_.clear();
  for (Memory* m : {&table_, &scratch_, &faults_, &controls_, &aside_}) d.release(*m);
}

// -- planning
NodeSteps Executable::steps_of(std::uint32_t n) {
  const locus_node& node = program_->nodes[n];
  switch (node.kind) {
    case LOCUS_MAP: return map_steps(*program_, program_->maps[node.detail]);
    case LOCUS_LINEAR: return linear_steps(*program_, program_->linears[node.detail]);
    case LOCUS_REDUCE: return reduce_steps(*program_, program_->reduces[node.detail]);
    default: return gather_steps(*program_, program_->gathers[node.detail]);
  }
}

void Executable::append(Segment& s, std::uint32_t node, NodeSteps steps, std::uint64_t control) {
  scratch_bytes_ = std::max(scratch_bytes_, steps.scratch);
  for (Step& step : steps.steps) step.push.control = control;
  if (!steps.words.empty() && node < words_.size()) words_[node] = steps.words;
  s.parts.push_back({node, std::move(steps.steps)});
}

void Executable::plan(std::vector<Stage>& to, std::uint32_t first, std::uint32_t count, std::uint64_t control) {
  for (std::uint32_t n = first; n < first + count; ++n) {
    const std::uint32_t kind = program_->nodes[n].kind;
    if (kind == LOCUS_ARRAY || kind == LOCUS_ITERATE) {
      Stage& s = to.emplace_back();
      s.kind = kind == LOCUS_ARRAY ? Stage::array : Stage::loop, s.node = n;
      if (kind == LOCUS_ITERATE) s.body = plan_loop(n);
      else words_[n] = "on the host";
      continue;
    }
    if (to.empty() || to.back().kind != Stage::segment) to.emplace_back();
    try {
      append(to.back().work, n, steps_of(n), control);
    } catch (Failure& f) {
      throw Failure(f.status, f.what() + std::string("\n") + std::to_string(n));
    }
  }
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
  const auto copy = [&](Segment& to, Id target, Id source, Push push, std::uint64_t control) {
    if (target != source) append(to, node, copy_steps(program_->tensors[source].dtype, program_->count(source), target, source, push), control);
  };
  const auto once = [&](Segment& to, const std::string& text) {
    NodeSteps s;
    for_each(s, shader(*program_, group_size, "", entry_head() + text), 1);
    append(to, node, std::move(s), loop->control);
  };
  for (std::size_t k = 0; k < carries.size(); k += 3) copy(loop->before, carries[k + 1], carries[k], {}, 0);
  for (std::size_t k = 0; k < paths.size(); k += 2)
    if (is_state(paths[k])) copy(loop->before, paths[k + 1], paths[k], {}, 0);

  once(loop->begin, "  store_int(" + address(l.turn) + ", 0l, AsInt(P.control + 8ul).v);\n");
  plan(loop->stages, l.first_node, l.node_count, loop->control);

  Push at_turn;
  at_turn.b = 1;
  for (std::size_t k = 0; k < paths.size(); k += 2)
    if (!is_state(paths[k])) copy(loop->end, paths[k + 1], paths[k], at_turn, loop->control);
  // All updates take effect together: a state that is another's next value is set aside first.
  std::vector<Id> from;
  for (std::size_t k = 0; k < carries.size(); k += 3) {
    from.push_back(carries[k + 2]);
    if (!is_state(carries[k + 2])) continue;
    from.back() = static_cast<Id>(program_->tensors.size() + temporaries_.size());
    temporaries_.push_back(program_->bytes(carries[k + 2]));
    append(loop->end, node, copy_steps(program_->tensors[carries[k + 2]].dtype, program_->count(carries[k + 2]), from.back(), carries[k + 2], {}), loop->control);
  }
  for (std::size_t k = 0; k < carries.size(); k += 3)
    append(loop->end, node, copy_steps(program_->tensors[carries[k + 1]].dtype, program_->count(carries[k + 1]), carries[k + 1], from[k / 3], {}), loop->control);
  at_turn.a = 1;
  for (std::size_t k = 0; k < paths.size(); k += 2)
    if (is_state(paths[k])) copy(loop->end, paths[k + 1], paths[k], at_turn, loop->control);
  once(loop->end, "  AsInt(P.control + 8ul).v += 1l;\n" + (l.stop == LOCUS_NONE ? std::string() : "  if (load_bool(" + address(l.stop) + ", 0l)) AsInt(P.control).v = 1l;\n"));
  loop->flat = std::all_of(loop->stages.begin(), loop->stages.end(), [](const Stage& s) { return s.kind == Stage::segment; });
  if (loop->flat) {  // a turn is one submission
    Segment whole = std::move(loop->begin);
    for (Stage& s : loop->stages)
      for (auto& part : s.work.parts) whole.parts.push_back(std::move(part));
    for (auto& part : loop->end.parts) whole.parts.push_back(std::move(part));
    loop->begin = std::move(whole), loop->end = {}, loop->stages.clear();
  }
  return loop;
}

// -- recording
void Executable::compile(std::vector<Stage>& stages) {
  for (Stage& s : stages) {
    compile(s.work);
    if (!s.body) continue;
    compile(s.body->before), compile(s.body->begin), compile(s.body->end), compile(s.body->stages);
  }
}

void Executable::compile(Segment& s) {
  for (auto& part : s.parts)
    for (Step& step : part.steps) {
      step.push.table = table_.address, step.push.scratch = scratch_.address;
      step.push.faults = faults_.address + (part.node < program_->nodes.size() ? part.node : 0) * sizeof(FaultRecord);
      Shaders::get().pipeline(step.glsl);
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
      vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, Shaders::get().pipeline(step.glsl));
      vkCmdPushConstants(c, Shaders::get().layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push), &step.push);
      vkCmdDispatch(c, step.groups[0], step.groups[1], step.groups[2]);
      barrier(c);
    }
    if (timed) vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, s.queries, query++);
  }
  d.end(c);
  (timed ? s.timed : s.plain) = c;
}

void Executable::submit(Segment& s, int times, locus_report* report) {
  if (s.parts.empty()) return;
  Device& d = Device::get();
  if (!report->seconds) return d.submit(std::vector<VkCommandBuffer>(static_cast<std::size_t>(times), s.plain));
  if (!s.timed) record(s, true);
  for (int k = 0; k < times; ++k) {
    d.submit({s.timed});
    std::vector<std::uint64_t> at(s.parts.size() + 1);
    check(vkGetQueryPoolResults(d.handle(), s.queries, 0, static_cast<std::uint32_t>(at.size()), at.size() * 8, at.data(), 8, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT), "vkGetQueryPoolResults");
    for (std::size_t p = 0; p < s.parts.size(); ++p)
      if (s.parts[p].node < report->node_count) report->seconds[s.parts[p].node] += static_cast<double>(at[p + 1] - at[p]) * d.timestamp_nanoseconds() * 1e-9;
  }
}

// -- running
const Memory& Executable::memory_of(std::uint32_t tensor, std::uint64_t* offset) const {
  const locus_tensor& t = program_->tensors[tensor];
  *offset = 0;
  if (t.place == LOCUS_PLACE_SLAB) return *offset = t.where, *slab_;
  if (t.place != LOCUS_PLACE_CONSTANT) return *buffers_[t.where];
  std::size_t k = 0;
  for (std::uint32_t other = 0; other < tensor; ++other) k += program_->tensors[other].place == LOCUS_PLACE_CONSTANT;
  return constants_[k];
}

void Executable::fill_table(const std::vector<const Memory*>& buffers, const Memory* slab) {
  buffers_ = buffers, slab_ = slab;
  std::vector<std::uint64_t> all;
  std::size_t constant = 0;
  for (const locus_tensor& t : program_->tensors) {
    if (t.place == LOCUS_PLACE_CONSTANT) all.push_back(constants_[constant++].address);
    else all.push_back(t.place == LOCUS_PLACE_SLAB ? slab->address + t.where : buffers[t.where]->address);
  }
  std::uint64_t at = aside_.address;
  for (std::uint64_t bytes : temporaries_) all.push_back(at), at += (bytes + 63) / 64 * 64;
  Device::get().write(table_, 0, all.data(), all.size() * 8);
}

int Executable::run(const std::vector<const Memory*>& buffers, const Memory* slab, locus_report* report) {
  fill_table(buffers, slab);
  std::vector<FaultRecord> none(program_->nodes.size());
  Device::get().write(faults_, 0, none.data(), none.size() * sizeof(FaultRecord));
  int status = run(stages_, report);
  bool again = false;
  if (const int found = collect_faults(report, &again); found != LOCUS_OK) status = found;
  if (!again) return status;
  run(stages_, report);  // the row that failed is known now and says why
  return collect_faults(report, &again);
}

// The first node that failed, in order, at its least row. What it met there is written in a second run, by that row alone.
int Executable::collect_faults(locus_report* report, bool* again) {
  *again = false;
  std::vector<FaultRecord> all(program_->nodes.size());
  Device::get().read(faults_, 0, all.data(), all.size() * sizeof(FaultRecord));
  for (std::uint32_t n = 0; n < all.size() && n < report->node_count; ++n) report->empty_rows[n] = std::max<std::int64_t>(report->empty_rows[n], all[n].most_empty);
  for (std::uint32_t n = 0; n < all.size(); ++n) {
    if (all[n].row == UINT32_MAX) continue;
    if (all[n].only == all[n].row) return plugin::fault(report, all[n].kind, n, all[n].row, all[n].value, all[n].limit);
    for (FaultRecord& f : all) f = {};
    std::vector<FaultRecord> fresh(program_->nodes.size());
    FaultRecord asked;
    Device::get().read(faults_, n * sizeof(FaultRecord), &asked, sizeof asked);
    fresh[n].only = asked.row;
    Device::get().write(faults_, 0, fresh.data(), fresh.size() * sizeof(FaultRecord));
    *again = true;
    return LOCUS_FAULT;
  }
  return LOCUS_OK;
}

int Executable::run(std::vector<Stage>& stages, locus_report* report) {
  for (std::size_t k = 0; k < stages.size(); ++k) {
    Stage& s = stages[k];
    if (host_->progress && host_->progress(host_->context, static_cast<double>(k), static_cast<double>(stages.size())) != 0) {
      plugin::say(report, "stopped on request");
      return LOCUS_FAILED;
    }
    int status = LOCUS_OK;
    if (s.kind == Stage::segment) submit(s.work, 1, report);
    else status = s.kind == Stage::array ? run_array(s.node, report) : run_loop(s, report);
    if (status != LOCUS_OK) return status;
  }
  return LOCUS_OK;
}

int Executable::run_loop(const Stage& stage, locus_report* report) {
  Device& d = Device::get();
  Loop& loop = *stage.body;
  const locus_iterate& l = program_->iterates[program_->nodes[stage.node].detail];
  std::int64_t control[2] = {0, 0};
  const std::uint64_t at = loop.control - controls_.address;
  d.write(controls_, at, control, sizeof control);
  submit(loop.before, 1, report);
  for (std::int64_t done = 0; done < l.limit && control[0] == 0;) {
    const int turns = loop.flat ? static_cast<int>(std::min<std::int64_t>(l.stop == LOCUS_NONE ? 64 : turns_at_once, l.limit - done)) : 1;
    submit(loop.begin, turns, report);
    if (!loop.flat) {
      if (const int status = run(loop.stages, report); status != LOCUS_OK) return status;
      submit(loop.end, 1, report);
    }
    done += turns;
    if (l.stop != LOCUS_NONE || done >= l.limit) d.read(controls_, at, control, sizeof control);
  }
  const std::int64_t turns = control[1];
  if (report->turns && stage.node < report->node_count) report->turns[stage.node] += turns;
  // Turns that were not run repeat the last values.
  if (turns == 0 || turns >= l.limit || l.paths.count == 0) return LOCUS_OK;
  Segment rest;
  const auto paths = program_->list(l.paths), carries = program_->list(l.carries);
  for (std::int64_t turn = turns; turn < l.limit; ++turn)
    for (std::size_t k = 0; k < paths.size(); k += 2) {
      bool state = false;
      for (std::size_t c = 1; c < carries.size(); c += 3) state |= carries[c] == paths[k];
      Push push;
      push.b = 2, push.c = turn + (state ? 1 : 0);
      append(rest, stage.node, copy_steps(program_->tensors[paths[k]].dtype, program_->count(paths[k]), paths[k + 1], paths[k], push), 0);
    }
  compile(rest);
  d.submit({rest.plain});
  d.discard(rest.plain);
  return LOCUS_OK;
}

int Executable::run_array(std::uint32_t node, locus_report* report) {
  Device& d = Device::get();
  const auto begin = std::chrono::steady_clock::now();
  const locus_array& call = program_->arrays[program_->nodes[node].detail];
  std::vector<std::vector<std::byte>> kept;
  const auto host_array = [&](std::uint32_t t, bool fill) {
    const locus_tensor& tensor = program_->tensors[t];
    kept.emplace_back(std::max<std::uint64_t>(program_->bytes(t), 8));
    if (fill) {
      std::uint64_t offset = 0;
      const Memory& m = memory_of(t, &offset);
      d.read(m, offset, kept.back().data(), program_->bytes(t));
    }
    locus_host_array a{tensor.dtype, tensor.rank, {}, kept.back().data()};
    std::copy(tensor.dims, tensor.dims + tensor.rank, a.dims);
    return a;
  };
  std::vector<locus_host_array> in, out;
  for (std::uint32_t t : program_->list(call.inputs)) in.push_back(host_array(t, true));
  for (std::uint32_t t : program_->list(call.outputs)) out.push_back(host_array(t, false));
  const auto parameters = program_->number_list(call.parameters);
  const int status = host_->array_function(host_->context, call.function, static_cast<std::uint32_t>(in.size()), in.data(), static_cast<std::uint32_t>(out.size()), out.data(),
                                           static_cast<std::uint32_t>(parameters.size()), parameters.data());
  if (status == LOCUS_FAULT) return plugin::fault(report, LOCUS_FAULT_INDEX, node, 0, 0, 0);
  if (status != LOCUS_OK) {
    plugin::say(report, "a whole-array function refused its arguments");
    return status;
  }
  std::size_t k = 0;
  for (std::uint32_t t : program_->list(call.outputs)) {
    std::uint64_t offset = 0;
    const Memory& m = memory_of(t, &offset);
    d.write(m, offset, out[k++].data, program_->bytes(t));
  }
  if (report->seconds && node < report->node_count) report->seconds[node] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return LOCUS_OK;
}

}  // namespace locus::vulkan
