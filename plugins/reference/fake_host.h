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

#include "core/base/test.h"
#include "interpreter.h"
#include "tests/support/kernel_host.h"
#include "work.h"

static inline fake_t fake_of(const char* op) {
  fake_t fake = {.op = op};
  return fake;
}

/* Tensors. */
#define DIMS(...) \
  (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})
#define SCALAR 0u, NULL
#define NUMBERS(...) ((const double[]){__VA_ARGS__})
#define INTS(...) DIMS(__VA_ARGS__)

static inline tenon_tensor_view_t* fake_add_input(fake_t* fake, tenon_dtype_t dtype, uint32_t rank,
                                                  const int64_t* dims) {
  tenon_argument_t* argument = &fake->inputs[fake->input_count++];
  *argument = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR,
                                 .tensor = fake_tensor(fake, dtype, rank, dims)};
  return &argument->tensor;
}
static inline void fake_input(fake_t* fake, tenon_dtype_t dtype, uint32_t rank, const int64_t* dims,
                              const double* numbers) {
  const tenon_tensor_view_t* tensor = fake_add_input(fake, dtype, rank, dims);
  const int64_t count = tenon__dims_product(tensor->dims, 0, rank);
  for (int64_t place = 0; place < count; ++place) {
    tenon__number_t number = tenon__number_of(dtype, numbers[place]); /* NOLINT(clang-analyzer-*) */
    tenon__number_store(tensor->data, 0, dtype, place, number);
  }
}
static inline void fake_strings(fake_t* fake, uint32_t count, const char* const* texts) {
  const int64_t dims[1] = {count};
  tenon_string_view_t* views = fake_add_input(fake, TENON_DTYPE_STRING, 1, dims)->data;
  for (uint32_t place = 0; place < count; ++place) {
    /* NOLINTNEXTLINE(clang-analyzer-*): there is memory for all of them */
    views[place] = (tenon_string_view_t){texts[place], strlen(texts[place])};
  }
}
static inline void fake_absent(fake_t* fake) {
  ++fake->input_count;
}
static inline void fake_output(fake_t* fake, tenon_dtype_t dtype, uint32_t rank,
                               const int64_t* dims) {
  const uint32_t index = fake->output_count++;
  fake->results[index] = fake_tensor(fake, dtype, rank, dims);
  fake->outputs[index] =
      (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = fake->results[index]};
}
/* An output whose extents the kernel finds. */
static inline void fake_unbounded(fake_t* fake, tenon_dtype_t dtype) {
  fake->outputs[fake->output_count++] =
      (tenon_argument_t){.kind = TENON_ARGUMENT_ALLOCATE, .tensor = {.dtype = dtype}};
}

/* The kernel for the region: by operator, or by kind. */
static inline const tenon_kernel_t* fake_kernel(const fake_t* fake) {
  static const tenon_host_offer_t offer = {.abi_major = TENON_ABI_MAJOR};
  const tenon_offering_t* const* offerings = tenon_plugin_query(&offer)->offerings.items;
  const tenon_offering_t* offering = offerings[0];
  const tenon_kernel_t* kernels = offering->items.items;
  uint32_t flag = fake->program != NULL ? TENON_KERNEL_EXPRESSIONS : TENON_KERNEL_MOVES;
  for (uint32_t index = 0; index < offering->items.count; ++index) {
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
    const tenon_prepare_t making = fake_prepare_call(fake, NULL);
    status = kernel->prepare(&making, &instance);
  }
  if (status == TENON_OK) {
    status = kernel->bind(instance, (tenon_binding_t*)fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = fake_enqueue_call(fake, instance, bound);
  return status == TENON_OK ? kernel->enqueue(&call) : status;
}

/* Element `place` of an output as a double. */
static inline double fake_number(const fake_t* fake, uint32_t output, int64_t place) {
  const tenon_tensor_view_t* tensor = &fake->results[output];
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
  const tenon_tensor_view_t* tensor = &fake->results[output];
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
  const tenon_tensor_view_t* tensor = &fake->results[output];
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
