/* The operator tensorrt.select_boxes/1 and its kernel for the CPU. */
#include "select.h"

#include "offer.h"

static const tenon_attribute_descriptor_t attributes[] = {
    TENSORRT_INT("keep", "100", "1..16777216"), TENSORRT_INT("top", "4096", "1..16777216"),
    TENSORRT_INT("by_class", "0", "0..1"),      TENSORRT_INT("keep_of_class", "-1", "-1..16777216"),
    TENSORRT_INT("background", "-1", NULL),     TENSORRT_INT("agnostic", "0", "0..1"),
    TENSORRT_INT("inclusive", "0", "0..3"),     TENSORRT_INT("pixels", "0", "0..2"),
    TENSORRT_FLOAT("score_threshold", "0.0"),   TENSORRT_FLOAT("iou_threshold", "0.5")};
static const tenon_port_t inputs[] = {TENSORRT_PORT_IN("boxes", "f32", "[0,1]"),
                                      TENSORRT_PORT_IN("scores", "f32", "[0,1]")};
static const tenon_port_t outputs[] = {TENSORRT_PORT("count", "i32"), TENSORRT_PORT("index", "i32"),
                                       TENSORRT_PORT("label", "i32"), TENSORRT_PORT("score", "f32"),
                                       TENSORRT_PORT("box", "f32")};
static const tenon_check_t checks[] = {
    TENSORRT_CHECK("rank(boxes) == 4 && dim(boxes, 3) == 4",
                   "boxes have rank {rank(boxes)}, not 4 with 4 numbers each"),
    TENSORRT_CHECK("rank(scores) == 3", "scores have rank {rank(scores)}, not 3"),
    TENSORRT_CHECK("dim(scores, 0) == dim(boxes, 0) && dim(scores, 1) == dim(boxes, 1)",
                   "{dim(boxes, 1)} boxes in {dim(boxes, 0)} images, scores of {dim(scores, 1)} in"
                   " {dim(scores, 0)}"),
    TENSORRT_CHECK("dim(boxes, 2) == 1 || dim(boxes, 2) == dim(scores, 2)",
                   "boxes of {dim(boxes, 2)} classes, scores of {dim(scores, 2)}"),
    TENSORRT_CHECK("by_class + agnostic + (keep_of_class >= 0 ? 1 : 0) <= 1",
                   "by_class, agnostic and keep_of_class exclude each other")};
static const tenon_operator_t operators[] = {
    {.size = sizeof(tenon_operator_t),
     .name = "tensorrt.select_boxes/1",
     .summary = "the boxes of highest score that no better one overlaps",
     .attributes = TENON_LIST(attributes),
     .inputs = TENON_LIST(inputs),
     .outputs = TENON_LIST(outputs),
     .checks = TENON_LIST(checks),
     .shape = "count = [dim(boxes, 0)]; index = [dim(boxes, 0), keep];"
              "label = [dim(boxes, 0), keep]; score = [dim(boxes, 0), keep];"
              "box = [dim(boxes, 0), keep, 4]",
     .traits = "pure"}};
const tenon_offering_t tensorrt_select_operators = TENON_OFFERING_OF("operator/1", operators);

/* ---- The kernel ---- */

static void read_settings(const tenon_region_t* region, const tenon_region_table_t* table,
                          tensorrt_select_t* out) {
  const struct {
    const char* name;
    int64_t* to;
  } ints[] = {{"keep", &out->keep},
              {"top", &out->top},
              {"by_class", &out->by_class},
              {"keep_of_class", &out->keep_of_class},
              {"background", &out->background},
              {"agnostic", &out->agnostic},
              {"inclusive", &out->inclusive},
              {"pixels", &out->pixels}};
  double number = 0;
  for (size_t k = 0; k < sizeof(ints) / sizeof(ints[0]); ++k) {
    (void)table->attribute_int(region, 0, ints[k].name, ints[k].to);
  }
  (void)table->attribute_float(region, 0, "score_threshold", &number);
  out->score_threshold = (float)number;
  (void)table->attribute_float(region, 0, "iou_threshold", &number);
  out->iou_threshold = (float)number;
}

/* Scratch of one image at the largest extents. */
static uint64_t scratch_bytes(const tenon_region_t* region, const tenon_region_table_t* table) {
  const tenon_value_info_t* scores = table->value(region, table->node_input(region, 0, 1));
  tensorrt_select_t settings = {0};
  read_settings(region, table, &settings);
  return tensorrt_select_scratch(&settings, scores->dims_max[1], scores->dims_max[2]);
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  if (scratch_bytes(region, table) == UINT64_MAX) {
    *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_DYNAMIC_SHAPE,
                                     .detail = "more than 2^31 scores of an image"};
    return 0;
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_value_info_t* scores = table->value(region, table->node_input(region, 0, 1));
  (void)state;
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "heap",
                                 .scratch_bytes_per_thread = scratch_bytes(region, table),
                                 .estimate_seconds = 1e-6 + (double)scores->dims_opt[0] *
                                                                (double)scores->dims_opt[1] *
                                                                (double)scores->dims_opt[2] * 2e-9,
                                 .launches = 1};
  return add(emit, &tactic);
}

typedef struct instance_t {
  tensorrt_select_t settings;
  uint64_t scratch_bytes; /* of one thread */
} instance_t;

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  read_settings(call->region, call->table, &instance->settings);
  instance->scratch_bytes = scratch_bytes(call->region, call->table);
  *out_instance = instance;
  return TENON_OK;
}

static void select_one(void* user, uint32_t index, uint32_t thread) {
  const tenon_enqueue_t* call = user;
  const instance_t* instance = call->instance;
  const tenon_tensor_view_t* boxes = &call->inputs[0].tensor;
  const tenon_tensor_view_t* scores = &call->inputs[1].tensor;
  const int64_t keep = instance->settings.keep;
  const int64_t n = index;
  char* scratch = call->host->scratch(call->run);
  tensorrt_selection_t image = {.settings = &instance->settings,
                                .places = scores->dims[1],
                                .classes = scores->dims[2],
                                .box_classes = boxes->dims[2]};
  image.boxes = (const float*)boxes->data + n * image.places * image.box_classes * 4;
  image.scores = (const float*)scores->data + n * image.places * image.classes;
  image.count = (int32_t*)call->outputs[0].tensor.data + n;
  image.index = (int32_t*)call->outputs[1].tensor.data + n * keep;
  image.label = (int32_t*)call->outputs[2].tensor.data + n * keep;
  image.score = (float*)call->outputs[3].tensor.data + n * keep;
  image.box = (float*)call->outputs[4].tensor.data + n * keep * 4;
  tensorrt_select_image(&image, scratch + thread * instance->scratch_bytes);
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  return tensorrt_each(call, call->inputs[1].tensor.dims[0], select_one);
}

TENSORRT_KERNEL(tensorrt_select_kernels, "select_boxes");
