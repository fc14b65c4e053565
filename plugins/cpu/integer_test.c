/* Compares integer products of each instruction set with plain sums, for all signs, extremes, zero
 * points, odd extents and divisions into tasks. */
#include "cpu.h"
#include "fake_host.h"
#include "fake_run.h"

enum { LONGEST = 4097, WIDEST = 70 };

typedef struct case_t {
  size_t rows, depth, columns;
  bool a_signed, b_signed;
  bool row_zeros, column_zeros; /* true: one for each; false: one for all */
  bool extremes;                /* all numbers and zero points are ends of their ranges */
  bool finishes;
  size_t threads;
} case_t;

typedef struct data_t {
  uint8_t* a;
  uint8_t* b;
  int32_t* y;
  int32_t a_zeros[WIDEST];
  int32_t b_zeros[WIDEST];
} data_t;

static int32_t number_of(const uint8_t* data, size_t at, bool is_signed) {
  return is_signed ? (int8_t)data[at] : data[at];
}

static int32_t draw(unsigned* seed, const case_t* c, bool is_signed) {
  const int64_t low = is_signed ? -128 : 0;
  return (int32_t)(c->extremes ? low + 255 * fake_choice(seed, 0, 1)
                               : fake_choice(seed, low, low + 255));
}

typedef struct rows_t {
  const tenon__cpu_integers_t* integers;
  const case_t* c;
  const uint8_t* a;
} rows_t;

static void gather(const void* user, size_t row, size_t rows, void* out, size_t stride) {
  const rows_t* from = user;
  for (size_t i = 0; i < rows; i++) {
    memset((char*)out + i * stride, 0x5a, stride); /* multiplied by zeros */
    from->integers->encode((char*)out + i * stride, from->a + (row + i) * from->c->depth,
                           from->c->depth, from->c->a_signed);
  }
}

typedef struct results_t {
  int32_t* y;
  size_t columns;
} results_t;

static void finish(const void* user, const tenon__cpu_integer_sums_t* sums) {
  const results_t* results = user;
  for (size_t i = 0; i < sums->rows; i++) {
    for (size_t j = 0; j < sums->columns; j++) {
      results->y[(sums->row + i) * results->columns + sums->column + j] +=
          sums->data[i * sums->stride + j] + 1;
    }
  }
}

static void multiply(const tenon__cpu_integers_t* integers, const case_t* c, const data_t* data) {
  int32_t a_zeros[WIDEST];
  int32_t b_zeros[WIDEST];
  const tenon__cpu_integer_source_t source = {.data = data->b,
                                              .is_signed = c->b_signed,
                                              .depth = c->depth,
                                              .columns = c->columns,
                                              .inner = c->depth > 0 ? c->depth : 1,
                                              .inner_stride = c->columns,
                                              .column_stride = 1};
  void* packed =
      aligned_alloc(64, tenon__cpu_integer_packed_bytes(integers, c->depth, c->columns) + 64);
  char* scratch = aligned_alloc(64, tenon__cpu_integer_scratch(integers, c->depth));
  const rows_t rows = {integers, c, data->a};
  const results_t results = {data->y, c->columns};
  for (size_t k = 0; k < c->rows; k++) {
    a_zeros[k] = tenon__cpu_integer_a_zero(integers, data->a_zeros[k], c->a_signed);
  }
  for (size_t k = 0; k < c->columns; k++) {
    b_zeros[k] = tenon__cpu_integer_b_zero(integers, data->b_zeros[k], c->b_signed);
  }
  tenon__cpu_integer_pack(integers, &source, 0, tenon__cpu_integer_panels(integers, c->columns),
                          packed);
  const bool in_place = tenon__cpu_integer_in_place(integers, c->depth, c->a_signed);
  const tenon__cpu_integer_product_t product = {.integers = integers,
                                                .columns = c->columns,
                                                .depth = c->depth,
                                                .a = in_place ? data->a : NULL,
                                                .a_stride = c->depth,
                                                .gather = gather,
                                                .gather_user = &rows,
                                                .b = packed,
                                                .a_zeros = a_zeros,
                                                .a_zero_count = c->row_zeros ? c->rows : 1,
                                                .b_zeros = b_zeros,
                                                .c = data->y,
                                                .c_stride = c->columns,
                                                .finish = c->finishes ? finish : NULL,
                                                .finish_user = &results};
  tenon__cpu_integer_grid_t grid;
  const tenon__cpu_integer_size_t size = {c->rows, c->columns, c->depth, 1};
  tenon__cpu_integer_grid(integers, &size, c->threads, &grid);
  for (size_t task = 0; task < grid.row_tasks * grid.panel_tasks; task++) {
    tenon__cpu_integer_task(&product, &grid, c->rows, task, scratch);
  }
  free(packed);
  free(scratch);
}

static void expect_sums(const case_t* c, const data_t* data, const char* isa) {
  for (size_t i = 0; i < c->rows; i++) {
    for (size_t j = 0; j < c->columns; j++) {
      uint32_t sum = c->finishes ? 1 : 0;
      for (size_t k = 0; k < c->depth; k++) {
        const int32_t a = number_of(data->a, i * c->depth + k, c->a_signed) - data->a_zeros[i];
        const int32_t b = number_of(data->b, k * c->columns + j, c->b_signed) - data->b_zeros[j];
        sum += (uint32_t)(a * b);
      }
      if (data->y[i * c->columns + j] != (int32_t)sum) {
        EXPECT_INT(data->y[i * c->columns + j], (int32_t)sum);
        (void)fprintf(stderr, "  %s: %zu x %zu x %zu, row %zu, column %zu\n", isa, c->rows,
                      c->depth, c->columns, i, j);
        return;
      }
    }
  }
}

static void check(const case_t* c, unsigned seed) {
  tenon__cpu_state_t states[FAKE_INTEGER_STATES];
  const uint32_t count = fake_integer_states(states);
  data_t data = {.a = malloc(c->rows * c->depth + 1),
                 .b = malloc(c->depth * c->columns + 1),
                 .y = malloc(c->rows * c->columns * sizeof(int32_t))};
  for (size_t k = 0; k < c->rows * c->depth; k++) {
    data.a[k] = (uint8_t)draw(&seed, c, c->a_signed);
  }
  for (size_t k = 0; k < c->depth * c->columns; k++) {
    data.b[k] = (uint8_t)draw(&seed, c, c->b_signed);
  }
  for (size_t k = 0; k < WIDEST; k++) {
    data.a_zeros[k] = c->row_zeros || k == 0 ? draw(&seed, c, c->a_signed) : data.a_zeros[0];
    data.b_zeros[k] = c->column_zeros || k == 0 ? draw(&seed, c, c->b_signed) : data.b_zeros[0];
  }
  for (uint32_t s = 0; s < count && tenon__test_failures == 0; s++) {
    memset(data.y, c->finishes ? 0 : 0x77, c->rows * c->columns * sizeof(int32_t));
    multiply(states[s].isa->integers, c, &data);
    expect_sums(c, &data, states[s].isa->name);
  }
  free(data.a);
  free(data.b);
  free(data.y);
}

/* Returns case `k`, from 0 to 63, of all signs and kinds of zero points. */
static case_t variant(unsigned k) {
  return (case_t){.a_signed = (k & 1) != 0,
                  .b_signed = (k & 2) != 0,
                  .row_zeros = (k & 4) != 0,
                  .column_zeros = (k & 8) != 0,
                  .extremes = (k & 16) != 0,
                  .finishes = (k & 32) != 0,
                  .threads = 1 + k % 7};
}

TENON_TEST(all_extents_to_70_are_exact) {
  for (unsigned k = 1; k <= WIDEST && tenon__test_failures == 0; k++) {
    case_t c = variant(k % 64);
    c.rows = k;
    c.depth = 1 + k * 13 % WIDEST;
    c.columns = 1 + k * 29 % WIDEST;
    check(&c, k);
    c.rows = 1 + k * 29 % WIDEST;
    c.depth = k;
    c.columns = 1 + k * 13 % WIDEST;
    check(&c, k + 100);
    c.rows = 1 + k * 13 % WIDEST;
    c.depth = 1 + k * 29 % WIDEST;
    c.columns = k;
    check(&c, k + 200);
  }
}

TENON_TEST(all_depths_are_exact_for_all_signs_and_zero_points) {
  static const size_t depths[] = {0, 1, 3, 64, 65, 128, LONGEST};
  for (unsigned k = 0; k < 64; k++) {
    for (size_t d = 0; d < sizeof(depths) / sizeof(depths[0]) && tenon__test_failures == 0; d++) {
      case_t c = variant(k);
      c.rows = depths[d] == LONGEST ? 3 : 35;
      c.depth = depths[d];
      c.columns = depths[d] == LONGEST ? 9 : 41;
      check(&c, k * 7 + (unsigned)d);
    }
  }
}

/* Sums of 4097 largest products differ if an instruction saturates. */
TENON_TEST(the_largest_products_do_not_saturate) {
  static const int32_t ends[2][2] = {{0, 255}, {-128, 127}};
  for (unsigned k = 0; k < 64 && tenon__test_failures == 0; k++) {
    case_t c = {.rows = 2,
                .depth = LONGEST,
                .columns = 3,
                .a_signed = (k & 1) != 0,
                .b_signed = (k & 2) != 0,
                .threads = 1};
    data_t data = {.a = malloc(c.rows * c.depth), .b = malloc(c.depth * c.columns)};
    int32_t y[6];
    tenon__cpu_state_t states[FAKE_INTEGER_STATES];
    const uint32_t count = fake_integer_states(states);
    memset(data.a, ends[k & 1][k >> 2 & 1], c.rows * c.depth);
    memset(data.b, ends[k >> 1 & 1][k >> 3 & 1], c.depth * c.columns);
    for (size_t j = 0; j < WIDEST; j++) {
      data.a_zeros[j] = ends[k & 1][k >> 4 & 1];
      data.b_zeros[j] = ends[k >> 1 & 1][k >> 5 & 1];
    }
    data.y = y;
    for (uint32_t s = 0; s < count && tenon__test_failures == 0; s++) {
      multiply(states[s].isa->integers, &c, &data);
      expect_sums(&c, &data, states[s].isa->name);
    }
    free(data.a);
    free(data.b);
  }
}
