/* Prior boxes of SSD, as constants: corners, then variances. */
#include <float.h>
#include <math.h>

#include "families.h"
#include "steps.h"

enum { NUMBERS_MAX = 1 << 26, SIZES_MAX = 1 << 12 };

/* Sizes of the boxes of a place, as parts of the image. */
typedef struct sizes_t {
  double widths[SIZES_MAX];
  double heights[SIZES_MAX];
  size_t count;
} sizes_t;

/* Places: centre (index + offset) step along each axis (rows, columns). */
typedef struct grid_t {
  int64_t dims[2];
  double offset;
  double steps[2];
  bool clips;
} grid_t;

static void add_size(tenon_make_t* make, sizes_t* sizes, double width, double height) {
  if (sizes->count == SIZES_MAX) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "a place has more than %d boxes", SIZES_MAX);
    return;
  }
  sizes->widths[sizes->count] = width;
  sizes->heights[sizes->count++] = height;
}

static float limited(double value, bool clips) {
  return (float)(clips ? fmin(fmax(value, 0), 1) : value);
}

/* [1, 2, places boxes 4, 1] */
static tenon_value_t priors(tenon_make_t* make, const sizes_t* sizes, const grid_t* grid,
                            const double* variances) {
  const double count = (double)grid->dims[0] * (double)grid->dims[1] * (double)sizes->count * 4;
  if (tenon_make_ok(make) && count > NUMBERS_MAX) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "the boxes have %.0f numbers: at most %d are built", count, NUMBERS_MAX);
  }
  const size_t numbers = tenon_make_ok(make) ? (size_t)count : 0;
  float* values = tenon_make_memory(make, numbers * 2 + 1, sizeof(*values));
  if (values == NULL || !tenon_make_ok(make)) {
    return tensorrt_absent();
  }
  float* to = values;
  for (int64_t row = 0; row < grid->dims[0]; ++row) {
    for (int64_t column = 0; column < grid->dims[1]; ++column) {
      const double y = ((double)row + grid->offset) * grid->steps[0];
      const double x = ((double)column + grid->offset) * grid->steps[1];
      for (size_t k = 0; k < sizes->count; ++k) {
        *to++ = limited(x - sizes->widths[k] / 2, grid->clips);
        *to++ = limited(y - sizes->heights[k] / 2, grid->clips);
        *to++ = limited(x + sizes->widths[k] / 2, grid->clips);
        *to++ = limited(y + sizes->heights[k] / 2, grid->clips);
      }
    }
  }
  for (size_t k = 0; k < numbers; ++k) {
    to[k] = (float)variances[k % 4];
  }
  const int64_t dims[4] = {1, 2, (int64_t)numbers, 1};
  return tenon_make_tensor(make, TENON_DTYPE_FLOAT32, 4, dims, values);
}

/* ---- PriorBox ---- */

/* Ratios without repetitions, 1 first, with their inverses. Returns how many. */
static size_t read_ratios(tenon_make_t* make, double* out_ratios, size_t capacity) {
  size_t given_count = 0;
  size_t count = 1;
  const bool flips = tensorrt_flag(make, "flip", true);
  const double* given =
      tenon_make_has(make, "aspectRatios")
          ? tensorrt_floats(make, "aspectRatios", 0, capacity / 2 - 1, FLT_MIN, &given_count)
          : NULL;
  out_ratios[0] = 1;
  for (size_t k = 0; given != NULL && k < given_count; ++k) {
    bool is_known = false;
    for (size_t i = 0; i < count; ++i) {
      is_known = is_known || fabs(out_ratios[i] - given[k]) < 1e-6;
    }
    if (!is_known) {
      out_ratios[count++] = given[k];
      if (flips) {
        out_ratios[count++] = 1 / given[k];
      }
    }
  }
  return count;
}

static void read_prior_sizes(tenon_make_t* make, const double image[2], sizes_t* sizes) {
  enum { RATIOS_MAX = 256 };
  double ratios[RATIOS_MAX];
  size_t small_count = 0;
  size_t large_count = 0;
  const double* large = NULL;
  const size_t ratio_count = read_ratios(make, ratios, RATIOS_MAX);
  const double* small = tensorrt_floats(make, "minSize", 1, SIZES_MAX, FLT_MIN, &small_count);
  if (tenon_make_has(make, "maxSize")) {
    large = tensorrt_floats(make, "maxSize", 0, SIZES_MAX, FLT_MIN, &large_count);
  }
  if (tenon_make_ok(make) && large_count != 0 && large_count != small_count) {
    tensorrt_refuse(make, "maxSize", "use none, or one for each number of minSize");
  }
  for (size_t k = 0; tenon_make_ok(make) && k < small_count; ++k) {
    add_size(make, sizes, small[k] / image[1], small[k] / image[0]);
    if (large_count > 0) {
      const double side = sqrt(small[k] * large[k]);
      add_size(make, sizes, side / image[1], side / image[0]);
    }
    for (size_t i = 1; i < ratio_count; ++i) {
      add_size(make, sizes, small[k] * sqrt(ratios[i]) / image[1],
               small[k] / sqrt(ratios[i]) / image[0]);
    }
  }
}

static void prior_box(tenon_make_t* make) {
  static const char* const image_names[2] = {"imgH", "imgW"};
  static const char* const step_names[2] = {"stepH", "stepW"};
  static const char form[] = "[batch, channels, height, width]";
  sizes_t* sizes = tenon_make_memory(make, 1, sizeof(*sizes));
  const tenon_value_t x = tensorrt_input(make, 0, "feature map", 4, form);
  double image[2] = {0, 0};
  double steps[2] = {0, 0};
  size_t count = 0;
  grid_t grid = {.offset = tensorrt_float(make, "offset", 0.5, -FLT_MAX, FLT_MAX),
                 .clips = tensorrt_flag(make, "clip", false)};
  const double* variances = tensorrt_floats(make, "variance", 4, 4, -(double)FLT_MAX, &count);
  for (uint32_t k = 0; k < 2; ++k) {
    image[k] = (double)tensorrt_int(make, image_names[k], 0, 0, TENSORRT_COUNT_MAX);
    steps[k] = tensorrt_float(make, step_names[k], 0, 0, FLT_MAX);
    grid.dims[k] = tensorrt_known(make, x, k + 2, "the feature map");
  }
  if (tenon_make_ok(make) && (image[0] == 0 || image[1] == 0)) {
    const tenon_value_t picture = tensorrt_input(make, 1, "image", 4, form);
    image[0] = (double)tensorrt_known(make, picture, 2, "the image");
    image[1] = (double)tensorrt_known(make, picture, 3, "the image");
  }
  if (tenon_make_ok(make) && (image[0] <= 0 || image[1] <= 0)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "the image has no pixels: set imgH and imgW");
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  const bool has_steps = steps[0] > 0 && steps[1] > 0;
  for (uint32_t k = 0; k < 2; ++k) { /* in parts of the image */
    grid.steps[k] = has_steps ? steps[k] / image[k] : 1 / fmax((double)grid.dims[k], 1);
  }
  read_prior_sizes(make, image, sizes);
  tenon_make_output(make, 0, priors(make, sizes, &grid, variances));
}

/* ---- GridAnchor ---- */

/* The boxes of layer `index`. The first layer has three fixed sizes. Others have a box for each ratio
 * and one more. */
static void read_anchor_sizes(tenon_make_t* make, int64_t index, int64_t layers,
                              const double* ratios, size_t ratio_count, sizes_t* sizes) {
  const double least = tensorrt_float(make, "minSize", 0.2, FLT_MIN, FLT_MAX);
  const double most = tensorrt_float(make, "maxSize", 0.95, FLT_MIN, FLT_MAX);
  const double step = (most - least) / (double)(layers - 1);
  const double scale = least + step * (double)index;
  const double next = index == layers - 1 ? 1 : least + step * (double)(index + 1);
  sizes->count = 0;
  for (size_t k = 0; k < (index == 0 ? 3 : ratio_count); ++k) {
    const double side = index == 0 && k == 0 ? 0.1 : scale;
    add_size(make, sizes, side * sqrt(ratios[k]), side / sqrt(ratios[k]));
  }
  if (index > 0) {
    add_size(make, sizes, sqrt(scale * next), sqrt(scale * next));
  }
}

static void grid_anchors(tenon_make_t* make, size_t axes) {
  sizes_t* sizes = tenon_make_memory(make, 1, sizeof(*sizes));
  size_t count = 0;
  size_t ratio_count = 0;
  size_t shape_count = 0;
  tensorrt_require(make, "numLayers");
  const int64_t layers = tensorrt_int(make, "numLayers", 2, 2, 1 << 10);
  const double* variances = tensorrt_floats(make, "variance", 4, 4, -(double)FLT_MAX, &count);
  const double* ratios =
      tensorrt_floats(make, "aspectRatios", 3, SIZES_MAX - 1, FLT_MIN, &ratio_count);
  const int64_t* shapes = tensorrt_ints(make, "featureMapShapes", (size_t)layers * axes,
                                        (size_t)layers * axes, 1, &shape_count);
  if (tenon_make_ok(make) && make->output_count > layers) {
    tensorrt_refuse(make, "numLayers", "the node has more outputs");
  }
  for (int64_t k = 0; tenon_make_ok(make) && k < (int64_t)make->output_count; ++k) {
    grid_t grid = {.offset = 0.5};
    for (int64_t axis = 0; axis < 2; ++axis) {
      grid.dims[axis] = axes == 2 ? shapes[2 * k + axis] : shapes[k];
      grid.steps[axis] = 1 / (double)grid.dims[axis];
    }
    read_anchor_sizes(make, k, layers, ratios, ratio_count, sizes);
    if (tenon_make_wants(make, (uint32_t)k)) {
      tenon_make_output(make, (uint32_t)k, priors(make, sizes, &grid, variances));
    }
  }
}

static void grid_anchor(tenon_make_t* make) {
  grid_anchors(make, 1);
}

static void grid_anchor_rect(tenon_make_t* make) {
  grid_anchors(make, 2);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("GridAnchor_TRT", grid_anchor, "1", NULL),
    TENSORRT_ROW("GridAnchorRect_TRT", grid_anchor_rect, "1", NULL),
    TENSORRT_ROW("PriorBox_TRT", prior_box, "1", NULL),
};
TENSORRT_FAMILY(anchors);
