/* The kernel `student`, by its native scalar form: C functions on the squared distance that a matrix kernel has contracted.
   Knows locus_plugin.h only.

     K(a, b; h, freedom) = (1 + sqdist(a, b) / (freedom h^2))^(-(freedom + 1) / 2)

   Student's t density up to a constant: with few degrees of freedom far samples keep a say. A mixture of Gaussians over their widths, hence
   positive definite in any number of coordinates. */
#include <math.h>
#include <string.h>
#include "plugins/abi/locus_plugin.h"

enum { WIDTH, FREEDOM, SETTINGS };

/* By log1p, since 1 + x rounds away what near pairs differ by. */
static void scalar_f32(const double* settings, int64_t count, const float* x, float* value) {
  const float inverse = (float)(1 / (settings[FREEDOM] * settings[WIDTH] * settings[WIDTH]));
  const float exponent = (float)(-(settings[FREEDOM] + 1) / 2);
  for (int64_t t = 0; t < count; ++t) value[t] = expf(exponent * log1pf(x[t] * inverse));
}

static void scalar_f64(const double* settings, int64_t count, const double* x, double* value) {
  const double inverse = 1 / (settings[FREEDOM] * settings[WIDTH] * settings[WIDTH]);
  const double exponent = -(settings[FREEDOM] + 1) / 2;
  for (int64_t t = 0; t < count; ++t) value[t] = exp(exponent * log1p(x[t] * inverse));
}

static const locus_kernel_setting settings[SETTINGS] = {{"h", NAN}, {"freedom", 1}};

static const locus_kernel student = {
    .size = sizeof(locus_kernel),
    .facts = LOCUS_SYMMETRIC | LOCUS_POSITIVE_DEFINITE | LOCUS_MONOTONE,
    .name = "student",
    .formula = "(1 + r^2 / (freedom h^2))^(-(freedom + 1) / 2), r = dist(a, b)",
    .reference =
        "L. van der Maaten and G. Hinton, Visualizing data using t-SNE, Journal of Machine Learning Research 9 (2008) 2579-2605 "
        "(freedom = 1, h = 1)",
    .setting_count = SETTINGS,
    .contraction = LOCUS_OF_SQDIST,
    .settings = settings,
    .low = 0,
    .high = 1,
    .scalar_f32 = scalar_f32,
    .scalar_f64 = scalar_f64,
    .glsl = "return exp_r(-(freedom + REAL(1)) / REAL(2) * log1p_r(x / (freedom * h * h)));",
};

static const locus_kernel* const kernels[] = {&student};
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
    .name = "student",
    .version = "1",
    .sanitizer = sanitizer,
    .query = query,
};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) { return host->abi == LOCUS_ABI ? &plugin : NULL; }
