/* Compares LOADs of rows and at functions of coordinates with the oracle. */
#include "expression_oracle.h"

/* Checks y[i, j] = table[index[i], j], with and without an added offset. */
/* Each point reads the first row or the last row. */
static void row_of_two(int64_t rows, int64_t columns) {
  fake_t fake = {.seed = 11, .space = {rows, columns}};
  draft_t draft = {0};
  const int64_t table_dims[] = {rows + 3, columns};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, table_dims, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  draft.operands[0] = (tenon_operand_t){.index = 0, .dtype = TENON_DTYPE_FLOAT32, .indexed = 1};
  draft.program.operand_count = 1;
  const uint32_t extent = with_axis(&draft, TENON_OPCODE_EXTENT, TENON_DTYPE_INT64, 0, 0);
  const uint32_t one = with_axis(&draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 1);
  const uint32_t last = add(&draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, extent, one, 0);
  const uint32_t row = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 0);
  draft.coordinates[0] = add(&draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, last, row, 0);
  draft.coordinates[1] = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 1);
  draft.program.coordinate_count = 2;
  output(&draft, add(&draft, TENON_OPCODE_LOAD, TENON_DTYPE_FLOAT32, 0, 2, 0), TENON_DTYPE_FLOAT32,
         0);
  finish(&draft, 2);
  check(&fake, &draft, 0);
}

TENON_TEST(knows_the_extents_of_what_it_looks_up) {
  row_of_two(7, 300);
  row_of_two(1, 1);
}

static void lookup(int64_t rows, int64_t columns, bool plain) {
  fake_t fake = {.seed = 9, .space = {rows, columns}};
  draft_t draft = {0};
  const int64_t table_dims[] = {50, columns};
  const int64_t index_dims[] = {rows, 1};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, table_dims, false, false);
  fake_value_t* index = fake_input(&fake, TENON_DTYPE_INT64, 2, index_dims, false, false);
  for (int64_t k = 0; k < rows; k++) {
    index->numbers[k] = (double)fake_choice(&fake.seed, 0, 49);
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  draft.operands[0] = (tenon_operand_t){.index = 0, .dtype = TENON_DTYPE_FLOAT32, .indexed = 1};
  const uint32_t i = input(&draft, 1, TENON_DTYPE_INT64, TENON_DTYPE_INT64);
  uint32_t j = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 1);
  if (!plain) {
    const uint32_t size = with_axis(&draft, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0, 1);
    const uint32_t one = with_axis(&draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 1);
    const uint32_t last = add(&draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, size, one, 0);
    j = add(&draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, last, j, 0);
  }
  draft.coordinates[0] = i;
  draft.coordinates[1] = j;
  draft.program.coordinate_count = 2;
  const uint32_t y = add(&draft, TENON_OPCODE_LOAD, TENON_DTYPE_FLOAT32, 0, 2, 0);
  output(&draft, f32(&draft, TENON_OPCODE_ADD, y, y), TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 2);
  check(&fake, &draft, 1e-6);
}

TENON_TEST(looks_rows_up) {
  lookup(7, 300, true);
  lookup(40, 5, true);
  lookup(7, 300, false);
  lookup(1, 1, true);
}

static uint32_t lookup_at(draft_t* draft, tenon_dtype_t dtype, uint32_t first, int64_t operand) {
  const uint32_t y = add(draft, TENON_OPCODE_LOAD, dtype, first, 2, 0);
  draft->instructions[y].immediate.i = operand;
  return y;
}

/* t < 0 ? t + the extent of axis 0 of operand 0 : t. */
static uint32_t wrap(draft_t* draft, uint32_t t) {
  const uint32_t zero = with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 0);
  const uint32_t extent = with_axis(draft, TENON_OPCODE_EXTENT, TENON_DTYPE_INT64, 0, 0);
  const uint32_t is_negative = add(draft, TENON_OPCODE_LT, TENON_DTYPE_INT64, t, zero, 0);
  const uint32_t sum = add(draft, TENON_OPCODE_ADD, TENON_DTYPE_INT64, t, extent, 0);
  return add(draft, TENON_OPCODE_SELECT, TENON_DTYPE_INT64, is_negative, sum, t);
}

/* y[i, j] = table[index[i, 1], j], or table[index[i, 1], index[i, j]] if columns are looked up too.
 * Negative indices count from the end. */
static void lookup_wrapped(tenon_dtype_t dtype, int64_t rows, int64_t columns, bool both) {
  enum { EXTENT = 40 };
  fake_t fake = {.seed = 13, .space = {rows, columns}};
  draft_t draft = {0};
  const int64_t table_dims[] = {EXTENT, both ? EXTENT : columns};
  const int64_t index_dims[] = {rows, columns > 2 ? columns : 2};
  fake_value_t* table = fake_input(&fake, dtype, 2, table_dims, false, false);
  fake_value_t* index = fake_input(&fake, TENON_DTYPE_INT64, 2, index_dims, false, false);
  for (int64_t k = 0; k < table_dims[0] * table_dims[1]; k++) {
    table->numbers[k] = (double)fake_choice(&fake.seed, -100, 100);
  }
  for (int64_t k = 0; k < index_dims[0] * index_dims[1]; k++) {
    index->numbers[k] = (double)fake_choice(&fake.seed, -EXTENT, EXTENT - 1);
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  draft.operands[0] = (tenon_operand_t){.index = 0, .dtype = dtype, .indexed = 1};
  draft.operands[1] = (tenon_operand_t){.index = 1, .dtype = TENON_DTYPE_INT64, .indexed = 1};
  draft.program.operand_count = 2;
  draft.program.coordinate_count = both ? 6 : 4;
  const uint32_t row = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 0);
  const uint32_t column = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 1);
  draft.coordinates[0] = row;
  draft.coordinates[1] = with_axis(&draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 1);
  const uint32_t t = lookup_at(&draft, TENON_DTYPE_INT64, 0, 1);
  uint32_t other = column;
  if (both) {
    draft.coordinates[4] = row;
    draft.coordinates[5] = column;
    other = wrap(&draft, lookup_at(&draft, TENON_DTYPE_INT64, 4, 1));
  }
  draft.coordinates[2] = wrap(&draft, t);
  draft.coordinates[3] = other;
  output(&draft, lookup_at(&draft, TENON_DTYPE_FLOAT32, 2, 0), TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 2);
  check(&fake, &draft, 0);
}

TENON_TEST(negative_indices_count_from_the_end) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_BFLOAT16};
  static const int64_t columns[] = {1, 3, 40, 300};
  for (int k = 0; k < 16; k++) {
    lookup_wrapped(dtypes[k / 8], 1 + k * 7, columns[k % 4], k / 4 % 2 == 1);
  }
}

/* Makes a function of one coordinate. Its values are from 0 to *out_most. */
static uint32_t term(fake_t* fake, draft_t* draft, uint32_t axis, int64_t* out_most) {
  const int64_t extent = fake->space[axis];
  const int64_t factor = fake_choice(&fake->seed, 2, 4);
  const uint32_t at = with_axis(draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, axis);
  const uint32_t number = with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, factor);
  *out_most = extent - 1;
  switch (fake_choice(&fake->seed, 0, 5)) {
    case 0:
      *out_most = extent > factor ? factor - 1 : extent - 1;
      return add(draft, TENON_OPCODE_MOD, TENON_DTYPE_INT64, at, number, 0);
    case 1:
      *out_most = (extent - 1) / factor;
      return add(draft, TENON_OPCODE_FLOOR_DIV, TENON_DTYPE_INT64, at, number, 0);
    case 2: {
      const uint32_t last =
          with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, extent - 1);
      return add(draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, last, at, 0);
    }
    case 3: {
      *out_most = 2 * (extent - 1);
      const uint32_t two = with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 2);
      return add(draft, TENON_OPCODE_MUL, TENON_DTYPE_INT64, at, two, 0);
    }
    case 4: {
      const uint32_t is_low = add(draft, TENON_OPCODE_LT, TENON_DTYPE_INT64, at, number, 0);
      const uint32_t zero = with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 0);
      return add(draft, TENON_OPCODE_SELECT, TENON_DTYPE_INT64, is_low, zero, at);
    }
    default:
      return at;
  }
}

/* Makes two coordinates, each a sum of functions of one axis each. Some contain an operation that
 * is not linear. Some are out of range, and a SELECT guards them. */
static void random_places(unsigned seed) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_BFLOAT16,
                                         TENON_DTYPE_INT8};
  fake_t fake = {.seed = seed * 131};
  draft_t draft = {0};
  int64_t dims[2] = {1, 1};
  random_space(&fake, 3, 9000);
  const bool is_guarded = fake_choice(&fake.seed, 0, 3) == 0;
  const tenon_dtype_t dtype = dtypes[fake_choice(&fake.seed, 0, 2)];
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t sum = TENON_NONE;
    for (uint32_t axis = k; axis < 3; axis += 1 + (uint32_t)fake_choice(&fake.seed, 0, 1)) {
      int64_t most = 0;
      const uint32_t next = term(&fake, &draft, axis, &most);
      sum =
          sum == TENON_NONE ? next : add(&draft, TENON_OPCODE_ADD, TENON_DTYPE_INT64, sum, next, 0);
      dims[k] += most;
    }
    if (fake_choice(&fake.seed, 0, 5) == 0) { /* no longer a sum */
      sum = add(&draft, TENON_OPCODE_MIN, TENON_DTYPE_INT64, sum,
                with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 2 - k), 0);
    }
    draft.coordinates[k] = sum;
    dims[k] = is_guarded && dims[k] > 1 ? dims[k] - 1 : dims[k];
  }
  fake_value_t* table = fake_input(&fake, dtype, 2, dims, false, false);
  for (int64_t k = 0; k < dims[0] * dims[1]; k++) {
    table->numbers[k] = (double)fake_choice(&fake.seed, -100, 100);
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, fake.space);
  draft.operands[0] = (tenon_operand_t){.index = 0, .dtype = dtype, .indexed = 1};
  draft.program.operand_count = 1;
  draft.program.coordinate_count = 2;
  uint32_t y = add(&draft, TENON_OPCODE_LOAD, TENON_DTYPE_FLOAT32, 0, 2, 0);
  if (is_guarded) {
    y = add(&draft, TENON_OPCODE_SELECT, TENON_DTYPE_FLOAT32,
            add(&draft, TENON_OPCODE_LT, TENON_DTYPE_FLOAT32, y, constant(&draft, 0), 0), y,
            constant(&draft, 2));
  }
  output(&draft, fake_choice(&fake.seed, 0, 1) == 0 ? y : f32(&draft, TENON_OPCODE_ADD, y, y),
         TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 3);
  check(&fake, &draft, 0);
}

TENON_TEST(looks_up_at_functions_of_coordinates) {
  fake_each_seed(1000, random_places);
}
