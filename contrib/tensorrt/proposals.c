/* Region proposals of Faster R-CNN. */
#include <float.h>
#include <math.h>

#include "families.h"
#include "selection.h"
#include "steps.h"

enum { ANCHORS_MAX = 256 };

/* ---- Anchors at each place of a feature map ---- */

typedef struct anchors_t {
  double widths[ANCHORS_MAX];
  double heights[ANCHORS_MAX];
  size_t count;
  int64_t stride;
  double first; /* centre of the first place */
} anchors_t;

/* A constant [count, 1, 1, 1]. */
static tenon_value_t of_anchors(tenon_make_t* make, const double* values, size_t count) {
  const int64_t dims[4] = {-1, 1, 1, 1};
  return tenon_make_reshape(make, tensorrt_numbers(make, values, count), dims, 4);
}

/*
 * Low and high coordinate of the boxes along an axis: x (0) or y (1), cut at `last`. The deltas are
 * [N, A, 4, H, W], `last` broadcasts with them.
 */
static void box_edges(tenon_make_t* make, const anchors_t* anchors, tenon_value_t deltas, int axis,
                      tenon_value_t last, tenon_value_t out_edges[2]) {
  const tenon_value_t operands[4] = {
      tenon_make_slice(make, deltas, 2, axis, axis + 1),
      tenon_make_slice(make, deltas, 2, axis + 2, axis + 3),
      of_anchors(make, axis == 0 ? anchors->widths : anchors->heights, anchors->count), last};
  for (int high = 0; high < 2; ++high) {
    out_edges[high] = tenon_make_print_math(make, 4, operands,
                                            "let m = cast(index(%d) * %lld, f32) + %.17g + a * c;"
                                            "y = max(min(m %c exp(b) * c * 0.5, d), 0)",
                                            4 - axis, (long long)anchors->stride, anchors->first,
                                            high ? '+' : '-');
  }
}

typedef struct proposals_t {
  tenon_value_t boxes;  /* [N, A H W, 4], x1, y1, x2, y2 */
  tenon_value_t scores; /* [N, A H W, 1], -inf for small ones */
} proposals_t;

/* `keeps` is true for boxes that are large enough: an expression of their extents a and b. */
static proposals_t decode_anchors(tenon_make_t* make, const anchors_t* anchors,
                                  tenon_value_t scores, const tenon_value_t lasts[2],
                                  const char* keeps, tenon_value_t least) {
  static const int64_t order[5] = {0, 1, 3, 4, 2};
  static const int64_t flat_boxes[3] = {0, -1, 4};
  static const int64_t flat_scores[3] = {0, -1, 1};
  const tenon_value_t given = tensorrt_wide(
      make, tensorrt_input(make, 1, "deltas", 4, "[batch, 4 * anchors, height, width]"));
  const int64_t kinds[2] = {(int64_t)anchors->count, 4};
  const tenon_value_t dims[3] = {tenon_make_extents(make, given, 0, 1),
                                 tenon_make_int64s(make, kinds, 2),
                                 tenon_make_extents(make, given, 2, 4)};
  const tenon_value_t deltas =
      tenon_make_2(make, "reshape", given, tenon_make_concat(make, 0, 3, dims));
  tenon_value_t edges[2][2];
  for (int axis = 0; axis < 2; ++axis) {
    box_edges(make, anchors, deltas, axis, lasts[axis], edges[axis]);
  }
  const tenon_value_t corners[4] = {edges[0][0], edges[1][0], edges[0][1], edges[1][1]};
  const tenon_value_t boxes = tenon_make_concat(make, 2, 4, corners);
  const tenon_value_t operands[4] = {tenon_make_2(make, "sub", edges[0][1], edges[0][0]),
                                     tenon_make_2(make, "sub", edges[1][1], edges[1][0]),
                                     tensorrt_axis(make, tensorrt_wide(make, scores), 2), least};
  const tenon_value_t kept = tenon_make_print_math(make, 4, operands, "y = %s ? c : -inf", keeps);
  return (proposals_t){
      tenon_make_reshape(make, tenon_make_permute(make, boxes, order, 5), flat_boxes, 3),
      tenon_make_reshape(make, kept, flat_scores, 3)};
}

/* The proposals of each image, as Faster R-CNN selects them: extents of boxes have a pixel more. */
static tensorrt_selected_t propose(tenon_make_t* make, const proposals_t* from, int64_t top,
                                   int64_t keep, double iou_threshold) {
  const tensorrt_choice_t choice = {.keep = keep,
                                    .top = top,
                                    .keep_of_class = -1,
                                    .background = -1,
                                    .pixels = 2,
                                    .score_threshold = -(double)INFINITY,
                                    .iou_threshold = iou_threshold};
  return tensorrt_select(make, from->boxes, from->scores, &choice);
}

static void check_anchors(tenon_make_t* make, tenon_value_t scores, int64_t each,
                          const anchors_t* anchors) {
  const int64_t channels = tensorrt_known(make, scores, 1, "scores");
  if (tenon_make_ok(make) && channels != each * (int64_t)anchors->count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "scores have %lld channels: %zu anchors need %lld", (long long)channels,
                    anchors->count, (long long)each * (long long)anchors->count);
  }
}

static void proposal(tenon_make_t* make) {
  static const char* const needed[] = {"input_height", "input_width", "rpn_stride", "pre_nms_top_n",
                                       "post_nms_top_n"};
  anchors_t* anchors = tenon_make_memory(make, 1, sizeof(*anchors));
  size_t sizes = 0;
  size_t ratios = 0;
  for (size_t k = 0; k < sizeof(needed) / sizeof(needed[0]); ++k) {
    tensorrt_require(make, needed[k]);
  }
  const tenon_value_t scores =
      tensorrt_input(make, 0, "scores", 4, "[batch, anchors, height, width]");
  const double* size = tensorrt_floats(make, "anchor_sizes", 1, ANCHORS_MAX, FLT_MIN, &sizes);
  const double* ratio = tensorrt_floats(make, "anchor_ratios", 1, ANCHORS_MAX, FLT_MIN, &ratios);
  const double height = (double)tensorrt_int(make, "input_height", 2, 2, TENSORRT_COUNT_MAX);
  const double width = (double)tensorrt_int(make, "input_width", 2, 2, TENSORRT_COUNT_MAX);
  const double least = tensorrt_float(make, "roi_min_size", 1, 0, FLT_MAX);
  const double iou_threshold = tensorrt_float(make, "nms_iou_threshold", 0.7, 0, 1);
  const int64_t top = tensorrt_int(make, "pre_nms_top_n", 1, 1, TENSORRT_COUNT_MAX);
  const int64_t keep = tensorrt_int(make, "post_nms_top_n", 1, 1, TENSORRT_COUNT_MAX);
  if (tenon_make_ok(make) && sizes * ratios > ANCHORS_MAX) {
    tensorrt_refuse(make, "anchor_sizes", "there are more than 256 anchors");
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  anchors->stride = tensorrt_int(make, "rpn_stride", 16, 1, 1 << 16);
  anchors->first = 0.5 * (double)anchors->stride;
  for (; anchors->count < sizes * ratios; ++anchors->count) {
    anchors->widths[anchors->count] =
        size[anchors->count / ratios] * ratio[anchors->count % ratios];
    anchors->heights[anchors->count] =
        size[anchors->count / ratios] / ratio[anchors->count % ratios];
  }
  check_anchors(make, scores, 1, anchors);
  const double ends[2] = {width - 1, height - 1};
  const tenon_value_t lasts[2] = {tensorrt_numbers(make, ends, 1),
                                  tensorrt_numbers(make, ends + 1, 1)};
  const proposals_t from = decode_anchors(make, anchors, scores, lasts, "a > d && b > d",
                                          tensorrt_numbers(make, &least, 1));
  const tensorrt_selected_t selected = propose(make, &from, top, keep, iou_threshold);
  static const int64_t order[4] = {1, 0, 3, 2};
  const double extents[4] = {ends[1], ends[0], ends[1], ends[0]};
  const tenon_value_t corners =
      tenon_make_gather(make, selected.box, tenon_make_int64s(make, order, 4), 2);
  tensorrt_output_like(
      make, 0,
      tensorrt_axis(make, tenon_make_2(make, "div", corners, tensorrt_numbers(make, extents, 4)),
                    3),
      scores);
}

/* Rows of regions with the number of their image before them. */
static tenon_value_t with_images(tenon_make_t* make, const tensorrt_selected_t* selected) {
  static const int64_t rows[2] = {-1, 5};
  const tenon_value_t parts[2] = {
      tensorrt_axis(
          make,
          tenon_make_math_1(make, "y = cast(index(0) + cast(0 * a, i64), f32)", selected->label),
          2),
      selected->box};
  return tenon_make_reshape(make, tenon_make_concat(make, 2, 2, parts), rows, 2);
}

static anchors_t* rproi_anchors(tenon_make_t* make) {
  anchors_t* anchors = tenon_make_memory(make, 1, sizeof(*anchors));
  size_t ratios = 0;
  size_t scales = 0;
  const double* ratio = tensorrt_floats(make, "anchorsRatios", 1, 64, FLT_MIN, &ratios);
  const double* scale = tensorrt_floats(make, "anchorsScales", 1, 64, FLT_MIN, &scales);
  const int64_t counts[2] = {
      tensorrt_int(make, "anchorsRatioCount", (int64_t)ratios, 1, ANCHORS_MAX),
      tensorrt_int(make, "anchorsScaleCount", (int64_t)scales, 1, ANCHORS_MAX)};
  tensorrt_require(make, "featureStride");
  const int64_t stride = tensorrt_int(make, "featureStride", 16, 1, 1 << 16);
  if (tenon_make_ok(make) && counts[0] != (int64_t)ratios) {
    tensorrt_refuse(make, "anchorsRatioCount", "anchorsRatios has another count");
  }
  if (tenon_make_ok(make) && counts[1] != (int64_t)scales) {
    tensorrt_refuse(make, "anchorsScaleCount", "anchorsScales has another count");
  }
  if (tenon_make_ok(make) && ratios * scales > ANCHORS_MAX) {
    tensorrt_refuse(make, "anchorsScales", "there are more than 256 anchors");
  }
  if (!tenon_make_ok(make)) {
    return NULL;
  }
  anchors->stride = stride;
  anchors->first = ((double)stride - 1) / 2;
  for (size_t k = 0; k < ratios * scales; ++k) {
    const double width = round(sqrt((double)(stride * stride) / ratio[k / scales]));
    anchors->widths[k] = width * scale[k % scales];
    anchors->heights[k] = round(width * ratio[k / scales]) * scale[k % scales];
    anchors->count = k + 1;
  }
  return anchors;
}

/* [N, 1, 1, 1, 1]: a number about each image. */
static tenon_value_t image_number(tenon_make_t* make, tenon_value_t info, int64_t index) {
  static const int64_t dims[5] = {-1, 1, 1, 1, 1};
  return tenon_make_reshape(make, tenon_make_slice(make, info, 1, index, index + 1), dims, 5);
}

static void rproi(tenon_make_t* make) {
  static const char* const needed[] = {"poolingH", "poolingW", "nmsMaxOut", "preNmsTop",
                                       "spatialScale"};
  static const char form[] = "[batch, channels, height, width]";
  const tenon_value_t scores = tensorrt_input(make, 0, "scores", 4, form);
  const tenon_value_t map = tensorrt_input(make, 2, "feature map", 4, form);
  const tenon_value_t info =
      tensorrt_wide(make, tensorrt_input(make, 3, "image info", 2, "[batch, 3]"));
  for (size_t k = 0; k < sizeof(needed) / sizeof(needed[0]); ++k) {
    tensorrt_require(make, needed[k]);
  }
  const int64_t pooled[2] = {tensorrt_int(make, "poolingH", 1, 1, 1 << 12),
                             tensorrt_int(make, "poolingW", 1, 1, 1 << 12)};
  const int64_t top = tensorrt_int(make, "preNmsTop", 6000, 1, TENSORRT_COUNT_MAX);
  const int64_t keep = tensorrt_int(make, "nmsMaxOut", 300, 1, TENSORRT_COUNT_MAX);
  const double iou_threshold = tensorrt_float(make, "iouThreshold", 0.7, 0, 1);
  const double least = tensorrt_float(make, "minBoxSize", 16, 0, FLT_MAX);
  const double scale = tensorrt_float(make, "spatialScale", 1, FLT_MIN, FLT_MAX);
  const anchors_t* anchors = rproi_anchors(make);
  const int64_t channels = tensorrt_known(make, map, 1, "the feature map");
  if (anchors == NULL || !tenon_make_ok(make)) {
    return;
  }
  check_anchors(make, scores, 2, anchors);
  const int64_t count = (int64_t)anchors->count;
  const tenon_value_t objects = tenon_make_slice(make, scores, 1, count, 2 * count);
  const tenon_value_t height = image_number(make, info, 0);
  const tenon_value_t width = image_number(make, info, 1);
  const tenon_value_t lasts[2] = {tenon_make_math_1(make, "y = a - 1", width),
                                  tenon_make_math_1(make, "y = a - 1", height)};
  const tenon_value_t resize = image_number(make, info, 2);
  const tenon_value_t smallest = tenon_make_print_math(make, 1, &resize, "y = a * (%.17g)", least);
  const proposals_t from =
      decode_anchors(make, anchors, objects, lasts, "a + 1 >= d && b + 1 >= d", smallest);
  const tensorrt_selected_t selected = propose(make, &from, top, keep, iou_threshold);
  tensorrt_output_like(make, 0, tensorrt_axis(make, selected.box, 1), scores);
  const tenon_value_t regions = with_images(make, &selected);
  const tenon_value_t wide = tensorrt_wide(make, map);
  tenon_make_begin(make, "max_roi_pool");
  tenon_make_set_ints(make, "pooled_shape", pooled, 2);
  tenon_make_set_float(make, "spatial_scale", scale);
  tenon_make_add(make, wide);
  tenon_make_add(make, regions);
  const int64_t dims[5] = {-1, keep, channels, pooled[0], pooled[1]};
  tensorrt_output_like(make, 1, tenon_make_reshape(make, tenon_make_end(make), dims, 5), map);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("Proposal", proposal, "1", NULL),
    TENSORRT_ROW("ProposalDynamic", proposal, "1", NULL),
    TENSORRT_ROW("RPROI_TRT", rproi, "1", NULL),
};
TENSORRT_FAMILY(proposals);
