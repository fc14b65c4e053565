/* Building the node tensorrt.select_boxes/1. */
#include "selection.h"

#include "steps.h"

tensorrt_selected_t tensorrt_select(tenon_make_t* make, tenon_value_t boxes, tenon_value_t scores,
                                    const tensorrt_choice_t* choice) {
  tenon_value_t values[5] = {{0}, {0}, {0}, {0}, {0}};
  tenon_value_t wide = tensorrt_wide(make, boxes);
  if (tenon_make_rank(make, boxes) == 3) {
    wide = tensorrt_axis(make, wide, 2);
  }
  const tenon_value_t wide_scores = tensorrt_wide(make, scores);
  tenon_make_begin(make, "tensorrt.select_boxes/1");
  tenon_make_set_int(make, "keep", choice->keep);
  tenon_make_set_int(make, "top", choice->top > 0 ? choice->top : 4096);
  tenon_make_set_int(make, "by_class", choice->by_class);
  tenon_make_set_int(make, "agnostic", choice->agnostic);
  tenon_make_set_int(make, "keep_of_class", choice->keep_of_class);
  tenon_make_set_int(make, "background", choice->background);
  tenon_make_set_int(make, "inclusive", choice->inclusive);
  tenon_make_set_int(make, "pixels", choice->pixels);
  tenon_make_set_float(make, "score_threshold", choice->score_threshold);
  tenon_make_set_float(make, "iou_threshold", choice->iou_threshold);
  tenon_make_add(make, wide);
  tenon_make_add(make, wide_scores);
  tenon_make_end_many(make, values, 5);
  return (tensorrt_selected_t){values[0], values[1], values[2], values[3], values[4]};
}
