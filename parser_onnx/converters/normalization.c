/* Normalisation and dropout. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "families.h"

enum { TEXT_SIZE = 160 };

/* Before opset 13 everything from `axis` on is one row. */
static void row_before_13(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  int64_t axis = tenon_make_get_int(make, "axis", 1);
  axis = axis == rank ? rank : tenon_make_axis(make, axis, rank);
  if (axis + 1 == rank) {
    tenon_make_begin(make, make->row->op);
    tenon_make_set_int(make, "axis", axis);
    tenon_make_add(make, x);
    tenon_make_end_outputs(make);
    return;
  }
  tenon_make_begin(make, "flatten");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, x);
  const tenon_value_t flat = tenon_make_end(make);
  tenon_make_begin(make, make->row->op);
  tenon_make_set_int(make, "axis", 1);
  tenon_make_add(make, flat);
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0, tenon_make_2(make, "reshape", y, tenon_make_shape(make, x)));
}

/* ONNX takes a tensor of rank 1 as one channel. */
static tenon_value_t with_channel_axis(tenon_make_t* make, tenon_value_t x) {
  const int64_t axis = 1;
  return tenon_make_rank(make, x) == 1 ? tenon_make_unsqueeze(make, x, &axis, 1) : x;
}

static void batch_norm_output(tenon_make_t* make, tenon_value_t y) {
  const bool is_flat = tenon_make_rank(make, tenon_make_input(make, 0)) == 1;
  tenon_make_output(make, 0, is_flat ? tenon_make_squeeze(make, y, 1) : y);
}

/* x's own statistics, over all axes but the channels'. */
static void batch_norm_training(tenon_make_t* make) {
  const tenon_value_t x = with_channel_axis(make, tenon_make_input(make, 0));
  const uint32_t rank = tenon_make_rank(make, x);
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  size_t count = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (i != 1) {
      axes[count] = i;
      ++count;
    }
  }
  const tenon_value_t mean = tenon_make_reduce(make, "reduce_mean", x, axes, count, 1);
  const tenon_value_t centred = tenon_make_2(make, "sub", x, mean);
  const tenon_value_t squares = tenon_make_2(make, "mul", centred, centred);
  const tenon_value_t means[2] = {tenon_make_reduce(make, "reduce_mean", x, axes, count, 0),
                                  tenon_make_reduce(make, "reduce_mean", squares, axes, count, 0)};
  tenon_make_begin(make, "batch_norm");
  tenon_make_pass_all(make, "epsilon");
  tenon_make_add(make, x);
  tenon_make_add(make, tenon_make_input(make, 1));
  tenon_make_add(make, tenon_make_input(make, 2));
  tenon_make_add(make, means[0]);
  tenon_make_add(make, means[1]);
  batch_norm_output(make, tenon_make_end(make));
  const double momentum = tenon_make_get_float(make, "momentum", 0.9);
  char text[TEXT_SIZE];
  (void)snprintf(text, sizeof(text), "y = a * %.17g + b * %.17g", momentum, 1 - momentum);
  for (uint32_t i = 0; i < 2; ++i) {
    if (tenon_make_wants(make, i + 1)) {
      tenon_make_output(make, i + 1,
                        tenon_make_math_2(make, text, tenon_make_input(make, i + 3), means[i]));
    }
  }
}

static void batch_norm(tenon_make_t* make) {
  if (tenon_make_get_int(make, "training_mode", 0) != 0) {
    batch_norm_training(make);
    return;
  }
  if (tenon_make_get_int(make, "spatial", 1) == 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "spatial 0 is not supported");
  }
  for (uint32_t i = 1; i < make->output_count; ++i) {
    if (tenon_make_wants(make, i)) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "output %u belongs to training; export the model for inference", i);
    }
  }
  const tenon_value_t x = with_channel_axis(make, tenon_make_input(make, 0));
  tenon_make_begin(make, "batch_norm");
  tenon_make_pass_all(make, "epsilon");
  tenon_make_add(make, x);
  tenon_make_add_inputs(make, 1);
  batch_norm_output(make, tenon_make_end(make));
}

/* Opset 18 has one parameter for each group: repeated for each channel. */
static tenon_value_t for_each_channel(tenon_make_t* make, tenon_value_t parameter, int64_t groups,
                                      int64_t channels) {
  const int64_t axis = 1;
  const int64_t repeats[2] = {1, channels / groups};
  const int64_t flat[1] = {channels};
  const tenon_value_t column = tenon_make_unsqueeze(make, parameter, &axis, 1);
  const tenon_value_t times = tenon_make_int64s(make, repeats, 2);
  return tenon_make_reshape(make, tenon_make_2(make, "tile", column, times), flat, 1);
}

static void group_norm(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const int64_t groups = tenon_make_get_int(make, "num_groups", 0);
  const int64_t channels = tenon_make_dim(make, x, 1);
  tenon_value_t parameters[2] = {tenon_make_input(make, 1), tenon_make_input(make, 2)};
  if (tenon_make_version(make) < 21) {
    if (groups <= 0 || channels < 0 || channels % groups != 0) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "%" PRId64 " channels cannot be put in %" PRId64 " groups", channels, groups);
      return;
    }
    for (uint32_t i = 0; i < 2; ++i) {
      parameters[i] = for_each_channel(make, parameters[i], groups, channels);
    }
  }
  tenon_make_begin(make, "group_norm");
  tenon_make_pass_all(make, "num_groups>groups epsilon");
  tenon_make_add(make, x);
  tenon_make_add(make, parameters[0]);
  tenon_make_add(make, parameters[1]);
  tenon_make_end_outputs(make);
}

/* True when input `index` is a constant other than 0, or not constant. */
static bool may_hold(tenon_make_t* make, uint32_t index) {
  double value = 0;
  uint32_t count = 0;
  const tenon_value_t input = tenon_make_input(make, index);
  return tenon_make_present(input) &&
         (!tenon_make_known_floats(make, input, &value, 1, &count) || value != 0);
}

/* Drops each element with probability `ratio` and scales the others up, where `trains` is true. */
static void dropout_training(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const tenon_value_t ratio =
      tenon_make_has_input(make, 1)
          ? tenon_make_cast(make, tenon_make_input(make, 1), TENON_DTYPE_FLOAT32)
          : tenon_make_number(make, TENON_DTYPE_FLOAT32, 0.5);
  const tenon_value_t shape = tenon_make_shape(make, x);
  tenon_make_begin(make, "random_uniform");
  tenon_make_pass_all(make, "seed");
  tenon_make_add(make, shape);
  const tenon_value_t uniform = tenon_make_end(make);
  const tenon_value_t choice[3] = {uniform, ratio, tenon_make_input(make, 2)};
  const tenon_value_t mask = tenon_make_math(make, "y = !c || a >= b", 3, choice);
  const tenon_value_t factors[2] = {ratio, tenon_make_input(make, 2)};
  const tenon_value_t factor = tenon_make_cast(
      make, tenon_make_math(make, "y = b ? 1.0 / (1.0 - a) : 1.0 + 0.0 * a", 2, factors), dtype);
  const tenon_value_t operands[3] = {x, mask, factor};
  tenon_make_output(make, 0, tenon_make_math(make, "y = b ? a * c : 0.0 * c", 3, operands));
  tenon_make_output(make, 1, mask);
}

/* For inference nothing is dropped; the mask says so. */
static void dropout(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const bool trains = tenon_make_version(make) >= 12 && may_hold(make, 2);
  const bool drops = !tenon_make_has_input(make, 1) || may_hold(make, 1);
  if (trains && drops) {
    dropout_training(make);
    return;
  }
  tenon_make_output(make, 0, tenon_make_1(make, "pass_through", x));
  if (tenon_make_wants(make, 1)) {
    const uint8_t yes = 1;
    /* Until opset 9 the mask has the type of x. */
    tenon_value_t all = tenon_make_tensor(make, TENON_DTYPE_BOOL, 0, NULL, &yes);
    if (tenon_make_version(make) < 10) {
      all = tenon_make_cast(make, all, tenon_make_dtype(make, x));
    }
    tenon_make_output(make, 1, tenon_make_2(make, "filled", all, tenon_make_shape(make, x)));
  }
}

#define ROW(type, since, until, function, op, attributes) \
  TENON__ONNX_ROW("", type, since, until, function, op, attributes)
#define SAME(type, op, attributes) ROW(type, 1, 0, tenon_make_same, op, attributes)
#define OF_ROWS(type, op) \
  ROW(type, 1, 13, row_before_13, op, NULL), ROW(type, 13, 0, tenon_make_same, op, "axis")

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("BatchNormalization", 1, 0, batch_norm, NULL, NULL),
    ROW("Dropout", 1, 0, dropout, NULL, NULL),
    ROW("GroupNormalization", 18, 0, group_norm, NULL, NULL),
    OF_ROWS("Hardmax", "hardmax"),
    SAME("InstanceNormalization", "instance_norm", "epsilon"),
    SAME("LayerNormalization", "layer_norm", "axis epsilon"),
    OF_ROWS("LogSoftmax", "log_softmax"),
    SAME("LpNormalization", "lp_norm", "axis p"),
    SAME("MeanVarianceNormalization", "mean_variance_norm", "axes"),
    SAME("RMSNormalization", "rms_norm", "axis epsilon"),
    OF_ROWS("Softmax", "softmax"),
};
TENON__ONNX_FAMILY(normalization);
