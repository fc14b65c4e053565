/*
 * Resize. The operator wants all extents of the result, and the scales where they were given. ONNX
 * gives either, for some of the axes, and bends them to keep the aspect ratio; what is known is
 * computed here, what is not becomes an expression of the shape.
 */
#include "resize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 96, FRACTION_LIMIT = 4096 };

typedef struct resize_t {
  tenon_make_t* make;
  tenon_value_t x;
  uint32_t rank;
  int64_t axes[TENON_MAKE_LIST_LIMIT]; /* entry k of the lists is for axes[k] */
  uint32_t axis_count;
  const char* mode;
  const char* coordinate_mode;
  const char* nearest_mode;
  tenon_value_t sizes; /* of all axes, or as yet absent */
  tenon_value_t scales;
  tenon_value_t roi;
} resize_t;

/* The place of `axis` in the lists, -1 if they say nothing of it. */
static int64_t entry_of(const resize_t* resize, uint32_t axis) {
  for (uint32_t k = 0; k < resize->axis_count; ++k) {
    if (resize->axes[k] == (int64_t)axis) {
      return k;
    }
  }
  return -1;
}

static resize_t begin(tenon_make_t* make) {
  resize_t resize = {.make = make, .x = tenon_make_input(make, 0)};
  resize.rank = tenon_make_rank(make, resize.x);
  resize.mode = tenon_make_get_string(make, "mode", "nearest");
  if (strcmp(resize.mode, "bilinear") == 0) {
    resize.mode = "linear";
  }
  const int64_t* axes = NULL;
  size_t count = 0;
  if (tenon_make_get_ints(make, "axes", &axes, &count)) {
    if (count > resize.rank) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu axes of rank %u", count, resize.rank);
      return resize;
    }
    for (size_t k = 0; k < count; ++k) {
      resize.axes[k] = tenon_make_axis(make, axes[k], resize.rank);
    }
    resize.axis_count = (uint32_t)count;
  } else {
    for (uint32_t k = 0; k < resize.rank; ++k) {
      resize.axes[k] = k;
    }
    resize.axis_count = resize.rank;
  }
  return resize;
}

static void finish(resize_t* resize) {
  tenon_make_t* make = resize->make;
  tenon_make_begin(make, "resize");
  tenon_make_set_string(make, "mode", resize->mode);
  tenon_make_set_string(make, "coordinate_mode", resize->coordinate_mode);
  tenon_make_set_string(make, "nearest_mode", resize->nearest_mode);
  tenon_make_pass_all(make, "cubic_coeff_a exclude_outside antialias extrapolation_value");
  tenon_make_add(make, resize->x);
  tenon_make_add(make, resize->sizes);
  tenon_make_add(make, resize->scales);
  tenon_make_add(make, resize->roi);
  tenon_make_end_outputs(make);
}

/* Extent `axis` of x, as a vector of one. */
static tenon_value_t extent(const resize_t* resize, uint32_t axis) {
  return tenon_make_extents(resize->make, resize->x, axis, (int64_t)axis + 1);
}

/* floor(extent scale) where the extent varies. Fractions stay integers, so that extents stay
 * symbolic. */
static tenon_value_t scaled_extent(const resize_t* resize, uint32_t axis, double scale) {
  tenon_make_t* make = resize->make;
  const tenon_value_t whole = extent(resize, axis);
  char text[TEXT_SIZE];
  for (int64_t below = 1; below <= FRACTION_LIMIT; ++below) {
    const double above = scale * (double)below;
    if (fabs(above - round(above)) < 1e-6 * (double)below && round(above) >= 1) {
      if (below == 1 && round(above) == 1) {
        return whole;
      }
      (void)snprintf(text, sizeof(text), "y = floor_div(a * %.0f, %.0f)", round(above),
                     (double)below);
      return tenon_make_math_1(make, text, whole);
    }
  }
  (void)snprintf(text, sizeof(text), "y = cast(floor(cast(a, f32) * %.17g), i64)", scale);
  return tenon_make_math_1(make, text, whole);
}

/* One extent of the result for each axis: known ones as constants. */
static void set_sizes(resize_t* resize, const double* scales, const double* lengths) {
  tenon_make_t* make = resize->make;
  tenon_value_t pieces[TENON_MAKE_LIST_LIMIT];
  int64_t known[TENON_MAKE_LIST_LIMIT];
  bool all_known = true;
  for (uint32_t i = 0; i < resize->rank; ++i) {
    const int64_t dim = tenon_make_dim(make, resize->x, i);
    const double scale = scales[i] * lengths[i];
    all_known = all_known && dim >= 0;
    known[i] = tenon_make_to_int64((double)floorf((float)dim * (float)scale));
  }
  if (all_known) {
    resize->sizes = tenon_make_int64s(make, known, resize->rank);
    return;
  }
  for (uint32_t i = 0; i < resize->rank; ++i) {
    const double scale = scales[i] * lengths[i];
    pieces[i] = tenon_make_dim(make, resize->x, i) >= 0 ? tenon_make_int64s(make, &known[i], 1)
                                                        : scaled_extent(resize, i, scale);
  }
  resize->sizes = tenon_make_concat(make, 0, resize->rank, pieces);
}

static tenon_value_t float_vector(tenon_make_t* make, const double* values, uint32_t count) {
  float narrow[2 * TENON_MAKE_LIST_LIMIT] = {0};
  const int64_t dims[1] = {count};
  for (uint32_t i = 0; i < count; ++i) {
    narrow[i] = (float)values[i];
  }
  return tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 1, dims, narrow);
}

/* Fills in the axes that a list says nothing of. */
static void spread(const resize_t* resize, const double* list, double otherwise, double* out) {
  for (uint32_t i = 0; i < resize->rank; ++i) {
    const int64_t k = entry_of(resize, i);
    out[i] = k < 0 ? otherwise : list[k];
  }
}

static void by_known_scales(resize_t* resize, const double* list, const double* lengths) {
  double scales[TENON_MAKE_LIST_LIMIT] = {0};
  spread(resize, list, 1, scales);
  for (uint32_t i = 0; i < resize->rank; ++i) {
    if (!(scales[i] > 0) || !(scales[i] < 1e9)) {
      tenon_make_fail(resize->make, TENON_ERROR_INVALID_DATA, "scale %u is %g", i, scales[i]);
      return;
    }
  }
  set_sizes(resize, scales, lengths);
  resize->scales = float_vector(resize->make, scales, resize->rank);
}

/* Scales that only the run knows: extents are found then. */
static void by_unknown_scales(resize_t* resize, tenon_value_t scales) {
  tenon_make_t* make = resize->make;
  tenon_value_t full = tenon_make_cast(make, scales, TENON_DTYPE_FLOAT32);
  if (resize->axis_count != resize->rank) {
    tenon_value_t pieces[TENON_MAKE_LIST_LIMIT];
    const double one = 1;
    for (uint32_t i = 0; i < resize->rank; ++i) {
      const int64_t k = entry_of(resize, i);
      pieces[i] = k < 0 ? float_vector(make, &one, 1) : tenon_make_slice(make, full, 0, k, k + 1);
    }
    full = tenon_make_concat(make, 0, resize->rank, pieces);
  }
  resize->scales = full;
  resize->sizes = tenon_make_math_2(make, "y = cast(floor(cast(a, f32) * b), i64)",
                                    tenon_make_shape(make, resize->x), full);
}

static void by_scales(resize_t* resize, tenon_value_t scales, const double* lengths) {
  double list[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  if (!tenon_make_known_floats(resize->make, scales, list, TENON_MAKE_LIST_LIMIT, &count)) {
    by_unknown_scales(resize, scales);
  } else if (count != resize->axis_count) {
    tenon_make_fail(resize->make, TENON_ERROR_INVALID_DATA, "%u scales for %u axes", count,
                    resize->axis_count);
  } else {
    by_known_scales(resize, list, lengths);
  }
}

/* One scale for all axes, so that nothing is larger (or smaller) than asked for. */
static void keep_aspect_ratio(resize_t* resize, tenon_value_t sizes, bool is_not_larger) {
  tenon_make_t* make = resize->make;
  int64_t wanted[TENON_MAKE_LIST_LIMIT];
  int64_t full[TENON_MAKE_LIST_LIMIT];
  double scales[TENON_MAKE_LIST_LIMIT] = {0};
  uint32_t count = 0;
  bool known = tenon_make_known_ints(make, sizes, wanted, TENON_MAKE_LIST_LIMIT, &count) &&
               count == resize->axis_count;
  double scale = 0;
  for (uint32_t k = 0; known && k < count; ++k) {
    const int64_t dim = tenon_make_dim(make, resize->x, (uint32_t)resize->axes[k]);
    const double one = (double)wanted[k] / (double)dim;
    known = dim > 0;
    scale = k == 0 || (is_not_larger ? one < scale : one > scale) ? one : scale;
  }
  for (uint32_t i = 0; i < resize->rank; ++i) {
    const int64_t dim = tenon_make_dim(make, resize->x, i);
    const bool changes = entry_of(resize, i) >= 0;
    known = known && dim >= 0;
    scales[i] = changes ? scale : 1;
    full[i] = changes ? tenon_make_to_int64(floor(scale * (double)dim + 0.5)) : dim;
  }
  if (!known) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "keeping the aspect ratio needs known extents and sizes");
    return;
  }
  resize->sizes = tenon_make_int64s(make, full, resize->rank);
  resize->scales = float_vector(make, scales, resize->rank);
}

static void by_sizes(resize_t* resize, tenon_value_t sizes) {
  tenon_make_t* make = resize->make;
  const char* policy = tenon_make_get_string(make, "keep_aspect_ratio_policy", "stretch");
  if (strcmp(policy, "stretch") != 0) {
    keep_aspect_ratio(resize, sizes, strcmp(policy, "not_larger") == 0);
    return;
  }
  resize->sizes = tenon_make_cast(make, sizes, TENON_DTYPE_INT64);
  if (!tenon_make_has(make, "axes")) {
    return;
  }
  tenon_value_t pieces[TENON_MAKE_LIST_LIMIT];
  for (uint32_t i = 0; i < resize->rank; ++i) {
    const int64_t k = entry_of(resize, i);
    pieces[i] = k < 0 ? extent(resize, i) : tenon_make_slice(make, resize->sizes, 0, k, k + 1);
  }
  resize->sizes = tenon_make_concat(make, 0, resize->rank, pieces);
}

/* The region to crop, for all axes; its lengths scale the result's extents. */
static void set_roi(resize_t* resize, tenon_value_t roi, double* out_lengths) {
  tenon_make_t* make = resize->make;
  double list[2 * TENON_MAKE_LIST_LIMIT] = {0};
  double full[2 * TENON_MAKE_LIST_LIMIT] = {0};
  uint32_t count = 0;
  if (!tenon_make_known_floats(make, roi, list, 2 * TENON_MAKE_LIST_LIMIT, &count)) {
    if (resize->axis_count != resize->rank) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "a roi for some axes must be constant");
    }
    resize->roi = tenon_make_cast(make, roi, TENON_DTYPE_FLOAT32);
    return;
  }
  if (count != 2 * resize->axis_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "roi has %u entries for %u axes", count,
                    resize->axis_count);
    return;
  }
  spread(resize, list, 0, full);
  spread(resize, list + resize->axis_count, 1, full + resize->rank);
  for (uint32_t i = 0; i < resize->rank; ++i) {
    out_lengths[i] = full[resize->rank + i] - full[i];
  }
  resize->roi = float_vector(make, full, 2 * resize->rank);
}

/* An input that is there and not empty, as old files leave inputs out. */
static tenon_value_t filled_input(tenon_make_t* make, uint32_t index) {
  const tenon_value_t value = tenon_make_input(make, index);
  const bool is_empty = tenon_make_present(value) && tenon_make_rank(make, value) == 1 &&
                        tenon_make_dim(make, value, 0) == 0;
  return is_empty ? (tenon_value_t){0} : value;
}

static void ones(double* out_values) {
  for (uint32_t i = 0; i < TENON_MAKE_LIST_LIMIT; ++i) {
    out_values[i] = 1;
  }
}

void tenon__onnx_resize(tenon_make_t* make) {
  double lengths[TENON_MAKE_LIST_LIMIT];
  ones(lengths);
  resize_t resize = begin(make);
  resize.coordinate_mode =
      tenon_make_get_string(make, "coordinate_transformation_mode", "half_pixel");
  resize.nearest_mode = tenon_make_get_string(make, "nearest_mode", "round_prefer_floor");
  if (strcmp(resize.coordinate_mode, "tf_half_pixel_for_nn") == 0) {
    resize.coordinate_mode = "pixel_center";
  }
  const tenon_value_t roi = filled_input(make, 1);
  const tenon_value_t scales = filled_input(make, 2);
  const tenon_value_t sizes = filled_input(make, 3);
  if (strcmp(resize.coordinate_mode, "tf_crop_and_resize") == 0 && tenon_make_present(roi)) {
    set_roi(&resize, roi, lengths);
  }
  if (tenon_make_present(scales)) {
    by_scales(&resize, scales, lengths);
  } else if (tenon_make_present(sizes)) {
    by_sizes(&resize, sizes);
  } else {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "neither scales nor sizes are given");
  }
  finish(&resize);
}

void tenon__onnx_resize_10(tenon_make_t* make) {
  double lengths[TENON_MAKE_LIST_LIMIT];
  ones(lengths);
  resize_t resize = begin(make);
  resize.coordinate_mode = "asymmetric";
  resize.nearest_mode = "floor";
  by_scales(&resize, tenon_make_input(make, 1), lengths);
  finish(&resize);
}

void tenon__onnx_upsample(tenon_make_t* make) {
  double lengths[TENON_MAKE_LIST_LIMIT];
  double list[TENON_MAKE_LIST_LIMIT] = {0};
  const double* scales = NULL;
  size_t count = 0;
  ones(lengths);
  resize_t resize = begin(make);
  resize.coordinate_mode = "asymmetric";
  resize.nearest_mode = "floor";
  if (tenon_make_has(make, "scales")) {
    const tenon_status_t status = make->table->get_floats(make->source, "scales", &scales, &count);
    if (status != TENON_OK || count != resize.rank) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu scales for rank %u", count, resize.rank);
      return;
    }
    memcpy(list, scales, count * sizeof(*scales));
  } else { /* opset 1 */
    if (resize.rank != 4) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its input has rank %u, not 4", resize.rank);
      return;
    }
    list[0] = 1;
    list[1] = 1;
    list[2] = tenon_make_get_float(make, "height_scale", 0);
    list[3] = tenon_make_get_float(make, "width_scale", 0);
  }
  by_known_scales(&resize, list, lengths);
  finish(&resize);
}
