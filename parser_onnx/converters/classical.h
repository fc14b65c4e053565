/* What the converters of classical machine learning share: lists as constants, labels, and what
 * becomes of scores. */
#ifndef TENON_PARSER_ONNX_CONVERTERS_CLASSICAL_H_
#define TENON_PARSER_ONNX_CONVERTERS_CLASSICAL_H_

#include "families.h"

/* A list attribute as a vector of its element type; absent (id 0) when the node lacks it. */
tenon_value_t tenon__onnx_ints_vector(tenon_make_t* make, const char* name);
tenon_value_t tenon__onnx_floats_vector(tenon_make_t* make, const char* name);
tenon_value_t tenon__onnx_strings_vector(tenon_make_t* make, const char* name);
/* A tensor attribute, likewise. */
tenon_value_t tenon__onnx_tensor_of(tenon_make_t* make, const char* name);
/* Numbers as a constant of these extents, of a float type. */
tenon_value_t tenon__onnx_floats(tenon_make_t* make, tenon_dtype_t dtype, uint32_t rank,
                                 const int64_t* dims, const double* values);

/* Input 0 with a row for each sample: a vector is one sample; what is no float becomes f32. */
tenon_value_t tenon__onnx_samples(tenon_make_t* make);

/* Entries of a vector at `places`. Strings are not gathered at places that the run finds, they are
 * chosen: entry by entry, of a vector whose extent is known. */
tenon_value_t tenon__onnx_pick(tenon_make_t* make, tenon_value_t vector, tenon_value_t places);

/* How scores become results. */
typedef enum tenon__onnx_post_transform_t {
  TENON__ONNX_POST_NONE,
  TENON__ONNX_POST_SOFTMAX,
  TENON__ONNX_POST_LOGISTIC,
  TENON__ONNX_POST_SOFTMAX_ZERO,
  TENON__ONNX_POST_PROBIT,
} tenon__onnx_post_transform_t;
/* Of attribute "post_transform", a name (the default: NONE). */
tenon__onnx_post_transform_t tenon__onnx_get_post_transform(tenon_make_t* make);
/* Of scores [n, count]. One score alone is a row of one only for PROBIT: the others leave it as it
 * is, as ONNX Runtime does. */
tenon_value_t tenon__onnx_post_transform(tenon_make_t* make, tenon__onnx_post_transform_t how,
                                         tenon_value_t scores);
/* Scores [n, 1] for the second of two classes as results [n, 2]: their complement to `whole` (1 or
 * 0) stands for the first. */
tenon_value_t tenon__onnx_two_scores(tenon_make_t* make, tenon__onnx_post_transform_t how,
                                     tenon_value_t scores, double whole);

/* The class labels, a vector of strings or of integers, and their number. */
tenon_value_t tenon__onnx_class_labels(tenon_make_t* make, const char* integers,
                                       int64_t* out_count);
/* Sets output 0, the label of the greatest score, or (one score, labels two) of whether it is above
 * the limit; and output 1, `results` as f32. */
void tenon__onnx_classify(tenon_make_t* make, const char* integers, tenon_value_t scores,
                          double limit, tenon_value_t results);

#endif
