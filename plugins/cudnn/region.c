/* Operands, attributes, windows and layouts. */
#include "region.h"

#include <string.h>

const tenon_value_info_t* tenon__cudnn_operand(tenon__cudnn_region_t region, uint32_t index) {
  const uint32_t count = region.table->node_input_count(region.handle, 0);
  const uint32_t value =
      index < count ? region.table->node_input(region.handle, 0, index) : TENON_NONE;
  return value != TENON_NONE ? region.table->value(region.handle, value) : NULL;
}

const tenon_value_info_t* tenon__cudnn_result(tenon__cudnn_region_t region, uint32_t index) {
  const uint32_t count = region.table->node_output_count(region.handle, 0);
  const uint32_t value =
      index < count ? region.table->node_output(region.handle, 0, index) : TENON_NONE;
  return value != TENON_NONE ? region.table->value(region.handle, value) : NULL;
}

const tenon_value_info_t* tenon__cudnn_argument(tenon__cudnn_region_t region, uint32_t index) {
  const uint32_t value = region.table->input(region.handle, index);
  return value != TENON_NONE ? region.table->value(region.handle, value) : NULL;
}

int64_t tenon__cudnn_number_of(tenon__cudnn_region_t region, const char* name, size_t index,
                               int64_t otherwise) {
  const int64_t* values = NULL;
  size_t count = 0;
  int64_t value = otherwise;
  if (region.table->attribute_ints(region.handle, 0, name, &values, &count) == TENON_OK) {
    value = index < count ? values[index] : otherwise;
  } else if (region.table->attribute_int(region.handle, 0, name, &value) != TENON_OK) {
    value = otherwise;
  }
  return value;
}

bool tenon__cudnn_is_fixed(const tenon_value_info_t* value) {
  bool fixed = true;
  for (uint32_t k = 0; k < value->rank; k++) {
    fixed = fixed && value->dims_min[k] == value->dims_max[k];
  }
  return fixed;
}

bool tenon__cudnn_may_lack_pixels(const tenon_value_info_t* image) {
  bool may_lack = false;
  for (uint32_t axis = 2; axis < image->rank; axis++) {
    may_lack = may_lack || (image->dims_min[axis] == 0 && image->dims_max[axis] >= 0);
  }
  return may_lack;
}

int32_t tenon__cudnn_refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail) {
  *out_refusal = (tenon_refusal_t){.reason = reason, .detail = detail};
  return 0;
}

bool tenon__cudnn_type_of(tenon_dtype_t dtype, cudnnDataType_t* out_type) {
  *out_type = dtype == TENON_DTYPE_FLOAT16    ? CUDNN_DATA_HALF
              : dtype == TENON_DTYPE_BFLOAT16 ? CUDNN_DATA_BFLOAT16
                                              : CUDNN_DATA_FLOAT;
  return dtype == TENON_DTYPE_FLOAT32 || *out_type != CUDNN_DATA_FLOAT;
}

bool tenon__cudnn_may_narrow(tenon_dtype_t dtype, tenon_dtype_t narrow) {
  return narrow == TENON_DTYPE_UNDEFINED ||
         (dtype == TENON_DTYPE_FLOAT32 &&
          (narrow == TENON_DTYPE_FLOAT16 || narrow == TENON_DTYPE_BFLOAT16));
}

/* ---- Windows ---- */

void tenon__cudnn_window_read(tenon__cudnn_region_t region, uint32_t spatial, const int64_t* kernel,
                              tenon__cudnn_window_t* out_window) {
  const char* how = "explicit";
  (void)region.table->attribute_string(region.handle, 0, "auto_pad", &how);
  const bool given = strcmp(how, "explicit") == 0;
  /* Where the extents are given, padding is what remains: the odd one in front. */
  const bool remains = given && tenon__cudnn_number_of(region, "output_shape", 0, -1) >= 0;
  const uint32_t missing = spatial == 1 ? 1 : 0;
  *out_window = (tenon__cudnn_window_t){
      .axes = spatial + missing,
      .missing = missing,
      .padding = strcmp(how, "same_upper") == 0              ? TENON_CUDNN_PADDING_UPPER
                 : remains || strcmp(how, "same_lower") == 0 ? TENON_CUDNN_PADDING_LOWER
                                                             : TENON_CUDNN_PADDING_GIVEN,
      .kernel = {1, 1, 1},
      .stride = {1, 1, 1},
      .dilation = {1, 1, 1}};
  for (uint32_t k = 0; k < spatial; k++) {
    const uint32_t axis = k + missing;
    out_window->kernel[axis] = kernel[k];
    out_window->stride[axis] = tenon__cudnn_number_of(region, "strides", k, 1);
    out_window->dilation[axis] = tenon__cudnn_number_of(region, "dilations", k, 1);
    out_window->begin[axis] = given ? tenon__cudnn_number_of(region, "pads", k, 0) : 0;
    out_window->grown[axis] = tenon__cudnn_number_of(region, "output_padding", k, 0);
    out_window->end[axis] = given ? tenon__cudnn_number_of(region, "pads", k + spatial, 0) : 0;
  }
}

bool tenon__cudnn_window_fit(tenon__cudnn_window_t* window, const tenon__cudnn_shape_t* over,
                             const tenon__cudnn_shape_t* windows) {
  bool fits = true;
  for (uint32_t a = 0; a < window->axes; a++) {
    const int64_t extent = over->dims[a + 2];
    const int64_t count = windows->dims[a + 2];
    const int64_t reach = (window->kernel[a] - 1) * window->dilation[a] + 1;
    if (window->padding != TENON_CUDNN_PADDING_GIVEN) {
      const int64_t lacking = (count - 1) * window->stride[a] + window->grown[a] + reach - extent;
      const int64_t total = lacking > 0 ? lacking : 0;
      const int64_t smaller = total / 2;
      window->begin[a] = window->padding == TENON_CUDNN_PADDING_UPPER ? smaller : total - smaller;
      window->end[a] = total - window->begin[a];
    }
    const int64_t room = extent + window->begin[a] + window->end[a] - reach;
    fits = fits && extent > 0 && count > 0 && window->begin[a] >= 0 && window->end[a] >= 0 &&
           room >= 0 && room / window->stride[a] + 1 == count;
  }
  return fits;
}

/* ---- Shapes ---- */

int64_t tenon__cudnn_count(const int64_t* dims, uint32_t rank) {
  int64_t count = 1;
  for (uint32_t k = 0; k < rank; k++) {
    count *= dims[k];
  }
  return count;
}

void tenon__cudnn_shape_of(const int64_t* dims, uint32_t rank, bool channels_last,
                           tenon__cudnn_shape_t* out_shape) {
  const uint32_t missing = rank == 3 ? 1 : 0;
  tenon__cudnn_shape_t* shape = out_shape;
  *shape = (tenon__cudnn_shape_t){.rank = rank + missing, .dims = {dims[0], dims[1], 1}};
  for (uint32_t k = 2; k < rank; k++) {
    shape->dims[k + missing] = dims[k];
  }
  int64_t step = channels_last ? shape->dims[1] : 1;
  for (uint32_t k = shape->rank; k-- > 2;) {
    shape->strides[k] = step;
    step *= shape->dims[k];
  }
  shape->strides[1] = channels_last ? 1 : step;
  shape->strides[0] = channels_last ? step : step * shape->dims[1];
}

const tenon_layout_t* tenon__cudnn_channels_last(uint32_t rank) {
  static const uint32_t orders[][5] = {{0, 2, 1}, {0, 2, 3, 1}, {0, 2, 3, 4, 1}};
#define LAYOUT(axes)                                                                    \
  {                                                                                     \
    .size = sizeof(tenon_layout_t), .name = "channels last", .order = orders[(axes)-3], \
    .rank = (axes)                                                                      \
  }
  static const tenon_layout_t layouts[] = {LAYOUT(3), LAYOUT(4), LAYOUT(5)};
#undef LAYOUT
  return rank < 3 || rank > 5 ? NULL : &layouts[rank - 3];
}
