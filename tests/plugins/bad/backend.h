/* The functions of a backend that does nothing, for backends that differ in their table. */
#ifndef LOCUS_TESTS_BAD_BACKEND_H
#define LOCUS_TESTS_BAD_BACKEND_H
#include <string.h>
#include "plugins/abi/locus_plugin.h"

static inline int devices(uint32_t capacity, locus_device* list, uint32_t* count) {
  (void)capacity;
  (void)list;
  *count = 0;
  return LOCUS_OK;
}
static inline int compile(const locus_program* program, locus_executable** out, char* message, size_t message_size, uint32_t* node) {
  (void)program;
  *out = NULL;
  *node = LOCUS_NONE;
  strncpy(message, "compiles nothing", message_size);
  return LOCUS_UNSUPPORTED;
}
static inline void release(locus_executable* executable) { (void)executable; }
static inline int alloc(uint64_t bytes, locus_buffer** out) {
  (void)bytes;
  *out = NULL;
  return LOCUS_OUT_OF_MEMORY;
}
static inline int write_buffer(locus_buffer* buffer, uint64_t offset, const void* data, uint64_t bytes) {
  (void)buffer, (void)offset, (void)data, (void)bytes;
  return LOCUS_FAILED;
}
static inline int read_buffer(const locus_buffer* buffer, uint64_t offset, void* data, uint64_t bytes) {
  (void)buffer, (void)offset, (void)data, (void)bytes;
  return LOCUS_FAILED;
}
static inline void free_buffer(locus_buffer* buffer) { (void)buffer; }
static inline int run(locus_executable* executable, locus_buffer* const* buffers, locus_buffer* slab, locus_report* report) {
  (void)executable, (void)buffers, (void)slab, (void)report;
  return LOCUS_FAILED;
}
#endif
