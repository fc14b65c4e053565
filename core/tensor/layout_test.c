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

TENON_TEST(in_order_with_gaps) {
  const int64_t dims[] = {2, 1, 4};
  const int64_t box[] = {12, 99, 1};
  const int64_t turned[] = {1, 99, 3};
  const int64_t overlapping[] = {3, 99, 1};
  const int64_t spread[] = {12, 99, 2};
  const uint32_t last_first[] = {2, 1, 0};
  EXPECT(tenon__strides_in_order(3, dims, box, NULL));
  EXPECT(!tenon__strides_in_order(3, dims, box, last_first));
  EXPECT(tenon__strides_in_order(3, dims, turned, last_first));
  EXPECT(!tenon__strides_in_order(3, dims, overlapping, NULL));
  EXPECT(!tenon__strides_in_order(3, dims, spread, NULL));
}

TENON_TEST(element_counts) {
  const int64_t dims[] = {2, 0, TENON_ELEMENT_LIMIT / 2};
  const int64_t most[] = {TENON_ELEMENT_LIMIT / 2, 2};
  const int64_t huge[] = {TENON_ELEMENT_LIMIT / 2 + 1, 2};
  const int64_t overflowing[] = {INT64_MAX, 2};
  const int64_t excused[] = {0, TENON_ELEMENT_LIMIT, 2};
  const int64_t negative[] = {0, -1};
  uint64_t count = 7;
  EXPECT(tenon__element_count(3, dims, &count));
  EXPECT_INT(count, 0);
  EXPECT(tenon__element_count(0, NULL, &count));
  EXPECT_INT(count, 1);
  EXPECT(tenon__element_count(2, most, &count));
  EXPECT_INT(count, TENON_ELEMENT_LIMIT);
  EXPECT(!tenon__element_count(2, huge, &count));
  EXPECT(!tenon__element_count(2, overflowing, &count));
  EXPECT(!tenon__element_count(3, excused, &count));
  EXPECT(!tenon__element_count(2, negative, &count));
}

TENON_TEST(layouts_are_equal_by_order) {
  const uint32_t straight[] = {0, 1, 2, 3};
  const uint32_t last[] = {0, 2, 3, 1};
  const tenon_layout_t ordered = {.size = sizeof(ordered), .rank = 4, .order = straight};
  const tenon_layout_t plain = {.size = sizeof(plain), .rank = 4};
  const tenon_layout_t channels_last = {.size = sizeof(channels_last), .rank = 4, .order = last};
  EXPECT(tenon__layout_valid(&channels_last));
  EXPECT(tenon__layout_equal(&ordered, &plain));
  EXPECT(!tenon__layout_equal(&channels_last, &plain));
  EXPECT(tenon__layout_is_rows(&ordered) && !tenon__layout_is_rows(&channels_last));
}

TENON_TEST(rejects_orders_that_repeat) {
  const uint32_t order[] = {0, 0};
  const tenon_layout_t layout = {.size = sizeof(tenon_layout_t), .rank = 2, .order = order};
  EXPECT(!tenon__layout_valid(&layout));
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

/* ---- Which elements strides reach ---- */

static const int64_t square[2] = {3, 4};
static const int64_t row_major[2] = {4, 1};

static bool within(const int64_t* dims, const int64_t* strides, int64_t offset) {
  const tenon__reach_t inner = {2, dims, strides, offset};
  const tenon__reach_t outer = {2, square, row_major, 0};
  return tenon__reach_within(&inner, &outer);
}

TENON_TEST(a_tensor_lies_within_itself) {
  EXPECT(within(square, row_major, 0));
  EXPECT(!within(square, row_major, 1));
  EXPECT(!within(square, row_major, -1));
}

TENON_TEST(views_that_stay_inside_are_fine) {
  EXPECT(within((const int64_t[]){4, 3}, (const int64_t[]){1, 4}, 0));    /* transposed */
  EXPECT(within((const int64_t[]){100, 4}, (const int64_t[]){0, 1}, 8));  /* broadcast */
  EXPECT(within((const int64_t[]){3, 4}, (const int64_t[]){-4, -1}, 11)); /* reversed */
  EXPECT(within((const int64_t[]){2, 2}, (const int64_t[]){4, 1}, 6));    /* a corner */
}

TENON_TEST(views_that_leave_are_not) {
  EXPECT(!within((const int64_t[]){4, 4}, (const int64_t[]){4, 1}, 0));
  EXPECT(!within((const int64_t[]){2, 2}, (const int64_t[]){4, 1}, 7));
  EXPECT(!within((const int64_t[]){3, 4}, (const int64_t[]){-4, -1}, 10));
  EXPECT(!within((const int64_t[]){1, 1}, (const int64_t[]){0, 0}, 12));
}

TENON_TEST(what_is_empty_lies_anywhere) {
  EXPECT(within((const int64_t[]){0, 4}, (const int64_t[]){4, 1}, 1000));
  EXPECT(within((const int64_t[]){INT64_MAX, 0}, (const int64_t[]){INT64_MAX, 1}, 0));
}

TENON_TEST(nothing_lies_within_what_is_empty) {
  static const int64_t none[2] = {0, 4};
  static const int64_t one[2] = {1, 1};
  const tenon__reach_t outer = {2, none, row_major, 0};
  const tenon__reach_t inner = {2, one, row_major, 0};
  EXPECT(!tenon__reach_within(&inner, &outer));
  EXPECT(tenon__reach_within(&outer, &outer));
}

TENON_TEST(negative_extents_and_overflows_are_refused) {
  EXPECT(!within((const int64_t[]){-1, 4}, (const int64_t[]){4, 1}, 0));
  EXPECT(!within((const int64_t[]){-1, 0}, (const int64_t[]){4, 1}, 0));
  EXPECT(!within((const int64_t[]){INT64_MAX, 4}, (const int64_t[]){4, 1}, 0));
  EXPECT(!within((const int64_t[]){2, 2}, (const int64_t[]){INT64_MAX, INT64_MAX}, 0));
  EXPECT(!within((const int64_t[]){2, 2}, (const int64_t[]){INT64_MIN, INT64_MIN}, 0));
}

TENON_TEST(scalars_are_one_element) {
  const tenon__reach_t scalar = {0, NULL, NULL, 0};
  const tenon__reach_t beside = {0, NULL, NULL, 1};
  EXPECT(tenon__reach_within(&scalar, &scalar));
  EXPECT(!tenon__reach_within(&beside, &scalar));
}
