/* Region proposals of Faster R-CNN and Mask R-CNN, and their last detections. */
#include <float.h>
#include <math.h>

#include "families.h"
#include "selection.h"
#include "steps.h"

enum { ANCHORS_MAX = 256, PYRAMID_ANCHORS_MAX = 1 << 24 };

/* Scores up to this one are no detections, whatever the threshold is. */
static const double least_score = 0.01;

/* ---- Faster R-CNN: anchors at each place of a feature map ---- */

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
    out_edges[high] =
        tensorrt_math(make, 4, operands,
                      "let m = cast(index(%d) * %lld, f32) + %.17g + a * c;"
                      "y = max(min(m %c exp(b) * c * 0.5, d), 0)",
                      4 - axis, (long long)anchors->stride, anchors->first, high ? '+' : '-');
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
  const tenon_value_t dims[3] = {tensorrt_extents(make, given, 0, 1),
                                 tenon_make_int64s(make, kinds, 2),
                                 tensorrt_extents(make, given, 2, 4)};
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
  const tenon_value_t kept = tensorrt_math(make, 4, operands, "y = %s ? c : -inf", keeps);
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
      tensorrt_gathered(make, selected.box, tenon_make_int64s(make, order, 4), 2);
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
  const tenon_value_t smallest = tensorrt_math(make, 1, &resize, "y = a * (%.17g)", least);
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

/* ---- Mask R-CNN: boxes y1, x1, y2, x2 moved and stretched by deltas dy, dx, dh, dw ---- */

/* In parts of the image, with the deviations 0.1 and 0.2. */
static tenon_value_t refined(tenon_make_t* make, tenon_value_t boxes, tenon_value_t deltas) {
  const int64_t last = (int64_t)tenon_make_rank(make, deltas) - 1;
  const tenon_value_t operands[4] = {
      tenon_make_slice(make, boxes, last, 0, 2), tenon_make_slice(make, boxes, last, 2, 4),
      tenon_make_slice(make, deltas, last, 0, 2), tenon_make_slice(make, deltas, last, 2, 4)};
  return tensorrt_corners(
      make,
      tenon_make_math(make,
                      "let s = b - a;"
                      "y = clamp((a + b) * 0.5 + c * 0.1 * s - exp(d * 0.2) * s * 0.5, 0, 1)",
                      4, operands),
      tenon_make_math(make,
                      "let s = b - a;"
                      "y = clamp((a + b) * 0.5 + c * 0.1 * s + exp(d * 0.2) * s * 0.5, 0, 1)",
                      4, operands));
}

/* In pixels of an image, with weights for the deltas; extents have a pixel more. */
static tenon_value_t refined_pixels(tenon_make_t* make, tenon_value_t boxes, tenon_value_t deltas,
                                    const int64_t* image, const double weights[2]) {
  const int64_t last = (int64_t)tenon_make_rank(make, deltas) - 1;
  const double ends[2] = {(double)image[1] - 1, (double)image[2] - 1};
  const tenon_value_t operands[5] = {
      tenon_make_slice(make, boxes, last, 0, 2), tenon_make_slice(make, boxes, last, 2, 4),
      tenon_make_slice(make, deltas, last, 0, 2), tenon_make_slice(make, deltas, last, 2, 4),
      tensorrt_numbers(make, ends, 2)};
  static const char text[] =
      "let s = b - a + 1; let h = exp(min(d / %g, 4.1351665567423560)) * s;"
      "let low = a + s * 0.5 + c / %g * s - 0.5 * h; y = clamp(%s, 0, e)";
  return tensorrt_corners(
      make, tensorrt_math(make, 5, operands, text, weights[1], weights[0], "low"),
      tensorrt_math(make, 5, operands, text, weights[1], weights[0], "low + h - 1"));
}

/* The attribute image_size: channels, height, width. */
static const int64_t* image_size(tenon_make_t* make, const int64_t* usual) {
  size_t count = 0;
  const int64_t* image = tenon_make_has(make, "image_size")
                             ? tensorrt_ints(make, "image_size", 3, 3, 1, &count)
                             : usual;
  return image == NULL ? usual : image;
}

/* What a level of a pyramid has at each place: boxes of these extents, in pixels. */
typedef struct level_t {
  int64_t stride;
  int64_t start; /* of the first place */
  double heights[3];
  double widths[3];
} level_t;

static int64_t places_of(int64_t extent, const level_t* level) {
  return extent > level->start ? (extent - level->start - 1) / level->stride + 1 : 0;
}

/* Appends anchors in the order of places. `minus`: of the high corner. */
static float* add_anchors(float* to, const int64_t* image, const level_t* level, double minus,
                          const double units[2]) {
  for (int64_t i = 0; i < places_of(image[1], level); ++i) {
    for (int64_t k = 0; k < places_of(image[2], level); ++k) {
      const double y = (double)(level->start + i * level->stride);
      const double x = (double)(level->start + k * level->stride);
      for (int r = 0; r < 3; ++r) {
        *to++ = (float)((y - level->heights[r] / 2) / units[0]);
        *to++ = (float)((x - level->widths[r] / 2) / units[1]);
        *to++ = (float)((y + level->heights[r] / 2 - minus) / units[0]);
        *to++ = (float)((x + level->widths[r] / 2 - minus) / units[1]);
      }
    }
  }
  return to;
}

/* A constant [1, anchors, 4] of some levels. Refuses the node unless the input has as many. */
static tenon_value_t pyramid_anchors(tenon_make_t* make, tenon_value_t input, const int64_t* image,
                                     const level_t* levels, uint32_t count, bool is_pixels) {
  int64_t all = 0;
  for (uint32_t k = 0; k < count; ++k) {
    all += places_of(image[1], &levels[k]) * places_of(image[2], &levels[k]) * 3;
  }
  const int64_t own = tensorrt_known(make, input, 1, "scores and deltas");
  if (tenon_make_ok(make) && (own != all || all > PYRAMID_ANCHORS_MAX)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "there are %lld anchors: image_size = [%lld, %lld, %lld] needs %lld",
                    (long long)own, (long long)image[0], (long long)image[1], (long long)image[2],
                    (long long)all);
  }
  float* values =
      tenon_make_memory(make, tenon_make_ok(make) ? (size_t)all * 4 + 1 : 1, sizeof(*values));
  if (!tenon_make_ok(make)) {
    return tensorrt_absent();
  }
  const double units[2] = {is_pixels ? 1 : (double)image[1] - 1,
                           is_pixels ? 1 : (double)image[2] - 1};
  float* to = values;
  for (uint32_t k = 0; k < count; ++k) {
    to = add_anchors(to, image, &levels[k], is_pixels ? 0 : 1, units);
  }
  const int64_t dims[3] = {1, all, 4};
  return tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 3, dims, values);
}

/* [N, anchors, numbers] of [N, anchors, numbers, 1]. */
static tenon_value_t three_axes(tenon_make_t* make, uint32_t index, const char* name,
                                int64_t numbers) {
  const tenon_value_t value = tensorrt_input(make, index, name, 4, "[batch, anchors, numbers, 1]");
  const int64_t dims[3] = {0, -1, numbers};
  if (tenon_make_ok(make) &&
      (tenon_make_dim(make, value, 2) != numbers || tenon_make_dim(make, value, 3) != 1)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%s end with %lld x %lld numbers, not %lld x 1",
                    name, (long long)tenon_make_dim(make, value, 2),
                    (long long)tenon_make_dim(make, value, 3), (long long)numbers);
  }
  return tenon_make_reshape(make, tensorrt_wide(make, value), dims, 3);
}

static tensorrt_choice_t mask_choice(tenon_make_t* make) {
  tensorrt_require(make, "keep_topk");
  return (tensorrt_choice_t){.keep = tensorrt_int(make, "keep_topk", 1, 1, TENSORRT_COUNT_MAX),
                             .top = TENSORRT_COUNT_MAX,
                             .keep_of_class = -1,
                             .background = -1,
                             .score_threshold = least_score,
                             .iou_threshold = tensorrt_float(make, "iou_threshold", 0.5, 0, 1)};
}

static void proposal_layer(tenon_make_t* make) {
  static const int64_t usual[3] = {3, 1024, 1024};
  static const double ratios[3] = {0.5, 1, 2};
  level_t levels[5];
  for (int64_t k = 0; k < 5; ++k) {
    levels[k] = (level_t){.stride = INT64_C(4) << k};
    for (int r = 0; r < 3; ++r) {
      levels[k].heights[r] = (double)(INT64_C(32) << k) / sqrt(ratios[r]);
      levels[k].widths[r] = (double)(INT64_C(32) << k) * sqrt(ratios[r]);
    }
  }
  tensorrt_require(make, "prenms_topk");
  tensorrt_choice_t choice = mask_choice(make);
  choice.top = tensorrt_int(make, "prenms_topk", 1024, 1, TENSORRT_COUNT_MAX);
  const int64_t* image = image_size(make, usual);
  const tenon_value_t scores = three_axes(make, 0, "scores", 2);
  const tenon_value_t deltas = three_axes(make, 1, "deltas", 4);
  const tenon_value_t anchors = pyramid_anchors(make, scores, image, levels, 5, false);
  if (!tenon_make_ok(make)) {
    return;
  }
  const tensorrt_selected_t selected = tensorrt_select(
      make, refined(make, anchors, deltas), tenon_make_slice(make, scores, 2, 1, 2), &choice);
  tensorrt_output_like(make, 0, selected.box, tenon_make_input(make, 0));
}

/* The inputs are pairs of deltas and scores, one for each level. */
static void multilevel_propose(tenon_make_t* make) {
  enum { LEVELS = 5 };
  static const int64_t usual[3] = {3, 832, 1344};
  static const double ones[2] = {1, 1};
  static const double sides[2][3] = {{1, 0.7, 1.4}, {1, 1.4, 0.7}};
  tenon_value_t boxes[LEVELS];
  tenon_value_t scores[LEVELS];
  tensorrt_require(make, "prenms_topk");
  tensorrt_require(make, "fg_threshold");
  tensorrt_choice_t choice = mask_choice(make);
  choice.top = tensorrt_int(make, "prenms_topk", 4096, 1, TENSORRT_COUNT_MAX);
  choice.score_threshold = tensorrt_float(make, "fg_threshold", 0, 0, 1);
  choice.inclusive = 1;
  const int64_t* image = image_size(make, usual);
  if (tenon_make_ok(make) && make->input_count != 2 * LEVELS) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "there are %u inputs, not deltas and scores of %d levels", make->input_count,
                    LEVELS);
  }
  for (uint32_t k = 0; k < LEVELS && tenon_make_ok(make); ++k) {
    level_t level = {.stride = INT64_C(4) << k, .start = INT64_C(2) << k};
    for (int r = 0; r < 3; ++r) {
      level.heights[r] = (double)(8 * level.stride) * sides[0][r];
      level.widths[r] = (double)(8 * level.stride) * sides[1][r];
    }
    const tenon_value_t deltas = three_axes(make, 2 * k, "deltas", 4);
    const tenon_value_t given = three_axes(make, 2 * k + 1, "scores", 1);
    const tenon_value_t anchors = pyramid_anchors(make, given, image, &level, 1, true);
    if (!tenon_make_ok(make)) {
      return;
    }
    const tensorrt_selected_t selected =
        tensorrt_select(make, refined_pixels(make, anchors, deltas, image, ones), given, &choice);
    boxes[k] = selected.box;
    scores[k] = selected.score;
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  /* The best of all levels: no box drops another. */
  const tensorrt_choice_t best = {.keep = choice.keep,
                                  .top = choice.keep,
                                  .keep_of_class = -1,
                                  .background = -1,
                                  .score_threshold = -1,
                                  .iou_threshold = 2};
  const tensorrt_selected_t selected =
      tensorrt_select(make, tenon_make_concat(make, 1, LEVELS, boxes),
                      tensorrt_axis(make, tenon_make_concat(make, 1, LEVELS, scores), 2), &best);
  tensorrt_output_like(make, 0, selected.box, tenon_make_input(make, 0));
}

/* ---- Mask R-CNN: detections ---- */

/* The best class of each region, by its own scores [N, R, C] from `first` on. i64 [N, R, 1]. */
static tenon_value_t best_class(tenon_make_t* make, tenon_value_t scores, int64_t first) {
  tenon_value_t from = scores;
  if (first > 0) {
    from = tensorrt_math(make, 1, &scores, "y = index(2) < %lld ? -inf : a", (long long)first);
  }
  tenon_make_begin(make, "arg_max");
  tenon_make_set_int(make, "axis", 2);
  tenon_make_set_int(make, "keepdims", 1);
  tenon_make_add(make, from);
  return tenon_make_end(make);
}

/* `image` NULL: boxes are parts of the image, and the background competes. */
static void detections(tenon_make_t* make, const int64_t* image) {
  static const double weights[2] = {10, 5};
  tensorrt_require(make, "num_classes");
  tensorrt_require(make, "score_threshold");
  tensorrt_choice_t choice = mask_choice(make);
  const int64_t classes = tensorrt_int(make, "num_classes", 2, 1, 1 << 16);
  const double threshold = tensorrt_float(make, "score_threshold", 0, 0, FLT_MAX);
  const tenon_value_t delta =
      tensorrt_input(make, 0, "deltas", 5, "[batch, regions, 4 * classes, 1, 1]");
  const tenon_value_t score =
      tensorrt_input(make, 1, "scores", 5, "[batch, regions, classes, 1, 1]");
  const tenon_value_t rois =
      tensorrt_wide(make, tensorrt_input(make, 2, "regions", 3, "[batch, regions, 4]"));
  const int64_t own = tensorrt_known(make, score, 2, "scores");
  if (tenon_make_ok(make) && own != classes) {
    tensorrt_refuse(make, "num_classes", "the scores have another number of classes");
  }
  choice.background = 0;
  if (threshold > least_score) {
    choice.score_threshold = threshold;
    choice.inclusive = 1;
  }
  const int64_t score_dims[3] = {0, 0, classes};
  const int64_t delta_dims[4] = {0, 0, classes, 4};
  const tenon_value_t scores = tenon_make_reshape(make, tensorrt_wide(make, score), score_dims, 3);
  const tenon_value_t deltas = tenon_make_reshape(make, tensorrt_wide(make, delta), delta_dims, 4);
  const tenon_value_t best = best_class(make, scores, image == NULL ? 0 : 1);
  const tenon_value_t own_delta = tenon_make_math_2(make, "y = sum(index(2) == b ? a : 0.0, [2])",
                                                    deltas, tensorrt_axis(make, best, 3));
  const tenon_value_t own_score =
      tenon_make_math_2(make, "y = index(2) == b ? a : -inf", scores, best);
  const tenon_value_t boxes = tensorrt_axis(make, rois, 2);
  const tensorrt_selected_t selected =
      tensorrt_select(make,
                      image == NULL ? refined(make, boxes, own_delta)
                                    : refined_pixels(make, boxes, own_delta, image, weights),
                      own_score, &choice);
  const tenon_value_t columns[3] = {
      selected.box,
      tensorrt_axis(make, tenon_make_cast(make, selected.label, TENON_DTYPE_FLOAT32), 2),
      tensorrt_axis(make, selected.score, 2)};
  tensorrt_output_like(make, 0, tenon_make_concat(make, 2, 3, columns), delta);
}

static void detection_layer(tenon_make_t* make) {
  detections(make, NULL);
}

static void generate_detection(tenon_make_t* make) {
  static const int64_t usual[3] = {3, 832, 1344};
  detections(make, image_size(make, usual));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("DetectionLayer_TRT", detection_layer, "1", NULL),
    TENSORRT_ROW("GenerateDetection_TRT", generate_detection, "1", NULL),
    TENSORRT_ROW("MultilevelProposeROI_TRT", multilevel_propose, "1", NULL),
    TENSORRT_ROW("Proposal", proposal, "1", NULL),
    TENSORRT_ROW("ProposalDynamic", proposal, "1", NULL),
    TENSORRT_ROW("ProposalLayer_TRT", proposal_layer, "1", NULL),
    TENSORRT_ROW("RPROI_TRT", rproi, "1", NULL),
};
TENSORRT_FAMILY(proposals);
