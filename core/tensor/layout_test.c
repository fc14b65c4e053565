/* Strides and the sizes of layouts. */
#include "core/tensor/layout.h"

#include "core/base/test.h"

TENON_TEST(row_major_and_ordered) {
  const int64_t dims[] = {2, 3, 4};
  const uint32_t order[] = {0, 2, 1};
  int64_t strides[3] = {0};
  EXPECT(tenon__strides_row_major(3, dims, strides));
  EXPECT_INT(strides[0], 12);
  EXPECT_INT(strides[2], 1);
  EXPECT(tenon__strides_are_row_major(3, dims, strides));
  EXPECT(tenon__strides_ordered(3, dims, order, strides));
  EXPECT_INT(strides[0], 12);
  EXPECT_INT(strides[1], 1);
  EXPECT_INT(strides[2], 3);
  EXPECT(!tenon__strides_are_row_major(3, dims, strides));
  EXPECT(tenon__strides_dense(3, dims, strides));
  const int64_t huge[] = {INT64_MAX, INT64_MAX, 2};
  EXPECT(!tenon__strides_row_major(3, huge, strides));
}

TENON_TEST(dense_in_some_order) {
  const int64_t dims[] = {1, 3, 4};
  const int64_t free_unit[] = {77, 4, 1};
  const int64_t gap[] = {12, 5, 1};
  const int64_t broadcast[] = {12, 0, 1};
  EXPECT(tenon__strides_dense(3, dims, free_unit));
  EXPECT(tenon__strides_are_row_major(3, dims, free_unit));
  EXPECT(!tenon__strides_dense(3, dims, gap));
  EXPECT(!tenon__strides_dense(3, dims, broadcast));
  EXPECT(tenon__strides_dense(0, NULL, NULL));
}

TENON_TEST(element_counts) {
  const int64_t dims[] = {2, 0, INT64_MAX};
  const int64_t huge[] = {INT64_MAX, 2};
  const int64_t negative[] = {0, -1};
  uint64_t count = 7;
  EXPECT(tenon__element_count(3, dims, &count));
  EXPECT_INT(count, 0);
  EXPECT(tenon__element_count(0, NULL, &count));
  EXPECT_INT(count, 1);
  EXPECT(!tenon__element_count(2, huge, &count));
  EXPECT(!tenon__element_count(2, negative, &count));
}

TENON_TEST(blocked_layouts) {
  const uint32_t order[] = {0, 1, 2, 3};
  const uint32_t block_dims[] = {1};
  const uint32_t block_sizes[] = {16};
  tenon_layout_t layout = {.size = sizeof(tenon_layout_t), .rank = 4, .order = order};
  EXPECT(tenon__layout_valid(&layout));
  EXPECT(tenon__layout_is_strided(&layout));
  tenon_layout_t plain = {.size = sizeof(tenon_layout_t), .rank = 4, .planes = 1};
  EXPECT(tenon__layout_equal(&layout, &plain));
  layout.block_count = 1;
  layout.block_dims = block_dims;
  EXPECT(!tenon__layout_valid(&layout));
  layout.block_sizes = block_sizes;
  EXPECT(tenon__layout_valid(&layout));
  EXPECT(!tenon__layout_is_strided(&layout));
  EXPECT(!tenon__layout_equal(&layout, &plain));
  const int64_t dims[] = {2, 17, 5, 5};
  size_t bytes = 0;
  EXPECT(tenon__layout_bytes(&layout, TENON_DTYPE_FLOAT32, dims, &bytes));
  EXPECT_INT(bytes, 2 * 32 * 25 * 4);
  layout.scale_companion = 1;
  EXPECT(tenon__layout_bytes(&layout, TENON_DTYPE_UINT4, dims, &bytes));
  EXPECT_INT(bytes, 2 * 32 * 25 / 2 + 2 * 2 * 25 * 4);
  const int64_t huge[] = {INT64_MAX, 2, 2, 2};
  EXPECT(!tenon__layout_bytes(&layout, TENON_DTYPE_UINT4, huge, &bytes));
}

TENON_TEST(rejects_orders_that_repeat) {
  const uint32_t order[] = {0, 0};
  const tenon_layout_t layout = {.size = sizeof(tenon_layout_t), .rank = 2, .order = order};
  EXPECT(!tenon__layout_valid(&layout));
}

TENON_TEST(borders_and_planes_take_memory) {
  const uint32_t borders[] = {0, 1};
  const uint32_t multiples[] = {4, 0};
  const tenon_layout_t layout = {.size = sizeof(tenon_layout_t),
                                 .rank = 2,
                                 .borders = borders,
                                 .multiples = multiples,
                                 .planes = 3};
  const int64_t dims[] = {5, 6};
  size_t bytes = 0;
  EXPECT(tenon__layout_bytes(&layout, TENON_DTYPE_BFLOAT16, dims, &bytes));
  EXPECT_INT(bytes, 3 * 8 * 8 * 2);
}

TENON_TEST(strides_stand_for_an_order) {
  const int64_t strides[4] = {1, 60, 1, 12};
  uint32_t order[4];
  tenon__strides_order(4, strides, order);
  EXPECT_INT(order[0], 1);
  EXPECT_INT(order[1], 3);
  EXPECT_INT(order[2], 0);
  EXPECT_INT(order[3], 2);
}
