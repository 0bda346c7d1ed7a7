/* The kernel `chi2` for histograms, by its native block form and its source: it needs the coordinates, no contraction gives it. Knows locus_plugin.h only.

     K(a, b; gamma) = exp(-gamma sum over c of (a_c - b_c)^2 / (|a_c| + |b_c|))      a term 0/0 counts 0

   For histograms |a_c| is a_c. With the absolute values a negative entry counts as mass in a bin of its own, so that K is positive definite for
   all points. It does not fall with the Euclidean distance alone. */
#include <math.h>
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static void block_f32(const double* settings, int64_t rows, int64_t samples, int64_t d, const float* q, int64_t q_stride, const float* x, int64_t x_stride,
                      float* value, int64_t value_stride) {
  const float gamma = (float)settings[0];
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t s = 0; s < samples; ++s) {
      const float *a = q + r * q_stride, *b = x + s * x_stride;
      float sum = 0;
      for (int64_t c = 0; c < d; ++c) {
        const float mass = fabsf(a[c]) + fabsf(b[c]), difference = a[c] - b[c];
        sum += mass != 0 ? difference / mass * difference : 0; /* divided first: the square may overflow or vanish */
      }
      value[r * value_stride + s] = expf(-gamma * sum);
    }
}

static void block_f64(const double* settings, int64_t rows, int64_t samples, int64_t d, const double* q, int64_t q_stride, const double* x, int64_t x_stride,
                      double* value, int64_t value_stride) {
  const double gamma = settings[0];
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t s = 0; s < samples; ++s) {
      const double *a = q + r * q_stride, *b = x + s * x_stride;
      double sum = 0;
      for (int64_t c = 0; c < d; ++c) {
        const double mass = fabs(a[c]) + fabs(b[c]), difference = a[c] - b[c];
        sum += mass != 0 ? difference / mass * difference : 0;
      }
      value[r * value_stride + s] = exp(-gamma * sum);
    }
}

static const locus_kernel_setting settings[] = {{"gamma", 1}};

static const locus_kernel chi2 = {
    .size = sizeof(locus_kernel),
    .facts = LOCUS_SYMMETRIC | LOCUS_POSITIVE_DEFINITE,
    .name = "chi2",
    .formula = "exp(-gamma sum((a - b)^2 / (|a| + |b|)))",
    .reference =
        "J. Zhang, M. Marszalek, S. Lazebnik and C. Schmid, Local features and kernels for classification of texture and object "
        "categories, International Journal of Computer Vision 73 (2007) 213-238",
    .setting_count = 1,
    .settings = settings,
    .low = 0,
    .high = 1,
    .source = "kernel chi2(a, b; gamma = 1) = exp(-gamma * sum(if abs(a) + abs(b) > 0 then (a - b)^2 / (abs(a) + abs(b)) else 0))",
    .block_f32 = block_f32,
    .block_f64 = block_f64,
};

static const locus_kernel* const kernels[] = {&chi2};
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
    .size = sizeof(locus_plugin),
    .abi = LOCUS_ABI,
    .name = "chi2",
    .version = "1",
    .sanitizer = sanitizer,
    .query = query,
};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) { return host->abi == LOCUS_ABI ? &plugin : NULL; }
