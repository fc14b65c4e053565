/*
 * Concatenations in place: what they read is written where they lie, bit for bit what a copy gives.
 * Each network is built twice; in the second form all that is concatenated is an output of the
 * network too, so that it needs memory of its own and is copied.
 */
#include <string.h>

#include "core/base/test.h"
#include "tests/engine/networks.h"

enum { FLOAT = TENON_DTYPE_FLOAT32, MOST_VALUES = 12, MOST_ELEMENTS = 1 << 14 };

/* A network while it is made. */
typedef struct sketch_t {
  tenon_network_t* network;
  tenon_value_t joined[MOST_VALUES]; /* what concatenations read, and steps make */
  uint32_t joined_count;
  bool copies; /* the second form */
} sketch_t;

static tenon_value_t input(const sketch_t* s, tenon_dtype_t dtype, uint32_t rank,
                           const int64_t* dims) {
  tenon_value_t x = {0};
  EXPECT_STATUS(tenon_network_add_input(s->network, "x", dtype, rank, dims, &x), TENON_OK);
  return x;
}

static tenon_value_t constant(const sketch_t* s, const char* name, uint32_t rank,
                              const int64_t* dims) {
  float data[1024];
  tenon_value_t value = {0};
  for (int k = 0; k < 1024; ++k) {
    data[k] = (float)(k * 37 % 101 - 50) / 64.0F;
  }
  EXPECT_STATUS(tenon_network_add_constant(s->network, name, FLOAT, rank, dims, data, &value),
                TENON_OK);
  return value;
}

static tenon_value_t expression(const sketch_t* s, const char* text, tenon_value_t a) {
  static const char* const names[] = {"a"};
  tenon_value_t y = {0};
  EXPECT_STATUS(tenon_builder_get_table()->expression(tenon_network_get_builder(s->network), text,
                                                      names, &a, 1, NULL, &y),
                TENON_OK);
  return y;
}

/* One that a concatenation will read. */
static tenon_value_t part(sketch_t* s, const char* text, tenon_value_t a) {
  s->joined[s->joined_count] = expression(s, text, a);
  return s->joined[s->joined_count++];
}

static tenon_value_t layer(const sketch_t* s, const char* op, const tenon_value_t* inputs,
                           uint32_t count, tenon_attribute_t attribute) {
  tenon_value_t y = {0};
  EXPECT_STATUS(tenon_network_add(s->network, op, NULL, inputs, count,
                                  &(tenon_list_t){&attribute, 1, sizeof(tenon_attribute_t)}, &y, 1),
                TENON_OK);
  return y;
}

static tenon_value_t join(const sketch_t* s, const char* name, const tenon_value_t* values,
                          uint32_t count, int64_t axis) {
  const tenon_attribute_t attribute = TENON_INT("axis", axis);
  tenon_value_t y = {0};
  EXPECT_STATUS(tenon_network_add(s->network, "standard.concatenate/1", name, values, count,
                                  &(tenon_list_t){&attribute, 1, sizeof(tenon_attribute_t)}, &y, 1),
                TENON_OK);
  return y;
}

#define VALUES(...) ((const tenon_value_t[]){__VA_ARGS__})

/* Rows of which parts begin at odd elements. */
static tenon_value_t make_rows(sketch_t* s) {
  const tenon_value_t x = input(s, FLOAT, 2, (const int64_t[]){5, 3});
  const tenon_value_t left = part(s, "y = tanh(a)", x);
  const tenon_value_t right = part(s, "y = exp(a)", x);
  return expression(s, "y = a * a", join(s, "joined", VALUES(left, right, left), 3, 1));
}

static tenon_value_t make_output(sketch_t* s) {
  const tenon_value_t x = input(s, FLOAT, 3, (const int64_t[]){2, 3, 5});
  const tenon_value_t first = part(s, "y = tanh(a)", x);
  return join(s, "joined", VALUES(first, part(s, "y = exp(a)", x)), 2, 0);
}

/* Elements of one byte, the batch varies. */
static tenon_value_t make_bytes(sketch_t* s) {
  const tenon_value_t x = input(s, FLOAT, 2, (const int64_t[]){-1, 7});
  const tenon_value_t first = part(s, "y = a > 0", x);
  const tenon_value_t second = part(s, "y = a < 1", x);
  return join(s, "joined", VALUES(first, second, first), 3, -1);
}

static tenon_value_t convolution(sketch_t* s, const char* name, tenon_value_t x, int64_t from,
                                 int64_t to) {
  const tenon_value_t w = constant(s, name, 4, (const int64_t[]){to, from, 3, 3});
  return part(s, "y = max(a, 0)",
              layer(s, "standard.convolution/1", VALUES(x, w), 2, TENON_INTS("pads", 1, 1, 1, 1)));
}

/* Convolutions of three and five channels, side by side. */
static tenon_value_t make_channels(sketch_t* s) {
  const tenon_value_t x = input(s, FLOAT, 4, (const int64_t[]){-1, 4, 6, 7});
  const tenon_value_t left = convolution(s, "left", x, 4, 3);
  const tenon_value_t right = convolution(s, "right", expression(s, "y = a * 2", x), 4, 5);
  const tenon_value_t y = join(s, "joined", VALUES(left, right), 2, 1);
  return convolution(s, "last", y, 8, 2);
}

/* Each layer reads all before it: parts are read beside the concatenation, wholes are parts. */
static tenon_value_t make_dense(sketch_t* s) {
  tenon_value_t all =
      convolution(s, "first", input(s, FLOAT, 4, (const int64_t[]){2, 3, 5, 5}), 3, 3);
  static const char* const names[] = {"w0", "w1", "w2"};
  for (int k = 0; k < 3; ++k) {
    const tenon_value_t next = convolution(s, names[k], all, 3 + 2 * k, 2);
    all = join(s, k == 2 ? "joined" : "nested", VALUES(all, next), 2, 1);
    s->joined[s->joined_count++] = all;
  }
  return expression(s, "y = a + 1", all);
}

/* What cannot be a part: an input, a constant, a view. */
static tenon_value_t make_mixture(sketch_t* s) {
  const tenon_value_t x = input(s, FLOAT, 2, (const int64_t[]){4, 6});
  const tenon_value_t made = part(s, "y = tanh(a)", x);
  const tenon_value_t turned =
      layer(s, "standard.permute/1", VALUES(x), 1, TENON_INTS("perm", 1, 0));
  const tenon_value_t back = layer(s, "standard.permute/1", VALUES(part(s, "y = exp(a)", turned)),
                                   1, TENON_INTS("perm", 1, 0));
  const tenon_value_t c = constant(s, "c", 2, (const int64_t[]){4, 3});
  return expression(s, "y = a - 1", join(s, "joined", VALUES(c, made, x, back), 4, 1));
}

/* A loop's body: h' = [tanh of the mean of h's rows, their largest + 1]. */
static tenon_value_t make_loop(sketch_t* s) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(s->network);
  const tenon_value_t h = input(s, FLOAT, 2, (const int64_t[]){2, 7});
  const int64_t five = 5;
  tenon_value_t trips = {0};
  tenon_value_t p[3] = {{0}};
  tenon_value_t y[3] = {{0}};
  uint32_t body = 0;
  EXPECT_STATUS(
      tenon_network_add_constant(s->network, "trips", TENON_DTYPE_INT64, 0, NULL, &five, &trips),
      TENON_OK);
  EXPECT_STATUS(table->begin_body(builder, "body"), TENON_OK);
  EXPECT_STATUS(
      table->body_parameter(builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64, 0, NULL, &p[0]),
      TENON_OK);
  EXPECT_STATUS(
      table->body_parameter(builder, "go", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL, 0, NULL, &p[1]),
      TENON_OK);
  EXPECT_STATUS(table->body_parameter_like(builder, "h", h, &p[2]), TENON_OK);
  const tenon_value_t mean =
      layer(s, "standard.reduce_mean/1", &p[2], 1, TENON_INTS("fixed_axes", 0));
  const tenon_value_t most =
      layer(s, "standard.reduce_max/1", &p[2], 1, TENON_INTS("fixed_axes", 0));
  const tenon_value_t end = expression(s, "y = tanh(a)", mean);
  const tenon_value_t begin = expression(s, "y = a + 1", most);
  EXPECT_STATUS(table->body_result(builder, p[1]), TENON_OK);
  EXPECT_STATUS(table->body_result(builder, join(s, "joined", VALUES(end, begin), 2, 0)), TENON_OK);
  for (uint32_t k = 0; s->copies && k < 2; ++k) { /* collected */
    EXPECT_STATUS(table->body_result(builder, k == 0 ? end : begin), TENON_OK);
  }
  EXPECT_STATUS(table->end_body(builder, &body), TENON_OK);
  EXPECT_STATUS(table->begin(builder, "standard.repetition/1", "loop"), TENON_OK);
  EXPECT_STATUS(table->attribute_int(builder, "carried_count", 1), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, trips), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, (tenon_value_t){0}), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, h), TENON_OK);
  EXPECT_STATUS(table->add_body(builder, body), TENON_OK);
  const uint32_t count = s->copies ? 3 : 1;
  EXPECT_STATUS(table->output_count(builder, count), TENON_OK);
  EXPECT_STATUS(table->end(builder, y, count), TENON_OK);
  return y[0];
}

/* ---- Building and running ---- */

/* `most`: axis 0 of the input varies from 1 to this; 0: it does not. `part_count`: steps that write
 * a part, copies among them; `move_count`: steps that only copy. */
typedef struct case_t {
  const char* name;
  tenon_value_t (*make)(sketch_t* s);
  int64_t most;
  uint32_t part_count;
  uint32_t copy_count;
} case_t;

typedef struct built_t {
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
} built_t;

static void make_network(const case_t* c, bool copies, tenon_network_t* network) {
  sketch_t s = {.network = network, .copies = copies};
  EXPECT_STATUS(tenon_network_add_output(network, c->make(&s), "y"), TENON_OK);
  for (uint32_t k = 0; copies && k < s.joined_count; ++k) {
    (void)tenon_network_add_output(network, s.joined[k], NULL);
  }
}

static bool make_plan(const case_t* c, const char* device, bool measures, built_t* b) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  int64_t dims[3][8];
  tenon_io_info_t info = {.size = sizeof(info)};
  EXPECT_STATUS(tenon_network_get_input(b->network, 0, &info), TENON_OK);
  for (uint32_t k = 0; k < info.rank; ++k) {
    dims[0][k] = dims[1][k] = dims[2][k] = info.dims[k];
  }
  dims[0][0] = 1;
  dims[1][0] = dims[2][0] = c->most;
  const tenon_profile_range_t range = {info.name, info.rank, dims[0], dims[1], dims[2]};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  options.device = device;
  options.no_measuring = measures ? 0 : 1;
  options.thread_count = 2;
  options.profiles = (tenon_list_t){&profile, c->most > 0 ? 1 : 0, sizeof(profile)};
  return tenon_build(b->network, &options, &b->plan) == TENON_OK;
}

/* `device` NULL: the host. `measures`: times decide, else bytes. */
static bool build(const case_t* c, const char* device, bool copies, bool measures, built_t* b) {
  static const char* const paths[] = {FAR_DEVICE_FOLDER, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = device == NULL ? NULL : paths;
  *b = (built_t){0};
  if (tenon_registry_create(&options, &b->registry) != TENON_OK ||
      tenon_network_create(b->registry, &b->network) != TENON_OK) {
    return false;
  }
  make_network(c, copies, b->network);
  return make_plan(c, device, measures, b) &&
         tenon_engine_create_from_plan(b->registry, b->plan, NULL, &b->engine) == TENON_OK &&
         tenon_context_create(b->engine, NULL, &b->context) == TENON_OK;
}

static void destroy(built_t* b) {
  tenon_context_destroy(b->context);
  tenon_engine_release(b->engine);
  tenon_plan_destroy(b->plan);
  tenon_network_destroy(b->network);
  tenon_registry_release(b->registry);
}

/* Steps that write a part of something, or that only copy. */
static uint32_t count_steps(const built_t* b, bool parts) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < tenon_engine_step_count(b->engine); ++k) {
    tenon_step_info_t info = {.size = sizeof(info)};
    EXPECT_STATUS(tenon_engine_get_step(b->engine, k, &info), TENON_OK);
    const bool counts =
        parts ? strstr(info.layout, ", part of ") != NULL : strstr(info.name, "(copy)") != NULL;
    count += counts ? 1 : 0;
  }
  return count;
}

/* The first output of one run, with `extent` along axis 0 where that varies. */
static bool run(const built_t* b, int64_t extent, tenon_tensor_view_t* out_view) {
  static float x[MOST_ELEMENTS];
  int64_t dims[8];
  tenon_io_info_t info = {.size = sizeof(info)};
  for (uint32_t k = 0; k < MOST_ELEMENTS; ++k) {
    x[k] = (float)((int)(k * 29 % 97) - 48) / 32.0F;
  }
  EXPECT_STATUS(tenon_engine_get_input(b->engine, 0, &info), TENON_OK);
  for (uint32_t k = 0; k < info.rank; ++k) {
    dims[k] = info.dims[k] < 0 ? extent : info.dims[k];
  }
  const tenon_tensor_view_t view = {
      .data = x, .dims = dims, .rank = info.rank, .dtype = FLOAT, .layout = TENON_NONE};
  return tenon_context_set_input(b->context, 0, &view) == TENON_OK &&
         tenon_context_run(b->context) == TENON_OK &&
         tenon_context_get_output(b->context, 0, out_view) == TENON_OK;
}

static void expect_equal(const case_t* c, const built_t* own, const built_t* other,
                         int64_t extent) {
  tenon_tensor_view_t a;
  tenon_tensor_view_t b;
  REQUIRE(run(own, extent, &a) && run(other, extent, &b));
  size_t bytes = a.dtype == FLOAT ? sizeof(float) : 1;
  for (uint32_t k = 0; k < a.rank; ++k) {
    EXPECT_INT(a.dims[k], b.dims[k]);
    bytes *= (size_t)a.dims[k];
  }
  if (bytes == 0 || memcmp(a.data, b.data, bytes) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s: in place and copied differ, extent %lld", c->name,
                     (long long)extent);
  }
}

static void check(const case_t* c) {
  built_t own;
  built_t copied;
  built_t measured;
  REQUIRE(build(c, NULL, false, false, &own) && build(c, NULL, true, false, &copied) &&
          build(c, NULL, false, true, &measured));
  if (count_steps(&own, true) != c->part_count || count_steps(&own, false) != c->copy_count ||
      count_steps(&copied, true) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %u steps write parts, %u copy; copied: %u", c->name,
                     count_steps(&own, true), count_steps(&own, false), count_steps(&copied, true));
  }
  for (int64_t extent = 1; extent <= (c->most > 0 ? c->most : 1); ++extent) {
    expect_equal(c, &own, &copied, extent);
    expect_equal(c, &own, &copied, extent); /* memory that was used before */
    expect_equal(c, &measured, &copied, extent);
  }
  destroy(&own);
  destroy(&copied);
  destroy(&measured);
}

/* Copied are the second `left` of the rows and of the bytes, what cannot be a part, and the output
 * of the channels into rows; the last concatenation of the dense layers makes rows of what is not.
 */
TENON_TEST(in_place_is_as_copied) {
  static const case_t cases[] = {
      {"rows", make_rows, 0, 3, 1},   {"output", make_output, 0, 2, 0},
      {"bytes", make_bytes, 3, 3, 1}, {"channels", make_channels, 3, 2, 1},
      {"dense", make_dense, 0, 3, 0}, {"mixture", make_mixture, 0, 4, 2},
      {"loop", make_loop, 0, 2, 0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    check(&cases[k]);
  }
}

/* In memory that is not the host's: parts lie where their whole does. */
TENON_TEST(in_place_on_a_device) {
  static const case_t cases[] = {
      {"rows", make_rows, 0, 0, 0},   {"output", make_output, 0, 0, 0},
      {"bytes", make_bytes, 3, 0, 0}, {"mixture", make_mixture, 0, 0, 0},
      {"dense", make_dense, 0, 0, 0}, {"loop", make_loop, 0, 0, 0},
  };
  uint32_t part_count = 0;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    built_t own;
    built_t copied;
    REQUIRE(build(&cases[k], "far", false, false, &own) &&
            build(&cases[k], "far", true, false, &copied));
    part_count += count_steps(&own, true);
    expect_equal(&cases[k], &own, &copied, 1);
    expect_equal(&cases[k], &own, &copied, 1);
    destroy(&own);
    destroy(&copied);
  }
  EXPECT(part_count > 0);
}
