#include "core/timing/part.h"

#include "core/base/test.h"

enum { MEGABYTE = 1 << 20 };

TENON_TEST(small_tensors_are_looked_at_as_a_whole) {
  const int64_t dims[] = {64, 1024};
  const tenon__part_t part = tenon__part_of(2, dims, (size_t)64 * 1024 * 4);
  EXPECT(tenon__part_is_whole(&part));
  EXPECT_INT(tenon__part_index(&part, 17), 17);
}

TENON_TEST(large_ones_at_the_begin_in_the_middle_and_at_the_end) {
  const int64_t dims[] = {32, 3, 1024, 1024};
  const tenon__part_t part = tenon__part_of(4, dims, (size_t)32 * 12 * MEGABYTE);
  EXPECT_INT(part.length, 1);
  EXPECT_INT(tenon__part_extent(&part), 3);
  EXPECT_INT(tenon__part_index(&part, 0), 0);
  EXPECT_INT(tenon__part_index(&part, 1), 15);
  EXPECT_INT(tenon__part_index(&part, 2), 31);
}

TENON_TEST(pieces_are_longer_where_indices_are_small_and_do_not_overlap) {
  const int64_t dims[] = {4096, 768};
  const tenon__part_t part = tenon__part_of(2, dims, (size_t)4096 * 768 * 4);
  REQUIRE(part.length > 100);
  EXPECT_INT(part.begin[0], 0);
  EXPECT(part.begin[1] >= part.length);
  EXPECT(part.begin[2] >= part.begin[1] + part.length);
  EXPECT_INT(part.begin[2] + part.length, 4096);
  EXPECT_INT(tenon__part_index(&part, part.length), part.begin[1]);
  EXPECT_INT(tenon__part_index(&part, tenon__part_extent(&part) - 1), 4095);
}

TENON_TEST(short_first_axes_leave_nothing_out) {
  const int64_t dims[] = {5, (int64_t)4 * MEGABYTE};
  const tenon__part_t part = tenon__part_of(2, dims, (size_t)5 * 16 * MEGABYTE);
  EXPECT(tenon__part_is_whole(&part));
}

TENON_TEST(a_part_is_cut_from_any_order) {
  enum { ROWS = 9, COLUMNS = 4 };
  const int64_t dims[] = {ROWS, COLUMNS};
  const int64_t turned[] = {1, ROWS};
  const int64_t part_dims[] = {6, COLUMNS};
  const int64_t part_strides[] = {COLUMNS, 1};
  const tenon__part_t part = {.begin = {0, 4, 7}, .length = 2};
  float from[ROWS * COLUMNS];
  float to[6 * COLUMNS] = {0};
  for (int k = 0; k < ROWS * COLUMNS; ++k) {
    from[k] = (float)k;
  }
  const tenon_tensor_view_t whole = {
      .data = from, .dims = dims, .strides = turned, .rank = 2, .dtype = TENON_DTYPE_FLOAT32};
  const tenon_tensor_view_t view = {.data = to,
                                    .dims = part_dims,
                                    .strides = part_strides,
                                    .rank = 2,
                                    .dtype = TENON_DTYPE_FLOAT32};
  EXPECT(!tenon__part_lies_together(&whole));
  EXPECT(tenon__part_lies_together(&view));
  tenon__part_cut(&part, &whole, &view);
  for (int64_t row = 0; row < 6; ++row) {
    for (int64_t column = 0; column < COLUMNS; ++column) {
      EXPECT_NEAR(to[row * COLUMNS + column],
                  (double)(tenon__part_index(&part, row) + column * ROWS), 0);
    }
  }
}
