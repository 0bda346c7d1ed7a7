/* The smallest backend: it runs maps of a few operations over floating-point tensors and refuses everything else, naming the node.
   It shows what every backend has to do: read the program, copy what it needs, run over buffers with the host's threads.
   Includes one header; knows nothing of the language. See docs/plugins.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plugins/abi/locus_plugin.h"

enum { MOST_STEPS = 256 }; /* of one expression: their values live on the stack */

static const locus_host* host;

/* -- what compile leaves ------------------------------------------------------------------------------------------------ */
struct step {
  uint32_t op;
  uint32_t args[3]; /* earlier steps of the same map */
  uint32_t index;   /* READ: tensor; COORDINATE: position in the space */
  int64_t offset, stride[LOCUS_MAX_RANK];
  double value;
};

struct map {
  uint32_t out, rank, step_count;
  int64_t extent[LOCUS_MAX_RANK], count;
  struct step* steps; /* the last one is the value */
};

struct locus_executable {
  uint32_t tensor_count, map_count;
  locus_tensor* tensors; /* data of constants is owned */
  struct map* maps;
};

struct locus_buffer {
  uint64_t bytes;
  void* data;
};

/* Room for `count` of `size`, zeroed; for none of them still a pointer, so that NULL always means no memory. */
static void* room(uint64_t count, size_t size) { return calloc(count + 1, size); }

static size_t size_of(uint32_t dtype) { return dtype == LOCUS_BOOL ? 1 : dtype == LOCUS_FLOAT32 ? 4 : 8; }

static void release(locus_executable* executable) {
  for (uint32_t t = 0; executable->tensors && t < executable->tensor_count; ++t) free((void*)executable->tensors[t].data);
  for (uint32_t k = 0; executable->maps && k < executable->map_count; ++k) free(executable->maps[k].steps);
  free(executable->tensors);
  free(executable->maps);
  free(executable);
}

/* -- compile -------------------------------------------------------------------------------------------------------------- */
static int is_supported(const locus_program* program, const locus_expr* expr) {
  switch (expr->op) {
    case LOCUS_READ: {
      const uint32_t dtype = program->tensors[expr->index].dtype;
      return dtype == LOCUS_FLOAT32 || dtype == LOCUS_FLOAT64;
    }
    case LOCUS_COORDINATE:
      return 1;
    case LOCUS_CONSTANT:
    case LOCUS_neg:
    case LOCUS_exp:
    case LOCUS_add:
    case LOCUS_sub:
    case LOCUS_mul:
    case LOCUS_div:
      return expr->type == LOCUS_TYPE_REAL || expr->type == LOCUS_TYPE_EXACT; /* integers need exact arithmetic */
    case LOCUS_real:
      return 1;
    default:
      return 0;
  }
}

/* Where a coordinate stands in the space of the map; a well-formed program has it there. */
static uint32_t position(const locus_program* program, const locus_map* map, uint32_t coordinate) {
  uint32_t p = 0;
  while (p < map->space.count && program->lists[map->space.first + p] != coordinate) ++p;
  return p;
}

static int make_step(const locus_program* program, const locus_map* map, const locus_expr* expr, const uint32_t* step_of, struct step* step) {
  *step = (struct step){.op = expr->op, .index = expr->index, .offset = expr->offset, .value = expr->value};
  for (uint32_t a = 0; a < expr->arity; ++a) step->args[a] = step_of[expr->args[a]];
  if (expr->op == LOCUS_COORDINATE) step->index = position(program, map, expr->index);
  if (expr->op == LOCUS_COORDINATE && step->index == map->space.count) return LOCUS_BAD_PROGRAM;
  for (uint32_t s = 0; expr->op == LOCUS_READ && s < expr->stride_count; ++s) {
    const locus_stride* stride = &program->strides[expr->first_stride + s];
    const uint32_t p = position(program, map, stride->coordinate);
    if (p == map->space.count) return LOCUS_BAD_PROGRAM;
    step->stride[p] = stride->stride;
  }
  return LOCUS_OK;
}

/* Renumbers the expressions that the value needs: step_of first marks them, then holds their numbers. Arguments stand before their users, and so
   do their steps. */
static int compile_steps(const locus_program* program, const locus_map* map, struct map* out, uint32_t* step_of, char* message, size_t size) {
  memset(step_of, 0, program->expr_count * sizeof *step_of);
  step_of[map->value] = 1;
  for (uint32_t e = map->value + 1; e-- > 0;) {
    const locus_expr* expr = &program->exprs[e];
    if (!step_of[e]) continue;
    if (!is_supported(program, expr)) {
      snprintf(message, size, "the operation %u is not among those of this backend", (unsigned)expr->op);
      return LOCUS_UNSUPPORTED;
    }
    for (uint32_t a = 0; a < expr->arity; ++a) step_of[expr->args[a]] = 1;
    ++out->step_count;
  }
  if (out->step_count > MOST_STEPS) {
    snprintf(message, size, "the expression has %u steps, at most %d run here", (unsigned)out->step_count, MOST_STEPS);
    return LOCUS_UNSUPPORTED;
  }
  out->steps = room(out->step_count, sizeof *out->steps);
  if (!out->steps) return LOCUS_OUT_OF_MEMORY;
  uint32_t next = 0;
  int status = LOCUS_OK;
  for (uint32_t e = 0; status == LOCUS_OK && e <= map->value; ++e) {
    if (!step_of[e]) continue;
    step_of[e] = next;
    status = make_step(program, map, &program->exprs[e], step_of, &out->steps[next++]);
  }
  return status;
}

static int compile_map(const locus_program* program, const locus_map* map, struct map* out, char* message, size_t size) {
  const uint32_t dtype = program->tensors[map->out].dtype;
  if (dtype != LOCUS_FLOAT32 && dtype != LOCUS_FLOAT64) {
    snprintf(message, size, "the result is not a floating-point tensor");
    return LOCUS_UNSUPPORTED;
  }
  out->out = map->out;
  out->rank = map->space.count;
  out->count = 1;
  for (uint32_t p = 0; p < out->rank; ++p) {
    out->extent[p] = program->coordinates[program->lists[map->space.first + p]].extent;
    out->count *= out->extent[p];
  }
  uint32_t* step_of = room(program->expr_count, sizeof *step_of);
  if (!step_of) return LOCUS_OUT_OF_MEMORY;
  const int status = compile_steps(program, map, out, step_of, message, size);
  free(step_of);
  return status;
}

/* The program may be freed after compile: constants are copied. */
static int copy_tensors(const locus_program* program, locus_executable* executable) {
  executable->tensors = room(program->tensor_count, sizeof *executable->tensors);
  if (!executable->tensors) return LOCUS_OUT_OF_MEMORY;
  executable->tensor_count = program->tensor_count;
  for (uint32_t t = 0; t < program->tensor_count; ++t) {
    locus_tensor* tensor = &executable->tensors[t];
    *tensor = program->tensors[t];
    tensor->data = NULL;
    tensor->name = NULL;
    if (tensor->place != LOCUS_PLACE_CONSTANT) continue;
    uint64_t bytes = size_of(tensor->dtype);
    for (uint32_t k = 0; k < tensor->rank; ++k) bytes *= (uint64_t)tensor->dims[k];
    void* data = room(bytes, 1);
    if (!data) return LOCUS_OUT_OF_MEMORY;
    memcpy(data, program->tensors[t].data, bytes);
    tensor->data = data;
  }
  return LOCUS_OK;
}

static int compile_nodes(const locus_program* program, locus_executable* executable, char* message, size_t size, uint32_t* node) {
  const int status = copy_tensors(program, executable);
  if (status != LOCUS_OK) return status;
  executable->maps = room(program->main_count, sizeof *executable->maps);
  if (!executable->maps) return LOCUS_OUT_OF_MEMORY;
  executable->map_count = program->main_count;
  for (uint32_t k = 0; k < program->main_count; ++k) {
    *node = k;
    if (program->nodes[k].kind != LOCUS_MAP) {
      snprintf(message, size, "only maps run here, this node has kind %u", (unsigned)program->nodes[k].kind);
      return LOCUS_UNSUPPORTED;
    }
    const int refused = compile_map(program, &program->maps[program->nodes[k].detail], &executable->maps[k], message, size);
    if (refused != LOCUS_OK) return refused;
  }
  *node = LOCUS_NONE;
  return LOCUS_OK;
}

static int compile(const locus_program* program, locus_executable** out, char* message, size_t message_size, uint32_t* node) {
  *out = NULL;
  *node = LOCUS_NONE;
  if (program->size < sizeof(locus_program)) {
    snprintf(message, message_size, "the program has %u bytes, %u expected", (unsigned)program->size, (unsigned)sizeof(locus_program));
    return LOCUS_BAD_PROGRAM;
  }
  locus_executable* executable = room(1, sizeof *executable);
  if (!executable) return LOCUS_OUT_OF_MEMORY;
  const int status = compile_nodes(program, executable, message, message_size, node);
  if (status == LOCUS_OK)
    *out = executable;
  else
    release(executable);
  return status;
}

/* -- run ------------------------------------------------------------------------------------------------------------------- */
struct job {
  const locus_executable* executable;
  const struct map* map;
  locus_buffer* const* buffers;
  locus_buffer* slab;
};

static void* data_of(const struct job* job, uint32_t t) {
  const locus_tensor* tensor = &job->executable->tensors[t];
  if (tensor->place == LOCUS_PLACE_CONSTANT) return (void*)tensor->data;
  if (tensor->place == LOCUS_PLACE_SLAB) return (char*)job->slab->data + tensor->where;
  return job->buffers[tensor->where]->data;
}

static double load(const struct job* job, uint32_t tensor, int64_t element) {
  const void* data = data_of(job, tensor);
  return job->executable->tensors[tensor].dtype == LOCUS_FLOAT32 ? (double)((const float*)data)[element] : ((const double*)data)[element];
}

static double step_value(const struct job* job, const struct step* step, const double* value, const int64_t* at) {
  const double a = value[step->args[0]], b = value[step->args[1]];
  switch (step->op) {
    case LOCUS_CONSTANT:
      return step->value;
    case LOCUS_COORDINATE:
      return (double)at[step->index];
    case LOCUS_READ: {
      int64_t element = step->offset;
      for (uint32_t p = 0; p < job->map->rank; ++p) element += step->stride[p] * at[p];
      return load(job, step->index, element);
    }
    case LOCUS_neg:
      return -a;
    case LOCUS_exp:
      return exp(a);
    case LOCUS_add:
      return a + b;
    case LOCUS_sub:
      return a - b;
    case LOCUS_mul:
      return a * b;
    case LOCUS_div:
      return a / b;
    default:
      return a; /* LOCUS_real, the last of those that compile lets through: all values are doubles here */
  }
}

/* Entries [begin, end) of the result. Any thread; writes nothing but its own entries. */
static void run_entries(void* argument, int64_t begin, int64_t end) {
  const struct job* job = argument;
  const struct map* map = job->map;
  void* out = data_of(job, map->out);
  const int single = job->executable->tensors[map->out].dtype == LOCUS_FLOAT32;
  double value[MOST_STEPS] = {0};
  for (int64_t entry = begin; entry < end; ++entry) {
    int64_t at[LOCUS_MAX_RANK], rest = entry;
    for (uint32_t p = map->rank; p-- > 0; rest /= map->extent[p]) at[p] = rest % map->extent[p];
    for (uint32_t s = 0; s < map->step_count; ++s) value[s] = step_value(job, &map->steps[s], value, at);
    const double result = value[map->step_count - 1];
    if (single)
      ((float*)out)[entry] = (float)result;
    else
      ((double*)out)[entry] = result;
  }
}

static int run(locus_executable* executable, locus_buffer* const* buffers, locus_buffer* slab, locus_report* report) {
  (void)report; /* a map has no empty rows and no faults */
  for (uint32_t k = 0; k < executable->map_count; ++k) {
    struct job job = {executable, &executable->maps[k], buffers, slab};
    host->parallel_for(host->context, job.map->count, 1024, run_entries, &job);
  }
  return LOCUS_OK;
}

/* -- memory and the rest ------------------------------------------------------------------------------------------------------ */
static int alloc(uint64_t bytes, locus_buffer** out) {
  *out = NULL;
  locus_buffer* buffer = malloc(sizeof *buffer);
  if (!buffer) return LOCUS_OUT_OF_MEMORY;
  buffer->bytes = bytes;
  buffer->data = malloc(bytes + 1);
  if (buffer->data)
    *out = buffer;
  else
    free(buffer);
  return *out ? LOCUS_OK : LOCUS_OUT_OF_MEMORY;
}

static int is_inside(const locus_buffer* buffer, uint64_t offset, uint64_t bytes) { return offset <= buffer->bytes && bytes <= buffer->bytes - offset; }

static int write_buffer(locus_buffer* buffer, uint64_t offset, const void* data, uint64_t bytes) {
  if (!is_inside(buffer, offset, bytes)) return LOCUS_FAILED;
  if (bytes) memcpy((char*)buffer->data + offset, data, bytes);
  return LOCUS_OK;
}

static int read_buffer(const locus_buffer* buffer, uint64_t offset, void* data, uint64_t bytes) {
  if (!is_inside(buffer, offset, bytes)) return LOCUS_FAILED;
  if (bytes) memcpy(data, (const char*)buffer->data + offset, bytes);
  return LOCUS_OK;
}

static void free_buffer(locus_buffer* buffer) {
  free(buffer->data);
  free(buffer);
}

static int score(char* reason, size_t reason_size) {
  (void)reason;
  (void)reason_size;
  return 1; /* it runs anywhere, and every real backend is better */
}

static int devices(uint32_t capacity, locus_device* list, uint32_t* count) {
  if (capacity > 0) list[0] = (locus_device){.size = sizeof(locus_device), .name = "this processor", .driver = "C11"};
  *count = 1;
  return LOCUS_OK;
}

static int describe(const locus_executable* executable, uint32_t node, char* text, size_t text_size) {
  if (node >= executable->map_count) return LOCUS_FAILED;
  const struct map* map = &executable->maps[node];
  snprintf(text, text_size, "entry by entry: %lld entries, %u steps each", (long long)map->count, (unsigned)map->step_count);
  return LOCUS_OK;
}

static const locus_backend backend = {
    .size = sizeof(locus_backend),
    .float64 = 1,
    .name = "template",
    .description = "maps of a few operations, entry by entry",
    .score = score,
    .devices = devices,
    .compile = compile,
    .release = release,
    .alloc = alloc,
    .write = write_buffer,
    .read = read_buffer,
    .free = free_buffer,
    .run = run,
    .describe = describe,
};

static const void* query(const char* id) { return strcmp(id, LOCUS_BACKEND_ID) == 0 ? &backend : NULL; }

#if defined(__SANITIZE_ADDRESS__)
static const char sanitizer[] = "address";
#elif defined(__SANITIZE_THREAD__)
static const char sanitizer[] = "thread";
#else
static const char sanitizer[] = "";
#endif

static const locus_plugin plugin = {
    .size = sizeof(locus_plugin), .abi = LOCUS_ABI, .name = "template backend", .version = "1", .sanitizer = sanitizer, .query = query};

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* given) {
  host = given;
  return host->abi == LOCUS_ABI ? &plugin : NULL;
}
