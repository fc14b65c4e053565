/*
 * A space and what walks along it, as few axes as possible: axes are ordered by how the main walk
 * lies in memory, those of one element go, and two become one where all walks allow it. Then the
 * parameters of a launch, as the generated kernels read them (frame.cuh).
 */
#ifndef PLUGINS_CUDA_AXES_H_
#define PLUGINS_CUDA_AXES_H_

#include "analysis.h"

typedef struct tenon__cuda_axes_t {
  uint32_t rank; /* at least 1 */
  uint32_t walk_count;
  int64_t extents[TENON_CUDA_AXES];
  int64_t strides[TENON_CUDA_AXES][TENON_CUDA_WALKS];
} tenon__cuda_axes_t;

typedef struct tenon__cuda_space_t {
  uint32_t rank;
  uint32_t walk_count;
  uint32_t main;         /* the walk whose order counts, unless there is an order */
  const uint32_t* order; /* of the axes, outermost first; NULL: as the main walk lies */
  int64_t extents[TENON_CUDA_AXES];
  int64_t strides[TENON_CUDA_AXES][TENON_CUDA_WALKS]; /* 0 where a walk does not vary */
} tenon__cuda_space_t;

/* Of the axes in the mask. */
void tenon__cuda_axes_join(const tenon__cuda_space_t* space, uint64_t mask,
                           tenon__cuda_axes_t* out);
int64_t tenon__cuda_axes_count(const tenon__cuda_axes_t* axes);

/* Where the parameters' members lie; from what the text of the kernels defines. */
typedef struct tenon__cuda_layout_t {
  uint32_t walks;
  uint32_t axes;
  size_t indexed;
  size_t dims;
  size_t strides;
  size_t size;
  size_t fault;
  size_t partials;
  size_t limit;
  size_t counts; /* count, rows, release, ragged, last, split */
  size_t step;
  size_t wide;
  size_t outer;
  size_t inner;
  size_t total;
} tenon__cuda_layout_t;
tenon__cuda_layout_t tenon__cuda_layout_of(const tenon__cuda_analysis_t* analysis);

/* n / extent == (n * multiplier >> 32) >> shift for n < 2^31. */
void tenon__cuda_find_multiplier(uint32_t extent, uint32_t* out_multiplier, uint32_t* out_shift);

/* Writes axes at `offset` of the parameters. False: a stride or an extent does not fit in 32 bits.
 */
bool tenon__cuda_axes_write(const tenon__cuda_axes_t* axes, const tenon__cuda_layout_t* layout,
                            size_t offset, uint8_t* parameters);

#endif
