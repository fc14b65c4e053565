/* The operator tensorrt.boxes_3d/1 and its kernel for the CPU. */
#include "boxes3d.h"

#include <math.h>
#include <string.h>

#include "offer.h"

enum { CLASSES_MAX = 256, DELTAS = 7, BOX = 9 };

static const tenon_attribute_descriptor_t attributes[] = {
    TENSORRT_FLOATS("anchors", "[1, 1, 1, 0, 1, 1, 1, 1.57]"),
    TENSORRT_FLOATS("bottoms", "[0]"),
    TENSORRT_FLOATS("range", "[0, 0, 0, 1, 1, 1]"),
    TENSORRT_FLOAT("score_threshold", "0.5"),
    TENSORRT_FLOAT("dir_offset", "0.0"),
    TENSORRT_FLOAT("dir_limit_offset", "0.0"),
    TENSORRT_INT("dir_bins", "2", "1..65536")};
static const tenon_port_t inputs[] = {TENSORRT_PORT("scores", "f32"),
                                      TENSORRT_PORT("deltas", "f32"),
                                      TENSORRT_PORT("directions", "f32")};
static const tenon_port_t outputs[] = {TENSORRT_PORT("boxes", "f32"),
                                       TENSORRT_PORT("found", "i32")};
#define SAME_PLACES(port)                                                 \
  TENSORRT_CHECK("dim(" port ", 0) == dim(scores, 0) && dim(" port        \
                 ", 1) =="                                                \
                 " dim(scores, 1) && dim(" port ", 2) == dim(scores, 2)", \
                 port " are of other places than scores")
static const tenon_check_t checks[] = {
    TENSORRT_CHECK(
        "rank(scores) == 4 && rank(deltas) == 4 && rank(directions) == 4",
        "inputs have ranks {rank(scores)}, {rank(deltas)} and {rank(directions)}, not 4"),
    TENSORRT_CHECK(
        "len(bottoms) >= 1 && len(bottoms) <= 256 && len(anchors) == 8 * len(bottoms) &&"
        " len(range) == 6",
        "{len(anchors)} numbers of anchors for {len(bottoms)} classes, {len(range)} of the"
        " range"),
    TENSORRT_CHECK("dim(scores, 3) == 2 * len(bottoms) * len(bottoms) &&"
                   " dim(deltas, 3) == 14 * len(bottoms) && dim(directions, 3) == 4 * len(bottoms)",
                   "{dim(scores, 3)} scores, {dim(deltas, 3)} deltas and {dim(directions, 3)}"
                   " directions of a place for {len(bottoms)} classes"),
    SAME_PLACES("deltas"), SAME_PLACES("directions")};
static const tenon_operator_t operators[] = {
    {.size = sizeof(tenon_operator_t),
     .name = "tensorrt.boxes_3d/1",
     .summary = "the boxes of PointPillars above a score, one behind the other",
     .attributes = TENON_LIST(attributes),
     .inputs = TENON_LIST(inputs),
     .outputs = TENON_LIST(outputs),
     .checks = TENON_LIST(checks),
     .shape = "boxes = [dim(scores, 0), dim(scores, 1) * dim(scores, 2) * 2 * len(bottoms), 9];"
              "found = [dim(scores, 0)]",
     .traits = "pure"}};
const tenon_offering_t tensorrt_boxes3d_operators = TENON_OFFERING_OF("operator/1", operators);

/* ---- The kernel ---- */

typedef struct settings_t {
  int64_t classes;
  int64_t bins;
  float anchors[CLASSES_MAX * 8];
  float bottoms[CLASSES_MAX];
  float range[6];
  float score_threshold;
  float dir_offset;
  float dir_limit_offset;
} settings_t;

/* The angle, brought into the half circle that the direction selects. */
static float angle_of(const settings_t* settings, float angle, const float* direction) {
  const float period = 6.28318530717958647692f / (float)settings->bins;
  const float turned = angle - settings->dir_offset;
  const float within = turned - floorf(turned / period + settings->dir_limit_offset) * period;
  return within + settings->dir_offset + period * (direction[0] > direction[1] ? 0.0f : 1.0f);
}

/* Decodes the box of anchor `index` at a place. `center` has x and y of the place. */
static void decode(const settings_t* settings, int64_t index, const float center[2],
                   const float* delta, const float* direction, float* out_box) {
  const float* anchor = settings->anchors + index * 4;
  const float diagonal = sqrtf(anchor[0] * anchor[0] + anchor[1] * anchor[1]);
  const float z = anchor[2] / 2 + settings->bottoms[index / 2];
  out_box[0] = delta[0] * diagonal + center[0];
  out_box[1] = delta[1] * diagonal + center[1];
  out_box[2] = delta[2] * anchor[2] + z;
  for (int k = 0; k < 3; ++k) {
    out_box[3 + k] = expf(delta[3 + k]) * anchor[k];
  }
  out_box[6] = angle_of(settings, delta[6] + anchor[3], direction);
}

static float sigmoid(float x) {
  return 1 / (1 + expf(-x));
}

static void decode_image(void* user, uint32_t index, uint32_t thread) {
  const tenon_enqueue_t* call = user;
  const settings_t* settings = call->instance;
  const int64_t* dims = call->inputs[0].tensor.dims;
  const int64_t anchors = settings->classes * 2;
  const int64_t places = dims[1] * dims[2];
  const int64_t first = (int64_t)index * places * anchors;
  const float* scores = (const float*)call->inputs[0].tensor.data + first * settings->classes;
  const float* deltas = (const float*)call->inputs[1].tensor.data + first * DELTAS;
  const float* directions = (const float*)call->inputs[2].tensor.data + first * 2;
  float* boxes = (float*)call->outputs[0].tensor.data + first * BOX;
  int64_t found = 0;
  (void)thread;
  memset(boxes, 0, (size_t)(places * anchors * BOX) * sizeof(*boxes));
  for (int64_t at = 0; at < places * anchors; ++at) {
    const float* own = scores + at * settings->classes;
    int64_t best = 0;
    for (int64_t k = 1; k < settings->classes; ++k) {
      best = own[k] > own[best] ? k : best;
    }
    const float score = sigmoid(own[best]);
    if (!(score >= settings->score_threshold)) {
      continue;
    }
    const int64_t cell[2] = {at / anchors % dims[2], at / anchors / dims[2]};
    float center[2];
    for (int axis = 0; axis < 2; ++axis) {
      const float length = settings->range[axis + 3] - settings->range[axis];
      const float steps = (float)(dims[2 - axis] > 1 ? dims[2 - axis] - 1 : 1);
      center[axis] = settings->range[axis] + (float)cell[axis] * length / steps;
    }
    float* box = boxes + found++ * BOX;
    decode(settings, at % anchors, center, deltas + at * DELTAS, directions + at * 2, box);
    box[7] = (float)best;
    box[8] = score;
  }
  ((int32_t*)call->outputs[1].tensor.data)[index] = (int32_t)found;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  return tensorrt_each(call, call->inputs[0].tensor.dims[0], decode_image);
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* boxes = table->value(region, table->node_output(region, 0, 0));
  (void)state;
  if (boxes->dims_max[0] > INT32_MAX || boxes->dims_max[1] > INT32_MAX) {
    *out_refusal =
        (tenon_refusal_t){.reason = TENON_REFUSAL_DYNAMIC_SHAPE, .detail = "more than 2^31 boxes"};
    return 0;
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_value_info_t* boxes = table->value(region, table->node_output(region, 0, 0));
  (void)state;
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "places",
      .estimate_seconds = 1e-6 + (double)boxes->dims_opt[0] * (double)boxes->dims_opt[1] * 2e-8,
      .launches = 1};
  return add(emit, &tactic);
}

static void copy_floats(const tenon_prepare_t* call, const char* name, float* to, size_t capacity,
                        size_t* out_count) {
  const double* values = NULL;
  *out_count = 0;
  (void)call->table->attribute_floats(call->region, 0, name, &values, out_count);
  for (size_t k = 0; k < *out_count && k < capacity; ++k) {
    to[k] = (float)values[k];
  }
}

static float read_float(const tenon_prepare_t* call, const char* name) {
  double value = 0;
  (void)call->table->attribute_float(call->region, 0, name, &value);
  return (float)value;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  settings_t* settings = call->host->allocate(call->preparation, sizeof(*settings));
  size_t count = 0;
  if (settings == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  copy_floats(call, "anchors", settings->anchors,
              sizeof(settings->anchors) / sizeof(settings->anchors[0]), &count);
  copy_floats(call, "range", settings->range, 6, &count);
  copy_floats(call, "bottoms", settings->bottoms, CLASSES_MAX, &count);
  settings->classes = (int64_t)count;
  settings->score_threshold = read_float(call, "score_threshold");
  settings->dir_offset = read_float(call, "dir_offset");
  settings->dir_limit_offset = read_float(call, "dir_limit_offset");
  (void)call->table->attribute_int(call->region, 0, "dir_bins", &settings->bins);
  *out_instance = settings;
  return TENON_OK;
}

TENSORRT_KERNEL(tensorrt_boxes3d_kernels, "boxes_3d");
