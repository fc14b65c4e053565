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
 * The file does not have the size of a block. It is that of the machine that wrote the file, where
 * ONNX Runtime demands that the network runs.
 */
#include <inttypes.h>

#include "convolution.h"
#include "families.h"
#include "steps.h"

/* The size of a block of ONNX Runtime on this processor, for `channels` channels. */
static int64_t block_size(int64_t channels) {
  int64_t size = 16;
#if defined(__x86_64__) && defined(__GNUC__)
  size = __builtin_cpu_supports("avx512f") ? 16 : 8;
#endif
  return channels % size == 0 ? size : 8;
}

static int64_t rounded_up(int64_t channels) {
  const int64_t block = block_size(0);
  return (channels + block - 1) / block * block;
}

/* Undoes the blocks of the weights, input 1. */
static tenon_value_t plain_weights(tenon_make_t* make) {
  const tenon_value_t w = tenon_make_input(make, 1);
  const int64_t groups = tenon_make_get_int(make, "group", 1);
  const int64_t out = tenon_make_dim(make, w, 0);
  const int64_t in = tenon_make_dim(make, w, 1);
  const int64_t block = block_size(out);
  const int64_t height = tenon_make_dim(make, w, 2);
  const int64_t width = tenon_make_dim(make, w, 3);
  if (tenon_make_rank(make, w) != 4 || in < 1 || out % block != 0 || height < 1 || width < 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "weights of %" PRId64 " and %" PRId64 " channels are not in blocks of 8 or 16",
                    out, in);
    return w;
  }
  const bool by_output_only = groups == 1 ? in < block : in == 1;
  const int64_t dims[4] = {out, in, height, width};
  if (by_output_only) {
    const int64_t apart[5] = {out / block, in, height, width, block};
    static const int64_t perm[5] = {0, 4, 1, 2, 3};
    return tenon_make_reshape(
        make, tenon_make_permute(make, tenon_make_reshape(make, w, apart, 5), perm, 5), dims, 4);
  }
  if (in % block != 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "weights of %" PRId64 " input channels are not in blocks of %" PRId64
                    "; optimise the network on this machine, or at level extended",
                    in, block);
    return w;
  }
  const int64_t apart[6] = {out / block, in / block, height, width, block, block};
  static const int64_t perm[6] = {0, 5, 1, 4, 2, 3};
  return tenon_make_reshape(
      make, tenon_make_permute(make, tenon_make_reshape(make, w, apart, 6), perm, 6), dims, 4);
}

static void conv(tenon_make_t* make) {
  tenon_make_output(make, 0,
                    microsoft_convolution(make, tenon_make_input(make, 0), plain_weights(make),
                                          tenon_make_input(make, 3)));
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
  if (rounded_up(channels) == channels) {
    tenon_make_output(make, 0, tenon_make_1(make, "pass_through", x));
    return;
  }
  int64_t pads[2 * TENON_MAKE_LIST_LIMIT] = {0};
  const uint32_t rank = tenon_make_rank(make, x);
  pads[rank + 1] = rounded_up(channels) - channels;
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
  tenon_make_begin(make, make->row->op);
  microsoft_set_window(make);
  tenon_make_pass_all(make, "kernel_shape ceil_mode");
  tenon_make_pass_all(make, make->row->attributes);
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_end_outputs(make);
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
