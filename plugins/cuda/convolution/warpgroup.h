/*
 * Chooses windows that warpgroups compute: in f16 and bf16, not transposed, if a tile of all channels
 * fits the shared memory of a cluster (warpgroup.cuh), or if the weights and two chunks of a patch
 * fit that of a block (repeated.cuh). For sm_90 only.
 */
#ifndef PLUGINS_CUDA_CONVOLUTION_WARPGROUP_H_
#define PLUGINS_CUDA_CONVOLUTION_WARPGROUP_H_

#include "tiles.h"

enum { TENON_CUDA_WARPGROUP_TACTICS = 4 };

/* Returns whether the choice is a valid one for the problem. */
bool tenon__cuda_warpgroup_knows(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice);
/* Writes at most TENON_CUDA_WARPGROUP_TACTICS choices with their estimates, the fastest first, and
 * returns their number. */
uint32_t tenon__cuda_warpgroup_choose(const tenon__cuda_problem_t* problem, uint8_t product,
                                      tenon__cuda_choice_t* out_choices, double* out_seconds);

/* Returns the bytes of shared memory of a block. Of windows of more than one pixel, writes the
 * columns of a strip to `tile[1]`, and those of its patch and the patch's pixels to `patch_x` and
 * `patch_pixels` (window.cuh): of all strips that fit `limit_bytes`, those with the fewest tiles. */
int64_t tenon__cuda_warpgroup_lay(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                                  const tenon__cuda_extents_t* extents, int64_t limit_bytes,
                                  tenon__cuda_shape_t* out_shape);

/* Returns the number of blocks for each tile of outputs: one for each tile of pixels. If blocks are
 * repeated, it is the number that the GPU runs at once. `shared_bytes`: of a block. */
int64_t tenon__cuda_warpgroup_blocks(tenon__cuda_choice_t choice, int64_t tiles,
                                     int64_t column_tiles, int64_t shared_bytes,
                                     int64_t multiprocessors);

#endif
