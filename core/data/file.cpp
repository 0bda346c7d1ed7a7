// Bytes of files: read whole, written whole or not at all.
// Must not know what the bytes mean.
#include "core/data/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <system_error>

namespace locus {
namespace {

// The words are ours for the common causes, since those of the C library follow the locale.
std::string reason(int error) {
  switch (error) {
    case ENOENT: return "no such file";
    case ENOTDIR: return "a part of the path is not a folder";
    case EACCES: case EPERM: return "permission denied";
    case EISDIR: return "it is a folder";
    case ENOSPC: return "no space left on the device";
    case EROFS: return "the file system is read-only";
    case ENOMEM: return "not enough memory for its bytes";
    case ENAMETOOLONG: return "the name is too long";
    default: return std::error_code(error, std::generic_category()).message();
  }
}

/// A file descriptor that closes itself; 0 and 1 are borrowed.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close_now(); }
  int number() const { return number_; }
  /// The error of close matters after writing: a full network disk tells only then.
  int close_now() {
    int error = number_ > 1 && ::close(number_) != 0 ? errno : 0;
    number_ = -1;
    return error;
  }

 private:
  int number_;
};

int read_all(int descriptor, std::string& bytes) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return errno;
  if (S_ISDIR(about.st_mode)) return EISDIR;
  try {
    if (S_ISREG(about.st_mode)) bytes.reserve(static_cast<std::size_t>(about.st_size) + 1);
    for (;;) {
      constexpr std::size_t least = std::size_t{1} << 16;
      const std::size_t used = bytes.size();
      const std::size_t room = std::max(bytes.capacity() - used, least);
      bytes.resize(used + room);
      const ssize_t got = ::read(descriptor, bytes.data() + used, room);
      const int error = errno;
      bytes.resize(used + (got > 0 ? static_cast<std::size_t>(got) : 0));
      if (got == 0) return 0;
      if (got < 0 && error != EINTR) return error;
    }
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) return errno;
    if (put > 0) bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

int write_directly(const std::string& path, std::string_view bytes) {
  Descriptor file(path == "-" ? 1 : ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.number() < 0) return errno;
  const int error = write_all(file.number(), bytes);
  return error != 0 ? error : file.close_now();
}

/// Where the bytes finally go: a link is followed, so that it stays a link.
std::string target_of(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  std::string target = resolved != nullptr ? resolved : path;
  std::free(resolved);
  return target;
}

int write_beside(const std::string& target, const struct stat* old, std::string_view bytes) {
  const std::string partial = target + ".partial-" + std::to_string(::getpid());
  Descriptor file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.number() < 0) return errno;
  int error = write_all(file.number(), bytes);
  // An older file keeps its permissions; where that is not allowed the new ones are those of any new file.
  if (error == 0 && old != nullptr && ::fchmod(file.number(), old->st_mode & 07777) != 0 && errno != EPERM) error = errno;
  const int closing = file.close_now();
  if (error == 0) error = closing;
  if (error == 0 && ::rename(partial.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(partial.c_str());
  return error;
}

}  // namespace

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::optional<std::string> read_file(const std::string& path, Diagnostics& diagnostics) {
  Descriptor file(path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes;
  const int error = file.number() < 0 ? errno : read_all(file.number(), bytes);
  if (error == 0) return bytes;
  diagnostics.add({Code::E401, {}, "cannot open " + shown_name(path) + ": " + reason(error), {}, {}, {}, {}});
  return std::nullopt;
}

FileBytes held(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {*owner, owner, false};
}

void FileBytes::forget(std::string_view part) const {
  if (!mapped) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto low = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page, high = (reinterpret_cast<std::uintptr_t>(part.data()) + part.size()) / page * page;
  if (low < high) ::madvise(reinterpret_cast<void*>(low), high - low, MADV_DONTNEED);  // a hint: where it is refused the pages stay
}

std::optional<FileBytes> map_file(const std::string& path, Diagnostics& diagnostics) {
  const Descriptor file(path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  const bool regular = file.number() > 0 && ::fstat(file.number(), &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
  const auto size = static_cast<std::size_t>(about.st_size);
  void* memory = regular ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0) : MAP_FAILED;
  if (memory != MAP_FAILED)
    return FileBytes{{static_cast<const char*>(memory), size}, std::shared_ptr<const void>(memory, [size](const void* m) { ::munmap(const_cast<void*>(m), size); }), true};
  std::optional<std::string> bytes = read_file(path, diagnostics);  // pipes, and file systems that cannot map
  if (!bytes) return std::nullopt;
  return held(std::move(*bytes));
}

bool write_file(const std::string& path, std::string_view bytes, Diagnostics& diagnostics) {
  struct stat about {};
  const std::string target = path == "-" ? path : target_of(path);
  const bool exists = path != "-" && ::stat(target.c_str(), &about) == 0;
  int error = 0;
  if (exists && S_ISDIR(about.st_mode)) error = EISDIR;
  else if (path == "-" || (exists && !S_ISREG(about.st_mode))) error = write_directly(target, bytes);
  else error = write_beside(target, exists ? &about : nullptr, bytes);
  if (error == 0) return true;
  std::string why = error == ENOENT ? "no such folder" : reason(error);
  diagnostics.add({Code::E430, {}, "cannot write " + (path == "-" ? "standard output" : path) + ": " + why, {}, {}, {}, {}});
  return false;
}

}  // namespace locus
