// Arrays in host memory: storage, conversion and reshaping.
// Knows nothing of axes' names, files or backends.
#include "core/base/array.hpp"
#include <sys/mman.h>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace locus {

namespace {

// Large arrays are mapped one by one: they come as zeros, and their memory goes back when they end, where a heap would keep the holes that a long row
// of parameters leaves between what stays.
constexpr std::size_t large = std::size_t{1} << 20;
constexpr std::align_val_t alignment{64};  // one cache line, and the widest vector register

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t total = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) throw std::invalid_argument("a negative size in shape " + shape_text(shape));
    empty |= size == 0;
  }
  if (empty) return 0;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(total, size, &total)) throw std::length_error("shape " + shape_text(shape) + " has more entries than can be counted");
  return total;
}

std::shared_ptr<std::byte[]> allocate(std::int64_t count, std::size_t each) {
  if (static_cast<std::uint64_t>(count) > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / each)
    throw std::length_error("an array of " + std::to_string(count) + " entries does not fit the address space");
  const std::size_t bytes = static_cast<std::size_t>(count) * each;
  if (bytes >= large) {
    void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return {static_cast<std::byte*>(pages), [bytes](std::byte* p) { ::munmap(p, bytes); }};
  }
  auto* memory = static_cast<std::byte*>(::operator new[](bytes == 0 ? 1 : bytes, alignment));
  std::shared_ptr<std::byte[]> owner(memory, [](std::byte* p) { ::operator delete[](p, alignment); });
  std::memset(memory, 0, bytes);
  return owner;
}

template <class Visit>
auto typed(Dtype dtype, Visit visit) {
  switch (dtype) {
    case Dtype::boolean:
      return visit(std::uint8_t{});
    case Dtype::int64:
      return visit(std::int64_t{});
    case Dtype::float32:
      return visit(float{});
    case Dtype::float64:
      break;
  }
  return visit(double{});
}

template <class From, class To>
void convert(const From* from, To* to, std::int64_t count, bool truth) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = truth ? static_cast<To>(from[k] != From{}) : static_cast<To>(from[k]);
}

}  // namespace

std::size_t size_of(Dtype d) {
  return typed(d, [](auto one) { return sizeof(one); });
}

const char* name_of(Dtype d) {
  switch (d) {
    case Dtype::boolean:
      return "bool";
    case Dtype::int64:
      return "int64";
    case Dtype::float32:
      return "float32";
    case Dtype::float64:
      break;
  }
  return "float64";
}

Array::Array(Dtype dtype, std::vector<std::int64_t> shape) : dtype_(dtype), shape_(std::move(shape)), data_(allocate(product(shape_), size_of(dtype))) {}

std::int64_t Array::count() const { return product(shape_); }

double Array::number(std::int64_t k) const {
  return typed(dtype_, [&](auto one) { return static_cast<double>(as<decltype(one)>()[k]); });
}

Array Array::cast(Dtype to) const {
  Array result(to, shape_);
  typed(dtype_, [&](auto from) { typed(to, [&](auto other) { convert(as<decltype(from)>(), result.as<decltype(other)>(), count(), to == Dtype::boolean); }); });
  return result;
}

Array Array::reshaped(std::vector<std::int64_t> shape) const {
  if (product(shape) != count()) throw std::invalid_argument(shape_text(shape_) + " cannot be reshaped to " + shape_text(shape));
  Array result = *this;
  result.shape_ = std::move(shape);
  return result;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t k = 0; k < shape.size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(shape[k]);
  return text + "]";
}

}  // namespace locus
