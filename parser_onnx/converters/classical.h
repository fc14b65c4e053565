/*
 * What the converters of classical machine learning share (domain "ai.onnx.ml"): lists as
 * constants, labels, and what becomes of scores. Everything here follows tenon/maker.h: after a
 * failure a call does nothing and returns id 0, so that a converter asks once, at its end. Where
 * the specification is silent it does as ONNX Runtime does; README.md says where the two part.
 */
#ifndef TENON_PARSER_ONNX_CONVERTERS_CLASSICAL_H_
#define TENON_PARSER_ONNX_CONVERTERS_CLASSICAL_H_

#include "families.h"

/* A list attribute as a vector of its element type (i64, f32, strings); absent (id 0) when the
 * node lacks it. */
tenon_value_t tenon__onnx_ints_vector(tenon_make_t* make, const char* name);
tenon_value_t tenon__onnx_floats_vector(tenon_make_t* make, const char* name);
tenon_value_t tenon__onnx_strings_vector(tenon_make_t* make, const char* name);
/* A tensor attribute, likewise, of its own type and shape. One that cannot be read fails. */
tenon_value_t tenon__onnx_tensor_of(tenon_make_t* make, const char* name);
/* Numbers as a constant of these extents, of a float type, each rounded once. `values` may be
 * NULL when an extent is 0. */
tenon_value_t tenon__onnx_floats(tenon_make_t* make, tenon_dtype_t dtype, uint32_t rank,
                                 const int64_t* dims, const double* values);

/* Input 0 as [samples, features]: a vector is one sample; what is no float becomes f32, f64
 * stays. */
tenon_value_t tenon__onnx_samples(tenon_make_t* make);

/* Entries of a vector at `places` (integers of any shape, each within the vector). Strings are
 * not gathered at places that the run finds, they are chosen: entry by entry, a comparison and a
 * select each, of a vector whose extent is known and not 0. */
tenon_value_t tenon__onnx_pick(tenon_make_t* make, tenon_value_t vector, tenon_value_t places);

/* How scores become results, in the order of their names: "NONE", "SOFTMAX", "LOGISTIC",
 * "SOFTMAX_ZERO" (a softmax whose sum leaves out scores of magnitude up to 1e-7), "PROBIT" (the
 * quantile of the normal distribution). */
typedef enum tenon__onnx_post_transform_t {
  TENON__ONNX_POST_NONE,
  TENON__ONNX_POST_SOFTMAX,
  TENON__ONNX_POST_LOGISTIC,
  TENON__ONNX_POST_SOFTMAX_ZERO,
  TENON__ONNX_POST_PROBIT,
} tenon__onnx_post_transform_t;
/* Of attribute "post_transform" (default NONE); another name is INVALID_DATA. */
tenon__onnx_post_transform_t tenon__onnx_get_post_transform(tenon_make_t* make);
/* Of scores [n, count], where count may be open. One score alone is a row of one only for
 * PROBIT: the others leave it as it is, as ONNX Runtime does. */
tenon_value_t tenon__onnx_post_transform(tenon_make_t* make, tenon__onnx_post_transform_t how,
                                         tenon_value_t scores);
/* Scores [n, 1] for the second of two classes as results [n, 2]: for the first stands `whole` -
 * score (1 for probabilities, 0 for scores of any sign), or with LOGISTIC the sigmoids of -score
 * and score. SOFTMAX does nothing here. PROBIT is UNSUPPORTED. */
tenon_value_t tenon__onnx_two_scores(tenon_make_t* make, tenon__onnx_post_transform_t how,
                                     tenon_value_t scores, double whole);

/* The class labels, a vector: attribute "classlabels_strings", else the integers' attribute of
 * that name; INVALID_DATA without either. *out_count is their number. */
tenon_value_t tenon__onnx_class_labels(tenon_make_t* make, const char* integers,
                                       int64_t* out_count);
/* Sets output 0, a label for each row: of the greatest score, the first of equals; or, with
 * scores [n, 1] and labels two, of the second class where the score is above `limit`. Sets
 * output 1, if it is wanted, to `results` as f32. */
void tenon__onnx_classify(tenon_make_t* make, const char* integers, tenon_value_t scores,
                          double limit, tenon_value_t results);

#endif
