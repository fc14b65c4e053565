/* Proposals and detections of Mask R-CNN. */
#include <float.h>
#include <math.h>

#include "families.h"
#include "selection.h"
#include "steps.h"

enum { PYRAMID_ANCHORS_MAX = 1 << 24 };

/* The least threshold. Scores up to it are ignored. */
static const double least_score = 0.01;

/* ---- Mask R-CNN: boxes y1, x1, y2, x2 moved and stretched by deltas dy, dx, dh, dw ---- */

/* Moves boxes in parts of the image. The deltas have the deviations 0.1 and 0.2. */
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

/* Moves boxes in pixels of an image, with weights for the deltas. Extents count one pixel more. */
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
      make, tenon_make_print_math(make, 5, operands, text, weights[1], weights[0], "low"),
      tenon_make_print_math(make, 5, operands, text, weights[1], weights[0], "low + h - 1"));
}

/* The attribute image_size: channels, height, width. */
static const int64_t* image_size(tenon_make_t* make, const int64_t* usual) {
  size_t count = 0;
  const int64_t* image = tenon_make_has(make, "image_size")
                             ? tensorrt_ints(make, "image_size", 3, 3, 1, &count)
                             : usual;
  return image == NULL ? usual : image;
}

/* Each place of a level of the pyramid has boxes of these extents, in pixels. */
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
  if (values == NULL || !tenon_make_ok(make)) {
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

/* Reads an input [N, anchors, numbers, 1] as [N, anchors, numbers]. */
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
    from =
        tenon_make_print_math(make, 1, &scores, "y = index(2) < %lld ? -inf : a", (long long)first);
  }
  tenon_make_begin(make, "arg_max");
  tenon_make_set_int(make, "axis", 2);
  tenon_make_set_int(make, "keepdims", 1);
  tenon_make_add(make, from);
  return tenon_make_end(make);
}

/* If `image` is NULL, boxes are in parts of the image and the background is a class like others. */
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
    TENSORRT_ROW("ProposalLayer_TRT", proposal_layer, "1", NULL),
};
TENSORRT_FAMILY(mask_rcnn);
