/*
 * standard.mat_mul_integer/1. Eight-bit numbers less their zero points have 9 bits: both matrices are
 * widened to 16 bits, and the processor adds two products in one instruction (elements.h, pairs).
 * Sums are exact. a is widened once for each call, b panel by panel by the thread that uses it.
 */
#include <string.h>

#include "kernels.h"

enum { MOST_AXES = 8 };
enum { INPUT_A, INPUT_B, INPUT_A_ZERO, INPUT_B_ZERO };
enum { ROWS_A_TASK = 96 }; /* where columns alone do not give every thread a task */

typedef struct integer_t {
  const tenon__cpu_isa_t* isa;
  /* Of the region's inputs; TENON_NONE: no zero point. */
  uint32_t a_zero;
  uint32_t b_zero;
} integer_t;

typedef struct matrix_t {
  int64_t rows;
  int64_t columns;
  int64_t count;              /* of matrices */
  int64_t strides[MOST_AXES]; /* in matrices, along the batch axes of y; 0: broadcast */
} matrix_t;

typedef struct bound_t {
  const integer_t* self;
  matrix_t a;
  matrix_t b;
  int64_t batches;
  uint32_t batch_axes;
  int64_t batch_dims[MOST_AXES];
  size_t pairs;
  size_t panels;
  size_t row_tasks;
  size_t rows_a_task;
  int16_t* wide;  /* a: count x rows x 2 pairs */
  int16_t* panel; /* of each thread: pairs x pair_columns x 2 */
} bound_t;

/* ---- Matching ---- */

static bool is_byte(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_INT8 || dtype == TENON_DTYPE_UINT8;
}

/* One for all, or one for each row of a, or column of b, that all matrices share. */
static bool takes_zero(const tenon_value_info_t* zero, const tenon_value_info_t* matrix,
                       uint32_t axis) {
  if (zero == NULL || zero->rank == 0) {
    return true;
  }
  const bool is_list = zero->rank == 1 && zero->dims_min[0] == zero->dims_max[0];
  return is_list && (zero->dims_max[0] == 1 ||
                     (matrix->rank >= 2 && matrix->dims_min[axis] == zero->dims_max[0] &&
                      matrix->dims_max[axis] == zero->dims_max[0]));
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* a = tenon__cpu_region_input(region, INPUT_A);
  const tenon_value_info_t* b = tenon__cpu_region_input(region, INPUT_B);
  if (!is_byte(a->dtype) || !is_byte(b->dtype)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (a->rank == 0 || b->rank == 0 || a->rank > MOST_AXES || b->rank > MOST_AXES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (!takes_zero(tenon__cpu_region_input(region, INPUT_A_ZERO), a, a->rank - 2) ||
      !takes_zero(tenon__cpu_region_input(region, INPUT_B_ZERO), b, b->rank - 1)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SHAPE, "zero points of each matrix");
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* a = tenon__cpu_region_input(region, INPUT_A);
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  double products = (double)a->dims_opt[a->rank - 1];
  for (uint32_t k = 0; k < y->rank; k++) {
    products *= (double)y->dims_opt[k];
  }
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "pairs",
                                 .estimate_seconds = 1e-6 + products * 3e-11,
                                 .launches = 1};
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  integer_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *self = (integer_t){cpu->isa, tenon__cpu_region_argument(region, INPUT_A_ZERO),
                      tenon__cpu_region_argument(region, INPUT_B_ZERO)};
  *out_instance = self;
  return TENON_OK;
}

/* ---- Binding ---- */

/* A vector is one row of a, or one column of b. `batch_axes` and `batch_dims` are those of y. */
static void read_matrix(const tenon_tensor_view_t* view, bool is_left, uint32_t batch_axes,
                        const int64_t* batch_dims, matrix_t* out_matrix) {
  const uint32_t own = view->rank < 2 ? 0 : view->rank - 2;
  const int64_t last = view->dims[view->rank - 1];
  *out_matrix = (matrix_t){.rows = view->rank >= 2 ? view->dims[own]
                                   : is_left       ? 1
                                                   : last,
                           .columns = view->rank >= 2 || is_left ? last : 1,
                           .count = 1};
  for (uint32_t k = own; k-- > 0;) {
    const uint32_t axis = k + batch_axes - own;
    out_matrix->strides[axis] = view->dims[k] == 1 && batch_dims[axis] != 1 ? 0 : out_matrix->count;
    out_matrix->count *= view->dims[k];
  }
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const integer_t* self = instance;
  const tenon_tensor_view_t* a = &host->input(binding, INPUT_A)->tensor;
  const tenon_tensor_view_t* b = &host->input(binding, INPUT_B)->tensor;
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  const size_t threads = host->thread_count(binding);
  const size_t width = self->isa->elements->pair_columns;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  bound->self = self;
  bound->batch_axes = y->rank - (a->rank >= 2 ? 1 : 0) - (b->rank >= 2 ? 1 : 0);
  bound->batches = 1;
  for (uint32_t k = 0; k < bound->batch_axes; k++) {
    bound->batch_dims[k] = y->dims[k];
    bound->batches *= y->dims[k];
  }
  read_matrix(a, true, bound->batch_axes, bound->batch_dims, &bound->a);
  read_matrix(b, false, bound->batch_axes, bound->batch_dims, &bound->b);
  bound->pairs = ((size_t)bound->a.columns + 1) / 2;
  bound->panels = ((size_t)bound->b.columns + width - 1) / width;
  const bool splits_rows = (size_t)bound->batches * bound->panels < 2 * threads;
  bound->rows_a_task = splits_rows ? ROWS_A_TASK : (size_t)bound->a.rows;
  bound->row_tasks = bound->a.rows == 0
                         ? 0
                         : ((size_t)bound->a.rows + bound->rows_a_task - 1) / bound->rows_a_task;
  const size_t row_bytes = 2 * bound->pairs * sizeof(int16_t);
  bound->wide = host->allocate(binding, (size_t)(bound->a.count * bound->a.rows) * row_bytes + 1);
  bound->panel = host->allocate(binding, threads * width * row_bytes + 1);
  return bound->wide == NULL || bound->panel == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* ---- Running ---- */

/* A matrix's numbers and its zero points: `step` is 0 for one, 1 for a list. */
typedef struct numbers_t {
  const void* data;
  const void* zero;
  size_t zero_step;
  bool is_signed;
} numbers_t;

static int32_t number_at(const void* data, size_t place, bool is_signed) {
  return is_signed ? ((const int8_t*)data)[place] : ((const uint8_t*)data)[place];
}

static int32_t zero_at(const numbers_t* numbers, size_t line) {
  return numbers->zero == NULL
             ? 0
             : number_at(numbers->zero, line * numbers->zero_step, numbers->is_signed);
}

static numbers_t numbers_of(const tenon_enqueue_t* call, uint32_t input, uint32_t zero) {
  const tenon_tensor_view_t* view = &call->inputs[input].tensor;
  numbers_t numbers = {.data = view->data, .is_signed = view->dtype == TENON_DTYPE_INT8};
  if (zero != TENON_NONE) {
    const tenon_tensor_view_t* points = &call->inputs[zero].tensor;
    numbers.zero = points->data;
    numbers.zero_step = points->rank == 1 && points->dims[0] > 1 ? 1 : 0;
  }
  return numbers;
}

typedef struct job_t {
  const bound_t* bound;
  numbers_t a;
  numbers_t b;
  int32_t* y;
} job_t;

static void widen(int16_t* out, const void* data, size_t count, int32_t zero, bool is_signed) {
  if (is_signed) {
    const int8_t* from = data;
    for (size_t k = 0; k < count; k++) {
      out[k] = (int16_t)(from[k] - zero);
    }
  } else {
    const uint8_t* from = data;
    for (size_t k = 0; k < count; k++) {
      out[k] = (int16_t)(from[k] - zero);
    }
  }
}

/* One row of a. The second number of its last pair may be one that is not there: it is 0. */
static void widen_row(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const size_t columns = (size_t)bound->a.columns;
  const size_t line = index % (size_t)bound->a.rows;
  int16_t* row = bound->wide + (size_t)index * 2 * bound->pairs;
  widen(row, (const char*)job->a.data + (size_t)index * columns, columns, zero_at(&job->a, line),
        job->a.is_signed);
  if (columns % 2 != 0) {
    row[columns] = 0;
  }
}

/* Columns [first, first + count) of a matrix of b, two rows side by side. */
static void pack_panel(const job_t* job, size_t matrix, size_t first, size_t count,
                       int16_t* panel) {
  const bound_t* bound = job->bound;
  const size_t width = bound->self->isa->elements->pair_columns;
  const size_t columns = (size_t)bound->b.columns;
  const size_t rows = (size_t)bound->b.rows;
  const char* data = (const char*)job->b.data + matrix * rows * columns + first;
  int16_t zeros[64];
  int16_t line[64];
  for (size_t k = 0; k < count; k++) {
    zeros[k] = (int16_t)zero_at(&job->b, first + k);
  }
  memset(panel, 0, bound->pairs * width * 2 * sizeof(int16_t));
  for (size_t row = 0; row < rows; row++) {
    int16_t* to = panel + row / 2 * width * 2 + row % 2;
    widen(line, data + row * columns, count, 0, job->b.is_signed);
    for (size_t k = 0; k < count; k++) {
      to[2 * k] = (int16_t)(line[k] - zeros[k]);
    }
  }
}

static size_t matrix_of(const bound_t* bound, const matrix_t* matrix, size_t batch) {
  size_t place = 0;
  for (uint32_t k = bound->batch_axes; k-- > 0;) {
    const size_t extent = (size_t)bound->batch_dims[k];
    place += batch % extent * (size_t)matrix->strides[k];
    batch /= extent;
  }
  return place;
}

static void run_task(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const tenon__cpu_elements_t* elements = bound->self->isa->elements;
  const size_t width = elements->pair_columns;
  const size_t columns = (size_t)bound->b.columns;
  const size_t rows = (size_t)bound->a.rows;
  const size_t row = index % bound->row_tasks * bound->rows_a_task;
  const size_t first = index / bound->row_tasks % bound->panels * width;
  const size_t batch = index / bound->row_tasks / bound->panels;
  const size_t left = columns - first;
  int16_t* panel = bound->panel + thread * bound->pairs * width * 2;
  const tenon__cpu_pairs_t pairs = {
      .a = bound->wide + (matrix_of(bound, &bound->a, batch) * rows + row) * 2 * bound->pairs,
      .b = panel,
      .c = job->y + (batch * rows + row) * columns + first,
      .a_stride = 2 * bound->pairs,
      .c_stride = columns,
      .rows = rows - row < bound->rows_a_task ? rows - row : bound->rows_a_task,
      .pairs = bound->pairs,
      .columns = left < width ? left : width};
  pack_panel(job, matrix_of(bound, &bound->b, batch), first, pairs.columns, panel);
  elements->multiply_pairs(&pairs);
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  job_t job = {bound, numbers_of(call, INPUT_A, bound->self->a_zero),
               numbers_of(call, INPUT_B, bound->self->b_zero), call->outputs[0].tensor.data};
  const size_t tasks = (size_t)bound->batches * bound->panels * bound->row_tasks;
  const size_t rows = (size_t)(bound->a.count * bound->a.rows);
  if (tasks > UINT32_MAX || rows > UINT32_MAX) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (tasks > 0) {
    tenon__cpu_parallel(call, (uint32_t)rows, widen_row, &job);
    tenon__cpu_parallel(call, (uint32_t)tasks, run_task, &job);
  }
  return TENON_OK;
}

static const char* const operators[] = {"standard.mat_mul_integer/1", NULL};

const tenon_kernel_t tenon__cpu_mat_mul_integer_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "mat_mul_integer",
    .device = "cpu",
    .operators = operators,
    .version = 1,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
};
