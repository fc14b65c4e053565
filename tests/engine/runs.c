/* Running the small networks, and keeping what they give. */
#include <stdlib.h>
#include <string.h>

#include "tests/engine/networks.h"

void test_result_free(test_result_t* result) {
  free(result->data);
  *result = (test_result_t){0};
}

/* The C library's memory: what a test keeps is no part of what it tests. */
static bool keep(test_result_t* result, const void* data, size_t size) {
  if (result->size + size > result->capacity) {
    const size_t capacity = 2 * (result->size + size);
    unsigned char* grown = realloc(result->data, capacity);
    if (grown == NULL) {
      return false;
    }
    result->data = grown;
    result->capacity = capacity;
  }
  if (size > 0) {
    memcpy(result->data + result->size, data, size);
    result->size += size;
  }
  return true;
}

/* 0: not for the networks here. */
static size_t element_size(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT64:
    case TENON_DTYPE_INT64:
    case TENON_DTYPE_UINT64:
      return 8;
    case TENON_DTYPE_FLOAT32:
    case TENON_DTYPE_INT32:
    case TENON_DTYPE_UINT32:
      return 4;
    case TENON_DTYPE_FLOAT16:
    case TENON_DTYPE_BFLOAT16:
    case TENON_DTYPE_INT16:
    case TENON_DTYPE_UINT16:
      return 2;
    case TENON_DTYPE_BOOL:
    case TENON_DTYPE_INT8:
    case TENON_DTYPE_UINT8:
      return 1;
    default:
      return 0;
  }
}

static void fill(void* data, tenon_dtype_t dtype, size_t count, uint32_t seed) {
  uint32_t number = seed * 2654435761U + 12345U;
  for (size_t k = 0; k < count; ++k) {
    number = number * 1664525U + 1013904223U;
    if (dtype == TENON_DTYPE_FLOAT32) {
      ((float*)data)[k] = (float)((int)(number >> 16) % 256 - 128) / 64.0F;
    } else if (dtype == TENON_DTYPE_INT64) {
      ((int64_t*)data)[k] = (int64_t)(seed % 6);
    } else {
      ((bool*)data)[k] = seed % 2 == 1;
    }
  }
}

enum { INPUT_BYTES = 1 << 14, MOST_INPUTS = 2 };

static tenon_status_t set_input(tenon_engine_t* engine, tenon_context_t* context, uint32_t index,
                                int64_t extent, uint32_t seed, void* memory) {
  tenon_io_info_t info = {.size = sizeof(info)};
  int64_t dims[8];
  size_t count = 1;
  TEST_TRY(tenon_engine_get_input(engine, index, &info));
  for (uint32_t k = 0; k < info.rank && k < 8; ++k) {
    dims[k] = info.dims[k] < 0 ? extent : info.dims[k];
    count *= (size_t)dims[k];
  }
  if (count * element_size(info.dtype) > INPUT_BYTES) {
    return TENON_ERROR_INTERNAL;
  }
  fill(memory, info.dtype, count, seed + index);
  const tenon_tensor_view_t view = {
      .data = memory, .dims = dims, .rank = info.rank, .dtype = info.dtype, .layout = TENON_NONE};
  return tenon_context_set_input(context, index, &view);
}

static tenon_status_t set_inputs(tenon_engine_t* engine, tenon_context_t* context, int64_t extent,
                                 uint32_t seed, unsigned char memory[MOST_INPUTS][INPUT_BYTES]) {
  const uint32_t count = tenon_engine_input_count(engine);
  for (uint32_t k = 0; k < count && k < MOST_INPUTS; ++k) {
    TEST_TRY(set_input(engine, context, k, extent, seed, memory[k]));
  }
  return TENON_OK;
}

static bool keep_elements(test_result_t* result, const tenon_tensor_view_t* view, size_t count) {
  bool good = true;
  if (view->dtype != TENON_DTYPE_STRING) {
    return keep(result, view->data, count * element_size(view->dtype));
  }
  const tenon_string_view_t* strings = view->data;
  for (size_t k = 0; k < count && good; ++k) {
    good = keep(result, &strings[k].size, sizeof(strings[k].size)) &&
           keep(result, strings[k].data, strings[k].size);
  }
  return good;
}

static tenon_status_t keep_outputs(tenon_engine_t* engine, tenon_context_t* context,
                                   test_result_t* result) {
  for (uint32_t k = 0; k < tenon_engine_output_count(engine); ++k) {
    tenon_tensor_view_t view;
    size_t count = 1;
    TEST_TRY(tenon_context_get_output(context, k, &view));
    for (uint32_t d = 0; d < view.rank; ++d) {
      count *= (size_t)view.dims[d];
    }
    if (!keep(result, view.dims, view.rank * sizeof(int64_t)) ||
        !keep_elements(result, &view, count)) {
      return TENON_ERROR_INTERNAL;
    }
  }
  return TENON_OK;
}

tenon_status_t test_run(tenon_engine_t* engine, tenon_context_t* context, int64_t most,
                        uint32_t seed, test_result_t* inout_result) {
  _Alignas(64) unsigned char memory[MOST_INPUTS][INPUT_BYTES];
  for (uint32_t run = 0; run < TEST_RUNS; ++run) {
    const int64_t extent = most > 0 ? (int64_t)(seed + run) % most + 1 : 1;
    TEST_TRY(set_inputs(engine, context, extent, seed * 16 + run, memory));
    TEST_TRY(tenon_context_run(context));
    TEST_TRY(keep_outputs(engine, context, inout_result));
  }
  return TENON_OK;
}
