/*
 * What a reference kernel works on. Every closed operator is one function, `compute`, on dense
 * row-major arrays of numbers: the frame here reads the arguments into them, calls it, and writes
 * the results. So the function says what the operator means, whatever the element types and strides
 * are.
 *
 * Arrays are allocated when shapes are bound. An output whose extents the operator finds has no
 * array: tenon__work_allocate makes the tensor, tenon__work_put writes its elements. Nothing else
 * is allocated in a run, and no element type is rounded before it is stored.
 *
 * The frame's five callbacks (frame.c) serve all rows: match finds the row by the operator and
 * refuses complex numbers, tactics offers one, "dense", with 8 bytes of persistent memory for what
 * counts its calls, prepare copies the attributes that the row lists, bind makes arrays and
 * scratch, enqueue reads, computes and writes.
 */
#ifndef PLUGINS_REFERENCE_WORK_H_
#define PLUGINS_REFERENCE_WORK_H_

#include "number.h"

/* An operand or result; of the bound memory, so it is one context's. */
typedef struct tenon__array_t {
  /* TENON_ARGUMENT_*; ABSENT where the operand is not given or the output not wanted. */
  uint32_t kind;
  tenon_dtype_t dtype;
  uint32_t rank;
  /* [rank], of the bound shapes; 0 and NULL for sequences and with RAW. */
  const int64_t* dims;
  int64_t count; /* of elements */
  /* [count], row-major; NULL where the frame makes no array. */
  tenon__number_t* at;
  /* Where tenon__work_put writes, once allocated; strides NULL: dense. */
  void* data;
  const int64_t* strides;
} tenon__array_t;

/* A list attribute, borrowed. */
typedef struct tenon__integers_t {
  const int64_t* values;
  size_t count;
} tenon__integers_t;

/* An attribute as it was when the kernel was prepared, copied; `kind` (TENON_ATTRIBUTE_*) says
 * which members count. All zeros but the name: the operator has none of that name. */
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
  /* No arrays: the function reads arguments itself (sequences, element types as bits, complex
   * numbers). */
  TENON_KERNEL_RAW = 1u << 0,
  /* Has a counter of its calls in persistent memory: random numbers differ from run to run. */
  TENON_KERNEL_COUNTED = 1u << 1,
  /* Output 0 may lie on input 0: arguments are read before results are stored. */
  TENON_KERNEL_IN_PLACE = 1u << 2,
};

/* A row of the list of kernels (kernels.h). */
typedef struct tenon__kernel_row_t {
  const char* op;
  const char* const* attributes; /* names, NULL-terminated */
  tenon_status_t (*compute)(tenon__work_t* work);
  /* How many numbers of scratch the function wants for these shapes; NULL: none. */
  int64_t (*scratch_count)(const tenon__work_t* work);
  uint32_t flags;
} tenon__kernel_row_t;

/* One bound kernel. Of the call are the last four, set by each enqueue. */
struct tenon__work_t {
  const tenon__kernel_row_t* row;
  const tenon__attribute_t* attributes;
  uint32_t attribute_count;
  uint32_t input_count;
  uint32_t output_count;
  tenon__array_t* inputs;
  tenon__array_t* outputs;
  /* As many as scratch_count said; contents are those of the last call, or zeros. */
  tenon__number_t* scratch;
  tenon_run_t* run; /* of the call */
  const tenon_run_table_t* host;
  /* The host's, as the call has them: what RAW functions read. */
  const tenon_argument_t* input_arguments;
  const tenon_argument_t* output_arguments;
};

/* Does nobody want the result any more? A kernel that takes long asks in its outer loop, and
 * then leaves off: what it writes is dropped. False with a host that cannot say. */
bool tenon__is_cancelled(tenon_run_t* run, const tenon_run_table_t* host);
bool tenon__work_is_cancelled(const tenon__work_t* work);

/* Operands by number; NULL where absent or unwanted. */
const tenon__array_t* tenon__work_input(const tenon__work_t* work, uint32_t index);
tenon__array_t* tenon__work_output(tenon__work_t* work, uint32_t index);
/* The first element of an input, or the default where the input is absent or empty. The second
 * truncates and saturates floats. */
double tenon__work_scalar(const tenon__work_t* work, uint32_t index, double otherwise);
int64_t tenon__work_integer(const tenon__work_t* work, uint32_t index, int64_t otherwise);

/* Attributes by name: those that the row lists. 0, false or an empty list for others, and for
 * those of another kind. */
int64_t tenon__work_int(const tenon__work_t* work, const char* name);
double tenon__work_float(const tenon__work_t* work, const char* name);
/* Whether a text attribute has that value. */
bool tenon__work_is(const tenon__work_t* work, const char* name, const char* value);
const tenon__attribute_t* tenon__work_attribute(const tenon__work_t* work, const char* name);
tenon__integers_t tenon__work_ints(const tenon__work_t* work, const char* name);
/* Entry `index`, or the default past the end: lists that a node lacks are empty. */
int64_t tenon__integers_at(tenon__integers_t integers, size_t index, int64_t otherwise);

/* An error found in data: told to the host, with the values, cut at 255 bytes. Returns
 * INVALID_DATA. */
tenon_status_t tenon__work_fail(const tenon__work_t* work, const char* format, ...);

/* Makes output `index`, whose extents the run knows alone; `dims` must stay until its last
 * tenon__work_put. INVALID_DATA when they are beyond the bounds that were planned for. */
tenon_status_t tenon__work_allocate(tenon__work_t* work, uint32_t index, uint32_t rank,
                                    const int64_t* dims);
/* Writes element `place` (row-major) of such an output; strings are copied into the host's
 * memory. */
tenon_status_t tenon__work_put(tenon__work_t* work, uint32_t index, int64_t place,
                               tenon__number_t number);

/* Product of dims[begin .. end). */
int64_t tenon__dims_product(const int64_t* dims, uint32_t begin, uint32_t end);
/* The next point of a box in row-major order; false, and all zeros again, after the last. */
bool tenon__point_next(int64_t* point, const int64_t* dims, uint32_t rank);
/* The place of a point in row-major order. */
int64_t tenon__point_place(const int64_t* point, const int64_t* dims, uint32_t rank);
/* axis + rank where axis is negative. */
uint32_t tenon__axis_wrap(int64_t axis, uint32_t rank);

/* An array seen as outer x extent x inner around one axis: element e of row (o, i) is at (o *
 * extent + e) * inner + i. */
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
/* Reads a tensor into numbers in row-major order, and writes it from them; any strides and bit
 * offset. Both leave off when the run is cancelled. `output`: its number, for copies of strings. */
void tenon__tensor_read(const tenon_tensor_view_t* view, tenon_run_t* run,
                        const tenon_run_table_t* host, tenon__number_t* out_numbers);
tenon_status_t tenon__tensor_write(const tenon_tensor_view_t* view, const tenon__number_t* numbers,
                                   tenon_run_t* run, const tenon_run_table_t* host,
                                   uint32_t output);

#endif
