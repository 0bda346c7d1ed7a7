/* A kernel whose native form divides by the distance: NaN where two points coincide. */
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static void scalar_f32(const double* s, int64_t count, const float* x, float* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = x[t] / x[t];
}
static void scalar_f64(const double* s, int64_t count, const double* x, double* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = x[t] / x[t];
}
static const locus_kernel nan_kernel = {.size = sizeof(locus_kernel),
                                        .name = "nan_kernel",
                                        .formula = "r^2 / r^2, r = dist(a, b)",
                                        .reference = "none",
                                        .contraction = LOCUS_OF_SQDIST,
                                        .low = 0,
                                        .high = 1,
                                        .scalar_f32 = scalar_f32,
                                        .scalar_f64 = scalar_f64};
static const locus_kernel* const kernels[] = {&nan_kernel};
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
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "nan_kernel", .version = "1", .sanitizer = sanitizer, .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return &plugin;
}
