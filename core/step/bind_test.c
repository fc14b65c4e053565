/* Extents that take turns: a step is bound once for each of the latest few. */
#include "tests/support/core_world.h"

enum { COLUMNS = 4, MOST_ROWS = 8, REMEMBERED = 4 /* by a context, for each step */ };

static uint32_t bind_count;
static uint32_t live_count;

/* What is bound is the number of rows. */
static tenon_status_t bind_rows(void* instance, tenon_binding_t* binding,
                                const tenon_bind_table_t* host, void** out_bound) {
  int64_t* rows = host->allocate(binding, sizeof *rows);
  (void)instance;
  if (rows == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *rows = host->input(binding, 0)->tensor.dims[0];
  *out_bound = rows;
  bind_count += 1;
  live_count += 1;
  return TENON_OK;
}

static void unbind_rows(void* instance, void* bound) {
  (void)instance;
  (void)bound;
  live_count -= 1;
}

/* y is full of the number of rows for which it was bound. */
static tenon_status_t write_rows(const tenon_enqueue_t* call) {
  const int64_t* rows = call->bound;
  const tenon_tensor_view_t* y = &call->outputs[0].tensor;
  EXPECT_INT(y->dims[0], *rows);
  for (int64_t k = 0; k < y->dims[0] * y->dims[1]; ++k) {
    ((float*)y->data)[k] = (float)*rows;
  }
  return TENON_OK;
}

static void begin(core_world_t* world) {
  static const char* const takes_dense[] = {"test.dense/1", NULL};
  static const tenon_kernel_t kernel = {.size = sizeof(tenon_kernel_t),
                                        .name = "rows",
                                        .device = "cpu",
                                        .operators = takes_dense,
                                        .version = 1,
                                        .bind = bind_rows,
                                        .unbind = unbind_rows,
                                        .enqueue = write_rows};
  static const int64_t least[] = {1, COLUMNS};
  static const int64_t most[] = {MOST_ROWS, COLUMNS};
  static tenon__build_range_t range;
  static const float zeros[COLUMNS];
  core_world_begin(world, &kernel, 1);
  range =
      (tenon__build_range_t){.input = "x", .rank = 2, .min = least, .optimum = most, .max = most};
  world->options.ranges = &range;
  world->options.range_count = 1;
  test_fixture_t* b = &world->fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(-1, COLUMNS));
  const tenon_value_t w = test_floats(b, "w", zeros, DIMS(1, COLUMNS));
  const tenon_value_t y = test_node(b, "test.dense/1", "dense", x, w, NO_VALUE);
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
}

static void run_rows(core_world_t* world, int64_t rows) {
  static const float zeros[MOST_ROWS * COLUMNS];
  float expected[MOST_ROWS];
  for (int64_t k = 0; k < rows; ++k) {
    expected[k] = (float)rows;
  }
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_FLOAT32, DIMS(rows, COLUMNS), zeros),
                TENON_OK);
  core_world_expect_ran(world);
  core_world_expect(__LINE__, world, 0, expected, rows);
}

TENON_TEST(two_that_take_turns_are_bound_twice) {
  core_world_t world;
  begin(&world);
  if (core_world_start(&world)) {
    bind_count = 0;
    for (int k = 0; k < 10; ++k) {
      run_rows(&world, 2 + k % 2);
    }
    EXPECT_INT(bind_count, 2);
  }
  core_world_end(&world);
  EXPECT_INT(live_count, 0);
}

/* More than are remembered: bound again, and right; and what was used lately stays. */
TENON_TEST(the_one_unused_for_longest_goes) {
  core_world_t world;
  begin(&world);
  if (core_world_start(&world)) {
    for (int k = 0; k < 20; ++k) {
      run_rows(&world, 1 + k % MOST_ROWS);
      EXPECT(live_count <= REMEMBERED);
    }
    run_rows(&world, 1);
    bind_count = 0;
    for (int64_t rows = 2; rows < 8; ++rows) {
      run_rows(&world, 1);
      run_rows(&world, rows);
    }
    run_rows(&world, 1);
    EXPECT_INT(bind_count, 3); /* 2, 3 and 4 are remembered, 5, 6 and 7 are new, 1 stays */
  }
  core_world_end(&world);
  EXPECT_INT(live_count, 0);
}
