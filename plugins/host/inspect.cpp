// The ELF checks behind inspect(): headers, ranges of all segments and the section table against the real size of the file.
// Every number read here is untrusted: compare by subtraction, never by a sum that may overflow.
#include "plugins/host/inspect.hpp"
#include <elf.h>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

namespace locus {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t machine_of_host = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t machine_of_host = EM_AARCH64;
#elif defined(__riscv)
constexpr std::uint16_t machine_of_host = EM_RISCV;
#elif defined(__powerpc64__)
constexpr std::uint16_t machine_of_host = EM_PPC64;
#else
#error "the ELF number of this machine is not known here: add its row above"
#endif

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "x86";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_RISCV:
      return "risc-v";
    case EM_PPC64:
      return "ppc64";
    default:
      return "machine " + std::to_string(machine);
  }
}

/// A file of which any range can be asked for; a range outside it is refused, never padded.
class File {
 public:
  explicit File(const std::filesystem::path& path) : stream_(path, std::ios::binary) {
    if (!stream_) return;
    stream_.seekg(0, std::ios::end);
    const auto end = stream_.tellg();
    if (end >= 0) size_ = static_cast<std::uint64_t>(end);
  }
  bool open() const { return stream_.is_open() && stream_.good(); }
  std::uint64_t size() const { return size_; }
  bool holds(std::uint64_t offset, std::uint64_t bytes) const { return offset <= size_ && bytes <= size_ - offset; }

  template <class T>
  std::optional<T> read(std::uint64_t offset) {
    T value;
    if (!holds(offset, sizeof(T))) return std::nullopt;
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(&value), sizeof(T));
    if (!stream_) return std::nullopt;
    return value;
  }
  std::string text(std::uint64_t offset, std::uint64_t limit) {
    std::string result;
    for (std::uint64_t k = 0; k < limit; ++k) {
      const auto byte = read<char>(offset + k);
      if (!byte || *byte == 0) break;
      result += *byte;
    }
    return result;
  }

 private:
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

std::string cut(const char* part, std::uint64_t end, std::uint64_t size) {
  return std::string("is cut short: its ") + part + " ends at byte " + std::to_string(end) + ", the file has " + std::to_string(size) + " bytes";
}

std::string check_header(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "is not a shared object (no ELF magic at its start)";
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "is not a 64-bit shared object";
  const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  if (header.e_ident[EI_DATA] != order) return "was built for a machine with the other byte order";
  if (header.e_machine != machine_of_host) return "was built for " + machine_name(header.e_machine) + ", this is " + machine_name(machine_of_host);
  if (header.e_type != ET_DYN) return "is an ELF file but not a shared object (type " + std::to_string(header.e_type) + ")";
  if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr)) return "has no table of segments that could be read";
  return {};
}

std::string check_sections(File& file, const Elf64_Ehdr& header) {
  if (header.e_shoff == 0) return {};  // stripped of its section table, which loading does not need
  const std::uint64_t bytes = std::uint64_t{header.e_shnum} * header.e_shentsize;
  if (!file.holds(header.e_shoff, bytes)) return cut("section table", header.e_shoff + bytes, file.size());
  return {};
}

std::string check_segments(File& file, const Elf64_Ehdr& header, std::vector<Elf64_Phdr>& segments) {
  const std::uint64_t bytes = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (!file.holds(header.e_phoff, bytes)) return cut("table of segments", header.e_phoff + bytes, file.size());
  bool loads = false, dynamic = false;
  for (unsigned k = 0; k < header.e_phnum; ++k) {
    const auto segment = file.read<Elf64_Phdr>(header.e_phoff + k * sizeof(Elf64_Phdr));
    if (!segment) return "cannot be read";
    if (!file.holds(segment->p_offset, segment->p_filesz)) return cut("segment", segment->p_offset + segment->p_filesz, file.size());
    if (segment->p_type == PT_LOAD && segment->p_filesz > segment->p_memsz) return "has a segment larger in the file than in memory";
    loads = loads || segment->p_type == PT_LOAD;
    dynamic = dynamic || segment->p_type == PT_DYNAMIC;
    segments.push_back(*segment);
  }
  if (!loads || !dynamic) return "has nothing to load or to link";
  return {};
}

std::optional<std::uint64_t> offset_of_address(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

std::vector<std::string> needed_libraries(File& file, const std::vector<Elf64_Phdr>& segments) {
  std::vector<std::uint64_t> names;
  std::uint64_t strings = 0, string_bytes = 0;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      const auto entry = file.read<Elf64_Dyn>(segment.p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
      if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRSZ) string_bytes = entry->d_un.d_val;
    }
  }
  std::vector<std::string> libraries;
  const auto table = offset_of_address(segments, strings);
  if (!table) return libraries;
  for (const std::uint64_t name : names)
    if (name < string_bytes) libraries.push_back(file.text(*table + name, string_bytes - name));
  return libraries;
}

}  // namespace

Inspection inspect(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return {"there is no such file", {}};
  if (std::filesystem::is_directory(status)) return {"it is a directory", {}};
  if (!std::filesystem::is_regular_file(status)) return {"it is not a regular file", {}};
  File file(path);
  if (!file.open()) return {"the file cannot be opened for reading", {}};
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header) return {"the file is not a shared object (" + std::to_string(file.size()) + " bytes are less than an ELF header)", {}};
  std::vector<Elf64_Phdr> segments;
  std::string refusal = check_header(*header);
  if (refusal.empty()) refusal = check_segments(file, *header, segments);
  if (refusal.empty()) refusal = check_sections(file, *header);
  if (!refusal.empty()) return {"the file " + refusal, {}};
  return {"", needed_libraries(file, segments)};
}

const char* sanitizer_of_host() {
#if defined(__SANITIZE_ADDRESS__)
  return "address";
#elif defined(__SANITIZE_THREAD__)
  return "thread";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return "address";
#elif __has_feature(thread_sanitizer)
  return "thread";
#else
  return "";
#endif
#else
  return "";
#endif
}

std::string sanitizer_of(const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) {
    if (library.rfind("libasan.", 0) == 0) return "address";
    if (library.rfind("libtsan.", 0) == 0) return "thread";
  }
  return {};
}

}  // namespace locus
