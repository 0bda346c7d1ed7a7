// C++ sugar for backends, part three: walks the nodes of a program on host memory. A backend gives a function for one node; loops are done here.
// Knows the C header and the validated program only.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include "plugins/abi/program.hpp"

namespace locus::plugin {

inline void say(locus_report* report, const std::string& text) { std::snprintf(report->message, sizeof report->message, "%s", text.c_str()); }

/// Does the caller follow this path?
inline bool follows(const locus_report* report, std::uint32_t path) {
  return report->follow && std::find(report->followed, report->followed + report->followed_count, path) != report->followed + report->followed_count;
}

/// Fills the report's fault and gives LOCUS_FAULT.
inline int fault(locus_report* report, std::uint32_t kind, std::uint32_t node, std::int64_t row, std::int64_t value, std::int64_t limit) {
  report->fault = {kind, node, row, value, limit};
  return LOCUS_FAULT;
}

class Driver {
 public:
  /// `buffers` and `slab` are host memory, as the program's tensors need; the driver owns none of it.
  Driver(const Program& program, void* const* buffers, void* slab) : program_(program), base_(program.tensors.size()) {
    for (std::size_t t = 0; t < base_.size(); ++t) {
      const locus_tensor& tensor = program.tensors[t];
      if (tensor.place == LOCUS_PLACE_SLAB)
        base_[t] = static_cast<std::byte*>(slab) + tensor.where;
      else if (tensor.place == LOCUS_PLACE_CONSTANT)
        base_[t] = const_cast<void*>(tensor.data);
      else
        base_[t] = buffers[tensor.where];
    }
  }

  void* at(std::uint32_t tensor) const { return base_[tensor]; }
  template <class T>
  T* as(std::uint32_t tensor) const {
    return static_cast<T*>(base_[tensor]);
  }

  /// Runs the main list. execute(node) runs one node that is no loop and gives a status; anything but LOCUS_OK ends the run with it.
  template <class Execute>
  int run(Execute&& execute, locus_report* report) const {
    return range(0, program_.main_count, execute, report);
  }

  /// A whole-array function, done by the host.
  int call_array(const locus_host* host, std::uint32_t node) const {
    const locus_array& call = program_.arrays[program_.nodes[node].detail];
    std::vector<locus_host_array> in, out;
    for (std::uint32_t t : program_.list(call.inputs)) in.push_back(view(t));
    for (std::uint32_t t : program_.list(call.outputs)) out.push_back(view(t));
    const auto parameters = program_.number_list(call.parameters);
    return host->array_function(host->context, call.function, static_cast<std::uint32_t>(in.size()), in.data(), static_cast<std::uint32_t>(out.size()),
                                out.data(), static_cast<std::uint32_t>(parameters.size()), parameters.data());
  }

  locus_host_array view(std::uint32_t tensor) const {
    const locus_tensor& t = program_.tensors[tensor];
    locus_host_array a{t.dtype, t.rank, {}, base_[tensor]};
    std::copy(t.dims, t.dims + t.rank, a.dims);
    return a;
  }

 private:
  template <class Execute>
  int range(std::uint32_t first, std::uint32_t count, Execute& execute, locus_report* report) const {
    for (std::uint32_t n = first; n < first + count; ++n) {
      const auto begin = std::chrono::steady_clock::now();
      const int status = program_.nodes[n].kind == LOCUS_ITERATE ? iterate(n, execute, report) : execute(n);
      if (report->seconds && n < report->node_count) report->seconds[n] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (status != LOCUS_OK) return status;
    }
    return LOCUS_OK;
  }

  template <class Execute>
  int iterate(std::uint32_t node, Execute& execute, locus_report* report) const {
    const locus_iterate& loop = program_.iterates[program_.nodes[node].detail];
    const auto carries = program_.list(loop.carries), paths = program_.list(loop.paths);
    const auto is_state = [&](std::uint32_t t) {
      for (std::size_t k = 1; k < carries.size(); k += 3)
        if (carries[k] == t) return true;
      return false;
    };
    for (std::size_t k = 0; k < carries.size(); k += 3) copy(carries[k + 1], carries[k]);
    const auto take_in = [&](std::size_t k, std::int64_t entry) {
      store(paths[k + 1], entry, paths[k]);
      if (follows(report, paths[k + 1])) report->follow(report->follow_context, paths[k + 1], entry, at(paths[k]));
    };
    for (std::size_t k = 0; k < paths.size(); k += 2)
      if (is_state(paths[k])) take_in(k, 0);

    std::int64_t turn = 0;
    for (bool stopped = false; turn < loop.limit && !stopped; ++turn) {
      *as<std::int64_t>(loop.turn) = turn;
      if (const int status = range(loop.first_node, loop.node_count, execute, report); status != LOCUS_OK) return status;
      stopped = loop.stop != LOCUS_NONE && *as<std::uint8_t>(loop.stop) != 0;
      for (std::size_t k = 0; k < paths.size(); k += 2)
        if (!is_state(paths[k])) take_in(k, turn);
      update(carries, is_state);
      for (std::size_t k = 0; k < paths.size(); k += 2)
        if (is_state(paths[k])) take_in(k, turn + 1);
    }
    for (std::int64_t rest = turn; turn > 0 && rest < loop.limit; ++rest)
      for (std::size_t k = 0; k < paths.size(); k += 2) store(paths[k + 1], rest + (is_state(paths[k]) ? 1 : 0), paths[k]);
    if (report->turns && node < report->node_count) report->turns[node] += turn;
    return LOCUS_OK;
  }

  // All updates take effect together: a state that is another's next value is set aside first.
  template <class IsState>
  void update(std::span<const std::uint32_t> carries, IsState is_state) const {
    std::vector<std::vector<std::byte>> aside(carries.size() / 3);
    for (std::size_t k = 0; k < carries.size(); k += 3)
      if (const std::uint32_t next = carries[k + 2]; is_state(next) && program_.bytes(next) != 0)
        aside[k / 3].assign(as<std::byte>(next), as<std::byte>(next) + program_.bytes(next));
    for (std::size_t k = 0; k < carries.size(); k += 3) {
      if (aside[k / 3].empty())
        copy(carries[k + 1], carries[k + 2]);
      else
        std::memcpy(at(carries[k + 1]), aside[k / 3].data(), aside[k / 3].size());
    }
  }

  void copy(std::uint32_t to, std::uint32_t from) const {
    if (at(to) != at(from) && program_.bytes(from) != 0) std::memcpy(at(to), at(from), program_.bytes(from));
  }
  void store(std::uint32_t path, std::int64_t entry, std::uint32_t source) const {
    const std::uint64_t bytes = program_.bytes(source);
    if (bytes != 0) std::memcpy(as<std::byte>(path) + static_cast<std::uint64_t>(entry) * bytes, at(source), bytes);
  }

  const Program& program_;
  std::vector<void*> base_;
};

}  // namespace locus::plugin
