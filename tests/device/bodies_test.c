/* Bodies on the device `far`: what they carry, cut and collect stays in its memory, and no
 * iteration crosses to the host or waits, but for a condition that the device makes. */
#include "bodies_run.h"

static const int64_t row_dims[] = {BATCH, WIDTH};
static const int64_t width_dims[] = {WIDTH};

/* Small numbers, whose sums and products are exact. */
static void fill(float* cells, int count, int seed) {
  for (int k = 0; k < count; ++k) {
    cells[k] = (float)((k * 7 + seed) % 5 - 2) * 0.5f;
  }
}

typedef struct scan_inputs_t {
  float carried[ROW];
  float slices[MOST_CELLS];
  float factor[WIDTH];
} scan_inputs_t;

static void set_scan(const run_t* run, int64_t steps, uint32_t axis, const scan_inputs_t* inputs) {
  const int64_t first[] = {steps, BATCH, WIDTH};
  const int64_t middle[] = {BATCH, steps, WIDTH};
  set_rows(run, 0, TENON_DTYPE_FLOAT32, 2, row_dims, inputs->carried);
  set_rows(run, 1, TENON_DTYPE_FLOAT32, 3, axis == 0 ? first : middle, inputs->slices);
  set_rows(run, 2, TENON_DTYPE_FLOAT32, 1, width_dims, inputs->factor);
}

/* c' = c * factor + slice; what is collected: c' * c'. Along an axis, one way or the other. */
static void make_scan_along(session_t* session, int64_t steps, int64_t axis, int64_t backwards) {
  const int64_t first[] = {steps, BATCH, WIDTH};
  const int64_t middle[] = {BATCH, steps, WIDTH};
  const tenon_value_t c = add_input(session, "c", TENON_DTYPE_FLOAT32, 2, row_dims);
  const tenon_value_t xs =
      add_input(session, "xs", TENON_DTYPE_FLOAT32, 3, axis == 0 ? first : middle);
  const tenon_value_t w = add_input(session, "w", TENON_DTYPE_FLOAT32, 1, width_dims);
  tenon_value_t y[2] = {ABSENT};
  begin_body(session, "body");
  (void)parameter(session, "i", TENON_DTYPE_INT64, 0, NULL);
  const tenon_value_t goes_on = parameter(session, "go", TENON_DTYPE_BOOL, 0, NULL);
  const tenon_value_t carried = float_parameter(session, "carried", 2, row_dims);
  const tenon_value_t slice = float_parameter(session, "slice", 2, row_dims);
  const tenon_value_t factor = float_parameter(session, "factor", 1, width_dims);
  const tenon_value_t next = add(session, multiply(session, carried, factor), slice);
  result(session, goes_on);
  result(session, next);
  result(session, multiply(session, next, next));
  const uint32_t body = end_body(session);
  const control_t form = {.op = "standard.repetition/1",
                          .carried = 1,
                          .scanned = 1,
                          .axis_count = 2,
                          .axes = {axis, axis},
                          .directions = {backwards, backwards}};
  control(session, &form, VALUES(ABSENT, ABSENT, c, xs, w), &body, y, 2);
  add_output(session, y[0], "last");
  add_output(session, y[1], "all");
}

static void make_scan(session_t* session, int64_t steps) {
  make_scan_along(session, steps, 0, 0);
}

static void make_scan_backwards(session_t* session, int64_t steps) {
  make_scan_along(session, steps, 0, 1);
}

static void make_scan_inside(session_t* session, int64_t steps) {
  make_scan_along(session, steps, 1, 0);
}

static void make_scan_inside_backwards(session_t* session, int64_t steps) {
  make_scan_along(session, steps, 1, 1);
}

/* Runs it several times on one machine, with other inputs each time; the last run's counts. */
static void run_scan(void (*make)(session_t*, int64_t), int64_t steps, uint32_t axis, bool is_lazy,
                     const char* device, body_result_t* out_results, far_counts_t* out_counts) {
  enum { RUNS = 4 };
  const body_case_t c = {.make = make, .steps = steps, .output_count = 2, .is_lazy = is_lazy};
  run_t run;
  scan_inputs_t inputs;
  REQUIRE(open_case(&run, &c, device));
  for (int k = 0; k < RUNS; ++k) {
    fill(inputs.carried, ROW, k);
    fill(inputs.slices, MOST_CELLS, k + 1);
    fill(inputs.factor, WIDTH, k + 3);
    set_scan(&run, steps, axis, &inputs);
    const far_counts_t before = counts_of(&run);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    const far_counts_t after = counts_of(&run);
    get_result(&run, run.context, c.output_count, &out_results[k]);
    *out_counts = difference(&before, &after);
  }
  end(&run);
}

static void compare_scan(void (*make)(session_t*, int64_t), uint32_t axis, int64_t steps) {
  body_result_t host[4] = {0};
  body_result_t device[4] = {0};
  far_counts_t counts = {0};
  run_scan(make, steps, axis, false, NULL, host, &counts);
  for (int is_lazy = 0; is_lazy < 2; ++is_lazy) {
    run_scan(make, steps, axis, is_lazy != 0, "far", device, &counts);
    for (int k = 0; k < 4; ++k) {
      expect_same(&host[k], &device[k]);
    }
  }
}

TENON_TEST(a_scan_gives_on_the_device_what_it_gives_on_the_host) {
  for (int64_t steps = 0; steps < 6; ++steps) {
    compare_scan(make_scan, 0, steps);
    compare_scan(make_scan_backwards, 0, steps);
    compare_scan(make_scan_inside, 1, steps);
    compare_scan(make_scan_inside_backwards, 1, steps);
  }
}

/* Inputs go there, outputs come back, and the host waits as often as without a loop. */
TENON_TEST(nothing_crosses_between_iterations_of_a_scan) {
  static void (*const makes[])(session_t*, int64_t) = {
      make_scan, make_scan_backwards, make_scan_inside, make_scan_inside_backwards};
  for (uint32_t m = 0; m < 4; ++m) {
    uint64_t waits[2] = {0};
    for (int is_long = 0; is_long < 2; ++is_long) {
      const int64_t steps = is_long != 0 ? 11 : 4;
      body_result_t results[4] = {0};
      far_counts_t counts = {0};
      run_scan(makes[m], steps, m / 2, false, "far", results, &counts);
      EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_DEVICE],
                 (ROW + steps * ROW + WIDTH) * (int64_t)sizeof(float));
      EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_HOST],
                 (ROW + steps * ROW) * (int64_t)sizeof(float));
      waits[is_long] = counts.calls[FAR_CALL_SYNCHRONIZE];
      if (m == 0) {
        /* The first and the last of what is carried are copied, and each slice, and what is
         * collected, into a list and out of it; what goes on is written where it is read. */
        EXPECT_INT(counts.copied_bytes[TENON_COPY_WITHIN],
                   (2 + 3 * steps) * ROW * (int64_t)sizeof(float));
      }
      /* Carried values take turns between two places: two recordings, made in earlier runs. */
      EXPECT_INT(counts.calls[FAR_CALL_BEGIN_RECORD], 0);
      EXPECT_INT(counts.calls[FAR_CALL_ALLOCATE], 0);
      EXPECT(counts.calls[FAR_CALL_REPLAY] >= (uint64_t)steps);
    }
    EXPECT_INT(waits[0], waits[1]);
  }
}

/* ---- Loops ---- */

/* a and b change places, p passes through, s = s + a * k for a captured constant and a captured
 * value that the device makes. How often, an input says, or the trip count is known. */
static void make_exchange(session_t* session, int64_t steps) {
  static const float half[WIDTH] = {0.5f, 1, -1};
  tenon_value_t in[4];
  tenon_value_t p[6];
  tenon_value_t y[4];
  static const char* const names[] = {"a", "b", "p", "s"};
  for (int k = 0; k < 4; ++k) {
    in[k] = add_input(session, names[k], TENON_DTYPE_FLOAT32, 2, row_dims);
  }
  const tenon_value_t trips = add_constant(session, "count", TENON_DTYPE_INT64, 0, NULL, &steps);
  const tenon_value_t constant =
      add_constant(session, "half", TENON_DTYPE_FLOAT32, 1, width_dims, half);
  const tenon_value_t made = add(session, in[0], in[1]);
  begin_body(session, "body");
  (void)parameter(session, "i", TENON_DTYPE_INT64, 0, NULL);
  const tenon_value_t goes_on = parameter(session, "go", TENON_DTYPE_BOOL, 0, NULL);
  for (int k = 0; k < 5; ++k) {
    p[k] = float_parameter(session, k < 4 ? names[k] : "made", 2, row_dims);
  }
  p[5] = float_parameter(session, "half", 1, width_dims);
  result(session, goes_on);
  result(session, p[1]);
  result(session, p[0]);
  result(session, p[2]);
  result(session, add(session, add(session, p[3], multiply(session, p[0], p[5])), p[4]));
  const uint32_t body = end_body(session);
  const control_t form = {.op = "standard.repetition/1", .carried = 4};
  control(session, &form, VALUES(trips, ABSENT, in[0], in[1], in[2], in[3], made, constant), &body,
          y, 4);
  for (int k = 0; k < 4; ++k) {
    add_output(session, y[k], names[k]);
  }
}

/* s = 2 * s + 1 while it is below a bound. */
static void make_while(session_t* session, int64_t steps) {
  static const float one[1] = {1};
  const float bound[1] = {(float)((1 << steps) - 1)};
  static const int64_t dims[] = {1};
  tenon_value_t y[2];
  const tenon_value_t s = add_input(session, "s", TENON_DTYPE_FLOAT32, 1, dims);
  begin_body(session, "body");
  (void)parameter(session, "i", TENON_DTYPE_INT64, 0, NULL);
  (void)parameter(session, "go", TENON_DTYPE_BOOL, 0, NULL);
  const tenon_value_t sum = float_parameter(session, "s", 1, dims);
  const tenon_value_t more = add_constant(session, "one", TENON_DTYPE_FLOAT32, 1, dims, one);
  const tenon_value_t most = add_constant(session, "bound", TENON_DTYPE_FLOAT32, 1, dims, bound);
  const tenon_value_t next = add(session, add(session, sum, sum), more);
  result(session, node(session, "standard.less/1", VALUES(next, most), NO_ATTRIBUTES));
  result(session, next);
  result(session, next);
  const uint32_t body = end_body(session);
  const control_t form = {.op = "standard.repetition/1", .carried = 1};
  control(session, &form, VALUES(ABSENT, ABSENT, s), &body, y, 2);
  add_output(session, y[0], "last");
  add_output(session, y[1], "all");
}

/* All of one extent. */
typedef struct loop_inputs_t {
  uint32_t count;
  uint32_t rank;
  const int64_t* dims;
  int seed; /* below 0: numbers that let `make_while` go on */
} loop_inputs_t;

static const loop_inputs_t four_rows = {4, 2, row_dims, 1};
static const loop_inputs_t two_rows = {2, 2, row_dims, 0};
static const int64_t one_dim[] = {1};
static const loop_inputs_t one_number = {1, 1, one_dim, -1};

static void run_loop(const body_case_t* c, const loop_inputs_t* inputs, const char* device,
                     body_result_t* out_results, far_counts_t* out_counts) {
  enum { RUNS = 4 };
  run_t run;
  float cells[MOST_OUTPUTS][ROW];
  REQUIRE(open_case(&run, c, device));
  for (int k = 0; k < RUNS; ++k) {
    for (uint32_t i = 0; i < inputs->count; ++i) {
      fill(cells[i], ROW, inputs->seed < 0 ? 2 - k % 2 : inputs->seed + k + (int)i);
      set_rows(&run, i, TENON_DTYPE_FLOAT32, inputs->rank, inputs->dims, cells[i]);
    }
    const far_counts_t before = counts_of(&run);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    const far_counts_t after = counts_of(&run);
    get_result(&run, run.context, c->output_count, &out_results[k]);
    *out_counts = difference(&before, &after);
  }
  end(&run);
}

TENON_TEST(values_change_places_and_pass_through_on_the_device) {
  for (int64_t steps = 0; steps < 7; ++steps) {
    for (int is_lazy = 0; is_lazy < 2; ++is_lazy) {
      const body_case_t c = {make_exchange, steps, 4, is_lazy != 0, NULL};
      body_result_t host[4] = {0};
      body_result_t device[4] = {0};
      far_counts_t counts = {0};
      run_loop(&c, &four_rows, NULL, host, &counts);
      run_loop(&c, &four_rows, "far", device, &counts);
      for (int k = 0; k < 4; ++k) {
        expect_same(&host[k], &device[k]);
      }
    }
  }
}

TENON_TEST(a_counted_loop_crosses_nothing_and_never_waits) {
  uint64_t waits[2] = {0};
  uint64_t bytes[2][2] = {{0}};
  for (int is_long = 0; is_long < 2; ++is_long) {
    const body_case_t c = {make_exchange, is_long != 0 ? 20 : 5, 4, false, NULL};
    body_result_t results[4] = {0};
    far_counts_t counts = {0};
    run_loop(&c, &four_rows, "far", results, &counts);
    waits[is_long] = counts.calls[FAR_CALL_SYNCHRONIZE];
    bytes[is_long][0] = counts.copied_bytes[TENON_COPY_TO_DEVICE];
    bytes[is_long][1] = counts.copied_bytes[TENON_COPY_TO_HOST];
    EXPECT_INT(counts.calls[FAR_CALL_BEGIN_RECORD], 0);
    EXPECT(counts.calls[FAR_CALL_REPLAY] >= (uint64_t)c.steps);
  }
  EXPECT_INT(waits[0], waits[1]);
  EXPECT_INT(bytes[0][0], bytes[1][0]);
  EXPECT_INT(bytes[0][1], bytes[1][1]);
}

TENON_TEST(a_condition_is_the_one_byte_that_crosses_in_an_iteration) {
  uint64_t bytes[2] = {0};
  uint64_t waits[2] = {0};
  for (int is_long = 0; is_long < 2; ++is_long) {
    const body_case_t c = {make_while, is_long != 0 ? 9 : 5, 2, false, NULL};
    const body_case_t lazy = {make_while, c.steps, 2, true, NULL};
    body_result_t host[4] = {0};
    body_result_t device[4] = {0};
    far_counts_t counts = {0};
    run_loop(&c, &one_number, NULL, host, &counts);
    EXPECT(host[1].dims[1][0] > 2);
    run_loop(&lazy, &one_number, "far", device, &counts);
    for (int k = 0; k < 4; ++k) {
      expect_same(&host[k], &device[k]);
    }
    run_loop(&c, &one_number, "far", device, &counts);
    for (int k = 0; k < 4; ++k) {
      expect_same(&host[k], &device[k]);
    }
    const uint64_t iterations = (uint64_t)host[3].dims[1][0];
    bytes[is_long] = counts.copied_bytes[TENON_COPY_TO_HOST] -
                     iterations * (1 + sizeof(float)); /* what was collected is an output */
    waits[is_long] = counts.calls[FAR_CALL_SYNCHRONIZE] - iterations;
    EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_DEVICE], sizeof(float));
  }
  EXPECT_INT(bytes[0], bytes[1]);
  EXPECT_INT(waits[0], waits[1]);
}

/* ---- Bodies in bodies ---- */

/* For each slice x: s = s * x, three times, within the outer body; what is collected is what the
 * inner loop collects last, plus a captured value. */
static void make_nested(session_t* session, int64_t steps) {
  static const int64_t three[] = {3};
  const int64_t slices_dims[] = {steps, BATCH, WIDTH};
  const tenon_value_t s = add_input(session, "s", TENON_DTYPE_FLOAT32, 2, row_dims);
  const tenon_value_t xs = add_input(session, "xs", TENON_DTYPE_FLOAT32, 3, slices_dims);
  const tenon_value_t w = add_input(session, "w", TENON_DTYPE_FLOAT32, 1, width_dims);
  const tenon_value_t trips = add_constant(session, "three", TENON_DTYPE_INT64, 0, NULL, three);
  tenon_value_t inner_y[2];
  tenon_value_t y[2];
  begin_body(session, "outer");
  (void)parameter(session, "i", TENON_DTYPE_INT64, 0, NULL);
  const tenon_value_t goes_on = parameter(session, "go", TENON_DTYPE_BOOL, 0, NULL);
  const tenon_value_t sum = float_parameter(session, "sum", 2, row_dims);
  const tenon_value_t slice = float_parameter(session, "slice", 2, row_dims);
  const tenon_value_t factor = float_parameter(session, "factor", 1, width_dims);
  const tenon_value_t count = parameter(session, "count", TENON_DTYPE_INT64, 0, NULL);
  begin_body(session, "inner");
  (void)parameter(session, "j", TENON_DTYPE_INT64, 0, NULL);
  const tenon_value_t inner_goes_on = parameter(session, "on", TENON_DTYPE_BOOL, 0, NULL);
  const tenon_value_t inner_sum = float_parameter(session, "inner_sum", 2, row_dims);
  const tenon_value_t x = float_parameter(session, "x", 2, row_dims);
  const tenon_value_t v = float_parameter(session, "v", 1, width_dims);
  const tenon_value_t next = add(session, multiply(session, inner_sum, v), x);
  result(session, inner_goes_on);
  result(session, next);
  const uint32_t inner = end_body(session);
  const control_t inner_form = {.op = "standard.repetition/1", .carried = 1};
  control(session, &inner_form, VALUES(count, ABSENT, sum, slice, factor), &inner, inner_y, 1);
  result(session, goes_on);
  result(session, inner_y[0]);
  result(session, add(session, inner_y[0], factor));
  const uint32_t body = end_body(session);
  const control_t form = {.op = "standard.repetition/1", .carried = 1, .scanned = 1};
  control(session, &form, VALUES(ABSENT, ABSENT, s, xs, w, trips), &body, y, 2);
  add_output(session, y[0], "last");
  add_output(session, y[1], "all");
}

TENON_TEST(bodies_in_bodies_stay_on_the_device) {
  uint64_t waits[2] = {0};
  compare_scan(make_nested, 0, 0);
  compare_scan(make_nested, 0, 5);
  for (int is_long = 0; is_long < 2; ++is_long) {
    const int64_t steps = is_long != 0 ? 11 : 4;
    body_result_t results[4] = {0};
    far_counts_t counts = {0};
    run_scan(make_nested, steps, 0, false, "far", results, &counts);
    EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_DEVICE],
               (ROW + steps * ROW + WIDTH) * (int64_t)sizeof(float));
    EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_HOST],
               (ROW + steps * ROW) * (int64_t)sizeof(float));
    EXPECT_INT(counts.calls[FAR_CALL_BEGIN_RECORD], 0);
    waits[is_long] = counts.calls[FAR_CALL_SYNCHRONIZE];
  }
  EXPECT_INT(waits[0], waits[1]);
}

/* ---- Branches ---- */

/* Where the sum of x is above 0: x * z, and a copy that the host makes of -x; else z as it is, and
 * x * x. `steps`: 1 where the second is captured as an input of the network, not as what a step
 * makes. */
static void make_branch(session_t* session, int64_t steps) {
  const tenon_value_t x = add_input(session, "x", TENON_DTYPE_FLOAT32, 2, row_dims);
  const tenon_value_t z = add_input(session, "z", TENON_DTYPE_FLOAT32, 2, row_dims);
  const tenon_value_t captured = steps == 1 ? z : add(session, z, z);
  const tenon_value_t sum =
      node(session, "standard.reduce_sum/1", VALUES(x), ATTRIBUTES(ROW_INT("keepdims", 0)));
  const float zero = 0;
  const tenon_value_t condition =
      node(session, "standard.greater/1",
           VALUES(sum, add_constant(session, "zero", TENON_DTYPE_FLOAT32, 0, NULL, &zero)),
           NO_ATTRIBUTES);
  uint32_t bodies[2];
  tenon_value_t y[2];
  for (int b = 0; b < 2; ++b) {
    begin_body(session, b == 0 ? "then" : "else");
    const tenon_value_t p = float_parameter(session, "p", 2, row_dims);
    const tenon_value_t q = float_parameter(session, "q", 2, row_dims);
    result(session, b == 0 ? multiply(session, p, q) : q);
    result(session, b == 0 ? negate(session, "by_the_host", p) : multiply(session, p, p));
    bodies[b] = end_body(session);
  }
  const control_t form = {.op = "standard.branch/1"};
  control(session, &form, VALUES(condition, x, captured), bodies, y, 2);
  add_output(session, add(session, y[0], x), "first");
  add_output(session, y[1], "second");
}

TENON_TEST(branches_give_results_of_both_machines) {
  static const char* const by_host[] = {"by_the_host=cpu", NULL};
  for (int64_t steps = 1; steps < 3; ++steps) {
    for (int is_lazy = 0; is_lazy < 2; ++is_lazy) {
      const body_case_t c = {make_branch, steps, 2, is_lazy != 0, by_host};
      body_result_t host[4] = {0};
      body_result_t device[4] = {0};
      far_counts_t counts = {0};
      run_loop(&c, &two_rows, NULL, host, &counts);
      run_loop(&c, &two_rows, "far", device, &counts);
      for (int k = 0; k < 4; ++k) {
        expect_same(&host[k], &device[k]);
      }
    }
  }
}

/* The condition is one byte that the device made; nothing else crosses for the branch. */
TENON_TEST(a_branch_on_the_device_costs_its_condition) {
  const body_case_t c = {make_branch, 2, 2, false, NULL};
  body_result_t device[4] = {0};
  far_counts_t counts = {0};
  run_loop(&c, &two_rows, "far", device, &counts);
  EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_DEVICE], 2 * ROW * (int)sizeof(float));
  EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_HOST], 2 * ROW * (int)sizeof(float) + 1);
}

/* ---- Contexts ---- */

TENON_TEST(contexts_have_carried_values_of_their_own) {
  const body_case_t c = {make_scan, 5, 2, true, NULL};
  run_t run;
  scan_inputs_t inputs[2];
  body_result_t expected[4] = {0};
  body_result_t actual;
  far_counts_t counts = {0};
  tenon_context_t* other = NULL;
  run_scan(make_scan, 5, 0, false, NULL, expected, &counts);
  REQUIRE(open_case(&run, &c, "far"));
  EXPECT_STATUS(tenon_context_create(run.engine, NULL, &other), TENON_OK);
  tenon_context_t* contexts[2] = {run.context, other};
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 2; ++k) {
      fill(inputs[k].carried, ROW, k + round);
      fill(inputs[k].slices, MOST_CELLS, k + round + 1);
      fill(inputs[k].factor, WIDTH, k + round + 3);
      run.context = contexts[k];
      set_scan(&run, 5, 0, &inputs[k]);
      EXPECT_STATUS(tenon_context_enqueue(run.context), TENON_OK);
    }
    for (int k = 0; k < 2; ++k) {
      EXPECT_STATUS(tenon_context_synchronize(contexts[k]), TENON_OK);
      get_result(&run, contexts[k], 2, &actual);
      expect_same(&expected[k + round], &actual);
    }
  }
  run.context = contexts[0];
  tenon_context_destroy(other);
  end(&run);
}
