/* Resizing, regions, suppression of boxes: see resize.cuh, region.cuh, suppression.cuh. */
#include "../analysis.h"
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

/* x is copied with channels innermost if its channels fill 16 bytes and the result is large enough
 * to pay for that: see region.cuh. */
void tenon__closed_bind_roi_align(tenon__closed_work_t* work) {
  enum { SIDE = 32, ACCESS_BYTES = 16, LEAST_CHANNELS = 16, PAYS = 4 };
  const tenon__closed_shape_t* x = &work->in[0];
  const int64_t bytes = (int64_t)tenon__cuda_bytes(x->dtype);
  const int64_t channels = x->dims[1];
  const int64_t pixels = x->dims[2] * x->dims[3];
  const int64_t own = tenon__cuda_bytes(work->out[0].dtype) > 4 ? 32 : 64;
  work->number[0] = channels >= LEAST_CHANNELS && channels * bytes % ACCESS_BYTES == 0 &&
                    x->count < INT32_MAX && work->out[0].count * PAYS >= x->count;
  if (work->number[0] != 0) {
    tenon__closed_launch_blocks(
        work, 0, x->dims[0] * ((channels + SIDE - 1) / SIDE) * ((pixels + SIDE - 1) / SIDE));
  }
  tenon__closed_launch_blocks(work, 1, work->out[0].dims[0] * ((channels + own - 1) / own));
}
uint64_t tenon__closed_scratch_roi_align(const tenon__closed_work_t* work) {
  return (uint64_t)work->in[0].count * tenon__cuda_bytes(work->in[0].dtype);
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
