/*
 * What of a slot's program cuBLASLt does itself: activation(scale * product + residual + bias), in
 * any order of the terms. The residual is its C, the bias is along our last axis, its rows; the
 * activation nothing, max(x, 0), or for narrow types GELU by tanh (cuBLASLt has no other).
 */
#ifndef PLUGINS_CUBLAS_EPILOGUE_H_
#define PLUGINS_CUBLAS_EPILOGUE_H_

#include <stdbool.h>

#include "tenon/plugin.h"

typedef enum tenon__cublas_activation_t {
  TENON_CUBLAS_NO_ACTIVATION = 0,
  TENON_CUBLAS_RELU = 1,
  TENON_CUBLAS_GELU = 2
} tenon__cublas_activation_t;

typedef struct tenon__cublas_epilogue_t {
  double scale;
  uint32_t bias;     /* a region input, or TENON_NONE */
  uint32_t residual; /* likewise */
  tenon__cublas_activation_t activation;
} tenon__cublas_epilogue_t;

/* False, with why, where the program is anything else. `program` may be NULL: an empty slot. All of
 * it must compute in `dtype`. */
bool tenon__cublas_epilogue_recognise(const tenon_program_t* program,
                                      const tenon_value_info_t* value, bool has_columns,
                                      tenon__cublas_epilogue_t* out_epilogue, const char** out_why);

#endif
