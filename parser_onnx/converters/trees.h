/* Ensembles of trees as tree_ensemble takes them, and how node lists with names become one. */
#ifndef TENON_PARSER_ONNX_CONVERTERS_TREES_H_
#define TENON_PARSER_ONNX_CONVERTERS_TREES_H_

#include "classical.h"

enum { TENON__ONNX_TREE_FIELDS = 7 };

/* Places below 0 are leaf -(index + 1). Lists live until the converter returns. */
typedef struct tenon__onnx_forest_t {
  int64_t node_count;
  int64_t* nodes; /* mode, feature, when true, otherwise, missing goes true, members */
  double* thresholds;
  int64_t member_count;
  const double* members;
  int64_t root_count;
  const int64_t* roots;
  int64_t leaf_count;
  int64_t* leaves; /* first of the weights, and their number */
  int64_t weight_count;
  const int64_t* targets;
  const double* weights;
} tenon__onnx_forest_t;

/* A list attribute; fails when it has another number of entries. NULL for no entries at all. */
const int64_t* tenon__onnx_need_ints(tenon_make_t* make, const char* name, size_t count);
/* Numbers of a list attribute or, with "_as_tensor" behind its name, of a tensor; NULL, and a count
 * of 0, when it has neither. */
const double* tenon__onnx_get_numbers(tenon_make_t* make, const char* name, size_t* out_count);
/* Numbers of a tensor attribute. */
const double* tenon__onnx_get_tensor_numbers(tenon_make_t* make, const char* name,
                                             size_t* out_count);

/* Of TreeEnsembleRegressor ("target") and TreeEnsembleClassifier ("class"): nodes named by a tree
 * and a number in it, and votes for them. */
tenon__onnx_forest_t tenon__onnx_forest_of_lists(tenon_make_t* make, const char* votes);

#endif
