// A run: submissions, loops, the arrays that the host computes, faults; see executable.hpp.
#include <algorithm>
#include <chrono>
#include "backends/vulkan/executable.hpp"

namespace locus::vulkan {

void Executable::submit(Segment& s, int times, locus_report* report) {
  if (s.parts.empty()) return;
  Device& d = Device::get();
  if (!report->seconds) return d.submit(std::vector<VkCommandBuffer>(static_cast<std::size_t>(times), s.plain));
  if (!s.timed) record(s, true);
  for (int k = 0; k < times; ++k) {
    d.submit({s.timed});
    std::vector<std::uint64_t> at(s.parts.size() + 1);
    check(vkGetQueryPoolResults(d.handle(), s.queries, 0, static_cast<std::uint32_t>(at.size()), at.size() * 8, at.data(), 8, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
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

void Executable::fill_table() {
  std::vector<std::uint64_t> address, all(table_bytes_ / 8);
  std::size_t constant = 0;
  for (const locus_tensor& t : program_->tensors) {
    if (t.place == LOCUS_PLACE_CONSTANT)
      address.push_back(constants_[constant++].address);
    else
      address.push_back(t.place == LOCUS_PLACE_SLAB ? (slab_ ? slab_->address + t.where : 0) : buffers_[t.where]->address);  // a slab of no bytes is not there
  }
  std::uint64_t at = aside_.address;
  for (std::uint64_t bytes : temporaries_) address.push_back(at), at += (bytes + 63) / 64 * 64;
  for (const auto& [of, first] : tables_) {
    for (std::size_t k = 0; k < of.first.size(); ++k) all[first / 8 + k] = address[of.first[k]];
    for (std::size_t k = 0; k < of.second.size(); ++k) all[first / 8 - k - 1] = static_cast<std::uint64_t>(of.second[k]);
  }
  const std::uint64_t going = 0;
  Device::get().write(table_, 0, all.data(), all.size() * 8);
  Device::get().write(halt_, 0, &going, sizeof going);
}

int Executable::run(const std::vector<const Memory*>& buffers, const Memory* slab, locus_report* report) {
  buffers_ = buffers, slab_ = slab;
  std::vector<FaultRecord> records(program_->nodes.size());
  const auto once = [&] {
    fill_table();
    Device::get().write(faults_, 0, records.data(), records.size() * sizeof(FaultRecord));
    const int status = run(stages_, report);
    Device::get().read(faults_, 0, records.data(), records.size() * sizeof(FaultRecord));
    return status;
  };
  const auto failed = [&] { return std::find_if(records.begin(), records.end(), [](const FaultRecord& f) { return f.row != UINT32_MAX; }); };
  const int status = once();
  const auto first = failed();
  if (first == records.end()) {
    for (std::uint32_t n = 0; n < records.size() && n < report->node_count; ++n) report->empty_rows[n] = std::max<std::int64_t>(report->empty_rows[n], records[n].most_empty);
    return status;
  }
  // Many rows may fail at once; the least is known now, and says why in a second run, alone.
  const std::uint32_t row = first->row;
  const auto node = static_cast<std::uint32_t>(first - records.begin());
  std::fill(records.begin(), records.end(), FaultRecord{});
  records[node].only = row;
  once();
  return plugin::fault(report, records[node].kind, node, row, records[node].value, records[node].limit);
}

// After a fault nothing more is computed, so what the host would read is not to be used.
bool Executable::halted() const {
  std::uint32_t word = 0;
  Device::get().read(halt_, 0, &word, sizeof word);
  return word != 0;
}

int Executable::run(std::vector<Stage>& stages, locus_report* report) {
  for (std::size_t k = 0; k < stages.size(); ++k) {
    Stage& s = stages[k];
    if (host_->progress && host_->progress(host_->context, static_cast<double>(k), static_cast<double>(stages.size())) != 0) {
      plugin::say(report, "stopped on request");
      return LOCUS_FAILED;
    }
    int status = LOCUS_OK;
    if (s.kind == Stage::segment)
      submit(s.work, 1, report);
    else if (halted())
      return LOCUS_OK;
    else
      status = s.kind == Stage::array ? run_array(s.node, report) : run_loop(s, report);
    if (status != LOCUS_OK) return status;
  }
  return LOCUS_OK;
}

// Gives what the turns [from, to) added to the paths that the caller follows; from -1: what was there before the first.
void Executable::follow(const locus_iterate& l, locus_report* report, std::int64_t from, std::int64_t to) {
  const auto carries = program_->list(l.carries), paths = program_->list(l.paths);
  for (std::size_t k = 0; k < paths.size(); k += 2) {
    if (!plugin::follows(report, paths[k + 1])) continue;
    bool state = false;
    for (std::size_t c = 1; c < carries.size(); c += 3) state |= carries[c] == paths[k];
    std::vector<std::byte> entry(program_->bytes(paths[k]));
    std::uint64_t offset = 0;
    const Memory& m = memory_of(paths[k + 1], &offset);
    for (std::int64_t turn = from; turn < to; ++turn) {
      const std::int64_t at = turn + (state ? 1 : 0);
      if (at < 0) continue;
      if (!entry.empty()) Device::get().read(m, offset + static_cast<std::uint64_t>(at) * entry.size(), entry.data(), entry.size());
      report->follow(report->follow_context, paths[k + 1], at, entry.data());
    }
  }
}

int Executable::run_loop(const Stage& stage, locus_report* report) {
  Device& d = Device::get();
  Loop& loop = *stage.body;
  const locus_iterate& l = program_->iterates[program_->nodes[stage.node].detail];
  std::int64_t control[2] = {0, 0};
  const std::uint64_t at = loop.control - controls_.address;
  d.write(controls_, at, control, sizeof control);
  submit(loop.before, 1, report);
  std::int64_t told = 0;  // turns whose values the caller has seen
  follow(l, report, -1, 0);
  for (std::int64_t done = 0; done < l.limit && control[0] == 0 && !halted();) {
    const int turns = loop.flat ? static_cast<int>(std::min<std::int64_t>(loop.turns_at_once, l.limit - done)) : 1;
    submit(loop.begin, turns, report);
    if (!loop.flat) {
      if (const int status = run(loop.stages, report); status != LOCUS_OK) return status;
      submit(loop.end, 1, report);
    }
    done += turns;
    if (l.stop != LOCUS_NONE || done >= l.limit || report->follow) d.read(controls_, at, control, sizeof control);
    follow(l, report, told, control[1]);
    told = control[1];
  }
  const std::int64_t turns = control[1];
  if (report->turns && stage.node < report->node_count) report->turns[stage.node] += turns;
  if (turns < l.limit) submit(loop.after, 1, report);
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
    if (fill && program_->bytes(t) != 0) {
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
    const void* from = out[k++].data;
    if (program_->bytes(t) == 0) continue;
    std::uint64_t offset = 0;
    const Memory& m = memory_of(t, &offset);
    d.write(m, offset, from, program_->bytes(t));
  }
  if (report->seconds && node < report->node_count) report->seconds[node] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return LOCUS_OK;
}

}  // namespace locus::vulkan
