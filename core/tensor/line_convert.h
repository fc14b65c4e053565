/*
 * Conversion of many floats from f32 to f16 and bf16, and back, for the trials of a build. Results
 * equal those of tenon__element_load and tenon__element_store.
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

/* Converts a line. Returns false and does nothing unless one side is f32 and the other f16 or
 * bf16. */
bool tenon__line_convert(tenon__line_t from, tenon__line_t to, int64_t count);
/* Rounds f32 to the nearest f16 or bf16 number, in place. Returns false for other types. */
bool tenon__line_round(float* data, tenon_dtype_t through, uint64_t count);

#endif
