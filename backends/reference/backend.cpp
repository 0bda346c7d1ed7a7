// The reference backend: scalar float64 loops as written in the maths, on one thread. It is what other backends are checked against, so it is plain
// before it is fast. Programs of float32 are computed in double and rounded when they store.
#include <cstdio>
#include <new>
#include "backends/reference/reduce.hpp"

struct locus_buffer {
  std::vector<std::byte> bytes;
};

struct locus_executable {
  std::unique_ptr<locus::plugin::Program> program;
  std::vector<locus::reference::Tape> maps;
  std::vector<locus::reference::ReduceTapes> reduces;
  std::vector<std::vector<locus::reference::Tape>> gathers;
};

namespace locus::reference {
namespace {

const locus_host* host = nullptr;

// No exception leaves the plugin: what can be thrown here is want of memory.
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

// -- nodes
class Runner {
 public:
  Runner(const locus_executable& executable, const plugin::Driver& tensors, locus_report* report)
      : executable_(executable), program_(*executable.program), machine_(program_, tensors), report_(report) {}

  int node(std::uint32_t n) {
    node_ = n;
    const locus_node& node = program_.nodes[n];
    switch (node.kind) {
      case LOCUS_MAP: return map(program_.maps[node.detail], executable_.maps[node.detail]);
      case LOCUS_LINEAR: return linear(program_.linears[node.detail]);
      case LOCUS_REDUCE: return reduce(executable_.reduces[node.detail], n, machine_, host, report_);
      case LOCUS_GATHER: return gather(program_.gathers[node.detail], executable_.gathers[node.detail]);
      default: return array(n);
    }
  }

 private:
  bool sound(std::int64_t row) {
    if (machine_.fault.kind == LOCUS_FAULT_NONE) return true;
    plugin::fault(report_, machine_.fault.kind, node_, row, machine_.fault.value, 0);
    return false;
  }

  int map(const locus_map& m, const Tape& value) {
    const bool whole = program_.exprs[m.value].type <= LOCUS_TYPE_INTEGER;
    const bool done = each(machine_, program_.list(m.space), [&](std::int64_t k) {
      const Scalar v = value.evaluate(machine_);
      if (whole)
        machine_.store_whole(m.out, k, v.whole);
      else
        machine_.store(m.out, k, v.real);
      return sound(k);
    });
    return done ? LOCUS_OK : LOCUS_FAULT;
  }

  int linear(const locus_linear& l) {
    each(machine_, program_.list(l.batch), [&](std::int64_t batch) {
      const std::int64_t a = machine_.place(l.a_offset, program_.stride_list(l.a_batch)), b = machine_.place(l.b_offset, program_.stride_list(l.b_batch));
      for (std::int64_t r = 0; r < l.rows; ++r)
        for (std::int64_t c = 0; c < l.columns; ++c) {
          double sum = 0;
          for (std::int64_t k = 0; k < l.inner; ++k)
            sum += machine_.load(l.a, a + r * l.a_row + k * l.a_inner).real * machine_.load(l.b, b + k * l.b_inner + c * l.b_column).real;
          machine_.store(l.out, (batch * l.rows + r) * l.columns + c, sum);
        }
      return true;
    });
    return LOCUS_OK;
  }

  int gather(const locus_gather& g, const std::vector<Tape>& indices) {
    const auto triples = program_.list(g.indices);
    const bool whole = program_.tensors[g.out].dtype <= LOCUS_INT64;
    const bool done = each(machine_, program_.list(g.space), [&](std::int64_t k) {
      std::int64_t at = machine_.place(g.offset, program_.stride_list(g.strides));
      for (std::size_t p = 0; p < indices.size(); ++p) {
        const std::int64_t index = indices[p].evaluate(machine_).whole;
        if (!sound(k)) return false;
        const auto extent = static_cast<std::int64_t>(program_.numbers[triples[3 * p + 1]]),
                   stride = static_cast<std::int64_t>(program_.numbers[triples[3 * p + 2]]);
        if (index < 0 || index >= extent) return plugin::fault(report_, LOCUS_FAULT_INDEX, node_, k, index, extent) == LOCUS_OK;
        at += index * stride;
      }
      const Scalar v = machine_.load(g.table, at);
      if (whole)
        machine_.store_whole(g.out, k, v.whole);
      else
        machine_.store(g.out, k, v.real);
      return true;
    });
    return done ? LOCUS_OK : LOCUS_FAULT;
  }

  int array(std::uint32_t n) {
    const int status = machine_.tensors.call_array(host, n);
    if (status == LOCUS_FAULT) return plugin::fault(report_, LOCUS_FAULT_INDEX, n, 0, 0, 0);
    if (status != LOCUS_OK) plugin::say(report_, "a whole-array function refused its arguments");
    return status;
  }

  const locus_executable& executable_;
  const plugin::Program& program_;
  Machine machine_;
  locus_report* report_;
  std::uint32_t node_ = 0;
};

// -- the table of functions
int score(char*, std::size_t) { return 2; }  // before a software driver of a GPU interface

int devices(std::uint32_t capacity, locus_device* device, std::uint32_t* count) {
  *count = 1;
  if (capacity > 0) *device = {sizeof(locus_device), "one thread, float64", "", 0};
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
    const plugin::Program& program = *executable->program;
    for (const locus_program_kernel& use : program.kernels)
      if (!use.kernel->scalar_f64)
        return refuse(message, size, node, std::string("kernel ") + use.kernel->name + " has no scalar form in float64", LOCUS_NONE, LOCUS_UNSUPPORTED);
    for (const locus_map& m : program.maps) executable->maps.emplace_back(program, m.value);
    for (const locus_reduce& r : program.reduces) executable->reduces.emplace_back(program, r);
    for (const locus_gather& g : program.gathers) {
      std::vector<Tape>& indices = executable->gathers.emplace_back();
      const auto triples = program.list(g.indices);
      for (std::size_t k = 0; k < triples.size(); k += 3) indices.emplace_back(program, triples[k]);
    }
    *out = executable.release();
    return int{LOCUS_OK};
  });
}

void release(locus_executable* executable) { delete executable; }

int alloc(std::uint64_t bytes, locus_buffer** out) {
  *out = nullptr;
  return guarded([&] {
    *out = new locus_buffer{std::vector<std::byte>(bytes)};
    return int{LOCUS_OK};
  });
}

bool inside(const locus_buffer* buffer, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= buffer->bytes.size() && bytes <= buffer->bytes.size() - offset;
}

int write(locus_buffer* buffer, std::uint64_t offset, const void* data, std::uint64_t bytes) {
  if (!inside(buffer, offset, bytes)) return LOCUS_FAILED;
  if (bytes != 0) std::memcpy(buffer->bytes.data() + offset, data, bytes);
  return LOCUS_OK;
}

int read(const locus_buffer* buffer, std::uint64_t offset, void* data, std::uint64_t bytes) {
  if (!inside(buffer, offset, bytes)) return LOCUS_FAILED;
  if (bytes != 0) std::memcpy(data, buffer->bytes.data() + offset, bytes);
  return LOCUS_OK;
}

void free_buffer(locus_buffer* buffer) { delete buffer; }

int run(locus_executable* executable, locus_buffer* const* buffers, locus_buffer* slab, locus_report* report) {
  return guarded([&] {
    const plugin::Program& program = *executable->program;
    std::vector<void*> base(program.buffer_count);
    for (const locus_tensor& t : program.tensors)
      if (t.place <= LOCUS_PLACE_OUTPUT) base[t.where] = buffers[t.where]->bytes.data();
    const plugin::Driver driver(program, base.data(), slab ? slab->bytes.data() : nullptr);
    Runner runner(*executable, driver, report);
    return driver.run([&](std::uint32_t n) { return runner.node(n); }, report);
  });
}

const locus_backend backend = {sizeof(locus_backend),
                               1,
                               "reference",
                               "scalar float64 loops as written in the maths, one thread: the oracle of other backends",
                               score,
                               devices,
                               compile,
                               release,
                               alloc,
                               write,
                               read,
                               free_buffer,
                               run,
                               nullptr};

const void* query(const char* id) { return std::strcmp(id, LOCUS_BACKEND_ID) == 0 ? &backend : nullptr; }

#if defined(__SANITIZE_ADDRESS__)
constexpr const char* sanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
constexpr const char* sanitizer = "thread";
#else
constexpr const char* sanitizer = "";
#endif
const locus_plugin table = {sizeof(locus_plugin), LOCUS_ABI, "reference", "0.1.0", sanitizer, query};

}  // namespace
}  // namespace locus::reference

const locus_plugin* locus_plugin_entry(const locus_host* host) {
  if (host->abi != LOCUS_ABI) return nullptr;
  locus::reference::host = host;
  return &locus::reference::table;
}
