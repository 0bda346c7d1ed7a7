// The Vulkan backend: any GPU with 64-bit integers and floats in shaders. This file is the C table; no exception passes it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include "backends/vulkan/executable.hpp"
#include "backends/vulkan/log.hpp"

struct locus_buffer {
  locus::vulkan::Memory memory;
};

struct locus_executable {
  locus::vulkan::Executable executable;
};

namespace locus::vulkan {
namespace {

template <class Body>
int guarded(char* message, std::size_t size, Body&& body) {
  const auto tell = [&](const char* text) {
    if (message) std::snprintf(message, size, "%s", text);
  };
  try {
    return body();
  } catch (const Failure& f) {
    tell(f.what());
    return f.status;
  } catch (const std::bad_alloc&) {
    return LOCUS_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    tell(e.what());
    return LOCUS_FAILED;
  } catch (...) {
    return LOCUS_FAILED;
  }
}

/// Any real GPU goes before the CPU's vector units; a software driver runs when it is asked for. The device itself is opened when a program comes.
int score(char* reason, std::size_t size) {
  try {
    std::string why;
    const auto all = vulkan::devices(why);
    std::snprintf(reason, size, "%s", why.c_str());
    return !why.empty() ? 0 : all.front().software ? 1 : 100;
  } catch (const std::exception& e) {
    std::snprintf(reason, size, "%s", e.what());
    return 0;
  }
}

int list_devices(std::uint32_t capacity, locus_device* list, std::uint32_t* count) {
  static std::vector<DeviceInfo> all;  // the names are the caller's to read
  static std::vector<std::string> names;
  return guarded(nullptr, 0, [&] {
    std::string reason;
    all = vulkan::devices(reason);
    names.clear();
    for (const DeviceInfo& d : all) names.push_back(d.name + " (" + d.type + (d.software ? ", software" : "") + (d.missing.empty() ? "" : ", lacks " + d.missing) + ")");
    *count = static_cast<std::uint32_t>(all.size());
    for (std::uint32_t k = 0; k < std::min(capacity, *count); ++k) list[k] = {sizeof(locus_device), names[k].c_str(), all[k].driver.c_str(), all[k].memory};
    return int{LOCUS_OK};
  });
}

int compile(const locus_program* source, locus_executable** out, char* message, std::size_t size, std::uint32_t* node) {
  *out = nullptr, *node = LOCUS_NONE;
  return guarded(message, size, [&] {
    plugin::Refusal refusal;
    auto program = plugin::read_program(source, &refusal);
    if (!program) {
      std::snprintf(message, size, "%s", refusal.text.c_str());
      *node = refusal.node;
      return int{LOCUS_BAD_PROGRAM};
    }
    try {
      *out = new locus_executable{{std::move(program), log_host}};
    } catch (const Failure& f) {
      *node = f.node;
      throw;
    }
    return int{LOCUS_OK};
  });
}

void release(locus_executable* executable) { delete executable; }

// For calls whose reason has no place in the table: it is said.
template <class Body>
int told(Body&& body) {
  char why[512] = "";
  const int status = guarded(why, sizeof why, body);
  if (*why) say(1, why);
  return status;
}

int alloc(std::uint64_t bytes, locus_buffer** out) {
  *out = nullptr;
  return told([&] {
    auto buffer = std::make_unique<locus_buffer>();
    buffer->memory = Device::get().allocate(bytes);
    *out = buffer.release();
    return int{LOCUS_OK};
  });
}

int write(locus_buffer* buffer, std::uint64_t offset, const void* data, std::uint64_t bytes) {
  if (offset > buffer->memory.bytes || bytes > buffer->memory.bytes - offset) return LOCUS_FAILED;
  return told([&] { return Device::get().write(buffer->memory, offset, data, bytes), int{LOCUS_OK}; });
}

int read(const locus_buffer* buffer, std::uint64_t offset, void* data, std::uint64_t bytes) {
  if (offset > buffer->memory.bytes || bytes > buffer->memory.bytes - offset) return LOCUS_FAILED;
  return told([&] { return Device::get().read(buffer->memory, offset, data, bytes), int{LOCUS_OK}; });
}

void free_buffer(locus_buffer* buffer) {
  if (!buffer) return;
  Device::get().release(buffer->memory);
  delete buffer;
}

int run(locus_executable* executable, locus_buffer* const* buffers, locus_buffer* slab, locus_report* report) {
  return guarded(report->message, sizeof report->message, [&] {
    std::vector<const Memory*> all;
    for (std::uint32_t k = 0; k < executable->executable.buffer_count(); ++k) all.push_back(buffers[k] ? &buffers[k]->memory : nullptr);
    return executable->executable.run(all, slab ? &slab->memory : nullptr, report);
  });
}

int describe(const locus_executable* executable, std::uint32_t node, char* text, std::size_t size) {
  std::snprintf(text, size, "%s", executable->executable.words(node).c_str());
  return LOCUS_OK;
}

const locus_backend backend = {sizeof(locus_backend),
                               1,
                               "vulkan",
                               "GPUs of any vendor, by compute shaders made for the program; a software driver only when it is named",
                               score,
                               list_devices,
                               compile,
                               release,
                               alloc,
                               write,
                               read,
                               free_buffer,
                               run,
                               describe};

const void* query(const char* id) { return std::strcmp(id, LOCUS_BACKEND_ID) == 0 ? &backend : nullptr; }

#if defined(__SANITIZE_ADDRESS__)
constexpr const char* sanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
constexpr const char* sanitizer = "thread";
#else
constexpr const char* sanitizer = "";
#endif
const locus_plugin table = {sizeof(locus_plugin), LOCUS_ABI, "vulkan", "0.1.0", sanitizer, query};

}  // namespace
}  // namespace locus::vulkan

const locus_plugin* locus_plugin_entry(const locus_host* host) {
  if (host->abi != LOCUS_ABI) return nullptr;
  locus::vulkan::log_host = host;
  return &locus::vulkan::table;
}
