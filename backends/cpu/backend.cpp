// The CPU backend: dense reduces in tiles of the machine's widest vectors, everything else in strips and rows, on the host's threads. Results are equal
// to the bit for any number of threads: work is cut by size alone and merged in order.
#include <cblas.h>
#include <sys/mman.h>
#include <atomic>
#include <cstdio>
#include <new>
#include "backends/cpu/near.hpp"
#include "backends/cpu/nodes.hpp"
#include "backends/cpu/rows.hpp"
#include "backends/cpu/tiles.hpp"

constexpr std::uint64_t large_page = 1 << 21;

struct locus_buffer {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  std::align_val_t alignment() const { return std::align_val_t(bytes >= large_page ? large_page : 64); }
};

struct locus_executable {
  std::unique_ptr<locus::plugin::Program> program;
  std::vector<std::unique_ptr<locus::cpu::MapPlan>> maps, gathers;
  std::vector<std::unique_ptr<locus::cpu::RowPlan>> rows;     ///< by reduce
  std::vector<std::unique_ptr<locus::cpu::TilePlan>> tiles;   ///< by reduce, null where tiles do not serve
  std::vector<std::unique_ptr<locus::cpu::NearPlan>> near;    ///< by reduce, null where pairs have no radius
};

extern "C" void openblas_set_num_threads(int);

namespace locus::cpu {
namespace {

const locus_host* host = nullptr;

template <class Body>
int guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return LOCUS_OUT_OF_MEMORY;
  } catch (...) {
    return LOCUS_FAILED;
  }
}

/// All rows, or those in `only`, one at a time, chunks in parallel; with `near` each row looks at the samples within its radius.
int run_rows(const RowPlan& plan, const Driver& tensors, locus_report* report, const std::vector<std::int64_t>* only, bool count_empty, const NearSamples* near = nullptr) {
  const std::int64_t count = only ? static_cast<std::int64_t>(only->size()) : plan.rows;
  std::atomic<std::int64_t> empty{0}, done{0};
  std::atomic<int> status{LOCUS_OK};
  std::mutex mutex;
  std::int64_t first_bad = -1;
  const double samples = static_cast<double>(std::max<std::int64_t>(1, plan.reduce.list == LOCUS_NONE ? plan.program.extent(plan.reduce.sample) : plan.program.dims(plan.reduce.list).back()));
  parallel(host, count, near ? samples * near->share * 4 + 64 : samples * 4, [&](std::int64_t begin, std::int64_t end) {
    locus_report mine{};
    mine.size = sizeof mine;
    RowReducer reducer(plan, tensors, &mine);
    const auto search = near ? near->search() : nullptr;
    std::vector<std::int64_t> within;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t row = only ? (*only)[static_cast<std::size_t>(k)] : k;
      if (search) reducer.among(search->find(row, within) ? &within : nullptr);
      const int one = reducer.row(row);
      if (one != LOCUS_OK) {
        const std::lock_guard lock(mutex);
        if (first_bad < 0 || row < first_bad) first_bad = row, report->fault = mine.fault, status = one;
        break;
      }
    }
    empty += reducer.empty_rows;
    if (host->progress && host->progress(host->context, static_cast<double>(done += end - begin) * samples, static_cast<double>(count) * samples) != 0) {
      const std::lock_guard lock(mutex);
      if (status == LOCUS_OK) plugin::say(report, "stopped on request"), status = LOCUS_FAILED;
    }
  });
  if (count_empty && (plan.reduce.flags & LOCUS_COUNT_EMPTY) != 0 && plan.node < report->node_count) report->empty_rows[plan.node] += empty;
  return status;
}

int run_reduce(const locus_executable& executable, std::uint32_t node, const Driver& tensors, locus_report* report) {
  const std::uint32_t detail = executable.program->nodes[node].detail;
  const RowPlan& rows = *executable.rows[detail];
  const TilePlan* tiles = executable.tiles[detail].get();
  const NearPlan* plan = executable.near[detail].get();
  if (!tiles) {
    const auto near = plan ? plan->samples(tensors) : nullptr;
    const bool few = near && near->share < 0.7;
    if (few && report->skipped && node < report->node_count) report->skipped[node] = 1 - near->share;
    return run_rows(rows, tensors, report, nullptr, true, few ? near.get() : nullptr);
  }
  const auto order = plan ? plan->order(tensors, tiles->height(), tiles->span()) : nullptr;
  TileOutcome outcome;
  if (const int status = tiles->run(tensors, host, report, outcome, order.get()); status != LOCUS_OK) return status;
  if (outcome.unfit) return run_rows(rows, tensors, report, nullptr, true);
  if (outcome.redo.empty()) return LOCUS_OK;
  return run_rows(rows, tensors, report, &outcome.redo, true);
}

int run_node(const locus_executable& executable, std::uint32_t n, const Driver& tensors, locus_report* report) {
  const Program& program = *executable.program;
  const locus_node& node = program.nodes[n];
  switch (node.kind) {
    case LOCUS_MAP: return run_map(program, *executable.maps[node.detail], program.maps[node.detail], tensors, host, n, report);
    case LOCUS_LINEAR: run_linear(program, program.linears[node.detail], tensors, host); return LOCUS_OK;
    case LOCUS_REDUCE: {
      std::int64_t before = 0;  // of empty rows: in a loop the turn with the most counts
      if (n < report->node_count) std::swap(before, report->empty_rows[n]);
      const int status = run_reduce(executable, n, tensors, report);
      if (n < report->node_count) report->empty_rows[n] = std::max(before, report->empty_rows[n]);
      return status;
    }
    case LOCUS_GATHER: return run_gather(program, *executable.gathers[node.detail], program.gathers[node.detail], tensors, host, n, report);
    default: {
      const int status = tensors.call_array(host, n);
      if (status == LOCUS_FAULT) return plugin::fault(report, LOCUS_FAULT_INDEX, n, 0, 0, 0);
      if (status != LOCUS_OK) plugin::say(report, "a whole-array function refused its arguments");
      return status;
    }
  }
}

// -- the table of functions
int score(char*, std::size_t) { return 50; }

int devices(std::uint32_t capacity, locus_device* device, std::uint32_t* count) {
  *count = 1;
  if (capacity > 0) *device = {sizeof(locus_device), table().name, "", 0};
  return LOCUS_OK;
}

int refuse(char* message, std::size_t size, std::uint32_t* node, const std::string& text, std::uint32_t culprit, int status) {
  std::snprintf(message, size, "%s", text.c_str());
  *node = culprit;
  return status;
}

int compile(const locus_program* source, locus_executable** out, char* message, std::size_t size, std::uint32_t* node) {
  *out = nullptr, *node = LOCUS_NONE;
  return guarded([&] {
    plugin::Refusal refusal;
    auto executable = std::make_unique<locus_executable>();
    executable->program = plugin::read_program(source, &refusal);
    if (!executable->program) return refuse(message, size, node, refusal.text, refusal.node, LOCUS_BAD_PROGRAM);
    const Program& program = *executable->program;
    for (const locus_program_kernel& use : program.kernels)
      if (!use.kernel->scalar_f64 && !use.kernel->scalar_f32)
        return refuse(message, size, node, std::string("kernel ") + use.kernel->name + " has no scalar form", LOCUS_NONE, LOCUS_UNSUPPORTED);
    for (const locus_map& m : program.maps) {
      executable->maps.push_back(std::make_unique<MapPlan>(program, program.list(m.space), std::vector<Id>{m.value}));
      executable->maps.back()->find_set(program, m);
    }
    for (const locus_gather& g : program.gathers) {
      std::vector<Id> roots;
      const auto triples = program.list(g.indices);
      for (std::size_t k = 0; k < triples.size(); k += 3) roots.push_back(triples[k]);
      executable->gathers.push_back(std::make_unique<MapPlan>(program, program.list(g.space), roots));
    }
    executable->rows.resize(program.reduces.size());
    executable->tiles.resize(program.reduces.size());
    executable->near.resize(program.reduces.size());
    for (std::uint32_t n = 0; n < program.nodes.size(); ++n)
      if (program.nodes[n].kind == LOCUS_REDUCE) {
        executable->rows[program.nodes[n].detail] = std::make_unique<RowPlan>(program, n);
        executable->tiles[program.nodes[n].detail] = TilePlan::make(program, n);
        executable->near[program.nodes[n].detail] = NearPlan::make(program, n);
      }
    *out = executable.release();
    return int{LOCUS_OK};
  });
}

void release(locus_executable* executable) { delete executable; }

int alloc(std::uint64_t bytes, locus_buffer** out) {
  *out = nullptr;
  return guarded([&] {
    auto buffer = std::make_unique<locus_buffer>();
    buffer->bytes = bytes;
    buffer->data = static_cast<std::byte*>(::operator new(std::max<std::uint64_t>(bytes, 64), buffer->alignment()));
    // Large pages: the first touch of every small one is a fault, which in a virtual machine costs more than what is then written. A kernel may decline.
    if (bytes >= large_page) madvise(buffer->data, bytes / large_page * large_page, MADV_HUGEPAGE);
    *out = buffer.release();
    return int{LOCUS_OK};
  });
}

bool inside(const locus_buffer* buffer, std::uint64_t offset, std::uint64_t bytes) { return offset <= buffer->bytes && bytes <= buffer->bytes - offset; }

int write(locus_buffer* buffer, std::uint64_t offset, const void* data, std::uint64_t bytes) {
  if (!inside(buffer, offset, bytes)) return LOCUS_FAILED;
  if (bytes != 0) std::memcpy(buffer->data + offset, data, bytes);
  return LOCUS_OK;
}

int read(const locus_buffer* buffer, std::uint64_t offset, void* data, std::uint64_t bytes) {
  if (!inside(buffer, offset, bytes)) return LOCUS_FAILED;
  if (bytes != 0) std::memcpy(data, buffer->data + offset, bytes);
  return LOCUS_OK;
}

void free_buffer(locus_buffer* buffer) {
  if (!buffer) return;
  ::operator delete(buffer->data, buffer->alignment());
  delete buffer;
}

int run(locus_executable* executable, locus_buffer* const* buffers, locus_buffer* slab, locus_report* report) {
  return guarded([&] {
    const Program& program = *executable->program;
    std::vector<void*> base(program.buffer_count);
    for (const locus_tensor& t : program.tensors)
      if (t.place <= LOCUS_PLACE_OUTPUT) base[t.where] = buffers[t.where]->data;
    const Driver driver(program, base.data(), slab ? slab->data : nullptr);
    return driver.run([&](std::uint32_t n) { return run_node(*executable, n, driver, report); }, report);
  });
}

int describe(const locus_executable* executable, std::uint32_t n, char* text, std::size_t size) {
  const Program& program = *executable->program;
  if (n >= program.nodes.size()) return LOCUS_FAILED;
  const locus_node& node = program.nodes[n];
  std::string words = "strips of 256";
  if (node.kind == LOCUS_LINEAR) words = "BLAS, 256 rows a call";
  if (node.kind == LOCUS_ITERATE) words = "loop";
  if (node.kind == LOCUS_ARRAY) words = "whole array, on the host";
  if (node.kind == LOCUS_REDUCE) {
    const TilePlan* tiles = executable->tiles[node.detail].get();
    words = tiles ? tiles->words() : "row by row in float64, " + std::string(program.reduces[node.detail].list == LOCUS_NONE ? "all pairs" : "neighbour list");
    if (const NearPlan* near = executable->near[node.detail].get()) words += "; " + near->words();
  }
  std::snprintf(text, size, "%s", words.c_str());
  return LOCUS_OK;
}

const locus_backend backend = {sizeof(locus_backend), 1, "cpu", "vectors of this processor, all cores", score, devices, compile, release, alloc, write, read, free_buffer, run, describe};

const void* query(const char* id) { return std::strcmp(id, LOCUS_BACKEND_ID) == 0 ? &backend : nullptr; }

#if defined(__SANITIZE_ADDRESS__)
constexpr const char* sanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
constexpr const char* sanitizer = "thread";
#else
constexpr const char* sanitizer = "";
#endif
const locus_plugin plugin_table = {sizeof(locus_plugin), LOCUS_ABI, "cpu", "0.1.0", sanitizer, query};

}  // namespace
}  // namespace locus::cpu

const locus_plugin* locus_plugin_entry(const locus_host* host) {
  if (host->abi != LOCUS_ABI) return nullptr;
  locus::cpu::host = host;
  openblas_set_num_threads(1);  // threads are the host's
  return &locus::cpu::plugin_table;
}
