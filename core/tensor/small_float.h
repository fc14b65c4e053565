/* Floats of 4 to 16 bits: exact decoding, and encoding to nearest with ties to even. */
#ifndef TENON_CORE_TENSOR_SMALL_FLOAT_H_
#define TENON_CORE_TENSOR_SMALL_FLOAT_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Decodes f16, bf16, and the f8 and f4 types. */
double tenon__small_float_decode(tenon_dtype_t dtype, uint32_t bits);
/* f16 and bf16 overflow to infinity. The f8 types and f4e2m1 saturate at their largest number, also
 * for infinities. NaN becomes +0 in f4e2m1, which has no NaN. Negative numbers become NaN in
 * f8e8m0, which has no sign; 0 becomes its smallest number. */
uint32_t tenon__small_float_encode(tenon_dtype_t dtype, double value);
/* Returns the largest finite number of any float type, including f32 and f64. */
double tenon__float_highest(tenon_dtype_t dtype);

#endif
