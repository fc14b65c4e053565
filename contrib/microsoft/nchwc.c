/*
 * The domain com.microsoft.nchwc, which ONNX Runtime's optimiser writes at level all: convolutional
 * networks whose channels are in blocks of 8 or 16.
 *
 * Tensors between ReorderInput and ReorderOutput become plain tensors [N, C, ...], with the channels
 * rounded up to a block, since the host selects layouts itself. Weights are constants in the memory
 * order of blocks, which moves undo when the network is built:
 *
 *   OIHWBo    [O / block, I, H, W, block], if x is in no blocks, and for depthwise convolutions
 *   OIHWBiBo  [O / block, I / block, H, W, block, block], else
 *
 * ONNX Runtime takes the size of a block from the processor and does not write it into the file. Here
 * it follows from the shapes, or the attribute block_size gives it. Else the node is refused, since
 * another size gives other numbers.
 */
#include <inttypes.h>

#include "convolution.h"
#include "families.h"
#include "steps.h"

/* Returns the attribute block_size, or the only size that fits the shapes of the node. Returns 0 after a
 * failure. */
static int64_t block_size(tenon_make_t* make, bool fits_8, bool fits_16) {
  const int64_t given = tenon_make_get_int(make, "block_size", 0);
  if ((given == 8 && fits_8) || (given == 16 && fits_16)) {
    return given;
  }
  if (given != 0) {
    microsoft_refuse(make, "block_size", "the channels are not in such blocks");
  } else if (!fits_8 && !fits_16) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "the channels are not in blocks of 8 or 16");
  } else if (fits_8 && fits_16) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "the channels fit blocks of 8 and of 16, and the file does not have the size; "
                    "optimise the network at level extended, or add the attribute block_size as "
                    "contrib/microsoft/README.md explains");
  } else {
    return fits_8 ? 8 : 16;
  }
  return 0;
}

typedef struct weights_t {
  int64_t dims[4]; /* out, in, height, width */
  int64_t groups;
} weights_t;

/* Returns true if the weights have blocks of outputs only. */
static bool is_by_output(const weights_t* weights, int64_t block) {
  return weights->groups == 1 ? weights->dims[1] < block
                              : weights->dims[1] == 1 && weights->dims[0] == weights->groups;
}

static bool has_blocks(const weights_t* weights, int64_t block) {
  return weights->dims[0] % block == 0 &&
         (is_by_output(weights, block) ||
          (weights->dims[1] % block == 0 && weights->dims[0] / weights->groups % block == 0));
}

/* Undoes the blocks of the weights, input 1. */
static tenon_value_t plain_weights(tenon_make_t* make) {
  const tenon_value_t w = tenon_make_input(make, 1);
  weights_t weights = {.groups = tenon_make_get_int(make, "group", 1)};
  bool is_known = tenon_make_rank(make, w) == 4 && weights.groups >= 1;
  for (uint32_t k = 0; k < 4; ++k) {
    weights.dims[k] = tenon_make_dim(make, w, k);
    is_known = is_known && weights.dims[k] >= 1;
  }
  if (!is_known || weights.dims[0] % weights.groups != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "the weights are not [out, in, height, width] for %" PRId64 " groups",
                    weights.groups);
    return w;
  }
  const int64_t block = block_size(make, has_blocks(&weights, 8), has_blocks(&weights, 16));
  if (block == 0) {
    return w;
  }
  const int64_t* dims = weights.dims;
  const bool by_output = is_by_output(&weights, block);
  const int64_t apart[6] = {
      dims[0] / block, by_output ? dims[1] : dims[1] / block, dims[2], dims[3], block, block};
  static const int64_t perms[2][6] = {{0, 5, 1, 4, 2, 3}, {0, 4, 1, 2, 3}};
  const size_t rank = by_output ? 5 : 6;
  return tenon_make_reshape(
      make,
      tenon_make_permute(make, tenon_make_reshape(make, w, apart, rank), perms[by_output], rank),
      dims, 4);
}

static void conv(tenon_make_t* make) {
  tenon_make_output(make, 0,
                    microsoft_convolution(make, tenon_make_input(make, 0), plain_weights(make),
                                          tenon_make_input(make, 3)));
}

/* Returns the number of zero channels after `channels`, up to whole blocks. */
static int64_t missing_channels(tenon_make_t* make, int64_t channels) {
  const int64_t missing[2] = {(8 - channels % 8) % 8, (16 - channels % 16) % 16};
  return missing[0] == missing[1] || block_size(make, true, true) == 8 ? missing[0] : missing[1];
}

/* Rounds the channels up, with zeros. */
static void reorder_input(tenon_make_t* make) {
  tenon_value_t x = tenon_make_input(make, 0);
  if (tenon_make_get_int(make, "channels_last", 0) != 0) {
    x = microsoft_channels_first(make, x);
  }
  const int64_t channels = tenon_make_dim(make, x, 1);
  if (channels < 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "the number of channels must be known");
    return;
  }
  const int64_t missing = missing_channels(make, channels);
  if (missing == 0) {
    tenon_make_output(make, 0, tenon_make_1(make, "pass_through", x));
    return;
  }
  int64_t pads[2 * TENON_MAKE_LIST_LIMIT] = {0};
  const uint32_t rank = tenon_make_rank(make, x);
  pads[rank + 1] = missing;
  tenon_make_output(make, 0,
                    tenon_make_2(make, "pad", x, tenon_make_int64s(make, pads, 2 * (size_t)rank)));
}

static void reorder_output(tenon_make_t* make) {
  tenon_value_t x = tenon_make_input(make, 0);
  const int64_t channels = tenon_make_get_int(make, "channels", 0);
  if (channels > 0 && channels != tenon_make_dim(make, x, 1)) {
    x = tenon_make_slice(make, x, 1, 0, channels);
  }
  tenon_make_output(make, 0,
                    tenon_make_get_int(make, "channels_last", 0) != 0
                        ? microsoft_channels_last(make, x)
                        : tenon_make_1(make, "pass_through", x));
}

static void pool(tenon_make_t* make) {
  tenon_make_output(
      make, 0,
      microsoft_pool(make, make->row->op, tenon_make_input(make, 0), make->row->attributes));
}

static void global_pool(tenon_make_t* make) {
  static const int64_t axes[2] = {2, 3};
  tenon_make_output(make, 0,
                    tenon_make_reduce(make, make->row->op, tenon_make_input(make, 0), axes, 2, 1));
}

/* Scales are integers, one for each axis. */
static void upsample(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const char* coordinates =
      tenon_make_get_string(make, "coordinate_transformation_mode", "asymmetric");
  const int64_t* scales = NULL;
  size_t count = 0;
  float factors[TENON_MAKE_LIST_LIMIT];
  if (!tenon_make_get_ints(make, "scales", &scales, &count) || count != tenon_make_rank(make, x) ||
      count > TENON_MAKE_LIST_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has %zu scales", count);
    return;
  }
  for (size_t k = 0; k < count; ++k) {
    factors[k] = (float)scales[k];
  }
  const int64_t length = (int64_t)count;
  const tenon_value_t sizes =
      tenon_make_2(make, "mul", tenon_make_shape(make, x), tenon_make_int64s(make, scales, count));
  const tenon_value_t factor_list =
      tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 1, &length, factors);
  tenon_make_begin(make, "resize");
  tenon_make_set_string(make, "mode", tenon_make_get_string(make, "mode", "nearest"));
  tenon_make_set_string(make, "coordinate_mode", coordinates);
  tenon_make_set_string(make, "nearest_mode", "floor");
  tenon_make_add(make, x);
  tenon_make_add(make, sizes);
  tenon_make_add(make, factor_list);
  tenon_make_end_outputs(make);
}

#define ROW(type, function, op, attributes) \
  TENON_MAKE_ROW(convert, "onnx", "com.microsoft.nchwc", type, 1, 0, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("AveragePool", pool, "average_pool", "count_include_pad"),
    ROW("Conv", conv, NULL, NULL),
    ROW("GlobalAveragePool", global_pool, "reduce_mean", NULL),
    ROW("GlobalMaxPool", global_pool, "reduce_max", NULL),
    ROW("MaxPool", pool, "max_pool", ""),
    ROW("ReorderInput", reorder_input, NULL, NULL),
    ROW("ReorderOutput", reorder_output, NULL, NULL),
    ROW("Upsample", upsample, NULL, NULL),
};
MICROSOFT_FAMILY(nchwc);
