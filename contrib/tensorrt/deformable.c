/* Deformable convolution, and attention with positions that are computed. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "families.h"
#include "steps.h"

static void set_pair(tenon_make_t* make, const char* name, int64_t otherwise, int64_t least,
                     int64_t out_pair[2]) {
  size_t count = 0;
  out_pair[0] = out_pair[1] = otherwise;
  if (tenon_make_has(make, name)) {
    const int64_t* given = tensorrt_ints(make, name, 1, 2, least, &count);
    for (size_t k = 0; given != NULL && k < 2; ++k) {
      out_pair[k] = given[count == 2 ? k : 0];
    }
  }
}

static void deformable_convolution(tenon_make_t* make) {
  int64_t strides[2];
  int64_t dilations[2];
  int64_t padding[2];
  set_pair(make, "stride", 1, 1, strides);
  set_pair(make, "dilation", 1, 1, dilations);
  set_pair(make, "padding", 0, 0, padding);
  const int64_t groups = tensorrt_int(make, "group", 1, 1, TENSORRT_COUNT_MAX);
  const int64_t offset_groups = tensorrt_int(make, "deformable_group", 1, 1, TENSORRT_COUNT_MAX);
  const int64_t pads[4] = {padding[0], padding[1], padding[0], padding[1]};
  static const char* const names[4] = {"x", "offset", "mask", "weight"};
  tenon_value_t inputs[4];
  for (uint32_t k = 0; k < 4; ++k) {
    inputs[k] = tensorrt_input(make, k, names[k], 4, "[batch, channels, height, width]");
  }
  tenon_make_begin(make, "deformable_convolution");
  tenon_make_set_ints(make, "strides", strides, 2);
  tenon_make_set_ints(make, "dilations", dilations, 2);
  tenon_make_set_ints(make, "pads", pads, 4);
  tenon_make_set_int(make, "groups", groups);
  tenon_make_set_int(make, "offset_groups", offset_groups);
  tenon_make_add(make, inputs[0]);
  tenon_make_add(make, inputs[3]);
  tenon_make_add(make, inputs[1]);
  tenon_make_add(make, tenon_make_input(make, 4));
  tenon_make_add(make, inputs[2]);
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* ---- Attention to samples of several maps ---- */

enum { LEVELS_MAX = 16 };

typedef struct samples_t {
  tenon_value_t value;     /* [N, S, M, D] */
  tenon_value_t locations; /* [N, Lq, M, L, P, 2] */
  tenon_value_t weights;   /* [N, Lq, M, L, P] */
  int64_t heads;
  int64_t width; /* D */
  int64_t levels;
  int64_t points;
  int64_t shapes[2 * LEVELS_MAX];
  int64_t starts[LEVELS_MAX];
} samples_t;

/* Extents `before`, one of a value, extents `after`, as i64 of rank 1. */
static tenon_value_t shape_of(tenon_make_t* make, tenon_value_t first, tenon_value_t second,
                              const int64_t* after, size_t count) {
  const tenon_value_t parts[3] = {first, second, tenon_make_int64s(make, after, count)};
  return tenon_make_concat(make, 0, 3, parts);
}

/* N M as i64 [1]. */
static tenon_value_t images_of(tenon_make_t* make, const samples_t* from) {
  const tenon_value_t batch = tenon_make_extents(make, from->value, 0, 1);
  return tenon_make_print_math(make, 1, &batch, "y = a * %lld", (long long)from->heads);
}

/* Samples of one level: [N M, D, Lq, P]. */
static tenon_value_t sample_level(tenon_make_t* make, const samples_t* from, int64_t level) {
  static const int64_t planes_first[4] = {0, 2, 3, 1};
  static const int64_t heads_first[6] = {0, 2, 1, 3, 4, 5};
  const int64_t height = from->shapes[2 * level];
  const int64_t width = from->shapes[2 * level + 1];
  const int64_t start = from->starts[level];
  const int64_t map_dims[4] = {-1, from->width, height, width};
  const tenon_value_t map = tenon_make_reshape(
      make,
      tenon_make_permute(make,
                         tenon_make_slice(make, from->value, 1, start, start + height * width),
                         planes_first, 4),
      map_dims, 4);
  const tenon_value_t places = tenon_make_permute(
      make, tenon_make_slice(make, from->locations, 3, level, level + 1), heads_first, 6);
  const int64_t last[2] = {from->points, 2};
  const tenon_value_t dims = shape_of(make, images_of(make, from),
                                      tenon_make_extents(make, from->locations, 1, 2), last, 2);
  const tenon_value_t grid =
      tenon_make_math_1(make, "y = 2 * a - 1", tenon_make_2(make, "reshape", places, dims));
  tenon_make_begin(make, "grid_sample");
  tenon_make_add(make, map);
  tenon_make_add(make, grid);
  return tenon_make_end(make);
}

static void read_shapes(tenon_make_t* make, samples_t* from) {
  uint32_t shape_count = 0;
  uint32_t start_count = 0;
  int64_t end = 0;
  from->levels = tensorrt_known(make, from->locations, 3, "sampling_locations");
  if (!tenon_make_ok(make)) {
    return;
  }
  if (!tenon_make_known_ints(make, tenon_make_input(make, 1), from->shapes, 2 * LEVELS_MAX,
                             &shape_count) ||
      !tenon_make_known_ints(make, tenon_make_input(make, 2), from->starts, LEVELS_MAX,
                             &start_count)) {
    tenon_make_fail(
        make, TENON_ERROR_UNSUPPORTED,
        "spatial_shapes or level_start_index is not constant, or has more than %d levels:"
        " give their values by --input-constant",
        LEVELS_MAX);
    return;
  }
  for (int64_t k = 0; k < from->levels && shape_count == 2 * start_count; ++k) {
    const int64_t* shape = from->shapes + 2 * k;
    const bool is_valid = k < (int64_t)start_count && shape[0] > 0 && shape[1] > 0 &&
                          shape[0] < INT32_MAX && shape[1] < INT32_MAX && from->starts[k] >= 0 &&
                          from->starts[k] < INT32_MAX;
    end = !is_valid ? -1 : end < 0 ? end : from->starts[k] + shape[0] * shape[1];
  }
  const int64_t length = tenon_make_dim(make, from->value, 1);
  if ((int64_t)start_count != from->levels || shape_count != 2 * start_count || end < 0 ||
      (length >= 0 && end > length)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%u shapes and %u starts of %lld levels do not fit %lld values",
                    shape_count / 2, start_count, (long long)from->levels, (long long)length);
  }
}

static void deformable_attention(tenon_make_t* make) {
  samples_t* from = tenon_make_memory(make, 1, sizeof(*from));
  if (from == NULL) {
    return;
  }
  const tenon_value_t like = tensorrt_input(make, 0, "value", 4, "[batch, length, heads, size]");
  from->value = tensorrt_wide(make, like);
  from->locations =
      tensorrt_wide(make, tensorrt_input(make, 3, "sampling_locations", 6,
                                         "[batch, queries, heads, levels, points, 2]"));
  from->weights = tensorrt_wide(make, tensorrt_input(make, 4, "attention_weights", 5,
                                                     "[batch, queries, heads, levels, points]"));
  from->heads = tensorrt_known(make, from->value, 2, "value");
  from->width = tensorrt_known(make, from->value, 3, "value");
  from->points = tensorrt_known(make, from->locations, 4, "sampling_locations");
  read_shapes(make, from);
  if (!tenon_make_ok(make)) {
    return;
  }
  tenon_value_t levels[LEVELS_MAX];
  for (int64_t k = 0; k < from->levels; ++k) {
    levels[k] = sample_level(make, from, k);
  }
  static const int64_t heads_first[5] = {0, 2, 1, 3, 4};
  static const int64_t queries_first[4] = {0, 3, 1, 2};
  const tenon_value_t samples = tenon_make_concat(make, 3, (uint32_t)from->levels, levels);
  const tenon_value_t queries = tenon_make_extents(make, from->locations, 1, 2);
  const int64_t all = from->levels * from->points;
  const tenon_value_t weights =
      tenon_make_2(make, "reshape", tenon_make_permute(make, from->weights, heads_first, 5),
                   shape_of(make, images_of(make, from), queries, &all, 1));
  const int64_t last = 3;
  const tenon_value_t sums = tenon_make_reduce(
      make, "reduce_sum", tenon_make_2(make, "mul", samples, tensorrt_axis(make, weights, 1)),
      &last, 1, 0);
  const int64_t head_dims[3] = {-1, from->heads, from->width};
  const tenon_value_t parts[2] = {tenon_make_int64s(make, head_dims, 3), queries};
  const tenon_value_t by_head =
      tenon_make_2(make, "reshape", sums, tenon_make_concat(make, 0, 2, parts));
  tensorrt_output_like(make, 0, tenon_make_permute(make, by_head, queries_first, 4), like);
}

/* ---- DeBERTa ---- */

/*
 * Places in rows of relative positions, [S, S] as i64. Distances up to span / 2 count one by one,
 * larger ones in logarithmic buckets. The coordinate along
 * `axis`, 0 or 1, gives the row.
 */
static tenon_value_t relative_places(tenon_make_t* make, tenon_value_t square, int64_t span,
                                     int axis) {
  const long long middle = span / 2;
  return tenon_make_print_math(
      make, 1, &square,
      "let d = index(0) - index(1); let f = cast(abs(d), f32);"
      "let g = (log(f) - %.9g) * (%lld.0 / (log(cast(size(0) - 1, f32)) - %.9g) * 0.9999999);"
      "let b = cast(ceil(g), i64) + %lld;"
      "let p = d >= -%lld && d <= %lld ? d : d < 0 ? -b : b;"
      "y = index(%d) * %lld + clamp(p + %lld, 0, %lld) + cast(cast(a, i32) * 0, i64)",
      (double)logf((float)middle), middle - 1, (double)logf((float)middle), middle, middle, middle,
      axis, (long long)span * 2, (long long)span, (long long)span * 2 - 1);
}

static void disentangled_attention(tenon_make_t* make) {
  static const char form[] = "[batch * heads, length, length or 2 * span]";
  static const int64_t flat[2] = {0, -1};
  tensorrt_require(make, "span");
  tensorrt_require(make, "factor");
  const int64_t span = tensorrt_int(make, "span", 2, 2, 1 << 20);
  const double factor = tensorrt_float(make, "factor", 1, -FLT_MAX, FLT_MAX);
  tenon_value_t terms[3];
  for (uint32_t k = 0; k < 3; ++k) {
    const tenon_value_t given = tensorrt_input(make, k, "data", 3, form);
    terms[k] = tensorrt_wide(make, given);
    if (k > 0 && tenon_make_ok(make) && tensorrt_known(make, given, 2, "data") != 2 * span) {
      tensorrt_refuse(make, "span", "the last axis of inputs 1 and 2 has not twice its extent");
    }
  }
  const tenon_value_t square =
      tenon_make_squeeze(make, tenon_make_slice(make, terms[0], 0, 0, 1), 0);
  for (int k = 1; k < 3; ++k) {
    terms[k] = tenon_make_gather(make, tenon_make_reshape(make, terms[k], flat, 2),
                                 relative_places(make, square, span, k - 1), 1);
  }
  tensorrt_output_like(make, 0,
                       tenon_make_print_math(make, 3, terms, "y = (a + b + c) * (%.17g)", factor),
                       tenon_make_input(make, 0));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("DisentangledAttention_TRT", disentangled_attention, "1 2", NULL),
    TENSORRT_ROW("ModulatedDeformConv2d", deformable_convolution, "1 2", NULL),
    TENSORRT_ROW("MultiscaleDeformableAttnPlugin_TRT", deformable_attention, "1 2", NULL),
};
TENSORRT_FAMILY(deformable);
