/* Kernels that each break one promise: a fact, a range, a radius, the agreement of two forms, a number, the borders of a block. */
#include <math.h>
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static void lopsided_f32(const double* s, int64_t rows, int64_t samples, int64_t d, const float* q, int64_t q_stride, const float* x, int64_t x_stride,
                         float* value, int64_t value_stride) {
  (void)s;
  (void)d;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < samples; ++c) {
      const float a = q[r * q_stride], b = x[c * x_stride];
      value[r * value_stride + c] = (float)(a > b ? 0.5 : 0.25);
    }
}
static void lopsided_f64(const double* s, int64_t rows, int64_t samples, int64_t d, const double* q, int64_t q_stride, const double* x, int64_t x_stride,
                         double* value, int64_t value_stride) {
  (void)s;
  (void)d;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < samples; ++c) {
      const double a = q[r * q_stride], b = x[c * x_stride];
      value[r * value_stride + c] = (double)(a > b ? 0.5 : 0.25);
    }
}
static const locus_kernel lopsided = {.size = sizeof(locus_kernel),
                                      .facts = LOCUS_SYMMETRIC,
                                      .name = "lopsided",
                                      .formula = "1",
                                      .reference = "none",
                                      .low = 0,
                                      .high = 1,
                                      .block_f32 = lopsided_f32,
                                      .block_f64 = lopsided_f64};

static void box_f32(const double* s, int64_t count, const float* x, float* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = x[t] <= 1 ? 1 : 0;
}
static void box_f64(const double* s, int64_t count, const double* x, double* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = x[t] <= 1 ? 1 : 0;
}
static const locus_kernel box = {.size = sizeof(locus_kernel),
                                 .facts = LOCUS_SYMMETRIC | LOCUS_POSITIVE_DEFINITE,
                                 .name = "box",
                                 .formula = "1",
                                 .reference = "none",
                                 .low = 0,
                                 .high = 1,
                                 .contraction = LOCUS_OF_SQDIST,
                                 .scalar_f32 = box_f32,
                                 .scalar_f64 = box_f64};

static void wave_f32(const double* s, int64_t count, const float* x, float* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = (cosf(x[t]) + 1) / 2;
}
static void wave_f64(const double* s, int64_t count, const double* x, double* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = (cos(x[t]) + 1) / 2;
}
static const locus_kernel wave = {.size = sizeof(locus_kernel),
                                  .facts = LOCUS_SYMMETRIC | LOCUS_MONOTONE,
                                  .name = "wave",
                                  .formula = "1",
                                  .reference = "none",
                                  .low = 0,
                                  .high = 1,
                                  .contraction = LOCUS_OF_SQDIST,
                                  .scalar_f32 = wave_f32,
                                  .scalar_f64 = wave_f64};

static void tall_f32(const double* s, int64_t count, const float* x, float* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = 2 / (1 + x[t]);
}
static void tall_f64(const double* s, int64_t count, const double* x, double* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = 2 / (1 + x[t]);
}
static const locus_kernel tall = {.size = sizeof(locus_kernel),
                                  .facts = LOCUS_SYMMETRIC | LOCUS_MONOTONE,
                                  .name = "tall",
                                  .formula = "1",
                                  .reference = "none",
                                  .low = 0,
                                  .high = 1,
                                  .contraction = LOCUS_OF_SQDIST,
                                  .scalar_f32 = tall_f32,
                                  .scalar_f64 = tall_f64};

static double one(const double* s) {
  (void)s;
  return 1;
}
static void wide_f32(const double* s, int64_t count, const float* x, float* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = 1 / (1 + x[t]);
}
static void wide_f64(const double* s, int64_t count, const double* x, double* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = 1 / (1 + x[t]);
}
static const locus_kernel wide = {.size = sizeof(locus_kernel),
                                  .facts = LOCUS_SYMMETRIC,
                                  .name = "wide",
                                  .formula = "1",
                                  .reference = "none",
                                  .low = 0,
                                  .high = 1,
                                  .contraction = LOCUS_OF_SQDIST,
                                  .scalar_f32 = wide_f32,
                                  .scalar_f64 = wide_f64,
                                  .support = one};

static void apart_f32(const double* s, int64_t count, const float* x, float* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = 1 / (1 + x[t]);
}
static void apart_f64(const double* s, int64_t count, const double* x, double* value) {
  (void)s;
  for (int64_t t = 0; t < count; ++t) value[t] = 1 / (1 + 1.001 * x[t]);
}
static const locus_kernel apart = {.size = sizeof(locus_kernel),
                                   .facts = 0,
                                   .name = "apart",
                                   .formula = "1",
                                   .reference = "none",
                                   .low = 0,
                                   .high = 1,
                                   .contraction = LOCUS_OF_SQDIST,
                                   .scalar_f32 = apart_f32,
                                   .scalar_f64 = apart_f64};

static void nowhere_f32(const double* s, int64_t rows, int64_t samples, int64_t d, const float* q, int64_t q_stride, const float* x, int64_t x_stride,
                        float* value, int64_t value_stride) {
  (void)s;
  (void)d;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < samples; ++c) {
      const float a = q[r * q_stride], b = x[c * x_stride];
      value[r * value_stride + c] = (float)(a == b ? (a - b) / (a - b) : 0.5);
    }
}
static void nowhere_f64(const double* s, int64_t rows, int64_t samples, int64_t d, const double* q, int64_t q_stride, const double* x, int64_t x_stride,
                        double* value, int64_t value_stride) {
  (void)s;
  (void)d;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < samples; ++c) {
      const double a = q[r * q_stride], b = x[c * x_stride];
      value[r * value_stride + c] = (double)(a == b ? (a - b) / (a - b) : 0.5);
    }
}
static const locus_kernel nowhere = {.size = sizeof(locus_kernel),
                                     .facts = 0,
                                     .name = "nowhere",
                                     .formula = "1",
                                     .reference = "none",
                                     .low = 0,
                                     .high = 1,
                                     .block_f32 = nowhere_f32,
                                     .block_f64 = nowhere_f64};

static void spills_f32(const double* s, int64_t rows, int64_t samples, int64_t d, const float* q, int64_t q_stride, const float* x, int64_t x_stride,
                       float* value, int64_t value_stride) {
  (void)s;
  (void)d, (void)q, (void)q_stride, (void)x, (void)x_stride;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c <= samples; ++c) value[r * value_stride + c] = (float)(0.5);
}
static void spills_f64(const double* s, int64_t rows, int64_t samples, int64_t d, const double* q, int64_t q_stride, const double* x, int64_t x_stride,
                       double* value, int64_t value_stride) {
  (void)s;
  (void)d, (void)q, (void)q_stride, (void)x, (void)x_stride;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c <= samples; ++c) value[r * value_stride + c] = (double)(0.5);
}
static const locus_kernel spills = {.size = sizeof(locus_kernel),
                                    .facts = 0,
                                    .name = "spills",
                                    .formula = "1",
                                    .reference = "none",
                                    .low = 0,
                                    .high = 1,
                                    .block_f32 = spills_f32,
                                    .block_f64 = spills_f64};

static const locus_kernel* const kernels[] = {&lopsided, &box, &wave, &tall, &wide, &apart, &nowhere, &spills};

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
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "false_facts", .version = "1", .sanitizer = sanitizer, .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return &plugin;
}
