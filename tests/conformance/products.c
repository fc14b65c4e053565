/*
 * Products of matrices by a plugin's kernel on another plugin's device, compared with
 * plugins/reference: shapes that nobody chose, from anywhere in memory, of every type, with and
 * without something in the slot.
 *
 *   device_products DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [COUNT]
 *
 * Exits with 77 where there is no such device.
 */
#include "product_case.h"

/* ---- Shapes ---- */

static int64_t draw_extent(void) {
  switch (product_draw(8)) {
    case 0:
      return 1;
    case 1:
    case 2:
      return 8 * (1 + (int64_t)product_draw(6));
    default:
      return 1 + (int64_t)product_draw(23);
  }
}

/* Batches broadcast on either side, and may be missing. */
static void draw_shape(product_t* p) {
  const uint32_t batch = product_draw(4);
  const uint32_t a_batch = product_draw(3) == 0 ? product_draw(batch + 1) : batch;
  const uint32_t b_batch = a_batch < batch ? batch : product_draw(batch + 1);
  const int64_t m = draw_extent();
  const int64_t n = draw_extent();
  const int64_t k = product_draw(20) == 0 ? 0 : draw_extent();
  for (uint32_t axis = 0; axis < batch; axis++) {
    const int64_t extent = product_draw(30) == 0 ? 0 : 1 + (int64_t)product_draw(4);
    const uint32_t side = product_draw(4);
    const bool in_a = axis + a_batch >= batch;
    const bool in_b = axis + b_batch >= batch;
    const int64_t of_a = !in_a || (side == 0 && in_b) ? 1 : extent;
    const int64_t of_b = !in_b || (side == 1 && of_a != 1) ? 1 : extent;
    p->y[p->y_rank++] = of_a == 1 ? of_b : of_a;
    if (in_a) {
      p->a[p->a_rank++] = of_a;
    }
    if (in_b) {
      p->b[p->b_rank++] = of_b;
    }
  }
  if (p->a_rank > 0 || product_draw(6) != 0) {
    p->a[p->a_rank++] = m;
    p->y[p->y_rank++] = m;
  }
  p->a[p->a_rank++] = k;
  p->b[p->b_rank++] = k;
  if (p->b_rank > 1 || product_draw(6) != 0) {
    p->b[p->b_rank++] = n;
    p->y[p->y_rank++] = n;
  }
}

/* By the device's own kernel: few rows, a constant matrix, sums of eights, of f32 of fours;
 * anything behind it. */
static void check_own(unsigned number) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16,
                                        TENON_DTYPE_FLOAT32};
  product_t p = {.scale = 1.0, .is_plain = true, .is_own = true, .b_rank = 2};
  char name[64];
  product_seed(number * 7919u + 29u);
  p.dtype = types[number % 3];
  p.a_rank = p.y_rank = 2 + product_draw(3);
  for (uint32_t axis = 0; axis + 1 < p.a_rank; axis++) {
    p.a[axis] = p.y[axis] = 1 + (int64_t)product_draw(axis + 2 == p.a_rank ? 56 : 3);
  }
  p.a[p.a_rank - 1] = p.b[0] = (p.dtype == TENON_DTYPE_FLOAT32 ? 4 : 8) *
                               (1 + (int64_t)product_draw(number % 4 == 0 ? 90 : 16));
  p.b[1] = p.y[p.y_rank - 1] = 1 + (int64_t)product_draw(150);
  p.scale = product_draw(3) == 0 ? 0.5 : 1.0;
  p.has_relu = product_draw(2) == 0;
  p.has_gelu = p.dtype != TENON_DTYPE_FLOAT32 && !p.has_relu && product_draw(2) == 0;
  p.has_residual = product_draw(3) == 0;
  p.has_bias = product_draw(2) == 0;
  p.has_fractions = p.dtype == TENON_DTYPE_FLOAT32 && number % 2 == 0;
  (void)snprintf(name, sizeof(name), "own product %u", number);
  product_check(&p, name);
}

/* Long sums, which blocks share. Rows fill no tile. 1000 terms do not fill the last step of 64.
 * 1408 terms are 22 steps, which 4 and 8 blocks cannot share equally. */
static void check_long(void) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  static const int64_t terms[] = {1000, 1408};
  for (uint32_t k = 0; k < 2; k++) {
    const int64_t rows = 70 + 60 * k;
    product_t p = {.dtype = types[k],
                   .a_rank = 2,
                   .b_rank = 2,
                   .y_rank = 2,
                   .a = {rows, terms[k]},
                   .b = {terms[k], 200},
                   .y = {rows, 200},
                   .scale = 1.0,
                   .has_bias = true,
                   .has_residual = true,
                   .is_plain = true,
                   .is_own = true};
    product_seed(7 + k);
    product_check(&p, "a long sum");
  }
}

static void check_one(unsigned number) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT16,
                                        TENON_DTYPE_BFLOAT16, TENON_DTYPE_FLOAT64};
  product_t p = {.scale = 1.0};
  char name[64];
  product_seed(number * 7919u + 17u);
  p.dtype = types[product_draw(10) < 5 ? 0 : product_draw(4)];
  p.is_plain = product_draw(3) == 0;
  draw_shape(&p);
  if (p.dtype != TENON_DTYPE_FLOAT64 && product_draw(2) == 0) {
    p.scale = product_draw(3) == 0 ? 0.5 : 1.0;
    p.has_relu = product_draw(2) == 0;
    p.has_gelu = p.dtype != TENON_DTYPE_FLOAT32 && !p.has_relu && product_draw(2) == 0;
    p.has_residual = product_draw(3) == 0;
    p.has_bias = p.b_rank > 1 && product_draw(2) == 0;
    p.is_shared = p.has_residual && p.y_rank > 2 && product_draw(2) == 0;
  }
  (void)snprintf(name, sizeof(name), "random product %u", number);
  product_check(&p, name);
}

/* Fractions: the sums of f32 must be those of f32. */
static void check_fractions(void) {
  static const int64_t depths[] = {1, 17, 64, 300, 1000};
  for (size_t k = 0; k < sizeof(depths) / sizeof(*depths); k++) {
    product_t p = {.dtype = TENON_DTYPE_FLOAT32,
                   .a_rank = 2,
                   .b_rank = 2,
                   .y_rank = 2,
                   .a = {24, depths[k]},
                   .b = {depths[k], 40},
                   .y = {24, 40},
                   .scale = 1.0,
                   .has_fractions = true,
                   .is_plain = k % 2 == 0};
    product_check(&p, "fractions");
  }
}

/* Lines of the residual begin at multiples of 16 bytes, those of the result do not. */
static void check_unlike(void) {
  product_t p = {.dtype = TENON_DTYPE_FLOAT32,
                 .a_rank = 3,
                 .b_rank = 3,
                 .y_rank = 3,
                 .a = {4, 40, 16},
                 .b = {4, 16, 38},
                 .y = {4, 40, 38},
                 .scale = 1.0,
                 .has_residual = true,
                 .is_plain = true,
                 .is_turned = true};
  product_check(&p, "unlike lines");
}

/* A plan may hold anything for a configuration: a type that there is not is refused. */
static void check_spoilt(void) {
  enum { MOST = 64 };
  const int64_t dims[] = {8, 8};
  const product_t p = {.dtype = TENON_DTYPE_FLOAT32,
                       .a_rank = 2,
                       .a = {dims[0], dims[1]},
                       .is_plain = true,
                       .scale = 1.0};
  uint8_t spoilt[MOST] = {0};
  kernel_case_t c;
  kernel_life_t life;
  kernel_case_begin(&c, 2, dims);
  c.fake.op = "standard.mat_mul/1";
  c.fake.node_input_count = 2;
  product_make_factor(&c, &p, 2, dims, 1);
  product_make_factor(&c, &p, 2, dims, 0);
  (void)kernel_move_tensor(&c, true, p.dtype, 2, dims, NULL);
  tenon_status_t status = kernel_case_live(&c, 0, &life);
  kernel_life_end(&life);
  if (status == TENON_OK && c.fake.tactic.configuration_size <= MOST) {
    const size_t size = c.fake.tactic.configuration_size;
    memcpy(spoilt, c.fake.tactic.configuration, size);
    memset(spoilt + size - sizeof(tenon_dtype_t), 0x77, sizeof(tenon_dtype_t));
    c.fake.tactic.configuration = spoilt;
    status = kernel_life_begin(&life, kernel_find(&c.fake), &c.fake);
    status = status == TENON_OK ? kernel_life_bind(&life) : status;
    kernel_life_end(&life);
  }
  kernel_runs++;
  if (status != TENON_ERROR_INVALID_ARGUMENT) {
    (void)printf("FAILED a configuration of another type: status %d\n", status);
    kernel_failures++;
  }
  kernel_case_end(&c);
}

static void check_all(unsigned count) {
  check_fractions();
  for (unsigned number = 1; number <= count; number++) {
    check_one(number);
  }
  check_unlike();
  check_spoilt();
}

int main(int argument_count, char** arguments) {
  if (argument_count < 4) {
    (void)fprintf(stderr, "device_products DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [COUNT]\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  if (!opened_start_plugin(arguments[3], &kernel_plugin, &kernel_plugin_state)) {
    return OPENED_FAILED;
  }
  const unsigned count = argument_count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 200;
  if (strcmp(arguments[1], arguments[3]) == 0) {
    for (unsigned number = 1; number <= count; number++) {
      check_own(number);
    }
    check_long();
  } else {
    check_all(count);
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  (void)printf("%d products, %d failed\n", kernel_runs, kernel_failures);
  return kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
}
