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

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  trees_t* self = call->host->allocate(call->preparation, sizeof(*self));
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

typedef struct job_t {
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
} job_t;

/* Whether [first, first + count) lies in [0, size). */
static bool is_within(int64_t first, int64_t count, int64_t size) {
  return first >= 0 && count >= 0 && first <= size && count <= size - first;
}

/* Whether a place is a node, or below 0 a leaf. */
static bool is_place(const job_t* job, int64_t place) {
  return place < job->node_count && place >= -job->leaf_count;
}

/* What is wrong with the trees; NULL: nothing, but for cycles. */
static const char* find_fault(const job_t* job) {
  for (int64_t i = 0; i < job->node_count; i++) {
    const int64_t* node = job->nodes + i * NODE_FIELDS;
    if (node[0] < LESS_EQUAL || node[0] > MEMBER) {
      return "a node of a tree has a mode that is not 0 to 6";
    }
    if (!is_within(node[1], 1, job->feature_count) ||
        !is_within(node[5], node[6], job->member_count)) {
      return "a node of a tree asks for a feature or a member that is not there";
    }
    if (!is_place(job, node[2]) || !is_place(job, node[3])) {
      return "a node of a tree leads to a node or leaf that is not there";
    }
  }
  for (int64_t i = 0; i < job->root_count; i++) {
    if (!is_place(job, job->roots[i])) {
      return "a tree begins at a node that is not there";
    }
  }
  for (int64_t i = 0; i < job->leaf_count; i++) {
    const int64_t* span = job->leaves + i * LEAF_FIELDS;
    if (!is_within(span[0], span[1], job->weight_count)) {
      return "a leaf of a tree has weights that are not there";
    }
  }
  for (int64_t i = 0; i < job->weight_count; i++) {
    if (!is_within(job->targets[i], 1, job->target_count)) {
      return "a weight of a tree is for a target that is not there";
    }
  }
  return NULL;
}

static bool is_member(const job_t* job, const int64_t* node, float value) {
  if (!is_within(node[5], node[6], job->member_count)) {
    return false;
  }
  for (int64_t i = node[5]; i < node[5] + node[6]; i++) {
    if (job->members[i] == value) {
      return true;
    }
  }
  return false;
}

static bool is_true(const job_t* job, const int64_t* node, float threshold, float value) {
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
      return is_member(job, node, value);
  }
}

/* The leaf that a row reaches; -1 where the walk leaves the tree or does not end. */
static int64_t leaf_of(const job_t* job, const float* row, int64_t root) {
  int64_t at = root;
  for (int64_t step = 0; at >= 0 && step < job->node_count; step++) {
    const int64_t* node = job->nodes + at * NODE_FIELDS;
    if (at >= job->node_count || node[1] < 0 || node[1] >= job->feature_count) {
      return -1;
    }
    const float value = row[node[1]];
    const bool goes_true =
        (isnan(value) && node[4] != 0) || is_true(job, node, job->thresholds[at], value);
    at = node[goes_true ? 2 : 3];
  }
  return at < 0 && at >= -job->leaf_count ? -(at + 1) : -1;
}

static bool add_leaf(const job_t* job, int64_t leaf, float* scores) {
  const int64_t* span = job->leaves + leaf * LEAF_FIELDS;
  if (!is_within(span[0], span[1], job->weight_count)) {
    return false;
  }
  for (int64_t i = span[0]; i < span[0] + span[1]; i++) {
    if (job->targets[i] < 0 || job->targets[i] >= job->target_count) {
      return false;
    }
    scores[job->targets[i]] += job->weights[i];
  }
  return true;
}

static void score_block(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  job_t* job = user;
  const int64_t first = (int64_t)index * BLOCK;
  const int64_t end = first + BLOCK < job->row_count ? first + BLOCK : job->row_count;
  memset(job->y + first * job->target_count, 0,
         (size_t)((end - first) * job->target_count) * sizeof(float));
  /* A tree stays in the cache while the rows of a block walk it. */
  for (int64_t tree = 0; tree < job->root_count; tree++) {
    for (int64_t row = first; row < end; row++) {
      const int64_t leaf = leaf_of(job, job->x + row * job->feature_count, job->roots[tree]);
      if (leaf < 0 || !add_leaf(job, leaf, job->y + row * job->target_count)) {
        atomic_store(&job->is_lost, true);
        return;
      }
    }
  }
  if (job->averages && job->root_count > 0) {
    for (int64_t i = first * job->target_count; i < end * job->target_count; i++) {
      job->y[i] /= (float)job->root_count;
    }
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  bound_t* known = call->bound;
  if (call->input_count != OPERANDS || call->output_count != 1) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  job_t job = {
      .x = call->inputs[0].tensor.data,
      .nodes = call->inputs[1].tensor.data,
      .thresholds = call->inputs[2].tensor.data,
      .members = call->inputs[3].tensor.data,
      .roots = call->inputs[4].tensor.data,
      .leaves = call->inputs[5].tensor.data,
      .targets = call->inputs[6].tensor.data,
      .weights = call->inputs[7].tensor.data,
      .y = call->outputs[0].tensor.data,
      .row_count = call->inputs[0].tensor.dims[0],
      .feature_count = call->inputs[0].tensor.dims[1],
      .target_count = call->outputs[0].tensor.dims[1],
      .node_count = call->inputs[1].tensor.dims[0],
      .member_count = call->inputs[3].tensor.dims[0],
      .root_count = call->inputs[4].tensor.dims[0],
      .leaf_count = call->inputs[5].tensor.dims[0],
      .weight_count = call->inputs[7].tensor.dims[0],
      .averages = ((const trees_t*)call->instance)->averages,
  };
  const char* fault = known->is_constant && known->is_checked ? NULL : find_fault(&job);
  if (fault != NULL) {
    return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, fault);
  }
  known->is_checked = true;
  atomic_init(&job.is_lost, false);
  tenon__cpu_parallel(call, (uint32_t)((job.row_count + BLOCK - 1) / BLOCK), score_block, &job);
  return atomic_load(&job.is_lost)
             ? call->host->fail(
                   call->run, TENON_ERROR_INVALID_DATA,
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
