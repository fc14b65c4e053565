/*
 * Many floats at once from f32 to f16 and bf16, and back: what the trials of a build convert by the
 * million. The same numbers as tenon__element_load and tenon__element_store give, one by one.
 */
#ifndef TENON_CORE_TENSOR_LINE_CONVERT_H_
#define TENON_CORE_TENSOR_LINE_CONVERT_H_

#include <stdbool.h>
#include <stdint.h>

#include "tenon/plugin.h"

/* One line: its elements are `step` bytes apart. */
typedef struct tenon__line_t {
  void* data;
  tenon_dtype_t dtype;
  int64_t step;
} tenon__line_t;

/* False, and nothing is done: other types than f32 on one side and f16 or bf16 on the other. */
bool tenon__line_convert(tenon__line_t from, tenon__line_t to, int64_t count);
/* f32 to the nearest number of f16 or bf16, in place. False for any other type. */
bool tenon__line_round(float* data, tenon_dtype_t through, uint64_t count);

#endif
