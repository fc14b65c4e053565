/* Normalisation of sums, embeddings and groups. */
#include "families.h"
#include "quantized.h"
#include "steps.h"

/* Layer norm of the last axis without a mean, as its own outputs: y, and 1 / deviation. */
static void rms_outputs(tenon_make_t* make, tenon_value_t x, tenon_value_t scale, double epsilon,
                        int64_t axis) {
  tenon_make_begin(make, "rms_norm");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_set_float(make, "epsilon", epsilon);
  tenon_make_add(make, x);
  tenon_make_add(make, scale);
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0, tenon_make_cast(make, y, tenon_make_dtype(make, scale)));
}

/* 1 / root of the mean square over the axes from `axis` on, in f32. */
static tenon_value_t inverse_deviation(tenon_make_t* make, tenon_value_t x, double epsilon,
                                       int64_t axis) {
  const tenon_value_t wide = tenon_make_cast(make, x, TENON_DTYPE_FLOAT32);
  return tenon_make_print_math(make, 1, &wide, "y = rsqrt(mean(a * a, %lld..) + %.17g)",
                               (long long)axis, epsilon);
}

/* Of the default domain. ONNX Runtime and its exporters write it. */
static void simplified_layer_norm(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const double epsilon = tenon_make_get_float(make, "epsilon", 1e-5);
  const int64_t axis =
      tenon_make_axis(make, tenon_make_get_int(make, "axis", -1), tenon_make_rank(make, x));
  rms_outputs(make, x, tenon_make_input(make, 1), epsilon, axis);
  if (tenon_make_wants(make, 1)) {
    tenon_make_output(make, 1, inverse_deviation(make, x, epsilon, axis));
  }
}

static void skip_simplified_layer_norm(tenon_make_t* make) {
  const double epsilon = tenon_make_get_float(make, "epsilon", 1e-12);
  tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  sum = microsoft_add_input(make, sum, 3);
  rms_outputs(make, sum, tenon_make_input(make, 2), epsilon, -1);
  if (tenon_make_wants(make, 1)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "output 1, mean, is not computed: the operator has none");
  }
  if (tenon_make_wants(make, 2)) {
    const int64_t last = (int64_t)tenon_make_rank(make, sum) - 1;
    tenon_make_output(make, 2, inverse_deviation(make, sum, epsilon, last));
  }
  if (tenon_make_wants(make, 3)) {
    tenon_make_output(make, 3, sum);
  }
}

/* Layer norm of the last axis: y, mean, 1 / deviation. */
static void layer_norm(tenon_make_t* make, tenon_value_t x, tenon_value_t scale, tenon_value_t bias,
                       tenon_value_t out_values[3]) {
  tenon_make_begin(make, "layer_norm");
  tenon_make_set_int(make, "axis", -1);
  tenon_make_set_float(make, "epsilon", tenon_make_get_float(make, "epsilon", 1e-12));
  tenon_make_add(make, x);
  tenon_make_add(make, scale);
  tenon_make_add(make, bias);
  tenon_make_end_many(make, out_values, 3);
}

static void skip_layer_norm(tenon_make_t* make) {
  tenon_value_t values[3] = {{0}, {0}, {0}};
  tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  sum = microsoft_add_input(make, sum, 4);
  layer_norm(make, sum, tenon_make_input(make, 2), tenon_make_input(make, 3), values);
  for (uint32_t k = 0; k < 3; ++k) {
    if (tenon_make_wants(make, k)) {
      tenon_make_output(make, k, values[k]);
    }
  }
  if (tenon_make_wants(make, 3)) {
    tenon_make_output(make, 3, sum);
  }
}

/* How many elements of each row of the mask are 1. Without a mask, zeros. */
static tenon_value_t mask_index(tenon_make_t* make) {
  const int64_t axis = 1;
  const tenon_value_t of = tenon_make_input(make, tenon_make_has_input(make, 7) ? 7 : 0);
  const tenon_value_t ones = tenon_make_math_1(
      make, tenon_make_has_input(make, 7) ? "y = cast(a == 1, i32)" : "y = cast(a * 0, i32)", of);
  return tenon_make_reduce(make, "reduce_sum", ones, &axis, 1, 0);
}

static void embed_layer_norm(tenon_make_t* make) {
  tenon_value_t values[3] = {{0}, {0}, {0}};
  const tenon_value_t ids = tenon_make_input(make, 0);
  const tenon_value_t positions =
      tenon_make_has_input(make, 8) ? tenon_make_input(make, 8) : microsoft_counted(make, ids, 1);
  tenon_value_t sum =
      tenon_make_2(make, "add", tenon_make_2(make, "gather", tenon_make_input(make, 2), ids),
                   tenon_make_2(make, "gather", tenon_make_input(make, 3), positions));
  if (tenon_make_has_input(make, 1) && tenon_make_has_input(make, 4)) {
    sum = tenon_make_2(
        make, "add", sum,
        tenon_make_2(make, "gather", tenon_make_input(make, 4), tenon_make_input(make, 1)));
  }
  layer_norm(make, sum, tenon_make_input(make, 5), tenon_make_input(make, 6), values);
  tenon_make_output(make, 0, values[0]);
  if (tenon_make_wants(make, 1)) {
    tenon_make_output(make, 1, mask_index(make));
  }
  if (tenon_make_wants(make, 2)) {
    tenon_make_output(make, 2, sum);
  }
}

/* Rows of a quantised table. Its scale is input 6 behind it, its zero point 11 behind. */
static tenon_value_t quantized_rows(tenon_make_t* make, uint32_t table, tenon_value_t ids) {
  const microsoft_quantized_t from = {table, table + 6, table + 11};
  const tenon_value_t rows = tenon_make_2(make, "gather", tenon_make_input(make, table), ids);
  return microsoft_dequantize_as(make, rows, from, 0);
}

static void quantized_embed_layer_norm(tenon_make_t* make) {
  static const microsoft_quantized_t gamma = {5, 11, 16};
  static const microsoft_quantized_t beta = {6, 12, 17};
  tenon_value_t values[3] = {{0}, {0}, {0}};
  const tenon_value_t ids = tenon_make_input(make, 0);
  tenon_value_t sum = tenon_make_2(make, "add", quantized_rows(make, 2, ids),
                                   quantized_rows(make, 3, microsoft_counted(make, ids, 1)));
  if (tenon_make_has_input(make, 1)) {
    sum = tenon_make_2(make, "add", sum, quantized_rows(make, 4, tenon_make_input(make, 1)));
  }
  layer_norm(make, sum, microsoft_dequantize(make, gamma), microsoft_dequantize(make, beta),
             values);
  tenon_make_output(make, 0, values[0]);
  if (tenon_make_wants(make, 1)) {
    tenon_make_output(make, 1, mask_index(make));
  }
}

/* Group norm of x [N, C, ...], or [N, ..., C] with channels_last, then SiLU if activation is 1. */
static tenon_value_t group_norm(tenon_make_t* make, tenon_value_t x) {
  const bool channels_last = tenon_make_get_int(make, "channels_last", 1) != 0;
  const int64_t activation = tenon_make_get_int(make, "activation", 0);
  if (activation != 0 && activation != 1) {
    microsoft_refuse(make, "activation", "it is 0 (none) or 1 (SiLU)");
  }
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const tenon_value_t scale = tenon_make_cast(make, tenon_make_input(make, 1), dtype);
  const tenon_value_t bias = tenon_make_cast(make, tenon_make_input(make, 2), dtype);
  const tenon_value_t image = channels_last ? microsoft_channels_first(make, x) : x;
  tenon_make_begin(make, "group_norm");
  tenon_make_pass_all(make, "groups epsilon=1e-5");
  tenon_make_add(make, image);
  tenon_make_add(make, scale);
  tenon_make_add(make, bias);
  tenon_value_t y = tenon_make_end(make);
  if (activation == 1) {
    y = tenon_make_1(make, "swish", y);
  }
  return channels_last ? microsoft_channels_last(make, y) : y;
}

static void plain_group_norm(tenon_make_t* make) {
  tenon_make_output(make, 0, group_norm(make, tenon_make_input(make, 0)));
}

/* Aligns skip and bias with x: [N, C] or [C] have no axes for the image. */
static tenon_value_t aligned(tenon_make_t* make, tenon_value_t x, tenon_value_t addend) {
  const uint32_t rank = tenon_make_rank(make, x);
  const uint32_t own = tenon_make_rank(make, addend);
  const bool channels_last = tenon_make_get_int(make, "channels_last", 1) != 0;
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  size_t count = 0;
  if (own == rank || (own == 1 && channels_last) || own > rank || rank > TENON_MAKE_LIST_LIMIT) {
    return addend;
  }
  const uint32_t begin = channels_last ? 1 : own;
  for (uint32_t axis = 0; axis < rank - (own == 1 ? 2 : own); ++axis) {
    axes[count++] = begin + axis;
  }
  return tenon_make_unsqueeze(make, addend, axes, count);
}

static void skip_group_norm(tenon_make_t* make) {
  tenon_value_t sum = tenon_make_input(make, 0);
  for (uint32_t index = 3; index < 5; ++index) {
    if (tenon_make_has_input(make, index)) {
      sum = tenon_make_2(make, "add", sum, aligned(make, sum, tenon_make_input(make, index)));
    }
  }
  tenon_make_output(make, 0, group_norm(make, sum));
  if (tenon_make_wants(make, 1)) {
    tenon_make_output(make, 1, sum);
  }
}

/* Softmax of x + bias over the axes from `axis` on. is_inner_broadcast says how the bias repeats:
 * the rows of x are consecutive runs that share one row of bias, or else cycle through its rows. */
static void bias_softmax(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  tenon_value_t bias = tenon_make_input(make, 1);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t axis = tenon_make_axis(make, tenon_make_get_int(make, "axis", 1), rank);
  const uint32_t bias_rank = tenon_make_rank(make, bias);
  if (tenon_make_get_int(make, "is_inner_broadcast", 0) != 0 && bias_rank != rank) {
    microsoft_refuse(make, "is_inner_broadcast", "the bias has not the rank of the data");
  }
  const tenon_value_t sum = tenon_make_2(make, "add", x, bias);
  if (axis + 1 == (int64_t)rank) {
    tenon_make_begin(make, "softmax");
    tenon_make_set_int(make, "axis", axis);
    tenon_make_add(make, sum);
    tenon_make_end_outputs(make);
  } else {
    tenon_make_output(make, 0,
                      tenon_make_print_math(
                          make, 1, &sum, "let e = exp(a - max(a, %lld..)); y = e / sum(e, %lld..)",
                          (long long)axis, (long long)axis));
  }
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("BiasSoftmax", bias_softmax, NULL, NULL),
    MICROSOFT_ROW("EmbedLayerNormalization", embed_layer_norm, NULL, NULL),
    MICROSOFT_ROW("GroupNorm", plain_group_norm, NULL, NULL),
    TENON_MAKE_ROW(convert, "onnx", "", "SimplifiedLayerNormalization", 1, 0, simplified_layer_norm,
                   NULL, NULL),
    MICROSOFT_ROW("QEmbedLayerNormalization", quantized_embed_layer_norm, NULL, NULL),
    MICROSOFT_ROW("SkipGroupNorm", skip_group_norm, NULL, NULL),
    MICROSOFT_ROW("SkipLayerNormalization", skip_layer_norm, NULL, NULL),
    MICROSOFT_ROW("SkipSimplifiedLayerNormalization", skip_simplified_layer_norm, NULL, NULL),
};
MICROSOFT_FAMILY(normalization);
