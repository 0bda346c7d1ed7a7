// Any bytes as a C table: the reader must refuse or give a program whose loops can be driven without leaving its memory.
// The bytes are counts (one 16-bit number for each array of the table) followed by the arrays themselves; pointers are replaced by real ones.
#include <cstdint>
#include <cstring>
#include <vector>
#include "plugins/abi/locus_plugin.hpp"

namespace {

using namespace locus::plugin;

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  void take(void* to, std::size_t size) {
    const std::size_t have = std::min(size, left_);
    if (have != 0) std::memcpy(to, data_, have);
    data_ += have, left_ -= have;
  }
  template <class T>
  T number() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> array(std::size_t count) {
    std::vector<T> all(std::min(count, left_ / sizeof(T)));
    take(all.data(), all.size() * sizeof(T));
    return all;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

const std::vector<double> settings(4, 1.0);
const locus_kernel kernel = {
    sizeof(locus_kernel), 0, "k", "", "", 1, LOCUS_OF_SQDIST, nullptr, 0, 1, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
const std::vector<std::byte> constant(1 << 16);

// Drives the program with nodes that fill their outputs, where it is small enough to do so.
void drive(const Program& program) {
  constexpr std::uint64_t small = 1 << 16;
  std::uint64_t turns = 1;
  for (const locus_iterate& l : program.iterates) turns *= static_cast<std::uint64_t>(std::min<std::int64_t>(l.limit, 1000)) + 1;
  if (program.slab_bytes > small || turns > 1000 || program.nodes.size() > 64) return;
  std::vector<std::vector<std::byte>> buffers(program.buffer_count);
  for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
    if (program.bytes(t) > small) return;
    if (program.tensors[t].place <= LOCUS_PLACE_OUTPUT) buffers[program.tensors[t].where].resize(program.bytes(t));
  }
  std::vector<std::byte> slab(program.slab_bytes);
  std::vector<void*> base;
  for (auto& b : buffers) base.push_back(b.data());
  const Driver driver(program, base.data(), slab.data());
  const auto fill = [&](std::uint32_t t) {
    if (program.bytes(t) != 0) std::memset(driver.at(t), 1, program.bytes(t));
    return int{LOCUS_OK};
  };
  locus_report report{};
  driver.run(
      [&](std::uint32_t n) {
        const locus_node& node = program.nodes[n];
        if (node.kind == LOCUS_MAP) return fill(program.maps[node.detail].out);
        if (node.kind == LOCUS_LINEAR) return fill(program.linears[node.detail].out);
        if (node.kind == LOCUS_GATHER) return fill(program.gathers[node.detail].out);
        if (node.kind == LOCUS_REDUCE)
          for (const locus_estimate& e : program.estimates_of(program.reduces[node.detail])) fill(e.out);
        return int{LOCUS_OK};
      },
      &report);
}

template <class T>
void point(std::uint32_t& count, const T*& at, const std::vector<T>& all) {
  count = static_cast<std::uint32_t>(all.size()), at = all.data();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes in(data, size);
  std::uint16_t counts[15];
  for (std::uint16_t& c : counts) c = in.number<std::uint16_t>();
  locus_program p{};
  p.size = sizeof p, p.real = in.number<std::uint32_t>();
  p.main_count = in.number<std::uint16_t>(), p.buffer_count = in.number<std::uint16_t>(), p.slab_bytes = in.number<std::uint64_t>();
  auto tensors = in.array<locus_tensor>(counts[0]);
  auto coordinates = in.array<locus_coordinate>(counts[1]);
  const auto exprs = in.array<locus_expr>(counts[2]);
  const auto strides = in.array<locus_stride>(counts[3]);
  const auto lists = in.array<std::uint32_t>(counts[4]);
  const auto numbers = in.array<double>(counts[5]);
  const auto maps = in.array<locus_map>(counts[6]);
  const auto linears = in.array<locus_linear>(counts[7]);
  const auto reduces = in.array<locus_reduce>(counts[8]);
  const auto estimates = in.array<locus_estimate>(counts[9]);
  const auto gathers = in.array<locus_gather>(counts[10]);
  const auto iterates = in.array<locus_iterate>(counts[11]);
  const auto arrays = in.array<locus_array>(counts[12]);
  auto kernels = in.array<locus_program_kernel>(counts[13]);
  const auto nodes = in.array<locus_node>(counts[14]);
  for (locus_tensor& t : tensors) {
    std::uint64_t bytes = 8;
    for (std::uint32_t k = 0; k < std::min<std::uint32_t>(t.rank, LOCUS_MAX_RANK); ++k)
      bytes = t.dims[k] >= 0 && t.dims[k] <= 65536 && bytes <= 65536 ? bytes * static_cast<std::uint64_t>(t.dims[k]) : 1 << 20;
    t.size = sizeof t, t.name = "t", t.data = bytes <= constant.size() ? constant.data() : nullptr;
  }
  for (locus_coordinate& c : coordinates) c.name = nullptr;
  for (locus_program_kernel& k : kernels) k.kernel = &kernel, k.settings = settings.data();
  point(p.tensor_count, p.tensors, tensors), point(p.coordinate_count, p.coordinates, coordinates), point(p.expr_count, p.exprs, exprs);
  point(p.stride_count, p.strides, strides), point(p.list_count, p.lists, lists), point(p.number_count, p.numbers, numbers);
  point(p.map_count, p.maps, maps), point(p.linear_count, p.linears, linears), point(p.reduce_count, p.reduces, reduces);
  point(p.estimate_count, p.estimates, estimates), point(p.gather_count, p.gathers, gathers), point(p.iterate_count, p.iterates, iterates);
  point(p.array_count, p.arrays, arrays), point(p.kernel_count, p.kernels, kernels), point(p.node_count, p.nodes, nodes);
  Refusal refusal;
  if (const auto program = read_program(&p, &refusal)) drive(*program);
  return 0;
}
