/* Convolutions. */
#include <inttypes.h>
#include <string.h>

#include "families.h"

enum { SPATIAL_LIMIT = 3 };

static const char message[] = "convolution_param";

typedef struct convolution_t {
  uint32_t spatial_rank;
  int64_t channels;
  int64_t output_count;
  int64_t groups;
  int64_t kernel[SPATIAL_LIMIT];
  int64_t stride[SPATIAL_LIMIT];
  int64_t pad[SPATIAL_LIMIT];
  int64_t dilation[SPATIAL_LIMIT];
} convolution_t;

static bool check(tenon_make_t* make, const convolution_t* from) {
  for (uint32_t i = 0; i < from->spatial_rank; ++i) {
    if (from->kernel[i] < 1 || from->stride[i] < 1 || from->dilation[i] < 1 || from->pad[i] < 0) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "kernel %" PRId64 ", stride %" PRId64 ", dilation %" PRId64
                      " must be positive, pad %" PRId64 " not negative",
                      from->kernel[i], from->stride[i], from->dilation[i], from->pad[i]);
      return false;
    }
  }
  if (from->groups < 1 || from->channels % from->groups != 0 ||
      from->output_count % from->groups != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%" PRId64 " channels and num_output %" PRId64 " do not divide into %" PRId64
                    " groups",
                    from->channels, from->output_count, from->groups);
  }
  return tenon_make_ok(make);
}

/* All but num_output and groups. */
static bool read_windows(tenon_make_t* make, convolution_t* out) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  *out = (convolution_t){.stride = {1, 1, 1}, .dilation = {1, 1, 1}, .groups = 1};
  const int64_t axis =
      tenon_make_axis(make, tenon_make_get_int(make, "convolution_param.axis", 1), rank);
  if (axis != 1 || rank < 3 || rank > 2 + SPATIAL_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "axis %" PRId64 " of rank %u: channels must be axis 1, before 1 to 3 others",
                    axis, rank);
    return false;
  }
  out->spatial_rank = rank - 2;
  out->channels = tenon__caffe_extent(make, x, 1);
  const uint32_t count = out->spatial_rank;
  if (!tenon__caffe_spatial(make, message, "kernel_size", "kernel", count, out->kernel)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no kernel_size");
  }
  (void)tenon__caffe_spatial(make, message, "stride", "stride", count, out->stride);
  (void)tenon__caffe_spatial(make, message, "pad", "pad", count, out->pad);
  (void)tenon__caffe_spatial(make, message, "dilation", "dilation", count, out->dilation);
  return tenon_make_ok(make);
}

static void set_windows(tenon_make_t* make, const convolution_t* from) {
  tenon_make_set_ints(make, "strides", from->stride, from->spatial_rank);
  tenon_make_set_ints(make, "dilations", from->dilation, from->spatial_rank);
  tenon__caffe_set_pads(make, from->pad, from->spatial_rank);
  tenon_make_set_int(make, "groups", from->groups);
}

/* One input and one output for each bottom, with the same weights. */
static void convolve(tenon_make_t* make, const convolution_t* from, bool is_transposed) {
  int64_t dims[2 + SPATIAL_LIMIT] = {from->output_count, from->channels / from->groups};
  if (is_transposed) {
    dims[0] = from->channels;
    dims[1] = from->output_count / from->groups;
  }
  memcpy(dims + 2, from->kernel, from->spatial_rank * sizeof(int64_t));
  const tenon_value_t w = tenon__caffe_weight(make, 0, 2 + from->spatial_rank, dims);
  const bool has_bias = tenon_make_get_int(make, "convolution_param.bias_term", 1) != 0;
  const tenon_value_t b =
      has_bias ? tenon__caffe_vector(make, 1, from->output_count) : (tenon_value_t){0};
  for (uint32_t i = 0; i < make->input_count && i < make->output_count; ++i) {
    tenon_make_begin(make, make->row->op);
    set_windows(make, from);
    tenon_make_add(make, tenon_make_input(make, i));
    tenon_make_add(make, w);
    if (has_bias) {
      tenon_make_add(make, b);
    }
    tenon_make_output(make, i, tenon_make_end(make));
  }
}

static void convolution(tenon_make_t* make) {
  convolution_t from;
  if (!read_windows(make, &from)) {
    return;
  }
  from.output_count = tenon_make_get_int(make, "convolution_param.num_output", 0);
  from.groups = tenon_make_get_int(make, "convolution_param.group", 1);
  if (from.output_count < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "num_output is %" PRId64, from.output_count);
  }
  if (check(make, &from)) {
    convolve(make, &from, strcmp(make->row->op, "deconvolution") == 0);
  }
}

/* Forks' name for a convolution of each channel by itself. */
static void depthwise(tenon_make_t* make) {
  convolution_t from;
  if (!read_windows(make, &from)) {
    return;
  }
  from.output_count = tenon_make_get_int(make, "convolution_param.num_output", from.channels);
  from.groups = tenon_make_get_int(make, "convolution_param.group", from.channels);
  if (check(make, &from)) {
    convolve(make, &from, false);
  }
}

/* Each window as a column: a convolution whose filters pick one tap each. */
static void columns_of_image(tenon_make_t* make) {
  enum { TAP_LIMIT = 4096 };
  convolution_t from;
  if (!read_windows(make, &from) || !check(make, &from)) {
    return;
  }
  int64_t dims[2 + SPATIAL_LIMIT] = {0, 1};
  int64_t taps = 1;
  for (uint32_t i = 0; i < from.spatial_rank; ++i) {
    dims[2 + i] = from.kernel[i];
    taps = from.kernel[i] <= TAP_LIMIT && taps <= TAP_LIMIT ? taps * from.kernel[i] : INT32_MAX;
  }
  if (taps > TAP_LIMIT || from.channels > INT32_MAX / taps) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "its windows have more than %d elements",
                    TAP_LIMIT);
    return;
  }
  dims[0] = from.channels * taps;
  float* picks = tenon_make_memory(make, (size_t)(dims[0] * taps), sizeof(*picks));
  if (picks == NULL) {
    return;
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    picks[i * taps + i % taps] = 1;
  }
  const tenon_value_t w =
      tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 2 + from.spatial_rank, dims, picks);
  from.groups = from.channels;
  tenon_make_begin(make, "convolution");
  set_windows(make, &from);
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, w);
  tenon_make_output(make, 0, tenon_make_end(make));
}

#define ROW(type, function, op) TENON__CAFFE_ROW("", type, function, op, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("Convolution", convolution, "convolution"),
    ROW("ConvolutionDepthwise", depthwise, "convolution"),
    ROW("Deconvolution", convolution, "deconvolution"),
    ROW("DepthwiseConvolution", depthwise, "convolution"),
    ROW("Im2col", columns_of_image, NULL),
};
TENON__CAFFE_FAMILY(convolution);
