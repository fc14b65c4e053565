/* What only a run knows: extents that data decide, items of sequences. One context runs several
 * times, for what one run found must not stay for the next. */
#include "tests/api/figures.h"

TENON_TEST(extents_are_found_anew_in_every_run) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(4));
  const tenon_value_t found = node(s, "standard.nonzero/1", VALUES(x), NO_ATTRIBUTES);
  output(s, found, "found");
  REQUIRE(scene_start(&scene, NULL));
  float data[4] = {0, 7, 0, 7};
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(4), data);
  run(&scene);
  expect_tensor(&scene, 0, 2, DIMS(1, 2), NUMBERS(1, 3));
  data[0] = 7;
  run(&scene);
  expect_tensor(&scene, 0, 2, DIMS(1, 3), NUMBERS(0, 1, 3));
  memset(data, 0, sizeof data);
  run(&scene);
  expect_tensor(&scene, 0, 2, DIMS(1, 0), NULL);
  scene_end(&scene);
}

TENON_TEST(a_step_whose_extents_alone_are_read_runs) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(3));
  const tenon_value_t found = node(s, "standard.nonzero/1", VALUES(x), NO_ATTRIBUTES);
  output(s, node(s, "standard.shape_of/1", VALUES(found), NO_ATTRIBUTES), "shape");
  REQUIRE(scene_start(&scene, NULL));
  float data[3] = {7, 0, 7};
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(3), data);
  run(&scene);
  expect(&scene, 0, 1, 2, NUMBERS(1, 2));
  scene_end(&scene);
}

TENON_TEST(numbers_seen_through_views_are_extents) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(5));
  const tenon_value_t from = input(s, "from", TENON_DTYPE_INT64, 0, NULL);
  /* One end through a view of an input, the other through a view of what a step makes. */
  const tenon_value_t to = node(s, "standard.add/1", VALUES(from, from), NO_ATTRIBUTES);
  const tenon_attribute_t axes[] = {ROW_INTS("fixed_axes", 0), {0}};
  const tenon_value_t begin = node(s, "standard.unsqueeze/1", VALUES(from), axes);
  const tenon_value_t end = node(s, "standard.unsqueeze/1", VALUES(to), axes);
  output(s, node(s, "standard.strided_slice/1", VALUES(x, begin, end), NO_ATTRIBUTES), "y");
  REQUIRE(scene_start(&scene, NULL));
  float data[5] = {0, 1, 2, 3, 4};
  int64_t number = 1;
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(5), data);
  set(&scene, 1, TENON_DTYPE_INT64, 0, NULL, &number);
  run(&scene);
  expect(&scene, 0, 1, 1, NUMBERS(1));
  number = 2;
  run(&scene);
  expect(&scene, 0, 1, 2, NUMBERS(2, 3));
  scene_end(&scene);
}

/* The same extents twice, but read from another place: the step must be bound anew. */
TENON_TEST(moves_follow_numbers_at_equal_extents) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(5));
  const tenon_value_t from = input(s, "from", TENON_DTYPE_INT64, 1, DIMS(1));
  tenon_value_t one = ABSENT;
  static const int64_t number_one[] = {1};
  EXPECT_STATUS(tenon_network_add_constant(s->network, "one", TENON_DTYPE_INT64, 1, DIMS(1),
                                           number_one, &one),
                TENON_OK);
  const tenon_value_t end = node(s, "standard.add/1", VALUES(from, one), NO_ATTRIBUTES);
  output(s, node(s, "standard.strided_slice/1", VALUES(x, from, end), NO_ATTRIBUTES), "y");
  REQUIRE(scene_start(&scene, NULL));
  float data[5] = {0, 1, 2, 3, 4};
  int64_t number = 1;
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(5), data);
  set(&scene, 1, TENON_DTYPE_INT64, 1, DIMS(1), &number);
  run(&scene);
  expect(&scene, 0, 1, 1, NUMBERS(1));
  number = 3;
  run(&scene);
  expect(&scene, 0, 1, 1, NUMBERS(3));
  scene_end(&scene);
}

/* Extents that are numbers of another value, asked for again. */
TENON_TEST(extents_that_numbers_decided_are_numbers) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_attribute_t to[] = {
      {.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = TENON_DTYPE_INT64}, {0}};
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(1, 1));
  const tenon_value_t sizes = input(s, "sizes", TENON_DTYPE_FLOAT32, 1, DIMS(2));
  const tenon_value_t dims = node(s, "standard.cast/1", VALUES(sizes), to);
  const tenon_value_t wide = node(s, "standard.broadcast_to/1", VALUES(x, dims), NO_ATTRIBUTES);
  output(s, node(s, "standard.shape_of/1", VALUES(wide), NO_ATTRIBUTES), "shape");
  REQUIRE(scene_start(&scene, NULL));
  float data[1] = {7};
  float rows[2] = {2, 3};
  set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(1, 1), data);
  set(&scene, 1, TENON_DTYPE_FLOAT32, 1, DIMS(2), rows);
  run(&scene);
  expect(&scene, 0, 1, 2, NUMBERS(2, 3));
  rows[0] = 4;
  run(&scene);
  expect(&scene, 0, 1, 2, NUMBERS(4, 3));
  scene_end(&scene);
}

/* Two numbers that must be equal are learned one after the other: in the second run the first of
 * them is not compared with what the other was before. */
TENON_TEST(numbers_are_found_anew_in_every_run) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_attribute_t to[] = {
      {.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = TENON_DTYPE_INT64}, {0}};
  const tenon_attribute_t axis[] = {ROW_INT("axis", 1), {0}};
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(1, 1));
  tenon_value_t items[2];
  for (uint32_t k = 0; k < 2; ++k) {
    const tenon_value_t rows =
        input(s, k == 0 ? "rows" : "others", TENON_DTYPE_FLOAT32, 1, DIMS(2));
    const tenon_value_t dims = node(s, "standard.cast/1", VALUES(rows), to);
    items[k] = node(s, "standard.broadcast_to/1", VALUES(x, dims), NO_ATTRIBUTES);
  }
  output(s, node(s, "standard.concatenate/1", VALUES(items[0], items[1]), axis), "y");
  REQUIRE(scene_start(&scene, NULL));
  float data[1] = {7};
  float rows[2] = {2, 1};
  set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(1, 1), data);
  set(&scene, 1, TENON_DTYPE_FLOAT32, 1, DIMS(2), rows);
  set(&scene, 2, TENON_DTYPE_FLOAT32, 1, DIMS(2), rows);
  run(&scene);
  expect_tensor(&scene, 0, 2, DIMS(2, 2), NUMBERS(7, 7, 7, 7));
  rows[0] = 1;
  run(&scene);
  expect_tensor(&scene, 0, 2, DIMS(1, 2), NUMBERS(7, 7));
  scene_end(&scene);
}

/* y = x[where x is not 0][-1, 0], of which nothing but the run says how many there are: an extent
 * that negative indices are counted from. */
static void expect_ends(const char* operator, uint32_t index_rank) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_attribute_t axes[] = {ROW_INTS("fixed_axes", 0), {0}};
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(5));
  const tenon_value_t index = input(s, "index", TENON_DTYPE_INT64, index_rank, DIMS(2, 1));
  const tenon_value_t found = node(s, "standard.nonzero/1", VALUES(x), NO_ATTRIBUTES);
  const tenon_value_t where = node(s, "standard.squeeze/1", VALUES(found), axes);
  const tenon_value_t part = node(s, "standard.gather/1", VALUES(x, where), NO_ATTRIBUTES);
  output(s, node(s, operator, VALUES(part, index), NO_ATTRIBUTES), "y");
  REQUIRE(scene_start(&scene, NULL));
  float data[5] = {0, 7, 8, 0, 9};
  int64_t ends[2] = {-1, 0};
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(5), data);
  set(&scene, 1, TENON_DTYPE_INT64, index_rank, DIMS(2, 1), ends);
  run(&scene);
  expect(&scene, 0, 1, 2, NUMBERS(9, 7));
  data[4] = 0; /* fewer, in the same context */
  run(&scene);
  expect(&scene, 0, 1, 2, NUMBERS(8, 7));
  data[0] = 5;
  data[3] = 6; /* more */
  run(&scene);
  expect(&scene, 0, 1, 2, NUMBERS(6, 5));
  scene_end(&scene);
}

TENON_TEST(moves_read_extents_that_the_run_finds) {
  expect_ends("standard.gather/1", 1);
  expect_ends("standard.gather_elements/1", 1);
  expect_ends("standard.gather_nd/1", 2);
}

/* The depth is an extent of the step that reads it as a number too: it is made before. */
TENON_TEST(an_extent_is_made_before_the_step_it_sizes) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t x = input(s, "x", TENON_DTYPE_INT64, 1, DIMS(1));
  const tenon_value_t depth = input(s, "depth", TENON_DTYPE_FLOAT32, 0, NULL);
  const tenon_value_t off = input(s, "off", TENON_DTYPE_FLOAT32, 0, NULL);
  const tenon_value_t on = input(s, "on", TENON_DTYPE_FLOAT32, 0, NULL);
  const tenon_attribute_t to[] = {
      {.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = TENON_DTYPE_INT64}, {0}};
  const tenon_attribute_t axis[] = {ROW_INT("axis", 1), {0}};
  const tenon_attribute_t axes[] = {ROW_INTS("fixed_axes", 1), {0}};
  const tenon_value_t column = node(s, "standard.unsqueeze/1", VALUES(x), axes);
  const tenon_value_t number = node(s, "standard.cast/1", VALUES(depth), to);
  output(s, node(s, "standard.one_hot/1", VALUES(column, number, off, on), axis), "y");
  REQUIRE(scene_start(&scene, NULL));
  int64_t hot = 1;
  float extent = 3;
  float zero = 0;
  float one = 1;
  set(&scene, 0, TENON_DTYPE_INT64, 1, DIMS(1), &hot);
  set(&scene, 1, TENON_DTYPE_FLOAT32, 0, NULL, &extent);
  set(&scene, 2, TENON_DTYPE_FLOAT32, 0, NULL, &zero);
  set(&scene, 3, TENON_DTYPE_FLOAT32, 0, NULL, &one);
  run(&scene);
  expect_tensor(&scene, 0, 2, DIMS(1, 3), NUMBERS(0, 1, 0));
  extent = 2;
  run(&scene);
  expect_tensor(&scene, 0, 2, DIMS(1, 2), NUMBERS(0, 1));
  scene_end(&scene);
}

TENON_TEST(items_of_a_sequence_have_extents_of_their_own) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t a = input(s, "a", TENON_DTYPE_FLOAT32, 1, DIMS(2));
  const tenon_value_t b = input(s, "b", TENON_DTYPE_FLOAT32, 1, DIMS(3));
  static const int64_t numbers[] = {0, 1};
  tenon_value_t position[2] = {{0}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_STATUS(tenon_network_add_constant(s->network, NULL, TENON_DTYPE_INT64, 0, NULL,
                                             &numbers[i], &position[i]),
                  TENON_OK);
  }
  const tenon_value_t both = node(s, "standard.sequence_make/1", VALUES(a, b), NO_ATTRIBUTES);
  for (int i = 0; i < 2; ++i) {
    const tenon_value_t item =
        node(s, "standard.sequence_at/1", VALUES(both, position[i]), NO_ATTRIBUTES);
    output(s, node(s, "standard.neg/1", VALUES(item), NO_ATTRIBUTES), i == 0 ? "p" : "q");
  }
  REQUIRE(scene_start(&scene, NULL));
  float first[2] = {1, 2};
  float second[3] = {3, 4, 5};
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(2), first);
  set(&scene, 1, TENON_DTYPE_FLOAT32, 1, DIMS(3), second);
  run(&scene);
  expect(&scene, 0, 1, 2, NUMBERS(-1, -2));
  expect(&scene, 1, 1, 3, NUMBERS(-3, -4, -5));
  scene_end(&scene);
}

TENON_TEST(an_empty_sequence_is_one_and_its_items_may_have_any_rank) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(2));
  static const int64_t zero = 0;
  tenon_value_t position = ABSENT;
  tenon_value_t empty = ABSENT;
  EXPECT_STATUS(
      tenon_network_add_constant(s->network, NULL, TENON_DTYPE_INT64, 0, NULL, &zero, &position),
      TENON_OK);
  session_add(s, "standard.sequence_empty/1", NULL, 0, NULL, &empty, 1);
  output(s, node(s, "standard.sequence_length/1", VALUES(empty), NO_ATTRIBUTES), "none");
  const tenon_value_t filled =
      node(s, "standard.sequence_insert/1", VALUES(empty, x), NO_ATTRIBUTES);
  output(s, node(s, "standard.sequence_at/1", VALUES(filled, position), NO_ATTRIBUTES), "item");
  REQUIRE(scene_start(&scene, NULL));
  float data[2] = {1, 2};
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(2), data);
  for (int i = 0; i < 2; ++i) {
    run(&scene);
    expect(&scene, 0, 0, 1, NUMBERS(0));
    expect(&scene, 1, 1, 2, NUMBERS(1, 2));
  }
  scene_end(&scene);
}

enum { SLICE_DEPTH = 6, SLICE_HALF = 20, SLICE_MOST = 2 * SLICE_HALF };

/* Columns -SLICE_HALF to SLICE_HALF of x [SLICE_DEPTH, n]: most of them at n = SLICE_HALF, and none
 * at n = SLICE_MOST. Of these v * columns, columns + columns, and the places that are not 0. */
static void add_middle(session_t* s) {
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(SLICE_DEPTH, -1));
  const tenon_value_t v = input(s, "v", TENON_DTYPE_FLOAT32, 2, DIMS(1, SLICE_DEPTH));
  const tenon_value_t middle = node(s, "standard.strided_slice/1",
                                    VALUES(x, INTEGER_VECTOR(s, -SLICE_HALF),
                                           INTEGER_VECTOR(s, SLICE_HALF), INTEGER_VECTOR(s, 1)),
                                    NO_ATTRIBUTES);
  output(s, node(s, "standard.mat_mul/1", VALUES(v, middle), NO_ATTRIBUTES), "sums");
  output(s, node(s, "standard.add/1", VALUES(middle, middle), NO_ATTRIBUTES), "twice");
  output(s, node(s, "standard.nonzero/1", VALUES(middle), NO_ATTRIBUTES), "places");
}

/* All of x and v is 1, so each sum is SLICE_DEPTH, and no place is 0. */
static void run_middle(scene_t* scene, int64_t n) {
  float x[SLICE_DEPTH * SLICE_MOST];
  double expected[SLICE_DEPTH * SLICE_HALF];
  const int64_t begin = n < SLICE_HALF ? 0 : n - SLICE_HALF;
  const int64_t columns = begin < SLICE_HALF ? (n < SLICE_HALF ? n : SLICE_HALF) - begin : 0;
  for (size_t k = 0; k < sizeof x / sizeof *x; ++k) {
    x[k] = 1;
  }
  set(scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(SLICE_DEPTH, n), x);
  set(scene, 1, TENON_DTYPE_FLOAT32, 2, DIMS(1, SLICE_DEPTH), x);
  run(scene);
  for (size_t k = 0; k < sizeof expected / sizeof *expected; ++k) {
    expected[k] = SLICE_DEPTH;
  }
  expect_tensor(scene, 0, 2, DIMS(1, columns), expected);
  for (size_t k = 0; k < sizeof expected / sizeof *expected; ++k) {
    expected[k] = 2;
  }
  expect_tensor(scene, 1, 2, DIMS(SLICE_DEPTH, columns), expected);
  tenon_tensor_view_t places;
  REQUIRE(tenon_context_get_output(scene->context, 2, &places) == TENON_OK);
  EXPECT_INT(places.dims[1], SLICE_DEPTH * columns);
}

TENON_TEST(extents_that_are_largest_inside_a_profile_have_room) {
  static const int64_t least[] = {SLICE_DEPTH, 1};
  static const int64_t most[] = {SLICE_DEPTH, SLICE_MOST};
  static const int64_t usual[][2] = {{SLICE_DEPTH, SLICE_HALF}, {SLICE_DEPTH, 2}};
  static const int64_t extents[] = {SLICE_MOST, 1, SLICE_HALF, SLICE_HALF - 3, SLICE_HALF + 7};
  for (int k = 0; k < 4; ++k) {
    scene_t scene;
    const tenon_profile_range_t range = {"x", 2, least, usual[k / 2], most};
    const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
    options.no_measuring = k % 2 == 1;
    REQUIRE(scene_begin(&scene));
    add_middle(&scene.session);
    REQUIRE(scene_start(&scene, &options));
    for (size_t e = 0; e < sizeof extents / sizeof *extents; ++e) {
      run_middle(&scene, extents[e]);
    }
    scene_end(&scene);
  }
}

/* Where kernels are measured an extent that the data decide is a guess. A copy to the order that
 * the convolution wants is measured too. */
TENON_TEST(a_convolution_of_rows_that_the_data_choose_is_built) {
  enum { ROWS = 4, CHANNELS = 16, SIDE = 5, LEFT = 3 };
  static float x[ROWS * CHANNELS * SIDE * SIDE];
  static float weights[CHANNELS * 3 * 3];
  uint8_t chosen[ROWS] = {1, 0, 1, 1};
  double expected[3 * LEFT * LEFT];
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  for (size_t k = 0; k < sizeof x / sizeof *x; ++k) {
    x[k] = 1;
  }
  for (size_t k = 0; k < sizeof weights / sizeof *weights; ++k) {
    weights[k] = 1;
  }
  const tenon_value_t all = input(s, "x", TENON_DTYPE_FLOAT32, 4, DIMS(ROWS, CHANNELS, SIDE, SIDE));
  const tenon_value_t mask = input(s, "chosen", TENON_DTYPE_BOOL, 1, DIMS(ROWS));
  const tenon_value_t rows = node(s, "standard.compress/1", VALUES(all, mask), NO_ATTRIBUTES);
  const tenon_value_t w = constant(s, TENON_DTYPE_FLOAT32, 4, DIMS(1, CHANNELS, 3, 3), weights);
  output(s, node(s, "standard.convolution/1", VALUES(rows, w), NO_ATTRIBUTES), "y");
  REQUIRE(scene_start(&scene, NULL));
  set(&scene, 0, TENON_DTYPE_FLOAT32, 4, DIMS(ROWS, CHANNELS, SIDE, SIDE), x);
  set(&scene, 1, TENON_DTYPE_BOOL, 1, DIMS(ROWS), chosen);
  run(&scene);
  for (size_t k = 0; k < sizeof expected / sizeof *expected; ++k) {
    expected[k] = CHANNELS * 3 * 3;
  }
  expect_tensor(&scene, 0, 4, DIMS(3, 1, LEFT, LEFT), expected);
  scene_end(&scene);
}

/* Guesses need not fit together: 0 at first does not broadcast with 3. No kernel can be measured
 * then, and the estimates stand. */
TENON_TEST(extents_that_do_not_fit_as_guesses_are_built) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t ends[] = {input(s, "begin", TENON_DTYPE_INT64, 0, NULL),
                                input(s, "end", TENON_DTYPE_INT64, 0, NULL),
                                input(s, "step", TENON_DTYPE_INT64, 0, NULL)};
  const tenon_value_t z = input(s, "z", TENON_DTYPE_INT64, 2, DIMS(1, 3));
  const tenon_value_t range =
      node(s, "standard.arange/1", VALUES(ends[0], ends[1], ends[2]), NO_ATTRIBUTES);
  output(s, node(s, "standard.add/1", VALUES(range, z), NO_ATTRIBUTES), "y");
  REQUIRE(scene_start(&scene, NULL));
  int64_t numbers[] = {0, 3, 1};
  int64_t tens[] = {10, 20, 30};
  for (uint32_t k = 0; k < 3; ++k) {
    set(&scene, k, TENON_DTYPE_INT64, 0, NULL, &numbers[k]);
  }
  set(&scene, 3, TENON_DTYPE_INT64, 2, DIMS(1, 3), tens);
  run(&scene);
  expect_tensor(&scene, 0, 2, DIMS(1, 3), NUMBERS(10, 21, 32));
  scene_end(&scene);
}

/* Layouts are told apart where extents are unknown too. MatMul leaves rows, and pools on a CPU want
 * channels last. A reshape of what a pool leaves needs rows again. */
TENON_TEST(layouts_differ_where_inputs_decide_extents) {
  static const float same[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const tenon_attribute_t pairs[] = {ROW_INTS("kernel_shape", 2), {0}};
  const tenon_attribute_t single[] = {ROW_INTS("kernel_shape", 1), {0}};
  enum { COUNT = 24 };
  float x[COUNT];
  double pooled[COUNT];
  double all[COUNT];
  int64_t shape[] = {2, 3, 4};
  int64_t flat[] = {4, 6};
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  for (int k = 0; k < COUNT; ++k) {
    x[k] = (float)k;
    all[k] = k;
    pooled[k / 4 * 3 + (k % 4 == 0 ? 0 : k % 4 - 1)] = k; /* the last of each pair is the largest */
  }
  const tenon_value_t in = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(COUNT));
  const tenon_value_t three = input(s, "shape", TENON_DTYPE_INT64, 1, DIMS(3));
  const tenon_value_t two = input(s, "flat", TENON_DTYPE_INT64, 1, DIMS(2));
  const tenon_value_t cube = node(s, "standard.reshape/1", VALUES(in, three), NO_ATTRIBUTES);
  const tenon_value_t w = constant(s, TENON_DTYPE_FLOAT32, 2, DIMS(4, 4), same);
  const tenon_value_t product = node(s, "standard.mat_mul/1", VALUES(cube, w), NO_ATTRIBUTES);
  const tenon_value_t again = node(s, "standard.max_pool/1", VALUES(cube), single);
  output(s, node(s, "standard.max_pool/1", VALUES(product), pairs), "pooled");
  output(s, node(s, "standard.reshape/1", VALUES(again, two), NO_ATTRIBUTES), "again");
  REQUIRE(scene_start(&scene, NULL));
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(COUNT), x);
  set(&scene, 1, TENON_DTYPE_INT64, 1, DIMS(3), shape);
  set(&scene, 2, TENON_DTYPE_INT64, 1, DIMS(2), flat);
  run(&scene);
  expect_tensor(&scene, 0, 3, DIMS(2, 3, 3), pooled);
  expect_tensor(&scene, 1, 2, DIMS(4, 6), all);
  scene_end(&scene);
}
