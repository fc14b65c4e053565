/*
 * The operator tensorrt.select_boxes/1: the boxes of highest score that no better one overlaps, a
 * fixed number for each image. Its kernel for the CPU is in select.c, the algorithm for one image in
 * select_image.c.
 *
 *   boxes   f32 [N, P, L, 4]   two opposite corners of each box; L is 1 or C
 *   scores  f32 [N, P, C]
 *   count   i32 [N]            the boxes that are selected, at most `keep`
 *   index   i32 [N, keep]      their place 0 to P - 1; -1 behind them
 *   label   i32 [N, keep]      their class; -1 behind them
 *   score   f32 [N, keep]      falling; 0 behind them
 *   box     f32 [N, keep, 4]   as in `boxes`; 0 behind them
 *
 * Pairs of a box and a class are candidates if the score is above the threshold. The best `top` of
 * an image are taken, or with by_class the best `top` of each class. Of equal scores the first in
 * the order of boxes, then classes, counts as the better one; with by_class in the order of classes,
 * then boxes. A candidate is dropped if a better one that was not dropped has the same class and
 * overlaps it above iou_threshold.
 *
 * keep                1 .. 2^24
 * top                 1 .. 2^24
 * by_class            see above
 * keep_of_class       maximum for each class and image; -1: none
 * background          class without candidates; -1: none
 * agnostic            1: boxes of other classes overlap too
 * inclusive           bit 0: a score equal to the threshold is a candidate, bit 1: an overlap equal
 *                     to the threshold drops
 *                     Of by_class, agnostic and keep_of_class, at most one is set.
 * pixels              1: corners are pixels inside of the box, so extents are 1 larger, but boxes that
 *                     do not touch have no overlap; 2: the same, but a gap below 1 is an overlap
 */
#ifndef TENSORRT_SELECT_H_
#define TENSORRT_SELECT_H_

#include "tenon/plugin.h"

extern const tenon_offering_t tensorrt_select_operators;
extern const tenon_offering_t tensorrt_select_kernels;

typedef struct tensorrt_select_t {
  int64_t keep;
  int64_t top;
  int64_t by_class;
  int64_t keep_of_class;
  int64_t background;
  int64_t agnostic;
  int64_t inclusive;
  int64_t pixels;
  float score_threshold;
  float iou_threshold;
} tensorrt_select_t;

/* One image. */
typedef struct tensorrt_selection_t {
  const tensorrt_select_t* settings;
  const float* boxes;  /* [P, L, 4] */
  const float* scores; /* [P, C] */
  int64_t places;      /* P */
  int64_t classes;     /* C */
  int64_t box_classes; /* L */
  int32_t* count;
  int32_t* index;
  int32_t* label;
  float* score;
  float* box;
} tensorrt_selection_t;

/* Bytes of scratch for one image of at most these extents, a multiple of 64. UINT64_MAX: the number
 * of candidates does not fit 31 bits. */
uint64_t tensorrt_select_scratch(const tensorrt_select_t* settings, int64_t places,
                                 int64_t classes);
void tensorrt_select_image(const tensorrt_selection_t* image, void* scratch);

#endif
