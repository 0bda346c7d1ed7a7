/* A plugin that keeps the contract; others clash with its names. */
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static const locus_kernel good = {
    .size = sizeof(locus_kernel), .facts = 0, .name = "good", .formula = "1", .reference = "none", .low = 0, .high = 1, .source = "kernel good(a, b) = 1"};
static const locus_kernel* const kernels[] = {&good};
static const locus_kernels offered = {.size = sizeof(locus_kernels), .count = sizeof kernels / sizeof *kernels, .kernels = kernels};
static const void* query(const char* id) { return strcmp(id, LOCUS_KERNEL_ID) == 0 ? &offered : NULL; }
#if defined(__SANITIZE_ADDRESS__)
static const char sanitizer[] = "address";
#elif defined(__SANITIZE_THREAD__)
static const char sanitizer[] = "thread";
#else
static const char sanitizer[] = "";
#endif
static const locus_plugin plugin = {.size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "good", .version = "1", .sanitizer = sanitizer, .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return &plugin;
}
