/* Scattering, what is found: see scatter.cuh, found.cuh. */
#include <string.h>

#include "families.h"

enum { FOUND_BYTES = 4 * sizeof(int64_t), CHUNK = 2048 };

uint64_t tenon__closed_scratch_numbers(const tenon__closed_work_t* work) {
  (void)work;
  return FOUND_BYTES;
}

/* ---- Running sums: see running.cuh ---- */

enum { LONG = 16384, PARTS = 256 };

uint64_t tenon__closed_scratch_running(const tenon__closed_work_t* work) {
  (void)work;
  return PARTS * sizeof(int64_t);
}

void tenon__closed_bind_running(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* x = &work->in[0];
  for (uint32_t k = 0; k < x->rank; k++) {
    const int64_t lines = x->dims[k] >= LONG ? x->count / x->dims[k] : 0;
    if (lines > 0 && lines * 4 <= PARTS) {
      work->number[0] = 1;
    }
  }
  if (work->number[0] != 0) {
    tenon__closed_launch_blocks(work, 0, PARTS);
  }
  tenon__closed_launch(work, 1, x->count);
}

/* ---- Scattering ---- */

void tenon__closed_bind_scatter(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* indices = &work->in[1];
  int64_t updates = indices->count;
  if (work->in_count > 2 && indices->rank > 0 && tenon__closed_int(work, "axis") == 0) {
    /* scatter_nd: the last axis of the indices names a slice of x. */
    const int64_t depth = indices->dims[indices->rank - 1];
    work->number[0] = depth;
    work->number[1] = tenon__closed_product(indices, 0, indices->rank - 1);
    work->number[2] = depth < 0 || depth > (int64_t)work->in[0].rank
                          ? 0
                          : tenon__closed_product(&work->in[0], (uint32_t)depth, work->in[0].rank);
  }
  if (work->in[2].present && work->in[2].count > updates) {
    updates = work->in[2].count;
  }
  tenon__closed_launch(work, 0, work->in[0].count);
  tenon__closed_launch(work, 1, updates);
}

/* ---- What is found ---- */

static int64_t chunks_of(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* asked = work->in[1].present ? &work->in[1] : &work->in[0];
  return (asked->count + CHUNK - 1) / CHUNK;
}

uint64_t tenon__closed_scratch_found(const tenon__closed_work_t* work) {
  const uint64_t listed = work->in[1].present ? (uint64_t)work->in[1].count : 0;
  return FOUND_BYTES + ((uint64_t)chunks_of(work) + listed) * sizeof(int64_t);
}

void tenon__closed_set_slices(tenon__closed_work_t* work, uint32_t at) {
  const tenon__closed_shape_t* x = &work->in[0];
  const bool is_flat = tenon__closed_int(work, "flat") != 0;
  const uint32_t axis = is_flat ? 0 : tenon__closed_axis(tenon__closed_int(work, "axis"), x->rank);
  if (is_flat) {
    work->number[at] = 1;
    work->number[at + 1] = x->count;
    work->number[at + 2] = 1;
  } else {
    tenon__closed_set_axis(work, at, x, axis);
  }
}

void tenon__closed_bind_found(tenon__closed_work_t* work) {
  const bool compresses = work->in[1].present;
  work->number[0] = compresses ? work->in[1].count : work->in[0].count;
  work->number[1] = chunks_of(work);
  if (compresses) {
    tenon__closed_set_slices(work, 2);
  }
  tenon__closed_launch_blocks(work, 0, work->number[1]);
  tenon__closed_launch_wide(work, 1, 1, TENON_CLOSED_MOST_THREADS);
  tenon__closed_launch_blocks(work, 2, work->number[1] > 0 ? work->number[1] : 1);
  if (compresses) {
    tenon__closed_launch(work, 3, work->in[0].count);
  }
}

void tenon__closed_set_extents(const tenon__closed_work_t* work, int64_t along,
                               tenon__closed_shape_t* out_shape) {
  const tenon__closed_shape_t* x = &work->in[0];
  const bool is_flat = tenon__closed_int(work, "flat") != 0;
  out_shape->rank = is_flat ? 1 : x->rank;
  for (uint32_t k = 0; k < out_shape->rank; k++) {
    out_shape->dims[k] = x->dims[k];
  }
  out_shape->dims[is_flat ? 0 : tenon__closed_axis(tenon__closed_int(work, "axis"), x->rank)] =
      along;
}

void tenon__closed_extents_found(const tenon__closed_work_t* work, const int64_t* found,
                                 uint32_t output, tenon__closed_shape_t* out_shape) {
  (void)output;
  if (work->in[1].present) {
    tenon__closed_set_extents(work, found[0], out_shape);
    return;
  }
  out_shape->rank = 2;
  out_shape->dims[0] = work->in[0].rank;
  out_shape->dims[1] = found[0];
}
