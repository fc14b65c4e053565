/* Resizing, regions, suppression of boxes: see resize.cuh, region.cuh, suppression.cuh. */
#include "../analysis.h"
#include "families.h"
#include "numbers.h"
#include "resize.h"

enum { FOUND = 4 };

/* ---- Resizes ---- */

/* Divides rows of `units` units among blocks. resize.cuh describes the numbers. */
static void divide_rows(tenon__closed_work_t* work, int64_t units, int64_t rows) {
  enum { BLOCKS = 396 /* 3 per multiprocessor of an H100 */, OF_A_THREAD = 8 };
  enum { ROWS = RESIZE_ROWS, THREADS = TENON_CLOSED_THREADS, ELEMENTS = THREADS * OF_A_THREAD };
  const int64_t tile = units < 1 ? 1 : least_of(units, RESIZE_TILE);
  const int64_t tiles = rounded_up(units, tile);
  const int64_t at_once = THREADS / tile;
  const int64_t few = least_of(rounded_up(work->out[0].count, ELEMENTS), BLOCKS);
  const int64_t share = rounded_up(rows * tiles, few < 1 ? 1 : few);
  const int64_t fitting = least_of(rounded_up(share, at_once), ROWS / at_once) * at_once;
  const int64_t chunk = fitting == 0 ? ROWS : fitting; /* rows are short: some threads are idle */
  const int64_t blocks = rounded_up(rows, chunk) * tiles;
  work->number[0] = units;
  work->number[1] = tile;
  work->number[2] = tiles;
  work->number[3] = at_once;
  work->number[4] = chunk;
  work->number[6] = rows;
  work->number[7] = blocks;
  tenon__closed_launch_blocks(work, 0, least_of(blocks, BLOCKS));
}

/* Returns whether only the last two axes change, without antialiasing. */
static bool is_flat(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* x = &work->in[0];
  const tenon__closed_shape_t* y = &work->out[0];
  bool flat = y->rank >= 2 && y->count > 0 && tenon__closed_int(work, "antialias") == 0;
  for (uint32_t k = 0; k + 2 < y->rank; k++) {
    flat = flat && x->dims[k] == y->dims[k];
  }
  return flat;
}

/* If only the last two axes change, few blocks make many rows each, because a block computes the
 * taps of an axis once. */
void tenon__closed_bind_resize(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* y = &work->out[0];
  const int64_t fits = RESIZE_ACCESS / (int64_t)tenon__cuda_bytes(y->dtype);
  const bool is_cubic = tenon__closed_is(work, "mode", "cubic");
  const int64_t elements = least_of(fits, is_cubic ? RESIZE_OF_FOUR_TAPS : RESIZE_OF_TWO_TAPS);
  if (is_flat(work)) {
    const int64_t width = y->dims[y->rank - 1];
    divide_rows(work, rounded_up(width, elements), y->count / width);
  } else {
    tenon__closed_launch(work, 0, y->count);
  }
}

/* The same with innermost channels. A unit is RESIZE_ACCESS bytes of a column. */
void tenon__closed_bind_resize_last(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* y = &work->out[0];
  const int64_t pieces = y->dims[1] * (int64_t)tenon__cuda_bytes(y->dtype) / RESIZE_ACCESS;
  work->number[5] = pieces;
  if (is_flat(work)) {
    divide_rows(work, y->dims[y->rank - 1] * pieces, y->dims[0] * y->dims[y->rank - 2]);
  } else {
    tenon__closed_launch(work, 0, y->count);
  }
}

/* ---- Regions ---- */

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
