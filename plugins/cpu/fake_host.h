/*
 * A host for tests: one region with one node or one program, run through a kernel's whole life with
 * every tactic that it emits, in the layouts that the tactic asks for, with gaps where it welcomes
 * them. Tensors are given as numbers in row-major order.
 */
#ifndef TENON_CPU_FAKE_HOST_H_
#define TENON_CPU_FAKE_HOST_H_

#include <math.h>
#include <stdarg.h>

#include "cpu.h"
#include "tenon/narrow.h"
#include "tests/support/kernel_host.h"
#ifndef FAKE_WITHOUT_TESTS
#include "core/base/test.h"
#endif

/* ---- Numbers ---- */

static inline double fake_random(unsigned* seed) { /* in [-1, 1) */
  *seed = *seed * 1664525U + 1013904223U;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}
static inline int64_t fake_choice(unsigned* seed, int64_t low, int64_t high) {
  return low + (int64_t)((fake_random(seed) + 1.0) / 2.0 * (double)(high - low + 1));
}

static inline int64_t fake_count(uint32_t rank, const int64_t* dims) {
  int64_t count = 1;
  for (uint32_t k = 0; k < rank; k++) {
    count *= dims[k];
  }
  return count;
}

static inline size_t fake_bytes(tenon_dtype_t dtype) {
  static const uint8_t bits[TENON_DTYPE_COUNT] = {
#define FAKE_BITS(name, mnemonic, count, kind) count,
      TENON_DTYPES(FAKE_BITS)
#undef FAKE_BITS
  };
  return bits[dtype] / 8U;
}

static inline void fake_put(tenon_dtype_t dtype, void* at, double x) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT32:
      *(float*)at = (float)x;
      break;
    case TENON_DTYPE_FLOAT64:
      *(double*)at = x;
      break;
    case TENON_DTYPE_INT64:
      *(int64_t*)at = (int64_t)x;
      break;
    case TENON_DTYPE_INT32:
      *(int32_t*)at = (int32_t)x;
      break;
    case TENON_DTYPE_INT16:
      *(int16_t*)at = (int16_t)x;
      break;
    case TENON_DTYPE_FLOAT16:
    case TENON_DTYPE_BFLOAT16:
      *(uint16_t*)at = tenon_narrow_of(dtype, (float)x);
      break;
    case TENON_DTYPE_INT8:
      *(int8_t*)at = (int8_t)x;
      break;
    case TENON_DTYPE_UINT16:
      *(uint16_t*)at = (uint16_t)x;
      break;
    case TENON_DTYPE_UINT8:
    case TENON_DTYPE_BOOL:
      *(uint8_t*)at = (uint8_t)x;
      break;
    default:
      abort(); /* a type that no test has yet */
  }
}

static inline double fake_get(tenon_dtype_t dtype, const void* at) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT32:
      return (double)*(const float*)at;
    case TENON_DTYPE_FLOAT64:
      return *(const double*)at;
    case TENON_DTYPE_INT64:
      return (double)*(const int64_t*)at;
    case TENON_DTYPE_INT32:
      return (double)*(const int32_t*)at;
    case TENON_DTYPE_INT16:
      return (double)*(const int16_t*)at;
    case TENON_DTYPE_FLOAT16:
    case TENON_DTYPE_BFLOAT16:
      return (double)tenon_wide_of(dtype, *(const uint16_t*)at);
    case TENON_DTYPE_INT8:
      return (double)*(const int8_t*)at;
    case TENON_DTYPE_UINT16:
      return (double)*(const uint16_t*)at;
    case TENON_DTYPE_UINT8:
    case TENON_DTYPE_BOOL:
      return (double)*(const uint8_t*)at;
    default:
      abort();
  }
}

/* ---- Description ---- */

/* Zeros, in units of 16 bytes. Not from calloc: the analyser would miss its free among so many. */
static inline void* fake_zeros(size_t units) {
  void* block = aligned_alloc(16, units * 16);
  if (block != NULL) {
    memset(block, 0, units * 16);
  }
  return block;
}

static inline fake_value_t* fake_add(fake_t* fake, tenon_dtype_t dtype, uint32_t rank,
                                     const int64_t* dims) {
  fake_value_t* value = &fake->values[fake->value_count++];
  memcpy(value->dims, dims, rank * sizeof(int64_t));
  value->info = (tenon_value_info_t){.name = "value",
                                     .dims_min = value->dims,
                                     .dims_opt = value->dims,
                                     .dims_max = value->dims,
                                     .dtype = dtype,
                                     .rank = rank,
                                     .input = TENON_NONE,
                                     .output = TENON_NONE};
  value->numbers = fake_zeros((size_t)fake_count(rank, dims) / 2 + 1);
  value->dense = fake_zeros((size_t)fake_count(rank, dims) + 1);
  return value;
}

/* An input of the node, or of the slot where `of_slot`; random numbers in [-1, 1) that f32 can
 * hold. Add all inputs before outputs. */
static inline fake_value_t* fake_input(fake_t* fake, tenon_dtype_t dtype, uint32_t rank,
                                       const int64_t* dims, bool is_constant, bool of_slot) {
  fake_value_t* value = fake_add(fake, dtype, rank, dims);
  value->info.input = fake->input_count++;
  fake->node_input_count += of_slot ? 0U : 1U;
  for (int64_t k = 0; k < fake_count(rank, dims); k++) {
    value->numbers[k] = (double)(float)fake_random(&fake->seed);
  }
  value->info.constant_data = is_constant ? value->dense : NULL;
  return value;
}
static inline fake_value_t* fake_output(fake_t* fake, tenon_dtype_t dtype, uint32_t rank,
                                        const int64_t* dims) {
  fake_value_t* value = fake_add(fake, dtype, rank, dims);
  value->info.output = fake->output_count++;
  return value;
}

static inline void fake_free(fake_t* fake) {
  for (uint32_t k = 0; k < fake->input_count + fake->output_count; k++) {
    free(fake->values[k].numbers);
    free(fake->values[k].dense);
    free(fake->values[k].memory);
  }
}

#ifndef FAKE_WITHOUT_TESTS
/* Calls the function with seeds until one fails, and prints that seed. */
static inline void fake_each_seed(unsigned count, void (*check_seed)(unsigned seed)) {
  for (unsigned seed = 1; seed <= count && tenon__test_failures == 0; seed++) {
    check_seed(seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}
#endif

#endif
