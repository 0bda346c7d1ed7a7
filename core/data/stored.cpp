// Turns stored numbers of any kind, byte order and layout into the four dtypes of an Array.
// Must not know of headers.
#include "core/data/stored.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace locus {
namespace {

static_assert(std::endian::native == std::endian::little, "written bytes and unswapped reads assume a little-endian machine");

template <class T>
T take(const char* at, bool swap) {
  char turned[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) turned[i] = at[swap ? sizeof(T) - 1 - i : i];
  T value;
  std::memcpy(&value, turned, sizeof(T));
  return value;
}

/// IEEE half precision: 1 sign, 5 exponent, 10 fraction bits; exact in float32.
float widen_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  const std::uint32_t exponent = (half >> 10) & 31u;
  const std::uint32_t fraction = half & 1023u;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// The upper half of a float32.
float widen_bfloat(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

/// Calls visit(k, offset): the row-major position k of an entry and its position in the file.
template <class Visit>
void each(const std::vector<std::int64_t>& shape, std::int64_t count, bool column_major, Visit visit) {
  if (!column_major || shape.size() < 2) {
    for (std::int64_t k = 0; k < count; ++k) visit(k, k);
    return;
  }
  std::vector<std::int64_t> stride(shape.size(), 1), index(shape.size(), 0);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) stride[axis] = stride[axis - 1] * shape[axis - 1];
  std::int64_t offset = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    visit(k, offset);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      offset += stride[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// One decoding of a whole array: From as stored, To as held, turned by `convert`.
struct Decoding {
  std::string_view bytes;
  Layout layout;
  Array& array;

  template <class From, class To, class Convert>
  void run(Convert convert) const {
    To* out = array.as<To>();
    const char* in = bytes.data();
    if constexpr (std::is_same_v<From, To>) {
      if (!layout.big_endian && (!layout.column_major || array.shape().size() < 2)) {
        if (!bytes.empty()) std::memcpy(out, in, bytes.size());
        return;
      }
    }
    each(array.shape(), array.count(), layout.column_major, [&](std::int64_t k, std::int64_t offset) {
      out[k] = convert(take<From>(in + static_cast<std::size_t>(offset) * sizeof(From), layout.big_endian));
    });
  }
  template <class From>
  void integers() const {
    run<From, std::int64_t>([](From value) { return static_cast<std::int64_t>(value); });
  }
};

}  // namespace

std::size_t size_of(Stored kind) {
  switch (kind) {
    case Stored::boolean: case Stored::int8: case Stored::uint8: return 1;
    case Stored::int16: case Stored::uint16: case Stored::float16: case Stored::bfloat16: return 2;
    case Stored::int32: case Stored::uint32: case Stored::float32: return 4;
    default: return 8;
  }
}

Dtype dtype_of(Stored kind) {
  switch (kind) {
    case Stored::boolean: return Dtype::boolean;
    case Stored::float16: case Stored::bfloat16: case Stored::float32: return Dtype::float32;
    case Stored::float64: return Dtype::float64;
    default: return Dtype::int64;
  }
}

std::optional<std::int64_t> count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  bool empty = false;
  for (std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) empty = true;
    else if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  }
  return empty ? 0 : product;
}

std::optional<Array> decode(std::string_view bytes, Stored kind, Layout layout, std::vector<std::int64_t> shape, const std::string& name,
                            Diagnostics& diagnostics) {
  Array array(dtype_of(kind), std::move(shape));
  const Decoding decoding{bytes, layout, array};
  const auto same = [](auto value) { return value; };
  std::uint64_t too_large = 0;
  switch (kind) {
    case Stored::boolean: decoding.run<std::uint8_t, bool>([](std::uint8_t value) { return value != 0; }); break;
    case Stored::int8: decoding.integers<std::int8_t>(); break;
    case Stored::int16: decoding.integers<std::int16_t>(); break;
    case Stored::int32: decoding.integers<std::int32_t>(); break;
    case Stored::int64: decoding.run<std::int64_t, std::int64_t>(same); break;
    case Stored::uint8: decoding.integers<std::uint8_t>(); break;
    case Stored::uint16: decoding.integers<std::uint16_t>(); break;
    case Stored::uint32: decoding.integers<std::uint32_t>(); break;
    case Stored::uint64:
      decoding.run<std::uint64_t, std::int64_t>([&](std::uint64_t value) {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) && too_large == 0) too_large = value;
        return static_cast<std::int64_t>(value);
      });
      break;
    case Stored::float16: decoding.run<std::uint16_t, float>(widen_half); break;
    case Stored::bfloat16: decoding.run<std::uint16_t, float>(widen_bfloat); break;
    case Stored::float32: decoding.run<float, float>(same); break;
    case Stored::float64: decoding.run<double, double>(same); break;
  }
  if (too_large == 0) return array;
  diagnostics.add({Code::E406, {}, "found the uint64 " + std::to_string(too_large) + ", integers go up to 9223372036854775807", {}, {},
                   "save the array as float64 if its entries are quantities: `array.astype('float64')`", name});
  return std::nullopt;
}

}  // namespace locus
