// Checks the structs that a plugin hands over, field by field, before anything of them is used.
// A struct's size is read first: what lies beyond it is never touched.
#include <cctype>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include "plugins/host/open.hpp"

namespace locus {
namespace {

std::string short_struct(const char* name, std::uint32_t size, std::size_t expected) {
  return std::string(name) + ".size is " + std::to_string(size) + ", at least " + std::to_string(expected) + " expected";
}

bool is_name(const char* text) {
  if (!text || !(std::isalpha(static_cast<unsigned char>(*text)) || *text == '_')) return false;
  for (; *text; ++text)
    if (!(std::isalnum(static_cast<unsigned char>(*text)) || *text == '_')) return false;
  return true;
}

struct Field {
  const char* name;
  bool given;
};
std::string first_missing(const std::string& owner, std::initializer_list<Field> fields) {
  for (const Field& field : fields)
    if (!field.given) return owner + "." + field.name + " is NULL";
  return {};
}

std::string check_settings(const std::string& owner, const locus_kernel* kernel) {
  if (kernel->setting_count > 0 && !kernel->settings) return owner + ".settings is NULL, setting_count is " + std::to_string(kernel->setting_count);
  for (std::uint32_t k = 0; k < kernel->setting_count; ++k)
    if (!is_name(kernel->settings[k].name)) return owner + ".settings[" + std::to_string(k) + "].name is not a name";
  return {};
}

}  // namespace

std::string check_table(const locus_plugin* table) {
  constexpr std::size_t head = offsetof(locus_plugin, abi) + sizeof(table->abi);
  if (table->size < head) return short_struct("locus_plugin", table->size, sizeof(locus_plugin));
  if (table->abi != LOCUS_ABI) return "the plugin was built for ABI " + std::to_string(table->abi) + ", this locus has ABI " + std::to_string(LOCUS_ABI);
  if (table->size < sizeof(locus_plugin)) return short_struct("locus_plugin", table->size, sizeof(locus_plugin));
  const std::string missing = first_missing("locus_plugin", {{"name", table->name != nullptr},
                                                             {"version", table->version != nullptr},
                                                             {"sanitizer", table->sanitizer != nullptr},
                                                             {"query", table->query != nullptr}});
  if (!missing.empty()) return missing;
  if (*table->name == '\0') return "locus_plugin.name is empty";
  return {};
}

std::string check_kernel_table(const locus_kernel* kernel) {
  if (!kernel) return "an entry of locus_kernels.kernels is NULL";
  if (kernel->size < sizeof(locus_kernel)) return short_struct("locus_kernel", kernel->size, sizeof(locus_kernel));
  if (!is_name(kernel->name)) return "locus_kernel.name is not a name of letters, digits and `_`";
  const std::string owner = std::string("kernel `") + kernel->name + "`: locus_kernel";
  std::string reason = first_missing(owner, {{"formula", kernel->formula != nullptr}, {"reference", kernel->reference != nullptr}});
  if (reason.empty()) reason = check_settings(owner, kernel);
  if (!reason.empty()) return reason;
  if (kernel->contraction > LOCUS_OF_MAXDIST) return owner + ".contraction is " + std::to_string(kernel->contraction) + ", at most 3 expected";
  if (!(kernel->low <= kernel->high)) return owner + ".low is above high, or one of them is NaN";
  if (!kernel->scalar_f32 != !kernel->scalar_f64) return owner + " has scalar_f32 or scalar_f64 alone, both or none expected";
  if (!kernel->block_f32 != !kernel->block_f64) return owner + " has block_f32 or block_f64 alone, both or none expected";
  if (!kernel->source && !kernel->scalar_f32 && !kernel->block_f32) return owner + " has no form: source, or scalar or block in both precisions, expected";
  return {};
}

std::string check_backend_table(const locus_backend* backend) {
  if (backend->size < sizeof(locus_backend)) return short_struct("locus_backend", backend->size, sizeof(locus_backend));
  if (!is_name(backend->name)) return "locus_backend.name is not a name of letters, digits and `_`";
  if (backend->name == std::string("auto")) return "a backend cannot be named `auto`";
  const std::string owner = std::string("backend `") + backend->name + "`: locus_backend";
  return first_missing(owner, {{"description", backend->description != nullptr},
                               {"score", backend->score != nullptr},
                               {"devices", backend->devices != nullptr},
                               {"compile", backend->compile != nullptr},
                               {"release", backend->release != nullptr},
                               {"alloc", backend->alloc != nullptr},
                               {"write", backend->write != nullptr},
                               {"read", backend->read != nullptr},
                               {"free", backend->free != nullptr},
                               {"run", backend->run != nullptr}});
}

}  // namespace locus
