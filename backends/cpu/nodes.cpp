// Maps, products and gathers; see nodes.hpp.
#include <cblas.h>
#include <atomic>
#include <functional>
#include <numeric>
#include "backends/cpu/nodes.hpp"

namespace locus::cpu {
namespace {

constexpr double worth_a_thread = 1e5;  // below this much work a chunk is not worth handing over

bool lanes_along_last(const Program& program, std::span<const std::uint32_t> space) { return !space.empty() && program.extent(space.back()) >= 32; }

std::vector<Id> lane_coordinates(const Program& program, std::span<const std::uint32_t> space) {
  if (space.empty()) return {};
  if (lanes_along_last(program, space)) return {space.back()};
  return {space.begin(), space.end()};
}

/// Walks [begin, end) of a space in strips: sets the place and calls body(first, count).
template <class Body>
void walk(const Program& program, const MapPlan& plan, Place& place, std::int64_t begin, std::int64_t end, Body&& body) {
  const auto& space = plan.space;
  std::vector<std::vector<std::int64_t>> lanes(space.size(), std::vector<std::int64_t>(strip_width));
  const std::int64_t last = space.empty() ? 1 : program.extent(space.back());
  for (std::int64_t first = begin; first < end;) {
    std::int64_t count = std::min<std::int64_t>(strip_width, end - first);
    if (plan.inner) count = std::min(count, last - first % last);
    std::int64_t rest = first;
    std::vector<std::int64_t> at(space.size());
    for (std::size_t k = space.size(); k-- > 0;) {
      at[k] = rest % program.extent(space[k]);
      rest /= program.extent(space[k]);
    }
    if (plan.inner) {
      for (std::size_t k = 0; k < space.size(); ++k) place.fixed[space[k]] = at[k];
      std::iota(lanes.back().begin(), lanes.back().begin() + count, at.back());
      place.lanes[space.back()] = lanes.back().data();
      place.consecutive[space.back()] = 1;
    } else {
      for (std::int64_t t = 0; t < count; ++t) {
        for (std::size_t k = 0; k < space.size(); ++k) lanes[k][static_cast<std::size_t>(t)] = at[k];
        for (std::size_t k = space.size(); k-- > 0 && ++at[k] == program.extent(space[k]);) at[k] = 0;
      }
      for (std::size_t k = 0; k < space.size(); ++k) place.lanes[space[k]] = lanes[k].data();
    }
    if (!body(first, count)) return;
    first += count;
  }
}

template <class T>
void put(T* out, const Lanes& v, std::int64_t count) {
  for (std::int64_t t = 0; t < count; ++t) out[t] = static_cast<T>(v.real(t));
}
template <class T>
void put_whole(T* out, const Lanes& v, std::int64_t count) {
  for (std::int64_t t = 0; t < count; ++t) out[t] = static_cast<T>(v.whole(t));
}

void store(const Driver& tensors, const locus_tensor& tensor, std::uint32_t id, std::int64_t first, const Lanes& v, std::int64_t count) {
  switch (tensor.dtype) {
    case LOCUS_FLOAT32:
      if (v.kind == Kind::real && !v.wide && !v.uniform) std::copy_n(static_cast<const float*>(v.data), count, tensors.as<float>(id) + first);
      else put(tensors.as<float>(id) + first, v, count);
      break;
    case LOCUS_FLOAT64: put(tensors.as<double>(id) + first, v, count); break;
    case LOCUS_INT64: put_whole(tensors.as<std::int64_t>(id) + first, v, count); break;
    default:
      for (std::int64_t t = 0; t < count; ++t) tensors.as<std::uint8_t>(id)[first + t] = v.whole(t) != 0;
  }
}

/// The first fault of several chunks: the one of the lowest index, whatever the order in which they ran.
struct FirstFault {
  std::mutex mutex;
  std::int64_t row = -1;
  locus_fault fault{};
  void offer(std::int64_t at, const locus_fault& f) {
    const std::lock_guard lock(mutex);
    if (row < 0 || at < row) row = at, fault = f;
  }
};

}  // namespace

void parallel(const locus_host* host, std::int64_t count, double cost, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  const auto grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(worth_a_thread / std::max(cost, 1.0)));
  if (grain >= count) return body(0, count);
  host->parallel_for(host->context, count, grain, [](void* f, std::int64_t begin, std::int64_t end) { (*static_cast<const std::function<void(std::int64_t, std::int64_t)>*>(f))(begin, end); },
                     const_cast<void*>(static_cast<const void*>(&body)));
}

MapPlan::MapPlan(const Program& program, std::span<const std::uint32_t> s, std::vector<Id> roots)
    : space(s.begin(), s.end()), inner(lanes_along_last(program, s)), strip(program, roots, lane_coordinates(program, s), false) {
  for (std::uint32_t c : space) count *= program.extent(c);
}

void MapPlan::find_set(const Program& program, const locus_map& map) {
  const locus_expr& e = program.exprs[map.value];
  if (e.op != LOCUS_select) return;
  const locus_expr &test = program.exprs[e.args[0]], &old = program.exprs[e.args[2]];
  if (test.op != LOCUS_eq || old.op != LOCUS_READ) return;
  const locus_tensor &out = program.tensors[map.out], &from = program.tensors[old.index];
  if (out.place != LOCUS_PLACE_SLAB || from.place != LOCUS_PLACE_SLAB || out.where != from.where) return;  // sharing a place means: entry by entry
  for (int side = 0; side < 2; ++side) {
    const locus_expr &c = program.exprs[test.args[side]], &n = program.exprs[test.args[1 - side]];
    if (c.op != LOCUS_COORDINATE || n.op != LOCUS_READ || n.stride_count != 0 || n.offset != 0 || program.tensors[n.index].dtype != LOCUS_INT64) continue;
    const auto at = std::find(space.begin(), space.end(), c.index);
    if (at != space.end()) set_at = static_cast<std::size_t>(at - space.begin()), number = n.index;
  }
}

int run_map(const Program& program, const MapPlan& plan, const locus_map& map, const Driver& tensors, const locus_host* host, std::uint32_t node, locus_report* report) {
  FirstFault first_fault;
  std::int64_t inner = plan.count, outer = 1, step = 0, from = 0;  // the entries computed: `outer` runs of `inner`, `step` apart
  if (plan.set_at != MapPlan::none) {
    inner = 1;
    for (std::size_t k = plan.set_at + 1; k < plan.space.size(); ++k) inner *= program.extent(plan.space[k]);
    const std::int64_t extent = program.extent(plan.space[plan.set_at]), number = *tensors.as<std::int64_t>(plan.number);
    if (number < 0 || number >= extent || plan.count == 0) return LOCUS_OK;
    step = extent * inner, outer = plan.count / step, from = number * inner;
  }
  parallel(host, outer * inner, 4, [&](std::int64_t begin, std::int64_t end) {
    Place place(program, tensors);
    Registers registers(plan.strip);
    const auto one = [&](std::int64_t first, std::int64_t count) {
      plan.strip.run(place, count, registers.get());
      if (place.fault.kind != LOCUS_FAULT_NONE) {
        first_fault.offer(first + place.fault.row, place.fault);
        return false;
      }
      store(tensors, program.tensors[map.out], map.out, first, plan.strip.root(0, registers.get()), count);
      return true;
    };
    for (std::int64_t run = begin / inner; run * inner < end; ++run) {
      const std::int64_t origin = from + run * step - run * inner;
      walk(program, plan, place, origin + std::max(begin, run * inner), origin + std::min(end, (run + 1) * inner), one);
    }
  });
  return first_fault.row < 0 ? int{LOCUS_OK} : plugin::fault(report, first_fault.fault.kind, node, first_fault.row, first_fault.fault.value, 0);
}

int run_gather(const Program& program, const MapPlan& plan, const locus_gather& gather, const Driver& tensors, const locus_host* host, std::uint32_t node, locus_report* report) {
  FirstFault first_fault;
  const auto triples = program.list(gather.indices);
  const std::size_t width = plugin::size_of_dtype(program.tensors[gather.out].dtype);
  parallel(host, plan.count, 4, [&](std::int64_t begin, std::int64_t end) {
    Place place(program, tensors);
    Registers registers(plan.strip);
    walk(program, plan, place, begin, end, [&](std::int64_t first, std::int64_t count) {
      plan.strip.run(place, count, registers.get());
      for (std::int64_t t = 0; t < count; ++t) {
        std::int64_t at = gather.offset;
        for (const locus_stride& s : program.stride_list(gather.strides)) at += s.stride * (place.lanes[s.coordinate] ? place.lanes[s.coordinate][t] : place.fixed[s.coordinate]);
        for (std::size_t p = 0; 3 * p < triples.size(); ++p) {
          const std::int64_t index = plan.strip.root(p, registers.get()).whole(t);
          const auto extent = static_cast<std::int64_t>(program.numbers[triples[3 * p + 1]]), stride = static_cast<std::int64_t>(program.numbers[triples[3 * p + 2]]);
          if (index < 0 || index >= extent) {
            locus_fault f{};
            f.kind = LOCUS_FAULT_INDEX, f.value = index, f.limit = extent;
            first_fault.offer(first + t, f);
            return false;
          }
          at += index * stride;
        }
        std::memcpy(tensors.as<std::byte>(gather.out) + static_cast<std::size_t>(first + t) * width, tensors.as<std::byte>(gather.table) + static_cast<std::size_t>(at) * width, width);
      }
      return true;
    });
  });
  return first_fault.row < 0 ? int{LOCUS_OK} : plugin::fault(report, first_fault.fault.kind, node, first_fault.row, first_fault.fault.value, first_fault.fault.limit);
}

namespace {

double number(const Driver& tensors, const locus_tensor& t, std::uint32_t id, std::int64_t at) {
  switch (t.dtype) {
    case LOCUS_BOOL: return tensors.as<std::uint8_t>(id)[at] != 0;
    case LOCUS_INT64: return static_cast<double>(tensors.as<std::int64_t>(id)[at]);
    case LOCUS_FLOAT32: return tensors.as<float>(id)[at];
    default: return tensors.as<double>(id)[at];
  }
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, n);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a, int lda, const double* b, int ldb, double* c) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, n);
}

/// A matrix for BLAS: strides (row, column) with one of them 1, or packed into `copy`.
template <class T>
struct Matrix {
  const T* data;
  int leading;
  CBLAS_TRANSPOSE transposed;
};
template <class T>
Matrix<T> matrix(const Driver& tensors, const locus_tensor& t, std::uint32_t id, std::int64_t offset, std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column, std::vector<T>& copy) {
  constexpr std::uint32_t dtype = sizeof(T) == 4 ? LOCUS_FLOAT32 : LOCUS_FLOAT64;
  if (t.dtype == dtype) {
    const T* data = tensors.as<T>(id) + offset;
    if ((column == 1 || columns == 1) && (row >= columns || rows == 1)) return {data, static_cast<int>(rows == 1 ? std::max<std::int64_t>(columns, 1) : row), CblasNoTrans};
    if ((row == 1 || rows == 1) && (column >= rows || columns == 1)) return {data, static_cast<int>(columns == 1 ? std::max<std::int64_t>(rows, 1) : column), CblasTrans};
  }
  copy.resize(static_cast<std::size_t>(rows * columns));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) copy[static_cast<std::size_t>(r * columns + c)] = static_cast<T>(number(tensors, t, id, offset + r * row + c * column));
  return {copy.data(), static_cast<int>(std::max<std::int64_t>(columns, 1)), CblasNoTrans};
}

template <class T>
void product(const Program& program, const locus_linear& l, const Driver& tensors, const locus_host* host) {
  constexpr std::int64_t chunk = 256;  // rows of one BLAS call: the cut, and so every bit, is the same for any number of threads
  std::int64_t batches = 1;
  const auto batch = program.list(l.batch);
  for (std::uint32_t c : batch) batches *= program.extent(c);
  const std::int64_t chunks = (l.rows + chunk - 1) / chunk;
  const auto place = [&](std::int64_t offset, locus_range strides, std::int64_t b) {
    std::vector<std::int64_t> at(program.coordinates.size());
    for (std::size_t k = batch.size(); k-- > 0;) {
      at[batch[k]] = b % program.extent(batch[k]);
      b /= program.extent(batch[k]);
    }
    for (const locus_stride& s : program.stride_list(strides)) offset += s.stride * at[s.coordinate];
    return offset;
  };
  if (l.inner == 0) {
    std::fill_n(tensors.as<T>(l.out), batches * l.rows * l.columns, T(0));
    return;
  }
  parallel(host, batches * chunks, static_cast<double>(std::min(chunk, l.rows)) * static_cast<double>(l.inner) * static_cast<double>(l.columns) / 32, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> copy_a, copy_b;
    std::int64_t packed = -1;
    Matrix<T> b{};
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t n = task / chunks, first = task % chunks * chunk, rows = std::min(chunk, l.rows - first);
      if (packed != n) b = matrix<T>(tensors, program.tensors[l.b], l.b, place(l.b_offset, l.b_batch, n), l.inner, l.columns, l.b_inner, l.b_column, copy_b), packed = n;
      const Matrix<T> a = matrix<T>(tensors, program.tensors[l.a], l.a, place(l.a_offset, l.a_batch, n) + first * l.a_row, rows, l.inner, l.a_row, l.a_inner, copy_a);
      gemm(a.transposed, b.transposed, static_cast<int>(rows), static_cast<int>(l.columns), static_cast<int>(l.inner), a.data, a.leading, b.data, b.leading,
           tensors.as<T>(l.out) + (n * l.rows + first) * l.columns);
    }
  });
}

}  // namespace

void run_linear(const Program& program, const locus_linear& linear, const Driver& tensors, const locus_host* host) {
  if (program.count(linear.out) == 0) return;
  if (program.tensors[linear.out].dtype == LOCUS_FLOAT32) product<float>(program, linear, tensors, host);
  else product<double>(program, linear, tensors, host);
}

}  // namespace locus::cpu
