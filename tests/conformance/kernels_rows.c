/* Tests reductions along all axes, several in one program, and LOAD at computed coordinates. */
#include "kernel_case.h"
#include "kernels.h"

enum { F32 = TENON_DTYPE_FLOAT32, F16 = TENON_DTYPE_FLOAT16, I64 = TENON_DTYPE_INT64 };

/* If n terms are added in another order, the error is at most log2(n) / 2 + n / threads roundings
 * of the sum of magnitudes, which is below 8 n here. 64 roundings of 8 are enough for trees of 4096
 * terms. exp doubles the error of its argument. */
static const double row_error = 512;

/* The tactic that check_long_rows tests. NULL: all tactics run. */
static const char* wanted_tactic;

static void begin_case(kernel_case_t* c, uint32_t rank, const int64_t* dims) {
  kernel_case_begin(c, rank, dims);
  c->whole_numbers = true;
  c->wanted_tactic = wanted_tactic;
}

static void check_softmax(tenon_dtype_t dtype, uint32_t rank, const int64_t* dims, uint64_t axes,
                          const kernel_lie_t* lie) {
  kernel_case_t c;
  begin_case(&c, rank, dims);
  const uint32_t x = kernel_operand(&c, dtype, lie);
  const uint32_t wide = kernel_add(&c, TENON_OPCODE_CAST, F32, x, 0, 0);
  const uint32_t scale = kernel_constant(&c, F32, 0.125);
  const uint32_t scaled = kernel_add(&c, TENON_OPCODE_MUL, F32, wide, scale, 0);
  const uint32_t most = kernel_reduce(&c, TENON_OPCODE_REDUCE_MAX, F32, scaled, axes);
  const uint32_t below = kernel_add(&c, TENON_OPCODE_SUB, F32, scaled, most, 0);
  const uint32_t power = kernel_add(&c, TENON_OPCODE_EXP, F32, below, 0, 0);
  const uint32_t sum = kernel_reduce(&c, TENON_OPCODE_SUM, F32, power, axes);
  kernel_output(&c, dtype, kernel_add(&c, TENON_OPCODE_DIV, F32, power, sum, 0), 0, lie);
  kernel_output(&c, F32, sum, axes, NULL);
  kernel_check(&c, "softmax", row_error * 8);
}

static void check_norm(tenon_dtype_t dtype, uint32_t rank, const int64_t* dims, uint64_t axes) {
  const kernel_lie_t weights = {.step = 1, .broadcast = ~axes};
  kernel_case_t c;
  begin_case(&c, rank, dims);
  const uint32_t all = (1u << rank) - 1;
  const kernel_lie_t scale = {.step = 1, .broadcast = weights.broadcast & all};
  const uint32_t x = kernel_operand(&c, dtype, NULL);
  const uint32_t g = kernel_operand(&c, F32, &scale);
  const uint32_t wide = kernel_add(&c, TENON_OPCODE_CAST, F32, x, 0, 0);
  const uint32_t mean = kernel_reduce(&c, TENON_OPCODE_MEAN, F32, wide, axes);
  const uint32_t rest = kernel_add(&c, TENON_OPCODE_SUB, F32, wide, mean, 0);
  const uint32_t square = kernel_add(&c, TENON_OPCODE_MUL, F32, rest, rest, 0);
  const uint32_t variance = kernel_reduce(&c, TENON_OPCODE_MEAN, F32, square, axes);
  const uint32_t epsilon = kernel_constant(&c, F32, 1e-5);
  const uint32_t sum = kernel_add(&c, TENON_OPCODE_ADD, F32, variance, epsilon, 0);
  const uint32_t root = kernel_add(&c, TENON_OPCODE_RSQRT, F32, sum, 0, 0);
  const uint32_t norm = kernel_add(&c, TENON_OPCODE_MUL, F32, rest, root, 0);
  kernel_output(&c, dtype, kernel_add(&c, TENON_OPCODE_MUL, F32, norm, g, 0), 0, NULL);
  kernel_check(&c, "norm", row_error);
}

/* Tests all five reductions at once. Sums of whole numbers are exact in any order. PROD multiplies
 * signs only. */
static void check_reductions(tenon_dtype_t dtype, uint32_t rank, const int64_t* dims, uint64_t axes,
                             const kernel_lie_t* lie) {
  kernel_case_t c;
  begin_case(&c, rank, dims);
  const uint32_t x = kernel_operand(&c, dtype, lie);
  const uint32_t sign = kernel_add(&c, TENON_OPCODE_SIGN, dtype, x, 0, 0);
  kernel_output(&c, dtype, kernel_reduce(&c, TENON_OPCODE_SUM, dtype, x, axes), axes, NULL);
  kernel_output(&c, dtype, kernel_reduce(&c, TENON_OPCODE_PROD, dtype, sign, axes), axes, NULL);
  kernel_output(&c, dtype, kernel_reduce(&c, TENON_OPCODE_REDUCE_MIN, dtype, x, axes), axes, NULL);
  kernel_output(&c, dtype, kernel_reduce(&c, TENON_OPCODE_REDUCE_MAX, dtype, x, axes), axes, NULL);
  kernel_output(&c, dtype, kernel_reduce(&c, TENON_OPCODE_MEAN, dtype, x, axes), axes, NULL);
  /* The mean divides an exact sum once, with an error of one unit. A store of lower precision may
   * enlarge it to one unit of the stored type. */
  kernel_check(&c, "reductions", tenon__number_is_float(dtype) ? 2 : 0);
}

/* Tests reduced rows that are adjacent in memory, so that each access has elements of several
 * rows. */
static void check_columns(void) {
  static const int64_t images[][4] = {{3, 64, 6, 10}, {2, 24, 70, 30}, {1, 20, 33, 40},
                                      {2, 10, 9, 5},  {2, 7, 12, 12},  {40, 96, 2, 3}};
  static const uint32_t last_first[] = {0, 2, 3, 1};
  static const kernel_lie_t channels_last = {.order = last_first, .pitch = 0, .step = 1};
  static const tenon_dtype_t dtypes[] = {F16, F32, TENON_DTYPE_BFLOAT16};
  for (size_t k = 0; k < sizeof(images) / sizeof(*images); k++) {
    check_reductions(k == 1 ? F32 : TENON_DTYPE_INT32, 4, images[k], 1u << 2 | 1u << 3,
                     k % 2 == 0 ? &channels_last : NULL);
    check_softmax(dtypes[k % 3], 4, images[k], 1u << 2 | 1u << 3, &channels_last);
    check_norm(dtypes[k % 3], 4, images[k], 1u << 2 | 1u << 3);
    check_norm(dtypes[k % 3], 3, images[k], 1u << 2);
    check_norm(F16, 4, images[k], 1u << 1);
  }
}

/* The speed of rows depends on their layout, so each tactic must require one order. */
static void check_orders(void) {
  kernel_case_t c;
  kernel_life_t life;
  kernel_case_begin(&c, DIMS(2, 32, 5, 5));
  const uint32_t x = kernel_operand(&c, F32, NULL);
  kernel_output(&c, F32, kernel_reduce(&c, TENON_OPCODE_MEAN, F32, x, 12), 12, NULL);
  uint32_t last = 0;
  uint32_t count = 0;
  for (; kernel_case_live(&c, count, &life) == TENON_OK; count++) {
    const tenon_argument_rule_t* rule = &c.fake.tactic.inputs[0];
    last += rule->kind == TENON_LAYOUT_EXACT ? 1 : 0;
    /* Row-major with any strides accepts any order. */
    kernel_failures += rule->kind == TENON_LAYOUT_ANY ? 1 : 0;
    kernel_failures += rule->kind == TENON_LAYOUT_ROW_MAJOR && rule->flags != 0 ? 1 : 0;
    kernel_life_end(&life);
  }
  kernel_life_end(&life);
  if (last == 0 || last == count) {
    (void)fprintf(stderr, "FAILED orders: %u of %u tactics ask for channels last\n", last, count);
    kernel_failures++;
  }
  kernel_case_end(&c);
}

/* If an element is NaN, the result is NaN in any order. */
static void check_not_numbers(void) {
  kernel_case_t c;
  kernel_case_begin(&c, DIMS(40, 300));
  const uint32_t x = kernel_operand(&c, F32, NULL);
  kernel_output(&c, F32, kernel_reduce(&c, TENON_OPCODE_REDUCE_MIN, F32, x, 2), 2, NULL);
  kernel_output(&c, F32, kernel_reduce(&c, TENON_OPCODE_REDUCE_MAX, F32, x, 2), 2, NULL);
  kernel_check(&c, "not numbers", 0);
}

/* Computes argmax: the position of a row's maximum, from its coordinates. */
static void check_greatest(void) {
  kernel_case_t c;
  kernel_case_begin(&c, DIMS(50, 77));
  c.whole_numbers = true;
  const uint32_t x = kernel_operand(&c, F32, NULL);
  const uint32_t most = kernel_reduce(&c, TENON_OPCODE_REDUCE_MAX, F32, x, 2);
  const uint32_t is_most = kernel_add(&c, TENON_OPCODE_EQ, F32, x, most, 0);
  const uint32_t index = kernel_immediate(&c, TENON_OPCODE_INDEX, I64, 1);
  const uint32_t size = kernel_immediate(&c, TENON_OPCODE_SIZE, I64, 1);
  const uint32_t place = kernel_add(&c, TENON_OPCODE_SELECT, I64, is_most, index, size);
  kernel_output(&c, I64, kernel_reduce(&c, TENON_OPCODE_REDUCE_MIN, I64, place, 2), 2, NULL);
  kernel_check(&c, "greatest", 0);
}

/* Tests a few rows that are so long that several blocks share each. The other tactics for long rows
 * run only for the longest of `lengths`, because they need half of the compilations here. */
static void check_long_rows(void) {
  static const tenon_dtype_t dtypes[] = {F32, TENON_DTYPE_INT32, I64, TENON_DTYPE_UINT8};
  wanted_tactic = "several blocks a row";
  check_softmax(F32, 2, (const int64_t[]){1, 20000}, 2, NULL);
  check_softmax(F16, 2, (const int64_t[]){3, 33333}, 2, NULL);
  check_softmax(F32, 4, (const int64_t[]){1, 2, 150, 150}, 12, NULL);
  check_norm(F32, 2, (const int64_t[]){2, 17003}, 2);
  for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]); k++) {
    check_reductions(dtypes[k], 2, (const int64_t[]){2, 17001}, 2, NULL);
    check_reductions(dtypes[k], 3, (const int64_t[]){20, 30, 40}, 7, NULL);
  }
  wanted_tactic = NULL;
}

/* Tests a few long and adjacent rows, which the same blocks share. */
static void check_long_columns(void) {
  static const int64_t images[][4] = {{1, 16, 50, 50}, {2, 24, 60, 40}, {1, 7, 47, 53}};
  static const uint32_t last_first[] = {0, 2, 3, 1};
  static const kernel_lie_t channels_last = {.order = last_first, .pitch = 0, .step = 1};
  const uint64_t plane = 1u << 2 | 1u << 3;
  wanted_tactic = "several blocks a row, channels last";
  for (size_t k = 0; k < sizeof(images) / sizeof(images[0]); k++) {
    check_reductions(k == 0 ? F32 : TENON_DTYPE_INT32, 4, images[k], plane, &channels_last);
    check_softmax(k == 1 ? F16 : F32, 4, images[k], plane, &channels_last);
    check_norm(k == 2 ? F16 : F32, 4, images[k], plane);
  }
  wanted_tactic = "several blocks a row";
  check_reductions(F32, 2, (const int64_t[]){3000, 40}, 1, NULL);
  check_norm(F16, 2, (const int64_t[]){2500, 9}, 1);
  wanted_tactic = NULL;
}

void kernels_check_rows(void) {
  static const int64_t lengths[] = {1, 5, 64, 197, 256, 768, 1000, 4096, 20000};
  static const uint32_t last_first[] = {0, 2, 3, 1};
  static const kernel_lie_t channels_last = {.order = last_first, .pitch = 0, .step = 1};
  static const kernel_lie_t wider = {.order = NULL, .pitch = 8, .step = 1};
  static const tenon_dtype_t dtypes[] = {
      F32, TENON_DTYPE_INT32, TENON_DTYPE_INT64, TENON_DTYPE_UINT8, TENON_DTYPE_FLOAT64, F16};
  for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++) {
    const int64_t dims[] = {lengths[k] > 4096 ? 2 : 9, lengths[k]};
    check_softmax(k % 2 == 0 ? F32 : F16, 2, dims, 2, k % 3 == 0 ? &wider : NULL);
    check_norm(k % 2 == 0 ? F16 : F32, 2, dims, 2);
  }
  const int64_t image[] = {3, 20, 6, 10};
  check_softmax(F32, 4, image, 1u << 1, NULL);
  check_softmax(F16, 4, image, 1u << 1, &channels_last);
  check_softmax(F32, 4, image, 1u << 3 | 1u << 2, &channels_last);
  check_norm(F32, 4, image, 1u << 2 | 1u << 3);
  check_norm(F16, 4, image, 1u << 1 | 1u << 3);
  for (size_t k = 0; k < sizeof(dtypes) / sizeof(*dtypes); k++) {
    check_reductions(dtypes[k], 4, image, 1u << 3, NULL);
    check_reductions(dtypes[k], 4, image, 1u << 0 | 1u << 2, NULL);
    check_reductions(dtypes[k], 4, image, 15, &channels_last);
  }
  check_columns();
  check_orders();
  check_not_numbers();
  check_greatest();
  check_long_rows();
  check_long_columns();
}

/* ---- LOAD ---- */

/* y[i, j] = x[(i * 3 + j) % n, j]. If `guarded` is true, a SELECT hides elements out of range. */
static void make_gather(kernel_case_t* c, bool guarded, int64_t beyond) {
  kernel_case_begin(c, DIMS(30, 17));
  const uint32_t x = kernel_indexed(c, F16, DIMS(25, 17));
  const uint32_t i = kernel_immediate(c, TENON_OPCODE_INDEX, I64, 0);
  const uint32_t j = kernel_immediate(c, TENON_OPCODE_INDEX, I64, 1);
  const uint32_t extent = kernel_immediate(c, TENON_OPCODE_EXTENT, I64, x);
  const uint32_t more = kernel_constant(c, I64, (double)beyond);
  const uint32_t limit = kernel_add(c, TENON_OPCODE_ADD, I64, extent, more, 0);
  const uint32_t place = kernel_add(c, TENON_OPCODE_MOD, I64, i, limit, 0);
  const uint32_t value = kernel_load(c, F32, x, 2, (const uint32_t[]){place, j});
  const uint32_t inside = kernel_add(c, TENON_OPCODE_LT, I64, place, extent, 0);
  const uint32_t zero = kernel_constant(c, F32, 0.0);
  const uint32_t chosen = kernel_add(c, TENON_OPCODE_SELECT, F32, inside, value, zero);
  kernel_output(c, F32, guarded ? chosen : value, 0, NULL);
}

/* Reads before 0 and after the end with three kinds of padding: nearest element, repetition and
 * reflection. */
static void make_margins(kernel_case_t* c) {
  kernel_case_begin(c, DIMS(31, 40));
  const uint32_t x = kernel_indexed(c, F32, DIMS(10, 13));
  const uint32_t i = kernel_immediate(c, TENON_OPCODE_INDEX, I64, 0);
  const uint32_t j = kernel_immediate(c, TENON_OPCODE_INDEX, I64, 1);
  const uint32_t extent = kernel_immediate(c, TENON_OPCODE_EXTENT, I64, x);
  const uint32_t zero = kernel_constant(c, I64, 0.0);
  const uint32_t one = kernel_constant(c, I64, 1.0);
  const uint32_t four = kernel_constant(c, I64, 4.0);
  const uint32_t last = kernel_add(c, TENON_OPCODE_SUB, I64, extent, one, 0);
  const uint32_t before = kernel_add(c, TENON_OPCODE_SUB, I64, i, four, 0);
  const uint32_t positive = kernel_add(c, TENON_OPCODE_MAX, I64, before, zero, 0);
  const uint32_t nearest = kernel_add(c, TENON_OPCODE_MIN, I64, positive, last, 0);
  const uint32_t again = kernel_add(c, TENON_OPCODE_MOD, I64, before, extent, 0);
  const uint32_t size = kernel_constant(c, I64, 13.0);
  const uint32_t left = kernel_add(c, TENON_OPCODE_SUB, I64, j, four, 0);
  const uint32_t half = kernel_add(c, TENON_OPCODE_FLOOR_DIV, I64, left, four, 0);
  const uint32_t turned = kernel_add(c, TENON_OPCODE_ABS, I64, half, 0, 0);
  const uint32_t column = kernel_add(c, TENON_OPCODE_FMOD, I64, turned, size, 0);
  kernel_output(c, F32, kernel_load(c, F32, x, 2, (const uint32_t[]){nearest, column}), 0, NULL);
  kernel_output(c, F32, kernel_load(c, F32, x, 2, (const uint32_t[]){again, column}), 0, NULL);
  kernel_output(c, I64, kernel_add(c, TENON_OPCODE_MUL, I64, before, half, 0), 0, NULL);
}

/* Sums rows of a lookup. */
static void make_sums(kernel_case_t* c, int64_t beyond) {
  kernel_case_begin(c, DIMS(12, 33));
  c->whole_numbers = true;
  const uint32_t table = kernel_indexed(c, F32, DIMS(12, 33));
  const uint32_t i = kernel_immediate(c, TENON_OPCODE_INDEX, I64, 0);
  const uint32_t j = kernel_immediate(c, TENON_OPCODE_INDEX, I64, 1);
  const uint32_t more = kernel_constant(c, I64, (double)beyond);
  const uint32_t place = kernel_add(c, TENON_OPCODE_ADD, I64, i, more, 0);
  const uint32_t value = kernel_load(c, F32, table, 2, (const uint32_t[]){place, j});
  kernel_output(c, F32, kernel_reduce(c, TENON_OPCODE_SUM, F32, value, 2), 2, NULL);
}

void kernels_check_loads(void) {
  kernel_case_t c;
  make_gather(&c, false, 0);
  kernel_check(&c, "gather", 0);
  make_gather(&c, true, 3);
  kernel_check(&c, "guarded gather", 0);
  make_gather(&c, false, 3);
  kernel_check_fault(&c, "gather outside");
  make_margins(&c);
  kernel_check(&c, "margins", 0);
  make_sums(&c, 0);
  kernel_check(&c, "sums", 0);
  make_sums(&c, 1);
  kernel_check_fault(&c, "sums outside");
}
