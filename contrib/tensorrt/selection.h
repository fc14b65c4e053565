/* Building the node tensorrt.select_boxes/1. */
#ifndef TENSORRT_SELECTION_H_
#define TENSORRT_SELECTION_H_

#include "tenon/maker.h"

/* The attributes of the operator, see select.h. `top` 0: 4096. */
typedef struct tensorrt_choice_t {
  int64_t keep;
  int64_t top;
  int64_t by_class;
  int64_t agnostic;
  int64_t keep_of_class;
  int64_t background;
  int64_t inclusive;
  int64_t pixels;
  double score_threshold;
  double iou_threshold;
} tensorrt_choice_t;

typedef struct tensorrt_selected_t {
  tenon_value_t count; /* i32 [N] */
  tenon_value_t index; /* i32 [N, keep] */
  tenon_value_t label; /* i32 [N, keep] */
  tenon_value_t score; /* f32 [N, keep] */
  tenon_value_t box;   /* f32 [N, keep, 4] */
} tensorrt_selected_t;

/* Boxes [N, P, L, 4] or [N, P, 4], scores [N, P, C]; of any float type. */
tensorrt_selected_t tensorrt_select(tenon_make_t* make, tenon_value_t boxes, tenon_value_t scores,
                                    const tensorrt_choice_t* choice);

#endif
