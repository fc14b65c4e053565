/* Random nodes of closed operators: order, scattering, selection, elements. Each round has random
 * extents, types and attributes. */
#include "operators.h"

#include "operator_case.h"

/* Tolerance of f32 sums in another order. The reference adds doubles. */
#define SUMS 1e-4

static const tenon_dtype_t numbers[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT16, TENON_DTYPE_INT32,
                                        TENON_DTYPE_UINT64,  TENON_DTYPE_FLOAT64, TENON_DTYPE_INT8,
                                        TENON_DTYPE_BFLOAT16};
static const char* const reductions[] = {"none", "add", "mul", "max", "min"};

static tenon_dtype_t draw_type(operator_case_t* c) {
  return numbers[operator_draw(c, sizeof(numbers) / sizeof(numbers[0]))];
}

/* ---- Order ---- */

/* `most` is the largest magnitude. A small value makes many ties. */
static void check_top_k(uint32_t seed, tenon_dtype_t dtype, int64_t extent, int64_t k,
                        double most) {
  operator_case_t c;
  operator_begin(&c, "standard.top_k/1", seed);
  const int64_t outer = extent > 4000 ? 1 : 2;
  const int64_t inner = 1 + operator_draw(&c, 3);
  tenon_tensor_view_t* x =
      operator_input(&c, dtype, DIMS(outer, extent, inner), operator_wholes, most);
  if (dtype == TENON_DTYPE_FLOAT32) {
    /* 0 and -0 are equal, and NaN is greater than all numbers. */
    for (int64_t at = 0; at < extent * outer * inner; at += 1 + operator_draw(&c, 97)) {
      ((float*)x->data)[at] = at % 3 == 0 ? NAN : at % 3 == 1 ? -0.0f : INFINITY;
    }
  }
  (void)operator_input(&c, TENON_DTYPE_INT64, DIMS(1), operator_positive, 1);
  fake_int(&c.fake, "axis", 1);
  fake_int(&c.fake, "largest", operator_draw(&c, 2));
  fake_int(&c.fake, "sorted", 1);
  operator_output(&c, dtype, DIMS(outer, k, inner));
  operator_output(&c, TENON_DTYPE_INT64, DIMS(outer, k, inner));
  operator_check(&c, 0);
}

/* Up to 2,048 elements are selected, and lines from 16,384 elements on are divided into parts.
 * Larger selections are sorted. */
static void check_order(uint32_t seed) {
  const tenon_dtype_t dtype = numbers[seed % (sizeof(numbers) / sizeof(numbers[0]))];
  check_top_k(seed, dtype, 40 + seed % 60, 5, 20);
  check_top_k(seed, dtype, 300 + seed % 700, 33 + seed % 100, 20);
  check_top_k(seed, dtype, 1 + seed % 40, 1, 20);
  check_top_k(seed, dtype, 255 + seed % 3, 40 + seed, 200);
  check_top_k(seed, dtype, 2500 + seed % 700, 1, 1e6);
  check_top_k(seed, dtype, 2500 + seed % 700, 0, 1e6);
  check_top_k(seed, dtype, 5000, 40, 0);
  check_top_k(seed, dtype, 5000, 2049 + seed % 100, 1e6);
  check_top_k(seed, dtype, 20000 + seed % 700, 50 + seed % 50, 1e6);
  check_top_k(seed, TENON_DTYPE_FLOAT32, 9000 + seed % 700, 300, 1e6);
  check_top_k(seed, TENON_DTYPE_FLOAT32, 2100 + seed % 900, 2100, 500);
  check_top_k(seed, TENON_DTYPE_UINT8, 3000, 2200, 100);
}

static void check_running(uint32_t seed, const char* op, int64_t outer, int64_t extent,
                          int64_t inner) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_INT32};
  operator_case_t c;
  operator_begin(&c, op, seed);
  const tenon_dtype_t dtype = types[operator_draw(&c, 2)];
  (void)operator_input(&c, dtype, DIMS(outer, extent, inner), operator_numbers, 1.05);
  *(int64_t*)operator_input(&c, TENON_DTYPE_INT64, 0, NULL, operator_positive, 1)->data = -2;
  c.is_known = extent % 2 == 0;
  fake_int(&c.fake, "exclusive", operator_draw(&c, 2));
  fake_int(&c.fake, "reverse", operator_draw(&c, 2));
  operator_output(&c, dtype, DIMS(outer, extent, inner));
  operator_check(&c, SUMS);
}

static void check_running_axis(bool is_known) {
  operator_case_t c;
  operator_begin(&c, "standard.cumulative_sum/1", 1);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, 3), operator_numbers, 1);
  *(int64_t*)operator_input(&c, TENON_DTYPE_INT64, 0, NULL, operator_positive, 1)->data = 7;
  fake_int(&c.fake, "exclusive", 0);
  fake_int(&c.fake, "reverse", 0);
  operator_output(&c, TENON_DTYPE_FLOAT32, DIMS(2, 3));
  c.is_known = is_known;
  operator_check_fault(&c, 7);
}

/* ---- Scattering ---- */

/* Sets `values` to a random permutation of [0, count). */
static void permute(operator_case_t* c, int64_t* values, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    values[k] = k;
  }
  for (int64_t k = count - 1; k > 0; k--) {
    const int64_t other = operator_draw(c, (uint32_t)k + 1);
    const int64_t kept = values[k];
    values[k] = values[other];
    values[other] = kept;
  }
}

/* The tensor has only one axis, so that lines are long. Without a reduction, no index occurs
 * twice. */
static void check_scatter(uint32_t seed, const char* reduction, int64_t updates) {
  const int64_t extent = updates * 2;
  const bool is_plain = strcmp(reduction, "none") == 0;
  operator_case_t c;
  operator_begin(&c, "standard.scatter_elements/1", seed);
  const tenon_dtype_t dtype = draw_type(&c);
  (void)operator_input(&c, dtype, DIMS(extent), operator_numbers, 3);
  const int64_t named = extent / 3;
  int64_t* places =
      operator_input(&c, TENON_DTYPE_INT64, DIMS(updates), operator_indices, (double)named)->data;
  if (is_plain) {
    permute(&c, places, updates);
  }
  (void)operator_input(&c, dtype, DIMS(updates), operator_numbers, 1.5);
  fake_int(&c.fake, "axis", 0);
  fake_string(&c.fake, "reduction", reduction);
  operator_output(&c, dtype, DIMS(extent));
  /* Each update rounds f16 and bf16, up to some tens of times. */
  const bool is_narrow = dtype == TENON_DTYPE_FLOAT16 || dtype == TENON_DTYPE_BFLOAT16;
  c.is_known = seed % 2 == 0;
  operator_check(&c, is_narrow ? 0.1 : 1e-5);
}

static void check_scatter_nd(uint32_t seed, const char* reduction) {
  const bool is_plain = strcmp(reduction, "none") == 0;
  operator_case_t c;
  operator_begin(&c, "standard.scatter_nd/1", seed);
  const int64_t length = 1 + operator_draw(&c, 130);
  const int64_t slices = 1 + operator_draw(&c, 40);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(8, 5, length), operator_numbers, 3);
  int64_t* places =
      operator_input(&c, TENON_DTYPE_INT64, DIMS(slices, 2), operator_indices, 5)->data;
  int64_t order[40];
  permute(&c, order, 40);
  for (int64_t k = 0; k < slices && is_plain; k++) {
    places[2 * k] = order[k] / 5 - 8; /* counts from the end */
    places[2 * k + 1] = order[k] % 5;
  }
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(slices, length), operator_numbers, 1.5);
  fake_string(&c.fake, "reduction", reduction);
  operator_output(&c, TENON_DTYPE_FLOAT32, DIMS(8, 5, length));
  c.is_known = seed % 2 == 0;
  operator_check(&c, 1e-5);
}

/* New tokens in a cache of [sequences, heads, tokens, size]. A linear cache has room for them. */
static void check_cache(uint32_t seed, bool is_circular, bool has_begins) {
  operator_case_t c;
  operator_begin(&c, "standard.tensor_scatter/1", seed);
  const tenon_dtype_t dtype = draw_type(&c);
  const int64_t size = 1 + operator_draw(&c, 20);
  const int64_t steps = 1 + operator_draw(&c, 3);
  const int64_t room = 1 + operator_draw(&c, 40);
  (void)operator_input(&c, dtype, DIMS(3, 2, room + steps, size), operator_numbers, 3);
  (void)operator_input(&c, dtype, DIMS(3, 2, steps, size), operator_numbers, 3);
  if (has_begins) {
    const int64_t begins = is_circular ? 2 * room : room;
    (void)operator_input(&c, TENON_DTYPE_INT64, DIMS(3), operator_indices, (double)begins);
  }
  fake_int(&c.fake, "axis", -2);
  fake_string(&c.fake, "mode", is_circular ? "circular" : "linear");
  operator_output(&c, dtype, DIMS(3, 2, room + steps, size));
  operator_check(&c, 0);
}

static void check_scatter_outside(bool is_known) {
  operator_case_t c;
  operator_begin(&c, "standard.scatter_elements/1", 1);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(4), operator_numbers, 3);
  *(int64_t*)operator_input(&c, TENON_DTYPE_INT64, DIMS(1), operator_indices, 4)->data = -5;
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(1), operator_numbers, 3);
  fake_int(&c.fake, "axis", 0);
  fake_string(&c.fake, "reduction", "none");
  operator_output(&c, TENON_DTYPE_FLOAT32, DIMS(4));
  c.is_known = is_known;
  operator_check_fault(&c, -5);
}

/* ---- Selection ---- */

static void check_found(uint32_t seed, int64_t extent) {
  operator_case_t c;
  operator_begin(&c, "standard.nonzero/1", seed);
  (void)operator_input(&c, draw_type(&c), DIMS(3, extent, 2), operator_indices, 3);
  operator_found(&c, TENON_DTYPE_INT64, DIMS(3, 6 * extent));
  operator_check(&c, 0);
  operator_begin(&c, "standard.compress/1", seed);
  const tenon_dtype_t dtype = draw_type(&c);
  (void)operator_input(&c, dtype, DIMS(2, extent, 3), operator_numbers, 3);
  (void)operator_input(&c, TENON_DTYPE_BOOL, DIMS(extent), operator_indices, 2);
  fake_int(&c.fake, "axis", -2);
  fake_int(&c.fake, "flat", 0);
  operator_found(&c, dtype, DIMS(2, extent, 3));
  operator_check(&c, 0);
  operator_begin(&c, "standard.compress/1", seed);
  (void)operator_input(&c, dtype, DIMS(2, extent), operator_numbers, 3);
  (void)operator_input(&c, TENON_DTYPE_BOOL, DIMS(extent), operator_indices, 2);
  fake_int(&c.fake, "axis", 0);
  fake_int(&c.fake, "flat", 1);
  operator_found(&c, dtype, DIMS(extent));
  operator_check(&c, 0);
}

/* Makes slices of `items` elements. If `items` is 0, the operator compares single elements. */
static void check_unique(uint32_t seed, int64_t extent, int64_t items, double most) {
  operator_case_t c;
  operator_begin(&c, "standard.unique/1", seed);
  const tenon_dtype_t dtype = draw_type(&c);
  const int64_t outer = items == 0 ? 1 : items;
  (void)operator_input(&c, dtype, DIMS(outer, extent), operator_wholes, most);
  fake_int(&c.fake, "axis", 1);
  fake_int(&c.fake, "flat", items == 0 ? 1 : 0);
  fake_int(&c.fake, "sorted", operator_draw(&c, 2));
  if (items == 0) {
    operator_found(&c, dtype, DIMS(extent));
  } else {
    operator_found(&c, dtype, DIMS(outer, extent));
  }
  operator_found(&c, TENON_DTYPE_INT64, DIMS(extent));
  operator_output(&c, TENON_DTYPE_INT64, DIMS(extent));
  operator_found(&c, TENON_DTYPE_INT64, DIMS(extent));
  operator_check(&c, 0);
}

/* Makes boxes of three classes. Up to `limit` are selected. Scores have `values` different
 * values. */
static void check_suppression(uint32_t seed, int64_t boxes, int64_t limit, double extent,
                              double values) {
  operator_case_t c;
  operator_begin(&c, "standard.non_max_suppression/1", seed);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, boxes, 4), operator_positive, extent);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, 3, boxes), operator_indices, values);
  *(int64_t*)operator_input(&c, TENON_DTYPE_INT64, DIMS(1), operator_indices, 2)->data = limit;
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(1), operator_positive, 1);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(1), operator_positive, values / 3);
  fake_int(&c.fake, "center_point_box", operator_draw(&c, 2));
  operator_found(&c, TENON_DTYPE_INT64, DIMS(6 * boxes, 3));
  operator_check(&c, 0);
}

/* ---- Elements ---- */

static void check_loss(uint32_t seed, const char* reduction) {
  operator_case_t c;
  operator_begin(&c, "standard.negative_log_likelihood/1", seed);
  const bool keeps = strcmp(reduction, "none") == 0;
  const int64_t extent = 1 + operator_draw(&c, 400);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(2, 5, extent), operator_numbers, 3);
  (void)operator_input(&c, TENON_DTYPE_INT64, DIMS(2, extent), operator_indices, 5);
  (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(5), operator_positive, 2);
  fake_string(&c.fake, "reduction", reduction);
  fake_int(&c.fake, "ignores", 1);
  fake_int(&c.fake, "ignore_index", 2);
  operator_output(&c, TENON_DTYPE_FLOAT32, keeps ? 2 : 0, (const int64_t[]){2, extent});
  operator_check(&c, SUMS * 10);
}

/* Compares random numbers. The same seed must give the same elements as the reference. */
static void check_random(uint32_t seed, const char* op) {
  operator_case_t c;
  operator_begin(&c, op, seed);
  const bool draws = strcmp(op, "standard.multinomial/1") == 0;
  const bool reads = draws || strcmp(op, "standard.bernoulli/1") == 0;
  if (reads) {
    (void)operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(30, 40), operator_positive, 1);
  } else {
    (void)operator_input(&c, TENON_DTYPE_INT64, DIMS(2), operator_indices, 40);
  }
  fake_int(&c.fake, "seed", 1 + (int64_t)seed * 7919);
  fake_float(&c.fake, "low", -2.5);
  fake_float(&c.fake, "high", 4.0);
  fake_float(&c.fake, "mean", 1.0);
  fake_float(&c.fake, "scale", 2.0);
  fake_int(&c.fake, "sample_size", 9);
  operator_output(&c, draws ? TENON_DTYPE_INT32 : TENON_DTYPE_FLOAT32, DIMS(30, draws ? 9 : 40));
  operator_check(&c, 1e-6);
}

void operators_check_round(uint32_t seed) {
  check_order(seed);
  for (int64_t inner = 1; inner < 4; inner++) {
    check_running(seed, "standard.cumulative_sum/1", 2, 5 + seed % 90, inner);
    check_running(seed, "standard.cumulative_sum/1", 2, 1200 + seed % 90, inner);
    check_running(seed, "standard.cumulative_prod/1", 2, 130 + seed % 200, inner);
  }
  check_running(seed, "standard.cumulative_sum/1", 2, 1024 + 4 * (seed % 90), 1);
  check_running(seed, "standard.cumulative_sum/1", 1, 20000 + seed % 4, 1);
  check_running(seed, "standard.cumulative_sum/1", 2, 36864, 1);
  check_running(seed, "standard.cumulative_prod/1", 3, 17000 + seed % 3, 2);
  check_running(seed, "standard.cumulative_sum/1", 4500, 20 + seed % 4, 1);
  check_running(seed, "standard.cumulative_sum/1", 2, 20 + seed % 4, 4500);
  check_running(seed, "standard.cumulative_sum/1", 0, 20000, 1); /* no lines */
  for (uint32_t k = 0; k < 5; k++) {
    check_scatter(seed, reductions[k], 5 + seed % 30);
    check_scatter(seed, reductions[k], 64 + seed % 300);
    check_scatter_nd(seed, reductions[k]);
  }
  for (uint32_t k = 0; k < 4; k++) {
    check_cache(seed, k / 2 == 1, k % 2 == 1);
  }
  check_found(seed, 3 + seed % 5);
  check_found(seed, 700 + seed % 900);
  check_found(seed, 0);
  check_unique(seed, 1 + seed % 300, 2, 3);
  check_unique(seed, 500 + seed % 300, 3, 2);
  check_unique(seed, 1 + seed % 300, 1, 300);
  check_unique(seed, 5000 + seed % 3000, 0, 2000);
  check_unique(seed, 0, 0, 1);
  check_suppression(seed, 1 + seed * 97 % 700, 40, 10, 50);
  check_suppression(seed, 3000, 60, 10, 5);
  check_suppression(seed, 700, 500, 10000, 5000);
  check_loss(seed, "none");
  check_loss(seed, "mean");
  check_loss(seed, "sum");
  check_random(seed, "standard.random_uniform/1");
  check_random(seed, "standard.random_normal/1");
  check_random(seed, "standard.bernoulli/1");
  check_random(seed, "standard.multinomial/1");
  operators_check_windows(seed);
  operators_check_layers(seed);
}

void operators_check_faults(void) {
  for (uint32_t known = 0; known < 2; known++) {
    check_running_axis(known == 1);
    check_scatter_outside(known == 1);
  }
}
