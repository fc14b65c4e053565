/* Elements come to their places whatever the strides are. */
#include "core/tensor/strided_copy.h"

#include "core/base/test.h"

enum { ROWS = 3, COLUMNS = 4, COUNT = ROWS * COLUMNS };

static const int64_t dims[] = {ROWS, COLUMNS};

static tenon_tensor_view_t view_of(void* data, tenon_dtype_t dtype, const int64_t* strides) {
  return (tenon_tensor_view_t){
      .data = data, .dims = dims, .strides = strides, .rank = 2, .dtype = dtype};
}

static const int64_t rows[] = {COLUMNS, 1};
static const int64_t columns[] = {1, ROWS};

TENON_TEST(orders_are_exchanged) {
  int64_t wide[COUNT];
  int64_t turned[COUNT] = {0};
  int64_t back[COUNT] = {0};
  for (int64_t k = 0; k < COUNT; ++k) {
    wide[k] = k;
  }
  const tenon_tensor_view_t from = view_of(wide, TENON_DTYPE_INT64, rows);
  const tenon_tensor_view_t to = view_of(turned, TENON_DTYPE_INT64, columns);
  const tenon_tensor_view_t again = view_of(back, TENON_DTYPE_INT64, rows);
  tenon__strided_copy(&from, &to);
  for (int64_t r = 0; r < ROWS; ++r) {
    for (int64_t c = 0; c < COLUMNS; ++c) {
      EXPECT_INT(turned[c * ROWS + r], r * COLUMNS + c);
    }
  }
  tenon__strided_copy(&to, &again);
  EXPECT(memcmp(wide, back, sizeof wide) == 0);
}

/* A row that is repeated, and columns from the last to the first. */
TENON_TEST(steps_may_be_zero_or_negative) {
  static const int64_t repeated[] = {0, 1};
  static const int64_t backwards[] = {COLUMNS, -1};
  float line[COLUMNS] = {1, 2, 3, 4};
  float out[COUNT] = {0};
  const tenon_tensor_view_t to = view_of(out, TENON_DTYPE_FLOAT32, rows);
  const tenon_tensor_view_t from = view_of(line, TENON_DTYPE_FLOAT32, repeated);
  tenon__strided_copy(&from, &to);
  for (int k = 0; k < COUNT; ++k) {
    EXPECT_NEAR(out[k], line[k % COLUMNS], 0);
  }
  float reversed[COUNT] = {0};
  const tenon_tensor_view_t last = view_of(out + COLUMNS - 1, TENON_DTYPE_FLOAT32, backwards);
  const tenon_tensor_view_t target = view_of(reversed, TENON_DTYPE_FLOAT32, rows);
  tenon__strided_copy(&last, &target);
  for (int k = 0; k < COUNT; ++k) {
    EXPECT_NEAR(reversed[k], line[COLUMNS - 1 - k % COLUMNS], 0);
  }
}

TENON_TEST(scalars_and_empty_tensors_are_copied) {
  static const int64_t none[] = {0, 4};
  uint16_t one = 7;
  uint16_t other = 0;
  tenon_tensor_view_t from = {.data = &one, .dtype = TENON_DTYPE_FLOAT16};
  tenon_tensor_view_t to = {.data = &other, .dtype = TENON_DTYPE_FLOAT16};
  tenon__strided_copy(&from, &to);
  EXPECT_INT(other, 7);
  from.rank = to.rank = 2;
  from.dims = to.dims = none;
  from.strides = to.strides = rows;
  one = 9;
  tenon__strided_copy(&from, &to);
  EXPECT_INT(other, 7);
}
