// Reads zip archives from memory: the directory at the end, then each entry; zlib inflates and sums.
// Must not know what the entries hold. Every offset and size is checked against the archive before use.
#include "core/data/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace locus {
namespace {

constexpr std::uint64_t unset32 = 0xFFFFFFFF;  // "the value stands in the 64-bit extra field"

/// Little-endian number of `bytes` bytes; the caller has checked the room.
std::uint64_t number_at(std::string_view text, std::uint64_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[at + static_cast<std::uint64_t>(i)]);
  return value;
}

bool has_room(std::string_view text, std::uint64_t at, std::uint64_t size) { return at <= text.size() && size <= text.size() - at; }

bool is_mark(std::string_view text, std::uint64_t at, std::string_view mark) {
  return has_room(text, at, mark.size()) && text.substr(at, mark.size()) == mark;
}

struct Directory {
  std::uint64_t entries, offset;
};

/// From the end record, which a comment of up to 65535 bytes may follow.
std::optional<Directory> find_directory(std::string_view archive) {
  constexpr std::uint64_t record = 22, locator = 20;
  const std::size_t at = archive.rfind(std::string_view("PK\x05\x06", 4));
  if (at == std::string_view::npos || !has_room(archive, at, record)) return std::nullopt;
  Directory directory{number_at(archive, at + 10, 2), number_at(archive, at + 16, 4)};
  if (directory.entries != 0xFFFF && directory.offset != unset32) return directory;
  if (at < locator || !is_mark(archive, at - locator, std::string_view("PK\x06\x07", 4))) return directory;
  const std::uint64_t wide = number_at(archive, at - locator + 8, 8);
  if (!is_mark(archive, wide, std::string_view("PK\x06\x06", 4)) || !has_room(archive, wide, 56)) return std::nullopt;
  return Directory{number_at(archive, wide + 32, 8), number_at(archive, wide + 48, 8)};
}

/// Sizes and offset that did not fit 32 bits stand in extra field 1, in this order, only those that are needed.
void widen(std::string_view extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const std::uint64_t id = number_at(extra, 0, 2), length = number_at(extra, 2, 2);
    if (length > extra.size() - 4) return;
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
      if (*value != unset32 || field.size() < 8) continue;
      *value = number_at(field, 0, 8);
      field.remove_prefix(8);
    }
  }
}

std::optional<std::string> inflate_all(std::string_view packed, std::uint64_t size) {
  std::string bytes(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  constexpr std::uint64_t step = std::numeric_limits<uInt>::max();
  std::uint64_t in = 0, out = 0;
  int state = Z_OK;
  // zlib counts in 32 bits: both sides are fed in steps.
  while (state == Z_OK) {
    const auto give = static_cast<uInt>(std::min<std::uint64_t>(packed.size() - in, step));
    const auto room = static_cast<uInt>(std::min<std::uint64_t>(size - out, step));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + out);
    stream.avail_in = give;
    stream.avail_out = room;
    state = inflate(&stream, Z_NO_FLUSH);
    in += give - stream.avail_in;
    out += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || out != size || in != packed.size()) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<std::vector<ZipEntry>> list_zip(std::string_view archive, std::string& fault) {
  const std::optional<Directory> directory = find_directory(archive);
  if (!directory) return fault = "it has no zip directory at its end, so it was cut or is no .npz file", std::nullopt;
  std::vector<ZipEntry> entries;
  std::uint64_t at = directory->offset;
  constexpr std::uint64_t fixed = 46;
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    if (!is_mark(archive, at, std::string_view("PK\x01\x02", 4)) || !has_room(archive, at, fixed))
      return fault = "its zip directory breaks off after " + std::to_string(i) + " of " + std::to_string(directory->entries) + " entries", std::nullopt;
    const std::uint64_t name = number_at(archive, at + 28, 2), extra = number_at(archive, at + 30, 2), comment = number_at(archive, at + 32, 2);
    if (!has_room(archive, at + fixed, name + extra + comment)) return fault = "its zip directory runs over the end of the file", std::nullopt;
    ZipEntry entry{std::string(archive.substr(at + fixed, name)), number_at(archive, at + 10, 2), number_at(archive, at + 8, 2),
                   number_at(archive, at + 20, 4), number_at(archive, at + 24, 4), number_at(archive, at + 42, 4),
                   static_cast<std::uint32_t>(number_at(archive, at + 16, 4))};
    widen(archive.substr(at + fixed + name, extra), entry);
    entries.push_back(std::move(entry));
    at += fixed + name + extra + comment;
  }
  return entries;
}

std::optional<std::string> unpack(std::string_view archive, const ZipEntry& entry, std::string& fault) {
  constexpr std::uint64_t fixed = 30, greatest_ratio = 1032;  // deflate cannot do better than 1032 to 1
  if ((entry.flags & 1) != 0) return fault = "it is encrypted", std::nullopt;
  if (entry.method != 0 && entry.method != 8)
    return fault = "it is packed by method " + std::to_string(entry.method) + ", known are 0 (stored) and 8 (deflated)", std::nullopt;
  if (!is_mark(archive, entry.offset, std::string_view("PK\x03\x04", 4)) || !has_room(archive, entry.offset, fixed))
    return fault = "it does not stand where the zip directory says", std::nullopt;
  const std::uint64_t start = entry.offset + fixed + number_at(archive, entry.offset + 26, 2) + number_at(archive, entry.offset + 28, 2);
  if (!has_room(archive, start, entry.packed)) return fault = "its bytes run over the end of the file", std::nullopt;
  const std::string_view packed = archive.substr(start, entry.packed);
  const bool stored = entry.method == 0;
  if (stored ? entry.size != entry.packed : entry.size / greatest_ratio > entry.packed) return fault = "its size cannot be true", std::nullopt;
  std::optional<std::string> bytes = stored ? std::optional(std::string(packed)) : inflate_all(packed, entry.size);
  if (!bytes) return fault = "it cannot be unpacked to the " + std::to_string(entry.size) + " bytes announced", std::nullopt;
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes->data()), bytes->size());
  if (checksum != entry.checksum) return fault = "its checksum is wrong: bytes were changed", std::nullopt;
  return bytes;
}

}  // namespace locus
