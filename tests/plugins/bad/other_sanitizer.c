/* Says that it was built with a sanitizer that no host has. */
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static const locus_kernel memory = {
    .size = sizeof(locus_kernel), .facts = 0, .name = "memory", .formula = "1", .reference = "none", .low = 0, .high = 1, .source = "kernel memory(a, b) = 1"};
static const locus_kernel* const kernels[] = {&memory};
static const locus_kernels offered = {.size = sizeof(locus_kernels), .count = sizeof kernels / sizeof *kernels, .kernels = kernels};
static const void* query(const char* id) { return strcmp(id, LOCUS_KERNEL_ID) == 0 ? &offered : NULL; }
static const locus_plugin plugin = {
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "other_sanitizer", .version = "1", .sanitizer = "memory", .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return &plugin;
}
