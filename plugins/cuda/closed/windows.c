/* Windows over spatial axes as windows.cuh and neighbours.cuh read them: 3 axes, of which those
 * that a tensor lacks stand first, with extent 1. */
#include "families.h"

enum {
  SPATIAL = 3,
  X_DIM = 0,
  Y_DIM = 3,
  TAP_DIM = 6,
  STRIDE = 9,
  DILATION = 12,
  BEFORE = 15,
  BEHIND = 18,
  X_CHANNELS = 21,
  Y_CHANNELS = 22,
  GROUPS = 23,
  TILES = 24
};

static void set_padding(tenon__closed_work_t* work, uint32_t axis, int64_t total,
                        bool more_behind) {
  const int64_t padding = total > 0 ? total : 0;
  work->number[BEFORE + axis] = more_behind ? padding / 2 : padding - padding / 2;
  work->number[BEHIND + axis] = padding - work->number[BEFORE + axis];
}

/* An entry for a spatial axis of the three; axes that are not there have the default. */
static int64_t item(const tenon__closed_work_t* work, const char* name, int32_t own,
                    int64_t otherwise) {
  return own < 0 ? otherwise : tenon__closed_item(work, name, (size_t)own, otherwise);
}

static int64_t tap_extent(const tenon__closed_work_t* work, int32_t own) {
  return own < 0 ? 1
         : tenon__closed_item_count(work, "kernel_shape") > 0
             ? tenon__closed_item(work, "kernel_shape", (size_t)own, 1)
             : work->in[1].dims[own + 2];
}

static const tenon__closed_shape_t* result_of(const tenon__closed_work_t* work) {
  return work->out[0].present ? &work->out[0] : &work->out[1];
}

static void set_geometry(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* x = &work->in[0];
  const tenon__closed_shape_t* y = result_of(work);
  const int32_t spatial = (int32_t)x->rank - 2;
  for (int32_t axis = 0; axis < SPATIAL; axis++) {
    const int32_t own = axis - (SPATIAL - spatial);
    int64_t* number = work->number + axis;
    number[X_DIM] = own < 0 ? 1 : x->dims[own + 2];
    number[Y_DIM] = own < 0 ? 1 : y->dims[own + 2];
    number[TAP_DIM] = tap_extent(work, own);
    number[STRIDE] = item(work, "strides", own, 1);
    number[DILATION] = item(work, "dilations", own, 1);
    number[BEFORE] = item(work, "pads", own, 0);
    number[BEHIND] = item(work, "pads", own < 0 ? own : own + spatial, 0);
  }
  const int64_t groups = tenon__closed_int(work, "groups");
  work->number[X_CHANNELS] = x->dims[1];
  work->number[Y_CHANNELS] = y->dims[1];
  work->number[GROUPS] = groups > 0 ? groups : 1;
}

static int64_t reach_of(const tenon__closed_work_t* work, uint32_t axis) {
  return (work->number[TAP_DIM + axis] - 1) * work->number[DILATION + axis] + 1;
}

void tenon__closed_bind_windows(tenon__closed_work_t* work) {
  const bool upper = tenon__closed_is(work, "auto_pad", "same_upper");
  const bool lower = tenon__closed_is(work, "auto_pad", "same_lower");
  const bool none = tenon__closed_is(work, "auto_pad", "valid");
  set_geometry(work);
  const uint32_t computed = upper || lower || none ? SPATIAL : 0; /* axes */
  for (uint32_t axis = 0; axis < computed; axis++) {
    const int64_t covered =
        (work->number[Y_DIM + axis] - 1) * work->number[STRIDE + axis] + reach_of(work, axis);
    set_padding(work, axis, none ? 0 : covered - work->number[X_DIM + axis], upper);
  }
  tenon__closed_launch(work, 0, result_of(work)->count);
}

static int64_t tiles_of(int64_t extent, int64_t tile) {
  return (extent + tile - 1) / tile;
}

void tenon__closed_bind_deformable(tenon__closed_work_t* work) {
  enum { WIDE = 64, PIXELS = 8 };
  const tenon__closed_shape_t* y = &work->out[0];
  set_geometry(work);
  const int64_t groups = work->number[GROUPS];
  work->number[TILES] = y->dims[0] * groups * tiles_of(y->dims[1] / groups, WIDE) *
                        tiles_of(tenon__closed_product(y, 2, y->rank), PIXELS);
  tenon__closed_launch_blocks(work, 0, work->number[TILES]);
}

/* See integer.cuh. */
void tenon__closed_bind_convolution_integer(tenon__closed_work_t* work) {
  enum { CHANNELS = 64, PIXELS = 32 };
  const tenon__closed_shape_t* y = &work->out[0];
  tenon__closed_bind_windows(work);
  const int64_t groups = work->number[GROUPS];
  work->number[TILES] = y->dims[0] * groups * tiles_of(y->dims[1] / groups, CHANNELS) *
                        tiles_of(tenon__closed_product(y, 2, y->rank), PIXELS);
  work->launch_count = 0;
  tenon__closed_launch_blocks(work, 0, work->number[TILES]);
}

void tenon__closed_bind_transposed(tenon__closed_work_t* work) {
  const bool upper = tenon__closed_is(work, "auto_pad", "same_upper");
  const bool lower = tenon__closed_is(work, "auto_pad", "same_lower");
  const bool none = tenon__closed_is(work, "auto_pad", "valid");
  const bool given = tenon__closed_item_count(work, "output_shape") > 0;
  const int32_t spatial = (int32_t)work->in[0].rank - 2;
  set_geometry(work);
  const uint32_t computed = upper || lower || none || given ? SPATIAL : 0; /* axes */
  for (uint32_t axis = 0; axis < computed; axis++) {
    const int32_t own = (int32_t)axis - (SPATIAL - spatial);
    const int64_t natural = (work->number[X_DIM + axis] - 1) * work->number[STRIDE + axis] +
                            item(work, "output_padding", own, 0) + reach_of(work, axis);
    set_padding(work, axis, none ? 0 : natural - work->number[Y_DIM + axis], upper);
  }
  tenon__closed_launch(work, 0, work->out[0].count);
}

const char* tenon__closed_refuse_windows(const tenon__closed_work_t* work) {
  return work->in[0].rank < 3 || work->in[0].rank > 5 ? "other than one to three spatial axes"
                                                      : NULL;
}

const char* tenon__closed_refuse_planes(const tenon__closed_work_t* work) {
  return work->in[0].rank != 4 ? "other than two spatial axes" : NULL;
}

/* ---- neighbours.cuh ---- */

void tenon__closed_bind_unpool(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* x = &work->in[0];
  const size_t spatial = tenon__closed_item_count(work, "kernel_shape");
  for (uint32_t axis = 0; axis < x->rank; axis++) {
    const size_t own = axis < 2 ? 0 : axis - 2;
    work->number[axis] = axis < 2
                             ? x->dims[axis]
                             : (x->dims[axis] - 1) * tenon__closed_item(work, "strides", own, 1) -
                                   tenon__closed_item(work, "pads", own, 0) -
                                   tenon__closed_item(work, "pads", own + spatial, 0) +
                                   tenon__closed_item(work, "kernel_shape", own, 1);
  }
  tenon__closed_launch(work, 0, work->out[0].count);
  tenon__closed_launch(work, 1, x->count);
}

void tenon__closed_bind_causal(tenon__closed_work_t* work) {
  const int64_t now = work->out[0].present ? work->out[0].count : 0;
  const int64_t kept = work->out[1].present ? work->out[1].count : 0;
  tenon__closed_launch(work, 0, now > kept ? now : kept);
}
