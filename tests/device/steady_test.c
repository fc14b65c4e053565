/* Runs that are as the one before: one replay of some sixty steps, and no thread of the host but
 * the caller's. Whatever is set, changed or goes wrong in between is heard all the same. */
#include <dirent.h>

#include "network_run.h"

enum {
  LAYERS = 30,
  WIDTH = 8,
  BYTES = PIXELS * (int)sizeof(float),
  TWICE = 2 * BYTES,
  THREADS = 4
};

typedef struct steady_t {
  run_t run;
  void* x;
  void* y[2];
} steady_t;

static const int64_t square[] = {WIDTH, WIDTH};

/* ---- The network ---- */

static void fill_weights(int layer, float out_weights[PIXELS]) {
  for (int k = 0; k < PIXELS; ++k) {
    out_weights[k] = (float)((k * 5 + layer) % 9) / 4 + (float)layer / 64; /* each its own */
  }
}

static void make(session_t* session) {
  float weights[PIXELS];
  tenon_value_t x = ABSENT;
  EXPECT_STATUS(tenon_network_add_input(session->network, "x", TENON_DTYPE_FLOAT32, 2, square, &x),
                TENON_OK);
  for (int layer = 0; layer < LAYERS; ++layer) {
    char name[16];
    tenon_value_t w = ABSENT;
    (void)snprintf(name, sizeof name, "w%d", layer);
    fill_weights(layer, weights);
    EXPECT_STATUS(tenon_network_add_constant(session->network, name, TENON_DTYPE_FLOAT32, 2, square,
                                             weights, &w),
                  TENON_OK);
    x = node(session, "standard.mat_mul/1", VALUES(x, w), NO_ATTRIBUTES);
    x = node(session, "standard.softmax/1", VALUES(x), NO_ATTRIBUTES);
  }
  EXPECT_STATUS(tenon_network_add_output(session->network, x, "y"), TENON_OK);
}

static tenon_tensor_view_t view_of(void* data) {
  return (tenon_tensor_view_t){
      .data = data, .dims = square, .rank = 2, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
}

static tenon_status_t lend(steady_t* steady, void* y) {
  const tenon_tensor_view_t input = view_of(steady->x);
  const tenon_tensor_view_t output = view_of(y);
  const tenon_status_t status = tenon_context_set_input_on_device(steady->run.context, 0, &input);
  return status == TENON_OK ? tenon_context_set_output_on_device(steady->run.context, 0, &output)
                            : status;
}

static void write_numbers(steady_t* steady) {
  EXPECT_STATUS(tenon_engine_copy(steady->run.engine, TENON_COPY_TO_DEVICE, steady->x,
                                  steady->run.numbers, BYTES),
                TENON_OK);
}

static void read_numbers(steady_t* steady, const void* y, float out_numbers[PIXELS]) {
  EXPECT_STATUS(tenon_engine_copy(steady->run.engine, TENON_COPY_TO_HOST, out_numbers, y, BYTES),
                TENON_OK);
}

/* Runs until nothing changes any more: step by step, recorded, replayed. */
static void settle(steady_t* steady) {
  for (int k = 0; k < 4; ++k) {
    EXPECT_STATUS(tenon_context_run(steady->run.context), TENON_OK);
  }
}

static bool steady_begin(steady_t* steady) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.thread_count = THREADS;
  memset(steady, 0, sizeof *steady);
  if (!begin_network(&steady->run)) {
    return false;
  }
  make(&steady->run.session);
  if (!start(&steady->run, "far", options)) {
    return false;
  }
  EXPECT_STATUS(tenon_engine_allocate(steady->run.engine, BYTES, &steady->x), TENON_OK);
  for (int k = 0; k < 2; ++k) {
    EXPECT_STATUS(tenon_engine_allocate(steady->run.engine, BYTES, &steady->y[k]), TENON_OK);
  }
  for (int k = 0; k < PIXELS; ++k) {
    steady->run.numbers[k] = (float)(k % 7);
  }
  write_numbers(steady);
  EXPECT_STATUS(lend(steady, steady->y[0]), TENON_OK);
  settle(steady);
  return true;
}

static void steady_end(steady_t* steady) {
  tenon_engine_free(steady->run.engine, steady->x, BYTES);
  tenon_engine_free(steady->run.engine, steady->y[0], BYTES);
  tenon_engine_free(steady->run.engine, steady->y[1], BYTES);
  end(&steady->run);
}

/* What a context that looks at everything makes of the same. */
static void find_expected(steady_t* steady, float out_numbers[PIXELS]) {
  tenon_context_t* own = steady->run.context;
  tenon_tensor_view_t y = {0};
  EXPECT_STATUS(tenon_context_create(steady->run.engine, NULL, &steady->run.context), TENON_OK);
  set_rows(&steady->run, 0, TENON_DTYPE_FLOAT32, 2, square, steady->run.numbers);
  EXPECT_STATUS(tenon_context_run(steady->run.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(steady->run.context, 0, &y), TENON_OK);
  if (y.data != NULL) {
    memcpy(out_numbers, y.data, BYTES);
  }
  tenon_context_destroy(steady->run.context);
  steady->run.context = own;
}

static bool are_equal(const float* a, const float* b) {
  bool equal = true;
  for (int k = 0; k < PIXELS; ++k) {
    equal = equal && a[k] == b[k];
  }
  return equal;
}

static void expect_numbers(steady_t* steady, const void* y) {
  float expected[PIXELS] = {0};
  float numbers[PIXELS] = {0};
  find_expected(steady, expected);
  read_numbers(steady, y, numbers);
  EXPECT(expected[0] != 0);
  EXPECT(are_equal(expected, numbers));
}

/* ---- What a run asks for ---- */

static uint64_t all_calls(const steady_t* steady) {
  const far_counts_t counts = counts_of(&steady->run);
  uint64_t sum = 0;
  for (int k = 0; k < FAR_CALL_COUNT; ++k) {
    sum += k == FAR_CALL_WORK ? 0 : counts.calls[k]; /* what the device does with them */
  }
  return sum;
}

static void expect_one_replay(steady_t* steady) {
  const uint64_t before = all_calls(steady);
  const uint64_t replays = calls(&steady->run, FAR_CALL_REPLAY);
  EXPECT_STATUS(tenon_context_enqueue(steady->run.context), TENON_OK);
  EXPECT_INT(calls(&steady->run, FAR_CALL_REPLAY), replays + 1);
  EXPECT_INT(all_calls(steady), before + 1);
}

TENON_TEST(sixty_steps_are_one_replay) {
  steady_t steady;
  REQUIRE(steady_begin(&steady));
  EXPECT(tenon_engine_step_count(steady.run.engine) >= 2 * LAYERS);
  for (int k = 0; k < 6; ++k) { /* also behind one another */
    expect_one_replay(&steady);
    EXPECT_STATUS(k % 3 == 2 ? tenon_context_synchronize(steady.run.context) : TENON_OK, TENON_OK);
  }
  EXPECT_STATUS(tenon_context_synchronize(steady.run.context), TENON_OK);
  expect_numbers(&steady, steady.y[0]);
  steady.run.numbers[3] = -4;
  write_numbers(&steady);
  EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_OK);
  expect_numbers(&steady, steady.y[0]);
  steady_end(&steady);
}

/* How often the threads of contexts went to sleep so far, which they do after each time that they
 * are woken. */
static long count_sleeps(void) {
  DIR* folder = opendir("/proc/self/task");
  long sum = 0;
  for (const struct dirent* entry = NULL;
       folder != NULL && (entry = readdir(folder)) != NULL;) { /* NOLINT(concurrency-mt-unsafe) */
    char path[300];
    char line[256];
    bool is_worker = false;
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    FILE* file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
      static const char word[] = "voluntary_ctxt_switches:";
      is_worker = is_worker || strncmp(line, "Name:\ttenon-worker", 18) == 0;
      if (is_worker && strncmp(line, word, sizeof word - 1) == 0) {
        sum += strtol(line + sizeof word - 1, NULL, 10);
      }
    }
    if (file != NULL) {
      (void)fclose(file);
    }
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
  return sum;
}

TENON_TEST(runs_on_a_device_wake_no_threads) {
  enum { RUNS = 50 };
  steady_t steady;
  REQUIRE(steady_begin(&steady));
  EXPECT_STATUS(tenon_context_set_output(steady.run.context, 0, NULL), TENON_OK);
  (void)usleep(20000); /* whoever just began sleeps by now */
  const long before = count_sleeps();
  EXPECT(before >= THREADS - 1);
  for (int is_lent = 0; is_lent < 2; ++is_lent) {
    for (int k = 0; k < RUNS; ++k) {
      EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_OK);
      (void)usleep(200);
    }
    EXPECT_STATUS(lend(&steady, steady.y[0]), TENON_OK);
  }
  EXPECT(count_sleeps() < before + RUNS);
  steady_end(&steady);
}

/* ---- What comes in between ---- */

TENON_TEST(what_is_lent_anew_is_written) {
  steady_t steady;
  float before[PIXELS];
  float after[PIXELS];
  REQUIRE(steady_begin(&steady));
  read_numbers(&steady, steady.y[0], before);
  steady.run.numbers[5] = 9;
  write_numbers(&steady);
  const tenon_tensor_view_t output = view_of(steady.y[1]);
  EXPECT_STATUS(tenon_context_set_output_on_device(steady.run.context, 0, &output), TENON_OK);
  settle(&steady);
  expect_one_replay(&steady);
  EXPECT_STATUS(tenon_context_synchronize(steady.run.context), TENON_OK);
  expect_numbers(&steady, steady.y[1]);
  read_numbers(&steady, steady.y[0], after);
  EXPECT(are_equal(before, after));
  /* In the host's memory, and back. */
  EXPECT_STATUS(tenon_context_set_output(steady.run.context, 0, NULL), TENON_OK);
  tenon_tensor_view_t y = {0};
  EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(steady.run.context, 0, &y), TENON_OK);
  read_numbers(&steady, steady.y[1], after);
  EXPECT(y.data != steady.y[1] && are_equal(y.data, after));
  EXPECT_STATUS(lend(&steady, steady.y[0]), TENON_OK);
  settle(&steady);
  expect_one_replay(&steady);
  EXPECT_STATUS(tenon_context_synchronize(steady.run.context), TENON_OK);
  expect_numbers(&steady, steady.y[0]);
  steady_end(&steady);
}

/* As before each run, for who does not keep in mind what was said. */
TENON_TEST(what_is_lent_again_is_nothing_new) {
  steady_t steady;
  REQUIRE(steady_begin(&steady));
  for (int k = 0; k < 8; ++k) {
    EXPECT_STATUS(lend(&steady, steady.y[k % 4 < 2 ? 0 : 1]), TENON_OK);
    EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_OK);
    expect_numbers(&steady, steady.y[k % 4 < 2 ? 0 : 1]);
    steady.run.numbers[k] = -2;
    write_numbers(&steady);
  }
  EXPECT_INT(calls(&steady.run, FAR_CALL_BEGIN_RECORD), 2);
  steady_end(&steady);
}

/* An address that is no multiple of 64 bytes is copied to in each run. */
TENON_TEST(an_odd_address_is_never_steady) {
  steady_t steady;
  void* wide = NULL;
  REQUIRE(steady_begin(&steady));
  EXPECT_STATUS(tenon_engine_allocate(steady.run.engine, TWICE, &wide), TENON_OK);
  for (int is_input = 0; is_input < 2; ++is_input) {
    const tenon_tensor_view_t odd = view_of((char*)wide + 4);
    EXPECT_STATUS(lend(&steady, steady.y[0]), TENON_OK);
    EXPECT_STATUS(
        tenon_engine_copy(steady.run.engine, TENON_COPY_WITHIN, odd.data, steady.x, BYTES),
        TENON_OK);
    EXPECT_STATUS(is_input ? tenon_context_set_input_on_device(steady.run.context, 0, &odd)
                           : tenon_context_set_output_on_device(steady.run.context, 0, &odd),
                  TENON_OK);
    settle(&steady);
    steady.run.numbers[is_input] = -7;
    write_numbers(&steady);
    if (is_input) {
      EXPECT_STATUS(
          tenon_engine_copy(steady.run.engine, TENON_COPY_WITHIN, odd.data, steady.x, BYTES),
          TENON_OK);
    }
    EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_OK);
    expect_numbers(&steady, is_input ? steady.y[0] : odd.data);
  }
  tenon_engine_free(steady.run.engine, wide, TWICE);
  steady_end(&steady);
}

TENON_TEST(new_weights_are_computed_with) {
  steady_t steady;
  float weights[PIXELS];
  float before[PIXELS];
  float after[PIXELS];
  REQUIRE(steady_begin(&steady));
  read_numbers(&steady, steady.y[0], before);
  fill_weights(LAYERS - 1, weights);
  weights[0] = 11;
  EXPECT_STATUS(tenon_engine_set_weights(steady.run.engine, "w29", weights, BYTES), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(steady.run.engine), TENON_OK);
  for (int k = 0; k < 4; ++k) {
    EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_OK);
    read_numbers(&steady, steady.y[0], after);
    EXPECT(!are_equal(before, after));
    expect_numbers(&steady, steady.y[0]);
  }
  expect_one_replay(&steady);
  EXPECT_STATUS(tenon_context_synchronize(steady.run.context), TENON_OK);
  steady_end(&steady);
}

static void count_step(void* user, uint32_t step, double seconds) {
  (void)step, (void)seconds;
  *(uint32_t*)user += 1;
}

TENON_TEST(who_listens_is_told_of_each_step_and_of_times) {
  steady_t steady;
  uint32_t told = 0;
  tenon_run_times_t times = TENON_OPTIONS(tenon_run_times_t);
  REQUIRE(steady_begin(&steady));
  EXPECT_STATUS(tenon_context_set_profiler(steady.run.context, count_step, &told), TENON_OK);
  EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_OK);
  EXPECT_INT(told, tenon_engine_step_count(steady.run.engine));
  EXPECT_STATUS(tenon_context_set_profiler(steady.run.context, NULL, NULL), TENON_OK);
  settle(&steady);
  EXPECT_STATUS(tenon_context_set_timing(steady.run.context, 1), TENON_OK);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_enqueue(steady.run.context), TENON_OK);
  }
  EXPECT_STATUS(tenon_context_synchronize(steady.run.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_times(steady.run.context, &times), TENON_OK);
  EXPECT_INT(times.run_count, 3);
  EXPECT_INT(times.wait_count, 0);
  EXPECT_STATUS(tenon_context_set_timing(steady.run.context, 0), TENON_OK);
  expect_one_replay(&steady);
  EXPECT_STATUS(tenon_context_synchronize(steady.run.context), TENON_OK);
  steady_end(&steady);
}

/* Of the replay itself, and of what the device finds later: told once, and then it runs again. */
TENON_TEST(what_fails_is_told_and_the_next_run_is_right) {
  static const far_call_t which[] = {FAR_CALL_REPLAY, FAR_CALL_WORK, FAR_CALL_SYNCHRONIZE};
  for (size_t k = 0; k < sizeof which / sizeof which[0]; ++k) {
    steady_t steady;
    tenon_tensor_view_t y = {0};
    REQUIRE(steady_begin(&steady));
    steady.run.far->fail(0, which[k], 1, TENON_ERROR_DEVICE);
    EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_ERROR_DEVICE);
    EXPECT_STATUS(tenon_context_get_output(steady.run.context, 0, &y), TENON_ERROR_INVALID_STATE);
    settle(&steady);
    expect_one_replay(&steady);
    EXPECT_STATUS(tenon_context_get_output(steady.run.context, 0, &y), TENON_ERROR_INVALID_STATE);
    EXPECT_STATUS(tenon_context_synchronize(steady.run.context), TENON_OK);
    EXPECT_STATUS(tenon_context_get_output(steady.run.context, 0, &y), TENON_OK);
    expect_numbers(&steady, steady.y[0]);
    steady_end(&steady);
  }
}

TENON_TEST(a_lost_device_is_told_as_lost) {
  steady_t steady;
  REQUIRE(steady_begin(&steady));
  steady.run.far->lose(0, 0);
  EXPECT_STATUS(tenon_context_run(steady.run.context), TENON_ERROR_DEVICE);
  EXPECT_STATUS(tenon_context_enqueue(steady.run.context), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "was lost");
  steady_end(&steady);
}
