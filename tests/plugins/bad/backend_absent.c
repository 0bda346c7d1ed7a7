/* A backend that cannot run here. */
#include <string.h>
#include "tests/plugins/bad/backend.h"

static int score(char* reason, size_t reason_size) {
  strncpy(reason, "no such device", reason_size);
  return 0;
}
static const locus_backend backend = {.size = sizeof(locus_backend),
                                      .float64 = 1,
                                      .name = "absent",
                                      .description = "for tests",
                                      .score = score,
                                      .devices = devices,
                                      .compile = compile,
                                      .release = release,
                                      .alloc = alloc,
                                      .write = write_buffer,
                                      .read = read_buffer,
                                      .free = free_buffer,
                                      .run = run};
static const void* query(const char* id) { return strcmp(id, LOCUS_BACKEND_ID) == 0 ? &backend : NULL; }
#if defined(__SANITIZE_ADDRESS__)
static const char sanitizer[] = "address";
#elif defined(__SANITIZE_THREAD__)
static const char sanitizer[] = "thread";
#else
static const char sanitizer[] = "";
#endif
static const locus_plugin plugin = {
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "backend_absent", .version = "1", .sanitizer = sanitizer, .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return &plugin;
}
