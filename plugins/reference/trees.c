/*
 * tree_ensemble: each row of x walks down each tree to a leaf, and what its leaves give to a target
 * is summed, averaged over the trees, or the least or greatest of it is taken; a target that no
 * leaf names is 0.
 *
 * A node is a row of `nodes`: mode, feature, where to go when true, where to go otherwise, whether
 * NaN counts as true, and its first member and how many there are. Where to go, and a root, is a
 * node, or below 0 leaf -(index + 1). A walk has no more steps than there are nodes.
 */
#include <math.h>

#include "kernels.h"

enum { NODE_FIELDS = 7, LEAF_FIELDS = 2 };

enum { LESS_EQUAL, LESS, GREATER_EQUAL, GREATER, EQUAL, NOT_EQUAL, MEMBER };

typedef struct forest_t {
  const tenon__work_t* work;
  const tenon__array_t* nodes;
  const tenon__array_t* thresholds;
  const tenon__array_t* members;
  const tenon__array_t* roots;
  const tenon__array_t* leaves;
  const tenon__array_t* targets;
  const tenon__array_t* weights;
  int64_t node_count;
  int64_t leaf_count;
  int64_t feature_count;
  int64_t target_count;
} forest_t;

static forest_t forest_of(const tenon__work_t* work, int64_t target_count) {
  const tenon__array_t* nodes = tenon__work_input(work, 1);
  const tenon__array_t* leaves = tenon__work_input(work, 5);
  return (forest_t){
      .work = work,
      .nodes = nodes,
      .thresholds = tenon__work_input(work, 2),
      .members = tenon__work_input(work, 3),
      .roots = tenon__work_input(work, 4),
      .leaves = leaves,
      .targets = tenon__work_input(work, 6),
      .weights = tenon__work_input(work, 7),
      .node_count = nodes->count / NODE_FIELDS,
      .leaf_count = leaves->count / LEAF_FIELDS,
      .feature_count = tenon__work_input(work, 0)->dims[1],
      .target_count = target_count,
  };
}

/* Whether [first, first + count) lies in [0, size). */
static bool is_within(int64_t first, int64_t count, int64_t size) {
  return first >= 0 && count >= 0 && first <= size && count <= size - first;
}

/* All that a walk reads is there. */
static tenon_status_t check_nodes(const forest_t* forest) {
  for (int64_t index = 0; index < forest->node_count; ++index) {
    const tenon__number_t* node = forest->nodes->at + index * NODE_FIELDS;
    if (node[0].i < LESS_EQUAL || node[0].i > MEMBER) {
      return tenon__work_fail(forest->work, "node %lld has mode %lld, not 0 to 6", (long long)index,
                              (long long)node[0].i);
    }
    if (!is_within(node[1].i, 1, forest->feature_count)) {
      return tenon__work_fail(forest->work, "node %lld asks for feature %lld of %lld",
                              (long long)index, (long long)node[1].i,
                              (long long)forest->feature_count);
    }
    for (uint32_t branch = 2; branch < 4; ++branch) {
      const int64_t child = node[branch].i;
      if (child >= forest->node_count || child < -forest->leaf_count) {
        return tenon__work_fail(forest->work, "node %lld leads to %lld, of %lld nodes, %lld leaves",
                                (long long)index, (long long)child, (long long)forest->node_count,
                                (long long)forest->leaf_count);
      }
    }
    if (!is_within(node[5].i, node[6].i, forest->members->count)) {
      return tenon__work_fail(forest->work, "node %lld has members past the %lld there are",
                              (long long)index, (long long)forest->members->count);
    }
  }
  return TENON_OK;
}

static tenon_status_t check_leaves(const forest_t* forest) {
  for (int64_t index = 0; index < forest->roots->count; ++index) {
    const int64_t root = forest->roots->at[index].i;
    if (root >= forest->node_count || root < -forest->leaf_count) {
      return tenon__work_fail(forest->work, "tree %lld begins at node %lld of %lld",
                              (long long)index, (long long)root, (long long)forest->node_count);
    }
  }
  for (int64_t index = 0; index < forest->leaf_count; ++index) {
    const tenon__number_t* leaf = forest->leaves->at + index * LEAF_FIELDS;
    if (!is_within(leaf[0].i, leaf[1].i, forest->weights->count)) {
      return tenon__work_fail(forest->work, "leaf %lld has weights past the %lld there are",
                              (long long)index, (long long)forest->weights->count);
    }
  }
  for (int64_t index = 0; index < forest->targets->count; ++index) {
    if (!is_within(forest->targets->at[index].i, 1, forest->target_count)) {
      return tenon__work_fail(forest->work, "weight %lld is for target %lld of %lld",
                              (long long)index, (long long)forest->targets->at[index].i,
                              (long long)forest->target_count);
    }
  }
  return TENON_OK;
}

static bool is_member(const forest_t* forest, const tenon__number_t* node, double value) {
  for (int64_t index = 0; index < node[6].i; ++index) {
    if (forest->members->at[node[5].i + index].f == value) {
      return true;
    }
  }
  return false;
}

static bool is_true(const forest_t* forest, int64_t index, double value) {
  const tenon__number_t* node = forest->nodes->at + index * NODE_FIELDS;
  const double threshold = forest->thresholds->at[index].f;
  switch (node[0].i) {
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
      return is_member(forest, node, value);
  }
}

/* The leaf that a row of x reaches from a root; -1 where the walk does not end. */
static int64_t leaf_of(const forest_t* forest, const tenon__number_t* row, int64_t root) {
  int64_t at = root;
  for (int64_t step = 0; at >= 0 && step < forest->node_count; ++step) {
    const tenon__number_t* node = forest->nodes->at + at * NODE_FIELDS;
    const double value = row[node[1].i].f;
    const bool goes_true = (isnan(value) && node[4].i != 0) || is_true(forest, at, value);
    at = node[goes_true ? 2 : 3].i;
  }
  return at < 0 ? -(at + 1) : -1;
}

typedef struct gathering_t {
  bool takes_min;
  bool takes_max;
  double divisor;
} gathering_t;

/* Adds what a leaf gives to the scores of its row. */
static void gather(const forest_t* forest, gathering_t how, int64_t leaf, tenon__number_t* scores,
                   tenon__number_t* is_scored) {
  const tenon__number_t* span = forest->leaves->at + leaf * LEAF_FIELDS;
  for (int64_t index = span[0].i; index < span[0].i + span[1].i; ++index) {
    const int64_t target = forest->targets->at[index].i;
    const double weight = forest->weights->at[index].f;
    double* score = &scores[target].f;
    const bool is_first = is_scored[target].i == 0;
    is_scored[target].i = 1;
    if (!how.takes_min && !how.takes_max) {
      *score += weight;
    } else if (is_first || (how.takes_min ? weight < *score : weight > *score)) {
      *score = weight;
    }
  }
}

/* For each target whether a leaf named it. */
int64_t tenon__scratch_tree_ensemble(const tenon__work_t* work) {
  return tenon__work_int(work, "target_count");
}

static tenon_status_t score_row(const forest_t* forest, gathering_t how, const tenon__number_t* row,
                                tenon__number_t* scores, tenon__number_t* is_scored) {
  for (int64_t target = 0; target < forest->target_count; ++target) {
    scores[target].f = 0.0;
    is_scored[target].i = 0;
  }
  for (int64_t tree = 0; tree < forest->roots->count; ++tree) {
    const int64_t leaf = leaf_of(forest, row, forest->roots->at[tree].i);
    if (leaf < 0) {
      return tenon__work_fail(forest->work, "tree %lld has a cycle", (long long)tree);
    }
    gather(forest, how, leaf, scores, is_scored);
  }
  for (int64_t target = 0; target < forest->target_count; ++target) {
    scores[target].f /= how.divisor;
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_tree_ensemble(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  const forest_t forest = forest_of(work, y->dims[1]);
  const bool averages = tenon__work_is(work, "aggregate", "average") && forest.roots->count > 0;
  const gathering_t how = {.takes_min = tenon__work_is(work, "aggregate", "min"),
                           .takes_max = tenon__work_is(work, "aggregate", "max"),
                           .divisor = averages ? (double)forest.roots->count : 1.0};
  tenon_status_t status = check_nodes(&forest);
  if (status == TENON_OK) {
    status = check_leaves(&forest);
  }
  for (int64_t row = 0; status == TENON_OK && row < x->dims[0]; ++row) {
    if (tenon__work_is_cancelled(work)) {
      return TENON_ERROR_CANCELLED;
    }
    status = score_row(&forest, how, x->at + row * forest.feature_count,
                       y->at + row * forest.target_count, work->scratch);
  }
  return status;
}
