/* Floats of 4 to 16 bits: exact widening, narrowing to nearest with halves to even. */
#ifndef TENON_CORE_TENSOR_SMALL_FLOAT_H_
#define TENON_CORE_TENSOR_SMALL_FLOAT_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Of f16, bf16, the f8 and f4 types. */
double tenon__small_float_decode(tenon_dtype_t dtype, uint32_t bits);
/* f16 and bf16 overflow to infinity. The f8 types and f4e2m1 saturate at their largest number,
 * infinities too; what cannot hold NaN holds +0 (f4e2m1), what cannot hold a sign holds NaN for
 * negatives (f8e8m0, whose smallest number stands for 0). */
uint32_t tenon__small_float_encode(tenon_dtype_t dtype, double value);
/* The largest finite number of any float type, f32 and f64 included. */
double tenon__float_highest(tenon_dtype_t dtype);

#endif
