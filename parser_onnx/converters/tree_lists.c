/*
 * Trees as TreeEnsembleRegressor and TreeEnsembleClassifier write them: lists in step, where a node
 * is named by its tree and a number in it, leaves among them; and votes of leaves, in any order.
 * Names are looked up in a sorted index; leaves are numbered apart from the nodes that branch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trees.h"

enum { NAME_SIZE = 96 };

/* What a node of the file is called, and where it is in the lists. */
typedef struct name_t {
  int64_t tree;
  int64_t node;
  int64_t place;
} name_t;

typedef struct index_t {
  size_t count;
  name_t* names;   /* sorted by tree and node */
  int64_t* places; /* of each node of the lists as tree_ensemble has it */
} index_t;

static int compare_names(const void* left, const void* right) {
  const name_t* a = left;
  const name_t* b = right;
  if (a->tree != b->tree) {
    return a->tree < b->tree ? -1 : 1;
  }
  return (a->node > b->node) - (a->node < b->node);
}

const int64_t* tenon__onnx_need_ints(tenon_make_t* make, const char* name, size_t count) {
  const int64_t* values = NULL;
  size_t found = 0;
  (void)tenon_make_get_ints(make, name, &values, &found);
  if (found != count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%s has %zu entries, not %zu", name, found,
                    count);
    return NULL;
  }
  return values;
}

/* The attribute is read where it is: it is no value of the network. */
const double* tenon__onnx_get_tensor_numbers(tenon_make_t* make, const char* name,
                                             size_t* out_count) {
  tenon_tensor_view_t view = {0};
  const tenon_status_t status = make->table->get_tensor(make->source, name, &view);
  *out_count = 0;
  if (status != TENON_OK) {
    if (status != TENON_ERROR_NOT_FOUND) {
      tenon_make_fail(make, status, "attribute '%s' cannot be read", name);
    }
    return NULL;
  }
  size_t count = 1;
  for (uint32_t i = 0; i < view.rank; ++i) {
    count *= (size_t)view.dims[i];
  }
  double* numbers = tenon_make_memory(make, count + 1, sizeof(*numbers));
  for (size_t i = 0; numbers != NULL && i < count; ++i) {
    if (!tenon_make_read_number(view.dtype, view.data, i, &numbers[i])) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "attribute '%s' holds no numbers", name);
      return NULL;
    }
  }
  *out_count = numbers == NULL ? 0 : count;
  return numbers;
}

const double* tenon__onnx_get_numbers(tenon_make_t* make, const char* name, size_t* out_count) {
  char tensor_name[NAME_SIZE];
  const double* values = NULL;
  if (tenon_make_get_floats(make, name, &values, out_count)) {
    return values;
  }
  (void)snprintf(tensor_name, sizeof(tensor_name), "%s_as_tensor", name);
  return tenon__onnx_get_tensor_numbers(make, tensor_name, out_count);
}

/* Where in the lists node `node` of a tree is; fails where there is none. */
static size_t find(tenon_make_t* make, const index_t* index, int64_t tree, int64_t node) {
  const name_t key = {.tree = tree, .node = node};
  const name_t* found =
      bsearch(&key, index->names, index->count, sizeof(*index->names), compare_names);
  if (found == NULL) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "tree %lld has no node %lld", (long long)tree,
                    (long long)node);
    return 0;
  }
  return (size_t)found->place;
}

/* The mode's number in tree_ensemble; -1: a leaf. */
static int64_t mode_of(tenon_make_t* make, tenon_string_view_t text) {
  static const char* const names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                      "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  for (int64_t mode = 0; mode < 6; ++mode) {
    if (text.size == strlen(names[mode]) && memcmp(text.data, names[mode], text.size) == 0) {
      return mode;
    }
  }
  if (text.size != 4 || memcmp(text.data, "LEAF", 4) != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "nodes_modes has '%.*s'", (int)text.size,
                    text.data);
  }
  return -1;
}

/* Numbers branching nodes and leaves, and sorts all names. */
static index_t make_index(tenon_make_t* make, const int64_t* modes, size_t count,
                          tenon__onnx_forest_t* inout_forest) {
  index_t index = {.count = count};
  const int64_t* trees = tenon__onnx_need_ints(make, "nodes_treeids", count);
  const int64_t* nodes = tenon__onnx_need_ints(make, "nodes_nodeids", count);
  index.names = tenon_make_memory(make, count + 1, sizeof(*index.names));
  index.places = tenon_make_memory(make, count + 1, sizeof(*index.places));
  if (!tenon_make_ok(make)) {
    return index;
  }
  for (size_t i = 0; i < count; ++i) {
    index.names[i] = (name_t){trees[i], nodes[i], (int64_t)i};
    index.places[i] = modes[i] < 0 ? -(++inout_forest->leaf_count) : inout_forest->node_count++;
  }
  qsort(index.names, count, sizeof(*index.names), compare_names);
  for (size_t i = 1; i < count; ++i) {
    if (compare_names(&index.names[i - 1], &index.names[i]) == 0) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "tree %lld has node %lld twice",
                      (long long)index.names[i].tree, (long long)index.names[i].node);
    }
  }
  return index;
}

/* A tree begins with the first of its nodes in the lists. */
static void make_roots(tenon_make_t* make, const index_t* index, tenon__onnx_forest_t* forest) {
  int64_t* roots = tenon_make_memory(make, index->count + 1, sizeof(*roots));
  if (roots != NULL) {
    for (size_t i = 0; i < index->count;) {
      const int64_t tree = index->names[i].tree;
      int64_t first = index->names[i].place;
      for (; i < index->count && index->names[i].tree == tree; ++i) {
        first = index->names[i].place < first ? index->names[i].place : first;
      }
      roots[forest->root_count++] = index->places[first];
    }
  }
  forest->roots = roots;
}

static void make_nodes(tenon_make_t* make, const int64_t* modes, const index_t* index,
                       tenon__onnx_forest_t* forest) {
  const size_t count = index->count;
  size_t threshold_count = 0;
  const double* thresholds = tenon__onnx_get_numbers(make, "nodes_values", &threshold_count);
  const int64_t* trees = tenon__onnx_need_ints(make, "nodes_treeids", count);
  const int64_t* features = tenon__onnx_need_ints(make, "nodes_featureids", count);
  const int64_t* when_true = tenon__onnx_need_ints(make, "nodes_truenodeids", count);
  const int64_t* otherwise = tenon__onnx_need_ints(make, "nodes_falsenodeids", count);
  const int64_t* missing = NULL;
  size_t missing_count = 0;
  (void)tenon_make_get_ints(make, "nodes_missing_value_tracks_true", &missing, &missing_count);
  if (threshold_count != count || (missing_count != 0 && missing_count != count)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "nodes_values has %zu entries, nodes_missing_value_tracks_true %zu, of %zu",
                    threshold_count, missing_count, count);
  }
  const size_t branching = (size_t)forest->node_count;
  forest->nodes = tenon_make_memory(make, branching + 1, TENON__ONNX_TREE_FIELDS * sizeof(int64_t));
  forest->thresholds = tenon_make_memory(make, branching + 1, sizeof(double));
  for (size_t i = 0; tenon_make_ok(make) && i < count; ++i) {
    if (modes[i] >= 0) {
      int64_t* node = forest->nodes + index->places[i] * TENON__ONNX_TREE_FIELDS;
      node[0] = modes[i];
      node[1] = features[i];
      node[2] = index->places[find(make, index, trees[i], when_true[i])];
      node[3] = index->places[find(make, index, trees[i], otherwise[i])];
      node[4] = missing_count == 0 ? 0 : missing[i];
      forest->thresholds[index->places[i]] = thresholds[i];
    }
  }
}

/* Votes, "class_ids" and so on, in the order of their leaves. Nothing reaches those of nodes that
 * branch: they are left out. */
static void make_leaves(tenon_make_t* make, const char* votes, const index_t* index,
                        tenon__onnx_forest_t* forest) {
  char names[3][NAME_SIZE];
  static const char* const endings[3] = {"treeids", "nodeids", "ids"};
  const int64_t* lists[3] = {NULL, NULL, NULL};
  size_t count = 0;
  (void)snprintf(names[0], NAME_SIZE, "%s_weights", votes);
  const double* given = tenon__onnx_get_numbers(make, names[0], &count);
  for (int i = 0; i < 3; ++i) {
    (void)snprintf(names[i], NAME_SIZE, "%s_%s", votes, endings[i]);
    lists[i] = tenon__onnx_need_ints(make, names[i], count);
  }
  int64_t* places = tenon_make_memory(make, count + 1, sizeof(*places));
  int64_t* targets = tenon_make_memory(make, count + 1, sizeof(*targets));
  double* weights = tenon_make_memory(make, count + 1, sizeof(*weights));
  forest->leaves = tenon_make_memory(make, (size_t)forest->leaf_count + 1, 2 * sizeof(int64_t));
  if (!tenon_make_ok(make)) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    places[i] = index->places[find(make, index, lists[0][i], lists[1][i])];
    if (places[i] < 0) {
      ++forest->leaves[-(places[i] + 1) * 2 + 1];
    }
  }
  for (int64_t leaf = 0; leaf < forest->leaf_count; ++leaf) {
    forest->leaves[leaf * 2] = forest->weight_count;
    forest->weight_count += forest->leaves[leaf * 2 + 1];
    forest->leaves[leaf * 2 + 1] = 0;
  }
  for (size_t i = 0; i < count; ++i) {
    if (places[i] < 0) {
      int64_t* leaf = forest->leaves + -(places[i] + 1) * 2;
      const int64_t at = leaf[0] + leaf[1]++;
      targets[at] = lists[2][i];
      weights[at] = given[i];
    }
  }
  forest->targets = targets;
  forest->weights = weights;
}

tenon__onnx_forest_t tenon__onnx_forest_of_lists(tenon_make_t* make, const char* votes) {
  tenon__onnx_forest_t forest = {0};
  const tenon_string_view_t* texts = NULL;
  size_t count = 0;
  (void)make->table->get_strings(make->source, "nodes_modes", &texts, &count);
  int64_t* modes = tenon_make_memory(make, count + 1, sizeof(*modes));
  if (count == 0 || modes == NULL) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no nodes_modes");
    return forest;
  }
  for (size_t i = 0; i < count; ++i) {
    modes[i] = mode_of(make, texts[i]);
  }
  const index_t index = make_index(make, modes, count, &forest);
  if (tenon_make_ok(make)) {
    make_roots(make, &index, &forest);
    make_nodes(make, modes, &index, &forest);
    make_leaves(make, votes, &index, &forest);
  }
  return forest;
}
