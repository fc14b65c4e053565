/* Windows without weights. Where the file does not say otherwise, Caffe rounds the number of
 * windows up, and the last one begins inside of the picture or its first padding. */
#include <inttypes.h>
#include <stdio.h>

#include "families.h"

enum { PLANE = 2 }; /* spatial axes */

static const char message[] = "pooling_param";

typedef struct pool_t {
  int64_t kernel[PLANE];
  int64_t stride[PLANE];
  int64_t pad[PLANE];
  bool rounds_up;
} pool_t;

typedef enum method_t { METHOD_MAX, METHOD_AVERAGE, METHOD_STOCHASTIC } method_t;

static method_t read_method(tenon_make_t* make, const char* name) {
  return tenon__caffe_is(make, name, "MAX", "MAX")   ? METHOD_MAX
         : tenon__caffe_is(make, name, "MAX", "AVE") ? METHOD_AVERAGE
                                                     : METHOD_STOCHASTIC;
}

static void begin(tenon_make_t* make, const char* op, const pool_t* pool, tenon_value_t x) {
  tenon_make_begin(make, op);
  tenon_make_set_ints(make, "kernel_shape", pool->kernel, PLANE);
  tenon_make_set_ints(make, "strides", pool->stride, PLANE);
  tenon__caffe_set_pads(make, pool->pad, PLANE);
  tenon_make_set_int(make, "ceil_mode", pool->rounds_up);
  tenon_make_add(make, x);
}

static tenon_value_t average(tenon_make_t* make, const pool_t* pool, tenon_value_t x) {
  begin(make, "average_pool", pool, x);
  tenon_make_set_int(make, "count_include_pad", 1);
  return tenon_make_end(make);
}

/* The second output: where in its plane each maximum is, as a float. */
static void maximum(tenon_make_t* make, const pool_t* pool, tenon_value_t x) {
  tenon_value_t found[2] = {{0}, {0}};
  const bool wants_places = make->output_count > 1;
  begin(make, "max_pool", pool, x);
  tenon_make_end_many(make, found, wants_places ? 2 : 1);
  tenon_make_output(make, 0, found[0]);
  if (wants_places) {
    char text[64];
    const int64_t points = tenon_make_elements(make, x, 2, 4);
    (void)snprintf(text, sizeof(text), "y = cast(mod(a, %" PRId64 "), f32)", points);
    if (points < 1) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "its second top, the places of maxima, needs known extents");
    }
    tenon_make_output(make, 1, tenon_make_math_1(make, text, found[1]));
  }
}

static tenon_value_t pool_by(tenon_make_t* make, method_t method, const pool_t* pool,
                             tenon_value_t x) {
  if (method == METHOD_AVERAGE) {
    return average(make, pool, x);
  }
  if (method == METHOD_STOCHASTIC) { /* at test time: each value weighs as much as it is */
    const tenon_value_t squares = average(make, pool, tenon_make_math_1(make, "y = a * a", x));
    return tenon_make_math_2(make, "y = b == 0 ? 0 : a / b", squares, average(make, pool, x));
  }
  begin(make, "max_pool", pool, x);
  return tenon_make_end(make);
}

static bool check(tenon_make_t* make, const pool_t* pool) {
  for (uint32_t i = 0; i < PLANE; ++i) {
    if (pool->kernel[i] < 1 || pool->stride[i] < 1 || pool->pad[i] < 0 ||
        pool->pad[i] >= pool->kernel[i]) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                      "kernel %" PRId64 ", stride %" PRId64 " must be positive, pad %" PRId64
                      " less than the kernel",
                      pool->kernel[i], pool->stride[i], pool->pad[i]);
      return false;
    }
  }
  return tenon_make_ok(make);
}

/* Forks have three ways to say that windows are rounded down. */
static bool rounds_up(tenon_make_t* make) {
  const bool is_torch = tenon_make_get_int(make, "pooling_param.torch_pooling", 0) != 0;
  const bool is_floor = tenon__caffe_is(make, "pooling_param.round_mode", "CEIL", "FLOOR");
  return !is_torch && !is_floor && tenon_make_get_int(make, "pooling_param.ceil_mode", 1) != 0;
}

static void global(tenon_make_t* make, method_t method, tenon_value_t x) {
  static const int64_t plane[PLANE] = {2, 3};
  if (method == METHOD_MAX && make->output_count > 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "global_pooling gives no places of maxima");
  } else if (method == METHOD_STOCHASTIC) {
    tenon_make_output(
        make, 0,
        tenon_make_math_1(make, "let s = sum(a, 2..); y = s == 0 ? 0 : sum(a * a, 2..) / s", x));
  } else {
    const char* op = method == METHOD_MAX ? "reduce_max" : "reduce_mean";
    tenon_make_output(make, 0, tenon_make_reduce(make, op, x, plane, PLANE, 1));
  }
}

static void pooling(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const method_t method = read_method(make, "pooling_param.pool");
  pool_t pool = {.stride = {1, 1}, .rounds_up = rounds_up(make)};
  if (tenon_make_rank(make, x) != 2 + PLANE) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "its bottom has rank %u, not 4",
                    tenon_make_rank(make, x));
    return;
  }
  (void)tenon__caffe_spatial(make, message, "stride", "stride", PLANE, pool.stride);
  (void)tenon__caffe_spatial(make, message, "pad", "pad", PLANE, pool.pad);
  const bool has_kernel =
      tenon__caffe_spatial(make, message, "kernel_size", "kernel", PLANE, pool.kernel);
  if (tenon_make_get_int(make, "pooling_param.global_pooling", 0) != 0) {
    global(make, method, x);
  } else if (!has_kernel) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no kernel_size");
  } else if (check(make, &pool) && method == METHOD_MAX) {
    maximum(make, &pool, x);
  } else {
    tenon_make_output(make, 0, pool_by(make, method, &pool, x));
  }
}

/* Spatial pyramid: 1, 2 x 2, 4 x 4 ... windows, all in one vector for each picture. */
static void pyramid(tenon_make_t* make) {
  enum { HEIGHT_LIMIT = 12 };
  static const int64_t flat[2] = {0, -1};
  const tenon_value_t x = tenon_make_input(make, 0);
  const method_t method = read_method(make, "spp_param.pool");
  const int64_t height = tenon_make_get_int(make, "spp_param.pyramid_height", 0);
  tenon_value_t levels[HEIGHT_LIMIT];
  if (height < 1 || height > HEIGHT_LIMIT || tenon_make_rank(make, x) != 2 + PLANE) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "a pyramid_height of %" PRId64 " over rank %u: 1 to %d, and rank 4, are needed",
                    height, tenon_make_rank(make, x), HEIGHT_LIMIT);
    return;
  }
  for (int64_t level = 0; level < height; ++level) {
    const int64_t bins = (int64_t)1 << level;
    pool_t pool = {.rounds_up = true};
    for (uint32_t i = 0; i < PLANE; ++i) {
      const int64_t extent = tenon__caffe_extent(make, x, 2 + i);
      pool.kernel[i] = (extent + bins - 1) / bins;
      pool.stride[i] = pool.kernel[i];
      pool.pad[i] = (pool.kernel[i] * bins - extent + 1) / 2;
    }
    if (!check(make, &pool)) {
      return;
    }
    const tenon_value_t level_value = pool_by(make, method, &pool, x);
    levels[level] = height == 1 ? level_value : tenon_make_reshape(make, level_value, flat, 2);
  }
  tenon_make_output(make, 0, tenon_make_concat(make, 1, (uint32_t)height, levels));
}

/* x / (1 + alpha / n sum of squares near)^beta: near in channels, or in the plane. */
static void local_response(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const int64_t window = tenon_make_get_int(make, "lrn_param.local_size", 5);
  if (window < 1 || window % 2 == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "local_size is %" PRId64 ", which is not odd",
                    window);
    return;
  }
  if (!tenon__caffe_is(make, "lrn_param.norm_region", "ACROSS_CHANNELS", "WITHIN_CHANNEL")) {
    tenon_make_begin(make, "lrn");
    tenon_make_set_int(make, "window", window);
    tenon_make_pass_all(make,
                        "lrn_param.alpha>alpha=1.0 lrn_param.beta>beta=0.75"
                        " lrn_param.k>bias=1.0");
    tenon_make_add(make, x);
    tenon_make_output(make, 0, tenon_make_end(make));
    return;
  }
  const int64_t pad = (window - 1) / 2;
  const pool_t pool = {.kernel = {window, window}, .stride = {1, 1}, .pad = {pad, pad}};
  const tenon_value_t near = average(make, &pool, tenon_make_math_1(make, "y = a * a", x));
  char text[96];
  (void)tenon_make_get_float(make, "lrn_param.k", 1); /* Caffe's layer has 1 here */
  (void)snprintf(text, sizeof(text), "y = a * pow(1 + b * (%.9g), -(%.9g))",
                 tenon_make_get_float(make, "lrn_param.alpha", 1),
                 tenon_make_get_float(make, "lrn_param.beta", 0.75));
  tenon_make_output(make, 0, tenon_make_math_2(make, text, x, near));
}

static void regions(tenon_make_t* make) {
  const int64_t shape[PLANE] = {tenon_make_get_int(make, "roi_pooling_param.pooled_h", 0),
                                tenon_make_get_int(make, "roi_pooling_param.pooled_w", 0)};
  if (shape[0] < 1 || shape[1] < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "roi_pooling_param needs pooled_h and pooled_w");
    return;
  }
  const tenon_value_t rois = tenon_make_input(make, 1);
  static const int64_t rows[2] = {-1, 5};
  const tenon_value_t flat =
      tenon_make_rank(make, rois) == 2 ? rois : tenon_make_reshape(make, rois, rows, 2);
  tenon_make_begin(make, "max_roi_pool");
  tenon_make_set_ints(make, "pooled_shape", shape, PLANE);
  tenon_make_pass_all(make, "roi_pooling_param.spatial_scale>spatial_scale=1.0");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, flat);
  tenon_make_output(make, 0, tenon_make_end(make));
}

#define ROW(type, function) TENON__CAFFE_ROW("", type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("LRN", local_response),
    ROW("Pooling", pooling),
    ROW("ROIPooling", regions),
    ROW("SPP", pyramid),
};
TENON__CAFFE_FAMILY(pooling);
