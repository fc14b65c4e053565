/* Windows, sampling, products: random nodes against the reference. */
#include "operator_case.h"
#include "operators.h"

#define SUMS 1e-4

static int64_t some(operator_case_t* c, int64_t least, int64_t most) {
  return least + operator_draw(c, (uint32_t)(most - least + 1));
}

typedef struct window_t {
  int64_t extent[2];
  int64_t kernel[2];
  int64_t stride[2];
  int64_t dilation[2];
  int64_t pads[4];
  int64_t result[2];
} window_t;

/* Uneven pads, dilations, and where `rounds_up` windows that begin within x or the padding. */
static void draw_window(operator_case_t* c, bool rounds_up, window_t* out) {
  for (int k = 0; k < 2; k++) {
    out->kernel[k] = some(c, 1, 3);
    out->stride[k] = some(c, 1, 3);
    out->dilation[k] = some(c, 1, 2);
    out->pads[k] = some(c, 0, out->kernel[k] - 1);
    out->pads[k + 2] = some(c, 0, out->kernel[k] - 1);
    out->extent[k] = some(c, 7, 20);
    const int64_t room = out->extent[k] + out->pads[k] + out->pads[k + 2] -
                         (out->kernel[k] - 1) * out->dilation[k] - 1;
    const int64_t windows = (rounds_up ? room + out->stride[k] - 1 : room) / out->stride[k] + 1;
    const int64_t most = (out->extent[k] + out->pads[k] + out->stride[k] - 1) / out->stride[k];
    out->result[k] = windows < most ? windows : most;
  }
}
static void set_window(operator_case_t* c, const window_t* window) {
  fake_ints(&c->fake, "strides", 2, window->stride);
  fake_ints(&c->fake, "dilations", 2, window->dilation);
  fake_ints(&c->fake, "pads", 4, window->pads);
  fake_string(&c->fake, "auto_pad", "explicit");
}

static void check_pool(uint32_t seed, const char* op, tenon_dtype_t dtype) {
  const bool is_max = strcmp(op, "standard.max_pool/1") == 0;
  operator_case_t c;
  window_t window;
  operator_begin(&c, op, seed);
  const bool rounds_up = operator_draw(&c, 2) == 0;
  draw_window(&c, rounds_up, &window);
  (void)operator_input(&c, dtype, DIMS(2, 3, window.extent[0], window.extent[1]), operator_numbers,
                       40);
  set_window(&c, &window);
  fake_ints(&c.fake, "kernel_shape", 2, window.kernel);
  fake_int(&c.fake, "ceil_mode", rounds_up ? 1 : 0);
  fake_int(&c.fake, "count_include_pad", operator_draw(&c, 2));
  fake_int(&c.fake, "storage_order", operator_draw(&c, 2));
  fake_int(&c.fake, "p", some(&c, 1, 3));
  operator_output(&c, dtype, DIMS(2, 3, window.result[0], window.result[1]));
  if (is_max) {
    operator_output(&c, TENON_DTYPE_INT64, DIMS(2, 3, window.result[0], window.result[1]));
  }
  operator_check(&c, is_max ? 0 : SUMS);
}

static void check_convolution(uint32_t seed, tenon_dtype_t dtype) {
  operator_case_t c;
  window_t window;
  operator_begin(&c, "standard.convolution/1", seed);
  draw_window(&c, false, &window);
  const int64_t groups = some(&c, 1, 2);
  (void)operator_input(&c, dtype, DIMS(2, 4, window.extent[0], window.extent[1]), operator_numbers,
                       2);
  (void)operator_input(&c, dtype, DIMS(6, 4 / groups, window.kernel[0], window.kernel[1]),
                       operator_numbers, 1);
  (void)operator_input(&c, dtype, DIMS(6), operator_numbers, 1);
  set_window(&c, &window);
  fake_int(&c.fake, "groups", groups);
  operator_output(&c, dtype, DIMS(2, 6, window.result[0], window.result[1]));
  operator_check(&c, SUMS);
}

static void check_deconvolution(uint32_t seed, tenon_dtype_t dtype) {
  operator_case_t c;
  window_t window;
  operator_begin(&c, "standard.deconvolution/1", seed);
  draw_window(&c, false, &window);
  const int64_t groups = some(&c, 1, 2);
  int64_t result[2];
  for (int k = 0; k < 2; k++) {
    result[k] = (window.extent[k] - 1) * window.stride[k] +
                (window.kernel[k] - 1) * window.dilation[k] + 1 - window.pads[k] -
                window.pads[k + 2];
  }
  (void)operator_input(&c, dtype, DIMS(2, 4, window.extent[0], window.extent[1]), operator_numbers,
                       2);
  (void)operator_input(&c, dtype, DIMS(4, 6 / groups, window.kernel[0], window.kernel[1]),
                       operator_numbers, 1);
  set_window(&c, &window);
  fake_int(&c.fake, "groups", groups);
  operator_output(&c, dtype, DIMS(2, 6, result[0], result[1]));
  operator_check(&c, SUMS);
}

static void check_deformable(uint32_t seed, tenon_dtype_t dtype, int64_t channels,
                             int64_t outputs) {
  operator_case_t c;
  window_t window;
  operator_begin(&c, "standard.deformable_convolution/1", seed);
  draw_window(&c, false, &window);
  const int64_t taps = window.kernel[0] * window.kernel[1];
  const int64_t* y = window.result;
  (void)operator_input(&c, dtype, DIMS(2, channels, window.extent[0], window.extent[1]),
                       operator_numbers, 2);
  (void)operator_input(&c, dtype, DIMS(outputs, channels / 2, window.kernel[0], window.kernel[1]),
                       operator_numbers, 0.3);
  (void)operator_input(&c, dtype, DIMS(2, 2 * taps * 2, y[0], y[1]), operator_numbers, 1.5);
  (void)operator_input(&c, dtype, DIMS(outputs), operator_numbers, 1);
  (void)operator_input(&c, dtype, DIMS(2, 2 * taps, y[0], y[1]), operator_positive, 1);
  set_window(&c, &window);
  fake_int(&c.fake, "groups", 2);
  fake_int(&c.fake, "offset_groups", 2);
  operator_output(&c, dtype, DIMS(2, outputs, y[0], y[1]));
  operator_check(&c, SUMS);
}

static const tenon_dtype_t bytes[] = {TENON_DTYPE_UINT8, TENON_DTYPE_INT8};

/* Of all that the type has. */
static void add_bytes(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* dims) {
  const bool is_signed = dtype == TENON_DTYPE_INT8;
  (void)operator_input(c, dtype, rank, dims, is_signed ? operator_wholes : operator_indices,
                       is_signed ? 128 : 256);
}

/* All pairs of signs, zero points or none, windows of up to three axes. */
static void check_convolution_integer(uint32_t seed, bool has_zeros, uint32_t spatial) {
  operator_case_t c;
  window_t window;
  operator_begin(&c, "standard.convolution_integer/1", seed);
  draw_window(&c, false, &window);
  const tenon_dtype_t x_type = bytes[operator_draw(&c, 2)];
  const tenon_dtype_t w_type = bytes[operator_draw(&c, 2)];
  const int64_t groups = some(&c, 1, 2);
  const int64_t channels = groups * some(&c, 1, 20);
  const int64_t outputs = groups * some(&c, 1, 70);
  const int64_t x[] = {2, channels, window.extent[0], window.extent[1], 2};
  const int64_t w[] = {outputs, channels / groups, window.kernel[0], window.kernel[1], 2};
  const int64_t y[] = {2, outputs, window.result[0], window.result[1], 2};
  const int64_t p[] = {window.pads[0], window.pads[1], 1, window.pads[2], window.pads[3], 0};
  add_bytes(&c, x_type, spatial + 2, x);
  add_bytes(&c, w_type, spatial + 2, w);
  if (has_zeros) {
    add_bytes(&c, x_type, DIMS(1));
    add_bytes(&c, w_type, DIMS(outputs));
  }
  fake_ints(&c.fake, "strides", spatial, (const int64_t[]){window.stride[0], window.stride[1], 1});
  fake_ints(&c.fake, "dilations", spatial,
            (const int64_t[]){window.dilation[0], window.dilation[1], 1});
  fake_ints(&c.fake, "pads", (size_t)spatial * 2, spatial == 3 ? p : window.pads);
  fake_string(&c.fake, "auto_pad", "explicit");
  fake_int(&c.fake, "groups", groups);
  operator_output(&c, TENON_DTYPE_INT32, spatial + 2, y);
  operator_check(&c, 0);
}

/* ---- Sampling ---- */

static void check_resize(uint32_t seed, int64_t most) {
  static const char* const modes[] = {"nearest", "linear", "cubic"};
  static const char* const places[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                       "asymmetric", "half_pixel_symmetric", "pixel_center"};
  static const char* const rounds[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT64, TENON_DTYPE_UINT8,
                                        TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  operator_case_t c;
  operator_begin(&c, "standard.resize/1", seed);
  const tenon_dtype_t dtype = types[operator_draw(&c, 5)];
  const int64_t from[2] = {some(&c, 1, 12), some(&c, 1, most)};
  const int64_t to[2] = {some(&c, 1, 20), some(&c, 1, most * 2)};
  /* Whole numbers are rounded: results halfway between two of them would be by chance. */
  (void)operator_input(&c, dtype, DIMS(2, 3, from[0], from[1]), operator_indices, 2);
  int64_t* sizes = operator_input(&c, TENON_DTYPE_INT64, DIMS(4), operator_indices, 2)->data;
  memcpy(sizes, ((int64_t[]){2, 3, to[0], to[1]}), 4 * sizeof(int64_t));
  const uint32_t mode = dtype == TENON_DTYPE_UINT8 ? 0 : operator_draw(&c, 3);
  fake_string(&c.fake, "mode", modes[mode]);
  fake_string(&c.fake, "coordinate_mode", places[operator_draw(&c, 6)]);
  fake_string(&c.fake, "nearest_mode", rounds[operator_draw(&c, 4)]);
  fake_float(&c.fake, "cubic_coeff_a", -0.75);
  fake_int(&c.fake, "exclude_outside", operator_draw(&c, 2));
  fake_int(&c.fake, "antialias", operator_draw(&c, 2));
  fake_float(&c.fake, "extrapolation_value", 0.5);
  operator_output(&c, dtype, DIMS(2, 3, to[0], to[1]));
  c.is_known = operator_draw(&c, 2) == 0;
  operator_check(&c, 1e-5);
}

/* A resize of an axis of 9 to 3, by this scale. */
static void begin_scaled(operator_case_t* c, double scale, const char* place, int64_t antialias) {
  const float scales[2] = {1.0F, (float)scale};
  operator_begin(c, "standard.resize/1", 1);
  (void)operator_input(c, TENON_DTYPE_FLOAT32, DIMS(2, 9), operator_numbers, 2);
  memcpy(operator_input(c, TENON_DTYPE_INT64, DIMS(2), operator_indices, 2)->data,
         ((int64_t[]){2, 3}), 2 * sizeof(int64_t));
  memcpy(operator_input(c, TENON_DTYPE_FLOAT32, DIMS(2), operator_numbers, 2)->data, scales,
         sizeof(scales));
  fake_string(&c->fake, "mode", "linear");
  fake_string(&c->fake, "coordinate_mode", place);
  fake_string(&c->fake, "nearest_mode", "floor");
  fake_float(&c->fake, "cubic_coeff_a", -0.75);
  fake_int(&c->fake, "exclude_outside", 0);
  fake_int(&c->fake, "antialias", antialias);
  fake_float(&c->fake, "extrapolation_value", 0.5);
  operator_output(c, TENON_DTYPE_FLOAT32, DIMS(2, 3));
}

/* Data, which a refit may have changed: those that are none are told, a rounded one is none of
 * them, and places that no number counts are the last element. */
static void check_scales(bool is_known) {
  static const double none[] = {0.0, -1.0, NAN, INFINITY, 0.25};
  operator_case_t c;
  for (size_t k = 0; k < sizeof(none) / sizeof(*none); k++) {
    begin_scaled(&c, none[k], "half_pixel", 1);
    c.is_known = is_known;
    operator_check_fault(&c, 1);
  }
  begin_scaled(&c, 0.28, "half_pixel", 1);
  operator_check(&c, 1e-5);
  begin_scaled(&c, 1e-30, "asymmetric", 0);
  c.is_known = is_known;
  operator_check(&c, 0);
}

static void check_grid(uint32_t seed, uint32_t mode) {
  static const char* const modes[] = {"linear", "cubic", "nearest"};
  static const char* const paddings[] = {"zeros", "border", "reflection"};
  operator_case_t c;
  operator_begin(&c, "standard.grid_sample/1", seed);
  const int64_t n = some(&c, 2, 9);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, 3, n, 7), operator_numbers, 3);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, 6, 8, 2), operator_numbers, 1.4);
  fake_string(&c.fake, "mode", modes[mode]);
  fake_string(&c.fake, "padding_mode", paddings[(mode + seed) % 3]);
  fake_int(&c.fake, "align_corners", operator_draw(&c, 2));
  operator_output(&c, TENON_DTYPE_FLOAT32, DIMS(2, 3, 6, 8));
  operator_check(&c, SUMS);
}

static void check_affine_grid(uint32_t seed, int64_t axes) {
  operator_case_t c;
  operator_begin(&c, "standard.affine_grid/1", seed);
  const int64_t image[] = {2, 3, some(&c, 1, 6), some(&c, 1, 6), some(&c, 1, 40)};
  const int64_t* extents = image + 5 - axes;
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, axes, axes + 1), operator_numbers, 1);
  int64_t* dims = operator_input(&c, TENON_DTYPE_INT64, DIMS(axes + 2), operator_positive, 1)->data;
  dims[0] = image[0];
  dims[1] = image[1];
  memcpy(dims + 2, extents, (size_t)axes * sizeof(*dims));
  fake_int(&c.fake, "align_corners", operator_draw(&c, 2));
  if (axes == 2) {
    operator_output(&c, TENON_DTYPE_FLOAT32, DIMS(2, extents[0], extents[1], 2));
  } else {
    operator_output(&c, TENON_DTYPE_FLOAT32, DIMS(2, extents[0], extents[1], extents[2], 3));
  }
  operator_check(&c, SUMS);
}

static void check_regions(uint32_t seed, tenon_dtype_t dtype, int64_t channels, int64_t bins) {
  static const char* const modes[] = {"avg", "max"};
  static const char* const places[] = {"half_pixel", "output_half_pixel"};
  operator_case_t c;
  operator_begin(&c, "standard.roi_align/1", seed);
  (void)operator_input(&c, dtype, DIMS(2, channels, 16, 18), operator_numbers, 3);
  (void)operator_input(&c, dtype, DIMS(5, 4), operator_positive, 17);
  (void)operator_input(&c, TENON_DTYPE_INT64, DIMS(5), operator_indices, 2);
  fake_string(&c.fake, "mode", modes[operator_draw(&c, 2)]);
  fake_string(&c.fake, "coordinate_mode", places[operator_draw(&c, 2)]);
  fake_int(&c.fake, "sampling_ratio", operator_draw(&c, 3));
  fake_float(&c.fake, "spatial_scale", 0.75);
  operator_output(&c, dtype, DIMS(5, channels, bins, 4));
  c.is_known = operator_draw(&c, 2) == 0;
  operator_check(&c, SUMS);
}

/* Columns of windows, by one axis, two or three. */
static void check_columns_of(uint32_t seed, tenon_dtype_t dtype) {
  operator_case_t c;
  operator_begin(&c, "standard.col2im/1", seed);
  const uint32_t axes = 1 + operator_draw(&c, 3);
  const int64_t channels = some(&c, 1, 5);
  int64_t image[3];
  int64_t block[3];
  int64_t stride[3];
  int64_t dilation[3];
  int64_t pads[6];
  int64_t y[5] = {2, channels};
  int64_t taps = 1;
  int64_t windows = 1;
  for (uint32_t k = 0; k < axes; k++) {
    block[k] = some(&c, 1, 3);
    stride[k] = some(&c, 1, 3);
    dilation[k] = some(&c, 1, 2);
    pads[k] = some(&c, 0, 2);
    pads[k + axes] = some(&c, 0, 2);
    image[k] = y[k + 2] = some(&c, 5, 11);
    taps *= block[k];
    windows *=
        (image[k] + pads[k] + pads[k + axes] - (block[k] - 1) * dilation[k] - 1) / stride[k] + 1;
  }
  (void)operator_input(&c, dtype, DIMS(2, channels * taps, windows), operator_numbers, 2);
  memcpy(operator_input(&c, TENON_DTYPE_INT64, DIMS(axes), operator_indices, 1)->data, image,
         axes * sizeof(*image));
  memcpy(operator_input(&c, TENON_DTYPE_INT64, DIMS(axes), operator_indices, 1)->data, block,
         axes * sizeof(*block));
  fake_ints(&c.fake, "strides", axes, stride);
  fake_ints(&c.fake, "dilations", axes, dilation);
  fake_ints(&c.fake, "pads", (size_t)axes * 2, pads);
  operator_output(&c, dtype, axes + 2, y);
  c.is_known = seed % 2 == 0;
  operator_check(&c, SUMS);
}

static void check_columns(uint32_t seed) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT16,
                                        TENON_DTYPE_BFLOAT16, TENON_DTYPE_INT32};
  for (uint32_t k = 0; k < 4; k++) {
    check_columns_of(seed * 4 + k, types[(seed + k) % 4]);
  }
}

/* ---- Products ---- */

static void check_mat_mul(uint32_t seed) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_INT32, TENON_DTYPE_FLOAT64,
                                        TENON_DTYPE_UINT64};
  operator_case_t c;
  operator_begin(&c, "standard.mat_mul/1", seed);
  const tenon_dtype_t dtype = types[operator_draw(&c, 4)];
  const int64_t m = some(&c, 1, 40);
  const int64_t k = some(&c, 1, 50);
  const int64_t n = some(&c, 1, 40);
  (void)operator_input(&c, dtype, DIMS(2, 1, m, k), operator_wholes, 9);
  (void)operator_input(&c, dtype, DIMS(3, k, n), operator_wholes, 9);
  operator_output(&c, dtype, DIMS(2, 3, m, n));
  operator_check(&c, SUMS);
}

/* `whole`: rows of multiples of 16 bytes, which are read so. */
static void check_mat_mul_integer(uint32_t seed, bool whole) {
  operator_case_t c;
  operator_begin(&c, "standard.mat_mul_integer/1", seed);
  const tenon_dtype_t a_type = bytes[operator_draw(&c, 2)];
  const tenon_dtype_t b_type = bytes[operator_draw(&c, 2)];
  const int64_t m = some(&c, 1, 80);
  const int64_t k = whole ? 16 * some(&c, 1, 10) : some(&c, 1, 150);
  const int64_t n = whole ? 4 * some(&c, 1, 30) : some(&c, 1, 90);
  const uint32_t zeros = operator_draw(&c, 3);
  add_bytes(&c, a_type, DIMS(2, m, k));
  add_bytes(&c, b_type, DIMS(k, n));
  if (zeros > 0) {
    add_bytes(&c, a_type, DIMS(zeros == 1 ? 1 : m));
    add_bytes(&c, b_type, DIMS(zeros == 1 ? 1 : n));
  }
  operator_output(&c, TENON_DTYPE_INT32, DIMS(2, m, n));
  operator_check(&c, 0);
}

static void check_einsum(uint32_t seed) {
  operator_case_t c;
  operator_begin(&c, "standard.einsum/1", seed);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, 5, 4, 3), operator_numbers, 1);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, 6, 4, 3), operator_numbers, 1);
  fake_string(&c.fake, "equation", seed % 2 == 0 ? "bqhd,bkhd->bhqk" : "...qhd, ...khd -> ...hkq");
  operator_output(&c, TENON_DTYPE_FLOAT32, 4,
                  seed % 2 == 0 ? (const int64_t[]){2, 4, 5, 6} : (const int64_t[]){2, 4, 6, 5});
  operator_check(&c, SUMS);
}

void operators_check_windows(uint32_t seed) {
  check_pool(seed, "standard.max_pool/1", TENON_DTYPE_INT8);
  check_pool(seed, "standard.max_pool/1", TENON_DTYPE_FLOAT32);
  check_pool(seed, "standard.average_pool/1", TENON_DTYPE_FLOAT64);
  check_pool(seed, "standard.average_pool/1", TENON_DTYPE_FLOAT16);
  check_pool(seed, "standard.lp_pool/1", TENON_DTYPE_FLOAT32);
  check_convolution(seed, TENON_DTYPE_FLOAT32);
  check_convolution(seed, TENON_DTYPE_FLOAT64);
  check_deconvolution(seed, TENON_DTYPE_FLOAT32);
  check_deformable(seed, TENON_DTYPE_FLOAT32, 4, 6);
  check_deformable(seed, TENON_DTYPE_FLOAT32, 34, 140);
  check_deformable(seed, TENON_DTYPE_FLOAT16, 10, 8);
  check_deformable(seed, TENON_DTYPE_FLOAT64, 10, 8);
  check_convolution_integer(seed, true, 2);
  check_convolution_integer(seed, false, 2);
  check_convolution_integer(seed, true, 1);
  check_convolution_integer(seed, true, 3);
  for (uint32_t k = 0; k < 4; k++) {
    check_resize(seed * 4 + k, 12);
    check_resize(seed * 4 + k, 700); /* rows of more columns than a block has threads */
  }
  check_scales(seed % 2 == 0);
  check_columns(seed);
  for (uint32_t mode = 0; mode < 3; mode++) {
    check_grid(seed, mode);
  }
  check_affine_grid(seed, 2);
  check_affine_grid(seed, 3);
  check_regions(seed, TENON_DTYPE_FLOAT32, 3, 3);
  check_regions(seed, TENON_DTYPE_FLOAT32, 40, 3);
  /* So many bins that x is copied with channels innermost. */
  check_regions(seed, TENON_DTYPE_FLOAT32, 40, 17);
  check_regions(seed, TENON_DTYPE_FLOAT16, 72, 9);
  check_regions(seed, TENON_DTYPE_BFLOAT16, 104, 17);
  check_regions(seed, TENON_DTYPE_FLOAT64, 34, 9);
  check_mat_mul(seed);
  check_mat_mul_integer(seed, false);
  check_mat_mul_integer(seed, true);
  check_einsum(seed);
}
