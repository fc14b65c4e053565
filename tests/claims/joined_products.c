/*
 * A plugin with kernels of several nodes, in plain loops:
 *
 *   chain       a pattern: two matrix products in a row
 *   long_chain  a pattern: three in a row, and it says that it is slow
 *   siblings    proposes products that read the same left matrix: one step with two outputs
 *
 * Each estimates its time, so that a build that measures nothing is decided by these.
 */
#include <string.h>

#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("joined_products", "1.0.0",
                      "offers: kernel chain * cpu\noffers: kernel long_chain * cpu\n"
                      "offers: kernel siblings * cpu\n");

static const char product_op[] = "standard.mat_mul/1";

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  for (uint32_t k = 0; k < table->value_count(region); ++k) {
    const tenon_value_info_t* value = table->value(region, k);
    if (value->rank != 2 || value->dtype != TENON_DTYPE_FLOAT32) {
      out_refusal->reason = TENON_REFUSAL_RANK;
      out_refusal->detail = "matrices of floats alone";
      return 0;
    }
  }
  return 1;
}

static tenon_status_t estimate(tenon_emit_t* emit, double seconds,
                               tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "loops", .estimate_seconds = seconds, .launches = 1};
  return add(emit, &tactic);
}

static tenon_status_t fast_tactics(void* state, const tenon_region_t* region,
                                   const tenon_region_table_t* table, tenon_emit_t* emit,
                                   tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  (void)region;
  (void)table;
  return estimate(emit, 1e-9, add);
}

static tenon_status_t slow_tactics(void* state, const tenon_region_t* region,
                                   const tenon_region_table_t* table, tenon_emit_t* emit,
                                   tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  (void)region;
  (void)table;
  return estimate(emit, 1, add);
}

/* One element of a * b, or of (a * b) * c where c is there. */
static float element(const tenon_tensor_view_t* a, const tenon_tensor_view_t* b,
                     const tenon_tensor_view_t* c, int64_t row, int64_t column) {
  const float* left = (const float*)a->data + row * a->dims[1];
  const int64_t inner = b->dims[1];
  float sum = 0;
  for (int64_t k = 0; k < (c == NULL ? 1 : inner); ++k) {
    const int64_t at = c == NULL ? column : k;
    float product = 0;
    for (int64_t j = 0; j < a->dims[1]; ++j) {
      product += left[j] * ((const float*)b->data)[j * inner + at];
    }
    sum += c == NULL ? product : product * ((const float*)c->data)[k * c->dims[1] + column];
  }
  return sum;
}

static void fill(const tenon_tensor_view_t* y, const tenon_tensor_view_t* a,
                 const tenon_tensor_view_t* b, const tenon_tensor_view_t* c) {
  for (int64_t k = 0; k < y->dims[0] * y->dims[1]; ++k) {
    ((float*)y->data)[k] = element(a, b, c, k / y->dims[1], k % y->dims[1]);
  }
}

static tenon_status_t run_chain(const tenon_enqueue_t* call) {
  if (call->input_count != 3 || call->output_count != 1) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  fill(&call->outputs[0].tensor, &call->inputs[0].tensor, &call->inputs[1].tensor,
       &call->inputs[2].tensor);
  return TENON_OK;
}

/* Inputs: the matrix that all read, then the others. NOLINTNEXTLINE(readability-function-size) */
static tenon_status_t run_siblings(const tenon_enqueue_t* call) {
  if (call->input_count != call->output_count + 1) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  for (uint32_t k = 0; k < call->output_count; ++k) {
    fill(&call->outputs[k].tensor, &call->inputs[0].tensor, &call->inputs[k + 1].tensor, NULL);
  }
  return TENON_OK;
}

static uint32_t propose(void* state, const tenon_region_t* graph, const tenon_region_table_t* table,
                        uint32_t seed, uint32_t* out_nodes, uint32_t capacity) {
  (void)state;
  uint32_t count = 0;
  const char* op = table->node_operator(graph, seed);
  if (op == NULL || strcmp(op, product_op) != 0) {
    return 0;
  }
  const uint32_t shared = table->node_input(graph, seed, 0);
  for (uint32_t k = seed; k < table->node_count(graph) && count < capacity; ++k) {
    op = table->node_operator(graph, k);
    if (op != NULL && strcmp(op, product_op) == 0 && table->node_input(graph, k, 0) == shared) {
      out_nodes[count++] = k;
    }
  }
  return count;
}

static const tenon_kernel_t kernels[] = {
    {.size = sizeof(tenon_kernel_t),
     .name = "chain",
     .device = "cpu",
     .pattern = "t = standard.mat_mul/1(a, b); y = standard.mat_mul/1(t, c)",
     .version = 1,
     .match = match,
     .tactics = fast_tactics,
     .enqueue = run_chain},
    {.size = sizeof(tenon_kernel_t),
     .name = "long_chain",
     .device = "cpu",
     .pattern = "t = standard.mat_mul/1(a, b); u = standard.mat_mul/1(t, c); "
                "y = standard.mat_mul/1(u, d)",
     .version = 1,
     .match = match,
     .tactics = slow_tactics,
     .enqueue = run_chain},
    {.size = sizeof(tenon_kernel_t),
     .name = "siblings",
     .device = "cpu",
     .version = 1,
     .match = match,
     .tactics = fast_tactics,
     .enqueue = run_siblings,
     .propose = propose},
};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("kernel/1", kernels)};

static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "joined_products",
                                      .version = "1.0.0", .offerings = TENON_LIST(offerings)};

TENON_EXPORT const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
