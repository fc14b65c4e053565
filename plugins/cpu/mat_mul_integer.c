/*
 * standard.mat_mul_integer/1: products of 8-bit matrices less their zero points (integer.h), with
 * fused expressions in the epilogue. A constant b is packed when the plan is built. Each run packs
 * any other b first. If all matrices of a share one b, their rows are rows of one product.
 */
#include <string.h>

#include "integer_epilogue.h"

typedef struct matrix_t {
  int64_t rows;
  int64_t columns;
  int64_t count;                       /* of matrices */
  int64_t strides[TENON_CPU_ROW_AXES]; /* in matrices, along the batch axes of y; 0: broadcast */
} matrix_t;

typedef struct bound_t {
  tenon__cpu_integer_bound_t common;
  matrix_t a;
  matrix_t b;
  uint32_t batch_axes;
  int64_t batch_dims[TENON_CPU_ROW_AXES];
  size_t units;        /* number of products */
  size_t rows;         /* of a product */
  size_t packed_bytes; /* of a matrix of b */
  tenon__cpu_integer_grid_t grid;
} bound_t;

/* ---- Matching ---- */

/* Returns true for one zero point, and for a list along an axis of the matrix that all matrices
 * share. */
static bool accepts_zero(const tenon_value_info_t* zero, const tenon_value_info_t* matrix,
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
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* a = tenon__cpu_region_input(region, TENON_CPU_INTEGER_A);
  const tenon_value_info_t* b = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  if (a->rank == 0 || b->rank == 0 || a->rank > TENON_CPU_ROW_AXES ||
      b->rank > TENON_CPU_ROW_AXES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (!accepts_zero(tenon__cpu_region_input(region, TENON_CPU_INTEGER_A_ZERO), a, a->rank - 2) ||
      !accepts_zero(tenon__cpu_region_input(region, TENON_CPU_INTEGER_B_ZERO), b, b->rank - 1)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SHAPE, "zero points of each matrix");
  }
  return tenon__cpu_integer_accepts(cpu->isa, region, out_refusal);
}

/* Sets the maximum depth, columns and number of matrices of b. Returns false if one is unbounded. */
static bool largest_b(const tenon_value_info_t* b, size_t out_extents[3]) {
  int64_t extents[3] = {b->dims_max[b->rank - (b->rank > 1 ? 2 : 1)],
                        b->rank > 1 ? b->dims_max[b->rank - 1] : 1, 1};
  bool is_bounded = extents[0] >= 0 && extents[1] >= 0;
  for (uint32_t k = 0; k + 2 < b->rank; k++) {
    is_bounded = is_bounded && b->dims_max[k] >= 0;
    extents[2] *= b->dims_max[k];
  }
  for (size_t k = 0; k < 3; k++) {
    out_extents[k] = is_bounded ? (size_t)extents[k] : 0;
  }
  return is_bounded;
}

static double estimate(const tenon__cpu_isa_t* isa, const tenon_value_info_t* a,
                       const tenon_value_info_t* y) {
  double products = (double)a->dims_opt[a->rank - 1];
  for (uint32_t k = 0; k < y->rank; k++) {
    products *= (double)y->dims_opt[k];
  }
  return 1e-6 + products * (isa->integers->number_bytes == 1 ? 4e-12 : 3e-11);
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_integers_t* integers = cpu->isa->integers;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* b = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  const uint8_t once = b->constant_data != NULL;
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES] = {0};
  size_t extents[3];
  const bool is_bounded = largest_b(b, extents);
  tenon__cpu_integer_operand_rules(region, rules);
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "integer tiles",
      .configuration = &once,
      .configuration_size = sizeof(once),
      .inputs = rules,
      .scratch_bytes =
          once != 0 || !is_bounded
              ? 0
              : extents[2] * tenon__cpu_integer_packed_bytes(integers, extents[0], extents[1]),
      .estimate_seconds = estimate(cpu->isa, tenon__cpu_region_input(region, TENON_CPU_INTEGER_A),
                                   tenon__cpu_region_output(region, 0)),
      .launches = 1,
      .scratch_bytes_per_thread = is_bounded
                                      ? tenon__cpu_integer_thread_bytes(
                                            integers, table->slot_program(handle, 0), extents[0])
                                      : 0};
  return add(emit, &tactic);
}

static tenon__cpu_integer_source_t source_of(size_t depth, size_t columns, bool is_signed) {
  return (tenon__cpu_integer_source_t){.is_signed = is_signed,
                                       .depth = depth,
                                       .columns = columns,
                                       .inner = depth > 0 ? depth : 1,
                                       .inner_stride = columns,
                                       .column_stride = 1};
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  tenon__cpu_integer_kernel_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_status_t status = tenon__cpu_integer_prepare(call, self);
  *out_instance = self;
  if (status != TENON_OK || !tenon__cpu_integer_packs_once(call->tactic)) {
    return status;
  }
  const tenon_value_info_t* b = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  size_t extents[3];
  (void)largest_b(b, extents);
  const tenon__cpu_integer_constant_t constant = {
      .source = source_of(extents[0], extents[1], b->dtype == TENON_DTYPE_INT8),
      .count = extents[2],
      .stride = extents[0] * extents[1],
      .bytes = tenon__cpu_integer_packed_bytes(self->isa->integers, extents[0], extents[1])};
  return tenon__cpu_integer_pack_constant(call, &constant, self);
}

/* ---- Binding ---- */

/* A vector is one row of a or one column of b. `batch_axes` and `batch_dims` describe y. */
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

/* Joins matrices of a to one if they share one matrix of b and no matrix of a is repeated. */
static void find_units(bound_t* bound) {
  size_t batches = 1;
  for (uint32_t k = 0; k < bound->batch_axes; k++) {
    batches *= (size_t)bound->batch_dims[k];
  }
  const bool joins = bound->b.count == 1 && (size_t)bound->a.count == batches;
  bound->units = joins ? 1 : batches;
  bound->rows = (size_t)bound->a.rows * (joins ? batches : 1);
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const tenon__cpu_integer_kernel_t* self = instance;
  const tenon__cpu_integers_t* integers = self->isa->integers;
  const tenon_tensor_view_t* a = &host->input(binding, self->inputs[TENON_CPU_INTEGER_A])->tensor;
  const tenon_tensor_view_t* b = &host->input(binding, self->inputs[TENON_CPU_INTEGER_B])->tensor;
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  const bool has_columns = b->rank >= 2;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  bound->batch_axes = y->rank - (a->rank >= 2 ? 1 : 0) - (has_columns ? 1 : 0);
  memcpy(bound->batch_dims, y->dims, bound->batch_axes * sizeof(int64_t));
  read_matrix(a, true, bound->batch_axes, bound->batch_dims, &bound->a);
  read_matrix(b, false, bound->batch_axes, bound->batch_dims, &bound->b);
  find_units(bound);
  const size_t depth = (size_t)bound->a.columns;
  const size_t columns = (size_t)bound->b.columns;
  bound->packed_bytes = tenon__cpu_integer_packed_bytes(integers, depth, columns);
  const tenon__cpu_integer_size_t size = {bound->rows, columns, depth, bound->units};
  tenon__cpu_integer_grid(integers, &size, host->thread_count(binding), &bound->grid);
  const uint32_t zeros = self->inputs[TENON_CPU_INTEGER_A_ZERO];
  const tenon_tensor_view_t* zero =
      zeros == TENON_NONE ? NULL : &host->input(binding, zeros)->tensor;
  tenon__cpu_integer_request_t request = {
      .kernel = self,
      .shape = {.rank = has_columns ? y->rank - 1 : y->rank,
                .column_axis = has_columns ? y->rank - 1 : TENON_NONE,
                .c_stride = columns},
      .depth = depth,
      .strip_columns = columns,
      .columns = columns,
      .rows = zero != NULL && zero->rank == 1 && zero->dims[0] > 1 ? (size_t)zero->dims[0] : 1,
      .packed_bytes = (size_t)bound->b.count * bound->packed_bytes};
  for (uint32_t k = 0; k < request.shape.rank; k++) {
    request.shape.axes[k] = k;
  }
  return tenon__cpu_integer_bind(&request, binding, host, &bound->common);
}

/* ---- Running ---- */

typedef struct job_t {
  const bound_t* bound;
  tenon__cpu_integer_call_t call;
  const void* a;
  bool a_signed;
  tenon__cpu_integer_source_t b;
  const char* packed;
  size_t pack_parts; /* of a matrix of b */
} job_t;

static void pack_task(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const tenon__cpu_integers_t* integers = bound->common.kernel->isa->integers;
  const size_t matrix = index / job->pack_parts;
  const size_t part = index % job->pack_parts;
  const size_t panels = tenon__cpu_integer_panels(integers, job->b.columns);
  tenon__cpu_integer_source_t source = job->b;
  source.data = (const char*)job->b.data + matrix * job->b.depth * job->b.columns;
  tenon__cpu_integer_pack(integers, &source, panels * part / job->pack_parts,
                          panels * (part + 1) / job->pack_parts,
                          (char*)job->call.packed + matrix * bound->packed_bytes);
}

typedef struct rows_t {
  const tenon__cpu_integers_t* integers;
  const char* data;
  size_t depth;
  bool is_signed;
} rows_t;

static void encode_rows(const void* user, size_t row, size_t rows, void* out, size_t stride) {
  const rows_t* from = user;
  for (size_t i = 0; i < rows; i++) {
    from->integers->encode((char*)out + i * stride, from->data + (row + i) * from->depth,
                           from->depth, from->is_signed);
  }
}

static size_t matrix_of(const bound_t* bound, const matrix_t* matrix, size_t batch) {
  size_t place = 0;
  for (uint32_t k = bound->units > 1 ? bound->batch_axes : 0; k-- > 0;) {
    const size_t extent = (size_t)bound->batch_dims[k];
    place += batch % extent * (size_t)matrix->strides[k];
    batch /= extent;
  }
  return place;
}

static void run_task(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const size_t tasks = bound->grid.row_tasks * bound->grid.panel_tasks;
  const size_t unit = index / tasks;
  const size_t depth = (size_t)bound->a.columns;
  const tenon__cpu_integers_t* integers = bound->common.kernel->isa->integers;
  const rows_t rows = {
      integers,
      (const char*)job->a + matrix_of(bound, &bound->a, unit) * (size_t)bound->a.rows * depth,
      depth, job->a_signed};
  tenon__cpu_integer_part_t part = {.row = unit * bound->rows};
  tenon__cpu_integer_product_t product = {
      .columns = (size_t)bound->b.columns,
      .depth = depth,
      .gather = encode_rows,
      .gather_user = &rows,
      .b = job->packed + matrix_of(bound, &bound->b, unit) * bound->packed_bytes};
  if (tenon__cpu_integer_in_place(integers, depth, job->a_signed)) {
    product.a = rows.data;
    product.a_stride = depth;
  }
  char* scratch = tenon__cpu_integer_part(&job->call, thread, &part, &product);
  tenon__cpu_integer_task(&product, &bound->grid, bound->rows, index % tasks, scratch);
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  const tenon__cpu_integer_kernel_t* self = call->instance;
  const tenon_tensor_view_t* a = &call->inputs[self->inputs[TENON_CPU_INTEGER_A]].tensor;
  const tenon_tensor_view_t* b = &call->inputs[self->inputs[TENON_CPU_INTEGER_B]].tensor;
  const size_t tasks = bound->units * bound->grid.row_tasks * bound->grid.panel_tasks;
  const size_t threads = call->host->thread_count(call->run);
  job_t job = {
      .bound = bound,
      .a = a->data,
      .a_signed = a->dtype == TENON_DTYPE_INT8,
      .b = source_of((size_t)bound->b.rows, (size_t)bound->b.columns, b->dtype == TENON_DTYPE_INT8),
      .pack_parts = bound->b.count == 1 && threads > 1 ? 2 * threads : 1};
  const size_t packings = self->packed != NULL ? 0 : (size_t)bound->b.count * job.pack_parts;
  if (tasks > UINT32_MAX || packings > UINT32_MAX) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (tasks == 0) {
    return TENON_OK;
  }
  job.b.data = b->data;
  tenon__cpu_integer_start(call, &bound->common, &job.call);
  job.packed = self->packed != NULL ? self->packed : job.call.packed;
  tenon__cpu_parallel(call, (uint32_t)packings, pack_task, &job);
  tenon__cpu_parallel(call, (uint32_t)tasks, run_task, &job);
  return TENON_OK;
}

static const char* const operators[] = {"standard.mat_mul_integer/1", NULL};

const tenon_kernel_t tenon__cpu_mat_mul_integer_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "mat_mul_integer",
    .device = "cpu",
    .operators = operators,
    .slots = TENON_LIST(tenon__cpu_any_slot),
    .version = 2,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
};
