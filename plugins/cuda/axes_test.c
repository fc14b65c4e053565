/* Joining axes, and division by multiplication. */
#include "axes.h"

#include "core/base/test.h"

static uint64_t divided(uint32_t n, uint32_t extent) {
  uint32_t multiplier = 0;
  uint32_t shift = 0;
  tenon__cuda_find_multiplier(extent, &multiplier, &shift);
  return extent == 1 ? n : (((uint64_t)n * multiplier) >> 32) >> shift;
}

TENON_TEST(divides_all_numbers_below_two_to_the_31) {
  static const uint32_t extents[] = {1,
                                     2,
                                     3,
                                     5,
                                     7,
                                     8,
                                     49,
                                     100,
                                     127,
                                     128,
                                     129,
                                     641,
                                     12289,
                                     65535,
                                     65536,
                                     65537,
                                     (1U << 20) - 1,
                                     (1U << 30) + 1,
                                     INT32_MAX - 1,
                                     INT32_MAX};
  for (size_t k = 0; k < sizeof(extents) / sizeof(*extents); k++) {
    const uint32_t extent = extents[k];
    uint32_t wrong = 0;
    for (uint32_t multiple = 0; multiple <= INT32_MAX - extent; multiple += extent) {
      wrong += divided(multiple, extent) != multiple / extent;
      wrong += divided(multiple + extent - 1, extent) != multiple / extent;
      multiple += extent * ((INT32_MAX / extent) / 1000);
    }
    wrong += divided(INT32_MAX, extent) != (uint32_t)INT32_MAX / extent;
    EXPECT_INT(wrong, 0);
  }
}

/* Two walks over 4 x 1 x 6 x 5: rows, and rows in a wider tensor. */
TENON_TEST(joins_what_lies_in_one_piece) {
  const tenon__cuda_space_t space = {.rank = 4,
                                     .walk_count = 2,
                                     .main = 0,
                                     .extents = {4, 1, 6, 5},
                                     .strides = {{30, 60}, {7, 9}, {5, 5}, {1, 1}}};
  tenon__cuda_axes_t axes;
  tenon__cuda_axes_join(&space, UINT64_MAX, &axes);
  EXPECT_INT(axes.rank, 2);
  EXPECT_INT(axes.extents[0], 4);
  EXPECT_INT(axes.extents[1], 30);
  EXPECT_INT(axes.strides[0][1], 60);
  EXPECT_INT(tenon__cuda_axes_count(&axes), 120);
  tenon__cuda_axes_join(&space, 1U << 2 | 1U << 3, &axes);
  EXPECT_INT(axes.rank, 1);
  EXPECT_INT(axes.extents[0], 30);
}

/* The result lies with its first axis innermost: that is the last then. */
TENON_TEST(follows_the_order_of_the_main_walk) {
  const tenon__cuda_space_t space = {
      .rank = 2, .walk_count = 2, .main = 1, .extents = {8, 16}, .strides = {{16, 1}, {1, 8}}};
  tenon__cuda_axes_t axes;
  tenon__cuda_axes_join(&space, UINT64_MAX, &axes);
  EXPECT_INT(axes.rank, 2);
  EXPECT_INT(axes.extents[0], 16);
  EXPECT_INT(axes.strides[1][1], 1);
}

/* A given order stands, however the main walk lies. */
TENON_TEST(follows_a_given_order) {
  static const uint32_t rows[] = {0, 1};
  const tenon__cuda_space_t space = {.rank = 2,
                                     .walk_count = 2,
                                     .main = 1,
                                     .order = rows,
                                     .extents = {8, 16},
                                     .strides = {{16, 1}, {1, 8}}};
  tenon__cuda_axes_t axes;
  tenon__cuda_axes_join(&space, UINT64_MAX, &axes);
  EXPECT_INT(axes.rank, 2);
  EXPECT_INT(axes.extents[0], 8);
  EXPECT_INT(axes.strides[1][1], 8);
}

TENON_TEST(has_one_axis_where_there_is_none) {
  const tenon__cuda_space_t space = {.rank = 1, .walk_count = 1, .extents = {1}, .strides = {{3}}};
  tenon__cuda_axes_t axes;
  tenon__cuda_axes_join(&space, UINT64_MAX, &axes);
  EXPECT_INT(axes.rank, 1);
  EXPECT_INT(axes.extents[0], 1);
}

TENON_TEST(says_that_strides_do_not_fit) {
  tenon_program_t program = {.rank = 1};
  tenon__cuda_analysis_t analysis = {.program = &program, .walk_count = 1};
  const tenon__cuda_layout_t layout = tenon__cuda_layout_of(&analysis);
  uint8_t parameters[1024] = {0};
  tenon__cuda_axes_t axes = {.rank = 1, .walk_count = 1, .extents = {2}, .strides = {{5}}};
  EXPECT(layout.total <= sizeof(parameters));
  EXPECT(tenon__cuda_axes_write(&axes, &layout, layout.outer, parameters));
  axes.strides[0][0] = (int64_t)INT32_MAX + 1;
  EXPECT(!tenon__cuda_axes_write(&axes, &layout, layout.outer, parameters));
}
