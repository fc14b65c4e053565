/* A convolution whose window is its own step, of an image's few channels: its blocks become
 * channels, and the window one pixel. */
#include "tests/api/session.h"

enum { IMAGES = 2, RESULTS = 5, LONGEST = 32, MOST = IMAGES * 6 * LONGEST * LONGEST };

typedef struct blocked_t {
  int64_t channels;
  int64_t extent; /* of the image's rows; columns are twice as many */
  int64_t window;
  int64_t stride;
  int64_t pad;
  bool has_bias;
  const char* patch; /* NULL: it stays as it is */
} blocked_t;

/* Small whole numbers: sums are exact in any order. */
static float made(int64_t place) {
  return (float)((place * 7 + 3) % 11 - 5);
}

static int64_t windows(const blocked_t* c, int64_t extent) {
  return (extent + 2 * c->pad - c->window) / c->stride + 1;
}

/* 0 outside of the image. */
static float pixel(const blocked_t* c, int64_t plane, int64_t y, int64_t x) {
  const bool is_inside = y >= 0 && y < c->extent && x >= 0 && x < 2 * c->extent;
  return is_inside ? made((plane * c->extent + y) * 2 * c->extent + x) : 0;
}

static float expected(const blocked_t* c, int64_t image, int64_t result, int64_t row,
                      int64_t column) {
  float sum = c->has_bias ? made(result) : 0;
  for (int64_t channel = 0; channel < c->channels; ++channel) {
    for (int64_t i = 0; i < c->window; ++i) {
      for (int64_t j = 0; j < c->window; ++j) {
        sum += pixel(c, image * c->channels + channel, row * c->stride - c->pad + i,
                     column * c->stride - c->pad + j) *
               made(((result * c->channels + channel) * c->window + i) * c->window + j);
      }
    }
  }
  return sum;
}

static tenon_value_t add_constant(session_t* s, const char* name, uint32_t rank,
                                  const int64_t* dims, int64_t count) {
  static float numbers[MOST];
  tenon_value_t value = ABSENT;
  for (int64_t k = 0; k < count; ++k) {
    numbers[k] = made(k);
  }
  EXPECT_STATUS(tenon_network_add_constant(s->network, name, TENON_DTYPE_FLOAT32, rank, dims,
                                           numbers, &value),
                TENON_OK);
  return value;
}

static tenon_engine_t* build(session_t* s, const blocked_t* c) {
  const int64_t x_dims[] = {IMAGES, c->channels, c->extent, 2 * c->extent};
  const int64_t w_dims[] = {RESULTS, c->channels, c->window, c->window};
  const int64_t b_dims[] = {RESULTS};
  tenon_value_t x = ABSENT;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  EXPECT_STATUS(tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 4, x_dims, &x),
                TENON_OK);
  const tenon_value_t w =
      add_constant(s, "w", 4, w_dims, RESULTS * c->channels * c->window * c->window);
  const tenon_value_t b = c->has_bias ? add_constant(s, "b", 1, b_dims, RESULTS) : ABSENT;
  const tenon_value_t y = node(s, "standard.convolution/1", VALUES(x, w, b),
                               ATTRIBUTES(ROW_INTS("strides", c->stride, c->stride),
                                          ROW_INTS("pads", c->pad, c->pad, c->pad, c->pad)));
  EXPECT_STATUS(tenon_network_add_output(s->network, y, "y"), TENON_OK);
  EXPECT_STATUS(tenon_build(s->network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s->registry, plan, NULL, &engine), TENON_OK);
  tenon_plan_destroy(plan);
  return engine;
}

static void check_numbers(const blocked_t* c, tenon_engine_t* engine) {
  static float numbers[MOST];
  const int64_t dims[] = {IMAGES, c->channels, c->extent, 2 * c->extent};
  const int64_t count = dims[0] * dims[1] * dims[2] * dims[3];
  const int64_t rows = windows(c, c->extent);
  const int64_t columns = windows(c, 2 * c->extent);
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y;
  int64_t place = 0;
  REQUIRE(count <= MOST);
  for (int64_t k = 0; k < count; ++k) {
    numbers[k] = made(k);
  }
  const tenon_tensor_view_t x = {
      .data = numbers, .dims = dims, .rank = 4, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  REQUIRE(tenon_context_get_output(context, 0, &y) == TENON_OK);
  EXPECT_INT(y.dims[2], rows);
  EXPECT_INT(y.dims[3], columns);
  for (int64_t image = 0; image < IMAGES; ++image) {
    for (int64_t result = 0; result < RESULTS; ++result) {
      for (int64_t k = 0; k < rows * columns; ++k) {
        EXPECT_NEAR(((const float*)y.data)[place++],
                    expected(c, image, result, k / columns, k % columns), 0);
      }
    }
  }
  tenon_context_destroy(context);
}

TENON_TEST(blocks_of_an_image_become_channels) {
  static const blocked_t cases[] = {
      {.channels = 3,
       .extent = 12,
       .window = 4,
       .stride = 4,
       .has_bias = true,
       .patch = "biased convolution of blocks"},
      {.channels = 1, .extent = 32, .window = 8, .stride = 8, .patch = "convolution of blocks"},
      {.channels = 3, .extent = 12, .window = 4, .stride = 2}, /* windows overlap */
      {.channels = 3,
       .extent = 12,
       .window = 4,
       .stride = 4,
       .pad = 2},                                              /* not the image's blocks */
      {.channels = 3, .extent = 13, .window = 4, .stride = 4}, /* a row is left over */
      {.channels = 6, .extent = 12, .window = 4, .stride = 4}, /* channels enough */
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    session_t s;
    tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
    REQUIRE(session_begin(&s, NULL));
    tenon_engine_t* engine = build(&s, &cases[k]);
    REQUIRE(engine != NULL);
    EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
    if (cases[k].patch != NULL) {
      EXPECT_CONTAINS(info.patches, cases[k].patch);
    } else {
      EXPECT(strstr(info.patches, "blocks") == NULL);
    }
    check_numbers(&cases[k], engine);
    tenon_engine_release(engine);
    session_end(&s);
  }
}
