/* Detectors' last layers: lists, boxes, and how many stay. See detection.cuh. */
#include <string.h>

#include "families.h"

enum { IMAGES, LISTS, CANDIDATES, BOXES, VISITED, KEPT, FOUND = 4, OF_A_LIST = 3, CORNERS = 4 };

static bool is_ssd(const tenon__closed_work_t* work) {
  return strcmp(work->row->name, "detection_output") == 0;
}

static void set_numbers(tenon__closed_work_t* work) {
  int64_t* number = work->number;
  if (is_ssd(work)) {
    const int64_t classes = tenon__closed_int(work, "classes");
    number[IMAGES] = work->in[1].dims[0];
    number[LISTS] = classes;
    number[CANDIDATES] = work->in[2].count / 2 / CORNERS;
    number[BOXES] =
        number[CANDIDATES] * (tenon__closed_int(work, "share_location") != 0 ? 1 : classes);
    number[VISITED] = tenon__closed_int(work, "top_k");
    number[KEPT] = -1;
  } else {
    const int64_t visited = tenon__closed_int(work, "pre_top");
    number[IMAGES] = work->in[0].dims[0];
    number[LISTS] = 1;
    number[CANDIDATES] = tenon__closed_product(&work->in[0], 1, work->in[0].rank);
    number[BOXES] = number[CANDIDATES];
    number[VISITED] = visited > 0 ? visited : -1;
    number[KEPT] = tenon__closed_int(work, "post_top");
  }
}

void tenon__closed_bind_detection(tenon__closed_work_t* work) {
  set_numbers(work);
  const int64_t images = work->number[IMAGES];
  const int64_t lists = images * work->number[LISTS];
  const int64_t boxes = images * work->number[BOXES];
  uint32_t kernel = 0;
  tenon__closed_launch(work, kernel++, boxes > lists ? boxes : lists);
  tenon__closed_launch(work, kernel++, lists * work->number[CANDIDATES]);
  tenon__closed_launch_blocks(work, kernel++, lists);
  if (is_ssd(work)) {
    tenon__closed_launch_blocks(work, kernel++, images);
  }
  tenon__closed_launch(work, kernel++, 1);
  tenon__closed_launch_blocks(work, kernel, lists > 0 ? lists : 1);
}

uint64_t tenon__closed_scratch_detection(const tenon__closed_work_t* work) {
  tenon__closed_work_t largest = *work;
  set_numbers(&largest);
  const uint64_t lists = (uint64_t)(largest.number[IMAGES] * largest.number[LISTS]);
  const uint64_t boxes = (uint64_t)(largest.number[IMAGES] * largest.number[BOXES]);
  return (FOUND + OF_A_LIST * lists + CORNERS * boxes) * sizeof(int64_t) +
         lists * (uint64_t)largest.number[CANDIDATES] * sizeof(int32_t);
}

void tenon__closed_extents_detection(const tenon__closed_work_t* work, const int64_t* found,
                                     uint32_t output, tenon__closed_shape_t* out_shape) {
  enum { ROW = 7, REGION = 5 };
  if (is_ssd(work)) {
    const int64_t rows = found[0] > 0 ? found[0] : work->number[IMAGES];
    const int64_t dims[] = {1, 1, rows, ROW};
    memcpy(out_shape->dims, dims, sizeof(dims));
    out_shape->rank = 4;
    return;
  }
  out_shape->rank = 2;
  out_shape->dims[0] = found[0];
  out_shape->dims[1] = output == 0 ? REGION : 1;
}
