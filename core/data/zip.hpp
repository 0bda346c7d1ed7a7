// The files inside a zip archive, stored or deflated, with their checksums verified.
// Knows nothing of what they hold.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

struct ZipEntry {
  std::string name;
  std::uint64_t method = 0, flags = 0, packed = 0, size = 0, offset = 0;
  std::uint32_t checksum = 0;
};

/// The entries in the archive's own order, or in `fault` why its directory cannot be read.
std::optional<std::vector<ZipEntry>> list_zip(std::string_view archive, std::string& fault);

/// The bytes of one entry, or in `fault` what is wrong with it.
std::optional<std::string> unpack(std::string_view archive, const ZipEntry& entry, std::string& fault);

}  // namespace locus
