// Named arrays of a trained model: .safetensors, .npz, or a folder of .npy files. All faults of a file are listed in one run.
// Knows nothing of the parameters they will be given to.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"
#include "core/data/file.hpp"

namespace locus {

/// One array of a file, as it stands there.
struct StoredArray {
  std::string type;  ///< as the file calls it: "BF16", "<f4"
  Dtype held;        ///< what it is read as
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;  ///< in the file, unpacked
  ReadArray read;            ///< keeps the file open; nothing after a fault (E406, E441)
};
using Weights = std::map<std::string, StoredArray>;

/// By what the path is: a folder, or a file told by its first bytes. Looks at headers, not at numbers: those are read array by array when asked for.
/// Nothing after a fault (E401, E402, E440, E441, and those of npy.hpp).
std::optional<Weights> open_weights(const std::string& path, Diagnostics& diagnostics);

std::optional<Weights> open_safetensors(const FileBytes& file, const std::string& name, Diagnostics& diagnostics);
std::optional<Weights> open_npz(const FileBytes& file, const std::string& name, Diagnostics& diagnostics);

/// Refuses NaN and infinity (E442): a parameter that is not finite would reach every result.
bool check_weight(const Array& array, const std::string& name, const std::string& file, Diagnostics& diagnostics);

}  // namespace locus
