/* Non-maximum suppression: the plugins of EfficientNMS, BatchedNMS and NMS. */
#include <math.h>
#include <string.h>

#include "families.h"
#include "selection.h"
#include "steps.h"

enum { CANDIDATES = 4096 }; /* of an image, for the plugins of EfficientNMS */

static const char boxes_form[] = "[batch, boxes, 4] or [batch, boxes, classes, 4]";
static const char scores_form[] = "[batch, boxes, classes]";

/* ---- EfficientNMS ---- */

/* Boxes [N, P, L, 4]. Refuses other ranks. */
static tenon_value_t boxes_of(tenon_make_t* make) {
  const tenon_value_t boxes = tenon_make_input(make, 0);
  const bool is_flat = tenon_make_present(boxes) && tenon_make_rank(make, boxes) == 3;
  const tenon_value_t checked = tensorrt_input(make, 0, "boxes", is_flat ? 3 : 4, boxes_form);
  return is_flat ? tensorrt_axis(make, checked, 2) : checked;
}

/* The low corner (which = 0) or the high corner (which = 2) of boxes. Their corners may be in any order. */
static tenon_value_t corner(tenon_make_t* make, tenon_value_t boxes, int64_t which) {
  const int64_t last = (int64_t)tenon_make_rank(make, boxes) - 1;
  return tenon_make_math_2(make, which == 0 ? "y = min(a, b)" : "y = max(a, b)",
                           tenon_make_slice(make, boxes, last, 0, 2),
                           tenon_make_slice(make, boxes, last, 2, 4));
}

/* Corners of boxes with centre and size, of anchors if there are any. */
static tenon_value_t of_centers(tenon_make_t* make, tenon_value_t boxes, tenon_value_t anchors) {
  tenon_value_t center = tenon_make_slice(make, boxes, 3, 0, 2);
  tenon_value_t size = tenon_make_slice(make, boxes, 3, 2, 4);
  if (tenon_make_present(anchors)) {
    const tenon_value_t extent = tenon_make_slice(make, anchors, 3, 2, 4);
    center = tensorrt_math_3(make, "y = a * b + c", center, extent,
                             tenon_make_slice(make, anchors, 3, 0, 2));
    size = tenon_make_math_2(make, "y = exp(a) * b", size, extent);
  }
  return tensorrt_corners(make, tenon_make_math_2(make, "y = a - b * 0.5", center, size),
                          tenon_make_math_2(make, "y = a + b * 0.5", center, size));
}

/* Boxes [N, P, L, 4] as corners in f32, decoded with input 2 if the node has it. */
static tenon_value_t decoded(tenon_make_t* make, int64_t coding) {
  const tenon_value_t boxes = tensorrt_wide(make, boxes_of(make));
  tenon_value_t anchors = tensorrt_absent();
  if (tenon_make_has_input(make, 2)) {
    anchors = tensorrt_wide(make, tensorrt_input(make, 2, "anchors", 3, "[batch or 1, boxes, 4]"));
    anchors = tensorrt_axis(make, anchors, 2);
  }
  if (coding == 1) {
    return of_centers(make, boxes, anchors);
  }
  if (!tenon_make_present(anchors)) {
    return boxes;
  }
  return tensorrt_corners(
      make, tenon_make_2(make, "add", corner(make, boxes, 0), corner(make, anchors, 0)),
      tenon_make_2(make, "add", corner(make, boxes, 2), corner(make, anchors, 2)));
}

/* The number before the sigmoid. */
static double logit(double probability) {
  return probability <= 0 ? -(double)INFINITY : log(probability) - log1p(-probability);
}

/* The outputs num_detections, detection_boxes, detection_scores, detection_classes. */
static void efficient_outputs(tenon_make_t* make, const tensorrt_selected_t* selected,
                              tenon_value_t scores) {
  const tenon_value_t like = tenon_make_input(make, 0);
  if (tenon_make_wants(make, 0)) {
    tenon_make_output(make, 0, tensorrt_axis(make, selected->count, 1));
  }
  tensorrt_output_like(make, 1, selected->box, like);
  tensorrt_output_like(make, 2, scores, like);
  if (tenon_make_wants(make, 3)) {
    tenon_make_output(make, 3, tenon_make_math_1(make, "y = max(a, 0)", selected->label));
  }
}

static void efficient(tenon_make_t* make) {
  tensorrt_choice_t choice = {
      .keep = tensorrt_int(make, "max_output_boxes", 100, 1, TENSORRT_COUNT_MAX),
      .top = CANDIDATES,
      .agnostic = tensorrt_flag(make, "class_agnostic", false),
      .keep_of_class = -1,
      .background = tensorrt_int(make, "background_class", -1, -1, INT32_MAX),
      .inclusive = 3,
      .score_threshold = tensorrt_float(make, "score_threshold", 0.5, -INFINITY, INFINITY),
      .iou_threshold = tensorrt_float(make, "iou_threshold", 0.5, 0, 1)};
  const bool is_raw = tensorrt_flag(make, "score_activation", false);
  const int64_t coding = tensorrt_int(make, "box_coding", 0, 0, 1);
  if (is_raw) {
    choice.score_threshold = logit(choice.score_threshold);
  }
  const tenon_value_t scores = tensorrt_input(make, 1, "scores", 3, scores_form);
  const tensorrt_selected_t selected =
      tensorrt_select(make, decoded(make, coding), scores, &choice);
  const tenon_value_t best = is_raw ? tenon_make_math_2(make, "y = b < 0 ? 0.0 : sigmoid(a)",
                                                        selected.score, selected.index)
                                    : selected.score;
  efficient_outputs(make, &selected, best);
}

/* Compatible with CombinedNonMaxSuppression of TensorFlow. */
static void efficient_tf(tenon_make_t* make) {
  tensorrt_choice_t choice = {
      .keep = tensorrt_int(make, "max_total_size", 100, 1, TENSORRT_COUNT_MAX),
      .top = CANDIDATES,
      .keep_of_class = tensorrt_int(make, "max_output_size_per_class", -1, -1, TENSORRT_COUNT_MAX),
      .background = -1,
      .inclusive = 3,
      .score_threshold = tensorrt_float(make, "score_threshold", 0.5, -INFINITY, INFINITY),
      .iou_threshold = tensorrt_float(make, "iou_threshold", 0.5, 0, 1)};
  const bool pads = tensorrt_flag(make, "pad_per_class", false);
  const bool clips = tensorrt_flag(make, "clip_boxes", false);
  const tenon_value_t scores = tensorrt_input(make, 1, "scores", 3, scores_form);
  if (pads && choice.keep_of_class > 0) {
    const int64_t classes = tensorrt_known(make, scores, 2, "scores");
    const int64_t most = classes * choice.keep_of_class;
    choice.keep = most > 0 && most < choice.keep ? most : choice.keep;
  }
  tensorrt_selected_t selected = tensorrt_select(make, boxes_of(make), scores, &choice);
  if (clips) {
    selected.box = tenon_make_math_1(make, "y = clamp(a, 0, 1)", selected.box);
  }
  efficient_outputs(make, &selected, selected.score);
}

/* Rows [image, class, box] of all images one after the other, then the last one again. */
static void efficient_onnx(tenon_make_t* make) {
  const int64_t each = tensorrt_int(make, "max_output_boxes_per_class", 100, 1, TENSORRT_COUNT_MAX);
  const tensorrt_choice_t choice = {
      .keep = each,
      .top = CANDIDATES,
      .keep_of_class = each,
      .background = -1,
      .inclusive = 3,
      .score_threshold = tensorrt_float(make, "score_threshold", 0.5, -INFINITY, INFINITY),
      .iou_threshold = tensorrt_float(make, "iou_threshold", 0.5, 0, 1)};
  const int64_t coding = tensorrt_int(make, "center_point_box", 0, 0, 1);
  const tenon_value_t scores = tensorrt_input(make, 1, "scores", 3, scores_form);
  const tensorrt_selected_t selected =
      tensorrt_select(make, decoded(make, coding), scores, &choice);
  const tenon_value_t columns[3] = {
      tensorrt_axis(
          make, tenon_make_math_1(make, "y = a < 0 ? a : cast(index(0), i32)", selected.index), 2),
      tensorrt_axis(make, selected.label, 2), tensorrt_axis(make, selected.index, 2)};
  const int64_t all[2] = {-1, 3};
  const int64_t flat = -1;
  const tenon_value_t rows =
      tenon_make_reshape(make, tenon_make_concat(make, 2, 3, columns), all, 2);
  /* Rows are valid (1) or not (0). A stable order by this number puts valid ones first. */
  const tenon_value_t valid = tenon_make_math_1(make, "y = cast(a >= 0, i32)",
                                                tenon_make_reshape(make, selected.index, &flat, 1));
  tenon_value_t sorted[2] = {{0}, {0}};
  const tenon_value_t count = tenon_make_extents(make, valid, 0, 1);
  tenon_make_begin(make, "top_k");
  tenon_make_add(make, valid);
  tenon_make_add(make, count);
  tenon_make_end_many(make, sorted, 2);
  const tenon_value_t place = tenon_make_math_2(
      make, "y = min(index(0), max(cast(sum(a, [0]), i64) - 1, 0)) + 0 * b", valid, sorted[1]);
  tenon_make_output(make, 0,
                    tenon_make_gather(make, rows, tenon_make_gather(make, sorted[1], place, 0), 0));
}

/* ---- BatchedNMS ---- */

/* Settings that both forms share. */
static tensorrt_choice_t batched_choice(tenon_make_t* make, const char* const names[5]) {
  return (tensorrt_choice_t){
      .keep = tensorrt_int(make, names[0], 100, 1, TENSORRT_COUNT_MAX),
      .top = tensorrt_int(make, names[1], CANDIDATES, 1, TENSORRT_COUNT_MAX),
      .by_class = 1,
      .keep_of_class = -1,
      .background = tensorrt_int(make, names[2], -1, -1, INT32_MAX),
      .score_threshold = tensorrt_float(make, names[3], 0, -INFINITY, INFINITY),
      .iou_threshold = tensorrt_float(make, names[4], 0.5, 0, 1)};
}

static void check_classes(tenon_make_t* make, const char* name, tenon_value_t scores,
                          int64_t classes) {
  const int64_t own = tenon_make_ok(make) ? tenon_make_dim(make, scores, 2) : -1;
  if (classes > 0 && own >= 0 && own != classes) {
    tensorrt_refuse(make, name, "the scores have another number of classes");
  }
}

static void batched(tenon_make_t* make) {
  static const char* const names[5] = {"keepTopK", "topK", "backgroundLabelId", "scoreThreshold",
                                       "iouThreshold"};
  tenon_make_t* m = make;
  tensorrt_require(m, "keepTopK");
  tensorrt_choice_t choice = batched_choice(m, names);
  const bool is_normalized = tensorrt_flag(m, "isNormalized", true);
  const bool clips = tensorrt_flag(m, "clipBoxes", true) && is_normalized;
  const bool is_shared = tensorrt_flag(m, "shareLocation", true);
  choice.pixels = !is_normalized && tensorrt_flag(m, "caffeSemantics", true);
  (void)tensorrt_int(m, "scoreBits", 16, INT32_MIN, INT32_MAX);
  const tenon_value_t boxes = boxes_of(m);
  const tenon_value_t scores = tensorrt_input(m, 1, "scores", 3, scores_form);
  check_classes(m, "numClasses", scores, tensorrt_int(m, "numClasses", 0, 0, TENSORRT_COUNT_MAX));
  const int64_t box_classes = tenon_make_ok(m) ? tenon_make_dim(m, boxes, 2) : -1;
  if (is_shared && box_classes > 1) {
    tensorrt_refuse(m, "shareLocation", "the boxes have an axis of classes");
  }
  tensorrt_selected_t selected = tensorrt_select(m, boxes, scores, &choice);
  if (clips) {
    selected.box = tenon_make_math_1(m, "y = clamp(a, 0, 1)", selected.box);
  }
  const tenon_value_t like = tenon_make_input(m, 0);
  if (tenon_make_wants(m, 0)) {
    tenon_make_output(m, 0, tensorrt_axis(m, selected.count, 1));
  }
  tensorrt_output_like(m, 1, selected.box, like);
  tensorrt_output_like(m, 2, selected.score, like);
  tensorrt_output_like(m, 3, selected.label, like);
}

/* The form of mmdeploy: boxes with their scores [N, keep, 5], classes, perhaps places. */
static void batched_mmdeploy(tenon_make_t* make) {
  static const char* const names[5] = {"keep_topk", "topk", "background_label_id",
                                       "score_threshold", "iou_threshold"};
  tensorrt_require(make, "keep_topk");
  tensorrt_choice_t choice = batched_choice(make, names);
  const bool is_normalized = tensorrt_flag(make, "is_normalized", true);
  choice.pixels = !is_normalized;
  const bool clips = tensorrt_flag(make, "clip_boxes", false);
  const tenon_value_t scores = tensorrt_input(make, 1, "scores", 3, scores_form);
  check_classes(make, "num_classes", scores,
                tensorrt_int(make, "num_classes", 0, 0, TENSORRT_COUNT_MAX));
  tensorrt_selected_t selected = tensorrt_select(make, boxes_of(make), scores, &choice);
  if (clips) {
    selected.box = tenon_make_math_1(make, "y = clamp(a, 0, 1)", selected.box);
  }
  const tenon_value_t parts[2] = {selected.box, tensorrt_axis(make, selected.score, 2)};
  tensorrt_output_like(make, 0, tenon_make_concat(make, 2, 2, parts), tenon_make_input(make, 0));
  if (tenon_make_wants(make, 1)) {
    tenon_make_output(make, 1, selected.label);
  }
  if (tenon_make_wants(make, 2)) {
    tenon_make_output(make, 2, selected.index);
  }
}

/* ---- NMS: SSD ---- */

typedef enum code_t { CODE_CORNER, CODE_CENTER_SIZE, CODE_CORNER_SIZE, CODE_TF_CENTER } code_t;

/* Boxes [N, P, L, 4] from their codes, priors and variances [N or 1, P, 1, 4]. */
static tenon_value_t ssd_boxes(tenon_make_t* make, code_t code, tenon_value_t codes,
                               tenon_value_t priors) {
  const tenon_value_t low = tenon_make_slice(make, priors, 3, 0, 2);
  const tenon_value_t high = tenon_make_slice(make, priors, 3, 2, 4);
  const tenon_value_t size = tenon_make_2(make, "sub", high, low);
  tenon_value_t first = tenon_make_slice(make, codes, 3, 0, 2);
  tenon_value_t second = tenon_make_slice(make, codes, 3, 2, 4);
  if (code == CODE_CORNER) {
    return tenon_make_2(make, "add", codes, priors);
  }
  if (code == CODE_CORNER_SIZE) {
    return tensorrt_corners(make, tensorrt_math_3(make, "y = a * b + c", first, size, low),
                            tensorrt_math_3(make, "y = a * b + c", second, size, high));
  }
  const tenon_value_t center =
      tensorrt_math_4(make, "y = a * b + (c + d) * 0.5", first, size, low, high);
  const tenon_value_t half = tenon_make_math_2(make, "y = exp(a) * b * 0.5", second, size);
  return tensorrt_corners(make, tenon_make_2(make, "sub", center, half),
                          tenon_make_2(make, "add", center, half));
}

/* Codes of TF_CENTER are y, x, h, w: swaps each pair. */
static tenon_value_t swapped(tenon_make_t* make, tenon_value_t codes) {
  static const int64_t order[4] = {1, 0, 3, 2};
  return tenon_make_gather(make, codes, tenon_make_int64s(make, order, 4), 3);
}

static void nms_order(tenon_make_t* make, uint32_t out_order[3]) {
  size_t count = 0;
  uint32_t seen = 0;
  const bool is_given = tenon_make_has(make, "inputOrder");
  const int64_t* order = is_given ? tensorrt_ints(make, "inputOrder", 3, 3, 0, &count) : NULL;
  for (uint32_t k = 0; k < 3; ++k) {
    out_order[k] = order == NULL ? (k == 0 ? 0 : 3 - k) : (uint32_t)order[k];
    seen |= out_order[k] < 3 ? 1u << out_order[k] : 0;
  }
  if (tenon_make_ok(make) && seen != 7) {
    tensorrt_refuse(make, "inputOrder", "use each of 0, 1 and 2 once");
    out_order[0] = out_order[1] = out_order[2] = 0;
  }
}

static void nms_outputs(tenon_make_t* make, const tensorrt_selected_t* selected, bool clips,
                        tenon_value_t like) {
  const tenon_value_t box =
      clips ? tenon_make_math_1(make, "y = clamp(a, 0, 1)", selected->box) : selected->box;
  const tenon_value_t columns[4] = {
      tensorrt_axis(
          make,
          tenon_make_math_1(make, "y = cast(index(0) + cast(0 * a, i64), f32)", selected->label),
          2),
      tensorrt_axis(make, tenon_make_cast(make, selected->label, TENON_DTYPE_FLOAT32), 2),
      tensorrt_axis(make, selected->score, 2), box};
  tensorrt_output_like(make, 0, tensorrt_axis(make, tenon_make_concat(make, 2, 4, columns), 1),
                       like);
  if (tenon_make_wants(make, 1)) {
    const int64_t axes[3] = {1, 2, 3};
    tenon_make_output(make, 1, tenon_make_unsqueeze(make, selected->count, axes, 3));
  }
}

static void nms(tenon_make_t* make) {
  static const char* const names[5] = {"keepTopK", "topK", "backgroundLabelId",
                                       "confidenceThreshold", "nmsThreshold"};
  static const char form[] = "[batch, numbers, 1, 1]";
  uint32_t order[3] = {0, 0, 0};
  tensorrt_require(make, "keepTopK");
  tensorrt_require(make, "numClasses");
  tensorrt_choice_t choice = batched_choice(make, names);
  const int64_t classes = tensorrt_int(make, "numClasses", 1, 1, TENSORRT_COUNT_MAX);
  const bool is_shared = tensorrt_flag(make, "shareLocation", true);
  const bool in_target = tensorrt_flag(make, "varianceEncodedInTarget", false);
  const bool is_normalized = tensorrt_flag(make, "isNormalized", true);
  const bool is_raw = tensorrt_flag(make, "confSigmoid", false);
  const code_t code = (code_t)tensorrt_int(make, "codeType", CODE_TF_CENTER, 0, CODE_TF_CENTER);
  (void)tensorrt_flag(make, "isBatchAgnostic", true);
  (void)tensorrt_int(make, "scoreBits", 16, INT32_MIN, INT32_MAX);
  choice.pixels = !is_normalized;
  nms_order(make, order);
  const tenon_value_t like = tensorrt_input(make, order[0], "loc_data", 4, form);
  const tenon_value_t conf = tensorrt_input(make, order[1], "conf_data", 4, form);
  const tenon_value_t prior =
      tensorrt_input(make, order[2], "prior_data", 4, "[batch or 1, 2, boxes * 4, 1]");
  const int64_t code_dims[4] = {0, -1, is_shared ? 1 : classes, 4};
  const int64_t conf_dims[3] = {0, -1, classes};
  const int64_t prior_dims[4] = {0, -1, 1, 4};
  tenon_value_t codes = tenon_make_reshape(make, tensorrt_wide(make, like), code_dims, 4);
  tenon_value_t parts[2];
  for (int64_t k = 0; k < 2; ++k) {
    parts[k] = tenon_make_reshape(
        make, tenon_make_slice(make, tensorrt_wide(make, prior), 1, k, k + 1), prior_dims, 4);
  }
  if (code == CODE_TF_CENTER) {
    codes = swapped(make, codes);
  }
  if (!in_target) {
    codes = tenon_make_2(make, "mul", codes, parts[1]);
  }
  tenon_value_t scores = tenon_make_reshape(make, tensorrt_wide(make, conf), conf_dims, 3);
  scores = is_raw ? tenon_make_1(make, "sigmoid", scores) : scores;
  const tensorrt_selected_t selected =
      tensorrt_select(make, ssd_boxes(make, code, codes, parts[0]), scores, &choice);
  nms_outputs(make, &selected, is_normalized, like);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("BatchedNMS_TRT", batched, "1", NULL),
    TENSORRT_ROW("BatchedNMSDynamic_TRT", batched, "1", NULL),
    TENSORRT_ROW("EfficientNMS_TRT", efficient, "1", NULL),
    TENSORRT_ROW("EfficientNMS_ONNX_TRT", efficient_onnx, "1", NULL),
    TENSORRT_ROW("EfficientNMS_Explicit_TF_TRT", efficient_tf, "1", NULL),
    TENSORRT_ROW("EfficientNMS_Implicit_TF_TRT", efficient_tf, "1", NULL),
    TENSORRT_ROW("NMS_TRT", nms, "1", NULL),
    TENSORRT_ROW("NMSDynamic_TRT", nms, "1", NULL),
    TENSORRT_DOMAIN("mmdeploy", "TRTBatchedNMS", batched_mmdeploy, "1", NULL),
};
TENSORRT_FAMILY(nms);
