/* Regions of interest: roi_align, max_roi_pool, non_max_suppression. */
#include <math.h>

#include "kernels.h"

/* One region in pixels of x, cut into bins. */
typedef struct region_t {
  double top;
  double left;
  double bin_height;
  double bin_width;
  int64_t rows; /* of samples in a bin */
  int64_t columns;
} region_t;

/* The four pixels around a sample, and their weights; all weights 0 when it is too far outside. */
typedef struct corners_t {
  int64_t places[4];
  double weights[4];
} corners_t;

static corners_t corners_of(double row, double column, int64_t height, int64_t width) {
  corners_t corners = {{0, 0, 0, 0}, {0.0, 0.0, 0.0, 0.0}};
  if (row < -1.0 || row > (double)height || column < -1.0 || column > (double)width) {
    return corners;
  }
  row = fmin(fmax(row, 0.0), (double)(height - 1));
  column = fmin(fmax(column, 0.0), (double)(width - 1));
  int64_t top = (int64_t)row;
  int64_t left = (int64_t)column;
  int64_t bottom = top + 1 < height ? top + 1 : top;
  int64_t right = left + 1 < width ? left + 1 : left;
  double down = row - (double)top;
  double across = column - (double)left;
  for (int corner = 0; corner < 4; ++corner) {
    int64_t r = corner / 2 == 0 ? top : bottom;
    int64_t c = corner % 2 == 0 ? left : right;
    corners.places[corner] = r * width + c;
    corners.weights[corner] =
        (corner / 2 == 0 ? 1.0 - down : down) * (corner % 2 == 0 ? 1.0 - across : across);
  }
  return corners;
}

/* The mean (or the maximum) of the samples of one bin. */
static double pool_bin(const region_t* region, const tenon__number_t* plane, const int64_t* dims,
                       int64_t bin_row, int64_t bin_column, bool takes_max) {
  double result = 0.0;
  for (int64_t sample = 0; sample < region->rows * region->columns; ++sample) {
    int64_t sample_row = sample / region->columns;
    int64_t sample_column = sample % region->columns;
    double down = (double)bin_row + ((double)sample_row + 0.5) / (double)region->rows;
    double across = (double)bin_column + ((double)sample_column + 0.5) / (double)region->columns;
    double row = region->top + down * region->bin_height;
    double column = region->left + across * region->bin_width;
    corners_t corners = corners_of(row, column, dims[0], dims[1]);
    for (int corner = 0; corner < 4; ++corner) {
      double part = corners.weights[corner] * plane[corners.places[corner]].f;
      bool first = sample == 0 && corner == 0;
      result = !takes_max ? result + part : first ? part : fmax(result, part);
    }
  }
  int64_t count = region->rows * region->columns;
  return takes_max || count == 0 ? result : result / (double)count;
}

static region_t region_of(const tenon__work_t* work, const tenon__number_t* roi,
                          const tenon__array_t* y) {
  double scale = tenon__work_float(work, "spatial_scale");
  int64_t ratio = tenon__work_int(work, "sampling_ratio");
  bool half_pixel = tenon__work_is(work, "coordinate_mode", "half_pixel");
  double offset = half_pixel ? 0.5 : 0.0;
  region_t region = {.top = roi[1].f * scale - offset, .left = roi[0].f * scale - offset};
  double width = roi[2].f * scale - offset - region.left;
  double height = roi[3].f * scale - offset - region.top;
  if (!half_pixel) {
    width = fmax(width, 1.0);
    height = fmax(height, 1.0);
  }
  region.bin_height = height / (double)y->dims[2];
  region.bin_width = width / (double)y->dims[3];
  /* A region that ends before it begins has no samples. */
  region.rows = ratio > 0 ? ratio : (int64_t)fmax(ceil(region.bin_height), 0.0);
  region.columns = ratio > 0 ? ratio : (int64_t)fmax(ceil(region.bin_width), 0.0);
  return region;
}

tenon_status_t tenon__compute_roi_align(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* rois = tenon__work_input(work, 1);
  const tenon__array_t* batches = tenon__work_input(work, 2);
  tenon__array_t* y = tenon__work_output(work, 0);
  bool takes_max = tenon__work_is(work, "mode", "max");
  int64_t bins = y->dims[2] * y->dims[3];
  for (int64_t place = 0; place < y->count; ++place) {
    int64_t roi = place / bins / y->dims[1];
    int64_t channel = place / bins % y->dims[1];
    int64_t batch = batches->at[roi].i;
    if (batch < 0 || batch >= x->dims[0]) {
      return tenon__work_fail(work, "batch index %lld is out of range for %lld images",
                              (long long)batch, (long long)x->dims[0]);
    }
    region_t region = region_of(work, rois->at + roi * rois->dims[1], y);
    const tenon__number_t* plane = x->at + (batch * x->dims[1] + channel) * x->dims[2] * x->dims[3];
    y->at[place].f = pool_bin(&region, plane, x->dims + 2, place % bins / y->dims[3],
                              place % y->dims[3], takes_max);
  }
  return TENON_OK;
}

/* First pixel and last (past the end) of bin `bin` of a region that covers [first, last]. */
static void bin_bounds(int64_t bin, int64_t bins, int64_t first, int64_t last, int64_t extent,
                       int64_t out_bounds[2]) {
  double length = (double)(last - first + 1 > 1 ? last - first + 1 : 1);
  int64_t begin = (int64_t)floor((double)bin * length / (double)bins) + first;
  int64_t end = (int64_t)ceil((double)(bin + 1) * length / (double)bins) + first;
  out_bounds[0] = begin < 0 ? 0 : begin > extent ? extent : begin;
  out_bounds[1] = end < 0 ? 0 : end > extent ? extent : end;
}

/* A roi is [batch, left, top, right, bottom]; bounds are rounded to pixels. An empty bin is 0. */
tenon_status_t tenon__compute_max_roi_pool(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* rois = tenon__work_input(work, 1);
  tenon__array_t* y = tenon__work_output(work, 0);
  double scale = tenon__work_float(work, "spatial_scale");
  int64_t bins = y->dims[2] * y->dims[3];
  for (int64_t place = 0; place < y->count; ++place) {
    const tenon__number_t* roi = rois->at + place / bins / y->dims[1] * 5;
    int64_t batch = (int64_t)roi[0].f;
    if (batch < 0 || batch >= x->dims[0]) {
      return tenon__work_fail(work, "batch index %lld is out of range for %lld images",
                              (long long)batch, (long long)x->dims[0]);
    }
    int64_t rows[2];
    int64_t columns[2];
    bin_bounds(place % bins / y->dims[3], y->dims[2], llround(roi[2].f * scale),
               llround(roi[4].f * scale), x->dims[2], rows);
    bin_bounds(place % y->dims[3], y->dims[3], llround(roi[1].f * scale), llround(roi[3].f * scale),
               x->dims[3], columns);
    const tenon__number_t* plane =
        x->at + (batch * x->dims[1] + place / bins % y->dims[1]) * x->dims[2] * x->dims[3];
    bool empty = rows[0] >= rows[1] || columns[0] >= columns[1];
    double largest = empty ? 0.0 : -(double)INFINITY;
    for (int64_t row = rows[0]; row < rows[1]; ++row) {
      for (int64_t column = columns[0]; column < columns[1]; ++column) {
        largest = fmax(largest, plane[row * x->dims[3] + column].f);
      }
    }
    y->at[place].f = largest;
  }
  return TENON_OK;
}

typedef struct box_t {
  double low[2];
  double high[2];
} box_t;

static box_t box_of(const tenon__number_t* box, bool by_center) {
  box_t result;
  for (int axis = 0; axis < 2; ++axis) {
    double a = box[axis].f;
    double b = box[axis + 2].f;
    result.low[axis] = by_center ? a - b / 2.0 : fmin(a, b);
    result.high[axis] = by_center ? a + b / 2.0 : fmax(a, b);
  }
  return result;
}

static double area_of(const box_t* box) {
  return (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]);
}

/* Intersection over union above the threshold? */
static bool overlap(const tenon__number_t* a, const tenon__number_t* b, bool by_center,
                    double threshold) {
  box_t boxes[2] = {box_of(a, by_center), box_of(b, by_center)};
  box_t common;
  for (int axis = 0; axis < 2; ++axis) {
    common.low[axis] = fmax(boxes[0].low[axis], boxes[1].low[axis]);
    common.high[axis] = fmin(boxes[0].high[axis], boxes[1].high[axis]);
    if (common.high[axis] <= common.low[axis]) {
      return false;
    }
  }
  double intersection = area_of(&common);
  double areas[2] = {area_of(&boxes[0]), area_of(&boxes[1])};
  double whole = areas[0] + areas[1] - intersection;
  return areas[0] > 0.0 && areas[1] > 0.0 && whole > 0.0 && intersection / whole > threshold;
}

/* Scratch: for each (batch, class) the selected boxes, and which boxes were looked at. */
int64_t tenon__scratch_non_max_suppression(const tenon__work_t* work) {
  const tenon__array_t* scores = tenon__work_input(work, 1);
  return scores->count + (scores->rank == 3 ? scores->dims[2] : 0);
}

typedef struct selection_t {
  const tenon__number_t* boxes;  /* of one batch */
  const tenon__number_t* scores; /* of one class */
  int64_t count;
  int64_t limit;
  bool by_center;
  double iou_threshold;
  double score_threshold;
} selection_t;

/* Indices of the boxes that stay, best first; returns how many. */
static int64_t select_boxes(const selection_t* from, tenon__number_t* seen,
                            tenon__number_t* out_selected) {
  int64_t selected = 0;
  for (int64_t box = 0; box < from->count; ++box) {
    seen[box].i = !(from->scores[box].f > from->score_threshold);
  }
  while (selected < from->limit) {
    int64_t best = -1;
    for (int64_t box = 0; box < from->count; ++box) {
      bool better = best < 0 || from->scores[box].f > from->scores[best].f;
      best = seen[box].i == 0 && better ? box : best;
    }
    if (best < 0) {
      break;
    }
    seen[best].i = 1;
    bool stays = true;
    for (int64_t other = 0; stays && other < selected; ++other) {
      stays = !overlap(from->boxes + best * 4, from->boxes + out_selected[other].i * 4,
                       from->by_center, from->iou_threshold);
    }
    if (stays) {
      out_selected[selected++].i = best;
    }
  }
  return selected;
}

tenon_status_t tenon__compute_non_max_suppression(tenon__work_t* work) {
  const tenon__array_t* boxes = tenon__work_input(work, 0);
  const tenon__array_t* scores = tenon__work_input(work, 1);
  int64_t classes = scores->dims[1];
  int64_t count = scores->dims[2];
  int64_t lines = scores->dims[0] * classes;
  tenon__number_t* seen = work->scratch + scores->count;
  selection_t selection = {
      .count = count,
      .limit = tenon__work_integer(work, 2, 0),
      .by_center = tenon__work_int(work, "center_point_box") != 0,
      .iou_threshold = tenon__work_scalar(work, 3, 0.0),
      .score_threshold = tenon__work_scalar(work, 4, -(double)INFINITY),
  };
  int64_t found = 0;
  /* -1 ends the list of a class that has fewer boxes than there are. */
  for (int64_t line = 0; line < lines; ++line) {
    tenon__number_t* selected = work->scratch + line * count;
    selection.boxes = boxes->at + line / classes * count * 4;
    selection.scores = scores->at + line * count;
    int64_t kept = select_boxes(&selection, seen, selected);
    found += kept;
    if (kept < count) {
      selected[kept].i = -1;
    }
  }
  int64_t dims[2] = {found, 3};
  tenon_status_t status = tenon__work_allocate(work, 0, 2, dims);
  if (status != TENON_OK) {
    return status;
  }
  int64_t row = 0;
  for (int64_t line = 0; line < lines; ++line) {
    const tenon__number_t* selected = work->scratch + line * count;
    for (int64_t item = 0; item < count && selected[item].i >= 0; ++item) {
      const tenon__number_t entry[3] = {
          {.i = line / classes}, {.i = line % classes}, selected[item]};
      for (int64_t column = 0; column < 3; ++column) {
        (void)tenon__work_put(work, 0, row * 3 + column, entry[column]);
      }
      ++row;
    }
  }
  return TENON_OK;
}
