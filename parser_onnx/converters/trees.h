/*
 * Ensembles of trees as the operator tree_ensemble takes them (plugins/standard/trees.c), and how
 * node lists with names become one. ONNX has two forms: before ai.onnx.ml 5 lists in step, where
 * nodes and leaves are named by tree and number (tree_lists.c); since then TreeEnsemble, whose
 * lists refer to each other by index (trees.c).
 */
#ifndef TENON_PARSER_ONNX_CONVERTERS_TREES_H_
#define TENON_PARSER_ONNX_CONVERTERS_TREES_H_

#include "classical.h"

/* Numbers of one node in `nodes`. */
enum { TENON__ONNX_TREE_FIELDS = 7 };

/* Nodes that branch and leaves are numbered apart, over all trees. A place is a node's index, or
 * -(index + 1) of a leaf: so a tree that is one leaf has a negative root. Lists live until the
 * converter returns; those of no entries may be NULL. */
typedef struct tenon__onnx_forest_t {
  int64_t node_count;
  /* [node_count][7]: mode (0 <=, 1 <, 2 >=, 3 >, 4 ==, 5 !=, 6 member of a set), feature, place
   * when the comparison of x[feature] with the threshold is true, place otherwise, whether NaN
   * goes the true way, first and number of its members. */
  int64_t* nodes;
  double* thresholds;
  int64_t member_count;
  const double* members;
  int64_t root_count;
  const int64_t* roots;
  int64_t leaf_count;
  /* [leaf_count][2]: the first of its weights, and their number, 0 for a leaf that gives
   * nothing. */
  int64_t* leaves;
  int64_t weight_count;
  /* [weight_count], in step with `weights`: to which score a weight is added. */
  const int64_t* targets;
  const double* weights;
} tenon__onnx_forest_t;

/* A list attribute; INVALID_DATA when it has another number of entries than `count`. NULL for no
 * entries at all. */
const int64_t* tenon__onnx_need_ints(tenon_make_t* make, const char* name, size_t count);
/* Numbers of a list attribute or, with "_as_tensor" behind its name, of a tensor (the form for
 * f64); NULL, and a count of 0, when it has neither. */
const double* tenon__onnx_get_numbers(tenon_make_t* make, const char* name, size_t* out_count);
/* Numbers of a tensor attribute, of any type that holds numbers, widened; NULL and 0 when it is
 * absent. */
const double* tenon__onnx_get_tensor_numbers(tenon_make_t* make, const char* name,
                                             size_t* out_count);

/* Of TreeEnsembleRegressor ("target") and TreeEnsembleClassifier ("class"): nodes named by a
 * tree and a number in it, and votes for them in any order (`votes`_treeids, _nodeids, _ids,
 * _weights). A tree begins with its first node in the lists. Votes of nodes that branch are left
 * out: nothing reaches them. INVALID_DATA for names that are twice there or nowhere, and for
 * lists that are not in step. */
tenon__onnx_forest_t tenon__onnx_forest_of_lists(tenon_make_t* make, const char* votes);

#endif
