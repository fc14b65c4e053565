/* Outputs whose extents the kernel finds: tried as they run, and never forgotten. */
#include "tests/support/tactics_world.h"

enum { COUNT = 8 };

static const char* const takes_compress[] = {"test.compress/1", NULL};

/* The elements above zero. */
static tenon_status_t run_compress(const tenon_enqueue_t* call) {
  const float* x = call->inputs[0].tensor.data;
  void* y = NULL;
  int64_t count = 0;
  if (call->outputs[0].kind != TENON_ARGUMENT_ALLOCATE) {
    return call->host->fail(call->run, TENON_ERROR_INTERNAL, "the output is not to be allocated");
  }
  for (int64_t k = 0; k < COUNT; ++k) {
    count += x[k] > 0 ? 1 : 0;
  }
  if (call->host->allocate_output(call->run, 0, 1, &count, &y) != TENON_OK) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  count = 0;
  for (int64_t k = 0; k < COUNT; ++k) {
    if (x[k] > 0) {
      ((float*)y)[count++] = x[k];
    }
  }
  return TENON_OK;
}

static tenon_status_t run_without_allocating(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_OK;
}

/* All of them, as if nothing were to be left out. */
static tenon_status_t run_too_much(const tenon_enqueue_t* call) {
  void* y = NULL;
  const int64_t count = COUNT;
  if (call->host->allocate_output(call->run, 0, 1, &count, &y) != TENON_OK) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memcpy(y, call->inputs[0].tensor.data, sizeof(float) * COUNT);
  return TENON_OK;
}

static tenon_status_t run_past_the_bound(const tenon_enqueue_t* call) {
  void* y = NULL;
  const int64_t count = COUNT + 1;
  const tenon_status_t status = call->host->allocate_output(call->run, 0, 1, &count, &y);
  if (status == TENON_OK) {
    memset(y, 0, sizeof(float) * (COUNT + 1));
  }
  return status;
}

static tenon_status_t run_half(const tenon_enqueue_t* call) {
  void* y = NULL;
  const int64_t count = COUNT;
  if (call->host->allocate_output(call->run, 0, 1, &count, &y) != TENON_OK) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memset(y, 0, sizeof(float) * (COUNT / 2));
  return TENON_OK;
}

static tenon_kernel_t compress_of(const char* name,
                                  tenon_status_t (*enqueue)(const tenon_enqueue_t*)) {
  tenon_kernel_t kernel = dense_of(name, enqueue);
  kernel.operators = takes_compress;
  return kernel;
}

static void make_compress(test_fixture_t* b) {
  const tenon_value_t x = test_input(b, "x", DIMS(COUNT));
  add_output(b, test_unary(b, "test.compress/1", "compress", x));
}

TENON_TEST(a_kernel_that_allocates_is_timed_and_runs) {
  static const float x[COUNT] = {1, -1, 2, -2, 3, -3, 4, -4};
  const tenon_kernel_t kernel = compress_of("compress", run_compress);
  char text[512];
  core_world_t world;
  measuring_world(&world, &kernel, 1);
  make_compress(&world.fixture);
  EXPECT_TEXT(build_steps(&world, text), "compress/default");
  EXPECT_CONTAINS(world.fixture.messages.text, "1 times were measured");
  EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(COUNT), x), TENON_OK);
  core_world_expect_ran(&world);
  EXPECT_FLOATS(&world, 0, 1, 2, 3, 4);
  core_world_end(&world);
}

/* Extents are compared too, and what is allocated must be written. */
TENON_TEST(what_is_allocated_is_compared) {
  tenon_kernel_t kernels[] = {compress_of("half", run_half), compress_of("much", run_too_much),
                              compress_of("oracle", run_compress),
                              compress_of("right", run_compress)};
  char text[512];
  core_world_t world;
  kernels[2].flags = TENON_KERNEL_REFERENCE;
  measuring_world(&world, kernels, 4);
  make_compress(&world.fixture);
  (void)build_steps(&world, text);
  EXPECT_CONTAINS(refusals_of(&world, 0),
                  "tests:half (default): is wrong: does not write 4 of 8 elements, the first of "
                  "them [4] of 'compress'");
  EXPECT_CONTAINS(refusals_of(&world, 0),
                  "tests:much (default): is wrong: computes something else "
                  "than the operator's definition: other extents of output 0");
  core_world_end(&world);
}

TENON_TEST(an_output_that_nobody_allocated_is_an_error) {
  static const float x[COUNT] = {1};
  static const char message[] =
      "the kernel did not allocate output 0, 'compress', whose extents it finds";
  const tenon_kernel_t kernel = compress_of("forgets", run_without_allocating);
  core_world_t world;
  measuring_world(&world, &kernel, 1); /* when it is tried */
  make_compress(&world.fixture);
  EXPECT_STATUS(core_world_build(&world), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(world.fixture.messages.text, "tests:forgets (default): failed when it was tried");
  EXPECT_CONTAINS(world.fixture.messages.text, message);
  core_world_end(&world);
  core_world_begin(&world, &kernel, 1); /* when it runs */
  make_compress(&world.fixture);
  REQUIRE(core_world_start(&world));
  EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(COUNT), x), TENON_OK);
  EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_INTERNAL);
  EXPECT_CONTAINS(world.fixture.messages.text,
                  "compress (test.compress/1, tests:forgets): the kernel");
  EXPECT_CONTAINS(world.fixture.messages.text, message);
  core_world_end(&world);
}

TENON_TEST(more_than_the_bound_is_an_error) {
  static const float x[COUNT] = {1};
  const tenon_kernel_t kernel = compress_of("greedy", run_past_the_bound);
  core_world_t world;
  core_world_begin(&world, &kernel, 1);
  make_compress(&world.fixture);
  REQUIRE(core_world_start(&world));
  EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(COUNT), x), TENON_OK);
  EXPECT_STATUS(tenon__context_run(world.context), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(world.fixture.messages.text, "extent 0 is 9, its bound is 8");
  core_world_end(&world);
}
