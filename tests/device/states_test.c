/* States on the device `far`: they live in its memory, are updated there, and no run copies them to
 * the host or back. */
#include "network_run.h"

enum { ROWS = 4, COLUMNS = 3, CELLS = ROWS * COLUMNS, ROW_BYTES = COLUMNS * (int)sizeof(float) };

static tenon_value_t add_input(session_t* session, const char* name, tenon_dtype_t dtype,
                               uint32_t rank, const int64_t* dims) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(tenon_network_add_input(session->network, name, dtype, rank, dims, &value),
                TENON_OK);
  return value;
}

static tenon_value_t add_state(session_t* session, const char* name, const float* initial) {
  static const int64_t dims[] = {ROWS, COLUMNS};
  tenon_value_t value = ABSENT;
  const tenon_state_descriptor_t state = {.size = sizeof state,
                                          .name = name,
                                          .dtype = TENON_DTYPE_FLOAT32,
                                          .rank = 2,
                                          .dims = dims,
                                          .initial_data = initial};
  EXPECT_STATUS(tenon_builder_get_table()->add_state(tenon_network_get_builder(session->network),
                                                     &state, &value),
                TENON_OK);
  return value;
}

static void write_state(session_t* session, const char* name, tenon_value_t value) {
  EXPECT_STATUS(tenon_builder_get_table()->write_state(tenon_network_get_builder(session->network),
                                                       name, value),
                TENON_OK);
}

static void add_output(session_t* session, tenon_value_t value, const char* name) {
  EXPECT_STATUS(tenon_network_add_output(session->network, value, name), TENON_OK);
}

static bool open_network(run_t* run, void (*make)(session_t*), const char* device) {
  if (!begin_network(run)) {
    return false;
  }
  make(&run->session);
  return start(run, device, TENON_OPTIONS(tenon_build_options_t));
}

static void expect_state(tenon_context_t* context, const char* name, const float* expected) {
  float data[CELLS] = {0};
  EXPECT_STATUS(tenon_context_read_state(context, name, data, sizeof data), TENON_OK);
  for (int k = 0; k < CELLS; ++k) {
    EXPECT(data[k] == expected[k]);
  }
}

/* Steps whose kernels do nothing but copy. */
static uint32_t copies_of(const run_t* run) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < tenon_engine_step_count(run->engine); ++k) {
    tenon_step_info_t info = {.size = sizeof(info)};
    EXPECT_STATUS(tenon_engine_get_step(run->engine, k, &info), TENON_OK);
    count += strstr(info.name, "(copy)") != NULL ? 1 : 0;
  }
  return count;
}

/* ---- Rows written into a cache ---- */

/* The cache with x at row `at`; y = 2 * all of it. */
static void make_cache(session_t* session) {
  static const int64_t one[] = {1, 1};
  static const int64_t row[] = {1, COLUMNS};
  const tenon_value_t cache = add_state(session, "cache", NULL);
  const tenon_value_t at = add_input(session, "at", TENON_DTYPE_INT64, 2, one);
  const tenon_value_t x = add_input(session, "x", TENON_DTYPE_FLOAT32, 2, row);
  const tenon_value_t next =
      node(session, "standard.scatter_nd/1", VALUES(cache, at, x), NO_ATTRIBUTES);
  write_state(session, "cache", next);
  add_output(session, node(session, "standard.add/1", VALUES(next, next), NO_ATTRIBUTES), "y");
}

static void set_row(const run_t* run, const int64_t* at, const float* x) {
  static const int64_t one[] = {1, 1};
  static const int64_t row[] = {1, COLUMNS};
  set_rows(run, 0, TENON_DTYPE_INT64, 2, one, at);
  set_rows(run, 1, TENON_DTYPE_FLOAT32, 2, row, x);
}

TENON_TEST(a_cache_is_written_in_place_and_never_copied) {
  run_t run;
  float expected[CELLS] = {0};
  REQUIRE(open_network(&run, make_cache, "far"));
  EXPECT_INT(copies_of(&run), 0);
  for (int64_t k = 0; k < 6; ++k) {
    const int64_t at = k % ROWS;
    const float x[COLUMNS] = {(float)k + 1, (float)k + 2, (float)k + 3};
    const far_counts_t before = counts_of(&run);
    set_row(&run, &at, x);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    const far_counts_t after = counts_of(&run);
    memcpy(&expected[at * COLUMNS], x, sizeof x);
    tenon_tensor_view_t y = {0};
    EXPECT_STATUS(tenon_context_get_output(run.context, 0, &y), TENON_OK);
    for (int i = 0; i < CELLS; ++i) {
      EXPECT(((const float*)y.data)[i] == 2 * expected[i]);
    }
    /* The row and where it goes; y. Within the device nothing. */
    EXPECT_INT(after.copied_bytes[TENON_COPY_TO_DEVICE] - before.copied_bytes[TENON_COPY_TO_DEVICE],
               ROW_BYTES + (int)sizeof at);
    EXPECT_INT(after.copied_bytes[TENON_COPY_TO_HOST] - before.copied_bytes[TENON_COPY_TO_HOST],
               CELLS * (int)sizeof(float));
    EXPECT_INT(after.copied_bytes[TENON_COPY_WITHIN] - before.copied_bytes[TENON_COPY_WITHIN], 0);
  }
  expect_state(run.context, "cache", expected);
  const far_counts_t counts = counts_of(&run);
  EXPECT_INT(counts.calls[FAR_CALL_BEGIN_RECORD], 1);
  EXPECT_INT(counts.calls[FAR_CALL_REPLAY], 5);
  end(&run);
}

TENON_TEST(states_are_read_written_reset_and_cloned_on_their_device) {
  run_t run;
  tenon_context_t* other = NULL;
  const int64_t at = 1;
  const float x[COLUMNS] = {1, 2, 3};
  const float cells[CELLS] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4};
  const float written[CELLS] = {9, 8, 7, 1, 2, 3, 3, 2, 1, 2, 3, 4};
  const float zeros[CELLS] = {0};
  REQUIRE(open_network(&run, make_cache, "far"));
  EXPECT_STATUS(tenon_context_create(run.engine, NULL, &other), TENON_OK);
  run.far->set(0, FAR_SETTING_LAZY, 1);
  set_row(&run, &at, x);
  EXPECT_STATUS(tenon_context_write_state(run.context, "cache", cells, sizeof cells), TENON_OK);
  expect_state(run.context, "cache", cells);
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  expect_state(run.context, "cache", written);
  expect_state(other, "cache", zeros);
  EXPECT_STATUS(tenon_context_clone_states(other, run.context), TENON_OK);
  EXPECT_STATUS(tenon_context_reset_states(run.context), TENON_OK);
  expect_state(run.context, "cache", zeros);
  expect_state(other, "cache", written);
  EXPECT_STATUS(tenon_context_read_state(other, "cache", NULL, sizeof cells),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon_context_write_state(other, "cache", cells, 4), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "state 'cache' has 48 bytes, not 4");
  EXPECT_STATUS(tenon_context_write_state(other, "cash", cells, 4), TENON_ERROR_NOT_FOUND);
  tenon_context_destroy(other);
  end(&run);
}

/* What was written before the run failed stays, and that is said; the run that repeats it mends it.
 */
TENON_TEST(a_failed_run_says_that_a_state_in_place_may_be_new) {
  run_t run;
  const int64_t at = 2;
  const float x[COLUMNS] = {1, 2, 3};
  const float expected[CELLS] = {0, 0, 0, 0, 0, 0, 1, 2, 3};
  REQUIRE(open_network(&run, make_cache, "far"));
  set_row(&run, &at, x);
  run.far->fail(0, FAR_CALL_KERNEL, 2, TENON_ERROR_INTERNAL);
  EXPECT_STATUS(tenon_context_run(run.context), TENON_ERROR_INTERNAL);
  EXPECT_CONTAINS(run.session.messages.text, "'cache'");
  EXPECT_CONTAINS(run.session.messages.text, "in place");
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  expect_state(run.context, "cache", expected);
  end(&run);
}

/* The cache with x at row `at`, and what has changed: the old rows are read after the new ones are
 * written, so that these are beside them. */
static void make_change(session_t* session) {
  static const int64_t one[] = {1, 1};
  static const int64_t row[] = {1, COLUMNS};
  const tenon_value_t cache = add_state(session, "cache", NULL);
  const tenon_value_t at = add_input(session, "at", TENON_DTYPE_INT64, 2, one);
  const tenon_value_t x = add_input(session, "x", TENON_DTYPE_FLOAT32, 2, row);
  const tenon_value_t next =
      node(session, "standard.scatter_nd/1", VALUES(cache, at, x), NO_ATTRIBUTES);
  write_state(session, "cache", next);
  add_output(session, node(session, "standard.sub/1", VALUES(next, cache), NO_ATTRIBUTES), "y");
}

TENON_TEST(a_cache_whose_old_rows_are_read_later_takes_turns) {
  run_t run;
  float expected[CELLS] = {0};
  REQUIRE(open_network(&run, make_change, "far"));
  for (int64_t k = 0; k < 6; ++k) {
    const int64_t at = k % ROWS;
    const float x[COLUMNS] = {(float)k + 1, (float)k + 2, (float)k + 3};
    set_row(&run, &at, x);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    tenon_tensor_view_t y = {0};
    EXPECT_STATUS(tenon_context_get_output(run.context, 0, &y), TENON_OK);
    for (int64_t i = 0; i < COLUMNS; ++i) {
      EXPECT(((const float*)y.data)[at * COLUMNS + i] == x[i] - expected[at * COLUMNS + i]);
    }
    memcpy(&expected[at * COLUMNS], x, sizeof x);
  }
  expect_state(run.context, "cache", expected);
  EXPECT_INT(counts_of(&run).calls[FAR_CALL_BEGIN_RECORD], 2);
  end(&run);
}

/* ---- States that are made anew ---- */

/* sum' = sum + x; y = -sum, which is what it was. */
static void make_sum(session_t* session) {
  static const float initial[CELLS] = {10, 20};
  static const int64_t dims[] = {ROWS, COLUMNS};
  const tenon_value_t sum = add_state(session, "sum", initial);
  const tenon_value_t x = add_input(session, "x", TENON_DTYPE_FLOAT32, 2, dims);
  write_state(session, "sum", node(session, "standard.add/1", VALUES(sum, x), NO_ATTRIBUTES));
  add_output(session, node(session, "standard.neg/1", VALUES(sum), NO_ATTRIBUTES), "y");
}

TENON_TEST(a_state_that_is_made_anew_takes_turns_with_what_it_was) {
  static const int64_t dims[] = {ROWS, COLUMNS};
  const float x[CELLS] = {1, 1};
  run_t run;
  REQUIRE(open_network(&run, make_sum, "far"));
  EXPECT_INT(copies_of(&run), 0);
  set_rows(&run, 0, TENON_DTYPE_FLOAT32, 2, dims, x);
  for (int k = 0; k < 7; ++k) {
    const far_counts_t before = counts_of(&run);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    const far_counts_t after = counts_of(&run);
    tenon_tensor_view_t y = {0};
    EXPECT_STATUS(tenon_context_get_output(run.context, 0, &y), TENON_OK);
    EXPECT(((const float*)y.data)[0] == (float)(-10 - k));
    EXPECT_INT(after.calls[FAR_CALL_COPY] - before.calls[FAR_CALL_COPY], 2); /* x and y */
  }
  const float expected[CELLS] = {17, 27};
  expect_state(run.context, "sum", expected);
  const far_counts_t counts = counts_of(&run);
  EXPECT_INT(counts.calls[FAR_CALL_BEGIN_RECORD], 2); /* one for each turn */
  EXPECT_INT(counts.calls[FAR_CALL_REPLAY], 5);
  end(&run);
}

TENON_TEST(a_state_that_takes_turns_is_as_before_a_run_that_fails) {
  static const int64_t dims[] = {ROWS, COLUMNS};
  static const far_call_t failing[] = {FAR_CALL_COPY, FAR_CALL_KERNEL, FAR_CALL_WORK};
  const float x[CELLS] = {1, 1};
  for (size_t f = 0; f < sizeof failing / sizeof *failing; ++f) {
    run_t run;
    float expected[CELLS] = {10, 20};
    REQUIRE(open_network(&run, make_sum, "far"));
    set_rows(&run, 0, TENON_DTYPE_FLOAT32, 2, dims, x);
    for (uint64_t nth = 1; nth <= 2; ++nth) {
      run.far->fail(0, failing[f], nth, TENON_ERROR_INTERNAL);
      EXPECT_STATUS(tenon_context_run(run.context), TENON_ERROR_INTERNAL);
      expect_state(run.context, "sum", expected);
      EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
      expected[0] += 1;
      expected[1] += 1;
      expect_state(run.context, "sum", expected);
    }
    end(&run);
  }
}

/* left and right change places, and `stays` is read and never written. */
static void make_exchange(session_t* session) {
  static const float one[CELLS] = {1, 2};
  static const float other[CELLS] = {3, 4};
  const tenon_value_t left = add_state(session, "left", one);
  const tenon_value_t right = add_state(session, "right", other);
  const tenon_value_t stays = add_state(session, "stays", one);
  const tenon_value_t difference =
      node(session, "standard.sub/1", VALUES(left, right), NO_ATTRIBUTES);
  write_state(session, "left", right);
  write_state(session, "right", left);
  add_output(session, node(session, "standard.add/1", VALUES(difference, stays), NO_ATTRIBUTES),
             "y");
}

TENON_TEST(states_change_places_on_their_device) {
  static const float one[CELLS] = {1, 2};
  static const float other[CELLS] = {3, 4};
  run_t run;
  REQUIRE(open_network(&run, make_exchange, "far"));
  for (int k = 0; k < 5; ++k) {
    const far_counts_t before = counts_of(&run);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    const far_counts_t after = counts_of(&run);
    tenon_tensor_view_t y = {0};
    EXPECT_STATUS(tenon_context_get_output(run.context, 0, &y), TENON_OK);
    EXPECT(((const float*)y.data)[0] == (k % 2 == 0 ? -1 : 3));
    EXPECT_INT(after.calls[FAR_CALL_COPY] - before.calls[FAR_CALL_COPY], 1); /* y */
    expect_state(run.context, "left", k % 2 == 0 ? other : one);
    expect_state(run.context, "right", k % 2 == 0 ? one : other);
    expect_state(run.context, "stays", one);
  }
  end(&run);
}

/* ---- Runs behind one another ---- */

typedef struct lender_t {
  void* blocks[3];
} lender_t;

/* With all inputs and outputs on the device the host leaves out the waiting, also where a state is
 * updated in place. */
TENON_TEST(steps_are_enqueued_behind_one_another) {
  static const int64_t shapes[3][2] = {{1, 1}, {1, COLUMNS}, {ROWS, COLUMNS}};
  static const size_t bytes[3] = {sizeof(int64_t), ROW_BYTES, CELLS * sizeof(float)};
  run_t run;
  lender_t lender;
  const int64_t at = 3;
  const float x[COLUMNS] = {1, 2, 3};
  float y[CELLS];
  REQUIRE(open_network(&run, make_cache, "far"));
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_engine_allocate(run.engine, bytes[k], &lender.blocks[k]), TENON_OK);
    const tenon_tensor_view_t view = {.data = lender.blocks[k],
                                      .dims = shapes[k],
                                      .rank = 2,
                                      .dtype = k == 0 ? TENON_DTYPE_INT64 : TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
    EXPECT_STATUS(k < 2 ? tenon_context_set_input_on_device(run.context, (uint32_t)k, &view)
                        : tenon_context_set_output_on_device(run.context, 0, &view),
                  TENON_OK);
  }
  EXPECT_STATUS(
      tenon_engine_copy(run.engine, TENON_COPY_TO_DEVICE, lender.blocks[0], &at, sizeof at),
      TENON_OK);
  EXPECT_STATUS(tenon_engine_copy(run.engine, TENON_COPY_TO_DEVICE, lender.blocks[1], x, sizeof x),
                TENON_OK);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  }
  run.far->set(0, FAR_SETTING_LAZY, 1);
  const far_counts_t before = counts_of(&run);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_enqueue(run.context), TENON_OK);
  }
  const far_counts_t after = counts_of(&run);
  EXPECT_INT(after.calls[FAR_CALL_REPLAY] - before.calls[FAR_CALL_REPLAY], 3);
  EXPECT_INT(after.calls[FAR_CALL_COPY], before.calls[FAR_CALL_COPY]);
  EXPECT_INT(after.calls[FAR_CALL_WORK], before.calls[FAR_CALL_WORK]);
  EXPECT_STATUS(tenon_context_synchronize(run.context), TENON_OK);
  EXPECT_STATUS(tenon_engine_copy(run.engine, TENON_COPY_TO_HOST, y, lender.blocks[2], sizeof y),
                TENON_OK);
  EXPECT(y[CELLS - 1] == 6);
  for (int k = 0; k < 3; ++k) {
    tenon_engine_free(run.engine, lender.blocks[k], bytes[k]);
  }
  end(&run);
}

/* ---- Where the host takes part ---- */

/* The same networks where a step, or all, is the host's. */
TENON_TEST(the_host_does_it_alike) {
  static const int64_t dims[] = {ROWS, COLUMNS};
  const float x[CELLS] = {1, 1};
  const float sums[CELLS] = {13, 23};
  run_t run;
  REQUIRE(open_network(&run, make_sum, "cpu"));
  set_rows(&run, 0, TENON_DTYPE_FLOAT32, 2, dims, x);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  }
  expect_state(run.context, "sum", sums);
  end(&run);
  const int64_t at = 3;
  float cells[CELLS] = {0};
  REQUIRE(open_network(&run, make_cache, "cpu"));
  EXPECT_INT(copies_of(&run), 0);
  set_row(&run, &at, x);
  memcpy(&cells[CELLS - COLUMNS], x, ROW_BYTES);
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  expect_state(run.context, "cache", cells);
  end(&run);
}
