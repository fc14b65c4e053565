/* Faults that work on the device `far` finds in data: read when the host waits, told with the
 * step's name and the kernel's words, and forgotten before the next run. */
#include "network_run.h"

enum { PLACES = 4, WRITES = 2 };

/* y = -(x with updates at the indices, which are an input). */
static void make(session_t* session) {
  static const int64_t places[] = {PLACES};
  static const int64_t writes[] = {WRITES};
  tenon_value_t in[3] = {{0}};
  EXPECT_STATUS(
      tenon_network_add_input(session->network, "x", TENON_DTYPE_FLOAT32, 1, places, &in[0]),
      TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_input(session->network, "indices", TENON_DTYPE_INT64, 1, writes, &in[1]),
      TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_input(session->network, "updates", TENON_DTYPE_FLOAT32, 1, writes, &in[2]),
      TENON_OK);
  tenon_value_t y = ABSENT;
  EXPECT_STATUS(tenon_network_add(session->network, "standard.scatter_elements/1", "writes", in, 3,
                                  NULL, &y, 1),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(session->network,
                                         node(session, "standard.neg/1", VALUES(y), NULL), "y"),
                TENON_OK);
}

static bool open_network(run_t* run, uint64_t is_lazy) {
  if (!begin_network(run)) {
    return false;
  }
  run->far->set(0, FAR_SETTING_LAZY, is_lazy);
  make(&run->session);
  return start(run, "far", TENON_OPTIONS(tenon_build_options_t));
}

/* 10 goes to place 1, 20 to `second`. */
static tenon_status_t write_places(run_t* run, int64_t second) {
  static const int64_t places[] = {PLACES};
  static const int64_t writes[] = {WRITES};
  float x[PLACES] = {1, 2, 3, 4};
  int64_t indices[WRITES] = {1, second};
  float updates[WRITES] = {10, 20};
  set_rows(run, 0, TENON_DTYPE_FLOAT32, 1, places, x);
  set_rows(run, 1, TENON_DTYPE_INT64, 1, writes, indices);
  set_rows(run, 2, TENON_DTYPE_FLOAT32, 1, writes, updates);
  return tenon_context_run(run->context);
}

static void expect_good_run(run_t* run) {
  static const float expected[PLACES] = {-1, -10, -3, -20};
  tenon_tensor_view_t y = {0};
  EXPECT_STATUS(write_places(run, 3), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(run->context, 0, &y), TENON_OK);
  for (int k = 0; k < PLACES && y.data != NULL; ++k) {
    EXPECT_NEAR(((const float*)y.data)[k], expected[k], 0);
  }
}

/* Step by step, recorded, replayed: wherever it happens it is told, and told once. */
TENON_TEST(a_fault_names_the_step) {
  for (uint64_t is_lazy = 0; is_lazy < 2; ++is_lazy) {
    run_t run;
    REQUIRE(open_network(&run, is_lazy));
    for (int64_t round = 0; round < 5; ++round) {
      EXPECT_STATUS(write_places(&run, 70 + round), TENON_ERROR_INVALID_DATA);
      char words[128];
      (void)snprintf(
          words, sizeof words,
          "writes (standard.scatter_elements/1, far_device:scatter_elements): scatters to %d, "
          "where nothing is",
          (int)(70 + round));
      EXPECT_CONTAINS(tenon_last_message(), words);
      expect_good_run(&run);
      expect_good_run(&run);
    }
    end(&run);
  }
}

/* ---- Runs that follow one another ---- */

enum { BYTES = 64 };

typedef struct lent_t {
  run_t run;
  void* data[4]; /* x, indices, updates, y */
} lent_t;

static void lend(lent_t* lent) {
  static const int64_t places[] = {PLACES};
  static const int64_t writes[] = {WRITES};
  for (uint32_t k = 0; k < 4; ++k) {
    const tenon_tensor_view_t view = {.dims = k == 0 || k == 3 ? places : writes,
                                      .rank = 1,
                                      .dtype = k == 1 ? TENON_DTYPE_INT64 : TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
    EXPECT_STATUS(tenon_engine_allocate(lent->run.engine, BYTES, &lent->data[k]), TENON_OK);
    tenon_tensor_view_t own = view;
    own.data = lent->data[k];
    EXPECT_STATUS(k < 3 ? tenon_context_set_input_on_device(lent->run.context, k, &own)
                        : tenon_context_set_output_on_device(lent->run.context, 0, &own),
                  TENON_OK);
  }
}

static void write_lent(lent_t* lent, int64_t second) {
  const float x[PLACES] = {1, 2, 3, 4};
  const int64_t indices[WRITES] = {1, second};
  const float updates[WRITES] = {10, 20};
  const struct {
    const void* data;
    size_t size;
  } from[] = {{x, sizeof x}, {indices, sizeof indices}, {updates, sizeof updates}};
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_engine_copy(lent->run.engine, TENON_COPY_TO_DEVICE, lent->data[k],
                                    from[k].data, from[k].size),
                  TENON_OK);
  }
}

/* Enqueues three runs. Returns the number of waits of the host, plus the bytes copied to the host. */
static uint64_t enqueue_several(lent_t* lent) {
  const far_counts_t before = counts_of(&lent->run);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_enqueue(lent->run.context), TENON_OK);
  }
  const far_counts_t after = counts_of(&lent->run);
  return after.calls[FAR_CALL_SYNCHRONIZE] - before.calls[FAR_CALL_SYNCHRONIZE] +
         (after.copied_bytes[TENON_COPY_TO_HOST] - before.copied_bytes[TENON_COPY_TO_HOST]);
}

/* The host does not wait for data errors between runs. The next synchronisation reports the first. */
TENON_TEST(runs_follow_one_another_and_the_wait_tells_the_fault) {
  for (uint64_t is_lazy = 0; is_lazy < 2; ++is_lazy) {
    lent_t lent = {.data = {NULL}};
    REQUIRE(open_network(&lent.run, is_lazy));
    lend(&lent);
    for (int64_t round = 0; round < 4; ++round) {
      write_lent(&lent, 3);
      EXPECT_INT(enqueue_several(&lent), 0);
      EXPECT_STATUS(tenon_context_synchronize(lent.run.context), TENON_OK);
      float y[PLACES] = {0};
      EXPECT_STATUS(
          tenon_engine_copy(lent.run.engine, TENON_COPY_TO_HOST, y, lent.data[3], sizeof y),
          TENON_OK);
      EXPECT_NEAR(y[3], -20, 0);
      write_lent(&lent, 70 + round);
      EXPECT_INT(enqueue_several(&lent), 0);
      EXPECT_STATUS(tenon_context_synchronize(lent.run.context), TENON_ERROR_INVALID_DATA);
      EXPECT_CONTAINS(tenon_last_message(), "writes (standard.scatter_elements/1");
      EXPECT_STATUS(tenon_context_synchronize(lent.run.context), TENON_OK);
    }
    for (int k = 0; k < 4; ++k) {
      tenon_engine_free(lent.run.engine, lent.data[k], BYTES);
    }
    end(&lent.run);
  }
}

/* A step without faults to tell asks for nothing: here one copy of a few bytes. */
TENON_TEST(a_run_without_one_costs_a_copy) {
  run_t run;
  REQUIRE(open_network(&run, 0));
  for (int k = 0; k < 4; ++k) {
    expect_good_run(&run);
  }
  const far_counts_t before = counts_of(&run);
  expect_good_run(&run);
  const far_counts_t after = counts_of(&run);
  EXPECT_INT(after.copied_bytes[TENON_COPY_TO_HOST] - before.copied_bytes[TENON_COPY_TO_HOST],
             PLACES * sizeof(float) + sizeof(tenon_fault_t));
  end(&run);
}
