/* Layers that move data: concatenation, flatten, padding, shuffle, squeeze; and softmax. */
#include "tests/api/figures.h"

TENON_TEST(concatenation) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t a = session_input(&s, "concatenation.x0");
  const tenon_value_t b = session_constant(&s, "concatenation.x1");
  const tenon_value_t c = session_input(&s, "concatenation.x2");
  const tenon_value_t y =
      node(&s, "standard.concatenate/1", VALUES(a, b, c), ATTRIBUTES(TENON_INT("axis", -2)));
  session_output(&s, y, "concatenation.y");
  s.tolerance = 0;
  session_check(&s);
  session_end(&s);
}

TENON_TEST(flatten) {
  static const char* const expected[] = {"flatten.y0", "flatten.y2", "flatten.y-1"};
  static const int64_t axes[] = {0, 2, -1};
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "flatten.x");
  for (int i = 0; i < 3; ++i) {
    const tenon_value_t y =
        node(&s, "standard.flatten/1", &x, 1, ATTRIBUTES(TENON_INT("axis", axes[i])));
    session_output(&s, y, expected[i]);
  }
  s.tolerance = 0;
  session_check(&s);
  session_end(&s);
}

TENON_TEST(shuffle_is_permute_and_reshape) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "shuffle.x");
  const tenon_value_t first =
      node(&s, "standard.permute/1", &x, 1, ATTRIBUTES(TENON_INTS("perm", 2, 0, 1)));
  const tenon_value_t shaped =
      node(&s, "standard.reshape/1", &first, 1, ATTRIBUTES(TENON_INTS("fixed_dims", 2, -1, 3)));
  const tenon_value_t y =
      node(&s, "standard.permute/1", &shaped, 1, ATTRIBUTES(TENON_INTS("perm", 0, 2, 1)));
  session_output(&s, y, "shuffle.y");
  s.tolerance = 0;
  session_check(&s);
  session_end(&s);
}

TENON_TEST(squeeze) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "squeeze.x");
  session_output(&s,
                 node(&s, "standard.squeeze/1", &x, 1, ATTRIBUTES(TENON_INTS("fixed_axes", 0, -1))),
                 "squeeze.some");
  session_output(&s, node(&s, "standard.squeeze/1", &x, 1, NO_ATTRIBUTES), "squeeze.all");
  s.tolerance = 0;
  session_check(&s);
  session_end(&s);
}

TENON_TEST(softmax) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "softmax.x");
  session_output(&s, node(&s, "standard.softmax/1", &x, 1, NO_ATTRIBUTES), "softmax.last");
  session_output(&s, node(&s, "standard.softmax/1", &x, 1, ATTRIBUTES(TENON_INT("axis", 1))),
                 "softmax.middle");
  session_output(&s, node(&s, "standard.log_softmax/1", &x, 1, NO_ATTRIBUTES), "softmax.log");
  session_output(&s, node(&s, "standard.hardmax/1", &x, 1, NO_ATTRIBUTES), "softmax.hard");
  s.tolerance = 4e-6; /* an exponential of 4 ulp, and five terms */
  session_check(&s);
  session_end(&s);
}

TENON_TEST(padding_in_each_mode) {
  static const char* const modes[] = {"constant", "edge", "reflect", "wrap"};
  for (int i = 0; i < 4; ++i) {
    char expected[32];
    session_t s;
    REQUIRE(session_begin(&s, NULL));
    (void)snprintf(expected, sizeof expected, "padding.%s", modes[i]);
    const tenon_value_t x = session_input(&s, "padding.x");
    const tenon_value_t pads = session_constant(&s, "padding.pads");
    const tenon_value_t value = i == 0 ? session_constant(&s, "padding.value") : ABSENT;
    const tenon_value_t y = node(&s, "standard.pad/1", VALUES(x, pads, value),
                                 ATTRIBUTES(TENON_TEXT("mode", modes[i])));
    session_output(&s, y, expected);
    s.tolerance = 0;
    session_check(&s);
    session_end(&s);
  }
}

TENON_TEST(negative_padding_crops) {
  static const char* const forms[][2] = {{"padding.mixed_pads", "padding.mixed"},
                                         {"padding.crop_pads", "padding.crop"}};
  for (int i = 0; i < 2; ++i) {
    session_t s;
    REQUIRE(session_begin(&s, NULL));
    const tenon_value_t x = session_input(&s, "padding.x");
    const tenon_value_t pads = session_constant(&s, forms[i][0]);
    const tenon_value_t y = node(&s, "standard.pad/1", VALUES(x, pads), NO_ATTRIBUTES);
    session_output(&s, y, forms[i][1]);
    s.tolerance = 0;
    session_check(&s);
    session_end(&s);
  }
}

/* One node over x [2, 3] and lists, of which ABSENT ones are left out. */
static void expect_slice_refused(const tenon_value_t* lists, session_t* s, tenon_value_t x,
                                 const char* message) {
  tenon_value_t y = ABSENT;
  const tenon_value_t inputs[5] = {x, lists[0], lists[1], lists[2], lists[3]};
  s->messages = (tenon__test_messages_t){0};
  EXPECT_STATUS(
      tenon_network_add(s->network, "standard.strided_slice/1", "s", inputs, 5, NULL, &y, 1),
      TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(s->messages.text, message);
}

TENON_TEST(slices_with_lists_of_different_lengths_are_refused) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(2, 3));
  const tenon_value_t one = INTEGER_VECTOR(s, 0);
  const tenon_value_t two = INTEGER_VECTOR(s, 0, 1);
  const tenon_value_t three = INTEGER_VECTOR(s, 0, 1, 2);
  expect_slice_refused((const tenon_value_t[4]){two, one, ABSENT, ABSENT}, s, x,
                       "2 starts and 1 ends");
  expect_slice_refused((const tenon_value_t[4]){two, two, one, ABSENT}, s, x,
                       "1 axes for 2 starts");
  expect_slice_refused((const tenon_value_t[4]){one, one, two, ABSENT}, s, x,
                       "2 axes for 1 starts");
  expect_slice_refused((const tenon_value_t[4]){two, two, ABSENT, one}, s, x,
                       "1 steps for 2 starts");
  expect_slice_refused((const tenon_value_t[4]){three, three, ABSENT, ABSENT}, s, x,
                       "3 starts, x has rank 2");
  scene_end(&scene);
}

/* A scalar has none; what is flat needs none. */
TENON_TEST(axes_of_a_scalar_are_refused) {
  const tenon_attribute_t first[] = {TENON_INT("axis", 0)};
  scene_t scene;
  tenon_value_t y[4] = {ABSENT, ABSENT, ABSENT, ABSENT};
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t operands[2] = {input(s, "x", TENON_DTYPE_FLOAT32, 0, NULL),
                                     INTEGER_VECTOR(s, 1)};
  EXPECT_STATUS(tenon_network_add(s->network, "standard.top_k/1", "t", operands, 2, NULL, y, 2),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(s->messages.text, "axis is -1, x has rank 0");
  EXPECT_STATUS(tenon_network_add(s->network, "standard.unique/1", "u", operands, 1,
                                  &(tenon_list_t){first, 1, sizeof(tenon_attribute_t)}, y, 4),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(s->messages.text, "axis is 0, x has rank 0");
  scene_end(&scene);
}
