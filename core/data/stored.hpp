// Numbers as files store them: kinds, byte orders, layouts; turned into the four dtypes of an Array.
// Knows nothing of headers: npy and weights parse those and come here with bytes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"

namespace locus {

enum class Stored : std::uint8_t { boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64 };

std::size_t size_of(Stored kind);

Dtype dtype_of(Stored kind);  ///< what an array of it is held as

struct Layout {
  bool big_endian = false;
  bool column_major = false;  ///< first axis runs fastest (Fortran)
};

/// Entries of this shape, or nothing if the product (of the axes that are not 0) exceeds 63 bits or an axis is negative.
std::optional<std::int64_t> count_of(const std::vector<std::int64_t>& shape);

/// `bytes` must be exactly count times size_of(kind). Integers become int64, halves float32, all else keeps its size.
/// Adds E406 and gives nothing if a uint64 has no int64. `name` is what messages call the array.
std::optional<Array> decode(std::string_view bytes, Stored kind, Layout layout, std::vector<std::int64_t> shape, const std::string& name,
                            Diagnostics& diagnostics);

}  // namespace locus
