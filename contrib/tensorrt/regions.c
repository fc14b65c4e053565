/* Regions of interest. */
#include <float.h>
#include <math.h>

#include "families.h"
#include "steps.h"

static const char map_form[] = "[batch, channels, height, width]";

static void roi_align(tenon_make_t* make) {
  const tenon_value_t x = tensorrt_input(make, 0, "x", 4, map_form);
  const tenon_value_t rois = tensorrt_input(make, 1, "rois", 2, "[regions, 4]");
  const tenon_value_t images = tensorrt_input(make, 2, "batch_indices", 1, "[regions]");
  const bool is_half = tensorrt_flag(make, "coordinate_transformation_mode", true);
  const bool is_mean = tensorrt_flag(make, "mode", true);
  const int64_t height = tensorrt_int(make, "output_height", 1, 1, 1 << 12);
  const int64_t width = tensorrt_int(make, "output_width", 1, 1, 1 << 12);
  const int64_t ratio = tensorrt_int(make, "sampling_ratio", 0, 0, 1 << 12);
  const double scale = tensorrt_float(make, "spatial_scale", 1, FLT_MIN, FLT_MAX);
  const tenon_value_t corners = tenon_make_cast(make, rois, tenon_make_dtype(make, x));
  tenon_make_begin(make, "roi_align");
  tenon_make_set_string(make, "mode", is_mean ? "avg" : "max");
  tenon_make_set_string(make, "coordinate_mode", is_half ? "half_pixel" : "output_half_pixel");
  tenon_make_set_int(make, "output_height", height);
  tenon_make_set_int(make, "output_width", width);
  tenon_make_set_int(make, "sampling_ratio", ratio);
  tenon_make_set_float(make, "spatial_scale", scale);
  tenon_make_add(make, x);
  tenon_make_add(make, corners);
  tenon_make_add(make, images);
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* ---- Pyramids ---- */

/* Begins tensorrt.pooled_regions/1. */
static void begin_pooled(tenon_make_t* make, const char* mode, int64_t bins, int64_t height,
                         int64_t width, double first_area) {
  tenon_make_begin(make, "tensorrt.pooled_regions/1");
  tenon_make_set_string(make, "mode", mode);
  tenon_make_set_int(make, "height", bins);
  tenon_make_set_int(make, "width", bins);
  tenon_make_set_int(make, "image_height", height);
  tenon_make_set_int(make, "image_width", width);
  tenon_make_set_float(make, "first_area", first_area);
}

typedef struct maps_t {
  tenon_value_t values[6]; /* the regions, then maps */
  uint32_t count;
} maps_t;

static maps_t pyramid(tenon_make_t* make, uint32_t count) {
  maps_t maps = {.count = count};
  maps.values[0] = tensorrt_wide(make, tensorrt_input(make, 0, "rois", 3, "[batch, regions, 4]"));
  for (uint32_t k = 1; k <= count; ++k) {
    maps.values[k] = tensorrt_wide(make, tensorrt_input(make, k, "feature_map", 4, map_form));
  }
  if (tenon_make_ok(make) && make->input_count != count + 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "there are %u inputs, not the regions and %u maps", make->input_count, count);
  }
  return maps;
}

static void finish_pooled(tenon_make_t* make, const maps_t* maps) {
  for (uint32_t k = 0; k <= maps->count; ++k) {
    tenon_make_add(make, maps->values[k]);
  }
  tensorrt_output_like(make, 0, tenon_make_end(make), tenon_make_input(make, 1));
}

static void pyramid_roi_align(tenon_make_t* make) {
  size_t count = 0;
  const int64_t usual[2] = {1024, 1024};
  const int64_t* image = tenon_make_has(make, "image_size")
                             ? tensorrt_ints(make, "image_size", 2, 2, 1, &count)
                             : usual;
  const int64_t bins = tensorrt_int(make, "pooled_size", 7, 1, 1 << 12);
  const bool is_legacy = tensorrt_flag(make, "legacy", false);
  const int64_t fpn_scale = tensorrt_int(make, "fpn_scale", 224, 1, TENSORRT_COUNT_MAX);
  int64_t transform = tensorrt_int(make, "roi_coords_transform", 2, -1, 2);
  int64_t ratio = tensorrt_int(make, "sampling_ratio", 0, 0, 1 << 12);
  bool is_absolute = tensorrt_flag(make, "roi_coords_absolute", true);
  bool is_swapped = tensorrt_flag(make, "roi_coords_swap", false);
  bool has_one_more = tensorrt_flag(make, "roi_coords_plusone", false);
  image = image == NULL ? usual : image;
  double area = (double)fpn_scale * (double)fpn_scale / (double)image[0] / (double)image[1] / 4;
  if (is_legacy) { /* the first version of the plugin, for images of 1024 x 1024 pixels */
    transform = -1;
    ratio = 1;
    is_absolute = has_one_more = false;
    is_swapped = true;
    area = 224.0 * 224 * 2 / (1024.0 * 1024) / 16;
  }
  if (transform == -1 && bins == 1) {
    tensorrt_refuse(make, "pooled_size", "roi_coords_transform -1 and legacy need at least 2");
  }
  const maps_t maps = pyramid(make, 4);
  begin_pooled(make, "pyramid", bins, image[0], image[1], area);
  tenon_make_set_int(make, "transform", transform);
  tenon_make_set_int(make, "sampling_ratio", ratio);
  tenon_make_set_int(make, "absolute", is_absolute);
  tenon_make_set_int(make, "swap", is_swapped);
  tenon_make_set_int(make, "plus_one", has_one_more);
  finish_pooled(make, &maps);
}

static void multilevel_crop_and_resize(tenon_make_t* make) {
  size_t count = 0;
  const int64_t usual[3] = {3, 832, 1344};
  const int64_t* image = tenon_make_has(make, "image_size")
                             ? tensorrt_ints(make, "image_size", 3, 3, 1, &count)
                             : usual;
  tensorrt_require(make, "pooled_size");
  const int64_t bins = tensorrt_int(make, "pooled_size", 7, 1, 1 << 12);
  const maps_t maps = pyramid(make, 5);
  image = image == NULL ? usual : image;
  begin_pooled(make, "multilevel", bins, image[1], image[2], 224.0 * 224 / 4);
  finish_pooled(make, &maps);
}

/* ---- Crops ---- */

/* Coordinates of one axis of each crop [batch, regions, count], in pixels: y (0) or x (1). `last` is
 * the largest coordinate, f32 [1]. */
static tenon_value_t crop_places(tenon_make_t* make, tenon_value_t rois, int64_t axis,
                                 tenon_value_t last, int64_t count) {
  double* steps = tenon_make_memory(make, (size_t)count + 1, sizeof(*steps));
  for (int64_t k = 0; steps != NULL && k < count; ++k) {
    steps[k] = count > 1 ? (double)k : 0.5;
  }
  if (steps == NULL) {
    return tensorrt_absent();
  }
  const tenon_value_t operands[4] = {tenon_make_slice(make, rois, 2, axis, axis + 1),
                                     tenon_make_slice(make, rois, 2, axis + 2, axis + 3), last,
                                     tensorrt_numbers(make, steps, (size_t)count)};
  return tenon_make_print_math(make, 4, operands, "y = a * c + d * ((b - a) * c / %lld.0)",
                               (long long)(count > 1 ? count - 1 : 1));
}

/*
 * Crops with the coordinates of TensorFlow's crop_and_resize: corners are aligned, and points outside
 * of the image are 0. All crops of an image are read as one grid of (regions x height) x width points.
 */
static void crop_and_resize(tenon_make_t* make) {
  static const int64_t order[5] = {0, 2, 1, 3, 4};
  const tenon_value_t x = tensorrt_input(make, 0, "feature_maps", 4, map_form);
  const tenon_value_t given = tensorrt_input(make, 1, "rois", 4, "[batch, regions, 4, 1]");
  tensorrt_require(make, "crop_height");
  tensorrt_require(make, "crop_width");
  const int64_t sizes[2] = {tensorrt_int(make, "crop_height", 1, 1, 1 << 12),
                            tensorrt_int(make, "crop_width", 1, 1, 1 << 12)};
  const int64_t roi_dims[3] = {0, -1, 4};
  const tenon_value_t rois = tenon_make_reshape(make, tensorrt_wide(make, given), roi_dims, 3);
  const tenon_value_t shape_parts[2] = {tenon_make_extents(make, rois, 0, 2),
                                        tenon_make_int64s(make, sizes, 2)};
  const tenon_value_t shape = tenon_make_concat(make, 0, 2, shape_parts);
  tenon_value_t places[2];
  tenon_value_t lasts[2];
  tenon_value_t grids[2];
  for (int64_t k = 0; k < 2; ++k) { /* y, then x */
    const tenon_value_t extent = tenon_make_extents(make, x, 2 + k, 3 + k);
    lasts[k] = tenon_make_math_1(make, "y = cast(a - 1, f32)", extent);
    const tenon_value_t along = crop_places(make, rois, k, lasts[k], sizes[k]);
    places[k] = tenon_make_2(make, "broadcast_to", tensorrt_axis(make, along, 3 - k), shape);
    const int64_t flat[4] = {0, -1, sizes[1], 1};
    grids[1 - k] = tenon_make_reshape(
        make, tenon_make_math_2(make, "y = 2.0 * a / max(b, 1.0) - 1.0", places[k], lasts[k]), flat,
        4);
  }
  const tenon_value_t grid = tenon_make_concat(make, 3, 2, grids);
  const tenon_value_t wide = tensorrt_wide(make, x);
  tenon_make_begin(make, "grid_sample");
  tenon_make_set_string(make, "padding_mode", "border");
  tenon_make_set_int(make, "align_corners", 1);
  tenon_make_add(make, wide);
  tenon_make_add(make, grid);
  const int64_t crop_dims[5] = {0, 0, -1, sizes[0], sizes[1]};
  const tenon_value_t crops = tenon_make_permute(
      make, tenon_make_reshape(make, tenon_make_end(make), crop_dims, 5), order, 5);
  const tenon_value_t operands[5] = {crops, tensorrt_axis(make, places[0], 2),
                                     tensorrt_axis(make, places[1], 2), lasts[0], lasts[1]};
  tensorrt_output_like(
      make, 0,
      tenon_make_math(make, "y = b >= 0 && b <= d && c >= 0 && c <= e ? a : 0.0", 5, operands), x);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("CropAndResize", crop_and_resize, "1", NULL),
    TENSORRT_ROW("CropAndResizeDynamic", crop_and_resize, "1 2", NULL),
    TENSORRT_ROW("MultilevelCropAndResize_TRT", multilevel_crop_and_resize, "1", NULL),
    TENSORRT_ROW("PyramidROIAlign_TRT", pyramid_roi_align, "1", NULL),
    TENSORRT_ROW("ROIAlign_TRT", roi_align, "1 2", NULL),
};
TENSORRT_FAMILY(regions);
