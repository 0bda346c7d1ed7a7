// Named arrays of a trained model: .safetensors, .npz, or a folder of .npy files. All faults of a file are listed in one run.
// Knows nothing of the parameters they will be given to.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include "core/base/array.hpp"
#include "core/base/diagnostic.hpp"

namespace locus {

using Weights = std::map<std::string, Array>;

/// By what the path is: a folder, or a file told by its first bytes. Nothing after a fault (E401, E402, E440, E441, and those of npy.hpp).
std::optional<Weights> read_weights(const std::string& path, Diagnostics& diagnostics);

std::optional<Weights> read_safetensors(std::string_view bytes, const std::string& name, Diagnostics& diagnostics);
std::optional<Weights> read_npz(std::string_view bytes, const std::string& name, Diagnostics& diagnostics);

}  // namespace locus
