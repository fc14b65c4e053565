/*
 * NumPy's .npy files, versions 1 to 3 (NEP 1). Every plain element type, either byte order, C and
 * Fortran order; text and byte strings become strings. Pickled objects are refused.
 */
#ifndef TOOL_DATA_NPY_H_
#define TOOL_DATA_NPY_H_

#include "data/value.h"

bool tool_npy_is_one(const uint8_t* data, size_t size);
/* `name` is for messages. */
tenon_status_t tool_npy_parse(const char* name, const uint8_t* data, size_t size,
                              tool_value_t* out_value);
/* What NumPy has no type for is written as the next larger one that it has: bf16, f8 and f4 as
 * float32, i4 and i2 as int8, u4 and u2 as uint8. Sequences and optionals: one file an item,
 * FILE_0.npy and so on. */
tenon_status_t tool_npy_write(const char* path, const tool_value_t* value);

#endif
