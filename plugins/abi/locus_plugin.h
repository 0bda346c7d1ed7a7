/* The one header that a locus plugin needs: C11, no dependency. A plugin is a shared object that exports `locus_plugin_entry`.
   Rules for all structs: `size` is sizeof as the writer knew it; fields are only ever added at the end; a reader takes what lies within both sizes.
   No C++ type, exception or bool crosses. Unless a function says otherwise: called from one thread at a time, pointers live during the call only,
   strings are UTF-8 and NUL-terminated. Nothing here starts threads; a plugin uses the host's parallel_for. */
#ifndef LOCUS_PLUGIN_H
#define LOCUS_PLUGIN_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LOCUS_ABI 1u
#define LOCUS_NONE 0xffffffffu
#define LOCUS_KERNEL_ID "locus.kernel/1"
#define LOCUS_BACKEND_ID "locus.backend/1"
#if defined(__GNUC__)
#define LOCUS_EXPORT __attribute__((visibility("default")))
#else
#define LOCUS_EXPORT
#endif

/* -- status --------------------------------------------------------------------------------------------------------- */
enum locus_status { LOCUS_OK = 0, LOCUS_UNSUPPORTED = 1, LOCUS_OUT_OF_MEMORY = 2, LOCUS_BAD_PROGRAM = 3, LOCUS_FAULT = 4, LOCUS_FAILED = 5 };

/* What went wrong at run time with the data; the host makes a message of it that shows the line of the spec. */
enum locus_fault_kind {
  LOCUS_FAULT_NONE = 0,
  LOCUS_FAULT_INDEX = 1,       /* gather: value is outside [0, limit) */
  LOCUS_FAULT_NEIGHBOURS = 2,  /* row `row` has `value` candidates where `limit` are asked for */
  LOCUS_FAULT_DISTANCE_NAN = 3,/* a metric gave NaN for row `row` and sample `value` */
  LOCUS_FAULT_PLUGIN_NAN = 4,  /* a plugin's kernel gave NaN for finite arguments, row `row` and sample `value` */
  LOCUS_FAULT_DIVISION = 5     /* integer division or modulo by zero */
};

#define LOCUS_MAX_RANK 12

typedef struct locus_host_array {
  uint32_t dtype, rank;
  int64_t dims[LOCUS_MAX_RANK];
  void* data;
} locus_host_array;

/* -- host services, given to a plugin when it is opened; valid to the end of the process ----------------------------- */
typedef struct locus_host {
  uint32_t size;
  uint32_t abi;
  void* context; /* passed back as the first argument */
  /* Runs body(argument, begin, end) over [0, count) cut into chunks of `grain`, maybe on several threads; returns when all are done. The cut depends
     on count and grain alone, never on the number of threads. May be called from the thread that called the plugin, not from within a body. */
  void (*parallel_for)(void* context, int64_t count, int64_t grain, void (*body)(void* argument, int64_t begin, int64_t end), void* argument);
  uint32_t (*threads)(void* context); /* how many threads parallel_for may use */
  void (*log)(void* context, int level, const char* text); /* 0 note, 1 warning; any thread */
  /* Runs a whole-array function (enum locus_array_function) on host memory; arrays are contiguous and row-major. Any thread. 0 or a status. */
  int (*array_function)(void* context, uint32_t function, uint32_t inputs, const locus_host_array* input, uint32_t outputs,
                        locus_host_array* output, uint32_t parameters, const double* parameter);
  /* A long run tells how far it is: done of total, in pairs of the current node. Returns non-zero if the run should stop. Any thread. */
  int (*progress)(void* context, double done, double total);
} locus_host;

/* -- types and tensors ----------------------------------------------------------------------------------------------- */
enum locus_dtype { LOCUS_BOOL = 0, LOCUS_INT64 = 1, LOCUS_FLOAT32 = 2, LOCUS_FLOAT64 = 3 }; /* bool: one byte, 0 or 1 */

enum locus_place { LOCUS_PLACE_INPUT = 0, LOCUS_PLACE_OUTPUT = 1, LOCUS_PLACE_SLAB = 2, LOCUS_PLACE_CONSTANT = 3 };

/* A tensor of the program: contiguous, row-major. */
/* Two tensors of the slab may share their place: a loop's `next` that a map computes from the `state`, each entry from the same entry or from other tensors. */
typedef struct locus_tensor {
  uint32_t size;
  uint32_t dtype;
  uint32_t rank;
  uint32_t place;
  int64_t dims[LOCUS_MAX_RANK];
  uint64_t where;   /* INPUT, OUTPUT: index into run's buffers (one list for both); SLAB: byte offset, a multiple of 64 */
  const void* data; /* CONSTANT: lives as long as the program */
  const char* name;
} locus_tensor;

/* -- expressions ------------------------------------------------------------------------------------------------------ */
/* Scalar expressions over coordinates. They form one array in which arguments stand before their users. */
enum locus_op {
  LOCUS_CONSTANT = 0,  /* value */
  LOCUS_READ = 1,      /* element offset + sum of stride * coordinate of tensor `index` */
  LOCUS_COORDINATE = 2,/* the value of coordinate `index`, an int */
  LOCUS_SUM_OVER = 3,  /* sum of args[0] over coordinate `index` (empty: 0) */
  LOCUS_MAX_OVER = 4,  /* maximum of args[0] over coordinate `index` (empty: -inf) */
  LOCUS_MIN_OVER = 5,  /* minimum (empty: +inf) */
  LOCUS_DOT = 6,       /* sum over coordinate `index` of a b          contractions: leaves for a matrix kernel; a and b are args[0] and args[1], */
  LOCUS_SQDIST = 7,    /* ... of (a - b)^2                             after hoisting a READ each; `index` may be LOCUS_NONE: one number, no axis */
  LOCUS_L1DIST = 8,    /* ... of |a - b| */
  LOCUS_MAXDIST = 9,   /* maximum over it of |a - b| */
  LOCUS_CALL = 10,     /* kernel `index` of the program's kernels; scalar form: args[0] is the contracted scalar */
  LOCUS_BEFORE_OPS = 31,
#define LOCUS_OP(name, arity, rule, low, high, text) LOCUS_##name,
#include "locus_ops.def"
#undef LOCUS_OP
  LOCUS_OP_END
};
/* BOOL, INTEGER: as they say. EXACT: float64 whatever the run's dtype (settings). REAL: the run's dtype. */
enum locus_type { LOCUS_TYPE_BOOL = 0, LOCUS_TYPE_INTEGER = 1, LOCUS_TYPE_EXACT = 2, LOCUS_TYPE_REAL = 3 };

typedef struct locus_stride {
  uint32_t coordinate;
  uint32_t reserved;
  int64_t stride; /* in elements */
} locus_stride;

typedef struct locus_expr {
  uint16_t op;
  uint16_t type;
  uint32_t arity; /* how many of args are used */
  uint32_t args[3];
  uint32_t index; /* tensor, coordinate or kernel; LOCUS_NONE if none */
  uint32_t first_stride, stride_count; /* READ */
  int64_t offset;                      /* READ, in elements */
  double value;                        /* CONSTANT */
} locus_expr;

typedef struct locus_coordinate {
  int64_t extent; /* it runs from 0 to extent - 1 */
  const char* name;
} locus_coordinate;

/* -- nodes ------------------------------------------------------------------------------------------------------------- */
/* Lists of coordinates, expressions, tensors stand in the program's `lists`; a node names a range [first, first + count). */
typedef struct locus_range { uint32_t first, count; } locus_range;

/* out[space...] = value. The output's dims are the extents of `space`. */
typedef struct locus_map { uint32_t out, value; locus_range space; } locus_map;

/* out[batch..., r, c] = sum over k of a[batch..., r, k] b[batch..., k, c] (+ nothing). Strided operands; batch strides in lists of strides. */
typedef struct locus_linear {
  uint32_t out, a, b, reserved;
  int64_t a_offset, b_offset;
  int64_t rows, inner, columns;
  int64_t a_row, a_inner, b_inner, b_column; /* strides in elements */
  locus_range batch;                         /* coordinates; their extents are the batch dims in order */
  locus_range a_batch, b_batch;              /* ranges of `strides` */
} locus_linear;

enum locus_estimator {
  LOCUS_MEAN = 0,      /* sum w v / sum w */
  LOCUS_WEIGHTED_SUM = 1,
  LOCUS_MAXIMUM = 2,   /* over pairs with w != 0 */
  LOCUS_MINIMUM = 3,
  LOCUS_QUANTILE = 4,  /* parameter: t, an expression over the estimate's own coordinates (a vector of t is one feature coordinate) */
  LOCUS_COV = 5,       /* sum p (v - mean)(v - mean)': the last feature coordinate twice; `second` is the expression of v over the twin coordinate */
  LOCUS_MASS = 6,
  LOCUS_LOGMASS = 7,
  LOCUS_COUNT = 8,     /* int: pairs with w != 0 */
  LOCUS_ENTROPY = 9,
  LOCUS_GRAM = 10,     /* out has the rows and the sample coordinate: w, absent pairs 0 */
  LOCUS_WEIGHTS = 11,  /* w / sum w, a row of 0 for an empty query */
  LOCUS_NEAREST = 12,  /* int: the `width` samples of least `value` (the metric) among those where `where` holds, nearest first, ties to the lower
                          index, -1 beyond the row's k (parameter, an int expression over the rows) or when there are fewer */
  LOCUS_EFFECTIVE = 13 /* effective sample size (sum w)^2 / sum w^2 */
};
typedef struct locus_estimate {
  uint32_t estimator, out;
  uint32_t value;     /* expression over rows, sample, features and inner coordinates; LOCUS_NONE for mass and the like */
  uint32_t second;    /* COV */
  uint32_t parameter; /* expression or LOCUS_NONE */
  uint32_t flags;     /* LOCUS_NEED_ALL: NEAREST faults when a row has fewer candidates than its k */
  locus_range features; /* coordinates behind the rows in out's dims */
} locus_estimate;
#define LOCUS_NEED_ALL 1u

/* For each row (a tuple of `rows` coordinates) over all j of `sample`: weight w = factor * exp(score), where `where` holds.
   factor NONE: 1; score NONE: 0. A pair of weight 0 contributes nothing, whatever its value: with `score`, weight 0 means factor 0 or score -inf.
   If a weight is infinite, only infinite weights count, each as 1 (by sign). list: an int tensor [rows..., width]: only the pairs j = list[row, t]
   exist, -1 means none. empty rows get mean/max/min/quantile/cov/entropy NaN, mass/sum/count 0, logmass -inf. */
typedef struct locus_reduce {
  uint32_t factor, score, where, list;
  uint32_t sample, flags;
  locus_range rows;
  uint32_t first_estimate, estimate_count;
} locus_reduce;
#define LOCUS_COUNT_EMPTY 1u /* report the number of empty rows */

/* out[space...] = table[offset + sum stride*coordinate + sum over p of index_p(space...) * stride_p]; index_p outside [0, extent_p): a fault. */
typedef struct locus_gather {
  uint32_t out, table;
  int64_t offset;
  locus_range space;
  locus_range strides;   /* of the table, over the space's coordinates */
  locus_range indices;   /* triples in lists: expression, then extent and stride as indices into `numbers` */
} locus_gather;

/* do `limit` turns of nodes [first_node, first_node + node_count): turn (int64 scalar tensor) = 0, 1, ...; after a turn state <- next.
   Before the first turn state <- initial. stop (bool scalar tensor or NONE), computed in the body: after a turn in which it is true, no further one.
   paths: pairs (source, out) in lists: out[t] = value of `source` at the end of turn t for a tensor of the body; for a state, out[0] is the initial
   value and out[t + 1] that after turn t. Turns not run repeat the last value. */
typedef struct locus_iterate {
  uint32_t turn, stop;
  uint32_t first_node, node_count;
  int64_t limit;
  locus_range carries; /* triples: initial, state, next */
  locus_range paths;   /* pairs: source, out */
} locus_iterate;

enum locus_array_function {
  LOCUS_ARRAY_CONCAT = 0,   /* along the last axis; inputs have equal leading dims */
  LOCUS_ARRAY_SORT = 1,     /* along the last axis, ascending, NaN last */
  LOCUS_ARRAY_CUMSUM = 2,   /* along the last axis, accumulated in double */
  LOCUS_ARRAY_CUMPROD = 3,
  LOCUS_ARRAY_ARGMAX = 4,   /* over the last axis, first of equals; out int64 */
  LOCUS_ARRAY_ARGMIN = 5,
  LOCUS_ARRAY_PAD_EDGE = 6, /* last two axes; parameter: r */
  LOCUS_ARRAY_PAD_MIRROR = 7,
  LOCUS_ARRAY_PAD_ZERO = 8,
  LOCUS_ARRAY_PATCHES = 9,  /* [.., r, c] -> [.., (r-s+1)*(c-s+1), s*s]; parameter: s */
  LOCUS_ARRAY_SCATTER = 10, /* (w [.., k], near int [.., k]) -> [.., m]: added at near */
  LOCUS_ARRAY_MATRIX = 11,  /* (rows int [e], cols int [e], vals [e]) -> [n, m], added */
  LOCUS_ARRAY_UNIFORM = 12, /* parameters: seed (53 bits), stream; optional input 0: turn (int64 scalar). Philox 4x32-10, counter = entry */
  LOCUS_ARRAY_NORMAL = 13,
  LOCUS_ARRAY_RANDOM_INDEX = 14, /* third parameter: below */
  LOCUS_ARRAY_PERMUTATION = 15,
  LOCUS_ARRAY_RANDOM_BETA = 16,  /* inputs a, b scalars behind the optional turn */
  LOCUS_ARRAY_TRUSTWORTHINESS = 17, /* (x [n, d], y [n, c]); parameter: k */
  LOCUS_ARRAY_COPY = 18,    /* contiguous copy with conversion of dtype */
  LOCUS_ARRAY_SOLVE = 19,   /* (a [.., n, n], b [.., n, q]) -> x [.., n, q] with a x = b; where a is singular the x of least norm */
  LOCUS_ARRAY_EIGEN = 20,   /* a [.., n, n] symmetric -> (values [.., k], vectors [.., n, k] and maybe [.., 3]: 1 if it settled, how many eigenvalues equal another, how
                               many of those are 0); parameter: 0 for the smallest, 1 for the largest, first. LOCUS_FAULT if a is not symmetric */
  LOCUS_ARRAY_FIT = 21,     /* minimum of a quadratic for each row: see core/run/fit.cpp */
  LOCUS_ARRAY_DESCEND = 22, /* one turn of a damped Newton search for each row: core/run/fit.cpp */
  LOCUS_ARRAY_ROOT = 23,    /* one turn of a search for a root for each entry: core/run/root.cpp */
  LOCUS_ARRAY_NEIGHBOURS = 24, /* (q [n, d] or [n], x [m, d] or [m]) -> int [n, k]: the k nearest by Euclidean distance, nearest first, ties to the lower
                                 index, -1 where there are fewer; parameter 1: point i is not its own, 2: samples at distance 0 are none. A NaN is
                                 LOCUS_FAULT */
  LOCUS_ARRAY_REACH = 25,   /* (q [n], x [m]) -> [n]: the distance to the k-th nearest on a line, or to the farthest of fewer; parameters: k, and 1: point i is
                               not its own */
  /* A matrix [n, m] as a list of pairs: starts int [n + 1], rows int [e], cols int [e], vals [e]. Row i's are the entries starts[i] to starts[i + 1], columns
     ascending and each once; what lies behind starts[n] means nothing. What a list lacks is 0. */
  LOCUS_ARRAY_PAIRS = 26,   /* (cols int [n, k], vals) or (rows int [e], cols int [e], vals) -> a list; entries of one place are added, a column -1 is none;
                               parameter: m */
  LOCUS_ARRAY_PAIRS_TURN = 27,  /* (starts, cols, vals) -> the list of the transpose */
  LOCUS_ARRAY_PAIRS_JOIN = 28,  /* (starts, cols) of each of several lists -> starts, rows, cols of the pairs that any has; parameter 1: the diagonal too */
  LOCUS_ARRAY_PAIRS_AT = 29,    /* (starts, cols, vals) of a list, (starts, cols) of another -> its values at the other's pairs, 0 where it has none */
  LOCUS_ARRAY_PAIRS_SUM = 30,   /* (starts, rows, v [e] or [e, p]) -> [n] or [n, p]: sums of each row's entries */
  LOCUS_ARRAY_PAIRS_TIMES = 31, /* (starts, rows, cols, vals, x [m] or [m, p]) -> [n] or [n, p]: matrix times x */
  LOCUS_ARRAY_PAIRS_WHOLE = 32, /* (starts, rows, cols, vals) -> [n, m]: every entry */
  LOCUS_ARRAY_PAIRS_LOOK = 33,  /* (starts, cols, vals, cols int [n, k]) or (.., rows int [e], cols int [e]) -> the values there, 0 where there is none */
  LOCUS_ARRAY_PAIRS_EIGEN = 34  /* (starts, cols, vals) of a symmetric matrix, or of each of two whose product is symmetric -> as EIGEN with its third */
};
typedef struct locus_array {
  uint32_t function;
  locus_range inputs, outputs; /* tensors */
  locus_range parameters;      /* of `numbers` */
} locus_array;

enum locus_node_kind { LOCUS_MAP = 1, LOCUS_LINEAR = 2, LOCUS_REDUCE = 3, LOCUS_GATHER = 4, LOCUS_ITERATE = 5, LOCUS_ARRAY = 6 };
typedef struct locus_node {
  uint32_t kind;
  uint32_t detail; /* index into the array of its kind */
} locus_node;

struct locus_kernel;
/* A native kernel that the program calls, with its settings' values. */
typedef struct locus_program_kernel {
  const struct locus_kernel* kernel;
  const double* settings;
  uint32_t setting_count, reserved;
} locus_program_kernel;

typedef struct locus_program {
  uint32_t size;
  uint32_t real; /* LOCUS_FLOAT32 or LOCUS_FLOAT64: what REAL means */
  uint32_t tensor_count;     const locus_tensor* tensors;
  uint32_t coordinate_count; const locus_coordinate* coordinates;
  uint32_t expr_count;       const locus_expr* exprs;
  uint32_t stride_count;     const locus_stride* strides;
  uint32_t list_count;       const uint32_t* lists;
  uint32_t number_count;     const double* numbers;
  uint32_t map_count;        const locus_map* maps;
  uint32_t linear_count;     const locus_linear* linears;
  uint32_t reduce_count;     const locus_reduce* reduces;
  uint32_t estimate_count;   const locus_estimate* estimates;
  uint32_t gather_count;     const locus_gather* gathers;
  uint32_t iterate_count;    const locus_iterate* iterates;
  uint32_t array_count;      const locus_array* arrays;
  uint32_t kernel_count;     const locus_program_kernel* kernels;
  uint32_t node_count;       const locus_node* nodes; /* the main list is [0, main_count); bodies of loops lie behind it */
  uint32_t main_count;
  uint32_t buffer_count; /* inputs and outputs */
  uint64_t slab_bytes;
} locus_program;

/* -- kernels -------------------------------------------------------------------------------------------------------------- */
enum locus_fact { LOCUS_SYMMETRIC = 1, LOCUS_POSITIVE_DEFINITE = 2, LOCUS_MONOTONE = 4 /* never rises with the distance */ };
enum locus_contraction { LOCUS_OF_DOT = 0, LOCUS_OF_SQDIST = 1, LOCUS_OF_L1DIST = 2, LOCUS_OF_MAXDIST = 3 };

typedef struct locus_kernel_setting {
  const char* name;
  double initial; /* NaN: must be given */
} locus_kernel_setting;

/* A kernel K(a, b; settings). At least one of: source; (scalar or block, both precisions). Functions: any thread, no state, no allocation. */
typedef struct locus_kernel {
  uint32_t size;
  uint32_t facts;
  const char* name;
  const char* formula; /* one line for people */
  const char* reference;
  uint32_t setting_count;
  uint32_t contraction;                /* enum locus_contraction, for the scalar form */
  const locus_kernel_setting* settings;
  double low, high;                    /* range of values */
  double (*support)(const double* settings); /* radius beyond which K is 0, infinity if none; may be NULL: infinity */
  const char* source;                  /* the body as a `kernel NAME(a, b; ...) = ...` declaration of the spec language, or NULL */
  /* value[t] = K for contracted scalar x[t] (of the two points), t < count. */
  void (*scalar_f32)(const double* settings, int64_t count, const float* x, float* value);
  void (*scalar_f64)(const double* settings, int64_t count, const double* x, double* value);
  /* value[r * value_stride + s] = K(query r, sample s); query r at q + r * q_stride, sample s at x + s * x_stride, d coordinates each. */
  void (*block_f32)(const double* settings, int64_t rows, int64_t samples, int64_t d, const float* q, int64_t q_stride, const float* x, int64_t x_stride, float* value, int64_t value_stride);
  void (*block_f64)(const double* settings, int64_t rows, int64_t samples, int64_t d, const double* q, int64_t q_stride, const double* x, int64_t x_stride, double* value, int64_t value_stride);
  const char* glsl; /* body of a GLSL function, or NULL */
} locus_kernel;

typedef struct locus_kernels {
  uint32_t size;
  uint32_t count;
  const locus_kernel* const* kernels;
} locus_kernels;

/* -- backends --------------------------------------------------------------------------------------------------------------- */
typedef struct locus_executable locus_executable;
typedef struct locus_buffer locus_buffer;

typedef struct locus_fault {
  uint32_t kind;
  uint32_t node; /* index into the program's nodes */
  int64_t row, value, limit;
} locus_fault;

typedef struct locus_report {
  uint32_t size;
  uint32_t node_count;
  int64_t* empty_rows;   /* [node_count], host memory, zeroed by the caller: empty rows of each reduce, in a loop those of the turn with the most */
  double* seconds;       /* [node_count] or NULL */
  double* skipped;       /* [node_count] or NULL: share of pair blocks of a reduce that were skipped */
  int64_t* turns;        /* [node_count] or NULL: turns run by an iterate */
  locus_fault fault;
  char message[512];     /* for LOCUS_FAILED and LOCUS_UNSUPPORTED: a reason, lower case, no full stop */
  /* What the caller wants to see while a loop runs: tensors that are the `out` of a path, and a function that takes an entry of one when the turn (or the group of turns)
     that made it has ended, entries in their order; `data` lies in host memory as long as the call. NULL: nothing. */
  const uint32_t* followed;
  uint32_t followed_count, reserved;
  void* follow_context;
  void (*follow)(void* context, uint32_t tensor, int64_t entry, const void* data);
} locus_report;

typedef struct locus_device {
  uint32_t size;
  const char* name;   /* "AVX-512", a GPU's name */
  const char* driver;
  uint64_t memory;    /* bytes, 0 if unknown */
} locus_device;

typedef struct locus_backend {
  uint32_t size;
  uint32_t float64;        /* 1 if programs with real = float64 run */
  const char* name;
  const char* description;
  /* 0: cannot run here (reason gets a text); the highest score is chosen by `auto`. */
  int (*score)(char* reason, size_t reason_size);
  int (*devices)(uint32_t capacity, locus_device* devices, uint32_t* count);
  /* The program may be freed after compile returned. On failure *out is NULL and message says why; node is the culprit or LOCUS_NONE. */
  int (*compile)(const locus_program* program, locus_executable** out, char* message, size_t message_size, uint32_t* node);
  void (*release)(locus_executable* executable);
  /* Buffers belong to the backend; free each before the process ends. */
  int (*alloc)(uint64_t bytes, locus_buffer** out);
  int (*write)(locus_buffer* buffer, uint64_t offset, const void* data, uint64_t bytes);
  int (*read)(const locus_buffer* buffer, uint64_t offset, void* data, uint64_t bytes);
  void (*free)(locus_buffer* buffer);
  /* buffers[buffer_count]: inputs and outputs by tensor.where; slab: of program.slab_bytes (NULL if 0). Not re-entrant for one executable. */
  int (*run)(locus_executable* executable, locus_buffer* const* buffers, locus_buffer* slab, locus_report* report);
  /* A text for `explain`: one line for each node of the main list and the bodies: algorithm, tile sizes. NULL if the backend has none. */
  int (*describe)(const locus_executable* executable, uint32_t node, char* text, size_t text_size);
} locus_backend;

/* -- the entry ---------------------------------------------------------------------------------------------------------------- */
typedef struct locus_plugin {
  uint32_t size;
  uint32_t abi;            /* LOCUS_ABI the plugin was built with */
  const char* name;
  const char* version;
  const char* sanitizer;   /* "" or "address", "thread": what it was built with */
  /* A capability by id ("locus.kernel/1" -> const locus_kernels*, "locus.backend/1" -> const locus_backend*), NULL if it has none. */
  const void* (*query)(const char* id);
} locus_plugin;

/* `host` stays valid to the end of the process. Returns NULL if the plugin cannot work with host->abi. Called once, from the main thread. */
LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host);

#ifdef __cplusplus
}
#endif
#endif
