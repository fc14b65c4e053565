/* Resizing, regions, suppression of boxes: see resize.cuh, region.cuh, suppression.cuh. */
#include "families.h"

enum { FOUND = 4 };

/* Few blocks of many rows where only the last two axes change: the taps of an axis are found once
 * for a block. */
void tenon__closed_bind_resize(tenon__closed_work_t* work) {
  enum { BLOCKS = 396 /* three of an H100's multiprocessor */, OF_A_THREAD = 8 };
  const tenon__closed_shape_t* x = &work->in[0];
  const tenon__closed_shape_t* y = &work->out[0];
  const int64_t most = (int64_t)BLOCKS * TENON_CLOSED_THREADS;
  bool is_flat = y->rank >= 2 && tenon__closed_int(work, "antialias") == 0;
  for (uint32_t k = 0; k + 2 < y->rank; k++) {
    is_flat = is_flat && x->dims[k] == y->dims[k];
  }
  const int64_t few = (y->count + OF_A_THREAD - 1) / OF_A_THREAD;
  tenon__closed_launch(work, 0, !is_flat ? y->count : few < most ? few : most);
}

void tenon__closed_bind_roi_align(tenon__closed_work_t* work) {
  enum { CHANNELS = 64 };
  tenon__closed_launch_blocks(
      work, 0, work->out[0].dims[0] * ((work->in[0].dims[1] + CHANNELS - 1) / CHANNELS));
}

/* ---- Suppression of boxes ---- */

const char* tenon__closed_refuse_suppression(const tenon__closed_work_t* work) {
  return !work->in[1].open && work->in[1].rank == 3 && work->in[1].dims[2] > INT32_MAX
             ? "2^31 boxes"
             : NULL;
}

uint64_t tenon__closed_scratch_suppression(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* scores = &work->in[1];
  const uint64_t lines = (uint64_t)tenon__closed_product(scores, 0, 2);
  return (FOUND + 2 * lines) * sizeof(int64_t) + (uint64_t)scores->count * sizeof(uint32_t);
}

void tenon__closed_bind_suppression(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* scores = &work->in[1];
  work->number[0] = scores->dims[0] * scores->dims[1];
  work->number[1] = scores->dims[2];
  work->number[2] = scores->dims[1];
  tenon__closed_launch_wide(work, 0, work->number[0], TENON_CLOSED_MOST_THREADS);
  tenon__closed_launch_wide(work, 1, 1, TENON_CLOSED_MOST_THREADS);
  tenon__closed_launch_blocks(work, 2, work->number[0] > 0 ? work->number[0] : 1);
}

void tenon__closed_extents_suppression(const tenon__closed_work_t* work, const int64_t* found,
                                       uint32_t output, tenon__closed_shape_t* out_shape) {
  (void)work, (void)output;
  out_shape->rank = 2;
  out_shape->dims[0] = found[0];
  out_shape->dims[1] = 3;
}
