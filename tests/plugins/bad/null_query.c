/* Has no query function. */
#include "plugins/abi/locus_plugin.h"

#if defined(__SANITIZE_ADDRESS__)
static const char sanitizer[] = "address";
#elif defined(__SANITIZE_THREAD__)
static const char sanitizer[] = "thread";
#else
static const char sanitizer[] = "";
#endif
static const locus_plugin plugin = {
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "null_query", .version = "1", .sanitizer = sanitizer, .query = NULL};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return &plugin;
}
