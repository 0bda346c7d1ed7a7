// Bytes of files: read whole, written whole. `-` is standard input or standard output.
// Knows nothing of what the bytes mean.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include "core/base/diagnostic.hpp"

namespace locus {

/// How messages name a path: "standard input" for `-`, else the path as written.
std::string shown_name(const std::string& path);

/// All bytes of the file. On failure adds E401 and gives nothing.
std::optional<std::string> read_file(const std::string& path, Diagnostics& diagnostics);

/// The bytes of a file, alive as long as a copy of this is. Those of a regular file are mapped: a page comes in when it is looked at.
/// The file must not become shorter meanwhile.
struct FileBytes {
  std::string_view view;
  std::shared_ptr<const void> owner;
  bool mapped = false;
  /// Pages of this part may leave memory; they come in again if they are looked at again.
  void forget(std::string_view part) const;
};

/// As read_file, without a copy where the file can be mapped.
std::optional<FileBytes> map_file(const std::string& path, Diagnostics& diagnostics);
FileBytes held(std::string bytes);

/// Writes under a temporary name in the same folder, then renames; devices and pipes are written directly. False after adding E430.
bool write_file(const std::string& path, std::string_view bytes, Diagnostics& diagnostics);

}  // namespace locus
