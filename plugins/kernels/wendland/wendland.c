/* The kernel `wendland`, by its text in the spec language: it runs on every backend and has derivatives. Knows locus_plugin.h only.

     K(a, b; h) = (1 - r/h)^4 (4 r/h + 1)  where r = dist(a, b) <= h, 0 beyond

   Twice differentiable and zero beyond h, so that only near pairs cost anything. Positive definite for points of up to three coordinates
   and not beyond, hence that fact is not claimed. */
#include <math.h>
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static double radius(const double* settings) { return settings[0]; }

static const locus_kernel_setting settings[] = {{"h", NAN}};

static const locus_kernel wendland = {
    .size = sizeof(locus_kernel),
    .facts = LOCUS_SYMMETRIC | LOCUS_MONOTONE,
    .name = "wendland",
    .formula = "max(1 - r/h, 0)^4 (4 r/h + 1), r = dist(a, b)",
    .reference =
        "H. Wendland, Piecewise polynomial, positive definite and compactly supported radial functions of minimal degree, "
        "Advances in Computational Mathematics 4 (1995) 389-396",
    .setting_count = 1,
    .contraction = LOCUS_OF_SQDIST,
    .settings = settings,
    .low = 0,
    .high = 1,
    .support = radius,
    .source = "kernel wendland(a, b; h) = max(1 - dist(a, b) / h, 0)^4 * (4 * dist(a, b) / h + 1)",
};

static const locus_kernel* const kernels[] = {&wendland};
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
    .name = "wendland",
    .version = "1",
    .sanitizer = sanitizer,
    .query = query,
};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) { return host->abi == LOCUS_ABI ? &plugin : NULL; }
