/* Extents that stay on the device `far`: nobody waits between what finds them and what takes them
 * so, and what comes out is what the host computes. */
#include "network_run.h"

enum { ROWS = 6, COLUMNS = 4, ELEMENTS = ROWS * COLUMNS };

/* A network of an input x, float of up to ROWS rows of COLUMNS, and its output 0. */
typedef tenon_value_t (*make_t)(session_t* session, tenon_value_t x);

static bool open_network(run_t* run, const char* device, make_t make) {
  static const int64_t dims[] = {-1, COLUMNS};
  static const int64_t least[] = {1, COLUMNS};
  static const int64_t most[] = {ROWS, COLUMNS};
  static const tenon_profile_range_t range = {"x", 2, least, most, most};
  static const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  tenon_value_t x = ABSENT;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  if (!begin_network(run)) {
    return false;
  }
  EXPECT_STATUS(
      tenon_network_add_input(run->session.network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x),
      TENON_OK);
  const tenon_value_t y = make(&run->session, x);
  EXPECT_STATUS(tenon_network_add_output(run->session.network, y, "y"), TENON_OK);
  return start(run, device, options);
}

static void run_rows(run_t* run, const float* x, int64_t rows) {
  const int64_t dims[] = {rows, COLUMNS};
  memcpy(run->numbers, x, ELEMENTS * sizeof *x);
  set_rows(run, 0, TENON_DTYPE_FLOAT32, 2, dims, run->numbers);
  EXPECT_STATUS(tenon_context_run(run->context), TENON_OK);
}

/* Extents and elements. */
static void expect_same_views(tenon_tensor_view_t left, tenon_tensor_view_t right) {
  size_t count = 1;
  REQUIRE(left.rank == right.rank && left.dtype == right.dtype);
  for (uint32_t d = 0; d < left.rank; ++d) {
    EXPECT_INT(left.dims[d], right.dims[d]);
    count *= (size_t)left.dims[d];
  }
  if (left.dtype != TENON_DTYPE_FLOAT32) {
    EXPECT(count == 0 || memcmp(left.data, right.data, count * sizeof(int64_t)) == 0);
    return;
  }
  for (size_t k = 0; k < count; ++k) { /* a softmax rounds otherwise elsewhere */
    EXPECT_NEAR(((const float*)left.data)[k], ((const float*)right.data)[k], 1e-6);
  }
}

/* Both networks' outputs are the same. */
static void expect_same(run_t* a, run_t* b) {
  tenon_tensor_view_t left = {0};
  tenon_tensor_view_t right = {0};
  EXPECT_STATUS(tenon_context_get_output(a->context, 0, &left), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(b->context, 0, &right), TENON_OK);
  expect_same_views(left, right);
}

/* ---- Networks ---- */

static tenon_value_t unary(session_t* session, const char* op, tenon_value_t x) {
  return node(session, op, VALUES(x), NO_ATTRIBUTES);
}

/* Where |x| is not 0, counted from behind: the last extent is found. */
static tenon_value_t make_places(session_t* session, tenon_value_t x) {
  return unary(session, "standard.neg/1", unary(session, "standard.nonzero/1", x));
}

/* The rows whose sum is above 0: the first extent is found. */
static tenon_value_t make_rows(session_t* session, tenon_value_t x) {
  static const float zero[] = {0};
  tenon_value_t none = ABSENT;
  EXPECT_STATUS(tenon_network_add_constant(session->network, "zero", TENON_DTYPE_FLOAT32, 0, NULL,
                                           zero, &none),
                TENON_OK);
  const tenon_value_t sums = node(session, "standard.reduce_sum/1", VALUES(x),
                                  ATTRIBUTES(ROW_INTS("fixed_axes", 1), ROW_INT("keepdims", 0)));
  const tenon_value_t wanted =
      node(session, "standard.greater/1", VALUES(sums, none), NO_ATTRIBUTES);
  const tenon_value_t rows =
      node(session, "standard.compress/1", VALUES(x, wanted), ATTRIBUTES(ROW_INT("axis", 0)));
  return unary(session, "standard.neg/1", rows);
}

/* The same, and a kernel behind that has to know the extents. */
static tenon_value_t make_known_rows(session_t* session, tenon_value_t x) {
  return node(session, "standard.softmax/1", VALUES(make_rows(session, x)),
              ATTRIBUTES(ROW_INT("axis", 1)));
}

/* Two columns are found of at most four, and vectors have to be as long as those. */
static tenon_value_t make_normalised(session_t* session, tenon_value_t x) {
  static const uint8_t wanted[COLUMNS] = {1, 0, 1, 0};
  static const float numbers[] = {1, 2};
  static const int64_t dims[] = {2};
  static const int64_t mask_dims[] = {COLUMNS};
  tenon_value_t mask = ABSENT;
  tenon_value_t v = ABSENT;
  EXPECT_STATUS(tenon_network_add_constant(session->network, "wanted", TENON_DTYPE_BOOL, 1,
                                           mask_dims, wanted, &mask),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_constant(session->network, "numbers", TENON_DTYPE_FLOAT32, 1,
                                           dims, numbers, &v),
                TENON_OK);
  const tenon_value_t columns =
      node(session, "standard.compress/1", VALUES(x, mask), ATTRIBUTES(ROW_INT("axis", 1)));
  return node(session, "standard.batch_norm/1", VALUES(columns, v, v, v, v), NO_ATTRIBUTES);
}

/* The last extent is found, and a kernel behind that reads rows alone: they would have gaps. */
static tenon_value_t make_gaps(session_t* session, tenon_value_t x) {
  static const int64_t one = 1;
  tenon_value_t axis = ABSENT;
  EXPECT_STATUS(
      tenon_network_add_constant(session->network, "one", TENON_DTYPE_INT64, 0, NULL, &one, &axis),
      TENON_OK);
  const tenon_value_t places = node(session, "standard.nonzero/1", VALUES(x), NO_ATTRIBUTES);
  return node(session, "standard.cumulative_sum/1", VALUES(places, axis), NO_ATTRIBUTES);
}

/* The same, looked at through a view: nobody can say where that is before. */
static tenon_value_t make_view(session_t* session, tenon_value_t x) {
  const tenon_value_t places = node(session, "standard.nonzero/1", VALUES(x), NO_ATTRIBUTES);
  return node(session, "standard.permute/1", VALUES(places), ATTRIBUTES(ROW_INTS("perm", 1, 0)));
}

/* Three times: the sum of where x is not 0, and x less 1. */
static uint32_t make_body(session_t* session, tenon_value_t x) {
  static const char* const names[] = {"x"};
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(session->network);
  tenon_value_t values[3] = {{0}};
  uint32_t number = 0;
  EXPECT_STATUS(table->begin_body(builder, "counts"), TENON_OK);
  EXPECT_STATUS(table->body_parameter(builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64, 0,
                                      NULL, &values[0]),
                TENON_OK);
  EXPECT_STATUS(table->body_parameter(builder, "c", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL, 0,
                                      NULL, &values[1]),
                TENON_OK);
  EXPECT_STATUS(table->body_parameter_like(builder, "old", x, &values[2]), TENON_OK);
  const tenon_value_t places = make_places(session, values[2]);
  const tenon_value_t sum = node(session, "standard.reduce_sum/1", VALUES(places),
                                 ATTRIBUTES(ROW_INTS("fixed_axes", 0, 1), ROW_INT("keepdims", 0)));
  tenon_value_t less = ABSENT;
  EXPECT_STATUS(table->expression(builder, "y = x - 1", names, &values[2], 1, NULL, &less),
                TENON_OK);
  EXPECT_STATUS(table->body_result(builder, values[1]), TENON_OK);
  EXPECT_STATUS(table->body_result(builder, less), TENON_OK);
  EXPECT_STATUS(table->body_result(builder, sum), TENON_OK);
  EXPECT_STATUS(table->end_body(builder, &number), TENON_OK);
  return number;
}

static tenon_value_t make_loop(session_t* session, tenon_value_t x) {
  static const int64_t three = 3;
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(session->network);
  tenon_value_t trips = ABSENT;
  tenon_value_t outputs[2] = {{0}};
  EXPECT_STATUS(tenon_network_add_constant(session->network, "three", TENON_DTYPE_INT64, 0, NULL,
                                           &three, &trips),
                TENON_OK);
  const uint32_t body = make_body(session, x);
  EXPECT_STATUS(table->begin(builder, "standard.repetition/1", "loop"), TENON_OK);
  EXPECT_STATUS(table->attribute_int(builder, "carried_count", 1), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, trips), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, ABSENT), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, x), TENON_OK);
  EXPECT_STATUS(table->add_body(builder, body), TENON_OK);
  EXPECT_STATUS(table->output_count(builder, 2), TENON_OK);
  EXPECT_STATUS(table->end(builder, outputs, 2), TENON_OK);
  return outputs[1];
}

/* ---- Runs ---- */

static const float some[ELEMENTS] = {1, 0, 2, 0, -3, 0, 0, 1, 0,  0, 0, 0,
                                     5, 6, 0, 7, 0,  0, 1, 0, -2, 0, 0, 0};
static const float none[ELEMENTS] = {0};
static const float all[ELEMENTS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3,
                                    4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6};

static void compare_runs(make_t make, uint64_t is_lazy, bool waits) {
  static const float* const inputs[] = {some, none, all, some, some};
  run_t far;
  run_t host;
  REQUIRE(open_network(&host, "cpu", make) && open_network(&far, "far", make));
  far.far->set(0, FAR_SETTING_LAZY, is_lazy);
  for (size_t k = 0; k < sizeof inputs / sizeof *inputs; ++k) {
    for (int64_t rows = ROWS; rows > 0; rows -= 3) {
      run_rows(&host, inputs[k], rows);
      run_rows(&far, inputs[k], rows);
      expect_same(&host, &far);
    }
  }
  EXPECT_INT(counts_of(&far).kernel_waits > 0, waits);
  end(&far);
  end(&host);
}

TENON_TEST(what_is_found_stays_there) {
  static const make_t makes[] = {make_places, make_rows, make_known_rows, make_loop};
  for (size_t k = 0; k < sizeof makes / sizeof *makes; ++k) {
    for (uint64_t is_lazy = 0; is_lazy < 2; ++is_lazy) {
      compare_runs(makes[k], is_lazy, false);
    }
  }
}

TENON_TEST(what_cannot_stay_is_waited_for) {
  compare_runs(make_view, 1, true);
  compare_runs(make_gaps, 1, true);
}

/* At the bound of what is found they would be too short. */
TENON_TEST(vectors_are_as_long_as_what_is_found) {
  compare_runs(make_normalised, 0, false);
  compare_runs(make_normalised, 1, false);
}

/* The application's memory on the device, with room for `most_rows` of the output's first extent.
 */
enum { LENT_BYTES = 4096 };
static void* lend_output(const run_t* far, int64_t most_rows) {
  const int64_t* dims = NULL;
  const int64_t* bound = NULL;
  int64_t most[4] = {0};
  void* data = NULL;
  tenon_tensor_view_t view = {0};
  EXPECT_STATUS(tenon_context_get_output(far->context, 0, &view), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output_extents(far->context, 0, &dims, &bound), TENON_OK);
  memcpy(most, bound, view.rank * sizeof *most);
  most[0] = most_rows > 0 ? most_rows : most[0];
  EXPECT_STATUS(tenon_engine_allocate(far->engine, LENT_BYTES, &data), TENON_OK);
  const tenon_tensor_view_t lent = {
      .data = data, .dims = most, .rank = view.rank, .dtype = view.dtype, .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_output_on_device(far->context, 0, &lent), TENON_OK);
  return data;
}

/* The output is that of the host, in the memory that was lent. */
static void expect_lent(const run_t* host, const run_t* far, const void* lent) {
  static int64_t elements[LENT_BYTES / sizeof(int64_t)];
  tenon_tensor_view_t left = {0};
  tenon_tensor_view_t right = {0};
  EXPECT_STATUS(tenon_context_get_output(host->context, 0, &left), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(far->context, 0, &right), TENON_OK);
  EXPECT(right.data == lent);
  EXPECT_STATUS(tenon_engine_copy(far->engine, TENON_COPY_TO_HOST, elements, lent, sizeof elements),
                TENON_OK);
  right.data = elements;
  expect_same_views(left, right);
}

/* Elements are not copied to the host if the memory holds the bound; only extents are. */
static void compare_lent_runs(make_t make, uint64_t is_lazy) {
  static const float* const inputs[] = {some, none, all, some, some};
  run_t far;
  run_t host;
  REQUIRE(open_network(&host, "cpu", make) && open_network(&far, "far", make));
  run_rows(&far, all, ROWS);
  void* lent = lend_output(&far, 0);
  far.far->set(0, FAR_SETTING_LAZY, is_lazy);
  for (size_t n = 0; n < sizeof inputs / sizeof *inputs; ++n) {
    const far_counts_t before = counts_of(&far);
    run_rows(&host, inputs[n], ROWS);
    run_rows(&far, inputs[n], ROWS);
    const far_counts_t after = counts_of(&far);
    EXPECT(after.copied_bytes[TENON_COPY_TO_HOST] - before.copied_bytes[TENON_COPY_TO_HOST] <=
           2 * sizeof(int64_t) + sizeof(tenon_fault_t));
    expect_lent(&host, &far, lent);
  }
  /* In the host's memory again. */
  EXPECT_STATUS(tenon_context_set_output(far.context, 0, NULL), TENON_OK);
  run_rows(&far, some, ROWS);
  expect_same(&host, &far);
  tenon_engine_free(far.engine, lent, LENT_BYTES);
  end(&far);
  end(&host);
}

TENON_TEST(a_lent_output_of_found_extents_is_copied_on_the_device) {
  for (uint64_t is_lazy = 0; is_lazy < 2; ++is_lazy) {
    compare_lent_runs(make_places, is_lazy);
    compare_lent_runs(make_rows, is_lazy);
  }
}

TENON_TEST(memory_below_the_bound_is_filled_from_the_host) {
  run_t far;
  run_t host;
  REQUIRE(open_network(&host, "cpu", make_rows) && open_network(&far, "far", make_rows));
  run_rows(&far, some, ROWS);
  run_rows(&host, some, ROWS);
  void* lent = lend_output(&far, ROWS - 1);
  run_rows(&far, some, ROWS);
  expect_lent(&host, &far, lent);
  memcpy(far.numbers, all, sizeof all);
  EXPECT_STATUS(tenon_context_run(far.context), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "the memory given holds 5");
  tenon_engine_free(far.engine, lent, LENT_BYTES);
  end(&far);
  end(&host);
}

/* Once both steps are recorded they are one replay, and the host waits for their extents alone: to
 * know how much to copy, and for the copy. */
TENON_TEST(nobody_waits_between_the_steps) {
  run_t far;
  REQUIRE(open_network(&far, "far", make_rows));
  for (int k = 0; k < 3; ++k) {
    run_rows(&far, some, ROWS);
  }
  const uint64_t replays = calls(&far, FAR_CALL_REPLAY);
  const uint64_t kernels = calls(&far, FAR_CALL_KERNEL);
  const uint64_t waits = calls(&far, FAR_CALL_SYNCHRONIZE);
  run_rows(&far, some, ROWS);
  EXPECT_INT(calls(&far, FAR_CALL_REPLAY) - replays, 1);
  EXPECT_INT(calls(&far, FAR_CALL_KERNEL) - kernels, 0);
  EXPECT_INT(calls(&far, FAR_CALL_SYNCHRONIZE) - waits, 2);
  end(&far);
}

TENON_TEST(more_than_the_bound_names_the_step) {
  static const make_t makes[] = {make_places, make_rows};
  for (size_t k = 0; k < sizeof makes / sizeof *makes; ++k) {
    run_t far;
    REQUIRE(open_network(&far, "far", makes[k]));
    run_rows(&far, all, ROWS);
    far.far->set(0, FAR_SETTING_STRETCH, 100);
    EXPECT_STATUS(tenon_context_run(far.context), TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(tenon_last_message(), "' finds extent 1");
    EXPECT_CONTAINS(tenon_last_message(), ", whose bound is ");
    far.far->set(0, FAR_SETTING_STRETCH, 0);
    EXPECT_STATUS(tenon_context_run(far.context), TENON_OK);
    end(&far);
  }
}
