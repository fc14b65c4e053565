/*
 * Detectors' last layers: boxes are decoded, those of too low a score left out, the rest looked at
 * best first; one stays unless it overlaps a better one that stays. As SSD's DetectionOutput and
 * Faster R-CNN's proposal layer do it.
 */
#include <math.h>

#include "kernels.h"

/* What stands for one box while boxes are sorted. */
typedef struct entry_t {
  tenon__number_t score;
  tenon__number_t class;
  tenon__number_t box;
} entry_t;

enum { ENTRY_NUMBERS = 3, CORNERS = 4, ROW_NUMBERS = 7 };

static entry_t* entries_of(tenon__number_t* scratch) {
  return (entry_t*)(void*)scratch;
}

/* ---- Order ---- */

/* Best first, then by class and place; or class after class. */
static bool comes_before(const entry_t* a, const entry_t* b, bool by_class) {
  if (by_class && a->class.i != b->class.i) {
    return a->class.i < b->class.i;
  }
  if (a->score.f != b->score.f) {
    return a->score.f > b->score.f;
  }
  return a->class.i != b->class.i ? a->class.i < b->class.i : a->box.i < b->box.i;
}

static void sink(entry_t* entries, int64_t root, int64_t count, bool by_class) {
  for (int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    child += child + 1 < count && comes_before(&entries[child], &entries[child + 1], by_class);
    if (!comes_before(&entries[root], &entries[child], by_class)) {
      return;
    }
    const entry_t held = entries[root];
    entries[root] = entries[child];
    entries[child] = held;
    root = child;
  }
}

/* A heap: no memory, and no bad case. */
static void sort(entry_t* entries, int64_t count, bool by_class) {
  for (int64_t root = count / 2; root-- > 0;) {
    sink(entries, root, count, by_class);
  }
  for (int64_t last = count; last-- > 1;) {
    const entry_t held = entries[0];
    entries[0] = entries[last];
    entries[last] = held;
    sink(entries, 0, last, by_class);
  }
}

/* ---- Overlap ---- */

/* `unit` 1: corners are pixels, and the last one belongs to the box. */
static double area_of(const tenon__number_t* box, double unit) {
  const double width = box[2].f - box[0].f;
  const double height = box[3].f - box[1].f;
  return width < 0 || height < 0 ? 0.0 : (width + unit) * (height + unit);
}

static double overlap_of(const tenon__number_t* a, const tenon__number_t* b, double unit) {
  const double width = fmin(a[2].f, b[2].f) - fmax(a[0].f, b[0].f) + unit;
  const double height = fmin(a[3].f, b[3].f) - fmax(a[1].f, b[1].f) + unit;
  if (!(width > 0 && height > 0)) {
    return 0.0;
  }
  const double common = width * height;
  return common / (area_of(a, unit) + area_of(b, unit) - common);
}

/* When an entry goes because of one that stays: their boxes overlap by more than `threshold`, which
 * `eta` lowers with each that stays while it is above one half. At most `limit` stay. */
typedef struct suppression_t {
  double unit; /* 1: both ends of an edge belong to it, which is one longer; 0: not */
  double threshold;
  double eta;
  int64_t limit;
} suppression_t;

/* Keeps, in place, of the sorted entries those that stay. */
static int64_t suppress(entry_t* entries, int64_t count, const tenon__number_t* boxes,
                        const suppression_t* by) {
  double threshold = by->threshold;
  int64_t kept = 0;
  for (int64_t i = 0; i < count && kept < by->limit; ++i) {
    const tenon__number_t* box = boxes + entries[i].box.i * CORNERS;
    bool stays = true;
    for (int64_t k = 0; stays && k < kept; ++k) {
      stays = overlap_of(box, boxes + entries[k].box.i * CORNERS, by->unit) <= threshold;
    }
    if (stays) {
      entries[kept++] = entries[i];
      threshold *= by->eta < 1 && threshold > 0.5 ? by->eta : 1;
    }
  }
  return kept;
}

/* ---- SSD ---- */

typedef struct detection_t {
  int64_t priors;
  int64_t classes;
  int64_t location_classes;
  int64_t background;
  int64_t top_k;
  int64_t keep_top_k;
  double score_threshold;
  double nms_threshold;
  double eta;
} detection_t;

static detection_t detection_of(const tenon__work_t* work) {
  const bool shares = tenon__work_int(work, "share_location") != 0;
  detection_t from = {.priors = tenon__work_input(work, 2)->count / 2 / CORNERS,
                      .classes = tenon__work_int(work, "classes"),
                      .background = tenon__work_int(work, "background"),
                      .top_k = tenon__work_int(work, "top_k"),
                      .keep_top_k = tenon__work_int(work, "keep_top_k"),
                      .score_threshold = tenon__work_float(work, "score_threshold"),
                      .nms_threshold = tenon__work_float(work, "nms_threshold"),
                      .eta = tenon__work_float(work, "eta")};
  from.location_classes = shares ? 1 : from.classes;
  return from;
}

/* How many boxes of one image can stay. */
static int64_t image_limit(const detection_t* from) {
  const int64_t all = from->priors * from->classes;
  return from->keep_top_k >= 0 && from->keep_top_k < all ? from->keep_top_k : all;
}

/* Boxes and candidates of one image; all that stays of it; rows of all images. */
int64_t tenon__scratch_detection_output(const tenon__work_t* work) {
  const detection_t from = detection_of(work);
  const int64_t images = tenon__work_input(work, 1)->dims[0];
  return from.priors * from.location_classes * CORNERS +
         from.priors * from.classes * ENTRY_NUMBERS + images * image_limit(&from) * ROW_NUMBERS;
}

typedef struct coder_t {
  bool by_center;
  bool by_size;   /* offsets are parts of the prior's extents */
  bool is_scaled; /* by variances */
} coder_t;

/* One box from its prior, the prior's variances, and the prediction. */
static void decode(const coder_t* coder, const tenon__number_t* prior,
                   const tenon__number_t* variances, const tenon__number_t* location,
                   tenon__number_t* out_box) {
  const double size[2] = {prior[2].f - prior[0].f, prior[3].f - prior[1].f};
  double offset[CORNERS];
  for (int k = 0; k < CORNERS; ++k) {
    offset[k] = location[k].f * (coder->is_scaled ? variances[k].f : 1.0);
  }
  if (!coder->by_center) {
    for (int k = 0; k < CORNERS; ++k) {
      out_box[k].f = prior[k].f + offset[k] * (coder->by_size ? size[k % 2] : 1.0);
    }
    return;
  }
  for (int axis = 0; axis < 2; ++axis) {
    const double middle = (prior[axis].f + prior[axis + 2].f) / 2 + offset[axis] * size[axis];
    const double half = exp(offset[axis + 2]) * size[axis] / 2;
    out_box[axis].f = middle - half;
    out_box[axis + 2].f = middle + half;
  }
}

/* Boxes of one image: class after class, where classes have their own. */
static void decode_image(const tenon__work_t* work, const detection_t* from, int64_t image,
                         tenon__number_t* out_boxes) {
  const coder_t coder = {.by_center = tenon__work_is(work, "code", "center_size"),
                         .by_size = tenon__work_is(work, "code", "corner_size"),
                         .is_scaled = tenon__work_int(work, "variance_in_target") == 0};
  const int64_t classes = from->location_classes;
  const tenon__number_t* priors = tenon__work_input(work, 2)->at;
  const tenon__number_t* locations =
      tenon__work_input(work, 0)->at + image * from->priors * classes * CORNERS;
  for (int64_t prior = 0; prior < from->priors; ++prior) {
    for (int64_t class = 0; class < classes; ++class) {
      decode(&coder, priors + prior * CORNERS, priors + (from->priors + prior) * CORNERS,
             locations + (prior * classes + class) * CORNERS,
             out_boxes + (class * from->priors + prior) * CORNERS);
    }
  }
}

/* What stays of one class, best first. */
static int64_t detect_class(const detection_t* from, const tenon__number_t* scores, int64_t class,
                            const tenon__number_t* boxes, entry_t* out_entries) {
  const int64_t first_box = from->location_classes == 1 ? 0 : class * from->priors;
  int64_t count = 0;
  for (int64_t prior = 0; prior < from->priors; ++prior) {
    const double score = scores[prior * from->classes + class].f;
    if (score > from->score_threshold) {
      out_entries[count++] =
          (entry_t){.score.f = score, .class.i = class, .box.i = first_box + prior};
    }
  }
  sort(out_entries, count, false);
  count = from->top_k >= 0 && from->top_k < count ? from->top_k : count;
  const suppression_t by = {0.0, from->nms_threshold, from->eta, count};
  return suppress(out_entries, count, boxes, &by);
}

static int64_t detect_image(const tenon__work_t* work, const detection_t* from, int64_t image,
                            const tenon__number_t* boxes, entry_t* out_entries) {
  const tenon__number_t* scores =
      tenon__work_input(work, 1)->at + image * from->priors * from->classes;
  int64_t count = 0;
  for (int64_t class = 0; class < from->classes; ++class) {
    if (class != from->background) {
      count += detect_class(from, scores, class, boxes, out_entries + count);
    }
  }
  if (from->keep_top_k >= 0 && from->keep_top_k < count) {
    sort(out_entries, count, false);
    count = from->keep_top_k;
    sort(out_entries, count, true);
  }
  return count;
}

static tenon_status_t put_rows(tenon__work_t* work, const tenon__number_t* rows, int64_t found,
                               int64_t images) {
  /* Where nothing was found there is one row for each image: -1, and which image. */
  const int64_t dims[4] = {1, 1, found > 0 ? found : images, ROW_NUMBERS};
  tenon_status_t status = tenon__work_allocate(work, 0, 4, dims);
  for (int64_t i = 0; status == TENON_OK && i < dims[2] * ROW_NUMBERS; ++i) {
    const int64_t image = i / ROW_NUMBERS;
    const tenon__number_t nothing = {.f = i % ROW_NUMBERS == 0 ? (double)image : -1.0};
    status = tenon__work_put(work, 0, i, found > 0 ? rows[i] : nothing);
  }
  return status;
}

tenon_status_t tenon__compute_detection_output(tenon__work_t* work) {
  const detection_t from = detection_of(work);
  const int64_t images = tenon__work_input(work, 1)->dims[0];
  tenon__number_t* boxes = work->scratch;
  tenon__number_t* candidates = boxes + from.priors * from.location_classes * CORNERS;
  tenon__number_t* rows = candidates + from.priors * from.classes * ENTRY_NUMBERS;
  int64_t found = 0;
  for (int64_t image = 0; image < images; ++image) {
    entry_t* entries = entries_of(candidates);
    decode_image(work, &from, image, boxes);
    const int64_t count = detect_image(work, &from, image, boxes, entries);
    for (int64_t i = 0; i < count; ++i) {
      tenon__number_t* row = rows + found++ * ROW_NUMBERS;
      row[0].f = (double)image;
      row[1].f = (double)entries[i].class.i;
      row[2] = entries[i].score;
      for (int64_t k = 0; k < CORNERS; ++k) {
        row[3 + k] = boxes[entries[i].box.i * CORNERS + k];
      }
    }
  }
  return put_rows(work, rows, found, images);
}

/* ---- Faster R-CNN ---- */

/* Boxes and candidates of one image, and how many stay; then the rows of all of them. */
int64_t tenon__scratch_propose_regions(const tenon__work_t* work) {
  const tenon__array_t* scores = tenon__work_input(work, 0);
  const int64_t images = scores->dims[0];
  const int64_t each = images > 0 ? scores->count / images : 0;
  const int64_t post = tenon__work_int(work, "post_top");
  const int64_t kept = post < each ? post : each;
  return each * (CORNERS + ENTRY_NUMBERS) + images * kept * (CORNERS + 2);
}

/* The anchor at a place, moved and stretched as predicted, cut at the image's borders. */
static void propose(const double* anchor, const double corner[2], const double* delta,
                    const double* image, tenon__number_t* out_box) {
  for (int axis = 0; axis < 2; ++axis) {
    const double size = anchor[axis + 2] - anchor[axis] + 1;
    const double middle = anchor[axis] + corner[axis] + size / 2 + delta[axis] * size;
    const double half = exp(delta[axis + 2]) * size / 2;
    const double last = image[1 - axis] - 1;
    out_box[axis].f = fmax(fmin(middle - half, last), 0);
    out_box[axis + 2].f = fmax(fmin(middle + half, last), 0);
  }
}

/* Boxes that are large enough, in the order of places; returns how many. */
static int64_t propose_image(const tenon__work_t* work, int64_t image, tenon__number_t* out_boxes,
                             entry_t* out_entries) {
  const tenon__array_t* scores = tenon__work_input(work, 0);
  const tenon__array_t* info = tenon__work_input(work, 2);
  const tenon__attribute_t* anchors = tenon__work_attribute(work, "anchors");
  const int64_t columns = scores->dims[3];
  const int64_t plane = scores->dims[2] * columns;
  const int64_t kinds = scores->dims[1];
  const int64_t width = info->dims[info->rank - 1];
  const tenon__number_t* about = info->at + (info->count == width ? 0 : image * width);
  const double extents[2] = {about[0].f, about[1].f};
  const double least = tenon__work_float(work, "min_size") * (width > 2 ? about[2].f : 1.0);
  const double stride = (double)tenon__work_int(work, "stride");
  int64_t count = 0;
  for (int64_t i = 0; i < plane * kinds; ++i) {
    const int64_t kind = i % kinds;
    const int64_t place = i / kinds;
    double delta[CORNERS];
    for (int64_t k = 0; k < CORNERS; ++k) {
      delta[k] =
          tenon__work_input(work, 1)->at[((image * kinds + kind) * CORNERS + k) * plane + place].f;
    }
    tenon__number_t* box = out_boxes + i * CORNERS;
    const int64_t row = place / columns;
    const int64_t column = place % columns;
    const double corner[2] = {(double)column * stride, (double)row * stride};
    propose(anchors->numbers + kind * CORNERS, corner, delta, extents, box);
    if (box[2].f - box[0].f + 1 >= least && box[3].f - box[1].f + 1 >= least) {
      const double score = scores->at[(image * kinds + kind) * plane + place].f;
      out_entries[count++] = (entry_t){.score.f = score, .class.i = 0, .box.i = i};
    }
  }
  return count;
}

/* Rows of all images: image, box, score. Returns how many. */
static int64_t propose_all(tenon__work_t* work, tenon__number_t** out_rows) {
  const tenon__array_t* scores = tenon__work_input(work, 0);
  const int64_t images = scores->dims[0];
  const int64_t each = images > 0 ? scores->count / images : 0;
  const int64_t pre_top = tenon__work_int(work, "pre_top");
  const int64_t post_top = tenon__work_int(work, "post_top");
  tenon__number_t* boxes = work->scratch;
  tenon__number_t* candidates = boxes + each * CORNERS;
  tenon__number_t* rows = candidates + each * ENTRY_NUMBERS;
  int64_t found = 0;
  *out_rows = rows;
  for (int64_t image = 0; image < images; ++image) {
    entry_t* entries = entries_of(candidates);
    int64_t count = propose_image(work, image, boxes, entries);
    sort(entries, count, false);
    count = pre_top > 0 && pre_top < count ? pre_top : count;
    const suppression_t by = {1.0, tenon__work_float(work, "iou_threshold"), 1.0, post_top};
    count = suppress(entries, count, boxes, &by);
    for (int64_t i = 0; i < count; ++i) {
      tenon__number_t* row = rows + found++ * (CORNERS + 2);
      row[0].f = (double)image;
      for (int64_t k = 0; k < CORNERS; ++k) {
        row[1 + k] = boxes[entries[i].box.i * CORNERS + k];
      }
      row[CORNERS + 1] = entries[i].score;
    }
  }
  return found;
}

tenon_status_t tenon__compute_propose_regions(tenon__work_t* work) {
  tenon__number_t* rows = NULL;
  const int64_t found = propose_all(work, &rows);
  const int64_t dims[2] = {found, CORNERS + 1};
  const int64_t best_dims[2] = {found, 1};
  const bool wants_best = tenon__work_output(work, 1) != NULL;
  tenon_status_t status = tenon__work_allocate(work, 0, 2, dims);
  if (status == TENON_OK && wants_best) {
    status = tenon__work_allocate(work, 1, 2, best_dims);
  }
  if (status == TENON_OK) {
    for (int64_t i = 0; i < found; ++i) {
      const tenon__number_t* row = rows + i * (CORNERS + 2);
      for (int64_t k = 0; k <= CORNERS; ++k) {
        (void)tenon__work_put(work, 0, i * (CORNERS + 1) + k, row[k]);
      }
      if (wants_best) {
        (void)tenon__work_put(work, 1, i, row[CORNERS + 1]);
      }
    }
  }
  return status;
}

tenon_status_t tenon__compute_propose_regions_padded(tenon__work_t* work) {
  tenon__array_t* rois = tenon__work_output(work, 0);
  tenon__number_t* rows = NULL;
  const int64_t found = propose_all(work, &rows);
  int64_t place = 0; /* in its image */
  for (int64_t i = 0; i < rois->count; ++i) {
    rois->at[i].f = 0;
  }
  for (int64_t i = 0; i < found; ++i) {
    const tenon__number_t* row = rows + i * (CORNERS + 2);
    place = i > 0 && row[0].f == row[-(CORNERS + 2)].f ? place + 1 : 0;
    for (int64_t k = 0; k < CORNERS; ++k) {
      rois->at[((int64_t)row[0].f * rois->dims[1] + place) * CORNERS + k] = row[1 + k];
    }
  }
  return TENON_OK;
}
