/*
 * What a reference kernel works on. Every closed operator is one function, `compute`, on dense
 * row-major arrays of numbers: the frame here reads the arguments into them, calls it, and writes
 * the results. So the function says what the operator means, whatever the element types and strides
 * are.
 *
 * Arrays are allocated when shapes are bound. An output whose extents the operator finds has no
 * array: tenon__work_allocate makes the tensor, tenon__work_put writes its elements.
 */
#ifndef PLUGINS_REFERENCE_WORK_H_
#define PLUGINS_REFERENCE_WORK_H_

#include "number.h"

typedef struct tenon__array_t {
  uint32_t kind; /* TENON_ARGUMENT_* */
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  int64_t count;
  tenon__number_t* at; /* row-major; NULL where the frame makes no array */
  /* Where tenon__work_put writes. */
  void* data;
  const int64_t* strides;
} tenon__array_t;

typedef struct tenon__integers_t {
  const int64_t* values;
  size_t count;
} tenon__integers_t;

/* An attribute as it was when the kernel was prepared. */
typedef struct tenon__attribute_t {
  const char* name;
  uint32_t kind;
  int64_t integer;
  double number;
  const char* string;
  const int64_t* integers;
  const double* numbers;
  const char* const* strings;
  size_t count;
} tenon__attribute_t;

typedef struct tenon__work_t tenon__work_t;

enum {
  TENON_KERNEL_RAW = 1u << 0,     /* no arrays: the function reads arguments itself (sequences) */
  TENON_KERNEL_COUNTED = 1u << 1, /* has a counter of its calls in persistent memory */
};

/* A row of the list of kernels. */
typedef struct tenon__kernel_row_t {
  const char* op;
  const char* const* attributes;
  tenon_status_t (*compute)(tenon__work_t* work);
  /* How many numbers of scratch the function wants for these shapes; NULL: none. */
  int64_t (*scratch_count)(const tenon__work_t* work);
  uint32_t flags;
} tenon__kernel_row_t;

struct tenon__work_t {
  const tenon__kernel_row_t* row;
  const tenon__attribute_t* attributes;
  uint32_t attribute_count;
  uint32_t input_count;
  uint32_t output_count;
  tenon__array_t* inputs;
  tenon__array_t* outputs;
  tenon__number_t* scratch;
  /* Of the call. */
  tenon_run_t* run;
  const tenon_run_table_t* host;
  const tenon_argument_t* input_arguments;
  const tenon_argument_t* output_arguments;
};

/* Does nobody want the result any more? A kernel that takes long asks in its outer loop, and then
 * leaves off. */
bool tenon__is_cancelled(tenon_run_t* run, const tenon_run_table_t* host);
bool tenon__work_is_cancelled(const tenon__work_t* work);

/* Operands by number; NULL where absent or unwanted. */
const tenon__array_t* tenon__work_input(const tenon__work_t* work, uint32_t index);
tenon__array_t* tenon__work_output(tenon__work_t* work, uint32_t index);
/* The first element of an input, or the default where the input is absent or empty. */
double tenon__work_scalar(const tenon__work_t* work, uint32_t index, double otherwise);
int64_t tenon__work_integer(const tenon__work_t* work, uint32_t index, int64_t otherwise);

/* Attributes by name: those that the row lists. */
int64_t tenon__work_int(const tenon__work_t* work, const char* name);
double tenon__work_float(const tenon__work_t* work, const char* name);
bool tenon__work_is(const tenon__work_t* work, const char* name, const char* value);
const tenon__attribute_t* tenon__work_attribute(const tenon__work_t* work, const char* name);
tenon__integers_t tenon__work_ints(const tenon__work_t* work, const char* name);
/* Entry `index`, or the default past the end. */
int64_t tenon__integers_at(tenon__integers_t integers, size_t index, int64_t otherwise);

/* An error found in data: told to the host, with the values. Returns INVALID_DATA. */
tenon_status_t tenon__work_fail(const tenon__work_t* work, const char* format, ...);

/* Makes output `index`, whose extents the run knows alone. */
tenon_status_t tenon__work_allocate(tenon__work_t* work, uint32_t index, uint32_t rank,
                                    const int64_t* dims);
/* Writes element `place` (row-major) of such an output. */
tenon_status_t tenon__work_put(tenon__work_t* work, uint32_t index, int64_t place,
                               tenon__number_t number);

/* Product of dims[begin .. end). */
int64_t tenon__dims_product(const int64_t* dims, uint32_t begin, uint32_t end);
/* The next point of a box in row-major order; false after the last. */
bool tenon__point_next(int64_t* point, const int64_t* dims, uint32_t rank);
/* The place of a point in row-major order. */
int64_t tenon__point_place(const int64_t* point, const int64_t* dims, uint32_t rank);
/* axis + rank where axis is negative. */
uint32_t tenon__axis_wrap(int64_t axis, uint32_t rank);

/* An array seen as outer x extent x inner around one axis. */
typedef struct tenon__axis_view_t {
  int64_t outer;
  int64_t extent;
  int64_t inner;
} tenon__axis_view_t;
tenon__axis_view_t tenon__axis_view(const tenon__array_t* array, uint32_t axis);

/* The kernel's life, shared by all rows. */
int32_t tenon__work_match(void* state, const tenon_region_t* region,
                          const tenon_region_table_t* table, tenon_refusal_t* out_refusal);
tenon_status_t tenon__work_tactics(void* state, const tenon_region_t* region,
                                   const tenon_region_table_t* table, tenon_emit_t* emit,
                                   tenon_status_t (*add)(tenon_emit_t* emit,
                                                         const tenon_tactic_t* tactic));
tenon_status_t tenon__work_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__work_bind(void* instance, tenon_binding_t* binding,
                                const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__work_enqueue(const tenon_enqueue_t* call);

/* Where the element at `place` (row-major) of a tensor lies in memory, in elements. */
int64_t tenon__view_place(const tenon_tensor_view_t* view, int64_t place);
/* Reads a tensor into numbers in row-major order, and writes it from them. */
void tenon__tensor_read(const tenon_tensor_view_t* view, tenon_run_t* run,
                        const tenon_run_table_t* host, tenon__number_t* out_numbers);
tenon_status_t tenon__tensor_write(const tenon_tensor_view_t* view, const tenon__number_t* numbers,
                                   tenon_run_t* run, const tenon_run_table_t* host,
                                   uint32_t output);

#endif
