/* Reading at fractional coordinates, and regions of interest. Resize is in resize.c. */
#include <string.h>

#include "families.h"
#include "resize.h"

static void grid_sample(tenon_make_t* make) {
  const char* mode = tenon_make_get_string(make, "mode", "linear");
  mode = strcmp(mode, "bilinear") == 0 ? "linear" : strcmp(mode, "bicubic") == 0 ? "cubic" : mode;
  tenon_make_begin(make, "grid_sample");
  tenon_make_set_string(make, "mode", mode);
  tenon_make_pass_all(make, "padding_mode align_corners");
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

static void affine_grid(tenon_make_t* make) {
  const tenon_value_t dims = tenon_make_cast(make, tenon_make_input(make, 1), TENON_DTYPE_INT64);
  tenon_make_begin(make, "affine_grid");
  tenon_make_pass_all(make, "align_corners");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, dims);
  tenon_make_end_outputs(make);
}

/* Before opset 16 coordinates had no half pixel. */
static void roi_align(tenon_make_t* make) {
  tenon_make_begin(make, "roi_align");
  tenon_make_pass_all(make, "mode output_height output_width sampling_ratio spatial_scale");
  if (tenon_make_version(make) < 16) {
    tenon_make_set_string(make, "coordinate_mode", "output_half_pixel");
  } else {
    tenon_make_pass_all(make, "coordinate_transformation_mode>coordinate_mode");
  }
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

#define ROW(type, since, until, function, op, attributes) \
  TENON__ONNX_ROW("", type, since, until, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("AffineGrid", 20, 0, affine_grid, NULL, NULL),
    ROW("GridSample", 16, 0, grid_sample, NULL, NULL),
    ROW("MaxRoiPool", 1, 0, tenon_make_same, "max_roi_pool", "pooled_shape spatial_scale"),
    ROW("NonMaxSuppression", 10, 0, tenon_make_same, "non_max_suppression", "center_point_box"),
    ROW("Resize", 10, 11, tenon__onnx_resize_10, NULL, NULL),
    ROW("Resize", 11, 0, tenon__onnx_resize, NULL, NULL),
    ROW("RoiAlign", 10, 0, roi_align, NULL, NULL),
    ROW("Upsample", 1, 9, tenon__onnx_upsample, NULL, NULL),
    ROW("Upsample", 9, 0, tenon__onnx_resize_10, NULL, NULL),
};
TENON__ONNX_FAMILY(sampling);
