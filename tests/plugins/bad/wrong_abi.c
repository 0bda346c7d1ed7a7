/* Was built for an ABI to come. */
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static const locus_kernel future = {
    .size = sizeof(locus_kernel), .facts = 0, .name = "future", .formula = "1", .reference = "none", .low = 0, .high = 1, .source = "kernel future(a, b) = 1"};
static const locus_kernel* const kernels[] = {&future};
static const locus_kernels offered = {.size = sizeof(locus_kernels), .count = sizeof kernels / sizeof *kernels, .kernels = kernels};
static const void* query(const char* id) { return strcmp(id, LOCUS_KERNEL_ID) == 0 ? &offered : NULL; }
#if defined(__SANITIZE_ADDRESS__)
static const char sanitizer[] = "address";
#elif defined(__SANITIZE_THREAD__)
static const char sanitizer[] = "thread";
#else
static const char sanitizer[] = "";
#endif
static const locus_plugin plugin = {
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI + 6, .name = "wrong_abi", .version = "1", .sanitizer = sanitizer, .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return &plugin;
}
