/*
 * The insides of the winograd kernel: winograd.c matches, prepares and binds, winograd_weights.c
 * packs, winograd_run.c runs. The top of winograd.c describes the algorithm.
 */
#ifndef TENON_CPU_WINOGRAD_H_
#define TENON_CPU_WINOGRAD_H_

#include "convolution.h"

enum {
  TENON_CPU_WINOGRAD_SIDE = 4, /* of a tile's pixels */
  TENON_CPU_WINOGRAD_MATRICES = 16,
  TENON_CPU_WINOGRAD_OUTPUTS = 2, /* along an axis of a tile */
  TENON_CPU_WINOGRAD_PIXELS = 4,  /* outputs of a tile */
  TENON_CPU_WINOGRAD_TAPS = 3     /* along an axis of the window */
};

typedef struct tenon__cpu_winograd_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_window_t window;
  size_t in;
  size_t out;
  const float* packed; /* [16][packed_matrix] */
  size_t packed_matrix;
  uint32_t x;
  uint32_t bias;
  size_t slot_bytes;  /* of a thread's part of scratch */
  size_t block_bytes; /* of it, for blocks; then the epilogue's */
  tenon__cpu_epilogue_t epilogue;
} tenon__cpu_winograd_t;

typedef struct tenon__cpu_bound_winograd_t {
  const tenon__cpu_winograd_t* self;
  tenon__cpu_window_t window;
  tenon__cpu_image_t x;
  tenon__cpu_image_t y;
  tenon__cpu_bound_epilogue_t* epilogue;
  size_t tile_lines;   /* of an image */
  size_t tile_columns; /* tiles of a line */
  size_t tiles;        /* of all images */
  size_t block;        /* tiles of a task at most */
} tenon__cpu_bound_winograd_t;

/* Floats from row to row of a block's matrices. More than a row has, against rows in the same cache
 * sets. */
static inline size_t tenon__cpu_winograd_row(size_t channels) {
  enum { PADDING = 16 };
  return channels + PADDING;
}

/* winograd_weights.c: asks the host for packed memory and fills it unless a plan brought it.
 * INVALID_STATE if it must be filled and the weights are gone. */
tenon_status_t tenon__cpu_winograd_pack(tenon__cpu_winograd_t* inout_self,
                                        tenon__cpu_region_t region,
                                        const tenon__cpu_preparation_t* preparation);
/* Returns where the weight of an input and an output channel is in a packed matrix. */
size_t tenon__cpu_winograd_place(const tenon__cpu_winograd_t* self, size_t in, size_t out);
/* Returns the weight of tap (i, j), rounded, from its transform at this place. */
float tenon__cpu_winograd_weight(const tenon__cpu_winograd_t* self, size_t place, size_t i,
                                 size_t j);

tenon_status_t tenon__cpu_winograd_run(const tenon_enqueue_t* call);

#endif
