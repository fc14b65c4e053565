/* Larger and smaller pictures. */
#include <inttypes.h>

#include "families.h"

/* x sampled anew, to height and width. */
static tenon_value_t resize(tenon_make_t* make, tenon_value_t x, const int64_t* plane,
                            bool is_linear) {
  const tenon_value_t sizes[2] = {tenon_make_slice(make, tenon_make_shape(make, x), 0, 0, 2),
                                  tenon_make_int64s(make, plane, 2)};
  const tenon_value_t extents = tenon_make_concat(make, 0, 2, sizes);
  tenon_make_begin(make, "resize");
  tenon_make_set_string(make, "mode", is_linear ? "linear" : "nearest");
  tenon_make_set_string(make, "coordinate_mode", is_linear ? "align_corners" : "asymmetric");
  tenon_make_set_string(make, "nearest_mode", "floor");
  tenon_make_add(make, x);
  tenon_make_add(make, extents);
  return tenon_make_end(make);
}

static bool is_plane(tenon_make_t* make) {
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  if (rank != 4) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "its bottom has rank %u, not 4", rank);
  }
  return tenon_make_ok(make);
}

/* Extents that follow from one of the bottom, as DeepLab's layer computes them. */
static int64_t interpolated_extent(tenon_make_t* make, int64_t extent, const char* wanted) {
  const int64_t given = tenon_make_get_int(make, wanted, 0);
  const int64_t shrink = tenon_make_get_int(make, "interp_param.shrink_factor", 1);
  const int64_t zoom = tenon_make_get_int(make, "interp_param.zoom_factor", 1);
  if (given > 0) {
    return given;
  }
  if (shrink < 1 || zoom < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "shrink_factor %" PRId64 " and zoom_factor %" PRId64 " must be positive",
                    shrink, zoom);
    return 1;
  }
  const int64_t less = (extent - 1) / shrink + 1;
  return less + (less - 1) * (zoom - 1);
}

/* Bilinear, with corners on corners. Padding is not positive: it cuts off. */
static void interpolate(tenon_make_t* make) {
  tenon_value_t x = tenon_make_input(make, 0);
  const int64_t cut[2] = {-tenon_make_get_int(make, "interp_param.pad_beg", 0),
                          -tenon_make_get_int(make, "interp_param.pad_end", 0)};
  static const char* const wanted[2] = {"interp_param.height", "interp_param.width"};
  int64_t plane[2] = {0, 0};
  if (!is_plane(make)) {
    return;
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const int64_t extent = tenon__caffe_extent(make, x, 2 + i);
    const int64_t left = extent - cut[0] - cut[1];
    if (cut[0] < 0 || cut[1] < 0 || left < 1) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "pad_beg %" PRId64 " and pad_end %" PRId64
                      " must not be positive, and leave something of %" PRId64,
                      -cut[0], -cut[1], extent);
      return;
    }
    if (cut[0] > 0 || cut[1] > 0) {
      x = tenon_make_slice(make, x, 2 + i, cut[0], extent - cut[1]);
    }
    plane[i] = tenon_make_has_input(make, 1)
                   ? tenon__caffe_extent(make, tenon_make_input(make, 1), 2 + i)
                   : interpolated_extent(make, left, wanted[i]);
  }
  tenon_make_output(make, 0, resize(make, x, plane, true));
}

/* The extents of what SegNet's layer makes. */
static int64_t unpooled_extent(tenon_make_t* make, uint32_t axis, int64_t scale) {
  static const char* const wanted[2] = {"upsample_param.upsample_h", "upsample_param.upsample_w"};
  static const char* const cuts[2] = {"upsample_param.pad_out_h", "upsample_param.pad_out_w"};
  const int64_t extent = tenon__caffe_extent(make, tenon_make_input(make, 0), 2 + axis);
  const int64_t cut = tenon_make_get_int(make, cuts[axis], 0);
  return tenon_make_get_int(make, wanted[axis], extent * scale - cut);
}

/* Each value goes to the place in its plane that pooling took it from; zeros elsewhere. */
static void unpool(tenon_make_t* make, const int64_t* scale) {
  static const int64_t rows[3] = {0, 0, -1};
  const tenon_value_t x = tenon_make_input(make, 0);
  const int64_t plane[2] = {unpooled_extent(make, 0, scale[0]), unpooled_extent(make, 1, scale[1])};
  if (plane[0] < 1 || plane[1] < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its top would be %" PRId64 " x %" PRId64,
                    plane[0], plane[1]);
    return;
  }
  const int64_t points = plane[0] * plane[1];
  const tenon_value_t outer = tenon_make_slice(make, tenon_make_shape(make, x), 0, 0, 2);
  const tenon_value_t flat[2] = {outer, tenon_make_int64s(make, &points, 1)};
  const tenon_value_t whole[2] = {outer, tenon_make_int64s(make, plane, 2)};
  const tenon_value_t zeros =
      tenon_make_2(make, "filled", tenon_make_number(make, TENON_DTYPE_FLOAT32, 0),
                   tenon_make_concat(make, 0, 2, flat));
  const tenon_value_t places = tenon_make_cast(
      make, tenon_make_reshape(make, tenon_make_input(make, 1), rows, 3), TENON_DTYPE_INT64);
  const tenon_value_t values = tenon_make_reshape(make, x, rows, 3);
  tenon_make_begin(make, "scatter_elements");
  tenon_make_set_int(make, "axis", 2);
  tenon_make_add(make, zeros);
  tenon_make_add(make, places);
  tenon_make_add(make, values);
  const tenon_value_t scattered = tenon_make_end(make);
  tenon_make_output(make, 0,
                    tenon_make_2(make, "reshape", scattered, tenon_make_concat(make, 0, 2, whole)));
}

/* With the places of maxima SegNet's layer; alone each element becomes a block. */
static void upsample(tenon_make_t* make) {
  const int64_t both = tenon_make_get_int(make, "upsample_param.scale", 2);
  const int64_t scale[2] = {tenon_make_get_int(make, "upsample_param.scale_h", both),
                            tenon_make_get_int(make, "upsample_param.scale_w", both)};
  if (!is_plane(make)) {
    return;
  }
  if (scale[0] < 1 || scale[1] < 1 || scale[0] > INT16_MAX || scale[1] > INT16_MAX) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its scale is %" PRId64 " x %" PRId64, scale[0],
                    scale[1]);
    return;
  }
  if (tenon_make_has_input(make, 1)) {
    unpool(make, scale);
    return;
  }
  const tenon_value_t x = tenon_make_input(make, 0);
  const int64_t plane[2] = {tenon__caffe_extent(make, x, 2) * scale[0],
                            tenon__caffe_extent(make, x, 3) * scale[1]};
  tenon_make_output(make, 0, resize(make, x, plane, false));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__CAFFE_ROW("", "Interp", interpolate, NULL, NULL),
    TENON__CAFFE_ROW("", "Upsample", upsample, NULL, NULL),
};
TENON__CAFFE_FAMILY(sampling);
