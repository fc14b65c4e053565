/*
 * The insides of the resize kernel, shared by its two files: resize.c matches, prepares and binds,
 * resize_run.c runs. A bound resize is a list of passes, one for each axis that changes.
 */
#ifndef TENON_CPU_RESIZE_H_
#define TENON_CPU_RESIZE_H_

#include "sample.h"

enum { TENON_CPU_RESIZE_AXES = 8 };

typedef struct tenon__cpu_resize_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_sampler_t sampler;
  bool has_scales;
  float scales[TENON_CPU_RESIZE_AXES];
  bool channels_last;
  uint64_t scratch_bytes;
} tenon__cpu_resize_t;

/* `outer` and what follows are those of one slice. `taps.output` counts gathered elements where
 * `inner` is short: coordinates times `inner`. */
typedef struct tenon__cpu_resize_pass_t {
  int64_t outer;
  int64_t axis_in;
  int64_t axis_out;
  int64_t inner;
  bool gathers;
  tenon__cpu_taps_t taps;
} tenon__cpu_resize_pass_t;

typedef struct tenon__cpu_resize_bound_t {
  const tenon__cpu_resize_t* resize;
  uint32_t pass_count;
  tenon__cpu_resize_pass_t passes[TENON_CPU_RESIZE_AXES];
  /* Nearest with weights of 1, and two passes over neighbouring axes, the inner one first: rows are
   * made in y. */
  bool nearest_pair;
  int64_t count; /* elements of y */
  /* Along the axes outside of all that change: each slice is resized alone. */
  int64_t slices;
  int64_t slice_in;
  int64_t slice_out;
  int64_t slice_between; /* elements of the largest result between passes; two lie side by side */
  float* own_scratch;    /* NULL: the tactic's is large enough */
} tenon__cpu_resize_bound_t;

/* Elements for the results between passes of so many slices at once. */
static inline size_t tenon__cpu_resize_scratch(const tenon__cpu_resize_bound_t* bound,
                                               int64_t slices) {
  return (size_t)(bound->slice_between * slices) * (bound->pass_count > 2 ? 2 : 1);
}

tenon_status_t tenon__cpu_resize_run(const tenon_enqueue_t* call);

#endif
