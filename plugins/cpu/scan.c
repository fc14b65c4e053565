/*
 * Kernels for running sums and products along an axis. If the lines are contiguous, four of them
 * run together, because each element depends on the one before. Otherwise each step adds a row of
 * adjacent columns to running sums.
 */
#include "closed.h"

typedef struct scan_t {
  tenon__cpu_closed_t closed;
  bool is_product;
  bool exclusive;
  bool reverse;
} scan_t;

typedef struct job_t {
  const scan_t* scan;
  const void* x;
  void* y;
  int64_t extent;
  int64_t inner;
} job_t;

/* Handles lines of `extent` contiguous elements. `lines` is a constant if possible. Sums of
 * integers wrap. */
enum { LINES = 4, COLUMNS = 256 };
/* The macro arguments are types. NOLINTBEGIN(bugprone-macro-parentheses) */
#define SCAN(name, type, sum_type, combine, start)                                   \
  static inline __attribute__((always_inline)) void name##_side_by_side(             \
      const job_t* job, int64_t line, int64_t lines) {                               \
    const int64_t extent = job->extent;                                              \
    const int64_t step = job->scan->reverse ? -1 : 1;                                \
    const int64_t first = line * extent + (job->scan->reverse ? extent - 1 : 0);     \
    const type* x = (const type*)job->x + first;                                     \
    type* y = (type*)job->y + first;                                                 \
    sum_type running[LINES] = {start, start, start, start};                          \
    for (int64_t k = 0; k < extent; k++) {                                           \
      for (int64_t l = 0; l < lines; l++) {                                          \
        const sum_type next = running[l] combine x[l * extent + k * step];           \
        y[l * extent + k * step] = (type)(job->scan->exclusive ? running[l] : next); \
        running[l] = next;                                                           \
      }                                                                              \
    }                                                                                \
  }                                                                                  \
  static void name##_lines(const job_t* job, int64_t begin, int64_t end) {           \
    int64_t line = begin;                                                            \
    for (; line + LINES <= end; line += LINES) {                                     \
      name##_side_by_side(job, line, LINES);                                         \
    }                                                                                \
    name##_side_by_side(job, line, end - line);                                      \
  }                                                                                  \
  static void name##_rows(const job_t* job, int64_t begin, int64_t end) {            \
    const int64_t inner = job->inner;                                                \
    const int64_t step = job->scan->reverse ? -inner : inner;                        \
    const int64_t blocks = (inner + COLUMNS - 1) / COLUMNS;                          \
    for (int64_t block = begin * blocks; block < end * blocks; block++) {            \
      const int64_t column = block % blocks * COLUMNS;                               \
      const int64_t count = inner - column < COLUMNS ? inner - column : COLUMNS;     \
      const int64_t last = step < 0 ? job->extent - 1 : 0;                           \
      const int64_t first = (block / blocks * job->extent + last) * inner + column;  \
      const type* x = (const type*)job->x + first;                                   \
      type* y = (type*)job->y + first;                                               \
      sum_type running[COLUMNS];                                                     \
      for (int64_t i = 0; i < count; i++) {                                          \
        running[i] = start;                                                          \
      }                                                                              \
      for (int64_t k = 0; k < job->extent; k++) {                                    \
        for (int64_t i = 0; i < count; i++) {                                        \
          const sum_type next = running[i] combine x[k * step + i];                  \
          y[k * step + i] = (type)(job->scan->exclusive ? running[i] : next);        \
          running[i] = next;                                                         \
        }                                                                            \
      }                                                                              \
    }                                                                                \
  }

/* NOLINTEND(bugprone-macro-parentheses) */
#define SCANS(X)                \
  X(FLOAT32, float, double)     \
  X(FLOAT64, double, double)    \
  X(INT32, uint32_t, uint32_t)  \
  X(UINT32, uint32_t, uint32_t) \
  X(INT64, uint64_t, uint64_t)  \
  X(UINT64, uint64_t, uint64_t)
#define BOTH_SCANS(dtype, type, sum_type) \
  SCAN(sum_##dtype, type, sum_type, +, 0) \
  SCAN(product_##dtype, type, sum_type, *, 1)
SCANS(BOTH_SCANS)

typedef void (*scan_function_t)(const job_t* job, int64_t begin, int64_t end);
/* Functions of one dtype: sums of lines, sums of rows, products of lines, products of rows. */
#define SCAN_ROW(dtype, type, sum_type)                                                      \
  [TENON_DTYPE_##dtype] = {sum_##dtype##_lines, sum_##dtype##_rows, product_##dtype##_lines, \
                           product_##dtype##_rows},
static const scan_function_t functions[TENON_DTYPE_COUNT][4] = {SCANS(SCAN_ROW)};

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon_value_info_t* x = tenon__cpu_region_input((tenon__cpu_region_t){handle, table}, 0);
  return x->dtype < TENON_DTYPE_COUNT && functions[x->dtype][0] != NULL
             ? 1
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  scan_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->is_product = strstr(call->table->node_operator(call->region, 0), "_prod") != NULL;
  self->exclusive = tenon__cpu_region_int(region, "exclusive", 0) != 0;
  self->reverse = tenon__cpu_region_int(region, "reverse", 0) != 0;
  *out_instance = self;
  return TENON_OK;
}

static void run_lines(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  functions[job->scan->closed.dtype][(job->scan->is_product ? 2 : 0) + (job->inner == 1 ? 0 : 1)](
      job, begin, end);
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* y = tenon__cpu_closed_output(call, 0);
  const int64_t axis = tenon__cpu_closed_integer(tenon__cpu_closed_input(call, 1), 0);
  const int64_t wrapped = axis < 0 ? axis + x->rank : axis;
  if (wrapped < 0 || wrapped >= x->rank) {
    return tenon__cpu_closed_fail(call, "axis %lld is out of range for rank %u", (long long)axis,
                                  x->rank);
  }
  job_t job = {.scan = call->instance, .x = x->data, .y = y->data, .extent = x->dims[wrapped]};
  job.inner = tenon__cpu_closed_count(x, (uint32_t)wrapped + 1, x->rank);
  if (job.inner * job.extent > 0) {
    tenon__cpu_closed_divide(call, tenon__cpu_closed_count(x, 0, (uint32_t)wrapped),
                             (double)(job.inner * job.extent), run_lines, &job);
  }
  return TENON_OK;
}

static const char* const operators[] = {"standard.cumulative_sum/1", "standard.cumulative_prod/1",
                                        NULL};
static const char* const attributes[] = {"exclusive", "reverse", NULL};
TENON_CPU_CLOSED(scan, "scan", operators, attributes, match, prepare, NULL, enqueue);
