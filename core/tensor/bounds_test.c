#include "core/tensor/bounds.h"

#include "core/base/test.h"

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
