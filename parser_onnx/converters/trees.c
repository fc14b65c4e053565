/* Ensembles of trees: one operator walks them; base values, transforms and labels stand behind it.
 */
#include "trees.h"

#include <math.h>
#include <string.h>

/* Scores [n, targets] of x [n, features]. */
static tenon_value_t walk(tenon_make_t* make, tenon_value_t x, const tenon__onnx_forest_t* forest,
                          const char* aggregate, int64_t target_count) {
  if (!tenon_make_ok(make)) {
    return (tenon_value_t){0};
  }
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const int64_t node_dims[2] = {forest->node_count, TENON__ONNX_TREE_FIELDS};
  const int64_t leaf_dims[2] = {forest->leaf_count, 2};
  const tenon_value_t operands[] = {
      x,
      tenon_make_tensor(make, TENON_DTYPE_INT64, 2, node_dims, forest->nodes),
      tenon__onnx_floats(make, dtype, 1, &forest->node_count, forest->thresholds),
      tenon__onnx_floats(make, dtype, 1, &forest->member_count, forest->members),
      tenon_make_int64s(make, forest->roots, (size_t)forest->root_count),
      tenon_make_tensor(make, TENON_DTYPE_INT64, 2, leaf_dims, forest->leaves),
      tenon_make_int64s(make, forest->targets, (size_t)forest->weight_count),
      tenon__onnx_floats(make, dtype, 1, &forest->weight_count, forest->weights),
  };
  tenon_make_begin(make, "tree_ensemble");
  tenon_make_set_string(make, "aggregate", aggregate);
  tenon_make_set_int(make, "target_count", target_count);
  for (size_t i = 0; i < sizeof(operands) / sizeof(*operands); ++i) {
    tenon_make_add(make, operands[i]);
  }
  return tenon_make_end(make);
}

/* Base values, one for each score, where there are any. */
static tenon_value_t add_base(tenon_make_t* make, tenon_value_t scores, int64_t score_count) {
  size_t count = 0;
  const double* base = tenon__onnx_get_numbers(make, "base_values", &count);
  if (count == 0) {
    return scores;
  }
  if ((int64_t)count != score_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu base_values for %lld scores", count,
                    (long long)score_count);
    return scores;
  }
  const int64_t dims[1] = {score_count};
  const tenon_value_t values =
      tenon__onnx_floats(make, tenon_make_dtype(make, scores), 1, dims, base);
  return tenon_make_2(make, "add", scores, values);
}

static const char* aggregate_named(tenon_make_t* make) {
  static const char* const names[] = {"SUM", "sum", "AVERAGE", "average",
                                      "MIN", "min", "MAX",     "max"};
  const char* given = tenon_make_get_string(make, "aggregate_function", "SUM");
  for (int i = 0; i < 8; i += 2) {
    if (strcmp(given, names[i]) == 0) {
      return names[i + 1];
    }
  }
  tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                  "aggregate_function is '%s', not SUM, AVERAGE, MIN or MAX", given);
  return names[1];
}

static void tree_ensemble_regressor(tenon_make_t* make) {
  const int64_t count = tenon_make_get_int(make, "n_targets", 1);
  const tenon__onnx_forest_t forest = tenon__onnx_forest_of_lists(make, "target");
  tenon_value_t y = walk(make, tenon__onnx_samples(make), &forest, aggregate_named(make), count);
  y = add_base(make, y, count);
  y = tenon__onnx_post_transform(make, tenon__onnx_get_post_transform(make), y);
  tenon_make_output(make, 0, tenon_make_cast(make, y, TENON_DTYPE_FLOAT32));
}

/* Two classes of which leaves name one alone: its score says how likely the second is. It stands
 * for both, unless base values, one for each class, give the other one a score of its own. */
typedef struct one_score_t {
  bool is_one;
  bool is_first;    /* leaves name class 0 */
  bool is_positive; /* the score is a probability */
} one_score_t;

static one_score_t one_score(const tenon__onnx_forest_t* forest, int64_t class_count) {
  one_score_t found = {.is_one = class_count == 2 && forest->weight_count > 0, .is_positive = true};
  for (int64_t i = 0; i < forest->weight_count; ++i) {
    found.is_one = found.is_one && forest->targets[i] == forest->targets[0];
    found.is_positive = found.is_positive && forest->weights[i] >= 0;
  }
  found.is_first = found.is_one && forest->targets[0] == 0;
  return found;
}

static void tree_ensemble_classifier(tenon_make_t* make) {
  static const char integers[] = "classlabels_int64s";
  int64_t count = 0;
  (void)tenon__onnx_class_labels(make, integers, &count);
  const tenon__onnx_forest_t forest = tenon__onnx_forest_of_lists(make, "class");
  const tenon_value_t x = tenon__onnx_samples(make);
  const tenon__onnx_post_transform_t how = tenon__onnx_get_post_transform(make);
  const one_score_t one = one_score(&forest, count);
  const double limit = one.is_positive ? 0.5 : 0.0;
  size_t base_count = 0;
  (void)tenon__onnx_get_numbers(make, "base_values", &base_count);
  if (one.is_first && base_count != 2) {
    const tenon_value_t score = add_base(make, walk(make, x, &forest, "sum", 1), 1);
    const tenon_value_t both =
        tenon__onnx_two_scores(make, how, score, one.is_positive ? 1.0 : 0.0);
    tenon__onnx_classify(make, integers, score, limit, both);
    return;
  }
  const tenon_value_t scores = add_base(make, walk(make, x, &forest, "sum", count), count);
  const tenon_value_t results = tenon__onnx_post_transform(make, how, scores);
  const int64_t place = one.is_first ? 0 : 1;
  const tenon_value_t decisive =
      one.is_one ? tenon_make_slice(make, scores, 1, place, place + 1) : scores;
  tenon__onnx_classify(make, integers, decisive, limit, results);
}

/* A branch of TreeEnsemble: a node, or a leaf by a flag. */
static int64_t branch(tenon_make_t* make, const int64_t* ids, const int64_t* is_leaf, size_t i) {
  if (ids[i] < 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "node %zu leads to %lld", i, (long long)ids[i]);
  }
  return is_leaf[i] != 0 ? -1 - ids[i] : ids[i];
}

/* Sets of members stand in the order of the nodes that ask for them, with a NaN behind each. */
static void share_members(tenon_make_t* make, tenon__onnx_forest_t* forest) {
  size_t count = 0;
  size_t at = 0;
  forest->members = tenon__onnx_get_tensor_numbers(make, "membership_values", &count);
  forest->member_count = (int64_t)count;
  for (int64_t i = 0; i < forest->node_count; ++i) {
    int64_t* node = forest->nodes + i * TENON__ONNX_TREE_FIELDS;
    if (node[0] == 6) {
      if (at >= count) {
        tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                        "membership_values has fewer sets than nodes ask for");
        return;
      }
      node[5] = (int64_t)at;
      while (at < count && !isnan(forest->members[at])) {
        ++at;
      }
      node[6] = (int64_t)at - node[5];
      ++at;
    }
  }
}

static void read_nodes(tenon_make_t* make, tenon__onnx_forest_t* forest) {
  size_t count = 0;
  size_t split_count = 0;
  const double* modes = tenon__onnx_get_tensor_numbers(make, "nodes_modes", &count);
  const double* splits = tenon__onnx_get_tensor_numbers(make, "nodes_splits", &split_count);
  const int64_t* features = tenon__onnx_need_ints(make, "nodes_featureids", count);
  const int64_t* true_ids = tenon__onnx_need_ints(make, "nodes_truenodeids", count);
  const int64_t* true_leaves = tenon__onnx_need_ints(make, "nodes_trueleafs", count);
  const int64_t* false_ids = tenon__onnx_need_ints(make, "nodes_falsenodeids", count);
  const int64_t* false_leaves = tenon__onnx_need_ints(make, "nodes_falseleafs", count);
  const bool tracks = tenon_make_has(make, "nodes_missing_value_tracks_true");
  const int64_t* missing =
      tracks ? tenon__onnx_need_ints(make, "nodes_missing_value_tracks_true", count) : NULL;
  if (split_count != count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu nodes_splits for %zu nodes", split_count,
                    count);
  }
  forest->nodes = tenon_make_memory(make, count + 1, TENON__ONNX_TREE_FIELDS * sizeof(int64_t));
  forest->thresholds = tenon_make_memory(make, count + 1, sizeof(double));
  for (size_t i = 0; tenon_make_ok(make) && i < count; ++i) {
    int64_t* node = forest->nodes + i * TENON__ONNX_TREE_FIELDS;
    node[0] = tenon_make_to_int64(modes[i]);
    node[1] = features[i];
    node[2] = branch(make, true_ids, true_leaves, i);
    node[3] = branch(make, false_ids, false_leaves, i);
    node[4] = missing == NULL ? 0 : missing[i];
    forest->thresholds[i] = splits[i];
  }
  forest->node_count = (int64_t)count;
}

/* Each leaf votes once. */
static void read_leaves(tenon_make_t* make, tenon__onnx_forest_t* forest) {
  size_t count = 0;
  size_t root_count = 0;
  forest->weights = tenon__onnx_get_tensor_numbers(make, "leaf_weights", &count);
  forest->targets = tenon__onnx_need_ints(make, "leaf_targetids", count);
  (void)tenon_make_get_ints(make, "tree_roots", &forest->roots, &root_count);
  forest->leaves = tenon_make_memory(make, count + 1, 2 * sizeof(int64_t));
  for (size_t i = 0; tenon_make_ok(make) && i < count; ++i) {
    forest->leaves[i * 2] = (int64_t)i;
    forest->leaves[i * 2 + 1] = 1;
  }
  forest->root_count = (int64_t)root_count;
  forest->leaf_count = (int64_t)count;
  forest->weight_count = (int64_t)count;
}

static void tree_ensemble(tenon_make_t* make) {
  static const char* const aggregates[] = {"average", "sum", "min", "max"};
  const int64_t aggregate = tenon_make_get_int(make, "aggregate_function", 1);
  const int64_t how = tenon_make_get_int(make, "post_transform", 0);
  tenon__onnx_forest_t forest = {0};
  if (aggregate < 0 || aggregate > 3 || how < 0 || how > TENON__ONNX_POST_PROBIT) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "aggregate_function is %lld, of 0 to 3; post_transform is %lld, of 0 to 4",
                    (long long)aggregate, (long long)how);
    return;
  }
  read_nodes(make, &forest);
  read_leaves(make, &forest);
  if (tenon_make_ok(make)) {
    share_members(make, &forest);
  }
  const tenon_value_t scores = walk(make, tenon__onnx_samples(make), &forest, aggregates[aggregate],
                                    tenon_make_get_int(make, "n_targets", 1));
  tenon_make_output(make, 0,
                    tenon__onnx_post_transform(make, (tenon__onnx_post_transform_t)how, scores));
}

#define MADE(type, since, function) \
  TENON__ONNX_ROW("ai.onnx.ml", type, since, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("TreeEnsemble", 5, tree_ensemble),
    MADE("TreeEnsembleClassifier", 1, tree_ensemble_classifier),
    MADE("TreeEnsembleRegressor", 1, tree_ensemble_regressor),
};
TENON__ONNX_FAMILY(trees);
