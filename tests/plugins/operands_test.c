/* Operands and attributes that do not fit one another are refused when the node is made: kernels
 * rely on it, and would read or write past the end. Each row is right but for one thing. */
#include "tests/api/session.h"

/* Extents of a float32 operand; "" is absent. A leading 'i' makes it int64, 'n' int32,
 * 'b' bool. */
typedef struct row_t {
  const char* op;
  const char* operands[8];
  tenon_attribute_t attributes[4];
  const char* message; /* of the error */
} row_t;

#define TWO_KERNEL ROW_INTS("kernel_shape", 2, 2)

static const row_t rows[] = {
    {"convolution", {"1 4 6 6", "8 4 3 3"}, {ROW_INTS("strides", 0, 1)}, "strides are [0, 1]"},
    {"convolution", {"1 4 3 3", "8 4 3 3"}, {ROW_INTS("strides", -1, -1)}, "strides are"},
    {"convolution", {"1 4 6 6", "8 4 3 3"}, {ROW_INTS("dilations", 0, 0)}, "dilations are"},
    {"convolution",
     {"1 4 6 6", "8 4 3 3"},
     {ROW_INTS("pads", INT64_C(1) << 40, 0, -(INT64_C(1) << 40), 0)},
     "pads are"},
    {"convolution", {"1 4 6 6", "8 4 3 3"}, {ROW_INT("groups", 0)}, "groups"},
    {"convolution", {"1 4 6 6", "8 4 3 3", "1"}, {{0}}, "bias has 1 elements for 8 channels"},
    {"convolution", {"1 4 6 6", "8 4 3 3", "1 8"}, {{0}}, "bias has"},
    {"convolution", {"1 4 6 2", "8 4 3 3"}, {{0}}, "axis 3 has extent 2"},
    {"convolution", {"1 4 4", "8 4 3"}, {ROW_INTS("dilations", 2)}, "axis 2 has extent 4"},
    {"deconvolution", {"1 4 6 6", "4 8 3 3"}, {ROW_INTS("strides", 0, 0)}, "strides are"},
    {"deconvolution", {"1 4 6 6", "4 8 3 3", "7"}, {{0}}, "bias has 7 elements for 8 channels"},
    {"deconvolution",
     {"1 4 6 6", "4 8 3 3"},
     {ROW_INTS("output_shape", 8)},
     "output_shape has 1 entries"},
    {"deformable_convolution", {"1 4 6 6", "8 4 3 3", "1 18 4 3"}, {{0}}, "216 offsets"},
    {"deformable_convolution",
     {"1 4 6 6", "8 4 3 3", "1 18 4 4", "", "1 9 4 3"},
     {{0}},
     "108 entries of the mask"},
    {"causal_convolution", {"1 4 6", "3 1 2"}, {{0}}, "4 channels"},
    {"causal_convolution", {"1 4 6", "4 1 3", "", "1 4 1"}, {{0}}, "past"},
    {"max_pool", {"1 4 6 6"}, {TWO_KERNEL, ROW_INTS("dilations", 0, 0)}, "dilations are"},
    {"max_pool", {"1 4 6 6"}, {ROW_INTS("kernel_shape", -1, 2)}, "kernel_shape are [-1, 2]"},
    {"average_pool", {"1 4 6 6"}, {TWO_KERNEL, ROW_INTS("strides", 1, 0)}, "strides are"},
    {"max_unpool", {"1 4 2 2", "i1 4 2 1"}, {TWO_KERNEL}, "8 indices for 16 elements"},
    {"lrn", {"1 4 2"}, {ROW_INT("window", 0)}, "a window of 0"},
    {"lstm", {"2 3 5", "1 8 5", "1 32 8"}, {{0}}, "weights have 8 rows"},
    {"lstm", {"2 3 5", "1 32 5", "2 32 8"}, {{0}}, "1 and 2 directions"},
    {"lstm",
     {"2 3 5", "1 32 5", "1 32 8"},
     {ROW_TEXT("direction", "bidirectional")},
     "1 and 1 directions"},
    {"lstm", {"2 3 5", "1 32 5", "1 32 8", "1 32"}, {{0}}, "32 biases"},
    {"lstm", {"2 3 5", "1 32 5", "1 32 8", "", "n1"}, {{0}}, "1 lengths for 3"},
    {"lstm", {"2 3 5", "1 32 5", "1 32 8", "", "", "1 1 8"}, {{0}}, "initial_h has 8"},
    {"lstm", {"2 3 5", "1 32 5", "1 32 8", "", "", "", "1 1 8"}, {{0}}, "initial_c has 8"},
    {"lstm", {"2 3 5", "1 32 5", "1 32 8", "", "", "", "", "1 8"}, {{0}}, "8 peepholes"},
    {"lstm", {"2 3 5", "1 0 5", "1 0 0"}, {{0}}, "not 4 gates"},
    {"gru", {"2 3 5", "1 12 5", "1 24 8"}, {{0}}, "weights have 12 rows"},
    {"rnn", {"2 3 5", "1 8 5", "1 8 8", "1 8"}, {{0}}, "8 biases"},
    {"depth_to_space", {"1 6 2 2"}, {ROW_INT("block_size", 2)}, "6 channels"},
    {"space_to_depth", {"1 2 3 4"}, {ROW_INT("block_size", 2)}, "3 by 4 pixels"},
    {"split", {"7"}, {ROW_INT("parts", 1), ROW_INT("axis", 1)}, "axis is 1, x has rank 1"},
    {"concatenate", {"2 3", "2 3"}, {ROW_INT("axis", -3)}, "axis is -3, xs has rank 2"},
    {"flatten", {"2 3"}, {ROW_INT("axis", 3)}, "axis is 3"},
    {"gather", {"2 3", "i1"}, {ROW_INT("axis", 2)}, "axis is 2"},
    {"gather_elements", {"2 3", "i2 3"}, {ROW_INT("axis", 2)}, "axis is 2"},
    {"reverse_sequence", {"2 3", "i2"}, {ROW_INT("batch_axis", 2)}, "batch_axis is 2"},
    {"layer_norm", {"2 3"}, {ROW_INT("axis", 2)}, "axis is 2"},
    {"rms_norm", {"2 3"}, {ROW_INT("axis", -3)}, "axis is -3"},
    {"center_crop_pad", {"2 3", "i1"}, {ROW_INTS("axes", 2)}, "there is no axis 2"},
    {"batch_norm", {"1 3 2", "3", "3", "4", "3"}, {{0}}, "mean has 4 elements for 3 channels"},
    {"instance_norm", {"1 3 2", "1", "3"}, {{0}}, "scale has 1 elements for 3 channels"},
    {"group_norm", {"1 4 2", "4", "2"}, {ROW_INT("groups", 2)}, "bias has 2 elements for 4"},
    {"reshape", {"5 3"}, {ROW_INTS("fixed_dims", 4, 3)}, "15 elements, the new extents hold 12"},
    {"compress", {"2 3", "b2"}, {ROW_INT("axis", 2)}, "axis 2 of a tensor of rank 2"},
    {"compress", {"2 3", "b2"}, {ROW_INT("axis", -3)}, "axis -3 of a tensor of rank 2"},
    {"scatter_elements", {"2 3", "i2 3", "2 1"}, {{0}}, "2 updates for 6 indices"},
    {"scatter_elements", {"2 3", "i6", "6"}, {{0}}, "indices have rank 1"},
    {"scatter_elements", {"2 3", "i2 3", "2 3"}, {ROW_INT("axis", 2)}, "axis 2"},
    {"scatter_nd", {"4 5", "i2 1", "1 5"}, {{0}}, "5 updates"},
    {"scatter_nd", {"4 5", "i2 3", "2"}, {{0}}, "x has 2 axes"},
    {"scatter_nd", {"4 5", "i", "5"}, {{0}}, "indices have rank 0"},
    {"tensor_scatter", {"2 8 4", "2 3 5"}, {{0}}, "update has 30 elements"},
    {"tensor_scatter", {"2 8 4", "2 3 4", "i1"}, {{0}}, "1 positions for 2"},
    {"grid_sample", {"1 2 4 4", "3 5 5 2"}, {{0}}, "grid has 3 images"},
    {"grid_sample", {"1 2 4 4", "1 5 5 1"}, {{0}}, "of 1 coordinates"},
    {"roi_align", {"1 2 8 8", "3 4", "i2"}, {{0}}, "2 batch indices for 3 regions"},
    {"roi_align",
     {"1 2 8 8", "3 4", "i3"},
     {ROW_INT("sampling_ratio", 5000)},
     "sampling_ratio is 5000"},
    {"dft", {"4 0"}, {{0}}, "rank 2 and 0 parts"},
    {"dft", {"4 3"}, {{0}}, "rank 2 and 3 parts"},
    {"col2im", {"1 4 9", "i2", "i1"}, {{0}}, "a block of 1 axes for an image of 2"},
    {"roi_align", {"1 2 0 8", "3 4", "i3"}, {{0}}, "planes of 0 by 8 pixels"},
    {"max_roi_pool", {"1 2 8 8", "3 4"}, {ROW_INTS("pooled_shape", 2, 2)}, "regions have 4"},
    {"non_max_suppression", {"1 6 4", "1 2 7"}, {{0}}, "6 boxes"},
    {"negative_log_likelihood", {"4 5", "i6"}, {{0}}, "6 targets for 20 scores"},
    {"negative_log_likelihood", {"4 5", "i4", "4"}, {{0}}, "4 weights for 5 classes"},
    {"attention", {"2 3 4 8", "1 3 5 8", "1 3 5 8"}, {{0}}, "batches of q, k, v are 2, 1, 1"},
    {"attention", {"2 3 4 8", "2 3 5 8", "2 3 6 8"}, {{0}}, "5 keys, 6 values"},
    {"attention", {"2 3 4 8", "2 2 5 8", "2 2 5 8"}, {{0}}, "3 query heads share 2"},
    {"attention", {"2 3 4 8", "2 3 5 7", "2 3 5 8"}, {{0}}, "heads of q and k differ"},
    {"attention", {"2 3 4 8", "2 3 5 8", "2 3 5 8", "6 5"}, {{0}}, "the mask, of rank 2"},
    {"attention",
     {"2 3 4 8", "2 3 5 8", "2 3 5 8", "", "1 3 2 8", "1 3 2 8"},
     {{0}},
     "past_key has 48 elements"},
    {"attention",
     {"2 3 4 8", "2 3 5 8", "2 3 5 8", "", "2 3 2 8", "2 3 1 8"},
     {{0}},
     "past keys and values differ"},
    {"attention", {"2 3 4 8", "2 3 5 8", "2 3 5 8", "", "", "", "i1"}, {{0}}, "1 lengths for 2"},
    {"linear_attention",
     {"2 4 8", "2 3 8", "2 4 8"},
     {ROW_INT("q_num_heads", 2), ROW_INT("kv_num_heads", 2)},
     "of 4, 3, 4 tokens"},
    {"linear_attention",
     {"2 4 8", "2 4 8", "2 4 8", "2 2 4 3"},
     {ROW_INT("q_num_heads", 2), ROW_INT("kv_num_heads", 2)},
     "past state has 48"},
    {"rotary_embedding", {"1 2 3 8", "1 3 4", "1 3 2"}, {{0}}, "12 cosines, 6 sines"},
    {"rotary_embedding",
     {"1 2 3 8", "1 3 8", "1 3 8"},
     {ROW_INT("rotary_dim", 16)},
     "16 features to turn of 8"},
    {"rotary_embedding", {"1 2 3 8", "5 4", "5 4", "i1 2"}, {{0}}, "2 positions"},
};

static tenon_value_t add_operand(session_t* session, const char* text, uint32_t index) {
  const tenon_dtype_t dtype = *text == 'i'   ? TENON_DTYPE_INT64
                              : *text == 'n' ? TENON_DTYPE_INT32
                              : *text == 'b' ? TENON_DTYPE_BOOL
                                             : TENON_DTYPE_FLOAT32;
  const char* at = dtype == TENON_DTYPE_FLOAT32 ? text : text + 1;
  int64_t dims[4];
  uint32_t rank = 0;
  char name[8];
  tenon_value_t value = ABSENT;
  while (*at != '\0' && rank < 4) {
    char* end = NULL;
    dims[rank++] = strtoll(at, &end, 10);
    at = end;
  }
  (void)snprintf(name, sizeof name, "x%u", index);
  EXPECT_STATUS(tenon_network_add_input(session->network, name, dtype, rank, dims, &value),
                TENON_OK);
  return value;
}

static void expect_refused(const row_t* row) {
  session_t session;
  tenon_value_t operands[8] = {ABSENT};
  tenon_value_t y = ABSENT;
  uint32_t operand_count = 0;
  uint32_t attribute_count = 0;
  char op[64];
  REQUIRE(session_begin(&session, NULL));
  for (uint32_t k = 0; k < 8 && row->operands[k] != NULL; ++k) {
    operands[k] = row->operands[k][0] == '\0' ? ABSENT : add_operand(&session, row->operands[k], k);
    operand_count = k + 1;
  }
  while (attribute_count < 4 && row->attributes[attribute_count].name != NULL) {
    ++attribute_count;
  }
  (void)snprintf(op, sizeof op, "standard.%s/1", row->op);
  EXPECT_STATUS(
      tenon_network_add(
          session.network, op, NULL, operands, operand_count,
          &(tenon_list_t){row->attributes, attribute_count, sizeof(tenon_attribute_t)}, &y, 1),
      TENON_ERROR_INVALID_DATA);
  if (strstr(session.messages.text, row->message) == NULL) {
    tenon__test_fail(__FILE__, __LINE__, "%s: '%s' is not in '%s'", row->op, row->message,
                     session.messages.text);
  }
  session_end(&session);
}

TENON_TEST(what_does_not_fit_is_refused) {
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    expect_refused(&rows[k]);
  }
}
