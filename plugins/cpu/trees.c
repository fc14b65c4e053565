/* Ensembles of decision trees: blocks of rows walk down every tree, on dense tensors of f32. Sums
 * and averages. Trees that are constant are checked as a whole before the first run, others before
 * each; a walk checks what it reads all the same, for weights may be replaced, and has no more
 * steps than there are nodes. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels.h"

enum { NODE_FIELDS = 7, LEAF_FIELDS = 2, BLOCK = 16, OPERANDS = 8, THRESHOLDS = 2 };

enum { LESS_EQUAL, LESS, GREATER_EQUAL, GREATER, EQUAL, NOT_EQUAL, MEMBER };

typedef struct trees_t {
  bool averages;
} trees_t;

typedef struct bound_t {
  bool is_constant; /* all that says where a walk goes */
  bool is_checked;
} bound_t;

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const char* aggregate = tenon__cpu_region_string(region, "aggregate");
  if (tenon__cpu_region_input(region, 0)->dtype != TENON_DTYPE_FLOAT32) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (strcmp(aggregate, "sum") != 0 && strcmp(aggregate, "average") != 0) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "neither sum nor average");
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* roots = tenon__cpu_region_input(region, 4);
  /* Some ten steps of a few nanoseconds for each row and tree. */
  const double walks = (double)x->dims_opt[0] * (double)roots->dims_opt[0];
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "walks",
                                 .estimate_seconds = 1e-6 + walks * 5e-8,
                                 .launches = 1};
  return add(emit, &tactic);
}

static tenon_status_t prepare(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, const tenon_tactic_t* tactic,
                              tenon_preparation_t* preparation, const tenon_prepare_table_t* host,
                              void** out_instance) {
  (void)state;
  (void)tactic;
  const tenon__cpu_region_t region = {handle, table};
  trees_t* self = host->allocate(preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->averages = strcmp(tenon__cpu_region_string(region, "aggregate"), "average") == 0;
  *out_instance = self;
  return TENON_OK;
}

/* Numbers that trees compare with may come from anywhere. */
static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  (void)instance;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->is_constant = true;
  for (uint32_t i = 1; i < OPERANDS; i++) {
    bound->is_constant =
        bound->is_constant && (i == THRESHOLDS || host->input(binding, i)->tensor.data != NULL);
  }
  *out_bound = bound;
  return TENON_OK;
}

typedef struct call_t {
  const float* x;
  const int64_t* nodes;
  const float* thresholds;
  const float* members;
  const int64_t* roots;
  const int64_t* leaves;
  const int64_t* targets;
  const float* weights;
  float* y;
  int64_t row_count;
  int64_t feature_count;
  int64_t target_count;
  int64_t node_count;
  int64_t member_count;
  int64_t root_count;
  int64_t leaf_count;
  int64_t weight_count;
  bool averages;
  atomic_bool is_lost; /* a walk left its tree, or did not end */
} call_t;

/* Whether [first, first + count) lies in [0, size). */
static bool is_within(int64_t first, int64_t count, int64_t size) {
  return first >= 0 && count >= 0 && first <= size && count <= size - first;
}

/* Whether a place is a node, or below 0 a leaf. */
static bool is_place(const call_t* call, int64_t place) {
  return place < call->node_count && place >= -call->leaf_count;
}

/* What is wrong with the trees; NULL: nothing, but for cycles. */
static const char* find_fault(const call_t* call) {
  for (int64_t i = 0; i < call->node_count; i++) {
    const int64_t* node = call->nodes + i * NODE_FIELDS;
    if (node[0] < LESS_EQUAL || node[0] > MEMBER) {
      return "a node of a tree has a mode that is not 0 to 6";
    }
    if (!is_within(node[1], 1, call->feature_count) ||
        !is_within(node[5], node[6], call->member_count)) {
      return "a node of a tree asks for a feature or a member that is not there";
    }
    if (!is_place(call, node[2]) || !is_place(call, node[3])) {
      return "a node of a tree leads to a node or leaf that is not there";
    }
  }
  for (int64_t i = 0; i < call->root_count; i++) {
    if (!is_place(call, call->roots[i])) {
      return "a tree begins at a node that is not there";
    }
  }
  for (int64_t i = 0; i < call->leaf_count; i++) {
    const int64_t* span = call->leaves + i * LEAF_FIELDS;
    if (!is_within(span[0], span[1], call->weight_count)) {
      return "a leaf of a tree has weights that are not there";
    }
  }
  for (int64_t i = 0; i < call->weight_count; i++) {
    if (!is_within(call->targets[i], 1, call->target_count)) {
      return "a weight of a tree is for a target that is not there";
    }
  }
  return NULL;
}

static bool is_member(const call_t* call, const int64_t* node, float value) {
  if (!is_within(node[5], node[6], call->member_count)) {
    return false;
  }
  for (int64_t i = node[5]; i < node[5] + node[6]; i++) {
    if (call->members[i] == value) {
      return true;
    }
  }
  return false;
}

static bool is_true(const call_t* call, const int64_t* node, float threshold, float value) {
  switch (node[0]) {
    case LESS_EQUAL:
      return value <= threshold;
    case LESS:
      return value < threshold;
    case GREATER_EQUAL:
      return value >= threshold;
    case GREATER:
      return value > threshold;
    case EQUAL:
      return value == threshold;
    case NOT_EQUAL:
      return value != threshold;
    default:
      return is_member(call, node, value);
  }
}

/* The leaf that a row reaches; -1 where the walk leaves the tree or does not end. */
static int64_t leaf_of(const call_t* call, const float* row, int64_t root) {
  int64_t at = root;
  for (int64_t step = 0; at >= 0 && step < call->node_count; step++) {
    const int64_t* node = call->nodes + at * NODE_FIELDS;
    if (at >= call->node_count || node[1] < 0 || node[1] >= call->feature_count) {
      return -1;
    }
    const float value = row[node[1]];
    const bool goes_true =
        (isnan(value) && node[4] != 0) || is_true(call, node, call->thresholds[at], value);
    at = node[goes_true ? 2 : 3];
  }
  return at < 0 && at >= -call->leaf_count ? -(at + 1) : -1;
}

static bool add_leaf(const call_t* call, int64_t leaf, float* scores) {
  const int64_t* span = call->leaves + leaf * LEAF_FIELDS;
  if (!is_within(span[0], span[1], call->weight_count)) {
    return false;
  }
  for (int64_t i = span[0]; i < span[0] + span[1]; i++) {
    if (call->targets[i] < 0 || call->targets[i] >= call->target_count) {
      return false;
    }
    scores[call->targets[i]] += call->weights[i];
  }
  return true;
}

static void score_block(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  call_t* call = user;
  const int64_t first = (int64_t)index * BLOCK;
  const int64_t end = first + BLOCK < call->row_count ? first + BLOCK : call->row_count;
  memset(call->y + first * call->target_count, 0,
         (size_t)((end - first) * call->target_count) * sizeof(float));
  /* A tree stays in the cache while the rows of a block walk it. */
  for (int64_t tree = 0; tree < call->root_count; tree++) {
    for (int64_t row = first; row < end; row++) {
      const int64_t leaf = leaf_of(call, call->x + row * call->feature_count, call->roots[tree]);
      if (leaf < 0 || !add_leaf(call, leaf, call->y + row * call->target_count)) {
        atomic_store(&call->is_lost, true);
        return;
      }
    }
  }
  if (call->averages && call->root_count > 0) {
    for (int64_t i = first * call->target_count; i < end * call->target_count; i++) {
      call->y[i] /= (float)call->root_count;
    }
  }
}

/* The contract counts the parameters. NOLINTNEXTLINE(readability-function-size) */
static tenon_status_t enqueue(void* instance, void* bound, tenon_run_t* run,
                              const tenon_run_table_t* host, const tenon_argument_t* inputs,
                              uint32_t input_count, const tenon_argument_t* outputs,
                              uint32_t output_count) {
  bound_t* known = bound;
  if (input_count != OPERANDS || output_count != 1) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  call_t call = {
      .x = inputs[0].tensor.data,
      .nodes = inputs[1].tensor.data,
      .thresholds = inputs[2].tensor.data,
      .members = inputs[3].tensor.data,
      .roots = inputs[4].tensor.data,
      .leaves = inputs[5].tensor.data,
      .targets = inputs[6].tensor.data,
      .weights = inputs[7].tensor.data,
      .y = outputs[0].tensor.data,
      .row_count = inputs[0].tensor.dims[0],
      .feature_count = inputs[0].tensor.dims[1],
      .target_count = outputs[0].tensor.dims[1],
      .node_count = inputs[1].tensor.dims[0],
      .member_count = inputs[3].tensor.dims[0],
      .root_count = inputs[4].tensor.dims[0],
      .leaf_count = inputs[5].tensor.dims[0],
      .weight_count = inputs[7].tensor.dims[0],
      .averages = ((const trees_t*)instance)->averages,
  };
  const char* fault = known->is_constant && known->is_checked ? NULL : find_fault(&call);
  if (fault != NULL) {
    return host->fail(run, TENON_ERROR_INVALID_DATA, fault);
  }
  known->is_checked = true;
  atomic_init(&call.is_lost, false);
  tenon__cpu_parallel(run, host, (uint32_t)((call.row_count + BLOCK - 1) / BLOCK), score_block,
                      &call);
  return atomic_load(&call.is_lost)
             ? host->fail(run, TENON_ERROR_INVALID_DATA,
                          "a tree has a cycle, or names a node, feature, leaf or target that is "
                          "not there")
             : TENON_OK;
}

static const char* const operators[] = {"standard.tree_ensemble/1", NULL};
static const char* const attributes[] = {"aggregate", "target_count", NULL};

const tenon_kernel_t tenon__cpu_tree_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "trees",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .version = 1,
    .input_limit = OPERANDS,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
};
