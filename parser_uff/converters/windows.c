/* Convolutions and pools. TensorFlow gives lists with an entry for each axis of the tensor, UFF
 * with one for each spatial axis. */
#include <inttypes.h>
#include <string.h>

#include "families.h"

enum { SPATIAL_LIMIT = 3 };

typedef struct windows_t {
  tenon__uff_layout_t layout;
  tenon__uff_layout_t result;
  bool is_same; /* as much padding as keeps ceil(extent / stride), the odd one behind */
  int64_t strides[SPATIAL_LIMIT];
  int64_t dilations[SPATIAL_LIMIT];
  int64_t pads[2 * SPATIAL_LIMIT]; /* before each axis, then behind */
} windows_t;

static bool is_uff(const tenon_make_t* make) {
  return make->row->converter.domain[0] == '\0';
}

/* Spatial entries of a list with one for each axis, or for each spatial one. */
static void read_list(tenon_make_t* make, const char* name, const tenon__uff_layout_t* layout,
                      int64_t otherwise, int64_t* out_values) {
  const int64_t* values = NULL;
  size_t count = 0;
  const uint32_t spatial = layout->spatial_count;
  (void)tenon_make_get_ints(make, name, &values, &count);
  for (uint32_t i = 0; i < spatial; ++i) {
    out_values[i] = count == 0              ? otherwise
                    : count == spatial      ? values[i]
                    : count == layout->rank ? values[layout->spatial[i]]
                                            : values[0];
    if (out_values[i] < (otherwise > 0 ? 1 : 0) || out_values[i] > INT32_MAX) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its %s for axis %u is %" PRId64, name, i,
                      out_values[i]);
      out_values[i] = 1;
    }
  }
  if (count == layout->rank) {
    for (uint32_t axis = 0; axis < layout->rank; ++axis) {
      if ((axis == layout->batch || axis == layout->channel) && values[axis] != otherwise) {
        tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                        "its %s for %s is %" PRId64 ", it can be only %" PRId64, name,
                        axis == layout->batch ? "the batch" : "channels", values[axis], otherwise);
      }
    }
  }
  if (count > 1 && count != spatial && count != layout->rank) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its %s has %zu entries for rank %u", name,
                    count, layout->rank);
  }
}

static void read_explicit(tenon_make_t* make, windows_t* out) {
  const int64_t* values = NULL;
  size_t count = 0;
  (void)tenon_make_get_ints(make, "explicit_paddings", &values, &count);
  if (count != 2 * (size_t)out->layout.rank) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "its explicit_paddings has %zu entries for rank %u", count, out->layout.rank);
    return;
  }
  for (size_t axis = 0; axis < out->layout.rank; ++axis) {
    const bool is_spatial = axis != out->layout.batch && axis != out->layout.channel;
    const int64_t most = is_spatial ? INT32_MAX : 0;
    if (values[2 * axis] < 0 || values[2 * axis] > most || values[2 * axis + 1] < 0 ||
        values[2 * axis + 1] > most) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "its explicit_paddings of axis %zu are %" PRId64 " and %" PRId64, axis,
                      values[2 * axis], values[2 * axis + 1]);
    }
  }
  for (uint32_t i = 0; i < out->layout.spatial_count; ++i) {
    const size_t axis = out->layout.spatial[i];
    out->pads[i] = values[2 * axis];
    out->pads[out->layout.spatial_count + i] = values[2 * axis + 1];
  }
}

static void read_padding(tenon_make_t* make, windows_t* out) {
  const uint32_t spatial = out->layout.spatial_count;
  (void)tenon_make_has(make, "explicit_paddings"); /* empty unless it is asked for */
  if (is_uff(make)) {
    out->is_same = strcmp(tenon_make_get_string(make, "implicit_padding", ""), "same") == 0;
    read_list(make, "padding", &out->layout, 0, out->pads);
    memcpy(out->pads + spatial, out->pads, spatial * sizeof(*out->pads));
    return;
  }
  const char* padding = tenon_make_get_string(make, "padding", "");
  out->is_same = strcmp(padding, "SAME") == 0;
  if (strcmp(padding, "EXPLICIT") == 0) {
    read_explicit(make, out);
  } else if (!out->is_same && strcmp(padding, "VALID") != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "its padding is '%s', not SAME, VALID or EXPLICIT", padding);
  }
}

static bool read_windows(tenon_make_t* make, tenon_value_t x, windows_t* out) {
  const uint32_t rank = tenon_make_rank(make, x);
  *out = (windows_t){.is_same = false};
  if (tenon_make_ok(make) && (rank < 3 || rank > 2 + SPATIAL_LIMIT)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "its input has rank %u, not 3 to 5", rank);
  }
  if (!tenon_make_ok(make)) {
    return false;
  }
  const char* otherwise = is_uff(make) ? "NC+" : rank == 5 ? "NDHWC" : "N+C";
  out->layout =
      tenon__uff_layout(make, is_uff(make) ? "inputs_orders" : "data_format", 0, otherwise, rank);
  out->result = out->layout;
  if (is_uff(make) && tenon_make_has(make, "outputs_orders")) {
    out->result = tenon__uff_layout(make, "outputs_orders", 0, otherwise, rank);
  }
  if (tenon_make_ok(make)) {
    read_list(make, "strides", &out->layout, 1, out->strides);
    read_list(make, is_uff(make) ? "dilation" : "dilations", &out->layout, 1, out->dilations);
    read_padding(make, out);
  }
  return tenon_make_ok(make);
}

static void set_windows(tenon_make_t* make, const windows_t* from) {
  const size_t spatial = from->layout.spatial_count;
  tenon_make_set_ints(make, "strides", from->strides, spatial);
  tenon_make_set_ints(make, "dilations", from->dilations, spatial);
  if (from->is_same) {
    tenon_make_set_string(make, "auto_pad", "same_upper");
  } else {
    tenon_make_set_ints(make, "pads", from->pads, 2 * spatial);
  }
}

/* ---- Convolutions ---- */

/* `extent` (-1: open), where products with strides and dilations stay within 64 bits; else 1, and
 * failed. */
static int64_t moderate(tenon_make_t* make, int64_t extent) {
  if (extent > INT32_MAX) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "extent %" PRId64 " is more than 2147483647",
                    extent);
    return 1;
  }
  return extent;
}

static int64_t known_extent(tenon_make_t* make, tenon_value_t value, uint32_t axis,
                            const char* what) {
  const int64_t extent = moderate(make, tenon_make_dim(make, value, axis));
  if (tenon_make_ok(make) && extent < 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "%s must be known", what);
  }
  return extent < 0 ? 1 : extent;
}

/* [spatial..., C, M] as [C M, 1, spatial...]: each channel has M filters of its own. */
static tenon_value_t depthwise_weights(tenon_make_t* make, tenon_value_t w, uint32_t rank) {
  int64_t dims[2 + SPATIAL_LIMIT];
  int64_t perm[2 + SPATIAL_LIMIT] = {rank - 1, rank - 2};
  for (uint32_t i = 0; i + 2 < rank; ++i) {
    dims[i] = known_extent(make, w, i, "the extents of its weights");
    perm[2 + i] = i;
  }
  dims[rank - 2] = 1;
  dims[rank - 1] = known_extent(make, w, rank - 2, "the extents of its weights") *
                   known_extent(make, w, rank - 1, "the extents of its weights");
  return tenon_make_permute(make, tenon_make_reshape(make, w, dims, rank), perm, rank);
}

static void convolve(tenon_make_t* make, const windows_t* windows, tenon_value_t w,
                     int64_t groups) {
  const tenon_value_t x =
      tenon__uff_channels_first(make, &windows->layout, tenon_make_input(make, 0));
  tenon_make_begin(make, "convolution");
  set_windows(make, windows);
  tenon_make_set_int(make, "groups", groups);
  tenon_make_add(make, x);
  tenon_make_add(make, w);
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0, tenon__uff_channels_back(make, &windows->result, y));
}

static bool begin_convolution(tenon_make_t* make, uint32_t x, uint32_t w, windows_t* out) {
  if (!tenon__uff_needs(make, 2) || !read_windows(make, tenon_make_input(make, x), out)) {
    return false;
  }
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, w));
  if (tenon_make_ok(make) && rank != out->layout.rank) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its weights have rank %u, its input %u", rank,
                    out->layout.rank);
  }
  return tenon_make_ok(make);
}

static int64_t channels_of(tenon_make_t* make, const windows_t* windows, uint32_t x) {
  return known_extent(make, tenon_make_input(make, x), windows->layout.channel,
                      "the number of its input's channels");
}

/* Conv2D, Conv3D: weights [spatial..., C / groups, K]. */
static void convolution(tenon_make_t* make) {
  windows_t windows;
  if (!begin_convolution(make, 0, 1, &windows)) {
    return;
  }
  const tenon_value_t w = tenon_make_input(make, 1);
  const tenon__uff_layout_t order = tenon__uff_layout(make, NULL, 0, "+CN", windows.layout.rank);
  const int64_t own = known_extent(make, w, order.channel, "the extents of its weights");
  const int64_t channels = channels_of(make, &windows, 0);
  if (own < 1 || channels % own != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%" PRId64 " channels, and weights for %" PRId64, channels, own);
    return;
  }
  if (tenon_make_ok(make)) {
    convolve(make, &windows, tenon__uff_channels_first(make, &order, w), channels / own);
  }
}

static void depthwise(tenon_make_t* make) {
  windows_t windows;
  if (begin_convolution(make, 0, 1, &windows)) {
    const int64_t channels = channels_of(make, &windows, 0);
    convolve(make, &windows,
             depthwise_weights(make, tenon_make_input(make, 1), windows.layout.rank), channels);
  }
}

/* Depthwise weights stand as [spatial..., C, M] with C groups, others as they are ordered. */
static void uff_convolution(tenon_make_t* make) {
  windows_t windows;
  if (!begin_convolution(make, 0, 1, &windows)) {
    return;
  }
  const tenon_value_t w = tenon_make_input(make, 1);
  const uint32_t rank = windows.layout.rank;
  const int64_t groups = tenon_make_get_int(make, "number_groups", 1);
  const tenon__uff_layout_t order = tenon__uff_layout(make, "inputs_orders", 1, "+CN", rank);
  if (groups < 1 || !tenon_make_ok(make)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its number_groups is %" PRId64, groups);
    return;
  }
  const bool is_depthwise = groups > 1 && order.channel == rank - 2 && order.batch == rank - 1 &&
                            tenon_make_dim(make, w, order.channel) == groups &&
                            channels_of(make, &windows, 0) == groups;
  convolve(
      make, &windows,
      is_depthwise ? depthwise_weights(make, w, rank) : tenon__uff_channels_first(make, &order, w),
      groups);
}

/* ---- Transposed convolutions ---- */

/* The extents that the file gives for the result, of all axes or of the spatial ones alone: that of
 * spatial axis `index`; -1: not known. */
static int64_t wanted_extent(tenon_make_t* make, tenon_value_t sizes,
                             const tenon__uff_layout_t* layout, uint32_t index) {
  int64_t extent = -1;
  const tenon_value_type_t type = tenon_make_type(make, sizes);
  const bool is_list =
      type.kind == TENON_ARGUMENT_TENSOR && type.rank == 1 && type.has_contents != 0;
  const bool is_spatial = is_list && type.dims[0] == (int64_t)layout->spatial_count;
  const uint32_t axis = is_spatial ? index : layout->spatial[index];
  const bool has_it = is_list && type.dims[0] > (int64_t)axis;
  return tenon_make_ok(make) && has_it &&
                 make->build->content(make->builder, sizes, axis, &extent) == 1
             ? extent
             : -1;
}

/* The padding that the convolution which this one turns round would have, and what is added behind
 * where its last windows left something out. */
static void find_pads(tenon_make_t* make, const windows_t* windows, const int64_t* kernel,
                      tenon_value_t x, tenon_value_t sizes, int64_t* out_pads, int64_t* out_more) {
  const uint32_t spatial = windows->layout.spatial_count;
  for (uint32_t i = 0; i < spatial; ++i) {
    const uint32_t axis = windows->layout.spatial[i];
    const int64_t in = moderate(make, tenon_make_dim(make, x, axis));
    const int64_t stride = windows->strides[i];
    const int64_t window = (kernel[i] - 1) * windows->dilations[i] + 1;
    const int64_t wanted = moderate(make, wanted_extent(make, sizes, &windows->result, i));
    const int64_t given = windows->pads[i] + windows->pads[spatial + i];
    /* Of a result that is not known: that of the smallest such convolution. */
    const int64_t over = wanted >= 0 && in >= 0 ? (in - 1) * stride + window - wanted
                         : windows->is_same     ? window - stride
                                                : given;
    const int64_t total = windows->is_same ? (over > 0 ? over : 0) : given;
    out_pads[i] = windows->is_same ? total / 2 : windows->pads[i];
    out_pads[spatial + i] = total - out_pads[i];
    out_more[i] = total - over;
    if (out_more[i] < 0 || out_more[i] >= (stride > window ? stride : window)) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "extent %" PRId64 " of its result does not come from %" PRId64
                      " by stride %" PRId64,
                      wanted, in, stride);
    }
  }
}

static void deconvolve(tenon_make_t* make, uint32_t x_index, uint32_t w_index, uint32_t sizes_index,
                       const char* weights_order) {
  windows_t windows;
  if (!begin_convolution(make, x_index, w_index, &windows)) {
    return;
  }
  int64_t kernel[SPATIAL_LIMIT] = {1, 1, 1};
  int64_t pads[2 * SPATIAL_LIMIT] = {0};
  int64_t more[SPATIAL_LIMIT] = {0};
  const tenon_value_t x = tenon_make_input(make, x_index);
  const tenon_value_t w = tenon_make_input(make, w_index);
  const tenon__uff_layout_t order = tenon__uff_layout(make, is_uff(make) ? "inputs_orders" : NULL,
                                                      1, weights_order, windows.layout.rank);
  if (!tenon_make_ok(make)) {
    return;
  }
  for (uint32_t i = 0; i < order.spatial_count; ++i) {
    kernel[i] = known_extent(make, w, order.spatial[i], "the extents of its weights");
  }
  find_pads(make, &windows, kernel, x, tenon_make_input(make, sizes_index), pads, more);
  /* The operator's weights are [C, M, spatial...]: C, of x, is what the order calls its channels.
   */
  const tenon__uff_layout_t turned = {
      .rank = order.rank,
      .batch = order.channel,
      .channel = order.batch,
      .spatial = {order.spatial[0], order.spatial[1], order.spatial[2]},
      .spatial_count = order.spatial_count};
  const tenon_value_t first = tenon__uff_channels_first(make, &windows.layout, x);
  const tenon_value_t weights = tenon__uff_channels_first(make, &turned, w);
  tenon_make_begin(make, "deconvolution");
  tenon_make_set_ints(make, "strides", windows.strides, order.spatial_count);
  tenon_make_set_ints(make, "dilations", windows.dilations, order.spatial_count);
  tenon_make_set_ints(make, "pads", pads, 2 * (size_t)order.spatial_count);
  tenon_make_set_ints(make, "output_padding", more, order.spatial_count);
  tenon_make_set_int(make, "groups",
                     is_uff(make) ? tenon_make_get_int(make, "number_groups", 1) : 1);
  tenon_make_add(make, first);
  tenon_make_add(make, weights);
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0, tenon__uff_channels_back(make, &windows.result, y));
}

/* sizes, weights [spatial..., K, C], x. */
static void backprop_input(tenon_make_t* make) {
  if (tenon__uff_needs(make, 3)) {
    deconvolve(make, 2, 1, 0, "+NC");
  }
}

static void uff_deconvolution(tenon_make_t* make) {
  deconvolve(make, 0, 1, 2, "+NC");
}

/* ---- Pools ---- */

static void pool(tenon_make_t* make, const char* op, const char* kernel_name) {
  windows_t windows;
  int64_t kernel[SPATIAL_LIMIT];
  if (!tenon__uff_needs(make, 1) || !read_windows(make, tenon_make_input(make, 0), &windows)) {
    return;
  }
  if (!tenon_make_has(make, kernel_name)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no %s", kernel_name);
    return;
  }
  read_list(make, kernel_name, &windows.layout, 1, kernel);
  const tenon_value_t x =
      tenon__uff_channels_first(make, &windows.layout, tenon_make_input(make, 0));
  tenon_make_begin(make, op);
  set_windows(make, &windows);
  tenon_make_set_ints(make, "kernel_shape", kernel, windows.layout.spatial_count);
  tenon_make_add(make, x);
  const tenon_value_t y = tenon_make_end(make);
  tenon_make_output(make, 0, tenon__uff_channels_back(make, &windows.result, y));
}

static void tensorflow_pool(tenon_make_t* make) {
  pool(make, make->row->op, "ksize");
}

static void uff_pool(tenon_make_t* make) {
  const char* function = tenon_make_get_string(make, "func", "");
  const bool is_max = strcmp(function, "max") == 0;
  if (!is_max && strcmp(function, "avg") != 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "its func is '%s', not max or avg", function);
    return;
  }
  pool(make, is_max ? "max_pool" : "average_pool", "kernel");
}

#define UFF(type, function) TENON__UFF_ROW(type, function, NULL, NULL)
#define TF(type, function, op) TENON__UFF_TF_ROW(type, function, op, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    UFF("Conv", uff_convolution),
    UFF("ConvTranspose", uff_deconvolution),
    UFF("Pool", uff_pool),

    TF("AvgPool", tensorflow_pool, "average_pool"),
    TF("AvgPool3D", tensorflow_pool, "average_pool"),
    TF("Conv2D", convolution, NULL),
    TF("Conv2DBackpropInput", backprop_input, NULL),
    TF("Conv3D", convolution, NULL),
    TF("Conv3DBackpropInputV2", backprop_input, NULL),
    TF("DepthwiseConv2dNative", depthwise, NULL),
    TF("MaxPool", tensorflow_pool, "max_pool"),
    TF("MaxPool3D", tensorflow_pool, "max_pool"),
};
TENON__UFF_FAMILY(windows);
