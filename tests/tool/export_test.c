/* Networks as ONNX files: what is written is read back and computes the same, and a node that ONNX
 * lacks is refused by name. */
#include "export/export.h"
#include "tests/api/figures.h"
#include "text/console.h"
#include "text/memory.h"

/* x [2, 3, 4] = 0, 1, 2, ... less 11. */
static float numbers[24];
static const int64_t extents[3] = {2, 3, 4};

typedef tenon_value_t (*make_t)(session_t* s, tenon_value_t x);

static bool begin(scene_t* scene) {
  tool_console_silence(true);
  for (int i = 0; i < 24; ++i) {
    numbers[i] = (float)(i - 11);
  }
  return scene_begin(scene);
}

/* Builds and runs; the output's view is good until the scene ends. */
static bool run_network(scene_t* scene, tenon_tensor_view_t* out_view) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  if (!scene_start(scene, &options)) {
    return false;
  }
  set(scene, 0, TENON_DTYPE_FLOAT32, 3, extents, numbers);
  run(scene);
  return tenon_context_get_output(scene->context, 0, out_view) == TENON_OK;
}

static void expect_equal(const char* what, const tenon_tensor_view_t* actual,
                         const tenon_tensor_view_t* expected) {
  int64_t dense[MOST_RANK];
  uint64_t count = 0;
  if (actual->rank != expected->rank ||
      memcmp(actual->dims, expected->dims, actual->rank * sizeof(int64_t)) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s: another shape", what);
    return;
  }
  (void)tenon__strides_row_major(actual->rank, actual->dims, dense);
  (void)tenon__element_count(actual->rank, actual->dims, &count);
  for (uint64_t i = 0; i < count; ++i) {
    const double is = session_number(actual, actual->strides == NULL ? dense : actual->strides, i);
    const double should =
        session_number(expected, expected->strides == NULL ? dense : expected->strides, i);
    if (!session_is_close(is, should, 1e-6)) { /* a few roundings of f32 */
      tenon__test_fail(__FILE__, __LINE__, "%s: element %llu is %.9g, expected %.9g", what,
                       (unsigned long long)i, is, should);
      return;
    }
  }
}

/* The file in one piece, freed by tool_free. */
static uint8_t* join(tool_pieces_t* pieces, size_t* out_size) {
  uint8_t* data = tool_allocate(pieces->size + 1, 1);
  *out_size = 0;
  for (size_t i = 0; i < pieces->count; ++i) {
    memcpy(data + *out_size, pieces->items[i].data, pieces->items[i].size);
    *out_size += pieces->items[i].size;
  }
  tool_pieces_free(pieces);
  return data;
}

/* The network of one output as an ONNX file, and back: it computes the same. `part`: what the file
 * must hold; NULL: anything. */
static void expect_same(const char* what, make_t make, const char* part) {
  scene_t made;
  scene_t back;
  tool_pieces_t pieces = {0};
  uint8_t* data = NULL;
  size_t size = 0;
  tenon_tensor_view_t expected;
  tenon_tensor_view_t actual;
  REQUIRE(begin(&made) && begin(&back));
  const tenon_value_t x = input(&made.session, "x", TENON_DTYPE_FLOAT32, 3, extents);
  output(&made.session, make(&made.session, x), "y");
  tool_console_forget_error();
  const tenon_status_t status = tool_export_onnx(made.session.network, &pieces);
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", what, tool_console_last_error());
  } else {
    data = join(&pieces, &size);
    session_expect(&back.session, what,
                   tenon_network_parse_memory(back.session.network, data, size, what, NULL));
    EXPECT(part == NULL || memmem(data, size, part, strlen(part)) != NULL);
    if (run_network(&made, &expected) && run_network(&back, &actual)) {
      expect_equal(what, &actual, &expected);
    }
  }
  tool_free(data);
  scene_end(&back);
  scene_end(&made);
}

/* ---- Slices ---- */

static tenon_value_t slice(session_t* s, tenon_value_t x) {
  return node(s, "standard.strided_slice/1",
              VALUES(x, INTEGER_VECTOR(s, 3, 0), INTEGER_VECTOR(s, INT64_MIN, 2),
                     INTEGER_VECTOR(s, -1, 1), INTEGER_VECTOR(s, -2, 1)),
              NO_ATTRIBUTES);
}

static tenon_value_t slice_without_axes(session_t* s, tenon_value_t x) {
  return node(s, "standard.strided_slice/1",
              VALUES(x, INTEGER_VECTOR(s, 1, 1), INTEGER_VECTOR(s, 2, -1)), NO_ATTRIBUTES);
}

static tenon_value_t slice_of_nothing(session_t* s, tenon_value_t x) {
  const int64_t none[1] = {0};
  const tenon_value_t list = constant(s, TENON_DTYPE_INT64, 1, DIMS(0), none);
  return node(s, "standard.strided_slice/1", VALUES(x, list, list, list), NO_ATTRIBUTES);
}

TENON_TEST(slices_are_written) {
  expect_same("slice", slice, "Slice");
  expect_same("slice without axes", slice_without_axes, "Slice");
  expect_same("slice of nothing", slice_of_nothing, "Slice");
}

/* ---- Attributes ---- */

static tenon_value_t sum_of_nothing(session_t* s, tenon_value_t x) {
  return node(s, "standard.reduce_sum/1", VALUES(x),
              ATTRIBUTES(TENON_INT("noop_with_empty_axes", 1)));
}

static tenon_value_t sum_of_all(session_t* s, tenon_value_t x) {
  return node(s, "standard.reduce_sum/1", VALUES(x), NO_ATTRIBUTES);
}

static tenon_value_t selu(session_t* s, tenon_value_t x) {
  return node(s, "standard.selu/1", VALUES(x), NO_ATTRIBUTES);
}

static tenon_value_t older_selu(session_t* s, tenon_value_t x) {
  return node(s, "standard.selu/1", VALUES(x),
              ATTRIBUTES(TENON_FLOAT("alpha", 1.6732), TENON_FLOAT("gamma", 1.0507)));
}

static tenon_value_t wide_elu(session_t* s, tenon_value_t x) {
  return node(s, "standard.elu/1", VALUES(x), ATTRIBUTES(TENON_FLOAT("alpha", 2)));
}

static tenon_value_t pool_of(session_t* s, tenon_value_t x, const char* auto_pad, int64_t pads) {
  return node(s, "standard.max_pool/1", VALUES(x),
              ATTRIBUTES(ROW_INTS("kernel_shape", 3), ROW_INTS("pads", pads, pads),
                         ROW_TEXT("auto_pad", auto_pad)));
}

static tenon_value_t explicit_pool(session_t* s, tenon_value_t x) {
  return pool_of(s, x, "explicit", 1);
}

static tenon_value_t valid_pool(session_t* s, tenon_value_t x) {
  return pool_of(s, x, "valid", 1);
}

static tenon_value_t same_pool(session_t* s, tenon_value_t x) {
  return pool_of(s, x, "same_upper", 1);
}

static tenon_value_t convolution_of(session_t* s, tenon_value_t x, const char* auto_pad) {
  float weights[2 * 3 * 2];
  for (int i = 0; i < 12; ++i) {
    weights[i] = (float)(i * i % 7) - 3;
  }
  return node(s, "standard.convolution/1",
              VALUES(x, constant(s, TENON_DTYPE_FLOAT32, 3, DIMS(2, 3, 2), weights),
                     FLOAT_VECTOR(s, 0.5F, -0.5F)),
              ATTRIBUTES(ROW_INTS("pads", 1, 0), ROW_TEXT("auto_pad", auto_pad)));
}

static tenon_value_t explicit_convolution(session_t* s, tenon_value_t x) {
  return convolution_of(s, x, "explicit");
}

static tenon_value_t valid_convolution(session_t* s, tenon_value_t x) {
  return convolution_of(s, x, "valid");
}

TENON_TEST(attributes_are_written) {
  expect_same("sum of nothing", sum_of_nothing, NULL);
  expect_same("sum of all", sum_of_all, "ReduceSum");
  expect_same("selu", selu, "Selu");
  expect_same("older selu", older_selu, "gamma");
  expect_same("wide elu", wide_elu, "alpha");
}

TENON_TEST(pads_that_are_not_in_use_are_not_written) {
  expect_same("explicit pool", explicit_pool, "MaxPool");
  expect_same("valid pool", valid_pool, "VALID");
  expect_same("same pool", same_pool, "SAME_UPPER");
  expect_same("explicit convolution", explicit_convolution, "pads");
  expect_same("valid convolution", valid_convolution, "VALID");
}

/* ---- Products, borders ---- */

static tenon_value_t times_vector(session_t* s, tenon_value_t x) {
  return node(s, "standard.mat_mul/1", VALUES(x, FLOAT_VECTOR(s, 1, 2, 3, 4)), NO_ATTRIBUTES);
}

static tenon_value_t times_matrices(session_t* s, tenon_value_t x) {
  const float two[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  return node(s, "standard.mat_mul/1",
              VALUES(x, constant(s, TENON_DTYPE_FLOAT32, 3, DIMS(1, 4, 2), two)), NO_ATTRIBUTES);
}

static tenon_value_t border_without_number(session_t* s, tenon_value_t x) {
  return node(s, "standard.pad/1", VALUES(x, INTEGER_VECTOR(s, 0, 1, 2, 0, 0, 1), ABSENT, ABSENT),
              NO_ATTRIBUTES);
}

static tenon_value_t border_of(session_t* s, tenon_value_t x, float number) {
  return node(s, "standard.pad/1",
              VALUES(x, INTEGER_VECTOR(s, 0, 1, 2, 0, 0, 1),
                     constant(s, TENON_DTYPE_FLOAT32, 0, NULL, &number)),
              NO_ATTRIBUTES);
}

static tenon_value_t border_of_zeros(session_t* s, tenon_value_t x) {
  return border_of(s, x, 0);
}

static tenon_value_t border_of_ones(session_t* s, tenon_value_t x) {
  return border_of(s, x, 1);
}

static tenon_value_t border_of_some_axes(session_t* s, tenon_value_t x) {
  return node(s, "standard.pad/1",
              VALUES(x, INTEGER_VECTOR(s, 0, 1, 2, 0, 0, 1), ABSENT, INTEGER_VECTOR(s, 2, 1, 0)),
              NO_ATTRIBUTES);
}

TENON_TEST(products_and_borders_are_written) {
  expect_same("products", times_matrices, "MatMul");
  expect_same("product with a vector", times_vector, "MatMul");
  expect_same("border", border_without_number, "Pad");
  expect_same("border of zeros", border_of_zeros, "Pad");
  expect_same("border of some axes", border_of_some_axes, "Pad");
  expect_same("border of ones", border_of_ones, "Pad");
}

/* ---- Names ---- */

static tenon_value_t named(session_t* s, const char* op, const char* name,
                           const tenon_value_t* inputs, uint32_t count,
                           const tenon_attribute_t* attributes, uint32_t attribute_count) {
  tenon_value_t value = ABSENT;
  session_expect(
      s, name,
      tenon_network_add(s->network, op, name, inputs, count,
                        &(tenon_list_t){attributes, attribute_count, sizeof(tenon_attribute_t)},
                        &value, 1));
  return value;
}

/* Nodes called as what a convolution, a reshape and an output write aside. */
static tenon_value_t crossing_names(session_t* s, tenon_value_t x) {
  static const char* const others[] = {
      "conv_bias", "conv_border", "conv_padded", "conv_convolved", "shape_shape", "y_1", "y_2"};
  float weights[3 * 3 * 2] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const tenon_value_t inputs[3] = {x, constant(s, TENON_DTYPE_FLOAT32, 3, DIMS(3, 3, 2), weights),
                                   FLOAT_VECTOR(s, 1, 2, 3)};
  const tenon_attribute_t pads[] = {ROW_INTS("pads", 1, 0)};
  const int64_t dims[1] = {-1};
  tenon_value_t value = named(s, "standard.convolution/1", "conv", inputs, 3, pads, 1);
  const tenon_value_t list = constant(s, TENON_DTYPE_INT64, 1, DIMS(1), dims);
  value = named(s, "standard.reshape/1", "shape", VALUES(value, list), NULL, 0);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
    value = named(s, "standard.neg/1", others[i], VALUES(value), NULL, 0);
  }
  return value;
}

/* The output's name is a node's that stands before it, and one value is two outputs. */
static tenon_value_t crossing_outputs(session_t* s, tenon_value_t x) {
  const tenon_value_t first = named(s, "standard.exp/1", "y", VALUES(x), NULL, 0);
  const tenon_value_t other = named(s, "standard.abs/1", "z", VALUES(first), NULL, 0);
  const tenon_value_t last = named(s, "standard.neg/1", "last", VALUES(other), NULL, 0);
  output(s, first, "first");
  output(s, first, "z");
  return last;
}

TENON_TEST(names_do_not_cross) {
  expect_same("nodes called as what others write aside", crossing_names, NULL);
  expect_same("nodes called as outputs", crossing_outputs, NULL);
}
