/* Data types and single elements: names, sizes, reading any type as a number and writing it. */
#ifndef TOOL_DATA_ELEMENT_H_
#define TOOL_DATA_ELEMENT_H_

#include <stdbool.h>

#include "tenon/tenon.h"

/* "f32"; "unknown" past the end. */
const char* tool_dtype_name(tenon_dtype_t dtype);
/* Of one element as it lies in a tensor: 4 for i4. 0 past the end. */
uint32_t tool_dtype_bits(tenon_dtype_t dtype);
/* 'b' bool, 'i', 'u', 'f', 'c' complex, 's' string, 'x' undefined. */
char tool_dtype_class(tenon_dtype_t dtype);

/* Product of extents; false when one is negative or the product, as elements or as bytes, does not
 * fit 62 bits. */
bool tool_element_count(uint32_t rank, const int64_t* dims, tenon_dtype_t dtype,
                        uint64_t* out_count, uint64_t* out_bytes);

/* Element `index` of dense data as a number; complex: its real part (imaginary: `part` 1). Strings
 * have none. */
double tool_element_get(tenon_dtype_t dtype, const void* data, uint64_t index, uint32_t part);
/* The nearest value of the type: floats round to even and overflow to infinity where the type has
 * one, integers round and saturate, NaN becomes 0 there. */
void tool_element_set(tenon_dtype_t dtype, void* data, uint64_t index, double value);

#endif
