/* Detectors: SSD's priors and detections, Faster R-CNN's proposals. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

/* ---- SSD's priors ---- */

enum { PRIOR_LIMIT = 1024, CORNERS = 4 };

/* What is put around the middle of each place: half extents, in pixels. */
typedef struct priors_t {
  double half_width[PRIOR_LIMIT];
  double half_height[PRIOR_LIMIT];
  size_t count;
} priors_t;

static void add_prior(tenon_make_t* make, priors_t* priors, double width, double height) {
  if (priors->count == PRIOR_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "it has more than %d priors", PRIOR_LIMIT);
    return;
  }
  priors->half_width[priors->count] = width / 2;
  priors->half_height[priors->count++] = height / 2;
}

/* Ratios other than 1, each once, with their inverses where that is asked for. */
static size_t read_ratios(tenon_make_t* make, double* out_ratios, size_t capacity) {
  const double* given = NULL;
  size_t given_count = 0;
  size_t count = 0;
  const bool flips = tenon_make_get_int(make, "prior_box_param.flip", 1) != 0;
  (void)tenon_make_get_floats(make, "prior_box_param.aspect_ratio", &given, &given_count);
  for (size_t i = 0; i < given_count; ++i) {
    bool is_new = fabs(given[i] - 1) >= 1e-6;
    for (size_t k = 0; k < count; ++k) {
      is_new = is_new && fabs(given[i] - out_ratios[k]) >= 1e-6;
    }
    if (!is_new) {
      continue;
    }
    if (!(given[i] > 0) || count + 2 > capacity) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "aspect_ratio %g, or too many of them",
                      given[i]);
      return count;
    }
    out_ratios[count++] = given[i];
    if (flips) {
      out_ratios[count++] = 1 / given[i];
    }
  }
  return count;
}

/* For each size a square, one that is between it and the larger size, and the ratios. */
static void read_priors(tenon_make_t* make, priors_t* out_priors) {
  double ratios[64];
  const double* sizes = NULL;
  const double* larger = NULL;
  size_t size_count = 0;
  size_t larger_count = 0;
  const size_t ratio_count = read_ratios(make, ratios, sizeof(ratios) / sizeof(ratios[0]));
  (void)tenon_make_get_floats(make, "prior_box_param.min_size", &sizes, &size_count);
  (void)tenon_make_get_floats(make, "prior_box_param.max_size", &larger, &larger_count);
  out_priors->count = 0;
  if (size_count == 0 || (larger_count > 0 && larger_count != size_count)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%zu min_size and %zu max_size: it needs one min_size, and max_size for each "
                    "or for none",
                    size_count, larger_count);
    return;
  }
  for (size_t i = 0; i < size_count; ++i) {
    add_prior(make, out_priors, sizes[i], sizes[i]);
    if (larger_count > 0) {
      const double between = sqrt(sizes[i] * larger[i]);
      add_prior(make, out_priors, between, between);
    }
    for (size_t k = 0; k < ratio_count; ++k) {
      add_prior(make, out_priors, sizes[i] * sqrt(ratios[k]), sizes[i] / sqrt(ratios[k]));
    }
  }
}

static tenon_value_t number(tenon_make_t* make, double value) {
  return tenon_make_number(make, TENON_DTYPE_FLOAT32, value);
}

/* An extent as a whole number, symbolic perhaps. */
static tenon_value_t extent_of(tenon_make_t* make, tenon_value_t value, int64_t axis) {
  return tenon_make_2(make, "gather", tenon_make_shape(make, value), tenon_make_int64(make, axis));
}

/* The picture's height (0) or width (1): given, or the second bottom's. */
static tenon_value_t picture_extent(tenon_make_t* make, uint32_t axis) {
  static const char* const names[2] = {"prior_box_param.img_h", "prior_box_param.img_w"};
  const int64_t both = tenon_make_get_int(make, "prior_box_param.img_size", 0);
  const int64_t given = tenon_make_get_int(make, names[axis], both);
  if (given > 0) {
    return number(make, (double)given);
  }
  if (!tenon_make_has_input(make, 1)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "it has neither img_size nor a second bottom: the picture's extents");
  }
  return tenon_make_cast(make, extent_of(make, tenon_make_input(make, 1), 2 + axis),
                         TENON_DTYPE_FLOAT32);
}

/* Middles of the places along an axis of the map, in pixels, with ones for the other axes. */
static tenon_value_t middles(tenon_make_t* make, uint32_t axis, tenon_value_t picture) {
  static const char* const names[2] = {"prior_box_param.step_h", "prior_box_param.step_w"};
  const double both = tenon_make_get_float(make, "prior_box_param.step", 0);
  const double given = tenon_make_get_float(make, names[axis], both);
  const tenon_value_t extent = extent_of(make, tenon_make_input(make, 0), 2 + axis);
  const tenon_value_t step = given > 0
                                 ? number(make, given)
                                 : tenon_make_math_2(make, "y = a / cast(b, f32)", picture, extent);
  const tenon_value_t places =
      tenon_make_3(make, "arange", tenon_make_int64(make, 0), extent, tenon_make_int64(make, 1));
  const tenon_value_t values[3] = {
      places, number(make, tenon_make_get_float(make, "prior_box_param.offset", 0.5)), step};
  int64_t dims[4] = {1, 1, 1, 1};
  dims[axis] = -1;
  return tenon_make_reshape(make, tenon_make_math(make, "y = (cast(a, f32) + b) * c", 3, values),
                            dims, 4);
}

/* [1, 1, priors, 4]: from the middle to each corner. */
static tenon_value_t reaches(tenon_make_t* make, const priors_t* priors) {
  const int64_t dims[4] = {1, 1, (int64_t)priors->count, CORNERS};
  float* values = tenon_make_memory(make, priors->count * CORNERS, sizeof(*values));
  if (values != NULL) {
    for (size_t i = 0; i < priors->count; ++i) {
      values[i * CORNERS] = (float)-priors->half_width[i];
      values[i * CORNERS + 1] = (float)-priors->half_height[i];
      values[i * CORNERS + 2] = (float)priors->half_width[i];
      values[i * CORNERS + 3] = (float)priors->half_height[i];
    }
  }
  return tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 4, dims, values);
}

static tenon_value_t four(tenon_make_t* make, const float* values) {
  static const int64_t dims[1] = {CORNERS};
  return tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 1, dims, values);
}

static tenon_value_t variances(tenon_make_t* make) {
  const double* given = NULL;
  size_t count = 0;
  float values[CORNERS];
  (void)tenon_make_get_floats(make, "prior_box_param.variance", &given, &count);
  if (count > 1 && count != CORNERS) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%zu variances, not 1 or 4", count);
  }
  for (size_t i = 0; i < CORNERS; ++i) {
    values[i] = count == 0 ? 0.1F : (float)given[count == CORNERS ? i : 0];
  }
  return four(make, values);
}

/* [1, 2, places priors 4]: corners as parts of the picture, then variances. */
static void prior_box(tenon_make_t* make) {
  static const float is_row[CORNERS] = {0, 1, 0, 1};
  static const int64_t flat[3] = {1, 1, -1};
  priors_t* priors = tenon_make_memory(make, 1, sizeof(*priors));
  if (priors == NULL) {
    return;
  }
  read_priors(make, priors);
  const tenon_value_t height = picture_extent(make, 0);
  const tenon_value_t width = picture_extent(make, 1);
  const bool clips = tenon_make_get_int(make, "prior_box_param.clip", 0) != 0;
  const tenon_value_t values[6] = {middles(make, 1, width),
                                   middles(make, 0, height),
                                   reaches(make, priors),
                                   four(make, is_row),
                                   width,
                                   height};
  const tenon_value_t boxes =
      tenon_make_math(make,
                      clips ? "y = clamp(d == 0 ? (a + c) / e : (b + c) / f, 0, 1)"
                            : "y = d == 0 ? (a + c) / e : (b + c) / f",
                      6, values);
  const tenon_value_t spread =
      tenon_make_2(make, "broadcast_to", variances(make), tenon_make_shape(make, boxes));
  const tenon_value_t both[2] = {tenon_make_reshape(make, boxes, flat, 3),
                                 tenon_make_reshape(make, spread, flat, 3)};
  tenon_make_output(make, 0, tenon_make_concat(make, 1, 2, both));
}

/* ---- SSD's detections ---- */

/* Compared with scores, which are of single precision, like Caffe's own. */
static void set_single(tenon_make_t* make, const char* field, const char* attribute) {
  if (tenon_make_has(make, field)) {
    tenon_make_set_float(make, attribute, (double)(float)tenon_make_get_float(make, field, 0));
  }
}

static void detection_output(tenon_make_t* make) {
  const char* code = tenon_make_get_string(make, "detection_output_param.code_type", "CORNER");
  tenon_make_begin(make, "detection_output");
  tenon_make_pass_all(make,
                      "detection_output_param.num_classes>classes"
                      " detection_output_param.share_location>share_location"
                      " detection_output_param.background_label_id>background");
  tenon_make_pass_all(make,
                      "detection_output_param.variance_encoded_in_target>variance_in_target"
                      " detection_output_param.keep_top_k>keep_top_k"
                      " detection_output_param.nms_param.top_k>top_k"
                      " detection_output_param.nms_param.eta>eta");
  set_single(make, "detection_output_param.confidence_threshold", "score_threshold");
  set_single(make, "detection_output_param.nms_param.nms_threshold", "nms_threshold");
  tenon_make_set_string(make, "code",
                        strcmp(code, "CENTER_SIZE") == 0   ? "center_size"
                        : strcmp(code, "CORNER_SIZE") == 0 ? "corner_size"
                                                           : "corner");
  for (uint32_t i = 0; i < 3; ++i) {
    tenon_make_add(make, tenon_make_input(make, i));
  }
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* ---- Faster R-CNN ---- */

enum { ANCHOR_LIMIT = 256 };

typedef struct proposal_t {
  double anchors[ANCHOR_LIMIT * CORNERS];
  size_t anchor_count;
  int64_t stride;
  int64_t pre_top;
  int64_t post_top;
  double threshold;
  double min_size;
} proposal_t;

/* How the boxes of a place differ. */
typedef struct anchor_kinds_t {
  const double* ratios;
  size_t ratio_count;
  const double* scales;
  size_t scale_count;
} anchor_kinds_t;

/* Boxes of the same area in each ratio, at each scale, around the middle of a square. */
static void make_anchors(tenon_make_t* make, proposal_t* proposal, double base,
                         const anchor_kinds_t* kinds) {
  const double middle = (base - 1) / 2;
  const double* scales = kinds->scales;
  if (kinds->ratio_count == 0 || kinds->scale_count == 0 ||
      kinds->ratio_count * kinds->scale_count > ANCHOR_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%zu ratios and %zu scales: it needs some, and at most %d anchors",
                    kinds->ratio_count, kinds->scale_count, ANCHOR_LIMIT);
    return;
  }
  for (size_t r = 0; r < kinds->ratio_count; ++r) {
    const double width = rint(sqrt(base * base / kinds->ratios[r]));
    const double height = rint(width * kinds->ratios[r]);
    for (size_t s = 0; s < kinds->scale_count; ++s) {
      double* anchor = proposal->anchors + proposal->anchor_count++ * CORNERS;
      anchor[0] = middle - (width * scales[s] - 1) / 2;
      anchor[1] = middle - (height * scales[s] - 1) / 2;
      anchor[2] = middle + (width * scales[s] - 1) / 2;
      anchor[3] = middle + (height * scales[s] - 1) / 2;
    }
  }
}

/* Of scores [N, 2 anchors, H, W] the second half are those of objects. */
static void begin_proposal(tenon_make_t* make, const char* op, const proposal_t* from) {
  const tenon_value_t scores = tenon_make_input(make, 0);
  const int64_t count = (int64_t)from->anchor_count;
  const int64_t channels = tenon__caffe_extent(make, scores, 1);
  if (channels != 2 * count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%" PRId64 " channels of scores for %" PRId64 " anchors", channels, count);
  }
  const tenon_value_t objects = tenon_make_slice(make, scores, 1, count, channels);
  tenon_make_begin(make, op);
  tenon_make_set_floats(make, "anchors", from->anchors, from->anchor_count * CORNERS);
  tenon_make_set_int(make, "stride", from->stride);
  tenon_make_set_int(make, "pre_top", from->pre_top);
  tenon_make_set_int(make, "post_top", from->post_top);
  tenon_make_set_float(make, "iou_threshold", from->threshold);
  tenon_make_set_float(make, "min_size", from->min_size);
  tenon_make_add(make, objects);
  tenon_make_add(make, tenon_make_input(make, 1));
}

static void finish_proposal(tenon_make_t* make, const proposal_t* from) {
  tenon_value_t found[2] = {{0}, {0}};
  begin_proposal(make, "propose_regions", from);
  tenon_make_add(make, tenon_make_input(make, 2));
  tenon_make_end_many(make, found, make->output_count > 1 ? 2 : 1);
  tenon_make_output(make, 0, found[0]);
  tenon_make_output(make, 1, found[1]);
}

static const double usual_ratios[3] = {0.5, 1, 2};
static const double usual_scales[3] = {8, 16, 32};

static void proposal(tenon_make_t* make) {
  proposal_t* from = tenon_make_memory(make, 1, sizeof(*from));
  const double* ratios = usual_ratios;
  const double* scales = usual_scales;
  size_t ratio_count = 0;
  size_t scale_count = 0;
  if (from == NULL) {
    return;
  }
  if (!tenon_make_get_floats(make, "proposal_param.ratio", &ratios, &ratio_count)) {
    ratios = usual_ratios;
    ratio_count = 3;
  }
  if (!tenon_make_get_floats(make, "proposal_param.scale", &scales, &scale_count)) {
    scales = usual_scales;
    scale_count = 3;
  }
  from->stride = tenon_make_get_int(make, "proposal_param.feat_stride", 16);
  from->pre_top = tenon_make_get_int(make, "proposal_param.pre_nms_topn", 6000);
  from->post_top = tenon_make_get_int(make, "proposal_param.post_nms_topn", 300);
  from->threshold = tenon_make_get_float(make, "proposal_param.nms_thresh", 0.7);
  from->min_size = tenon_make_get_float(make, "proposal_param.min_size", 16);
  const anchor_kinds_t kinds = {ratios, ratio_count, scales, scale_count};
  make_anchors(make, from, (double)tenon_make_get_int(make, "proposal_param.base_size", 16),
               &kinds);
  finish_proposal(make, from);
}

/* Numbers of `'name': 16` or `'name': (8, 16, 32)` in a text; returns how many. */
static size_t read_setting(const char* text, const char* name, double* out_values,
                           size_t capacity) {
  const char* at = strstr(text, name);
  size_t count = 0;
  at = at == NULL ? NULL : strchr(at, ':');
  if (at == NULL) {
    return 0;
  }
  for (at += strspn(at, ": ([\t"); count < capacity; at += strspn(at, ", \t")) {
    char* end = NULL;
    const double value = strtod(at, &end);
    if (end == at) {
      break;
    }
    out_values[count++] = value;
    at = end;
  }
  return count;
}

/* The layer in Python that came with Faster R-CNN, with the settings it has for tests. */
static void python_proposal(tenon_make_t* make) {
  proposal_t* from = tenon_make_memory(make, 1, sizeof(*from));
  const char* text = tenon_make_get_string(make, "python_param.param_str", "");
  double stride[1] = {16};
  double scales[ANCHOR_LIMIT];
  if (from == NULL) {
    return;
  }
  (void)read_setting(text, "feat_stride", stride, 1);
  const size_t scale_count = read_setting(text, "scales", scales, ANCHOR_LIMIT);
  from->stride = tenon_make_to_int64(stride[0]);
  from->pre_top = 6000;
  from->post_top = 300;
  from->threshold = 0.7;
  from->min_size = 16;
  const anchor_kinds_t kinds = {usual_ratios, 3, scale_count > 0 ? scales : usual_scales,
                                scale_count > 0 ? scale_count : 3};
  make_anchors(make, from, 16, &kinds);
  finish_proposal(make, from);
}

/* Rows of rois with the number of their picture before them. */
static tenon_value_t with_pictures(tenon_make_t* make, tenon_value_t rois, int64_t each) {
  static const int64_t rows[2] = {-1, CORNERS};
  static const int64_t columns[2] = {-1, 1};
  const tenon_value_t pictures = tenon_make_3(make, "arange", tenon_make_int64(make, 0),
                                              extent_of(make, rois, 0), tenon_make_int64(make, 1));
  const int64_t repeats[2] = {1, each};
  const tenon_value_t repeated =
      tenon_make_2(make, "tile", tenon_make_reshape(make, pictures, columns, 2),
                   tenon_make_int64s(make, repeats, 2));
  const tenon_value_t both[2] = {
      tenon_make_cast(make, tenon_make_reshape(make, repeated, columns, 2), TENON_DTYPE_FLOAT32),
      tenon_make_reshape(make, rois, rows, 2)};
  return tenon_make_concat(make, 1, 2, both);
}

/* NVIDIA's: proposals, always as many, and what is pooled of them, in one layer. */
static void proposal_and_pooling(tenon_make_t* make) {
  proposal_t* from = tenon_make_memory(make, 1, sizeof(*from));
  const double* ratios = NULL;
  const double* scales = NULL;
  size_t ratio_count = 0;
  size_t scale_count = 0;
  const int64_t pooled[2] = {tenon_make_get_int(make, "roi_pooling_param.pooled_h", 0),
                             tenon_make_get_int(make, "roi_pooling_param.pooled_w", 0)};
  if (from == NULL) {
    return;
  }
  (void)tenon_make_get_floats(make, "region_proposal_param.anchor_ratio", &ratios, &ratio_count);
  (void)tenon_make_get_floats(make, "region_proposal_param.anchor_scale", &scales, &scale_count);
  const int64_t counts[2] = {
      tenon_make_get_int(make, "region_proposal_param.anchor_ratio_count", (int64_t)ratio_count),
      tenon_make_get_int(make, "region_proposal_param.anchor_scale_count", (int64_t)scale_count)};
  if (counts[0] != (int64_t)ratio_count || counts[1] != (int64_t)scale_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%zu ratios and %zu scales are given, its counts say %" PRId64 " and %" PRId64,
                    ratio_count, scale_count, counts[0], counts[1]);
  }
  from->stride = tenon_make_get_int(make, "region_proposal_param.feature_stride", 16);
  from->pre_top = tenon_make_get_int(make, "region_proposal_param.prenms_top", 6000);
  from->post_top = tenon_make_get_int(make, "region_proposal_param.nms_max_out", 300);
  from->threshold = tenon_make_get_float(make, "region_proposal_param.iou_threshold", 0.7);
  from->min_size = tenon_make_get_float(make, "region_proposal_param.min_box_size", 16);
  const anchor_kinds_t kinds = {ratios, ratio_count, scales, scale_count};
  make_anchors(make, from, (double)from->stride, &kinds);
  begin_proposal(make, "propose_regions_padded", from);
  tenon_make_add(make, tenon_make_input(make, 3));
  const tenon_value_t rois = tenon_make_end(make);
  const int64_t each = from->post_top;
  static const int64_t second = 1;
  tenon_make_output(make, 0, tenon_make_unsqueeze(make, rois, &second, 1));
  const tenon_value_t lines = with_pictures(make, rois, each);
  tenon_make_begin(make, "max_roi_pool");
  tenon_make_set_ints(make, "pooled_shape", pooled, 2);
  tenon_make_pass_all(make, "roi_pooling_param.spatial_scale>spatial_scale=1.0");
  tenon_make_add(make, tenon_make_input(make, 2));
  tenon_make_add(make, lines);
  const tenon_value_t y = tenon_make_end(make);
  const int64_t channels = tenon__caffe_extent(make, tenon_make_input(make, 2), 1);
  const int64_t dims[5] = {-1, each, channels, pooled[0], pooled[1]};
  tenon_make_output(make, 1, tenon_make_reshape(make, y, dims, 5));
}

#define ROW(domain, type, function) TENON__CAFFE_ROW(domain, type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("", "DetectionOutput", detection_output),
    ROW("", "PriorBox", prior_box),
    ROW("", "Proposal", proposal),
    ROW("rpn.proposal_layer", "ProposalLayer", python_proposal),
    ROW("", "RPROI", proposal_and_pooling),
};
TENON__CAFFE_FAMILY(detection);
