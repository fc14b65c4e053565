/* Networks by hand whose numbers stand in the test itself: inputs are set, outputs compared, run by
 * run. */
#ifndef TENON_TESTS_API_FIGURES_H_
#define TENON_TESTS_API_FIGURES_H_

#include "tests/api/scene.h"

#define NUMBERS(...) ((const double[]){__VA_ARGS__})
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

static inline tenon_value_t input(session_t* s, const char* name, tenon_dtype_t dtype,
                                  uint32_t rank, const int64_t* dims) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(tenon_network_add_input(s->network, name, dtype, rank, dims, &value), TENON_OK);
  return value;
}

static inline tenon_value_t constant(session_t* s, tenon_dtype_t dtype, uint32_t rank,
                                     const int64_t* dims, const void* data) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(tenon_network_add_constant(s->network, NULL, dtype, rank, dims, data, &value),
                TENON_OK);
  return value;
}

#define FLOAT_VECTOR(s, ...)                                                                  \
  constant((s), TENON_DTYPE_FLOAT32, 1, DIMS(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), \
           ((const float[]){__VA_ARGS__}))
#define INTEGER_VECTOR(s, ...)                                                                  \
  constant((s), TENON_DTYPE_INT64, 1, DIMS(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
           ((const int64_t[]){__VA_ARGS__}))

static inline void output(session_t* s, tenon_value_t value, const char* name) {
  EXPECT_STATUS(tenon_network_add_output(s->network, value, name), TENON_OK);
}

static inline void set(const scene_t* scene, uint32_t index, tenon_dtype_t dtype, uint32_t rank,
                       const int64_t* dims, void* data) {
  const tenon_tensor_view_t view = {
      .data = data, .dims = dims, .rank = rank, .dtype = dtype, .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_input(scene->context, index, &view), TENON_OK);
}

static inline void run(const scene_t* scene) {
  EXPECT_STATUS(tenon_context_run(scene->context), TENON_OK);
}

/* Output `index` has this shape, and these elements. */
static inline void expect_tensor(const scene_t* scene, uint32_t index, uint32_t rank,
                                 const int64_t* dims, const double* numbers) {
  tenon_tensor_view_t view;
  int64_t dense[MOST_RANK];
  uint64_t count = 0;
  REQUIRE(tenon_context_get_output(scene->context, index, &view) == TENON_OK);
  REQUIRE(view.rank == rank);
  for (uint32_t d = 0; d < rank; ++d) {
    EXPECT_INT(view.dims[d], dims[d]);
  }
  REQUIRE(rank == 0 || memcmp(view.dims, dims, rank * sizeof *dims) == 0);
  (void)tenon__strides_row_major(rank, dims, dense);
  (void)tenon__element_count(rank, dims, &count);
  for (uint64_t i = 0; i < count; ++i) {
    const double is = session_number(&view, view.strides == NULL ? dense : view.strides, i);
    /* As many as the extents say. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    if (!session_is_close(is, numbers[i], 0)) {
      tenon__test_fail(__FILE__, __LINE__, "output %u[%llu] is %.9g, expected %.9g", index,
                       (unsigned long long)i, is, numbers[i]);
    }
  }
}

/* Output `index` is a scalar (rank 0, one number) or a vector of these numbers. */
static inline void expect(const scene_t* scene, uint32_t index, uint32_t rank, int64_t count,
                          const double* numbers) {
  REQUIRE(rank <= 1);
  expect_tensor(scene, index, rank, &count, numbers);
}

#endif
