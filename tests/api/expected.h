/* Tensors by name: "convolution.x" goes in, "convolution.y" must come out. */
#ifndef TENON_TESTS_API_EXPECTED_H_
#define TENON_TESTS_API_EXPECTED_H_

#include "tenon/plugin.h"

typedef struct sample_t {
  const char* name;
  tenon_dtype_t dtype;
  uint32_t rank;
  int64_t dims[6];
  const void* data; /* dense row-major */
} sample_t;

/* NULL when there is none of that name. */
const sample_t* expected_get(const char* name);

#endif
