/* Fourier transforms: see signal.cuh. */
#include "../analysis.h"
#include "families.h"

enum {
  PARTS = 2,
  SHARED_BYTES = 16384, /* of the numbers of a line */
  SLOTS = 264,
  ARRAYS = 3 /* from, to, turns */
};

static int64_t longest_axis(const tenon__closed_shape_t* shape) {
  int64_t longest = 1;
  for (uint32_t k = 0; k + 1 < shape->rank; k++) {
    longest = shape->dims[k] > longest ? shape->dims[k] : longest;
  }
  return longest;
}

/* A block for each line. Along which axis lines lie may be data: any number of blocks is right. */
void tenon__closed_bind_transform(tenon__closed_work_t* work) {
  const tenon__closed_shape_t* y = &work->out[0];
  const int64_t parts = y->rank > 0 && y->dims[y->rank - 1] == PARTS ? PARTS : 1;
  const int64_t numbers = y->count / parts;
  const int64_t line = y->rank == 4 ? y->dims[2] : longest_axis(y);
  tenon__closed_launch_blocks(work, 0, line > 0 ? (numbers + line - 1) / line : 0);
}

/* Of lines that are too long for shared memory. A line is at most twice as long as its result. */
uint64_t tenon__closed_scratch_transform(const tenon__closed_work_t* work) {
  const uint64_t bytes = (uint64_t)PARTS * (work->in[0].dtype == TENON_DTYPE_FLOAT64 ? 8 : 4);
  const uint64_t longest = 2 * (uint64_t)longest_axis(&work->out[0]);
  const uint64_t all = 2 * (uint64_t)work->out[0].count;
  const uint64_t some = SLOTS * longest;
  return longest * bytes <= SHARED_BYTES ? 0 : ARRAYS * bytes * (all < some ? all : some);
}
