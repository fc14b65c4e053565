/*
 * A host for unit tests of kernels: one region, its arguments and attributes, and the tables that a
 * kernel calls. Drives the whole life of a kernel of this plugin and reads back what it wrote.
 *
 *   fake_t f = fake_of("standard.mat_mul/1");
 *   fake_input(&f, TENON_DTYPE_FLOAT32, DIMS(1, 2), NUMBERS(3, 4));
 *   fake_output(&f, TENON_DTYPE_FLOAT32, DIMS(1, 1));
 *   EXPECT_STATUS(fake_run(&f), TENON_OK);
 *   EXPECT_NUMBERS(&f, 0, 0.0, 25.0);
 */
#ifndef PLUGINS_REFERENCE_FAKE_HOST_H_
#define PLUGINS_REFERENCE_FAKE_HOST_H_

#include <stdlib.h>

#include "core/base/test.h"
#include "interpreter.h"
#include "work.h"

enum { FAKE_ARGUMENTS = 8, FAKE_ATTRIBUTES = 16, FAKE_BLOCKS = 512, FAKE_ELEMENTS = 4096 };

typedef struct fake_tensor_t {
  int64_t* dims;
  int64_t* strides;
  uint32_t rank;
  tenon_dtype_t dtype;
  void* data;
} fake_tensor_t;

typedef struct fake_t {
  const char* op;
  tenon__attribute_t attributes[FAKE_ATTRIBUTES];
  uint32_t attribute_count;
  fake_tensor_t input_tensors[FAKE_ARGUMENTS];
  fake_tensor_t output_tensors[FAKE_ARGUMENTS];
  tenon_argument_t inputs[FAKE_ARGUMENTS];
  tenon_argument_t outputs[FAKE_ARGUMENTS];
  tenon_argument_t items[FAKE_ARGUMENTS]; /* appended to output 0 */
  uint32_t item_count;
  uint32_t input_count;
  uint32_t output_count;
  const tenon_program_t* program;
  const int64_t* space;
  const tenon_move_t* move;
  uint64_t persistent;
  char failure[256];
  void* blocks[FAKE_BLOCKS];
  uint32_t block_count;
} fake_t;

static inline fake_t* fake_from(const void* handle) {
  const union { /* the handle is const for its users alone */
    const void* given;
    fake_t* fake;
  } view = {.given = handle};
  return view.fake;
}

/* Zeros, freed by fake_done. */
static inline void* fake_allocate(fake_t* fake, size_t size) {
  if (fake->block_count == FAKE_BLOCKS) {
    return NULL;
  }
  void* block = calloc(1, size + 1);
  fake->blocks[fake->block_count++] = block;
  return block;
}

static inline void fake_done(fake_t* fake) {
  for (uint32_t index = 0; index < fake->block_count; ++index) {
    free(fake->blocks[index]);
  }
  fake->block_count = 0;
}

static inline fake_t fake_of(const char* op) {
  fake_t fake = {.op = op};
  return fake;
}

/* Attributes. */
static inline tenon__attribute_t* fake_attribute(fake_t* fake, const char* name, uint32_t kind) {
  tenon__attribute_t* attribute = &fake->attributes[fake->attribute_count++];
  attribute->name = name;
  attribute->kind = kind;
  return attribute;
}
static inline void fake_int(fake_t* fake, const char* name, int64_t value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_INT)->integer = value;
}
static inline void fake_float(fake_t* fake, const char* name, double value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_FLOAT)->number = value;
}
static inline void fake_string(fake_t* fake, const char* name, const char* value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_STRING)->string = value;
}
static inline void fake_ints(fake_t* fake, const char* name, size_t count, const int64_t* values) {
  tenon__attribute_t* attribute = fake_attribute(fake, name, TENON_ATTRIBUTE_INTS);
  attribute->integers = values;
  attribute->count = count;
}

static inline void fake_floats(fake_t* fake, const char* name, size_t count, const double* values) {
  tenon__attribute_t* attribute = fake_attribute(fake, name, TENON_ATTRIBUTE_FLOATS);
  attribute->numbers = values;
  attribute->count = count;
}

/* Tensors. */
#define DIMS(...) \
  (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})
#define SCALAR 0u, NULL
#define NUMBERS(...) ((const double[]){__VA_ARGS__})
#define INTS(...) DIMS(__VA_ARGS__)

static inline void fake_shape(fake_t* fake, fake_tensor_t* tensor, tenon_dtype_t dtype,
                              uint32_t rank, const int64_t* dims, tenon_argument_t* out_argument) {
  tensor->rank = rank;
  tensor->dtype = dtype;
  tensor->dims = fake_allocate(fake, (rank + 1) * sizeof(int64_t));
  tensor->strides = fake_allocate(fake, (rank + 1) * sizeof(int64_t));
  int64_t count = 1;
  for (uint32_t axis = rank; axis-- > 0;) {
    tensor->dims[axis] = dims[axis];
    tensor->strides[axis] = count;
    count *= dims[axis];
  }
  tensor->data = fake_allocate(fake, (size_t)count * 16);
  out_argument->kind = TENON_ARGUMENT_TENSOR;
  out_argument->tensor = (tenon_tensor_view_t){.data = tensor->data,
                                               .dims = tensor->dims,
                                               .strides = tensor->strides,
                                               .rank = rank,
                                               .dtype = dtype,
                                               .layout = TENON_NONE};
  /* Blocks belong to the fake. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
}

static inline void fake_input(fake_t* fake, tenon_dtype_t dtype, uint32_t rank, const int64_t* dims,
                              const double* numbers) {
  uint32_t index = fake->input_count++;
  fake_shape(fake, &fake->input_tensors[index], dtype, rank, dims, &fake->inputs[index]);
  int64_t count = tenon__dims_product(fake->input_tensors[index].dims, 0, rank);
  for (int64_t place = 0; place < count; ++place) {
    tenon__number_t number = tenon__number_of(dtype, numbers[place]); /* NOLINT(clang-analyzer-*) */
    tenon__number_store(fake->input_tensors[index].data, 0, dtype, place, number);
  }
}
static inline void fake_strings(fake_t* fake, uint32_t count, const char* const* texts) {
  uint32_t index = fake->input_count++;
  int64_t dims[1] = {count};
  fake_shape(fake, &fake->input_tensors[index], TENON_DTYPE_STRING, 1, dims, &fake->inputs[index]);
  tenon_string_view_t* views = fake->input_tensors[index].data;
  for (uint32_t place = 0; place < count; ++place) {
    views[place] = (tenon_string_view_t){texts[place], strlen(texts[place])};
  }
}
static inline void fake_absent(fake_t* fake) {
  ++fake->input_count;
}
static inline void fake_output(fake_t* fake, tenon_dtype_t dtype, uint32_t rank,
                               const int64_t* dims) {
  uint32_t index = fake->output_count++;
  fake_shape(fake, &fake->output_tensors[index], dtype, rank, dims, &fake->outputs[index]);
}
/* An output whose extents the kernel finds. */
static inline void fake_unbounded(fake_t* fake, tenon_dtype_t dtype) {
  uint32_t index = fake->output_count++;
  fake->output_tensors[index].dtype = dtype;
  fake->outputs[index].kind = TENON_ARGUMENT_ALLOCATE;
  fake->outputs[index].tensor.dtype = dtype;
}

/* The region's table. */
static inline const char* fake_node_operator(const tenon_region_t* region, uint32_t node) {
  (void)node;
  return fake_from(region)->op;
}
static inline uint32_t fake_input_count(const tenon_region_t* region) {
  return fake_from(region)->input_count;
}
static inline uint32_t fake_output_count(const tenon_region_t* region) {
  return fake_from(region)->output_count;
}
static inline uint32_t fake_value_count(const tenon_region_t* region) {
  (void)region;
  return 0;
}
static inline const tenon_program_t* fake_program(const tenon_region_t* region) {
  return fake_from(region)->program;
}
static inline const tenon__attribute_t* fake_find(const tenon_region_t* region, const char* name,
                                                  uint32_t kind) {
  const fake_t* fake = fake_from(region);
  for (uint32_t index = 0; index < fake->attribute_count; ++index) {
    const tenon__attribute_t* attribute = &fake->attributes[index];
    if (attribute->kind == kind && strcmp(attribute->name, name) == 0) {
      return attribute;
    }
  }
  return NULL;
}
#define FAKE_GETTER(function, type, attribute_kind, field)                           \
  static inline tenon_status_t function(const tenon_region_t* region, uint32_t node, \
                                        const char* name, type out_value) {          \
    (void)node;                                                                      \
    const tenon__attribute_t* found = fake_find(region, name, attribute_kind);       \
    if (found == NULL) {                                                             \
      return TENON_ERROR_NOT_FOUND;                                                  \
    }                                                                                \
    *out_value = found->field;                                                       \
    return TENON_OK;                                                                 \
  }
FAKE_GETTER(fake_get_int, int64_t*, TENON_ATTRIBUTE_INT, integer)
FAKE_GETTER(fake_get_float, double*, TENON_ATTRIBUTE_FLOAT, number)
FAKE_GETTER(fake_get_string, const char**, TENON_ATTRIBUTE_STRING, string)
#define FAKE_LIST_GETTER(function, type, attribute_kind, field)                                 \
  static inline tenon_status_t function(const tenon_region_t* region, uint32_t node,            \
                                        const char* name, type out_values, size_t* out_count) { \
    (void)node;                                                                                 \
    const tenon__attribute_t* found = fake_find(region, name, attribute_kind);                  \
    if (found == NULL) {                                                                        \
      return TENON_ERROR_NOT_FOUND;                                                             \
    }                                                                                           \
    *out_values = found->field;                                                                 \
    *out_count = found->count;                                                                  \
    return TENON_OK;                                                                            \
  }
FAKE_LIST_GETTER(fake_get_ints, const int64_t**, TENON_ATTRIBUTE_INTS, integers)
FAKE_LIST_GETTER(fake_get_floats, const double**, TENON_ATTRIBUTE_FLOATS, numbers)
FAKE_LIST_GETTER(fake_get_strings, const char* const**, TENON_ATTRIBUTE_STRINGS, strings)

static const tenon_region_table_t fake_region_table = {
    .size = sizeof(tenon_region_table_t),
    .node_operator = fake_node_operator,
    .attribute_int = fake_get_int,
    .attribute_float = fake_get_float,
    .attribute_string = fake_get_string,
    .attribute_ints = fake_get_ints,
    .attribute_floats = fake_get_floats,
    .attribute_strings = fake_get_strings,
    .value_count = fake_value_count,
    .input_count = fake_input_count,
    .output_count = fake_output_count,
    .program = fake_program,
};

/* The tables of prepare, bind and run. */
static inline void* fake_prepare_allocate(tenon_preparation_t* preparation, size_t size) {
  return fake_allocate(fake_from(preparation), size);
}
static const tenon_prepare_table_t fake_prepare_table = {.size = sizeof(tenon_prepare_table_t),
                                                         .allocate = fake_prepare_allocate};
static inline void* fake_bind_allocate(tenon_binding_t* binding, size_t size) {
  return fake_allocate(fake_from(binding), size);
}
static inline const tenon_argument_t* fake_bind_input(tenon_binding_t* binding, uint32_t index) {
  return &fake_from(binding)->inputs[index];
}
static inline const tenon_argument_t* fake_bind_output(tenon_binding_t* binding, uint32_t index) {
  return &fake_from(binding)->outputs[index];
}
static inline const tenon_move_t* fake_bind_move(tenon_binding_t* binding) {
  return fake_from(binding)->move;
}
static inline const int64_t* fake_bind_space(tenon_binding_t* binding, uint32_t slot) {
  (void)slot;
  return fake_from(binding)->space;
}
static const tenon_bind_table_t fake_bind_table = {
    .size = sizeof(tenon_bind_table_t),
    .allocate = fake_bind_allocate,
    .input = fake_bind_input,
    .output = fake_bind_output,
    .move = fake_bind_move,
    .space = fake_bind_space,
};

static inline void* fake_run_persistent(tenon_run_t* run) {
  return &fake_from(run)->persistent;
}
static inline tenon_status_t fake_allocate_output(tenon_run_t* run, uint32_t output, uint32_t rank,
                                                  const int64_t* dims, void** out_data) {
  fake_t* fake = fake_from(run);
  tenon_argument_t made = {0};
  fake_shape(fake, &fake->output_tensors[output], fake->output_tensors[output].dtype, rank, dims,
             &made);
  *out_data = made.tensor.data;
  return TENON_OK;
}
static inline tenon_status_t fake_append_output(tenon_run_t* run, uint32_t output,
                                                const tenon_argument_t* item) {
  (void)output;
  fake_t* fake = fake_from(run);
  fake->items[fake->item_count++] = *item;
  return TENON_OK;
}
static inline tenon_status_t fake_copy_string(tenon_run_t* run, uint32_t output,
                                              tenon_string_view_t text,
                                              tenon_string_view_t* out_copy) {
  (void)output;
  char* copy = fake_allocate(fake_from(run), text.size + 1);
  if (text.size > 0) {
    memcpy(copy, text.data, text.size);
  }
  *out_copy = (tenon_string_view_t){copy, text.size};
  return TENON_OK;
}
static inline tenon_status_t fake_fail(tenon_run_t* run, tenon_status_t status,
                                       const char* message) {
  fake_t* fake = fake_from(run);
  (void)snprintf(fake->failure, sizeof(fake->failure), "%s", message);
  return status;
}
static const tenon_run_table_t fake_run_table = {
    .size = sizeof(tenon_run_table_t),
    .persistent = fake_run_persistent,
    .allocate_output = fake_allocate_output,
    .append_output = fake_append_output,
    .copy_string = fake_copy_string,
    .fail = fake_fail,
};

/* The kernel for the region: by operator, or by kind. */
static inline const tenon_kernel_t* fake_kernel(const fake_t* fake) {
  static const tenon_host_offer_t offer = {.abi_major = TENON_ABI_MAJOR};
  const tenon_offering_t* offering = tenon_plugin_query(&offer)->offerings[0];
  const tenon_kernel_t* kernels = offering->items;
  uint32_t flag = fake->program != NULL ? TENON_KERNEL_EXPRESSIONS : TENON_KERNEL_MOVES;
  for (uint32_t index = 0; index < offering->count; ++index) {
    bool same = fake->op == NULL ? (kernels[index].flags & flag) != 0
                                 : kernels[index].operators != NULL &&
                                       strcmp(kernels[index].operators[0], fake->op) == 0;
    if (same) {
      return &kernels[index];
    }
  }
  return NULL;
}

/* Match, prepare, bind, enqueue. */
static inline tenon_status_t fake_run(fake_t* fake) {
  const tenon_kernel_t* kernel = fake_kernel(fake);
  const tenon_region_t* region = (const tenon_region_t*)fake;
  tenon_refusal_t refusal = {0};
  void* instance = NULL;
  void* bound = NULL;
  if (kernel == NULL ||
      (kernel->match != NULL && kernel->match(NULL, region, &fake_region_table, &refusal) == 0)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon_status_t status = TENON_OK;
  if (kernel->prepare != NULL) {
    const tenon_prepare_t making = {.size = sizeof(making),
                                    .region = region,
                                    .table = &fake_region_table,
                                    .preparation = (tenon_preparation_t*)fake,
                                    .host = &fake_prepare_table};
    status = kernel->prepare(&making, &instance);
  }
  if (status == TENON_OK) {
    status = kernel->bind(instance, (tenon_binding_t*)fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = {.size = sizeof(call),
                                .instance = instance,
                                .bound = bound,
                                .run = (tenon_run_t*)fake,
                                .host = &fake_run_table,
                                .inputs = fake->inputs,
                                .outputs = fake->outputs,
                                .input_count = fake->input_count,
                                .output_count = fake->output_count};
  return status == TENON_OK ? kernel->enqueue(&call) : status;
}

/* Element `place` of an output as a double. */
static inline double fake_number(const fake_t* fake, uint32_t output, int64_t place) {
  const fake_tensor_t* tensor = &fake->output_tensors[output];
  return tenon__number_value(tensor->dtype,
                             tenon__number_load(tensor->data, 0, tensor->dtype, place));
}

/* Where an expectation stands. */
typedef struct fake_place_t {
  const char* file;
  int line;
} fake_place_t;
#define FAKE_HERE ((fake_place_t){__FILE__, __LINE__})

static inline bool fake_near(double a, double b, double tolerance) {
  return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance;
}

static inline void fake_expect_numbers(const fake_t* fake, fake_place_t place, uint32_t output,
                                       double tolerance, const double* numbers, size_t count) {
  const fake_tensor_t* tensor = &fake->output_tensors[output];
  int64_t elements = tenon__dims_product(tensor->dims, 0, tensor->rank);
  if (elements != (int64_t)count) {
    tenon__test_fail(place.file, place.line, "%lld elements, expected %zu", (long long)elements,
                     count);
    return;
  }
  for (size_t index = 0; index < count; ++index) {
    double got = fake_number(fake, output, (int64_t)index);
    if (!fake_near(got, numbers[index], tolerance)) {
      tenon__test_fail(place.file, place.line, "element %zu is %g, expected %g", index, got,
                       numbers[index]);
    }
  }
}
#define EXPECT_NUMBERS(fake, output, tolerance, ...)                                  \
  fake_expect_numbers((fake), FAKE_HERE, (output), (tolerance), NUMBERS(__VA_ARGS__), \
                      sizeof(NUMBERS(__VA_ARGS__)) / sizeof(double))

static inline void fake_expect_dims(const fake_t* fake, fake_place_t place, uint32_t output,
                                    uint32_t rank, const int64_t* dims) {
  const fake_tensor_t* tensor = &fake->output_tensors[output];
  if (tensor->rank != rank) {
    tenon__test_fail(place.file, place.line, "rank %u, expected %u", tensor->rank, rank);
    return;
  }
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (tensor->dims[axis] != dims[axis]) {
      tenon__test_fail(place.file, place.line, "extent %lld, expected %lld",
                       (long long)tensor->dims[axis], (long long)dims[axis]);
    }
  }
}
#define EXPECT_DIMS(fake, output, ...) \
  fake_expect_dims((fake), FAKE_HERE, (output), DIMS(__VA_ARGS__))

#endif
