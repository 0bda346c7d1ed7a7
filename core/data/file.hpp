// Bytes of files: read whole, written whole. `-` is standard input or standard output.
// Knows nothing of what the bytes mean.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include "core/base/diagnostic.hpp"

namespace locus {

/// How messages name a path: "standard input" for `-`, else the path as written.
std::string shown_name(const std::string& path);

/// All bytes of the file. On failure adds E401 and gives nothing.
std::optional<std::string> read_file(const std::string& path, Diagnostics& diagnostics);

/// Writes under a temporary name in the same folder, then renames; devices and pipes are written directly. False after adding E430.
bool write_file(const std::string& path, std::string_view bytes, Diagnostics& diagnostics);

}  // namespace locus
