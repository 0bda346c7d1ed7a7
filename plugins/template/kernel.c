/* The smallest kernel plugin: one kernel, one form. Copy it, rename `cauchy`, write your formula. It includes one header and links nothing.
   See README.md beside it for the one command that builds it, docs/plugins.md for the native forms and what each fact promises. */
#include <math.h>
#include <string.h>
#include "plugins/abi/locus_plugin.h"

/* What comes after ';' in the spec. NAN: the spec must give it; any other number: its default. */
static const locus_kernel_setting settings[] = {{"h", NAN}};

static const locus_kernel cauchy = {
    .size = sizeof(locus_kernel),
    .facts = LOCUS_SYMMETRIC | LOCUS_POSITIVE_DEFINITE | LOCUS_MONOTONE, /* `locus check --plugin` rejects what is not true */
    .name = "cauchy",
    .formula = "1 / (1 + r^2 / h^2), r = dist(a, b)",
    .reference = "the density of A. L. Cauchy (1853), up to a constant",
    .setting_count = 1,
    .contraction = LOCUS_OF_SQDIST,
    .settings = settings,
    .low = 0,
    .high = 1,
    .source = "kernel cauchy(a, b; h) = 1 / (1 + sqdist(a, b) / h^2)",
};

static const locus_kernel* const kernels[] = {&cauchy};
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
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "template kernel", .version = "1", .sanitizer = sanitizer, .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) { return host->abi == LOCUS_ABI ? &plugin : NULL; }
