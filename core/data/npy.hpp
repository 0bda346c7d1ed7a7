// The .npy format: one array with a small header. Reads versions 1 to 3, writes version 1.
// Knows nothing of what the array is for.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"
#include "core/data/stored.hpp"

namespace locus {

bool is_npy(std::string_view bytes);  ///< by the first six bytes

/// A file whose header holds: what its array is, and where its bytes stand.
struct NpyFrame {
  std::string descr;  ///< "<f4"
  Stored kind;
  Layout layout;
  std::vector<std::int64_t> shape;
  std::string_view data;
};
/// Looks at the header alone. Faults are E403, E404, E405.
std::optional<NpyFrame> frame_npy(std::string_view bytes, const std::string& name, Diagnostics& diagnostics);

/// The array in `bytes`; `name` is the place in messages. Faults are E403, E404, E405, E406.
std::optional<Array> read_npy(std::string_view bytes, const std::string& name, Diagnostics& diagnostics);
std::optional<Array> read_npy_file(const std::string& path, Diagnostics& diagnostics);

/// The bytes of a .npy file, header padded to 64 bytes, little endian, row-major.
std::string npy_bytes(const Array& array);

}  // namespace locus
