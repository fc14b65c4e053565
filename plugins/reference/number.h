/*
 * Single elements of every data type as one number: floats as a double (every narrower float fits
 * exactly), integers and bool as an int64 (u64 by its bits), strings as the address of their view.
 * What a number is of, its dtype says, which the caller carries: nothing is tagged.
 */
#ifndef PLUGINS_REFERENCE_NUMBER_H_
#define PLUGINS_REFERENCE_NUMBER_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* f: class 'f'; i: classes 'b', 'i', 'u'; s: class 's', borrowed from whoever holds the view. */
typedef union tenon__number_t {
  double f;
  int64_t i;
  const tenon_string_view_t* s;
} tenon__number_t;

/* Class of TENON_DTYPES: b i u f c s; x for what is no type. */
int tenon__number_class(tenon_dtype_t dtype);
uint32_t tenon__number_bits(tenon_dtype_t dtype);
static inline bool tenon__number_is_float(tenon_dtype_t dtype) {
  return tenon__number_class(dtype) == 'f';
}

/* Element `index` counted from `data`, past `bit_offset` bits (types below a byte are packed
 * from the lowest bit). Any alignment. Complex numbers read as 0. */
tenon__number_t tenon__number_load(const void* data, uint32_t bit_offset, tenon_dtype_t dtype,
                                   int64_t index);
/* Stores a number of the same class: integers wrap, floats round to nearest with halves to even,
 * float8 and float4 saturate. A string's view is copied, its characters are not. */
void tenon__number_store(void* data, uint32_t bit_offset, tenon_dtype_t dtype, int64_t index,
                         tenon__number_t number);

/* A number of type `from` as one of type `to`, as CAST does: floats to integers truncate and
 * saturate, NaN is 0; integers wrap; bool is "not 0". Floats round to f32 where that is wider than
 * `to`. */
tenon__number_t tenon__number_cast(tenon__number_t number, tenon_dtype_t from, tenon_dtype_t to);
/* The nearest number that a program computes with in `dtype`: integers wrap, floats up to 32
 * bits round to f32. */
tenon__number_t tenon__number_wrap(tenon__number_t number, tenon_dtype_t dtype);

/* Of one type, unrounded: floats as doubles, integers modulo 2^64. The caller wraps, or the
 * store does. */
tenon__number_t tenon__number_add(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b);
tenon__number_t tenon__number_multiply(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b);
/* NaN if either is, the first of two. Of equals the first: min(-0, 0) is -0. */
tenon__number_t tenon__number_min(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b);
tenon__number_t tenon__number_max(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b);
/* -1, 0, 1; NaN is above all numbers; strings by their bytes. */
int tenon__number_compare(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b);
bool tenon__number_is_zero(tenon_dtype_t dtype, tenon__number_t number);
/* As a double, whatever its class (not strings); 64-bit integers round. */
double tenon__number_value(tenon_dtype_t dtype, tenon__number_t number);
/* The other way: truncates and saturates for integers, NaN is 0; a float is not rounded before
 * it is stored. */
tenon__number_t tenon__number_of(tenon_dtype_t dtype, double value);

/* Narrow floats (4 to 16 bits) by their bits; exact. Encoding rounds to nearest with halves to
 * even, from the double at once. Overflow: f16 and bf16 become infinite; the others their
 * largest number if `saturates`, else infinity or NaN. */
double tenon__narrow_decode(tenon_dtype_t dtype, uint32_t bits);
uint32_t tenon__narrow_encode(tenon_dtype_t dtype, double value, bool saturates);

#endif
