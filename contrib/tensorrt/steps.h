/* Steps that converters of several families take. */
#ifndef TENSORRT_STEPS_H_
#define TENSORRT_STEPS_H_

#include "tenon/maker.h"

/* The largest count in attributes. Products of two of them fit 64 bits. */
enum { TENSORRT_COUNT_MAX = 1 << 24 };

static inline tenon_value_t tensorrt_absent(void) {
  return (tenon_value_t){0};
}

/* ---- Attributes. A list of one number stands for the number. ---- */

/* Numbers from `low` to `high`. Others are refused. */
int64_t tensorrt_int(tenon_make_t* make, const char* name, int64_t otherwise, int64_t low,
                     int64_t high);
double tensorrt_float(tenon_make_t* make, const char* name, double otherwise, double low,
                      double high);
bool tensorrt_flag(tenon_make_t* make, const char* name, bool otherwise);
/* Lists of `low` to `high` numbers, all finite, from `least` on. Refuses others, also absent ones.
 * Integers may stand for floats. A number stands for a list of one. */
const double* tensorrt_floats(tenon_make_t* make, const char* name, size_t low, size_t high,
                              double least, size_t* out_count);
/* The same with integers from `least` to TENSORRT_COUNT_MAX. */
const int64_t* tensorrt_ints(tenon_make_t* make, const char* name, size_t low, size_t high,
                             int64_t least, size_t* out_count);
/* A list of floats, or a tensor of floats, as an f32 constant of rank 1. Refuses the node unless it
 * has `low` to `high` numbers. */
tenon_value_t tensorrt_weights(tenon_make_t* make, const char* name, size_t low, size_t high,
                               size_t* out_count);
/* Refuses the node if it lacks the attribute. */
void tensorrt_require(tenon_make_t* make, const char* name);
/* Refuses an attribute: prints its name, value and the reason. */
void tensorrt_refuse(tenon_make_t* make, const char* name, const char* reason);

/* ---- Inputs ---- */

/* Refuses the node unless input `index` is present and has `rank` axes. `form` describes them. */
tenon_value_t tensorrt_input(tenon_make_t* make, uint32_t index, const char* name, uint32_t rank,
                             const char* form);
/* The extent of an axis. Refuses one that varies. */
int64_t tensorrt_known(tenon_make_t* make, tenon_value_t value, uint32_t axis, const char* name);

/* ---- Values ---- */

/* Expressions of three and four values. */
tenon_value_t tensorrt_math_3(tenon_make_t* make, const char* text, tenon_value_t a,
                              tenon_value_t b, tenon_value_t c);
tenon_value_t tensorrt_math_4(tenon_make_t* make, const char* text, tenon_value_t a,
                              tenon_value_t b, tenon_value_t c, tenon_value_t d);
/* f32 constants of rank 1. */
tenon_value_t tensorrt_numbers(tenon_make_t* make, const double* values, size_t count);
/* Inserts an axis of extent 1. */
tenon_value_t tensorrt_axis(tenon_make_t* make, tenon_value_t value, int64_t axis);
/* 0, 1, ... below the extent of an axis, as i64 of rank 1. */
tenon_value_t tensorrt_counted(tenon_make_t* make, tenon_value_t value, int64_t axis);
/* The value in f32. Other float types are converted. */
tenon_value_t tensorrt_wide(tenon_make_t* make, tenon_value_t value);
/* Sets an output to the value in the type of `like`. */
void tensorrt_output_like(tenon_make_t* make, uint32_t index, tenon_value_t value,
                          tenon_value_t like);
/* Joins the corners of boxes in the last axis: low and high have two numbers each. */
tenon_value_t tensorrt_corners(tenon_make_t* make, tenon_value_t low, tenon_value_t high);

#endif
