/*
 * Kernels whose output extents are data-dependent: coordinates of nonzero elements (nonzero) and
 * slices that a condition selects (compress). The kernels first count the results of each part of
 * the input, so that each thread knows its position in the output.
 */
#include "closed.h"

enum { MAX_PARTS = 64, MAX_RANK = 16 };

/* ---- nonzero ---- */

/* Writes the columns of the nonzero elements of a row. If `out_columns` is NULL, only counts them.
 * Returns their number. */
typedef int64_t (*find_t)(const void* x, int64_t count, int64_t* out_columns);
/* The macro arguments are types. NOLINTBEGIN(bugprone-macro-parentheses) */
#define FIND(name, type, condition)                                                   \
  static int64_t find_##name(const void* data, int64_t count, int64_t* out_columns) { \
    const type* x = data;                                                             \
    int64_t found = 0;                                                                \
    if (out_columns == NULL) {                                                        \
      for (int64_t begin = 0; begin < count; begin += 4096) {                         \
        const int64_t end = begin + 4096 < count ? begin + 4096 : count;              \
        uint32_t part = 0;                                                            \
        for (int64_t k = begin; k < end; k++) {                                       \
          part += (condition) ? 1U : 0U;                                              \
        }                                                                             \
        found += part;                                                                \
      }                                                                               \
      return found;                                                                   \
    }                                                                                 \
    for (int64_t k = 0; k < count; k++) {                                             \
      if (condition) {                                                                \
        out_columns[found++] = k;                                                     \
      }                                                                               \
    }                                                                                 \
    return found;                                                                     \
  }
/* NOLINTEND(bugprone-macro-parentheses) */
FIND(byte, uint8_t, x[k] != 0)
FIND(short, uint16_t, x[k] != 0)
FIND(half, uint16_t, (uint16_t)(x[k] << 1) != 0)
FIND(word, uint32_t, x[k] != 0)
FIND(float, float, x[k] != 0)
FIND(long, uint64_t, x[k] != 0)
FIND(double, double, x[k] != 0)

static find_t find_of(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT32:
      return find_float;
    case TENON_DTYPE_FLOAT64:
      return find_double;
    case TENON_DTYPE_FLOAT16:
    case TENON_DTYPE_BFLOAT16:
      return find_half;
    case TENON_DTYPE_BOOL:
    case TENON_DTYPE_INT8:
    case TENON_DTYPE_UINT8:
      return find_byte;
    case TENON_DTYPE_INT16:
    case TENON_DTYPE_UINT16:
      return find_short;
    case TENON_DTYPE_INT32:
    case TENON_DTYPE_UINT32:
      return find_word;
    case TENON_DTYPE_INT64:
    case TENON_DTYPE_UINT64:
      return find_long;
    default:
      return NULL;
  }
}

static int32_t match_nonzero(void* state, const tenon_region_t* handle,
                             const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon_value_info_t* x = tenon__cpu_region_input((tenon__cpu_region_t){handle, table}, 0);
  if (find_of(x->dtype) == NULL) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  return x->rank > 0 && x->rank <= MAX_RANK
             ? 1
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  *out_instance = tenon__cpu_closed_create(call, sizeof(tenon__cpu_closed_t));
  return *out_instance == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* The input as rows of the innermost axis. Each part has `part_rows` rows. */
typedef struct nonzero_t {
  find_t find;
  const tenon_tensor_view_t* x;
  size_t bytes;
  int64_t rows;
  int64_t columns;
  int64_t part_rows;
  int64_t found[MAX_PARTS + 1]; /* count of each part, then its first position */
  int64_t* y;                   /* NULL in the counting pass */
} nonzero_t;

/* Writes the coordinates of one row's elements to the output, from column `at` on. */
static void write_row(const nonzero_t* job, int64_t row, int64_t found, int64_t at) {
  const uint32_t last = job->x->rank - 1;
  const int64_t all = job->found[MAX_PARTS];
  int64_t rest = row;
  for (uint32_t axis = last; axis-- > 0;) {
    int64_t* out = job->y + axis * all + at;
    const int64_t coordinate = rest % job->x->dims[axis];
    rest /= job->x->dims[axis];
    for (int64_t k = 0; k < found; k++) {
      out[k] = coordinate;
    }
  }
}

static void run_nonzero(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  nonzero_t* job = user;
  for (int64_t part = begin; part < end; part++) {
    const int64_t first = part * job->part_rows;
    const int64_t last = first + job->part_rows < job->rows ? first + job->part_rows : job->rows;
    int64_t at = job->y == NULL ? 0 : job->found[part];
    for (int64_t row = first; row < last; row++) {
      const char* x = (const char*)job->x->data + (size_t)(row * job->columns) * job->bytes;
      int64_t* out =
          job->y == NULL ? NULL : job->y + (job->x->rank - 1) * job->found[MAX_PARTS] + at;
      const int64_t found = job->find(x, job->columns, out);
      if (out != NULL) {
        write_row(job, row, found, at);
      }
      at += found;
    }
    if (job->y == NULL) {
      job->found[part] = at;
    }
  }
}

static tenon_status_t enqueue_nonzero(const tenon_enqueue_t* call) {
  const tenon__cpu_closed_t* self = call->instance;
  nonzero_t job = {.find = find_of(self->dtype), .x = tenon__cpu_closed_input(call, 0)};
  job.bytes = tenon__cpu_element_bytes(self->dtype);
  job.columns = job.x->dims[job.x->rank - 1];
  job.rows = tenon__cpu_closed_count(job.x, 0, job.x->rank - 1);
  job.part_rows = (job.rows + MAX_PARTS - 1) / MAX_PARTS;
  const int64_t parts =
      job.rows * job.columns == 0 ? 0 : (job.rows + job.part_rows - 1) / job.part_rows;
  const double part_ns = (double)(job.part_rows * job.columns);
  tenon__cpu_closed_divide(call, parts, part_ns, run_nonzero, &job);
  int64_t all = 0;
  for (int64_t part = 0; part < parts; part++) {
    const int64_t found = job.found[part];
    job.found[part] = all;
    all += found;
  }
  job.found[MAX_PARTS] = all;
  void* y = NULL;
  const tenon_status_t status =
      tenon__cpu_closed_allocate(call, 0, 2, (const int64_t[]){job.x->rank, all}, &y);
  if (status == TENON_OK && y != NULL && all > 0) {
    job.y = y;
    tenon__cpu_closed_divide(call, parts, 2 * part_ns, run_nonzero, &job);
  }
  return status;
}

static const char* const nonzero_operators[] = {"standard.nonzero/1", NULL};
static const char* const no_attributes[] = {NULL};
TENON_CPU_CLOSED(nonzero, "nonzero", nonzero_operators, no_attributes, match_nonzero, prepare, NULL,
                 enqueue_nonzero);

/* ---- compress ---- */

typedef struct compress_t {
  tenon__cpu_closed_t closed;
  bool flat;
  int64_t axis;
} compress_t;

static int32_t match_compress(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon_value_info_t* x = tenon__cpu_region_input((tenon__cpu_region_t){handle, table}, 0);
  if (x->dtype == TENON_DTYPE_STRING || tenon__cpu_element_bytes(x->dtype) == 0) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  return x->rank <= MAX_RANK ? 1 : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
}

static tenon_status_t prepare_compress(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  compress_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->flat = tenon__cpu_region_int(region, "flat", 0) != 0;
  self->axis = tenon__cpu_region_int(region, "axis", 0);
  *out_instance = self;
  return TENON_OK;
}

/* `extent` slices of `bytes` bytes in each outer iteration. */
typedef struct slices_t {
  const uint8_t* condition;
  int64_t conditions;
  const char* x;
  char* y;
  size_t bytes;
  int64_t extent;
  int64_t selected;
} slices_t;

static void run_compress(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const slices_t* job = user;
  for (int64_t outer = begin; outer < end; outer++) {
    const char* x = job->x + (size_t)(outer * job->extent) * job->bytes;
    char* y = job->y + (size_t)(outer * job->selected) * job->bytes;
    for (int64_t k = 0; k < job->conditions;) {
      int64_t run = 0;
      while (k + run < job->conditions && job->condition[k + run] != 0) {
        run++;
      }
      if (run > 0) {
        memcpy(y, x + (size_t)k * job->bytes, (size_t)run * job->bytes);
        y += (size_t)run * job->bytes;
      }
      k += run + 1;
    }
  }
}

static tenon_status_t enqueue_compress(const tenon_enqueue_t* call) {
  const compress_t* self = call->instance;
  const tenon_tensor_view_t* x = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* condition = tenon__cpu_closed_input(call, 1);
  const uint32_t axis =
      self->flat ? 0 : (uint32_t)(self->axis < 0 ? self->axis + x->rank : self->axis);
  const size_t element = tenon__cpu_element_bytes(self->closed.dtype);
  int64_t dims[MAX_RANK + 1] = {0};
  slices_t job = {.condition = condition->data, .x = x->data};
  job.conditions = tenon__cpu_closed_count(condition, 0, condition->rank);
  job.extent = self->flat ? tenon__cpu_closed_count(x, 0, x->rank) : x->dims[axis];
  job.bytes = element * (size_t)(self->flat ? 1 : tenon__cpu_closed_count(x, axis + 1, x->rank));
  for (int64_t k = 0; k < job.conditions; k++) {
    if (job.condition[k] != 0 && k >= job.extent) {
      return tenon__cpu_closed_fail(call, "condition %lld is true, the axis has %lld elements",
                                    (long long)k, (long long)job.extent);
    }
    job.selected += job.condition[k] != 0 ? 1 : 0;
  }
  memcpy(dims, x->dims, x->rank * sizeof(*dims));
  dims[axis] = job.selected;
  void* y = NULL;
  const tenon_status_t status =
      tenon__cpu_closed_allocate(call, 0, self->flat ? 1 : x->rank, dims, &y);
  if (status == TENON_OK && y != NULL && job.bytes > 0) {
    job.y = y;
    tenon__cpu_closed_divide(call, self->flat ? 1 : tenon__cpu_closed_count(x, 0, axis),
                             (double)job.conditions + (double)job.bytes * (double)job.selected / 8,
                             run_compress, &job);
  }
  return status;
}

static const char* const compress_operators[] = {"standard.compress/1", NULL};
static const char* const compress_attributes[] = {"axis", "flat", NULL};
TENON_CPU_CLOSED(compress, "compress", compress_operators, compress_attributes, match_compress,
                 prepare_compress, NULL, enqueue_compress);
