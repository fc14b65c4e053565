/* A faster kernel for a built-in operator: determinants on the CPU, in f32. Before, the reference
 * computes them. Gauss's elimination with row pivots in f64; each matrix is one part, so that a
 * batch uses all threads. */
#include <math.h>

#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("determinant", "1.0.0",
                      "licence: Apache-2.0\n"
                      "offers: kernel elimination standard.det/1 cpu\n");

static const tenon_value_info_t* get_input(const tenon_region_t* region,
                                           const tenon_region_table_t* table) {
  return table->value(region, table->input(region, 0));
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* x = get_input(region, table);
  (void)state;
  *out_refusal = (tenon_refusal_t){0};
  if (x->dtype != TENON_DTYPE_FLOAT32) {
    out_refusal->reason = TENON_REFUSAL_DTYPE;
  } else if (x->dims_max[x->rank - 1] < 0) {
    out_refusal->reason = TENON_REFUSAL_DYNAMIC_SHAPE; /* the scratch would have no bound */
  }
  return out_refusal->reason == TENON_REFUSAL_NONE;
}

/* Each thread has a copy of one matrix. */
static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_value_info_t* x = get_input(region, table);
  const uint64_t extent = (uint64_t)x->dims_max[x->rank - 1];
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "matrices",
                                 .numerics = &numerics,
                                 .scratch_bytes_per_thread = extent * extent * sizeof(double)};
  (void)state;
  return add(emit, &tactic);
}

/* The row from `column` on whose element of this column is the largest. */
static int64_t find_pivot(const double* a, int64_t n, int64_t column) {
  int64_t best = column;
  for (int64_t row = column + 1; row < n; ++row) {
    best = fabs(a[row * n + column]) > fabs(a[best * n + column]) ? row : best;
  }
  return best;
}

/* Overwrites the matrix. */
static double eliminate(double* a, int64_t n) {
  double result = 1;
  for (int64_t column = 0; column < n; ++column) {
    const int64_t pivot = find_pivot(a, n, column);
    double* top = a + column * n;
    if (pivot != column) {
      for (int64_t k = column; k < n; ++k) {
        const double kept = top[k];
        top[k] = a[pivot * n + k];
        a[pivot * n + k] = kept;
      }
      result = -result;
    }
    result *= top[column];
    if (top[column] == 0) {
      return 0; /* the column depends on those before it */
    }
    for (int64_t row = column + 1; row < n; ++row) {
      const double factor = a[row * n + column] / top[column];
      for (int64_t k = column + 1; k < n; ++k) {
        a[row * n + k] -= factor * top[k];
      }
    }
  }
  return result;
}

typedef struct matrices_t {
  const float* x;
  float* y;
  int64_t extent;
  double* scratch;
} matrices_t;

static void compute_matrix(void* user, uint32_t index, uint32_t thread) {
  const matrices_t* matrices = user;
  const int64_t count = matrices->extent * matrices->extent;
  const float* x = matrices->x + (int64_t)index * count;
  double* copy = matrices->scratch + (int64_t)thread * count;
  for (int64_t k = 0; k < count; ++k) {
    copy[k] = (double)x[k];
  }
  matrices->y[index] = (float)eliminate(copy, matrices->extent);
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  matrices_t matrices = {x->data, call->outputs[0].tensor.data, x->dims[x->rank - 1],
                         call->host->scratch(call->run)};
  int64_t count = 1;
  for (uint32_t d = 0; d + 2 < x->rank; ++d) {
    count *= x->dims[d];
  }
  if (count > UINT32_MAX) {
    return call->host->fail(call->run, TENON_ERROR_UNSUPPORTED, "more than 2^32 matrices");
  }
  call->host->parallel(call->run, (uint32_t)count, compute_matrix, &matrices);
  return TENON_OK;
}

static const char* const computed[] = {"standard.det/1", NULL};
static const tenon_kernel_t kernels[] = {{.size = sizeof(kernels[0]),
                                          .name = "elimination",
                                          .device = "cpu",
                                          .operators = computed,
                                          .version = 1,
                                          .match = match,
                                          .tactics = tactics,
                                          .enqueue = enqueue}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("kernel/1", kernels)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "determinant",
                                      .version = "1.0.0", .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
