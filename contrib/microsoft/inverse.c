/*
 * Inverses of matrices: an operator, its kernel for the CPU, and the converter. The kernel eliminates
 * by Gauss and Jordan, in place, with the largest element of each column as the pivot.
 */
#include "inverse.h"

#include <math.h>
#include <string.h>

#include "families.h"

static const tenon_type_variable_t types[] = {
    {.size = sizeof(tenon_type_variable_t), .name = "T", .allowed = "f32 f64"}};
static const tenon_port_t inputs[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{.size = sizeof(tenon_port_t), .name = "y", .type = "T"}};
static const tenon_check_t checks[] = {{.size = sizeof(tenon_check_t),
                                        .condition = "rank(x) >= 2",
                                        .message = "x has rank {rank(x)}, less than 2"},
                                       {.size = sizeof(tenon_check_t),
                                        .condition = "dim(x, -1) == dim(x, -2)",
                                        .message = "{dim(x, -2)} rows, {dim(x, -1)} columns"}};
static const tenon_operator_t operators[] = {
    {.size = sizeof(tenon_operator_t),
     .name = "microsoft.matrix_inverse/1",
     .summary = "inverses of the matrices in the last two axes",
     .types = TENON_LIST(types),
     .inputs = TENON_LIST(inputs),
     .outputs = TENON_LIST(outputs),
     .checks = TENON_LIST(checks),
     .shape = "y = x",
     .traits = "pure"}};
const tenon_offering_t microsoft_inverse_operators = TENON_OFFERING_OF("operator/1", operators);

/* ---- The kernel ---- */

/* Replaces the n x n matrix by its inverse. A singular one gets infinities or NaN. */
/* The macro argument is a type. NOLINTBEGIN(bugprone-macro-parentheses) */
#define INVERT(name, type)                                                           \
  static void swap_rows_##name(type* a, type* b, size_t count, size_t stride) {      \
    for (size_t k = 0; k < count; ++k) {                                             \
      const type kept = a[k * stride];                                               \
      a[k * stride] = b[k * stride];                                                 \
      b[k * stride] = kept;                                                          \
    }                                                                                \
  }                                                                                  \
  static void eliminate_##name(type* matrix, size_t n, size_t k) {                   \
    type* row = matrix + k * n;                                                      \
    const type factor = 1 / row[k];                                                  \
    row[k] = 1;                                                                      \
    for (size_t j = 0; j < n; ++j) {                                                 \
      row[j] *= factor;                                                              \
    }                                                                                \
    for (size_t i = 0; i < n; ++i) {                                                 \
      type* other = matrix + i * n;                                                  \
      const type multiple = other[k];                                                \
      if (i != k) {                                                                  \
        other[k] = 0;                                                                \
        for (size_t j = 0; j < n; ++j) {                                             \
          other[j] -= multiple * row[j];                                             \
        }                                                                            \
      }                                                                              \
    }                                                                                \
  }                                                                                  \
  static void invert_##name(type* matrix, size_t n, uint32_t* pivots) {              \
    for (size_t k = 0; k < n; ++k) {                                                 \
      size_t pivot = k;                                                              \
      for (size_t i = k + 1; i < n; ++i) {                                           \
        if (fabs((double)matrix[i * n + k]) > fabs((double)matrix[pivot * n + k])) { \
          pivot = i;                                                                 \
        }                                                                            \
      }                                                                              \
      pivots[k] = (uint32_t)pivot;                                                   \
      swap_rows_##name(matrix + k * n, matrix + pivot * n, n, 1);                    \
      eliminate_##name(matrix, n, k);                                                \
    }                                                                                \
    for (size_t k = n; k-- > 0;) {                                                   \
      swap_rows_##name(matrix + k, matrix + pivots[k], n, n);                        \
    }                                                                                \
  }
/* NOLINTEND(bugprone-macro-parentheses) */
INVERT(f32, float)
INVERT(f64, double)

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state, (void)region, (void)table, (void)out_refusal;
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_value_info_t* x = table->value(region, table->node_input(region, 0, 0));
  const double n = (double)x->dims_opt[x->rank - 1];
  double matrices = 1;
  for (uint32_t k = 0; k + 2 < x->rank; ++k) {
    matrices *= (double)x->dims_opt[k];
  }
  (void)state;
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "gauss_jordan",
      .scratch_bytes_per_thread =
          ((size_t)x->dims_max[x->rank - 1] * sizeof(uint32_t) + 63) / 64 * 64,
      .estimate_seconds = 1e-6 + matrices * n * n * n * 1e-9,
      .launches = 1};
  return add(emit, &tactic);
}

typedef struct job_t {
  const tenon_tensor_view_t* x;
  const tenon_tensor_view_t* y;
  char* pivots;
  size_t pivot_bytes; /* of one thread */
  size_t extent;
} job_t;

static void invert_matrix(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const size_t elements = job->extent * job->extent;
  uint32_t* pivots = (uint32_t*)(void*)(job->pivots + thread * job->pivot_bytes);
  if (job->x->dtype == TENON_DTYPE_FLOAT32) {
    float* y = (float*)job->y->data + index * elements;
    memcpy(y, (const float*)job->x->data + index * elements, elements * sizeof(*y));
    invert_f32(y, job->extent, pivots);
  } else {
    double* y = (double*)job->y->data + index * elements;
    memcpy(y, (const double*)job->x->data + index * elements, elements * sizeof(*y));
    invert_f64(y, job->extent, pivots);
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  job_t job = {.x = x,
               .y = &call->outputs[0].tensor,
               .pivots = call->host->scratch(call->run),
               .extent = (size_t)x->dims[x->rank - 1]};
  size_t count = 1;
  for (uint32_t k = 0; k + 2 < x->rank; ++k) {
    count *= (size_t)x->dims[k];
  }
  job.pivot_bytes = (job.extent * sizeof(uint32_t) + 63) / 64 * 64;
  if (job.extent > 0 && count == 1) {
    invert_matrix(&job, 0, 0);
  } else if (job.extent > 0 && count > 0) {
    call->host->parallel(call->run, (uint32_t)count, invert_matrix, &job);
  }
  return TENON_OK;
}

static const char* const names[] = {"microsoft.matrix_inverse/1", NULL};
static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                          .name = "matrix_inverse",
                                          .device = "cpu",
                                          .operators = names,
                                          .version = 1,
                                          .match = match,
                                          .tactics = tactics,
                                          .enqueue = enqueue}};
const tenon_offering_t microsoft_inverse_kernels = TENON_OFFERING_OF("kernel/1", kernels);

/* ---- The converter ---- */

static void inverse(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const tenon_value_t wide =
      tenon_make_cast(make, x, dtype == TENON_DTYPE_FLOAT64 ? dtype : TENON_DTYPE_FLOAT32);
  tenon_make_output(
      make, 0,
      tenon_make_cast(make, tenon_make_1(make, "microsoft.matrix_inverse/1", wide), dtype));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("Inverse", inverse, NULL, NULL),
};
MICROSOFT_FAMILY(inverse);
