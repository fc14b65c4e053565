/* How tensors become what a call of cuBLASLt takes. */
#include "geometry.h"

#include "core/base/test.h"

enum { A = TENON_CUBLAS_A, B = TENON_CUBLAS_B, C = TENON_CUBLAS_C, Y = TENON_CUBLAS_Y };

/* NOLINTBEGIN(bugprone-macro-parentheses): they are lists in braces */
#define VIEW(view_rank, extents, steps)                                                      \
  &(const tenon_tensor_view_t) {                                                             \
    .dims = (const int64_t[])extents, .strides = (const int64_t[])steps, .rank = (view_rank) \
  }
/* NOLINTEND(bugprone-macro-parentheses) */
#define LIST(...) \
  { __VA_ARGS__ }

TENON_TEST(takes_dense_rows_as_they_lie) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(2, LIST(3, 4), LIST(4, 1)),
                                       .b = VIEW(2, LIST(4, 5), LIST(5, 1)),
                                       .y = VIEW(2, LIST(3, 5), LIST(5, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT_INT(g.calls, 1);
  EXPECT_INT(g.m.extent, 3);
  EXPECT_INT(g.n.extent, 5);
  EXPECT_INT(g.k.extent, 4);
  EXPECT(!g.turned[A] && !g.turned[B]);
  EXPECT_INT(g.leading[A], 4);
  EXPECT_INT(g.leading[B], 5);
  EXPECT_INT(g.leading[Y], 5);
}

TENON_TEST(turns_what_is_transposed) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(2, LIST(3, 4), LIST(1, 7)),
                                       .b = VIEW(2, LIST(4, 5), LIST(1, 6)),
                                       .y = VIEW(2, LIST(3, 5), LIST(9, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT(g.turned[A] && g.turned[B]);
  EXPECT_INT(g.leading[A], 7);
  EXPECT_INT(g.leading[B], 6);
  EXPECT_INT(g.leading[Y], 9);
  EXPECT_INT(g.calls, 1);
}

TENON_TEST(a_batch_that_shares_its_b_is_more_rows) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(3, LIST(6, 3, 4), LIST(12, 4, 1)),
                                       .b = VIEW(2, LIST(4, 5), LIST(5, 1)),
                                       .y = VIEW(3, LIST(6, 3, 5), LIST(15, 5, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT_INT(g.m.extent, 18);
  EXPECT_INT(g.batch.extent, 1);
  EXPECT_INT(g.calls, 1);
}

/* Heads of a packed tensor: image and head are two strides, of which one is cuBLASLt's. */
TENON_TEST(one_outer_axis_is_the_batch_and_others_are_calls) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(4, LIST(2, 12, 7, 64), LIST(5376, 64, 768, 1)),
                                       .b = VIEW(4, LIST(2, 12, 64, 7), LIST(5376, 64, 1, 768)),
                                       .y = VIEW(4, LIST(2, 12, 7, 7), LIST(588, 49, 7, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT_INT(g.batch.extent, 12);
  EXPECT_INT(g.batch.strides[A], 64);
  EXPECT_INT(g.calls, 2);
  EXPECT_INT(g.outer[0].strides[Y], 588);
  EXPECT(!g.turned[A] && g.turned[B]);
  EXPECT_INT(g.leading[B], 768);
}

TENON_TEST(rows_that_overlap_are_single_products) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(2, LIST(9, 4), LIST(1, 1)),
                                       .b = VIEW(2, LIST(4, 5), LIST(5, 1)),
                                       .y = VIEW(2, LIST(9, 5), LIST(5, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT_INT(g.m.extent, 1);
  EXPECT_INT(g.batch.extent, 9);
  EXPECT_INT(g.calls, 1);
}

TENON_TEST(backwards_goes_by_calls) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(2, LIST(3, 4), LIST(-4, 1)),
                                       .b = VIEW(2, LIST(4, 5), LIST(5, 1)),
                                       .y = VIEW(2, LIST(3, 5), LIST(5, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT_INT(g.batch.extent, 1);
  EXPECT_INT(g.calls, 3);
}

TENON_TEST(a_sum_that_runs_backwards_goes_by_calls) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(2, LIST(3, 4), LIST(4, -1)),
                                       .b = VIEW(2, LIST(4, 5), LIST(5, 1)),
                                       .y = VIEW(2, LIST(3, 5), LIST(5, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT_INT(g.k.extent, 1);
  EXPECT_INT(g.sum.extent, 4);
  EXPECT_INT(g.sum.strides[A], -1);
  EXPECT_INT(g.sum.strides[B], 5);
  EXPECT_INT(g.leading[B], 5);
  EXPECT_INT(g.calls, 1);
}

TENON_TEST(a_sum_of_nothing_reads_one_zero) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(3, LIST(2, 3, 0), LIST(0, 0, 1)),
                                       .b = VIEW(2, LIST(0, 5), LIST(5, 1)),
                                       .y = VIEW(3, LIST(2, 3, 5), LIST(15, 5, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT_INT(g.k.extent, 1);
  EXPECT_INT(g.batch.extent, 2);
  EXPECT_INT(g.batch.strides[A], 0);
  EXPECT_INT(g.leading[A], 1);
  EXPECT_INT(g.leading[B], 5);
}

TENON_TEST(nothing_to_compute_is_no_call) {
  tenon__cublas_geometry_t g;
  const tenon__cublas_views_t views = {.a = VIEW(2, LIST(0, 4), LIST(4, 1)),
                                       .b = VIEW(2, LIST(4, 5), LIST(5, 1)),
                                       .y = VIEW(2, LIST(0, 5), LIST(5, 1))};
  tenon__cublas_geometry_find(&views, &g);
  EXPECT_INT(g.calls, 0);
}
