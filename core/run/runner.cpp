// Running a graph: passes, plan, budget, export, buffers, run, results. What went wrong becomes a message in faults.cpp.
// Knows nothing of the language.
#include "core/run/runner.hpp"
#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include "core/passes/passes.hpp"
#include "core/run/arrays.hpp"
#include "core/run/budget.hpp"
#include "core/run/export.hpp"
#include "core/run/faults.hpp"
#include "plugins/host/host_services.hpp"

namespace locus {
namespace {

using graph::Graph;

bool sound(const Graph& g, const std::string& after, Diagnostics& diagnostics) {
  const std::vector<std::string> faults = graph::verify(g);
  for (const std::string& fault : faults)
    diagnostics.add({Code::E690, {}, "the graph is unsound after " + after + ": " + fault, "", {}, "report this as a fault of locus", ""});
  return faults.empty();
}

bool rewrite(Graph& g, const RunOptions& options, Diagnostics& diagnostics) {
  const auto show = [&](const std::string& name) {
    if (options.dump && (options.dump_after == name || options.dump_after == "all")) options.dump(name, graph::print(g));
  };
  if (options.verify_each_pass && !sound(g, "lowering", diagnostics)) return false;
  show("lower");
  if (!options.fuse) return true;
  for (const passes::Pass& pass : passes::order()) {
    pass.run(g);
    if (options.verify_each_pass && !sound(g, pass.name, diagnostics)) return false;
    show(pass.name);
  }
  return true;
}

// -- what belongs to a backend, given back when a run ends
struct Resources {
  const locus_backend* backend;
  locus_executable* executable = nullptr;
  std::vector<locus_buffer*> buffers;
  locus_buffer* slab = nullptr;

  explicit Resources(const locus_backend* b) : backend(b) {}
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;
  ~Resources() {
    for (locus_buffer* b : buffers)
      if (b) backend->free(b);
    if (slab) backend->free(slab);
    if (executable) backend->release(executable);
  }
};

class Run {
 public:
  Run(Graph& g, const std::map<std::string, Array>& inputs, const RunOptions& options, Diagnostics& diagnostics)
      : graph_(g), inputs_(inputs), options_(options), diagnostics_(diagnostics), resources_(options.backend) {}

  std::map<std::string, Array> run(RunSummary* summary) {
    const passes::Plan plan = passes::plan(graph_, size_of(options_.real));
    const Budget budget = budget_of(graph_, plan, options_.real);
    if (summary) summary->peak_bytes = budget.bytes;
    if (options_.memory != 0 && budget.bytes > options_.memory) return diagnostics_.add(over_budget(graph_, budget, options_.memory)), results{};
    program_ = export_program(graph_, plan, options_.real);
    if (!compile() || !fill_buffers() || !execute(summary)) return {};
    return read_outputs();
  }

 private:
  using results = std::map<std::string, Array>;

  bool fail(Diagnostic d) {
    diagnostics_.add(std::move(d));
    return false;
  }

  bool compile() {
    char message[512] = "";
    std::uint32_t node = LOCUS_NONE;
    const int status = options_.backend->compile(&program_->table, &resources_.executable, message, sizeof message, &node);
    message[sizeof message - 1] = 0;
    return status == LOCUS_OK || fail(not_compiled(*program_, options_.backend->name, status, message, node));
  }

  bool fill_buffers() {
    for (const ExportedProgram::Buffer& b : program_->buffers) {
      const graph::Tensor& tensor = graph_.tensors[b.tensor];
      const Dtype dtype = dtype_of(tensor.type, options_.real);
      Array data;
      if (!b.input.empty()) {
        const auto given = inputs_.find(b.input);
        if (given == inputs_.end()) return fail({Code::E620, {}, "input '" + b.input + "' is not given", "", {}, "add `--" + b.input + " FILE`", ""});
        if (given->second.shape() != tensor.shape)
          return fail({Code::E621,
                       {},
                       "input '" + b.input + "' has shape " + shape_text(given->second.shape()) + ", the graph was made for " + shape_text(tensor.shape),
                       "",
                       {},
                       "give data of shape `" + shape_text(tensor.shape) + "`, or lower the spec again with these",
                       ""});
        data = given->second.dtype() == dtype ? given->second : given->second.cast(dtype);
      }
      std::uint64_t bytes = size_of(dtype);
      for (std::int64_t d : tensor.shape) bytes *= static_cast<std::uint64_t>(d);
      locus_buffer*& buffer = resources_.buffers.emplace_back(nullptr);
      if (!allocate(bytes, buffer)) return false;
      if (!b.input.empty() && bytes != 0 && options_.backend->write(buffer, 0, data.data(), bytes) != LOCUS_OK)
        return fail(buffer_lost(options_.backend->name));
    }
    return program_->table.slab_bytes == 0 || allocate(program_->table.slab_bytes, resources_.slab);
  }

  bool allocate(std::uint64_t bytes, locus_buffer*& buffer) {
    const std::uint64_t asked = std::max<std::uint64_t>(bytes, 64);  // an empty array has a buffer too
    return options_.backend->alloc(asked, &buffer) == LOCUS_OK || fail(no_memory(options_.backend->name, asked));
  }

  bool execute(RunSummary* summary) {
    std::vector<std::int64_t> empty(program_->nodes.size(), 0);
    locus_report report{};
    report.size = sizeof report, report.node_count = static_cast<std::uint32_t>(empty.size()), report.empty_rows = empty.data();
    std::vector<double> seconds(options_.profile ? empty.size() : 0), skipped(seconds.size());
    std::vector<std::int64_t> turns(seconds.size());
    if (options_.profile) report.seconds = seconds.data(), report.skipped = skipped.data(), report.turns = turns.data();
    std::vector<std::uint32_t> followed;
    for (const ExportedProgram::Followed& f : program_->followed) followed.push_back(f.tensor);
    if (options_.follow) report.followed = followed.data(), report.followed_count = static_cast<std::uint32_t>(followed.size()), report.follow_context = this, report.follow = &Run::entry_came;
    host_services().take_failure();
    const int status = options_.backend->run(resources_.executable, resources_.buffers.data(), resources_.slab, &report);
    report.message[sizeof report.message - 1] = 0;
    const std::string thrown = host_services().take_failure();
    if (status != LOCUS_OK) return fail(not_run(graph_, *program_, options_.backend->name, status, report));
    if (!thrown.empty()) return fail(exception_escaped(options_.backend->name, thrown));
    for (std::size_t n = 0; summary && n < empty.size(); ++n)
      if (empty[n] != 0) summary->empty_rows += empty[n], summary->empty_by_node.emplace_back(program_->origin[n]->span, empty[n]);
    if (options_.profile) {
      std::vector<NodeTime> times;
      for (std::size_t n = 0; n < seconds.size(); ++n) times.push_back({program_->origin[n], seconds[n], turns[n], skipped[n]});
      options_.profile(graph_, times);
    }
    return true;
  }

  // A loop that became two gives the value between them twice.
  static void entry_came(void* context, std::uint32_t tensor, std::int64_t entry, const void* data) {
    Run& run = *static_cast<Run*>(context);
    const auto f = std::find_if(run.program_->followed.begin(), run.program_->followed.end(), [&](const auto& each) { return each.tensor == tensor; });
    if (f->since + entry != run.next_entry_) return;
    const graph::Tensor& path = run.graph_.tensors[f->path];
    Array value(dtype_of(path.type, run.options_.real), {path.shape.begin() + 1, path.shape.end()});
    if (value.bytes() != 0) std::memcpy(value.data(), data, value.bytes());
    run.options_.follow(run.next_entry_++, value);
  }

  results read_outputs() {
    results all;
    for (const graph::Output& o : graph_.outputs) {
      const auto buffer = std::find_if(program_->buffers.begin(), program_->buffers.end(), [&](const auto& b) { return b.tensor == o.tensor; });
      const graph::Tensor& tensor = graph_.tensors[o.tensor];
      if (buffer == program_->buffers.end()) {
        all[o.name] = constant(o.tensor).cast(dtype_of(tensor.type, options_.real));
        continue;
      }
      Array data(dtype_of(tensor.type, options_.real), tensor.shape);
      const auto index = static_cast<std::size_t>(buffer - program_->buffers.begin());
      if (data.bytes() != 0 && options_.backend->read(resources_.buffers[index], 0, data.data(), data.bytes()) != LOCUS_OK)
        return fail(buffer_lost(options_.backend->name)), results{};
      all[o.name] = std::move(data);
    }
    return all;
  }

  const Array& constant(graph::TensorId t) const {
    const auto found = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), [t](const graph::Node& n) {
      const auto* input = std::get_if<graph::Input>(&n.kind);
      return input && input->out == t;
    });
    return std::get<graph::Input>(found->kind).data;
  }

  Graph& graph_;
  const std::map<std::string, Array>& inputs_;
  const RunOptions& options_;
  Diagnostics& diagnostics_;
  Resources resources_;
  std::unique_ptr<ExportedProgram> program_;
  std::int64_t next_entry_ = 0;  ///< of the path that is followed
};

}  // namespace

std::map<std::string, Array> run_graph(Graph g, const std::map<std::string, Array>& inputs, const RunOptions& options, Diagnostics& diagnostics,
                                       RunSummary* summary) {
  host_services().use_array_function(&array_function);
  if (!rewrite(g, options, diagnostics)) return {};
  return Run(g, inputs, options, diagnostics).run(summary);
}

}  // namespace locus
