/* Data types: sizes, names, classes, conversion of single elements. */
#ifndef TENON_CORE_TENSOR_DTYPE_H_
#define TENON_CORE_TENSOR_DTYPE_H_

#include <stdbool.h>

#include "tenon/plugin.h"

uint32_t tenon__dtype_bits(tenon_dtype_t dtype);        /* 0 for an invalid type */
const char* tenon__dtype_name(tenon_dtype_t dtype);     /* mnemonic, "undefined" if unknown */
char tenon__dtype_class(tenon_dtype_t dtype);           /* 'b' 'i' 'u' 'f' 'c' 's' or 'x' */
tenon_dtype_t tenon__dtype_from_name(const char* name); /* UNDEFINED if unknown */
/* Returns the type in which expressions compute: f32 for floats of lower precision, the byte type
 * for packed integers (i4 -> i8, u2 -> u8, ...), else the type itself. */
tenon_dtype_t tenon__dtype_arithmetic(tenon_dtype_t dtype);
/* Returns 1 if `dtype` is in a list such as "f32 f64 int", else 0. Classes: float int uint signed
 * numeric any. Returns -1 if the list has an unknown word. */
int tenon__dtype_allowed(const char* list, tenon_dtype_t dtype);
/* Bits of the fraction and of the exponent of a float, or of a complex number's parts; zeros for
 * other types. */
typedef struct tenon__float_form_t {
  uint32_t mantissa_bits;
  uint32_t exponent_bits;
  bool is_float;
} tenon__float_form_t;
tenon__float_form_t tenon__dtype_float_form(tenon_dtype_t dtype);
/* Computes the bytes of `count` elements, rounded up for packed types. Returns false on
 * overflow. */
bool tenon__dtype_bytes(tenon_dtype_t dtype, uint64_t count, size_t* out_bytes);

/* One scalar of any arithmetic type: f for floats, i for integers and bool (u64 by its bits). */
typedef union tenon__scalar_t {
  double f;
  int64_t i;
} tenon__scalar_t;

/* Returns element `index` of a contiguous array. Floats are converted exactly, packed integers
 * sign-extended. */
tenon__scalar_t tenon__element_load(const void* data, tenon_dtype_t dtype, uint64_t index);
/* Stores a scalar of arithmetic type `from`, converted as by CAST (truncate, saturate, NaN to 0,
 * round to nearest even for floats of lower precision). */
void tenon__element_store(void* data, tenon_dtype_t dtype, uint64_t index, tenon__scalar_t value,
                          tenon_dtype_t from);
/* Rounds `count` floats in place to values of the lower-precision type `through`. */
void tenon__elements_round(void* data, tenon_dtype_t dtype, tenon_dtype_t through, uint64_t count);
/* CAST between arithmetic types. */
tenon__scalar_t tenon__scalar_cast(tenon__scalar_t value, tenon_dtype_t from, tenon_dtype_t to);

#endif
