/*
 * A host for tests: one region with one node or one program, run through a kernel's whole life with
 * every tactic that it emits, in the layouts that the tactic asks for, with gaps where it welcomes
 * them. Tensors are given as numbers in row-major order.
 */
#ifndef TENON_CPU_FAKE_HOST_H_
#define TENON_CPU_FAKE_HOST_H_

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/thread_pool.h"
#include "cpu.h"
#ifndef FAKE_WITHOUT_TESTS
#include "core/base/test.h"
#endif

enum { FAKE_VALUES = 24, FAKE_RANK = 8, FAKE_ATTRIBUTES = 24, FAKE_BLOCKS = 4096 };

typedef struct fake_value_t {
  tenon_value_info_t info;
  int64_t dims[FAKE_RANK];
  double* numbers; /* row-major; of an output: what came out */
  void* dense;     /* in its dtype, row-major */
  void* memory;    /* as the tactic wants it */
  int64_t strides[FAKE_RANK];
  int64_t view_dims[FAKE_RANK];
  int64_t view_strides[FAKE_RANK];
} fake_value_t;

typedef struct fake_attribute_t {
  const char* name;
  uint32_t kind;
  int64_t integer;
  double number;
  const char* text;
  int64_t list[8];
  size_t count;
} fake_attribute_t;

typedef struct fake_t {
  uint32_t kind;
  const char* op;
  fake_attribute_t attributes[FAKE_ATTRIBUTES];
  uint32_t attribute_count;
  fake_value_t values[FAKE_VALUES]; /* inputs of the node, inputs of slots, outputs */
  uint32_t node_input_count;
  uint32_t input_count;
  uint32_t output_count;
  const tenon_program_t* slot;
  const tenon_program_t* program;
  int64_t space[FAKE_RANK];
  uint32_t space_rank;
  uint32_t threads;
  tenon__thread_pool_t* pool; /* NULL: all bodies run on the caller, as if on several threads */
  unsigned seed;
  bool in_place; /* outputs overwrite inputs where the tactic lets them */
  /* While running. */
  void* blocks[FAKE_BLOCKS];
  uint32_t block_count;
  tenon_argument_t inputs[FAKE_VALUES];
  tenon_argument_t outputs[FAKE_VALUES];
  void* scratch;
  bool failed;
  uint32_t tactic_count;
  uint32_t tactic_index;
  tenon_tactic_t tactic;
  tenon_argument_rule_t rules[2][FAKE_VALUES];
  uint8_t configuration[256];
  double seconds; /* of enqueue, the fastest of `repeats` */
  uint32_t repeats;
} fake_t;

static inline fake_t* fake_of(const void* handle) {
  return (fake_t*)handle;
}

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
    case TENON_DTYPE_BFLOAT16: { /* numbers with few bits alone */
      const float f = (float)x;
      uint32_t bits = 0;
      memcpy(&bits, &f, 4);
      *(uint16_t*)at = (uint16_t)(bits >> 16);
      break;
    }
    case TENON_DTYPE_INT8:
      *(int8_t*)at = (int8_t)x;
      break;
    default:
      *(uint8_t*)at = (uint8_t)x;
      break;
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
    case TENON_DTYPE_BFLOAT16: {
      const uint32_t bits = (uint32_t) * (const uint16_t*)at << 16;
      float f = 0;
      memcpy(&f, &bits, 4);
      return (double)f;
    }
    case TENON_DTYPE_INT8:
      return (double)*(const int8_t*)at;
    default:
      return (double)*(const uint8_t*)at;
  }
}

/* ---- Description ---- */

static inline void fake_attribute(fake_t* fake, const char* name, uint32_t kind, int64_t integer,
                                  double number, const char* text) {
  fake->attributes[fake->attribute_count++] = (fake_attribute_t){
      .name = name, .kind = kind, .integer = integer, .number = number, .text = text};
}
static inline void fake_int(fake_t* fake, const char* name, int64_t value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_INT, value, 0, NULL);
}
static inline void fake_float(fake_t* fake, const char* name, double value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_FLOAT, 0, value, NULL);
}
static inline void fake_string(fake_t* fake, const char* name, const char* value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_STRING, 0, 0, value);
}
static inline void fake_ints(fake_t* fake, const char* name, size_t count, const int64_t* values) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_INTS, 0, 0, NULL);
  fake_attribute_t* attribute = &fake->attributes[fake->attribute_count - 1];
  attribute->count = count;
  for (size_t k = 0; k < count; k++) {
    attribute->list[k] = values[k];
  }
}

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
  const uint32_t index = fake->input_count + fake->output_count;
  fake_value_t* value = &fake->values[index];
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

/* The extents that a program runs over. */
static inline void fake_set_space(fake_t* fake, uint32_t rank, const int64_t* extents) {
  fake->space_rank = rank;
  for (uint32_t k = 0; k < rank; k++) {
    fake->space[k] = extents[k];
  }
}

static inline void fake_free(fake_t* fake) {
  for (uint32_t k = 0; k < fake->input_count + fake->output_count; k++) {
    free(fake->values[k].numbers);
    free(fake->values[k].dense);
    free(fake->values[k].memory);
  }
}

/* ---- Tables ---- */

static inline uint32_t fake_kind(const tenon_region_t* r) {
  return fake_of(r)->kind;
}
static inline uint32_t fake_one(const tenon_region_t* r) {
  return fake_of(r)->op != NULL ? 1 : 0;
}
static inline const char* fake_op(const tenon_region_t* r, uint32_t node) {
  (void)node;
  return fake_of(r)->op;
}
static inline uint32_t fake_node_inputs(const tenon_region_t* r, uint32_t node) {
  (void)node;
  return fake_of(r)->node_input_count;
}
static inline uint32_t fake_node_outputs(const tenon_region_t* r, uint32_t node) {
  (void)node;
  return fake_of(r)->output_count;
}
/* An input of rank FAKE_RANK stands for one that is absent. */
static inline uint32_t fake_node_input(const tenon_region_t* r, uint32_t node, uint32_t index) {
  (void)node;
  return fake_of(r)->values[index].info.rank == FAKE_RANK ? TENON_NONE : index;
}
static inline uint32_t fake_node_output(const tenon_region_t* r, uint32_t node, uint32_t index) {
  (void)node;
  return index >= fake_of(r)->output_count ? TENON_NONE : fake_of(r)->input_count + index;
}
static inline const fake_attribute_t* fake_find(const tenon_region_t* r, const char* name,
                                                uint32_t kind) {
  const fake_t* fake = fake_of(r);
  for (uint32_t k = 0; k < fake->attribute_count; k++) {
    if (strcmp(fake->attributes[k].name, name) == 0 && fake->attributes[k].kind == kind) {
      return &fake->attributes[k];
    }
  }
  return NULL;
}
static inline tenon_status_t fake_get_int(const tenon_region_t* r, uint32_t node, const char* name,
                                          int64_t* out) {
  (void)node;
  const fake_attribute_t* found = fake_find(r, name, TENON_ATTRIBUTE_INT);
  *out = found != NULL ? found->integer : *out;
  return found != NULL ? TENON_OK : TENON_ERROR_NOT_FOUND;
}
static inline tenon_status_t fake_get_float(const tenon_region_t* r, uint32_t node,
                                            const char* name, double* out) {
  (void)node;
  const fake_attribute_t* found = fake_find(r, name, TENON_ATTRIBUTE_FLOAT);
  *out = found != NULL ? found->number : *out;
  return found != NULL ? TENON_OK : TENON_ERROR_NOT_FOUND;
}
static inline tenon_status_t fake_get_string(const tenon_region_t* r, uint32_t node,
                                             const char* name, const char** out) {
  (void)node;
  const fake_attribute_t* found = fake_find(r, name, TENON_ATTRIBUTE_STRING);
  *out = found != NULL ? found->text : *out;
  return found != NULL ? TENON_OK : TENON_ERROR_NOT_FOUND;
}
static inline tenon_status_t fake_get_ints(const tenon_region_t* r, uint32_t node, const char* name,
                                           const int64_t** out, size_t* out_count) {
  (void)node;
  const fake_attribute_t* found = fake_find(r, name, TENON_ATTRIBUTE_INTS);
  if (found == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out = found->list;
  *out_count = found->count;
  return TENON_OK;
}
static inline tenon_status_t fake_get_floats(const tenon_region_t* r, uint32_t node,
                                             const char* name, const double** out,
                                             size_t* out_count) {
  (void)r, (void)node, (void)name, (void)out, (void)out_count;
  return TENON_ERROR_NOT_FOUND;
}
static inline tenon_status_t fake_get_strings(const tenon_region_t* r, uint32_t node,
                                              const char* name, const char* const** out,
                                              size_t* out_count) {
  (void)r, (void)node, (void)name, (void)out, (void)out_count;
  return TENON_ERROR_NOT_FOUND;
}
static inline uint32_t fake_value_count(const tenon_region_t* r) {
  return fake_of(r)->input_count + fake_of(r)->output_count;
}
static inline const tenon_value_info_t* fake_value(const tenon_region_t* r, uint32_t value) {
  return &fake_of(r)->values[value].info;
}
static inline uint32_t fake_input_count(const tenon_region_t* r) {
  return fake_of(r)->input_count;
}
static inline uint32_t fake_output_count(const tenon_region_t* r) {
  return fake_of(r)->output_count;
}
static inline uint32_t fake_input_value(const tenon_region_t* r, uint32_t index) {
  (void)r;
  return index;
}
static inline uint32_t fake_output_value(const tenon_region_t* r, uint32_t index) {
  return fake_of(r)->input_count + index;
}
static inline const tenon_program_t* fake_slot(const tenon_region_t* r, uint32_t slot) {
  return slot == 0 ? fake_of(r)->slot : NULL;
}
static inline const tenon_program_t* fake_program(const tenon_region_t* r) {
  return fake_of(r)->program;
}
static const tenon_region_table_t fake_region_table = {sizeof(tenon_region_table_t),
                                                       fake_kind,
                                                       fake_one,
                                                       fake_op,
                                                       fake_op,
                                                       fake_node_inputs,
                                                       fake_node_outputs,
                                                       fake_node_input,
                                                       fake_node_output,
                                                       fake_get_int,
                                                       fake_get_float,
                                                       fake_get_string,
                                                       fake_get_ints,
                                                       fake_get_floats,
                                                       fake_get_strings,
                                                       fake_value_count,
                                                       fake_value,
                                                       fake_input_count,
                                                       fake_output_count,
                                                       fake_input_value,
                                                       fake_output_value,
                                                       fake_slot,
                                                       fake_program};

static inline void* fake_block(fake_t* fake, size_t size) {
  void* block = aligned_alloc(64, (size + 127) / 64 * 64);
  memset(block, 0, (size + 127) / 64 * 64);
  fake->blocks[fake->block_count++] = block;
  return block;
}
static inline void* fake_prepare_allocate(tenon_preparation_t* p, size_t size) {
  return fake_block(fake_of(p), size);
}
static inline tenon_status_t fake_pack(tenon_preparation_t* p, const tenon_packing_t* packing,
                                       void** out, int32_t* out_ready) {
  *out = fake_block(fake_of(p), packing->size_bytes);
  *out_ready = 0;
  return TENON_OK;
}
static const tenon_prepare_table_t fake_prepare_table = {
    .size = sizeof(tenon_prepare_table_t), .allocate = fake_prepare_allocate, .pack = fake_pack};

static inline void* fake_bind_allocate(tenon_binding_t* b, size_t size) {
  return fake_block(fake_of(b), size);
}
static inline const tenon_argument_t* fake_bind_input(tenon_binding_t* b, uint32_t index) {
  return &fake_of(b)->inputs[index];
}
static inline const tenon_argument_t* fake_bind_output(tenon_binding_t* b, uint32_t index) {
  return &fake_of(b)->outputs[index];
}
static inline const int64_t* fake_space(tenon_binding_t* b, uint32_t slot) {
  (void)slot;
  return fake_of(b)->space;
}
static const tenon_bind_table_t fake_bind_table = {.size = sizeof(tenon_bind_table_t),
                                                   .allocate = fake_bind_allocate,
                                                   .input = fake_bind_input,
                                                   .output = fake_bind_output,
                                                   .space = fake_space};

static inline void* fake_scratch(tenon_run_t* r) {
  return fake_of(r)->scratch;
}
static inline void fake_parallel(tenon_run_t* r, uint32_t count,
                                 void (*body)(void*, uint32_t, uint32_t), void* user) {
  if (fake_of(r)->pool != NULL) {
    tenon__thread_pool_run(fake_of(r)->pool, count, body, user);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    body(user, i, i % fake_of(r)->threads);
  }
}
static inline uint32_t fake_run_threads(tenon_run_t* r) {
  return fake_of(r)->threads;
}
static inline tenon_status_t fake_fail(tenon_run_t* r, tenon_status_t status, const char* message) {
  (void)message;
  fake_of(r)->failed = true;
  return status;
}
static const tenon_run_table_t fake_run_table = {.size = sizeof(tenon_run_table_t),
                                                 .scratch = fake_scratch,
                                                 .parallel = fake_parallel,
                                                 .thread_count = fake_run_threads,
                                                 .fail = fake_fail};
#endif
