/* Products on the device `far` with their neighbours in the kernel's slots: what goes in, what
 * stays out and why, and that nothing else is computed than by the reference. */
#include <math.h>

#include "tests/contract/scene.h"

enum { BATCH = 3, DEPTH = 4, COLUMNS = 5, MOST_INPUTS = 8, MOST_OUTPUTS = 4 };

static const int64_t left[] = {BATCH, DEPTH};
static const int64_t least[] = {1, DEPTH};
static const int64_t most[] = {8, DEPTH};
static const int64_t right[] = {DEPTH, COLUMNS};

/* Numbers that differ, on both sides of 0. */
static float number_at(uint32_t input, int64_t place) {
  return (float)((place * 7 + (int64_t)input * 5) % 23 - 11) / 8;
}

typedef struct network_t {
  scene_t scene;
  uint32_t input_count;
  tenon_dtype_t types[MOST_INPUTS];
  uint32_t ranks[MOST_INPUTS];
  int64_t dims[MOST_INPUTS][3];
  uint32_t output_count;
  bool is_open; /* in the first extent of x0 */
  tenon_profile_range_t range;
  tenon_profile_t profile;
} network_t;

/* `first`: the extent of its first axis in the network; -1: open. */
static tenon_value_t input_of_type(network_t* n, tenon_dtype_t dtype, uint32_t rank,
                                   const int64_t* dims, int64_t first) {
  char name[16];
  tenon_value_t value = {0};
  int64_t declared[3];
  const uint32_t k = n->input_count++;
  (void)snprintf(name, sizeof name, "x%u", k);
  n->types[k] = dtype;
  n->ranks[k] = rank;
  memcpy(n->dims[k], dims, rank * sizeof *dims);
  memcpy(declared, dims, rank * sizeof *dims);
  declared[0] = first;
  n->is_open = n->is_open || first < 0;
  EXPECT_STATUS(tenon_network_add_input(n->scene.network, name, dtype, rank, declared, &value),
                TENON_OK);
  return value;
}

static tenon_value_t input_of(network_t* n, uint32_t rank, const int64_t* dims) {
  return input_of_type(n, TENON_DTYPE_FLOAT32, rank, dims, dims[0]);
}

static tenon_value_t unary(network_t* n, const char* op, const char* name, tenon_value_t x) {
  char identity[48];
  (void)snprintf(identity, sizeof identity, "standard.%s/1", op);
  return scene_unary(&n->scene, identity, name, x);
}

static tenon_value_t binary(network_t* n, const char* op, const char* name, tenon_value_t a,
                            tenon_value_t b) {
  char identity[48];
  const tenon_value_t inputs[] = {a, b};
  (void)snprintf(identity, sizeof identity, "standard.%s/1", op);
  return scene_node(&n->scene, identity, name, inputs, 2);
}

static void output_of(network_t* n, tenon_value_t value) {
  char name[16];
  (void)snprintf(name, sizeof name, "y%u", n->output_count++);
  scene_output(&n->scene, value, name);
}

typedef void (*make_t)(network_t* n);

/* ---- Running ---- */

static void set_inputs(network_t* n, float data[MOST_INPUTS][64]) {
  for (uint32_t k = 0; k < n->input_count; ++k) {
    for (int64_t place = 0; place < 64; ++place) {
      if (n->types[k] == TENON_DTYPE_INT8) {
        ((int8_t*)data[k])[place] = (int8_t)(place % 5 - 2);
      } else {
        data[k][place] = number_at(k, place);
      }
    }
    const tenon_tensor_view_t view = {.data = data[k],
                                      .dims = n->dims[k],
                                      .rank = n->ranks[k],
                                      .dtype = n->types[k],
                                      .layout = TENON_NONE};
    EXPECT_STATUS(tenon_context_set_input(n->scene.context, k, &view), TENON_OK);
  }
}

static void get_outputs(network_t* n, float results[MOST_OUTPUTS][64]) {
  for (uint32_t k = 0; k < n->output_count; ++k) {
    tenon_tensor_view_t view = {0};
    EXPECT_STATUS(tenon_context_get_output(n->scene.context, k, &view), TENON_OK);
    size_t count = 1;
    for (uint32_t d = 0; d < view.rank; ++d) {
      count *= (size_t)view.dims[d];
    }
    memcpy(results[k], view.data, count * sizeof(float));
  }
}

static bool open_network(network_t* n, const char* device, make_t make) {
  memset(n, 0, sizeof *n);
  if (!SCENE_OPEN(&n->scene, FAR_DEVICE_FOLDER)) {
    return false;
  }
  n->scene.options.device = device;
  n->scene.options.no_measuring = 1;
  n->range = (tenon_profile_range_t){"x0", 2, least, left, most};
  n->profile.ranges = (tenon_list_t){&n->range, 1, sizeof(n->range)};
  make(n);
  n->scene.options.profiles = (tenon_list_t){&n->profile, n->is_open ? 1 : 0, sizeof(n->profile)};
  return true;
}

/* Twice: step by step, then recorded and replayed. */
static void run(network_t* n, float results[MOST_OUTPUTS][64]) {
  float data[MOST_INPUTS][64];
  set_inputs(n, data);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon_context_run(n->scene.context), TENON_OK);
  }
  get_outputs(n, results);
}

static void compute_by_reference(make_t make, float results[MOST_OUTPUTS][64]) {
  network_t n;
  REQUIRE(open_network(&n, "cpu", make));
  n.scene.options.reference_only = 1;
  if (scene_start(&n.scene)) {
    run(&n, results);
  }
  scene_close(&n.scene);
}

static void expect_results(network_t* n, make_t make) {
  static float results[MOST_OUTPUTS][64];
  static float expected[MOST_OUTPUTS][64];
  memset(results, 0, sizeof results);
  memset(expected, 0, sizeof expected);
  run(n, results);
  compute_by_reference(make, expected);
  for (uint32_t k = 0; k < n->output_count; ++k) {
    for (int place = 0; place < 64; ++place) {
      if (fabsf(results[k][place] - expected[k][place]) > 1e-5F) {
        tenon__test_fail(__FILE__, __LINE__, "output %u, element %d: %g, not %g", k, place,
                         (double)results[k][place], (double)expected[k][place]);
        return;
      }
    }
  }
}

/* "kernel: nodes: expression" of each kernel's step of the device. */
static const char* steps_of(network_t* n, char text[1024]) {
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t k = 0; k < tenon_engine_step_count(n->scene.engine); ++k) {
    const tenon_step_info_t step = scene_step(&n->scene, k);
    if (strcmp(step.plugin, "far_device") == 0 && used < 1024) {
      used += (size_t)snprintf(text + used, 1024 - used, "%s%s: %s: %s", used > 0 ? " | " : "",
                               step.kernel, step.nodes, step.expression);
    }
  }
  return text;
}

/* Builds on the device, compares the steps and what they compute; then the same of the plan that
 * was written and read again. */
static void expect_steps(make_t make, const char* steps) {
  network_t n;
  char text[1024];
  const void* data = NULL;
  size_t size = 0;
  REQUIRE(open_network(&n, "far", make));
  if (scene_start(&n.scene)) {
    EXPECT_TEXT(steps_of(&n, text), steps);
    expect_results(&n, make);
    EXPECT_STATUS(tenon_plan_get_data(n.scene.plan, &data, &size), TENON_OK);
    tenon_context_destroy(n.scene.context);
    tenon_engine_release(n.scene.engine);
    n.scene.context = NULL;
    n.scene.engine = NULL;
    EXPECT_STATUS(
        tenon_engine_create_from_memory(n.scene.registry, data, size, NULL, &n.scene.engine),
        TENON_OK);
    EXPECT_STATUS(tenon_context_create(n.scene.engine, NULL, &n.scene.context), TENON_OK);
    EXPECT_TEXT(steps_of(&n, text), steps);
    expect_results(&n, make);
  }
  scene_close(&n.scene);
}

/* ---- Before the product ---- */

static void make_relu_before(network_t* n) {
  const tenon_value_t x = input_of(n, 2, left);
  const tenon_value_t w = input_of(n, 2, right);
  output_of(n, binary(n, "mat_mul", "product", unary(n, "relu", "relu", x), w));
}

static void make_relu_on_the_right(network_t* n) {
  const tenon_value_t x = input_of(n, 2, left);
  const tenon_value_t w = input_of(n, 2, right);
  output_of(n, binary(n, "mat_mul", "product", x, unary(n, "relu", "relu", w)));
}

/* (x - m) * s, m for each row, s for each column; x is what varies with both. */
static void make_normalised(network_t* n) {
  const tenon_value_t m = input_of(n, 2, (const int64_t[]){BATCH, 1});
  const tenon_value_t x = input_of(n, 2, left);
  const tenon_value_t s = input_of(n, 1, (const int64_t[]){DEPTH});
  const tenon_value_t w = input_of(n, 2, right);
  const tenon_value_t centred = binary(n, "sub", "centre", x, m);
  output_of(n, binary(n, "mat_mul", "product", binary(n, "mul", "scale", centred, s), w));
}

/* A value that two nodes of the chain read: x * sigmoid(x) of x = a + b. */
static void make_diamond(network_t* n) {
  const tenon_value_t a = input_of(n, 2, left);
  const tenon_value_t b = input_of(n, 2, left);
  const tenon_value_t w = input_of(n, 2, right);
  const tenon_value_t x = binary(n, "add", "sum", a, b);
  const tenon_value_t gate = unary(n, "sigmoid", "gate", x);
  output_of(n, binary(n, "mat_mul", "product", binary(n, "mul", "gated", x, gate), w));
}

TENON_TEST(arithmetic_goes_before_either_operand) {
  expect_steps(make_relu_before, "product: relu, product: before in0: max(value, 0)");
  expect_steps(make_relu_on_the_right, "product: relu, product: before in1: max(value, 0)");
}

TENON_TEST(operands_before_the_product_broadcast) {
  expect_steps(make_normalised, "product: centre, scale, product: before in0: (value - in3) * in2");
}

TENON_TEST(a_value_that_only_the_chain_reads_goes_in) {
  expect_steps(
      make_diamond,
      "product: sum, gate, gated, product: before in0: let t0 = value + in2; t0 * sigmoid(t0)");
}

/* ---- Beside the product ---- */

static tenon_value_t plain_product(network_t* n) {
  const tenon_value_t x = input_of(n, 2, left);
  return binary(n, "mat_mul", "product", x, input_of(n, 2, right));
}

static void make_read_twice(network_t* n) {
  const tenon_value_t t = plain_product(n);
  output_of(n, t);
  output_of(n, unary(n, "relu", "relu", t));
}

static void make_read_on_the_way(network_t* n) {
  const tenon_value_t b = input_of(n, 1, (const int64_t[]){COLUMNS});
  const tenon_value_t t = binary(n, "add", "bias", plain_product(n), b);
  output_of(n, t);
  output_of(n, unary(n, "relu", "relu", t));
}

static void make_two_beside(network_t* n) {
  const tenon_value_t t = plain_product(n);
  output_of(n, unary(n, "relu", "relu", t));
  output_of(n, unary(n, "tanh", "tanh", t));
  output_of(n, t);
}

static void make_three_beside(network_t* n) {
  const tenon_value_t t = plain_product(n);
  output_of(n, unary(n, "relu", "relu", t));
  output_of(n, unary(n, "tanh", "tanh", t));
  output_of(n, binary(n, "add", "all", t, unary(n, "sigmoid", "sigmoid", t)));
}

/* The product leaves too: one value more than there are slots for. */
static void make_four_beside(network_t* n) {
  const tenon_value_t t = plain_product(n);
  output_of(n, t);
  output_of(n, unary(n, "relu", "relu", t));
  output_of(n, unary(n, "tanh", "tanh", t));
  output_of(n, unary(n, "sigmoid", "sigmoid", t));
}

TENON_TEST(what_others_read_leaves_beside) {
  expect_steps(make_read_twice, "product: product, relu: out1: max(value, 0)");
  expect_steps(make_read_on_the_way,
               "product: product, bias, relu: out1: value + in2; max(value + in3, 0)");
  expect_steps(make_two_beside,
               "product: product, relu, tanh: out1: max(value, 0); out2: tanh(value)");
}

TENON_TEST(as_many_leave_as_there_are_slots) {
  expect_steps(
      make_three_beside,
      "product: product, relu, tanh, sigmoid, all: out1: max(value, 0); out2: tanh(value); "
      "value + sigmoid(value)");
  expect_steps(make_four_beside,
               "product: product, relu, tanh: out1: max(value, 0); out2: tanh(value) | "
               "expressions: sigmoid: sigmoid(in0)");
}

/* ---- On all sides ---- */

/* Bytes before one operand, a scale before the other, a bias behind, two values out; how many rows
 * there are only a run knows. */
static void make_all(network_t* n) {
  const tenon_value_t x =
      input_of_type(n, TENON_DTYPE_INT8, 2, (const int64_t[]){BATCH, DEPTH}, -1);
  const tenon_value_t w = input_of(n, 2, right);
  const tenon_value_t s = input_of(n, 2, (const int64_t[]){1, COLUMNS});
  const tenon_value_t b = input_of(n, 1, (const int64_t[]){COLUMNS});
  const tenon_attribute_t to[] = {TENON_TYPE("to", TENON_DTYPE_FLOAT32)};
  tenon_value_t floats = {0};
  EXPECT_STATUS(tenon_network_add(n->scene.network, "standard.cast/1", "floats", &x, 1,
                                  &(tenon_list_t){to, 1, sizeof(tenon_attribute_t)}, &floats, 1),
                TENON_OK);
  const tenon_value_t product = binary(n, "mat_mul", "product", unary(n, "tanh", "tanh", floats),
                                       binary(n, "mul", "scale", w, s));
  const tenon_value_t t = binary(n, "add", "bias", product, b);
  output_of(n, t);
  output_of(n, unary(n, "relu", "relu", t));
}

TENON_TEST(all_slots_are_filled_at_once) {
  expect_steps(make_all,
               "product: floats, tanh, scale, product, bias, relu: out1: value + in2; "
               "max(value + in3, 0); before in0: tanh(f32(value)); before in1: value * in4");
}

/* relu stands between two products: the first one takes it. */
static void make_two_products(network_t* n) {
  const tenon_value_t x = input_of(n, 2, left);
  const tenon_value_t w = input_of(n, 2, right);
  const tenon_value_t v = input_of(n, 2, (const int64_t[]){COLUMNS, 2});
  const tenon_value_t first = binary(n, "mat_mul", "first", unary(n, "tanh", "tanh", x), w);
  output_of(n, binary(n, "mat_mul", "second", unary(n, "relu", "relu", first), v));
}

TENON_TEST(what_stands_between_two_products_goes_behind_the_first) {
  expect_steps(make_two_products,
               "product: tanh, first, relu: max(value, 0); before in0: tanh(value) | "
               "mat_mul: second: ");
}

/* ---- What stays outside ---- */

static void make_read_elsewhere(network_t* n) {
  const tenon_value_t w = input_of(n, 2, right);
  const tenon_value_t x = unary(n, "relu", "relu", input_of(n, 2, left));
  output_of(n, binary(n, "mat_mul", "product", x, w));
  output_of(n, x);
}

static void make_square(network_t* n) {
  const tenon_value_t x = unary(n, "relu", "relu", input_of(n, 2, (const int64_t[]){DEPTH, DEPTH}));
  output_of(n, binary(n, "mat_mul", "product", x, x));
}

/* Every operand is broadcast: none can stand in the input's place. */
static void make_outer(network_t* n) {
  const tenon_value_t w = input_of(n, 2, right);
  const tenon_value_t rows = input_of(n, 2, (const int64_t[]){BATCH, 1});
  const tenon_value_t columns = input_of(n, 2, (const int64_t[]){1, DEPTH});
  output_of(n, binary(n, "mat_mul", "product", binary(n, "add", "outer", rows, columns), w));
}

/* Six terms: the slot takes four operands beside its own value, so the first sum stays outside. */
static void make_long_sum(network_t* n) {
  const tenon_value_t w = input_of(n, 2, right);
  tenon_value_t x = input_of(n, 2, left);
  for (int k = 0; k < 5; ++k) {
    char name[16];
    (void)snprintf(name, sizeof name, "sum%d", k);
    x = binary(n, "add", name, x, input_of(n, 2, left));
  }
  output_of(n, binary(n, "mat_mul", "product", x, w));
}

TENON_TEST(what_others_read_is_made_for_all_of_them) {
  expect_steps(make_read_elsewhere, "expressions: relu: max(in0, 0) | mat_mul: product: ");
  expect_steps(make_square, "expressions: relu: max(in0, 0) | mat_mul: product: ");
}

TENON_TEST(a_prologue_has_a_value_of_the_input_s_shape) {
  expect_steps(make_outer, "expressions: outer: in0 + in1 | mat_mul: product: ");
}

TENON_TEST(no_more_operands_than_the_slot_takes) {
  expect_steps(
      make_long_sum,
      "expressions: sum0: in0 + in1 | product: sum1, sum2, sum3, sum4, product: before in0: "
      "value + in2 + in3 + in4 + in5");
}
