/* Pictures of other sizes, and boxes that no better one overlaps. */
#include <string.h>

#include "families.h"

/* ---- Resizing: images [N, H, W, C], and the new height and width ---- */

static tenon_value_t sizes_of(tenon_make_t* make, tenon_value_t x) {
  const tenon_value_t parts[2] = {tenon_make_extents(make, x, 0, 2), tenon__uff_operand(make, 1)};
  return tenon_make_concat(make, 0, 2, parts);
}

/* Where an element of the result lies: older graphs count from the corners, newer ones from the
 * pixels' centers. */
static const char* coordinates(tenon_make_t* make, bool is_nearest) {
  const bool is_aligned = tenon_make_get_int(make, "align_corners", 0) != 0;
  const bool is_centered = tenon_make_get_int(make, "half_pixel_centers", 0) != 0;
  return is_aligned    ? "align_corners"
         : is_centered ? is_nearest ? "pixel_center" : "half_pixel"
                       : "asymmetric";
}

static void resize(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 2)) {
    return;
  }
  const bool is_nearest = strcmp(make->row->op, "nearest") == 0;
  const char* mode = coordinates(make, is_nearest);
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  const tenon__uff_layout_t layout = tenon__uff_layout(make, NULL, 0, "NHWC", rank);
  if (!tenon_make_ok(make)) {
    return;
  }
  tenon_value_t x = tenon__uff_channels_first(make, &layout, tenon_make_input(make, 0));
  if (!is_nearest) { /* the result is of singles, whatever the picture is */
    x = tenon_make_cast(make, x, TENON_DTYPE_FLOAT32);
  }
  const tenon_value_t sizes = sizes_of(make, x);
  tenon_make_begin(make, "resize");
  tenon_make_set_string(make, "mode", make->row->op);
  tenon_make_set_string(make, "coordinate_mode", mode);
  if (is_nearest) {
    tenon_make_set_string(make, "nearest_mode",
                          strcmp(mode, "align_corners") == 0 ? "round_prefer_ceil" : "floor");
  }
  tenon_make_add(make, x);
  tenon_make_add(make, sizes);
  tenon_make_output(make, 0, tenon__uff_channels_back(make, &layout, tenon_make_end(make)));
}

/* ---- Boxes ---- */

static tenon_value_t threshold(tenon_make_t* make, uint32_t index) {
  const tenon_value_t value = tenon_make_input(make, index);
  return tenon_make_present(value) ? tenon_make_cast(make, value, TENON_DTYPE_FLOAT32) : value;
}

/* The indices of the boxes that stay, best first: i64 [found]. */
static tenon_value_t suppress(tenon_make_t* make) {
  static const int64_t batch[1] = {0};
  static const int64_t batch_and_class[2] = {0, 1};
  static const int64_t flat[1] = {-1};
  const bool is_first = strcmp(make->row->converter.type, "NonMaxSuppression") == 0;
  const tenon_value_t boxes = tenon_make_unsqueeze(
      make, tenon_make_cast(make, tenon_make_input(make, 0), TENON_DTYPE_FLOAT32), batch, 1);
  const tenon_value_t scores = tenon_make_unsqueeze(
      make, tenon_make_cast(make, tenon_make_input(make, 1), TENON_DTYPE_FLOAT32), batch_and_class,
      2);
  const tenon_value_t limit = tenon__uff_operand(make, 2);
  const tenon_value_t overlap =
      is_first ? tenon_make_number(make, TENON_DTYPE_FLOAT32,
                                   tenon_make_get_float(make, "iou_threshold", 0.5))
               : threshold(make, 3);
  const tenon_value_t least = threshold(make, 4);
  tenon_make_begin(make, "non_max_suppression");
  tenon_make_add(make, boxes);
  tenon_make_add(make, scores);
  tenon_make_add(make, limit);
  tenon_make_add(make, overlap);
  if (tenon_make_present(least)) {
    tenon_make_add(make, least);
  }
  const tenon_value_t found = tenon_make_end(make);
  return tenon_make_reshape(make, tenon_make_slice(make, found, 1, 2, 3), flat, 1);
}

/* With zeros behind, as many as there may be. */
static tenon_value_t fill_up(tenon_make_t* make, tenon_value_t value, tenon_value_t count) {
  if (tenon_make_get_int(make, "pad_to_max_output_size", 0) == 0) {
    return value;
  }
  static const int64_t one[1] = {1};
  const int64_t zero = 0;
  const tenon_value_t limit = tenon_make_reshape(make, tenon__uff_operand(make, 2), one, 1);
  const tenon_value_t pads[2] = {tenon_make_int64s(make, &zero, 1),
                                 tenon_make_2(make, "sub", limit, count)};
  return tenon_make_2(make, "pad", value, tenon_make_concat(make, 0, 2, pads));
}

/* The indices, perhaps their scores, how many there are. */
static void non_max_suppression(tenon_make_t* make) {
  const bool has_scores = strcmp(make->row->converter.type, "NonMaxSuppressionV5") == 0;
  int64_t dims[1] = {1};
  double sigma = 0;
  uint32_t count = 0;
  if (!tenon__uff_needs(make, 3)) {
    return;
  }
  if (has_scores && (!tenon_make_known_floats(make, tenon_make_input(make, 5), &sigma, 1, &count) ||
                     sigma != 0)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "its soft_nms_sigma is not a constant 0: soft suppression is not converted");
    return;
  }
  const tenon_value_t found = suppress(make);
  const tenon_value_t number = tenon_make_shape(make, found);
  const tenon_value_t indices = tenon_make_cast(make, found, TENON_DTYPE_INT32);
  tenon_make_output(make, 0, fill_up(make, indices, number));
  if (make->output_count < 2) {
    return;
  }
  const tenon_value_t valid =
      tenon_make_cast(make, tenon_make_squeeze(make, tenon_make_reshape(make, number, dims, 1), 0),
                      TENON_DTYPE_INT32);
  if (has_scores) {
    const tenon_value_t scores = tenon_make_2(make, "gather", tenon_make_input(make, 1), found);
    tenon_make_output(make, 1, fill_up(make, scores, number));
  }
  tenon_make_output(make, has_scores ? 2 : 1, valid);
}

#define TF(type, function, op) TENON__UFF_TF_ROW(type, function, op, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TF("NonMaxSuppression", non_max_suppression, NULL),
    TF("NonMaxSuppressionV2", non_max_suppression, NULL),
    TF("NonMaxSuppressionV3", non_max_suppression, NULL),
    TF("NonMaxSuppressionV4", non_max_suppression, NULL),
    TF("NonMaxSuppressionV5", non_max_suppression, NULL),
    TF("ResizeBilinear", resize, "linear"),
    TF("ResizeNearestNeighbor", resize, "nearest"),
};
TENON__UFF_FAMILY(sampling);
