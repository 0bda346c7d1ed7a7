/* Offers a list that holds NULL. */
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static const locus_kernel* const kernels[] = {NULL};
static const locus_kernels offered = {.size = sizeof(locus_kernels), .count = 1, .kernels = kernels};
static const void* query(const char* id) { return strcmp(id, LOCUS_KERNEL_ID) == 0 ? &offered : NULL; }
#if defined(__SANITIZE_ADDRESS__)
static const char sanitizer[] = "address";
#elif defined(__SANITIZE_THREAD__)
static const char sanitizer[] = "thread";
#else
static const char sanitizer[] = "";
#endif
static const locus_plugin plugin = {
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "null_kernel", .version = "1", .sanitizer = sanitizer, .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return &plugin;
}
