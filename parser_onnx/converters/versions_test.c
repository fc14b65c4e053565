/* What the versions of operators become: forms of old operator sets next to new ones. */
#include "core/base/test.h"
#include "testing/under_test.h"
#include "tests/support/onnx_message.h"

static const int64_t cube[3] = {2, 3, 4};
static const int64_t image[4] = {1, 2, 4, 6};

static tenon__message_t message;
static tenon__fake_t fake;

/* A model of one node that reads x [extents] and more inputs, which the test defines. */
static void begin(uint64_t opset, const char* type, const char* inputs, uint32_t rank,
                  const int64_t* dims) {
  memset(&message, 0, sizeof(message));
  tenon__message_begin_model(&message, opset);
  tenon__message_value_info(&message, 11, "x", 1, rank, dims);
  tenon__message_value_info(&message, 12, "y", 1, rank, dims);
  tenon__message_begin_node(&message, 1, type, "n", inputs, "y");
}

static void attribute(const char* name, uint64_t type) {
  tenon__message_begin(&message, 5);
  tenon__message_text(&message, 1, name);
  tenon__message_varint(&message, 20, type);
}

static void set_int(const char* name, int64_t value) {
  attribute(name, 2);
  tenon__message_varint(&message, 3, (uint64_t)value);
  tenon__message_end(&message);
}

static void set_float(const char* name, float value) {
  attribute(name, 1);
  tenon__message_float(&message, 2, value);
  tenon__message_end(&message);
}

static void set_text(const char* name, const char* value) {
  attribute(name, 3);
  tenon__message_text(&message, 4, value);
  tenon__message_end(&message);
}

static void set_ints(const char* name, size_t count, const int64_t* values) {
  attribute(name, 7);
  for (size_t i = 0; i < count; ++i) {
    tenon__message_varint(&message, 8, (uint64_t)values[i]);
  }
  tenon__message_end(&message);
}

static void end_node(void) {
  tenon__message_end(&message);
}

static void add_ints(const char* name, int64_t count, const int64_t* values) {
  tenon__message_begin(&message, 5);
  tenon__message_varint(&message, 1, (uint64_t)count);
  tenon__message_varint(&message, 2, 7);
  tenon__message_text(&message, 8, name);
  tenon__message_bytes(&message, 9, values, (size_t)count * sizeof(*values));
  tenon__message_end(&message);
}

static void add_floats(const char* name, int64_t count, const float* values) {
  tenon__message_begin(&message, 5);
  tenon__message_varint(&message, 1, (uint64_t)count);
  tenon__message_varint(&message, 2, 1);
  tenon__message_text(&message, 8, name);
  tenon__message_bytes(&message, 9, values, (size_t)count * sizeof(*values));
  tenon__message_end(&message);
}

static void finish(void) {
  tenon__message_end_model(&message);
  EXPECT_STATUS(tenon__fake_parse_file(&fake, &under_test, message.bytes, message.size), TENON_OK);
}

static void expect(const char* expected) {
  EXPECT_CONTAINS(fake.log, expected);
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(add_before_7_aligns_at_an_axis) {
  static const float values[3] = {1, 2, 3};
  begin(6, "Add", "x b", 3, cube);
  set_int("broadcast", 1);
  set_int("axis", 1);
  end_node();
  add_floats("b", 3, values);
  finish();
  expect("node standard.unsqueeze/1 'n' fixed_axes=[1] %2 -> %3\nnode standard.add/1 'n' %1 %3");
}

TENON_TEST(clip_takes_attributes_then_inputs) {
  begin(6, "Clip", "x", 3, cube);
  set_float("max", 6);
  set_float("min", -3.4028235e38F); /* the least float: no limit */
  end_node();
  finish();
  expect("constant n %2: f32\nnode standard.clip/1 'n' %1 %0 %2 -> %3");
  begin(13, "Clip", "x _ x", 3, cube);
  end_node();
  finish();
  expect("node standard.clip/1 'n' %1 %0 %1 -> %2");
}

TENON_TEST(softmax_before_13_is_over_all_that_follows) {
  begin(12, "Softmax", "x", 3, cube);
  end_node();
  finish();
  expect(
      "node standard.flatten/1 'n' axis=1 %1 -> %2\n"
      "node standard.softmax/1 'n' axis=1 %2 -> %3\n"
      "node standard.shape_of/1 'n' %1 -> %4\n"
      "node standard.reshape/1 'n' %3 %4 -> %5");
  begin(12, "Softmax", "x", 3, cube);
  set_int("axis", 2);
  end_node();
  finish();
  expect("node standard.softmax/1 'n' axis=2 %1 -> %2");
  begin(13, "Softmax", "x", 3, cube);
  end_node();
  finish();
  expect("node standard.softmax/1 'n' %1 -> %2");
}

TENON_TEST(axes_are_attributes_then_inputs) {
  const int64_t axes[2] = {0, -1};
  begin(11, "ReduceSum", "x", 3, cube);
  set_ints("axes", 2, axes);
  set_int("keepdims", 0);
  end_node();
  finish();
  expect("node standard.reduce_sum/1 'n' keepdims=0 fixed_axes=[0,-1] %1 -> %2");
  begin(13, "ReduceSum", "x axes", 3, cube);
  end_node();
  add_ints("axes", 2, axes);
  finish();
  expect("node standard.reduce_sum/1 'n' fixed_axes=[0,-1] %1 -> %3");
  begin(13, "Unsqueeze", "x axes", 3, cube);
  end_node();
  add_ints("axes", 2, axes);
  finish();
  expect("node standard.unsqueeze/1 'n' fixed_axes=[0,-1] %1 -> %3");
}

TENON_TEST(reshape_takes_an_attribute_then_an_input) {
  const int64_t dims[2] = {6, -1};
  begin(1, "Reshape", "x", 3, cube);
  set_ints("shape", 2, dims);
  end_node();
  finish();
  expect("node standard.reshape/1 'n' fixed_dims=[6,-1] %1 -> %2");
  begin(14, "Reshape", "x s", 3, cube);
  set_int("allowzero", 1);
  end_node();
  add_ints("s", 2, dims);
  finish();
  expect("node standard.reshape/1 'n' fixed_dims=[6,-1] allow_zero=1 %1 -> %3");
}

TENON_TEST(slice_takes_attributes_then_inputs) {
  const int64_t one[1] = {1};
  const int64_t two[1] = {2};
  begin(9, "Slice", "x", 3, cube);
  set_ints("starts", 1, one);
  set_ints("ends", 1, two);
  end_node();
  finish();
  expect("node standard.strided_slice/1 'n' %1 %2 %3 %0 %0 -> %4");
  begin(13, "Slice", "x one two _ one", 3, cube);
  end_node();
  add_ints("one", 1, one);
  add_ints("two", 1, two);
  finish();
  expect("node standard.strided_slice/1 'n' %1 %2 %3 %0 %2 -> %4");
}

TENON_TEST(pad_takes_attributes_then_inputs) {
  const int64_t pads[6] = {0, 1, 0, 0, 0, 2};
  begin(2, "Pad", "x", 3, cube);
  set_ints("pads", 6, pads);
  set_text("mode", "edge");
  end_node();
  finish();
  expect("node standard.pad/1 'n' mode='edge' %1 %2 %0 %0 -> %3");
}

TENON_TEST(convolutions_compute_padding_or_are_told) {
  static const float weights[12] = {0};
  const int64_t pads[4] = {1, 1, 1, 1};
  begin(11, "Conv", "x w", 4, image);
  set_text("auto_pad", "SAME_UPPER");
  set_ints("pads", 4, pads);
  set_int("group", 2);
  end_node();
  add_floats("w", 12, weights);
  finish();
  expect("node standard.convolution/1 'n' auto_pad='same_upper' groups=2 %1 %2 -> %3");
  begin(11, "Conv", "x w", 4, image);
  set_text("auto_pad", "NOTSET");
  set_ints("pads", 4, pads);
  end_node();
  add_floats("w", 12, weights);
  finish();
  expect("node standard.convolution/1 'n' pads=[1,1,1,1] %1 %2 -> %3");
}

TENON_TEST(resize_10_is_asymmetric) {
  static const float scales[4] = {1, 1, 2, 0.5F};
  begin(10, "Resize", "x s", 4, image);
  end_node();
  add_floats("s", 4, scales);
  finish();
  expect(
      "node standard.resize/1 'n' mode='nearest' coordinate_mode='asymmetric' "
      "nearest_mode='floor' %1 %3 %4 %0 -> %5");
  begin(13, "Resize", "x _ s", 4, image);
  set_text("mode", "linear");
  end_node();
  add_floats("s", 4, scales);
  finish();
  expect("mode='linear' coordinate_mode='half_pixel' nearest_mode='round_prefer_floor' %1 %3 %4");
}

TENON_TEST(resize_of_varying_extents_stays_symbolic) {
  static const int64_t varying[4] = {-1, 2, -1, 6};
  static const float scales[4] = {1, 1, 2, 1.5F};
  begin(13, "Resize", "x _ s", 4, varying);
  end_node();
  add_floats("s", 4, scales);
  finish();
  EXPECT_CONTAINS(fake.log, "{y = floor_div(a * 2, 1)}");
  expect("node standard.concatenate/1 'n' axis=0");
}

TENON_TEST(top_k_takes_an_attribute_then_an_input) {
  begin(9, "TopK", "x", 3, cube);
  set_int("k", 2);
  set_int("axis", 1);
  end_node();
  finish();
  expect("node standard.top_k/1 'n' axis=1 %1 %2 -> %3");
}

TENON_TEST(gemm_scales_only_when_asked) {
  static const int64_t square[2] = {3, 3};
  begin(13, "Gemm", "x x x", 2, square);
  set_int("transB", 1);
  end_node();
  finish();
  expect(
      "node standard.permute/1 'n' perm=[1,0] %1 -> %2\n"
      "node standard.mat_mul/1 'n' %1 %2 -> %3\n"
      "node standard.add/1 'n' %3 %1 -> %4");
  begin(13, "Gemm", "x x x", 2, square);
  set_float("alpha", 0.5F);
  end_node();
  finish();
  expect("{y = a * (0.5) + b * (1)}");
}

TENON_TEST(training_outputs_are_refused) {
  static const float ones[3] = {1, 1, 1};
  memset(&message, 0, sizeof(message));
  tenon__message_begin_model(&message, 9);
  tenon__message_value_info(&message, 11, "x", 1, 3, cube);
  tenon__message_value_info(&message, 12, "y", 1, 3, cube);
  tenon__message_value_info(&message, 12, "m", 1, 1, cube);
  tenon__message_begin_node(&message, 1, "BatchNormalization", "n", "x c c c c", "y m");
  end_node();
  add_floats("c", 3, ones);
  tenon__message_end_model(&message);
  EXPECT_STATUS(tenon__fake_parse_file(&fake, &under_test, message.bytes, message.size),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fake.messages, "BatchNormalization 'n': output 1 belongs to training");
  tenon__fake_deinitialize(&fake);
}
